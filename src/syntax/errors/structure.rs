//! Complaints about the shape of a text: brackets, blocks, size, characters, places.

use crate::source::{Diagnostic, FileId, Help, Span};

use super::super::sizes::{MAX_LINES, MAX_NESTING, MAX_SOURCE_BYTES, MAX_WORD_BYTES, MAX_WORDS};
use super::super::split::Word;
use super::super::tokens::Token;

pub(in crate::syntax) type Complaint = Box<Diagnostic>;

pub(super) fn new(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, message)
}

pub(super) fn span_of(file: FileId, word: &Word) -> Span {
    Span::new(file, word.1.start, word.1.end)
}

/// Ours, not the user's.
pub(in crate::syntax) fn bug(span: Span) -> Complaint {
    Box::new(
        new("E0001", "dpm could not read this statement")
            .label(span, "here")
            .note("this is a mistake in dpm itself: please report it with this program"),
    )
}

// ---- E0014, E0019: expressions -------------------------------------------

pub(in crate::syntax) fn no_expression(file: FileId) -> Complaint {
    Box::new(new("E0014", "an expression is missing").label(Span::new(file, 0, 0), "nothing to evaluate").help("mean(age) + 1"))
}

/// `1 + not x`; `whole` is `not x`.
pub(in crate::syntax) fn not_inside(span: Span, whole: Span, negated: &str) -> Complaint {
    Box::new(
        new("E0014", "`not` needs parentheses here")
            .label(span, "`not` binds less tightly than the operator before it")
            .help(Help::from(format!("(not {negated})")).over(whole)),
    )
}

/// `a < b < c`; `parts` are the five words of it.
pub(in crate::syntax) fn comparison_chain(span: Span, parts: [&str; 5]) -> Complaint {
    let [a, first, b, second, c] = parts;
    Box::new(
        new("E0019", "comparisons cannot be chained")
            .label(span, "two comparisons in a row")
            .cause(format!("`{a} {first} {b}` is true or false, which cannot be compared with `{c}`"))
            .help(Help::from(format!("{a} {first} {b} and {b} {second} {c}")).over(span)),
    )
}

pub(in crate::syntax) fn not_a_domain(span: Span, words: &str) -> Complaint {
    Box::new(new("E0007", format!("`{words}` is not a domain")).label(span, "expected bounds after `in`").helps([
        format!("real in [0, {words}]"),
        format!("int in 0..{words}"),
        format!("vector[3] in l2({words})"),
    ]))
}

// ---- E0025: too much -----------------------------------------------------

pub(in crate::syntax) fn number_too_large(span: Span, limit: &str) -> Complaint {
    Box::new(
        new("E0025", "this number is too large")
            .label(span, format!("the largest number here is {limit}"))
            .help("for no bound at all write inf, as in: real in [0, inf]"),
    )
}

pub(in crate::syntax) fn too_deep(span: Span) -> Complaint {
    Box::new(
        new("E0025", "nested too deeply")
            .label(span, format!("more than {MAX_NESTING} brackets, blocks or operators inside one another"))
            .help("name a part of it first, by `let`"),
    )
}

fn too_much(span: Span, headline: String, label: &str) -> Complaint {
    Box::new(new("E0025", headline).label(span, label).help("put data into a file and name it with --public"))
}

pub(in crate::syntax) fn too_long(file: FileId, length: usize) -> Complaint {
    let headline = format!("the program is {length} bytes long, the limit is {MAX_SOURCE_BYTES}");
    too_much(Span::new(file, 0, 0), headline, "not read")
}

pub(in crate::syntax) fn too_many_lines(file: FileId, lines: usize) -> Complaint {
    too_much(Span::new(file, 0, 0), format!("the program has {lines} lines, the limit is {MAX_LINES}"), "not read")
}

pub(in crate::syntax) fn too_many_words(span: Span) -> Complaint {
    too_much(span, format!("the program has more than {MAX_WORDS} words"), "read up to here")
}

pub(in crate::syntax) fn too_long_word(span: Span) -> Complaint {
    Box::new(
        new("E0025", format!("a name, number or level has at most {MAX_WORD_BYTES} bytes"))
            .label(span, format!("{} bytes", span.end - span.start))
            .help("write a shorter one"),
    )
}

// ---- E0018: brackets -----------------------------------------------------

fn closer(open: Token) -> (char, char) {
    match open {
        Token::OpenParen => ('(', ')'),
        Token::OpenBracket => ('[', ']'),
        _ => ('{', '}'),
    }
}

fn closes(open: Token, close: Token) -> bool {
    matches!(
        (open, close),
        (Token::OpenParen, Token::CloseParen) | (Token::OpenBracket, Token::CloseBracket) | (Token::OpenBrace, Token::CloseBrace)
    )
}

/// The first bracket of a statement that has no partner.
pub(in crate::syntax) fn brackets(file: FileId, text: &str, own: &[Word]) -> Option<Complaint> {
    let mut open: Vec<&Word> = vec![];
    for word in own {
        if word.0.is_open() {
            open.push(word);
        } else if word.0.is_close() {
            match open.pop() {
                None => return Some(unopened(file, text, word)),
                Some(start) if !closes(start.0, word.0) => {
                    return Some(mismatched(file, text, start, word));
                }
                Some(_) => {}
            }
        }
    }
    let start = open.pop()?;
    let last = own.last()?;
    let (left, right) = closer(start.0);
    let span = span_of(file, start);
    let whole = text.get(start.1.start..last.1.end).unwrap_or("");
    let complaint = new("E0018", format!("this `{left}` is never closed")).label(span, format!("no `{right}` for it in this statement"));
    Some(Box::new(match one_line(whole) {
        Some(line) => complaint.help(format!("{line}{right}")),
        None => complaint.help(format!("add `{right}` where it should end")),
    }))
}

/// A short text without line breaks, fit to be shown in a help line.
pub(super) fn one_line(text: &str) -> Option<&str> {
    let fits = text.len() <= 80 && !text.contains('\n') && !text.contains('#');
    fits.then_some(text)
}

fn unopened(file: FileId, text: &str, word: &Word) -> Complaint {
    let sign = text.get(word.1.clone()).unwrap_or("");
    Box::new(
        new("E0018", format!("this `{sign}` closes nothing"))
            .label(span_of(file, word), "no bracket is open here")
            .help(format!("remove `{sign}`")),
    )
}

fn mismatched(file: FileId, text: &str, start: &Word, end: &Word) -> Complaint {
    let (left, right) = closer(start.0);
    let sign = text.get(end.1.clone()).unwrap_or("");
    Box::new(
        new("E0018", format!("`{left}` is closed by `{sign}`"))
            .label(span_of(file, end), format!("expected `{right}` here"))
            .label(span_of(file, start), format!("this `{left}` is still open"))
            .help(format!("write `{right}` before this `{sign}`, or instead of it")),
    )
}

/// `{` of a block without `}`.
pub(in crate::syntax) fn unclosed(file: FileId, words: &[Word], open: usize) -> Complaint {
    let span = words.get(open).map_or(Span::new(file, 0, 0), |w| span_of(file, w));
    Box::new(
        new("E0018", "this `{` is never closed")
            .label(span, "the block that starts here has no `}`")
            .help("add `}` after the last statement of the block"),
    )
}
