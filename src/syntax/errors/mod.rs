//! Syntax complaints in the user's words; no grammar rule is ever named.

mod places;
mod structure;

use std::ops::Range;

use pest::error::{Error, InputLocation};

pub(super) use places::*;
pub(super) use structure::*;

use super::grammar::Rule;
use super::split::Word;
use crate::source::{Diagnostic, FileId, Span};

/// Why pest stopped in the words `range`, which start at byte `base`.
pub(super) fn explain(
    file: FileId,
    text: &str,
    words: &[Word],
    range: Range<usize>,
    base: usize,
    error: &Error<Rule>,
) -> Box<Diagnostic> {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => base + at,
    };
    let span = words
        .get(range)
        .unwrap_or(&[])
        .iter()
        .find(|(_, word)| word.start >= at)
        .map_or(Span::new(file, at, at), |(_, word)| {
            Span::new(file, word.start, word.end)
        });
    let found = text
        .get(span.start as usize..span.end as usize)
        .unwrap_or("");
    Box::new(
        Diagnostic::new("E0001", format!("unexpected `{found}`")).label(span, "not expected here"),
    )
}
