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
    (point(epsilon) * growth / (growth + point(2.0))).hi.min(epsilon)
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
    (-gap.exp_m1() / (Interval::ONE + point(-epsilon).exp())).hi.clamp(0.0, 1.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: f64, expected: f64) {
        let excess = found / expected - 1.0;
        assert!((-3e-16..1e-11).contains(&excess), "{found} against {expected}");
    }

    /// Golden values and mpmath with 60 digits.
    #[test]
    fn curve() {
        check(rdp(0.5, 1.5), 0.1783694066762323);
        check(rdp(0.5, 2.0), 0.22733629380264572);
        check(rdp(0.5, 30.0), 0.4836525177868982);
        check(rdp(2.0, 1.1), 1.599081411109772);
        check(rdp(2.0, 8.0), 1.9818674269938745);
        check(rdp(8.0, 2.0), 7.999664593664855);
        check(rdp(8.0, 3.0), 7.999832296813552);
        check(rdp(1e-06, 2.0), 9.999999999995832e-13);
        check(rdp(1e-06, 100000.0), 4.991688904537021e-08);
        check(rdp(1e-06, 100000000.0), 9.930685331250845e-07);
        check(rdp(1e-09, 1.000001), 5.000005e-19);
        check(rdp(0.3, 1.000001), 0.04466555408949018);
        check(rdp(5.0, 1.000001), 4.933071823158892);
        check(rdp(60.0, 1.000001), 60.0);
        check(rdp(800.0, 1.5), 800.0);
        check(rdp(800.0, 1000000.0), 800.0);
        check(rdp(0.01, 37.0), 0.0018103176190223513);
    }

    #[test]
    fn trade_off() {
        check(zcdp(0.5), 0.12245933120185457);
        check(zcdp(3.0), 2.7154447609345995);
        check(delta(0.5, 0.2), 0.16133011701416455);
        check(delta(3.0, 1.0), 0.8236572375650502);
        let e = epsilon(3.0, 0.5);
        assert!(delta(3.0, e) <= 0.5 * (1.0 + 1e-14) && e < 3.0);
        assert_eq!(epsilon(3.0, 0.99), 0.0);
    }
}
