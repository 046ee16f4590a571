//! The largest value of a density for every value that its arguments can take (rule book §5.1).

use super::enclose::enclose;
use super::range::RowLoss;
use crate::model::{Expr, Observation, Type};
use crate::numeric::Interval;
use crate::numeric::round::{div_up, mul_up};

/// Why a density has no bound.
pub(super) enum Fault<'a> {
    /// No bound is proved for this law.
    Unknown(String),
    /// The scale (or one over it, the rate) may come too near 0; `peak` is the density's largest value times the scale.
    Scale { argument: &'a Expr, peak: f64, rate: bool },
    /// The predictor has no bound.
    Predictor { argument: &'a Expr },
    /// The shape may be one whose density has no largest value; the smallest shape that has one.
    Shape { argument: &'a Expr, least: f64 },
}

/// Laws of discrete outcomes: a probability is at most 1, whatever the arguments.
const MASSES: &[&str] = &[
    "bernoulli_cloglog",
    "binomial",
    "binomial_logit",
    "geometric",
    "neg_binomial",
    "poisson",
    "poisson_log",
    "categorical",
    "categorical_logit",
];

/// The chains sum over the outcomes of so many trials.
const MOST_TRIALS: f64 = 1e9;

/// What is known of the loss of one observed value.
pub(super) fn row_loss(o: &Observation) -> Result<RowLoss, Fault<'_>> {
    let args = o.likelihood.args.as_slice();
    let family = o.likelihood.family;
    let discrete = matches!(o.outcome.ty, Type::Bool | Type::Int(_) | Type::Category(_) | Type::Counts { .. });
    let scaled = |argument, peak| scale(argument, peak).map(|peak| RowLoss::Scaled { peak });
    match (family, args) {
        ("bernoulli" | "bernoulli_logit" | "bernoulli_probit", [t]) if discrete => Ok(bernoulli(family, t)),
        ("binomial" | "binomial_logit", [n, _]) if constant(n).is_none_or(|n| n > MOST_TRIALS) => {
            Err(Fault::Unknown("the sum over the outcomes is computed for a constant number of at most 10^9 trials".into()))
        }
        ("multinomial", _) => Err(Fault::Unknown("the sum over the outcomes of multinomial rows has too many terms".into())),
        (_, _) if MASSES.contains(&family) && discrete => Ok(RowLoss::Mass),
        (_, _) if MASSES.contains(&family) || family.starts_with("bernoulli") => {
            Err(Fault::Unknown("the outcome of a discrete law must be whole".into()))
        }
        ("normal", [_, sd]) => scaled(sd, normal_peak()),
        ("half_normal", [sd]) => scaled(sd, mul_up(2.0, normal_peak())),
        ("laplace", [_, s]) => scaled(s, 0.5),
        ("cauchy", [_, s]) => scaled(s, div_up(1.0, std::f64::consts::PI)),
        ("student_t", [df, _, s]) => match constant(df) {
            Some(df) => scaled(s, student_peak(df)),
            // The peak rises with df to that of the normal law.
            None => scale(s, normal_peak()).map(|peak| RowLoss::Bounded { peak }),
        },
        ("exponential", [rate]) => per_rate(rate, 1.0).map(|peak| RowLoss::Scaled { peak }),
        ("gamma", [shape, rate]) => {
            // Above 1 the peak falls in the shape: digamma(x) > ln(x - 1).
            let least = enclose(shape).lo;
            if least < 1.0 || least.is_nan() {
                return Err(Fault::Shape { argument: shape, least: 1.0 });
            }
            let peak = per_rate(rate, gamma_peak(least))?;
            Ok(if constant(shape).is_some() { RowLoss::Scaled { peak } } else { RowLoss::Bounded { peak } })
        }
        _ => Err(Fault::Unknown(format!("no bound on the density of {family} rows is proved"))),
    }
}

/// One and the same for every row and every parameter.
fn constant(e: &Expr) -> Option<f64> {
    e.constant().filter(|x| x.is_finite())
}

/// Both probabilities stay away from 0 where the argument says so.
fn bernoulli(family: &str, argument: &Expr) -> RowLoss {
    let x = enclose(argument);
    let least = match family {
        "bernoulli" => x.lo.min((Interval::ONE - x).lo),
        "bernoulli_logit" => (Interval::ONE / (Interval::ONE + Interval::point(x.magnitude()).exp())).lo,
        _ => Interval::point(-x.magnitude()).normal_cdf().lo,
    };
    if least > 0.0 && least <= 0.5 { RowLoss::Bernoulli { least } } else { RowLoss::Mass }
}

/// The peak of a law of this scale, whose density at scale 1 has the largest value `unit`.
fn scale(argument: &Expr, unit: f64) -> Result<f64, Fault<'_>> {
    let least = enclose(argument).lo;
    let peak = div_up(unit, least);
    if least > 0.0 && peak.is_finite() { Ok(peak) } else { Err(Fault::Scale { argument, peak: unit, rate: false }) }
}

/// The same for one over the scale.
fn per_rate(argument: &Expr, unit: f64) -> Result<f64, Fault<'_>> {
    let peak = mul_up(unit, enclose(argument).hi);
    if peak.is_finite() { Ok(peak) } else { Err(Fault::Scale { argument, peak: unit, rate: true }) }
}

/// `1 / sqrt(2 pi)`, rounded up.
pub(super) fn normal_peak() -> f64 {
    // The double nearest pi is below pi.
    (Interval::ONE / Interval::point(std::f64::consts::TAU).sqrt()).hi
}

/// `ln Gamma(x)`: the error of `libm` is a few units in the last place, less than is taken here.
fn ln_gamma(x: f64) -> Interval {
    let value = libm::lgamma(x);
    let room = 1e-12 * value.abs().max(1.0);
    Interval::new(value - room, value + room)
}

/// `Gamma((df + 1) / 2) / (Gamma(df / 2) sqrt(df pi))`, never above the peak of the normal law (Wendel 1948).
fn student_peak(df: f64) -> f64 {
    if df.is_nan() || df <= 0.0 {
        return f64::INFINITY;
    }
    let half = |x: f64| ln_gamma(x / 2.0);
    let root = Interval::point(df) * Interval::point(std::f64::consts::PI);
    ((half(df + 1.0) - half(df)).exp() / root.sqrt()).hi.min(normal_peak())
}

/// The density of gamma(shape, 1) at `shape - 1 >= 0`.
fn gamma_peak(shape: f64) -> f64 {
    let mode = Interval::point(shape) - Interval::ONE;
    if mode.lo <= 0.0 || shape > 1e15 {
        return 1.0;
    }
    (mode * mode.ln() - mode - ln_gamma(shape)).exp().hi.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_of_standard_laws() {
        let close = |found: f64, exact: f64| assert!(found >= exact && found <= exact * (1.0 + 1e-10), "{found} {exact}");
        close(normal_peak(), 0.398_942_280_401_432_65);
        // mpmath: the densities of t(1), t(3), t(30) at 0, of gamma(2), gamma(7.5) at their modes.
        close(student_peak(1.0), std::f64::consts::FRAC_1_PI);
        close(student_peak(3.0), 0.367_552_596_947_861_36);
        close(student_peak(30.0), 0.395_632_184_894_094_8);
        assert!(student_peak(1e300) <= normal_peak() && student_peak(1e-3) > 0.015);
        close(gamma_peak(2.0), 0.367_879_441_171_442_3);
        close(gamma_peak(7.5), 0.154_486_264_903_312_3);
        assert_eq!(gamma_peak(1.0), 1.0);
    }
}
