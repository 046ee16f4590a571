//! Scalar functions with their derivatives, in plain arithmetic wherever compilers can turn it into vector instructions.

use super::neg_binomial::{binomial_power, neg_binomial_power};
use super::op::{Binary, Unary};
use super::poisson;
use crate::kernel::exp::exp;
use crate::kernel::family::hazard;
use crate::kernel::special::{digamma, inv_logit, ln, ln_1p, log_inv_logit};

/// `ln sqrt(2 pi)`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;

/// Cephes' rational function near 0, where the quotient of exponentials cancels.
#[inline(always)]
fn tanh(x: f64) -> f64 {
    let z = x * x;
    let p = (-9.643_991_794_250_523e-1 * z - 9.928_772_310_019_186e1) * z - 1.614_687_684_417_084_5e3;
    let q = ((z + 1.128_116_784_916_329_3e2) * z + 2.235_488_390_601_004_4e3) * z + 4.844_063_053_251_255e3;
    let near = x + x * z * p / q;
    let e = exp(-2.0 * x.abs());
    let far = ((1.0 - e) / (1.0 + e)).copysign(x);
    if x.abs() < 0.625 { near } else { far }
}

/// Writes f(x) for every row.
#[inline(always)]
pub fn unary<const W: usize>(f: Unary, x: &[f64; W], out: &mut [f64; W]) {
    match f {
        Unary::Neg => map(x, out, |x| -x),
        Unary::Not => map(x, out, |x| if x == 0.0 { 1.0 } else { 0.0 }),
        Unary::Abs => map(x, out, f64::abs),
        Unary::Exp => map(x, out, exp),
        Unary::Log => map(x, out, ln),
        Unary::Log1p => map(x, out, ln_1p),
        Unary::Sqrt => map(x, out, f64::sqrt),
        Unary::Tanh => map(x, out, tanh),
        Unary::InvLogit => map(x, out, inv_logit),
        Unary::Logit => map(x, out, |x| ln(x) - ln_1p(-x)),
        Unary::Phi => map(x, out, |x| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)),
        Unary::Floor => map(x, out, libm::floor),
        Unary::Round => map(x, out, libm::rint),
        Unary::Relu => map(x, out, |x| if x < 0.0 { 0.0 } else { x }),
        Unary::LogInvLogit => map(x, out, log_inv_logit),
        Unary::LogPhi => map(x, out, |x| if x.is_finite() { -hazard(-x).1 } else { x.min(0.0) + x * 0.0 }),
        Unary::LogCloglog => map(x, out, log_cloglog),
        Unary::LnGamma => map(x, out, libm::lgamma),
        Unary::PoissonPower(b) => map(x, out, |x| poisson::power_sum(b, x).0),
        Unary::BinomialPower(b, n) => map(x, out, |x| binomial_power(b, n, x).value),
    }
}

/// `ln(1 - exp(-u))` for `u = exp(x)`; for small u it is `x - u/2`.
#[inline(always)]
fn log_cloglog(x: f64) -> f64 {
    let u = exp(x);
    if x < -30.0 { x } else { libm::log(-libm::expm1(-u)) }
}

/// Writes the derivative at x, where f(x) = y. At corners and beyond the ends of a domain it is 0.
#[inline(always)]
pub fn slope<const W: usize>(f: Unary, x: &[f64; W], y: &[f64; W], out: &mut [f64; W]) {
    match f {
        Unary::Neg => out.fill(-1.0),
        Unary::Not | Unary::Floor | Unary::Round => out.fill(0.0),
        Unary::Abs => map(x, out, |x| if x > 0.0 { 1.0 } else { -f64::from(u8::from(x < 0.0)) }),
        Unary::Exp => *out = *y,
        Unary::Log => map(x, out, |x| 1.0 / x),
        Unary::Log1p => map(x, out, |x| 1.0 / (1.0 + x)),
        Unary::Sqrt => map(y, out, |y| if y > 0.0 { 0.5 / y } else { 0.0 }),
        Unary::Tanh => map(y, out, |y| 1.0 - y * y),
        Unary::InvLogit => map(x, out, |x| inv_logit(x) * inv_logit(-x)),
        Unary::Logit => map(x, out, |x| 1.0 / (x * (1.0 - x))),
        Unary::Phi => map(x, out, |x| exp(-0.5 * x * x - LN_ROOT)),
        Unary::Relu => map(x, out, |x| if x > 0.0 { 1.0 } else { 0.0 }),
        Unary::LogInvLogit => map(x, out, |x| inv_logit(-x)),
        Unary::LogPhi => map(x, out, |x| if x.is_finite() { hazard(-x).0 } else { 0.0 }),
        Unary::LogCloglog => map(x, out, |x| {
            let u = exp(x);
            if x < -30.0 { 1.0 } else { u / libm::expm1(u) }
        }),
        Unary::LnGamma => map(x, out, digamma),
        Unary::PoissonPower(b) => map(x, out, |x| poisson::power_sum(b, x).1),
        Unary::BinomialPower(b, n) => map(x, out, |x| binomial_power(b, n, x).by_odds),
    }
}

