//! Rényi divergence between members of Gamma-type families, without cancellation and with a proved enclosure.
//!
//! Let `P` sit at `a` and `Q` at `a + s` in a family with log-normaliser `lnGamma`, `m = order - 1` and `L = a - m s`.
//! By the Weierstrass product the linear and constant parts of the closed form cancel and
//!
//! ```text
//!   T(a; s, order) = [lnG(L) - (m+1) lnG(a)]/m + lnG(a+s) = sum_{j>=0} phi(s/(a+j)),
//!   phi(x) = -ln(1 - m x)/m - ln(1 + x) = sum_{k>=2} x^k/k [m^(k-1) + (-1)^k]  >= 0.
//! ```
//!
//! *Tail.* By the tent representation (rule book §0.1) `h(x) = phi(s/x)` is a mixture, with non-negative weight, of
//! `s^2/(x + c)^2` for `c` between `-m s` and `s`. Each of these is completely monotone for `x > -c`, so `h` is
//! completely monotone on `[A, inf)` when `A - m s > 0` and `A + s > 0`. All even derivatives of `h` are then positive,
//! and the Euler–Maclaurin sum envelopes the series: the error after any term lies between zero and the next term.
//! We sum `j < J` directly, with `J <= REACH` such that both `L + J` and `a + s + J` are at least `REACH`, and take four
//! correction terms; the fifth bounds the error, about 1e-15 of the result.
//!
//! *Pieces.* With `A = a + J`, `y = s/A`, `t = A/(A - m s)`, `v = A/(A + s)`:
//!
//! ```text
//!   integral of h over [A, inf) = A [(1 - m y) ln(1 - m y)/m + (1 + y) ln(1 + y)] = A sum_{k>=2} y^k/(k(k-1)) [..],
//!   -h^(p)(A) = (p-1)! A^-p order y^2 t v sum_{i+j<p} t^i v^j      for odd p: positive terms only.
//! ```
//!
//! Near zero `phi` and the integral use their power series with a geometric bound of the rest; elsewhere logarithms of
//! intervals, which lose no more than a few bits there. Work is bounded: at most `REACH` terms.

use crate::numeric::Interval;

/// Distance from the singularities at which the asymptotic tail starts.
const REACH: f64 = 20.0;
/// Largest `|m x|`, `|x|` for the power series.
const SERIES: f64 = 0.125;
/// Above this `order - 1` is no longer exact in doubles.
const MAX_ORDER: f64 = 4_503_599_627_370_496.0;

/// `order - 1`, exact; `None` outside `(1, 2^52]`.
fn excess(order: f64) -> Option<f64> {
    (order > 1.0 && order <= MAX_ORDER).then_some(order - 1.0)
}

/// `a - m s` as an interval whose sign is exact: `None` if it is not positive.
///
/// With `p = m s` rounded and `e` its exact error, `a - p` is exact when `p` is within a factor 2 of `a`; elsewhere the
/// sign is plain.
fn reduced(a: f64, m: f64, s: f64) -> Option<Interval> {
    let p = m * s;
    if !p.is_finite() {
        return (p < 0.0).then_some(Interval::new(a, f64::INFINITY));
    }
    let e = m.mul_add(s, -p);
    if p >= 2.0 * a {
        return None;
    }
    if p > 0.5 * a {
        let d = a - p;
        if d <= e {
            return None;
        }
        let difference = Interval::point(d) - Interval::point(e);
        // Positive by the exact comparison; a double at least as large as the rounding grain of e.
        return Some(difference.non_negative());
    }
    Some(Interval::point(a) - Interval::point(p) - Interval::point(e))
}

/// One argument `x = s/base` with the two ratios and their logarithms.
struct Ratio {
    m: Interval,
    /// `x` and `m x`.
    x: Interval,
    mx: Interval,
    /// `1 - m x` and `1 + x`.
    minus: Interval,
    plus: Interval,
}

