//! Texts and complaints: files, spans, diagnostics and how they are shown.

pub mod codes;
pub mod diagnostic;
pub mod help;
pub mod render;
pub mod span;
pub mod suggest;

pub use diagnostic::{Diagnostic, Diagnostics, Label, Severity};
pub use help::Help;
pub use span::{FileId, Span, Spanned};

use std::sync::OnceLock;

/// One source text and the name it is shown under.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: String,
    places: OnceLock<Places>,
}

/// Where lines begin, and how many bytes before each block only go on with a character: a text may be one long line, and a
/// certificate asks for thousands of places.
#[derive(Clone, Debug)]
struct Places {
    lines: Vec<u32>,
    continued: Vec<u32>,
}

/// Bytes of a block.
const BLOCK: usize = 1 << 12;

fn continuing(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| **b & 0xc0 == 0x80).count()
}

impl Places {
    fn of(text: &str) -> Places {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| count(at + 1));
        let mut continued = vec![0_u32];
        for block in text.as_bytes().chunks(BLOCK) {
            let before = continued.last().copied().unwrap_or(0);
            continued.push(before.saturating_add(count(continuing(block))));
        }
        Places { lines: std::iter::once(0).chain(breaks).collect(), continued }
    }

    /// Characters that begin before this byte.
    fn characters(&self, text: &str, at: usize) -> usize {
        let block = at / BLOCK;
        let inside = text.as_bytes().get(block * BLOCK..at).map_or(0, continuing);
        at - self.continued.get(block).map_or(0, |c| *c as usize) - inside
    }
}

/// Every text a program is made of: the main file, modules, library modules.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        self.files.push(SourceFile { name: name.into(), text: text.into(), places: OnceLock::new() });
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
        let Some(file) = self.get(file) else { return (1, 1) };
        let places = file.places.get_or_init(|| Places::of(&file.text));
        let at = (offset as usize).min(file.text.len());
        let line = places.lines.partition_point(|start| *start as usize <= at);
        let start = line.checked_sub(1).and_then(|i| places.lines.get(i)).map_or(0, |s| *s as usize);
        (line, places.characters(&file.text, at) - places.characters(&file.text, start) + 1)
    }
}
