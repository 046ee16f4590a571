//! Gamma numbers, and Beta and Dirichlet vectors made of them, rounded to a grid exactly.
//!
//! G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000), without its
//! squeeze; every comparison is decided with certified bounds.

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::normal::{CLEAR, Normal, TRIES};
use super::uniform::Uniform;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::real::{Ball, Enclosure, Param, Real, decide};

/// Gamma(shape, 1).
#[derive(Clone)]
pub struct GammaLaw {
    /// `shape - 1/3`, of shape + 1 where the shape is below 1.
    d: Param,
    /// About `1 / sqrt(9 d)`.
    slope: f64,
    /// `1 / shape` where the shape is below 1: Gamma(a) is Gamma(a + 1) times U^(1/a).
    boost: Option<Param>,
}

impl GammaLaw {
    /// Refuses a shape that is not positive.
    pub fn new(shape: RBig) -> Result<GammaLaw, MechanismError> {
        if shape <= RBig::ZERO {
            return Err(MechanismError::Parameter);
        }
        let third = RBig::from_parts(1.into(), UBig::from(3u8));
        let (d, boost) =
            if shape < RBig::ONE { (&shape + RBig::ONE - third, Some(Param::new(RBig::ONE / shape))) } else { (shape - third, None) };
        let d = Param::new(d);
        Ok(GammaLaw { slope: 1.0 / (3.0 * libm::sqrt(d.fast().hi)), d, boost })
    }

    pub fn draw<B: BitSource>(&self, bits: &mut B) -> Result<Gamma, MechanismError> {
        for _ in 0..TRIES {
            let mut accept = Accept { law: self, x: Normal::draw(bits)?, u: Uniform::new() };
            if decide(&mut accept, bits)? {
                return Ok(Gamma { x: accept.x, u: self.boost.as_ref().map(|_| Uniform::new()) });
            }
        }
        Err(MechanismError::Undecided)
    }

    /// `1 + x / sqrt(9 d)`.
    fn root<E: Enclosure>(&self, x: &Normal, p: usize) -> E {
        let scale = E::integer(3, p).mul(&E::root(&self.d, p));
        E::integer(1, p).add(&x.enclose::<E>(p).div(&scale))
    }
}

/// One number drawn from a gamma law: a cube, times a power of a uniform for small shapes.
#[derive(Clone)]
pub struct Gamma {
    x: Normal,
    u: Option<Uniform>,
}

impl Gamma {
    /// `d (1 + x / sqrt(9 d))^3`.
    fn base<E: Enclosure>(&self, law: &GammaLaw, p: usize) -> E {
        let t: E = law.root(&self.x, p);
        E::param(&law.d, p).mul(&t.mul(&t).mul(&t))
    }

    /// `ln(u) / shape`.
    fn log_boost<E: Enclosure>(&self, law: &GammaLaw, p: usize) -> Option<E> {
        let (u, inverse) = (self.u.as_ref()?, law.boost.as_ref()?);
        Some(E::uniform(u, p).ln().mul(&E::param(inverse, p)))
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.x.refine(p, bits)?;
        self.u.as_mut().map_or(Ok(()), |u| u.refine(p, bits))
    }
}

struct Accept<'a> {
    law: &'a GammaLaw,
    x: Normal,
    u: Uniform,
}

