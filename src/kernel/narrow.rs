//! Few numeric columns: stored in blocks of 64 rows, column by column, so that vectors are filled however few the columns are.

use crate::numeric::fast::{LANES, total};

/// Fewer numeric columns than these are stored so: from here on a row fills vectors by itself.
pub(super) const WIDE: usize = 33;
/// Rows of a block. Its columns are still in the nearest cache when their residuals are known.
pub(super) const BLOCK: usize = 64;
/// Columns that go together: predictors are in registers meanwhile.
const FOUR: usize = 4;

/// The sums of a column, row by row of a block: they are added up once, after the last row.
pub(super) type Column = [f64; BLOCK];

/// The place of a cell among those of a segment.
pub(super) fn place(row: usize, column: usize, columns: usize) -> usize {
    (row / BLOCK * columns + column) * BLOCK + row % BLOCK
}

/// The inner products of the rows of a block and the weights.
#[inline(always)]
pub(super) fn predict(block: &[f32], w: &[f64], z: &mut Column) {
    z.fill(0.0);
    let columns = block.as_chunks::<BLOCK>().0;
    let (fours, rest) = columns.as_chunks::<FOUR>();
    let (weights, more) = w.as_chunks::<FOUR>();
    let term = |x: &f32, w: f64, sum: f64| f64::from(*x).mul_add(w, sum);
    for ([a, b, c, d], [wa, wb, wc, wd]) in fours.iter().zip(weights) {
        for ((((z, a), b), c), d) in z.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *z = term(d, *wd, term(c, *wc, term(b, *wb, term(a, *wa, *z))));
        }
    }
    for (column, w) in rest.iter().zip(more) {
        for (z, x) in z.iter_mut().zip(column) {
            *z = term(x, *w, *z);
        }
    }
}

/// Adds the rows of a block, each times its residual. Those that are missing are 0.
#[inline(always)]
pub(super) fn collect(block: &[f32], residuals: &Column, sums: &mut [Column]) {
    for (column, sums) in block.as_chunks::<BLOCK>().0.iter().zip(sums) {
        for ((s, x), r) in sums.iter_mut().zip(column).zip(residuals) {
            *s = f64::from(*x).mul_add(*r, *s);
        }
    }
}

/// Always in this order.
pub(super) fn sum(column: &Column) -> f64 {
    let mut lanes = [0.0; LANES];
    for eight in column.as_chunks::<LANES>().0 {
        lanes.iter_mut().zip(eight).for_each(|(s, x)| *s += x);
    }
    total(lanes)
}
