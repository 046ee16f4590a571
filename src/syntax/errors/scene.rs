//! The statement that broke and the word it broke at.

use std::ops::Range;

use super::super::grammar::Rule;
use super::super::split::Word;
use super::super::tokens::Token;
use super::structure::{new, one_line};
use crate::source::{Diagnostic, FileId, Help, Span};

/// Declarations are looked up in so many bytes of a text: a help line is worth no more.
const NEAR: usize = 1 << 15;

/// The beginning of a text.
fn near(text: &str) -> &str {
    let end = (0..=NEAR.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or("")
}

/// A statement that cannot be read. Indices count its words from 0, its keyword.
pub(super) struct Scene<'a> {
    file: FileId,
    text: &'a str,
    own: &'a [Word],
    /// Index of the word that does not fit; the number of words if the statement ends too early.
    pub at: usize,
    /// What pest would have taken there.
    pub expected: &'a [Rule],
}

impl<'a> Scene<'a> {
    pub(super) fn new(file: FileId, text: &'a str, words: &'a [Word], own: Range<usize>, at: usize, expected: &'a [Rule]) -> Self {
        Scene { file, text, at: at.saturating_sub(own.start), own: words.get(own).unwrap_or(&[]), expected }
    }

    pub(super) fn token(&self, index: usize) -> Option<Token> {
        self.own.get(index).map(|word| word.0)
    }

    /// The word that opens the statement.
    pub(super) fn keyword(&self) -> Token {
        self.token(0).unwrap_or(Token::Unknown)
    }

    /// The word that does not fit.
    pub(super) fn found(&self) -> Option<Token> {
        self.token(self.at)
    }

    /// The word before it.
    pub(super) fn before(&self) -> Option<Token> {
        self.at.checked_sub(1).and_then(|i| self.token(i))
    }

    pub(super) fn is(&self, index: usize, token: Token) -> bool {
        self.token(index) == Some(token)
    }

    pub(super) fn len(&self) -> usize {
        self.own.len()
    }

