//! What is refused before any parsing: texts too large, nested too deeply, or with characters that deceive.

use super::errors;
use super::sizes::{MAX_LEVEL_WORDS, MAX_LINES, MAX_NESTING, MAX_SOURCE_BYTES, MAX_WORD_BYTES, MAX_WORDS};
use super::split::Word;
use super::tokens::{self, Token};
use crate::source::{Diagnostics, FileId, Span};

/// The words of `text` without comments, if it is a text that can be parsed at all.
pub(super) fn words(file: FileId, text: &str) -> Result<Vec<Word>, Diagnostics> {
    if text.len() > MAX_SOURCE_BYTES {
        return Err(vec![*errors::too_long(file, text.len())]);
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        return Err(vec![*errors::too_many_lines(file, lines)]);
    }
    let complaints = forbidden_characters(file, text);
    if !complaints.is_empty() {
        return Err(complaints);
    }
    // A byte order mark is not a word.
    let skip = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let body = text.get(skip..).unwrap_or("");
    let mut words = vec![];
    let mut nesting = Nesting::default();
    let (mut outside, mut in_levels) = (0, 0);
    for (token, range) in tokens::iter(body) {
        if token == Token::Comment {
            continue;
        }
        let range = range.start + skip..range.end + skip;
        let span = Span::new(file, range.start, range.end);
        if nesting.in_levels {
            in_levels += 1;
        } else {
            outside += 1;
        }
        // The text after `from` may name many columns.
        let repeated = matches!(token, Token::Name | Token::Number) || (token == Token::Text && nesting.in_levels);
        if repeated && range.len() > MAX_WORD_BYTES {
            return Err(vec![*errors::too_long_word(span)]);
        }
        if outside > MAX_WORDS || in_levels > MAX_LEVEL_WORDS {
            return Err(vec![*errors::too_many_words(span)]);
        }
        if !nesting.step(token) {
            return Err(vec![*errors::too_deep(span)]);
        }
        words.push((token, range));
    }
    Ok(words)
}

/// Counts open brackets and pending `if`s: everything the parser recurses on.
#[derive(Default)]
struct Nesting {
    /// For each open bracket, the `if`s seen inside it so far.
    ifs: Vec<usize>,
    outer_ifs: usize,
    deep: usize,
    in_levels: bool,
    last: Option<Token>,
}

impl Nesting {
    /// Takes one word; false if it nests too deeply.
    fn step(&mut self, token: Token) -> bool {
        if token.is_open() {
            self.in_levels = token == Token::OpenBrace && self.last == Some(Token::Category);
            self.ifs.push(0);
            self.deep += 1;
        } else if token.is_close() {
            self.in_levels = false;
            if let Some(ifs) = self.ifs.pop() {
                self.deep -= 1 + ifs;
            }
        } else if token == Token::If {
            *self.ifs.last_mut().unwrap_or(&mut self.outer_ifs) += 1;
            self.deep += 1;
        } else if token == Token::Comma || token.opens_statement() {
            let ifs = self.ifs.last_mut().unwrap_or(&mut self.outer_ifs);
            self.deep -= *ifs;
            *ifs = 0;
        }
        self.last = Some(token);
        self.deep <= MAX_NESTING
    }
}

/// Control characters and direction marks, which make a text read differently from what it says (Boucher and
/// Anderson 2021), and characters that end a line for an editor but not for us.
fn forbidden_characters(file: FileId, text: &str) -> Diagnostics {
    let mut found = vec![];
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let forbidden = match character {
            '\t' | '\n' => false,
            '\r' => next != Some('\n'),
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' => true,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
            other => other.is_control(),
        };
        if forbidden {
            let span = Span::new(file, at, at + character.len_utf8());
            found.push(*errors::forbidden_character(span, character));
            if found.len() == 5 {
                break;
            }
        }
    }
    found
}
