//! Chains on the likelihood of released moments: everything that they read is public.

use super::fit::{Run, Sampled, chains};
use super::{Form, Lowered, lower_with};
use crate::data::Environment;
pub use crate::kernel::density::{Column, Moments};
use crate::kernel::density::{Columns, Density};
use crate::mechanism::MechanismError;
use crate::mechanism::plan::DensityLaw;
use crate::model::Expr;
use std::sync::Arc;

/// Of so many draws one is asked how many rows lie beyond the bounds.
const SOME: usize = 10;

/// Draws of the posterior, or of the prior alone, of a law without rows; the likelihood has these numbers. And the largest share of
/// rows that a column has beyond its bounds, where the likelihood does not know of them.
pub fn fit(
    (law, numbers, moments): (&DensityLaw, &[Expr], Moments),
    run: Run,
    env: &dyn Environment,
) -> Result<(Sampled, f64), MechanismError> {
    let (Lowered { program, parameters, start, .. }, numbers) = lower_with(law, &[], numbers, env, Form::NonCentred)?;
    let moments = Arc::new(moments.likelihood()?);
    if numbers.len() != moments.numbers() {
        return Err(MechanismError::Parameter);
    }
    let kept: Vec<_> = law.released.iter().filter_map(|i| parameters.get(*i)).flatten().copied().collect();
    let no = Columns::new(program.columns);
    let density =
        || Ok(if run.prior { Density::new(&program, &no, 1.0) } else { Density::of_numbers(&program, numbers.clone(), moments.clone()) });
    let sampled = chains(density, &start, &kept, run)?;
    let mut of = Density::new(&program, &no, 1.0);
    let some: Vec<f64> = sampled.states.iter().step_by(SOME).map(|u| moments.beyond(&of.shared(u, &numbers))).collect();
    let beyond = some.iter().sum::<f64>() / some.len().max(1) as f64;
    Ok((sampled, beyond))
}

/// Could the chains run, whatever the sums?
pub fn rehearse(law: &DensityLaw, numbers: &[Expr], env: &dyn Environment) -> Result<(), MechanismError> {
    lower_with(law, &[], numbers, env, Form::NonCentred).map(drop)
}
