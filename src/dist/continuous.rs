//! Distributions of real numbers of either sign, of shares, and of vectors.

use super::ArgKind::{Matrix, PositiveVector, Scalar, Vector};
use super::sample::{log_gamma, logit_noise, normal, shares, uniform};
use super::{ALL, BASE, COIN, Distribution, Law, POSITIVE, Standard, Support, UNIT, VOTES};
use crate::kernel::density::{Binned, Builder, One, Op, Operand};
use crate::numeric::round::div_up;
use crate::numeric::{Binary, Interval, Unary, dense};
use Operand::Constant;
use std::f64::consts::{LN_2, PI, TAU};

/// `ln sqrt(2 pi)`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;

pub(super) const LOCATION_SCALE: Standard =
    Standard { location: Some(0), scale: 1, rate: false, shape: None, peak: |_| Ok(normal_peak()), power: |_, _, b| normal_power(b) };

pub static CONTINUOUS: &[Distribution] = &[
    Distribution {
        name: "normal",
        args: &[("mean", Scalar(ALL)), ("sd", Scalar(POSITIVE))],
        density: "exp(-(y - mean)^2 / (2 sd^2)) / (sd sqrt(2 pi))",
        example: "budget zcdp(0.05)\nprivate staff[n >= 1000] { income: real in [0, 200] }\nparam mu ~ normal(60, 50)\nobserve income ~ normal(mu, 30)\nrelease mu_hat = draw(mu)",
        draw: Some(|a, rng| a.number(0) + a.number(1).abs() * normal(rng)),
        moments: |args| if let [m, s] = *args { Some((m, s * s)) } else { None },
        law: Law::Density(|to, args, y| located(to, args, y, log_normal), Some(LOCATION_SCALE)),
        within: |to, args, ends| part(to, Binned::Normal, args, ends),
        ..BASE
    },
    Distribution {
        name: "laplace",
        args: &[("mean", Scalar(ALL)), ("scale", Scalar(POSITIVE))],
        density: "exp(-abs(y - mean) / scale) / (2 scale)",
        example: "output x = simulate(laplace(0, 1), times = 100)",
        stan: "double_exponential($1, $2)",
        draw: Some(|a, rng| {
            let u = uniform(rng) - 0.5;
            a.number(0) - a.positive(1) * u.signum() * libm::log1p(-2.0 * u.abs())
        }),
        moments: |args| if let [m, s] = *args { Some((m, 2.0 * s * s)) } else { None },
        law: Law::Density(
            |to, args, y| {
                located(to, args, y, |to, z| {
                    let away = to.unary(Unary::Abs, z);
                    let kernel = to.neg(away);
                    to.shift(-LN_2, kernel)
                })
            },
            Some(Standard { peak: |_| Ok(0.5), power: |_, _, b| Constant((1.0 - b) * LN_2 - b.ln()), ..LOCATION_SCALE }),
        ),
        within: |to, args, ends| part(to, Binned::Laplace, args, ends),
        ..BASE
    },
    Distribution {
        name: "cauchy",
        args: &[("mean", Scalar(ALL)), ("scale", Scalar(POSITIVE))],
        density: "1 / (pi scale (1 + ((y - mean) / scale)^2))",
        example: "output x = simulate(cauchy(0, 1), times = 100)",
        draw: Some(|a, rng| a.number(0) + a.positive(1) * (PI * (uniform(rng) - 0.5)).tan()),
        law: Law::Density(
            |to, args, y| located(to, args, y, |to, z| log_t(to, Constant(1.0), z)),
            Some(Standard { peak: |_| Ok(div_up(1.0, PI)), power: |to, _, b| t_power(to, Constant(1.0), b), ..LOCATION_SCALE }),
        ),
        within: |to, args, ends| part(to, Binned::Cauchy, args, ends),
        ..BASE
    },
    Distribution {
        name: "logistic",
        args: &[("mean", Scalar(ALL)), ("scale", Scalar(POSITIVE))],
        density: "exp(-z) / (scale (1 + exp(-z))^2), z = (y - mean) / scale",
        example: "output x = simulate(logistic(0, 1), times = 100)",
        draw: Some(|a, rng| a.number(0) + a.positive(1) * logit_noise(rng)),
        moments: |args| if let [m, s] = *args { Some((m, s * s * PI * PI / 3.0)) } else { None },
        law: Law::Density(
            |to, args, y| {
                located(to, args, y, |to, z| {
                    let flipped = to.neg(z);
                    let (below, above) = (to.unary(One::LogInvLogit, z), to.unary(One::LogInvLogit, flipped));
                    to.add(below, above)
                })
            },
            // The integral of the power is B(b, b).
            Some(Standard {
                peak: |_| Ok(0.25),
                power: |_, _, b| Constant(2.0 * libm::lgamma(b) - libm::lgamma(2.0 * b)),
                ..LOCATION_SCALE
            }),
        ),
        within: |to, args, ends| part(to, Binned::Logistic, args, ends),
        ..BASE
    },
    Distribution {
        name: "student_t",
        args: &[("df", Scalar(POSITIVE)), ("mean", Scalar(ALL)), ("scale", Scalar(POSITIVE))],
        density: "Student's t with df degrees of freedom",
        example: "output x = simulate(student_t(4, 0, 1), times = 100)",
        draw: Some(|a, rng| {
            let half = 0.5 * a.positive(0);
            a.number(1) + a.positive(2) * normal(rng) * (0.5 * (half.ln() - log_gamma(half, rng))).exp()
        }),
        moments: |args| match *args {
            [nu, m, s] if nu > 2.0 => Some((m, s * s * nu / (nu - 2.0))),
            _ => None,
        },
        law: Law::Density(
            |to, args, y| match args {
                [df, rest @ ..] => located(to, rest, y, |to, z| log_t(to, *df, z)),
                [] => UNKNOWN,
            },
            Some(Standard {
                location: Some(1),
                scale: 2,
                shape: Some(0),
                // The peak rises with df to that of the normal law.
                peak: |df| Ok(if df.lo == df.hi { student_peak(df.lo) } else { normal_peak() }),
                power: t_power,
                rate: false,
            }),
        ),
        within: |to, args, ends| match args {
            [Constant(df), rest @ ..] => part(to, Binned::Student(*df), rest, ends),
            _ => None,
        },
        ..BASE
    },
    Distribution {
        name: "multi_normal",
        args: &[("mean", Vector), ("covariance", Matrix)],
        support: Support::RealVector,
        density: "exp(-(y - mean)' covariance^-1 (y - mean) / 2) / sqrt(det(2 pi covariance))",
        example: "budget zcdp(0.05)\nprivate t[n >= 1000] { y: vector[2] in l2(3) }\nparam mu: vector[2] ~ multi_normal([0, 0], [[4, 0], [0, 4]])\nobserve y ~ multi_normal(mu, [[1, 0], [0, 1]])\nrelease mu_hat = draw(mu)",
        law: Law::Vector(multi_normal),
        ..BASE
    },
    Distribution {
        name: "beta",
        args: &[("a", Scalar(POSITIVE)), ("b", Scalar(POSITIVE))],
        support: Support::Real(UNIT),
        density: "y^(a - 1) (1 - y)^(b - 1) / B(a, b)",
        example: COIN,
        draw: Some(|a, rng| shares(&[a.positive(0), a.positive(1)], rng).first().copied().unwrap_or(f64::NAN)),
        moments: |args| if let [a, b] = *args { Some((a / (a + b), a * b / ((a + b).powi(2) * (a + b + 1.0)))) } else { None },
        law: Law::Density(log_beta, None),
        ..BASE
    },
    Distribution {
        name: "uniform",
        args: &[("lo", Scalar(ALL)), ("hi", Scalar(ALL))],
        support: Support::BetweenArgs,
        density: "1 / (hi - lo)",
        example: "output x = simulate(uniform(-1, 1), times = 100)",
        draw: Some(|a, rng| a.number(0) + (a.number(1) - a.number(0)) * uniform(rng)),
        moments: |args| if let [a, b] = *args { Some(((a + b) / 2.0, (b - a).powi(2) / 12.0)) } else { None },
        law: Law::Density(
            |to, args, _| {
                let [lo, hi] = *args else { return UNKNOWN };
                let width = to.sub(hi, lo);
                let log = to.log(width);
                to.neg(log)
            },
            None,
        ),
        within: |to, args, [from, until]| {
            let [lo, hi] = *args else { return None };
            let (from, until) = (to.binary(Binary::Max, from, lo), to.binary(Binary::Min, until, hi));
            let (common, width) = (to.sub(until, from), to.sub(hi, lo));
            let common = to.binary(Binary::Max, common, Constant(0.0));
            let (common, width) = (to.log(common), to.log(width));
            Some(to.sub(common, width))
        },
        ..BASE
    },
    Distribution {
        name: "dirichlet",
        args: &[("counts", PositiveVector)],
        support: Support::Simplex,
        density: "prod y_i^(counts_i - 1) / B(counts)",
        example: VOTES,
        law: Law::Vector(dirichlet),
        ..BASE
    },
];

