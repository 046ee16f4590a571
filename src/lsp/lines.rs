//! Byte offsets of a text as the protocol counts them: lines from 0, columns in UTF-16 units.

use lsp_types::{Position, Range};

/// The place of a byte offset.
pub fn position(text: &str, offset: usize) -> Position {
    let before = text.get(..floor(text, offset)).unwrap_or(text);
    let line = before.matches('\n').count();
    let column: usize = before.rsplit('\n').next().unwrap_or("").chars().map(char::len_utf16).sum();
    Position::new(line as u32, column as u32)
}

pub fn range(text: &str, start: usize, end: usize) -> Range {
    Range::new(position(text, start), position(text, end))
}

/// The byte offset of a place; the end of its line where the line is shorter.
pub fn offset(text: &str, at: Position) -> usize {
    let mut start = 0;
    for _ in 0..at.line {
        match text.get(start..).and_then(|t| t.find('\n')) {
            Some(i) => start += i + 1,
            None => return text.len(),
        }
    }
    let mut units = 0;
    for (i, c) in text.get(start..).unwrap_or("").char_indices() {
        if c == '\n' || units >= at.character as usize {
            return start + i;
        }
        units += c.len_utf16();
    }
    text.len()
}

/// The last boundary of a character at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_places_agree() {
        let text = "let é = 1\n# 𝒳 and more\n\nlet y = 2";
        for (i, _) in text.char_indices() {
            assert_eq!(offset(text, position(text, i)), i);
        }
        assert_eq!(position(text, text.find("and").unwrap()), Position::new(1, 5));
        assert_eq!(offset(text, Position::new(0, 99)), 10);
        assert_eq!(offset(text, Position::new(99, 0)), text.len());
    }
}