impl Ratio {
    /// `base = a + j`, `left = a - m s + j`, `right = a + s + j`, all positive.
    fn new(m: f64, s: f64, base: Interval, left: Interval, right: Interval) -> Ratio {
        let m = Interval::point(m);
        let x = Interval::point(s) / base;
        Ratio { m, x, mx: m * x, minus: left / base, plus: right / base }
    }

    fn ln_minus(&self) -> Interval {
        if self.mx.hi < 0.5 { (-self.mx).ln_1p() } else { self.minus.ln() }
    }

    fn ln_plus(&self) -> Interval {
        if self.x.lo > -0.5 { self.x.ln_1p() } else { self.plus.ln() }
    }

    fn is_small(&self) -> bool {
        self.x.magnitude() <= SERIES && self.mx.magnitude() <= SERIES
    }

    /// `sum_{k>=2} x^k w_k [m^(k-1) + (-1)^k]` with `w_k = 1/k`, or `1/(k(k-1))` for the integral.
    fn series(&self, integral: bool) -> Interval {
        let ratio = self.x.magnitude().max(self.mx.magnitude());
        let (mut from_m, mut from_one) = (self.m, Interval::ONE);
        let mut sum = Interval::ZERO;
        let mut power = 1.0_f64;
        let mut k = 2.0_f64;
        // The rest from k on is below (m + 1) ratio^(k-2) / (1 - ratio), relative to x^2.
        while power > 1e-18 && k < 24.0 {
            let weight = Interval::point(if integral { k * (k - 1.0) } else { k });
            sum = sum + (from_m + from_one) / weight;
            from_m = from_m * self.mx;
            from_one = from_one * -self.x;
            power *= ratio * 1.000_001;
            k += 1.0;
        }
        let rest = (self.m.hi + 1.0) * power * 1.2;
        (self.x.square() * (sum + Interval::new(-rest, rest))).non_negative()
    }

    fn phi(&self) -> Interval {
        if self.is_small() { self.series(false) } else { (-self.ln_minus() / self.m - self.ln_plus()).non_negative() }
    }

    /// Integral of `h` over `[base, inf)` divided by `base`.
    fn integral(&self) -> Interval {
        if self.is_small() {
            self.series(true)
        } else {
            (self.minus * self.ln_minus() / self.m + self.plus * self.ln_plus()).non_negative()
        }
    }

    /// `phi/2 - h'/12 + h'''/720 - ..` at `base`, with the next term as the error.
    fn corrections(&self, base: Interval) -> Interval {
        /// `B_2k/(2k)! (2k-2)!`, the last for the error.
        const WEIGHTS: [f64; 5] = [12.0, -360.0, 1260.0, -1680.0, 1188.0];
        let (t, v) = (Interval::ONE / self.minus, Interval::ONE / self.plus);
        let common = (self.m + Interval::ONE) * self.x.square() * t * v;
        let inverse = Interval::ONE / base;
        let inverse_square = inverse.square();
        let mut total = self.phi() / Interval::point(2.0);
        let mut scale = inverse;
        // Complete homogeneous polynomials in t and v, and their running sum.
        let (mut homogeneous, mut power, mut sum) = (Interval::ONE, Interval::ONE, Interval::ONE);
        for (index, weight) in WEIGHTS.into_iter().enumerate() {
            let term = common * scale * sum / Interval::point(weight);
            total = total + if index + 1 == WEIGHTS.len() { term.hull(Interval::ZERO) } else { term };
            for _ in 0..2 {
                power = power * v;
                homogeneous = homogeneous * t + power;
                sum = sum + homogeneous;
            }
            scale = scale * inverse_square;
        }
        total
    }
}

