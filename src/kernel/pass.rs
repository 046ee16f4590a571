//! One pass over a range of segments: predictors, residuals and gradient of a few rows before the next are read.
//!
//! Everything that multiplies is a plain loop: closures of iterators may be compiled apart, without vector instructions.

use std::iter::repeat;

use multiversion::multiversion;

use super::design::{Design, SEGMENT, Segment};
use super::family::{Family, Terms};
use super::narrow::{self, Aligned, BLOCK, Column};
use super::tables::Tables;
use super::tile::{Tile, widened};
use crate::numeric::fast::{LANES, Lanes, exp, ln, map, total};

/// The sums of one range of rows, with room for the predictors of eight rows: made once, used at every step.
pub(super) struct Sums {
    pub loss: f64,
    pub gradient: Vec<Tables>,
    predictors: Vec<Lanes>,
    /// Tiles of eight rows that go together.
    batch: usize,
    /// Predictors, then residuals, of a segment of few numeric columns beside others, class by class.
    few: Vec<Column>,
    /// Sums of those columns, class by class.
    columns: Vec<narrow::Sums>,
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
        let (blocks, columns) = if design.layout.narrow { (SEGMENT / BLOCK, design.layout.dense) } else { (0, 0) };
        let (few, columns) = (vec![[0.0; BLOCK]; classes * blocks], vec![narrow::Sums::default(); classes * columns]);
        Sums { loss: 0.0, gradient, predictors: vec![[0.0; LANES]; classes * batch], batch, few, columns }
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
    sums.columns.fill(narrow::Sums::default());
    let mut loss = Loss { sum: [0.0; LANES], product: [1.0; LANES] };
    let next = segments.iter().skip(1).map(|s| s.dense.as_slice()).chain([&[][..]]);
    for (segment, next) in segments.iter().zip(next) {
        if segment.flat {
            flat(rule, (segment, next), weights, sums, &mut loss);
        } else {
            tiles(rule, segment, weights, sums, &mut loss);
        }
        // A segment has 32 tiles: the product of their factors is at most 2^32.
        for (sum, product) in loss.sum.iter_mut().zip(&mut loss.product) {
            *sum += rule.family.log_weight() * product.ln();
            *product = 1.0;
        }
    }
    sums.loss = total(loss.sum);
    let Sums { gradient, columns, .. } = sums;
    for (columns, g) in columns.chunks_exact(columns.len().checked_div(gradient.len()).unwrap_or(0).max(1)).zip(gradient) {
        g.dense.iter_mut().zip(columns).for_each(|(g, column)| *g = narrow::sum(column));
    }
}

/// A segment, some tiles after the others.
#[inline(always)]
fn tiles(rule: Rule, segment: &Segment, weights: &[Tables], sums: &mut Sums, loss: &mut Loss) {
    let (tiles, blocks) = (segment.height / LANES, if segment.narrow { segment.height / BLOCK } else { 0 });
    let Sums { gradient, predictors, batch, few, columns, .. } = sums;
    for (w, z) in weights.iter().zip(few.chunks_exact_mut(blocks.max(1))) {
        for (block, z) in segment.dense.chunks_exact(BLOCK * w.dense.len().max(1)).zip(z) {
            // Other columns come between: no block is asked for before its turn.
            narrow::predict(block, &w.dense, z, block);
        }
    }
    for first in (0..tiles).step_by(*batch) {
        let batch = first..(first + *batch).min(tiles);
        // All predictors, then all residuals, then all sums: none waits for the one before.
        for (tile, z) in batch.clone().zip(predictors.chunks_exact_mut(weights.len())) {
            let rows = Tile::of(segment, tile * LANES);
            for (z, w) in z.iter_mut().zip(weights) {
                *z = rows.predict(w);
            }
            each_few(few, (blocks, tile), z, |z, few| *z += *few);
        }
        for (tile, z) in batch.clone().zip(predictors.chunks_exact_mut(weights.len())) {
            let rows = Tile::of(segment, tile * LANES);
            if let [z] = &mut *z {
                residuals(rule, &rows, z, loss);
            } else {
                softmax(rule.bound, &rows, z, loss);
            }
            each_few(few, (blocks, tile), z, |r, few| *few = *r);
        }
        for (tile, r) in batch.zip(predictors.chunks_exact(weights.len())) {
            let rows = Tile::of(segment, tile * LANES);
            for (r, g) in r.iter().zip(gradient.iter_mut()) {
                rows.collect(*r, g);
            }
        }
    }
    let each = columns.len() / weights.len().max(1);
    for (r, columns) in few.chunks_exact(blocks.max(1)).zip(columns.chunks_exact_mut(each.max(1))) {
        for (block, r) in segment.dense.chunks_exact(BLOCK * each.max(1)).zip(r) {
            narrow::collect(block, r, columns, block);
        }
    }
}

/// The numbers of a tile's rows among those of their blocks, class by class, beside those of the tile.
#[inline(always)]
fn each_few(few: &mut [Column], (blocks, tile): (usize, usize), of: &mut [Lanes], apply: impl Fn(&mut f64, &mut f64)) {
    for (of, few) in of.iter_mut().zip(few.chunks_exact_mut(blocks.max(1))) {
        if let Some(few) = few.as_flattened_mut().as_chunks_mut::<LANES>().0.get_mut(tile) {
            of.iter_mut().zip(few).for_each(|(of, few)| apply(of, few));
        }
    }
}

