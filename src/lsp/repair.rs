//! Help lines as edits: each candidate is tried on the program, and offered only if the complaint goes away.

use super::document::{Document, loader};
use super::names;
use crate::pipeline;
use crate::run::Bound;
use crate::source::{Diagnostic, FileId, Help, Span};
use crate::syntax::ast::{Ast, ExprKind, Item, ItemKind};
use crate::syntax::tokens::{Token, iter};

/// A proved repair: what it is called and the whole new text.
#[derive(Clone, PartialEq, Debug)]
pub struct Repair {
    pub title: String,
    pub text: String,
}

/// Every repair that a complaint's Help lines lead to, in their order.
pub fn repairs(document: &Document, d: &Diagnostic) -> Vec<Repair> {
    let mut found: Vec<Repair> = vec![];
    let mut candidates: Vec<(String, String)> = vec![];
    for code in d.help.iter().map(Help::pasted) {
        candidates.extend(edits(document, d, code).into_iter().map(|text| (code.to_owned(), text)));
    }
    // Lines that only work together: a release, then what uses it. Code without a lead belongs to the line above.
    let together = |a: &Help, b: &Help| b.lead.is_empty() || (a.code.is_empty() && b.code.is_empty());
    for (a, b) in d.help.iter().zip(d.help.iter().skip(1)).filter(|(a, b)| together(a, b)).map(|(a, b)| (a.pasted(), b.pasted())) {
        for text in edits(document, d, a) {
            let half = Document::new(text, document.folder.clone());
            candidates.extend(edits(&half, d, b).into_iter().map(|text| (format!("{a}; {b}"), text)));
        }
    }
    if d.code == "E0402" {
        candidates.push(("drop the `spend` clauses".into(), without_spends(document)));
    }
    if d.code == "E0308" {
        candidates.extend(fixed_prior(document, d));
    }
    for (title, text) in candidates {
        if text != document.text && !found.iter().any(|r| r.text == text) && mends(document, d, &text) {
            found.push(Repair { title: shortened(&title), text });
        }
    }
    found
}

fn shortened(title: &str) -> String {
    let one: Vec<&str> = title.split_whitespace().collect();
    let text = one.join(" ");
    if text.chars().count() <= 90 { text } else { text.chars().take(88).collect::<String>() + ".." }
}

/// Is the complaint gone, and nothing new and worse in its place?
fn mends(document: &Document, d: &Diagnostic, text: &str) -> bool {
    let checked = pipeline::check("program.dpm", text, loader(document.folder.as_ref()).as_ref());
    let (_, after) = pipeline::analyze(&checked, &Bound::default(), false);
    let errors = |list: &[Diagnostic]| list.iter().filter(|x| x.is_error()).count();
    let same = |list: &[Diagnostic]| list.iter().filter(|x| x.code == d.code && x.message == d.message).count();
    errors(&after) < errors(&document.diagnostics).max(1) && same(&after) < same(&document.diagnostics).max(1)
}

/// Every text that using this piece of code could mean.
fn edits(document: &Document, d: &Diagnostic, code: &str) -> Vec<String> {
    let text = &document.text;
    let ast = &document.checked.ast;
    let spans: Vec<Span> = d.labels.iter().map(|l| l.span).filter(|s| s.file == document.checked.main).collect();
    let replace =
        |start: usize, end: usize, with: &str| format!("{}{with}{}", text.get(..start).unwrap_or(""), text.get(end..).unwrap_or(""));
    let mut found = vec![];
    let around: Vec<&Item> = spans.iter().filter_map(|s| innermost(&ast.items, *s)).collect();
    if code.starts_with("using ") {
        for item in &around {
            let ItemKind::Release(r) = &item.kind else { continue };
            let (start, end, blank) = match &r.using {
                Some(using) => (using.span.start, using.span.end, ""),
                None => (r.query.span.end, r.query.span.end, " "),
            };
            found.push(replace(start as usize, end as usize, &format!("{blank}{code}")));
        }
        return found;
    }
    if code.ends_with("{ ... }") {
        let header = code.trim_end_matches("{ ... }").trim_end();
        let keyword = header.split_whitespace().next().unwrap_or("");
        for item in all(&ast.items) {
            let (start, end) = (item.span.start as usize, item.span.end as usize);
            let own = text.get(start..end).unwrap_or("");
            let marked = spans.iter().any(|s| overlaps(*s, item.span));
            if let Some(open) = own.find('{').filter(|_| marked && own.starts_with(keyword)) {
                found.push(replace(start, start + open, &format!("{header} ")));
            }
        }
        // The text of a table that could not be read has no item.
        for s in &spans {
            let line = text.get(..s.start as usize).and_then(|t| t.rfind('\n')).map_or(0, |i| i + 1);
            let open = text.get(line..).and_then(|t| t.find('{')).map(|i| line + i);
            if let Some(open) = open.filter(|_| text.get(line..).is_some_and(|t| t.trim_start().starts_with(keyword))) {
                found.push(replace(line, open, &format!("{header} ")));
            }
        }
        return found;
    }
    let (parsed, errors) = crate::syntax::parse(FileId(0), code);
    if errors.is_empty() && !parsed.items.is_empty() {
        found.extend(statements(document, &around, &parsed, code, &replace));
        return found;
    }
    // A column, or a call in place of another.
    if let Some((name, _)) = code.split_once(':').filter(|(n, _)| crate::syntax::tokens::is_name(n.trim())) {
        for item in all(&ast.items) {
            let (ItemKind::Private(t) | ItemKind::PublicTable(t)) = &item.kind else { continue };
            for c in t.columns.iter().filter(|c| c.name.value == name.trim()) {
                found.push(replace(c.span.start as usize, c.span.end as usize, code));
            }
        }
        return found;
    }
    if let Some((name, _)) = code.split_once('(') {
        for s in around.iter().map(|i| i.span) {
            for (start, end) in calls(text, s, name) {
                found.push(replace(start, end, code));
            }
        }
        for s in &spans {
            found.push(replace(s.start as usize, s.end as usize, code));
        }
    }
    found
}

