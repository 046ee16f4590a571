//! Complaints about tables: their rows, their unit and their columns.

use super::super::tokens::Token;
use super::scene::Scene;
use super::structure::{new, one_line};
use super::types;
use crate::source::{Diagnostic, Help};

/// private staff[n >= 100] by id max 4 { smoker: bool }
pub(super) fn table(scene: &Scene<'_>) -> Option<Diagnostic> {
    let keyword = scene.word(0);
    if scene.at == 1 {
        return Some(
            new("E0005", format!("expected a name after `{keyword}`"))
                .label(scene.here(), "what is the table called?")
                .help(format!("{keyword} staff[n] {{ age: int in 18..90 }}")),
        );
    }
    let brace = scene.brace();
    let name = scene.word(1);
    if scene.is(2, Token::Colon) {
        return scalar(scene);
    }
    if scene.is(2, Token::From) {
        return Some(record(scene, name));
    }
    if scene.bracket().is_some_and(|b| scene.is(b, Token::OpenBrace) || Some(b) > brace) {
        return column(scene, brace?);
    }
    let by = (0..scene.at).find(|i| scene.is(*i, Token::By));
    if let Some(by) = by {
        return Some(unit(scene, by));
    }
    if scene.at == 2 {
        return Some(
            new("E0005", format!("how many rows does `{name}` have?"))
                .label(scene.span(1), "expected `[n]` after the name")
                .cause("the number of rows is public, bounded or secret, and the guarantee depends on which")
                .helps(rows_help(scene, keyword, name)),
        );
    }
    if scene.bracket().is_some() {
        return Some(rows(scene, keyword, name));
    }
    let head = one_line(scene.words(0..scene.at)).unwrap_or("private staff[n]");
    if scene.word(scene.at) == "max" {
        let most = if scene.is(scene.at + 1, Token::Number) { scene.word(scene.at + 1) } else { "4" };
        return Some(
            new("E0002", "expected `by` and a column before `max`")
                .label(scene.here(), "at most how many rows of whom?")
                .help(scene.headed(&format!("{head} by {} max {most}", key_of(scene)), "")),
        );
    }
    Some(
        new("E0006", format!("expected the columns of `{name}`"))
            .label(scene.here(), "expected `{` and a list of columns")
            .help(format!("{head} {{ age: int in 18..90, smoker: bool }}")),
    )
}

/// The column that names the person: the first one of text.
fn key_of<'a>(scene: &Scene<'a>) -> &'a str {
    let text = |i: &usize| scene.is(*i, Token::Name) && scene.is(i + 1, Token::Colon) && scene.word(i + 2) == "text";
    (scene.at..scene.len()).find(text).map_or("id", |i| scene.word(i))
}

/// A column that rows can be ordered by: the first one that is not text.
fn order_of<'a>(scene: &Scene<'a>) -> &'a str {
    let other = |i: &usize| scene.is(*i, Token::Name) && scene.is(i + 1, Token::Colon) && scene.word(i + 2) != "text";
    (scene.at..scene.len()).find(other).map_or("visit", |i| scene.word(i))
}

/// public cells from "result.json".votes
fn record(scene: &Scene<'_>, name: &str) -> Diagnostic {
    if scene.keyword() == Token::Private {
        return new("E0005", format!("`{name}` is private, so its file is named when the program is run"))
            .label(scene.span(2), "a record has what was released")
            .help(("declare its columns:", format!("private {name}[n] {{ age: int in 18..90 }}")))
            .help(("and name its file when it runs:", format!("--data {name}=PATH")));
    }
    if scene.at == 3 {
        let said = one_line(scene.rest(3).unwrap_or("")).map(|s| s.trim_matches('\'')).filter(|s| s.contains('.') && !s.contains('"'));
        return new("E0005", "expected the record of a run after `from`")
            .label(scene.here(), "the name of its file in double quotes")
            .help(match said {
                Some(file) => format!("public {name} from \"{file}\""),
                None => format!("name the file that `dpm run -o` wrote, as in `public {name} from \"result.json\"`"),
            });
    }
    new("E0005", format!("cannot read which table of the record `{name}` is"))
        .label(scene.here(), "expected the next statement, or `.` and a name")
        .help(format!("public {name} from {}.cells", scene.word(3)))
}

