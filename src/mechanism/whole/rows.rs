//! Sums over rows in coordinates that were released: every row's numbers are whole steps of a grid, of a norm that is held in integers.

use super::super::MechanismError;
use super::super::bits::BitSource;
use super::super::grid::Number;
use super::super::plan::{Law, WholeLaw, WholeNoise};
use super::steps::{Next, State, state};
use super::{BAD, classes, noisy_moments, rounded};
use crate::data::scan::Measured;
use crate::numeric::dense::Matrix;
use multiversion::multiversion;
use nalgebra::DVector;

/// A bound is 2^40 to 2^41 steps of its grid.
const DIGITS: i32 = 40;
/// Features of rows in released coordinates are at most so long; others count as nothing.
const LONGEST: f64 = 1e100;
/// Numbers are this much smaller than their bound allows, so that no rounding of doubles takes a row out.
const INSIDE: f64 = 1.0 - 1e-12;
/// Binary digits of half a number of steps.
const HALF: u32 = 21;

/// Noisy products and sums, then what the steps ask for, one after the other.
pub(super) fn release<B: BitSource>(law: &WholeLaw, measured: &Measured, rows: u64, bits: &mut B) -> Result<Vec<Number>, MechanismError> {
    let WholeNoise::Steps { products, scores, .. } = law.noise else { return Err(BAD) };
    let (Some(totals), Some(columns)) = (measured.totals.first(), &measured.columns) else { return Err(BAD) };
    let mut left = noisy_moments(totals, WholeNoise::Scores { products, scores }, bits)?;
    loop {
        let numbers: Vec<f64> = left.iter().map(|n| n.to_f64()).collect();
        let Some(seen) = state(law, rows as f64, &numbers) else { return Ok(left) };
        let Some(next) = seen.next else { return Ok(left) };
        let (Next::Level { bound, sd, .. } | Next::Products { bound, sd, .. } | Next::Scores { bound, sd, .. }) = next;
        let exponent = exponent(bound);
        let across = seen.factor.transpose();
        let one = |sums: &mut Sums, row: &[f64]| {
            write((&seen, &across), next, row, &mut sums.row);
            sums.add();
        };
        let mut sums = Sums::of(bound);
        sums.join(columns.sum(|| Sums::of(bound), one, Sums::join));
        let whole = whole(next, seen.mean.len());
        // Without rows there is noise alone.
        sums.all.resize(whole.len(), 0);
        for (sum, whole) in sums.all.into_iter().zip(whole) {
            left.push(Number::new(rounded(sum, (sd, whole), exponent, bits)?, exponent));
        }
    }
}

/// Does an entry get the whole variance of its noise, or half of it?
fn whole(next: Next, d: usize) -> Vec<bool> {
    match next {
        Next::Products { .. } => (0..d).flat_map(|i| (i..d).map(move |j| i == j)).collect(),
        Next::Scores { .. } => vec![true; d],
        Next::Level { .. } => vec![true],
    }
}

/// What a row, its features, its outcome and what its predictor has beside them, adds to the sums that leave next: whole steps of `2^exponent(bound)`.
pub fn added(seen: &State, next: Next, row: &[f64]) -> Vec<i64> {
    let (Next::Level { bound, .. } | Next::Products { bound, .. } | Next::Scores { bound, .. }) = next;
    let mut steps = Steps::of(bound);
    write((seen, &seen.factor.transpose()), next, row, &mut steps);
    steps.held().to_vec()
}

/// The grid of sums of what is at most `bound`.
pub fn exponent(bound: f64) -> i32 {
    bound.log2().floor() as i32 - DIGITS
}

/// What rows add, and those that were joined to it.
struct Sums {
    row: Steps,
    /// Of the rows of one block, of at most 2^41 steps each: far from 2^63.
    block: Vec<i64>,
    all: Vec<i128>,
}

