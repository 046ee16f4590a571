//! The way out where no rule answers a model: noisy counts of its rows, and the same model of the counts, which costs nothing more.

use super::scene::Scene;
use super::summed::summed;
use crate::dist::{Distribution, Support};
use crate::model::print::{likelihood_text, number, prior_text};
use crate::model::{
    Column, ColumnId, Each, Expr, ExprKind, Model, Observation, Query, Relation, ReleaseId, Request, Step, Table, Type, releases,
};
use crate::source::{Help, Span};

/// More cells than this are mostly noise.
const MOST_CELLS: f64 = 2_000.0;
/// Numbers are counted in at least so many bins (docs/counts.md).
const BINS: f64 = 16.0;

/// The program with its rows counted, as edits; `None` where a column cannot be counted or the model cannot read counts.
pub fn counted(scene: &Scene) -> Option<Vec<Help>> {
    let (model, release) = (scene.model.as_deref()?, scene.site.release);
    let table = scene.program.tables.get(model.records.table.0)?;
    let same = |q: &Query| matches!(q, Query::Posterior(m) if m.parameters.iter().any(|p| model.parameters.iter().any(|o| o.id == p.id)));
    let alone = releases(&scene.program.steps).into_iter().all(|r| r.id == release.id || !same(&r.query));
    // A model of counts needs their total, and reads nothing beside them.
    if table.relation != Relation::ReplaceOne || !model.public.is_empty() || model.private.is_empty() || !alone {
        return None;
    }
    // What is cut off of a prior must be a constant.
    let free = |e: &Expr| {
        let mut found = false;
        e.walk(&mut |e| found |= matches!(e.kind, ExprKind::Param(_)));
        found
    };
    if model.parameters.iter().any(|p| p.truncated.is_some() && p.prior.args.iter().any(free)) {
        return None;
    }
    let key = match scene.program.steps.iter().find(|s| holds(s, release.id))? {
        Step::Release(_) => None,
        Step::Each(each) => Some((each, table.columns.get(each.key.0).filter(|_| each.table == model.records.table)?)),
        _ => return None,
    };
    let text = scene.sources.slice(release.span);
    // Where sums say all that rows do, bins of the exposure would be biased.
    let sums = summed(model, table, key.map(|(_, c)| c));
    let name = if sums.is_some() { ["s", "totals", "table_of_sums"] } else { ["cells", "counts", "table_of_counts"] };
    let name = name.into_iter().find(|n| !scene.sources.get(release.span.file).is_some_and(|f| has_word(&f.text, n)))?;
    let spend = text.rfind(" spend ").and_then(|at| text.get(at..)).map_or("", str::trim_end);
    let (query, noise) = match sums {
        Some(query) => (query, "laplace"),
        None => {
            let axes: Vec<String> = key.iter().map(|(_, c)| c.name.clone()).chain(axes(model, table)?).collect();
            (format!("histogram({})", axes.join(", ")), "geometric")
        }
    };
    let using = if scene.allotment.is_none() { format!(" using {noise}(scale = 2)") } else { String::new() };
    let released = format!("release {name} = {query}{using}{spend}");
    let wanted = match &model.request {
        Request::Draw { parameters, .. } => parameters.clone(),
        Request::Posterior { parameter } => vec![*parameter],
    };
    let names: Vec<&str> = model.parameters.iter().filter(|p| wanted.contains(&p.id)).map(|p| p.name.as_str()).collect();
    let output = format!("output {} = posterior({})", release.name, names.join(", "));
    let observed = |o: &Observation| Some(format!("observe {name}.{} ~ {}", column(o, table)?.name, own_names(scene, model, o, table)));
    let lines: Vec<String> = model.private.iter().map(observed).collect::<Option<_>>()?;
    let lead = if noise == "laplace" {
        "release noisy sums, and fit the model to them:"
    } else {
        "release noisy counts, and fit the model to them:"
    };
    if let Some((each, key)) = key {
        let lines = grouped(scene, model, each, key, (released, lines, output))?;
        let edit = (each.span, lines.join("\n"));
        return Some(Help::several(lead, lines, vec![edit]));
    }
    let written = |o: &Observation| o.span.file == release.span.file && scene.sources.slice(o.span).starts_with("observe");
    if !model.private.iter().all(written) {
        return None;
    }
    let mut edits: Vec<(Span, String)> = model.private.iter().map(|o| o.span).zip(lines.clone()).collect();
    if let Some((_, first)) = edits.first_mut() {
        *first = format!("{released}\n{first}");
    }
    edits.push((release.span, output.clone()));
    Some(Help::several(lead, [vec![released], lines, vec![output]].concat(), edits))
}

