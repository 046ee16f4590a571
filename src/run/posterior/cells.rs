//! Ranges of whole numbers in cells of equal size, so that what is weighed is bounded however far noise reaches.

use crate::dist::sample::uniform;
use crate::run::bits::Bits;

/// Cells of `size` numbers each, the first of which begins at `first`.
#[derive(Clone, Copy)]
pub(super) struct Cells {
    pub first: f64,
    pub size: f64,
    pub count: usize,
}

impl Cells {
    /// From `lo` to `hi`, whole numbers of 0 at least.
    pub fn new(lo: f64, hi: f64, size: f64) -> Cells {
        Cells { first: lo, size, count: ((hi - lo + 1.0) / size).ceil().max(1.0) as usize }
    }

    /// The middle of a cell: the number itself where a cell holds one.
    pub fn middle(self, i: usize) -> f64 {
        self.first + i as f64 * self.size + 0.5 * (self.size - 1.0)
    }

    pub fn middles(self) -> Vec<f64> {
        (0..self.count).map(|i| self.middle(i)).collect()
    }

    /// A number of the cell with this middle, each as likely.
    pub fn within(self, middle: f64, rng: &mut Bits) -> f64 {
        if self.size > 1.0 { middle - 0.5 * (self.size - 1.0) + (self.size * uniform(rng)).floor() } else { middle }
    }
}
