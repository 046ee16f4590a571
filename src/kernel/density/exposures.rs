//! The likelihood of released sums of events and exposures: Poisson numbers of events with rates times exact exposures, both with noise.
//!
//! In a group whose rows have exposures of sum S and whose events of a row are Poisson with mean b S_i, the sum of events is Poisson with
//! mean b S, and so is, up to a factor without b, what one row says of b whose follow-up ends at its event: `b exp(-b S_i)`. The
//! noisy sum of events is rounded to a whole number, which makes its noise that noise rounded: the count is summed out (`noisy_count`).
//! The exact exposures are numbers of the chain, seen through their noise.

use super::curve::Curve;
use super::noisy_count::{Cell, NoisyCount};
use super::{Noise, OfNumbers};
use crate::kernel::KernelError;
use std::sync::Arc;

/// Noise on sums.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SumNoise {
    Normal {
        sigma: f64,
    },
    Laplace {
        scale: f64,
    },
    /// On whole numbers. An exact exposure is any number: it is seen as through Laplace noise.
    Geometric {
        scale: f64,
    },
}

impl SumNoise {
    pub fn scale(self) -> f64 {
        let (SumNoise::Normal { sigma: scale } | SumNoise::Laplace { scale } | SumNoise::Geometric { scale }) = self;
        scale
    }

    /// What a gap costs, and the derivative by the gap; without what depends on the scale alone.
    fn loss(self, gap: f64) -> (f64, f64) {
        match self {
            SumNoise::Normal { sigma } => (0.5 * (gap / sigma) * (gap / sigma), gap / (sigma * sigma)),
            SumNoise::Laplace { scale } | SumNoise::Geometric { scale } => (gap.abs() / scale, gap.signum() / scale),
        }
    }

    fn rounded(self, unit: f64) -> Noise {
        match self {
            SumNoise::Normal { sigma } => Noise::RoundedGaussian { sigma: sigma * unit },
            SumNoise::Laplace { scale } => Noise::RoundedLaplace { scale: scale * unit },
            SumNoise::Geometric { scale } => Noise::Geometric { scale: scale * unit },
        }
    }
}

/// Noisy sums of one number of events, one for each group, in units of `unit`.
#[derive(Clone, PartialEq, Debug)]
pub struct Events {
    pub unit: f64,
    pub noisy: Vec<f64>,
}

/// The numbers of the likelihood are, by group, the mean of every number of events for one unit of each exposure; then, by
/// group, the exact exposures.
pub struct Exposures {
    noise: SumNoise,
    events: Vec<(NoisyCount, Vec<i64>)>,
    /// Of the noise of each of them.
    variances: Vec<f64>,
    /// By group, then by exposure.
    exposures: Vec<f64>,
    /// How many exposures a group has.
    each: usize,
}

impl Exposures {
    /// # Errors
    /// Noise that has no law here.
    pub fn new(noise: SumNoise, events: &[Events], exposures: Vec<f64>, each: usize) -> Result<Exposures, KernelError> {
        let groups = exposures.len().checked_div(each).filter(|g| g * each == exposures.len()).ok_or(KernelError::Length)?;
        let one = |e: &Events| {
            let law = NoisyCount::new(noise.rounded(e.unit), 1)?;
            let noisy: Vec<i64> = e.noisy.iter().map(|x| (x * e.unit).round() as i64).collect();
            let fits = noisy.len() == groups && noisy.iter().all(|k| law.takes(*k));
            if fits { Ok((law, noisy)) } else { Err(KernelError::Length) }
        };
        let variances = events.iter().map(|e| noise.rounded(e.unit).variance()).collect();
        let events = events.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let of = Exposures { noise, events, variances, exposures, each };
        if noise.scale() > 0.0 && !of.events.is_empty() { Ok(of) } else { Err(KernelError::Family) }
    }

    /// How many numbers the likelihood has.
    pub fn numbers(&self) -> usize {
        self.exposures.len() * (self.events.len() + 1)
    }

    /// So many of them are means for one unit.
    fn rates(&self) -> usize {
        self.exposures.len() * self.events.len()
    }

    /// The log-density of one noisy number of events, and its derivative by the mean of the exact one.
    fn event(&self, event: usize, group: usize, mean: f64) -> Option<(f64, f64)> {
        let (law, noisy) = self.events.get(event)?;
        let Cell { log, log_slope, .. } = law.cell(*noisy.get(group)?, mean.ln());
        // Of a mean of 0 no chain is asked twice.
        Some((log, if mean > 0.0 { log_slope / mean } else { 0.0 }))
    }

