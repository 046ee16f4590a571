//! Complaints about expressions: missing values, foreign operators, characters that are not words.

use super::super::split::Word;
use super::super::tokens::Token;
use super::places;
use super::scene::Scene;
use super::structure::{Complaint, new, one_line, span_of};
use crate::source::{Diagnostic, FileId, Help, Span};

/// A word that cannot be read at all, or one of another language, before any parsing.
pub(in crate::syntax) fn unreadable(file: FileId, text: &str, own: &[Word]) -> Option<Complaint> {
    let at = own.iter().position(|(token, _)| matches!(token, Token::Unknown | Token::OpenText | Token::Semicolon))?;
    let word = own.get(at)?;
    let span = span_of(file, word);
    let sign = text.get(word.1.clone()).unwrap_or("");
    if let Some(complaint) = increment(file, text, own, at) {
        return Some(Box::new(complaint));
    }
    let twice = own.get(at + 1).is_some_and(|next| next.1.start == word.1.end && text.get(next.1.clone()) == Some(sign));
    let whole = if twice { Span::new(file, word.1.start, word.1.end + sign.len()) } else { span };
    Some(Box::new(match word.0 {
        Token::Semicolon if open_at(own, at) => {
            new("E0021", "`;` separates nothing here").label(span, "expected `,`").help("write `,` instead")
        }
        Token::Semicolon => places::semicolon(span, own.get(..at).and_then(|before| joined(text, before))),
        Token::OpenText => new("E0023", "this text is never closed").label(span, "no `\"` before the end of the line").help(
            match one_line(sign.trim_end()) {
                Some(text) => Help::from(format!("{text}\"")).over(Span::new(file, word.1.start, word.1.start + sign.trim_end().len())),
                None => "add `\"` where the text ends".into(),
            },
        ),
        _ => match sign {
            "&" | "|" | "!" => {
                let word = |i: Option<usize>| {
                    let word = i.and_then(|i| own.get(i));
                    word.and_then(|w| text.get(w.1.clone())).unwrap_or("...")
                };
                let left = word(at.checked_sub(1));
                let right = word(Some(at + 1 + usize::from(twice)));
                let (ours, help) = match sign {
                    "&" => ("and", format!("{left} and {right}")),
                    "|" => ("or", format!("{left} or {right}")),
                    _ => ("not", format!("not {right}")),
                };
                let first = at.checked_sub(usize::from(sign != "!")).and_then(|i| own.get(i));
                let last = own.get(at + 1 + usize::from(twice));
                let help = Help::from(help);
                foreign(
                    whole,
                    "this",
                    ours,
                    match (first, last) {
                        (Some(a), Some(b)) => help.over(Span::new(file, a.1.start, b.1.end)),
                        _ => help,
                    },
                )
            }
            "'" | "`" | "\u{2018}" | "\u{2019}" | "\u{201c}" | "\u{201d}" => new("E0023", "text goes in double quotes")
                .label(span, format!("`{sign}` does not quote"))
                .help("write it in double quotes, as in \"a text\""),
            _ => character(span, sign),
        },
    }))
}

/// `target += normal_lpdf(y | mu, 1)` around the word `at`.
fn increment(file: FileId, text: &str, own: &[Word], at: usize) -> Option<Diagnostic> {
    let start = own.get(..at)?.iter().rposition(|word| text.get(word.1.clone()) == Some("target"))?;
    let target = own.get(start)?;
    let rest = text.get(target.1.end..)?.lines().next()?;
    let help = places::increment(rest)?;
    let whole = Span::new(file, target.1.start, target.1.end + rest.trim_end().len());
    let help = Help::from(help).over(whole);
    Some(new("E0001", "rows enter the model through `observe`").label(span_of(file, target), "no such statement").help(help))
}

/// Is a bracket open before the word `at`?
fn open_at(own: &[Word], at: usize) -> bool {
    let count = |is: fn(Token) -> bool| own.iter().take(at).filter(|word| is(word.0)).count();
    count(Token::is_open) > count(Token::is_close)
}

fn joined<'a>(text: &'a str, words: &[Word]) -> Option<&'a str> {
    let (first, last) = (words.first()?, words.last()?);
    one_line(text.get(first.1.start..last.1.end)?)
}

/// What is written otherwise here.
fn foreign(span: Span, what: &str, ours: &str, help: Help) -> Diagnostic {
    new("E0020", format!("{what} is written `{ours}`")).label(span, format!("write `{ours}`")).help(help)
}

