//! What a posterior of weights says of a new row: a number, or the mean of an outcome that follows from it.

use super::Posterior;
use crate::mechanism::BitSource;
use crate::numeric::Unary;
use crate::numeric::special::normal_quantile;
use crate::run::bits::Bits;
use crate::run::draws::Draws;
use std::sync::Arc;

/// Slices of equal probability for means.
const SLICES: usize = 2000;
/// Independent draws of chances that have no closed law: in so many parts for what compares chains, and of each.
const PARTS: usize = 4;
const OF_EACH: usize = 1000;

/// The number whose mean this is, of the functions that `check/new_rows.rs` knows.
pub(super) fn inverse(f: Unary, y: f64) -> f64 {
    match f {
        _ if y <= 0.0 => f64::NEG_INFINITY,
        Unary::Exp => y.ln(),
        _ if y >= 1.0 => f64::INFINITY,
        Unary::Phi => normal_quantile(y),
        Unary::InvCloglog => (-libm::log1p(-y)).ln(),
        _ => y.ln() - libm::log1p(-y),
    }
}

/// Mean and variance.
pub(super) fn moments(f: Unary, of: &Posterior) -> (f64, f64) {
    // Slices miss the tail of a log-normal law, whose moments are known.
    if let (Unary::Exp, Some(parts)) = (f, of.normals()) {
        let raw = |k: f64| parts.iter().map(|(w, m, sd)| w * (k * m + 0.5 * (k * sd).powi(2)).exp()).sum::<f64>();
        return (raw(1.0), raw(2.0) - raw(1.0).powi(2));
    }
    let levels: Vec<f64> = (0..SLICES).map(|i| (i as f64 + 0.5) / SLICES as f64).collect();
    let all: Vec<f64> = of.quantiles(&levels).into_iter().map(f.facts().value).collect();
    let mean = all.iter().sum::<f64>() / SLICES as f64;
    (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / SLICES as f64)
}