    /// The kind of cost that the program's budget is written in, if one number gives it; else `eps`.
    pub(super) fn budget_kind(&self) -> &'static str {
        let budget = near(self.text).lines().find_map(|line| line.trim_start().strip_prefix("budget ")).unwrap_or("");
        ["zcdp", "gdp"].into_iter().find(|kind| budget.trim_start().starts_with(kind)).unwrap_or("eps")
    }

    /// The first number of the program's budget.
    pub(super) fn budget_number(&self) -> Option<f64> {
        let budget = near(self.text).lines().find_map(|line| line.trim_start().strip_prefix("budget "))?;
        budget.split(|c: char| !(c.is_ascii_digit() || ".e-".contains(c))).find_map(|n| n.parse().ok())
    }

    /// Does a line of a text declare this name after one of these keywords?
    fn declares(text: &str, keywords: &[&str], name: &str) -> bool {
        let first = |line: &str| line.split(|c: char| !(c.is_alphanumeric() || c == '_')).next() == Some(name);
        let declared = |line: &str| keywords.iter().any(|k| line.trim_start().strip_prefix(k).is_some_and(|l| first(l.trim_start())));
        near(text).lines().any(declared)
    }

    /// Does an earlier line release this name, compute it from releases or declare it public?
    pub(super) fn is_public(&self, name: &str) -> bool {
        let before = self.own.first().and_then(|word| self.text.get(..word.1.start)).unwrap_or("");
        Self::declares(before, &["release ", "output ", "public "], name)
    }

    /// This name, or one like it that no line declares.
    pub(super) fn unused(&self, name: &str) -> String {
        let keywords = ["release ", "output ", "public ", "param ", "let ", "private ", "fn ", "model "];
        let more = (2..10).map(|i| format!("{name}_{i}"));
        let free = std::iter::once(name.to_owned()).chain(more).find(|n| !Self::declares(self.text, &keywords, n));
        free.unwrap_or_else(|| name.to_owned())
    }

    /// Is the number of rows of some table private?
    pub(super) fn has_secret_rows(&self) -> bool {
        near(self.text).contains("[private ") || near(self.text).contains("each ")
    }

    /// The text of one word.
    pub(super) fn word(&self, index: usize) -> &'a str {
        self.own.get(index).and_then(|word| self.text.get(word.1.clone())).unwrap_or("")
    }

    /// The text from one word up to but without another.
    pub(super) fn words(&self, range: Range<usize>) -> &'a str {
        let first = self.own.get(range.start);
        let last = range.end.checked_sub(1).and_then(|i| self.own.get(i));
        match (first, last) {
            (Some(first), Some(last)) => self.text.get(first.1.start..last.1.end).unwrap_or(""),
            _ => "",
        }
    }

    /// The text from a word to the end of the statement, if it is fit for a help line.
    pub(super) fn rest(&self, index: usize) -> Option<&'a str> {
        one_line(self.words(index..self.len())).filter(|rest| !rest.is_empty())
    }

    pub(super) fn span(&self, index: usize) -> Span {
        self.spans(index..index + 1)
    }

    pub(super) fn spans(&self, range: Range<usize>) -> Span {
        let first = self.own.get(range.start);
        let last = range.end.checked_sub(1).and_then(|i| self.own.get(i));
        match (first, last) {
            (Some(first), Some(last)) => Span::new(self.file, first.1.start, last.1.end),
            _ => self.end(),
        }
    }

    /// An empty place right after the statement.
    fn end(&self) -> Span {
        let end = self.own.last().map_or(0, |word| word.1.end);
        Span::new(self.file, end, end)
    }

    /// The word that does not fit, or the last word if the statement ends too early.
    pub(super) fn here(&self) -> Span {
        if self.at < self.len() { self.span(self.at) } else { self.span(self.len().saturating_sub(1)) }
    }

    /// A head of this statement that can be read: a line of Help in place of all before the `{` of its block.
    pub(super) fn headed(&self, head: &str, effect: impl Into<String>) -> Help {
        Help::from(("", format!("{head} {{ ... }}"), effect)).edit(self.spans(0..self.brace().unwrap_or(self.len())), head)
    }

    /// Index of the `{` that opens the block or the columns.
    pub(super) fn brace(&self) -> Option<usize> {
        (0..self.len()).find(|i| self.is(*i, Token::OpenBrace) && !self.is(i.saturating_sub(1), Token::Category))
    }

    /// Index of the innermost bracket that is open at the word that does not fit.
    pub(super) fn bracket(&self) -> Option<usize> {
        let mut open = vec![];
        for index in 0..self.at {
            match self.token(index) {
                Some(token) if token.is_open() => open.push(index),
                Some(token) if token.is_close() => {
                    open.pop();
                }
                _ => {}
            }
        }
        open.pop()
    }

    /// Is there a line break between a word and the one before it?
    pub(super) fn starts_line(&self, index: usize) -> bool {
        let previous = index.checked_sub(1).and_then(|i| self.own.get(i));
        match (previous, self.own.get(index)) {
            (Some(previous), Some(word)) => self.text.get(previous.1.end..word.1.start).is_some_and(|gap| gap.contains('\n')),
            _ => true,
        }
    }

    /// Do two words touch, as in `**`?
    pub(super) fn touches(&self, index: usize) -> bool {
        match (self.own.get(index), self.own.get(index + 1)) {
            (Some(a), Some(b)) => a.1.end == b.1.start,
            _ => false,
        }
    }

    /// A reserved word where a name should be.
    pub(super) fn keyword_as_name(&self) -> Option<Diagnostic> {
        let found = self.found().filter(|token| token.is_keyword())?;
        let word = self.word(self.at);
        let next = self.token(self.at + 1);
        let wants_name = match self.before()? {
            Token::Param
            | Token::Let
            | Token::Observe
            | Token::Release
            | Token::Output
            | Token::Fn
            | Token::Model
            | Token::Private
            | Token::Public
            | Token::Each
            | Token::By
            | Token::Of
            | Token::Dot => true,
            _ => matches!(next, Some(Token::Colon | Token::From)),
        };
        let is_operand = self.wants_value()
            && !matches!(found, Token::If | Token::Not | Token::True | Token::False | Token::Else | Token::Then)
            && !self.starts_line(self.at);
        if !wants_name && !is_operand {
            return None;
        }
        let complaint = new("E0022", format!("`{word}` is a keyword")).label(self.span(self.at), "it cannot be a name");
        let is_column = self.bracket().is_some_and(|b| self.is(b, Token::OpenBrace));
        Some(if is_column {
            complaint.cause(format!("`{word}` has a fixed meaning in every program")).help({
                let code = format!("{word}_ from \"{word}\"");
                Help::from(("read the column under another name:", format!("{code}: {}", self.column_type(self.at + 2))))
                    .edit(self.span(self.at), code)
            })
        } else {
            complaint.cause(format!("`{word}` has a fixed meaning in every program")).help(format!("choose another name, such as {word}_"))
        })
    }

    /// The type that starts at a word, or a plain one.
    fn column_type(&self, index: usize) -> &'a str {
        match self.token(index) {
            Some(Token::Name) => self.word(index),
            _ => "real",
        }
    }

    /// Must a value come next?
    pub(super) fn wants_value(&self) -> bool {
        use Token::*;
        matches!(
            self.before(),
            Some(
                Assign
                    | Comparison
                    | Plus
                    | Minus
                    | Times
                    | Divide
                    | Power
                    | And
                    | Or
                    | Not
                    | If
                    | Then
                    | Else
                    | When
                    | Expect
                    | Return
                    | OpenParen
                    | OpenBracket
                    | Comma
            )
        )
    }
}