/// Statements in place of those of the same name, or before, or instead of, a marked one.
fn statements(
    document: &Document,
    around: &[&Item],
    parsed: &Ast,
    code: &str,
    replace: &dyn Fn(usize, usize, &str) -> String,
) -> Vec<String> {
    let mut found = vec![];
    let Some(new) = parsed.items.first() else { return found };
    let (kind, name) = headline(new);
    for item in all(&document.checked.ast.items) {
        if headline(item) == (kind, name) {
            found.push(replace(item.span.start as usize, item.span.end as usize, code));
        }
    }
    for item in around {
        let start = item.span.start as usize;
        found.push(replace(start, start, &format!("{code}\n")));
        found.push(replace(start, item.span.end as usize, code));
    }
    found
}

/// Kind and name of a statement.
fn headline(item: &Item) -> (&'static str, &str) {
    match &item.kind {
        ItemKind::Budget { .. } => ("budget", ""),
        ItemKind::Param { name, .. } => ("param", &name.value),
        ItemKind::Let { name, .. } => ("let", &name.value),
        ItemKind::Release(r) => ("release", &r.name.value),
        ItemKind::Output { name, .. } => ("output", &name.value),
        ItemKind::Private(t) => ("private", &t.name.value),
        _ => ("", "another"),
    }
}

fn overlaps(a: Span, b: Span) -> bool {
    a.start < b.end && b.start < a.end
}

/// Every statement, those inside blocks too.
fn all(items: &[Item]) -> Vec<&Item> {
    let mut found = vec![];
    for item in items {
        found.push(item);
        match &item.kind {
            ItemKind::Each { body, .. } | ItemKind::Model { body, .. } => found.extend(all(body)),
            ItemKind::When { then, otherwise, .. } => {
                found.extend(all(then));
                found.extend(otherwise.iter().flat_map(|o| all(o)));
            }
            _ => {}
        }
    }
    found
}

fn innermost(items: &[Item], span: Span) -> Option<&Item> {
    all(items).into_iter().filter(|i| overlaps(i.span, span)).min_by_key(|i| i.span.end - i.span.start)
}

/// Calls of a function within a span.
fn calls(text: &str, span: Span, name: &str) -> Vec<(usize, usize)> {
    let words: Vec<_> = iter(text).collect();
    let inside = |at: usize| (span.start as usize..span.end as usize).contains(&at);
    let mut found = vec![];
    for (i, (token, range)) in words.iter().enumerate() {
        if *token != Token::Name || text.get(range.clone()) != Some(name.trim()) || !inside(range.start) {
            continue;
        }
        let mut depth = 0;
        for (_, r) in words.iter().skip(i + 1) {
            match text.get(r.clone()) {
                Some("(") => depth += 1,
                Some(")") => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                found.push((range.start, r.end));
                break;
            }
        }
    }
    found
}

/// The shared parameter at its prior mean, and gone: every group then has the same fixed prior.
fn fixed_prior(document: &Document, d: &Diagnostic) -> Option<(String, String)> {
    let name = d.message.split('`').nth(1)?;
    let (item, prior) = document.checked.ast.items.iter().find_map(|i| match &i.kind {
        ItemKind::Param { name: n, prior, .. } if n.value == name => Some((i, prior)),
        _ => None,
    })?;
    let number = |i: usize| match prior.args.get(i).map(|a| &a.value.kind) {
        Some(ExprKind::Number(x, _)) => Some(*x),
        _ => None,
    };
    let args: Vec<f64> = (0..prior.args.len()).map(number).collect::<Option<_>>()?;
    let (mean, _) = (crate::dist::find(&prior.path.last()?.value)?.moments)(&args)?;
    let value = crate::model::print::number(mean);
    let all = names::declarations(&document.checked.ast);
    let declared = all.iter().find(|x| x.span.start >= item.span.start && x.name == name)?;
    let mut places = names::places(&document.text, &all, declared);
    places.retain(|r| r.start != declared.span.start as usize);
    let mut text = document.text.clone();
    for r in places.iter().rev().filter(|r| r.start > item.span.start as usize) {
        text.replace_range(r.clone(), &value);
    }
    let end = item.span.end as usize;
    let line = text.get(end..).and_then(|t| t.find('\n')).map_or(end, |i| end + i + 1);
    text.replace_range(item.span.start as usize..line, "");
    Some((format!("give every group the same fixed prior: {value} in place of `{name}`"), text))
}

fn without_spends(document: &Document) -> String {
    let mut text = document.text.clone();
    let mut spans: Vec<Span> = all(&document.checked.ast.items)
        .into_iter()
        .filter_map(|i| if let ItemKind::Release(r) = &i.kind { r.spend.as_ref().map(|s| s.span) } else { None })
        .collect();
    spans.sort_by_key(|s| std::cmp::Reverse(s.start));
    for s in spans {
        let start = text.get(..s.start as usize).map_or(0, |t| t.trim_end().len());
        text.replace_range(start..s.end as usize, "");
    }
    text
}
