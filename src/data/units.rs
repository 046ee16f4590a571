//! Contribution bounding: keeps the first k rows of every unit, in file order or by a column, whatever the other units are.
//!
//! A hash says where a key may be; keys themselves are compared, so hashes decide nothing but the time it takes. Their key is
//! drawn by the system for every table: no choice of ids makes it slow. A unit takes its bytes and about twenty more, a row nothing.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use rayon::prelude::*;

use super::DataError;
use super::layout::{is_text, offsets, width};
use crate::model::Table;

/// Parts of the table, so that no more than one of them is copied as it grows.
const SHARDS: usize = 256;

/// Entries that are looked for together: they come from memory side by side.
const TOGETHER: usize = 64;

/// Most rows, and numbers in them, that are decided together, each part of the table on its own, while it is near the processor.
const WAITING: usize = 1 << 18;
const NUMBERS: usize = 1 << 20;

/// Which rows of a table with units count, in their order.
pub struct Units {
    column: usize,
    text: bool,
    slots: std::ops::Range<usize>,
    /// Scratch space of a key that is not text.
    key: Vec<u8>,
    seen: Seen,
    waiting: Waiting,
}

/// Rows that are not yet decided, one behind the other.
#[derive(Default)]
struct Waiting {
    values: Vec<f64>,
    keys: Vec<u8>,
    /// Of each row: the hash of its key, and where the key ends.
    units: Vec<(u64, usize)>,
}

impl Waiting {
    fn key(&self, row: usize) -> &[u8] {
        let end = |row: usize| self.units.get(row).map_or(0, |(_, end)| *end);
        self.keys.get(row.checked_sub(1).map_or(0, end)..end(row)).unwrap_or(&[])
    }
}

impl Units {
    pub fn new(table: &Table) -> Option<Units> {
        let (column, most) = table.unit?;
        let declared = table.columns.get(column.0)?;
        let start = *offsets(table).0.get(column.0)?;
        let slots = start..start + width(&declared.ty);
        Some(Units { column: column.0, text: is_text(declared), slots, key: vec![], seen: Seen::new(most), waiting: Waiting::default() })
    }

    /// The column of a key that is a text.
    pub fn text(&self) -> Option<usize> {
        Some(self.column).filter(|_| self.text)
    }

    /// Is this a slot of the key?
    pub fn reads(&self, slots: &std::ops::Range<usize>) -> bool {
        self.slots.start < slots.end && slots.start < self.slots.end
    }

    /// Takes a row with the text of its key, or none where numbers are the key, and now and then visits those that count.
    pub fn see(&mut self, text: Option<&[u8]>, row: &[f64], visit: &mut impl FnMut(&[f64])) -> Result<(), DataError> {
        let Units { slots, key, seen, waiting, .. } = self;
        let key = text.unwrap_or_else(|| bytes(row.get(slots.clone()).unwrap_or(&[]), key));
        waiting.values.extend_from_slice(row);
        waiting.keys.extend_from_slice(key);
        waiting.units.push((seen.hasher.hash_one(key), waiting.keys.len()));
        if waiting.units.len() < WAITING && waiting.values.len() < NUMBERS { Ok(()) } else { self.finish(visit) }
    }

    /// Decides all rows that wait.
    pub fn finish(&mut self, visit: &mut impl FnMut(&[f64])) -> Result<(), DataError> {
        let Units { seen, waiting, .. } = self;
        // Only 256 GiB of ids fill the table; a run without that memory has ended before.
        let takes = seen.take(waiting).ok_or(DataError::Unreadable)?;
        let width = waiting.values.len().checked_div(waiting.units.len()).unwrap_or(0);
        for (row, _) in takes.iter().enumerate().filter(|(_, takes)| **takes) {
            visit(waiting.values.get(row * width..(row + 1) * width).unwrap_or(&[]));
        }
        waiting.values.clear();
        waiting.keys.clear();
        waiting.units.clear();
        Ok(())
    }
}

/// The key of a unit that is not text.
fn bytes<'k>(values: &[f64], key: &'k mut Vec<u8>) -> &'k [u8] {
    key.clear();
    values.iter().for_each(|v| key.extend_from_slice(&v.to_le_bytes()));
    key
}

/// The least rows of every unit by `order`, then by all columns as they are declared: a function of the rows of this unit alone, whatever
/// the order of the file is. They are held in memory until the last row was read.
pub struct Least {
    units: Units,
    order: usize,
    most: usize,
    kept: BTreeMap<Vec<u8>, Vec<Vec<f64>>>,
}

