//! The continuous Laplace distribution rounded to a grid.

use super::uniform::Uniform;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::real::{Enclosure, Param, Real, decide};

struct Laplace<'a> {
    negative: bool,
    uniform: Uniform,
    scale: &'a Param,
    exponent: i32,
}

impl Real for Laplace<'_> {
    type Answer = i128;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<i128> {
        let x = E::uniform(&self.uniform, p).ln().mul(&E::param(self.scale, p));
        let x = if self.negative { x } else { x.neg() };
        x.nearest(self.exponent)
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.uniform.refine(p, bits)
    }
}

/// Laplace(0, scale) rounded to multiples of `2^exponent`.
pub fn laplace<B: BitSource>(scale: &Param, exponent: i32, bits: &mut B) -> Result<i128, MechanismError> {
    let mut draw = Laplace { negative: bits.bit()?, uniform: Uniform::new(), scale, exponent };
    decide(&mut draw, bits)
}
