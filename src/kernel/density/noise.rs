//! Noise on the integers that a count is released with: its law, the law of sums of it, and its form as a mixture of normal laws.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::kernel::family::hazard;

/// `ln(sqrt(2 pi))`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;
/// Noise is cut where less than `exp(-37)` = 1e-16 of its mass is left.
const TAIL: f64 = 37.0;

/// Logarithms stay above so much a step out: only the laws of noise with an sd below 0.01 fall faster. They keep falling: where a law became level, counts that
/// need such noise would all be as likely, and a chain that starts far out, or a noisy count below 0, would see no slope.
const LEAST: f64 = -1e6;
/// So much the logarithm of a sum of noises falls a step where doubles end; no step of a law counts as steeper (`sums` in `noisy_count.rs`).
pub(super) const STEEP: f64 = 600.0;

/// One noise on the integers; a scale of 0 means none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Noise {
    /// `P(k) ~ exp(-|k| / scale)`
    Geometric { scale: f64 },
    /// Normal(0, sigma^2), rounded.
    RoundedGaussian { sigma: f64 },
    /// Laplace of this scale, rounded: `P(k) = sinh(1 / (2 scale)) exp(-|k| / scale)` but for 0.
    RoundedLaplace { scale: f64 },
}

impl Noise {
    /// Sums of m noises beyond this have less than `exp(-TAIL)` of the mass on either side: by Chernoff's bound.
    fn reach(self, m: f64) -> f64 {
        let reach = match self {
            Noise::Geometric { scale } => {
                let scale = scale.max(0.02);
                let q = (-1.0 / scale).exp();
                let bound = |part: i32| {
                    let t = f64::from(part) / 100.0 / scale;
                    let log_moment = 2.0 * (-q).ln_1p() - (-q * t.exp()).ln_1p() - (-q * (-t).exp()).ln_1p();
                    (TAIL + m * log_moment) / t
                };
                (1..100).map(bound).fold(f64::INFINITY, f64::min)
            }
            // One alone has tails of exp(-|k| / scale); beyond a half for each, so many Laplace numbers, with E exp(t X) = 1 / (1 - t^2 scale^2).
            Noise::RoundedLaplace { scale } => {
                let t = 0.5 / scale.max(0.02);
                (TAIL - m * 0.75f64.ln()) / t + 0.5 * m
            }
            // Rounding moves a number by at most 1/2.
            Noise::RoundedGaussian { sigma } => (2.0 * TAIL * m * (sigma * sigma + 0.25)).sqrt(),
        };
        reach.ceil() + 1.0
    }

    /// `ln P(k)`
    fn log_law(self, k: f64) -> f64 {
        match self {
            Noise::Geometric { scale } => (0.5 / scale).tanh().ln() - k.abs() / scale,
            Noise::RoundedGaussian { sigma } => between((k - 0.5) / sigma, (k + 0.5) / sigma).log,
            Noise::RoundedLaplace { scale } if k == 0.0 => (-libm::expm1(-0.5 / scale)).ln(),
            // sinh without leaving the doubles.
            Noise::RoundedLaplace { scale } => (0.5 - k.abs()) / scale + (-0.5 * libm::expm1(-1.0 / scale)).ln(),
        }
    }

    /// `ln g(k)` of the sum of so many noises, for k from 0 as far as it reaches.
    pub(super) fn sum_law(self, noises: u32) -> Vec<f64> {
        let reach = self.reach(f64::from(noises)) as usize;
        let one: Vec<f64> = (0..=reach).map(|k| self.log_law(k as f64).max(LEAST * (k as f64 + 1.0))).collect();
        if noises == 1 {
            return one;
        }
        let mut power: Vec<f64> = one.iter().map(|l| l.exp()).collect();
        let mut sum: Option<Vec<f64>> = None;
        let mut left = noises;
        while left > 0 {
            if left % 2 == 1 {
                sum = Some(sum.map_or_else(|| power.clone(), |s| convolve(&s, &power)));
            }
            left /= 2;
            if left > 0 {
                power = convolve(&power, &power);
            }
        }
        let least = f64::MIN_POSITIVE.ln();
        let log = |(k, p): (usize, &f64)| if *p > f64::MIN_POSITIVE { p.ln() } else { least - STEEP * k as f64 };
        sum.unwrap_or(power).iter().enumerate().map(log).collect()
    }

    pub(super) fn variance(self) -> f64 {
        match self {
            Noise::Geometric { scale } => 0.5 / (0.5 / scale).sinh().powi(2),
            Noise::RoundedGaussian { sigma } => sigma * sigma + 1.0 / 12.0,
            // 2 sinh(h) sum of k^2 exp(-2 h k), with h = 1 / (2 scale).
            Noise::RoundedLaplace { scale } => {
                let h = (0.5 / scale).min(300.0);
                0.5 * h.cosh() / h.sinh().powi(2)
            }
        }
    }

