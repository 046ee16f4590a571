//! Vector types and their norms: how bounds on components combine, always rounded up.

use crate::model::{Levels, Norms, Range, Type, VectorType};

/// `a + b`, rounded up.
pub fn add_up(a: f64, b: f64) -> f64 {
    let s = a + b;
    if a == 0.0 || b == 0.0 || s.is_infinite() || (s - a == b && s - b == a) { s } else { s.next_up() }
}

/// `a * b` of non-negative numbers, rounded up; 0 times anything is 0.
pub fn mul_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 0.0;
    }
    let p = a * b;
    if p.is_infinite() || libm::fma(a, b, -p) <= 0.0 && p >= f64::MIN_POSITIVE { p } else { p.next_up() }
}

/// `a / b` of positive numbers, rounded up.
pub fn div_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || a.is_infinite() {
        return a;
    }
    let q = a / b;
    if q.is_infinite() || libm::fma(q, b, -a) >= 0.0 && q >= f64::MIN_POSITIVE { q } else { q.next_up() }
}

/// `sqrt(a)`, rounded up.
pub fn sqrt_up(a: f64) -> f64 {
    let r = libm::sqrt(a);
    if r.is_infinite() || libm::fma(r, r, -a) >= 0.0 { r } else { r.next_up() }
}

/// Tightens three bounds against each other: Linf <= L2 <= L1 <= sqrt(d) L2 and L1 <= d Linf.
pub fn tighten(n: Norms, dim: u64) -> Norms {
    let d = dim.max(1) as f64;
    let linf = n.linf.min(n.l2).min(n.l1);
    let l2 = n.l2.min(n.l1).min(mul_up(sqrt_up(d), linf));
    let l1 = n.l1.min(mul_up(sqrt_up(d), l2)).min(mul_up(d, linf));
    Norms { l1, l2, linf }
}

pub fn scale(n: Norms, by: f64) -> Norms {
    Norms { l1: mul_up(n.l1, by), l2: mul_up(n.l2, by), linf: mul_up(n.linf, by) }
}

pub fn sum(a: Norms, b: Norms) -> Norms {
    Norms { l1: add_up(a.l1, b.l1), l2: add_up(a.l2, b.l2), linf: add_up(a.linf, b.linf) }
}

/// Component by component the smaller bound.
pub fn least(a: Norms, b: Norms) -> Norms {
    Norms { l1: a.l1.min(b.l1), l2: a.l2.min(b.l2), linf: a.linf.min(b.linf) }
}

/// Component by component the larger bound.
pub fn most(a: Norms, b: Norms) -> Norms {
    Norms { l1: a.l1.max(b.l1), l2: a.l2.max(b.l2), linf: a.linf.max(b.linf) }
}

/// Norms of two vectors set side by side.
pub fn append(a: Norms, b: Norms) -> Norms {
    let square = |x: f64| mul_up(x, x);
    Norms { l1: add_up(a.l1, b.l1), l2: sqrt_up(add_up(square(a.l2), square(b.l2))), linf: a.linf.max(b.linf) }
}

/// Any vector with components in `range`.
pub fn boxed(dim: u64, range: Range, levels: Option<Levels>) -> VectorType {
    let cube = |x: f64| tighten(Norms { l1: f64::INFINITY, l2: f64::INFINITY, linf: x }, dim);
    VectorType { dim, range, sup: cube(range.magnitude()), diam: cube(range.width()), levels, axes: None, ordered: false }
}

/// The ball of radius `c` around 0 in the norm `p` (1, 2, or 0 for Linf).
pub fn ball(dim: u64, p: u8, c: f64) -> VectorType {
    let mut sup = Norms::INFINITE;
    match p {
        1 => sup.l1 = c,
        2 => sup.l2 = c,
        _ => sup.linf = c,
    }
    let sup = tighten(sup, dim);
    VectorType { dim, range: Range::new(-sup.linf, sup.linf), sup, diam: scale(sup, 2.0), levels: None, axes: None, ordered: false }
}

/// A vector or simplex as a vector type.
pub fn as_vector(ty: &Type) -> Option<VectorType> {
    match ty {
        Type::Vector(v) => Some(v.clone()),
        Type::Simplex { dim, levels } => {
            let sup = Norms { l1: 1.0, l2: 1.0, linf: 1.0 };
            let diam = Norms { l1: 2.0, l2: sqrt_up(2.0), linf: 1.0 };
            Some(VectorType { sup, diam, ..boxed(*dim, Range::UNIT, levels.clone()) })
        }
        _ => None,
    }
}
