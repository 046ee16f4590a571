//! The law of one noisy count at many means: computed once at nodes, and between them by cubic pieces.

use super::noisy_count::NoisyCount;

/// Nodes lie so far apart, and reach so far to either side of the noisy count, in its standard deviations.
const STEP: f64 = 1.0 / 32.0;
const REACH: f64 = 12.0;
/// So close to the noisy count, where the law of Laplace noise has its peak, pieces are not asked.
const PEAK: f64 = 3.0 * STEP;

/// `ln f` of a noisy count by `z = 2 sqrt(mean + v)`, where v is the variance of the noise: in z it has about the curvature of a
/// standard normal law. Of normal noise of sd 3 or more cubic pieces are off by less than 1e-5 while f is above e^-10 of its largest
/// value, of Laplace noise by less than 3e-4 (tested).
pub struct Curve {
    variance: f64,
    /// The coordinate of the noisy count.
    middle: f64,
    /// Where the first node is.
    first: f64,
    /// `ln f`, and STEP times its derivative in z.
    nodes: Vec<(f64, f64)>,
}

impl Curve {
    pub fn new(law: &NoisyCount, noisy: i64, variance: f64) -> Curve {
        let z = |mean: f64| 2.0 * (mean + variance).sqrt();
        let middle = z(noisy.max(0) as f64);
        // At a mean of 0 itself the derivative has no value in doubles.
        let first = (middle - REACH).max(z(0.0) + STEP / 64.0);
        let node = |i: i32| {
            let z = first + f64::from(i) * STEP;
            let mean = 0.25 * z * z - variance;
            let cell = law.cell(noisy, mean.ln());
            (cell.log, STEP * 0.5 * z * cell.log_slope / mean)
        };
        let nodes = (0..).take_while(|i| first + f64::from(*i) * STEP <= middle + REACH).map(node).collect();
        Curve { variance, middle, first, nodes }
    }

    /// `ln f` and its derivative by the mean; nothing beyond the nodes and beside the peak.
    pub fn at(&self, mean: f64) -> Option<(f64, f64)> {
        let z = 2.0 * (mean + self.variance).sqrt();
        let place = (z - self.first) / STEP;
        // Not a number is not beyond.
        if !(0.0..f64::from(u16::MAX)).contains(&place) || (z - self.middle).abs() < PEAK {
            return None;
        }
        let (i, t) = (place as usize, place.fract());
        let [(a, da), (b, db)] = *self.nodes.get(i..i + 2)? else { return None };
        let rise = b - a;
        let (c, d) = (3.0 * rise - 2.0 * da - db, da + db - 2.0 * rise);
        let slope = da + t * (2.0 * c + 3.0 * d * t);
        // dz / dmean = 2 / z
        Some((a + t * (da + t * (c + d * t)), slope / STEP * 2.0 / z))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kernel::density::Noise;

    #[test]
    fn pieces_agree_with_the_law() {
        let normal = [3.0, 9.0, 35.0, 80.0].map(|sigma| (Noise::RoundedGaussian { sigma }, 1e-5));
        let laplace = [3.0, 9.0, 28.0, 80.0].map(|scale| (Noise::RoundedLaplace { scale }, 3e-4));
        for (noise, most) in normal.into_iter().chain(laplace) {
            let law = NoisyCount::new(noise, 1).unwrap();
            let sd = noise.variance().sqrt();
            for noisy in [-2.0 * sd, 0.0, 2.0, 0.5 * sd, 5.0 * sd, 400.0, 30_000.0].map(|k| k.round() as i64) {
                let curve = Curve::new(&law, noisy, noise.variance());
                let middle = 2.0 * (noisy.max(0) as f64 + sd * sd).sqrt();
                let at = |i: i32| 0.25 * (middle + f64::from(i) / 11.0).powi(2) - sd * sd;
                let means: Vec<f64> = (-110..110).map(at).filter(|m| *m > 0.0).collect();
                let exact: Vec<_> = means.iter().map(|m| law.cell(noisy, m.ln())).collect();
                let best = exact.iter().map(|c| c.log).fold(f64::NEG_INFINITY, f64::max);
                let mut seen = 0;
                for (mean, cell) in means.iter().zip(exact).filter(|(_, c)| c.log > best - 10.0) {
                    let Some((log, slope)) = curve.at(*mean) else { continue };
                    seen += 1;
                    assert!((log - cell.log).abs() < most, "{noise:?} {noisy} {mean}: {log} {}", cell.log);
                    // Of one standard deviation.
                    let off = (slope - cell.log_slope / mean) * (mean + sd * sd).sqrt();
                    assert!(off.abs() < 100.0 * most, "{noise:?} {noisy} {mean}: {slope} {}", cell.log_slope / mean);
                }
                assert!(seen > 3, "{noise:?} {noisy}");
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_pieces() {
        let law = NoisyCount::new(Noise::RoundedLaplace { scale: 6.0 }, 1).unwrap();
        let curve = Curve::new(&law, 11, 72.0);
        for mean in [0.01, 0.4, 3.0, 15.0, 30.0, 90.0] {
            let (up, down) = (curve.at(mean * (1.0 + 1e-6)).unwrap().0, curve.at(mean * (1.0 - 1e-6)).unwrap().0);
            let by_difference = (up - down) / (2e-6 * mean);
            assert!((curve.at(mean).unwrap().1 - by_difference).abs() < 1e-5, "{mean}: {by_difference}");
        }
        for beyond in [0.0, -1.0, 11.0, 1e6, f64::NAN, f64::INFINITY] {
            assert!(curve.at(beyond).is_none(), "{beyond}");
        }
    }
}
