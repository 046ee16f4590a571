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
    (point(epsilon) + point(2.0) * point(-delta).ln_1p()).hi.max(0.0).min(epsilon)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: f64, expected: f64) {
        let excess = found / expected - 1.0;
        assert!((-3e-16..1e-11).contains(&excess), "{found} against {expected}");
    }

    /// mpmath with 60 digits.
    #[test]
    fn curve() {
        check(rdp(0.5, 1.5), 0.1559778784857395);
        check(rdp(0.5, 2.0), 0.20030389617361596);
        check(rdp(0.5, 30.0), 0.47667792888815813);
        check(rdp(2.0, 1.1), 1.2120188827857639);
        check(rdp(2.0, 8.0), 1.9101987629396726);
        check(rdp(8.0, 2.0), 7.594534891910711);
        check(rdp(8.0, 3.0), 7.744587188117005);
        check(rdp(1e-06, 2.0), 9.999996666664166e-13);
        check(rdp(1e-06, 100000.0), 4.9916872445109086e-08);
        check(rdp(1e-06, 100000000.0), 9.930685281750858e-07);
        check(rdp(1e-09, 1.000001), 5.000004998333332e-19);
        check(rdp(0.3, 1.000001), 0.040818260966745665);
        check(rdp(5.0, 1.000001), 4.006739372857046);
        check(rdp(60.0, 1.000001), 59.000001499997666);
        check(rdp(800.0, 1.5), 799.4246358550964);
        check(rdp(800.0, 1000000.0), 799.9999993068526);
        check(rdp(0.01, 37.0), 0.0018044913366162326);
    }

    #[test]
    fn trade_off() {
        check(zcdp(1.0), 0.36787944117144233);
        assert_eq!(delta(1.0, 1.0), 0.0);
        let e = epsilon(1.0, 0.1);
        assert!(delta(1.0, e) <= 0.1 * (1.0 + 1e-14) && e < 1.0);
    }
}
