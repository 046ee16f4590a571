//! Which prior is conjugate to which rows.

use crate::model::{DistCall, Expr, ParamId};
use crate::rules::conjugate::deviation_of;

/// The conjugate prior of a likelihood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conjugate {
    pub family: &'static str,
    /// As a user writes it, arguments by name.
    pub written: &'static str,
}

/// That of a parameter in the likelihood: a normal law has one for its mean and one for its precision.
pub fn conjugate_prior(likelihood: &DistCall, parameter: ParamId) -> Option<Conjugate> {
    let stands = |i: usize, test: fn(&Expr, ParamId) -> bool| likelihood.args.get(i).is_some_and(|e| test(e, parameter));
    let (family, written) = match likelihood.name() {
        "bernoulli" | "binomial" | "geometric" | "neg_binomial" => ("beta", "beta(a, b)"),
        "categorical" | "multinomial" => ("dirichlet", "dirichlet([a, b, ..])"),
        "poisson" | "exponential" => ("gamma", "gamma(shape, rate)"),
        "gamma" if stands(1, Expr::is_param) => ("gamma", "gamma(shape, rate)"),
        "normal" if stands(1, deviation_of) => ("gamma", "gamma(shape, rate)"),
        "normal" if stands(1, Expr::mentions) => return None,
        "normal" => ("normal", "normal(mean, sd)"),
        "multi_normal" => ("multi_normal", "multi_normal(mean, covariance)"),
        _ => return None,
    };
    Some(Conjugate { family, written })
}
