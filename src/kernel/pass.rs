//! One pass over a range of segments: predictors, residuals and gradient of a few rows before the next are read.
//!
//! Everything that multiplies is a plain loop: closures of iterators may be compiled apart, without vector instructions.

use multiversion::multiversion;

use super::design::{Design, SEGMENT, Segment};
use super::family::Family;
use super::narrow::{self, TILES};
use super::tables::Tables;
use super::tile::{Tile, total, widened};
use crate::numeric::fast::{LANES, Lanes, exp, ln, map};

/// The sums of one range of rows, with room for the predictors of eight rows: made once, used at every step.
pub(super) struct Sums {
    pub loss: f64,
    pub gradient: Vec<Tables>,
    predictors: Vec<Lanes>,
    /// Tiles of eight rows that go together.
    batch: usize,
    /// Predictors, then residuals, of a segment of few numeric columns, in their order: class by class.
    few: Vec<f64>,
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
        let few = vec![0.0; if design.layout.narrow { classes * SEGMENT } else { 0 }];
        Sums { loss: 0.0, gradient, predictors: vec![[0.0; LANES]; classes * batch], batch, few }
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
        let (tiles, height) = (segment.height / LANES, segment.height);
        for (z, w) in sums.few.chunks_exact_mut(height).zip(weights) {
            narrow::predict(&segment.dense, &w.dense, z);
        }
        if segment.flat {
            flat(rule, segment, sums.few.get_mut(..height).unwrap_or(&mut []), &mut loss);
        } else {
            for first in (0..tiles).step_by(sums.batch) {
                let batch = first..(first + sums.batch).min(tiles);
                // All predictors, then all residuals, then all sums: none waits for the one before.
                for (tile, z) in batch.clone().zip(sums.predictors.chunks_exact_mut(weights.len())) {
                    let rows = Tile::of(segment, tile * LANES);
                    for (z, w) in z.iter_mut().zip(weights) {
                        *z = rows.predict(w);
                    }
                    each_few(&mut sums.few, (height, tile), z, |z, few| *z += *few);
                }
                for (tile, z) in batch.clone().zip(sums.predictors.chunks_exact_mut(weights.len())) {
                    let rows = Tile::of(segment, tile * LANES);
                    if let [z] = &mut *z {
                        residuals(rule, &rows, z, &mut loss);
                    } else {
                        softmax(rule.bound, &rows, z, &mut loss);
                    }
                    each_few(&mut sums.few, (height, tile), z, |r, few| *few = *r);
                }
                for (tile, r) in batch.zip(sums.predictors.chunks_exact(weights.len())) {
                    let rows = Tile::of(segment, tile * LANES);
                    for (r, g) in r.iter().zip(&mut sums.gradient) {
                        rows.collect(*r, g);
                    }
                }
            }
        }
        for (r, g) in sums.few.chunks_exact(height).zip(&mut sums.gradient) {
            narrow::collect(&segment.dense, segment.rows, r, &mut g.dense);
        }
        // A segment has 32 tiles: the product of their factors is at most 2^32.
        for (sum, product) in loss.sum.iter_mut().zip(&mut loss.product) {
            *sum += rule.family.log_weight() * product.ln();
            *product = 1.0;
        }
    }
    sums.loss = total(loss.sum);
}

/// The numbers of a tile's rows in the order of `narrow`, class by class, beside those of the tile.
#[inline(always)]
fn each_few(few: &mut [f64], (height, tile): (usize, usize), of: &mut [Lanes], apply: impl Fn(&mut f64, &mut f64)) {
    for (of, few) in of.iter_mut().zip(few.chunks_exact_mut(height)) {
        for (of, few) in of.iter_mut().zip(few.iter_mut().skip(tile).step_by(height / LANES)) {
            apply(of, few);
        }
    }
}

/// Predictors of a flat segment become residuals.
#[inline(always)]
fn flat(rule: Rule, segment: &Segment, z: &mut [f64], loss: &mut Loss) {
    let Rule { family, bound, with_loss } = rule;
    match family {
        _ if with_loss => losses(family, segment, z, loss),
        // The law is known to the compiler, which then goes through many rows at once.
        Family::Logistic => scores(Family::Logistic, segment, z),
        Family::Binomial { trials } => scores(Family::Binomial { trials }, segment, z),
        other => scores(other, segment, z),
    }
    for z in z.iter_mut() {
        *z = z.clamp(-bound, bound);
    }
    for (z, w) in z.iter_mut().zip(&segment.weight) {
        *z *= f64::from(*w);
    }
}

#[inline(always)]
fn scores(family: Family, segment: &Segment, z: &mut [f64]) {
    for (z, y) in z.as_chunks_mut::<LANES>().0.iter_mut().zip(segment.outcome.as_chunks::<LANES>().0) {
        *z = family.terms(*z, widened(y)).score;
    }
}

/// The same with the losses, for each lane tile by tile, as `residuals` has them.
#[inline(always)]
fn losses(family: Family, segment: &Segment, z: &mut [f64], loss: &mut Loss) {
    let (mut lost, mut factor) = ([[0.0; LANES]; TILES], [[1.0; LANES]; TILES]);
    let eights = z.as_chunks_mut::<LANES>().0.iter_mut().zip(segment.outcome.as_chunks::<LANES>().0);
    for (((z, y), lost), factor) in eights.zip(&mut lost).zip(&mut factor) {
        let terms = family.terms(*z, widened(y));
        (*z, *lost, *factor) = (terms.score, terms.loss, terms.factor);
    }
    let (lost, factor) = (lost.as_flattened(), factor.as_flattened());
    for row in 0..segment.rows {
        let (lane, place) = (row % LANES, narrow::place(row, segment.height));
        let (Some(lost), Some(factor)) = (lost.get(place), factor.get(place)) else { continue };
        let (Some(sum), Some(product)) = (loss.sum.get_mut(lane), loss.product.get_mut(lane)) else { continue };
        if let Some(w) = segment.weight.get(place) {
            *sum += f64::from(*w) * (lost + family.log_weight() * ln(*factor));
        } else {
            (*sum, *product) = (*sum + lost, *product * factor);
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
    if let Some(weight) = rows.weight() {
        z.iter_mut().zip(weight).for_each(|(z, w)| *z *= w);
        if with_loss {
            for (((sum, lost), factor), w) in loss.sum.iter_mut().zip(terms.loss).zip(terms.factor).zip(weight) {
                // Rows that are missing have weight 0.
                *sum += w * (lost + family.log_weight() * ln(factor));
            }
        }
    } else if with_loss {
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
    let weight = rows.weight().unwrap_or([1.0; LANES]);
    for z in predictors.iter_mut() {
        for ((z, shorter), w) in z.iter_mut().zip(shorter).zip(weight) {
            *z *= shorter * w;
        }
    }
    for ((((lost, own), sum), w), lane) in loss.sum.iter_mut().zip(own).zip(sum).zip(weight).zip(0usize..) {
        *lost += if lane < rows.live { w * (sum.ln() - own) } else { 0.0 };
    }
}
