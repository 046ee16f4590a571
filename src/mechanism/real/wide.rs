//! Intervals of dyadic numbers at any precision, with certified `exp` and `ln`: what decides when doubles cannot.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::dyadic::{Dyadic, Toward};
use super::{Enclosure, Param};
use crate::mechanism::draw::uniform::Uniform;
use crate::mechanism::grid::NOISE;

use Toward::{Down, Up};

/// A real number between two dyadic numbers, or nothing known about it.
#[derive(Clone)]
pub struct Wide {
    ends: Option<(Dyadic, Dyadic)>,
    precision: usize,
}

/// Fraction bits computed beyond the asked precision; what series lose is far below `2^GUARD` units.
const GUARD: usize = 64;
/// Beyond this an exponential is only known to be tiny, or not known.
const LARGEST_EXPONENT: i64 = 1 << 30;

impl Wide {
    /// The two ends, if anything is known.
    #[cfg(test)]
    pub fn ends(&self) -> Option<&(Dyadic, Dyadic)> {
        self.ends.as_ref()
    }

    fn map(&self, f: impl FnOnce(&Dyadic, &Dyadic, usize) -> Option<(Dyadic, Dyadic)>) -> Wide {
        Wide { ends: self.ends.as_ref().and_then(|(lo, hi)| f(lo, hi, self.precision)), precision: self.precision }
    }

    fn zip(&self, other: &Wide, f: impl FnOnce((&Dyadic, &Dyadic), (&Dyadic, &Dyadic), usize) -> Option<(Dyadic, Dyadic)>) -> Wide {
        self.map(|lo, hi, p| other.ends.as_ref().and_then(|(lo2, hi2)| f((lo, hi), (lo2, hi2), p)))
    }
}

/// The smallest and largest of four candidate ends, each computed on both sides.
fn hull(a: (&Dyadic, &Dyadic), b: (&Dyadic, &Dyadic), f: impl Fn(&Dyadic, &Dyadic, Toward) -> Dyadic) -> (Dyadic, Dyadic) {
    let mut lo = f(a.0, b.0, Down);
    let mut hi = f(a.0, b.0, Up);
    for (x, y) in [(a.0, b.1), (a.1, b.0), (a.1, b.1)] {
        let (l, h) = (f(x, y, Down), f(x, y, Up));
        if l.compare(&lo) == Ordering::Less {
            lo = l;
        }
        if h.compare(&hi) == Ordering::Greater {
            hi = h;
        }
    }
    (lo, hi)
}

/// `2 atanh(t)` for `0 <= t <= 1/3` in units of `2^-f`; off by less than `4 f` units.
fn twice_atanh(t: &IBig, f: usize) -> IBig {
    let square: IBig = (t * t) >> f;
    let mut power = t.clone();
    let mut sum = t.clone();
    let mut k = 1u32;
    while !power.is_zero() {
        power = (&power * &square) >> f;
        k += 2;
        sum += &power / IBig::from(k);
    }
    sum << 1
}

/// `ln 2` in units of `2^-f`; off by less than `4 f` units.
fn ln2(f: usize) -> IBig {
    twice_atanh(&((IBig::ONE << f) / IBig::from(3)), f)
}

/// A fixed-point value and its error in units, as two dyadic ends.
fn around(value: &IBig, error: &IBig, f: usize, scale: i64, toward: Toward) -> Dyadic {
    let m = match toward {
        Down => value - error,
        Up => value + error,
    };
    Dyadic::new(m, scale - i64::try_from(f).unwrap_or(i64::MAX / 8))
}

/// `ln x` for one positive number, on one side.
fn ln_point(x: &Dyadic, p: usize, toward: Toward) -> Dyadic {
    let f = p + GUARD;
    let (y, exponent) = x.normal(f);
    let one: IBig = IBig::ONE << f;
    // y in [1, 2): ln y = 2 atanh((y - 1) / (y + 1)).
    let t = ((&y - &one) << f) / (&y + &one);
    let value = twice_atanh(&t, f) + IBig::from(exponent) * ln2(f);
    let unit = IBig::from(exponent.unsigned_abs() + 2);
    let error = unit * IBig::from(8 * f);
    around(&value, &error, f, 0, toward).round(p, toward)
}

