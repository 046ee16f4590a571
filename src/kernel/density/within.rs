//! `ln P(from <= Y < to)` of laws whose values were sorted into bins, with its derivatives: no difference of two nearly equal
//! numbers is formed, and bins far out in a tail keep their digits.

use std::f64::consts::{FRAC_1_PI, FRAC_1_SQRT_2, LN_2};

use crate::kernel::family::hazard;
use crate::numeric::special::digamma;

/// `ln sqrt(2 pi)`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;
/// A term below this share of a sum is left out, with all after it.
const LEAST: f64 = 1e-18;

/// Whose values they are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Binned {
    /// Standard laws, of ends that are standardised.
    Normal,
    Logistic,
    Laplace,
    Cauchy,
    /// With so many degrees of freedom.
    Student(f64),
    /// Of rate 1, on positive numbers.
    Exponential,
    /// Whole numbers, of mean `exp(t)`; t is the third operand.
    Poisson,
    /// Failures before so many successes, the third operand, at log-odds of a failure, the fourth.
    NegBinomial,
}

/// The logarithm, and its derivatives by the operands.
pub type Part = (f64, [f64; 4]);
const UNKNOWN: Part = (f64::NAN, [0.0; 4]);

/// Hazards and `-ln P(Y >= z)` of the last two ends z: bins beside each other share one.
type Tails = [(f64, (f64, f64)); 2];
const NO_TAILS: Tails = [(f64::NAN, (f64::NAN, f64::NAN)); 2];

/// Not a number where the ends are not in order.
fn within(law: Binned, [from, to, a, b]: [f64; 4], known: &mut Tails) -> Part {
    match law {
        Binned::Poisson => poisson(from.max(0.0), to, a),
        Binned::NegBinomial => failures(from.max(0.0), to, a, b),
        Binned::Exponential => {
            let (log, [by_from, by_to, ..]) = tails(law, (from.max(0.0), to.max(0.0)), known);
            // Nothing lies below 0.
            (log, [if from > 0.0 { by_from } else { 0.0 }, by_to, 0.0, 0.0])
        }
        _ if from + to < 0.0 => {
            let (log, [by_from, by_to, ..]) = within(law, [-to, -from, a, b], known);
            (log, [-by_to, -by_from, 0.0, 0.0])
        }
        _ if from < 0.0 => {
            let part = law.middle(-from) + law.middle(to);
            (part.ln(), [-law.density(from) / part, law.density(to) / part, 0.0, 0.0])
        }
        _ => tails(law, (from, to), known),
    }
}

/// Of every row; of equal neighbours, such as nodes of one cell, once.
pub fn each<const W: usize>(law: Binned, operands: &[[f64; W]; 4], mut visit: impl FnMut(usize, Part)) {
    let [from, to, a, b] = operands;
    let (mut before, mut part, mut known) = ([f64::NAN; 4], UNKNOWN, NO_TAILS);
    for ((((i, from), to), a), b) in (0..).zip(from).zip(to).zip(a).zip(b) {
        let here = [*from, *to, *a, *b];
        if here != before {
            (before, part) = (here, within(law, here, &mut known));
        }
        visit(i, part);
    }
}

/// Both ends on one side of the middle: what is beyond the far one is `exp(-fall)` of what is beyond the near one.
fn tails(law: Binned, (from, to): (f64, f64), known: &mut Tails) -> Part {
    let mut tail = |z: f64| match known.iter().find(|(at, _)| *at == z) {
        _ if z == f64::INFINITY => (0.0, f64::INFINITY),
        Some((_, tail)) => *tail,
        None => {
            let tail = law.tail(z);
            *known = [(z, tail), known[0]];
            tail
        }
    };
    let ((near, loss), (far, far_loss)) = (tail(from), tail(to));
    let fall = far_loss - loss;
    let kept = -libm::expm1(-fall);
    (kept.ln() - loss, [-near / kept, far * (-fall).exp() / kept, 0.0, 0.0])
}

