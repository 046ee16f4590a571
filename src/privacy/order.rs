//! From a Rényi divergence at one order to (epsilon, delta), rounded up (rule book §8.2).

use crate::numeric::Interval;

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// `ln(1 - 1/order)`.
fn ln_kept(order: f64) -> Interval {
    let m = point(order) - Interval::ONE;
    if order < 2.0 { m.ln() - m.ln_1p() } else { (-(Interval::ONE / point(order))).ln_1p() }
}

/// `D + ln(1 - 1/order) - (ln delta + ln order)/(order - 1)`, not below zero (rule book §8.2).
pub fn epsilon_at(divergence: f64, order: f64, delta: f64) -> f64 {
    if !divergence.is_finite() {
        return f64::INFINITY;
    }
    let m = point(order) - Interval::ONE;
    let value = point(divergence) + ln_kept(order) - (point(delta).ln() + m.ln_1p()) / m;
    value.hi.max(0.0)
}

/// `exp((order-1)(D - epsilon))/(order-1) (1 - 1/order)^order`, not above one (rule book §8.2).
pub fn delta_at(divergence: f64, order: f64, epsilon: f64) -> f64 {
    if !divergence.is_finite() {
        return 1.0;
    }
    let m = point(order) - Interval::ONE;
    let log = m * (point(divergence) - point(epsilon) + ln_kept(order)) - m.ln_1p();
    log.exp().hi.min(1.0)
}
