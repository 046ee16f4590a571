//! Operations on blocks of rows with their derivatives: one loop a function.

use super::neg_binomial::{binomial_power, neg_binomial_power};
use super::op::{One, Two};
use super::poisson;
use crate::kernel::family::hazard;
use crate::numeric::Binary;
use crate::numeric::fast::{exp, inv_logit, log_inv_logit};
use crate::numeric::special::digamma;
use crate::numeric::unary::{Facts, Visit};

/// Writes an expression of x for every row. It is written in the loop itself: a closure is compiled for any processor, where each fused
/// multiplication is a call.
macro_rules! map {
    ($from:ident, $to:ident, |$x:ident| $value:expr) => {
        for (to, from) in $to.iter_mut().zip($from) {
            let $x = *from;
            *to = $value;
        }
    };
}

/// One loop over the rows for every function, of its values or of its derivatives.
struct Values<'a, const W: usize>(&'a [f64; W], &'a mut [f64; W]);
struct Slopes<'a, const W: usize>(&'a [f64; W], &'a [f64; W], &'a mut [f64; W]);

impl<const W: usize> Visit for Values<'_, W> {
    type Out = ();
    #[inline(always)]
    fn visit(self, _: Facts, fast: impl Fn(f64) -> f64, _: impl Fn(f64, f64) -> f64) {
        map(self.0, self.1, fast);
    }
}

impl<const W: usize> Visit for Slopes<'_, W> {
    type Out = ();
    #[inline(always)]
    fn visit(self, _: Facts, _: impl Fn(f64) -> f64, slope: impl Fn(f64, f64) -> f64) {
        both(self.0, self.1, self.2, slope);
    }
}

/// Writes f(x) for every row.
#[inline(always)]
pub fn unary<const W: usize>(f: One, x: &[f64; W], out: &mut [f64; W]) {
    match f {
        One::Of(f) => f.with(Values(x, out)),
        One::LogInvLogit => map!(x, out, |x| log_inv_logit(x)),
        One::LogPhi => map!(x, out, |x| if x.is_finite() { -hazard(-x).1 } else { x.min(0.0) + x * 0.0 }),
        One::LogCloglog => map!(x, out, |x| log_cloglog(x)),
        One::LnGamma => map!(x, out, |x| libm::lgamma(x)),
        One::PoissonPower(b) => map!(x, out, |x| poisson::power_sum(b, x).0),
        One::BinomialPower(b, n) => map!(x, out, |x| binomial_power(b, n, x).value),
    }
}

/// `ln(1 - exp(-u))` for `u = exp(x)`; for small u it is `x - u/2`.
#[inline(always)]
fn log_cloglog(x: f64) -> f64 {
    let u = exp(x);
    if x < -30.0 { x } else { libm::log(-libm::expm1(-u)) }
}

/// Writes the derivative at x, where f(x) = y.
#[inline(always)]
pub fn slope<const W: usize>(f: One, x: &[f64; W], y: &[f64; W], out: &mut [f64; W]) {
    match f {
        One::Of(f) => f.with(Slopes(x, y, out)),
        One::LogInvLogit => map!(x, out, |x| inv_logit(-x)),
        One::LogPhi => map!(x, out, |x| if x.is_finite() { hazard(-x).0 } else { 0.0 }),
        One::LogCloglog => map!(x, out, |x| {
            let u = exp(x);
            if x < -30.0 { 1.0 } else { u / libm::expm1(u) }
        }),
        One::LnGamma => map!(x, out, |x| digamma(x)),
        One::PoissonPower(b) => map!(x, out, |x| poisson::power_sum(b, x).1),
        One::BinomialPower(b, n) => map!(x, out, |x| binomial_power(b, n, x).by_odds),
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
pub fn binary<const W: usize>(f: Two, a: &[f64; W], b: &[f64; W], out: &mut [f64; W]) {
    let f = match f {
        Two::Of(f) => f,
        Two::NegBinomialPower(power) => return both(a, b, out, |r, t| neg_binomial_power(power, r, t).value),
    };
    match f {
        Binary::Add => both(a, b, out, |a, b| a + b),
        Binary::Sub => both(a, b, out, |a, b| a - b),
        Binary::Mul => both(a, b, out, |a, b| a * b),
        Binary::Div => both(a, b, out, |a, b| a / b),
        Binary::Pow => both(a, b, out, libm::pow),
        Binary::Min => both(a, b, out, |a, b| if b < a { b } else { a }),
        Binary::Max => both(a, b, out, |a, b| if b > a { b } else { a }),
        Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne | Binary::Lt | Binary::Gt | Binary::And | Binary::Or => {
            both(a, b, out, |a, b| f.value(a, b));
        }
    }
}

/// Writes both partial derivatives, where f(a, b) = y.
#[inline(always)]
pub fn slopes<const W: usize>(f: Two, [a, b, y]: [&[f64; W]; 3], [da, db]: [&mut [f64; W]; 2]) {
    let f = match f {
        Two::Of(f) => f,
        Two::NegBinomialPower(power) => {
            both(a, b, da, |r, t| neg_binomial_power(power, r, t).by_shape);
            return both(a, b, db, |r, t| neg_binomial_power(power, r, t).by_odds);
        }
    };
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
        Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne | Binary::Lt | Binary::Gt | Binary::And | Binary::Or => {
            [da, db].into_iter().for_each(|d| d.fill(0.0));
        }
    }
}
