//! Texts and complaints: files, spans, diagnostics and how they are shown.

pub mod codes;
pub mod diagnostic;
pub mod render;
pub mod span;
pub mod suggest;
mod width;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use span::{FileId, Span, Spanned};

/// One source text and the name it is shown under.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
}

/// Every text a program is made of: the main file, modules, library modules.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into() });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The text under a span; empty if the span is not of this map.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).and_then(|f| f.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// 1-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, file: FileId, offset: u32) -> (usize, usize) {
        let text = self.get(file).map_or("", |f| f.text.as_str());
        let before = text.get(..offset as usize).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}
