//! Gaussian differential privacy: the exact curve of two unit normals at distance mu, rounded up.

use crate::numeric::{Interval, search};

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// `mu^2/2`, the zCDP of a mu-GDP release.
pub fn zcdp(mu: f64) -> f64 {
    (point(mu).square() / point(2.0)).hi
}

/// `delta(e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)`.
pub fn delta(mu: f64, e: f64) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    if !mu.is_finite() || e.is_nan() {
        return 1.0;
    }
    let half = point(mu) / point(2.0);
    let ratio = point(e) / point(mu);
    let kept = (half - ratio).normal_cdf();
    // In logarithms: exp(e) may overflow where the other factor underflows.
    let spread = (point(e) + (-half - ratio).ln_normal_cdf()).exp();
    (kept - spread).hi.clamp(0.0, 1.0)
}

/// The least `e` found with `delta(e) <= delta`, by bisection; infinite if `delta` is not positive.
pub fn epsilon(mu: f64, delta_allowed: f64) -> f64 {
    let holds = |e: f64| delta(mu, e) <= delta_allowed;
    if mu == 0.0 || holds(0.0) {
        return 0.0;
    }
    if !mu.is_finite() || delta_allowed.is_nan() || delta_allowed <= 0.0 {
        return f64::INFINITY;
    }
    // The tail bound exp(-z^2/2) of the privacy loss N(mu^2/2, mu^2) gives a start; doubled until verified.
    let mut top = mu * mu / 2.0 + mu * (-2.0 * delta_allowed.min(0.5).ln()).sqrt();
    for _ in 0..64 {
        if holds(top) {
            return search::least(0.0, top, holds).unwrap_or(f64::INFINITY);
        }
        top *= 2.0;
    }
    f64::INFINITY
}
