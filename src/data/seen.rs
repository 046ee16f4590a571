//! How often every unit was seen: a hash table in parts that are filled side by side.
//!
//! A hash says where a key may be; keys themselves are compared, so hashes decide nothing but the time it takes. Their key is
//! drawn by the system for every table: no choice of ids makes it slow. A unit takes some twenty bytes, and those of its text; a row nothing.

use std::hash::{BuildHasher, RandomState};

use prefetch_index::prefetch_index;
use rayon::prelude::*;

/// Parts of the table, so that no more than one of them is copied as it grows.
const SHARDS: usize = 256;

/// Entries that are looked for together: they come from memory side by side.
const TOGETHER: usize = 64;

/// The keys of some rows, one behind the other: all of them numbers, or all of them bytes.
#[derive(Default)]
pub struct Keys {
    bytes: Vec<u8>,
    /// Of each row: the hash of its key, and the number, or where its bytes end.
    rows: Vec<(u64, u64)>,
    numbers: bool,
}

/// One key, and what an entry has of it.
trait Key: Copy {
    type Stored: Copy + Default + Send;

    /// Is it the key of an entry, beside these texts?
    fn is(self, stored: Self::Stored, texts: &[u8]) -> bool;

    /// What its entry has; `None` where there is no room for it.
    fn store(self, texts: &mut Vec<u8>) -> Option<Self::Stored>;

    /// Asks for what [`Key::is`] will read besides the entry.
    fn ask(stored: Self::Stored, texts: &[u8]);
}

impl Key for u64 {
    type Stored = u64;

    fn is(self, stored: u64, _: &[u8]) -> bool {
        self == stored
    }

    fn store(self, _: &mut Vec<u8>) -> Option<u64> {
        Some(self)
    }

    fn ask(_: u64, _: &[u8]) {}
}

/// Where its bytes stand, behind their number, seven bits a byte.
impl Key for &[u8] {
    type Stored = u32;

    fn is(self, stored: u32, texts: &[u8]) -> bool {
        text(texts, stored) == Some(self)
    }

    fn store(self, texts: &mut Vec<u8>) -> Option<u32> {
        let (at, mut length) = (u32::try_from(texts.len()).ok()?, self.len());
        while length > 0x7f {
            texts.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        texts.push(length as u8);
        texts.extend_from_slice(self);
        Some(at)
    }

    fn ask(stored: u32, texts: &[u8]) {
        prefetch_index(texts, stored as usize);
    }
}

impl Keys {
    pub fn push_number(&mut self, hasher: &RandomState, key: f64) {
        let key = key.to_bits();
        self.numbers = true;
        self.rows.push((hasher.hash_one(key), key));
    }

    pub fn push_bytes(&mut self, hasher: &RandomState, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.rows.push((hasher.hash_one(key), self.bytes.len() as u64));
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.rows.clear();
    }

    fn number(&self, row: usize) -> u64 {
        self.rows.get(row).map_or(0, |(_, key)| *key)
    }

    fn text(&self, row: usize) -> &[u8] {
        let (start, end) = (row.checked_sub(1).map_or(0, |before| self.number(before)), self.number(row));
        self.bytes.get(start as usize..end as usize).unwrap_or(&[])
    }
}

/// The table: how often every key was seen, up to `most`.
pub struct Seen {
    numbers: Vec<Shard<u64>>,
    texts: Vec<Shard<u32>>,
    most: u32,
}

/// A row that looks for its unit.
#[derive(Clone, Copy, Default)]
struct Waits {
    hash: u32,
    row: u32,
}

impl Seen {
    pub fn new(most: u64) -> Seen {
        let most = u32::try_from(most).unwrap_or(u32::MAX).max(1);
        Seen { numbers: (0..SHARDS).map(|_| Shard::default()).collect(), texts: (0..SHARDS).map(|_| Shard::default()).collect(), most }
    }

