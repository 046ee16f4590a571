//! Dyadic numbers `m * 2^e` with directed rounding to a number of bits: the arithmetic under every slow decision.

use std::cmp::Ordering;

use dashu_base::{Abs, BitTest, Signed, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// `m * 2^e`, exactly.
#[derive(Clone)]
pub struct Dyadic {
    m: IBig,
    e: i64,
}

/// Where a result that does not fit is rounded to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    Down,
    Up,
}

impl Toward {
    pub fn reverse(self) -> Toward {
        match self {
            Toward::Down => Toward::Up,
            Toward::Up => Toward::Down,
        }
    }
}

impl Dyadic {
    pub fn new(m: IBig, e: i64) -> Dyadic {
        Dyadic { m, e }
    }

    pub fn zero() -> Dyadic {
        Dyadic::new(IBig::ZERO, 0)
    }

    /// 2^e.
    pub fn power(e: i64) -> Dyadic {
        Dyadic::new(IBig::ONE, e)
    }

    pub fn sign(&self) -> Ordering {
        if self.m.is_zero() {
            Ordering::Equal
        } else if self.m.is_negative() {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    }

    /// Exponent of the leading bit: `2^(top-1) <= |x| < 2^top`; a very small number for zero.
    fn top(&self) -> i64 {
        if self.m.is_zero() { i64::MIN / 4 } else { self.e.saturating_add(bits(&self.m)) }
    }

    /// The same number with at most `p` bits.
    pub fn round(self, p: usize, toward: Toward) -> Dyadic {
        let excess = bits(&self.m) - size(p);
        if excess <= 0 {
            return self;
        }
        Dyadic { m: shift_right(&self.m, excess, toward), e: self.e.saturating_add(excess) }
    }

    pub fn neg(&self) -> Dyadic {
        Dyadic::new(-self.m.clone(), self.e)
    }

    pub fn add(&self, other: &Dyadic, p: usize, toward: Toward) -> Dyadic {
        let (big, small) = if self.top() >= other.top() { (self, other) } else { (other, self) };
        if small.m.is_zero() {
            return big.clone().round(p, toward);
        }
        // A tiny addend is replaced by something larger on the safe side, so that aligning costs no memory.
        let floor = big.top().saturating_sub(2 * size(p) + 64);
        let tiny;
        let small = if small.top() < floor && small.e < big.e {
            tiny = match (toward, small.m.is_negative()) {
                (Toward::Down, true) => Dyadic::new(-IBig::ONE, floor),
                (Toward::Up, false) => Dyadic::new(IBig::ONE, floor),
                _ => return big.clone().round(p, toward),
            };
            &tiny
        } else {
            small
        };
        let e = big.e.min(small.e);
        let m = shift_left(&big.m, big.e - e) + shift_left(&small.m, small.e - e);
        Dyadic { m, e }.round(p, toward)
    }

    pub fn mul(&self, other: &Dyadic, p: usize, toward: Toward) -> Dyadic {
        Dyadic { m: &self.m * &other.m, e: self.e.saturating_add(other.e) }.round(p, toward)
    }

    /// `self / other`; `other` is not zero.
    pub fn div(&self, other: &Dyadic, p: usize, toward: Toward) -> Dyadic {
        let lift = (size(p) + 2 + bits(&other.m) - bits(&self.m)).max(0);
        let (n, d) = if other.m.is_negative() { (-self.m.clone(), -other.m.clone()) } else { (self.m.clone(), other.m.clone()) };
        let q = divide(shift_left(&n, lift), &d, toward);
        Dyadic { m: q, e: self.e.saturating_sub(other.e).saturating_sub(lift) }.round(p, toward)
    }

    /// The root of a number that is not negative.
    pub fn sqrt(&self, p: usize, toward: Toward) -> Dyadic {
        let mut lift = (2 * size(p) + 4 - bits(&self.m)).max(0);
        if (self.e - lift) % 2 != 0 {
            lift += 1;
        }
        let m: UBig = shift_left(&self.m, lift).unsigned_abs();
        let root = m.sqrt();
        let exact = &root * &root == m;
        let mut r = IBig::from(root);
        if !exact && toward == Toward::Up {
            r += IBig::ONE;
        }
        Dyadic { m: r, e: (self.e - lift) / 2 }.round(p, toward)
    }

    pub fn rational(x: &RBig, p: usize, toward: Toward) -> Dyadic {
        let n = Dyadic::new(x.numerator().clone(), 0);
        let d = Dyadic::new(IBig::from(x.denominator().clone()), 0);
        n.div(&d, p, toward)
    }

    pub fn compare(&self, other: &Dyadic) -> Ordering {
        match (self.sign(), other.sign()) {
            (a, b) if a != b => a.cmp(&b),
            (Ordering::Equal, _) => Ordering::Equal,
            (sign, _) => {
                let size = self.top().cmp(&other.top()).then_with(|| {
                    let e = self.e.min(other.e);
                    let (a, b) = (self.m.clone().abs(), other.m.clone().abs());
                    shift_left(&a, self.e - e).cmp(&shift_left(&b, other.e - e))
                });
                if sign == Ordering::Less { size.reverse() } else { size }
            }
        }
    }

    /// `floor(x 2^shift + 1/2)`; `None` if it is beyond `limit` bits.
    pub fn nearest(&self, shift: i64, limit: i64) -> Option<IBig> {
        if self.top().saturating_add(shift) > limit {
            return None;
        }
        let e = self.e.saturating_add(shift).saturating_add(1);
        let twice = self.scaled_floor(e) + IBig::ONE;
        Some(shift_right(&twice, 1, Toward::Down))
    }

    /// `floor(m 2^e)` for another exponent.
    fn scaled_floor(&self, e: i64) -> IBig {
        if e >= 0 { shift_left(&self.m, e) } else { shift_right(&self.m, -e, Toward::Down) }
    }

    /// The number in units of `2^-f`, rounded down.
    pub fn fixed(&self, f: usize) -> IBig {
        self.scaled_floor(self.e.saturating_add(size(f)))
    }

    /// `(mantissa in [1, 2) in units of 2^-f rounded down, exponent)` of a positive number.
    pub fn normal(&self, f: usize) -> (IBig, i64) {
        let exponent = self.top() - 1;
        (self.scaled_floor(size(f) - bits(&self.m) + 1), exponent)
    }

    /// The nearest double on that side.
    pub fn to_f64(&self, toward: Toward) -> f64 {
        let short = self.clone().round(53, toward);
        let exponent = short.top();
        if exponent > 1024 {
            return match (toward, short.m.is_negative()) {
                (Toward::Down, false) => f64::MAX,
                (Toward::Up, false) => f64::INFINITY,
                (Toward::Down, true) => f64::NEG_INFINITY,
                (Toward::Up, true) => f64::MIN,
            };
        }
        if exponent < -960 {
            // Too near the subnormal range to scale exactly: a bound is enough.
            return match (toward, self.sign()) {
                (_, Ordering::Equal) => 0.0,
                (Toward::Down, Ordering::Greater) | (Toward::Up, Ordering::Less) => 0.0,
                (Toward::Up, _) => libm::ldexp(1.0, -960),
                (Toward::Down, _) => -libm::ldexp(1.0, -960),
            };
        }
        let m = i64::try_from(&short.m).unwrap_or(0) as f64;
        libm::ldexp(m, i32::try_from(short.e).unwrap_or(0))
    }

    pub fn from_f64(x: f64) -> Dyadic {
        let (m, e) = libm::frexp(x);
        let m = libm::ldexp(m, 53) as i64;
        Dyadic::new(IBig::from(m), i64::from(e) - 53)
    }
}

fn size(p: usize) -> i64 {
    i64::try_from(p).unwrap_or(i64::MAX / 8)
}

fn bits(m: &IBig) -> i64 {
    size(m.bit_len())
}

fn shift_left(m: &IBig, by: i64) -> IBig {
    m.clone() << usize::try_from(by).unwrap_or(0)
}

fn shift_right(m: &IBig, by: i64, toward: Toward) -> IBig {
    if m.is_zero() {
        return IBig::ZERO;
    }
    let by = usize::try_from(by).unwrap_or(0);
    let down =
        |x: &IBig| -> IBig { if by > x.bit_len() { if x.is_negative() { -IBig::ONE } else { IBig::ZERO } } else { x.clone() >> by } };
    match toward {
        Toward::Down => down(m),
        Toward::Up => -down(&-m.clone()),
    }
}

/// `n / d` for positive `d`, rounded to that side.
pub fn divide(n: IBig, d: &IBig, toward: Toward) -> IBig {
    let q = &n / d;
    let back = &q * d;
    match toward {
        Toward::Down if back > n => q - IBig::ONE,
        Toward::Up if back < n => q + IBig::ONE,
        _ => q,
    }
}
