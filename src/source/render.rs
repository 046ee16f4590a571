//! Diagnostics as text for people and as JSON for programs.
//!
//! The text has ariadne's look (LANGUAGE reference, "Messages"). It is drawn here because the layout has a `Cause`
//! line, one label a line and byte spans, and because names and levels are foreign text: whatever could steer a
//! terminal is escaped.

use std::fmt::Write;

use serde_json::{Value, json};

use super::width::{escaped, shown_width};
use super::{Diagnostic, FileId, Label, Severity, SourceMap};

/// All diagnostics as text, a blank line between two.
pub fn text(map: &SourceMap, diagnostics: &[Diagnostic], colour: bool) -> String {
    let paint = Paint { colour };
    let blocks: Vec<String> = diagnostics.iter().map(|d| block(map, d, paint)).collect();
    blocks.join("\n")
}

/// All diagnostics as the list that `--json` prints: byte offsets, 1-based line and column.
pub fn json(map: &SourceMap, diagnostics: &[Diagnostic]) -> Value {
    let label = |(index, label): (usize, &Label)| {
        let (line, column) = map.line_column(label.span.file, label.span.start);
        json!({
            "file": map.get(label.span.file).map_or("", |f| f.name.as_str()),
            "start": label.span.start,
            "end": label.span.end,
            "line": line,
            "column": column,
            "text": label.text,
            "primary": index == 0,
        })
    };
    let all = diagnostics.iter().map(|d| {
        json!({
            "code": d.code,
            "severity": match d.severity { Severity::Error => "error", Severity::Warning => "warning" },
            "message": d.message,
            "labels": d.labels.iter().enumerate().map(label).collect::<Vec<_>>(),
            "cause": d.cause,
            "notes": d.notes,
            "help": d.help,
        })
    });
    json!({ "diagnostics": all.collect::<Vec<_>>() })
}

/// Lines longer than this many columns are shown from near the label only.
const LONG_LINE: usize = 160;

#[derive(Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    fn with(self, sequence: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{sequence}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn severity(self, severity: Severity, text: &str) -> String {
        self.with(
            match severity {
                Severity::Error => "31",
                Severity::Warning => "33",
            },
            text,
        )
    }

    fn frame(self, text: &str) -> String {
        self.with("38;5;246", text)
    }

    fn word(self, text: &str) -> String {
        self.with("36", text)
    }
}

/// A label laid out: its line and the columns it covers there.
struct Placed<'d> {
    label: &'d Label,
    primary: bool,
    line: usize,
    /// Byte range within the line.
    from: usize,
    to: usize,
    source: &'d str,
}

