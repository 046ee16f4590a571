//! Sums and products of weights on a grid, rounded up (rule book §8.8).

use crate::numeric::round::{add_up, mul_up};
use crate::privacy::work;
use multiversion::multiversion;

/// Positive weights are raised to this, so that no product of two underflows.
const FLOOR: f64 = 1e-140;
/// So many products of two weights are as much work as a point of a curve.
const PRODUCTS: usize = 4096;
/// Unit of rounding of a double.
const UNIT: f64 = f64::EPSILON / 2.0;

/// The sum, rounded up.
pub(super) fn total(weights: &[f64]) -> f64 {
    weights.iter().fold(0.0, |sum, p| add_up(sum, *p))
}

/// Every sum of products, rounded up: `m` products and sums of non-negative doubles, none below the normal range, are too
/// small by at most the factor `(1 - u)^(m + 1) >= 1/(1 + 2 (m + 2) u)`.
pub(super) fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut sums = vec![0.0; (a.len() + b.len()).saturating_sub(1)];
    let full = |list: &[f64]| -> Vec<(usize, f64)> { list.iter().copied().enumerate().filter(|(_, x)| *x > 0.0).collect() };
    let (left, right) = (full(few), full(many));
    work::count(left.len().saturating_mul(right.len()) / PRODUCTS);
    // Where a third of the points or fewer have a weight, one by one.
    if 3 * right.len() < many.len() {
        for ((i, x), (j, y)) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
            if let Some(sum) = sums.get_mut(i + j) {
                *sum += x * y;
            }
        }
    } else {
        add_products(&mut sums, &left, many);
    }
    let factor = 1.0 + 2.0 * (few.len() as f64 + 4.0) * UNIT;
    sums.iter().map(|sum| raised(mul_up(*sum, factor))).collect()
}

/// Adds `x y_j` to the sum at `i + j`, in the same order and rounding on every processor.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2"))]
fn add_products(sums: &mut [f64], left: &[(usize, f64)], many: &[f64]) {
    for (i, x) in left {
        let after = sums.get_mut(*i..).unwrap_or_default();
        for (sum, y) in after.iter_mut().zip(many) {
            *sum += x * y;
        }
    }
}

pub(super) fn raised(weight: f64) -> f64 {
    if weight > 0.0 { weight.max(FLOOR) } else { 0.0 }
}
