//! `simulate`: draws from a distribution with public arguments, for predictions; fresh and public randomness.

use super::evaluate::NoValue;
use super::posterior::Posterior;
use super::value::Value;
use crate::mechanism::bits::BitSource;
use rand::TryRng;
use rand_distr::Distribution;
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
            fresh = args.iter().map(|a| drawn(a, &mut rng)).collect::<Result<_, _>>()?;
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
fn drawn(value: &Value, rng: &mut Bits) -> Result<Value, NoValue> {
    match value {
        Value::Posterior(p) => Ok(match p.draw(rng)?.as_slice() {
            [x] if p.is_scalar() => Value::Number(*x),
            v => Value::Vector(v.to_vec()),
        }),
        other => Ok(other.clone()),
    }
}

/// Draws from a posterior of one number.
pub fn sample(p: &Posterior, times: f64, source: &mut dyn BitSource) -> Result<Vec<f64>, NoValue> {
    let mut rng = Bits { source, failed: false };
    let draws: Result<Vec<f64>, NoValue> =
        (0..times.max(0.0) as u64).map(|_| p.draw(&mut rng).map(|v| v.first().copied().unwrap_or(f64::NAN))).collect();
    if rng.failed { Err(NoValue::NoRandomness) } else { draws }
}

fn one(name: &str, args: &[Value], rng: &mut Bits) -> Result<f64, NoValue> {
    let number = |i: usize| args.get(i).and_then(Value::as_number).ok_or(NoValue::Unsupported);
    let positive = |i: usize| number(i).map(|x| if x > 1e-300 { x.min(1e300) } else { 1e-300 });
    let share = |i: usize| number(i).map(|p| if p > 0.0 { p.min(1.0) } else { 0.0 });
    fn draw<D: Distribution<f64>, X>(d: Result<D, X>, rng: &mut Bits) -> Result<f64, NoValue> {
        d.map(|d| d.sample(rng)).map_err(|_| NoValue::Unsupported)
    }
    let inv_logit = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    let bernoulli = |p: f64, rng: &mut Bits| {
        rand_distr::Bernoulli::new(p).map(|d| f64::from(u8::from(d.sample(rng)))).map_err(|_| NoValue::Unsupported)
    };
    let binomial = |n: f64, p: f64, rng: &mut Bits| {
        rand_distr::Binomial::new(n.max(0.0) as u64, p).map(|d| d.sample(rng) as f64).map_err(|_| NoValue::Unsupported)
    };
    match name {
        "bernoulli" => bernoulli(share(0)?, rng),
        "bernoulli_logit" => bernoulli(inv_logit(number(0)?), rng),
        "bernoulli_probit" => bernoulli(0.5 * libm::erfc(-number(0)? / std::f64::consts::SQRT_2), rng),
        "bernoulli_cloglog" => bernoulli(-libm::expm1(-libm::exp(number(0)?)), rng),
        "binomial" => binomial(number(0)?, share(1)?, rng),
        "binomial_logit" => binomial(number(0)?, inv_logit(number(1)?), rng),
        "geometric" => rand_distr::Geometric::new(share(0)?.max(1e-12)).map(|d| d.sample(rng) as f64).map_err(|_| NoValue::Unsupported),
        "neg_binomial" => {
            let (r, p) = (positive(0)?, share(1)?.clamp(1e-12, 1.0));
            if p >= 1.0 {
                return Ok(0.0);
            }
            let rate = draw(rand_distr::Gamma::new(r, (1.0 - p) / p), rng)?;
            poisson(rate, rng)
        }
        "poisson" => poisson(number(0)?, rng),
        "poisson_log" => poisson(libm::exp(number(0)?), rng),
        "categorical" => {
            let shares = args.first().map(Value::numbers).unwrap_or_default();
            let total: f64 = shares.iter().sum();
            let mut left = uniform(rng) * total;
            for (i, s) in shares.iter().enumerate() {
                left -= s;
                if left < 0.0 {
                    return Ok(i as f64 + 1.0);
                }
            }
            Ok(shares.len() as f64)
        }
        "normal" => draw(rand_distr::Normal::new(number(0)?, number(1)?.abs()), rng),
        "half_normal" => draw(rand_distr::Normal::new(0.0, number(0)?.abs()), rng).map(f64::abs),
        "laplace" => {
            let u = uniform(rng) - 0.5;
            Ok(number(0)? - positive(1)? * u.signum() * libm::log1p(-2.0 * u.abs()))
        }
        "cauchy" => draw(rand_distr::Cauchy::new(number(0)?, positive(1)?), rng),
        "student_t" => Ok(number(1)? + positive(2)? * draw(rand_distr::StudentT::new(positive(0)?), rng)?),
        "exponential" => draw(rand_distr::Exp::new(positive(0)?), rng),
        "gamma" => draw(rand_distr::Gamma::new(positive(0)?, 1.0 / positive(1)?), rng),
        "inv_gamma" => Ok(1.0 / draw(rand_distr::Gamma::new(positive(0)?, 1.0 / positive(1)?), rng)?),
        "beta" => draw(rand_distr::Beta::new(positive(0)?, positive(1)?), rng),
        "uniform" => {
            let (lo, hi) = (number(0)?, number(1)?);
            Ok(lo + (hi - lo) * uniform(rng))
        }
        _ => Err(NoValue::Unsupported),
    }
}

pub(super) fn uniform(rng: &mut Bits) -> f64 {
    let Ok(word) = rng.try_next_u64();
    (word >> 11) as f64 / (1u64 << 53) as f64
}

fn poisson(rate: f64, rng: &mut Bits) -> Result<f64, NoValue> {
    if rate.is_nan() || rate <= 0.0 {
        return Ok(0.0);
    }
    rand_distr::Poisson::new(rate.min(1e15)).map(|d| d.sample(rng)).map_err(|_| NoValue::Unsupported)
}