/// The density of the wrong number of arguments.
pub(super) const UNKNOWN: Operand = Constant(f64::NAN);

/// `(y - location) / scale`
fn standardized(to: &mut Builder, args: &[Operand], y: Operand) -> Operand {
    let [location, scale] = *args else { return UNKNOWN };
    let away = to.sub(y, location);
    to.binary(Binary::Div, away, scale)
}

/// `ln g((y - location) / scale) - ln scale`
pub(super) fn located(to: &mut Builder, args: &[Operand], y: Operand, g: impl FnOnce(&mut Builder, Operand) -> Operand) -> Operand {
    let [_, scale] = *args else { return UNKNOWN };
    let z = standardized(to, args, y);
    let (standard, log_scale) = (g(to, z), to.log(scale));
    to.sub(standard, log_scale)
}

/// `ln P(from <= Y < until)` of a standard law moved to a location and stretched by a scale.
pub(super) fn part(to: &mut Builder, law: Binned, args: &[Operand], ends: [Operand; 2]) -> Option<Operand> {
    let [location, scale] = *args else { return None };
    let [from, until] = ends.map(|y| {
        let away = to.sub(y, location);
        to.binary(Binary::Div, away, scale)
    });
    Some(to.op(Op::Within(law, [from, until, Constant(0.0), Constant(0.0)])))
}

