//! The law of a count that is released with noise: its likelihood in the logarithm of the expected count, and moments of the count.

use std::f64::consts::TAU;

use super::noise::{Noise, STEEP};
use crate::kernel::KernelError;

/// Noise of a larger standard deviation is taken as a mixture of normal laws. The switch sees the noise alone: no jump in any
/// parameter.
const WIDEST: f64 = 40.0;
/// Counts are exact in doubles.
const LARGEST: i64 = 1 << 50;
/// Terms below this part of the largest are left out: fewer than 1e5 of them count.
const SMALL: f64 = 1e-18;

/// `f(a) = sum over c >= 0 of Poisson(c; exp(a)) g(noisy - c)`, where g is the law of a sum of independent noises.
///
/// *Sums.* `f(a) = exp(-exp(a)) sum exp(c a) h(c)` with `h(c) = g(noisy - c) / c!`: the law of c given the noisy count is an
/// exponential family in a, whose cumulants are the derivatives of the logarithm of the sum. g and 1/c! are log-concave, so
/// the terms rise to one mode and fall from there, and the sum starts at the mode: its cost is some 18 standard deviations of
/// c, which is at most that of the noise and at most `sqrt(exp(a))`. Noise is cut at a tail of 1e-16.
///
/// *Normal forms,* where the standard deviation of the noise is above 40: f is a mixture of Normal(noisy; l, l + v) with
/// l = exp(a), of one v for Gaussian noise. What is lost is the skewness of the Poisson law, at most 0.39 / sd: the posterior of
/// a is off by about 0.05 / sd in total variation at worst (near a count of twice the variance), so by at most 0.0015 (tested).
/// At a standard deviation of 2 that would be 0.03, of 10 still 0.005.
pub struct NoisyCount {
    form: Form,
}

enum Form {
    Exact,
    Sums {
        /// `ln g(k)` for k from 0.
        log_law: Vec<f64>,
        /// `g(noisy - c - 1) / g(noisy - c)` for c from `noisy - reach`.
        steps: Vec<f64>,
    },
    /// Weights and variances.
    Normal(Vec<(f64, f64)>),
}

/// One cell at the log rate a: `ln f`, mean and variance of the count given the noisy count, and their derivatives in a.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Cell {
    pub log: f64,
    pub log_slope: f64,
    pub mean: f64,
    pub mean_slope: f64,
    pub variance: f64,
    pub variance_slope: f64,
}

impl NoisyCount {
    /// The law of the sum of so many noises.
    pub fn new(noise: Noise, noises: u32) -> Result<NoisyCount, KernelError> {
        NoisyCount::with_sums_to(noise, noises, WIDEST)
    }

    fn with_sums_to(noise: Noise, noises: u32, widest: f64) -> Result<NoisyCount, KernelError> {
        let (Noise::Geometric { scale } | Noise::RoundedLaplace { scale } | Noise::RoundedGaussian { sigma: scale }) = noise;
        if !(0.0..1e9).contains(&scale) || !(1..1 << 16).contains(&noises) {
            return Err(KernelError::Family);
        }
        let form = if scale == 0.0 {
            Form::Exact
        } else if (f64::from(noises) * noise.variance()).sqrt() <= widest {
            sums(noise.sum_law(noises))
        } else {
            Form::Normal(noise.mixture(f64::from(noises)))
        };
        Ok(NoisyCount { form })
    }

    /// Counts that this law can be asked for: not so large that doubles skip some, and without noise none below 0.
    pub fn takes(&self, noisy: i64) -> bool {
        noisy.unsigned_abs() <= LARGEST.unsigned_abs() && (noisy >= 0 || !self.is_exact())
    }

    /// Whether counts have no noise.
    pub fn is_exact(&self) -> bool {
        matches!(self.form, Form::Exact)
    }

    /// How much the noise may be at most, and its variance, where its law is listed.
    pub fn reach(&self) -> Option<(i64, f64)> {
        let Form::Sums { log_law, .. } = &self.form else { return None };
        let variance = (0u32..).zip(log_law).map(|(k, l)| 2.0 * f64::from(k).powi(2) * l.exp()).sum();
        Some((log_law.len() as i64 - 1, variance))
    }