/// `exp x` for one number, on one side; `None` where it is too large to say.
fn exp_point(x: &Dyadic, p: usize, toward: Toward) -> Option<Dyadic> {
    let edge = Dyadic::new(IBig::from(LARGEST_EXPONENT), 0);
    if x.compare(&edge) == Ordering::Greater {
        return None;
    }
    if x.compare(&edge.neg()) == Ordering::Less {
        return Some(match toward {
            Down => Dyadic::zero(),
            Up => Dyadic::power(-LARGEST_EXPONENT),
        });
    }
    let f = p + GUARD;
    let l = ln2(f);
    let fixed = x.fixed(f);
    let k = super::dyadic::divide(fixed.clone(), &l, Down);
    // r in [0, ln 2): off by |k| units of ln 2's error.
    let r = fixed - &k * &l;
    let mut term: IBig = IBig::ONE << f;
    let mut sum = term.clone();
    let mut j = 1u32;
    loop {
        term = ((&term * &r) >> f) / IBig::from(j);
        if term.is_zero() {
            break;
        }
        sum += &term;
        j += 1;
    }
    let exponent = i64::try_from(&k).unwrap_or(0);
    let error = IBig::from(exponent.unsigned_abs() + 2) * IBig::from(16 * f);
    Some(around(&sum, &error, f, exponent, toward).round(p, toward))
}

impl Enclosure for Wide {
    fn param(x: &Param, p: usize) -> Wide {
        let x = x.exact();
        Wide { ends: Some((Dyadic::rational(x, p, Down), Dyadic::rational(x, p, Up))), precision: p }
    }

    fn integer(x: i64, p: usize) -> Wide {
        let x = Dyadic::new(IBig::from(x), 0);
        Wide { ends: Some((x.clone(), x)), precision: p }
    }

    fn uniform(u: &Uniform, p: usize) -> Wide {
        let (m, e) = u.digits();
        Wide { ends: Some((Dyadic::new(m.clone(), -e).round(p, Down), Dyadic::new(m + IBig::ONE, -e).round(p, Up))), precision: p }
    }

    fn add(&self, other: &Wide) -> Wide {
        self.zip(other, |a, b, p| Some((a.0.add(b.0, p, Down), a.1.add(b.1, p, Up))))
    }

    fn neg(&self) -> Wide {
        self.map(|lo, hi, _| Some((hi.neg(), lo.neg())))
    }

    fn mul(&self, other: &Wide) -> Wide {
        self.zip(other, |a, b, p| Some(hull(a, b, |x, y, t| x.mul(y, p, t))))
    }

    fn div(&self, other: &Wide) -> Wide {
        self.zip(other, |a, b, p| {
            if b.0.sign() != b.1.sign() || b.0.sign() == Ordering::Equal {
                return None;
            }
            Some(hull(a, b, |x, y, t| x.div(y, p, t)))
        })
    }

    fn sqrt(&self) -> Wide {
        self.map(|lo, hi, p| (lo.sign() != Ordering::Less).then(|| (lo.sqrt(p, Down), hi.sqrt(p, Up))))
    }

    fn ln(&self) -> Wide {
        self.map(|lo, hi, p| (lo.sign() == Ordering::Greater).then(|| (ln_point(lo, p, Down), ln_point(hi, p, Up))))
    }

    fn exp(&self) -> Wide {
        self.map(|lo, hi, p| Some((exp_point(lo, p, Down)?, exp_point(hi, p, Up)?)))
    }

    fn sign(&self) -> Option<bool> {
        let (lo, hi) = self.ends.as_ref()?;
        if lo.sign() == Ordering::Greater {
            Some(true)
        } else if hi.sign() == Ordering::Less {
            Some(false)
        } else {
            None
        }
    }

    fn nearest(&self, exponent: i32) -> Option<i128> {
        let (lo, hi) = self.ends.as_ref()?;
        let clamp = |x: &Dyadic| match x.nearest(-i64::from(exponent), 127).and_then(|m| i128::try_from(&m).ok()) {
            Some(m) => m.max(-NOISE),
            None if x.sign() == Ordering::Less => -NOISE,
            None => NOISE,
        };
        let (a, b) = (clamp(lo), clamp(hi));
        (a == b).then_some(a)
    }

    fn bounds(&self) -> (f64, f64) {
        match &self.ends {
            Some((lo, hi)) => (lo.to_f64(Down), hi.to_f64(Up)),
            None => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    fn lower_point(&self) -> Wide {
        self.map(|lo, _, _| Some((lo.clone(), lo.clone())))
    }
}