impl Binned {
    /// Of z >= 0 the hazard, and `-ln P(Y >= z)`.
    fn tail(self, z: f64) -> (f64, f64) {
        match self {
            Binned::Normal => hazard(z),
            Binned::Logistic => (1.0 / (1.0 + (-z).exp()), z + (-z).exp().ln_1p()),
            Binned::Laplace => (1.0, z + LN_2),
            Binned::Cauchy => {
                let beyond = 1f64.atan2(z);
                (1.0 / ((1.0 + z * z) * beyond), -(FRAC_1_PI * beyond).ln())
            }
            Binned::Student(df) => {
                let loss = LN_2 - ln_beta_share(df / 2.0, 0.5, df / (df + z * z), z * z / (df + z * z));
                ((self.log_density(z) + loss).exp(), loss)
            }
            Binned::Exponential | Binned::Poisson | Binned::NegBinomial => (1.0, z),
        }
    }

    /// Between 0 and z.
    fn middle(self, z: f64) -> f64 {
        match self {
            _ if z == f64::INFINITY => 0.5,
            Binned::Normal => 0.5 * libm::erf(z * FRAC_1_SQRT_2),
            Binned::Logistic => 0.5 * (0.5 * z).tanh(),
            Binned::Laplace => -0.5 * libm::expm1(-z),
            Binned::Cauchy => FRAC_1_PI * z.atan(),
            Binned::Student(df) => 0.5 * ln_beta_share(0.5, df / 2.0, z * z / (df + z * z), df / (df + z * z)).exp(),
            Binned::Exponential | Binned::Poisson | Binned::NegBinomial => -libm::expm1(-z),
        }
    }

    fn density(self, z: f64) -> f64 {
        self.log_density(z).exp()
    }

    fn log_density(self, z: f64) -> f64 {
        match self {
            Binned::Normal => -0.5 * z * z - LN_ROOT,
            Binned::Logistic => -z.abs() - 2.0 * (-z.abs()).exp().ln_1p(),
            Binned::Laplace => -z.abs() - LN_2,
            Binned::Cauchy => -(z * z).ln_1p() + FRAC_1_PI.ln(),
            Binned::Student(df) => {
                let norm = libm::lgamma(0.5 * df + 0.5) - libm::lgamma(0.5 * df) - 0.5 * (df / FRAC_1_PI).ln();
                norm - (0.5 * df + 0.5) * (z * z / df).ln_1p()
            }
            Binned::Exponential | Binned::Poisson | Binned::NegBinomial => -z,
        }
    }
}

/// `ln I_x(a, b)`, the share of the beta law below x, for `y = 1 - x`.
fn ln_beta_share(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x > (a + 1.0) / (a + b + 2.0) {
        return (-ln_beta_share(b, a, y, x).exp()).ln_1p();
    }
    let front = a * x.ln() + b * y.ln() - a.ln() + libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    // Lentz's form of the continued fraction, which converges fast on this side.
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for step in [even, odd] {
            d = 1.0 / (1.0 + step * d);
            c = 1.0 + step / c;
            fraction *= c * d;
        }
        if (fraction - before).abs() <= 1e-16 * fraction.abs() {
            break;
        }
    }
    front + fraction.ln()
}

fn poisson(from: f64, to: f64, t: f64) -> Part {
    let mean = t.exp();
    if !mean.is_finite() {
        return UNKNOWN;
    }
    let log = |k: f64| if k > 0.0 { k * t - mean - libm::lgamma(k + 1.0) } else { -mean };
    let law = Counts { mode: mean.floor(), log, ratio: |k: f64| mean / k, slopes: |k: f64| [k - mean, 0.0] };
    law.within(from, to)
}

/// So many failures before r successes, at log-odds of a failure.
fn failures(from: f64, to: f64, r: f64, odds: f64) -> Part {
    let [log_p, log_q] = [-odds, odds].map(|t| t.min(0.0) - (-t.abs()).exp().ln_1p());
    let (p, q, mode) = (log_p.exp(), log_q.exp(), ((r - 1.0) * odds.exp()).floor().max(0.0));
    if !(r > 0.0 && mode.is_finite() && p > 0.0) {
        return UNKNOWN;
    }
    let (norm, by_norm) = (r * log_p - libm::lgamma(r), log_p - digamma(r));
    let log = |k: f64| norm + libm::lgamma(k + r) - libm::lgamma(k + 1.0) + k * log_q;
    let slopes = |k: f64| [digamma(k + r) + by_norm, k * p - r * q];
    Counts { mode, log, ratio: |k: f64| q * (k - 1.0 + r) / k, slopes }.within(from, to)
}

