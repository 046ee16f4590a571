//! Few numeric columns: stored column by column in blocks of 64 rows, so that eight tiles of eight rows are multiplied at once.
//!
//! Each row's product and each tile's share of a gradient are the same sums in the same order as those that `tile` makes of
//! rows that are stored one after the other: only what is computed side by side differs, never a result.

use crate::numeric::fast::{LANES, Lanes};

/// Fewer numeric columns than these are stored in blocks: from here on a row fills vectors by itself.
pub(super) const WIDE: usize = LANES;
/// Rows of a block.
pub(super) const BLOCK: usize = LANES * LANES;

/// One number for each row of a block: first by the row of its tile, then by tile.
pub(super) type Square = [Lanes; LANES];

/// Cells that so many rows of so many columns take, whole blocks.
pub(super) fn cells(rows: usize, columns: usize) -> usize {
    rows.next_multiple_of(BLOCK) * columns
}

/// Writes a row.
pub(super) fn store(cells: &mut [f32], row: usize, values: &[f32]) {
    let (block, row) = (row / BLOCK, row % BLOCK);
    let place = row % LANES * LANES + row / LANES;
    let columns = cells.chunks_exact_mut(BLOCK).skip(block * values.len());
    for (column, value) in columns.zip(values) {
        column.iter_mut().skip(place).take(1).for_each(|cell| *cell = *value);
    }
}

/// The columns of the block that starts with this row.
#[inline(always)]
pub(super) fn block(cells: &[f32], row: usize, columns: usize) -> &[f32] {
    let from = cells.get(row * columns..).unwrap_or(&[]);
    from.get(..BLOCK * columns).unwrap_or(&[])
}

/// Rows become columns.
#[inline(always)]
pub(super) fn turned(x: &Square) -> Square {
    let mut y = [[0.0; LANES]; LANES];
    for (y, at) in y.iter_mut().zip(0usize..) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = x.get(at).copied().unwrap_or(0.0);
        }
    }
    y
}

/// The inner products of 64 rows and the weights.
#[inline(always)]
pub(super) fn predict(block: &[f32], w: &[f64]) -> Square {
    let mut z = [[0.0; LANES]; LANES];
    for (column, w) in block.as_chunks::<BLOCK>().0.iter().zip(w) {
        for (z, x) in z.iter_mut().zip(column.as_chunks::<LANES>().0) {
            for (z, x) in z.iter_mut().zip(x) {
                *z = f64::from(*x).mul_add(*w, *z);
            }
        }
    }
    z
}

/// Adds `rows` rows, each times its residual: whole tiles first, then row by row.
#[inline(always)]
pub(super) fn collect(block: &[f32], rows: usize, r: &Square, g: &mut [f64]) {
    let [ra, rb, rc, rd, re, rf, rh, ri] = r;
    for (column, g) in block.as_chunks::<BLOCK>().0.iter().zip(g) {
        let [a, b, c, d, e, f, h, i] = column.as_chunks::<LANES>().0 else { return };
        let low = term(a, ra, term(b, rb, term(c, rc, start(d, rd))));
        let high = term(e, re, term(f, rf, term(h, rh, start(i, ri))));
        let whole = rows / LANES;
        if whole == LANES {
            for (low, high) in low.iter().zip(high) {
                *g += low + high;
            }
        } else {
            for (low, high) in low.iter().zip(high).take(whole) {
                *g += low + high;
            }
            for (x, r) in column.as_chunks::<LANES>().0.iter().zip(r).take(rows % LANES) {
                for (x, r) in x.iter().zip(r).skip(whole).take(1) {
                    *g = f64::from(*x).mul_add(*r, *g);
                }
            }
        }
    }
}

#[inline(always)]
fn start(x: &[f32; LANES], r: &Lanes) -> Lanes {
    let mut sum = [0.0; LANES];
    for ((sum, x), r) in sum.iter_mut().zip(x).zip(r) {
        *sum = f64::from(*x) * r;
    }
    sum
}

#[inline(always)]
fn term(x: &[f32; LANES], r: &Lanes, mut sum: Lanes) -> Lanes {
    for ((sum, x), r) in sum.iter_mut().zip(x).zip(r) {
        *sum = f64::from(*x).mul_add(*r, *sum);
    }
    sum
}
