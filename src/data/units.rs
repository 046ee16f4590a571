//! Contribution bounding: keeps the first k rows of every unit, in file order or by a column, whatever the other units are.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::RandomState;
use std::mem::take;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::DataError;
use super::batch::Batch;
use super::layout::{is_text, offsets, width};
use super::seen::{Keys, Seen};
use crate::model::Table;
use crate::private::contained;

/// Most rows, and numbers in them, that are decided together, each part of the table on its own, while it is near the processor.
const WAITING: usize = 1 << 17;
const NUMBERS: usize = 1 << 20;

/// Which rows of a table with units count, in their order.
pub struct Units {
    key: UnitKey,
    hasher: RandomState,
    waiting: Waiting,
    seen: Arc<Mutex<Seen>>,
    /// Rows that are being decided.
    away: Option<Receiver<Option<Decided>>>,
}

/// Where the key of a row is.
struct UnitKey {
    text: bool,
    slots: std::ops::Range<usize>,
    /// Scratch space of a key of several numbers.
    bytes: Vec<u8>,
}

/// Rows that are not yet decided, one behind the other.
#[derive(Default)]
struct Waiting {
    values: Vec<f64>,
    keys: Keys,
}

/// Rows, and which of them count.
type Decided = (Waiting, Vec<bool>);

impl UnitKey {
    fn of(table: &Table) -> Option<UnitKey> {
        let (column, _) = table.unit?;
        let declared = table.columns.get(column.0)?;
        let start = *offsets(table).0.get(column.0)?;
        Some(UnitKey { text: is_text(declared), slots: start..start + width(&declared.ty), bytes: vec![] })
    }

    /// The key as bytes.
    fn bytes<'k>(&'k mut self, batch: &'k Batch, row: usize) -> &'k [u8] {
        if self.text {
            return batch.text(row);
        }
        self.bytes.clear();
        let values = self.slots.clone().filter_map(|slot| batch.slot(slot)?.get(row));
        values.for_each(|v| self.bytes.extend_from_slice(&v.to_le_bytes()));
        &self.bytes
    }

    /// Adds the keys of all rows.
    fn push(&mut self, batch: &Batch, keys: &mut Keys, hasher: &RandomState) {
        if !self.text && self.slots.len() == 1 {
            let all = batch.slot(self.slots.start).unwrap_or(&[]);
            all.iter().for_each(|key| keys.push_number(hasher, *key));
        } else {
            (0..batch.rows()).for_each(|row| keys.push_bytes(hasher, self.bytes(batch, row)));
        }
    }
}

impl Units {
    pub fn new(table: &Table) -> Option<Units> {
        let (key, (_, most)) = (UnitKey::of(table)?, table.unit?);
        let seen = Arc::new(Mutex::new(Seen::new(most)));
        Some(Units { key, hasher: RandomState::new(), waiting: Waiting::default(), seen, away: None })
    }

    /// Takes rows, and now and then visits those that count.
    pub fn see(&mut self, batch: &Batch, visit: &mut impl FnMut(&[f64])) -> Result<(), DataError> {
        let Waiting { values, keys } = &mut self.waiting;
        self.key.push(batch, keys, &self.hasher);
        let (start, width) = (values.len(), batch.slots());
        values.resize(start + batch.rows() * width, 0.0);
        for slot in 0..width {
            let to = values.iter_mut().skip(start + slot).step_by(width.max(1));
            to.zip(batch.slot(slot).unwrap_or(&[])).for_each(|(to, x)| *to = *x);
        }
        if keys.len() < WAITING && values.len() < NUMBERS { Ok(()) } else { self.decide(visit) }
    }

    /// Has the rows that wait decided, while the next ones are read, and visits those before them.
    fn decide(&mut self, visit: &mut impl FnMut(&[f64])) -> Result<(), DataError> {
        // A pool's own thread must not wait for others.
        if rayon::current_thread_index().is_some() {
            return self.decide_here(visit);
        }
        let before = self.back()?;
        let (waiting, seen) = (take(&mut self.waiting), self.seen.clone());
        let (send, receive) = channel();
        // If nobody waits any more, another error was found.
        rayon::spawn(move || drop(contained(|| decided(waiting, &seen)).map(|all| send.send(all))));
        self.away = Some(receive);
        self.visited(before, visit);
        Ok(())
    }