/// A law of whole numbers: its largest term, the logarithm of a term, what one is of the one before it, and the derivatives of the
/// logarithm by what the law depends on.
struct Counts<L, R, S> {
    mode: f64,
    log: L,
    ratio: R,
    slopes: S,
}

impl<L: Fn(f64) -> f64, R: Fn(f64) -> f64, S: Fn(f64) -> [f64; 2]> Counts<L, R, S> {
    /// Terms are positive and summed from the largest outwards; of a tail that starts before the largest, or falls slowly, what is
    /// missing.
    fn within(&self, from: f64, to: f64) -> Part {
        let slow = 40.0 > (1000.0 + 50.0 * from) * (1.0 - (self.ratio)(f64::MAX));
        if from.is_nan() || from >= to {
            return UNKNOWN;
        }
        if to < f64::INFINITY || !(self.mode >= from || slow) {
            let (log, [a, b]) = self.outwards(from, to);
            return (log, [0.0, 0.0, a, b]);
        }
        let (log, slopes) = if from > 0.0 { self.outwards(0.0, from) } else { (f64::NEG_INFINITY, [0.0; 2]) };
        let missing = log.exp();
        let slope = |s: f64| if missing > 0.0 && missing < 1.0 { -s * missing / (1.0 - missing) } else { 0.0 };
        let [a, b] = slopes.map(slope);
        ((-missing.min(1.0)).ln_1p(), [0.0, 0.0, a, b])
    }

