//! Rows side by side, so that every step of an expression runs over many of them: a slot is a run of numbers, one of each row.

/// Most numbers of a batch: with what is computed from them they stay near the processor.
const MOST: usize = 1 << 16;

/// Some rows of one table.
#[derive(Default)]
pub struct Batch {
    /// One run of `most` numbers behind the other, of which the first `rows` are there.
    values: Vec<f64>,
    most: usize,
    rows: usize,
    /// Of rows with a text: all texts, and where each ends.
    texts: Vec<u8>,
    ends: Vec<usize>,
}

impl Batch {
    /// Room for some rows of so many slots.
    pub fn new(slots: usize) -> Batch {
        let most = (MOST / slots.max(1)).clamp(16, 1024);
        Batch { values: vec![0.0; slots * most], most, ..Batch::default() }
    }

    /// One row.
    pub fn of(row: &[f64]) -> Batch {
        Batch { values: row.to_vec(), most: 1, rows: 1, ..Batch::default() }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many rows there is room for.
    pub fn most(&self) -> usize {
        self.most
    }

    pub fn is_full(&self) -> bool {
        self.rows >= self.most
    }

    /// So many rows, to be filled slot by slot.
    pub fn resize(&mut self, rows: usize) {
        self.rows = rows.min(self.most);
    }

    /// No row.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.texts.clear();
        self.ends.clear();
    }

    /// Numbers of a row.
    pub fn slots(&self) -> usize {
        self.values.len() / self.most.max(1)
    }

    /// Adds the text of the next row that has none.
    pub fn push_text(&mut self, text: &[u8]) {
        self.texts.extend_from_slice(text);
        self.ends.push(self.texts.len());
    }

    pub fn text(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        start.zip(self.ends.get(row)).and_then(|(start, end)| self.texts.get(start..*end)).unwrap_or(&[])
    }

    pub fn slot(&self, at: usize) -> Option<&[f64]> {
        let start = at * self.most;
        self.values.get(start..start + self.rows)
    }

    pub fn slot_mut(&mut self, at: usize) -> Option<&mut [f64]> {
        let start = at * self.most;
        self.values.get_mut(start..start + self.rows)
    }

    /// Adds a row, where there is room for it.
    pub fn push(&mut self, row: &[f64]) {
        for (run, x) in self.values.chunks_mut(self.most.max(1)).zip(row) {
            if let Some(cell) = run.get_mut(self.rows) {
                *cell = *x;
            }
        }
        self.resize(self.rows + 1);
    }

    /// Some slots as runs of so many numbers, those behind the last row included.
    pub fn runs(&mut self, slots: std::ops::Range<usize>) -> (&mut [f64], usize) {
        let most = self.most.max(1);
        (self.values.get_mut(slots.start * most..slots.end * most).unwrap_or(&mut []), most)
    }

    /// One of the rows.
    pub fn row(&self, at: usize, out: &mut [f64]) {
        let all = self.values.iter().skip(at).step_by(self.most.max(1));
        out.iter_mut().zip(all).for_each(|(to, x)| *to = *x);
    }

    /// The rows that have this level in a slot.
    pub fn only(&self, slot: usize, level: f64, into: &mut Batch) {
        into.values.resize(self.values.len(), 0.0);
        (into.most, into.rows) = (self.most, 0);
        let keys = self.slot(slot).unwrap_or(&[]);
        let most = self.most.max(1);
        for (from, to) in self.values.chunks(most).zip(into.values.chunks_mut(most)) {
            let kept = from.iter().zip(keys).filter(|(_, key)| **key == level);
            to.iter_mut().zip(kept).for_each(|(to, (x, _))| *to = *x);
        }
        into.rows = keys.iter().filter(|key| **key == level).count();
    }
}

/// One row of runs of `rows` numbers.
pub fn row_of<T: Copy>(runs: &[T], rows: usize, at: usize, out: &mut Vec<T>) {
    out.clear();
    out.extend(runs.iter().skip(at).step_by(rows.max(1)).copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_level_are_kept_in_their_order() {
        let mut batch = Batch::new(2);
        (0..10).for_each(|i| batch.push(&[f64::from(i % 3), f64::from(i)]));
        let mut some = Batch::default();
        batch.only(0, 1.0, &mut some);
        assert_eq!(some.slot(1), Some(&[1.0, 4.0, 7.0][..]));
        batch.only(0, 5.0, &mut some);
        assert_eq!(some.rows(), 0);
        let mut row = vec![];
        row_of(&[1, 2, 3, 4, 5, 6], 3, 1, &mut row);
        assert_eq!(row, [2, 5]);
    }
}
