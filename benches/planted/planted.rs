//! Which planted bug is on: the one that DPM_PLANTED names. Only the copy of the tree that `run.sh` makes has this module.

use crate::mechanism::{BitSource, MechanismError};
use std::sync::OnceLock;

/// Is this bug on?
pub fn is(name: &str) -> bool {
    static ON: OnceLock<String> = OnceLock::new();
    ON.get_or_init(|| std::env::var("DPM_PLANTED").unwrap_or_default()) == name
}

/// Laplace noise as it must not be drawn: by the logarithm of a uniform double.
pub fn laplace<B: BitSource>(scale: f64, bits: &mut B) -> Result<f64, MechanismError> {
    let word = bits.word()?;
    let uniform = ((word >> 11) + 1) as f64 / (1_u64 << 53) as f64;
    let x = -scale * uniform.ln();
    Ok(if word & 1 == 1 { -x } else { x })
}
