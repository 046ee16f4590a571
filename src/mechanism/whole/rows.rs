//! Sums over rows in coordinates that were released: every row's numbers are whole steps of a grid, of a norm that is held in integers.

use super::super::MechanismError;
use super::super::bits::BitSource;
use super::super::grid::Number;
use super::super::plan::{WholeLaw, WholeNoise};
use super::steps::{Next, State, state};
use super::{BAD, noisy_moments, rounded};
use crate::data::scan::Measured;
use nalgebra::DVector;

/// A bound is 2^40 to 2^41 steps of its grid.
const DIGITS: i32 = 40;
/// Features of rows in released coordinates are at most so long; others count as nothing.
const LONGEST: f64 = 1e100;
/// Numbers are this much smaller than their bound allows, so that no rounding of doubles takes a row out.
const INSIDE: f64 = 1.0 - 1e-12;

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
        let one = |(sums, steps): &mut (Vec<i128>, Steps), row: &[f64]| {
            write(&seen, next, row, steps);
            add(sums, steps.held());
        };
        let (mut sums, _) = columns.sum(|| (vec![], Steps::of(bound)), one, |(sums, _), (more, _)| add(sums, &more));
        let whole = whole(next, seen.mean.len());
        // Without rows there is noise alone.
        sums.resize(whole.len(), 0);
        for (sum, whole) in sums.into_iter().zip(whole) {
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
    write(seen, next, row, &mut steps);
    steps.held().to_vec()
}

/// The grid of sums of what is at most `bound`.
pub fn exponent(bound: f64) -> i32 {
    bound.log2().floor() as i32 - DIGITS
}

fn add<T: Copy + Into<i128>>(sums: &mut Vec<i128>, row: &[T]) {
    sums.resize(row.len().max(sums.len()), 0);
    sums.iter_mut().zip(row).for_each(|(s, x)| *s += (*x).into());
}

/// Writes what a row (features, the outcome, what is added to the predictor) adds; any doubles will do.
fn write(seen: &State, next: Next, row: &[f64], steps: &mut Steps) {
    steps.clear();
    let (x, y) = row.split_at(seen.mean.len().min(row.len()));
    let (x, added) = (DVector::from_column_slice(x), y.get(1).copied().unwrap_or(0.0));
    let y = y.first().copied().unwrap_or(f64::NAN);
    if x.len() != seen.mean.len() {
        return;
    }
    let u = seen.factor.tr_mul(&x);
    let length = u.norm();
    if length.is_nan() || length > LONGEST {
        return;
    }
    let at = seen.mean.dot(&x) + u.dot(&seen.z) + added;
    let share = |cut: f64| (cut / length.max(cut)).powi(2) * INSIDE;
    match next {
        Next::Level { logs: (low, high), bound, .. } => {
            let share = (y + added - low) / (high - low) - 0.5;
            steps.push([share.clamp(-bound, bound) * INSIDE], 1);
        }
        Next::Products { cut, most, .. } => {
            let share = share(cut) * seen.law.information(at, most);
            let mut left = u.as_slice();
            while let Some((a, more)) = left.split_first() {
                let a = share * a;
                steps.push([a * left.first().copied().unwrap_or(0.0)], 1);
                steps.push(more.iter().map(|b| a * b), 2);
                left = more;
            }
        }
        Next::Scores { cut, clip, most, bound, .. } => {
            let score = seen.law.score((at, added), y, (clip, most)) * share(cut);
            let away = u * score - &seen.centre;
            let share = (bound / away.norm().max(bound)) * INSIDE;
            steps.push(away.iter().map(|a| share * a), 1);
        }
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

    /// Numbers whose squares count so many times.
    fn push(&mut self, numbers: impl IntoIterator<Item = f64>, times: u128) {
        let mut squares = 0;
        for x in numbers {
            let index = (x * self.finer) as i64;
            // One that is larger than the bound is too much by itself, and no sum of squares is above 2^128.
            let size = u128::from(index.unsigned_abs().min(self.most + 1));
            squares += size * size;
            self.unknown |= x.is_nan();
            self.whole.push(index);
        }
        self.squares += times * squares;
    }

    fn held(&self) -> &[i64] {
        let most = u128::from(self.most);
        if self.unknown || self.squares > most * most { &[] } else { &self.whole }
    }
}