    /// Is a row one of the first of its unit, of each of these; `None` if their texts fill a part of the table, some terabyte in all.
    pub fn take(&mut self, keys: &Keys) -> Option<Vec<bool>> {
        if keys.numbers {
            takes(&mut self.numbers, keys, self.most, |row| keys.number(row))
        } else {
            takes(&mut self.texts, keys, self.most, |row| keys.text(row))
        }
    }
}

/// A unit is in one part of the table, whose rows are seen in their order, so that parts may be filled side by side.
fn takes<K: Key>(shards: &mut [Shard<K::Stored>], keys: &Keys, most: u32, key: impl Fn(usize) -> K + Sync) -> Option<Vec<bool>> {
    let part = |hash: u64| (hash >> 32) as usize % SHARDS;
    let mut starts = vec![0usize; SHARDS + 1];
    for (hash, _) in &keys.rows {
        *starts.get_mut(part(*hash) + 1)? += 1;
    }
    starts.iter_mut().fold(0, |before, start| {
        *start += before;
        *start
    });
    let mut next = starts.clone();
    let mut rows = vec![Waits::default(); keys.len()];
    for ((hash, _), row) in keys.rows.iter().zip(0u32..) {
        let place = next.get_mut(part(*hash))?;
        *rows.get_mut(*place)? = Waits { hash: *hash as u32, row };
        *place += 1;
    }
    let (mut parts, mut rest) = (vec![], rows.as_mut_slice());
    for ends in starts.windows(2) {
        let (some, others) = rest.split_at_mut_checked(ends.last()? - ends.first()?)?;
        parts.push(some);
        rest = others;
    }
    let parts = shards.par_iter_mut().zip(parts).with_min_len(SHARDS / 8);
    let found = parts.map(|(shard, rows)| shard.take(rows, &key, most)).collect::<Option<Vec<_>>>()?;
    let mut takes = vec![false; keys.len()];
    for waits in found.into_iter().flatten() {
        *takes.get_mut(waits.row as usize)? = true;
    }
    Some(takes)
}

/// Open addressing: an entry stands at the place of its hash, or in the first free place behind it.
#[derive(Default)]
struct Shard<S> {
    texts: Vec<u8>,
    entries: Vec<Entry<S>>,
    used: usize,
}

/// A unit, or, with a count of 0, a free place.
#[derive(Clone, Copy, Default)]
struct Entry<S> {
    key: S,
    hash: u32,
    count: u32,
}

impl<S: Copy + Default> Shard<S> {
    /// Those of these rows that are the first of their units.
    fn take<'r, K: Key<Stored = S>>(&mut self, rows: &'r mut [Waits], key: impl Fn(usize) -> K, most: u32) -> Option<&'r [Waits]> {
        let mut kept = 0;
        for start in (0..rows.len()).step_by(TOGETHER) {
            let some = start..rows.len().min(start + TOGETHER);
            self.ask::<K>(rows.get(some.clone())?);
            for at in some {
                let waits = *rows.get(at)?;
                if self.count(key(waits.row as usize), waits.hash, most)? {
                    *rows.get_mut(kept)? = waits;
                    kept += 1;
                }
            }
        }
        rows.get(..kept)
    }

    /// Asks for the places where these units are likely to stand: memory answers all together.
    fn ask<K: Key<Stored = S>>(&self, rows: &[Waits]) {
        let home = |waits: &Waits| home(waits.hash, self.entries.len());
        rows.iter().for_each(|waits| prefetch_index(&self.entries, home(waits)));
        rows.iter().filter_map(|waits| self.entries.get(home(waits))).for_each(|entry| K::ask(entry.key, &self.texts));
    }

    /// Counts a row of a unit, unless `most` were counted before.
    fn count<K: Key<Stored = S>>(&mut self, key: K, hash: u32, most: u32) -> Option<bool> {
        // At most four fifths are taken; a unit that is known needs no room.
        let full = self.used * 5 >= self.entries.len() * 4;
        let found = self.place(key, hash).filter(|p| !full || self.entries.get(*p).is_some_and(|e| e.count > 0));
        let place = match found {
            Some(place) => place,
            None => {
                self.grow();
                self.place(key, hash)?
            }
        };
        let entry = self.entries.get_mut(place)?;
        if entry.count == 0 {
            *entry = Entry { key: key.store(&mut self.texts)?, hash, count: 0 };
            self.used += 1;
        }
        let counts = entry.count < most;
        entry.count += u32::from(counts);
        Some(counts)
    }

    /// Where the entry of this key stands, or would; `None` in a table without places.
    fn place<K: Key<Stored = S>>(&self, key: K, hash: u32) -> Option<usize> {
        let mut place = home(hash, self.entries.len());
        loop {
            let entry = self.entries.get(place)?;
            if entry.count == 0 || (entry.hash == hash && key.is(entry.key, &self.texts)) {
                return Some(place);
            }
            place = if place + 1 == self.entries.len() { 0 } else { place + 1 };
        }
    }

    fn grow(&mut self) {
        let size = (self.entries.len() + self.entries.len() / 2).max(16);
        let old = std::mem::replace(&mut self.entries, vec![Entry::default(); size]);
        for entry in old.into_iter().filter(|e| e.count > 0) {
            let mut place = home(entry.hash, size);
            while self.entries.get(place).is_some_and(|e| e.count > 0) {
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

/// The text that stands at a place.
fn text(texts: &[u8], at: u32) -> Option<&[u8]> {
    let (mut rest, mut length) = (texts.get(at as usize..)?, 0usize);
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
        /// A map of whole keys is the oracle: ids that begin alike, empty ones, long ones; numbers.
        #[test]
        fn the_first_rows_of_every_unit_are_kept(ids in prop::collection::vec((0u16..400, 0usize..3), 0..3000), most in 1..4u64, numbers: bool) {
            let (mut seen, mut waiting, mut wanted, hasher) = (Seen::new(most), Keys::default(), vec![], RandomState::new());
            let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
            for (id, long) in ids {
                let text = if id == 0 { String::new() } else { id.to_string() };
                let long = if numbers { 0 } else { long };
                let key = [&[7; 200][..[0, 120, 200][long]], text.as_bytes()].concat();
                let count = counts.entry(key.clone()).or_default();
                *count += 1;
                if *count <= most {
                    wanted.push(waiting.len());
                }
                if numbers { waiting.push_number(&hasher, f64::from(id)) } else { waiting.push_bytes(&hasher, &key) }
            }
            let takes = seen.take(&waiting).unwrap();
            prop_assert_eq!((0..takes.len()).filter(|row| takes[*row]).collect::<Vec<_>>(), wanted);
        }
    }

    /// Keys of one hash are still different units, whatever stands between them; the table wraps around at its end.
    #[test]
    fn one_hash_for_all_changes_nothing() {
        for hash in [0, 5, u32::MAX] {
            for numbers in [true, false] {
                let (mut whole, mut texts) = (Shard::default(), Shard::default());
                for round in 0..3 {
                    for id in 0..300u64 {
                        let bytes = id.to_le_bytes();
                        let counts = if numbers { whole.count(id, hash, 2) } else { texts.count(&bytes[..], hash, 2) };
                        assert_eq!(counts, Some(round < 2));
                    }
                }
                assert_eq!(whole.used + texts.used, 300);
            }
        }
    }

    /// Rows of units that were seen take no room at all, new units now and then.
    #[test]
    fn rows_are_counted_without_an_allocation_each() {
        let (mut seen, mut keys, hasher) = (Seen::new(3), Keys::default(), RandomState::new());
        (0..100_000u64).for_each(|id| keys.push_bytes(&hasher, &id.to_le_bytes()));
        for _ in 0..2 {
            let some = allocation_counter::measure(|| assert_eq!(seen.take(&keys), Some(vec![true; 100_000])));
            assert!(some.count_total < 5000 && some.bytes_max < 100_000 * 60, "{some:?}");
        }
    }
}