    fn decide_here(&mut self, visit: &mut impl FnMut(&[f64])) -> Result<(), DataError> {
        let all = decided(take(&mut self.waiting), &self.seen).ok_or(DataError::Unreadable)?;
        self.visited(all, visit);
        Ok(())
    }

    /// Waits for the rows that are away.
    fn back(&mut self) -> Result<Decided, DataError> {
        let Some(away) = self.away.take() else { return Ok(Decided::default()) };
        away.recv().ok().flatten().ok_or(DataError::Unreadable)
    }

    /// Visits the rows that count, and keeps the memory of all.
    fn visited(&mut self, (mut waiting, takes): Decided, visit: &mut impl FnMut(&[f64])) {
        let width = waiting.values.len().checked_div(waiting.keys.len()).unwrap_or(0);
        for (row, _) in takes.iter().enumerate().filter(|(_, takes)| **takes) {
            visit(waiting.values.get(row * width..(row + 1) * width).unwrap_or(&[]));
        }
        waiting.values.clear();
        waiting.keys.clear();
        if self.waiting.keys.len() == 0 {
            self.waiting = waiting;
        }
    }

    /// Decides and visits all rows that are left.
    pub fn finish(mut self, visit: &mut impl FnMut(&[f64])) -> Result<(), DataError> {
        let last = take(&mut self.waiting);
        let before = self.back()?;
        self.visited(before, visit);
        self.waiting = last;
        self.decide_here(visit)
    }
}

/// Which of these rows count; `None` where the texts of units fill the table: a run without that memory has ended before.
fn decided(waiting: Waiting, seen: &Mutex<Seen>) -> Option<Decided> {
    let takes = seen.lock().unwrap_or_else(PoisonError::into_inner).take(&waiting.keys)?;
    Some((waiting, takes))
}

/// The least rows of every unit by `order`, then by all columns as they are declared: a function of the rows of this unit alone, whatever
/// the order of the file is. They are held in memory until the last row was read.
pub struct Least {
    key: UnitKey,
    order: usize,
    most: usize,
    kept: BTreeMap<Vec<u8>, Vec<Vec<f64>>>,
}

impl Least {
    /// `None` where rows are kept as they come.
    pub fn new(table: &Table) -> Option<Least> {
        let order = *offsets(table).0.get(table.order?.0)?;
        let most = usize::try_from(table.unit_rows()).unwrap_or(usize::MAX).max(1);
        Some(Least { key: UnitKey::of(table)?, order, most, kept: BTreeMap::new() })
    }

    pub fn see(&mut self, batch: &Batch) {
        let mut row = vec![0.0; batch.slots()];
        for at in 0..batch.rows() {
            batch.row(at, &mut row);
            let key = self.key.bytes(batch, at);
            match self.kept.get_mut(key) {
                None => drop(self.kept.insert(key.to_vec(), vec![row.clone()])),
                Some(kept) => {
                    kept.push(row.clone());
                    // As many again before the larger ones go: a row is moved a few times at most, in any order of the file.
                    if kept.len() / 2 >= self.most {
                        kept.select_nth_unstable_by(self.most.saturating_sub(1), |a, b| compared(a, b, self.order));
                        kept.truncate(self.most);
                    }
                }
            }
        }
    }

    /// The rows that count, unit by unit.
    pub fn rows(self) -> impl Iterator<Item = Vec<f64>> {
        let Least { order, most, kept, .. } = self;
        kept.into_values().flat_map(move |mut rows| {
            rows.sort_unstable_by(|a, b| compared(a, b, order));
            rows.truncate(most);
            rows
        })
    }
}