    /// Weights and variances of normal laws: Laplace noises of scale s, given a Gamma(m) number times 2 s^2 as their variance, have
    /// a normal sum.
    pub(super) fn mixture(self, m: f64) -> Vec<(f64, f64)> {
        let variance = match self {
            Noise::RoundedGaussian { .. } => return vec![(1.0, m * self.variance())],
            Noise::Geometric { .. } | Noise::RoundedLaplace { .. } => self.variance(),
        };
        // The trapezoidal rule in the logarithm u of the Gamma(m) number.
        let (step, highest) = (0.5 / m.sqrt(), (m + 9.0 * m.sqrt() + 40.0).ln());
        let node = |i: i32| {
            let u = highest - f64::from(i) * step;
            (step * (m * u - u.exp() - libm::lgamma(m)).exp(), variance * u.exp())
        };
        let mut nodes: Vec<_> = (0..).map_while(|i| (highest - f64::from(i) * step > -20.0).then(|| node(i))).collect();
        nodes.retain(|(w, _)| *w > 1e-13);
        let all: f64 = nodes.iter().map(|(w, _)| w).sum();
        nodes.iter_mut().for_each(|(w, _)| *w /= all);
        nodes
    }
}

/// The law of the sum of two symmetric numbers, from 0 to the same end.
fn convolve(p: &[f64], q: &[f64]) -> Vec<f64> {
    let both = |p: &[f64]| -> Vec<f64> { p.iter().skip(1).rev().chain(p).copied().collect() };
    let (p, q) = (both(p), both(q));
    // Number k is entry k + n of either.
    let n = p.len() / 2;
    // q is symmetric: it may be read forwards.
    (0..=n).map(|k| p.iter().skip(k).zip(&q).map(|(p, q)| p * q).sum()).collect()
}

/// `ln(Phi(high) - Phi(low))` with its derivatives: `low` falls, `high` rises.
#[derive(Clone, Copy, Debug)]
pub struct Between {
    pub log: f64,
    pub by_low: f64,
    pub by_high: f64,
}

/// The part of the standard normal law between two numbers, `low < high`.
pub fn between(low: f64, high: f64) -> Between {
    if low + high < 0.0 {
        let Between { log, by_low, by_high } = between(-high, -low);
        return Between { log, by_low: -by_high, by_high: -by_low };
    }
    if low < 0.0 {
        let part = 0.5 * (libm::erf(high * FRAC_1_SQRT_2) - libm::erf(low * FRAC_1_SQRT_2));
        let density = |x: f64| (-0.5 * x * x - LN_ROOT).exp();
        return Between { log: part.ln(), by_low: -density(low) / part, by_high: density(high) / part };
    }
    // Tails beyond both ends: the far one is `exp(-fall)` of the near one.
    let ((near, loss), (far, far_loss)) = (hazard(low), hazard(high));
    let kept = -libm::expm1(loss - far_loss);
    Between { log: kept.ln() - loss, by_low: -near / kept, by_high: far * (1.0 - kept) / kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_normal_law() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() <= 1e-6 * (expected.abs() + 1e-3), "{found} {expected}");
        for (low, high) in [(-1.0, 2.0), (0.5, 0.6), (-3.0, -2.9), (4.1, 5.0), (-0.1, 0.1), (7.0, 9.0)] {
            let part =
                (0..4000).map(|i| low + (high - low) * (f64::from(i) + 0.5) / 4000.0).map(|x: f64| (-x * x / 2.0).exp()).sum::<f64>();
            let expected = (part * (high - low) / 4000.0 / std::f64::consts::TAU.sqrt()).ln();
            let Between { log, by_low, by_high } = between(low, high);
            assert!((log - expected).abs() < 1e-4, "{low} {high}: {log} {expected}");
            near(by_low, (between(low + 1e-5, high).log - between(low - 1e-5, high).log) / 2e-5);
            near(by_high, (between(low, high + 1e-5).log - between(low, high - 1e-5).log) / 2e-5);
        }
        assert!(between(1e6, 1e6 + 1.0).log < -4e11 && between(-1e6, 1e6).log == 0.0);
    }

    /// However small the noise is and however many noises are added.
    #[test]
    fn laws_are_finite_and_fall_everywhere() {
        for scale in [1e-9, 1e-6, 1e-4, 0.003, 0.01, 0.05, 0.3, 2.0, 20.0] {
            for noise in [Noise::Geometric { scale }, Noise::RoundedGaussian { sigma: scale }, Noise::RoundedLaplace { scale }] {
                for noises in [1, 2, 5] {
                    let law = noise.sum_law(noises);
                    assert!(law.iter().all(|l| l.is_finite()), "{noise:?} {noises}");
                    assert!(law.windows(2).all(|w| w[1] < w[0]), "{noise:?} {noises}: {law:?}");
                }
                // From an sd of 0.01 on no logarithm of one noise is cut.
                let whole = |(k, l): (usize, &f64)| *l == noise.log_law(k as f64);
                assert!(scale < 0.01 || noise.sum_law(1).iter().enumerate().all(whole), "{noise:?}");
            }
        }
    }
}
