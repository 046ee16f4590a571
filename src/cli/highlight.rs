//! Colours of a program at the prompt, by the class of each word.

use crate::syntax::tokens::{Token, iter};

const KEYWORD: &str = "\x1b[1;34m";
const NUMBER: &str = "\x1b[36m";
const TEXT: &str = "\x1b[32m";
const COMMENT: &str = "\x1b[90m";
const WRONG: &str = "\x1b[31m";
const COMMAND: &str = "\x1b[35m";
const PLAIN: &str = "\x1b[0m";

/// The line with escape sequences around its words; the words themselves stay as they are.
pub fn coloured(line: &str) -> String {
    if line.starts_with(':') {
        let (word, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
        return format!("{COMMAND}{word}{PLAIN}{rest}");
    }
    let mut out = String::new();
    let mut at = 0;
    for (token, range) in iter(line) {
        let colour = match token {
            Token::Comment => COMMENT,
            Token::Number | Token::True | Token::False => NUMBER,
            Token::Text | Token::OpenText => TEXT,
            Token::Unknown | Token::Semicolon => WRONG,
            t if t.is_keyword() => KEYWORD,
            _ => "",
        };
        out.push_str(line.get(at..range.start).unwrap_or(""));
        let word = line.get(range.clone()).unwrap_or("");
        if colour.is_empty() {
            out.push_str(word)
        } else {
            out.push_str(&format!("{colour}{word}{PLAIN}"))
        }
        at = range.end;
    }
    out.push_str(line.get(at..).unwrap_or(""));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_colours_is_added() {
        for line in ["release p = draw(p) # all", ":type 1", "let x = \"open", "private é[n] { x: bool }\n  §", ""] {
            let mut plain = coloured(line);
            for code in [KEYWORD, NUMBER, TEXT, COMMENT, WRONG, COMMAND, PLAIN] {
                plain = plain.replace(code, "");
            }
            assert_eq!(plain, line);
        }
        assert!(coloured("release x").starts_with(KEYWORD));
    }
}
