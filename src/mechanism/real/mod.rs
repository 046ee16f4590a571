//! Real numbers known by certified bounds that can be refined until a decision is forced.
//!
//! A draw is written once, for any `Enclosure`. Doubles decide nearly always, mostly one with a radius; where they cannot, the same
//! formula runs on integers with 128, 256, .. bits, after more random digits were taken. So every comparison and every rounding is
//! the one the ideal real draw would make.

mod ball;
pub mod dyadic;
pub mod fast;
pub mod wide;

#[cfg(test)]
mod tests;

use dashu_ratio::RBig;

use super::MechanismError;
use super::bits::BitSource;
use super::draw::uniform::Uniform;
pub use ball::Ball;
use dyadic::{Dyadic, Toward};
pub use fast::Fast;
pub use wide::Wide;

/// Certified bounds on a real number.
pub trait Enclosure: Clone {
    fn param(x: &Param, p: usize) -> Self;
    /// The square root of a parameter.
    fn root(x: &Param, p: usize) -> Self {
        Self::param(x, p).sqrt()
    }
    fn integer(x: i64, p: usize) -> Self;
    fn uniform(u: &Uniform, p: usize) -> Self;
    fn add(&self, other: &Self) -> Self;
    fn neg(&self) -> Self;
    fn mul(&self, other: &Self) -> Self;
    fn div(&self, other: &Self) -> Self;
    fn sqrt(&self) -> Self;
    fn ln(&self) -> Self;
    fn exp(&self) -> Self;
    /// `Some(true)` if certainly positive, `Some(false)` if certainly negative.
    fn sign(&self) -> Option<bool>;
    /// `floor(x / 2^exponent + 1/2)` where both ends agree, saturating at `grid::NOISE`.
    fn nearest(&self, exponent: i32) -> Option<i128>;
    /// Outer bounds as doubles.
    fn bounds(&self) -> (f64, f64);
    /// The lower end as an exact number.
    fn lower_point(&self) -> Self;

    fn sub(&self, other: &Self) -> Self {
        self.add(&other.neg())
    }
}

/// An exact rational with its double bounds at hand.
#[derive(Clone)]
pub struct Param {
    exact: RBig,
    fast: Fast,
    ball: Ball,
    root: Ball,
}

impl Param {
    pub fn new(exact: RBig) -> Param {
        let lo = Dyadic::rational(&exact, 64, Toward::Down).to_f64(Toward::Down);
        let hi = Dyadic::rational(&exact, 64, Toward::Up).to_f64(Toward::Up);
        let fast = Fast::new(lo, hi);
        let ball = Ball::around(fast);
        Param { exact, fast, ball, root: ball.sqrt() }
    }

    pub fn exact(&self) -> &RBig {
        &self.exact
    }

    pub fn fast(&self) -> Fast {
        self.fast
    }
}

/// A finite double as an exact rational.
pub fn rational(x: f64) -> Result<RBig, MechanismError> {
    RBig::try_from(x).map_err(|_| MechanismError::Parameter)
}

/// A random real (or several): a formula over lazily drawn uniforms.
pub trait Real {
    type Answer;
    /// Tries to decide with these bounds.
    fn decide<E: Enclosure>(&self, p: usize) -> Option<Self::Answer>;
    /// Decides only what `decide::<Fast>` would decide, and alike: so nobody can tell from the random digits that it was asked.
    fn quick(&self) -> Option<Self::Answer> {
        self.decide::<Ball>(53)
    }
    /// Draws random digits until every uniform has at least `p` of them.
    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError>;
}

/// Refines until decided: first doubles, then 128, 256, .. bits.
///
/// Fails only when the random bits run out, or (with probability below 2^-60000) undecided at 65,536 bits.
#[inline(always)]
pub fn decide<R: Real, B: BitSource>(real: &mut R, bits: &mut B) -> Result<R::Answer, MechanismError> {
    real.refine(64, bits)?;
    if let Some(answer) = real.quick() { Ok(answer) } else { decide_slowly(real, bits) }
}

#[cold]
fn decide_slowly<R: Real, B: BitSource>(real: &mut R, bits: &mut B) -> Result<R::Answer, MechanismError> {
    if let Some(answer) = real.decide::<Fast>(53) {
        return Ok(answer);
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
