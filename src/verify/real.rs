//! Intervals of 192-bit numbers, every end rounded outwards: the verifier's own arithmetic.

use dashu::float::round::mode::{Down, Up};
use dashu::float::{Context, FBig, Repr};
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

const BITS: usize = 192;
type End = Repr<2>;

/// All reals between two ends; `None` where nothing is known (overflow, division by zero, arguments out of domain).
#[derive(Clone, Debug)]
pub struct Real(Option<(End, End)>);

fn down() -> Context<Down> {
    Context::new(BITS)
}
fn up() -> Context<Up> {
    Context::new(BITS)
}

fn whole(lo: Option<End>, hi: Option<End>) -> Real {
    Real(lo.zip(hi).filter(|(a, b)| a.is_finite() && b.is_finite()))
}

/// One operation, rounded down and rounded up.
macro_rules! both {
    ($f:ident, $a:expr, $b:expr) => {
        whole(down().$f($a.0, $b.0).ok().map(|x| x.value().into_repr()), up().$f($a.1, $b.1).ok().map(|x| x.value().into_repr()))
    };
}
macro_rules! grow {
    ($f:ident, $x:expr) => {
        match &$x.0 {
            Some((a, b)) => {
                whole(down().$f(a, None).ok().map(|x| x.value().into_repr()), up().$f(b, None).ok().map(|x| x.value().into_repr()))
            }
            None => Real(None),
        }
    };
}

impl Real {
    pub const UNKNOWN: Real = Real(None);

    /// Exactly this double; unknown if it is infinite.
    pub fn new(x: f64) -> Real {
        let exact = FBig::<Down, 2>::try_from(x).ok().map(FBig::into_repr);
        whole(exact.clone(), exact)
    }
    pub fn int(n: u64) -> Real {
        let exact = FBig::<Down, 2>::from(n).into_repr();
        whole(Some(exact.clone()), Some(exact))
    }
    pub fn ratio(a: i128, b: u64) -> Real {
        let exact = FBig::<Down, 2>::from(a).into_repr();
        whole(Some(exact.clone()), Some(exact)) / Real::int(b)
    }
    pub fn zero() -> Real {
        Real::int(0)
    }
    pub fn one() -> Real {
        Real::int(1)
    }
    pub fn known(&self) -> bool {
        self.0.is_some()
    }
    /// Is every value surely at least (at most) every value of the other? False where unknown.
    pub fn ge(&self, other: &Real) -> bool {
        matches!((&self.0, &other.0), (Some((a, _)), Some((_, b))) if a >= b)
    }
    pub fn le(&self, other: &Real) -> bool {
        other.ge(self)
    }
    pub fn lt(&self, other: &Real) -> bool {
        matches!((&self.0, &other.0), (Some((_, a)), Some((b, _))) if a < b)
    }
    pub fn positive(&self) -> bool {
        Real::zero().lt(self)
    }
    /// Is the double surely not below what is enclosed? `lo` alone is meant: the enclosure is far narrower than a double.
    pub fn not_above(&self, claimed: f64) -> bool {
        match (&self.0, &Real::new(claimed).0) {
            (Some((lo, _)), Some((c, _))) => lo <= c,
            _ => claimed == f64::INFINITY,
        }
    }
    /// A double near the upper end; infinite where unknown.
    pub fn about(&self) -> f64 {
        match &self.0 {
            Some((_, hi)) => FBig::<Up, 2>::from_repr(hi.clone(), up()).to_f64().value(),
            None => f64::INFINITY,
        }
    }
    fn end(&self, high: bool) -> Real {
        Real(self.0.clone().map(|(a, b)| if high { (b.clone(), b) } else { (a.clone(), a) }))
    }
    pub fn low(&self) -> Real {
        self.end(false)
    }
    pub fn high(&self) -> Real {
        self.end(true)
    }
    fn choose(&self, other: &Real, want: Ordering) -> Real {
        let pick = |a: &End, b: &End| if a.cmp(b) == want { a.clone() } else { b.clone() };
        match (&self.0, &other.0) {
            (Some(x), Some(y)) => Real(Some((pick(&x.0, &y.0), pick(&x.1, &y.1)))),
            _ => Real(None),
        }
    }
    /// The smaller; what is unknown counts as infinite.
    pub fn min(&self, other: &Real) -> Real {
        match (self.known(), other.known()) {
            (true, true) => self.choose(other, Ordering::Less),
            (true, false) => self.clone(),
            _ => other.clone(),
        }
    }
    /// The larger; unknown if either is.
    pub fn max(&self, other: &Real) -> Real {
        self.choose(other, Ordering::Greater)
    }
    pub fn exp(&self) -> Real {
        grow!(exp, self)
    }
    pub fn exp_m1(&self) -> Real {
        grow!(exp_m1, self)
    }
    pub fn ln(&self) -> Real {
        if self.positive() { grow!(ln, self) } else { Real(None) }
    }
    pub fn ln_1p(&self) -> Real {
        if (self + &Real::one()).positive() { grow!(ln_1p, self) } else { Real(None) }
    }
    pub fn sqrt(&self) -> Real {
        match &self.max(&Real::zero()).0 {
            Some((a, b)) => whole(down().sqrt(a).ok().map(|x| x.value().into_repr()), up().sqrt(b).ok().map(|x| x.value().into_repr())),
            None => Real(None),
        }
    }
    /// Everything from the least to the largest of both.
    pub fn hull_of(a: &Real, b: &Real) -> Real {
        match (&a.choose(b, Ordering::Less).0, &a.choose(b, Ordering::Greater).0) {
            (Some((lo, _)), Some((_, hi))) => Real(Some((lo.clone(), hi.clone()))),
            _ => Real(None),
        }
    }
    pub fn square(&self) -> Real {
        let s = self * self;
        let touches = matches!(&self.0, Some((a, b)) if *a < End::zero() && *b > End::zero());
        if touches { s.max(&Real::zero()) } else { s }
    }
}

