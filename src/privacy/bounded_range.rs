//! Bounded range: the log ratio lies in an interval of width eta; curves of rule book §6, every number rounded up.
//!
//! With `h = eta/2`, `m = order - 1` and `S(z) = ln(sinh z / z)` the printed curve is
//! `D = S(l h) - S(m h) + [S(l h) - S(h)]/m`: for small `l h` by the power series of `S` (positive brackets), elsewhere
//! with `R(z) = S(z) - z = ln((1 - exp(-2z))/(2z))`, whose differences are logarithms of 1 plus something positive.

use crate::numeric::Interval;

/// `S(z) = sum_k (-1)^(k+1) z^(2k) / (c_k)`; coefficients `zeta(2k)/(k pi^(2k))` as `numerator / denominator`.
const SERIES: [(f64, f64); 8] = [
    (1.0, 6.0),
    (-1.0, 180.0),
    (1.0, 2835.0),
    (-1.0, 37_800.0),
    (1.0, 467_775.0),
    (-691.0, 3_831_077_250.0),
    (2.0, 127_702_575.0),
    (-3617.0, 2_605_132_530_000.0),
];
/// Largest `l h` for the series: the rest is below `2^-58` of the sum.
const SMALL: f64 = 0.25;

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// `R(z + w) - R(z) = ln_1p(exp(-2z) E(w)/E(z)) - ln_1p(w/z)`, `E(w) = 1 - exp(-2w)`; `ratio` is `w/z`.
fn difference(z: Interval, w: Interval, ratio: Interval) -> Interval {
    let lost = |u: Interval| -(u * point(-2.0)).exp_m1();
    let quotient = (z * point(-2.0)).exp() * lost(w) / lost(z);
    quotient.ln_1p() - ratio.ln_1p()
}

/// The sum over k of `s_k h^2k [l^2k - m^2k + (l^2k - 1)/m]`, with the brackets as complete homogeneous polynomials.
fn small_curve(h: Interval, l: Interval, m: Interval) -> Interval {
    let (h2, l2, m2) = (h.square(), (l * h).square(), (m * h).square());
    let first = l + m;
    let second = l + Interval::ONE;
    let (mut with_m, mut with_one) = (Interval::ONE, Interval::ONE);
    let (mut power_m, mut power_one) = (Interval::ONE, Interval::ONE);
    let mut sum = Interval::ZERO;
    for (numerator, denominator) in SERIES {
        let bracket = first * with_m + second * with_one;
        sum = sum + bracket * point(numerator) / point(denominator);
        power_m = power_m * m2;
        power_one = power_one * h2;
        with_m = with_m * l2 + power_m;
        with_one = with_one * l2 + power_one;
    }
    // |s_k| <= 1.65/(k pi^2k), bracket <= 3 l k (l h)^(2k-2): geometric rest from k = 9.
    let q = l2.hi / 9.8;
    let rest = 3.0 * l.hi * 0.17 * q.powi(8) * 1.1;
    h2 * (sum + Interval::new(-rest, rest))
}

/// Rényi divergence of the worst pair with log ratio in an interval of width `eta`.
pub fn rdp(eta: f64, order: f64) -> f64 {
    let l = point(order);
    let m = l - Interval::ONE;
    if eta == 0.0 {
        return 0.0;
    }
    if !eta.is_finite() || m.hi.is_infinite() || m.lo <= 0.0 {
        return eta;
    }
    let h = point(eta) / point(2.0);
    let curve = if (l * h).hi <= SMALL {
        small_curve(h, l, m)
    } else {
        let mh = m * h;
        point(eta) + difference(mh, h, Interval::ONE / m) + difference(h, mh, m) / m
    };
    curve.hi.max(0.0).min(eta)
}

/// Tight zCDP: `x - 1 - ln x`, `x = eta/(exp eta - 1)`; never above `eta^2/8`.
pub fn zcdp(eta: f64) -> f64 {
    if eta == 0.0 {
        return 0.0;
    }
    let h = point(eta) / point(2.0);
    let ln_x = if h.hi <= SMALL {
        let h2 = h.square();
        let mut power = h2;
        let mut sum = h;
        for (numerator, denominator) in SERIES {
            sum = sum + power * point(numerator) / point(denominator);
            power = power * h2;
        }
        // Alternating and decreasing: the rest is below the first term left out.
        let rest = power.hi / (9.0 * 9.8_f64.powi(9)) * 1.1;
        -(sum + Interval::new(-rest, rest))
    } else {
        let eta = point(eta);
        eta.ln() - eta - (-(-eta).exp()).ln_1p()
    };
    let square = point(eta).square() / point(8.0);
    ln_x.exp_m1_excess().hi.min(square.hi)
}

