//! Logarithms and their kin on doubles, in plain arithmetic wherever compilers can turn it into vector instructions.

use super::exp::exp;

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
const MANTISSA: u64 = (1 << 52) - 1;
/// 2^52: its low bits hold a whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// 2^54
const UP: f64 = 18_014_398_509_481_984.0;

/// Natural logarithm, relative error at most 4e-16; `-inf` at 0, NaN below.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    // Small numbers are scaled into the range of normal ones.
    let tiny = x < f64::MIN_POSITIVE;
    let bits = (if tiny { x * UP } else { x }).to_bits();
    let exponent = f64::from_bits((bits >> 52) | WHOLE.to_bits()) - (WHOLE + 1023.0) - if tiny { 54.0 } else { 0.0 };
    let m = f64::from_bits((bits & MANTISSA) | 1.0f64.to_bits());
    let high = m > std::f64::consts::SQRT_2;
    let (m, k) = (if high { 0.5 * m } else { m }, if high { exponent + 1.0 } else { exponent });
    // ln(1 + f) as a series in s = f / (2 + f), with the coefficients of FreeBSD's e_log.c.
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let (z, half) = (s * s, 0.5 * f * f);
    let w = z * z;
    let even = w * (3.999_999_999_940_942e-1 + w * (2.222_219_843_214_978_4e-1 + w * 1.531_383_769_920_937_3e-1));
    let odd =
        z * (6.666_666_666_666_735e-1 + w * (2.857_142_874_366_239e-1 + w * (1.818_357_216_161_805e-1 + w * 1.479_819_860_511_658_6e-1)));
    let y = s * (half + even + odd) + k * LN2_LOW - half + f + k * LN2_HIGH;
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}

/// `ln(1 + x)`, with what the sum lost put back.
#[inline(always)]
pub fn ln_1p(x: f64) -> f64 {
    let u = 1.0 + x;
    let lost = (x - (u - 1.0)) / u;
    ln(u) + if lost.is_finite() { lost } else { 0.0 }
}

#[inline(always)]
pub fn inv_logit(x: f64) -> f64 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// `ln inv_logit(x)`, never above 0.
#[inline(always)]
pub fn log_inv_logit(x: f64) -> f64 {
    (if x < 0.0 { x } else { 0.0 }) - ln_1p(exp(-x.abs()))
}

/// The slope of `ln Gamma` at x > 0.
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z * (1.0 / 132.0 - z * 691.0 / 32_760.0)))));
    shift + libm::log(x) - 0.5 / x - series
}
