//! Standard normal doubles by Marsaglia's polar method, for chains whose arithmetic is assumed ideal.

use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;

/// A stream of independent standard normal numbers. Exact draws are in `mechanism::draw`; these are for inner steps.
pub struct Normals<'a, B> {
    bits: &'a mut B,
    spare: Option<f64>,
}

impl<B: BitSource> Normals<'_, B> {
    pub fn new(bits: &mut B) -> Normals<'_, B> {
        Normals { bits, spare: None }
    }

    /// The next number; fails when the random bits run out.
    pub fn draw(&mut self) -> Result<f64, MechanismError> {
        if let Some(x) = self.spare.take() {
            return Ok(x);
        }
        loop {
            let (u, v) = (self.centred()?, self.centred()?);
            let s = u * u + v * v;
            if s < 1.0 && s > 0.0 {
                let factor = (-2.0 * libm::log(s) / s).sqrt();
                self.spare = Some(v * factor);
                return Ok(u * factor);
            }
        }
    }

    /// Uniform on (-1, 1), on a grid of 2^-52 that leaves out 0.
    fn centred(&mut self) -> Result<f64, MechanismError> {
        let index = (self.bits.word()? >> 11) as f64;
        Ok((index + 0.5) / (1u64 << 52) as f64 - 1.0)
    }
}
