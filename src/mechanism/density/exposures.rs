//! Chains on the likelihood of released events and exposures: everything that they read is public.

use super::fit::{Sampled, chains};
use super::{Form, Lowered, lower_with};
use crate::data::Environment;
use crate::kernel::density::{Columns, Density};
pub use crate::kernel::density::{Events, Exposures, SumNoise};
use crate::mechanism::MechanismError;
use crate::mechanism::plan::DensityLaw;
use crate::model::Expr;
use std::sync::Arc;

/// Draws of the posterior, or of the prior alone, of a law without rows; the likelihood has these numbers.
pub fn fit(
    (law, numbers, likelihood): (&DensityLaw, &[Expr], Exposures),
    prior: bool,
    seed: [u8; 32],
    env: &dyn Environment,
) -> Result<Sampled, MechanismError> {
    let (Lowered { program, parameters, start, .. }, numbers) = lower_with(law, &[], numbers, env, Form::NonCentred)?;
    if numbers.len() != likelihood.numbers() {
        return Err(MechanismError::Parameter);
    }
    let likelihood = Arc::new(likelihood);
    let kept: Vec<_> = law.released.iter().filter_map(|i| parameters.get(*i)).flatten().copied().collect();
    let no = Columns::new(program.columns);
    let density =
        || Ok(if prior { Density::new(&program, &no, 1.0) } else { Density::of_numbers(&program, numbers.clone(), likelihood.clone()) });
    chains(density, &start, &kept, seed)
}
