//! `simulate`: draws from a distribution with public arguments, for predictions; fresh and public randomness.

use super::bits::Bits;
use super::evaluate::NoValue;
use super::posterior::Posterior;
use super::value::Value;
use crate::dist::sample::Args;
use crate::mechanism::bits::BitSource;

/// Draws from the distribution `name`; the last argument is how often.
pub fn simulate(name: &str, args: &[Value], source: &mut dyn BitSource) -> Result<Value, NoValue> {
    let (times, args) = args.split_last().ok_or(NoValue::Unsupported)?;
    let times = times.as_number().ok_or(NoValue::Unsupported)?;
    let draw = crate::dist::find(name).and_then(|d| d.draw).ok_or(NoValue::Unsupported)?;
    let mut rng = Bits::new(source);
    let mut draws = Vec::with_capacity((times as usize).min(1 << 20));
    let numbers = |args: &[Value]| args.iter().map(Value::numbers).collect::<Vec<_>>();
    let mut known = numbers(args);
    let predictive = args.iter().any(|a| matches!(a, Value::Posterior(_)));
    for _ in 0..times as u64 {
        if predictive {
            // Every draw has its own parameters.
            known = numbers(&args.iter().map(|a| drawn(a, &mut rng)).collect::<Vec<_>>());
        }
        draws.push(draw(&Args(&known), &mut rng));
        if rng.failed() {
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
    let mut rng = Bits::new(source);
    let draws = (0..times.max(0.0) as u64).map(|_| p.draw(&mut rng).first().copied().unwrap_or(f64::NAN)).collect();
    if rng.failed() { Err(NoValue::NoRandomness) } else { Ok(draws) }
}