impl Real for Accept<'_> {
    type Answer = bool;

    /// `t > 0` and `ln u < x^2/2 + d (1 - t^3 + 3 ln t)`, with `t = 1 + x / sqrt(9 d)`.
    fn decide<E: Enclosure>(&self, p: usize) -> Option<bool> {
        let t: E = self.law.root(&self.x, p);
        if !t.sign()? {
            return Some(false);
        }
        let x: E = self.x.enclose(p);
        let cube = t.mul(&t).mul(&t);
        let inner = E::integer(1, p).sub(&cube).add(&E::integer(3, p).mul(&t.ln()));
        let half_square = x.mul(&x).div(&E::integer(2, p));
        let bound = half_square.add(&E::param(&self.law.d, p).mul(&inner));
        bound.sub(&E::uniform(&self.u, p).ln()).sign()
    }

    /// Nearly always without logarithms. With `s = t - 1`, `x^2 = 9 d s^2` and the bound is `3 d (ln(1 + s) - s + s^2/2 - s^3/3)`. What
    /// the series leaves is at least `-s^4/4` for `s >= 0`, below that `-s^4/4 / (1 + s)`, so the bound is at least minus
    /// `q = x^4 / (108 d min(1, t))`; and `ln u <= u - 1`, so `q < 1 - u` accepts. Where x, t and u are as moderate as here, rounding
    /// here and in the intervals of `Fast` is together below 2^-22, and d times 2^-38 for what cancels in the bound: a `room` that is
    /// left here is left there.
    fn quick(&self) -> Option<bool> {
        let (x, u, d) = (self.x.near(), self.u.near(), self.law.d.fast().hi);
        let t = 1.0 + x * self.law.slope;
        let room = 1.0 - CLEAR - u - d * (CLEAR / 65_536.0);
        let moderate = x.abs() < 8.0 && t > 0.25 && u > CLEAR;
        if moderate && x * x * (x * x) < 108.0 * d * t.min(1.0) * room { Some(true) } else { self.decide::<Ball>(53) }
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.x.refine(p, bits)?;
        self.u.refine(p, bits)
    }
}

struct Rounded<'a> {
    law: &'a GammaLaw,
    gamma: Gamma,
    rate: &'a Param,
    exponent: i32,
}

impl Real for Rounded<'_> {
    type Answer = i128;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<i128> {
        let base: E = self.gamma.base(self.law, p);
        let x = match self.gamma.log_boost::<E>(self.law, p) {
            Some(l) => base.mul(&l.exp()),
            None => base,
        };
        x.div(&E::param(self.rate, p)).nearest(self.exponent)
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.gamma.refine(p, bits)
    }
}

/// Gamma(shape, rate) rounded to multiples of `2^exponent`; `rate > 0`.
pub fn gamma<B: BitSource>(law: &GammaLaw, rate: &Param, exponent: i32, bits: &mut B) -> Result<i128, MechanismError> {
    let mut rounded = Rounded { law, gamma: law.draw(bits)?, rate, exponent };
    decide(&mut rounded, bits)
}

struct Shares<'a> {
    laws: &'a [GammaLaw],
    gammas: Vec<Gamma>,
    /// How many components are asked for.
    asked: usize,
    exponent: i32,
}

/// The gammas times one common positive factor that keeps the largest near 1, given their `log_boost`.
fn weights<'a, E: Enclosure>(laws: &'a [GammaLaw], gammas: &'a [Gamma], boosts: &'a [Option<E>], p: usize) -> impl Iterator<Item = E> {
    let shift = common_shift(boosts, p);
    laws.iter().zip(gammas).zip(boosts).map(move |((law, gamma), boost)| {
        let base: E = gamma.base(law, p);
        match boost {
            Some(b) => base.mul(&b.sub(&shift).exp()),
            None => base,
        }
    })
}

/// The largest logarithm if every component has one, else 0.
fn common_shift<E: Enclosure>(boosts: &[Option<E>], p: usize) -> E {
    let mut best: Option<(f64, &E)> = None;
    for boost in boosts {
        let Some(b) = boost else {
            return E::integer(0, p);
        };
        let at = b.bounds().0;
        if best.as_ref().is_none_or(|(top, _)| at > *top) {
            best = Some((at, b));
        }
    }
    best.map_or(E::integer(0, p), |(_, b)| b.lower_point())
}