impl Sums {
    fn of(bound: f64) -> Sums {
        Sums { row: Steps::of(bound), block: vec![], all: vec![] }
    }

    fn add(&mut self) {
        let row = self.row.held();
        self.block.resize(row.len().max(self.block.len()), 0);
        self.block.iter_mut().zip(row).for_each(|(s, x)| *s += x);
    }

    fn join(&mut self, more: Sums) {
        self.all.resize(self.all.len().max(more.all.len()).max(more.block.len()), 0);
        self.all.iter_mut().zip(more.all).for_each(|(s, x)| *s += x);
        self.all.iter_mut().zip(more.block).for_each(|(s, x)| *s += i128::from(x));
    }
}

/// Writes what a row (features, the outcome, what is added to the predictor) adds; any doubles will do.
/// `across` is the transpose of the state's factor.
fn write((seen, across): (&State, &Matrix), next: Next, row: &[f64], steps: &mut Steps) {
    steps.clear();
    let (x, y) = row.split_at((seen.mean.len() / seen.law.predictors()).min(row.len()));
    if let Law::Classes { .. } = seen.law {
        return write_classes((seen, across), next, (x, y), steps);
    }
    let (x, added) = (DVector::from_column_slice(x), y.get(1).copied().unwrap_or(0.0));
    let y = y.first().copied().unwrap_or(f64::NAN);
    if x.len() != seen.mean.len() {
        return;
    }
    // Features that are 0, as most are in a design of categories, cost nothing.
    let mut u = DVector::zeros(x.len());
    for (x, part) in x.iter().zip(across.column_iter()).filter(|(x, _)| **x != 0.0) {
        u.axpy(*x, &part, 1.0);
    }
    let length = u.norm();
    if length.is_nan() || length > LONGEST {
        return;
    }
    let at = seen.mean.dot(&x) + u.dot(&seen.z) + added;
    let share = |cut: f64| (cut / length.max(cut)).powi(2) * INSIDE;
    match next {
        Next::Level { logs: (low, high), bound, .. } => {
            let share = (y + added - low) / (high - low) - 0.5;
            steps.push(INSIDE, &[share.clamp(-bound, bound)], 1);
        }
        Next::Products { cut, most, .. } => {
            let share = share(cut) * seen.law.information(at, most);
            let mut left = u.as_slice();
            while let Some((a, more)) = left.split_first() {
                steps.push(share * a, &[*a], 1);
                steps.push(share * a, more, 2);
                left = more;
            }
        }
        Next::Scores { cut, clip, most, bound, .. } => {
            let score = seen.law.score((at, added), y, (clip, most)) * share(cut);
            let away = u * score - &seen.centre;
            let share = (bound / away.norm().max(bound)) * INSIDE;
            steps.push(share, away.as_slice(), 1);
        }
    }
}

/// The same of a row of several classes.
fn write_classes(seen: (&State, &Matrix), next: Next, (x, outcome): (&[f64], &[f64]), steps: &mut Steps) {
    if outcome.len() != seen.0.law.predictors() || x.len() * outcome.len() != seen.0.mean.len() {
        return;
    }
    let (state, across) = seen;
    let place = state.place(across, outcome.len());
    let numbers = match (next, outcome.iter().position(|y| *y > 0.0)) {
        (Next::Products { cut, bound, .. }, _) => classes::products(place, x, (cut, bound)),
        (Next::Scores { cut, bound, .. }, Some(class)) => {
            return steps.push(1.0, &classes::score(place, (x, class), (cut, bound), &state.centre), 1);
        }
        _ => return,
    };
    let mut left = numbers.as_slice();
    for i in 0..state.mean.len() {
        let (row, more) = left.split_at((state.mean.len() - i).min(left.len()));
        let (own, beside) = row.split_at(1.min(row.len()));
        steps.push(1.0, own, 1);
        steps.push(1.0, beside, 2);
        left = more;
    }
}

