//! Which prior is conjugate to which rows, and the conjugate prior of the same mean and standard deviation.

use crate::model::Parameter;
use crate::numeric::decimal::sig;

/// The conjugate prior of a likelihood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conjugate {
    pub family: &'static str,
    /// As a user writes it, arguments by name.
    pub written: &'static str,
}

pub fn conjugate_prior(likelihood: &str) -> Option<Conjugate> {
    let (family, written) = match likelihood {
        "bernoulli" | "binomial" | "geometric" | "neg_binomial" => ("beta", "beta(a, b)"),
        "categorical" | "multinomial" => ("dirichlet", "dirichlet([a, b, ..])"),
        "poisson" | "exponential" => ("gamma", "gamma(shape, rate)"),
        "normal" => ("normal", "normal(mean, sd)"),
        "multi_normal" => ("multi_normal", "multi_normal(mean, covariance)"),
        _ => return None,
    };
    Some(Conjugate { family, written })
}

/// A prior of another family with the mean and standard deviation of the one written.
#[derive(Clone, PartialEq, Debug)]
pub struct SameMoments {
    /// `beta(3, 12)`
    pub prior: String,
    pub mean: f64,
    pub sd: f64,
}

/// Matches the moments of the prior as written (before any truncation); `None` where the family has no such member.
pub fn same_moments(parameter: &Parameter, family: &str) -> Option<SameMoments> {
    let args: Option<Vec<f64>> = parameter.prior.args.iter().map(|a| a.constant()).collect();
    let (mean, sd) = moments(parameter.prior.family, &args?)?;
    let variance = sd * sd;
    let (a, b) = match family {
        "beta" if mean > 0.0 && mean < 1.0 => {
            let total = mean * (1.0 - mean) / variance - 1.0;
            (mean * total, (1.0 - mean) * total)
        }
        "gamma" if mean > 0.0 => (mean * mean / variance, mean / variance),
        "normal" => (mean, sd),
        _ => return None,
    };
    if family != "normal" && !(a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite()) {
        return None;
    }
    Some(SameMoments {
        prior: format!("{family}({}, {})", sig(a, 4), sig(b, 4)),
        mean,
        sd,
    })
}

fn moments(family: &str, args: &[f64]) -> Option<(f64, f64)> {
    Some(match (family, args) {
        ("normal", [mean, sd]) => (*mean, *sd),
        ("laplace", [mean, scale]) => (*mean, scale * std::f64::consts::SQRT_2),
        ("uniform", [lo, hi]) => (f64::midpoint(*lo, *hi), (hi - lo) / 12f64.sqrt()),
        ("gamma", [shape, rate]) => (shape / rate, shape.sqrt() / rate),
        ("exponential", [rate]) => (1.0 / rate, 1.0 / rate),
        ("beta", [a, b]) => {
            let total = a + b;
            (a / total, (a * b / (total + 1.0)).sqrt() / total)
        }
        _ => return None,
    })
}
