//! Pieces of a text into statements of the tree, each parsed alone.

use super::ast::{Expr, Item, ItemKind};
use super::errors;
use super::from_pest::{Builder, Read};
use super::grammar::{self, Rule};
use super::sizes::MAX_COMPLAINTS;
use super::split::{self, Body, Piece, Word};
use super::tokens::Token;
use crate::source::{Diagnostic, Diagnostics, FileId, Span};

/// Where a statement stands: not every statement may stand everywhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    File,
    /// The block of `each`, `when` or `else`.
    Block,
    Model,
}

/// Reads the pieces of one file and gathers the complaints.
pub(super) struct Reader<'t> {
    file: FileId,
    text: &'t str,
    words: &'t [Word],
    complaints: Diagnostics,
}

impl<'t> Reader<'t> {
    pub(super) fn new(file: FileId, text: &'t str, words: &'t [Word]) -> Self {
        Reader { file, text, words, complaints: vec![] }
    }

    /// The complaints in the order of the text.
    pub(super) fn finish(mut self) -> Diagnostics {
        self.complaints.sort_by_key(|c| c.labels.first().map_or(0, |label| label.span.start));
        // A habit of another language is one mistake, however often it shows.
        let mut separators = 0;
        let all: Vec<(Span, String)> =
            self.complaints.iter().filter(|c| c.code == "E0021").flat_map(|c| &c.help).flat_map(|h| h.edits.clone()).collect();
        self.complaints.retain(|c| {
            separators += usize::from(c.code == "E0021");
            c.code != "E0021" || separators == 1
        });
        // Its repair is that of all.
        let first = self.complaints.iter_mut().find(|c| c.code == "E0021").and_then(|c| c.help.first_mut());
        if let Some(help) = first.filter(|h| !h.edits.is_empty()) {
            help.edits = all;
        }
        self.complaints.truncate(MAX_COMPLAINTS);
        self.complaints
    }

    fn complain(&mut self, complaint: Diagnostic) {
        // A text of nothing but mistakes must not fill the memory; what comes later is cut off by `finish`.
        if self.complaints.len() < 4 * MAX_COMPLAINTS {
            self.complaints.push(complaint);
        }
    }

    /// The statements that could be read.
    pub(super) fn items(&mut self, pieces: &[Piece], place: Place) -> Vec<Item> {
        pieces.iter().filter_map(|piece| self.item(piece, place)).collect()
    }

    fn item(&mut self, piece: &Piece, place: Place) -> Option<Item> {
        // Enough has been said; more would only take time.
        if self.complaints.len() >= 4 * MAX_COMPLAINTS {
            return None;
        }
        let misplaced = errors::misplaced(self.file, self.text, self.words, piece, place);
        if !misplaced.is_empty() {
            misplaced.into_iter().for_each(|c| self.complain(*c));
            return None;
        }
        if piece.keyword == Token::Model {
            return self.model(piece);
        }
        let head = self.head(piece);
        let item = match (&piece.body, head) {
            (None, head) => head,
            // The statements of the block are read even if its head is wrong: they may have mistakes of their own.
            (Some(body), head) => {
                let inner = self.block(body);
                let otherwise = piece.otherwise.as_ref().map(|body| self.block(body));
                let last = piece.otherwise.as_ref().unwrap_or(body);
                head.map(|head| self.join(head, inner, otherwise, last))
            }
        };
        let item = item?;
        let blocked = matches!(item.kind, ItemKind::Each { .. } | ItemKind::When { .. });
        if blocked && piece.body.is_none() {
            self.complain(*errors::no_block(item.span, piece.keyword, self.text));
            return None;
        }
        Some(item)
    }

    /// The head of a piece; for most statements that is all of it.
    fn head(&mut self, piece: &Piece) -> Option<Item> {
        let read = self.read(piece, |builder, pair| {
            let span = builder.span(&pair);
            let kind = builder.statement(pair)?;
            Ok(Item { kind, span })
        });
        self.keep(read)
    }

