//! Values rounded to public fixed-point grids, inwards, so that sums are integers and no diameter grows.
//!
//! The grid of a scalar of range `[lo, hi]` has step `2^e` with about 2^40 steps over the range; ints, bools and counts
//! have step 1. A box takes the nearest grid point that lies inside: the rounded values are in `[lo, hi]` again, so two
//! of them differ by at most `hi - lo`, and every norm of a difference is that of a box of the same sides. A norm ball
//! takes every component toward 0: magnitudes do not grow, so the rounded vector has no larger norm, stays in the ball,
//! and two of them differ by at most the ball's diameter. The norm is then checked on the integers, exactly, because
//! the projection before it ran in doubles. For other sets (say `[1, x]` with x in a ball) the difference of two values
//! may grow by less than two steps in a component: `model::grid::slack` says so, and sensitivities add it.

use dashu_base::UnsignedAbs;
use dashu_int::UBig;
use dashu_ratio::RBig;

use crate::model::{Type, grid};

use super::batch::row_of;
use super::layout::width;
use super::{StatisticError, lanes, project};

/// More rows than any file: bounds sums before data is read.
pub const ROWS: u32 = 34;

/// How values of one type are rounded to integers.
pub struct Quantizer {
    exponent: i32,
    /// What a value is multiplied by, where it is a normal double and no index is above 2^51: rounded as `ldexp` is, and faster.
    factor: Option<f64>,
    lo: i64,
    hi: i64,
    toward_zero: bool,
    l1: Option<u128>,
    l2_squared: Option<u128>,
    /// The radii of the balls that a vector lies in.
    radii: (f64, f64),
}

impl Quantizer {
    /// Refuses infinite ranges and types that are not numbers.
    pub fn new(ty: &Type) -> Result<Quantizer, StatisticError> {
        let exponent = exponent(ty)?;
        let (lo, hi) = grid::ends(ty).ok_or(StatisticError::Range)?;
        let ball = match ty {
            Type::Vector(v) if !grid::is_box(v) => Some(v.sup),
            _ => None,
        };
        let radius = |c: f64| -> Result<Option<RBig>, StatisticError> {
            if !c.is_finite() {
                return Ok(None);
            }
            let exact = RBig::try_from(c).map_err(|_| StatisticError::Range)?;
            Ok(Some(exact / power(exponent)))
        };
        let (l1, l2) = match ball {
            Some(sup) => (radius(sup.l1)?, radius(sup.l2)?),
            None => (None, None),
        };
        let whole = |x: RBig| u128::try_from(x.floor().unsigned_abs()).ok();
        let factor = Some(libm::ldexp(1.0, -exponent)).filter(|f| f.is_normal() && lo.unsigned_abs().max(hi.unsigned_abs()) <= 1 << 51);
        Ok(Quantizer {
            exponent,
            factor,
            lo,
            hi,
            toward_zero: ball.is_some(),
            radii: ball.map_or((f64::INFINITY, f64::INFINITY), |sup| (sup.l1, sup.l2)),
            l1: l1.and_then(whole),
            l2_squared: l2.and_then(|c| whole(&c * &c)),
        })
    }

    /// Exponent e of the step `2^e`.
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The first and the last index.
    pub fn ends(&self) -> (i64, i64) {
        (self.lo, self.hi)
    }

    /// Largest magnitude of an index.
    pub fn largest(&self) -> u64 {
        self.lo.unsigned_abs().max(self.hi.unsigned_abs())
    }

    /// One component; the value is in the type's range already.
    pub fn scalar(&self, x: f64) -> i64 {
        if let Some(factor) = self.factor {
            return lanes::index(x, factor, self.doubles(), self.toward_zero);
        }
        let y = libm::ldexp(x, -self.exponent);
        let y = if self.toward_zero { libm::trunc(y) } else { libm::rint(y) };
        (y as i64).clamp(self.lo, self.hi)
    }

    fn doubles(&self) -> (f64, f64) {
        (self.lo as f64, self.hi as f64)
    }

