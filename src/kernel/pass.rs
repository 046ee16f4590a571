//! One pass over a range of segments: predictors, residuals and gradient of a few rows before the next are read.
//!
//! Everything that multiplies is a plain loop: closures of iterators may be compiled apart, without vector instructions.

use multiversion::multiversion;

use super::design::{Design, Segment};
use super::family::Family;
use super::narrow::{self, BLOCK, WIDE};
use super::tables::Tables;
use super::tile::{Tile, total};
use crate::numeric::fast::{LANES, Lanes, exp, map};

/// The sums of one range of rows, with room for the predictors of eight rows: made once, used at every step.
pub(super) struct Sums {
    pub loss: f64,
    pub gradient: Vec<Tables>,
    predictors: Vec<Lanes>,
    /// Tiles of eight rows that go together.
    batch: usize,
}

/// Rows that are read twice stay in the nearest cache, of at least 32 KiB: half of it for them.
const NEAR: usize = 16 << 10;
const MOST_TILES: usize = 8;

impl Sums {
    pub fn new(design: &Design) -> Sums {
        let classes = design.family.predictors();
        let gradient = (0..classes).map(|_| Tables::new(&design.layout)).collect();
        let tile = LANES * size_of::<f32>() * design.layout.dense;
        let batch = NEAR.checked_div(tile).unwrap_or(MOST_TILES).clamp(1, MOST_TILES);
        Sums { loss: 0.0, gradient, predictors: vec![[0.0; LANES]; classes * batch], batch }
    }
}

/// What a pass needs to know besides the rows.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub family: Family,
    /// Clamp of every residual.
    pub bound: f64,
    pub with_loss: bool,
}

/// Sums over the segments. Compiled for several instruction sets, with the same results in each: products and sums are
/// fused where they are written so, in software where the processor cannot.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
pub(super) fn pass(rule: Rule, segments: &[Segment], weights: &[Tables], sums: &mut Sums) {
    sums.loss = 0.0;
    sums.gradient.iter_mut().for_each(Tables::clear);
    let mut loss = Loss { sum: [0.0; LANES], product: [1.0; LANES] };
    for segment in segments {
        let tiles = segment.height / LANES;
        for first in (0..tiles).step_by(sums.batch) {
            let batch = first..(first + sums.batch).min(tiles);
            // All predictors, then all residuals, then all sums: none waits for the one before.
            for (tile, z) in batch.clone().zip(sums.predictors.chunks_exact_mut(weights.len())) {
                let rows = Tile::of(segment, tile * LANES);
                for (z, w) in z.iter_mut().zip(weights) {
                    *z = rows.predict(w);
                }
            }
            let block = Few::of(segment, first * LANES, weights);
            block.predict(weights, &mut sums.predictors);
            for (tile, z) in batch.clone().zip(sums.predictors.chunks_exact_mut(weights.len())) {
                let rows = Tile::of(segment, tile * LANES);
                match z {
                    [z] => residuals(rule, &rows, z, &mut loss),
                    many => softmax(rule.bound, &rows, many, &mut loss),
                }
            }
            for (tile, r) in batch.zip(sums.predictors.chunks_exact(weights.len())) {
                let rows = Tile::of(segment, tile * LANES);
                for (r, g) in r.iter().zip(&mut sums.gradient) {
                    rows.collect(*r, g);
                }
            }
            block.collect(&sums.predictors, &mut sums.gradient);
        }
        // A segment has 32 tiles: the product of their factors is at most 2^32.
        for (sum, product) in loss.sum.iter_mut().zip(&mut loss.product) {
            *sum += rule.family.log_weight() * product.ln();
            *product = 1.0;
        }
    }
    sums.loss = total(loss.sum);
}

/// The numeric columns of a batch of eight tiles, where they are few; else empty.
struct Few<'a> {
    cells: &'a [f32],
    rows: usize,
}

