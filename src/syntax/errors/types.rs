//! Complaints about types: bounds, ranges and levels.

use super::super::tokens::Token;
use super::scene::Scene;
use super::structure::{new, one_line};
use crate::source::{Diagnostic, Help};

const SHAPES: [&str; 6] = ["bool", "int in 0..10", "real in [0, 1]", "vector[3] in l2(1)", "category {yes, no}", "text"];

/// What is wrong with the type that the broken word belongs to.
pub(super) fn type_(scene: &Scene<'_>) -> Option<Diagnostic> {
    let bracket = scene.bracket();
    if let Some(open) = bracket
        && scene.is(open, Token::OpenBrace)
        && scene.is(open.checked_sub(1)?, Token::Category)
    {
        return Some(level(scene, open));
    }
    let opens = |i: &usize| matches!(scene.token(*i), Some(Token::Colon | Token::Arrow));
    let colon = (0..scene.at).rfind(opens)?;
    let start = colon + 1 + usize::from(scene.is(colon + 1, Token::Public));
    let at = scene.at;
    let head = one_line(scene.words(start..at)).unwrap_or("real");
    let complaint = |text: &str| new("E0007", text.to_owned());
    if at <= start {
        return Some(complaint("expected a type").label(scene.here(), "this is not a type").helps(SHAPES));
    }
    if let Some(open) = bracket.filter(|open| *open > start) {
        return bounds(scene, open, start);
    }
    let number = |i: usize| scene.is(i, Token::Number) || (scene.is(i, Token::Minus) && scene.is(i + 1, Token::Number));
    match (scene.before(), scene.found()) {
        (Some(Token::Category), _) => {
            Some(complaint("expected the levels after `category`").label(scene.here(), "levels go in braces").help("category {yes, no}"))
        }
        (Some(Token::In), Some(Token::To)) => Some(
            complaint("a range starts with its lower end")
                .label(scene.here(), "from where?")
                .help(format!("{head} 0{}", scene.words(at..at + 2))),
        ),
        (Some(Token::In), _) => Some(complaint("expected bounds after `in`").label(scene.here(), "not a domain").helps([
            "real in [0, 1]",
            "int in 0..10",
            "vector[3] in l2(1)",
        ])),
        (Some(Token::Name | Token::CloseBracket), _) if number(at) => Some(
            complaint("expected `in` before the bounds")
                .label(scene.here(), "bounds follow `in`")
                .help(format!("{head} in {}", domain_words(scene, at))),
        ),
        (Some(Token::Name | Token::CloseBracket), Some(Token::Comparison)) => Some(
            complaint("bounds are written with `in`").label(scene.here(), "not a comparison").helps(
                named_bounds(scene, head)
                    .map_or_else(|| ["[0, inf]", "[0, 1]"].map(|b| format!("{head} in {b}")).to_vec(), |line| vec![line]),
            ),
        ),
        (Some(Token::Name), Some(Token::OpenParen)) => Some(
            complaint("bounds and sizes go in square brackets")
                .label(scene.here(), "not a function")
                .helps([format!("{head} in [0, 1]"), "vector[3] in l2(1)".to_owned()]),
        ),
        (Some(Token::Number), Some(Token::Colon | Token::Minus)) => {
            Some(complaint("a range is written with `..`").label(scene.here(), "expected `..`").help(match scene.token(at + 1) {
                Some(Token::Number) => format!("{head}..{}", scene.word(at + 1)),
                _ => "int in 0..10".to_owned(),
            }))
        }
        _ => None,
    }
}

/// `0..10` or `[0, 1]` as far as it goes.
fn domain_words<'a>(scene: &Scene<'a>, at: usize) -> &'a str {
    let end = (at..scene.len()).find(|i| !matches!(scene.token(*i), Some(Token::Number | Token::To | Token::Minus))).unwrap_or(scene.len());
    one_line(scene.words(at..end)).unwrap_or("0..10")
}

