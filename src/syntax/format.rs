//! The canonical layout of a program (`dpm fmt`): one statement a line, comments kept, order kept.

use std::ops::Range;

use super::ast::*;
use super::print::{indent, print_expr, write_column, write_head};
use super::tokens::{self, Token};
use crate::source::{Diagnostics, FileId, Span};

/// `text` in canonical layout. Statements keep their order and at most one blank line between them; comments stay
/// where they are, those inside an expression move before its statement. The result reads back as the same tree,
/// spans aside, and formatting it again changes nothing. Fails if `text` has a syntax error.
pub fn format(text: &str) -> Result<String, Diagnostics> {
    let (ast, diagnostics) = super::parse(FileId(0), text);
    if diagnostics.iter().any(|d| d.is_error()) {
        return Err(diagnostics);
    }
    let mut formatter = Formatter::new(text);
    formatter.items(&ast.items, 0);
    formatter.comments_before(text.len(), 0);
    Ok(formatter.out)
}

/// Longer lines are broken where a list allows it.
const WIDEST: usize = 120;

struct Formatter<'t> {
    text: &'t str,
    comments: Vec<Range<usize>>,
    /// The first comment that is not printed yet.
    next: usize,
    /// `{` and `}` of blocks and columns, not of levels, by the place of `{`.
    braces: Vec<(usize, usize)>,
    out: String,
    /// Where in `text` the last printed thing ends; none at the start of a block.
    last: Option<usize>,
}

impl<'t> Formatter<'t> {
    fn new(text: &'t str) -> Self {
        let mut comments = vec![];
        let mut braces = vec![];
        let mut open = vec![];
        let mut previous = None;
        for (token, range) in tokens::iter(text) {
            match token {
                Token::Comment => comments.push(range.clone()),
                Token::OpenBrace => open.push((range.start, previous == Some(Token::Category))),
                Token::CloseBrace => {
                    if let Some((start, false)) = open.pop() {
                        braces.push((start, range.start));
                    }
                }
                _ => {}
            }
            if token != Token::Comment {
                previous = Some(token);
            }
        }
        braces.sort_unstable();
        Formatter { text, comments, next: 0, braces, out: String::new(), last: None }
    }

    /// The first pair of braces at or after `start`.
    fn braces_from(&self, start: usize) -> (usize, usize) {
        let at = self.braces.partition_point(|(open, _)| *open < start);
        let end = self.text.len();
        self.braces.get(at).copied().unwrap_or((end, end))
    }

    fn between(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or("")
    }

    /// A blank line if the text has one before `start`.
    fn blank_line(&mut self, start: usize) {
        if let Some(last) = self.last
            && self.between(last..start).matches('\n').count() > 1
        {
            self.out.push('\n');
        }
    }

    /// Prints the comments before `limit`, each on its own line.
    fn comments_before(&mut self, limit: usize, depth: usize) {
        while let Some(comment) = self.comments.get(self.next).cloned() {
            if comment.start >= limit {
                break;
            }
            self.next += 1;
            self.blank_line(comment.start);
            indent(&mut self.out, depth);
            self.out.push_str(self.between(comment.clone()).trim_end());
            self.out.push('\n');
            self.last = Some(comment.end);
        }
    }

    /// Breaks the line that starts at `from` after commas between brackets, where it is too long.
    fn wrap(&mut self, from: usize, depth: usize) {
        if self.between_out(from).contains('\n') {
            return;
        }
        let line = self.out.split_off(from);
        let (mut open, mut places) = (0_usize, vec![]);
        for (token, range) in tokens::iter(&line) {
            match token {
                Token::OpenParen | Token::OpenBracket | Token::OpenBrace => open += 1,
                Token::CloseParen | Token::CloseBracket | Token::CloseBrace => open = open.saturating_sub(1),
                Token::Comma if open > 0 => places.push(range.end),
                _ => {}
            }
        }
        let (mut start, mut room) = (0, WIDEST);
        let width = |from: usize, to: usize| line.get(from..to).map_or(0, |t| t.chars().count());
        while width(start, line.len()) > room {
            let fits = places.iter().copied().rfind(|p| *p > start && width(start, *p) <= room);
            let Some(end) = fits.or_else(|| places.iter().copied().find(|p| *p > start)).filter(|end| *end < line.len()) else { break };
            self.out.push_str(line.get(start..end).unwrap_or(""));
            self.out.push('\n');
            indent(&mut self.out, depth + 2);
            let blanks = line.get(end..).map_or(0, |t| t.len() - t.trim_start().len());
            (start, room) = (end + blanks, WIDEST - 2 * (depth + 2).min(20));
        }
        self.out.push_str(line.get(start..).unwrap_or(""));
    }

