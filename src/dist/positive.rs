//! Distributions of positive numbers.

use super::ArgKind::Scalar;
use super::continuous::{LOCATION_SCALE, UNKNOWN, ln_gamma, located, log_normal, log_t, normal_peak, normal_power, part, t_power};
use super::sample::{log_gamma, normal, positive_uniform, uniform};
use super::{ALL, BASE, Distribution, Law, POSITIVE, Standard, Support, VISITS};
use crate::kernel::density::{Binned, Builder, One, Op, Operand};
use crate::numeric::round::{div_up, mul_up};
use crate::numeric::{Binary, Interval};
use Operand::Constant;
use std::f64::consts::{LN_2, PI};

pub static POSITIVE_NUMBERS: &[Distribution] = &[
    Distribution {
        name: "half_normal",
        args: &[("sd", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "2 normal(0, sd) on y >= 0",
        example: "output x = simulate(half_normal(2), times = 100)",
        stan: "normal(0, $1)",
        draw: Some(|a, rng| (a.number(0) * normal(rng)).abs()),
        moments: |args| if let [s] = *args { Some((s * (2.0 / PI).sqrt(), s * s * (1.0 - 2.0 / PI))) } else { None },
        law: Law::Density(
            |to, args, y| {
                let log = located(to, &[&[Constant(0.0)], args].concat(), y, log_normal);
                to.shift(LN_2, log)
            },
            Some(Standard {
                location: None,
                scale: 0,
                peak: |_| Ok(mul_up(2.0, normal_peak())),
                power: |to, _, b| to.shift((b - 1.0) * LN_2, normal_power(b)),
                ..LOCATION_SCALE
            }),
        ),
        within: |to, args, ends| half(to, Binned::Normal, args, ends),
    },
    Distribution {
        name: "half_cauchy",
        args: &[("scale", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "2 cauchy(0, scale) on y >= 0",
        example: "output x = simulate(half_cauchy(2), times = 100)",
        stan: "cauchy(0, $1)",
        draw: Some(|a, rng| a.positive(0) * (0.5 * PI * uniform(rng)).tan()),
        law: Law::Density(
            |to, args, y| {
                let log = located(to, &[&[Constant(0.0)], args].concat(), y, |to, z| log_t(to, Constant(1.0), z));
                to.shift(LN_2, log)
            },
            Some(Standard {
                location: None,
                scale: 0,
                peak: |_| Ok(div_up(2.0, PI)),
                power: |to, _, b| {
                    let whole = t_power(to, Constant(1.0), b);
                    to.shift((b - 1.0) * LN_2, whole)
                },
                ..LOCATION_SCALE
            }),
        ),
        within: |to, args, ends| half(to, Binned::Cauchy, args, ends),
        ..BASE
    },
    Distribution {
        name: "exponential",
        args: &[("rate", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "rate exp(-rate y)",
        example: "budget rdp(order = 3, eps = 0.5)\nprivate t[1000] { wait: real in [0.5, 1.5] }\nparam rate ~ gamma(20, 20)\nobserve wait ~ exponential(rate)\nrelease rate_hat = draw(rate) using diffuse",
        draw: Some(|a, rng| -positive_uniform(rng).ln() / a.positive(0)),
        moments: |args| if let [b] = *args { Some((1.0 / b, 1.0 / (b * b))) } else { None },
        law: Law::Density(
            |to, args, y| {
                let [rate] = *args else { return UNKNOWN };
                let (log, product) = (to.log(rate), to.mul(rate, y));
                to.sub(log, product)
            },
            Some(Standard {
                location: None,
                scale: 0,
                rate: true,
                peak: |_| Ok(1.0),
                power: |_, _, b| Constant(-b.ln()),
                ..LOCATION_SCALE
            }),
        ),
        within: |to, args, ends| {
            let rate = *args.first()?;
            let [from, until] = ends.map(|y| to.mul(rate, y));
            Some(to.op(Op::Within(Binned::Exponential, [from, until, Constant(0.0), Constant(0.0)])))
        },
        ..BASE
    },
    Distribution {
        name: "gamma",
        args: &[("shape", Scalar(POSITIVE)), ("rate", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "rate^shape y^(shape - 1) exp(-rate y) / Gamma(shape)",
        example: VISITS,
        draw: Some(|a, rng| (log_gamma(a.positive(0), rng) - a.positive(1).ln()).exp()),
        moments: |args| if let [a, b] = *args { Some((a / b, a / (b * b))) } else { None },
        law: Law::Density(
            |to, args, y| {
                let [shape, rate] = *args else { return UNKNOWN };
                let (log_y, product) = (to.log(y), to.mul(rate, y));
                log_gamma_density(to, shape, rate, log_y, product)
            },
            Some(Standard {
                location: None,
                scale: 1,
                rate: true,
                shape: Some(0),
                // Above 1 the peak falls in the shape: digamma(x) > ln(x - 1).
                peak: |shape| if shape.lo >= 1.0 { Ok(gamma_peak(shape.lo)) } else { Err(1.0) },
                power: gamma_power,
            }),
        ),
        ..BASE
    },
    Distribution {
        name: "inv_gamma",
        args: &[("shape", Scalar(POSITIVE)), ("scale", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "scale^shape y^(-shape - 1) exp(-scale / y) / Gamma(shape)",
        example: "output x = simulate(inv_gamma(3, 2), times = 100)",
        draw: Some(|a, rng| {
            let ln_scale = a.positive(1).ln();
            (ln_scale - log_gamma(a.positive(0), rng)).exp()
        }),
        moments: |args| match *args {
            [a, b] if a > 2.0 => {
                let mean = b / (a - 1.0);
                Some((mean, mean * mean / (a - 2.0)))
            }
            _ => None,
        },
        law: Law::Density(
            |to, args, y| {
                // 1 / y is gamma; the Jacobian is y^-2.
                let [shape, scale] = *args else { return UNKNOWN };
                let log_y = to.log(y);
                let (log, product) = (to.neg(log_y), to.binary(Binary::Div, scale, y));
                let gamma = log_gamma_density(to, shape, scale, log, product);
                let jacobian = to.scale(-2.0, log_y);
                to.add(gamma, jacobian)
            },
            None,
        ),
        ..BASE
    },
    Distribution {
        name: "lognormal",
        args: &[("mu", Scalar(ALL)), ("sd", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "normal(mu, sd) of log(y): exp(-(log(y) - mu)^2 / (2 sd^2)) / (y sd sqrt(2 pi))",
        example: "output x = simulate(lognormal(3, 0.5), times = 100)",
        draw: Some(|a, rng| (a.number(0) + a.number(1).abs() * normal(rng)).exp()),
        moments: |args| match *args {
            [m, s] => {
                let mean = (m + 0.5 * s * s).exp();
                Some((mean, mean * mean * (s * s).exp_m1()))
            }
            _ => None,
        },
        law: Law::Density(
            |to, args, y| {
                let log_y = to.log(y);
                let log = located(to, args, log_y, log_normal);
                to.sub(log, log_y)
            },
            None,
        ),
        within: |to, args, ends| {
            let ends = ends.map(|y| log_of(to, y));
            part(to, Binned::Normal, args, ends)
        },
        ..BASE
    },
    Distribution {
        name: "weibull",
        args: &[("shape", Scalar(POSITIVE)), ("scale", Scalar(POSITIVE))],
        support: Support::Real(POSITIVE),
        density: "shape / scale (y / scale)^(shape - 1) exp(-(y / scale)^shape)",
        example: "output x = simulate(weibull(1.5, 10), times = 100)",
        draw: Some(|a, rng| a.positive(1) * (-positive_uniform(rng).ln()).powf(1.0 / a.positive(0))),
        moments: |args| match *args {
            [k, s] => {
                let mean = s * libm::tgamma(1.0 + 1.0 / k);
                Some((mean, s * s * libm::tgamma(1.0 + 2.0 / k) - mean * mean))
            }
            _ => None,
        },
        law: Law::Density(weibull, None),
        // The hazard up to y is `exp(shape t)`, and 0 up to 0, where t is infinite.
        within: |to, args, ends| {
            let [shape, scale] = *args else { return None };
            let log_scale = to.log(scale);
            let [from, until] = ends.map(|y| {
                let log_y = log_of(to, y);
                let t = to.sub(log_y, log_scale);
                let log_hazard = to.mul(shape, t);
                let (hazard, above) = (to.exp(log_hazard), to.binary(Binary::Gt, y, Constant(0.0)));
                to.select(above, hazard, Constant(0.0))
            });
            Some(to.op(Op::Within(Binned::Exponential, [from, until, Constant(0.0), Constant(0.0)])))
        },
        ..BASE
    },
];

/// `shape ln(rate) - ln Gamma(shape) + (shape - 1) ln y - rate y`
fn log_gamma_density(to: &mut Builder, shape: Operand, rate: Operand, log_y: Operand, product: Operand) -> Operand {
    let (less, log_rate) = (to.shift(-1.0, shape), to.log(rate));
    let power = if less == Constant(0.0) { less } else { to.mul(less, log_y) };
    let (norm, gamma) = (to.mul(shape, log_rate), to.unary(One::LnGamma, shape));
    let (gamma, product) = (to.neg(gamma), to.neg(product));
    to.sum(vec![power, norm, gamma, product])
}

/// `Gamma(m) / (Gamma(shape)^b b^m)` for `m = b (shape - 1) + 1`.
fn gamma_power(to: &mut Builder, shape: Operand, b: f64) -> Operand {
    let less = to.shift(-1.0, shape);
    let more = to.scale(b, less);
    let m = to.shift(1.0, more);
    let (top, gamma) = (to.unary(One::LnGamma, m), to.unary(One::LnGamma, shape));
    let terms = vec![top, to.scale(-b, gamma), to.scale(-b.ln(), m)];
    to.sum(terms)
}

/// The density of gamma(shape, 1) at `shape - 1 >= 0`.
fn gamma_peak(shape: f64) -> f64 {
    let mode = Interval::point(shape) - Interval::ONE;
    if mode.lo <= 0.0 || shape > 1e15 {
        return 1.0;
    }
    (mode * mode.ln() - mode - ln_gamma(shape)).exp().hi.min(1.0)
}

/// `ln(shape / scale) + (shape - 1) t - exp(shape t)` for `t = ln(y / scale)`.
fn weibull(to: &mut Builder, args: &[Operand], y: Operand) -> Operand {
    let [shape, scale] = *args else { return UNKNOWN };
    let (log_shape, log_scale, log_y) = (to.log(shape), to.log(scale), to.log(y));
    let (t, less) = (to.sub(log_y, log_scale), to.shift(-1.0, shape));
    let power = if less == Constant(0.0) { less } else { to.mul(less, t) };
    let log_hazard = to.mul(shape, t);
    let (hazard, log_scale) = (to.exp(log_hazard), to.neg(log_scale));
    let hazard = to.neg(hazard);
    to.sum(vec![log_shape, log_scale, power, hazard])
}

/// Of an end of a bin; nothing lies below 0.
fn log_of(to: &mut Builder, y: Operand) -> Operand {
    let y = to.binary(Binary::Max, y, Constant(0.0));
    to.log(y)
}

/// A bin of the upper half of a law about 0.
fn half(to: &mut Builder, law: Binned, args: &[Operand], ends: [Operand; 2]) -> Option<Operand> {
    let ends = ends.map(|y| to.binary(Binary::Max, y, Constant(0.0)));
    let half = part(to, law, &[&[Constant(0.0)], args].concat(), ends)?;
    Some(to.shift(LN_2, half))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// mpmath: the densities of gamma(2), gamma(7.5) at their modes.
    #[test]
    fn peaks_of_gamma_laws() {
        let close = |found: f64, exact: f64| assert!(found >= exact && found <= exact * (1.0 + 1e-10), "{found} {exact}");
        close(gamma_peak(2.0), 0.367_879_441_171_442_3);
        close(gamma_peak(7.5), 0.154_486_264_903_312_3);
        assert_eq!(gamma_peak(1.0), 1.0);
    }
}
