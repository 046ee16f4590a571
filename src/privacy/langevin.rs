//! Langevin chains (rule book §14): what their last state costs, and a step size and length from public facts.
//!
//! `theta <- Proj(theta - h grad F(theta) + sqrt(2 h) N(0, I))`, K times from a start that does not depend on the data; only
//! the last state is released. No convergence is assumed: the cost holds for every K.

use crate::numeric::round::{add_down, add_up, div_up, mul_down, mul_up, sqrt_up, sub_down, sub_up};

/// A chain on potentials that are `strong`-convex and `smooth`, for every data set.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Langevin {
    /// m: at most the least eigenvalue of the Hessian, everywhere.
    pub strong: f64,
    /// M: at least the largest eigenvalue.
    pub smooth: f64,
    /// h, at most `2 / (m + M)`.
    pub step: f64,
    /// K, at least 1.
    pub steps: u64,
}

/// How near the chain shall come to the posterior; privacy does not depend on it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Accuracy {
    /// By how much, relatively, the variance along a direction of curvature M may exceed that of a Gaussian posterior.
    /// Along a direction of curvature l it is by `h l / (2 - h l)`, less than `l / M` of this.
    pub variance: f64,
    /// What may be left of the start, in units of `1 / sqrt(m)`, the largest standard deviation a posterior can have.
    pub start: f64,
}

impl Default for Accuracy {
    /// A quarter more variance if all rows pointed the same way and sat at the steepest place of the loss; a twentieth of
    /// a standard deviation.
    fn default() -> Accuracy {
        Accuracy { variance: 0.25, start: 0.05 }
    }
}

impl Langevin {
    /// Step size and length for an accuracy.
    ///
    /// `excess` is at least `F(start) - min F` for every data set: for a start at the prior mean, the weight times n times
    /// the largest loss there (`ln 2` for logistic regression). As F is m-strongly convex, the start is at most
    /// `sqrt(2 excess / m)` from the minimum, and every step brings it nearer by the factor `1 - h m`.
    ///
    /// `None` unless `0 < m <= M`, and accuracy and excess are positive and finite, or for more than 2^40 steps.
    pub fn planned((strong, smooth): (f64, f64), excess: f64, accuracy: Accuracy) -> Option<Langevin> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !(positive(strong) && positive(smooth) && strong <= smooth && positive(accuracy.variance) && positive(accuracy.start)) {
            return None;
        }
        if !(excess.is_finite() && excess >= 0.0) {
            return None;
        }
        let b = accuracy.variance;
        let largest = 2.0 / (strong + smooth) * (1.0 - 1e-15);
        let step = (2.0 * b / ((1.0 + b) * smooth)).min(largest);
        let distance = (2.0 * excess).sqrt().max(1.0);
        let steps = ((distance / accuracy.start).ln() / -libm::log1p(-step * strong)).ceil().max(1.0);
        if steps > (1u64 << 40) as f64 {
            return None;
        }
        let chain = Langevin { strong, smooth, step, steps: steps as u64 };
        chain.is_valid().then_some(chain)
    }

    /// The premises of the theorem, with rounding against us.
    fn is_valid(&self) -> bool {
        let Langevin { strong, smooth, step, steps } = *self;
        let numbers = strong > 0.0 && strong <= smooth && smooth.is_finite() && step > 0.0;
        numbers && mul_up(step, add_up(strong, smooth)) <= 2.0 && steps >= 1
    }

    /// The release is mu-GDP for this mu, where gradients of neighbours differ by at most `gradient` in norm; rounded up.
    ///
    /// `mu^2 = (1 - q^K) / (1 + q^K) (1 + q) / (1 - q) h G^2 / 2` with `q = 1 - h m`, which is the larger of `|1 - h m|` and
    /// `|1 - h M|` as `h <= 2 / (m + M)`; so `(1 + q) / (1 - q) h / 2 = (2 - h m) / (2 m)`. `None` where a premise fails.
    pub fn mu(&self, gradient: f64) -> Option<f64> {
        if !self.is_valid() || !(gradient.is_finite() && gradient >= 0.0) {
            return None;
        }
        let left = power_down(sub_down(1.0, mul_up(self.step, self.strong)).max(0.0), self.steps);
        let finite = div_up(sub_up(1.0, left), add_down(1.0, left));
        let long = div_up(sub_up(2.0, mul_down(self.step, self.strong)), mul_down(2.0, self.strong));
        Some(mul_up(gradient, sqrt_up(mul_up(finite, long))))
    }
}

