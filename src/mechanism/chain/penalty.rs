//! The penalty algorithm (rule book §12): every step compares two states by a noisy sum over the rows, and pays for it.
//!
//! What the rows say enters through one number a step: the sum of the differences of their losses, each cut to
//! `[-range, range]` and rounded towards 0 to a public grid, summed in integers, plus normal noise of a public sd that is rounded
//! to integers, sampled exactly. Everything else (start, proposals, length, prior) is public, so every state may be released.

use super::clip::{on_losses, places};
use super::unit;
use crate::kernel::density::Density;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::langevin::Normals;

/// A chain as data; every field is public.
#[derive(Clone, PartialEq, Debug)]
pub struct Penalty {
    pub start: Vec<f64>,
    /// The sd of the proposal along each coordinate.
    pub steps: Vec<f64>,
    pub iterations: u64,
    /// Of the noise on the weighted sum.
    pub sigma: f64,
    /// Bound on a row's difference, enforced.
    pub range: f64,
    /// Of a row.
    pub weight: f64,
}

/// The last state.
pub fn penalty<B: BitSource>(density: &mut Density, chain: &Penalty, bits: &mut B) -> Result<Vec<f64>, MechanismError> {
    let Penalty { start, steps, iterations, sigma, range, weight } = chain;
    let proper = |x: &f64| x.is_finite() && *x > 0.0;
    if !([sigma, range, weight].into_iter().all(proper) && steps.iter().all(proper) && start.len() == steps.len()) {
        return Err(MechanismError::Parameter);
    }
    let noise = on_losses(*sigma, *weight, *range)?;
    let mut state = start.clone();
    let (mut here, mut there) = (vec![], vec![]);
    let mut prior = density.losses(&state, &mut here);
    for _ in 0..*iterations {
        let mut proposal = state.clone();
        let mut normals = Normals::new(bits);
        for (x, step) in proposal.iter_mut().zip(steps) {
            *x += step * normals.draw()?;
        }
        let proposed = density.losses(&proposal, &mut there);
        let answer = noise.on(difference(&here, &there, *range), bits)?;
        let s = weight * libm::ldexp(answer as f64, -places(*range));
        // The chance of acceptance pays for the noise, which the exponential would favour.
        let log = s + proposed - prior - 0.5 * sigma * sigma;
        if libm::log(unit(bits)?) < log {
            std::mem::swap(&mut here, &mut there);
            (state, prior) = (proposal, proposed);
        }
    }
    Ok(state)
}

/// The sum of `here - there` over the rows, each difference inside the range and rounded to the grid towards 0.
pub(super) fn difference(here: &[f64], there: &[f64], range: f64) -> i128 {
    let places = places(range);
    here.iter()
        .zip(there)
        .map(|(a, b)| {
            let d = a - b;
            let d = if d.is_nan() { 0.0 } else { d.clamp(-range, range) };
            libm::ldexp(d, places) as i64
        })
        .fold(0, |sum: i128, d| sum.saturating_add(d.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_stay_in_their_range() {
        let wild = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, -1e300, 0.25];
        for a in wild {
            for b in wild {
                let d = libm::ldexp(difference(&[a], &[b], 0.7) as f64, -places(0.7));
                assert!(d.abs() <= 0.7, "{a} {b} {d}");
            }
        }
        assert_eq!(libm::ldexp(difference(&[0.5, 1.0], &[0.25, 2.0], 3.0) as f64, -places(3.0)), -0.75);
    }
}
