//! The standard normal distribution, exactly, by Karney's algorithm: a whole part by coin tosses, digits on demand.
//!
//! C. F. F. Karney, "Sampling exactly from the normal distribution", ACM TOMS 42 (2016), algorithm N.

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::finite::bernoulli_exp;
use super::uniform::Uniform;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::real::{Ball, Enclosure, Real, decide};

/// `±(whole + part)`, a standard normal number.
#[derive(Clone)]
pub struct Normal {
    negative: bool,
    whole: i64,
    part: Uniform,
}

/// `floor(2^64 exp(-1/2))`.
const EXP_HALF: u64 = 0x9b45_97e3_7cb0_4ff3;
/// Rejections before giving up.
///
/// The least chance of acceptance of one try in this crate is Karney's here, `sqrt(pi / 2) (1 - exp(-1/2)) = 0.493`;
/// Marsaglia and Tsang's is above 0.95 for every shape from 1, that of the wide discrete Gaussian above 0.7. So the cap
/// is reached with probability below `0.507^65536 < 2^-64000`, far below 2^-1000 and below every digit of a delta. Then
/// nothing is released, with one fixed code, and the law of a release moves by less than that probability.
pub const TRIES: u32 = 1 << 16;
/// Where the whole part of a normal number ends; beyond lies less than `exp(-2^19)` of its mass, and no loop.
const LARGEST_WHOLE: i64 = 1 << 10;

impl Normal {
    pub fn draw<B: BitSource>(bits: &mut B) -> Result<Normal, MechanismError> {
        for _ in 0..TRIES {
            // Step 1: P(k) ~ exp(-k/2).
            let mut k = 0i64;
            while k < LARGEST_WHOLE && exp_half(bits)? {
                k += 1;
            }
            // Step 2: accept with exp(-k (k - 1) / 2).
            let mut accepted = true;
            for _ in 0..k.saturating_mul(k - 1) {
                if !exp_half(bits)? {
                    accepted = false;
                    break;
                }
            }
            if !accepted {
                continue;
            }
            // Steps 3 and 4: x uniform, accept with exp(-x (2 k + x) / 2).
            let mut accept = Accept { whole: k, part: Uniform::new(), coin: Uniform::new() };
            if decide(&mut accept, bits)? {
                return Ok(Normal { negative: bits.bit()?, whole: k, part: accept.part });
            }
        }
        Err(MechanismError::Undecided)
    }

    pub fn enclose<E: Enclosure>(&self, p: usize) -> E {
        let x = E::integer(self.whole, p).add(&E::uniform(&self.part, p));
        if self.negative { x.neg() } else { x }
    }

    pub fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.part.refine(p, bits)
    }

    /// The number within 2^-51 of its size, after `refine(64)`.
    pub fn near(&self) -> f64 {
        let x = self.whole as f64 + self.part.near();
        if self.negative { -x } else { x }
    }
}

/// 2^-20: bounds in doubles that are clear by this decide where intervals of doubles decide too.
pub(super) const CLEAR: f64 = 1.0 / 1_048_576.0;

struct Accept {
    whole: i64,
    part: Uniform,
    coin: Uniform,
}

impl Real for Accept {
    type Answer = bool;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<bool> {
        let x = E::uniform(&self.part, p);
        let twice = x.mul(&E::integer(2 * self.whole, p).add(&x));
        let chance = twice.div(&E::integer(2, p)).neg().exp();
        chance.sub(&E::uniform(&self.coin, p)).sign()
    }

    /// Without an exponential: `exp(-y)` lies between `1 - y + y^2/2 - y^3/6` and that plus `y^4/24`. In doubles both bounds are off by
    /// less than 2^-30 where they lie between 0 and 1, and the intervals of `Fast` are narrower than 2^-30 too.
    fn quick(&self) -> Option<bool> {
        let ((x, u), k) = ((self.part.near(), self.coin.near()), self.whole as f64);
        let y = x * (k + 0.5 * x);
        let low = 1.0 - y * (1.0 - y * (0.5 - y * (1.0 / 6.0)));
        match () {
            () if u < low - CLEAR => Some(true),
            () if u > low + y * y * (y * y) * (1.0 / 24.0) + CLEAR => Some(false),
            () => self.decide::<Ball>(53),
        }
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.part.refine(p, bits)?;
        self.coin.refine(p, bits)
    }
}

/// True with probability exp(-1/2): the first word of a uniform decides unless it ties.
#[inline(always)]
fn exp_half<B: BitSource>(bits: &mut B) -> Result<bool, MechanismError> {
    let word = bits.word()?;
    if word == EXP_HALF { tied(bits) } else { Ok(word < EXP_HALF) }
}

#[cold]
fn tied<B: BitSource>(bits: &mut B) -> Result<bool, MechanismError> {
    bernoulli_exp(RBig::from_parts(1.into(), UBig::from(2u8)), Uniform::of(EXP_HALF), bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::bits::Repeated;
    use crate::mechanism::real::Fast;

    /// Also where no draw gets often: far from the centre, at the ends of the uniforms.
    #[test]
    fn what_is_quick_is_what_intervals_decide() {
        let mut bits = Repeated::new([3; 32], 0);
        let mut quick = 0;
        for i in 0..20_000 {
            let whole = [0, 0, 1, 1, 2, 3, 7, LARGEST_WHOLE][i % 8];
            let edge = |word: u64, kind: usize| [word, word >> 40, !(word >> 40), word >> 20][kind % 4];
            let [part, coin] = [i / 8, i / 32].map(|kind| Uniform::of(edge(bits.word().unwrap(), kind)));
            let accept = Accept { whole, part, coin };
            quick += usize::from(accept.quick().is_some());
            assert!(accept.quick().is_none() || accept.quick() == accept.decide::<Fast>(53), "{i}");
        }
        assert!(quick > 18_000, "{quick}");
    }
}
