//! Projections onto boxes and norm balls: total maps of doubles.

use super::lanes;
use crate::model::Range;

/// The point of a range nearest to zero.
pub fn nearest_zero(range: Range) -> f64 {
    0.0_f64.max(range.lo).min(range.hi)
}

/// Any double into a range: NaN to the point nearest zero, infinities to the end, or to 0 where there is none.
pub fn into_range(x: f64, range: Range) -> f64 {
    if x.is_nan() {
        return nearest_zero(range);
    }
    let y = x.max(range.lo).min(range.hi);
    // Adding zero turns -0 into 0.
    if y.is_finite() { y + 0.0 } else { nearest_zero(range) }
}

/// The rows, given as runs of components, that may lie outside the balls of these radii: all others lie inside, whatever rounding does.
pub fn suspects(runs: &[f64], rows: usize, (c1, c2): (f64, f64)) -> Vec<usize> {
    let (mut magnitudes, mut squares) = (vec![0.0; rows], vec![0.0; rows]);
    runs.chunks(rows.max(1)).for_each(|run| lanes::add_norms(run, &mut magnitudes, &mut squares));
    // Sums of fewer than 2^20 components are off by less than 1e-9; squares of the smallest numbers are 0.
    let near = 1.0 - 1e-9;
    let inside = |(l1, squares): (&f64, &f64)| *l1 <= c1 * near && *squares <= c2 * c2 * near && c2 > 1e-140;
    let all: Vec<bool> = magnitudes.iter().zip(&squares).map(inside).collect();
    all.iter().enumerate().filter(|(_, inside)| !**inside).map(|(row, _)| row).collect()
}

/// Does every vector whose components are at most these in magnitude lie in the balls of these radii? Both norms, as they are computed
/// here, never fall where a component grows, but for squares that are 0.
pub fn lies_within(corner: &[f64], (c1, c2): (f64, f64)) -> bool {
    l1(corner) <= c1 && l2(corner) <= c2 && c2 > 1e-140
}

fn l2(x: &[f64]) -> f64 {
    let squares: f64 = x.iter().map(|v| v * v).sum();
    if squares > 1e-290 && squares < 1e290 {
        return libm::sqrt(squares);
    }
    let largest = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let sum: f64 = x.iter().map(|v| (v / largest) * (v / largest)).sum();
    largest * libm::sqrt(sum)
}

fn l1(x: &[f64]) -> f64 {
    x.iter().map(|v| v.abs()).sum()
}

/// The nearest point of the L2 ball of radius `c` at 0.
pub fn onto_l2(x: &mut [f64], c: f64) {
    let norm = l2(x);
    if norm > c {
        let scale = c / norm;
        x.iter_mut().for_each(|v| *v *= scale);
        // What rounding left outside is pulled in by units in the last place.
        for _ in 0..8 {
            if l2(x) <= c {
                break;
            }
            x.iter_mut().for_each(|v| *v *= 1.0 - f64::EPSILON);
        }
    }
}

/// The nearest point of the L1 ball of radius `c` at 0: every magnitude less one common amount, not below 0.
pub fn onto_l1(x: &mut [f64], c: f64) {
    if l1(x) <= c {
        return;
    }
    let mut sizes: Vec<f64> = x.iter().map(|v| v.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let mut cut = 0.0;
    for (k, size) in sizes.iter().enumerate() {
        sum += size;
        let candidate = (sum - c) / (k as f64 + 1.0);
        if *size > candidate {
            cut = candidate;
        }
    }
    for v in x.iter_mut() {
        *v = v.signum() * (v.abs() - cut).max(0.0);
    }
    for _ in 0..8 {
        if l1(x) <= c {
            break;
        }
        x.iter_mut().for_each(|v| *v *= 1.0 - f64::EPSILON);
    }
}

/// The nearest point of the box `[-c, c]^d`.
pub fn onto_linf(x: &mut [f64], c: f64) {
    x.iter_mut().for_each(|v| *v = v.max(-c).min(c));
}
