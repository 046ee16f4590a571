//! A quantile over a public grid of points by the exponential mechanism (rule book §8.7).

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::bits::BitSource;
use super::draw::finite::exponential_choice;
use super::grid::{Number, below, round};
use super::real::rational;
use super::{MechanismError, Released};
use crate::data::scan::Measured;
use crate::numeric::Amount;

/// The public candidates: `count` points from `lo` to `hi`, ends included, ascending.
pub fn points(lo: f64, hi: f64, count: u32) -> Result<Vec<f64>, MechanismError> {
    let ordered = lo.is_finite() && hi.is_finite() && lo < hi;
    if !ordered || !(2..=1 << 16).contains(&count) {
        return Err(MechanismError::Parameter);
    }
    let last = f64::from(count - 1);
    Ok((0..count).map(|i| (lo + (hi - lo) * (f64::from(i) / last)).clamp(lo, hi)).collect())
}

/// Chooses a point t with weight `exp(epsilon u(t) / (2 sensitivity))`, `u(t) = -|#{x < t} - q n|`.
pub(crate) fn release<B: BitSource>(
    (q, lo, hi, count): (f64, f64, f64, u32),
    (epsilon, sensitivity): (f64, f64),
    measured: &Measured,
    bits: &mut B,
) -> Result<Released, MechanismError> {
    let sensitivity = rational(sensitivity)?;
    if sensitivity <= RBig::ZERO || epsilon.is_nan() || epsilon <= 0.0 {
        return Err(MechanismError::Parameter);
    }
    let strength = Amount::of(epsilon).ok_or(MechanismError::Parameter)?.ratio() / (RBig::from(UBig::from(2u8)) * sensitivity);
    let points = points(lo, hi, count)?;
    let totals = measured.totals.first().ok_or(MechanismError::Expression)?;
    let target = rational(q)? * RBig::from(measured.rows);
    let mut below_point = 0i128;
    let exponents: Vec<RBig> = points
        .iter()
        .zip(&totals.sums)
        .map(|(_, bin)| {
            below_point = below_point.saturating_add(*bin);
            let gap = RBig::from(IBig::from(below_point)) - &target;
            -gap.clone().max(-gap) * &strength
        })
        .collect();
    let chosen = exponential_choice(&exponents, bits)?;
    let point = points.get(chosen).ok_or(MechanismError::Expression)?;
    let exponent = below(hi - lo, 40);
    let component: Number = round(&rational(*point)?, exponent);
    Ok(Released { components: vec![component] })
}
