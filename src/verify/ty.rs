//! What values can be: ranges in doubles, norms as enclosures.

use super::reader::Reader;
use super::real::Real;

/// L1, L2 and Linf.
pub type Norms = [Real; 3];

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Number,
    Vector,
    Levels,
    Counts,
    /// Counts of at most a total.
    Fewer,
    Other,
}

/// A number is a vector of one component; `dim` counts levels too.
#[derive(Clone, Debug)]
pub struct Ty {
    pub kind: Kind,
    pub dim: u64,
    pub lo: f64,
    pub hi: f64,
    pub whole: bool,
    /// Largest norms of a value, and of the difference of two.
    pub sup: Norms,
    pub diam: Norms,
}

pub fn num(x: f64) -> Real {
    Real::new(x)
}
pub fn root(d: u64) -> Real {
    Real::int(d).sqrt()
}
/// A product in which nothing times anything is nothing.
pub fn times(a: &Real, b: &Real) -> Real {
    if a.is_zero() || b.is_zero() { Real::zero() } else { a * b }
}
pub fn each(a: &Norms, b: &Norms, f: fn(&Real, &Real) -> Real) -> Norms {
    [f(&a[0], &b[0]), f(&a[1], &b[1]), f(&a[2], &b[2])]
}
pub fn plus(a: &Norms, b: &Norms) -> Norms {
    each(a, b, |x, y| x + y)
}
pub fn scale(n: &Norms, by: &Real) -> Norms {
    [times(&n[0], by), times(&n[1], by), times(&n[2], by)]
}
pub fn same(x: &Real) -> Norms {
    [x.clone(), x.clone(), x.clone()]
}
/// Norms of two vectors side by side.
pub fn beside(a: &Norms, b: &Norms) -> Norms {
    [&a[0] + &b[0], (a[1].square() + b[1].square()).sqrt(), a[2].max(&b[2])]
}
/// The largest inner product, by three inequalities of Hoelder.
pub fn dot(a: &Norms, b: &Norms) -> Real {
    times(&a[1], &b[1]).min(&times(&a[2], &b[0])).min(&times(&a[0], &b[2]))
}
/// Three bounds against each other: Linf <= L2 <= L1 <= sqrt(d) L2 and L1 <= d Linf.
pub fn tighten(n: &Norms, d: u64) -> Norms {
    let linf = n[2].min(&n[1]).min(&n[0]);
    let l2 = n[1].min(&n[0]).min(&times(&root(d), &linf));
    [n[0].min(&times(&root(d), &l2)).min(&times(&Real::int(d), &linf)), l2, linf]
}
/// Norms of what has `d` components of this size.
pub fn cube(d: u64, x: &Real) -> Norms {
    tighten(&[Real::UNKNOWN, Real::UNKNOWN, x.clone()], d)
}

