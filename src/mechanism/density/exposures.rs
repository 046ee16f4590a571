//! Chains on the likelihood of released events and exposures: everything that they read is public.

use super::fit::{Run, Sampled, chains, each_state};
use super::{Form, Lowered, lower_with};
use crate::data::Environment;
use crate::kernel::density::{AtNodes, Columns, Density, GivenExposures, OfNumbers, Operand, Program};
pub use crate::kernel::density::{Events, Exposures, SumNoise};
use crate::mechanism::MechanismError;
use crate::mechanism::plan::DensityLaw;
use crate::model::Expr;
use std::sync::Arc;

/// A model of noisy sums, ready for chains.
pub struct Model {
    program: Program,
    numbers: Vec<Operand>,
    likelihood: Arc<Exposures>,
    kept: Vec<Operand>,
    start: Vec<(f64, f64)>,
}

impl Model {
    /// Of a law without rows; the likelihood has these numbers.
    pub fn new(law: &DensityLaw, numbers: &[Expr], likelihood: Exposures, env: &dyn Environment) -> Result<Model, MechanismError> {
        let (Lowered { program, parameters, start, .. }, numbers) = lower_with(law, &[], numbers, env, Form::NonCentred)?;
        if numbers.len() != likelihood.numbers() {
            return Err(MechanismError::Parameter);
        }
        let kept = law.released.iter().filter_map(|i| parameters.get(*i)).flatten().copied().collect();
        Ok(Model { program, numbers, likelihood: Arc::new(likelihood), kept, start })
    }

    /// Draws of the posterior, or of the prior of everything but the exposures, which are conditioned on.
    pub fn fit(&self, run: Run) -> Result<Sampled, MechanismError> {
        let of = self.likelihood.clone();
        let likelihood: Arc<dyn OfNumbers> = if run.prior { Arc::new(GivenExposures(of)) } else { Arc::new(AtNodes::new(of)) };
        let density = || Ok(Density::of_numbers(&self.program, self.numbers.clone(), likelihood.clone()));
        chains(density, &self.start, &self.kept, run)
    }

    /// What follows from the laws of all noisy numbers of events (`Exposures::laws`) at every state of the chains.
    pub fn each<T: Send>(&self, states: &[Vec<f64>], of: impl Fn(usize, &[(f64, f64)]) -> T + Sync) -> Result<Vec<T>, MechanismError> {
        let no = Columns::new(self.program.columns);
        let density = || Ok(Density::new(&self.program, &no, 1.0));
        each_state(states, density, |i, density, u| of(i, &self.likelihood.laws(&density.shared(u, &self.numbers))))
    }
}
