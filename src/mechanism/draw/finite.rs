//! Exact draws from discrete laws: uniform integers, coins, geometric, discrete Laplace and Gaussian, weighted choice.

use std::cmp::Ordering;

use dashu_base::BitTest;
use dashu_int::UBig;
use dashu_ratio::RBig;

use super::uniform::Uniform;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::grid::check_noise;
use crate::mechanism::real::{Enclosure, Fast, Param, Real, Wide};

/// As `real::decide`, but takes digits one by one: a decision uses no more bits than it needs.
pub fn decide_by_bits<R: Real, B: BitSource>(real: &mut R, bits: &mut B) -> Result<R::Answer, MechanismError> {
    for p in 1..=64 {
        real.refine(p, bits)?;
        if let Some(answer) = real.decide::<Fast>(p) {
            return Ok(answer);
        }
    }
    let mut p = 128;
    while p <= 1 << 16 {
        real.refine(p, bits)?;
        if let Some(answer) = real.decide::<Wide>(p) {
            return Ok(answer);
        }
        p *= 2;
    }
    Err(MechanismError::Undecided)
}

/// A uniform integer in `0..n`: `floor(n u)`, digits of u drawn until it is decided; `n >= 1`.
pub fn below<B: BitSource>(n: &UBig, bits: &mut B) -> Result<UBig, MechanismError> {
    if n.is_zero() {
        return Err(MechanismError::Parameter);
    }
    // u lies in [m, m + 1) 2^-k.
    let mut m = UBig::ZERO;
    for k in 0..1usize << 16 {
        let low: UBig = (n * &m) >> k;
        let high: UBig = (n * (&m + UBig::ONE) - UBig::ONE) >> k;
        if low == high {
            return Ok(low);
        }
        m = (m << 1) | UBig::from(u8::from(bits.bit()?));
    }
    Err(MechanismError::Undecided)
}

/// A chance as a function of a rational number.
#[derive(Clone, Copy)]
enum Chance {
    /// `x`
    Itself,
    /// `exp(-x)`
    Exp,
    /// `(1 - exp(-x)) / (1 + exp(-x))`
    HalfTanh,
}

/// Is a uniform below a chance?
struct Below {
    uniform: Uniform,
    x: Param,
    chance: Chance,
}

impl Real for Below {
    type Answer = bool;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<bool> {
        let precision = p.max(64);
        let x = E::param(&self.x, precision);
        let one = E::integer(1, precision);
        let chance = match self.chance {
            Chance::Itself => x,
            Chance::Exp => x.neg().exp(),
            Chance::HalfTanh => {
                let q = x.neg().exp();
                one.sub(&q).div(&one.add(&q))
            }
        };
        chance.sub(&E::uniform(&self.uniform, precision)).sign()
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.uniform.refine(p, bits)
    }
}

/// True with probability `p` in [0, 1].
pub fn bernoulli<B: BitSource>(p: RBig, bits: &mut B) -> Result<bool, MechanismError> {
    if p <= RBig::ZERO || p >= RBig::ONE {
        return Ok(p >= RBig::ONE);
    }
    let mut coin = Below { uniform: Uniform::new(), x: Param::new(p), chance: Chance::Itself };
    // The one tie of a dyadic chance (all further digits zero, or one) has probability 0; the left end decides it.
    if let Some(places) = dyadic_places(coin.x.exact()) {
        coin.uniform.refine(places, bits)?;
        let (m, e) = coin.uniform.digits();
        let scale = UBig::ONE << usize::try_from(e).unwrap_or(0);
        return Ok(RBig::from_parts(m, scale) < *coin.x.exact());
    }
    decide_by_bits(&mut coin, bits)
}

/// Binary digits after the point of a dyadic number, if it is one with at most 4,096.
fn dyadic_places(x: &RBig) -> Option<usize> {
    let places = x.denominator().bit_len() - 1;
    (x.denominator() == &(UBig::ONE << places) && places <= 4096).then_some(places)
}

