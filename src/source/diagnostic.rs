//! The one complaint type: a code, a headline, labels that each state a fact, and Cause, Note and Help lines.

use super::help::Help;
use super::span::Span;

/// Does the complaint stop the program?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Error,
    Warning,
}

/// One fact about one piece of source text.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// A complaint in the user's words (LANGUAGE reference, "Messages").
///
/// `labels[0]` is the primary label: the place to edit; its position is in the header.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    pub labels: Vec<Label>,
    /// Which premise fails; may hold several lines separated by `\n`.
    pub cause: Option<String>,
    pub notes: Vec<String>,
    pub help: Vec<Help>,
}

/// The most bytes of one text of a complaint, and the most labels: an expression may be megabytes long.
const MOST_BYTES: usize = 2_000;
const MOST_LABELS: usize = 50;

/// A text, cut where it is too long.
fn cut(text: impl Into<String>) -> String {
    let mut text = text.into();
    if text.len() > MOST_BYTES {
        text.truncate((0..=MOST_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
        text.push_str(" ..");
    }
    text
}

/// All that was found in one pass, in source order of discovery.
pub type Diagnostics = Vec<Diagnostic>;

impl Diagnostic {
    /// An error; the severity follows the code: `W…` warns.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let severity = if code.starts_with('W') { Severity::Warning } else { Severity::Error };
        Diagnostic { code, severity, message: cut(message), labels: vec![], cause: None, notes: vec![], help: vec![] }
    }

    /// Adds a label; the first one added is the primary.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        if self.labels.len() < MOST_LABELS {
            self.labels.push(Label { span, text: cut(text) });
        }
        self
    }

    pub fn cause(mut self, text: impl Into<String>) -> Self {
        self.cause = Some(cut(text));
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(cut(text));
        self
    }

    /// A line that would have to be cut cannot be pasted: it is left out.
    pub fn help(self, line: impl Into<Help>) -> Self {
        self.helps([line])
    }

    pub fn helps(mut self, lines: impl IntoIterator<Item = impl Into<Help>>) -> Self {
        let short = |h: &Help| h.lead.len() + h.code.len() + h.effect.len() <= MOST_BYTES;
        self.help.extend(lines.into_iter().map(Into::into).filter(short));
        self
    }

    /// A name that was meant in place of this.
    pub fn near(self, span: Span, name: &str) -> Self {
        self.help(Help::from(format!("did you mean `{name}`?")).edit(span, name))
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
