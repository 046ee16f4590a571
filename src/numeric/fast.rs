//! Elementary functions in plain arithmetic that compilers turn into vector instructions: for sums over many rows.

use multiversion::multiversion;

/// Lanes that are computed together.
pub const LANES: usize = 8;
pub type Lanes = [f64; LANES];

/// Adding it rounds a small number to a whole one, which then sits in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Arguments are clamped here: powers of two stay normal numbers.
const LARGEST: f64 = 708.0;
const MANTISSA: u64 = (1 << 52) - 1;
/// 2^52: its low bits hold a whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;
/// 2^54
const UP: f64 = 18_014_398_509_481_984.0;

/// Applies a function to every lane.
#[inline(always)]
pub fn map(x: Lanes, f: impl Fn(f64) -> f64) -> Lanes {
    let mut y = x;
    for y in &mut y {
        *y = f(*y);
    }
    y
}

/// The sum of all lanes, always in this order.
#[inline(always)]
pub fn total([a, b, c, d, e, f, g, h]: Lanes) -> f64 {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// `exp(x)` for |x| <= 708, beyond that the value at the end; relative error at most 4e-16 (tested against 1e6 arguments).
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let x = x.clamp(-LARGEST, LARGEST);
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN2_LOW, k.mul_add(-LN2_HIGH, x));
    // exp(r) on |r| <= ln(2)/2 by its Taylor series to r^13, error below 1e-17, in Estrin's order for short chains.
    let pair = |a: f64, b: f64| r.mul_add(b, a);
    let (r2, r4) = (r * r, r * r * (r * r));
    let a = r2.mul_add(pair(1.0 / 24.0, 1.0 / 120.0), pair(1.0 / 2.0, 1.0 / 6.0));
    let b = r2.mul_add(pair(1.0 / 40_320.0, 1.0 / 362_880.0), pair(1.0 / 720.0, 1.0 / 5_040.0));
    let c = r2.mul_add(pair(1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0), pair(1.0 / 3_628_800.0, 1.0 / 39_916_800.0));
    let p = 1.0 + r2.mul_add(r4.mul_add(r4.mul_add(c, b), a), r);
    // 2^k by its exponent bits: k + 1023 is in the low bits of `shifted` after the same shift.
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    p * power
}

/// Adds `top exp(-d^2 / 2)` at places d from `start` on, `step` apart.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
pub fn add_bell(top: f64, (start, step): (f64, f64), heights: &mut [f64]) {
    for (height, i) in heights.iter_mut().zip(0u32..) {
        let d = start + f64::from(i) * step;
        *height += top * exp(-0.5 * d * d);
    }
}

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

/// Cephes' rational function near 0, where the quotient of exponentials cancels.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let z = x * x;
    let p = (-9.643_991_794_250_523e-1 * z - 9.928_772_310_019_186e1) * z - 1.614_687_684_417_084_5e3;
    let q = ((z + 1.128_116_784_916_329_3e2) * z + 2.235_488_390_601_004_4e3) * z + 4.844_063_053_251_255e3;
    let near = x + x * z * p / q;
    let e = exp(-2.0 * x.abs());
    let far = ((1.0 - e) / (1.0 + e)).copysign(x);
    if x.abs() < 0.625 { near } else { far }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_error_is_as_stated() {
        let mut worst = 0.0f64;
        for i in 0..1_000_000 {
            let x = -708.0 + 1416.0 * (f64::from(i) + 0.37) / 1e6;
            for x in [x, x / 100.0, x / 1e6] {
                worst = worst.max((exp(x) / x.exp() - 1.0).abs());
            }
        }
        assert!(worst <= 4e-16 && worst > 1e-17, "{worst:e}");
    }

    #[test]
    fn ends() {
        assert_eq!((exp(0.0), exp(-0.0)), (1.0, 1.0));
        assert_eq!((exp(1e9), exp(-1e9)), (exp(708.0), exp(-708.0)));
        assert!(exp(708.0).is_finite() && exp(-708.0) > 0.0);
    }
}
