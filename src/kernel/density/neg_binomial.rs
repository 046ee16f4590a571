//! `sum over k of f(k)^b` for negative binomial laws, and for binomial laws of many trials: terms without a closed form.

use crate::numeric::fast::log_inv_logit;
use crate::numeric::special::digamma;

/// Outcomes that are added one by one; what lies beyond is an integral over the logarithm of k.
const ONE_BY_ONE: u32 = 512;
/// What is left out beyond the last node, as a logarithm.
const REACH: f64 = 45.0;

/// A sum with its slopes in the shape r and in `t = ln((1 - p) / p)`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PowerSum {
    pub value: f64,
    pub by_shape: f64,
    pub by_odds: f64,
}

impl PowerSum {
    fn add(&mut self, term: f64, by_shape: f64, by_odds: f64) {
        self.value += term;
        self.by_shape += term * by_shape;
        self.by_odds += term * by_odds;
    }
}

/// For `f(k) = Gamma(k + r) / (Gamma(r) k!) p^r q^k` and `b > 1`. The sum lies between 0 and 1 for every `r > 0` and t.
pub fn neg_binomial_power(b: f64, r: f64, t: f64) -> PowerSum {
    if r.is_nan() || t.is_nan() || r <= 0.0 || r.is_infinite() {
        return PowerSum { value: f64::NAN, by_shape: 0.0, by_odds: 0.0 };
    }
    let t = t.clamp(-700.0, 700.0);
    let law = Law { b, r, log_p: log_inv_logit(-t), log_q: log_inv_logit(t), p: log_inv_logit(-t).exp(), q: log_inv_logit(t).exp() };
    let mut sum = PowerSum::default();
    let (mut log, mut by_shape) = (r * law.log_p, law.log_p);
    for k in 0..ONE_BY_ONE {
        let k = f64::from(k);
        let term = (b * log).exp();
        sum.add(term, b * by_shape, b * law.by_odds(k));
        // From here on terms fall at least as fast as powers of this.
        let ratio = law.q * (k + r) / (k + 1.0);
        if ratio < 1.0 && (r <= 1.0 || ratio < 0.999) && term < 1e-18 * sum.value * (1.0 - ratio) {
            return sum.within();
        }
        log += law.log_q + ((k + r) / (k + 1.0)).ln();
        by_shape += 1.0 / (k + r);
    }
    law.beyond(&mut sum);
    sum.within()
}

impl PowerSum {
    fn within(self) -> PowerSum {
        let slope = |x: f64| if x.is_finite() { x } else { 0.0 };
        PowerSum { value: self.value.min(1.0), by_shape: slope(self.by_shape), by_odds: slope(self.by_odds) }
    }
}

struct Law {
    b: f64,
    r: f64,
    log_p: f64,
    log_q: f64,
    p: f64,
    q: f64,
}

impl Law {
    /// The slope of `ln f(k)` in t.
    fn by_odds(&self, k: f64) -> f64 {
        self.p * k - self.r * self.q
    }

    /// `ln f(k)` for real k far from 0, by Stirling's series.
    fn log(&self, k: f64) -> f64 {
        let (r, series) = (self.r, |x: f64| (1.0 / 12.0 - 1.0 / (360.0 * x * x)) / x);
        let ways = (k + 0.5) * ((r - 1.0) / (k + 1.0)).ln_1p() + (r - 1.0) * ((k + r).ln() - 1.0) + series(k + r) - series(k + 1.0);
        ways - libm::lgamma(r) + r * self.log_p + k * self.log_q
    }

    /// The terms from `ONE_BY_ONE` on by Euler and Maclaurin's formula, the integral by Boole's rule in `ln k`.
    fn beyond(&self, sum: &mut PowerSum) {
        let (b, r) = (self.b, self.r);
        let first = f64::from(ONE_BY_ONE);
        let mean = r * self.q / self.p;
        let sd = (mean / self.p).sqrt();
        let start = first.max(mean - 14.0 * sd);
        let end = (mean + 14.0 * sd + REACH / (b * -self.log_q)).max(2.0 * start);
        let widest = 0.01_f64.min(0.08 / (b * r * self.q + 1.0).sqrt());
        let steps = 4.0 * ((end / start).ln() / (4.0 * widest)).clamp(8.0, 1e5).ceil();
        let width = (end / start).ln() / steps;
        let at_shape = digamma(r);
        let mut term = |k: f64, weight: f64| {
            let g = weight * (b * self.log(k)).exp();
            sum.add(g, b * (digamma(k + r) - at_shape + self.log_p), b * self.by_odds(k));
        };
        let mut i = 0.0;
        while i <= steps {
            let boole = match i % 4.0 {
                0.0 if i == 0.0 || i == steps => 7.0,
                0.0 => 14.0,
                2.0 => 12.0,
                _ => 32.0,
            };
            let k = start * (i * width).exp();
            term(k, boole * width / 22.5 * k);
            i += 1.0;
        }
        if start == first {
            let slope = b * (digamma(first + r) - digamma(first + 1.0) + self.log_q);
            term(first, 0.5 - slope / 12.0);
            // The slope of f^b at the start has slopes of its own.
            let g = (b * self.log(first)).exp() * b / 12.0;
            sum.by_shape -= g / (first + r);
            sum.by_odds -= g * self.p;
        }
    }
}

/// For `f(k) = C(n, k) p^k (1 - p)^(n - k)`, `b > 1` and `t = ln(p / (1 - p))`; `by_odds` is the slope in t.
pub fn binomial_power(b: f64, n: f64, t: f64) -> PowerSum {
    let (log_p, log_q) = (log_inv_logit(t), log_inv_logit(-t));
    let (p, q) = (log_p.exp(), log_q.exp());
    let (mean, sd) = (n * p, (n * p * q).sqrt());
    // Far tails of small means are longer than those of normal laws.
    let reach = 14.0 * sd + REACH;
    let (start, end) = ((mean - reach).max(0.0).floor(), (mean + reach).min(n).ceil());
    let all = libm::lgamma(n + 1.0);
    let mut sum = PowerSum::default();
    // A grid of steps below two thirds of the width of f^b: sums over it are integrals to the last digits.
    let step = if end - start > 2.0 * f64::from(ONE_BY_ONE) { (0.6 * sd / b.sqrt()).max(1.0) } else { 1.0 };
    let mut k = start;
    while k <= end {
        // 0 times the logarithm of 0 would be no number.
        let part = |x: f64, l: f64| if x > 0.0 { x * l } else { 0.0 };
        let log = all - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0) + part(k, log_p) + part(n - k, log_q);
        sum.add(step * (b * log).exp(), 0.0, b * (k - mean));
        k += step;
    }
    sum.within()
}
