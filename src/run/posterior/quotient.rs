//! The mean of the rows where something holds: what noise leaves open of a noisy sum over a noisy count.

use crate::numeric::quotient::{Curve, Quotient};

/// A quotient in [-1, 1] as a number between two bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    pub of: Quotient,
    pub lo: f64,
    pub hi: f64,
}

impl Share {
    fn half(self) -> f64 {
        0.5 * (self.hi - self.lo)
    }

    fn from(self, x: f64) -> f64 {
        (self.lo + self.half() * (x + 1.0)).clamp(self.lo, self.hi)
    }

    fn to(self, x: f64) -> f64 {
        (x - self.lo) / self.half() - 1.0
    }

    pub fn moments(self) -> (f64, f64) {
        let (mean, variance) = Curve::new(self.of).moments();
        (self.from(mean), variance * self.half() * self.half())
    }

    pub fn density(self, x: f64) -> f64 {
        Curve::new(self.of).density(self.to(x)) / self.half()
    }

    pub fn cdf(self, xs: &[f64]) -> Vec<f64> {
        let curve = Curve::new(self.of);
        xs.iter().map(|x| curve.cdf(self.to(*x))).collect()
    }

    pub fn quantiles(self, levels: &[f64]) -> Vec<f64> {
        let curve = Curve::new(self.of);
        levels.iter().map(|q| self.from(curve.quantile(q.clamp(0.0, 1.0)))).collect()
    }

    /// What the JSON has: the bounds, sum and count, and their noise.
    pub fn parameters(self) -> [f64; 6] {
        let Quotient { sum, count, noise: [a, b], .. } = self.of;
        [self.lo, self.hi, sum, count, a, b]
    }
}