pub(super) fn density(f: Unary, of: &Posterior, y: f64) -> f64 {
    let t = inverse(f, y);
    if !t.is_finite() {
        return 0.0;
    }
    let slope = match f {
        Unary::Exp => y,
        Unary::Phi => (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt(),
        Unary::InvCloglog => (t - t.exp()).exp(),
        _ => y * (1.0 - y),
    };
    of.density(t) / slope
}

/// The chances of the classes of a row with these features, by weights class by class.
pub fn chances(weights: &[f64], x: &[f64]) -> Vec<f64> {
    // In units of the largest feature, so that no sum is of infinities.
    let most = x.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let sum = |w: &[f64]| w.iter().zip(x).map(|(w, x)| w * (x / most)).sum::<f64>() * most;
    let predictors: Vec<f64> = weights.chunks(x.len().max(1)).map(|w| sum(w).clamp(f64::MIN, f64::MAX)).collect();
    let top = predictors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = predictors.into_iter().map(|t| (t - top).exp()).collect();
    let all: f64 = parts.iter().sum();
    parts.into_iter().map(|p| p / all).collect()
}

impl Posterior {
    /// Draws of the chances of the classes of a row, whose names these are; `None` without randomness.
    pub fn classes(&self, x: &[f64], names: Vec<String>, source: &mut dyn BitSource) -> Option<Posterior> {
        let mut rng = Bits::new(source);
        let mut numbers = vec![Vec::with_capacity(PARTS * OF_EACH); names.len()];
        for _ in 0..PARTS * OF_EACH {
            let drawn = chances(&self.draw(&mut rng), x);
            numbers.iter_mut().zip(drawn).for_each(|(all, p): (&mut Vec<f64>, f64)| all.push(p));
        }
        let (names, numbers) = (Arc::new(names), Arc::new(numbers));
        let drawn = Draws { names, numbers, chains: PARTS, divergences: 0, scalar: false, source: None };
        (!rng.failed()).then_some(Posterior::Draws(drawn))
    }

    /// `dot(w, x)` of jointly normal weights w and a number added to it, or the mean of an outcome that follows from them.
    pub fn predicted(&self, (x, added): (&[f64], f64), mean: Option<Unary>) -> Option<Posterior> {
        let linear = self.linear(x, added)?;
        Some(match mean {
            Some(f) => Posterior::MeanOf(f, Box::new(linear)),
            None => linear,
        })
    }

    fn linear(&self, x: &[f64], added: f64) -> Option<Posterior> {
        match self {
            Posterior::MultiNormal { mean, factor } if mean.len() == x.len() => {
                let center = mean.iter().zip(x).map(|(m, x)| m * x).sum::<f64>() + added;
                let along = |j: usize| factor.iter().zip(x).map(|(row, x)| row.get(j).unwrap_or(&0.0) * x).sum::<f64>();
                let sd = (0..mean.len()).map(|j| along(j).powi(2)).sum::<f64>().sqrt();
                // A row without features is certain; no law here has an sd of 0.
                let certain = 1e-12 * (1.0 + center.abs());
                (center.is_finite() && sd.is_finite()).then(|| Posterior::Normal(center, sd.max(certain)))
            }
            Posterior::Mixture { weights, components } => {
                let components = components.iter().map(|c| c.linear(x, added)).collect::<Option<Vec<_>>>()?;
                Some(Posterior::Mixture { weights: weights.clone(), components })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::mechanism::bits::Repeated;
    use crate::run::bits::Bits;

    /// Against draws of the weights themselves, of one normal law and of a mixture.
    #[test]
    fn predictions_are_those_of_draws() {
        let one = |shift: f64| Posterior::MultiNormal {
            mean: vec![0.5 + shift, -1.0, 0.25],
            factor: vec![vec![0.4], vec![-0.2, 0.5], vec![0.1, 0.3, 0.2]],
        };
        let mixture = Posterior::Mixture { weights: vec![0.3, 0.7], components: vec![one(0.0), one(1.5)] };
        let x = [1.0, 0.5, -2.0];
        for p in [one(0.0), mixture] {
            for mean in [None, Some(Unary::InvLogit), Some(Unary::Phi), Some(Unary::InvCloglog), Some(Unary::Exp)] {
                let found = p.predicted((&x, 0.25), mean).unwrap();
                let mut source = Repeated::new([3; 32], 1);
                let mut rng = Bits::new(&mut source);
                let n = 40_000;
                let mut draws: Vec<f64> = (0..n)
                    .map(|_| {
                        let t = 0.25 + p.draw(&mut rng).iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
                        mean.map_or(t, |f| (f.facts().value)(t))
                    })
                    .collect();
                draws.sort_by(f64::total_cmp);
                // Shares of 40,000 draws with a fixed seed, within five standard deviations.
                for q in [0.05, 0.5, 0.95] {
                    let below = draws.partition_point(|d| *d <= found.quantiles(&[q])[0]) as f64 / f64::from(n);
                    assert!((below - q).abs() < 5.0 * (q * (1.0 - q) / f64::from(n)).sqrt(), "{mean:?} {q} {below}");
                    let at = found.quantiles(&[q])[0];
                    assert!((found.cdf(&[at])[0] - q).abs() < 1e-6);
                }
                let of_draws = draws.iter().sum::<f64>() / f64::from(n);
                assert!((found.mean()[0] - of_draws).abs() < 5.0 * found.sd()[0] / f64::from(n).sqrt(), "{mean:?} {of_draws}");
                let (from, to) = (found.quantiles(&[0.1])[0], found.quantiles(&[0.8])[0]);
                let step = (to - from) / 2000.0;
                let area: f64 = (0..2000).map(|i| found.density(from + (f64::from(i) + 0.5) * step) * step).sum();
                assert!((area - 0.7).abs() < 1e-4, "{mean:?} {area}");
            }
        }
        assert_eq!(one(0.0).predicted((&[1.0], 0.0), None), None);
    }

    /// The chance of the first of two classes is that of a logistic row whose weights are the difference, and chances sum to 1 however far predictors are apart.
    #[test]
    fn chances_of_two_classes_are_logistic() {
        let factor = vec![vec![0.4], vec![-0.2, 0.5], vec![0.1, 0.3, 0.2], vec![0.0, -0.1, 0.2, 0.3]];
        let weights = Posterior::MultiNormal { mean: vec![0.5, -1.0, 0.25, 0.75], factor };
        let (x, mut source) = ([1.0, -2.0], Repeated::new([3; 32], 1));
        let found = weights.classes(&x, vec!["[a]".into(), "[b]".into()], &mut source).unwrap();
        let exact = weights.predicted((&[1.0, -2.0, -1.0, 2.0], 0.0), Some(Unary::InvLogit)).unwrap();
        let (own, other) = (found.component(0).unwrap(), found.component(1).unwrap());
        // Of 4,000 draws, within five standard errors.
        assert!((own.mean()[0] - exact.mean()[0]).abs() < 5.0 * exact.sd()[0] / 4000f64.sqrt());
        assert!((own.mean()[0] + other.mean()[0] - 1.0).abs() < 1e-9);
        for q in [0.05, 0.95] {
            let below = exact.cdf(&own.quantiles(&[q]))[0];
            assert!((below - q).abs() < 5.0 * (q * (1.0 - q) / 4000.0).sqrt(), "{q} {below}");
        }
        assert_eq!(chances(&[1e200, 0.0, -1e200], &[1e50]), [1.0, 0.0, 0.0]);
        assert_eq!(chances(&[3.0, 2.0, -2.0, 3.0], &[1.7e308, -1.7e308]), [1.0, 0.0]);
    }
}
