//! Continuous Laplace noise: its curves (rule book §8.7), every number rounded up.

use crate::numeric::Interval;

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// `epsilon + exp(-epsilon) - 1`: the divergence of order 1, where `D/order` is largest.
pub fn zcdp(epsilon: f64) -> f64 {
    point(-epsilon).exp_m1_excess().hi
}

/// `ln[ l/(2l-1) exp((l-1) e) + (l-1)/(2l-1) exp(-l e) ]/(l-1)`, `l` the order.
pub fn rdp(epsilon: f64, order: f64) -> f64 {
    let (l, e) = (point(order), point(epsilon));
    let m = l - Interval::ONE;
    if e.hi.is_infinite() || m.hi.is_infinite() || m.lo <= 0.0 {
        return epsilon;
    }
    let both = l + m;
    let curve = if (l * e).hi <= 0.5 {
        // The linear parts of the two exponentials cancel; what is left is positive.
        let excess = (l * (m * e).exp_m1_excess() + m * (-(l * e)).exp_m1_excess()) / both;
        excess.ln_1p() / m
    } else {
        let gone = -(-(both * e)).exp_m1();
        e + (-(m * gone / both)).ln_1p() / m
    };
    curve.hi.max(0.0).min(epsilon)
}

/// `delta(e) = 1 - exp((e - epsilon)/2)` for `0 <= e <= epsilon`.
pub fn delta(epsilon: f64, e: f64) -> f64 {
    if e >= epsilon {
        return 0.0;
    }
    let half = (point(e) - point(epsilon)) / point(2.0);
    (-half.exp_m1()).hi.clamp(0.0, 1.0)
}

/// The least `e` with `delta(e) <= delta`: `epsilon + 2 ln(1 - delta)`.
pub fn epsilon(epsilon: f64, delta: f64) -> f64 {
    if epsilon.is_infinite() {
        return epsilon;
    }
    (point(epsilon) + point(2.0) * point(-delta).ln_1p())
        .hi
        .max(0.0)
        .min(epsilon)
}
