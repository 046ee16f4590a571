//! Langevin chains of one step size (rule book §14): what their last state costs.
//!
//! `theta <- Proj(theta - h grad F(theta) + sqrt(2 h) N(0, I))`, K times from a start that does not depend on the data; only
//! the last state is released. No convergence is assumed: the cost holds for every K, and never exceeds that of the ideal
//! draw. Releases are certified at the ideal draw, which also covers chains of several step sizes (`mechanism::langevin`).

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

impl Langevin {
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
        if !(self.is_valid() && gradient.is_finite() && gradient >= 0.0) {
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
        use dashu_float::DBig;
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
    }
}
