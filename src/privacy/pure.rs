//! Pure differential privacy: its curves (rule book §6), every number rounded up.

use crate::numeric::Interval;

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// Tight zCDP of a pure guarantee: `epsilon tanh(epsilon/2)`.
pub fn zcdp(epsilon: f64) -> f64 {
    let growth = point(epsilon).exp_m1();
    if growth.hi.is_infinite() {
        return epsilon;
    }
    // tanh(e/2) = (exp e - 1)/(exp e + 1)
    (point(epsilon) * growth / (growth + point(2.0)))
        .hi
        .min(epsilon)
}

/// Rényi divergence of randomized response, the worst pair: `ln(cosh(m e) + sinh(m e) tanh(e/2))/m`, `m = order - 1`.
pub fn rdp(epsilon: f64, order: f64) -> f64 {
    let m = point(order) - Interval::ONE;
    let e = point(epsilon);
    if e.hi.is_infinite() || m.hi.is_infinite() || m.lo <= 0.0 {
        return epsilon;
    }
    let me = m * e;
    let curve = if me.hi <= 1.0 {
        // cosh u - 1 = 2 sinh(u/2)^2; every term is positive.
        let half = (me / point(2.0)).sinh();
        let growth = e.exp_m1();
        let tanh = growth / (growth + point(2.0));
        (point(2.0) * half.square() + me.sinh() * tanh).ln_1p() / m
    } else {
        // e + ln(1 - (1 - sigma)(1 - exp(-2 m e)))/m with sigma = 1/(1 + exp(-e))
        let falling = (-e).exp();
        let other = falling / (Interval::ONE + falling);
        let gone = -(me * point(-2.0)).exp_m1();
        e + (-(other * gone)).ln_1p() / m
    };
    curve.hi.max(0.0).min(epsilon)
}

/// `delta(e) = (1 - exp(e - epsilon))/(1 + exp(-epsilon))` for `0 <= e <= epsilon`.
pub fn delta(epsilon: f64, e: f64) -> f64 {
    if e >= epsilon {
        return 0.0;
    }
    let gap = point(e) - point(epsilon);
    (-gap.exp_m1() / (Interval::ONE + point(-epsilon).exp()))
        .hi
        .clamp(0.0, 1.0)
}

/// The least `e` with `delta(e) <= delta`: `epsilon + ln(1 - delta (1 + exp(-epsilon)))`.
pub fn epsilon(epsilon: f64, delta: f64) -> f64 {
    if epsilon.is_infinite() {
        return epsilon;
    }
    let lost = point(delta) * (Interval::ONE + point(-epsilon).exp());
    if lost.lo >= 1.0 {
        return 0.0;
    }
    (point(epsilon) + (-lost).ln_1p()).hi.max(0.0).min(epsilon)
}
