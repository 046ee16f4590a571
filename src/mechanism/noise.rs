//! Noise on an exact aggregate: the value on a public grid plus noise rounded to the same grid (rule book §8.7).
//!
//! With v on the grid, `round(v + X) = v + round(X)`: the release is the real mechanism's, rounded. Where the value is
//! a multiple of a known power of two (sums, counts, their linear forms with dyadic coefficients) the grid is at least
//! that fine and nothing is lost; elsewhere the value is rounded first, which `slack` adds to its sensitivity. A mean,
//! and any division by a public number, is noise on the numerator and a division of what came out.

use dashu_ratio::RBig;

use super::aggregate::{Evaluator, computable, grid_of, public};
use super::bits::BitSource;
use super::draw::finite::discrete_laplace;
use super::draw::gaussian::normal;
use super::draw::laplace::laplace;
use super::grid::{Number, add, below, check_noise, check_value, round};
use super::plan::Noise;
use super::real::{Param, rational};
use super::{MechanismError, Released, Scope};
use crate::data::scan::Measured;
use crate::data::statistic::ROWS;
use crate::model::{Builtin, Expr, ExprKind, Label, Range, TableId};

/// Binary places of the grid below the scale of the noise.
const PLACES: i32 = 40;
/// 1e-250: the grid of noise of this scale is above the finest, 2^-900.
const FINEST_SCALE: f64 = 1e-250;
/// The finest grid of values that is kept as it is.
const FINEST: i32 = -600;

/// Scale or standard deviation.
fn scale(noise: Noise) -> f64 {
    match noise {
        Noise::Laplace { scale } | Noise::Geometric { scale } => scale,
        Noise::Gaussian { sigma } | Noise::Rounded { sigma } => sigma,
    }
}

/// How far rounding may move the difference of two values of one component: to be added to the sensitivity.
///
/// 0 where the value is on a known grid. Row-by-row rounding is separate: see `model::grid::slack`.
pub fn slack(value: &Expr, table: TableId, noise: Noise) -> f64 {
    // The grid follows the scale of the numerator's noise; where it cannot, no bound on the rounding holds.
    let sizes = match split(value) {
        Some((_, Some(divisor))) => divisor.ty.range().unwrap_or(Range::ALL),
        _ => Range::point(1.0),
    };
    let least = if sizes.contains(0.0) { 0.0 } else { sizes.lo.abs().min(sizes.hi.abs()) };
    if scale(noise) * least < FINEST_SCALE || !computable(value, table) {
        return f64::INFINITY;
    }
    let known = match split(value) {
        Some((numerator, _)) => numerator_grid(numerator, value, table),
        None => grid_of(value, table),
    };
    match (known, noise) {
        (Some(e), Noise::Geometric { .. } | Noise::Rounded { .. }) if e < 0 => 1.0,
        (None, Noise::Geometric { .. } | Noise::Rounded { .. }) => 1.0,
        (Some(e), _) if e >= FINEST => 0.0,
        // Two steps up: the scale of the numerator is a product rounded twice.
        _ => libm::ldexp(scale(noise), -PLACES).next_up().next_up(),
    }
}

/// A mean or a quotient by a public number: the numerator, and the divisor unless it is the number of rows.
fn split(value: &Expr) -> Option<(&Expr, Option<&Expr>)> {
    match &value.kind {
        ExprKind::Call(Builtin::RowMean, args) => Some((args.first()?, None)),
        ExprKind::Call(Builtin::Div, args) => match args.as_slice() {
            [a, b] if b.label == Label::Public && b.ty.is_scalar_number() => Some((a, Some(b))),
            _ => None,
        },
        _ => None,
    }
}

fn is_mean(value: &Expr) -> bool {
    matches!(&value.kind, ExprKind::Call(Builtin::RowMean, _))
}

fn numerator_grid(numerator: &Expr, value: &Expr, table: TableId) -> Option<i32> {
    if is_mean(value) { crate::data::statistic::exponent(&numerator.ty).ok() } else { grid_of(numerator, table) }
}

/// Adds noise to every component of an aggregate.
pub(crate) fn release<B: BitSource>(
    (value, table, noise): (&Expr, TableId, Noise),
    measured: &Measured,
    scope: &Scope,
    bits: &mut B,
) -> Result<Released, MechanismError> {
    let width = scale(noise);
    if !(width.is_finite() && width > 0.0) {
        return Err(MechanismError::Parameter);
    }
    // A mean divides by the number of rows, so that must be public.
    let mut means = false;
    value.walk(&mut |e| means |= is_mean(e));
    if means && !scope.rows_are_public() {
        return Err(MechanismError::Expression);
    }
    let (values, divisor, known) = numerator(value, table, measured, scope)?;
    let (exact_scale, exponent) = grid_for(noise, known, &divisor)?;
    let tossed = Toss::new(noise, exact_scale, exponent);
    let components = values.iter().map(|v| {
        let noisy = Number::new(add(round(v, exponent).index, tossed.draw(bits)?), exponent);
        Ok(if divisor == RBig::ONE { noisy } else { round(&(noisy.exact() / &divisor), below(width, PLACES)) })
    });
    Ok(Released { components: components.collect::<Result<_, MechanismError>>()? })
}

