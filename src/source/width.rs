//! How wide foreign text is on a terminal, with everything that could steer the terminal escaped.

/// Columns between tab stops.
const TAB: usize = 4;

/// Is the character invisible or able to change how what follows is shown?
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
        )
}

/// Columns one printable character takes.
fn columns(character: char) -> usize {
    match u32::from(character) {
        // Combining marks lie over the character before them.
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x64b..=0x65f | 0x1ab0..=0x1aff => 0,
        0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        // East Asian wide and full-width forms, and pictographs.
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0x33ff | 0x3400..=0x4dbf => 2,
        0x4e00..=0x9fff | 0xa000..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// `text` fit to be printed: tabs as blanks up to the next stop, what could steer a terminal as `\u{..}`.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for character in text.chars() {
        if character == '\t' {
            let blanks = TAB - column % TAB;
            out.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else if steers(character) {
            let code = character.escape_unicode();
            column += code.len();
            out.extend(code);
        } else {
            out.push(character);
            column += columns(character);
        }
    }
    out
}

/// Columns that [`escaped`] text takes when it starts at column `start`.
pub(super) fn shown_width(text: &str, start: usize) -> usize {
    let mut column = start;
    for character in text.chars() {
        column += match character {
            '\t' => TAB - column % TAB,
            c if steers(c) => c.escape_unicode().len(),
            c => columns(c),
        };
    }
    column - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_survives() {
        let hostile = "a\u{1b}[31mred\u{7}\u{202e}\u{0}\r\u{9b}2J";
        let shown = escaped(hostile);
        assert!(!shown.chars().any(steers), "{shown}");
        assert!(shown.starts_with("a\\u{1b}[31mred\\u{7}"));
        assert_eq!(shown.chars().count(), shown_width(hostile, 0));
    }

    #[test]
    fn tabs_and_wide_characters_have_their_width() {
        assert_eq!(escaped("a\tb"), "a   b");
        assert_eq!(shown_width("a\tb", 0), 5);
        assert_eq!(shown_width("\t", 3), 1);
        assert_eq!(shown_width("漢字", 0), 4);
        assert_eq!(shown_width("μ", 0), 1);
        assert_eq!(shown_width("e\u{301}", 0), 1);
    }
}
