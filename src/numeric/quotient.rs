//! A noisy sum over a noisy count: what may be said of the quotient of the true ones (rule book, section 8.12).

use super::special::normal_cdf;

/// The law of noise of scale 1, the same for sum and count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    Normal,
    Laplace,
}

/// The sum of numbers in [-1, 1] and how many they are, each with independent noise of its own scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quotient {
    pub shape: Shape,
    pub sum: f64,
    pub count: f64,
    pub noise: [f64; 2],
}

/// Steps of the curve between -1 and 1; it is only followed between them where it turns, and then noise is as wide as all of it.
const STEPS: usize = 2048;
/// Slices of equal probability for means.
const SLICES: usize = 500;

/// `P(a X + b Y > t)` of independent X and Y, for t >= 0.
fn above(shape: Shape, [a, b]: [f64; 2], t: f64) -> f64 {
    let (a, b) = (a.abs().max(b.abs()), a.abs().min(b.abs()));
    let tail = |scale: f64| if scale > 0.0 { (-t / scale).exp() } else { 0.0 };
    match shape {
        Shape::Normal => 1.0 - normal_cdf(t / a.hypot(b)),
        // The two terms of the formula below cancel where the scales are near each other.
        Shape::Laplace if a - b <= 1e-5 * a => {
            let scale = 0.5 * (a + b);
            0.5 * (1.0 + 0.5 * t / scale) * tail(scale)
        }
        Shape::Laplace => (a * a * tail(a) - b * b * tail(b)) / (2.0 * (a - b) * (a + b)),
    }
}

/// The t that `a X + b Y` passes in size with a probability of 5 %.
pub fn bound(shape: Shape, noise: [f64; 2]) -> f64 {
    let (mut low, mut high) = (0.0, 10.0 * (noise[0].abs() + noise[1].abs()));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if above(shape, noise, middle) > 0.025 { low = middle } else { high = middle }
    }
    high
}

impl Quotient {
    /// Of the true quotient this is uniform on [0, 1], whatever the data: noise alone decides it.
    fn seen(&self, m: f64) -> f64 {
        let (noise, t) = ([self.noise[0], m * self.noise[1]], m * self.count - self.sum);
        if noise == [0.0, 0.0] || t.is_nan() {
            return 0.5;
        }
        let beyond = above(self.shape, noise, t.abs());
        if t < 0.0 { beyond } else { 1.0 - beyond }
    }
}

/// What noise leaves open of the quotient, as a law on [-1, 1]: its middle 90 % cover the true quotient in 90 % of all runs, or more.
///
/// Where the curve of [`Quotient::seen`] turns, the quotients that it does not exclude are several intervals; the law spans them all.
pub struct Curve {
    of: Quotient,
    /// The largest value up to each step, and the smallest from each step on.
    rise: Vec<f64>,
    fall: Vec<f64>,
}

impl Curve {
    pub fn new(of: Quotient) -> Curve {
        let at = |i: usize| of.seen(2.0 * i as f64 / STEPS as f64 - 1.0);
        let values: Vec<f64> = (0..=STEPS).map(at).collect();
        let running = |most: &mut f64, x: f64, of: fn(f64, f64) -> f64| {
            *most = of(*most, x);
            Some(*most)
        };
        let rise = values.iter().scan(0.0, |most, x| running(most, *x, f64::max)).collect();
        let mut fall: Vec<f64> = values.iter().rev().scan(1.0, |least, x| running(least, *x, f64::min)).collect();
        fall.reverse();
        Curve { of, rise, fall }
    }

    /// The probability of at most m.
    pub fn cdf(&self, m: f64) -> f64 {
        if m.is_nan() || m < -1.0 {
            return if m.is_nan() { m } else { 0.0 };
        }
        if m >= 1.0 {
            return 1.0;
        }
        let step = ((m + 1.0) / 2.0 * STEPS as f64) as usize;
        let (own, get) = (self.of.seen(m), |v: &[f64], i: usize| v.get(i).copied().unwrap_or(0.5));
        let (rise, fall) = (get(&self.rise, step).max(own), get(&self.fall, step + 1).min(own));
        if rise < 0.5 { rise } else { fall.max(0.5) }
    }

    /// The least m with a probability of at most m that is q.
    pub fn quantile(&self, q: f64) -> f64 {
        if q.is_nan() || self.cdf(-1.0) >= q {
            return if q.is_nan() { q } else { -1.0 };
        }
        let (mut low, mut high) = (-1.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.cdf(middle) < q { low = middle } else { high = middle }
        }
        high
    }

    /// Mean and variance.
    pub fn moments(&self) -> (f64, f64) {
        let all: Vec<f64> = (0..SLICES).map(|i| self.quantile((i as f64 + 0.5) / SLICES as f64)).collect();
        let mean = all.iter().sum::<f64>() / SLICES as f64;
        (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / SLICES as f64)
    }