/// A character that no word holds; for some we know what was meant.
fn character(span: Span, sign: &str) -> Diagnostic {
    let code = sign.chars().next().map_or(0, u32::from);
    let meant = match sign {
        "\u{a0}" | "\u{2009}" | "\u{202f}" | "\u{3000}" => "an ordinary blank",
        "\u{2212}" | "\u{2013}" | "\u{2014}" => "`-`",
        "\u{d7}" | "\u{b7}" => "`*`",
        "\u{f7}" => "`/`",
        "\u{2264}" => "`<=`",
        "\u{2265}" => "`>=`",
        "\u{2260}" => "`!=`",
        "\u{2026}" => "`..`",
        "\u{221e}" => "`inf`",
        "\u{223c}" => "`~`",
        "_" => {
            return new("E0024", "a name starts with a letter").label(span, "`_` may only follow a letter").help("x_1");
        }
        "$" => {
            return new("E0024", "unexpected character `$`")
                .label(span, "this character is not allowed in a name")
                .help("a column of a table is written with a dot, as in staff.age");
        }
        _ => {
            return new("E0024", format!("unexpected character `{sign}` (U+{code:04X})"))
                .label(span, "this character is not allowed in a name")
                .help("if it belongs to a level or a header, put that in double quotes");
        }
    };
    new("E0024", format!("unexpected character `{sign}` (U+{code:04X})"))
        .label(span, format!("write {meant}"))
        .help(format!("replace it by {meant}"))
}

/// What is wrong where a value or an operator should be.
pub(super) fn value(scene: &Scene<'_>) -> Option<Diagnostic> {
    let at = scene.at;
    let found = scene.found();
    let before = scene.before()?;
    let previous = scene.word(at - 1);
    let word = scene.word(at);
    operator(scene).or_else(|| conditional(scene)).or_else(|| {
        if scene.wants_value() {
            if let Some(complaint) = bare_fraction(scene, at) {
                return Some(complaint);
            }
            let shown = if at < scene.len() && !scene.starts_line(at) { scene.here() } else { scene.span(at - 1) };
            let closes = found.is_some_and(Token::is_close);
            let (headline, label) = if closes && before == Token::Comma {
                (format!("expected a value between `,` and `{word}`"), "no value here, or one comma too many".to_owned())
            } else {
                (format!("expected a value after `{previous}`"), "what is missing here?".to_owned())
            };
            let complaint = new("E0014", headline).label(shown, label);
            return Some(match without(scene, at) {
                Some(text) => complaint.help(Help::from(text).over(scene.spans(0..scene.len()))),
                None => complaint.help("write a value here"),
            });
        }
        let ends = matches!(
            before,
            Token::Name
                | Token::Number
                | Token::Text
                | Token::CloseParen
                | Token::CloseBracket
                | Token::True
                | Token::False
                | Token::Percent
        );
        let starts =
            matches!(found, Some(Token::Name | Token::Number | Token::Text | Token::True | Token::False | Token::If | Token::OpenParen));
        if ends && starts {
            let complaint = new("E0014", format!("expected an operator or `,` between `{previous}` and `{word}`"))
                .label(scene.here(), "a second value");
            let place = scene.spans(at - 1..at + 1);
            let both = |sign: &str, effect: &str| Help::from(("", format!("{previous}{sign} {word}"), effect)).over(place);
            let product = !matches!(before, Token::Text | Token::True | Token::False) && !matches!(found, Some(Token::Text | Token::If));
            let listed = scene.bracket().is_some() && !(before == Token::Number && found == Some(Token::Name));
            let (two, one) = if listed && product { ("if these are two values", "if this is a product") } else { ("", "") };
            let lines: Vec<Help> = listed.then(|| both(",", two)).into_iter().chain(product.then(|| both(" *", one))).collect();
            return Some(if lines.is_empty() { complaint.help("write an operator between them") } else { complaint.helps(lines) });
        }
        None
    })
}

