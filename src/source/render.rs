//! Diagnostics as text for people and as JSON for programs.
//!
//! ariadne draws the text. Names, levels and source lines are foreign text: what could steer a terminal is escaped
//! before it goes in.

use std::iter::repeat_n;
use std::ops::Range;

use ariadne::{Color, Config, Report, ReportKind};
use serde_json::{Value, json};

use super::{Diagnostic, Help, Label, Severity, SourceMap, help};

/// All diagnostics as text, a blank line between two.
pub fn text(map: &SourceMap, diagnostics: &[Diagnostic], colour: bool) -> String {
    let blocks: Vec<String> = diagnostics.iter().map(|d| block(map, d, colour)).collect();
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
            "help": help::lines(&d.help),
        })
    });
    json!({ "diagnostics": all.collect::<Vec<_>>() })
}

/// Of a line with more characters than this, only what is near its labels is shown.
const LONG_LINE: usize = 160;

/// A label and its line; a label over several lines marks its first line.
struct Placed<'m> {
    label: &'m Label,
    primary: bool,
    line: usize,
    column: usize,
    source: &'m str,
    /// Bytes of `source`.
    from: usize,
    to: usize,
}

fn place<'m>(map: &'m SourceMap, label: &'m Label, primary: bool) -> Placed<'m> {
    let text = map.get(label.span.file).map_or("", |f| f.text.as_str());
    let [start, end] = [label.span.start, label.span.end].map(|at| text.floor_char_boundary(at as usize));
    let line_start = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let source = text.get(line_start..).and_then(|rest| rest.split('\n').next()).unwrap_or("");
    let source = source.strip_suffix('\r').unwrap_or(source);
    let from = (start - line_start).min(source.len());
    let to = end.saturating_sub(line_start).clamp(from, source.len());
    let (line, column) = map.line_column(label.span.file, label.span.start);
    Placed { label, primary, line, column, source, from, to }
}

fn block(map: &SourceMap, diagnostic: &Diagnostic, colour: bool) -> String {
    let (kind, ink) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let mut placed: Vec<Placed<'_>> = diagnostic.labels.iter().enumerate().map(|(index, label)| place(map, label, index == 0)).collect();
    let main = diagnostic.labels.first().map(|label| label.span.file);
    // The primary label's file first, then by place.
    placed.sort_by_key(|p| (Some(p.label.span.file) != main, p.label.span, !p.primary));
    let (mut sources, mut labels) = (vec![], vec![]);
    for one_file in placed.chunk_by(|a, b| a.label.span.file == b.label.span.file) {
        let Some(head) = one_file.iter().find(|p| p.primary).or(one_file.first()) else { continue };
        let name = map.get(head.label.span.file).map_or("?".into(), |f| escaped(&f.name));
        let id = format!("{name}:{}:{}{MARK}{}", head.line, head.column, sources.len());
        let (shown, places) = excerpt(one_file);
        for (p, place) in one_file.iter().zip(places) {
            let label = ariadne::Label::new((id.clone(), place)).with_message(escaped(&p.label.text));
            labels.push(label.with_color(if p.primary { ink } else { Color::Cyan }));
        }
        sources.push((id, shown));
    }
    let mut report = Report::build(kind, (String::new(), 0..0)).with_config(Config::new().with_color(colour));
    let notes: Vec<String> = diagnostic.cause.iter().chain(&diagnostic.notes).map(|text| lines(text)).collect();
    let pieces = |h: &Help| Help { lead: lines(&h.lead), code: lines(&h.code), effect: lines(&h.effect), edits: vec![] };
    let helps = help::lines(&diagnostic.help.iter().map(pieces).collect::<Vec<_>>()).join("\n");
    report.with_notes(&notes);
    report.with_helps((!helps.is_empty()).then_some(&helps));
    let report = report.with_code(diagnostic.code).with_message(escaped(&diagnostic.message)).with_labels(labels);
    let mut drawn = vec![];
    // Writing to memory does not fail.
    let _ = report.finish().write(ariadne::sources(sources), &mut drawn);
    let drawn = String::from_utf8_lossy(&drawn);
    let tidy = drawn.lines().map(|line| match line.split_once(MARK) {
        Some((place, rest)) => format!("{place} {}\n", rest.split_once(' ').map_or("", |(_, rest)| rest)),
        None => format!("{}\n", line.trim_end()),
    });
    let mut drawn: String = tidy.collect();
    if diagnostic.labels.is_empty() {
        // Where there is no place, ariadne draws no words.
        drawn.extend((!helps.is_empty()).then(|| format!("Help: {helps}\n")));
        drawn.extend(notes.iter().map(|text| format!("Note: {text}\n")));
    }
    drawn
}

/// Ends our own `file:line:column` in a heading. ariadne puts its own behind it, which counts in lines as shown: that is
/// cut off. Foreign text cannot hold the mark, it is escaped.
const MARK: char = '\0';

/// The labelled lines of a file, the others empty, and the characters that every label covers there: at least one.
///
/// Characters, since ariadne 0.6 panics on places in bytes when a second file is not ASCII.
fn excerpt(placed: &[Placed<'_>]) -> (String, Vec<Range<usize>>) {
    let (mut shown, mut places) = (String::new(), vec![]);
    let mut number = 1;
    for labels in placed.chunk_by(|a, b| a.line == b.line) {
        let line = labels.first().map_or(number, |p| p.line);
        shown.extend(repeat_n('\n', line - number));
        number = line;
        let start = shown.chars().count();
        let up_to = |at| start + clipped(labels, at).chars().count();
        places.extend(labels.iter().map(|p| up_to(p.from)..up_to(p.to).max(up_to(p.from) + 1)));
        shown += &clipped(labels, usize::MAX);
    }
    // A label at the end of the text covers this blank.
    shown.push(' ');
    (shown, places)
}

/// The line of some labels as shown, up to one of its bytes.
fn clipped(labels: &[Placed<'_>], end: usize) -> String {
    let source = labels.first().map_or("", |p| p.source);
    let short = source.chars().nth(LONG_LINE).is_none();
    let end = end.min(source.len());
    let (mut out, mut done) = (String::new(), 0);
    for p in labels {
        let window = if short { [0, end] } else { [p.from.saturating_sub(LONG_LINE / 4), p.from + LONG_LINE / 2] };
        let [from, to] = window.map(|at| source.floor_char_boundary(at).clamp(done, end));
        if from > done {
            out.push('…');
        }
        out += &escaped(source.get(from..to).unwrap_or(""));
        done = to;
    }
    if done < end {
        out.push('…');
    }
    out
}

/// Text of several lines, fit to be printed.
fn lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escaped).collect();
    lines.join("\n")
}

/// Text of one line, fit to be printed: tabs become blanks; what is invisible or can change how a terminal shows what
/// follows is written as in Rust, such as `\u{202e}`.
fn escaped(text: &str) -> String {
    let shown = |c: char| match c {
        '\t' => "    ".to_owned(),
        '"' | '\'' | '\\' => c.to_string(),
        // An accent may stand behind another character.
        _ => format!("x{c}").escape_debug().skip(1).collect(),
    };
    text.chars().map(shown).collect()
}
