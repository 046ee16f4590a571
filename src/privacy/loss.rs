//! Privacy losses on a grid: an upper bound on the hockey-stick curve of adaptively composed releases (rule book §8.8).
//!
//! Weights `p_i >= 0` at the losses `i 2^step` and `p_inf` stand for the curve
//! `h(e) = p_inf + sum_i p_i (1 - exp(e - i 2^step))_+`. They need not add up to one: a bound stays a bound when a weight
//! grows or moves to a larger loss, so every rounding below goes that way.

use crate::numeric::Interval;
use crate::numeric::round::{add_up, div_down, mul_up};
use crate::privacy::sums::{convolved, raised, total};
use std::rc::Rc;

/// Positive grid points of one release: of few, and of one of so many or more, whose losses the grid of all makes coarser anyway.
const POINTS: [(usize, i32); 3] = [(0, 512), (MANY, 256), (4 * MANY, 128)];
/// So many curves are many.
pub const MANY: usize = 17;
/// Most grid points kept; beyond them the grid is made coarser.
const MOST: usize = 2560;
/// The same where the loss of one release is far smaller than the largest it can be. Points at the distance t from where the loss mostly
/// is, all but a part [`OUTER`] of it at either end, may then lie `t / APART` apart.
const FINE: i32 = 4096;
const MOST_FINE: usize = 6144;
const OUTER: f64 = 1e-3;
const APART: i64 = 64;
/// Ranges searched for the loss of one release: `2^LOW..=2^HIGH`.
const LOW: i32 = -40;
const HIGH: i32 = 14;
/// The widest grid; what needs a wider one is lost for certain.
const WIDEST: i32 = 8;

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// `2^exponent`, exact for the exponents used here.
fn power(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

#[derive(Clone, PartialEq, Debug)]
pub struct Losses {
    /// The grid is `i 2^step`.
    step: i32,
    /// `i` of the first weight.
    least: i64,
    weights: Vec<f64>,
    infinite: f64,
    /// Most grid points kept.
    most: usize,
}

/// `h` at the grid points, from below: `(h(e_i), sum over j >= i of p_j exp(e_i - e_j))`.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    step: i32,
    least: i64,
    rows: Vec<(f64, f64)>,
    infinite: f64,
}

/// A hockey-stick curve, or what lies above it.
pub trait Heights {
    fn delta(&mut self, epsilon: f64) -> f64;

    /// Is the curve at most this? A curve that is hardly below may be taken for one above.
    fn at_most(&mut self, epsilon: f64, bound: f64) -> bool {
        self.delta(epsilon) <= bound
    }

    /// At `0, width, .., count width`, or up to the first that is at most `tail`.
    fn heights(&mut self, width: f64, count: u32, tail: f64) -> Rc<[f64]> {
        let mut heights = Vec::new();
        for i in 0..=count {
            heights.push(self.delta(f64::from(i) * width));
            if heights.last().is_some_and(|d| *d <= tail) {
                break;
            }
        }
        heights.into()
    }
}

impl<F: FnMut(f64) -> f64> Heights for F {
    fn delta(&mut self, epsilon: f64) -> f64 {
        self(epsilon)
    }
}

/// The least power of two at which a curve is at most `tail`: any is sound, so the search may take it for falling.
fn reach(tail: f64, curve: &mut impl Heights) -> Option<i32> {
    let (mut no, mut yes) = (LOW - 1, HIGH + 1);
    while yes - no > 1 {
        let middle = i32::midpoint(no, yes);
        if curve.at_most(power(middle), tail) { yes = middle } else { no = middle }
    }
    (yes <= HIGH).then_some(yes)
}

impl Losses {
    /// As `of_curve`, on a fine grid, which stays fine.
    pub fn fine(tail: f64, mut curve: impl Heights) -> Option<Losses> {
        let range = reach(tail, &mut curve)?;
        let step = range - FINE.ilog2() as i32;
        let width = power(step);
        let (mut heights, mut i) = (Vec::new(), 0);
        while i <= FINE {
            let d = curve.delta(f64::from(i) * width);
            if d.is_nan() {
                return None;
            }
            heights.push((i, d.clamp(0.0, 1.0)));
            if d <= tail {
                break;
            }
            i += apart(i64::from(i)) as i32;
        }
        Some(Losses { most: MOST_FINE, ..polygon(step, &hull(&heights, width)) })
    }

