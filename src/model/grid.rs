//! The public grid on which values of a type are rounded before they are summed, and what the rounding may cost.

use super::{Norms, Range, Type, VectorType};

/// Binary places below the width of a range.
const PLACES: i32 = 40;
/// Most binary digits of an index.
pub const DIGITS: i32 = 60;

fn is_whole(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int(_) | Type::Counts { .. })
}

/// Exponent of the grid's step `2^e`; `None` for infinite ranges and types that are not numbers.
pub fn exponent(ty: &Type) -> Option<i32> {
    let range = ty.range().filter(|r| r.is_finite())?;
    if is_whole(ty) || range.magnitude() == 0.0 {
        return Some(0);
    }
    // 2^-60 of the magnitude is finer than doubles, so even a single point is on its grid.
    let finest = libm::ilogb(range.magnitude()) - DIGITS;
    Some(if range.is_point() { finest } else { finest.max(libm::ilogb(range.hi - range.lo) - PLACES) })
}

/// First and last index of the points of the grid that lie in the range of a number; `None` where there are none, or too many.
pub fn ends(ty: &Type) -> Option<(i64, i64)> {
    let (range, exponent) = (ty.range()?, exponent(ty)?);
    let step = |x: f64| libm::ldexp(x, -exponent);
    let (lo, hi) = (libm::ceil(step(range.lo)), libm::floor(step(range.hi)));
    let limit = libm::ldexp(1.0, DIGITS + 2);
    (lo <= hi && lo.abs() <= limit && hi.abs() <= limit).then_some((lo as i64, hi as i64))
}

/// Do the facts of a vector say no more than its box?
pub fn is_box(v: &VectorType) -> bool {
    let Range { lo, hi } = v.range;
    let (d, m, w) = (v.dim as f64, lo.abs().max(hi.abs()), hi - lo);
    let near = 1.0 - 1e-12;
    v.sup.l1 >= d * m * near && v.sup.l2 >= libm::sqrt(d) * m * near && v.diam.l1 >= d * w * near && v.diam.l2 >= libm::sqrt(d) * w * near
}

/// How much more than its declared norms a rounded row and the difference of two may have: infinite where there is no grid.
///
/// Zero for scalars, boxes and balls, which are rounded inwards (`data::statistic`). What counts as a box or a ball up to
/// rounding may declare less than the whole of it, and is held to the whole.
pub fn slack(ty: &Type) -> Norms {
    let Type::Vector(v) = ty else { return Norms::ZERO };
    let near = 1.0 - 1e-12;
    let d = v.dim as f64;
    if is_box(v) {
        let (sup, diam) = (lack(v.sup, d, v.range.magnitude()), lack(v.diam, d, v.range.width()));
        return Norms { l1: sup.l1.max(diam.l1), l2: sup.l2.max(diam.l2), linf: sup.linf.max(diam.linf) };
    }
    if v.diam.l1 >= 2.0 * v.sup.l1 * near && v.diam.l2 >= 2.0 * v.sup.l2 * near {
        let lack = |sup: f64, diam: f64| if diam < 2.0 * sup { (2.0 * sup - diam).next_up() } else { 0.0 };
        return Norms { l1: lack(v.sup.l1, v.diam.l1), l2: lack(v.sup.l2, v.diam.l2), linf: lack(v.sup.linf, v.diam.linf) };
    }
    let Some(exponent) = exponent(ty) else { return Norms::INFINITE };
    let step = 2.0 * libm::ldexp(1.0, exponent);
    Norms { l1: (step * d).next_up(), l2: (step * libm::sqrt(d)).next_up().next_up(), linf: step }
}

/// What norms lack of those of a box of `d` such sides, rounded up; 0 where they hold it. Differences of exact products.
fn lack(n: Norms, d: f64, side: f64) -> Norms {
    let positive = |x: f64| if x > 0.0 { x.next_up() } else { 0.0 };
    let square = |x: f64| (x * x, libm::fma(x, x, -(x * x)));
    let ((p, p_low), (q, q_low)) = (square(n.l2), square(side));
    // d side^2 - l2^2, and sqrt(a) - b <= (a - b^2) / (2 b) for the rest.
    let squares = libm::fma(d, q, -p) + (d * q_low - p_low);
    let l2 = if squares > 0.0 { (squares / (2.0 * n.l2) * (1.0 + 1e-12)).next_up() } else { 0.0 };
    Norms { l1: positive(libm::fma(d, side, -n.l1)), l2, linf: positive(side - n.linf) }
}