pub(super) fn log_normal(to: &mut Builder, z: Operand) -> Operand {
    let square = to.mul(z, z);
    let kernel = to.scale(-0.5, square);
    to.shift(-LN_ROOT, kernel)
}

pub(super) fn normal_power(b: f64) -> Operand {
    Constant((1.0 - b) * LN_ROOT - 0.5 * b.ln())
}

/// `1 / sqrt(2 pi)`, rounded up.
pub(super) fn normal_peak() -> f64 {
    // The double nearest pi is below pi.
    (Interval::ONE / Interval::point(TAU).sqrt()).hi
}

/// Student's density of scale 1.
pub(super) fn log_t(to: &mut Builder, df: Operand, z: Operand) -> Operand {
    let square = to.mul(z, z);
    let share = to.binary(Binary::Div, square, df);
    let log = to.unary(Unary::Log1p, share);
    let half = to.scale(0.5, df);
    let more = to.shift(0.5, half);
    let kernel = to.mul(more, log);
    let (top, bottom) = (to.unary(One::LnGamma, more), to.unary(One::LnGamma, half));
    let around = to.scale(PI, df);
    let log_around = to.log(around);
    let root = to.scale(0.5, log_around);
    let parts = [bottom, root, kernel].map(|x| to.neg(x));
    to.sum([vec![top], parts.to_vec()].concat())
}

