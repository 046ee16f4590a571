//! Made-up rows: values at the ends of the declared types, between them and at random, written as cells of a file.

use crate::model::{Column, ColumnId, Expr, ExprKind, Query, ReleaseStep, Table, TableId, Type, calendar};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Stands for an end that the type does not have.
pub const FAR: f64 = 1e6;
/// The same for releases of a chain on a log-density: its steps shrink with larger values, and losses are at their ends by then.
pub const NEAR: f64 = 10.0;
/// Most rows at corners, where there are more.
const CORNERS: usize = 16;
/// Most levels of a category, besides the last.
const LEVELS: usize = 12;
/// From so many random rows on, every value between the ends has a row.
const ALL: usize = 8;
/// Most values of one column between its ends.
const INNER: usize = 12;

/// One row: the cells of every column, in header order.
pub type Cells = Vec<String>;

/// Every expression of a release over rows.
pub fn walk(release: &ReleaseStep, visit: &mut dyn FnMut(&Expr)) {
    match &release.query {
        Query::Aggregate(q) => q.value.walk(&mut |e| visit(e)),
        Query::Posterior(m) => {
            let parts = m.private.iter().flat_map(|o| std::iter::once(&o.outcome).chain(&o.likelihood.args));
            parts.for_each(|e| e.walk(&mut |e| visit(e)));
        }
    }
}

/// What a release looks at in a table: its columns, and the numbers that its expressions compare or clip them with.
pub fn used(release: &ReleaseStep, table: TableId) -> (BTreeSet<ColumnId>, Vec<f64>) {
    let (mut found, mut numbers) = (BTreeSet::new(), vec![]);
    walk(release, &mut |x| match x.kind {
        ExprKind::Column(t, c) if t == table => {
            found.insert(c);
        }
        ExprKind::Number(x) if x.is_finite() => numbers.push(x),
        _ => {}
    });
    (found, numbers)
}

fn number(x: f64) -> String {
    if x != 0.0 && (x.abs() >= 1e15 || x.abs() < 1e-5) { format!("{x:e}") } else { format!("{x}") }
}

fn end(x: f64, far: f64) -> f64 {
    if x.is_finite() { x } else { far.copysign(x) }
}

/// Values of one column that reach furthest, each as its cells; `far` stands for infinity.
fn extremes(ty: &Type, far: f64) -> Vec<Cells> {
    let one = |xs: Vec<String>| xs.into_iter().map(|x| vec![x]).collect();
    match ty {
        Type::Bool => one(vec!["0".into(), "1".into()]),
        Type::Int(r) | Type::Real(r) => one(vec![number(end(r.lo, far)), number(end(r.hi, far))]),
        Type::Date(r) => one(vec![calendar::text(r.lo), calendar::text(r.hi)]),
        Type::Category(levels) => {
            let last = levels.len().saturating_sub(1);
            let places: BTreeSet<usize> = (0..LEVELS).filter(|i| *i <= last).chain([last]).collect();
            one(places.into_iter().filter_map(|i| Some(quoted(levels.get(i)?))).collect())
        }
        Type::Vector(v) => {
            let (lo, hi, dim) = (end(v.range.lo, far), end(v.range.hi, far), v.dim as usize);
            let spike = |x: f64| (0..dim).map(|j| number(if j == 0 { x } else { 0.0_f64.clamp(lo, hi) })).collect();
            let mut all = vec![spike(lo), spike(hi)];
            if dim > 1 {
                all.extend([vec![number(lo); dim], vec![number(hi); dim]]);
            }
            all
        }
        Type::Counts { dim, total, fewer } => {
            let (dim, total) = (*dim as usize, *total);
            let one = |i| (0..dim).map(|j| if i == j { total.to_string() } else { "0".into() }).collect();
            // No place is `dim`: a row without items.
            (0..dim.min(LEVELS)).chain(fewer.then_some(dim)).map(one).collect()
        }
        _ => vec![],
    }
}

fn quoted(level: &str) -> String {
    format!("\"{}\"", level.replace('"', "\"\""))
}

fn cells(column: &Column, value: Option<&Cells>) -> Cells {
    value.cloned().or_else(|| extremes(&column.ty, FAR).into_iter().next()).unwrap_or_else(|| vec![String::new(); column.headers.len()])
}

/// Values of one column inside of its domain: its middle, the numbers of the release, and what lies between them.
fn inner(ty: &Type, numbers: &[f64], far: f64) -> Vec<Cells> {
    let (range, whole) = match ty {
        Type::Int(r) => (r, true),
        Type::Real(r) => (r, false),
        Type::Vector(v) => return vec![vec![number(0.0_f64.clamp(end(v.range.lo, far), end(v.range.hi, far))); v.dim as usize]],
        _ => return vec![],
    };
    let mut at: Vec<f64> = numbers.iter().copied().filter(|x| range.lo <= *x && *x <= range.hi).collect();
    at.extend(Some(0.0).filter(|x| range.lo <= *x && *x <= range.hi));
    at.extend([end(range.lo, far), end(range.hi, far)]);
    at.sort_by(f64::total_cmp);
    at.dedup();
    let between: Vec<f64> = at.iter().zip(at.iter().skip(1)).map(|(a, b)| f64::midpoint(*a, *b)).collect();
    let values = between.into_iter().chain(at).map(|x| if whole { x.floor() } else { x });
    values.take(INNER).map(|x| vec![number(x)]).collect()
}