    /// The logarithm of the probability that the noise is so much, where its law is listed.
    pub fn log_noise(&self, k: i64) -> f64 {
        let Form::Sums { log_law, .. } = &self.form else { return f64::NAN };
        usize::try_from(k.unsigned_abs()).ok().and_then(|k| log_law.get(k)).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// The likelihood of a noisy count at the log rate a, which may be -inf.
    pub fn cell(&self, noisy: i64, a: f64) -> Cell {
        match &self.form {
            Form::Exact => {
                let (c, rate) = (noisy as f64, a.exp());
                Cell { log: power(c, a) - rate - libm::lgamma(c + 1.0), log_slope: c - rate, mean: c, ..Cell::default() }
            }
            Form::Sums { log_law, steps } => sum_from_mode(log_law, steps, noisy, a),
            Form::Normal(mixture) => normal(mixture, noisy as f64, a.exp()),
        }
    }
}

/// The steps of a law.
fn sums(log_law: Vec<f64>) -> Form {
    // Bounded for noise so small that probabilities leave the doubles.
    let falls: Vec<f64> = log_law.windows(2).map(|w| if let [a, b] = w { (b - a).clamp(-STEEP, 0.0).exp() } else { 1.0 }).collect();
    let steps = falls.iter().rev().map(|f| 1.0 / f).chain(falls.iter().copied()).collect();
    Form::Sums { log_law, steps }
}

/// `c a`, where 0 times an infinite a is 0.
fn power(c: f64, a: f64) -> f64 {
    if c == 0.0 { 0.0 } else { c * a }
}

fn sum_from_mode(log_law: &[f64], steps: &[f64], noisy: i64, a: f64) -> Cell {
    let x = a.exp();
    let reach = (log_law.len() as i64).saturating_sub(1);
    // Noise that would have to reach to its end is read as if it nearly did.
    let noisy = noisy.max(1i64.saturating_sub(reach));
    let lowest = noisy.saturating_sub(reach);
    // Step j leads from the count `base + j` to the next.
    let base = lowest as f64;
    let (mut from, mut to) = (lowest.min(0).unsigned_abs() as usize, steps.len());
    while from < to {
        let j = from.midpoint(to);
        let ratio = x * steps.get(j).copied().unwrap_or(0.0);
        if ratio >= base + j as f64 + 1.0 { from = j + 1 } else { to = j }
    }
    let mode = base + from as f64;
    let away = mode - noisy as f64;
    let log_noise = log_law.get(away.abs() as usize).copied().unwrap_or(f64::NEG_INFINITY);
    // Sums of the powers of c - mode, in units of the term at the mode.
    let mut sums = [1.0, 0.0, 0.0, 0.0];
    let mut add = |k: f64, term: f64| {
        let kk = k * k;
        sums.iter_mut().zip([1.0, k, kk, kk * k]).for_each(|(s, p)| *s += p * term);
        term < SMALL
    };
    let (below, above) = steps.split_at(from.min(steps.len()));
    let (mut term, mut c) = (1.0, mode);
    for step in above {
        c += 1.0;
        term *= x * step / c;
        if add(c - mode, term) {
            break;
        }
    }
    let (mut term, mut c) = (1.0, mode);
    for step in below.iter().rev() {
        if c <= 0.0 {
            break;
        }
        term *= c / (x * step);
        c -= 1.0;
        if add(c - mode, term) {
            break;
        }
    }
    let [s0, s1, s2, s3] = sums;
    let (m1, m2, m3) = (s1 / s0, s2 / s0, s3 / s0);
    let (mean, variance) = (mode + m1, m2 - m1 * m1);
    Cell {
        log: log_noise + power(mode, a) - libm::lgamma(mode + 1.0) - x + s0.ln(),
        log_slope: mean - x,
        mean,
        mean_slope: variance,
        variance,
        variance_slope: m3 - 3.0 * m1 * m2 + 2.0 * m1 * m1 * m1,
    }
}

/// A mixture of the normal forms of a cell. Means are kept as what they are above that of the first, which is computed alone.
fn normal(mixture: &[(f64, f64)], noisy: f64, rate: f64) -> Cell {
    let gap = noisy - rate;
    let log = |v: f64| -0.5 * (TAU * (rate + v)).ln() - gap * gap / (2.0 * (rate + v));
    let most = mixture.iter().map(|(w, v)| w.ln() + log(*v)).fold(f64::NEG_INFINITY, f64::max);
    // What the count is above the noisy one, and its slope.
    let mean_at = |v: f64| (-gap * v / (rate + v), rate * v / (rate + v) * (1.0 + gap / (rate + v)));
    let (first, first_slope) = mean_at(mixture.first().map_or(0.0, |(_, v)| *v));
    // Of f, f', E f, (E f)', (V + E^2) f and ((V + E^2) f)'.
    let mut sums = [0.0; 6];
    for (weight, v) in mixture {
        let f = weight * (log(*v) - most).exp();
        let total = rate + v;
        let slope = rate * (gap / total + (gap * gap / total - 1.0) / (2.0 * total));
        let part = v / total;
        let (mean, mean_slope) = mean_at(*v);
        let (mean, mean_slope) = (mean - first, mean_slope - first_slope);
        let (variance, variance_slope) = (rate * part, rate * part * part);
        let second = variance + mean * mean;
        let second_slope = variance_slope + 2.0 * mean * mean_slope;
        let parts = [1.0, slope, mean, mean_slope + mean * slope, second, second_slope + second * slope];
        sums.iter_mut().zip(parts).for_each(|(s, p)| *s += f * p);
    }
    let [f, slope, mean, mean_slope, second, second_slope] = sums;
    let (log_slope, mean, second) = (slope / f, mean / f, second / f);
    let mean_slope = mean_slope / f - mean * log_slope;
    let second_slope = second_slope / f - second * log_slope;
    Cell {
        log: most + f.ln(),
        log_slope,
        mean: noisy + first + mean,
        mean_slope: first_slope + mean_slope,
        variance: second - mean * mean,
        variance_slope: second_slope - 2.0 * mean * mean_slope,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAUSS: fn(f64) -> Noise = |sigma| Noise::RoundedGaussian { sigma };
    const GEOM: fn(f64) -> Noise = |scale| Noise::Geometric { scale };

    fn law(noise: Noise, noises: u32, widest: f64) -> NoisyCount {
        NoisyCount::with_sums_to(noise, noises, widest).unwrap()
    }

    /// By the definition; the normal law by Simpson's rule.
    fn one_noise(noise: Noise, k: i64) -> f64 {
        match noise {
            Noise::Geometric { scale } => {
                let weight = |k: i64| (-(k.abs() as f64) / scale).exp();
                weight(k) / (-2000..=2000).map(weight).sum::<f64>()
            }
            Noise::RoundedGaussian { sigma } => {
                let density = |i: i32| {
                    let x = (k as f64 - 0.5 + f64::from(i) / 400.0) / sigma;
                    let weight = if i == 0 || i == 400 { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                    weight * (-x * x / 2.0).exp()
                };
                (0..=400).map(density).sum::<f64>() / 1200.0 / sigma / std::f64::consts::TAU.sqrt()
            }
            Noise::RoundedLaplace { scale } => {
                let beyond = |x: f64| 0.5 * (-x / scale).exp();
                let k = k.abs() as f64;
                if k == 0.0 { 1.0 - 2.0 * beyond(0.5) } else { beyond(k - 0.5) - beyond(k + 0.5) }
            }
        }
    }

    /// The law of a sum of noises from -n to n, by adding one after the other.
    fn brute_law(noise: Noise, noises: u32, n: i64) -> Vec<f64> {
        let one: Vec<f64> = (-n..=n).map(|k| one_noise(noise, k)).collect();
        let at = |p: &[f64], k: i64| usize::try_from(k + n).ok().and_then(|i| p.get(i).copied()).unwrap_or(0.0);
        (1..noises).fold(one.clone(), |sum, _| (-n..=n).map(|k| (-n..=n).map(|j| at(&sum, j) * at(&one, k - j)).sum()).collect())
    }

    const CASES: [(Noise, u32); 9] = [
        (Noise::RoundedLaplace { scale: 0.4 }, 1),
        (Noise::RoundedLaplace { scale: 2.2 }, 1),
        (Noise::RoundedGaussian { sigma: 0.3 }, 1),
        (Noise::RoundedGaussian { sigma: 2.0 }, 1),
        (Noise::RoundedGaussian { sigma: 5.0 }, 1),
        (Noise::RoundedGaussian { sigma: 1.0 }, 3),
        (Noise::Geometric { scale: 0.4 }, 1),
        (Noise::Geometric { scale: 2.5 }, 1),
        (Noise::Geometric { scale: 1.2 }, 4),
    ];

    #[test]
    fn noise_is_as_defined() {
        for (noise, noises) in CASES {
            let Form::Sums { log_law, steps } = law(noise, noises, 40.0).form else { panic!() };
            let brute = brute_law(noise, noises, 150);
            assert_eq!(steps.len(), 2 * (log_law.len() - 1));
            let mass = log_law[0].exp() + 2.0 * log_law.iter().skip(1).map(|l| l.exp()).sum::<f64>();
            assert!((mass - 1.0).abs() < 3e-15 * f64::from(noises), "{noise:?} {noises}: {mass:e}");
            for (k, l) in log_law.iter().enumerate().take(40) {
                let expected = brute[150 + k].ln();
                assert!(expected < -70.0 || (l - expected).abs() < 1e-6, "{noise:?} {noises} {k}: {l} against {expected}");
            }
        }
    }

    /// Products instead of logarithms, and moments by their definition.
    fn brute_cell(law: &[f64], noisy: i64, a: f64) -> [f64; 3] {
        let (mut poisson, mut sums) = ((-a.exp()).exp(), [0.0; 3]);
        for c in 0..140i64 {
            let p = poisson * usize::try_from(noisy - c + 150).ok().and_then(|i| law.get(i).copied()).unwrap_or(0.0);
            sums.iter_mut().zip([1.0, c as f64, (c * c) as f64]).for_each(|(s, x)| *s += p * x);
            poisson *= a.exp() / (c + 1) as f64;
        }
        let [f, m, s] = sums;
        [f.ln(), m / f, s / f - (m / f) * (m / f)]
    }

    #[test]
    fn sums_agree_with_the_definition() {
        for (noise, noises) in CASES {
            let (found, brute) = (law(noise, noises, 40.0), brute_law(noise, noises, 150));
            let wrong = match noise {
                Noise::Geometric { scale } => law(GEOM(1.2 * scale), noises, 40.0),
                Noise::RoundedGaussian { sigma } => law(GAUSS(1.2 * sigma), noises, 40.0),
                Noise::RoundedLaplace { scale } => law(Noise::RoundedLaplace { scale: 1.2 * scale }, noises, 40.0),
            };
            let mut worst = 0.0f64;
            for noisy in [-3, 0, 1, 4, 17] {
                for a in [-3.0, -0.5, 0.7, 2.0, 3.2] {
                    let (Cell { log, mean, variance, .. }, expected) = (found.cell(noisy, a), brute_cell(&brute, noisy, a));
                    // Further out the cut of the noise shows.
                    if expected[0] > -15.0 {
                        for (found, expected) in [log, mean, variance].into_iter().zip(expected) {
                            assert!((found - expected).abs() < 2e-8 * (1.0 + expected.abs()), "{noise:?} {noisy} {a}: {found} {expected}");
                        }
                        worst = worst.max((wrong.cell(noisy, a).log - expected[0]).abs());
                    }
                }
            }
            assert!(worst > 0.05, "{worst}");
        }
    }

    /// A noisy count that noise so small hardly makes still has the exact count nearest to it, and the slope of its law; the least such count is 0.
    #[test]
    fn far_out_the_likelihood_keeps_its_slope() {
        for scale in [1e-7, 1e-4, 0.003, 0.02] {
            for noise in [GEOM(scale), GAUSS(scale), Noise::RoundedLaplace { scale }] {
                for (noises, noisy, count) in [(1, -1, 0.0), (1, -3, 0.0), (1, 0, 0.0), (1, 7, 7.0), (3, -3, 0.0), (3, 2, 2.0)] {
                    for a in [-9.0, -1.0, 1.0, 2.0] {
                        let Cell { log, mean, log_slope, .. } = law(noise, noises, 40.0).cell(noisy, a);
                        let near = |x: f64, y: f64| (x - y).abs() < 1e-6 * (1.0 + y.abs());
                        assert!(
                            near(mean, count) && near(log_slope, count - a.exp()),
                            "{noise:?} {noises} {noisy} {a}: {mean} {log_slope}"
                        );
                        assert!(log.is_finite());
                    }
                }
            }
        }
    }

    fn agree(found: f64, expected: f64, scale: f64, what: &str) {
        assert!((found - expected).abs() <= 1e-6 * (expected.abs() + scale), "{what}: {found} against {expected}");
    }

    #[test]
    fn slopes_are_derivatives() {
        for widest in [40.0, 0.0] {
            for (noise, noises) in CASES.into_iter().chain([(GAUSS(30.0), 1), (GEOM(20.0), 2), (GAUSS(0.0), 1)]) {
                let law = law(noise, noises, widest);
                for noisy in [-20, -2, 0, 3, 40, 1000] {
                    for a in [-6.0, -1.0, 1.0, 3.0, 6.9, 8.0] {
                        if !law.takes(noisy) {
                            continue;
                        }
                        let (h, at) = (1e-4, |d: f64| law.cell(noisy, a + d));
                        let slope =
                            |of: fn(&Cell) -> f64| (8.0 * (of(&at(h)) - of(&at(-h))) - (of(&at(2.0 * h)) - of(&at(-2.0 * h)))) / (12.0 * h);
                        let (cell, what) = (at(0.0), format!("{noise:?} {noises} {noisy} {a} {widest}"));
                        let scale = 1.0 + 1e-3 * cell.log.abs();
                        agree(cell.log_slope, slope(|c| c.log), scale, &what);
                        agree(cell.mean_slope, slope(|c| c.mean), scale, &what);
                        agree(cell.variance_slope, slope(|c| c.variance), 1.0 + cell.variance + 1e-3 * cell.mean.abs(), &what);
                    }
                }
            }
        }
    }

    /// Total variation of the posteriors of a under a flat prior on [-3, ..), on a grid of steps much finer than its width.
    fn apart(p: &NoisyCount, q: &NoisyCount, noisy: i64) -> f64 {
        let posterior = |l: &NoisyCount| {
            let logs: Vec<f64> = (0..2000).map(|i| l.cell(noisy, -3.0 + 0.007 * f64::from(i)).log).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let f: Vec<f64> = logs.iter().map(|l| (l - most).exp()).collect();
            let all: f64 = f.iter().sum();
            f.into_iter().map(|f| f / all).collect::<Vec<_>>()
        };
        0.5 * posterior(p).iter().zip(posterior(q)).map(|(p, q)| (p - q).abs()).sum::<f64>()
    }

    /// Largest near a count of twice the variance: about 0.05 / sd.
    #[test]
    fn normal_forms_are_as_near_as_stated() {
        for (noise, noises) in
            [(GAUSS(40.0), 1), (GAUSS(20.0), 4), (GEOM(28.3), 1), (GEOM(14.15), 4), (Noise::RoundedLaplace { scale: 28.3 }, 1)]
        {
            let (sums, normal) = (law(noise, noises, 1e9), law(noise, noises, 39.0));
            assert!(matches!(normal.form, Form::Normal(_)));
            let worst = [-80, 0, 40, 120, 500, 3200, 8000].map(|noisy| apart(&sums, &normal, noisy)).into_iter().fold(0.0, f64::max);
            assert!(worst < 0.0015 && worst > 1e-4, "{noise:?} {noises}: {worst}");
        }
        // Where sums are taken they are needed; one normal law is not enough for geometric noise.
        assert!(apart(&law(GAUSS(2.0), 1, 40.0), &law(GAUSS(2.0), 1, 0.0), 8) > 0.02);
        let one = NoisyCount { form: Form::Normal(vec![(1.0, 1600.0)]) };
        assert!(apart(&law(GEOM(28.3), 1, 40.1), &one, 120) > 0.03);
    }

    #[test]
    fn extremes_do_not_panic() {
        let laws =
            [(GAUSS(0.0), 1), (GAUSS(1e-300), 1), (GEOM(1e-300), 3), (GAUSS(3.0), 2), (GEOM(3.0), 1), (GAUSS(1e6), 9), (GEOM(9e8), 2)];
        for (noise, noises) in laws {
            let law = law(noise, noises, 40.0);
            for noisy in [-LARGEST, -50, 0, 7, 1000, LARGEST] {
                for a in [f64::NEG_INFINITY, -f64::MAX, -800.0, 0.0, 30.0, 800.0, f64::MAX, f64::INFINITY, f64::NAN] {
                    if law.takes(noisy) {
                        let Cell { log, log_slope, .. } = law.cell(noisy, a);
                        assert!(log < 1.0 || log.is_nan(), "{noise:?} {noisy} {a}: {log}");
                        assert!(!log.is_finite() || log_slope.is_finite(), "{noise:?} {noisy} {a}: {log_slope}");
                    }
                }
            }
        }
        assert!(!law(GAUSS(0.0), 1, 40.0).takes(-1) && !law(GAUSS(1.0), 1, 40.0).takes(i64::MIN));
        for (noise, noises) in [(GAUSS(-1.0), 1), (GEOM(f64::NAN), 1), (GEOM(f64::INFINITY), 1), (GAUSS(1.0), 0)] {
            assert!(NoisyCount::new(noise, noises).is_err());
        }
        // No expected count: the noise alone.
        assert!((law(GAUSS(2.0), 1, 40.0).cell(3, -f64::MAX).log - one_noise(GAUSS(2.0), 3).ln()).abs() < 1e-9);
    }
}
