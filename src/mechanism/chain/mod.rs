//! Chains on log-densities over unconstrained coordinates: their last state is what is released.
//!
//! Starts, lengths and, for the penalty algorithm, proposals are public; Hamiltonian ones know noisy gradients. A chain that diverges or leaves the numbers ends as
//! every other does, after a bounded number of evaluations, at the last state it had; nothing about its course is told.

mod clip;
mod hmc;
#[cfg(feature = "nuts")]
pub mod nuts;
mod penalty;
#[cfg(feature = "nuts")]
mod precondition;
mod sgld;
mod slice;

pub use clip::check_noise;
pub use hmc::{Hmc, hmc};
pub use penalty::{Penalty, penalty};
pub use sgld::{Sgld, sgld};
pub use slice::slice;

use super::MechanismError;
use super::bits::BitSource;
use crate::kernel::density::Density;

/// Warm-up and draws of NUTS, where the program does not say how many in all.
pub const NUTS_STEPS: u64 = 1000;
/// Sweeps over all coordinates of slice sampling, where the program does not say how many.
pub const SLICE_STEPS: u64 = 400;
/// A longer chain is not a plan.
pub const MOST_STEPS: u64 = 1_000_000_000;

/// The last state of NUTS after so many steps, of which three in four adapt. It starts within a spread of the centres, which
/// are (centre, spread): at a centre itself the gradient may be 0, and says nothing about scales.
#[cfg(feature = "nuts")]
pub fn nuts<B: BitSource>(
    density: &mut Density,
    centres: &[(f64, f64)],
    steps: Option<u64>,
    bits: &mut B,
) -> Result<Vec<f64>, MechanismError> {
    let steps = steps.unwrap_or(NUTS_STEPS);
    let warm = steps - steps / 4;
    let start = near(centres, bits)?;
    let mut last = start.clone();
    nuts::run(density, &start, (nuts::Tuning::Regression, warm, steps - warm), bits, |step| last.copy_from_slice(step.state))?;
    Ok(last)
}

/// The states of NUTS after the steps that adapt, and how many of them left the level of their energy.
#[cfg(feature = "nuts")]
pub fn walk<B: BitSource>(
    density: &mut Density,
    centres: &[(f64, f64)],
    (warm, draws): (u64, u64),
    bits: &mut B,
) -> Result<(Vec<Vec<f64>>, u64), MechanismError> {
    let start = near(centres, bits)?;
    let (mut states, mut divergences) = (vec![], 0);
    nuts::run(density, &start, (nuts::Tuning::Hierarchy, warm, draws), bits, |step| {
        if step.index >= warm {
            states.push(step.state.to_vec());
            divergences += u64::from(step.diverging);
        }
    })?;
    Ok((states, divergences))
}

/// A place within a spread of the centres.
#[cfg(feature = "nuts")]
fn near<B: BitSource>(centres: &[(f64, f64)], bits: &mut B) -> Result<Vec<f64>, MechanismError> {
    centres.iter().map(|(centre, spread)| Ok(centre + spread * (2.0 * unit(bits)? - 1.0))).collect()
}

/// Not in this build.
#[cfg(not(feature = "nuts"))]
pub fn walk<B: BitSource>(_: &mut Density, _: &[(f64, f64)], _: (u64, u64), _: &mut B) -> Result<(Vec<Vec<f64>>, u64), MechanismError> {
    Err(MechanismError::NoNuts)
}

/// Not in this build.
#[cfg(not(feature = "nuts"))]
pub fn nuts<B: BitSource>(_: &mut Density, _: &[(f64, f64)], _: Option<u64>, _: &mut B) -> Result<Vec<f64>, MechanismError> {
    Err(MechanismError::NoNuts)
}

/// Uniform on (0, 1), never an end.
fn unit<B: BitSource>(bits: &mut B) -> Result<f64, MechanismError> {
    Ok(((bits.word()? >> 12) as f64 + 0.5) / (1u64 << 52) as f64)
}