/// `T(a; s, order)`; `[inf, inf]` at and beyond the limit order, decided exactly, and where it is undefined.
///
/// Meant for `1e-200 <= a <= 1e100`; outside, and for orders beyond 2^52, the answer is infinite.
pub fn divergence(a: f64, s: f64, order: f64) -> Interval {
    let infinite = Interval::point(f64::INFINITY);
    if s == 0.0 && a > 0.0 {
        return Interval::ZERO;
    }
    let Some(m) = excess(order) else {
        return infinite;
    };
    let reasonable = (1e-200..=1e100).contains(&a) && (1e-200..=1e100).contains(&s.abs());
    if !reasonable || s <= -a {
        return infinite;
    }
    let Some(left) = reduced(a, m, s) else {
        return infinite;
    };
    // Exact within a factor 2 of cancellation, so never below a grain of `a`.
    let right = Interval::point(a) + Interval::point(s);
    let right = if s < -0.5 * a { Interval::point(a + s) } else { right };
    let nearest = left.lo.min(right.lo);
    let mut sum = Interval::ZERO;
    let mut offset = 0.0_f64;
    while nearest + offset < REACH {
        sum = sum + ratio_at(m, s, a, left, right, offset).phi();
        offset += 1.0;
    }
    let tail = ratio_at(m, s, a, left, right, offset);
    let base = Interval::point(a) + Interval::point(offset);
    let total = sum + base * tail.integral() + tail.corrections(base);
    total.non_negative()
}

fn ratio_at(m: f64, s: f64, a: f64, left: Interval, right: Interval, offset: f64) -> Ratio {
    if offset == 0.0 {
        return Ratio::new(m, s, Interval::point(a), left, right);
    }
    let shift = Interval::point(offset);
    Ratio::new(m, s, Interval::point(a) + shift, left + shift, right + shift)
}

/// At least `T(a; s, order)`.
pub fn divergence_up(a: f64, s: f64, order: f64) -> f64 {
    divergence(a, s, order).hi
}

/// The limit order `1 + a/s` rounded down; infinite if `s <= 0`, 1 where `a` or `a + s` belongs to no distribution.
pub fn limit_order(a: f64, s: f64) -> f64 {
    if !(a > 0.0 && a.is_finite() && s > -a) {
        return 1.0;
    }
    if s <= 0.0 {
        return f64::INFINITY;
    }
    // The nearest double, or the one below if that is beyond the limit, decided exactly.
    let nearest = (1.0 + a / s).max(1.0);
    let m = nearest - 1.0;
    let product = m * s;
    let error = m.mul_add(s, -product);
    if a - product >= error { nearest } else { (1.0 + (a / s).next_down()).next_down().max(1.0) }
}

