//! A text cut into statements, so that each is parsed alone and one file gives several complaints.

use std::ops::Range;

use super::tokens::Token;

/// One word and its byte range in the file; comments are not words.
pub(super) type Word = (Token, Range<usize>);

/// One statement: its head is parsed alone, its blocks are statements again.
#[derive(Debug)]
pub(super) struct Piece {
    /// The keyword that opens it; another word if no statement starts here.
    pub keyword: Token,
    /// Indices of the words before the first block.
    pub head: Range<usize>,
    pub body: Option<Body>,
    /// The block after `else`.
    pub otherwise: Option<Body>,
}

/// `{ .. }` of `each`, `when`, `else` and `model`.
#[derive(Debug)]
pub(super) struct Body {
    /// Index of `{`.
    pub open: usize,
    pub pieces: Vec<Piece>,
    /// Index of `}`, unless it is missing.
    pub close: Option<usize>,
}

/// Cuts the words of `text` into statements. The nesting of `words` must be bounded: blocks recurse.
pub(super) fn split(text: &str, words: &[Word]) -> Vec<Piece> {
    let count = |wanted| words.iter().filter(|(token, _)| *token == wanted).count();
    let mut splitter = Splitter { text, words, at: 0, brace_missing: count(Token::OpenBrace) > count(Token::CloseBrace) };
    splitter.statements(false)
}

struct Splitter<'t> {
    text: &'t str,
    words: &'t [Word],
    at: usize,
    /// More `{` than `}` in the file: then a declaration inside a block means that its `}` was forgotten.
    brace_missing: bool,
}

impl Splitter<'_> {
    fn token(&self, at: usize) -> Option<Token> {
        self.words.get(at).map(|(token, _)| *token)
    }

    fn previous(&self) -> Option<Token> {
        self.at.checked_sub(1).and_then(|i| self.token(i))
    }

    fn statements(&mut self, inside: bool) -> Vec<Piece> {
        let mut pieces = vec![];
        while let Some(token) = self.token(self.at) {
            let declares = matches!(token, Token::Use | Token::Budget | Token::Private | Token::Public | Token::Fn | Token::Model);
            if inside && (token == Token::CloseBrace || (declares && self.brace_missing)) {
                break;
            }
            pieces.push(self.piece(token));
        }
        pieces
    }

    fn piece(&mut self, keyword: Token) -> Piece {
        let start = self.at;
        let has_block = matches!(keyword, Token::Each | Token::When | Token::Model);
        self.at += 1;
        self.skip_head(has_block, keyword.opens_statement());
        let head = start..self.at;
        let mut body = None;
        let mut otherwise = None;
        if has_block && self.token(self.at) == Some(Token::OpenBrace) {
            body = Some(self.block());
            let else_block = self.token(self.at) == Some(Token::Else) && self.token(self.at + 1) == Some(Token::OpenBrace);
            if keyword == Token::When && else_block {
                self.at += 1;
                otherwise = Some(self.block());
            }
        }
        Piece { keyword, head, body, otherwise }
    }

    fn block(&mut self) -> Body {
        let open = self.at;
        self.at += 1;
        let pieces = self.statements(true);
        let close = (self.token(self.at) == Some(Token::CloseBrace)).then_some(self.at);
        if close.is_some() {
            self.at += 1;
        }
        Body { open, pieces, close }
    }

    /// Moves past the words of a statement, up to the next statement, the end of the enclosing block, or its own block.
    /// Words that open no statement keep their blocks: `if a { let b = 1 }` is one mistake.
    fn skip_head(&mut self, has_block: bool, opened: bool) {
        let mut depth = 0usize;
        while let Some(token) = self.token(self.at) {
            let kept = depth > 0 && !opened && !self.brace_missing;
            if token.opens_statement() && !kept && !self.is_inner(token, depth) {
                break;
            }
            match token {
                Token::OpenBrace => {
                    if has_block && depth == 0 && self.previous() != Some(Token::Category) {
                        break;
                    }
                    depth += 1;
                }
                Token::CloseBrace if depth == 0 => break,
                Token::CloseBrace => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Statement keywords that do not open one here: `[private n]`, `: public bool`, and a keyword misused as a name.
    fn is_inner(&self, token: Token, depth: usize) -> bool {
        let Some(previous) = self.previous() else {
            return false;
        };
        match (previous, token) {
            (Token::OpenBracket, Token::Private) | (Token::Colon, Token::Public) => return true,
            _ => {}
        }
        let names_a_column = depth > 0 && matches!(self.token(self.at + 1), Some(Token::Colon | Token::From));
        names_a_column || (previous.wants_more() && !self.starts_line())
    }

    fn starts_line(&self) -> bool {
        starts_line(self.text, self.words, self.at)
    }
}

/// Is there a line break between a word and the one before it?
pub(super) fn starts_line(text: &str, words: &[Word], at: usize) -> bool {
    let previous = at.checked_sub(1).and_then(|i| words.get(i));
    let from = previous.map_or(0, |(_, range)| range.end);
    let to = words.get(at).map_or(from, |(_, range)| range.start);
    text.get(from..to).is_some_and(|gap| gap.contains('\n'))
}
