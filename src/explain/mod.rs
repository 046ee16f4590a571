//! The manual: one page a name for `dpm explain`, and the reference documents made of the same pages.
//!
//! A page is Markdown. Its examples are fenced as `dpm`, complete programs that check without an error, or as
//! `dpm E0301`, programs that give exactly this code; a test checks every one of them.

mod cells;
mod distributions;
mod errors;
mod functions;
mod keywords;
mod mechanisms;
mod posteriors;
mod queries;
mod rules;
mod topics;

use std::collections::BTreeSet;
use std::fmt::Write;

/// What a page is about; also the order of the index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Topic,
    Keyword,
    Mechanism,
    Rule,
    Distribution,
    Function,
    Error,
}

impl Kind {
    pub const ALL: [Kind; 7] = [Kind::Topic, Kind::Keyword, Kind::Mechanism, Kind::Rule, Kind::Distribution, Kind::Function, Kind::Error];

    /// `mechanism`
    pub fn word(self) -> &'static str {
        match self {
            Kind::Topic => "topic",
            Kind::Keyword => "keyword",
            Kind::Mechanism => "mechanism",
            Kind::Rule => "rule",
            Kind::Distribution => "distribution",
            Kind::Function => "function",
            Kind::Error => "error code",
        }
    }

    /// The name of the reference document: `docs/reference/<plural>.md`.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Topic => "topics",
            Kind::Keyword => "keywords",
            Kind::Mechanism => "mechanisms",
            Kind::Rule => "rules",
            Kind::Distribution => "distributions",
            Kind::Function => "functions",
            Kind::Error => "errors",
        }
    }

    fn introduction(self) -> &'static str {
        match self {
            Kind::Topic => "Terms of the field, and how to choose a budget.",
            Kind::Keyword => "The words that open statements and their clauses.",
            Kind::Mechanism => {
                "What may stand after `using`. A mechanism says how an answer is made; the rule that proves its guarantee is found by the \
                 compiler. Free arguments are solved from the budget."
            }
            Kind::Rule => {
                "What certificates are derived from. Each page is the head of the source file that implements the rule; the section \
                 numbers are those of [the rule book](../rulebook.md)."
            }
            Kind::Distribution => "Names and parametrisations are Stan's.",
            Kind::Function => "Everything else is written in dpm itself: see `stdlib/`.",
            Kind::Error => "Codes are never reused. `W` warns and does not stop the program.",
        }
    }
}

/// One page of the manual.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    pub kind: Kind,
    pub name: String,
    /// One line for the index.
    pub summary: String,
    /// Markdown below the title and the summary; headings start at `##`.
    pub body: String,
}

/// Every page, by kind and then in the order of its table.
pub fn pages() -> Vec<Page> {
    let all = [
        topics::pages(),
        keywords::pages(),
        cells::pages(),
        mechanisms::pages(),
        rules::pages(),
        distributions::pages(),
        functions::pages(),
        errors::pages(),
    ];
    all.into_iter().flatten().collect()
}

/// The page on a name, or the list of a kind (`rules`); several pages where a word has several meanings (`laplace` is a mechanism and a distribution).
pub fn page(name: &str) -> Option<String> {
    let wanted = name.trim();
    let wanted = topics::ALIASES.iter().find(|(alias, _)| *alias == wanted).map_or(wanted, |(_, name)| name);
    if let Some(kind) = Kind::ALL.into_iter().find(|k| k.plural() == wanted) {
        return Some(list(&pages(), kind));
    }
    let found: Vec<String> = pages()
        .iter()
        .filter(|p| p.name == wanted || (p.kind == Kind::Error && p.name.eq_ignore_ascii_case(wanted)))
        .map(|p| format!("# {} ({})\n\n{}", p.name, p.kind.word(), text(p)))
        .collect();
    (!found.is_empty()).then(|| found.join("\n"))
}

/// All names with one line each.
pub fn index() -> String {
    let pages = pages();
    let lists: Vec<String> = Kind::ALL.into_iter().map(|kind| list(&pages, kind)).collect();
    format!("dpm explain NAME prints the page on one of these.\n\n{}", lists.join("\n"))
}

/// The names of one kind with one line each.
fn list(pages: &[Page], kind: Kind) -> String {
    let of_kind: Vec<&Page> = pages.iter().filter(|p| p.kind == kind).collect();
    let width = of_kind.iter().map(|p| p.name.chars().count()).max().unwrap_or(0);
    let mut out = format!("{}\n", kind.plural());
    for p in of_kind {
        let _ = writeln!(out, "  {:width$}  {}", p.name, p.summary);
    }
    out
}

/// The names that have a page, sorted, each once.
pub fn names() -> Vec<String> {
    let kinds = Kind::ALL.into_iter().map(|k| k.plural().to_owned());
    let names: BTreeSet<String> = pages().into_iter().map(|p| p.name).chain(kinds).collect();
    names.into_iter().collect()
}

/// The reference document of one kind: every page below a common title.
pub fn reference(kind: Kind) -> String {
    let title: String = kind.plural().chars().enumerate().map(|(i, c)| if i == 0 { c.to_ascii_uppercase() } else { c }).collect();
    let mut out = format!("# {title}\n\n{}\n\nThis file is written by the tests from the pages of `dpm explain`.\n", kind.introduction());
    for p in pages().iter().filter(|p| p.kind == kind) {
        let _ = write!(out, "\n## `{}`\n\n{}", p.name, demoted(&text(p)));
    }
    out
}

fn text(page: &Page) -> String {
    let body = page.body.trim();
    let gap = if body.is_empty() { "" } else { "\n" };
    format!("{}\n{gap}{body}{gap}", page.summary)
}

/// Headings one level lower; a `#` inside a fence is a comment of a program.
fn demoted(text: &str) -> String {
    let mut fenced = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && line.starts_with('#') {
            out.push('#');
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// A page as it is written in a table.
struct Entry {
    name: &'static str,
    summary: &'static str,
    body: &'static str,
}

fn from_entries(kind: Kind, entries: &[Entry]) -> Vec<Page> {
    entries.iter().map(|e| Page { kind, name: e.name.into(), summary: e.summary.into(), body: e.body.trim().into() }).collect()
}

/// A program between fences.
fn fenced(program: &str) -> String {
    format!("```dpm\n{}\n```", program.trim())
}
