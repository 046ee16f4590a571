//! The one complaint type: a code, a headline, labels that each state a fact, and Cause, Note and Help lines.

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
/// `labels[0]` is the primary label: the place to edit; its position stands in the header.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    pub labels: Vec<Label>,
    /// Which premise fails; may hold several lines separated by `\n`.
    pub cause: Option<String>,
    pub notes: Vec<String>,
    /// Lines the user can paste; may hold several lines separated by `\n`.
    pub help: Vec<String>,
}

/// All that was found in one pass, in source order of discovery.
pub type Diagnostics = Vec<Diagnostic>;

impl Diagnostic {
    /// An error; the severity follows the code: `W…` warns.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let severity = if code.starts_with('W') { Severity::Warning } else { Severity::Error };
        Diagnostic { code, severity, message: message.into(), labels: vec![], cause: None, notes: vec![], help: vec![] }
    }

    /// Adds a label; the first one added is the primary.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    pub fn cause(mut self, text: impl Into<String>) -> Self {
        self.cause = Some(text.into());
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