/// A segment of few numeric columns alone, block by block, and the numbers behind it.
#[inline(always)]
fn flat(rule: Rule, (segment, behind): (&Segment, &[f32]), weights: &[Tables], sums: &mut Sums, loss: &mut Loss) {
    let (Some(w), Sums { columns, .. }) = (weights.first(), sums) else { return };
    let width = BLOCK * w.dense.len().max(1);
    let cells = segment.dense.chunks_exact(width);
    // The same block of the next segment, 256 rows ahead: one block ahead is too late where memory is fast.
    let next = behind.chunks_exact(width).chain(repeat(&[][..]));
    let blocks = cells.zip(segment.outcome.as_chunks::<BLOCK>().0).zip(next);
    let Aligned(z) = &mut Aligned([0.0; BLOCK]);
    for (((cells, y), next), start) in blocks.zip((0..).step_by(BLOCK)) {
        let weight = segment.weight.get(start..).and_then(|w| w.first_chunk::<BLOCK>());
        narrow::predict(cells, &w.dense, z, next);
        block(rule, (y, weight), segment.rows.saturating_sub(start), (z, next), loss);
        narrow::collect(cells, z, columns, next);
    }
}

/// Predictors of the rows of a block become residuals.
#[inline(always)]
fn block(rule: Rule, (y, weight): (&[f32; BLOCK], Option<&[f32; BLOCK]>), live: usize, (z, next): (&mut Column, &[f32]), loss: &mut Loss) {
    let Rule { family, bound, with_loss } = rule;
    match family {
        _ if with_loss => losses(family, (y, weight), live, (z, next), loss),
        // The law is known to the compiler, which then goes through many rows at once.
        Family::Logistic => scores(Family::Logistic, y, z, next),
        Family::Binomial { trials } => scores(Family::Binomial { trials }, y, z, next),
        other => scores(other, y, z, next),
    }
    for z in z.iter_mut() {
        *z = z.clamp(-bound, bound);
    }
    if let Some(weight) = weight {
        for (z, w) in z.iter_mut().zip(weight) {
            *z *= f64::from(*w);
        }
    }
}

#[inline(always)]
fn scores(family: Family, y: &[f32; BLOCK], z: &mut Column, next: &[f32]) {
    for ((z, y), part) in z.as_chunks_mut::<LANES>().0.iter_mut().zip(y.as_chunks::<LANES>().0).zip(narrow::beside(next)) {
        narrow::ask_all(part);
        *z = family.terms(*z, widened(y)).score;
    }
}

/// The same with the losses, for each lane tile by tile, as `residuals` has them.
#[inline(always)]
fn losses(
    family: Family,
    (y, weight): (&[f32; BLOCK], Option<&[f32; BLOCK]>),
    live: usize,
    (z, next): (&mut Column, &[f32]),
    loss: &mut Loss,
) {
    let rows = z.as_chunks_mut::<LANES>().0.iter_mut().zip(y.as_chunks::<LANES>().0);
    for (((z, y), start), part) in rows.zip((0..).step_by(LANES)).zip(narrow::beside(next)) {
        narrow::ask_all(part);
        let terms = family.terms(*z, widened(y));
        *z = terms.score;
        let weight = weight.and_then(|w| w.get(start..)).and_then(|w| w.first_chunk::<LANES>());
        loss.add(&terms, weight.map(widened), live.saturating_sub(start), family.log_weight());
    }
}

/// Losses of the rows so far, lane by lane, and factors whose logarithms are still to be added.
struct Loss {
    sum: Lanes,
    product: Lanes,
}

impl Loss {
    /// The losses of eight rows, of which so many exist.
    #[inline(always)]
    fn add(&mut self, terms: &Terms, weight: Option<Lanes>, live: usize, log_weight: f64) {
        if let Some(weight) = weight {
            for (((sum, lost), factor), w) in self.sum.iter_mut().zip(terms.loss).zip(terms.factor).zip(weight) {
                // Rows that are missing have weight 0.
                *sum += w * (lost + log_weight * ln(factor));
            }
            return;
        }
        for ((sum, lost), lane) in self.sum.iter_mut().zip(terms.loss).zip(0usize..) {
            *sum += if lane < live { lost } else { 0.0 };
        }
        for ((product, factor), lane) in self.product.iter_mut().zip(terms.factor).zip(0usize..) {
            *product *= if lane < live { factor } else { 1.0 };
        }
    }
}

/// A predictor becomes the residual.
#[inline(always)]
fn residuals(rule: Rule, rows: &Tile, z: &mut Lanes, loss: &mut Loss) {
    let Rule { family, bound, with_loss } = rule;
    let terms = family.terms(*z, rows.outcome);
    for ((z, score), lane) in z.iter_mut().zip(terms.score).zip(0usize..) {
        *z = if lane < rows.live { score.clamp(-bound, bound) } else { 0.0 };
    }
    let weight = rows.weight();
    if let Some(weight) = weight {
        z.iter_mut().zip(weight).for_each(|(z, w)| *z *= w);
    }
    if with_loss {
        loss.add(&terms, weight, rows.live, family.log_weight());
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
