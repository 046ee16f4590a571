//! Projections onto boxes and norm balls: total maps of doubles.

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

fn l2(x: &[f64]) -> f64 {
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
