//! What a posterior of weights says of a new row: a number, or the chance that it is the logit of.

use super::Posterior;

/// Slices of equal probability for means.
const SLICES: usize = 2000;

pub(super) fn inv_logit(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

pub(super) fn logit(p: f64) -> f64 {
    match p {
        p if p <= 0.0 => f64::NEG_INFINITY,
        p if p >= 1.0 => f64::INFINITY,
        p => p.ln() - libm::log1p(-p),
    }
}

/// Mean and variance of the chance.
pub(super) fn moments(of: &Posterior) -> (f64, f64) {
    let levels: Vec<f64> = (0..SLICES).map(|i| (i as f64 + 0.5) / SLICES as f64).collect();
    let all: Vec<f64> = of.quantiles(&levels).into_iter().map(inv_logit).collect();
    let mean = all.iter().sum::<f64>() / SLICES as f64;
    (mean, all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / SLICES as f64)
}

pub(super) fn density(of: &Posterior, x: f64) -> f64 {
    if x > 0.0 && x < 1.0 { of.density(logit(x)) / (x * (1.0 - x)) } else { 0.0 }
}

impl Posterior {
    /// `dot(w, x)` of jointly normal weights w, or `inv_logit` of it.
    pub fn predicted(&self, x: &[f64], share: bool) -> Option<Posterior> {
        let linear = self.linear(x)?;
        Some(if share { Posterior::InvLogit(Box::new(linear)) } else { linear })
    }

    fn linear(&self, x: &[f64]) -> Option<Posterior> {
        match self {
            Posterior::MultiNormal { mean, factor } if mean.len() == x.len() => {
                let center = mean.iter().zip(x).map(|(m, x)| m * x).sum();
                let along = |j: usize| factor.iter().zip(x).map(|(row, x)| row.get(j).unwrap_or(&0.0) * x).sum::<f64>();
                Some(Posterior::Normal(center, (0..mean.len()).map(|j| along(j).powi(2)).sum::<f64>().sqrt()))
            }
            Posterior::Mixture { weights, components } => {
                let components = components.iter().map(|c| c.linear(x)).collect::<Option<Vec<_>>>()?;
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
            for share in [false, true] {
                let found = p.predicted(&x, share).unwrap();
                let mut source = Repeated::new([3; 32], 1);
                let mut rng = Bits::new(&mut source);
                let n = 40_000;
                let mut draws: Vec<f64> = (0..n)
                    .map(|_| {
                        let t: f64 = p.draw(&mut rng).iter().zip(x).map(|(w, x)| w * x).sum();
                        if share { inv_logit(t) } else { t }
                    })
                    .collect();
                draws.sort_by(f64::total_cmp);
                // Shares of 40,000 draws with a fixed seed, within five standard deviations.
                for q in [0.05, 0.5, 0.95] {
                    let below = draws.partition_point(|d| *d <= found.quantiles(&[q])[0]) as f64 / f64::from(n);
                    assert!((below - q).abs() < 5.0 * (q * (1.0 - q) / f64::from(n)).sqrt(), "{share} {q} {below}");
                    let at = found.quantiles(&[q])[0];
                    assert!((found.cdf(&[at])[0] - q).abs() < 1e-6);
                }
                let mean = draws.iter().sum::<f64>() / f64::from(n);
                assert!((found.mean()[0] - mean).abs() < 5.0 * found.sd()[0] / f64::from(n).sqrt(), "{share} {mean}");
            }
        }
        assert_eq!(one(0.0).predicted(&[1.0], false), None);
    }
}
