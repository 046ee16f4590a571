//! One pass over a range of segments: predictors, residuals and gradient of eight rows before the next eight are read.
//!
//! Everything that multiplies is a plain loop: closures of iterators may be compiled apart, without vector instructions.

use multiversion::multiversion;

use super::design::{Design, Segment};
use super::exp::{LANES, Lanes, exp};
use super::family::Family;
use super::layout::{Layout, Part, TABLE};

/// What multiplies the encoded columns of one predictor, or collects their gradient.
pub(super) struct Tables {
    dense: Vec<f64>,
    joints: Vec<[f64; TABLE]>,
    wide: Vec<Vec<f64>>,
}

impl Tables {
    pub fn new(layout: &Layout) -> Tables {
        Tables {
            dense: vec![0.0; layout.dense],
            joints: vec![[0.0; TABLE]; layout.joints.len()],
            wide: layout.wide.iter().map(|p| vec![0.0; p.block.levels]).collect(),
        }
    }

    /// From the coefficients of the columns: a joint level gets the sum of those of its levels.
    pub fn expand(&mut self, layout: &Layout, theta: &[f64]) {
        let coefficient = |p: &Part, level: usize| {
            let column = p.block.column(level).and_then(|c| theta.get(p.first + c));
            column.map_or(0.0, |w| w * p.block.value)
        };
        self.dense.iter_mut().zip(theta).for_each(|(d, t)| *d = *t);
        for (table, joint) in self.joints.iter_mut().zip(&layout.joints) {
            for (level, entry) in table.iter_mut().take(joint.levels).enumerate() {
                *entry = joint.parts.iter().map(|p| coefficient(p, level / p.stride % p.block.levels)).sum();
            }
        }
        for (table, part) in self.wide.iter_mut().zip(&layout.wide) {
            for (level, entry) in table.iter_mut().enumerate() {
                *entry = coefficient(part, level);
            }
        }
    }

    /// Back to the columns: adds the transpose of `expand`.
    pub fn collect(&self, layout: &Layout, gradient: &mut [f64]) {
        gradient.iter_mut().zip(&self.dense).for_each(|(g, d)| *g += d);
        let mut add = |p: &Part, level: usize, x: f64| {
            if let Some(g) = p.block.column(level).and_then(|c| gradient.get_mut(p.first + c)) {
                *g += x * p.block.value;
            }
        };
        for (table, joint) in self.joints.iter().zip(&layout.joints) {
            for (level, x) in table.iter().take(joint.levels).enumerate() {
                joint.parts.iter().for_each(|p| add(p, level / p.stride % p.block.levels, *x));
            }
        }
        for (table, part) in self.wide.iter().zip(&layout.wide) {
            table.iter().enumerate().for_each(|(level, x)| add(part, level, *x));
        }
    }

    fn clear(&mut self) {
        self.dense.fill(0.0);
        self.joints.as_flattened_mut().fill(0.0);
        self.wide.iter_mut().for_each(|t| t.fill(0.0));
    }

    pub fn add(&mut self, other: &Tables) {
        fn sum(a: &mut [f64], b: &[f64]) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        }
        sum(&mut self.dense, &other.dense);
        sum(self.joints.as_flattened_mut(), other.joints.as_flattened());
        self.wide.iter_mut().zip(&other.wide).for_each(|(a, b)| sum(a, b));
    }
}

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
            for (tile, z) in batch.clone().zip(sums.predictors.chunks_exact_mut(weights.len())) {
                let rows = Tile::of(segment, tile * LANES);
                match z {
                    [z] => residuals(rule, &rows, z, &mut loss),
                    many => softmax(&rows, many, &mut loss),
                }
            }
            for (tile, r) in batch.zip(sums.predictors.chunks_exact(weights.len())) {
                let rows = Tile::of(segment, tile * LANES);
                for (r, g) in r.iter().zip(&mut sums.gradient) {
                    rows.collect(*r, g);
                }
            }
        }
        // A segment has 32 tiles: the product of their factors is at most 2^32.
        for (sum, product) in loss.sum.iter_mut().zip(&mut loss.product) {
            *sum += rule.family.log_weight() * product.ln();
            *product = 1.0;
        }
    }
    sums.loss = total(loss.sum);
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