fn rows_help(scene: &Scene<'_>, keyword: &str, name: &str) -> Vec<Help> {
    let line = |(rows, effect)| scene.headed(&format!("{keyword} {name}[{rows}]"), effect);
    [("n", "n is public"), ("n >= 100", "public, and known to be at least 100"), ("private n", "n is secret")].map(line).into()
}

fn rows(scene: &Scene<'_>, keyword: &str, name: &str) -> Diagnostic {
    let complaint = new("E0005", format!("cannot read the number of rows of `{name}`"));
    let number = scene.word(scene.at + 1);
    match scene.found() {
        Some(Token::Comparison | Token::Assign) if scene.is(scene.at + 1, Token::Number) => {
            let n = scene.word(scene.at - 1);
            let help = match scene.word(scene.at) {
                ">" => {
                    let next = number.parse::<u64>().ok().and_then(|k| k.checked_add(1));
                    let next = next.map_or(number.to_owned(), |k| k.to_string());
                    vec![scene.headed(&format!("{keyword} {name}[{n} >= {next}]"), "")]
                }
                "=" | "==" => vec![scene.headed(&format!("{keyword} {name}[{number}]"), "")],
                _ => rows_help(scene, keyword, name),
            };
            complaint.label(scene.here(), "only a lower bound, written `>=`").helps(help)
        }
        _ => complaint
            .label(scene.here(), "expected a name, a whole number, or a name and a lower bound")
            .helps(rows_help(scene, keyword, name)),
    }
}

/// by patient max 4
fn unit(scene: &Scene<'_>, by: usize) -> Diagnostic {
    let head = one_line(scene.words(0..by)).unwrap_or("private visits[n]");
    if scene.at == by + 1 {
        return new("E0002", "expected a column after `by`")
            .label(scene.here(), "which column names the person?")
            .help(scene.headed(&format!("{head} by {} max 4", key_of(scene)), ""));
    }
    let key = scene.word(by + 1);
    if scene.at == by + 2 {
        // The label reaches to the word that stands where `max` should.
        let same_line = scene.at < scene.len() && !scene.starts_line(scene.at);
        return new("E0002", format!("expected `max` after `by {key}`"))
            .label(scene.spans(by..by + 2 + usize::from(same_line)), format!("how many rows can one {key} contribute at most?"))
            .cause(format!("the privacy unit is the {key}; without a cap one {key} may own every row"))
            .help(scene.headed(&format!("{head} by {key} max 4"), format!("keeps the first 4 rows of each {key}")));
    }
    if scene.at == by + 3 {
        return new("E0002", "expected a whole number after `max`")
            .label(scene.here(), format!("at most how many rows of each {key}?"))
            .help(scene.headed(&format!("{head} by {key} max 4"), ""));
    }
    if scene.word(scene.at - 1) == "order" {
        return new("E0002", "expected a column after `order`")
            .label(scene.here(), format!("which column says which rows of each {key} come first?"))
            .help(scene.headed(&format!("{} order {}", one_line(scene.words(0..scene.at - 1)).unwrap_or(head), order_of(scene)), ""));
    }
    let said = one_line(scene.words(0..scene.at)).unwrap_or(head);
    new("E0006", format!("expected the columns of `{}`", scene.word(1)))
        .label(scene.here(), "expected `{` and a list of columns")
        .help(format!("{said} {{ {key}: text, age: int in 18..90 }}"))
}

/// public k: real in [0, 1] = 0.5
fn scalar(scene: &Scene<'_>) -> Option<Diagnostic> {
    if (0..scene.at).any(|i| scene.is(i, Token::Assign)) {
        return None;
    }
    if scene.keyword() == Token::Private {
        let name = scene.word(1);
        return Some(
            new("E0005", format!("`{name}` is private, so it is a table"))
                .label(scene.here(), "expected `[n]` after the name")
                .help(format!("private {name}[n] {{ {name}: {} }}", scene.rest(3).unwrap_or("real in [0, 1]"))),
        );
    }
    types::type_(scene)
}

