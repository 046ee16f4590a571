//! The public grid on which values of a type are rounded before they are summed, and what the rounding may cost.

use super::{Norms, Range, Type, VectorType};

/// Binary places below the width of a range.
const PLACES: i32 = 40;
/// Most binary digits of an index.
pub const DIGITS: i32 = 60;

fn is_whole(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int(_) | Type::Counts { .. })
}

/// Exponent of the grid's step `2^e`; `None` for infinite ranges and types that are no numbers.
pub fn exponent(ty: &Type) -> Option<i32> {
    let range = ty.range().filter(|r| r.is_finite())?;
    if is_whole(ty) || range.magnitude() == 0.0 {
        return Some(0);
    }
    // 2^-60 of the magnitude is finer than doubles, so even a single point is on its grid.
    let finest = libm::ilogb(range.magnitude()) - DIGITS;
    Some(if range.is_point() { finest } else { finest.max(libm::ilogb(range.hi - range.lo) - PLACES) })
}

/// Do the facts of a vector say no more than its box?
pub fn is_box(v: &VectorType) -> bool {
    let Range { lo, hi } = v.range;
    let (d, m, w) = (v.dim as f64, lo.abs().max(hi.abs()), hi - lo);
    let near = 1.0 - 1e-12;
    v.sup.l1 >= d * m * near && v.sup.l2 >= libm::sqrt(d) * m * near && v.diam.l1 >= d * w * near && v.diam.l2 >= libm::sqrt(d) * w * near
}

/// How much more than its declared diameter the difference of two rounded rows may be, per row: zero for scalars, boxes
/// and balls, which are rounded inwards (`data::statistic`); infinite where there is no grid.
pub fn slack(ty: &Type) -> Norms {
    let Type::Vector(v) = ty else { return Norms::ZERO };
    let near = 1.0 - 1e-12;
    let ball = v.diam.l1 >= 2.0 * v.sup.l1 * near && v.diam.l2 >= 2.0 * v.sup.l2 * near;
    if is_box(v) || ball {
        return Norms::ZERO;
    }
    let Some(exponent) = exponent(ty) else { return Norms::INFINITE };
    let step = 2.0 * libm::ldexp(1.0, exponent);
    let d = v.dim as f64;
    Norms { l1: (step * d).next_up(), l2: (step * libm::sqrt(d)).next_up().next_up(), linf: step }
}
