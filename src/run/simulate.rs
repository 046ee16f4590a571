//! `simulate`: draws from a distribution with public arguments, for predictions; fresh and public randomness.

use super::evaluate::NoValue;
use super::posterior::Posterior;
use super::value::Value;
use crate::mechanism::bits::BitSource;
use rand::TryRng;
use rand_distr::{Distribution, StandardNormal};
use std::convert::Infallible;

/// A bit source as a generator of the `rand` family. Predictions are post-processing, so doubles are good enough.
pub(super) struct Bits<'b> {
    source: &'b mut dyn BitSource,
    failed: bool,
}

impl Bits<'_> {
    pub(super) fn new(source: &mut dyn BitSource) -> Bits<'_> {
        Bits { source, failed: false }
    }

    /// Did the source run dry? What was drawn is then worth nothing.
    pub(super) fn failed(&self) -> bool {
        self.failed
    }
}

impl TryRng for Bits<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|x| (x >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.source.word().unwrap_or_else(|_| {
            self.failed = true;
            // Any constant ends every sampler; the result is thrown away.
            1 << 62
        }))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for chunk in out.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            for (o, w) in chunk.iter_mut().zip(word) {
                *o = w;
            }
        }
        Ok(())
    }
}

/// Draws from the distribution `name`; the last argument is how often. Arguments outside their domain (a released value
/// may be) are moved to its nearest point.
pub fn simulate(name: &str, args: &[Value], source: &mut dyn BitSource) -> Result<Value, NoValue> {
    let (times, args) = args.split_last().ok_or(NoValue::Unsupported)?;
    let times = times.as_number().ok_or(NoValue::Unsupported)?;
    let mut rng = Bits { source, failed: false };
    let mut draws = Vec::with_capacity((times as usize).min(1 << 20));
    for _ in 0..times as u64 {
        let fresh: Vec<Value>;
        let mut args = args;
        if args.iter().any(|a| matches!(a, Value::Posterior(_))) {
            // A prediction: every draw has its own parameters.
            fresh = args.iter().map(|a| drawn(a, &mut rng)).collect();
            args = &fresh;
        }
        draws.push(one(name, args, &mut rng)?);
        if rng.failed {
            return Err(NoValue::NoRandomness);
        }
    }
    Ok(match draws.as_slice() {
        [x] => Value::Number(*x),
        _ => Value::Vector(draws),
    })
}

/// A posterior gives a draw, anything else itself.
fn drawn(value: &Value, rng: &mut Bits) -> Value {
    match value {
        Value::Posterior(p) => match p.draw(rng).as_slice() {
            [x] if p.is_scalar() => Value::Number(*x),
            v => Value::Vector(v.to_vec()),
        },
        other => other.clone(),
    }
}

/// Draws from a posterior of one number.
pub fn sample(p: &Posterior, times: f64, source: &mut dyn BitSource) -> Result<Vec<f64>, NoValue> {
    let mut rng = Bits { source, failed: false };
    let draws = (0..times.max(0.0) as u64).map(|_| p.draw(&mut rng).first().copied().unwrap_or(f64::NAN)).collect();
    if rng.failed { Err(NoValue::NoRandomness) } else { Ok(draws) }
}