    fn losses(&self, numbers: &[f64], by: &mut [f64], event: impl Fn(usize, usize, f64) -> Option<(f64, f64)>) -> Option<f64> {
        let rates = self.rates();
        let (slopes, by_exposure) = by.split_at_mut_checked(rates)?;
        let (means, exact) = numbers.split_at_checked(rates)?;
        let mut loss = 0.0;
        let per_group = self.each * self.events.len();
        let groups =
            means.chunks(per_group).zip(slopes.chunks_mut(per_group)).zip(exact.chunks(self.each).zip(by_exposure.chunks_mut(self.each)));
        for (g, ((means, slopes), (exact, by_exact))) in groups.enumerate() {
            for (i, (means, slopes)) in means.chunks(self.each).zip(slopes.chunks_mut(self.each)).enumerate() {
                let mean: f64 = means.iter().zip(exact).map(|(b, s)| b * s).sum();
                if means.iter().any(|b| b.is_nan() || *b < 0.0) {
                    return None;
                }
                let (log, slope) = event(i, g, mean)?;
                loss -= log;
                for ((b, s), (by_b, by_s)) in means.iter().zip(exact).zip(slopes.iter_mut().zip(by_exact.iter_mut())) {
                    *by_b -= slope * s;
                    *by_s -= slope * b;
                }
            }
        }
        Some(loss + self.of_exposures(exact, by_exposure))
    }

    fn of_exposures(&self, exact: &[f64], by: &mut [f64]) -> f64 {
        let mut loss = 0.0;
        for ((noisy, exact), by) in self.exposures.iter().zip(exact).zip(by) {
            let (own, slope) = self.noise.loss(noisy - exact);
            loss += own;
            *by -= slope;
        }
        loss
    }

    /// Of every noisy number of events, by group: its log-density given the rates and the exact exposures, and the mean of the
    /// exact number.
    pub fn laws(&self, numbers: &[f64]) -> Vec<(f64, f64)> {
        let (means, exact) = numbers.split_at(self.rates().min(numbers.len()));
        let groups = means.chunks(self.each * self.events.len()).zip(exact.chunks(self.each)).enumerate();
        let group = |(g, (means, exact)): (usize, (&[f64], &[f64]))| {
            let one = |((law, noisy), means): (&(NoisyCount, Vec<i64>), &[f64])| {
                let mean: f64 = means.iter().zip(exact).map(|(b, s)| b * s).sum();
                Some((law.cell(*noisy.get(g)?, mean.ln()).log, mean))
            };
            self.events.iter().zip(means.chunks(self.each)).filter_map(one).collect::<Vec<_>>()
        };
        groups.flat_map(group).collect()
    }
}

/// A loss with its derivatives; where it does not exist it is infinite and they are 0.
fn existing(loss: Option<f64>, by: &mut [f64]) -> f64 {
    match loss.filter(|l| l.is_finite() && by.iter().all(|b| b.is_finite())) {
        Some(loss) => loss,
        None => {
            by.fill(0.0);
            f64::INFINITY
        }
    }
}

impl OfNumbers for Exposures {
    fn total(&self, numbers: &[f64], by: &mut Vec<f64>) -> f64 {
        by.clear();
        by.resize(numbers.len(), 0.0);
        existing(self.losses(numbers, by, |i, g, mean| self.event(i, g, mean)), by)
    }
}

/// The same likelihood, with the law of every noisy number of events computed at nodes beforehand: what a chain asks for again and again.
pub struct AtNodes {
    of: Arc<Exposures>,
    /// By event, then by group; none of noise so small that laws are short sums.
    curves: Vec<Vec<Curve>>,
}

impl AtNodes {
    pub fn new(of: Arc<Exposures>) -> AtNodes {
        let curves = |((law, noisy), variance): (&(NoisyCount, Vec<i64>), &f64)| {
            if *variance >= 9.0 { noisy.iter().map(|k| Curve::new(law, *k, *variance)).collect() } else { vec![] }
        };
        let curves = of.events.iter().zip(&of.variances).map(curves).collect();
        AtNodes { of, curves }
    }
}

impl OfNumbers for AtNodes {
    fn total(&self, numbers: &[f64], by: &mut Vec<f64>) -> f64 {
        by.clear();
        by.resize(numbers.len(), 0.0);
        let near = |i: usize, g: usize, mean: f64| self.curves.get(i)?.get(g)?.at(mean);
        existing(self.of.losses(numbers, by, |i, g, mean| near(i, g, mean).or_else(|| self.of.event(i, g, mean))), by)
    }
}

/// What was seen of the exposures alone: rates keep their prior.
pub struct GivenExposures(pub Arc<Exposures>);

