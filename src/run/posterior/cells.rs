//! Ranges of whole numbers in cells of equal size, so that what is weighed is bounded however far noise reaches, and their weights.

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

    /// Whole numbers from 0 on around one, in so many cells at most.
    pub fn around(centre: f64, wide: f64, most: f64) -> Cells {
        let (lo, hi) = ((centre - wide).max(0.0).floor(), (centre + wide).max(0.0).ceil());
        Cells::new(lo, hi, ((hi - lo + 1.0) / most).ceil())
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

/// Weights from their logarithms, the largest 1.
pub(super) fn from_logs(ln: Vec<f64>) -> Vec<f64> {
    let largest = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ln.into_iter().map(|x| (x - largest).exp()).collect()
}
