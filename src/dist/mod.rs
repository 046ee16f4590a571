//! The distributions of the language: names, arguments, supports.

use crate::model::Range;

/// What values a distribution has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Support {
    /// 0 or 1.
    Bool,
    /// Integers from 0 to the first argument (binomial).
    CountsToFirst,
    /// Integers from 0.
    Counts,
    /// One of as many categories as the (only) argument has components.
    Categories,
    /// Vectors of counts that sum to the first argument.
    CountVector,
    Real(Range),
    /// Real vectors of the dimension of the first argument.
    RealVector,
    /// Probability vectors of the dimension of the argument.
    Simplex,
    /// Between the two arguments (uniform).
    BetweenArgs,
}

/// What an argument must be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArgKind {
    /// A scalar in this range (which a component of a row, a parameter or a constant must respect).
    Scalar(Range),
    /// A constant whole number, at least 1.
    Trials,
    Simplex,
    /// A vector of any reals.
    Vector,
    /// A vector with positive components.
    PositiveVector,
    /// A public positive definite matrix, as a list of lists or the name of a public matrix.
    Matrix,
}

#[derive(Debug)]
pub struct Distribution {
    pub name: &'static str,
    pub args: &'static [(&'static str, ArgKind)],
    pub support: Support,
    /// One line for `dpm explain`: the density.
    pub density: &'static str,
}

const ALL: Range = Range::ALL;
const UNIT: Range = Range::UNIT;
const POSITIVE: Range = Range { lo: 0.0, hi: f64::INFINITY };

use ArgKind::{Matrix, PositiveVector, Scalar, Simplex, Trials, Vector};

/// Every distribution, Stan's names and parametrisations.
pub const DISTRIBUTIONS: &[Distribution] = &[
    Distribution { name: "bernoulli", args: &[("p", Scalar(UNIT))], support: Support::Bool, density: "p^y (1 - p)^(1 - y)" },
    Distribution { name: "bernoulli_logit", args: &[("eta", Scalar(ALL))], support: Support::Bool, density: "bernoulli(inv_logit(eta))" },
    Distribution { name: "bernoulli_probit", args: &[("eta", Scalar(ALL))], support: Support::Bool, density: "bernoulli(Phi(eta))" },
    Distribution {
        name: "bernoulli_cloglog",
        args: &[("eta", Scalar(ALL))],
        support: Support::Bool,
        density: "bernoulli(1 - exp(-exp(eta)))",
    },
    Distribution {
        name: "binomial",
        args: &[("N", Trials), ("p", Scalar(UNIT))],
        support: Support::CountsToFirst,
        density: "choose(N, y) p^y (1 - p)^(N - y)",
    },
    Distribution {
        name: "binomial_logit",
        args: &[("N", Trials), ("eta", Scalar(ALL))],
        support: Support::CountsToFirst,
        density: "binomial(N, inv_logit(eta))",
    },
    Distribution {
        name: "geometric",
        args: &[("p", Scalar(UNIT))],
        support: Support::Counts,
        density: "p (1 - p)^y, y failures before the first success",
    },
    Distribution {
        name: "neg_binomial",
        args: &[("r0", Scalar(POSITIVE)), ("p", Scalar(UNIT))],
        support: Support::Counts,
        density: "choose(y + r0 - 1, y) p^r0 (1 - p)^y",
    },
    Distribution { name: "poisson", args: &[("rate", Scalar(POSITIVE))], support: Support::Counts, density: "rate^y exp(-rate) / y!" },
    Distribution { name: "poisson_log", args: &[("eta", Scalar(ALL))], support: Support::Counts, density: "poisson(exp(eta))" },
    Distribution { name: "categorical", args: &[("shares", Simplex)], support: Support::Categories, density: "shares[y]" },
    Distribution { name: "categorical_logit", args: &[("eta", Vector)], support: Support::Categories, density: "softmax(eta)[y]" },
    Distribution {
        name: "multinomial",
        args: &[("N", Trials), ("shares", Simplex)],
        support: Support::CountVector,
        density: "N! prod shares_i^y_i / y_i!",
    },
    Distribution {
        name: "normal",
        args: &[("mean", Scalar(ALL)), ("sd", Scalar(POSITIVE))],
        support: Support::Real(ALL),
        density: "exp(-(y - mean)^2 / (2 sd^2)) / (sd sqrt(2 pi))",
    },
    Distribution {
        name: "half_normal",
        args: &[("sd", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "2 normal(0, sd) on y >= 0",
    },
    Distribution {
        name: "laplace",
        args: &[("mean", Scalar(ALL)), ("scale", Scalar(POSITIVE))],
        support: Support::Real(ALL),
        density: "exp(-abs(y - mean) / scale) / (2 scale)",
    },
    Distribution {
        name: "cauchy",
        args: &[("mean", Scalar(ALL)), ("scale", Scalar(POSITIVE))],
        support: Support::Real(ALL),
        density: "1 / (pi scale (1 + ((y - mean) / scale)^2))",
    },
    Distribution {
        name: "student_t",
        args: &[("df", Scalar(POSITIVE)), ("mean", Scalar(ALL)), ("scale", Scalar(POSITIVE))],
        support: Support::Real(ALL),
        density: "Student's t with df degrees of freedom",
    },
    Distribution {
        name: "multi_normal",
        args: &[("mean", Vector), ("covariance", Matrix)],
        support: Support::RealVector,
        density: "exp(-(y - mean)' covariance^-1 (y - mean) / 2) / sqrt(det(2 pi covariance))",
    },
    Distribution {
        name: "exponential",
        args: &[("rate", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "rate exp(-rate y)",
    },
    Distribution {
        name: "gamma",
        args: &[("shape", Scalar(POSITIVE)), ("rate", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "rate^shape y^(shape - 1) exp(-rate y) / Gamma(shape)",
    },
    Distribution {
        name: "inv_gamma",
        args: &[("shape", Scalar(POSITIVE)), ("scale", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "scale^shape y^(-shape - 1) exp(-scale / y) / Gamma(shape)",
    },
    Distribution {
        name: "beta",
        args: &[("a", Scalar(POSITIVE)), ("b", Scalar(POSITIVE))],
        support: Support::Real(UNIT),
        density: "y^(a - 1) (1 - y)^(b - 1) / B(a, b)",
    },
    Distribution {
        name: "uniform",
        args: &[("lo", Scalar(ALL)), ("hi", Scalar(ALL))],
        support: Support::BetweenArgs,
        density: "1 / (hi - lo)",
    },
    Distribution {
        name: "dirichlet",
        args: &[("counts", PositiveVector)],
        support: Support::Simplex,
        density: "prod y_i^(counts_i - 1) / B(counts)",
    },
];

/// The distribution of this name.
pub fn find(name: &str) -> Option<&'static Distribution> {
    DISTRIBUTIONS.iter().find(|d| d.name == name)
}