/// Rows by one of their values, then by all; those that are equal in all are the same row to a program. Values are never NaN, and both zeros are one.
fn compared(a: &[f64], b: &[f64], order: usize) -> Ordering {
    let by = |x: Option<&f64>, y: Option<&f64>| x.partial_cmp(&y).unwrap_or(Ordering::Equal);
    let all = a.iter().zip(b).map(|(x, y)| by(Some(x), Some(y)));
    [by(a.get(order), b.get(order))].into_iter().chain(all).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// More rows than are decided together, of a key that is a text, one number or several, in a pool or outside: a map is the oracle.
    #[test]
    fn the_first_rows_of_a_unit_are_visited_in_their_order() {
        let mut table = crate::data::testing::table();
        let pair = crate::model::Type::Counts { dim: 2, total: 9, fewer: true };
        for (column, ty) in [(0, None), (2, None), (2, Some(pair))] {
            table.unit = Some((crate::model::ColumnId(column), 2));
            if let Some(ty) = ty {
                table.columns[column].ty = ty;
            }
            let slots = offsets(&table).1;
            let key = offsets(&table).0[column];
            let visited = || {
                let (mut units, mut batch, mut seen) = (Units::new(&table).unwrap(), Batch::new(slots), vec![]);
                let mut visit = |row: &[f64]| seen.push(row[0]);
                for at in 0..300_000u32 {
                    let id = at.wrapping_mul(2_654_435_761) % 200_000;
                    let mut row = vec![0.0; slots];
                    row[key] = f64::from(id);
                    row[0] = f64::from(at);
                    batch.push(&row);
                    batch.push_text(format!("u{id}").as_bytes());
                    if batch.is_full() || at == 299_999 {
                        units.see(&batch, &mut visit).unwrap();
                        batch.clear();
                    }
                }
                units.finish(&mut visit).unwrap();
                seen
            };
            let mut counts = BTreeMap::new();
            let counts = (0..300_000u32).filter(|at| {
                let count = counts.entry(at.wrapping_mul(2_654_435_761) % 200_000).or_insert(0);
                *count += 1;
                *count <= 2
            });
            let wanted: Vec<f64> = counts.map(f64::from).collect();
            assert!(wanted.len() < 300_000 && visited() == wanted);
            assert!(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap().install(visited) == wanted);
        }
    }

    proptest! {
        /// Rows by their numbers alone: in any order of the file the same rows are kept, the least of each unit.
        #[test]
        fn the_least_rows_of_a_unit_are_kept_in_any_order_of_the_file(rows in prop::collection::vec((0u8..5, -2i8..3, 0u8..3), 0..60), most in 1..4u64) {
            let mut table = crate::data::testing::table();
            (table.unit, table.order) = (Some((crate::model::ColumnId(0), most)), Some(crate::model::ColumnId(1)));
            let kept = |rows: &[(u8, i8, u8)]| {
                let lines: String = rows.iter().map(|(t, x, k)| format!("u{t},{x},{k},a,1\n")).collect();
                let source = crate::data::Source::new(std::io::Cursor::new(format!("t,x,k,g,b\n{lines}")));
                let file = crate::data::row::Rows::batches(&table, source, |_| true).unwrap();
                let mut least = Least::new(&table).unwrap();
                crate::data::parallel::in_order(file, |batch| least.see(batch)).unwrap();
                least.rows().map(|row| (row[0] as i8, row[1] as u8)).collect::<Vec<_>>()
            };
            let mut units: BTreeMap<u8, Vec<(i8, u8)>> = BTreeMap::new();
            rows.iter().for_each(|(t, x, k)| units.entry(*t).or_default().push((*x, *k)));
            let wanted: Vec<(i8, u8)> = units.into_values().flat_map(|mut rows| {
                rows.sort();
                rows.truncate(most as usize);
                rows
            }).collect();
            prop_assert_eq!(&kept(&rows), &wanted);
            let mut other = rows.clone();
            other.reverse();
            prop_assert_eq!(&kept(&other), &wanted);
        }
    }
}