    fn keep<T>(&mut self, read: Read<T>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(complaint) => {
                self.complain(*complaint);
                None
            }
        }
    }

    /// Parses the head of a piece with pest and builds with `build` from its only pair.
    fn read<T>(&mut self, piece: &Piece, build: impl Fn(&mut Builder<'_>, pest::iterators::Pair<'_, Rule>) -> Read<T>) -> Read<T> {
        let (file, text, words) = (self.file, self.text, self.words);
        let range = piece.head.clone();
        let own = words.get(range.clone()).unwrap_or(&[]);
        let (Some((_, first)), Some((_, last))) = (own.first(), own.last()) else {
            return Err(errors::bug(Span::new(file, 0, 0)));
        };
        let unreadable = errors::unreadable(file, text, own);
        if let Some(complaint) = unreadable.or_else(|| errors::brackets(file, text, own)) {
            return Err(complaint);
        }
        let base = first.start;
        let mut builder = Builder { file, text, words: own, base, depth: 0 };
        let parse = |end: usize| grammar::read(Rule::piece, text.get(base..end).unwrap_or(""));
        let bug = || errors::bug(Span::new(file, base, last.end));
        let error = match parse(last.end) {
            Ok(mut pairs) => {
                return match pairs.next() {
                    Some(pair) => build(&mut builder, pair),
                    None => Err(bug()),
                };
            }
            Err(error) => error,
        };
        // A whole statement and then a line that starts with no keyword: that line is what is wrong, unless it goes on with what
        // stands before it.
        let stop = errors::stop(words, &range, base, &error);
        if stop > range.start
            && stop < range.end
            && split::starts_line(text, words, stop)
            && !words.get(stop).is_some_and(|w| w.0.joins())
            && let Some((_, end)) = words.get(stop - 1)
            && let Ok(mut pairs) = parse(end.end)
            && let Some(pair) = pairs.next()
        {
            let rest = words.get(stop..range.end).unwrap_or(&[]);
            let strays = errors::strays(file, text, rest);
            strays.into_iter().for_each(|c| self.complain(*c));
            return build(&mut builder, pair);
        }
        Err(errors::explain(file, text, words, range, base, &error))
    }

    fn block(&mut self, body: &Body) -> Vec<Item> {
        self.close(body);
        self.items(&body.pieces, Place::Block)
    }

    fn close(&mut self, body: &Body) {
        if body.close.is_none() {
            let complaint = errors::unclosed(self.file, self.words, body.open);
            self.complain(*complaint);
        }
    }

    /// Puts the blocks into the statement they belong to.
    fn join(&self, mut head: Item, inner: Vec<Item>, other: Option<Vec<Item>>, last: &Body) -> Item {
        match &mut head.kind {
            ItemKind::Each { body, .. } => *body = inner,
            ItemKind::When { then, otherwise, .. } => {
                *then = inner;
                *otherwise = other;
            }
            _ => {}
        }
        head.span = head.span.to(self.closing(last));
        head
    }

    fn closing(&self, body: &Body) -> Span {
        let word = self.words.get(body.close.unwrap_or(body.open));
        word.map_or(Span::default(), |(_, range)| Span::new(self.file, range.start, range.end))
    }

    /// `model m(..) { .. return e }`: its block is part of it, and ends with the one `return`.
    fn model(&mut self, piece: &Piece) -> Option<Item> {
        let head = self.read(piece, |builder, pair| {
            let span = builder.span(&pair);
            let (name, formals) = builder.model_head(pair)?;
            Ok((name, formals, span))
        });
        let head = self.keep(head);
        let Some(body) = &piece.body else {
            if let Some((_, _, span)) = head {
                self.complain(*errors::no_block(span, Token::Model, self.text));
            }
            return None;
        };
        self.close(body);
        let is_return = |piece: &&Piece| piece.keyword == Token::Return;
        let returned: Option<Expr> = match body.pieces.iter().find(is_return) {
            None => {
                let complaint = errors::no_return(self.closing(body), body, self.words, self.text);
                self.complain(*complaint);
                None
            }
            Some(piece) => {
                let read = self.read(piece, |builder, pair| builder.result(pair));
                self.keep(read)
            }
        };
        if let Some(at) = body.pieces.iter().position(|p| is_return(&p))
            && let Some(extra) = body.pieces.get(at + 1)
        {
            let complaint = errors::after_return(self.file, self.words, extra);
            self.complain(*complaint);
        }
        let mut inner = vec![];
        for piece in body.pieces.iter().filter(|piece| !is_return(piece)) {
            inner.extend(self.item(piece, Place::Model));
        }
        let (name, formals, span) = head?;
        Some(Item { kind: ItemKind::Model { name, formals, body: inner, result: returned? }, span: span.to(self.closing(body)) })
    }
}