    /// The density, as far as it has one.
    pub fn density(&self, m: f64) -> f64 {
        let step = (1e-3 * (self.quantile(0.75) - self.quantile(0.25))).max(1e-9);
        let (low, high) = ((m - step).max(-1.0), (m + step).min(1.0 - f64::EPSILON));
        if (-1.0..=1.0).contains(&m) { (self.cdf(high) - self.cdf(low)).max(0.0) / (high - low) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A generator for the tests: every other bit pattern of a linear congruence, as a number in (0, 1).
    fn dice(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn noise(shape: Shape, state: &mut u64) -> f64 {
        let u = dice(state);
        match shape {
            Shape::Normal => (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * dice(state)).cos(),
            Shape::Laplace => -u.ln() * if dice(state) < 0.5 { -1.0 } else { 1.0 },
        }
    }

    #[test]
    fn tails_are_those_of_draws() {
        let mut state = 1;
        for shape in [Shape::Normal, Shape::Laplace] {
            for scales in [[1.0, 0.0], [1.0, 0.3], [2.0, 2.0], [0.5, 3.0], [1.0, 1.0 - 5e-6]] {
                let t = bound(shape, scales);
                let n = 200_000;
                let far =
                    (0..n).filter(|_| (scales[0] * noise(shape, &mut state) + scales[1] * noise(shape, &mut state)).abs() > t).count();
                // Five standard deviations of a share of 200,000: one false alarm in 170,000 of these ten.
                assert!(
                    (far as f64 / f64::from(n) - 0.05).abs() < 5.0 * (0.05_f64 * 0.95 / f64::from(n)).sqrt(),
                    "{shape:?} {scales:?}: {far}"
                );
            }
        }
    }

    /// True quotients at the ends, in the middle and between, from no row at all to many: in every case at least 90 % of the middle 90 %
    /// have the truth, and not many more where noise is small.
    #[test]
    fn the_middle_covers_the_true_quotient() {
        let mut state = 7;
        for shape in [Shape::Normal, Shape::Laplace] {
            for (count, scale) in [(1.0, 5.0), (10.0, 5.0), (40.0, 5.0), (400.0, 5.0), (4000.0, 1.0)] {
                for truth in [-1.0, -0.4, 0.0, 0.8, 1.0] {
                    let runs = 2000;
                    let covered = (0..runs).filter(|_| {
                        let sum = truth * count + scale * noise(shape, &mut state);
                        let count = count + 0.6 * scale * noise(shape, &mut state);
                        let curve = Curve::new(Quotient { shape, sum, count, noise: [scale, 0.6 * scale] });
                        (curve.quantile(0.05)..=curve.quantile(0.95)).contains(&truth)
                    });
                    let share = covered.count() as f64 / f64::from(runs);
                    // Five standard deviations, of fifty shares: one false alarm in 30,000.
                    let room = 5.0 * (0.09 / f64::from(runs)).sqrt();
                    assert!(share >= 0.9 - room, "{shape:?}, {count} rows, {truth}: {share}");
                    assert!(share <= 0.9 + room || count < 100.0 || truth.abs() == 1.0, "{shape:?}, {count} rows, {truth}: {share}");
                }
            }
        }
    }

    #[test]
    fn laws_are_laws() {
        for (sum, count) in [(3.0, 10.0), (-30.0, 2.0), (0.5, -20.0), (900.0, 1000.0), (0.0, 0.0)] {
            for shape in [Shape::Normal, Shape::Laplace] {
                let curve = Curve::new(Quotient { shape, sum, count, noise: [2.0, 1.0] });
                let grid: Vec<f64> = (0..=400).map(|i| curve.cdf(f64::from(i) / 200.0 - 1.0)).collect();
                assert!(grid.windows(2).all(|w| w[0] <= w[1]), "{sum} {count}");
                let levels: Vec<f64> = [0.01, 0.05, 0.3, 0.5, 0.9].map(|q| curve.quantile(q)).into();
                assert!(levels.windows(2).all(|w| w[0] <= w[1]) && levels.iter().all(|x| (-1.0..=1.0).contains(x)), "{levels:?}");
            }
        }
        // Where much is known it is the quotient, with the error that a division has.
        let curve = Curve::new(Quotient { shape: Shape::Normal, sum: 4000.0, count: 10_000.0, noise: [10.0, 0.0] });
        let (mean, variance) = curve.moments();
        assert!((mean - 0.4).abs() < 1e-6 && (variance.sqrt() - 1e-3).abs() < 1e-5, "{mean} {variance}");
        assert!((curve.density(0.4) * 1e-3 - 0.398_942).abs() < 1e-3);
    }
}
