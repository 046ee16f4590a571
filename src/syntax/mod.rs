//! Text to Ast and back: parser, tokens, formatter.

pub mod ast;
mod errors;
mod expressions;
pub mod format;
mod from_pest;
mod grammar;
mod limits;
pub mod print;
mod sizes;
mod split;
mod statements;
#[cfg(test)]
mod sweeps;
pub mod tokens;

pub use format::format;
pub use print::{print_expr, print_item};
pub use sizes::{MAX_COMPLAINTS, MAX_LINES, MAX_NESTING, MAX_SOURCE_BYTES};

use ast::{Ast, Expr};
use from_pest::Builder;
use grammar::Rule;

use crate::source::{Diagnostics, FileId};

/// Reads a program. Statements that cannot be read are complained about and left out; the others are there, so a
/// caller must not go on when a diagnostic is an error. Never panics, whatever the text.
pub fn parse(file: FileId, text: &str) -> (Ast, Diagnostics) {
    let words = match limits::words(file, text) {
        Ok(words) => words,
        Err(diagnostics) => return (Ast::default(), diagnostics),
    };
    let pieces = split::split(text, &words);
    let mut reader = statements::Reader::new(file, text, &words);
    let items = reader.items(&pieces, statements::Place::File);
    (Ast { items }, reader.finish())
}

/// Reads one expression, as typed at a prompt.
pub fn parse_expr(file: FileId, text: &str) -> Result<Expr, Diagnostics> {
    let words = limits::words(file, text)?;
    let (Some((_, first)), Some((_, last))) = (words.first(), words.last()) else {
        return Err(vec![*errors::no_expression(file)]);
    };
    let unreadable = errors::unreadable(file, text, &words);
    if let Some(complaint) = unreadable.or_else(|| errors::brackets(file, text, &words)) {
        return Err(vec![*complaint]);
    }
    let (base, piece) = (first.start, text.get(first.start..last.end).unwrap_or(""));
    let mut builder = Builder { file, text, words: &words, base, depth: 0 };
    let read = grammar::read(Rule::lone_expr, piece).map_err(|error| errors::explain(file, text, &words, 0..words.len(), base, &error));
    let expr = read.and_then(|mut pairs| match pairs.next() {
        Some(pair) => builder.expr(pair),
        None => Err(errors::no_expression(file)),
    });
    expr.map_err(|complaint| vec![*complaint])
}
