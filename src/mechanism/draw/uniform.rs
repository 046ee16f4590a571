//! A uniform number on (0, 1) whose binary digits are drawn only when a decision needs them.

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};

use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;

/// `0.b1 b2 b3 ..` with `known` digits so far.
#[derive(Clone, Default)]
pub struct Uniform {
    /// The first digits (at most 64), as an integer.
    first: u64,
    known: u32,
    /// Whole words of further digits.
    rest: Vec<u64>,
}

impl Uniform {
    /// No digit drawn yet.
    pub fn new() -> Uniform {
        Uniform::default()
    }

    /// Draws digits until at least `p` are known: bit by bit up to 64, then by words.
    #[inline]
    pub fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        if self.known == 0 && p >= 64 {
            self.first = bits.word()?;
            self.known = 64;
        }
        if self.known == 64 && p <= 64 { Ok(()) } else { self.more(p, bits) }
    }

    #[cold]
    fn more<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        while (self.known as usize) < p.min(64) {
            self.first = self.first << 1 | u64::from(bits.bit()?);
            self.known += 1;
        }
        while 64 * (self.rest.len() + 1) < p {
            self.rest.push(bits.word()?);
        }
        Ok(())
    }

    /// With these first 64 digits.
    pub fn of(first: u64) -> Uniform {
        Uniform { first, known: 64, rest: vec![] }
    }

    /// The number to 2^-52, after `refine(64)`.
    pub fn near(&self) -> f64 {
        (self.first >> 11) as i64 as f64 / (1i64 << 53) as f64
    }

    /// The first digits as an integer, and how many they are.
    pub fn first_digits(&self) -> (u64, i32) {
        (self.first, i32::try_from(self.known).unwrap_or(0))
    }

    /// Outer bounds from the first digits.
    pub fn bounds(&self) -> (f64, f64) {
        let known = i32::try_from(self.known).unwrap_or(0);
        let lo = self.first as f64;
        let next = self.first.saturating_add(1) as f64;
        // Integers below 2^53 are exact doubles; the rounding of larger ones is undone by one step.
        let (lo, hi) = if self.first < 1 << 53 { (lo, next) } else { (lo.next_down(), next.next_up()) };
        (libm::ldexp(lo, -known), libm::ldexp(hi, -known).min(1.0))
    }

    /// All digits as `(integer m, number of digits e)`: the number lies in `[m, m + 1] 2^-e`.
    pub fn digits(&self) -> (IBig, i64) {
        let mut m = UBig::from(self.first);
        debug_assert!(m.bit_len() <= 64);
        for word in &self.rest {
            m = (m << 64) | UBig::from(*word);
        }
        let e = i64::from(self.known) + 64 * i64::try_from(self.rest.len()).unwrap_or(0);
        (IBig::from(m), e)
    }
}
