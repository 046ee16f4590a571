//! Text to Ast and back: parser, tokens, formatter.

pub mod ast;
mod errors;
mod expressions;
pub mod format;
mod from_pest;
mod grammar;
mod limits;
pub mod print;
mod split;
mod statements;
#[cfg(test)]
mod sweeps;
pub mod tokens;

pub use format::format;
pub use print::{print_expr, print_item};

use ast::{Ast, Expr};
use from_pest::Builder;
use grammar::Rule;

use crate::source::{Diagnostics, FileId};

/// The longest source text that is read, in bytes: room for a category of a million levels written out.
pub const MAX_SOURCE_BYTES: usize = 16 << 20;

/// The most words a text may hold outside the braces of `category { .. }`.
pub const MAX_WORDS: usize = 500_000;

/// The most words between the braces of `category { .. }`, in all: a million levels and their commas.
pub const MAX_LEVEL_WORDS: usize = 2_500_000;

/// How deep brackets, blocks, `if`s and operators may nest.
pub const MAX_NESTING: usize = 256;

/// The most complaints about one text.
pub const MAX_COMPLAINTS: usize = 50;

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