#[inline(always)]
fn map<const W: usize>(x: &[f64; W], out: &mut [f64; W], f: impl Fn(f64) -> f64) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = f(*x);
    }
}

#[inline(always)]
fn both<const W: usize>(a: &[f64; W], b: &[f64; W], out: &mut [f64; W], f: impl Fn(f64, f64) -> f64) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = f(*a, *b);
    }
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

/// Writes f(a, b) for every row.
#[inline(always)]
pub fn binary<const W: usize>(f: Binary, a: &[f64; W], b: &[f64; W], out: &mut [f64; W]) {
    match f {
        Binary::Add => both(a, b, out, |a, b| a + b),
        Binary::Sub => both(a, b, out, |a, b| a - b),
        Binary::Mul => both(a, b, out, |a, b| a * b),
        Binary::Div => both(a, b, out, |a, b| a / b),
        Binary::Pow => both(a, b, out, libm::pow),
        Binary::Min => both(a, b, out, |a, b| if b < a { b } else { a }),
        Binary::Max => both(a, b, out, |a, b| if b > a { b } else { a }),
        Binary::Le => both(a, b, out, |a, b| truth(a <= b)),
        Binary::Ge => both(a, b, out, |a, b| truth(a >= b)),
        Binary::Eq => both(a, b, out, |a, b| truth(a == b)),
        Binary::Ne => both(a, b, out, |a, b| truth(a != b)),
        Binary::Lt => both(a, b, out, |a, b| truth(a < b)),
        Binary::Gt => both(a, b, out, |a, b| truth(a > b)),
        Binary::And => both(a, b, out, |a, b| truth(a != 0.0 && b != 0.0)),
        Binary::Or => both(a, b, out, |a, b| truth(a != 0.0 || b != 0.0)),
        Binary::NegBinomialPower(power) => both(a, b, out, |r, t| neg_binomial_power(power, r, t).value),
    }
}

/// Writes both partial derivatives, where f(a, b) = y.
#[inline(always)]
pub fn slopes<const W: usize>(f: Binary, [a, b, y]: [&[f64; W]; 3], [da, db]: [&mut [f64; W]; 2]) {
    match f {
        Binary::Add => [da, db].into_iter().for_each(|d| d.fill(1.0)),
        Binary::Sub => {
            da.fill(1.0);
            db.fill(-1.0);
        }
        Binary::Mul => (*da, *db) = (*b, *a),
        Binary::Div => {
            map(b, da, |b| 1.0 / b);
            both(y, b, db, |y, b| -y / b);
        }
        Binary::Pow => {
            both(a, b, da, |a, b| if b == 0.0 { 0.0 } else { b * libm::pow(a, b - 1.0) });
            both(a, y, db, |a, y| if a > 0.0 { y * libm::log(a) } else { 0.0 });
        }
        Binary::Min => {
            both(a, b, da, |a, b| 1.0 - truth(b < a));
            both(a, b, db, |a, b| truth(b < a));
        }
        Binary::Max => {
            both(a, b, da, |a, b| 1.0 - truth(b > a));
            both(a, b, db, |a, b| truth(b > a));
        }
        Binary::NegBinomialPower(power) => {
            both(a, b, da, |r, t| neg_binomial_power(power, r, t).by_shape);
            both(a, b, db, |r, t| neg_binomial_power(power, r, t).by_odds);
        }
        Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne | Binary::Lt | Binary::Gt | Binary::And | Binary::Or => {
            [da, db].into_iter().for_each(|d| d.fill(0.0));
        }
    }
}
