//! Intervals of 192-bit numbers, every end rounded outwards: the verifier's own arithmetic.

use dashu_float::{Context, FBig, Repr, round::mode};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

const BITS: usize = 192;
/// Stated numbers are held against the truth less this share of it: the width that rounding leaves an exact number.
const RESOLUTION: f64 = 1.0 / (1u128 << 96) as f64;
const DOWN: Context<mode::Down> = Context::new(BITS);
const UP: Context<mode::Up> = Context::new(BITS);
type End = Repr<2>;

/// All reals between two ends; `None` where nothing is known (overflow, division by zero, arguments out of domain).
#[derive(Clone)]
pub struct Real(Option<(End, End)>);

/// Every digit, as texts of numbers tell what was computed before.
impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut one = |end: &End| write!(f, "{:x}p{} ", end.significand(), end.exponent());
        self.0.iter().try_for_each(|(a, b)| one(a).and_then(|()| one(b)))
    }
}

/// Numbers kept at most.
const KEPT: usize = 200_000;

thread_local! {
    /// What was computed before, by what it was computed of in every digit: certificates repeat claims.
    static KNOWN: RefCell<HashMap<String, Real>> = RefCell::default();
}

/// The number that is kept under this name, or a new one.
pub fn once(name: String, make: impl FnOnce() -> Real) -> Real {
    if let Some(known) = KNOWN.with_borrow(|all| all.get(&name).cloned()) {
        return known;
    }
    let value = make();
    KNOWN.with_borrow_mut(|all| {
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert(name, value.clone());
    });
    value
}

/// One operation at the lower ends rounded down, and at the upper ends rounded up.
macro_rules! both {
    ($f:ident, ($($lo:expr),*), ($($hi:expr),*)) => {
        Real::between(DOWN.$f($($lo),*).ok().map(|x| x.value().into_repr()), UP.$f($($hi),*).ok().map(|x| x.value().into_repr()))
    };
}

impl Real {
    pub const UNKNOWN: Real = Real(None);

