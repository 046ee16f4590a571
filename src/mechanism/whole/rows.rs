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
        let mut sums = columns.sum(Vec::new, |sums, row| add(sums, &added(&seen, next, row)), |sums, more| add(sums, &more));
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
    steps(&numbers_of(seen, next, row), bound)
}

/// The grid of sums of what is at most `bound`.
pub fn exponent(bound: f64) -> i32 {
    bound.log2().floor() as i32 - DIGITS
}

fn add<T: Copy + Into<i128>>(sums: &mut Vec<i128>, row: &[T]) {
    sums.resize(row.len().max(sums.len()), 0);
    sums.iter_mut().zip(row).for_each(|(s, x)| *s += (*x).into());
}

/// What a row (features, the outcome, what is added to the predictor) adds, each number with how many times it counts in the norm; any doubles will do.
fn numbers_of(seen: &State, next: Next, row: &[f64]) -> Vec<(f64, u128)> {
    let (x, y) = row.split_at(seen.mean.len().min(row.len()));
    let (x, added) = (DVector::from_column_slice(x), y.get(1).copied().unwrap_or(0.0));
    let y = y.first().copied().unwrap_or(f64::NAN);
    if x.len() != seen.mean.len() {
        return vec![];
    }
    let u = seen.factor.tr_mul(&x);
    let length = u.norm();
    if length.is_nan() || length > LONGEST {
        return vec![];
    }
    let at = seen.mean.dot(&x) + u.dot(&seen.z) + added;
    let share = |cut: f64| (cut / length.max(cut)).powi(2) * INSIDE;
    match next {
        Next::Level { logs: (low, high), bound, .. } => {
            let share = (y + added - low) / (high - low) - 0.5;
            vec![(share.clamp(-bound, bound) * INSIDE, 1)]
        }
        Next::Products { cut, most, .. } => {
            let share = share(cut) * seen.law.information(at, most);
            let entry = |(i, a): (usize, &f64), (j, b): (usize, &f64)| (share * a * b, if i == j { 1 } else { 2 });
            u.iter().enumerate().flat_map(|a| u.iter().enumerate().skip(a.0).map(move |b| entry(a, b))).collect()
        }
        Next::Scores { cut, clip, most, .. } => {
            let score = seen.law.score((at, added), y, (clip, most)) * share(cut);
            u.iter().map(|a| (score * a, 1)).collect()
        }
    }
}

/// Numbers in whole steps of the grid of `bound`, rounded toward 0; nothing at all unless the root of the sum of their squares is
/// at most `bound`, which is decided in integers.
fn steps(numbers: &[(f64, u128)], bound: f64) -> Vec<i64> {
    let finer = Number::new(1, -exponent(bound)).to_f64();
    // Both are below 2^42, else the row is out: their squares fit.
    let most = (bound * finer) as u64;
    let mut left = Some(u128::from(most) * u128::from(most));
    let mut out = Vec::with_capacity(numbers.len());
    for (x, times) in numbers {
        let index = (x * finer) as i64;
        let square =
            if x.is_finite() && index.unsigned_abs() <= most { Some(u128::from(index.unsigned_abs()).pow(2) * times) } else { None };
        left = left.zip(square).and_then(|(left, square)| left.checked_sub(square));
        out.push(index);
    }
    if left.is_some() { out } else { vec![] }
}