/// One column; `brace` opens the list.
fn column(scene: &Scene<'_>, brace: usize) -> Option<Diagnostic> {
    let bracket = scene.bracket()?;
    if bracket != brace {
        return types::type_(scene);
    }
    let complaint = |text: String| new("E0006", text);
    let at = scene.at;
    let name = scene.word(at.saturating_sub(1));
    let found = scene.found();
    match scene.before() {
        Some(Token::From) => {
            Some(complaint("expected the header of the file after `from`".into()).label(scene.here(), "in double quotes").help(format!(
                "{} from \"{}\": real",
                scene.word(at.saturating_sub(2)),
                scene.word(at)
            )))
        }
        // A finished column, or the first one: a name must follow.
        Some(Token::OpenBrace | Token::Comma) => Some(match found {
            Some(Token::Text) => header(scene, at, at + 1),
            Some(Token::Comma) => {
                complaint("expected a column".into()).label(scene.here(), "one comma is enough").help("age: int in 18..90, smoker: bool")
            }
            _ => complaint("expected a column".into()).label(scene.here(), "a column is a name, `:` and a type").help("age: int in 18..90"),
        }),
        Some(Token::Name) if is_column_name(scene, at - 1) => Some(match found {
            Some(
                Token::Minus | Token::Dot | Token::Plus | Token::Divide | Token::Name | Token::Number | Token::OpenParen | Token::Percent,
            ) if !scene.starts_line(at) && colon_after(scene, at).is_some() => header(scene, at - 1, colon_after(scene, at)?),
            Some(Token::Tilde | Token::Assign) => complaint(format!("expected `:` and a type after `{name}`"))
                .label(scene.here(), "a column has a type")
                .help(format!("{name}: {}", type_word(scene, at + 1))),
            Some(Token::Name) if !scene.starts_line(at) => complaint(format!("expected `:` and a type after `{name}`"))
                .label(scene.here(), format!("`:` is missing before `{}`", scene.word(at)))
                .help(format!("{name}: {}", type_word(scene, at))),
            _ => complaint(format!("expected `:` and a type after `{name}`"))
                .label(scene.span(at - 1), "what does this column hold?")
                .helps(["bool", "int in 0..10", "real in [0, 1]", "text"].map(|ty| format!("{name}: {ty}"))),
        }),
        Some(Token::Colon | Token::In | Token::Public | Token::Category) => types::type_(scene),
        _ if found == Some(Token::Text) => Some(header(scene, at, at + 1)),
        _ => types::type_(scene),
    }
}

/// Does the name at `index` start a column, or is it the name of a type?
fn is_column_name(scene: &Scene<'_>, index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|i| scene.token(i));
    !matches!(before, Some(Token::Colon | Token::Public | Token::In | Token::To))
}

/// The colon that ends the words of a column name, on the same line.
fn colon_after(scene: &Scene<'_>, at: usize) -> Option<usize> {
    (at..scene.len())
        .take_while(|i| !scene.starts_line(*i) && !matches!(scene.token(*i), Some(Token::Comma | Token::CloseBrace)))
        .find(|i| scene.is(*i, Token::Colon))
}

/// The type that starts at a word, or a plain one.
fn type_word<'a>(scene: &Scene<'a>, index: usize) -> &'a str {
    let mut depth = 0usize;
    let mut end = index;
    while let Some(token) = scene.token(end) {
        let over = depth == 0 && (matches!(token, Token::Comma) || token.is_close());
        if over || (end > index && scene.starts_line(end)) {
            break;
        }
        depth = token.nested(depth);
        end += 1;
    }
    match scene.token(index) {
        Some(Token::Name | Token::Category) => one_line(scene.words(index..end)).unwrap_or("real"),
        _ => "real",
    }
}

/// A header of real data that is not a name, in the words `start..end`.
fn header(scene: &Scene<'_>, start: usize, end: usize) -> Diagnostic {
    let text = scene.words(start..end).trim_matches('"');
    let mut name: String = text.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if !name.starts_with(char::is_alphabetic) {
        name.insert_str(0, "x_");
    }
    let after = if scene.is(end, Token::Colon) { end + 1 } else { end };
    new("E0006", format!("`{text}` is not a name"))
        .label(scene.spans(start..end), "a name holds letters, digits and `_`")
        .help(format!("{name} from \"{text}\": {}", type_word(scene, after)))
}
