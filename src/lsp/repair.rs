//! Help lines as edits: each candidate is tried on the program, and offered only if the complaint goes away.

use super::document::{Document, loader};
use crate::pipeline;
use crate::run::Bound;
use crate::source::{Diagnostic, FileId, Help, Span};
use crate::syntax::ast::{Item, ItemKind};

/// A proved repair: what it is called and the whole new text.
#[derive(Clone, PartialEq, Debug)]
pub struct Repair {
    pub title: String,
    pub text: String,
}

/// A text that following lines of Help could mean.
pub struct Candidate {
    /// The lines, by their number; two that only work together.
    pub lines: Vec<usize>,
    pub title: String,
    pub text: String,
}

/// Every repair that a complaint's Help lines lead to, in their order.
pub fn repairs(document: &Document, d: &Diagnostic) -> Vec<Repair> {
    let mut found: Vec<Repair> = vec![];
    for Candidate { title, text, .. } in candidates(document, d) {
        if text != document.text && !found.iter().any(|r| r.text == text) && mends(document, d, &text) {
            found.push(Repair { title: shortened(&title), text });
        }
    }
    found
}

/// Every text that following the Help lines of a complaint could mean.
pub fn candidates(document: &Document, d: &Diagnostic) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = vec![];
    for (i, h) in d.help.iter().enumerate() {
        let of = |text| Candidate { lines: vec![i], title: h.pasted().to_owned(), text };
        found.extend(edits(document, d, h).into_iter().map(of));
    }
    // Lines that only work together: a release, then what uses it. Code without a lead belongs to the line above. The second
    // goes first, so that the labels are still right for the first, which mostly stands before it.
    let together = |a: &Help, b: &Help| a.edits.is_empty() && (b.lead.is_empty() || (a.code.is_empty() && b.code.is_empty()));
    for (i, (a, b)) in d.help.iter().zip(d.help.iter().skip(1)).enumerate().filter(|(_, (a, b))| together(a, b)) {
        for text in edits(document, d, b) {
            let half = Document::new(text, document.folder.clone());
            let title = format!("{}; {}", a.pasted(), b.pasted());
            let of = |text| Candidate { lines: vec![i, i + 1], title: title.clone(), text };
            found.extend(edits(&half, d, a).into_iter().map(of));
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

/// Every text that following this line could mean: its own edits, or else its code where such code goes.
fn edits(document: &Document, d: &Diagnostic, help: &Help) -> Vec<String> {
    let (text, items, code) = (&document.text, &document.checked.ast.items, help.pasted());
    let main = |span: &Span| span.file == document.checked.main;
    if !help.edits.is_empty() {
        return if help.edits.iter().all(|(span, _)| main(span)) { vec![edited(text, &help.edits)] } else { vec![] };
    }
    let replace = |span: Span, with: String| edited(text, &[(span, with)]);
    let before = |span: Span| Span { end: span.start, ..span };
    let around: Vec<&Item> = d.labels.iter().map(|l| l.span).filter(main).filter_map(|s| innermost(items, s)).collect();
    let (parsed, errors) = crate::syntax::parse(FileId(0), code);
    if let (Some(new), true) = (parsed.items.first(), errors.is_empty()) {
        // Statements in place of those of the same name, or before, or instead of, a marked one.
        let named = headline(new);
        let same = all(items).into_iter().filter(|item| named.is_some() && headline(item) == named);
        let mut found: Vec<String> = same.map(|item| replace(item.span, code.into())).collect();
        for item in around {
            found.push(replace(before(item.span), format!("{code}\n")));
            if blocks(item).is_empty() {
                found.push(replace(item.span, code.into()));
            }
        }
        return found;
    }
    if code.starts_with("using ") {
        let release = |item: &&Item| matches!(item.kind, ItemKind::Release(_));
        let marked: Vec<&Item> = around.iter().copied().filter(release).collect();
        // A complaint about a model marks no release: any of them may be meant.
        let meant = if marked.is_empty() { all(items).into_iter().filter(release).collect() } else { marked };
        let releases = meant.into_iter().filter_map(|item| if let ItemKind::Release(r) = &item.kind { Some(r) } else { None });
        let after = |span: Span| Span { start: span.end, ..span };
        let placed = releases.map(|r| r.using.as_ref().map_or((after(r.query.span), format!(" {code}")), |u| (u.span, code.into())));
        return placed.map(|(span, with)| replace(span, with)).collect();
    }
    let Some((name, _)) = code.split_once(':') else { return vec![] };
    let columns = all(items).into_iter().flat_map(|item| match &item.kind {
        ItemKind::Private(t) | ItemKind::PublicTable(t) => t.columns.as_slice(),
        _ => &[],
    });
    columns.filter(|c| c.name.value == name.trim()).map(|c| replace(c.span, code.into())).collect()
}

/// The text with others in place of some spans; what is deleted takes the blanks before it along.
fn edited(text: &str, edits: &[(Span, String)]) -> String {
    let mut out = text.to_owned();
    let mut edits: Vec<&(Span, String)> = edits.iter().collect();
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    for (span, with) in edits {
        let (start, end) = (span.start as usize, span.end as usize);
        let (Some(head), Some(tail)) = (out.get(..start), out.get(end..)) else { continue };
        out = format!("{}{with}{tail}", if with.is_empty() { head.trim_end() } else { head });
    }
    out
}

/// Keyword and name of a statement that has them.
fn headline(item: &Item) -> Option<(&'static str, &str)> {
    Some(match &item.kind {
        ItemKind::Budget { .. } => ("budget", ""),
        ItemKind::Param { name, .. } => ("param", &name.value),
        ItemKind::Let { name, .. } => ("let", &name.value),
        ItemKind::Observe { outcome, .. } => ("observe", &outcome.last()?.value),
        ItemKind::Release(r) => ("release", &r.name.value),
        ItemKind::Output { name, .. } => ("output", &name.value),
        ItemKind::Private(t) => ("private", &t.name.value),
        _ => return None,
    })
}

fn overlaps(a: Span, b: Span) -> bool {
    a.start < b.end && b.start < a.end
}

/// The statements of each block of a statement.
fn blocks(item: &Item) -> Vec<&[Item]> {
    match &item.kind {
        ItemKind::Each { body, .. } | ItemKind::Model { body, .. } => vec![body],
        ItemKind::When { then, otherwise, .. } => [Some(then), otherwise.as_ref()].into_iter().flatten().map(Vec::as_slice).collect(),
        _ => vec![],
    }
}

/// Every statement, those inside blocks too.
fn all(items: &[Item]) -> Vec<&Item> {
    items.iter().flat_map(|item| std::iter::once(item).chain(blocks(item).into_iter().flat_map(all))).collect()
}

fn innermost(items: &[Item], span: Span) -> Option<&Item> {
    all(items).into_iter().filter(|i| overlaps(i.span, span)).min_by_key(|i| i.span.end - i.span.start)
}