/// True with probability exp(-x), `x >= 0`, using the digits that `uniform` already has.
pub fn bernoulli_exp<B: BitSource>(x: RBig, uniform: Uniform, bits: &mut B) -> Result<bool, MechanismError> {
    if x <= RBig::ZERO {
        return Ok(true);
    }
    let mut coin = Below { uniform, x: Param::new(x), chance: Chance::Exp };
    decide_by_bits(&mut coin, bits)
}

/// `floor(scale * E)`, E standard exponential: `P(k >= t) = exp(-t / scale)`.
struct Floor {
    uniform: Uniform,
    scale: Param,
    half: Param,
}

impl Real for Floor {
    type Answer = i128;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<i128> {
        let precision = p.max(64);
        let e = E::uniform(&self.uniform, precision).ln().neg();
        let x = e.mul(&E::param(&self.scale, precision));
        // nearest(x - 1/2) is floor(x); a lower end just below zero is still zero.
        let k = x.sub(&E::param(&self.half, precision)).nearest(0);
        match (k, x.bounds()) {
            (None, (lo, hi)) if lo > -0.5 && hi < 1.0 => Some(0),
            (k, _) => k.map(|k| k.max(0)),
        }
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.uniform.refine(p, bits)
    }
}

/// `P(k) ~ exp(-k / scale)` on k >= 0; `scale > 0`.
pub fn geometric<B: BitSource>(scale: &Param, bits: &mut B) -> Result<i128, MechanismError> {
    check_noise(scale.exact())?;
    let mut floor = Floor { uniform: Uniform::new(), scale: scale.clone(), half: Param::new(RBig::from_parts(1.into(), UBig::from(2u8))) };
    decide_by_bits(&mut floor, bits)
}

/// `P(k) ~ exp(-|k| / scale)` on the integers: zero by a coin, else a sign and one more than a geometric number.
pub fn discrete_laplace<B: BitSource>(scale: &Param, bits: &mut B) -> Result<i128, MechanismError> {
    check_noise(scale.exact())?;
    let mut zero = Below { uniform: Uniform::new(), x: Param::new(RBig::ONE / scale.exact()), chance: Chance::HalfTanh };
    if decide_by_bits(&mut zero, bits)? {
        return Ok(0);
    }
    let negative = bits.bit()?;
    let k = geometric(scale, bits)?.saturating_add(1);
    Ok(if negative { -k } else { k })
}

/// `floor(Laplace(scale))` (rule book §9): two modes, 0 and -1.
pub fn floor_laplace<B: BitSource>(scale: &Param, bits: &mut B) -> Result<i128, MechanismError> {
    let negative = bits.bit()?;
    let k = geometric(scale, bits)?;
    Ok(if negative { -1 - k } else { k })
}

/// Index i with probability proportional to exp(weights\[i\]).
struct Choice {
    uniform: Uniform,
    /// Exponents minus the largest, so that every weight is at most 1.
    exponents: Vec<Param>,
}

impl Real for Choice {
    type Answer = usize;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<usize> {
        let precision = p.max(64);
        let mut sum = E::integer(0, precision);
        let mut sums = Vec::with_capacity(self.exponents.len());
        for x in &self.exponents {
            sum = sum.add(&E::param(x, precision).exp());
            sums.push(sum.clone());
        }
        let target = E::uniform(&self.uniform, precision).mul(&sum);
        let last = sums.len() - 1;
        for (i, s) in sums.iter().enumerate() {
            // Nothing lies beyond the last sum.
            if i == last {
                return Some(i);
            }
            match s.sub(&target).sign() {
                Some(true) => return Some(i),
                Some(false) => {}
                None => return None,
            }
        }
        None
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.uniform.refine(p, bits)
    }
}

/// The finite exponential mechanism: index i with probability proportional to exp(exponents\[i\]).
pub fn exponential_choice<B: BitSource>(exponents: &[RBig], bits: &mut B) -> Result<usize, MechanismError> {
    let largest = exponents.iter().max_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    let largest = largest.ok_or(MechanismError::Parameter)?;
    let mut choice = Choice { uniform: Uniform::new(), exponents: exponents.iter().map(|x| Param::new(x - largest)).collect() };
    decide_by_bits(&mut choice, bits)
}