impl<'a> Few<'a> {
    #[inline(always)]
    fn of(segment: &'a Segment, start: usize, weights: &[Tables]) -> Few<'a> {
        let columns = weights.first().map_or(0, |w| w.dense.len());
        let cells = if columns < WIDE { narrow::block(&segment.dense, start, columns) } else { &[] };
        Few { cells, rows: segment.rows.saturating_sub(start).min(BLOCK) }
    }

    /// Adds to the predictors of the tiles, which are tile by tile and in a tile class by class.
    #[inline(always)]
    fn predict(&self, weights: &[Tables], predictors: &mut [Lanes]) {
        if self.cells.is_empty() {
            return;
        }
        for (w, class) in weights.iter().zip(0usize..) {
            let share = narrow::turned(&narrow::predict(self.cells, &w.dense));
            for (z, share) in predictors.iter_mut().skip(class).step_by(weights.len()).zip(share) {
                z.iter_mut().zip(share).for_each(|(z, s)| *z += s);
            }
        }
    }

    /// Adds the residuals, which stand where the predictors stood, times the rows.
    #[inline(always)]
    fn collect(&self, residuals: &[Lanes], gradient: &mut [Tables]) {
        if self.cells.is_empty() {
            return;
        }
        let classes = gradient.len();
        for (g, class) in gradient.iter_mut().zip(0usize..) {
            let mut r = [[0.0; LANES]; LANES];
            r.iter_mut().zip(residuals.iter().skip(class).step_by(classes)).for_each(|(r, of)| *r = *of);
            narrow::collect(self.cells, self.rows, &narrow::turned(&r), &mut g.dense);
        }
    }
}

/// Losses of the rows so far, lane by lane, and factors whose logarithms are still to be added.
struct Loss {
    sum: Lanes,
    product: Lanes,
}

/// A predictor becomes the residual.
#[inline(always)]
fn residuals(rule: Rule, rows: &Tile, z: &mut Lanes, loss: &mut Loss) {
    let Rule { family, bound, with_loss } = rule;
    let terms = family.terms(*z, rows.outcome);
    for ((z, score), lane) in z.iter_mut().zip(terms.score).zip(0usize..) {
        *z = if lane < rows.live { score.clamp(-bound, bound) } else { 0.0 };
    }
    if with_loss {
        for ((sum, lost), lane) in loss.sum.iter_mut().zip(terms.loss).zip(0usize..) {
            *sum += if lane < rows.live { lost } else { 0.0 };
        }
        for ((product, factor), lane) in loss.product.iter_mut().zip(terms.factor).zip(0usize..) {
            *product *= if lane < rows.live { factor } else { 1.0 };
        }
    }
}

/// Probabilities less the indicator of the class, shortened where their norm over the classes is above the bound.
#[inline(always)]
fn softmax(bound: f64, rows: &Tile, predictors: &mut [Lanes], loss: &mut Loss) {
    let (mut top, mut sum) = ([f64::MIN; LANES], [0.0; LANES]);
    let (mut own, mut squares) = ([0.0; LANES], [0.0; LANES]);
    for z in predictors.iter() {
        for (t, z) in top.iter_mut().zip(z) {
            *t = t.max(*z);
        }
    }
    for (z, class) in predictors.iter_mut().zip(0u32..) {
        for ((((z, top), sum), own), y) in z.iter_mut().zip(top).zip(&mut sum).zip(&mut own).zip(rows.outcome) {
            let shifted = *z - top;
            *own += if y == f64::from(class) { shifted } else { 0.0 };
            *z = exp(shifted);
            *sum += *z;
        }
    }
    for (z, class) in predictors.iter_mut().zip(0u32..) {
        for (((z, sum), y), lane) in z.iter_mut().zip(sum).zip(rows.outcome).zip(0usize..) {
            let share = *z / sum - if y == f64::from(class) { 1.0 } else { 0.0 };
            *z = if lane < rows.live { share } else { 0.0 };
        }
        for (square, z) in squares.iter_mut().zip(z.iter()) {
            *square += z * z;
        }
    }
    let shorter = map(squares, |s| if s > bound * bound { bound / s.sqrt() } else { 1.0 });
    for z in predictors.iter_mut() {
        for (z, shorter) in z.iter_mut().zip(shorter) {
            *z *= shorter;
        }
    }
    for (((lost, own), sum), lane) in loss.sum.iter_mut().zip(own).zip(sum).zip(0usize..) {
        *lost += if lane < rows.live { sum.ln() - own } else { 0.0 };
    }
}