/// Probabilities less the indicator of the class; the norm over the classes is at most the square root of 2.
#[inline(always)]
fn softmax(rows: &Tile, predictors: &mut [Lanes], loss: &mut Loss) {
    let (mut top, mut sum, mut own) = ([f64::MIN; LANES], [0.0; LANES], [0.0; LANES]);
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
    }
    for (((lost, own), sum), lane) in loss.sum.iter_mut().zip(own).zip(sum).zip(0usize..) {
        *lost += if lane < rows.live { sum.ln() - own } else { 0.0 };
    }
}

/// Eight rows of a segment, the last of which may be missing.
struct Tile<'a> {
    segment: &'a Segment,
    start: usize,
    live: usize,
    outcome: Lanes,
}

impl<'a> Tile<'a> {
    #[inline(always)]
    fn of(segment: &'a Segment, start: usize) -> Tile<'a> {
        let live = segment.rows.saturating_sub(start).min(LANES);
        Tile { segment, start, live, outcome: lanes(&segment.outcome, start, |y| f64::from(*y)) }
    }

    /// The eight rows of numeric columns; a missing row is empty.
    #[inline(always)]
    fn dense(&self, width: usize) -> [&'a [f32]; LANES] {
        let mut rows: [&[f32]; LANES] = [&[]; LANES];
        let from = self.segment.dense.get(self.start * width..).unwrap_or(&[]);
        rows.iter_mut().zip(from.chunks_exact(width)).for_each(|(r, f)| *r = f);
        rows
    }

    /// The joint levels of the eight rows, row by row.
    #[inline(always)]
    fn joints(&self, width: usize) -> &'a [u8] {
        let levels = &self.segment.joints;
        levels.get(self.start * width..levels.len().min((self.start + LANES) * width)).unwrap_or(&[])
    }

    #[inline(always)]
    fn scale(&self) -> Option<Lanes> {
        let scale = &self.segment.scale;
        if scale.is_empty() { None } else { Some(lanes(scale, self.start, |s| f64::from(*s))) }
    }

    #[inline(always)]
    fn predict(&self, w: &Tables) -> Lanes {
        let mut z = [0.0; LANES];
        // Row by row: gathering eight entries by one instruction is slower than loading them.
        let levels = self.joints(w.joints.len());
        match w.joints.len() {
            0 => {}
            1 => look_up::<1>(&mut z, levels, &w.joints),
            2 => look_up::<2>(&mut z, levels, &w.joints),
            3 => look_up::<3>(&mut z, levels, &w.joints),
            4 => look_up::<4>(&mut z, levels, &w.joints),
            5 => look_up::<5>(&mut z, levels, &w.joints),
            6 => look_up::<6>(&mut z, levels, &w.joints),
            7 => look_up::<7>(&mut z, levels, &w.joints),
            many => {
                for (z, levels) in z.iter_mut().zip(levels.chunks_exact(many)) {
                    for (table, level) in w.joints.iter().zip(levels) {
                        *z += entry(table, *level);
                    }
                }
            }
        }
        for (table, column) in w.wide.iter().zip(self.segment.wide.chunks_exact(self.segment.height)) {
            if let Some(levels) = column.get(self.start..).and_then(|c| c.first_chunk::<LANES>()) {
                for (z, level) in z.iter_mut().zip(levels) {
                    *z += table.get(usize::from(*level)).unwrap_or(&0.0);
                }
            }
        }
        if let Some(scale) = self.scale() {
            z.iter_mut().zip(scale).for_each(|(z, s)| *z *= s);
        }
        if !w.dense.is_empty() {
            for (z, row) in z.iter_mut().zip(self.dense(w.dense.len())) {
                *z += product(row, &w.dense);
            }
        }
        z
    }

