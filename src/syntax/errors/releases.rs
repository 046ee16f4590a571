//! Complaints about releases: the query, the mechanism and what it may spend.

use super::super::tokens::Token;
use super::scene::Scene;
use super::structure::{new, one_line};
use crate::source::{Diagnostic, Help};

/// release p_hat = draw(p) using diffuse spend 20%
pub(super) fn release(scene: &Scene<'_>) -> Option<Diagnostic> {
    let name = scene.word(1);
    let using = (0..scene.at).rfind(|i| scene.is(*i, Token::Using));
    let spend = (0..scene.at).rfind(|i| scene.is(*i, Token::Spend));
    if scene.bracket().is_some() {
        return None;
    }
    if let Some(spend) = spend {
        return Some(spending(scene, spend, name));
    }
    if let Some(using) = using {
        return Some(mechanism(scene, using, name));
    }
    let all = scene.spans(0..scene.len());
    let instead = |code: String| Help::from(code).over(all);
    let choices = |name: &str, query: &str, tail: &str| {
        let line = |word: &str, what: &str| {
            let code = format!("release {name} = {word}({query}){tail}");
            Help::from(("", code, format!("if `{query}` is a {what}"))).over(all)
        };
        [line("draw", "parameter"), line("mean", "column")]
    };
    let complaint = new("E0012", "expected a name and a query after `release`");
    if scene.at <= 2 {
        return Some(match scene.found() {
            Some(Token::OpenParen) if scene.is(1, Token::Name) => {
                let inner = if scene.is(3, Token::Name) { scene.word(3) } else { name };
                let complaint = complaint.label(scene.spans(1..scene.at + 1), "the result needs a name");
                let named = |query| instead(format!("release {} = {query}", scene.unused(&format!("{inner}_hat"))));
                or_say(complaint, scene.rest(1).map(named), "name the result: release r = ..")
            }
            Some(Token::Tilde) => or_say(
                complaint.label(scene.here(), "a release is written with `=`"),
                scene.rest(3).map(|query| instead(format!("release {name} = {query}"))),
                "write `=` and a query",
            ),
            Some(Token::Assign) if scene.at == 1 => or_say(
                complaint.label(scene.here(), "the result needs a name"),
                scene.rest(2).map(|query| instead(format!("release {} = {query}", scene.unused("result")))),
                "write a name before `=`",
            ),
            _ if !scene.is(1, Token::Name) => complaint.label(scene.here(), "release what?").help("release p_hat = draw(p)"),
            _ => complaint
                .label(scene.here(), format!("no query for `{name}`"))
                .cause("a release says what is computed, so that its cost is known")
                .helps(choices(&scene.unused(&format!("{name}_hat")), name, "")),
        });
    }
    let query = scene.word(3);
    let end = (3..scene.len()).find(|i| matches!(scene.token(*i), Some(Token::Using | Token::Spend))).unwrap_or(scene.len());
    let flat = scene.words(3..end).split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = one_line(&flat).filter(|w| !w.contains("//"));
    let complaint = new("E0012", "a release is one query");
    if end == 3 {
        return Some(complaint.label(scene.here(), "expected a query").help((
            "",
            format!("release {name} = draw(p)"),
            "if `p` is a parameter",
        )));
    }
    if end == 4 && scene.is(3, Token::Name) {
        let tail = scene.rest(end).map_or(String::new(), |t| format!(" {t}"));
        return Some(complaint.label(scene.span(3), format!("`{query}` alone is not a query")).helps(choices(name, query, &tail)));
    }
    if scene.found() == Some(Token::Name) && scene.before() == Some(Token::CloseParen) {
        let head = one_line(scene.words(0..scene.at)).unwrap_or("release x = draw(p)");
        // Of two words the first was meant as `using`.
        let (place, at) = if scene.is(scene.at + 1, Token::Name) { ("in place of", scene.at + 1) } else { ("before", scene.at) };
        let said = scene.rest(at).unwrap_or("diffuse");
        return Some(
            new("E0013", format!("expected `using` {place} `{}`", scene.word(scene.at)))
                .label(scene.here(), "a mechanism follows `using`")
                .help(format!("{head} using {said}")),
        );
    }
    let complaint = complaint
        .label(scene.spans(3..end), "arithmetic is not part of a query")
        .cause("what is computed from a released value is free and belongs in an `output`");
    Some(or_say(
        complaint,
        whole.map(|whole| instead(taken_apart(scene, name, whole, end))),
        "release each query alone, and compute the rest in an `output`",
    ))
}

/// A line to paste, or else words.
fn or_say(complaint: Diagnostic, line: Option<Help>, words: &str) -> Diagnostic {
    complaint.help(line.unwrap_or_else(|| words.into()))
}

