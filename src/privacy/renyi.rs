//! Rényi divergence of concrete pairs: Gamma shapes, Beta, Dirichlet, and Gamma rates (rule book §0.1, §1–3).

use crate::numeric::Interval;
use crate::numeric::gamma_divergence::{divergence, limit_order, rate_divergence};
use crate::privacy::Pair;

impl Pair {
    /// At least the divergence of `P` from `Q`; infinite at and beyond the limit order, by an exact test.
    pub fn rdp(&self, order: f64) -> f64 {
        match self {
            Pair::Rate { shape, rate, step } => rate_divergence(*shape, *rate, *step, order).hi,
            Pair::Shapes {
                coordinates, total, ..
            } => shapes(coordinates, *total, order),
        }
    }

    /// At most the order from which on the divergence is infinite.
    pub fn max_order(&self) -> f64 {
        match self {
            Pair::Rate { rate, step, .. } => one_limit(*rate, *step),
            Pair::Shapes { coordinates, .. } => coordinates
                .iter()
                .map(|&(a, step)| one_limit(a, step))
                .fold(f64::INFINITY, f64::min),
        }
    }
}

/// Orders below this are finite at one moving parameter; 1 where `Q` or `P` is no distribution.
fn one_limit(a: f64, step: f64) -> f64 {
    if a > 0.0 && a.is_finite() && step > -a {
        limit_order(a, step)
    } else {
        1.0
    }
}

/// The divergences of the coordinates add; a total that moves subtracts its own, which is never negative. A total out of
/// range is left out, which only enlarges the result.
fn shapes(coordinates: &[(f64, f64)], total: Option<(f64, f64)>, order: f64) -> f64 {
    let mut sum = Interval::ZERO;
    for &(a, step) in coordinates {
        let part = divergence(a, step, order);
        if part.hi.is_infinite() {
            return f64::INFINITY;
        }
        sum = sum + part;
    }
    if let Some((a, step)) = total {
        let part = divergence(a, step, order);
        if part.hi.is_finite() {
            sum = sum - part;
        }
    }
    sum.hi.max(0.0)
}