impl OfNumbers for GivenExposures {
    fn total(&self, numbers: &[f64], by: &mut Vec<f64>) -> f64 {
        by.clear();
        by.resize(numbers.len(), 0.0);
        let rates = self.0.rates().min(numbers.len());
        let (exact, of_exact) = (numbers.get(rates..).unwrap_or_default(), by.get_mut(rates..).unwrap_or_default());
        let loss = self.0.of_exposures(exact, of_exact);
        existing(Some(loss), by)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn two_groups(noise: SumNoise) -> Exposures {
        let events = [Events { unit: 1.0, noisy: vec![7.3, -1.2] }, Events { unit: 4.0, noisy: vec![2.6, 0.4] }];
        Exposures::new(noise, &events, vec![30.0, 11.0, 4.0, 17.0], 2).unwrap()
    }

    const NUMBERS: [f64; 12] = [0.2, 0.1, 0.4, 0.05, 0.01, 0.3, 0.2, 0.15, 28.3, 12.1, 5.2, 16.9];

    #[test]
    fn derivatives_are_those_of_differences() {
        for noise in [SumNoise::Normal { sigma: 2.0 }, SumNoise::Laplace { scale: 1.5 }] {
            let of = two_groups(noise);
            assert_eq!(of.numbers(), NUMBERS.len());
            let mut by = vec![];
            of.total(&NUMBERS, &mut by);
            for (i, slope) in by.iter().enumerate() {
                let at = |h: f64| {
                    let mut x = NUMBERS;
                    x[i] += h;
                    of.total(&x, &mut vec![])
                };
                let by_difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - by_difference).abs() < 1e-5 * (1.0 + slope.abs()), "{noise:?} {i}: {slope} {by_difference}");
            }
        }
    }

    /// By the definition: Poisson probabilities times the mass that the noise has where it is rounded to what was seen.
    #[test]
    fn likelihood_of_one_group() {
        let mass = |noise: SumNoise, unit: f64, k: f64| {
            let scale = unit * noise.scale();
            let below = |x: f64| match noise {
                SumNoise::Normal { .. } => 0.5 * libm::erfc(-x / (scale * 2f64.sqrt())),
                _ if x < 0.0 => 0.5 * (x / scale).exp(),
                _ => 1.0 - 0.5 * (-x / scale).exp(),
            };
            below(k + 0.5) - below(k - 0.5)
        };
        let noises = [SumNoise::Normal { sigma: 2.0 }, SumNoise::Laplace { scale: 1.5 }, SumNoise::Laplace { scale: 0.3 }];
        // Of events of up to 4 a row the sum leaves in fours, with the noise of a sum of parts.
        for (noise, unit) in noises.into_iter().flat_map(|noise| [(noise, 1.0), (noise, 4.0)]) {
            let of = Exposures::new(noise, &[Events { unit, noisy: vec![6.6 / unit] }], vec![40.0], 1).unwrap();
            let truth = |rate: f64, exact: f64| {
                let (mut poisson, mut sum) = ((-rate * exact).exp(), 0.0);
                for c in 0..150 {
                    sum += poisson * mass(noise, unit, 7.0 - f64::from(c));
                    poisson *= rate * exact / f64::from(c + 1);
                }
                let gap = 40.0 - exact;
                let exposure = match noise {
                    SumNoise::Normal { sigma } => -0.5 * (gap / sigma).powi(2),
                    SumNoise::Laplace { scale } | SumNoise::Geometric { scale } => -(gap / scale).abs(),
                };
                sum.ln() + exposure
            };
            for (rate, exact) in [(0.1, 40.0), (0.3, 38.0), (0.2, 43.0)] {
                let found = -of.total(&[rate, exact], &mut vec![]);
                assert!(
                    (found - truth(rate, exact)).abs() < 1e-7 * (1.0 + found.abs()),
                    "{noise:?} {unit} {rate}: {found} {}",
                    truth(rate, exact)
                );
            }
        }
    }

    /// Far out too, where there are no nodes.
    #[test]
    fn nodes_say_the_same() {
        for (noise, most) in [(SumNoise::Normal { sigma: 2.0 }, 1e-4), (SumNoise::Laplace { scale: 1.5 }, 1e-3)] {
            let of = Arc::new(two_groups(noise));
            let at_nodes = AtNodes::new(of.clone());
            for times in [0.01, 1.0, 3.0, 100.0] {
                let numbers = NUMBERS.map(|x| x * times);
                let (mut by, mut other) = (vec![], vec![]);
                let (exact, near) = (of.total(&numbers, &mut by), at_nodes.total(&numbers, &mut other));
                assert!((exact - near).abs() < most, "{noise:?} {times}: {exact} {near}");
                for (a, b) in by.iter().zip(&other) {
                    assert!((a - b).abs() < 30.0 * most * (1.0 + a.abs()), "{noise:?} {times}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let of = two_groups(SumNoise::Normal { sigma: 2.0 });
        for (i, x) in [(0, -0.1), (3, f64::NAN), (9, f64::INFINITY)] {
            let mut numbers = NUMBERS;
            numbers[i] = x;
            let mut by = vec![];
            assert_eq!(of.total(&numbers, &mut by), f64::INFINITY);
            assert!(by.iter().all(|b| *b == 0.0));
        }
        let events = [Events { unit: 1.0, noisy: vec![1.0] }];
        assert!(Exposures::new(SumNoise::Normal { sigma: 0.0 }, &events, vec![1.0], 1).is_err());
        assert!(Exposures::new(SumNoise::Normal { sigma: 1.0 }, &events, vec![1.0, 2.0, 3.0], 2).is_err());
        assert!(Exposures::new(SumNoise::Normal { sigma: 1.0 }, &events, vec![], 0).is_err());
    }
}