/// `<lower=0, upper=10>` as bounds of this language.
fn named_bounds(scene: &Scene<'_>, head: &str) -> Option<String> {
    let number = |name: &str| {
        let at = (scene.at..scene.len()).take(12).find(|i| scene.word(*i) == name && scene.is(i + 1, Token::Assign))?;
        let end = if scene.is(at + 2, Token::Minus) { at + 4 } else { at + 3 };
        scene.is(end - 1, Token::Number).then(|| scene.words(at + 2..end))
    };
    Some(match (number("lower"), number("upper"), head.trim() == "int") {
        (None, None, _) => return None,
        (Some(lo), Some(hi), true) => format!("{head} in {lo}..{hi}"),
        (Some(lo), None, true) => format!("{head} in {lo}.."),
        (lo, hi, _) => format!("{head} in [{}, {}]", lo.unwrap_or("-inf"), hi.unwrap_or("inf")),
    })
}

/// Inside `in [..]`, `in (..)` or the brackets of a size.
fn bounds(scene: &Scene<'_>, open: usize, start: usize) -> Option<Diagnostic> {
    let head = one_line(scene.words(start..open)).unwrap_or("real in");
    if scene.is(open.checked_sub(1)?, Token::In) {
        let close = (scene.at..scene.len()).find(|i| scene.token(*i).is_some_and(Token::is_close)).unwrap_or(scene.len());
        let inner = one_line(scene.words(open + 1..close)).unwrap_or("0, 1");
        if scene.is(open, Token::OpenParen) && scene.found() == Some(Token::Comma) {
            return Some(
                new("E0007", "bounds go in square brackets").label(scene.span(open), "expected `[`").help(format!("{head} [{inner}]")),
            );
        }
        if scene.is(open, Token::OpenBracket) && scene.found() == Some(Token::CloseBracket) {
            return Some(
                new("E0007", "an interval has two ends")
                    .label(scene.here(), "expected `,` and the upper end")
                    .help(format!("{head} [{}, inf]", inner.trim_end_matches(','))),
            );
        }
    }
    None
}

/// Inside `category { .. }`, which opens at `open`.
fn level(scene: &Scene<'_>, open: usize) -> Diagnostic {
    let close = (scene.at..scene.len()).find(|i| scene.is(*i, Token::CloseBrace)).unwrap_or(scene.len());
    if scene.at == open + 1 && scene.found() == Some(Token::CloseBrace) {
        return new("E0008", "a category needs at least one level")
            .label(scene.spans(open..close + 1), "no level here")
            .help(Help::from("category {yes, no}").over(scene.spans(open.saturating_sub(1)..close + 1)));
    }
    // The words of the level that broke.
    let start = (open + 1..scene.at).rfind(|i| scene.is(*i, Token::Comma)).unwrap_or(open);
    let end = (scene.at..close).find(|i| scene.is(*i, Token::Comma)).unwrap_or(close);
    if start + 1 >= end {
        let all = one_line(scene.words(open + 1..close)).unwrap_or("");
        let levels: Vec<String> = all.split(',').map(str::trim).filter(|level| !level.is_empty()).map(quote).collect();
        let levels = if levels.is_empty() { "yes, no".to_owned() } else { levels.join(", ") };
        let help = Help::from(format!("category {{{levels}}}")).over(scene.spans(open.saturating_sub(1)..close + 1));
        return new("E0008", "expected a level").label(scene.here(), "there is nothing between these commas").help(help);
    }
    let words = scene.words(start + 1..end);
    let quoted = match one_line(scene.words(open + 1..close)) {
        // A Help line that is longer is not shown.
        Some(levels) if levels.len() <= 1_000 => levels.split(',').map(|level| quote(level.trim())).collect::<Vec<_>>().join(", "),
        _ if words.len() <= 500 => format!("{}, ...", quote(words)),
        _ => "\"first level\", \"second level\"".into(),
    };
    new("E0008", format!("the level `{words}` needs quotes"))
        .label(scene.spans(start + 1..end), "only letters, digits and `_` may go without")
        .help(format!("category {{{quoted}}}"))
}

/// A level as it must be written.
fn quote(level: &str) -> String {
    if super::super::tokens::is_name(level) || level.starts_with('"') { level.to_owned() } else { format!("\"{level}\"") }
}