    /// Adds the residuals times the rows.
    #[inline(always)]
    fn collect(&self, mut r: Lanes, g: &mut Tables) {
        if !g.dense.is_empty() {
            accumulate(self.dense(g.dense.len()), r, &mut g.dense);
        }
        if let Some(scale) = self.scale() {
            r.iter_mut().zip(scale).for_each(|(r, s)| *r *= s);
        }
        let levels = self.joints(g.joints.len());
        match g.joints.len() {
            0 => {}
            1 => tally::<1>(r, levels, &mut g.joints),
            2 => tally::<2>(r, levels, &mut g.joints),
            3 => tally::<3>(r, levels, &mut g.joints),
            4 => tally::<4>(r, levels, &mut g.joints),
            5 => tally::<5>(r, levels, &mut g.joints),
            6 => tally::<6>(r, levels, &mut g.joints),
            7 => tally::<7>(r, levels, &mut g.joints),
            many => {
                for (r, levels) in r.iter().zip(levels.chunks_exact(many)) {
                    for (table, level) in g.joints.iter_mut().zip(levels) {
                        add_entry(table, *level, *r);
                    }
                }
            }
        }
        for (table, column) in g.wide.iter_mut().zip(self.segment.wide.chunks_exact(self.segment.height)) {
            if let Some(levels) = column.get(self.start..).and_then(|c| c.first_chunk::<LANES>()) {
                for (r, level) in r.iter().zip(levels) {
                    if let Some(entry) = table.get_mut(usize::from(*level)) {
                        *entry += r;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn entry(table: &[f64; TABLE], level: u8) -> f64 {
    table.get(usize::from(level)).copied().unwrap_or(0.0)
}

#[inline(always)]
fn add_entry(table: &mut [f64; TABLE], level: u8, x: f64) {
    if let Some(entry) = table.get_mut(usize::from(level)) {
        *entry += x;
    }
}

/// Adds the entries of each row, for a number of tables known to the compiler.
#[inline(always)]
fn look_up<const N: usize>(z: &mut Lanes, levels: &[u8], tables: &[[f64; TABLE]]) {
    let Some(tables) = tables.first_chunk::<N>() else { return };
    for (z, levels) in z.iter_mut().zip(levels.as_chunks::<N>().0) {
        for (table, level) in tables.iter().zip(levels) {
            *z += entry(table, *level);
        }
    }
}

/// Adds each row's number to the entries of the row.
#[inline(always)]
fn tally<const N: usize>(r: Lanes, levels: &[u8], tables: &mut [[f64; TABLE]]) {
    let Some(tables) = tables.first_chunk_mut::<N>() else { return };
    for (r, levels) in r.iter().zip(levels.as_chunks::<N>().0) {
        for (table, level) in tables.iter_mut().zip(levels) {
            add_entry(table, *level, *r);
        }
    }
}

#[inline(always)]
fn lanes<T>(column: &[T], start: usize, f: impl Fn(&T) -> f64) -> Lanes {
    let mut out = [0.0; LANES];
    let from = column.get(start..).unwrap_or(&[]);
    out.iter_mut().zip(from).for_each(|(o, x)| *o = f(x));
    out
}

/// Always in this order.
#[inline(always)]
fn total([a, b, c, d, e, f, g, h]: Lanes) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The inner product of a row and the weights, in sixteen sums that are added up at the end.
#[inline(always)]
fn product(row: &[f32], w: &[f64]) -> f64 {
    const WIDTH: usize = 2 * LANES;
    let ((rows, row), (weights, w)) = (row.as_chunks::<WIDTH>(), w.as_chunks::<WIDTH>());
    let mut sums = [0.0; WIDTH];
    for (x, w) in rows.iter().zip(weights) {
        for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
            *sum = f64::from(*x).mul_add(*w, *sum);
        }
    }
    let mut halves = [0.0; LANES];
    let (low, high) = sums.split_at(LANES);
    halves.iter_mut().zip(low).zip(high).for_each(|((s, l), h)| *s = l + h);
    let mut sum = total(halves);
    for (x, w) in row.iter().zip(w) {
        sum = f64::from(*x).mul_add(*w, sum);
    }
    sum
}

/// Adds the eight rows, each times its residual.
#[inline(always)]
fn accumulate(rows: [&[f32]; LANES], r: Lanes, g: &mut [f64]) {
    let [a, b, c, d, e, f, h, i] = rows;
    let [ra, rb, rc, rd, re, rf, rh, ri] = r;
    if i.len() == g.len() {
        // One plain loop over the columns: compilers turn it into vector instructions.
        for ((((((((g, a), b), c), d), e), f), h), i) in g.iter_mut().zip(a).zip(b).zip(c).zip(d).zip(e).zip(f).zip(h).zip(i) {
            let term = |x: &f32, r: f64, sum: f64| f64::from(*x).mul_add(r, sum);
            let low = term(a, ra, term(b, rb, term(c, rc, f64::from(*d) * rd)));
            let high = term(e, re, term(f, rf, term(h, rh, f64::from(*i) * ri)));
            *g += low + high;
        }
    } else {
        for (row, r) in rows.iter().zip(r) {
            for (g, x) in g.iter_mut().zip(*row) {
                *g = f64::from(*x).mul_add(r, *g);
            }
        }
    }
}