/// Divergence of Gamma(shape, rate) from Gamma(shape, rate + step): `shape * phi(step/rate)`; infinite at and beyond the
/// limit order `1 + rate/step`.
pub fn rate_divergence(shape: f64, rate: f64, step: f64, order: f64) -> Interval {
    let infinite = Interval::point(f64::INFINITY);
    if step == 0.0 && rate > 0.0 {
        return Interval::ZERO;
    }
    let Some(m) = excess(order) else {
        return infinite;
    };
    let reasonable = (1e-200..=1e100).contains(&rate) && (1e-200..=1e100).contains(&step.abs());
    if !reasonable || step <= -rate || shape.is_nan() || shape <= 0.0 {
        return infinite;
    }
    let Some(left) = reduced(rate, m, step) else {
        return infinite;
    };
    let right = if step < -0.5 * rate { Interval::point(rate + step) } else { Interval::point(rate) + Interval::point(step) };
    Interval::point(shape) * Ratio::new(m, step, Interval::point(rate), left, right).phi()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(a: f64, s: f64, order: f64, expected: f64) {
        let found = divergence(a, s, order);
        let room = 1e-10 * expected;
        assert!(
            found.lo <= expected * (1.0 + 2e-16) && expected * (1.0 - 2e-16) <= found.hi && found.hi - found.lo <= room,
            "T({a}; {s}, {order}) = {found:?}, expected {expected}"
        );
    }

    /// mpmath, 60 digits.
    #[test]
    fn known_values() {
        check(6.0, 1.0, 2.0, 0.18232155679395462);
        check(1e-06, 5e-07, 2.5, 0.5187311326389434);
        check(10000000000000.0, 1.0, 1.000001, 5.000005000000083e-14);
        check(10000000000000.0, 1.0, 10000.0, 5.000000001666583e-10);
        check(10000000000000.0, 1000.0, 10000000000.0, 999.9999977485162);
        check(0.5, -0.25, 3.0, 0.4294751103110273);
        check(3.0, -2.9999999, 10.0, 23.265380496603814);
        check(1.0, 1.0, 1.999999, 13.815523796355494);
        check(100.0, 0.3, 1.000001, 0.000451804113563741);
        check(10001.0, 1.0, 10000.0, 0.998726411899573);
        check(10000.0, 1.0, 9999.0, 0.9987262995174533);
        check(10000000000000.0, -9999999999999.0, 1.5, 12163953243228.234);
        check(2.0, 1000000.0, 1.000001, 12815532.200122243);
        check(0.001, 1000.0, 1.0000005, 1392768.664022297);
        check(20.0, 3.0, 1.5, 0.3381603439903775);
        check(100000000.0, 1.0, 5.0, 2.5000000375000007e-08);
        check(50.0, -40.0, 10000.0, 344.25036759531173);
        check(19.0, 0.001, 3.0, 8.106281902987973e-08);
        check(1.5e-05, -1e-05, 1000000.0, 1.0986197550490011);
    }

    #[test]
    fn infinite_exactly_from_the_limit_order() {
        for (a, s) in [(1.0, 1.0), (0.1, 0.3), (7.25, 0.001), (1e6, 3.0), (1e-6, 1e-7)] {
            let limit: f64 = 1.0 + a / s;
            assert!(divergence_up(a, s, limit * (1.0 + 1e-12)).is_infinite());
            assert!(divergence_up(a, s, limit * (1.0 - 1e-12)).is_finite());
        }
        assert!(divergence_up(1.0, 1.0, 2.0).is_infinite());
        assert!(divergence_up(1.0, 1.0, 2.0_f64.next_down()).is_finite());
        assert!(divergence_up(1.0, -1.0, 1.5).is_infinite());
        assert!(divergence_up(1.0, -2.0, 1.5).is_infinite());
    }

    #[test]
    fn limit_orders_round_down() {
        assert_eq!(limit_order(1.0, 1.0), 2.0);
        assert_eq!(limit_order(6.0, 1.0), 7.0);
        assert_eq!(limit_order(3.0, -1.0), f64::INFINITY);
        for (a, s) in [(0.1, 0.3), (1.0, 3.0), (2.0, 3.0), (7.1, 0.9), (1e6, 7.0)] {
            let limit = limit_order(a, s);
            let beyond = limit.next_up().next_up();
            assert!(divergence_up(a, s, beyond).is_infinite());
            assert!(divergence_up(a, s, limit.next_down()).is_finite());
        }
    }

    #[test]
    fn nothing_moves_nothing_leaks() {
        assert_eq!(divergence(3.0, 0.0, 2.0), Interval::ZERO);
        assert_eq!(rate_divergence(3.0, 1.0, 0.0, 2.0), Interval::ZERO);
    }

    #[test]
    fn rate_pair() {
        // Gamma(12, 3) against Gamma(12, 4), order 2: 12 (2 ln 3 - ln 4 - ln 2).
        let expected = 12.0 * (2.0 * 3.0_f64.ln() - 4.0_f64.ln() - 2.0_f64.ln());
        let found = rate_divergence(12.0, 3.0, 1.0, 2.0);
        assert!(found.lo <= expected + 1e-13 && expected - 1e-13 <= found.hi);
        assert!(found.hi - found.lo < 1e-12);
        assert!(rate_divergence(12.0, 3.0, 1.0, 4.0).hi.is_infinite());
    }
}
