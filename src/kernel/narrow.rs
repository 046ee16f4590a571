//! Few numeric columns: stored in blocks of 64 rows, column by column, so that vectors are filled however few the columns are.

use std::iter::repeat;
use std::ops::Range;

use prefetch_index::prefetch_index;

use crate::numeric::fast::{LANES, total};

/// Fewer numeric columns than these are stored so: from here on a row fills vectors by itself.
pub(super) const WIDE: usize = 33;
/// Rows of a block. Its columns are still in the nearest cache when their residuals are known.
pub(super) const BLOCK: usize = 64;
/// Columns that go together: predictors are in registers meanwhile.
const FOUR: usize = 4;

/// One number a row of a block.
pub(super) type Column = [f64; BLOCK];

/// The sums of a column, lane by lane: they are added up once, after the last row.
pub(super) type Sums = Aligned<[f64; LINE]>;

/// At the start of a line of the caches: vectors that cross lines are read twice.
#[repr(align(64))]
#[derive(Clone, Copy, Default)]
pub(super) struct Aligned<T>(pub T);

/// Numbers in a line of the caches.
const LINE: usize = 16;

/// Asks for some lines of a block to come. Memory brings them while this block is worked on if they are asked for a few at a time, in
/// their order: a processor has room for some sixteen, and waits when it has none. Of 16 parts of a block five are asked for beside
/// predictors, seven beside scores and four beside sums, which take about so much time.
#[inline(always)]
fn ask(ahead: &[f32], lines: Range<usize>) {
    lines.for_each(|line| prefetch_index(ahead, line * LINE));
}

/// Asks for all lines of a part.
#[inline(always)]
pub(super) fn ask_all(part: &[f32]) {
    ask(part, 0..part.len() / LINE);
}

/// What is asked for while scores are computed, tile by tile: between what [`predict`] asks for and what [`collect`] does.
#[inline(always)]
pub(super) fn beside(ahead: &[f32]) -> impl Iterator<Item = &[f32]> {
    let lines = ahead.len() / LINE;
    // Where the columns that go together end.
    let part = ahead.get(lines / 16 * 5 * LINE..lines * 12 / 16 * LINE).unwrap_or_default();
    // A block has eight tiles.
    let parts = part.chunks((part.len() / LINE).div_ceil(8).max(1) * LINE);
    parts.chain(repeat(&[][..]))
}

/// The place of a cell among those of a segment.
pub(super) fn place(row: usize, column: usize, columns: usize) -> usize {
    (row / BLOCK * columns + column) * BLOCK + row % BLOCK
}

/// The inner products of the rows of a block and the weights.
#[inline(always)]
pub(super) fn predict(block: &[f32], w: &[f64], z: &mut Column, ahead: &[f32]) {
    z.fill(0.0);
    let columns = block.as_chunks::<BLOCK>().0;
    let (fours, rest) = columns.as_chunks::<FOUR>();
    let (weights, more) = w.as_chunks::<FOUR>();
    let term = |x: &f32, w: f64, sum: f64| f64::from(*x).mul_add(w, sum);
    for (([a, b, c, d], [wa, wb, wc, wd]), four) in fours.iter().zip(weights).zip(0..) {
        ask(ahead, 5 * four..5 * (four + 1));
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
pub(super) fn collect(block: &[f32], residuals: &Column, sums: &mut [Sums], ahead: &[f32]) {
    let columns = block.as_chunks::<BLOCK>().0;
    for ((column, sums), line) in columns.iter().zip(sums).zip(columns.len() * 3..) {
        ask(ahead, line..line + 1);
        // In registers meanwhile.
        let mut all = sums.0;
        for (x, r) in column.as_chunks::<LINE>().0.iter().zip(residuals.as_chunks::<LINE>().0) {
            for ((s, x), r) in all.iter_mut().zip(x).zip(r) {
                *s = f64::from(*x).mul_add(*r, *s);
            }
        }
        sums.0 = all;
    }
}

/// Always in this order.
pub(super) fn sum(column: &Sums) -> f64 {
    let mut lanes = [0.0; LANES];
    for eight in column.0.as_chunks::<LANES>().0 {
        lanes.iter_mut().zip(eight).for_each(|(s, x)| *s += x);
    }
    total(lanes)
}