    fn between(lo: Option<End>, hi: Option<End>) -> Real {
        Real(lo.zip(hi).filter(|(a, b)| a.is_finite() && b.is_finite()))
    }
    fn exactly(end: Option<End>) -> Real {
        Real::between(end.clone(), end)
    }
    /// Exactly this double; unknown if it is infinite.
    pub fn new(x: f64) -> Real {
        Real::exactly(FBig::<mode::Down, 2>::try_from(x).ok().map(FBig::into_repr))
    }
    /// The decimal that this double stands for, its shortest text; unknown if it is infinite.
    pub fn decimal(x: f64) -> Real {
        let text = format!("{x:e}");
        once(text.clone(), || Real::read(&text))
    }
    fn read(text: &str) -> Real {
        let Some((number, power)) = text.split_once('e') else { return Real::UNKNOWN };
        let places = number.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
        let (Ok(digits), Ok(power)) = (number.replace('.', "").parse(), power.parse::<i32>().map(|p| p - places)) else {
            return Real::UNKNOWN;
        };
        let ten = (0..power.unsigned_abs()).fold(Real::one(), |all, _| all * Real::int(10));
        if power < 0 { Real::ratio(digits, 1) / ten } else { Real::ratio(digits, 1) * ten }
    }
    pub fn int(n: u64) -> Real {
        Real::ratio(i128::from(n), 1)
    }
    pub fn ratio(a: i128, b: i128) -> Real {
        let whole = |n: i128| Real::exactly(Some(FBig::<mode::Down, 2>::from(n).into_repr()));
        if b == 1 { whole(a) } else { whole(a) / whole(b) }
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
    /// Is every value surely at most every value of the other? False where unknown.
    pub fn le(&self, other: &Real) -> bool {
        matches!((&self.0, &other.0), (Some((_, a)), Some((b, _))) if a <= b)
    }
    pub fn positive(&self) -> bool {
        matches!(&self.0, Some((a, _)) if *a > End::zero())
    }
    pub fn is_zero(&self) -> bool {
        matches!(&self.0, Some((a, b)) if *a == End::zero() && *b == End::zero())
    }
    /// The least double that is not below any value; infinite where unknown.
    pub fn above(&self) -> f64 {
        let Some((_, hi)) = &self.0 else { return f64::INFINITY };
        let mut x = FBig::<mode::Up, 2>::from_repr(hi.clone(), UP).to_f64().value();
        while x.is_finite() && Real::new(x).0.is_some_and(|(end, _)| end < *hi) {
            x = x.next_up();
        }
        x
    }
    /// The least double that may stand for an upper bound in a certificate, up to the resolution.
    pub fn stated(&self) -> f64 {
        (self - self * &Real::new(RESOLUTION)).above()
    }
    /// The same of an amount of privacy, which is a decimal.
    pub fn amount(&self) -> f64 {
        let x = self.stated();
        let enough = |x: &f64| (self - self * &Real::new(RESOLUTION)).le(&Real::decimal(*x));
        [x.next_down(), x, x.next_up()].into_iter().find(enough).unwrap_or(x)
    }
    /// The largest double that may stand for a lower bound; infinite where unknown.
    pub fn stated_limit(&self) -> f64 {
        let least = -&(self + self * &Real::new(RESOLUTION));
        if least.known() { -least.above() } else { f64::INFINITY }
    }
    fn choose(&self, other: &Real, pick: fn(End, End) -> End) -> Real {
        match (self.0.clone(), other.0.clone()) {
            (Some(x), Some(y)) => Real(Some((pick(x.0, y.0), pick(x.1, y.1)))),
            _ => Real(None),
        }
    }
    /// The smaller; what is unknown counts as infinite.
    pub fn min(&self, other: &Real) -> Real {
        match (self.known(), other.known()) {
            (true, true) => self.choose(other, |a, b| if a < b { a } else { b }),
            (true, false) => self.clone(),
            _ => other.clone(),
        }
    }
    /// The larger; unknown if either is.
    pub fn max(&self, other: &Real) -> Real {
        self.choose(other, |a, b| if a > b { a } else { b })
    }
    /// Everything from the least to the largest of both.
    pub fn hull(&self, other: &Real) -> Real {
        let (low, high) = (self.min(other), self.max(other));
        Real::between(low.0.map(|x| x.0), high.0.map(|x| x.1))
    }
    /// The lower and the upper end, each exactly.
    pub fn ends(&self) -> [Real; 2] {
        let (lo, hi) = self.0.clone().unzip();
        [Real::exactly(lo), Real::exactly(hi)]
    }
    pub fn exp(&self) -> Real {
        let Some((a, b)) = &self.0 else { return Real::UNKNOWN };
        let low = Real::exactly(DOWN.exp(a, None).ok().map(|x| x.value().into_repr()));
        // exp(b - a) is at most 1 + 2 (b - a).
        let [from, to] = self.ends();
        let wide = to - from;
        if wide.le(&Real::ratio(1, 2)) {
            low.hull(&(&low * &((Real::one() + (&wide + &wide)) * Real::above_one())))
        } else {
            both!(exp, (a, None), (b, None))
        }
    }
    pub fn ln(&self) -> Real {
        let Some((a, _)) = self.0.as_ref().filter(|_| self.positive()) else { return Real::UNKNOWN };
        let low = Real::exactly(DOWN.ln(a, None).ok().map(|x| x.value().into_repr()));
        // ln(b/a) is at most (b - a)/a.
        let [from, to] = self.ends();
        let rest = (to - &from) / from;
        let more = low.max(&-&low) * (Real::above_one() - Real::one());
        low.hull(&(&low + rest + more))
    }
    /// Above 1 by far more than an end of a function may be off.
    fn above_one() -> Real {
        Real::one() + Real::new(1.0 / (1u128 << 90) as f64 / (1u128 << 90) as f64)
    }
    /// Of what is not negative: a lower end below zero counts as zero.
    pub fn sqrt(&self) -> Real {
        self.max(&Real::zero()).0.map_or(Real::UNKNOWN, |(a, b)| both!(sqrt, (&a), (&b)))
    }
    /// Of what keeps its sign.
    pub fn square(&self) -> Real {
        self * self
    }
}

impl Add for &Real {
    type Output = Real;
    fn add(self, other: &Real) -> Real {
        match (&self.0, &other.0) {
            (Some(x), Some(y)) => both!(add, (&x.0, &y.0), (&x.1, &y.1)),
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
impl Sub for &Real {
    type Output = Real;
    fn sub(self, other: &Real) -> Real {
        self + &-other
    }
}
impl Mul for &Real {
    type Output = Real;
    /// The ends of a product are among the products of ends.
    fn mul(self, other: &Real) -> Real {
        let (Some(x), Some(y)) = (&self.0, &other.0) else { return Real(None) };
        let part = |a: &End, b: &End| both!(mul, (a, b), (a, b));
        let zero = End::zero();
        match (x.0 >= zero, x.1 <= zero, y.0 >= zero, y.1 <= zero) {
            (true, _, true, _) => both!(mul, (&x.0, &y.0), (&x.1, &y.1)),
            (true, _, _, true) => both!(mul, (&x.1, &y.0), (&x.0, &y.1)),
            (_, true, true, _) => both!(mul, (&x.0, &y.1), (&x.1, &y.0)),
            _ => part(&x.0, &y.0).hull(&part(&x.0, &y.1)).hull(&part(&x.1, &y.0)).hull(&part(&x.1, &y.1)),
        }
    }
}
impl Div for &Real {
    type Output = Real;
    fn div(self, other: &Real) -> Real {
        let (zero, one) = (End::zero(), End::one());
        match &other.0 {
            Some(y) if y.0 > zero || y.1 < zero => self * &both!(div, (&one, &y.1), (&one, &y.0)),
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