/// At most `q^k` for q in [0, 1].
fn power_down(q: f64, mut k: u64) -> f64 {
    let (mut power, mut square) = (1.0, q);
    while k > 0 {
        if k & 1 == 1 {
            power = mul_down(power, square).max(0.0);
        }
        square = mul_down(square, square).max(0.0);
        k >>= 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Gaussian target attains the bound: mean shift `h G (1 - q^K) / (1 - q)`, variance `2 h (1 - q^2K) / (1 - q^2)`.
    /// In extended precision, by another formula.
    #[test]
    fn equality_for_gaussian_targets() {
        use dashu::float::DBig;
        use std::str::FromStr;
        let exact = |x: f64| DBig::from_str(&format!("{x:e}")).unwrap().with_precision(60).value();
        for (m, condition) in [(1.0, 1.0), (0.3, 10.0), (55.7, 150.0), (1e-3, 1e5), (7e4, 3.0)] {
            for (share, steps) in [(0.999, 1u64), (0.5, 2), (0.1, 7), (0.9, 40), (0.02, 1_000), (0.3, 100_000)] {
                let smooth = m * condition;
                let step = share * 2.0 / (m + smooth);
                let chain = Langevin { strong: m, smooth, step, steps };
                let (h, one) = (exact(step), exact(1.0));
                let q = &one - &h * exact(m);
                let qk = (0..steps).fold(one.clone(), |p, _| &p * &q);
                let shift = &h * (&one - &qk) / (&one - &q);
                let variance = exact(2.0) * &h * (&one - &qk * &qk) / (&one - &q * &q);
                let squared = (&shift * &shift / &variance).to_f64().value();
                let mu = chain.mu(1.0).unwrap();
                assert!(mu >= squared.sqrt() * (1.0 - 2e-16), "{chain:?}: {mu} below {}", squared.sqrt());
                assert!(mu <= squared.sqrt() * (1.0 + 1e-9), "{chain:?}: {mu} above {}", squared.sqrt());
            }
        }
    }

    /// Never more than the ideal posterior draw, `G / sqrt(m)` (golden: glm_gaussian_prior), and nearly that for small steps.
    #[test]
    fn at_most_the_ideal_draw() {
        for (g, m, golden) in [(2.0, 10.0, 0.6324555320336759), (1.0, 1000.0, 0.03162277660168379), (2.0, 50.0, 0.282842712474619)] {
            for steps in [1, 3, 100, 1 << 30] {
                let mu = Langevin { strong: m, smooth: 40.0 * m, step: 1e-3 / m, steps }.mu(g).unwrap();
                assert!(mu <= golden * (1.0 + 1e-12));
                assert!(steps < 1 << 30 || mu > 0.9997 * golden);
            }
        }
    }

    #[test]
    fn premises() {
        let good = Langevin { strong: 1.0, smooth: 3.0, step: 0.5, steps: 10 };
        assert!(good.mu(1.0).is_some());
        let bad = [
            Langevin { step: 0.5f64.next_up(), ..good },
            Langevin { step: 0.0, ..good },
            Langevin { steps: 0, ..good },
            Langevin { strong: 0.0, ..good },
            Langevin { strong: 4.0, ..good },
            Langevin { smooth: f64::INFINITY, ..good },
            Langevin { step: f64::NAN, ..good },
        ];
        assert!(bad.iter().all(|c| c.mu(1.0).is_none()));
        assert!(good.mu(f64::INFINITY).is_none() && good.mu(-1.0).is_none() && good.mu(f64::NAN).is_none());
        assert!(Langevin::planned((0.0, 1.0), 1.0, Accuracy::default()).is_none());
        assert!(Langevin::planned((1e-9, 1e9), 1.0, Accuracy::default()).is_none());
    }

    #[test]
    fn plans_reach_their_accuracy() {
        for (m, smooth, excess) in [(1.0, 1.0, 0.0), (0.5, 400.0, 3e3), (55.0, 8e3, 2e4)] {
            let accuracy = Accuracy::default();
            let chain = Langevin::planned((m, smooth), excess, accuracy).unwrap();
            let inflation = chain.step * smooth / (2.0 - chain.step * smooth);
            assert!(inflation <= accuracy.variance * 1.000001, "{inflation}");
            let left = (2.0 * excess).sqrt().max(1.0) * (1.0 - chain.step * m).powf(chain.steps as f64);
            assert!(left <= accuracy.start * 1.000001 && left >= accuracy.start * 0.8, "{left}");
        }
    }
}
