//! The posterior of a rate given a noisy sum of waiting times or squared deviations: a sum over what may stand behind the noise (rule book §15).

use super::Posterior;
use crate::mechanism::plan::WholeNoise;

/// Weights below `exp(-DEPTH)` of the largest are left out.
const DEPTH: f64 = 45.0;
/// So many scales or standard deviations of noise are looked at.
const REACH: f64 = 60.0;
/// Sums that are weighed, evenly in their logarithm.
const NODES: usize = 2048;
/// Where the logarithm of S is so far below all that it is compared with, S is as good as 0.
const FLAT: f64 = 14.0;
/// The range is narrowed until the weights that count are so many.
const SEEN: usize = NODES / 4;

/// A Gamma prior, and rows that add `more` to its shape and `scale` times their sum to its rate.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub shape: f64,
    pub rate: f64,
    pub more: f64,
    pub scale: f64,
}

impl Waiting {
    /// The posterior given the sum itself; below 0 lies none.
    pub(super) fn exact(self, sum: f64) -> Posterior {
        Posterior::Gamma(self.shape + self.more, self.rate + self.scale * sum.max(0.0))
    }

    /// The posterior given a noisy sum. Given the rate, `scale S` is Gamma(more, rate); without it, the density of `u = ln S` is proportional
    /// to `exp(more u) / (rate + scale exp(u))^(shape + more)`. This times the noise may have two modes, so the range is searched by
    /// tables of all of it that narrow.
    pub(super) fn given(self, noisy: f64, noise: WholeNoise) -> Option<Posterior> {
        if self.more <= 0.0 {
            return Some(Posterior::Gamma(self.shape, self.rate));
        }
        let (laplace, size) = match noise {
            WholeNoise::Geometric { scale } => (true, scale),
            WholeNoise::Gaussian { sigma } => (false, sigma),
            _ => return None,
        };
        let ln_noise = |far: f64| if laplace { -(far / size).abs() } else { -0.5 * (far / size) * (far / size) };
        let total = self.shape + self.more;
        let ln = |u: f64| self.more * u - total * (self.rate + self.scale * u.exp()).ln() + ln_noise(noisy - u.exp());
        // Below `floor` neither the noise nor the rate depends on S: all of it is one component of weight `exp(ln(floor)) / more`.
        let fall = if laplace { size } else { size / (noisy / size).abs().max(1.0) };
        let floor = fall.min(self.rate / (self.scale * total.max(1.0))).ln() - FLAT;
        // The largest of the prior's weights, and what the noise reaches around what was released.
        let before = (self.more * self.rate / (self.scale * self.shape)).ln();
        let top = (noisy.max(0.0) + REACH * size).ln();
        let (mut low, mut high) = (floor, before.max(top).max(floor + 1.0));
        let mut nodes: Vec<(f64, f64)> = vec![];
        let mut step = 0.0;
        for _ in 0..16 {
            step = (high - low) / NODES as f64;
            nodes = (0..NODES).map(|i| low + step * (i as f64 + 0.5)).map(|u| (u, ln(u))).collect();
            let largest = nodes.iter().map(|(_, l)| *l).fold(f64::NEG_INFINITY, f64::max);
            let tail = ln(floor) - (self.more * step).ln();
            let least = largest.max(if low > floor { f64::NEG_INFINITY } else { tail }) - DEPTH;
            let counts = |(_, l): &&(f64, f64)| *l >= least;
            let first = nodes.iter().find(counts).map_or(low, |(u, _)| u - step);
            let last = nodes.iter().rev().find(counts).map_or(low, |(u, _)| *u) + step;
            let below = low <= floor && tail >= least;
            let ends = (if below { low } else { first.max(low) }, last.min(high));
            let seen = nodes.iter().filter(counts).count();
            if below {
                nodes.push((floor, tail));
            }
            if seen >= SEEN || ends.1 - ends.0 >= high - low {
                break;
            }
            (low, high) = ends;
        }
        let largest = nodes.iter().map(|(_, l)| *l).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = nodes.iter().map(|(_, l)| (l - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        // A component is never narrower than half the way to the next: that widens the whole by less than such a way.
        let component = |u: f64| {
            let seen = self.scale * u.exp();
            let way = step * seen / (self.rate + seen);
            let shape = total.min(4.0 / (way * way));
            Posterior::Gamma(shape, (self.rate + seen) * (shape / total))
        };
        let components = nodes.iter().map(|(u, _)| component(*u)).collect();
        (sum > 0.0 && sum.is_finite()).then(|| Posterior::Mixture { weights: weights.iter().map(|w| w / sum).collect(), components })
    }
}