impl Add for &Real {
    type Output = Real;
    fn add(self, other: &Real) -> Real {
        match (&self.0, &other.0) {
            (Some(x), Some(y)) => both!(add, (&x.0, &x.1), (&y.0, &y.1)),
            _ => Real(None),
        }
    }
}
impl Sub for &Real {
    type Output = Real;
    fn sub(self, other: &Real) -> Real {
        match (&self.0, &other.0) {
            (Some(x), Some(y)) => both!(sub, (&x.0, &x.1), (&y.1, &y.0)),
            _ => Real(None),
        }
    }
}
impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real(self.0.clone().map(|(a, b)| (-b, -a)))
    }
}

/// The ends of a product: by the signs of both, else the hull of all four.
fn product(x: &(End, End), y: &(End, End)) -> Real {
    let zero = End::zero();
    let sign = |v: &(End, End)| {
        if v.0 >= zero {
            1
        } else if v.1 <= zero {
            -1
        } else {
            0
        }
    };
    match (sign(x), sign(y)) {
        (1, 1) => both!(mul, (&x.0, &x.1), (&y.0, &y.1)),
        (1, -1) => both!(mul, (&x.1, &x.0), (&y.0, &y.1)),
        (-1, 1) => both!(mul, (&x.0, &x.1), (&y.1, &y.0)),
        (-1, -1) => both!(mul, (&x.1, &x.0), (&y.1, &y.0)),
        _ => {
            let part = |a: &End, b: &End| both!(mul, (a, a), (b, b));
            let ends = |a: &End| Real::hull_of(&part(a, &y.0), &part(a, &y.1));
            Real::hull_of(&ends(&x.0), &ends(&x.1))
        }
    }
}
impl Mul for &Real {
    type Output = Real;
    fn mul(self, other: &Real) -> Real {
        match (&self.0, &other.0) {
            (Some(x), Some(y)) => product(x, y),
            _ => Real(None),
        }
    }
}
impl Div for &Real {
    type Output = Real;
    fn div(self, other: &Real) -> Real {
        let zero = End::zero();
        match (&self.0, &other.0) {
            (Some(x), Some(y)) if y.0 > zero || y.1 < zero => {
                let one = End::one();
                both!(div, (&one, &one), (&y.1, &y.0)).0.map_or(Real(None), |inverse| product(x, &inverse))
            }
            _ => Real(None),
        }
    }
}

macro_rules! owned {
    ($($t:ident $f:ident),*) => { $(
        impl $t<Real> for Real { type Output = Real; fn $f(self, other: Real) -> Real { (&self).$f(&other) } }
        impl $t<&Real> for Real { type Output = Real; fn $f(self, other: &Real) -> Real { (&self).$f(other) } }
        impl $t<Real> for &Real { type Output = Real; fn $f(self, other: Real) -> Real { self.$f(&other) } }
    )* };
}
owned!(Add add, Sub sub, Mul mul, Div div);
