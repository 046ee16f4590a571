//! Rows as columns of doubles, in blocks that fit the nearest cache.

use rayon::prelude::*;

use super::op::Op;
use super::tape::{Inputs, forward};

/// Rows of a block.
pub const ROWS: usize = 128;
/// A number of every row of a block.
pub type Lane = [f64; ROWS];

/// The columns of every row. It holds private values: it cannot be shown, compared or copied.
///
/// ```compile_fail
/// fn show<T: std::fmt::Debug>(_: T) {}
/// fn leak(columns: dpm::kernel::density::Columns) { show(columns) }
/// ```
/// ```
/// fn keep(columns: dpm::kernel::density::Columns) { drop(columns) }
/// ```
pub struct Columns {
    width: usize,
    rows: usize,
    blocks: Vec<Vec<Lane>>,
}

impl Columns {
    /// No rows yet, of so many columns.
    pub fn new(width: usize) -> Columns {
        Columns { width, rows: 0, blocks: vec![] }
    }

    /// Adds a row; what is missing is 0, what is too much is left out.
    pub fn push(&mut self, row: &[f64]) {
        let at = self.rows % ROWS;
        if at == 0 {
            self.blocks.push(vec![[0.0; ROWS]; self.width]);
        }
        let Some(block) = self.blocks.last_mut() else { return };
        for (lane, x) in block.iter_mut().zip(row) {
            if let Some(cell) = lane.get_mut(at) {
                *cell = *x;
            }
        }
        self.rows += 1;
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Every block with the number of its rows that exist.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&[Lane], usize)> {
        self.blocks.iter().enumerate().map(|(i, block)| (block.as_slice(), self.rows.saturating_sub(i * ROWS).min(ROWS)))
    }

    /// Appends a column for each operation, `Program::derived`.
    pub fn derive(&mut self, ops: &[Op]) {
        for block in &mut self.blocks {
            let mut more = vec![[0.0; ROWS]; ops.len()];
            forward(ops, 0, Inputs { shared: &[], columns: block }, &mut more);
            block.reserve_exact(more.len());
            block.append(&mut more);
        }
        self.width += ops.len();
    }

    /// Some of the rows, by their places; places beyond the last are left out.
    pub fn gather(&self, places: &[usize]) -> Columns {
        let mut found = Columns::new(self.width);
        let mut row = vec![0.0; self.width];
        for place in places.iter().filter(|p| **p < self.rows) {
            let Some(block) = self.blocks.get(place / ROWS) else { continue };
            row.iter_mut().zip(block).for_each(|(x, lane)| *x = lane.get(place % ROWS).copied().unwrap_or(0.0));
            found.push(&row);
        }
        found
    }

    /// What all rows add to a sum, on all cores: only for sums that do not depend on their order. Each `zero` gets at most `ROWS` rows.
    pub fn sum<T: Send>(&self, zero: impl Fn() -> T + Sync, add: impl Fn(&mut T, &[f64]) + Sync, join: impl Fn(&mut T, T) + Sync) -> T {
        let blocks: Vec<_> = self.blocks().collect();
        let part = |(block, live): &(&[Lane], usize)| {
            let (mut sum, mut row) = (zero(), vec![0.0; self.width]);
            for i in 0..*live {
                row.iter_mut().zip(*block).for_each(|(x, lane)| *x = lane.get(i).copied().unwrap_or(0.0));
                add(&mut sum, &row);
            }
            sum
        };
        let joined = |mut a: T, b: T| {
            join(&mut a, b);
            a
        };
        blocks.par_iter().map(part).reduce(&zero, joined)
    }

    /// Calls `visit` with every row.
    pub fn each(&self, mut visit: impl FnMut(&[f64])) {
        let mut row = vec![0.0; self.width];
        for (block, live) in self.blocks() {
            for i in 0..live {
                row.iter_mut().zip(block).for_each(|(x, lane)| *x = lane.get(i).copied().unwrap_or(0.0));
                visit(&row);
            }
        }
    }
}