/// `delta(e) = (1 - exp((e - eta)/2))^2/(1 - exp(-eta))` for `0 <= e <= eta`.
pub fn delta(eta: f64, e: f64) -> f64 {
    if e >= eta {
        return 0.0;
    }
    let half = (point(e) - point(eta)) / point(2.0);
    (half.exp_m1().square() / -point(-eta).exp_m1()).hi.clamp(0.0, 1.0)
}

/// The least `e` with `delta(e) <= delta`: `eta + 2 ln(1 - sqrt(delta (1 - exp(-eta))))`.
pub fn epsilon(eta: f64, delta: f64) -> f64 {
    if eta.is_infinite() {
        return eta;
    }
    let root = (point(delta) * -point(-eta).exp_m1()).sqrt();
    if root.lo >= 1.0 {
        return 0.0;
    }
    (point(eta) + point(2.0) * (-root).ln_1p()).hi.max(0.0).min(eta)
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
        check(rdp(0.5, 1.5), 0.046592908574909005);
        check(rdp(0.5, 2.0), 0.061859607240322745);
        check(rdp(0.5, 30.0), 0.38097983442500544);
        check(rdp(2.0, 1.1), 0.5191061718760406);
        check(rdp(2.0, 8.0), 1.5901795840341957);
        check(rdp(8.0, 2.0), 6.614376451625901);
        check(rdp(8.0, 3.0), 7.045396619490373);
        check(rdp(1e-06, 2.0), 2.4999999999998954e-13);
        check(rdp(1e-06, 100000.0), 1.2498264291951598e-08);
        check(rdp(1e-06, 100000000.0), 9.439483026296017e-07);
        check(rdp(1e-09, 1.000001), 1.25000125e-19);
        check(rdp(0.3, 1.000001), 0.011235976786073196);
        check(rdp(5.0, 1.000001), 2.4177215611944796);
        check(rdp(60.0, 1.000001), 54.90568493762807);
        check(rdp(800.0, 1.5), 798.0904574951155);
        check(rdp(800.0, 1000000.0), 799.9999851844751);
        check(rdp(0.01, 37.0), 0.0004616462609669672);
    }

    #[test]
    fn tight_zcdp() {
        check(zcdp(0.5), 0.031142092261155878);
        check(zcdp(2.0), 0.47447464707052694);
        check(zcdp(8.0), 4.922907541018817);
        check(zcdp(1e-08), 1.25e-17);
        check(zcdp(0.001), 1.2499999826388892e-07);
        check(zcdp(0.49), 0.029912947576937837);
        check(zcdp(0.51), 0.03239572323334817);
        check(zcdp(30.0), 25.598802618340557);
        assert!(zcdp(1e4) <= 1e4 && zcdp(1e4) > 9989.0);
    }

    #[test]
    fn trade_off() {
        check(delta(0.5, 0.1), 0.0835097846649949);
        check(delta(2.0, 1.0), 0.1790498892168176);
        check(delta(8.0, 4.0), 0.7478959635608426);
        assert_eq!(delta(1.0, 1.5), 0.0);
        for eta in [1e-6, 0.3, 5.0, 50.0] {
            for allowed in [1e-12, 1e-5, 0.1] {
                let e = epsilon(eta, allowed);
                assert!(e <= eta && (e == 0.0 || delta(eta, e) <= allowed * (1.0 + 1e-9)));
            }
        }
    }

    #[test]
    fn both_forms_agree() {
        for order in [1.000001, 1.5, 3.0, 1e4] {
            let eta = 2.0 * SMALL / order;
            let (below, above) = (rdp(eta * (1.0 - 1e-12), order), rdp(eta * (1.0 + 1e-12), order));
            assert!((above / below - 1.0).abs() < 1e-10, "{order}: {below} {above}");
        }
    }
}