    /// All components of some rows, one run behind the other, which are at most those of a corner in magnitude.
    pub fn all(&self, x: &[f64], corner: &[f64], rows: usize, out: &mut Vec<i64>) {
        match self.factor {
            Some(factor) => lanes::indices(x, factor, self.doubles(), self.toward_zero, out),
            None => {
                out.clear();
                out.extend(x.iter().map(|v| self.scalar(*v)));
            }
        }
        if self.l1.is_none() && self.l2_squared.is_none() {
            return;
        }
        // Toward 0, no norm grows.
        let shrinks = self.factor.is_some() && self.lo <= 0 && self.hi >= 0;
        let corner: Vec<i64> = corner.iter().map(|x| libm::trunc(libm::ldexp(*x, -self.exponent)) as i64).collect();
        if shrinks && self.fits(corner.iter()) {
            return;
        }
        let some = if shrinks { project::suspects(x, rows, self.radii) } else { (0..rows).collect() };
        let (mut row, mut found) = (vec![], vec![]);
        for at in some {
            if !self.fits(out.iter().skip(at).step_by(rows)) {
                row_of(x, rows, at, &mut row);
                self.vector(&row, &mut found);
                out.iter_mut().skip(at).step_by(rows).zip(&found).for_each(|(to, x)| *to = *x);
            }
        }
    }

    /// All components, then the exact check of the norms.
    fn vector(&self, x: &[f64], out: &mut Vec<i64>) {
        // Less and less of the vector until it fits; the first already does but for rounding in the last place.
        for keep in [1.0, 1.0 - 1e-11, 0.5, 0.0] {
            out.clear();
            out.extend(x.iter().map(|v| self.scalar(v * keep)));
            if self.fits(out.iter()) {
                return;
            }
        }
    }

    fn fits<'x>(&self, x: impl Iterator<Item = &'x i64> + Clone) -> bool {
        let size = |v: &i64| u128::from(v.unsigned_abs());
        let sum = |f: &dyn Fn(&i64) -> u128| x.clone().fold(0u128, |s, v| s.saturating_add(f(v)));
        self.l1.is_none_or(|c| sum(&size) <= c) && self.l2_squared.is_none_or(|c| sum(&|v| size(v).saturating_mul(size(v))) <= c)
    }
}

/// `2^e` exactly.
pub fn power(e: i32) -> RBig {
    let p = RBig::from(UBig::ONE << e.unsigned_abs() as usize);
    if e >= 0 { p } else { RBig::ONE / p }
}

/// Exponent of the public grid on which values of a type are summed.
pub fn exponent(ty: &Type) -> Result<i32, StatisticError> {
    grid::exponent(ty).ok_or(StatisticError::Range)
}

/// Do sums of indices up to `largest` over any file fit 127 bits with room to spare?
pub fn check_sum(largest: u128) -> Result<(), StatisticError> {
    if largest < 1 << (126 - ROWS) { Ok(()) } else { Err(StatisticError::Range) }
}

/// Number of components summed for a value of this type.
pub fn components(ty: &Type) -> usize {
    width(ty)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::{Norms, Range, VectorType};

    /// A product by a power of two is what `ldexp` gives, from the least double to the largest.
    #[test]
    fn scaling_is_exact() {
        for (lo, hi) in [(0.0, 10.0), (-1e300, 1e300), (0.0, 1e-300), (1e6, 1e6 + 0.1), (-3.0, f64::MAX / 4.0), (0.0, 5e-324)] {
            let quantizer = Quantizer::new(&Type::real(lo, hi)).unwrap();
            let mut x = lo;
            for i in 0..2000 {
                let next = lo + (hi - lo) * f64::from(i) / 1999.0;
                for x in [x, next, next.next_up().min(hi), hi, lo + 5e-324, hi * 2e-308] {
                    let wanted = (libm::rint(libm::ldexp(x, -quantizer.exponent)) as i64).clamp(quantizer.lo, quantizer.hi);
                    assert_eq!(quantizer.scalar(x), wanted, "{x:?} on [{lo}, {hi}]");
                }
                x = next;
            }
        }
    }

    /// Magnitudes of a ball's components do not grow, by integers alone, so neither do products of them; a step at most is lost.
    #[test]
    fn components_of_a_ball_are_rounded_toward_0() {
        let one = Norms { l1: 2.0, l2: 1.0, linf: 1.0 };
        let diam = Norms { l1: 4.0, l2: 2.0, linf: 2.0 };
        let v = VectorType { dim: 2, range: Range::new(-1.0, 1.0), sup: one, diam, levels: None, axes: None, ordered: false };
        let quantizer = Quantizer::new(&Type::Vector(v)).unwrap();
        let step = power(quantizer.exponent());
        let mut found = vec![];
        for i in 0..2000 {
            let (sin, cos) = (f64::from(i) * 0.7).sin_cos();
            let x = [0.999 * sin, 0.999 * cos];
            quantizer.vector(&x, &mut found);
            for (index, x) in found.iter().zip(x) {
                let exact = RBig::try_from(x.abs()).unwrap();
                let rounded = RBig::from(index.unsigned_abs()) * &step;
                assert!(rounded <= exact && exact < rounded + &step, "{x}: {index}");
            }
        }
    }
}
