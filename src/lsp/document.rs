//! One open file: its text, what it means, and what is wrong with it.

use super::lines;
use crate::analyze::Analysis;
use crate::check::Loader;
use crate::pipeline::{self, Checked};
use crate::run::Bound;
use crate::source::{Diagnostic, Severity, Span};
use lsp_types as lsp;
use std::path::PathBuf;

pub struct Document {
    pub text: String,
    pub folder: Option<PathBuf>,
    pub checked: Checked,
    pub analysis: Option<Analysis>,
    pub diagnostics: Vec<Diagnostic>,
}

/// A program is shown under this name; an editor knows its own.
const NAME: &str = "program.dpm";

/// Modules beside a file, or none.
pub fn loader(folder: Option<&PathBuf>) -> Box<dyn Loader> {
    match folder {
        Some(folder) => Box::new(pipeline::Folder::of(&folder.join(NAME))),
        None => Box::new(crate::check::NoFiles),
    }
}

impl Document {
    pub fn new(text: String, folder: Option<PathBuf>) -> Document {
        let checked = pipeline::check(NAME, &text, loader(folder.as_ref()).as_ref());
        let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
        Document { text, folder, checked, analysis, diagnostics }
    }

    /// A range of this file; `None` for a span of a module.
    pub fn range(&self, span: Span) -> Option<lsp::Range> {
        (span.file == self.checked.main).then(|| lines::range(&self.text, span.start as usize, span.end as usize))
    }

    /// The complaints as the protocol says them.
    pub fn published(&self, uri: &lsp::Uri) -> Vec<lsp::Diagnostic> {
        self.diagnostics.iter().map(|d| self.publish(d, uri)).collect()
    }

    pub fn publish(&self, d: &Diagnostic, uri: &lsp::Uri) -> lsp::Diagnostic {
        let place = |span: Span| self.range(span).unwrap_or_default();
        let related = d.labels.iter().skip(1).filter_map(|l| {
            let location = lsp::Location { uri: uri.clone(), range: self.range(l.span)? };
            Some(lsp::DiagnosticRelatedInformation { location, message: l.text.clone() })
        });
        let mut message = d.message.clone();
        let mut add = |head: &str, text: &str| message.push_str(&format!("\n{head}: {text}"));
        if let Some(label) = d.labels.first() {
            add("here", &label.text);
        }
        if let Some(cause) = &d.cause {
            add("Cause", cause);
        }
        d.notes.iter().for_each(|n| add("Note", n));
        crate::source::help::lines(&d.help).iter().for_each(|h| add("Help", h));
        lsp::Diagnostic {
            range: d.labels.first().map(|l| place(l.span)).unwrap_or_default(),
            severity: Some(match d.severity {
                Severity::Error => lsp::DiagnosticSeverity::ERROR,
                Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            }),
            code: Some(lsp::NumberOrString::String(d.code.into())),
            source: Some("dpm".into()),
            message,
            related_information: Some(related.collect()),
            ..Default::default()
        }
    }
}
