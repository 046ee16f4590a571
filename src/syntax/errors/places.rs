//! Complaints about statements that stand where they may not.

use crate::source::suggest::did_you_mean;
use crate::source::{Diagnostic, FileId, Help, Span};

use super::super::split::{Body, Piece, Word, starts_line};
use super::super::statements::Place;
use super::super::tokens::{STATEMENTS, Token};
use super::structure::{Complaint, new, one_line, span_of};

/// What is wrong with the place of `piece`, before it is read.
pub(in crate::syntax) fn misplaced(file: FileId, text: &str, words: &[Word], piece: &Piece, place: Place) -> Vec<Complaint> {
    misplacement(file, text, words, piece, place).map_or_else(|| unopened(file, text, words, piece), |one| vec![one])
}

/// What does not start with a keyword.
fn unopened(file: FileId, text: &str, words: &[Word], piece: &Piece) -> Vec<Complaint> {
    if piece.keyword.opens_statement() {
        return vec![];
    }
    strays(file, text, words.get(piece.head.clone()).unwrap_or(&[]))
}

fn misplacement(file: FileId, text: &str, words: &[Word], piece: &Piece, place: Place) -> Option<Complaint> {
    let first = words.get(piece.head.start)?;
    let word = text.get(first.1.clone()).unwrap_or("");
    let span = span_of(file, first);
    let token = piece.keyword;
    let declares = matches!(token, Token::Use | Token::Budget | Token::Private | Token::Public | Token::Fn | Token::Model);
    if token == Token::Return && place != Place::Model {
        let last = words.get(piece.head.clone()).and_then(|own| own.last()).unwrap_or(first);
        let value = text.get(first.1.end..last.1.end).and_then(|v| one_line(v.trim())).filter(|v| !v.is_empty());
        return Some(Box::new(new("E0017", "`return` is allowed only at the end of a model").label(span, "not inside a model").help(
            match value {
                Some(value) => Help::from(("outside, a result is an output:", format!("output result = {value}"))).over(Span::new(
                    file,
                    first.1.start,
                    last.1.end,
                )),
                None => "remove `return`".into(),
            },
        )));
    }
    let blocked = place == Place::Model && matches!(token, Token::Each | Token::When);
    if (declares && place != Place::File) || blocked {
        let inside = if place == Place::Model { "a model" } else { "a block" };
        return Some(Box::new(
            new("E0001", format!("`{word}` is not allowed inside {inside}"))
                .label(span, "only at the outermost level of a file")
                .help(format!("move it out of {inside}, or close {inside} before it with `}}`")),
        ));
    }
    None
}

/// Lines that open no statement: one complaint for each, as long as brackets are closed.
pub(in crate::syntax) fn strays(file: FileId, text: &str, own: &[Word]) -> Vec<Complaint> {
    let mut complaints = vec![];
    let (mut start, mut depth) = (0, 0usize);
    for at in 1..=own.len() {
        depth = own.get(at - 1).map_or(depth, |word| word.0.nested(depth));
        if at == own.len() || (depth == 0 && starts_line(text, own, at)) {
            complaints.push(stray(file, text, own.get(start..at).unwrap_or(&[])));
            start = at;
        }
    }
    complaints
}

/// Words that open no statement.
fn stray(file: FileId, text: &str, own: &[Word]) -> Complaint {
    let nowhere = Span::new(file, 0, 0);
    let span = own.first().map_or(nowhere, |word| span_of(file, word));
    let token = own.first().map_or(Token::Unknown, |word| word.0);
    let word = text.get(span.start as usize..span.end as usize).unwrap_or("");
    let rest = own.get(1..).and_then(|rest| text.get(rest.first()?.1.start..rest.last()?.1.end)).and_then(one_line).unwrap_or("...");
    let second = own.get(1).map(|word| word.0);
    let whole = own.last().map_or(span, |last| Span::new(file, span.start as usize, last.1.end));
    let instead = |code: String| Help::from(code).over(whole);
    Box::new(match token {
        Token::CloseBrace | Token::CloseParen | Token::CloseBracket => {
            new("E0018", format!("this `{word}` closes nothing")).label(span, "no bracket is open here").help(format!("remove `{word}`"))
        }
        Token::Semicolon => semicolon(span, None),
        Token::If => new("E0016", "`if` is a value, not a statement")
            .label(span, "a statement that depends on a value starts with `when`")
            .help("when share > 0.1 { ... } else { ... }"),
        Token::Else => new("E0016", "`else` without `when`")
            .label(span, "no `when` block ends right before it")
            .help("when share > 0.1 { ... } else { ... }"),
        Token::Name => {
            let near = did_you_mean(&word.to_lowercase(), STATEMENTS.iter().copied());
            let complaint = new("E0001", format!("unknown statement `{word}`"));
            match (near, second) {
                (Some(near), _) => complaint.label(span, format!("did you mean `{near}`?")).help(instead(format!("{near} {rest}"))),
                (None, Some(Token::Assign)) => {
                    complaint.label(span, "a statement starts with a keyword").help(instead(format!("let {word} {rest}")))
                }
                (None, Some(Token::Tilde)) => complaint
                    .label(span, "a statement starts with a keyword")
                    .cause("`~` never stands alone: a parameter and an observation are different statements")
                    .help(Help::from(("", format!("param {word} {rest}"), format!("if `{word}` is a parameter"))).over(whole))
                    .help(Help::from(("", format!("observe {word} {rest}"), format!("if `{word}` is a column"))).over(whole)),
                _ if word == "for" => complaint
                    .label(span, "there are no loops")
                    .cause("a statement about a column speaks of every row; `each` repeats a block for every level of a category")
                    .help("as in observe y ~ normal(mu, 1), or each region of survey { .. }"),
                _ if rest.starts_with("<-") => {
                    let value = rest.trim_start_matches("<-").trim_start();
                    complaint.label(span, "a value is named by `let`").help(instead(format!("let {word} = {value}")))
                }
                _ => complaint.label(span, "a statement starts with a keyword").help(format!("one of: {}", openers())),
            }
        }
        _ => new("E0001", format!("`{word}` does not start a statement"))
            .label(span, "a statement starts with a keyword")
            .help(format!("one of: {}", openers())),
    })
}

