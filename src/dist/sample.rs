//! Draws in plain doubles, for predictions: whatever the numbers, one comes out; what has no bound gives nan or inf.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// The arguments of a distribution. Those outside their domain (a released value may be) are moved to its nearest point.
pub struct Args<'a>(pub &'a [Vec<f64>]);

impl Args<'_> {
    pub fn numbers(&self, i: usize) -> &[f64] {
        self.0.get(i).map_or(&[], Vec::as_slice)
    }

    pub fn number(&self, i: usize) -> f64 {
        self.numbers(i).first().copied().unwrap_or(f64::NAN)
    }

    pub fn positive(&self, i: usize) -> f64 {
        let x = self.number(i);
        if x > 1e-300 { x.min(1e300) } else { 1e-300 }
    }

    pub fn share(&self, i: usize) -> f64 {
        within(self.number(i), 1.0)
    }
}

pub fn normal(rng: &mut dyn Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The logarithm of a draw from Gamma(shape, 1): small shapes give what no double holds.
pub fn log_gamma(shape: f64, rng: &mut dyn Rng) -> f64 {
    if shape < 1.0 {
        return log_gamma(shape + 1.0, rng) + positive_uniform(rng).ln() / shape;
    }
    rand_distr::Gamma::new(shape, 1.0).map_or(f64::NAN, |g| g.sample(rng).ln())
}

/// A draw from a Dirichlet law.
pub fn shares(alpha: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
    let logs: Vec<f64> = alpha.iter().map(|a| log_gamma(*a, rng)).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = logs.iter().map(|x| (x - most).exp()).collect();
    let total: f64 = parts.iter().sum();
    parts.into_iter().map(|x| x / total).collect()
}

pub(super) fn bernoulli(p: f64, rng: &mut dyn Rng) -> f64 {
    let u = uniform(rng);
    if p.is_nan() { p } else { f64::from(u8::from(u < p)) }
}

/// Beyond this a count is as good as normal, and samplers of counts leave the whole numbers.
const COUNTED: f64 = 1e15;

pub fn binomial(n: f64, p: f64, rng: &mut dyn Rng) -> f64 {
    if n <= COUNTED {
        return rand_distr::Binomial::new(n.max(0.0) as u64, p).map_or(f64::NAN, |d| d.sample(rng) as f64);
    }
    within((n * p + (n * p * (1.0 - p)).sqrt() * normal(rng)).round(), n)
}

/// A number moved to 0 at least and `most` at most; nan stays nan.
fn within(x: f64, most: f64) -> f64 {
    if x < 0.0 {
        0.0
    } else if x > most {
        most
    } else {
        x
    }
}

pub fn poisson(rate: f64, rng: &mut dyn Rng) -> f64 {
    match rate {
        rate if rate <= 0.0 => 0.0,
        rate if rate <= COUNTED => rand_distr::Poisson::new(rate).map_or(f64::NAN, |d| d.sample(rng)),
        rate if rate.is_finite() => (rate + rate.sqrt() * normal(rng)).round(),
        rate => rate,
    }
}

/// A level, which counts from 1, by shares.
pub(super) fn level(shares: &[f64], rng: &mut dyn Rng) -> f64 {
    let mut left = uniform(rng) * shares.iter().sum::<f64>();
    let past = |s: &f64| {
        left -= s;
        left < 0.0
    };
    shares.iter().position(past).map_or(shares.len(), |i| i + 1) as f64
}

/// The same by predictors: the largest sum of one and Gumbel noise.
pub(super) fn level_by_logits(eta: &[f64], rng: &mut dyn Rng) -> f64 {
    let noisy: Vec<f64> = eta.iter().map(|eta| eta - (-positive_uniform(rng).ln()).ln()).collect();
    noisy.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0.0, |(i, _)| i as f64 + 1.0)
}

/// A draw from the logistic law.
pub(super) fn logit_noise(rng: &mut dyn Rng) -> f64 {
    let u = positive_uniform(rng);
    u.ln() - libm::log1p(-u)
}

/// On (0, 1].
pub fn positive_uniform(rng: &mut dyn Rng) -> f64 {
    1.0 - uniform(rng)
}

pub fn uniform(rng: &mut dyn Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