    fn outwards(&self, from: f64, to: f64) -> (f64, [f64; 2]) {
        let top = self.mode.min(to - 1.0).max(from);
        let (mut sum, mut slopes) = (1.0, (self.slopes)(top));
        let mut add = |k: f64, term: f64| {
            sum += term;
            slopes.iter_mut().zip((self.slopes)(k)).for_each(|(all, s)| *all += term * s);
            term > LEAST * sum
        };
        let (mut k, mut term) = (top + 1.0, 1.0);
        while k < to {
            term *= (self.ratio)(k);
            if !add(k, term) {
                break;
            }
            k += 1.0;
        }
        (k, term) = (top, 1.0);
        while k > from {
            term /= (self.ratio)(k);
            k -= 1.0;
            if !add(k, term) {
                break;
            }
        }
        ((self.log)(top) + sum.ln(), slopes.map(|s| s / sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(law: Binned, operands: [f64; 4]) -> Part {
        super::within(law, operands, &mut NO_TAILS.clone())
    }

    /// Bins beside each other, in and out of order, have the numbers that each has alone.
    #[test]
    fn tails_that_are_known_are_those_of_the_bin() {
        for law in [Binned::Normal, Binned::Logistic, Binned::Laplace, Binned::Cauchy, Binned::Student(3.0), Binned::Exponential] {
            let ends = [f64::NEG_INFINITY, -7.0, -2.5, -0.3, 0.0, 0.4, 0.4000001, 3.0, 9.0, f64::INFINITY];
            let mut bins: Vec<[f64; 2]> = ends.windows(2).map(|w| [w[0], w[1]]).collect();
            bins.extend([[3.0, 9.0], [-2.5, -0.3], [0.4, 3.0], [-3.0, -0.4], [-9.0, -3.0], [3.0, f64::INFINITY], [f64::NAN, 1.0]]);
            bins.extend(ends.windows(2).rev().map(|w| [w[0], w[1]]));
            let mut operands = [[0.0; 25]; 4];
            bins.iter().enumerate().for_each(|(i, [from, to])| (operands[0][i], operands[1][i]) = (*from, *to));
            each(law, &operands, |i, part| {
                let alone = within(law, operands.map(|o| o[i]));
                assert_eq!(format!("{part:?}"), format!("{alone:?}"), "{law:?} {i}");
            });
        }
    }

    const LAWS: [Binned; 7] = [
        Binned::Normal,
        Binned::Logistic,
        Binned::Laplace,
        Binned::Cauchy,
        Binned::Student(3.5),
        Binned::Student(40.0),
        Binned::Exponential,
    ];
    const BINS: [(f64, f64); 12] = [
        (-1.0, 2.0),
        (0.5, 0.6),
        (-3.0, -2.9),
        (4.1, 5.0),
        (-0.1, 0.1),
        (7.0, 9.0),
        (-20.0, -18.0),
        (0.0, 1e-3),
        (1e-3, 2e-3),
        (2.0, f64::INFINITY),
        (-f64::INFINITY, 0.7),
        (-f64::INFINITY, -4.0),
    ];

    #[track_caller]
    fn slopes(law: Binned, at: [f64; 4], free: &[usize]) {
        let (log, by) = within(law, at);
        for i in free.iter().copied().filter(|i| at[*i].is_finite()) {
            // Not across the kink of a density.
            let h = 1e-5 * (1.0 + at[i].abs()).min(if i < 2 { at[1] - at[0] } else { 1.0 });
            let moved = |d: f64| {
                let mut to = at;
                to[i] += d;
                within(law, to).0
            };
            let slope = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
            assert!((by[i] - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{law:?} {at:?} {i}: {} {slope}, log {log}", by[i]);
        }
    }

    /// Simpson's rule on each side of 0, where densities have kinks, to 60 scales beyond an open end but for heavy tails.
    #[test]
    fn parts_of_continuous_laws() {
        for law in LAWS {
            for (from, to) in BINS.into_iter().filter(|b| law != Binned::Exponential || b.1 > 0.0) {
                let (log, _) = within(law, [from, to, 0.0, 0.0]);
                if from != 0.0 || law != Binned::Exponential {
                    slopes(law, [from, to, 0.0, 0.0], &[0, 1]);
                }
                let heavy = matches!(law, Binned::Cauchy | Binned::Student(_));
                if heavy && !(from.is_finite() && to.is_finite()) {
                    let both = within(law, [-f64::INFINITY, from.max(-to), 0.0, 0.0]).0.exp() + log.exp();
                    let rest = if from.is_finite() { both } else { within(law, [to, f64::INFINITY, 0.0, 0.0]).0.exp() + log.exp() };
                    assert!((rest - 1.0).abs() < 1e-14, "{law:?} {from} {to}");
                    continue;
                }
                let least = if law == Binned::Exponential { 0.0 } else { -60.0 };
                let (lo, hi) = (from.max(least), to.min(60.0));
                let simpson = |a: f64, b: f64| {
                    let h = (b - a) / 20_000.0;
                    let f = |i: i32| law.density(a + h * f64::from(i));
                    let inner = (1..20_000).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * f(i)).sum::<f64>();
                    if b > a { h / 3.0 * (f(0) + inner + f(20_000)) } else { 0.0 }
                };
                let sum = simpson(lo, hi.min(0.0)) + simpson(lo.max(0.0), hi);
                assert!((log - sum.ln()).abs() < 1e-9, "{law:?} {from} {to}: {log} {}", sum.ln());
            }
        }
    }

    /// From mpmath: far tails, where the difference of distribution functions is 0 or has no digits.
    #[test]
    fn far_tails() {
        let near = |law, from, to, expected: f64| {
            let (log, _) = within(law, [from, to, 0.0, 0.0]);
            assert!((log / expected - 1.0).abs() < 1e-12, "{law:?}: {log} {expected}");
        };
        // ln(Phi(41) - Phi(40)) = ln Phi(-40) to the last digit.
        near(Binned::Normal, 40.0, 41.0, -804.608_442_013_754);
        near(Binned::Logistic, 800.0, 801.0, -800.0 + (-(-1f64).exp()).ln_1p());
        near(Binned::Cauchy, 1e9, 2e9, (FRAC_1_PI * 0.5e-9).ln());
        near(Binned::Exponential, 700.0, f64::INFINITY, -700.0);
    }

    #[test]
    fn counts() {
        for mean in [1e-3, 0.7, 4.0, 33.0, 900.0] {
            let t = f64::ln(mean);
            for (from, to) in
                [(0.0, 1.0), (3.0, 4.0), (2.0, 9.0), (5.0, f64::INFINITY), (40.0, f64::INFINITY), (30.0, 50.0), (-f64::INFINITY, 20.0)]
            {
                let pmf = |k: i32| (f64::from(k) * t - mean - libm::lgamma(f64::from(k) + 1.0)).exp();
                let sum: f64 = (f64::max(from, 0.0) as i32..f64::min(to, 3000.0) as i32).map(pmf).sum();
                let (log, _) = within(Binned::Poisson, [from, to, t, 0.0]);
                assert!((log - sum.ln()).abs() < 1e-9 || (sum == 0.0 && log < -600.0), "{mean} {from} {to}: {log} {}", sum.ln());
                slopes(Binned::Poisson, [from, to, t, 0.0], &[2]);
            }
        }
        // Nothing is missing from 1 that the tail does not have.
        let (log, [.., slope, _]) = within(Binned::Poisson, [3.0, f64::INFINITY, -20.0, 0.0]);
        assert!((log + 60.0 + 6f64.ln()).abs() < 1e-8 && (slope - 3.0).abs() < 1e-8, "{log} {slope}");
    }

    #[test]
    fn failures_before_successes() {
        for (r, odds) in [(0.3, 1.0), (1.0, -2.0), (4.5, 0.0), (2.0, 3.5), (80.0, -0.5), (0.01, 6.0)] {
            let (p, q) = (1.0 / (1.0 + f64::exp(odds)), 1.0 / (1.0 + f64::exp(-odds)));
            let pmf = |k: i32| {
                let k = f64::from(k);
                (libm::lgamma(k + r) - libm::lgamma(r) - libm::lgamma(k + 1.0) + r * p.ln() + k * q.ln()).exp()
            };
            for (from, to) in [(0.0, 1.0), (3.0, 4.0), (2.0, 9.0), (5.0, f64::INFINITY), (60.0, f64::INFINITY), (30.0, 50.0)] {
                let sum: f64 = (from as i32..f64::min(to, 30_000.0) as i32).map(pmf).sum();
                let (log, _) = within(Binned::NegBinomial, [from, to, r, odds]);
                assert!((log - sum.ln()).abs() < 1e-9, "{r} {odds} {from} {to}: {log} {}", sum.ln());
                slopes(Binned::NegBinomial, [from, to, r, odds], &[2, 3]);
            }
        }
        // Terms that hardly fall are not waited for.
        let (log, _) = within(Binned::NegBinomial, [100.0, f64::INFINITY, 0.5, 40.0]);
        assert!(log < 0.0 && log > -1e-6, "{log}");
    }

    #[test]
    fn extremes() {
        let ends = [f64::NEG_INFINITY, -1e300, -1e5, -1e-300, 0.0, 1e-300, 1e5, 1e300, f64::INFINITY, f64::NAN];
        for law in LAWS {
            for from in ends {
                for to in ends {
                    let (log, by) = within(law, [from, to, 0.0, 0.0]);
                    assert!(log.is_nan() || log <= 1e-15, "{law:?} {from} {to}: {log} {by:?}");
                }
            }
            assert_eq!(within(law, [f64::NEG_INFINITY, f64::INFINITY, 0.0, 0.0]), (0.0, [-0.0, 0.0, 0.0, 0.0]));
        }
        for t in [-800.0, -700.0, -50.0, 50.0, 600.0, 800.0, f64::INFINITY, f64::NAN] {
            for (from, to) in [(0.0, 3.0), (3.0, 4.0), (4.0, f64::INFINITY), (f64::NEG_INFINITY, f64::INFINITY), (0.0, 0.0)] {
                let right = |(log, by): Part| {
                    assert!(log.is_nan() || (log <= 1e-9 && by.iter().all(|b| !b.is_nan())), "{t} {from} {to}: {log} {by:?}");
                };
                right(within(Binned::Poisson, [from, to, t, 0.0]));
                for odds in [-800.0, -30.0, 0.0, 30.0, 700.0, 800.0, f64::NAN] {
                    right(within(Binned::NegBinomial, [from, to, t.exp(), odds]));
                }
            }
        }
    }
}