/// `;` after these words of a statement.
pub(super) fn semicolon(span: Span, before: Option<&str>) -> Diagnostic {
    new("E0021", "statements are not separated by `;`")
        .label(span, "remove this")
        .cause("a statement ends where the next keyword starts")
        .help(match before {
            Some(before) => Help::from(before).edit(span, "\n"),
            None => "write each statement on its own line".into(),
        })
}

/// Statements that may stand outside a model.
fn openers() -> String {
    let outside: Vec<&str> = STATEMENTS.iter().copied().filter(|s| *s != "return").collect();
    outside.join(", ")
}

/// `+= normal_lpdf(y | mu, 1)` as a statement of this language.
pub(super) fn increment(rest: &str) -> Option<String> {
    let call = rest.trim_start().strip_prefix("+=")?.trim_start();
    let (function, inside) = call.split_once('(')?;
    let family = function.strip_suffix("_lpdf").or_else(|| function.strip_suffix("_lpmf"))?;
    let (outcome, args) = inside.trim_end().strip_suffix(')')?.split_once('|')?;
    Some(format!("observe {} ~ {family}({})", outcome.trim(), args.trim()))
}

/// The head of `each`, `when` or `model` at `span`, with no `{` after it.
pub(in crate::syntax) fn no_block(span: Span, keyword: Token, text: &str) -> Complaint {
    let head = text.get(span.start as usize..span.end as usize).unwrap_or("");
    let code = match keyword {
        Token::Each => "E0015",
        Token::When => "E0016",
        _ => "E0017",
    };
    Box::new(
        new(code, "expected `{` and a block of statements")
            .label(span, "no block after this")
            .help(format!("{} {{ ... }}", one_line(head).unwrap_or("..."))),
    )
}

/// A model whose block ends at `end` without `return`.
pub(in crate::syntax) fn no_return(end: Span, body: &Body, words: &[Word], text: &str) -> Complaint {
    let mut parameter = None;
    for piece in body.pieces.iter().filter(|p| p.keyword == Token::Param) {
        parameter = words.get(piece.head.start + 1);
    }
    let name = parameter.and_then(|word| text.get(word.1.clone()));
    Box::new(
        new("E0017", "the model returns nothing")
            .label(end, "expected `return` before this")
            .help(format!("return {}", name.unwrap_or("p"))),
    )
}

/// A statement after `return`.
pub(in crate::syntax) fn after_return(file: FileId, words: &[Word], piece: &Piece) -> Complaint {
    let span = words.get(piece.head.start).map_or(Span::new(file, 0, 0), |word| span_of(file, word));
    Box::new(
        new("E0017", "`return` is the last statement of a model")
            .label(span, "this comes after `return`")
            .help("move the statement before `return`"),
    )
}

/// A character that is not allowed in a program.
pub(in crate::syntax) fn forbidden_character(span: Span, character: char) -> Complaint {
    let code = u32::from(character);
    let (what, why) = match character {
        '\r' => ("a carriage return without a line feed".to_owned(), "editors show a new line here, the program does not have one"),
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            (format!("a direction mark, U+{code:04X}"), "it makes the program read differently from what it says")
        }
        '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => {
            (format!("a line or page separator, U+{code:04X}"), "editors show a new line here, the program does not have one")
        }
        _ => (format!("a control character, U+{code:04X}"), "it is invisible and can hide what the program says"),
    };
    Box::new(
        new("E0024", format!("the program contains {what}"))
            .label(span, "this character is not allowed, not even in comments")
            .cause(why)
            .help("delete the character"),
    )
}
