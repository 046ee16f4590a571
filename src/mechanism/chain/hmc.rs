//! Hamiltonian proposals whose gradients and comparisons are noisy sums over clipped rows (rule book §12).
//!
//! What the rows say enters through integers alone: for every gradient the sum of the rows' own, each cut in L2 norm and
//! rounded towards 0, and once a proposal the sum of the differences of their losses. Normal noise rounded to integers, drawn
//! exactly, pays for them; whatever doubles do before the cut and after the noise changes how well the chain draws, not what it
//! costs. Every other number is public, so every state may be released.

use super::clip::{LONGEST, Rounded, cut, on_gradients, on_losses, places};
use super::penalty::difference;
use super::unit;
use crate::kernel::density::{Density, RowGradients};
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::langevin::Normals;

/// A chain as data; every field is public.
#[derive(Clone, PartialEq, Debug)]
pub struct Hmc {
    pub start: Vec<f64>,
    /// The unit of each coordinate: momenta and gradients are taken in these.
    pub spreads: Vec<f64>,
    pub iterations: u64,
    /// Leapfrog steps of a proposal, and the length of one.
    pub steps: u64,
    pub step: f64,
    /// Of the noise on the weighted sum of differences.
    pub sigma: f64,
    /// Bound on a row's difference, enforced.
    pub range: f64,
    /// Bound on the L2 norm of a row's gradient, enforced, and the noise on the sum of gradients; neither is weighted.
    pub clip: f64,
    pub gradient_sigma: f64,
    /// Of a row.
    pub weight: f64,
}

/// The last state.
pub fn hmc<B: BitSource>(
    density: &mut Density,
    gradients: &mut RowGradients,
    chain: &Hmc,
    bits: &mut B,
) -> Result<Vec<f64>, MechanismError> {
    let Hmc { start, spreads, step, sigma, range, clip, gradient_sigma, weight, .. } = chain;
    let proper = |x: &f64| x.is_finite() && *x > 0.0;
    let numbers = [step, sigma, range, clip, gradient_sigma, weight];
    if !(numbers.into_iter().all(proper) && spreads.iter().all(proper) && start.len() == spreads.len()) {
        return Err(MechanismError::Parameter);
    }
    let places = places(*range);
    let noise = on_losses(*sigma, *weight, *range)?;
    let mut forces = Forces { chain, noise: on_gradients(*gradient_sigma, *clip)?, prior: vec![0.0; start.len()] };
    let (mut state, mut here, mut there) = (start.clone(), vec![], vec![]);
    let mut prior = density.losses(&state, &mut here);
    for _ in 0..chain.iterations {
        let (mut x, mut momentum) = (state.clone(), vec![0.0; start.len()]);
        let mut normals = Normals::new(bits);
        for p in &mut momentum {
            *p = normals.draw()?;
        }
        let before = energy(&momentum);
        forces.kick(0.5, density, gradients, (&x, &mut momentum), bits)?;
        for i in 1..=chain.steps {
            x.iter_mut().zip(&momentum).zip(spreads).for_each(|((x, p), s)| *x += step * s * p);
            // One gradient for the second half of this step and the first half of the next.
            let length = if i < chain.steps { 1.0 } else { 0.5 };
            forces.kick(length, density, gradients, (&x, &mut momentum), bits)?;
        }
        let proposed = density.losses(&x, &mut there);
        let answer = noise.on(difference(&here, &there, *range), bits)?;
        let change = weight * libm::ldexp(answer as f64, -places) + proposed - prior + before - energy(&momentum);
        // The chance of acceptance pays for the noise, which the exponential would favour.
        let accepted = libm::log(unit(bits)?) < change - 0.5 * sigma * sigma;
        if accepted && x.iter().all(|x| x.is_finite()) {
            std::mem::swap(&mut here, &mut there);
            (state, prior) = (x, proposed);
        }
    }
    Ok(state)
}

fn energy(momentum: &[f64]) -> f64 {
    0.5 * momentum.iter().map(|p| p * p).sum::<f64>()
}

/// Noisy gradients of the log-density.
struct Forces<'a> {
    chain: &'a Hmc,
    /// On every sum of integers.
    noise: Rounded,
    prior: Vec<f64>,
}

impl Forces<'_> {
    /// Adds to the momentum what the gradient at `x` gives it in this part of a step.
    fn kick<B: BitSource>(
        &mut self,
        part: f64,
        density: &mut Density,
        gradients: &mut RowGradients,
        (x, momentum): (&[f64], &mut [f64]),
        bits: &mut B,
    ) -> Result<(), MechanismError> {
        let Hmc { spreads, step, clip, weight, .. } = self.chain;
        density.prior_gradient(x, &mut self.prior);
        let sums = gradients.sum(x, |row, sums| cut(row, spreads, *clip, sums));
        let unit = weight * clip / LONGEST as f64;
        for (((p, prior), spread), sum) in momentum.iter_mut().zip(&self.prior).zip(spreads).zip(sums) {
            let noisy = self.noise.on(sum, bits)?;
            *p += part * step * (spread * prior - unit * noisy as f64);
        }
        Ok(())
    }
}
