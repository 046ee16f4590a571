//! Made-up rows: values at the ends of the declared types, written as cells of a file.

use crate::model::{Column, ColumnId, Expr, ExprKind, Query, ReleaseStep, Table, TableId, Type};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Stands for an end that the type does not have.
pub const FAR: f64 = 1e6;
/// The same for releases of a chain on a log-density: its steps shrink with larger values, and losses are at their ends by then.
pub const NEAR: f64 = 10.0;
/// Most rows that are tried.
const MOST: usize = 20;

/// One row: the cells of every column, in header order.
pub type Cells = Vec<String>;

/// The columns of a table that a release looks at.
pub fn used(release: &ReleaseStep, table: TableId) -> BTreeSet<ColumnId> {
    let mut found = BTreeSet::new();
    let mut look = |e: &Expr| {
        e.walk(&mut |x| {
            if let ExprKind::Column(t, c) = x.kind
                && t == table
            {
                found.insert(c);
            }
        });
    };
    match &release.query {
        Query::Aggregate(q) => look(&q.value),
        Query::Posterior(m) => m.private.iter().for_each(|o| {
            look(&o.outcome);
            o.likelihood.args.iter().for_each(&mut look);
        }),
    }
    found
}

fn number(x: f64) -> String {
    format!("{x}")
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
        Type::Category(levels) => {
            let last = levels.len().saturating_sub(1);
            let places: BTreeSet<usize> = [0, 1, 2, last].into_iter().filter(|i| *i <= last).collect();
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
        Type::Counts { dim, total } => {
            let (dim, total) = (*dim as usize, *total);
            (0..dim.min(3)).map(|i| (0..dim).map(|j| if i == j { total.to_string() } else { "0".into() }).collect()).collect()
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

/// Rows at the corners of the columns that matter; `fixed` holds the level of the group's key, `far` stands for infinity.
pub fn corners(table: &Table, used: &BTreeSet<ColumnId>, fixed: Option<(ColumnId, usize)>, far: f64) -> Vec<Cells> {
    let choices: Vec<Vec<Cells>> = table
        .columns
        .iter()
        .enumerate()
        .map(|(i, column)| match fixed {
            Some((key, level)) if key == ColumnId(i) => {
                let name = column.ty.levels().and_then(|l| l.get(level)).map(|name| quoted(name)).unwrap_or_default();
                vec![vec![name]]
            }
            _ if used.contains(&ColumnId(i)) => extremes(&column.ty, far),
            _ => vec![cells(column, None)],
        })
        .map(|c| if c.is_empty() { vec![vec![String::new()]] } else { c })
        .collect();
    let total = choices.iter().fold(1_usize, |n, c| n.saturating_mul(c.len()));
    // All of them, or that many spread evenly over the product in mixed radix.
    let wanted = total.min(MOST);
    (0..wanted)
        .map(|i| {
            let mut place = (i as u128 * total as u128 / wanted as u128) as usize;
            choices
                .iter()
                .flat_map(|c| {
                    let value = c.get(place % c.len()).cloned().unwrap_or_default();
                    place /= c.len();
                    value
                })
                .collect()
        })
        .collect()
}

/// The rows as a file: every row of `base`, then those of the unit. Rows of the base have a unit each.
pub fn file(table: &Table, base: &[&Cells], unit: &[&Cells]) -> String {
    let headers: Vec<&str> = table.columns.iter().flat_map(|c| c.headers.iter().map(String::as_str)).collect();
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
