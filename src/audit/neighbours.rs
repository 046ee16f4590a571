//! Pairs of neighbouring data sets: many copies of one row, and one unit that differs.

use super::rows::{Cells, file};
use crate::model::{Relation, Table};

/// Most rows of the base where their number is secret.
const FEW: u64 = 6;

/// Two neighbouring data sets over corner rows: the base is `n - k` copies of one, a unit's `k` rows are copies of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Neighbours {
    /// Index of the base row.
    pub base: usize,
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

/// Every pair over so many corners, in both orders.
pub fn all(table: &Table, corners: usize) -> Vec<Neighbours> {
    let mut found = vec![];
    for base in 0..corners {
        for first in 0..corners {
            match table.relation {
                Relation::ReplaceOne => {
                    found.extend((0..corners).filter(|s| *s != first).map(|s| Neighbours { base, first: Some(first), second: Some(s) }));
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

impl Neighbours {
    /// The two files.
    pub fn files(&self, table: &Table, corners: &[Cells], sizes: Sizes) -> [String; 2] {
        let base: Vec<&Cells> = (0..sizes.base).filter_map(|_| corners.get(self.base)).collect();
        [self.first, self.second].map(|unit| {
            let unit: Vec<&Cells> = unit.map_or(vec![], |i| (0..sizes.unit).filter_map(|_| corners.get(i)).collect());
            file(table, &base, &unit)
        })
    }

    /// In words for the report: rows are made up, so they may be shown.
    pub fn words(&self, corners: &[Cells], sizes: Sizes) -> String {
        let row = |i: usize| corners.get(i).map_or(String::new(), |c| shortened(&c.join(", ")));
        let unit = |i: Option<usize>| i.map_or("nobody".to_string(), |i| format!("({})", row(i)));
        format!("{} rows ({}), and {} against {}", sizes.base, row(self.base), unit(self.first), unit(self.second))
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST { text.to_string() } else { text.chars().take(MOST).collect::<String>() + ".." }
}