/// Whatever the numbers, one comes out: what is no number, or has no bound, gives nan or inf.
fn one(name: &str, args: &[Value], rng: &mut Bits) -> Result<f64, NoValue> {
    let number = |i: usize| args.get(i).and_then(Value::as_number).ok_or(NoValue::Unsupported);
    let numbers = || args.first().map(Value::numbers).unwrap_or_default();
    let positive = |i: usize| number(i).map(|x| if x > 1e-300 { x.min(1e300) } else { 1e-300 });
    let share = |i: usize| number(i).map(|p| within(p, 1.0));
    let inv_logit = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    Ok(match name {
        "bernoulli" => bernoulli(share(0)?, rng),
        "bernoulli_logit" => bernoulli(inv_logit(number(0)?), rng),
        "bernoulli_probit" => bernoulli(0.5 * libm::erfc(-number(0)? / std::f64::consts::SQRT_2), rng),
        "bernoulli_cloglog" => bernoulli(-libm::expm1(-libm::exp(number(0)?)), rng),
        "binomial" => binomial(number(0)?, share(1)?, rng),
        "binomial_logit" => binomial(number(0)?, inv_logit(number(1)?), rng),
        "geometric" => (positive_uniform(rng).ln() / libm::log1p(-share(0)?)).floor() + 0.0,
        "neg_binomial" => {
            let (r, p) = (positive(0)?, share(1)?);
            poisson((log_gamma(r, rng) + libm::log1p(-p) - p.ln()).exp(), rng)
        }
        "poisson" => poisson(number(0)?, rng),
        "poisson_log" => poisson(libm::exp(number(0)?), rng),
        "categorical" => {
            let shares = numbers();
            let mut left = uniform(rng) * shares.iter().sum::<f64>();
            let past = |s: &f64| {
                left -= s;
                left < 0.0
            };
            shares.iter().position(past).map_or(shares.len(), |i| i + 1) as f64
        }
        "categorical_logit" => {
            // The largest sum of a predictor and Gumbel noise.
            let noisy: Vec<f64> = numbers().iter().map(|eta| eta - (-positive_uniform(rng).ln()).ln()).collect();
            noisy.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0.0, |(i, _)| i as f64 + 1.0)
        }
        "normal" => number(0)? + number(1)?.abs() * normal(rng),
        "half_normal" => (number(0)? * normal(rng)).abs(),
        "laplace" => {
            let u = uniform(rng) - 0.5;
            number(0)? - positive(1)? * u.signum() * libm::log1p(-2.0 * u.abs())
        }
        "cauchy" => number(0)? + positive(1)? * (std::f64::consts::PI * (uniform(rng) - 0.5)).tan(),
        "student_t" => {
            let half = 0.5 * positive(0)?;
            number(1)? + positive(2)? * normal(rng) * (0.5 * (half.ln() - log_gamma(half, rng))).exp()
        }
        "exponential" => -positive_uniform(rng).ln() / positive(0)?,
        "gamma" => (log_gamma(positive(0)?, rng) - positive(1)?.ln()).exp(),
        "inv_gamma" => (positive(1)?.ln() - log_gamma(positive(0)?, rng)).exp(),
        "beta" => shares(&[positive(0)?, positive(1)?], rng).first().copied().unwrap_or(f64::NAN),
        "uniform" => {
            let (lo, hi) = (number(0)?, number(1)?);
            lo + (hi - lo) * uniform(rng)
        }
        _ => return Err(NoValue::Unsupported),
    })
}

pub(super) fn normal(rng: &mut Bits) -> f64 {
    StandardNormal.sample(rng)
}

/// The logarithm of a draw from Gamma(shape, 1): small shapes give what no double holds.
pub(super) fn log_gamma(shape: f64, rng: &mut Bits) -> f64 {
    if shape < 1.0 {
        return log_gamma(shape + 1.0, rng) + positive_uniform(rng).ln() / shape;
    }
    rand_distr::Gamma::new(shape, 1.0).map_or(f64::NAN, |g| g.sample(rng).ln())
}

/// A draw from a Dirichlet law.
pub(super) fn shares(alpha: &[f64], rng: &mut Bits) -> Vec<f64> {
    let logs: Vec<f64> = alpha.iter().map(|a| log_gamma(*a, rng)).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = logs.iter().map(|x| (x - most).exp()).collect();
    let total: f64 = parts.iter().sum();
    parts.into_iter().map(|x| x / total).collect()
}

fn bernoulli(p: f64, rng: &mut Bits) -> f64 {
    let u = uniform(rng);
    if p.is_nan() { p } else { f64::from(u8::from(u < p)) }
}

/// Beyond this a count is as good as normal, and samplers of counts leave the whole numbers.
const COUNTED: f64 = 1e15;

fn binomial(n: f64, p: f64, rng: &mut Bits) -> f64 {
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

fn poisson(rate: f64, rng: &mut Bits) -> f64 {
    match rate {
        rate if rate <= 0.0 => 0.0,
        rate if rate <= COUNTED => rand_distr::Poisson::new(rate).map_or(f64::NAN, |d| d.sample(rng)),
        rate if rate.is_finite() => (rate + rate.sqrt() * normal(rng)).round(),
        rate => rate,
    }
}

/// On (0, 1].
fn positive_uniform(rng: &mut Bits) -> f64 {
    1.0 - uniform(rng)
}

pub(super) fn uniform(rng: &mut Bits) -> f64 {
    let Ok(word) = rng.try_next_u64();
    (word >> 11) as f64 / (1u64 << 53) as f64
}