/// The scale of the noise on a numerator, and the exponent of the grid of both.
fn grid_for(noise: Noise, known: Option<i32>, divisor: &RBig) -> Result<(RBig, i32), MechanismError> {
    let size = divisor.clone().max(-divisor);
    let exact = rational(scale(noise))? * &size;
    let coarse = below(scale(noise) * size.to_f64().value(), PLACES);
    let exponent = match (noise, known) {
        (Noise::Geometric { .. } | Noise::Rounded { .. }, _) => 0,
        (_, Some(e)) if e >= FINEST => e.min(coarse),
        _ => coarse,
    };
    check_noise(&(&exact / Number::new(1, exponent).exact()))?;
    Ok((exact, exponent))
}

/// Fails, before any data are read, where `release` would have more noise than integers hold, or a value that may be larger than they are.
pub(super) fn check(value: &Expr, table: TableId, noise: Noise, scope: &Scope) -> Result<(), MechanismError> {
    let most_rows = scope.table.rows.exactly.map_or_else(|| libm::ldexp(1.0, ROWS as i32), |n| n as f64);
    let (numerator, known, divisor) = match split(value) {
        Some((numerator, None)) => (numerator, numerator_grid(numerator, value, table), rational(most_rows)?),
        // What is not known yet is tried at both ends by the rehearsal.
        Some((numerator, Some(divisor))) => {
            let by = public(divisor, scope, scope.table.rows.at_least)?.into_iter().next().filter(|d| *d != RBig::ZERO);
            (numerator, numerator_grid(numerator, value, table), by.ok_or(MechanismError::Parameter)?)
        }
        None => (value, grid_of(value, table), RBig::ONE),
    };
    let (_, exponent) = grid_for(noise, known, &divisor)?;
    let rows = match &numerator.kind {
        _ if is_mean(value) => most_rows,
        ExprKind::Call(Builtin::RowSum, args) if !numerator.ty.range().is_some_and(Range::is_finite) => {
            return check_value(args.first().and_then(|x| x.ty.range()).map_or(0.0, Range::magnitude) * most_rows, exponent);
        }
        _ => 1.0,
    };
    let largest = numerator.ty.range().filter(|r| r.is_finite()).map_or(0.0, Range::magnitude);
    check_value(largest * rows, exponent)
}

type Parts = (Vec<RBig>, RBig, Option<i32>);

/// The exact numerator, its divisor, and the grid that the numerator is on.
fn numerator(value: &Expr, table: TableId, measured: &Measured, scope: &Scope) -> Result<Parts, MechanismError> {
    let mut evaluator = Evaluator { table, measured, scope, next: measured.totals.iter() };
    let whole = RBig::ONE;
    match split(value) {
        Some((numerator, None)) => {
            let rows = RBig::from(measured.rows.max(1));
            let means = evaluator.value(value)?;
            let sums = means.into_iter().map(|m| m * &rows).collect();
            Ok((sums, rows, numerator_grid(numerator, value, table)))
        }
        Some((numerator, Some(divisor))) => {
            let by = public(divisor, scope, measured.rows)?;
            match by.into_iter().next().filter(|d| *d != RBig::ZERO) {
                Some(d) => Ok((evaluator.value(numerator)?, d, grid_of(numerator, table))),
                None => Err(MechanismError::Parameter),
            }
        }
        None => Ok((evaluator.value(value)?, whole, grid_of(value, table))),
    }
}

/// One kind of noise, ready to be drawn.
enum Toss {
    Laplace(Param, i32),
    Geometric(Param),
    Gaussian(Param, Param, i32),
}

impl Toss {
    fn new(noise: Noise, scale: RBig, exponent: i32) -> Toss {
        match noise {
            Noise::Laplace { .. } => Toss::Laplace(Param::new(scale), exponent),
            Noise::Geometric { .. } => Toss::Geometric(Param::new(scale)),
            Noise::Gaussian { .. } | Noise::Rounded { .. } => {
                let variance = Param::new(&scale * &scale);
                Toss::Gaussian(Param::new(RBig::ZERO), variance, exponent)
            }
        }
    }

    fn draw<B: BitSource>(&self, bits: &mut B) -> Result<i128, MechanismError> {
        match self {
            Toss::Laplace(scale, exponent) => laplace(scale, *exponent, bits),
            Toss::Geometric(scale) => discrete_laplace(scale, bits),
            Toss::Gaussian(mean, variance, exponent) => normal(mean, variance, *exponent, bits),
        }
    }
}