/// One model a group becomes one model whose parameters are indexed by the group.
fn grouped(scene: &Scene, model: &Model, each: &Each, key: &Column, code: (String, Vec<String>, String)) -> Option<Vec<String>> {
    let inside = |p: &crate::model::Parameter| each.span.start <= p.span.start && p.span.end <= each.span.end;
    let [p] = model.parameters.as_slice() else { return None };
    if each.body.len() != 1 || !p.ty.is_scalar_number() || p.truncated.is_some() || !inside(p) {
        return None;
    }
    let (released, lines, output) = code;
    let prior = format!("param {}: vector[{}] ~ {}", p.name, key.name, prior_text(model, p, scene.program));
    let indexed = |line: &String| words(line, &p.name, &format!("{}[{}]", p.name, key.name));
    let lines = lines.iter().map(indexed);
    Some([released, prior].into_iter().chain(lines).chain([output]).collect())
}

fn holds(step: &Step, id: ReleaseId) -> bool {
    releases(std::slice::from_ref(step)).iter().any(|r| r.id == id)
}

/// The arguments of the histogram: what the model conditions on, then its outcomes.
fn axes(model: &Model, table: &Table) -> Option<Vec<String>> {
    let mut found: Vec<(ColumnId, Option<&Distribution>)> = vec![];
    for o in &model.private {
        let mut given = vec![];
        o.likelihood.args.iter().for_each(|e| {
            e.walk(&mut |e| {
                if let ExprKind::Column(t, c) = e.kind {
                    given.push((t, c));
                }
            });
        });
        if given.iter().any(|(t, _)| *t != model.records.table) {
            return None;
        }
        for (_, c) in given {
            if found.iter().all(|(known, _)| *known != c) {
                found.push((c, None));
            }
        }
    }
    for o in &model.private {
        let ExprKind::Column(_, c) = o.outcome.kind else { return None };
        found.retain(|(known, _)| *known != c);
        found.push((c, Some(o.likelihood.family)));
    }
    let mut cells = 1.0;
    let mut texts = vec![];
    for (c, family) in found {
        let (text, bins) = axis(table.columns.get(c.0)?, family)?;
        cells *= bins;
        texts.push(text);
    }
    (cells <= MOST_CELLS).then_some(texts)
}

/// A column as an axis, in bins where it has many values, and their number.
fn axis(column: &Column, family: Option<&Distribution>) -> Option<(String, f64)> {
    let real = family.is_some_and(|d| matches!(d.support, Support::Real(_) | Support::BetweenArgs));
    let known = family.is_none_or(|d| !d.support.is_binned() || d.has_bins(&vec![Some(1.0); d.args.len()]));
    let name = &column.name;
    match &column.ty {
        _ if !known => None,
        Type::Category(levels) => Some((name.clone(), levels.len() as f64)),
        Type::Bool => Some((name.clone(), 2.0)),
        Type::Int(r) if r.is_finite() => {
            let ends = family.is_some_and(|d| d.support == Support::CountsToFirst);
            let width = if ends { 1.0 } else { nice(r.width() / BINS).max(1.0) };
            let bins = ((r.width() + 1.0) / width).ceil();
            Some((if width > 1.0 || real { format!("bin({name}, width = {})", number(width)) } else { name.clone() }, bins))
        }
        Type::Real(r) if r.is_finite() && r.width() > 0.0 => {
            let width = nice(r.width() / BINS);
            Some((format!("bin({name}, width = {})", number(width)), (r.width() / width).ceil()))
        }
        _ => None,
    }
}

/// The largest of 1, 2 and 5 times a power of ten that is not above `x`.
fn nice(x: f64) -> f64 {
    let exponent = x.log10().floor() as i32;
    let shown = |digit: u8| format!("{digit}e{exponent}").parse::<f64>().unwrap_or(x);
    [5, 2, 1].into_iter().map(shown).find(|w| *w <= x).unwrap_or(x)
}

fn column<'a>(o: &Observation, table: &'a Table) -> Option<&'a Column> {
    let ExprKind::Column(_, c) = o.outcome.kind else { return None };
    table.columns.get(c.0)
}

/// The right side with the columns by their names alone: those of the counts have the same.
fn own_names(scene: &Scene, model: &Model, o: &Observation, table: &Table) -> String {
    words(&likelihood_text(model, o, scene.program), &format!("{}.", table.name), "")
}

fn has_word(text: &str, word: &str) -> bool {
    words(text, word, "") != text
}

/// A text with every occurrence of a word replaced.
fn words(text: &str, word: &str, with: &str) -> String {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (head, tail) = (rest.get(..at).unwrap_or(""), rest.get(at + word.len()..).unwrap_or(""));
        let before = head.chars().next_back().or_else(|| out.chars().next_back());
        let whole = !before.is_some_and(|c| part(c) || c == '.') && (word.ends_with('.') || !tail.starts_with(part));
        out.push_str(head);
        out.push_str(if whole { with } else { word });
        rest = tail;
    }
    out + rest
}
