//! Syntax complaints in the user's words, keyed by the statement's keyword and where it broke.

mod clauses;
mod expected;
mod places;
mod releases;
mod scene;
mod structure;
mod tables;
mod types;
mod values;

use std::ops::Range;

use pest::error::{Error, ErrorVariant, InputLocation};

pub(super) use places::*;
pub(super) use structure::*;
pub(super) use values::unreadable;

use super::grammar::Rule;
use super::split::Word;
use super::tokens::Token;
use crate::source::{Diagnostic, FileId, Help, Span};
use scene::Scene;

/// Where pest stopped, as an index into `words`; the words `own` start at byte `base`.
pub(super) fn stop(words: &[Word], own: &Range<usize>, base: usize, error: &Error<Rule>) -> usize {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => base.saturating_add(at),
    };
    let after = words.partition_point(|(_, word)| word.end <= at);
    after.clamp(own.start, own.end)
}

/// Why pest stopped in the words `own`, which start at byte `base`.
pub(super) fn explain(file: FileId, text: &str, words: &[Word], own: Range<usize>, base: usize, error: &Error<Rule>) -> Complaint {
    let at = stop(words, &own, base, error);
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else {
        // Pest's own limits: the stack or the number of calls.
        let start = words.get(at).map_or(base, |word| word.1.start);
        return too_deep(Span::new(file, start, start));
    };
    let scene = Scene::new(file, text, words, own, at, positives);
    let statement = match scene.keyword() {
        Token::Use => clauses::use_(&scene),
        Token::Budget => clauses::budget(&scene),
        Token::Private | Token::Public => tables::table(&scene),
        Token::Param => clauses::param(&scene),
        Token::Observe => clauses::observe(&scene),
        Token::Release => releases::release(&scene),
        Token::Let | Token::Output => clauses::binding(&scene),
        Token::Each => clauses::each(&scene),
        Token::Fn | Token::Model => clauses::function(&scene),
        _ => None,
    };
    let found = scene.keyword_as_name().or(statement).or_else(|| values::value(&scene)).unwrap_or_else(|| expected::generic(&scene));
    // A line that starts as the statement does, or the only line if it is a statement, is what it should have been.
    let alone = found.help.len() == 1;
    let meant = |h: Help| {
        let first = h.pasted().split_whitespace().next();
        let opens = |word: &str| ["let", "param", "observe", "release", "output", "budget", "fn"].contains(&word);
        let whole = h.edits.is_empty() && (first == Some(scene.word(0)) || (alone && first.is_some_and(opens)));
        if whole { h.over(scene.spans(0..scene.len())) } else { h }
    };
    Box::new(Diagnostic { help: found.help.into_iter().map(meant).collect(), ..found })
}
