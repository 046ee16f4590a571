//! NUTS through the crate nuts-rs on our values and gradients, in coordinates in which regressions are nearly round.

use std::collections::HashMap;
use std::f64::consts::FRAC_PI_2;
use std::fmt;

use nuts_rs::rand::Rng;
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, KineticEnergyKind, LogpError, LowRankNutsSettings, Settings,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use super::precondition::Preconditioner;
use crate::kernel::density::Density;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::plan::MOST_LEAPFROGS;
use crate::private::contained;

/// Forces beyond this are cut: products with them stay numbers.
const STRONGEST: f64 = 1e100;

/// The state has no density.
#[derive(Debug)]
struct Outside;

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("outside")
    }
}

impl std::error::Error for Outside {}

impl LogpError for Outside {
    fn is_recoverable(&self) -> bool {
        true
    }
}

/// A density, and the coordinates of the chain if they are not its own.
struct Target<'a, 'b>(&'a mut Density<'b>, Option<&'a Preconditioner>);

impl HasDims for Target<'_, '_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        [("unconstrained_parameter".to_string(), self.0.dimension() as u64)].into()
    }
}

impl CpuLogpFunc for Target<'_, '_> {
    type LogpError = Outside;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.0.dimension()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Outside> {
        if !position.iter().all(|x| x.is_finite()) {
            return Err(Outside);
        }
        let Target(density, coordinates) = self;
        let value = match coordinates {
            None => density.value_and_gradient(position, gradient),
            Some(coordinates) => {
                let value = density.value_and_gradient(coordinates.state(position).as_slice(), gradient);
                coordinates.turn(gradient);
                value
            }
        };
        // Any force keeps the chain's law, as long as it is a function of the place.
        gradient.iter_mut().for_each(|g| *g = g.clamp(-STRONGEST, STRONGEST));
        if value.is_finite() { Ok(value) } else { Err(Outside) }
    }

    fn expand_vector<R: Rng + ?Sized>(&mut self, _: &mut R, position: &[f64]) -> Result<Vec<f64>, CpuMathError> {
        Ok(position.to_vec())
    }
}

/// Where a chain stands after a step.
pub struct Visited<'a> {
    pub index: u64,
    pub state: &'a [f64],
    /// Evaluations of the gradient that the step took.
    pub leapfrogs: u64,
    /// Did it leave the level of its energy?
    pub diverging: bool,
}

/// How a chain adapts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tuning {
    /// Many correlated weights: coordinates by the curvature at the mode, or a low-rank mass matrix where that is not close to a
    /// normal law; steps of a bounded length.
    Regression,
    /// Few parameters of scales that vary: a diagonal mass matrix and short steps.
    Hierarchy,
}

/// Calls `visit` after every step, of which the first `warm` adapt; ends early if the chain cannot go on.
pub fn run<B: BitSource>(
    density: &mut Density,
    start: &[f64],
    (tuning, warm, draws): (Tuning, u64, u64),
    bits: &mut B,
    mut visit: impl FnMut(Visited),
) -> Result<(), MechanismError> {
    let mut seed = [0u8; 32];
    for part in seed.chunks_exact_mut(8) {
        part.copy_from_slice(&bits.word()?.to_le_bytes());
    }
    let (steps, rng) = (warm.saturating_add(draws), ChaCha20Rng::from_seed(seed));
    let maxdepth = u64::from(MOST_LEAPFROGS.ilog2()) + 1;
    let coordinates = if tuning == Tuning::Regression { contained(|| Preconditioner::of(density, start)).flatten() } else { None };
    match (tuning, &coordinates) {
        (Tuning::Regression, Some(coordinates)) => {
            let mut settings = DiagNutsSettings { num_tune: warm, num_draws: draws, maxdepth, ..Default::default() };
            settings.store_divergences = false;
            // Trajectories of a standard normal law are followed exactly, so that steps may be long: up to a quarter of a turn.
            settings.trajectory_kind = KineticEnergyKind::ExactNormal;
            settings.adapt_options.step_size_settings.adapt_options.dual_average.max_step_size = FRAC_PI_2;
            let start = coordinates.coordinates(start);
            walk(&settings, Target(density, Some(coordinates)), &start, (steps, rng), |visited| {
                visit(Visited { state: coordinates.state(visited.state).as_slice(), ..visited });
            });
        }
        (Tuning::Regression, None) => {
            let mut settings = LowRankNutsSettings { num_tune: warm, num_draws: draws, maxdepth, ..Default::default() };
            settings.store_divergences = false;
            // An update decomposes matrices as wide as the state: wide states wait longer for one, which costs them no more steps.
            settings.adapt_options.mass_matrix_update_freq = (density.dimension() as u64 / 2).clamp(20, 100);
            walk(&settings, Target(density, None), start, (steps, rng), visit);
        }
        (Tuning::Hierarchy, _) => {
            let mut settings = DiagNutsSettings { num_tune: warm, num_draws: draws, ..Default::default() };
            settings.store_divergences = false;
            settings.adapt_options.step_size_settings.target_accept = 0.9;
            walk(&settings, Target(density, None), start, (steps, rng), visit);
        }
    }
    Ok(())
}

fn walk<S: Settings>(settings: &S, target: Target, start: &[f64], (steps, mut rng): (u64, ChaCha20Rng), mut visit: impl FnMut(Visited)) {
    // What fails depends on the rows, so it ends the chain where it is; so does a panic: the crate asserts what holds for
    // finite numbers.
    let placed = contained(|| {
        let mut chain = settings.new_chain(0, CpuMath::new(target), &mut rng).ok()?;
        chain.set_position(start).ok().map(|()| chain)
    });
    let Some(Some(mut chain)) = placed else { return };
    for index in 0..steps {
        let Some(Ok((state, progress))) = contained(|| chain.draw()) else { return };
        if state.iter().all(|x| x.is_finite()) {
            visit(Visited { index, state: &state, leapfrogs: progress.num_steps, diverging: progress.diverging });
        }
    }
}