impl Real for Shares<'_> {
    type Answer = Vec<i128>;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<Vec<i128>> {
        let boosts: Vec<Option<E>> = self.laws.iter().zip(&self.gammas).map(|(l, g)| g.log_boost(l, p)).collect();
        let weights: Vec<E> = weights(self.laws, &self.gammas, &boosts, p).collect();
        let total = weights.iter().fold(E::integer(0, p), |sum, w| sum.add(w));
        weights.iter().take(self.asked).map(|w| w.div(&total).nearest(self.exponent)).collect()
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.gammas.iter_mut().try_for_each(|g| g.refine(p, bits))
    }
}

/// Dirichlet with these shapes, each component rounded to multiples of `2^exponent`; the first `asked` components.
pub fn dirichlet<B: BitSource>(laws: &[GammaLaw], asked: usize, exponent: i32, bits: &mut B) -> Result<Vec<i128>, MechanismError> {
    let mut shares = Shares { laws, gammas: laws.iter().map(|law| law.draw(bits)).collect::<Result<_, _>>()?, asked, exponent };
    decide(&mut shares, bits)
}

/// The first of two shares, with nothing allocated.
struct Share<'a> {
    laws: &'a [GammaLaw; 2],
    gammas: [Gamma; 2],
    exponent: i32,
}

impl Real for Share<'_> {
    type Answer = i128;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<i128> {
        let ([a, b], [x, y]) = (self.laws, &self.gammas);
        let boosts: [Option<E>; 2] = [x.log_boost(a, p), y.log_boost(b, p)];
        let mut weights = weights(self.laws, &self.gammas, &boosts, p);
        let (first, second) = (weights.next()?, weights.next()?);
        let total = E::integer(0, p).add(&first).add(&second);
        first.div(&total).nearest(self.exponent)
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.gammas.iter_mut().try_for_each(|g| g.refine(p, bits))
    }
}

/// Beta(a, b) rounded to multiples of `2^exponent`.
pub fn beta<B: BitSource>(laws: &[GammaLaw; 2], exponent: i32, bits: &mut B) -> Result<i128, MechanismError> {
    let [a, b] = laws;
    decide(&mut Share { laws, gammas: [a.draw(bits)?, b.draw(bits)?], exponent }, bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::bits::OsBits;
    use crate::mechanism::real::{Fast, Wide, rational};

    #[test]
    fn doubles_and_wide_numbers_decide_alike() {
        let mut bits = OsBits::new().unwrap();
        let laws: Vec<GammaLaw> = [0.3, 4.0, 1e5].iter().map(|a| GammaLaw::new(rational(*a).unwrap()).unwrap()).collect();
        let wide = GammaLaw::new(rational(1e12).unwrap()).unwrap();
        let mut undecided = 0;
        for i in 0..1_000 {
            // Also uniforms that are nearly 0 or 1.
            let word = bits.word().unwrap();
            let u = Uniform::of([word, word, word >> 30, !(word >> 45)][i % 4]);
            let law = laws.iter().chain([&wide]).nth(i % 5).unwrap_or(&laws[1]);
            let mut accept = Accept { law, x: Normal::draw(&mut bits).unwrap(), u };
            let (quick, fast) = (accept.quick(), accept.decide::<Fast>(53));
            assert!(quick.is_none() || quick == fast);
            accept.refine(128, &mut bits).unwrap();
            assert!(fast.is_none() || accept.decide::<Wide>(128).is_none_or(|wide| fast == Some(wide)));
            let mut shares =
                Shares { laws: &laws, gammas: laws.iter().map(|l| l.draw(&mut bits).unwrap()).collect(), asked: 3, exponent: -40 };
            shares.refine(128, &mut bits).unwrap();
            let fast = shares.decide::<Fast>(53);
            undecided += usize::from(fast.is_none());
            let wide = shares.decide::<Wide>(128);
            assert!(wide.is_some() && (fast.is_none() || fast == wide));
            assert!(shares.quick().is_none() || shares.quick() == fast);
        }
        // Doubles decide nearly always: the grid is a thousand times coarser than they are.
        assert!(undecided < 100, "{undecided}");
    }
}
