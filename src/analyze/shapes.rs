//! Which prior is conjugate to which rows.

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