/// Every query of some arithmetic as a release of its own, and the rest as an output.
fn taken_apart(scene: &Scene<'_>, name: &str, whole: &str, end: usize) -> String {
    let mut found = queries(scene, 3, end);
    let column =
        || (3..end.min(500)).find(|i| scene.is(*i, Token::Name) && !scene.is_public(scene.word(*i)) && !scene.is(i + 1, Token::OpenParen));
    let mean = if found.is_empty() { column().map(|i| (format!("mean({})", scene.word(i)), scene.word(i))) } else { None };
    if let Some((query, of)) = &mean {
        found.push((query, of));
    }
    // One query keeps the name; of several, what is computed from them does.
    let (output, names) = match found.as_slice() {
        [] => return format!("output {name} = {whole}"),
        [_] => (scene.unused("result"), vec![name.to_owned()]),
        many => (name.to_owned(), (1..=many.len()).map(|i| scene.unused(&format!("{name}_{i}"))).collect()),
    };
    let spend = (3..scene.len()).find(|i| scene.is(*i, Token::Spend)).unwrap_or(scene.len());
    let mechanism = one_line(scene.words(end..spend)).filter(|m| !m.is_empty()).map_or(String::new(), |m| format!(" {m}"));
    let share = scene.word(spend + 1).parse::<f64>().ok().filter(|_| scene.is(spend + 2, Token::Percent));
    let share = match (share, found.len()) {
        (_, 1) => scene.rest(spend).map_or(String::new(), |s| format!(" {s}")),
        (Some(x), n) => format!(" spend {}%", (x / n as f64 * 1e6).floor() / 1e6),
        (None, _) => String::new(),
    };
    let mut lines = String::new();
    let mut result = whole.to_owned();
    for ((query, part), name) in found.iter().zip(&names) {
        lines.push_str(&format!("release {name} = {query}{mechanism}{share}\n"));
        let value = if query.starts_with("posterior") { format!("mean({name})") } else { name.clone() };
        result = result.replace(part, &value);
    }
    format!("{lines}output {output} = {result}")
}

/// The outermost queries of the rows or the model among some words, each once, and the words they stand for; what is asked of
/// an earlier release is free, and so is a public number of rows.
fn queries<'a>(scene: &Scene<'a>, start: usize, end: usize) -> Vec<(&'a str, &'a str)> {
    const ASKED: [&str; 10] = ["draw", "draws", "posterior", "sum", "mean", "count", "histogram", "quantile", "min", "max"];
    let mut found: Vec<(&str, &str)> = vec![];
    let mut at = start;
    // More of them are not a help.
    let end = end.min(start + 500);
    while at < end && found.len() < 20 {
        let free = || scene.is_public(scene.word(at + 2)) || (scene.is(at + 2, Token::CloseParen) && !scene.has_secret_rows());
        let query = scene.is(at + 1, Token::OpenParen) && ASKED.contains(&scene.word(at)) && !free();
        match call_at(scene, at, end).filter(|_| query) {
            Some(close) => {
                let text = one_line(scene.words(at..close + 1)).filter(|text| found.iter().all(|(other, _)| other != text));
                found.extend(text.map(|t| (t, t)));
                at = close;
            }
            None => at += 1,
        }
    }
    found
}

/// Where the call that starts here closes.
fn call_at(scene: &Scene<'_>, name: usize, end: usize) -> Option<usize> {
    let mut depth = 0usize;
    (name + 1..end).find(|at| {
        depth = scene.token(*at).map_or(depth, |token| token.nested(depth));
        depth == 0
    })
}

fn mechanism(scene: &Scene<'_>, using: usize, name: &str) -> Diagnostic {
    let head = one_line(scene.words(0..using)).unwrap_or("release x = draw(p)");
    if scene.at == using + 1 {
        return new("E0013", "expected a mechanism after `using`")
            .label(scene.here(), format!("how is `{name}` made private?"))
            .help(("", format!("{head} using diffuse")))
            .help(("", format!("{head} using ?"), "lists what applies"));
    }
    let said = one_line(scene.words(using..scene.at)).unwrap_or("using ...");
    if scene.before() == Some(Token::Assuming) {
        return new("E0013", "expected `convergence` after `assuming`")
            .label(scene.here(), "convergence of a chain can be assumed, nothing else")
            .help(format!("{head} {said} convergence"));
    }
    new("E0013", format!("nothing may follow `{said}` but `spend`"))
        .label(scene.here(), "not part of a release")
        .help(format!("{head} {said} spend 20%"))
}

/// `0.2` and `20` both as `20%`.
fn percent(amount: &str) -> String {
    match amount.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 1.0 => format!("{}%", (x * 1e8).round() / 1e6),
        Ok(x) if x > 100.0 => "20%".to_owned(),
        _ => format!("{amount}%"),
    }
}

fn spending(scene: &Scene<'_>, spend: usize, name: &str) -> Diagnostic {
    let head = one_line(scene.words(0..spend)).unwrap_or("release x = draw(p)");
    let amount = scene.word(spend + 1);
    if scene.is(spend + 1, Token::Number) && !scene.is(spend + 2, Token::Percent) {
        let number = amount.parse::<f64>().ok();
        let fits = number.is_some_and(|x| scene.budget_number().is_none_or(|most| x <= most));
        return new("E0013", format!("`spend {amount}` needs a unit"))
            .label(scene.span(spend + 1), "a share of the budget, or a cost?")
            .help(format!("{head} spend {}", percent(amount)))
            .helps(fits.then(|| format!("{head} spend {}({amount})", scene.budget_kind())));
    }
    if scene.found() == Some(Token::Using) {
        let said = one_line(scene.words(spend..scene.at)).unwrap_or("spend 20%");
        let using = scene.rest(scene.at).unwrap_or("using diffuse");
        return new("E0013", "`using` comes before `spend`").label(scene.here(), "too late").help(format!("{head} {using} {said}"));
    }
    if scene.at <= spend + 2 {
        return new("E0013", "expected a share or a cost after `spend`")
            .label(scene.here(), format!("how much may `{name}` cost?"))
            .helps(["20%", "eps(0.2)"].map(|part| format!("{head} spend {part}")));
    }
    new("E0013", "a release ends with what it spends")
        .label(scene.here(), "nothing may follow")
        .help(one_line(scene.words(0..scene.at)).unwrap_or("release x = draw(p) spend 20%"))
}