fn place<'d>(map: &'d SourceMap, label: &'d Label, primary: bool) -> Placed<'d> {
    let text = map.get(label.span.file).map_or("", |f| f.text.as_str());
    let start = floor(text, label.span.start as usize);
    let line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let rest = text.get(line_start..).unwrap_or("");
    let source = rest.split('\n').next().unwrap_or("");
    let source = source.strip_suffix('\r').unwrap_or(source);
    let from = (start - line_start).min(source.len());
    // A label over several lines marks its first line.
    let end = floor(text, (label.span.end as usize).max(start));
    Placed {
        label,
        primary,
        line: map.line_column(label.span.file, label.span.start).0,
        from,
        to: (end - line_start).min(source.len()).max(from),
        source,
    }
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn block(map: &SourceMap, diagnostic: &Diagnostic, paint: Paint) -> String {
    let mut out = String::new();
    let kind = match diagnostic.severity {
        Severity::Error => "Error",
        Severity::Warning => "Warning",
    };
    let head = paint.severity(diagnostic.severity, &format!("[{}] {kind}:", diagnostic.code));
    let _ = writeln!(out, "{head} {}", escaped(&diagnostic.message));
    let mut placed: Vec<Placed<'_>> = diagnostic.labels.iter().enumerate().map(|(index, label)| place(map, label, index == 0)).collect();
    let primary = diagnostic.labels.first().map(|label| label.span.file);
    // The primary label's file first, then by place; the sort is stable.
    placed.sort_by_key(|p| {
        let file = p.label.span.file;
        (Some(file) != primary, file, p.label.span.start, !p.primary)
    });
    let digits = placed.iter().map(|p| p.line).max().unwrap_or(0);
    let gutter = digits.to_string().len().max(2);
    files(&mut out, map, diagnostic, &placed, gutter, paint);
    words(&mut out, diagnostic, gutter, paint);
    let _ = writeln!(out, "{}{}", paint.frame(&"─".repeat(gutter + 1)), paint.frame("╯"));
    out
}

fn files(out: &mut String, map: &SourceMap, diagnostic: &Diagnostic, placed: &[Placed<'_>], gutter: usize, paint: Paint) {
    let blank = " ".repeat(gutter + 1);
    let mut file: Option<FileId> = None;
    let mut last_line = 0;
    for one in placed {
        let span = one.label.span;
        if file != Some(span.file) {
            let corner = if file.is_none() { "╭─[" } else { "├─[" };
            let shown = if one.primary || file.is_some() { span } else { diagnostic.labels.first().map_or(span, |label| label.span) };
            let (line, column) = map.line_column(shown.file, shown.start);
            let name = map.get(span.file).map_or("?", |f| f.name.as_str());
            let _ = writeln!(out, "{blank}{} {}:{line}:{column} {}", paint.frame(corner), escaped(name), paint.frame("]"));
            let _ = writeln!(out, "{blank}{}", paint.frame("│"));
            file = Some(span.file);
            last_line = 0;
        }
        if last_line != 0 && one.line > last_line + 1 {
            let _ = writeln!(out, "{blank}{}", paint.frame("·"));
        }
        let view = View::of(one);
        if one.line != last_line || view.cut {
            let number = format!("{:>gutter$}", one.line);
            let _ = writeln!(out, "{} {} {}", paint.frame(&number), paint.frame("│"), view.source);
        }
        last_line = one.line;
        mark(out, diagnostic.severity, one, &view, &blank, paint);
    }
}

/// A source line as shown, and the columns the label covers in it.
struct View {
    source: String,
    column: usize,
    width: usize,
    cut: bool,
}

impl View {
    fn of(one: &Placed<'_>) -> View {
        // Look at no more of a line than can matter: lines may be megabytes long.
        let short = one.source.len() <= 8 * LONG_LINE && shown_width(one.source, 0) <= LONG_LINE;
        if short {
            let before = shown_width(one.source.get(..one.from).unwrap_or(""), 0);
            let covered = one.source.get(one.from..one.to).unwrap_or("");
            return View { source: escaped(one.source), column: before, width: shown_width(covered, before).max(1), cut: false };
        }
        let start = floor(one.source, one.from.saturating_sub(LONG_LINE / 4));
        let end = floor(one.source, one.from + LONG_LINE / 2);
        let lead = if start > 0 { "… " } else { "" };
        let tail = if end < one.source.len() { " …" } else { "" };
        let inside = one.source.get(start..one.from).unwrap_or("");
        let marked = one.source.get(one.from..one.to.min(end).max(one.from));
        View {
            source: format!("{lead}{}{tail}", escaped(one.source.get(start..end).unwrap_or(""))),
            column: shown_width(lead, 0) + shown_width(inside, 0),
            width: shown_width(marked.unwrap_or(""), 0).max(1),
            cut: true,
        }
    }
}

/// The line under the text and the label's words below its middle.
fn mark(out: &mut String, severity: Severity, one: &Placed<'_>, view: &View, blank: &str, paint: Paint) {
    let left = (view.width - 1) / 2;
    let right = view.width - 1 - left;
    let ink = |text: &str| {
        if one.primary { paint.severity(severity, text) } else { paint.word(text) }
    };
    let indent = " ".repeat(view.column);
    let line = format!("{}┬{}", "─".repeat(left), "─".repeat(right));
    let frame = paint.frame("│");
    let _ = writeln!(out, "{blank}{frame} {indent}{}", ink(&line));
    let indent = " ".repeat(view.column + left);
    for (index, words) in one.label.text.split('\n').enumerate() {
        let lead = if index == 0 { ink("╰─") } else { "  ".to_owned() };
        let _ = writeln!(out, "{blank}{frame} {indent}{lead} {}", escaped(words));
    }
}

/// Cause, Note and Help lines; further lines are indented below the first.
fn words(out: &mut String, diagnostic: &Diagnostic, gutter: usize, paint: Paint) {
    let blank = " ".repeat(gutter + 1);
    let cause = diagnostic.cause.iter().map(|text| ("Cause", text));
    let notes = diagnostic.notes.iter().map(|text| ("Note", text));
    let help = diagnostic.help.iter().map(|text| ("Help", text));
    let frame = paint.frame("│");
    for (index, (title, text)) in cause.chain(notes).chain(help).enumerate() {
        if index == 0 && !diagnostic.labels.is_empty() {
            let _ = writeln!(out, "{blank}{frame}");
        }
        for (number, line) in text.split('\n').enumerate() {
            let lead = if number == 0 { paint.word(&format!("{title}:")) } else { " ".repeat(title.len() + 1) };
            let line = format!("{blank}{frame} {lead} {}", escaped(line));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}