/// Rows of the columns that matter: corners, the last of them with one value between the ends, then so many with values picked
/// at random from all of these; `fixed` holds the level of the group's key, `far` stands for infinity.
pub fn made(
    table: &Table,
    (used, numbers): &(BTreeSet<ColumnId>, Vec<f64>),
    fixed: Option<(ColumnId, usize)>,
    far: f64,
    random: usize,
) -> Vec<Cells> {
    // Beyond what the release compares with.
    let far = numbers.iter().fold(far, |far, x| far.max(2.0 * x.abs()));
    // What says whether a cell is missing is looked at by making one that is.
    let asked = |i: usize| {
        table.columns.iter().zip(0..).any(|(c, j)| c.view.is_some_and(|(of, _)| of == ColumnId(i)) && used.contains(&ColumnId(j)))
    };
    let none = |column: &Column| vec![String::new(); column.headers.len()];
    let ends: Vec<Vec<Cells>> = table
        .declared()
        .enumerate()
        .map(|(i, column)| match fixed {
            Some((key, level)) if key == ColumnId(i) => {
                let name = column.ty.levels().and_then(|l| l.get(level)).map(|name| quoted(name)).unwrap_or_default();
                vec![vec![name]]
            }
            _ if asked(i) => extremes(&column.ty, far).into_iter().chain([none(column)]).collect(),
            _ if used.contains(&ColumnId(i)) => extremes(&column.ty, far),
            _ => vec![cells(column, None)],
        })
        .map(|c| if c.is_empty() { vec![vec![String::new()]] } else { c })
        .collect();
    let total = ends.iter().fold(1_usize, |n, c| n.saturating_mul(c.len()));
    // All of them, or that many spread evenly over the product in mixed radix, the first and the last among them.
    let wanted = if total <= CORNERS + random { total } else { CORNERS };
    let corner = |i: usize| {
        let mut place = (i as u128 * (total as u128 - 1) / (wanted as u128 - 1).max(1)) as usize;
        let mut row = vec![];
        for c in &ends {
            row.extend(c.get(place % c.len()).cloned().unwrap_or_default());
            place /= c.len();
        }
        row
    };
    let mut rows: Vec<Cells> = (0..wanted).map(corner).collect();
    let mut choices = ends.clone();
    for (i, column) in table.declared().enumerate() {
        if used.contains(&ColumnId(i)) && fixed.is_none_or(|(key, _)| key != ColumnId(i)) {
            for value in inner(&column.ty, numbers, far) {
                if random >= ALL {
                    rows.push(
                        ends.iter().zip(0..).flat_map(|(c, j)| if i == j { Some(&value) } else { c.last() }).flatten().cloned().collect(),
                    );
                }
                choices.get_mut(i).into_iter().for_each(|c| c.push(value.clone()));
            }
        }
    }
    rows.truncate(2 * CORNERS);
    // The same rows in every run: an audit can be repeated.
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let mut pick = |n: usize| rng.random_range(0..n.max(1));
    for _ in 0..random {
        rows.push(choices.iter().flat_map(|c| c.get(pick(c.len())).cloned().unwrap_or_default()).collect());
    }
    let mut seen = BTreeSet::new();
    rows.retain(|r| seen.insert(r.clone()));
    rows
}

/// The rows as a file: every row of `base`, then those of the unit. Rows of the base have a unit each.
pub fn file(table: &Table, base: &[&Cells], unit: &[&Cells]) -> String {
    let headers: Vec<&str> = table.declared().flat_map(|c| c.headers.iter().map(String::as_str)).collect();
    let mut text = headers.iter().map(|h| format!("\"{}\"", h.replace('"', "\"\""))).collect::<Vec<_>>().join(",") + "\n";
    let key = table.unit.and_then(|(key, _)| {
        let before = table.columns.iter().take(key.0).map(|c| c.headers.len()).sum::<usize>();
        table.columns.get(key.0).map(|_| before)
    });
    let numbered = base.iter().enumerate().map(|(i, r)| (format!("b{i}"), *r));
    for (name, row) in numbered.chain(unit.iter().map(|r| ("the one".to_string(), *r))) {
        let line: Vec<&str> = row.iter().enumerate().map(|(i, c)| if Some(i) == key { name.as_str() } else { c.as_str() }).collect();
        let _ = writeln!(text, "{}", line.join(","));
    }
    text
}
