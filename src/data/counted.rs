//! Integers that an engine has counted, in place of rows: what the query of `sql` gives, moved into what rows could have given.

use super::row::Rows;
use super::scan::{Job, Measure, Measured, rows_are_public};
use super::{DataError, Source, public};
use crate::model::{Column, Relation, RowCount, Table, Type};
use crate::private::Private;
use std::collections::BTreeMap;

/// Columns of an answer, in any order and among any others.
const COLUMNS: [&str; 8] = ["name", "part", "group_level", "cell", "n", "low", "mid", "high"];

/// Rows that a statistic may have counted: parts of its sum fit 63 bits for so many.
const MOST: i128 = (1 << 34) - 1;

/// What a query asks for: of one release one statistic.
pub struct Answered {
    pub name: String,
    pub part: usize,
    /// Levels of its group and cells of its table; none where there is but one row.
    pub levels: Option<usize>,
    pub cells: Option<usize>,
}

/// What was found of one statistic, by level and cell: how many rows, and what their parts add up to.
type Found = BTreeMap<(usize, usize), [i128; 2]>;

/// All integers of one table. Like rows they are private, and have no `Debug` and no way out but a job.
pub struct Counts {
    rows: u64,
    /// By release and statistic.
    found: BTreeMap<(String, usize), Found>,
}

impl Counts {
    /// Reads an answer; `mark` is the column that only answers of its query have.
    ///
    /// Fails on the header, on a public number of rows as rows do, and with one text on everything else: what no answer of the query
    /// holds, whatever the rows are.
    pub fn read(table: &Table, source: Source, mark: &str, asked: &[Answered]) -> Result<Counts, DataError> {
        let mut rows = match Rows::open(&answer(&table.name, mark), source) {
            Err(DataError::Column { .. } | DataError::Format { .. }) => return Err(DataError::Unasked { table: table.name.clone() }),
            rows => rows?,
        };
        let broken = || DataError::Miscounted { table: table.name.clone() };
        let mut found: BTreeMap<(String, usize), Found> = BTreeMap::new();
        let mut shape = BTreeMap::new();
        for a in asked {
            found.entry((a.name.clone(), a.part)).or_default();
            shape.insert((a.name.clone(), a.part), (a.levels, a.cells));
        }
        while rows.advance()? {
            let name = std::str::from_utf8(rows.bytes(0)).map_err(|_| broken())?.to_owned();
            let whole = |column| whole(rows.bytes(column)).ok_or_else(broken);
            let place = |column| usize::try_from(whole(column)?).map_err(|_| broken());
            let key = (name, place(1)?);
            let (levels, cells) = shape.get(&key).copied().ok_or_else(broken)?;
            let (level, cell) = (place(2)?, place(3)?);
            let [n, low, mid, high] = [whole(4)?, whole(5)?, whole(6)?, whole(7)?];
            let sum = low.saturating_add(mid.saturating_mul(1 << 20)).saturating_add(high.saturating_mul(1 << 40));
            if level >= levels.unwrap_or(1) || cell >= cells.unwrap_or(1) {
                return Err(broken());
            }
            let twice = found.entry(key).or_default().insert((level, cell), [n.clamp(0, MOST), sum]);
            if twice.is_some() {
                return Err(broken());
            }
        }
        // Without groups there is a row for no rows; and every statistic is one of all rows.
        let alone = |key: &(String, usize)| matches!(shape.get(key), Some((None, None)));
        let of = |cells: &Found| cells.values().fold(0i128, |sum, [n, _]| sum.saturating_add(*n));
        let n = found.values().next().map_or(0, of);
        if found.iter().any(|(key, cells)| of(cells) != n || alone(key) && cells.is_empty()) {
            return Err(broken());
        }
        let rows = u64::try_from(n).map_err(|_| broken())?;
        if rows_are_public(table) {
            public::check_rows(table, rows)?;
        }
        Ok(Counts { rows, found })
    }

    /// The public number of rows; `None` where it is secret.
    pub fn public_rows(&self, table: &Table) -> Option<u64> {
        rows_are_public(table).then_some(self.rows)
    }

    /// The totals of a job, as a pass over the rows would give them; `None` of a job that keeps rows.
    pub fn measured(&self, name: &str, job: &Job) -> Option<Private<Measured>> {
        let level = job.group.map_or(0, |(_, level)| level as usize);
        let of = |part: usize| self.found.get(&(name.to_owned(), part));
        let inside = |part: usize| of(part).map(|cells| cells.range((level, 0)..=(level, usize::MAX)));
        if job.encoding.is_some() || job.columns.is_some() {
            return None;
        }
        let rows = inside(0)?.fold(0, |sum, (_, [n, _])| sum + n);
        let mut totals = vec![];
        for (part, measure) in job.measures.iter().enumerate() {
            let mut total = measure.zero();
            match (measure, total.sums.as_mut_slice()) {
                (Measure::Sum(_, quantizer, _), [sum]) => {
                    let [n, parts] = of(part)?.get(&(level, 0)).copied().unwrap_or_default();
                    let (lo, hi) = quantizer.ends();
                    let (least, most) = (n * i128::from(lo), n * i128::from(hi));
                    *sum = least.saturating_add(parts).clamp(least, most);
                }
                (Measure::Levels { .. }, sums) => {
                    for ((_, cell), [n, _]) in inside(part)? {
                        *sums.get_mut(*cell)? = *n;
                    }
                }
                (Measure::Sum(..) | Measure::Moments(_) | Measure::Values(..), _) => return None,
            }
            totals.push(total);
        }
        let rows = u64::try_from(rows).ok()?;
        Some(Private::new(Measured { rows, totals, design: None, columns: None }))
    }
}

/// A whole number of any size that sums have.
fn whole(cell: &[u8]) -> Option<i128> {
    std::str::from_utf8(cell).ok()?.trim().parse().ok()
}

/// The table that an answer is.
fn answer(name: &str, mark: &str) -> Table {
    let span = Default::default();
    let column = |name: &str| Column {
        name: name.into(),
        headers: vec![name.into()],
        public: false,
        ty: Type::Text,
        missing: vec![],
        view: None,
        span,
    };
    Table {
        name: name.into(),
        private: true,
        relation: Relation::ReplaceOne,
        count_name: None,
        rows: RowCount { at_least: 0, exactly: None },
        unit: None,
        order: None,
        columns: COLUMNS.into_iter().chain([mark]).map(column).collect(),
        span,
        rows_span: span,
    }
}
