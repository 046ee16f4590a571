//! Gaussian differential privacy: the exact curve of two unit normals at distance mu, rounded up.

use crate::numeric::round::mul_up;
use crate::numeric::{Interval, search};
use crate::privacy::work;

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// `mu^2/2`, the zCDP of a mu-GDP release.
pub fn zcdp(mu: f64) -> f64 {
    mul_up(mu, mu) / 2.0
}

/// `delta(e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)`.
pub fn delta(mu: f64, e: f64) -> f64 {
    work::count(1);
    height(mu, e)
}

fn height(mu: f64, e: f64) -> f64 {
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
    // Some sixty heights take as long as so many points of other curves.
    work::count(8);
    let holds = |e: f64| height(mu, e) <= delta_allowed;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: f64, expected: f64) {
        let excess = found / expected - 1.0;
        assert!((-3e-15..1e-9).contains(&excess), "{found} against {expected}");
    }

    /// Golden: gaussian_mechanism.
    #[test]
    fn exact_curve() {
        check(zcdp(0.5), 0.125);
        check(delta(0.5, 0.5), 0.05244032328766966);
        check(delta(1.25, 2.0), 0.06842226408114102);
        check(delta(0.075, 0.1), 0.0033410193348651263);
        check(epsilon(0.5, 1e-5), 1.9930914044151196);
        check(epsilon(1.25, 1e-6), 6.312060185801326);
        check(epsilon(0.075, 1e-5), 0.24902351479167137);
    }

    #[test]
    fn extremes() {
        assert_eq!(epsilon(0.0, 1e-6), 0.0);
        assert_eq!(epsilon(1.0, 0.9), 0.0);
        assert!(epsilon(1.0, 0.0).is_infinite() && epsilon(f64::INFINITY, 0.1).is_infinite());
        let far = epsilon(40.0, 1e-9);
        assert!(far > 800.0 && far < 1100.0, "{far}");
        assert!(delta(1e-4, 1.0) < 1e-300);
    }
}