    /// The weights of a curve at `e >= 0`, one of `among`: at least the largest hockey-stick divergence over ordered pairs of
    /// neighbours. `None` if it does not fall to `tail`.
    ///
    /// The true curve is convex in `exp(e)`, so the polygon through upper bounds at any grid points lies above it; by the
    /// symmetry `h(-e) = 1 - exp(-e) + exp(-e) h(e)` the points `e >= 0` say everything.
    pub fn of_curve(tail: f64, among: usize, mut curve: impl Heights) -> Option<Losses> {
        let range = reach(tail, &mut curve)?;
        let points = POINTS.iter().rev().find(|(least, _)| among >= *least).map_or(512, |(_, points)| *points);
        let step = range - points.ilog2() as i32;
        let width = power(step);
        let mut heights = Vec::new();
        for (i, d) in (0..).zip(curve.heights(width, points as u32, tail).iter().copied()) {
            if d.is_nan() {
                return None;
            }
            heights.push((i, d.clamp(0.0, 1.0)));
            if d <= tail {
                break;
            }
        }
        Some(polygon(step, &hull(&heights, width)))
    }

    /// Nothing is lost.
    fn none(step: i32, most: usize) -> Losses {
        Losses { step, least: 0, weights: vec![1.0], infinite: 0.0, most }
    }

    /// The grid is `2^step` wide.
    pub fn step(&self) -> i32 {
        self.step
    }

    /// Both releases, the second chosen by the outcome of the first. At most about `tail` more is given to the infinite loss.
    pub fn then(&self, other: &Losses, tail: f64) -> Losses {
        let (mut a, mut b) = (self.clone(), other.clone());
        while a.step < b.step {
            a = a.coarser();
        }
        while b.step < a.step {
            b = b.coarser();
        }
        let most = a.most.min(b.most);
        if most > MOST {
            (a, b) = (a.thinned(), b.thinned());
        }
        // 1 - (1 - x)(1 - y), where the finite weights may add up to more than one.
        let (mass_a, mass_b) = (total(&a.weights), total(&b.weights));
        let finite = add_up(mul_up(a.infinite, mass_b), mul_up(b.infinite, mass_a));
        let infinite = add_up(finite, mul_up(a.infinite, b.infinite));
        let least = a.least.saturating_add(b.least);
        let mut both = Losses { step: a.step, least, weights: convolved(&a.weights, &b.weights), infinite, most };
        both.trim(tail);
        while both.weights.len() > most {
            both = both.coarser();
        }
        both
    }

    /// This release `count` times over, by repeated squaring; `None` once more than `worst` is lost for certain.
    pub fn times(&self, count: u64, tail: f64, worst: f64) -> Option<Losses> {
        let mut all = Losses::none(self.step, self.most);
        let (mut square, mut left, mut copies) = (self.clone(), count, 1.0);
        // At most 128 products; what each may cut off counts once for every copy of it in the whole.
        let share = |copies: f64| tail * (copies / count as f64) / 128.0;
        while left > 0 {
            if left % 2 == 1 {
                all = all.then(&square, share(copies));
            }
            left /= 2;
            if left > 0 {
                copies *= 2.0;
                square = square.then(&square, share(copies));
            }
            if square.infinite.max(all.infinite) > worst {
                return None;
            }
        }
        Some(all)
    }

    /// Up to `tail` of the weight at the top goes to the infinite loss, as much at the bottom to the lowest loss kept.
    fn trim(&mut self, tail: f64) {
        let mut cut = 0.0;
        while let [_, .., last] = self.weights.as_slice() {
            let next = add_up(cut, *last);
            if next > tail {
                break;
            }
            cut = next;
            self.weights.pop();
        }
        self.infinite = add_up(self.infinite, cut);
        let mut raised = 0.0;
        let mut gone = 0;
        for weight in self.weights.iter().take(self.weights.len().saturating_sub(1)) {
            let next = add_up(raised, *weight);
            if next > tail {
                break;
            }
            raised = next;
            gone += 1;
        }
        self.weights.drain(..gone);
        self.least = self.least.saturating_add(i64::try_from(gone).unwrap_or(i64::MAX));
        if let Some(first) = self.weights.first_mut() {
            *first = add_up(*first, raised);
        }
    }