    fn between_out(&self, from: usize) -> &str {
        self.out.get(from..).unwrap_or("")
    }

    /// Ends the line, with the comment that follows `end` on the same line of the text.
    fn end_line(&mut self, end: usize) {
        self.last = Some(end);
        if let Some(comment) = self.comments.get(self.next).cloned() {
            let gap = self.between(end..comment.start);
            let same_line = comment.start >= end && !gap.contains('\n');
            if same_line && gap.chars().all(|c| c.is_whitespace() || c == ',') {
                self.next += 1;
                self.out.push_str("  ");
                self.out.push_str(self.between(comment.clone()).trim_end());
                self.last = Some(comment.end);
            }
        }
        self.out.push('\n');
    }

    fn items(&mut self, items: &[Item], depth: usize) {
        for item in items {
            self.item(item, depth);
        }
    }

    fn item(&mut self, item: &Item, depth: usize) {
        let (start, end) = bounds(item.span);
        let open = match &item.kind {
            ItemKind::Private(_) | ItemKind::PublicTable(_) | ItemKind::Each { .. } | ItemKind::When { .. } | ItemKind::Model { .. } => {
                self.braces_from(start)
            }
            // All of a simple statement is its head: comments within it move before it.
            _ => (end, end),
        };
        self.comments_before(start, depth);
        self.blank_line(start);
        self.last = None;
        self.comments_before(open.0, depth);
        let from = self.out.len();
        indent(&mut self.out, depth);
        write_head(&mut self.out, item);
        self.wrap(from, depth);
        match &item.kind {
            ItemKind::Private(table) | ItemKind::PublicTable(table) => {
                self.columns(&table.columns, open, depth);
                self.wrap(from, depth);
            }
            ItemKind::Each { body, .. } => self.block(body, None, open, depth),
            ItemKind::Model { body, result, .. } => self.block(body, Some(result), open, depth),
            ItemKind::When { then, otherwise, .. } => {
                self.block(then, None, open, depth);
                if let Some(otherwise) = otherwise {
                    let next = self.braces_from(open.1);
                    self.out.push_str(" else");
                    self.block(otherwise, None, next, depth);
                }
            }
            _ => {}
        }
        self.end_line(end);
    }

    /// ` { .. }` with one statement a line.
    fn block(&mut self, items: &[Item], result: Option<&Expr>, braces: (usize, usize), depth: usize) {
        self.out.push_str(" {\n");
        self.last = None;
        self.items(items, depth + 1);
        if let Some(result) = result {
            let (_, end) = bounds(result.span);
            // `return` stands before its expression; only blanks and comments lie between.
            self.comments_before(end, depth + 1);
            self.blank_line(self.return_before(result));
            indent(&mut self.out, depth + 1);
            self.out.push_str("return ");
            self.out.push_str(&print_expr(result));
            self.end_line(end);
        }
        self.comments_before(braces.1, depth + 1);
        indent(&mut self.out, depth);
        self.out.push('}');
    }

    /// Where the `return` of a result starts.
    fn return_before(&self, result: &Expr) -> usize {
        let (start, _) = bounds(result.span);
        let from = self.last.unwrap_or(0).min(start);
        let gap = self.between(from..start);
        from + gap.find("return").unwrap_or(gap.len())
    }

    /// ` { .. }` of a table: on one line unless the text breaks the line after `{` or has comments inside.
    fn columns(&mut self, columns: &[Column], (open, close): (usize, usize), depth: usize) {
        let first = columns.first().map_or(close, |c| bounds(c.span).0);
        let commented = self.comments.get(self.next).is_some_and(|c| c.start < close);
        if !commented && !self.between(open..first).contains('\n') {
            let mut texts = vec![];
            for column in columns {
                let mut text = String::new();
                write_column(&mut text, column);
                texts.push(text);
            }
            let inside = texts.join(", ");
            self.out.push_str(" {");
            if !inside.is_empty() {
                self.out.push(' ');
                self.out.push_str(&inside);
                self.out.push(' ');
            }
            self.out.push('}');
            return;
        }
        self.out.push_str(" {\n");
        self.last = None;
        for column in columns {
            let (start, end) = bounds(column.span);
            self.comments_before(start, depth + 1);
            self.blank_line(start);
            self.last = None;
            self.comments_before(end, depth + 1);
            let from = self.out.len();
            indent(&mut self.out, depth + 1);
            write_column(&mut self.out, column);
            self.wrap(from, depth + 1);
            self.end_line(end);
        }
        self.comments_before(close, depth + 1);
        indent(&mut self.out, depth);
        self.out.push('}');
    }
}

fn bounds(span: Span) -> (usize, usize) {
    (span.start as usize, span.end as usize)
}