/// The density at 0 to the power b, times `sqrt(df) B(1/2, m - 1/2)` for `m = b (df + 1) / 2`.
pub(super) fn t_power(to: &mut Builder, df: Operand, b: f64) -> Operand {
    let top = log_t(to, df, Constant(0.0));
    let (powers, more) = (to.scale(b, top), to.shift(1.0, df));
    let (m, log_df) = (to.scale(b / 2.0, more), to.log(df));
    let before = to.shift(-0.5, m);
    let (above, below) = (to.unary(One::LnGamma, before), to.unary(One::LnGamma, m));
    let terms = vec![powers, to.scale(0.5, log_df), Constant(libm::lgamma(0.5)), above, to.neg(below)];
    to.sum(terms)
}

/// `ln Gamma(x)`: the error of `libm` is a few units in the last place, less than is taken here.
pub(super) fn ln_gamma(x: f64) -> Interval {
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
    let root = Interval::point(df) * Interval::point(PI);
    ((half(df + 1.0) - half(df)).exp() / root.sqrt()).hi.min(normal_peak())
}

fn log_beta(to: &mut Builder, args: &[Operand], y: Operand) -> Operand {
    let [a, b] = *args else { return UNKNOWN };
    let rest = to.sub(Constant(1.0), y);
    let (log_y, log_rest) = (to.log(y), to.log(rest));
    let (first, second) = (to.shift(-1.0, a), to.shift(-1.0, b));
    let (first, second, both) = (to.mul(first, log_y), to.mul(second, log_rest), to.add(a, b));
    let [all, left, right] = [both, a, b].map(|x| to.unary(One::LnGamma, x));
    let (left, right) = (to.neg(left), to.neg(right));
    to.sum(vec![first, second, all, left, right])
}

fn dirichlet(to: &mut Builder, args: &[Vec<Operand>], y: &[Operand]) -> Option<Vec<Operand>> {
    let [counts] = args else { return None };
    let term = |(count, y): (&Operand, &Operand)| {
        let Constant(count) = count else { return None };
        let log = to.log(*y);
        Some(to.scale(count - 1.0, log))
    };
    if counts.len() == y.len() { counts.iter().zip(y).map(term).collect() } else { None }
}

/// `-|L^-1 (y - mean)|^2 / 2` for a constant covariance `L L'`.
fn multi_normal(to: &mut Builder, args: &[Vec<Operand>], y: &[Operand]) -> Option<Vec<Operand>> {
    let [mean, covariance] = args else { return None };
    let number = |x: &Operand| if let Constant(x) = x { Some(*x) } else { None };
    let entries: Vec<f64> = covariance.iter().map(number).collect::<Option<_>>()?;
    let square = entries.len() == y.len() * y.len() && !y.is_empty();
    let lower = square.then(|| dense::Matrix::from_row_slice(y.len(), y.len(), &entries)).and_then(dense::cholesky)?;
    let mut solved: Vec<Operand> = vec![];
    for ((row, i), (y, mean)) in lower.row_iter().zip(0usize..).zip(y.iter().zip(mean)) {
        let away = to.sub(*y, *mean);
        let pairs = row.iter().zip(&solved).map(|(l, z)| (Constant(*l), *z)).collect();
        let known = to.op(Op::Dot(pairs));
        let rest = to.sub(away, known);
        solved.push(to.binary(Binary::Div, rest, Constant(*row.get(i)?)));
    }
    let square = to.op(Op::Dot(solved.iter().map(|z| (*z, *z)).collect()));
    (mean.len() == y.len()).then(|| vec![to.scale(-0.5, square)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_of_standard_laws() {
        let close = |found: f64, exact: f64| assert!(found >= exact && found <= exact * (1.0 + 1e-10), "{found} {exact}");
        close(normal_peak(), 0.398_942_280_401_432_65);
        // mpmath: the densities of t(1), t(3), t(30) at 0.
        close(student_peak(1.0), std::f64::consts::FRAC_1_PI);
        close(student_peak(3.0), 0.367_552_596_947_861_36);
        close(student_peak(30.0), 0.395_632_184_894_094_8);
        assert!(student_peak(1e300) <= normal_peak() && student_peak(1e-3) > 0.015);
    }
}
