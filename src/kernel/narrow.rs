//! Few numeric columns: stored column by column in a segment, first the first rows of all tiles of eight, then the second, and so on.
//!
//! So what lies side by side is one row of every tile, and vectors are filled however few the columns are. A row's product is one sum
//! in the order of the columns, a tile's share of a gradient that which `tile` makes of rows that are stored one after the other.

use crate::numeric::fast::LANES;

/// Fewer numeric columns than these are stored so: from here on a row fills vectors by itself, and the columns of a segment no nearest cache.
pub(super) const WIDE: usize = 33;
/// Columns that go together: predictors are in registers meanwhile.
const FOUR: usize = 4;
/// At least the tiles of a segment.
pub(super) const TILES: usize = 32;

/// The place of a row in a column of so many cells.
pub(super) fn place(row: usize, height: usize) -> usize {
    row % LANES * (height / LANES) + row / LANES
}

/// The inner products of all rows of a segment and the weights.
#[inline(always)]
pub(super) fn predict(cells: &[f32], w: &[f64], z: &mut [f64]) {
    z.fill(0.0);
    let height = z.len().max(1);
    let fours = w.as_chunks::<FOUR>().0;
    for (columns, [wa, wb, wc, wd]) in cells.chunks_exact(FOUR * height).zip(fours) {
        let [a, b, c, d] = parts(columns, height);
        for ((((z, a), b), c), d) in z.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let term = |x: &f32, w: f64, sum: f64| f64::from(*x).mul_add(w, sum);
            *z = term(d, *wd, term(c, *wc, term(b, *wb, term(a, *wa, *z))));
        }
    }
    let done = fours.len() * FOUR;
    for (column, w) in cells.chunks_exact(height).zip(w).skip(done) {
        for (z, x) in z.iter_mut().zip(column) {
            *z = f64::from(*x).mul_add(*w, *z);
        }
    }
}

/// Adds `rows` rows, each times its residual: whole tiles first, then row by row.
#[inline(always)]
pub(super) fn collect(cells: &[f32], rows: usize, residuals: &[f64], g: &mut [f64]) {
    let (height, whole) = (residuals.len().max(LANES), rows / LANES);
    let tiles = height / LANES;
    let [ra, rb, rc, rd, re, rf, rh, ri] = parts(residuals, tiles);
    let mut sums = [0.0; TILES];
    for (column, g) in cells.chunks_exact(height).zip(g) {
        let [a, b, c, d, e, f, h, i] = parts(column, tiles);
        let term = |x: &f32, r: &f64, sum: f64| f64::from(*x).mul_add(*r, sum);
        // Plain loops over the tiles: compilers turn them into vector instructions.
        for ((((((((s, a), b), c), d), ra), rb), rc), rd) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d).zip(ra).zip(rb).zip(rc).zip(rd) {
            *s = term(a, ra, term(b, rb, term(c, rc, f64::from(*d) * rd)));
        }
        for ((((((((s, a), b), c), d), ra), rb), rc), rd) in sums.iter_mut().zip(e).zip(f).zip(h).zip(i).zip(re).zip(rf).zip(rh).zip(ri) {
            *s += term(a, ra, term(b, rb, term(c, rc, f64::from(*d) * rd)));
        }
        for s in sums.iter().take(whole) {
            *g += s;
        }
        if whole < tiles {
            for (x, r) in column.chunks_exact(tiles).zip(residuals.chunks_exact(tiles)).take(rows % LANES) {
                for (x, r) in x.iter().zip(r).skip(whole) {
                    *g = f64::from(*x).mul_add(*r, *g);
                }
            }
        }
    }
}

/// Parts of this length, one behind the other.
#[inline(always)]
fn parts<const N: usize, T>(all: &[T], length: usize) -> [&[T]; N] {
    let mut parts: [&[T]; N] = [&[]; N];
    parts.iter_mut().zip(all.chunks_exact(length.max(1))).for_each(|(p, c)| *p = c);
    parts
}