/// `.5`, with all others like it in the statement.
fn bare_fraction(scene: &Scene<'_>, at: usize) -> Option<Diagnostic> {
    let bare = |i: &usize| {
        let after = i.checked_sub(1).and_then(|before| scene.token(before));
        scene.is(*i, Token::Dot)
            && scene.is(i + 1, Token::Number)
            && !matches!(after, Some(Token::Name | Token::CloseBracket | Token::Text))
    };
    let written = format!("0.{}", scene.word(at + 1));
    let help = Help::from(format!("write {written}"));
    bare(&at).then(|| {
        new("E0014", "a number begins with a digit".to_owned())
            .label(scene.spans(at..at + 2), format!("`.{}`", scene.word(at + 1)))
            .help((0..scene.len()).filter(bare).fold(help, |help, i| help.edit(scene.spans(i..i + 2), format!("0.{}", scene.word(i + 1)))))
    })
}

/// The statement without what has no value beside it: an operator, a comma.
fn without(scene: &Scene<'_>, at: usize) -> Option<String> {
    let operator =
        |t| matches!(t, Token::Comma | Token::Comparison | Token::Plus | Token::Minus | Token::Times | Token::Divide | Token::Power);
    let loose = scene.token(at.checked_sub(1)?).is_some_and(|t| operator(t) || matches!(t, Token::And | Token::Or | Token::Not));
    let (before, after) = (scene.words(0..at - usize::from(loose)), scene.words(at..scene.len()));
    let after = if loose { after } else { scene.words(at + 1..scene.len()) };
    let opens = scene.token(at - 1).is_some_and(|t| matches!(t, Token::OpenParen | Token::OpenBracket));
    let follows = opens && scene.token(at).is_some_and(operator);
    if !loose && !follows {
        return None;
    }
    let gap = if scene.token(at).is_some_and(Token::is_close) || after.is_empty() { "" } else { " " };
    one_line(&format!("{}{gap}{after}", before.trim_end())).map(str::to_owned)
}

/// Operators of other languages.
fn operator(scene: &Scene<'_>) -> Option<Diagnostic> {
    let at = scene.at;
    if scene.found() == Some(Token::Percent) {
        return Some(new("E0020", "`%` marks a share, as in 20%").label(scene.here(), "not an operator").help("spend 20%"));
    }
    let word = |i: usize| if scene.word(i).is_empty() { "..." } else { scene.word(i) };
    let after_equals = word(at.saturating_sub(1)) == "==";
    let (start, ours) = match (scene.before()?, scene.found()?) {
        (_, Token::Assign) if scene.touches(at) && word(at + 1) == "<" => (at, "<="),
        (_, Token::Assign) if scene.touches(at) && word(at + 1) == ">" => (at, ">="),
        (_, Token::Assign) if !after_equals && !scene.wants_value() => {
            return Some(
                new("E0020", "`=` names a value, `==` compares two")
                    .label(scene.here(), "a comparison is written `==`")
                    .help(Help::from(format!("{} == {}", scene.word(at - 1), word(at + 1))).over(scene.spans(at - 1..at + 2))),
            );
        }
        (Token::Times, Token::Times) => (at - 1, "^"),
        (Token::Comparison, Token::Comparison) if scene.words(at - 1..at + 1) == "<>" => (at - 1, "!="),
        (Token::Comparison, Token::Assign) if after_equals => (at - 1, "=="),
        _ => return None,
    };
    let both = start..start + 2;
    let around = start.saturating_sub(1)..(start + 3).min(scene.len());
    let help = || Help::from(format!("{} {ours} {}", scene.word(start.saturating_sub(1)), word(start + 2))).over(scene.spans(around));
    scene.touches(start).then(|| foreign(scene.spans(both.clone()), &format!("`{}`", scene.words(both)), ours, help()))
}

/// `if` without `then` or `else`.
fn conditional(scene: &Scene<'_>) -> Option<Diagnostic> {
    let open = (0..scene.at).rfind(|i| scene.is(*i, Token::If))?;
    let after = |token| (open..scene.at).any(|i| scene.is(i, token));
    if scene.wants_value() || after(Token::Else) {
        return None;
    }
    let said = one_line(scene.words(open..scene.at)).unwrap_or("if ...");
    let (missing, help) = if after(Token::Then) { ("else", format!("{said} else 0")) } else { ("then", format!("{said} then 1 else 0")) };
    Some(
        new("E0016", format!("`if` without `{missing}`"))
            .label(scene.here(), format!("expected `{missing}`"))
            .label(scene.span(open), "this `if`")
            .cause("`if` is a value: it needs one for either case")
            .help(Help::from(help).over(scene.spans(open..scene.at))),
    )
}
