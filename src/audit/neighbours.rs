//! Pairs of neighbouring data sets: many copies of one row or two, and one unit that differs.

use super::rows::{Cells, file};
use crate::model::{Relation, Table};

/// Most rows of the base where their number is secret.
const FEW: u64 = 6;

/// Two neighbouring data sets over made-up rows: the base is `n - k` copies of one, or half of them copies of another; a unit's
/// `k` rows are copies of a third.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbours {
    /// Indices of the rows of the base: of its first half and of the rest.
    pub base: [usize; 2],
    /// Index of the unit's row in either data set; `None` where the unit is absent.
    pub first: Option<usize>,
    pub second: Option<usize>,
}

/// How many rows the base and the unit have.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub base: u64,
    pub unit: u64,
}

pub fn sizes(table: &Table) -> Sizes {
    let rows = table.rows.exactly.unwrap_or_else(|| table.rows.at_least.max(table.unit_rows()));
    let unit = table.unit_rows().min(rows.max(1));
    let base = rows.saturating_sub(unit);
    // Where n is secret, a small base is as good as none: nothing in the header asks for more.
    Sizes { base: if table.relation == Relation::AddRemove { base.min(FEW) } else { base }, unit }
}

impl Sizes {
    /// Rows in either half of the base.
    pub fn halves(self) -> [u64; 2] {
        [self.base.div_ceil(2), self.base / 2]
    }
}

/// Every pair over these rows, in both orders; with `split` also over bases of two rows, which alone move a quantile. A row that is
/// replaced keeps its public cells.
pub fn all(table: &Table, rows: &[Cells], split: bool) -> Vec<Neighbours> {
    let count = rows.len();
    let bases = (0..count).flat_map(|i| (i..if split { count } else { i + 1 }).map(move |j| [i, j]));
    let mut found = vec![];
    for base in bases {
        for first in 0..count {
            match table.relation {
                Relation::ReplaceOne => {
                    let others = (0..count).filter(|s| *s != first && same_public(table, rows.get(first), rows.get(*s)));
                    found.extend(others.map(|s| Neighbours { base, first: Some(first), second: Some(s) }));
                }
                Relation::AddRemove => {
                    found.push(Neighbours { base, first: Some(first), second: None });
                    found.push(Neighbours { base, first: None, second: Some(first) });
                }
            }
        }
    }
    found
}

/// Do two rows hold the same public cells?
fn same_public(table: &Table, a: Option<&Cells>, b: Option<&Cells>) -> bool {
    let public = table.declared().flat_map(|c| c.headers.iter().map(|_| c.public));
    let cells = a.into_iter().flatten().zip(b.into_iter().flatten());
    public.zip(cells).all(|(public, (x, y))| !public || x == y)
}

impl Neighbours {
    /// The two files.
    pub fn files(&self, table: &Table, rows: &[Cells], sizes: Sizes) -> [String; 2] {
        let copies = |i: usize, n: u64| (0..n).filter_map(move |_| rows.get(i));
        let halves = self.base.into_iter().zip(sizes.halves());
        let base: Vec<&Cells> = halves.flat_map(|(i, n)| copies(i, n)).collect();
        [self.first, self.second].map(|unit| {
            let unit: Vec<&Cells> = unit.map_or(vec![], |i| copies(i, sizes.unit).collect());
            file(table, &base, &unit)
        })
    }

    /// In words for the report: rows are made up, so they may be shown.
    pub fn words(&self, table: &Table, rows: &[Cells], sizes: Sizes) -> String {
        let names: Vec<&str> = table.declared().flat_map(|c| c.headers.iter().map(String::as_str)).collect();
        let key = table.unit.map(|(key, _)| table.columns.iter().take(key.0).map(|c| c.headers.len()).sum::<usize>());
        let cell = |i: usize, j: usize| rows.get(i).and_then(|r| r.get(j)).map_or("", String::as_str);
        let shown: Vec<usize> = (0..names.len()).filter(|j| Some(*j) != key).collect();
        let row = |i: usize| shown.iter().map(|j| cell(i, *j)).collect::<Vec<_>>().join(", ");
        // Of long rows what differs, by name.
        let differs: Vec<usize> = match (self.first, self.second) {
            (Some(a), Some(b)) => shown.iter().copied().filter(|j| cell(a, *j) != cell(b, *j)).collect(),
            _ => shown.clone(),
        };
        let short = |i: usize| {
            let named = |j: &usize| format!("{} = {}", names.get(*j).unwrap_or(&""), cell(i, *j));
            let more = if differs.len() > MOST_NAMED { ", .." } else { "" };
            differs.iter().take(MOST_NAMED).map(named).collect::<Vec<_>>().join(", ") + more
        };
        let long = [self.first, self.second].into_iter().flatten().any(|i| row(i).chars().count() > MOST);
        let one = |i: usize| if long { short(i) } else { row(i) };
        let times = if sizes.unit > 1 { format!("{} rows ", sizes.unit) } else { String::new() };
        let unit = |i: Option<usize>| i.map_or("nobody".to_string(), |i| format!("{times}({})", one(i)));
        let [a, b] = self.base.map(|i| shortened(&row(i)));
        let base = match sizes.halves() {
            [0, _] => "no other rows".into(),
            [n, m] if m > 0 && self.base.first() != self.base.last() => format!("{n} rows ({a}), {m} rows ({b})"),
            _ => format!("{} rows ({a})", sizes.base),
        };
        format!("{base}, and {} against {}", unit(self.first), unit(self.second))
    }
}

/// Most characters of a row, and most named cells, that are shown.
const MOST: usize = 60;
const MOST_NAMED: usize = 4;

fn shortened(text: &str) -> String {
    if text.chars().count() <= MOST { text.to_string() } else { text.chars().take(MOST).collect::<String>() + ".." }
}