/// Numbers in whole steps of the grid of a bound, rounded toward 0; nothing at all unless the root of the sum of their squares is at
/// most the bound, which is decided in integers.
struct Steps {
    finer: f64,
    most: u64,
    whole: Vec<i64>,
    squares: u128,
    unknown: bool,
}

impl Steps {
    fn of(bound: f64) -> Steps {
        let finer = Number::new(1, -exponent(bound)).to_f64();
        // Below 2^42.
        Steps { finer, most: (bound * finer) as u64, whole: vec![], squares: 0, unknown: false }
    }

    fn clear(&mut self) {
        self.whole.clear();
        (self.squares, self.unknown) = (0, false);
    }

    /// A factor times numbers, whose squares count so many times.
    fn push(&mut self, factor: f64, numbers: &[f64], times: u128) {
        let from = self.whole.len();
        self.whole.resize(from + numbers.len(), 0);
        let Some(whole) = self.whole.get_mut(from..) else { return };
        let (squares, unknown) = to_steps((factor, numbers), (self.finer, self.most), whole);
        self.squares += times * squares;
        self.unknown |= unknown;
    }

    fn held(&self) -> &[i64] {
        let most = u128::from(self.most);
        if self.unknown || self.squares > most * most { &[] } else { &self.whole }
    }
}

/// Writes the steps of a grid, rounded toward 0; the sum of their squares, and whether any has no value. One that is larger than the bound is
/// too much by itself: its square counts as that of the next step.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq", "x86_64+avx2"))]
fn to_steps((factor, numbers): (f64, &[f64]), (finer, most): (f64, u64), whole: &mut [i64]) -> (u128, bool) {
    let mut unknown = false;
    for (whole, x) in whole.iter_mut().zip(numbers) {
        let x = factor * x;
        unknown |= x.is_nan();
        *whole = (x * finer) as i64;
    }
    // Sizes are below 2^42, so each part is below 2^21 and its squares fit for as many features as there may be.
    let (mut high, mut both, mut low) = (0u64, 0u64, 0u64);
    for whole in whole.iter() {
        let size = whole.unsigned_abs().min(most + 1);
        let (h, l) = (size >> HALF, size & ((1 << HALF) - 1));
        high += h * h;
        both += h * l;
        low += l * l;
    }
    ((u128::from(high) << (2 * HALF)) + (u128::from(both) << (HALF + 1)) + u128::from(low), unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a row adds is what exact integers say, and nothing where they are beyond the bound, by however little.
    #[test]
    fn rows_beyond_the_bound_add_nothing() {
        let mut state = 9u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (mut kept, mut left_out) = (0, 0);
        for _ in 0..20_000 {
            let bound = (20.0 * next() - 10.0).exp2();
            let mut steps = Steps::of(bound);
            let wild = [bound, -bound, bound.next_up(), f64::INFINITY, f64::NAN, 1e300, -0.0, 5e-324];
            let size = 2.0 * bound * next();
            let numbers: Vec<f64> = (0..1 + (4.0 * next()) as usize)
                .map(|_| if next() < 0.1 { wild.get((8.0 * next()) as usize).copied().unwrap_or(0.0) } else { size * (next() - 0.5) })
                .collect();
            let times = if next() < 0.5 { 1 } else { 2 };
            steps.push(1.0, &numbers, times);
            let whole: Vec<i64> = numbers.iter().map(|x| (x * steps.finer) as i64).collect();
            let norm = whole.iter().fold(0u128, |sum, w| sum.saturating_add(u128::from(w.unsigned_abs()).pow(2) * times));
            let inside = norm <= u128::from(steps.most).pow(2) && numbers.iter().all(|x| !x.is_nan());
            assert_eq!(steps.held(), if inside { whole.as_slice() } else { &[] }, "{bound} {numbers:?}");
            if inside { kept += 1 } else { left_out += 1 }
        }
        assert!(kept > 1000 && left_out > 1000, "{kept} {left_out}");
    }
}