impl Ty {
    pub fn number(lo: f64, hi: f64, whole: bool) -> Ty {
        Ty { kind: Kind::Number, whole, ..Ty::boxed(1, lo, hi) }
    }
    pub fn boxed(dim: u64, lo: f64, hi: f64) -> Ty {
        let width = if lo == hi { Real::zero() } else { num(hi) - num(lo) };
        Ty { kind: Kind::Vector, dim, lo, hi, whole: false, sup: cube(dim, &num(lo.abs().max(hi.abs()))), diam: cube(dim, &width) }
    }
    pub fn ball(dim: u64, norm: usize, c: f64) -> Ty {
        let mut sup = same(&Real::UNKNOWN);
        sup.iter_mut().skip(norm).take(1).for_each(|n| *n = num(c));
        let sup = tighten(&sup, dim);
        Ty { diam: scale(&sup, &Real::int(2)), sup, ..Ty::boxed(dim, -c, c) }
    }
    pub fn real() -> Ty {
        Ty::number(f64::NEG_INFINITY, f64::INFINITY, false)
    }
    pub fn other() -> Ty {
        Ty { kind: Kind::Other, ..Ty::real() }
    }
    /// The values of both, side by side.
    pub fn join(a: &Ty, b: &Ty) -> Ty {
        let (sup, diam) = (beside(&a.sup, &b.sup), beside(&a.diam, &b.diam));
        Ty { sup, diam, ..Ty::boxed(a.dim.saturating_add(b.dim), a.lo.min(b.lo), a.hi.max(b.hi)) }
    }
    /// The range of a number.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.kind == Kind::Number).then_some((self.lo, self.hi))
    }
    /// Levels of a category or of a bounded integer.
    pub fn levels(&self) -> Option<u64> {
        match self.kind {
            Kind::Levels => Some(self.dim),
            Kind::Number if self.whole && (self.hi - self.lo).is_finite() => Some((self.hi - self.lo) as u64 + 1),
            _ => None,
        }
    }

    /// Exponent of the grid that values are rounded to before they are summed (rule book, section 8.7).
    pub fn grid(&self) -> Option<i32> {
        let (m, w) = (self.lo.abs().max(self.hi.abs()), self.hi - self.lo);
        match self.kind {
            Kind::Levels | Kind::Other => None,
            _ if self.whole || m == 0.0 => Some(0),
            _ if !w.is_finite() => None,
            _ if w == 0.0 => Some(libm::ilogb(m) - 60),
            _ => Some((libm::ilogb(m) - 60).max(libm::ilogb(w) - 40)),
        }
    }
    /// Norms of one row and of the difference of two, with what rounding to the grid may add: nothing where the shape is
    /// a box or a ball, which are rounded inwards.
    pub fn row_norms(&self) -> (Norms, Norms) {
        let reach = |n: &Norms, full: &Norms| n.iter().zip(full).take(2).all(|(n, f)| n.above() >= f.above() * (1.0 - 1e-12));
        let (all, twice) = (Ty::boxed(self.dim, self.lo, self.hi), scale(&self.sup, &Real::int(2)));
        let most = |a: &Norms, b: &Norms| each(a, b, Real::max);
        if self.kind != Kind::Vector {
            return (self.sup.clone(), self.diam.clone());
        }
        // What is a box or a ball up to rounding is held to the whole of it.
        if reach(&self.sup, &all.sup) && reach(&self.diam, &all.diam) {
            return (most(&self.sup, &all.sup), most(&self.diam, &all.diam));
        }
        if reach(&self.diam, &twice) {
            return (self.sup.clone(), most(&self.diam, &twice));
        }
        let step = self.grid().map_or(Real::UNKNOWN, |e| num(libm::ldexp(2.0, e)));
        let slack = [Real::int(self.dim) * &step, root(self.dim) * &step, step];
        (plus(&self.sup, &slack), plus(&self.diam, &slack))
    }

    /// A type as certificates print it.
    pub fn parse(text: &str) -> Option<Ty> {
        let mut reader = Reader::new(text);
        if text.starts_with('{') {
            return Some(Ty::other());
        }
        if reader.eat("posterior") {
            reader.expect("of")?;
            // Means and quantiles of a number lie where the number does.
            let inner = Ty::read(&mut reader).filter(|t| t.kind == Kind::Number);
            return Some(inner.map_or(Ty::other(), |t| Ty { kind: Kind::Other, ..t }));
        }
        Ty::read(&mut reader).filter(|_| reader.done())
    }

    pub fn read(r: &mut Reader) -> Option<Ty> {
        let base = r.word()?;
        let sizes = r.numbers("[", "]").unwrap_or_default();
        let dim = sizes.first().map_or(Some(1), |x| (x.fract() == 0.0 && (0.0..1e15).contains(x)).then_some(*x as u64))?;
        Some(match base {
            "bool" => Ty::number(0.0, 1.0, true),
            "text" => Ty::other(),
            "int" if r.eat("in") => {
                let lo = r.number()?;
                r.expect("..")?;
                Ty::number(lo, r.number().unwrap_or(f64::INFINITY), true)
            }
            "int" => Ty { whole: true, ..Ty::real() },
            "real" | "vector" | "ordered" | "matrix" => {
                let bounded = r.eat("in");
                for (norm, name) in ["l1", "l2", "linf"].iter().enumerate().filter(|_| bounded) {
                    if r.eat(name) {
                        return r.numbers("(", ")").and_then(|c| Some(Ty::ball(dim, norm, *c.first()?)));
                    }
                }
                let range = if bounded { r.numbers("[", "]")? } else { vec![f64::NEG_INFINITY, f64::INFINITY] };
                let [lo, hi] = range.try_into().ok()?;
                let kind = match base {
                    "real" => Kind::Number,
                    "vector" => Kind::Vector,
                    _ => Kind::Other,
                };
                let mut ty = Ty { kind, ..Ty::boxed(dim, lo, hi) };
                for (word, norms) in [("norms", &mut ty.sup), ("apart", &mut ty.diam)] {
                    if r.eat(word) {
                        let stated: [f64; 3] = r.numbers("[", "]")?.try_into().ok()?;
                        *norms = each(norms, &stated.map(num), Real::min);
                    }
                }
                ty
            }
            "category" => {
                let mut dim = 0;
                while r.eat(if dim == 0 { "{" } else { "," }) {
                    r.quoted()?;
                    dim += 1;
                }
                r.expect("}")?;
                Ty { kind: Kind::Levels, dim, ..Ty::other() }
            }
            "simplex" => Ty { sup: same(&Real::one()), diam: [Real::int(2), root(2), Real::one()], ..Ty::boxed(dim, 0.0, 1.0) },
            "counts" => {
                r.expect("of")?;
                let (kind, total) =
                    if r.eat("at_most") { (Kind::Fewer, *r.numbers("(", ")")?.first()?) } else { (Kind::Counts, r.number()?) };
                let total = num(total);
                let diam = tighten(&[&total * Real::int(2), &total * root(2), total.clone()], dim);
                Ty { kind, whole: true, sup: tighten(&same(&total), dim), diam, ..Ty::boxed(dim, 0.0, total.above()) }
            }
            _ => return None,
        })
    }
}