impl Least {
    /// `None` where rows are kept as they come.
    pub fn new(table: &Table) -> Option<Least> {
        let order = *offsets(table).0.get(table.order?.0)?;
        let most = usize::try_from(table.unit_rows()).unwrap_or(usize::MAX).max(1);
        Some(Least { units: Units::new(table)?, order, most, kept: BTreeMap::new() })
    }

    pub fn see(&mut self, text: Option<&[u8]>, row: &[f64]) {
        let Least { units: Units { slots, key, .. }, order, most, kept } = self;
        let key = text.unwrap_or_else(|| bytes(row.get(slots.clone()).unwrap_or(&[]), key));
        match kept.get_mut(key) {
            None => drop(kept.insert(key.to_vec(), vec![row.to_vec()])),
            Some(kept) => {
                kept.push(row.to_vec());
                // As many again before the larger ones go: a row is moved a few times at most, in any order of the file.
                if kept.len() / 2 >= *most {
                    kept.select_nth_unstable_by(most.saturating_sub(1), |a, b| compared(a, b, *order));
                    kept.truncate(*most);
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

/// How often every key was seen, up to `most`.
struct Seen {
    hasher: RandomState,
    shards: Vec<Shard>,
    most: u32,
}

impl Seen {
    fn new(most: u64) -> Seen {
        let shards = (0..SHARDS).map(|_| Shard { keys: vec![], entries: vec![], used: 0 }).collect();
        Seen { hasher: RandomState::new(), shards, most: u32::try_from(most).unwrap_or(u32::MAX) }
    }

    /// Is a row one of the first of its unit, of each of these; `None` if the table is full. A unit stands in one part of the
    /// table, whose rows are seen in their order, so that parts may be filled side by side.
    fn take(&mut self, waiting: &Waiting) -> Option<Vec<bool>> {
        let mut rows = vec![vec![]; SHARDS];
        for (row, (hash, _)) in waiting.units.iter().enumerate() {
            rows.get_mut((hash >> 32) as usize % SHARDS)?.push(row);
        }
        let most = self.most;
        let parts = self.shards.par_iter_mut().zip(rows).with_min_len(SHARDS / 4);
        let found = parts.map(|(shard, rows)| shard.take(rows, waiting, most)).collect::<Option<Vec<_>>>()?;
        let mut takes = vec![false; waiting.units.len()];
        for row in found.into_iter().flatten() {
            *takes.get_mut(row)? = true;
        }
        Some(takes)
    }
}

/// Open addressing: an entry stands at the place of its hash, or in the first free place behind it.
struct Shard {
    /// Every key behind its length.
    keys: Vec<u8>,
    entries: Vec<Entry>,
    used: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    hash: u32,
    /// Where the key stands.
    at: u32,
    count: u32,
}

/// A place without an entry.
const FREE: u32 = u32::MAX;

impl Shard {
    /// Those of these rows that are the first of their units.
    fn take(&mut self, mut rows: Vec<usize>, waiting: &Waiting, most: u32) -> Option<Vec<usize>> {
        let hash = |row: usize| waiting.units.get(row).map_or(0, |(hash, _)| *hash as u32);
        let mut kept = 0;
        for start in (0..rows.len()).step_by(TOGETHER) {
            let some = start..rows.len().min(start + TOGETHER);
            self.fetch(rows.get(some.clone())?.iter().map(|row| hash(*row)));
            for at in some {
                let row = *rows.get(at)?;
                let count = self.count(waiting.key(row), hash(row))?;
                if *count < most {
                    *count += 1;
                    *rows.get_mut(kept)? = row;
                    kept += 1;
                }
            }
        }
        rows.truncate(kept);
        Some(rows)
    }

    /// Reads where these units are likely to stand: none of the reads waits for another, so that memory answers them together.
    fn fetch(&self, hashes: impl Iterator<Item = u32>) {
        let mut places = [0usize; TOGETHER];
        for (hash, place) in hashes.zip(&mut places) {
            *place = self.entries.get(home(hash, self.entries.len())).map_or(0, |e| e.at as usize);
        }
        for place in places {
            std::hint::black_box(self.keys.get(place).copied());
        }
    }

    fn count(&mut self, key: &[u8], hash: u32) -> Option<&mut u32> {
        // At most four fifths are taken; a unit that is known needs no room.
        let full = self.used * 5 >= self.entries.len() * 4;
        let found = self.place(key, hash).filter(|p| !full || self.entries.get(*p).is_some_and(|e| e.at != FREE));
        let place = match found {
            Some(place) => place,
            None => {
                self.grow();
                self.place(key, hash)?
            }
        };
        let entry = self.entries.get_mut(place)?;
        if entry.at == FREE {
            let at = u32::try_from(self.keys.len()).ok().filter(|at| *at != FREE)?;
            *entry = Entry { hash, at, count: 0 };
            self.used += 1;
            let mut length = key.len();
            while length > 0x7f {
                self.keys.push((length & 0x7f) as u8 | 0x80);
                length >>= 7;
            }
            self.keys.push(length as u8);
            self.keys.extend_from_slice(key);
        }
        Some(&mut entry.count)
    }

    /// Where the entry of this key stands, or would; `None` in a table without places.
    fn place(&self, key: &[u8], hash: u32) -> Option<usize> {
        let mut place = home(hash, self.entries.len());
        loop {
            let entry = self.entries.get(place)?;
            if entry.at == FREE || (entry.hash == hash && stored(&self.keys, entry.at) == Some(key)) {
                return Some(place);
            }
            place = if place + 1 == self.entries.len() { 0 } else { place + 1 };
        }
    }

    fn grow(&mut self) {
        let size = (self.entries.len() + self.entries.len() / 2).max(16);
        let old = std::mem::replace(&mut self.entries, vec![Entry { hash: 0, at: FREE, count: 0 }; size]);
        for entry in old.into_iter().filter(|e| e.at != FREE) {
            let mut place = home(entry.hash, size);
            while self.entries.get(place).is_some_and(|e| e.at != FREE) {
                place = if place + 1 == size { 0 } else { place + 1 };
            }
            if let Some(free) = self.entries.get_mut(place) {
                *free = entry;
            }
        }
    }
}

fn home(hash: u32, size: usize) -> usize {
    ((u64::from(hash) * size as u64) >> 32) as usize
}

/// The key that stands at a place.
fn stored(keys: &[u8], at: u32) -> Option<&[u8]> {
    let (mut rest, mut length) = (keys.get(at as usize..)?, 0usize);
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        rest = behind;
        length |= usize::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
    }
    rest.get(..length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// A map of whole keys is the oracle: ids that begin alike, empty ones, long ones.
        #[test]
        fn the_first_rows_of_every_unit_are_kept(ids in prop::collection::vec((0u16..400, 0usize..3), 0..3000), most in 1..4u64) {
            let (mut seen, mut waiting, mut wanted) = (Seen::new(most), Waiting::default(), vec![]);
            let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
            for (id, long) in ids {
                let id = if id == 0 { String::new() } else { id.to_string() };
                let key = [&[7; 200][..[0, 120, 200][long]], id.as_bytes()].concat();
                let count = counts.entry(key.clone()).or_default();
                *count += 1;
                if *count <= most {
                    wanted.push(waiting.units.len());
                }
                waiting.keys.extend_from_slice(&key);
                waiting.units.push((seen.hasher.hash_one(&*key), waiting.keys.len()));
            }
            let takes = seen.take(&waiting).unwrap();
            prop_assert_eq!((0..takes.len()).filter(|row| takes[*row]).collect::<Vec<_>>(), wanted);
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
                let mut file = crate::data::row::Rows::open(&table, source).unwrap();
                let (mut row, mut least) = (vec![0.0; file.slots()], Least::new(&table).unwrap());
                while file.advance().unwrap() {
                    file.fill(&mut row);
                    least.see(Some(file.bytes(0)), &row);
                }
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

    /// Keys of one hash are still different units, whatever stands between them; the table wraps around at its end.
    #[test]
    fn one_hash_for_all_changes_nothing() {
        for hash in [0, 5, u32::MAX] {
            let mut shard = Shard { keys: vec![], entries: vec![], used: 0 };
            for round in 0..3 {
                for id in 0..300u32 {
                    let count = shard.count(&id.to_le_bytes(), hash).unwrap();
                    assert_eq!(*count, round);
                    *count += 1;
                }
            }
            assert_eq!(shard.used, 300);
        }
    }

    /// Rows of units that were seen take no room at all, new units now and then.
    #[test]
    fn rows_are_counted_without_an_allocation_each() {
        let (mut seen, mut waiting) = (Seen::new(3), Waiting::default());
        for id in 0..100_000u64 {
            waiting.keys.extend_from_slice(&id.to_le_bytes());
            waiting.units.push((seen.hasher.hash_one(id), waiting.keys.len()));
        }
        for _ in 0..2 {
            let some = allocation_counter::measure(|| assert_eq!(seen.take(&waiting), Some(vec![true; 100_000])));
            assert!(some.count_total < 5000 && some.bytes_max < 100_000 * 50, "{some:?}");
        }
    }
}