    /// The same on the grid of twice the width: a weight between two points is split so that its mean of `exp(-loss)` stays,
    /// which raises every convex function of it.
    fn coarser(&self) -> Losses {
        if self.step >= WIDEST {
            return Losses { step: self.step.saturating_add(1), least: 0, weights: vec![0.0], infinite: 1.0, most: self.most };
        }
        let width = point(power(self.step)).exp();
        let down = (Interval::ONE / (Interval::ONE + width)).hi;
        let up = (width / (Interval::ONE + width)).hi;
        let least = self.least.div_euclid(2);
        let mut weights = vec![0.0; self.weights.len() / 2 + 2];
        let mut add = |index: i64, x: f64| {
            let place = usize::try_from(index.saturating_sub(least)).unwrap_or(0);
            if let Some(slot) = weights.get_mut(place) {
                *slot = add_up(*slot, x);
            }
        };
        for (i, p) in (self.least..).zip(&self.weights) {
            let half = i.div_euclid(2);
            if i.rem_euclid(2) == 0 {
                add(half, *p);
            } else {
                add(half, mul_up(*p, down));
                add(half.saturating_add(1), mul_up(*p, up));
            }
        }
        while weights.len() > 1 && weights.last() == Some(&0.0) {
            weights.pop();
        }
        Losses { step: self.step.saturating_add(1), least, weights, infinite: self.infinite, most: self.most }
    }

    /// The same with the outer weights on fewer points of the grid, split as in `coarser`.
    fn thinned(&self) -> Losses {
        let limit = OUTER * total(&self.weights);
        let passed = |sum: &mut f64, p: &f64| {
            *sum += p;
            (*sum <= limit).then_some(())
        };
        let low = self.weights.iter().scan(0.0, passed).count() as i64;
        let high = self.weights.len() as i64 - self.weights.iter().rev().scan(0.0, passed).count() as i64;
        let most = apart(self.weights.len() as i64);
        // Parts of a weight at 1, 2, .. of the way from one point that is kept to the next: a table for each distance.
        let gone = |steps: i64| -(-(point(steps as f64) * point(power(self.step)))).exp_m1();
        let parts = |distance: i64| -> Vec<Interval> { (0..distance).map(|i| gone(i) / gone(distance)).collect() };
        let tables: Vec<Vec<Interval>> = (0..=most.ilog2()).map(|k| parts(1 << k)).collect();
        let least = self.least.div_euclid(most) * most;
        let mut weights = vec![0.0; self.weights.len() + 2 * most as usize];
        let mut add = |index: i64, x: f64| {
            if let Some(slot) = usize::try_from(index - least).ok().and_then(|place| weights.get_mut(place)) {
                *slot = add_up(*slot, x);
            }
        };
        for (place, p) in (0..).zip(&self.weights).filter(|(_, p)| **p > 0.0) {
            let index = self.least + place;
            let distance = apart((low - place).max(place - high).max(0));
            let part = index.rem_euclid(distance);
            match tables.get(distance.ilog2() as usize).and_then(|table| table.get(part as usize)) {
                Some(up) if part > 0 => {
                    add(index - part, mul_up(*p, (Interval::ONE - *up).hi));
                    add(index - part + distance, mul_up(*p, up.hi));
                }
                _ => add(index, *p),
            }
        }
        Losses { least, weights, ..*self }
    }

    /// `h` at every grid point. From one to the next below it grows by `(1 - exp(-2^step))` times the sum of the discounted
    /// weights: nothing cancels.
    pub fn curve(&self) -> Curve {
        let fall = (-point(power(self.step))).exp();
        let (kept, gone) = (fall.hi, -(-point(power(self.step))).exp_m1().lo);
        let (mut height, mut above) = (self.infinite, 0.0);
        let mut rows: Vec<(f64, f64)> = Vec::with_capacity(self.weights.len());
        for p in self.weights.iter().rev() {
            let here = add_up(*p, above);
            rows.push((height, here));
            height = add_up(height, mul_up(gone, here));
            above = mul_up(kept, here);
        }
        rows.reverse();
        Curve { step: self.step, least: self.least, rows, infinite: self.infinite }
    }
}

impl Curve {
    fn loss(&self, row: usize) -> f64 {
        i64::try_from(row).map_or(f64::INFINITY, |row| self.least.saturating_add(row) as f64 * power(self.step))
    }

