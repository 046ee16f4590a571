//! Moments of a normal number that is moved into [-1, 1], with their derivatives.

use super::products::at;

/// The standard normal density.
pub(super) fn normal(x: f64) -> f64 {
    (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

/// `P(Z > x)`
pub(super) fn normal_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// A normal number moved into [-1, 1].
pub(super) struct Moved {
    mean: f64,
    sd: f64,
    /// `E z^k` where the number is inside, k = 0..=5, of its standardised value z.
    inside: [f64; 6],
    below: f64,
    above: f64,
}

impl Moved {
    pub(super) fn new(mean: f64, sd: f64) -> Moved {
        let (a, b) = ((-1.0 - mean) / sd, (1.0 - mean) / sd);
        let edge = |x: f64, k: i32| if x.abs() > 40.0 { 0.0 } else { x.powi(k) * normal(x) };
        let (below, above) = (normal_tail(-a), normal_tail(b));
        let mut inside = [0.0; 6];
        let first = if a > 0.0 { normal_tail(a) - above } else { 1.0 - above - below };
        let (mut older, mut last) = (0.0, first);
        for (k, slot) in (0i32..).zip(&mut inside) {
            if k > 0 {
                let next = f64::from(k - 1) * older + edge(a, k - 1) - edge(b, k - 1);
                (older, last) = (last, next);
            }
            *slot = last;
        }
        Moved { mean, sd, inside, below, above }
    }

    /// `E[x^j z^i]` where x is inside.
    fn within(&self, power: usize, by_z: usize) -> f64 {
        let choose = |n: usize, k: usize| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
        (0..=power)
            .map(|k| choose(power, k) * self.mean.powi((power - k) as i32) * self.sd.powi(k as i32) * at(&self.inside, k + by_z))
            .sum()
    }

    /// The mean of a power from 1 to 4, and its derivatives by mean and standard deviation.
    pub(super) fn mean(&self, power: usize) -> (f64, f64, f64) {
        let low = if power.is_multiple_of(2) { 1.0 } else { -1.0 };
        let k = power as f64;
        (self.within(power, 0) + low * self.below + self.above, k * self.within(power - 1, 0), k * self.within(power - 1, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of normal numbers that are moved into their bounds, by sums over a grid.
    #[test]
    fn one_number_is_moved_into_its_bounds() {
        for (m, sd) in [(0.2, 0.7), (-1.3, 0.4), (0.0, 5.0), (0.9, 0.01)] {
            let moved = Moved::new(m, sd);
            let steps = 400_000;
            for power in 1..=4usize {
                let one = |i: usize| {
                    let z = -9.0 + 18.0 * (i as f64 + 0.5) / steps as f64;
                    (m + sd * z).clamp(-1.0, 1.0).powi(power as i32) * normal(z)
                };
                let mean = (0..steps).map(one).sum::<f64>() * 18.0 / steps as f64;
                assert!((moved.mean(power).0 - mean).abs() < 1e-8, "{m} {sd} {power}: {} {mean}", moved.mean(power).0);
            }
        }
    }
}