    /// At least the hockey-stick divergence at `epsilon >= 0`.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let row = (epsilon / power(self.step)).ceil() - self.least as f64;
        let row = row.clamp(0.0, self.rows.len() as f64) as usize;
        let Some((height, sum)) = self.rows.get(row) else { return self.infinite.min(1.0) };
        let gap = point(self.loss(row)) - point(epsilon);
        // A row below epsilon by rounding of the quotient would be no bound; gap < 0 then adds nothing, h is read too low.
        if gap.hi < 0.0 {
            return 1.0;
        }
        add_up(*height, mul_up(*sum, (-(-gap).exp_m1()).hi)).clamp(0.0, 1.0)
    }

    /// The least epsilon with `h(epsilon) <= delta`; infinite if there is none.
    pub fn epsilon(&self, delta: f64) -> f64 {
        if self.infinite > delta {
            return f64::INFINITY;
        }
        // Heights never rise with the loss.
        let row = self.rows.partition_point(|(height, _)| *height > delta);
        let Some((height, sum)) = self.rows.get(row) else { return f64::INFINITY };
        // h(e_row - x) = h(e_row) + (1 - exp(-x)) sum, for x up to the next point, or any x at the first.
        let share = div_down((point(delta) - point(*height)).lo.max(0.0), *sum);
        let down = if share >= 1.0 { f64::INFINITY } else { -(-point(share)).ln_1p().hi };
        let down = if row > 0 { down.min(power(self.step)) } else { down };
        (point(self.loss(row)) - point(down.clamp(0.0, f64::MAX))).hi.max(0.0)
    }
}

/// How far apart points may be at this distance: a power of two.
fn apart(distance: i64) -> i64 {
    1 << (distance / APART).max(1).ilog2()
}

/// Corners at `i >= 0` of the lower convex hull of `(exp(i width), d_i)` and their mirror images, the last included. Any choice of
/// corners gives a bound, so the choice may be rounded.
fn hull(heights: &[(i32, f64)], width: f64) -> Vec<(i32, f64)> {
    let mut kept: Vec<(i32, f64)> = Vec::new();
    let mirrored = heights.iter().rev().filter(|(i, _)| *i > 0).map(|&(i, d)| (-i, mirrored(i, d, point(width)).hi));
    for (i, d) in mirrored.chain(heights.iter().copied()) {
        while let [.., (h, a), (j, b)] = kept.as_slice() {
            // The corner stays if the polygon is steeper before it than behind it.
            let before = (a - b) / -libm::expm1(f64::from(h - j) * width);
            let behind = (b - d) / libm::expm1(f64::from(i - j) * width);
            if before > behind {
                break;
            }
            kept.pop();
        }
        kept.push((i, d));
    }
    kept.retain(|(i, _)| *i >= 0);
    kept
}

/// The curve at `-i width`.
fn mirrored(i: i32, d: f64, width: Interval) -> Interval {
    let t = (-(point(f64::from(i)) * width)).exp();
    Interval::ONE - t + t * point(d)
}

/// The weights of the polygon through the corners, continued to negative losses by symmetry and by a constant above.
fn polygon(step: i32, corners: &[(i32, f64)]) -> Losses {
    let width = point(power(step));
    let last = corners.last().map_or(0, |(i, _)| *i);
    let side = usize::try_from(last).unwrap_or(0);
    let mut weights = vec![0.0; 2 * side + 1];
    let mut put = |i: i32, x: f64| {
        if let Some(slot) = usize::try_from(last + i).ok().and_then(|place| weights.get_mut(place)) {
            *slot = raised(x);
        }
    };
    // The slope at a corner, times exp of its own loss: from the left, and from the right.
    let fall = |i: i32, a: f64, j: i32, b: f64| (point(a) - point(b)) / -(point(f64::from(i - j)) * width).exp_m1();
    let rise = |j: i32, b: f64, k: i32, c: f64| (point(b) - point(c)) / (point(f64::from(k - j)) * width).exp_m1();
    for (place, &(j, b)) in corners.iter().enumerate() {
        // Where 0 is not a corner, the first one has its own image before it.
        let image = (j > 0).then(|| (-j, mirrored(j, b, width).hi));
        let before = place.checked_sub(1).and_then(|p| corners.get(p).copied()).or(image);
        let behind = corners.get(place + 1).map_or(Interval::ZERO, |&(k, c)| rise(j, b, k, c));
        match before {
            Some((i, a)) => {
                let weight = (fall(i, a, j, b) - behind).hi.max(0.0);
                put(j, weight);
                put(-j, mul_up(weight, (-(point(f64::from(j)) * width)).exp().hi));
            }
            None => put(0, (Interval::ONE - point(b) - point(2.0) * behind).hi.max(0.0)),
        }
    }
    Losses { step, least: -i64::from(last), weights, infinite: corners.last().map_or(1.0, |(_, d)| *d), most: MOST }
}
