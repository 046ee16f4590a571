//! Posteriors known by their log-density: the plan compiled to a program over columns, the rows it reads, the chain it runs.

mod draw;
pub mod exposures;
mod expression;
pub mod fit;
mod likelihood;
mod linear;
pub mod moments;
mod prior;
mod score;
mod transform;

use std::collections::BTreeMap;

use super::MechanismError;
use super::langevin::Cut;
use super::plan::DensityLaw;
use crate::data::Environment;
use crate::data::eval::NoEnvironment;
use crate::data::layout::width;
use crate::kernel::density::{Builder, Operand, Program};
use crate::model::{Expr, Range};
pub(super) use draw::{draw, encode};
use expression::Lowering;
pub use linear::Linear;
pub use score::losses;

/// The coordinates of a chain.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Those of the parameters.
    Centred,
    /// Of normal parameters whose mean or standard deviation is a parameter: how many standard deviations they are from the mean,
    /// so that their law does not become a funnel.
    NonCentred,
}

/// A compiled posterior.
pub struct Lowered {
    pub program: Program,
    /// Every parameter of the law by its components.
    pub parameters: Vec<Vec<Operand>>,
    /// The rows as a regression, if they are one that the fused kernel knows.
    pub linear: Option<Linear>,
    /// Where a chain begins: of every coordinate a centre, and how far from it.
    pub start: Vec<(f64, f64)>,
}

/// Compiles a law whose row expressions are `columns`; fails on what has no derivative program, before data are read.
pub fn lower(law: &DensityLaw, columns: &[Expr], env: &dyn Environment, form: Form) -> Result<Lowered, MechanismError> {
    lower_with(law, columns, &[], env, form).map(|(lowered, _)| lowered)
}

/// The same, and numbers that follow from the parameters alone.
fn lower_with(
    law: &DensityLaw,
    columns: &[Expr],
    numbers: &[Expr],
    env: &dyn Environment,
    form: Form,
) -> Result<(Lowered, Vec<Operand>), MechanismError> {
    let counts: Vec<usize> =
        law.parameters.iter().map(|p| transform::coordinates(&p.ty).ok_or(MechanismError::Expression)).collect::<Result<_, _>>()?;
    let (mut placed, mut next) = (vec![], 0);
    for e in columns {
        placed.push((e, next));
        next += width(&e.ty);
    }
    let to = Builder::new(counts.iter().sum(), next);
    let mut lowering = Lowering { to, env, columns: placed, parameters: BTreeMap::new(), predictor: None };
    let (mut first, mut parameters, mut start) = (0, vec![], vec![]);
    for (p, count) in law.parameters.iter().zip(counts) {
        let value = match form {
            Form::NonCentred if prior::is_location_scale(p) => {
                start.resize(first + count, (0.0, 1.0));
                lowering.location_scale(p, first, count)?
            }
            _ => {
                start.extend(transform::start(p, count));
                let value = lowering.parameter(p, first)?;
                lowering.prior(p, &value)?;
                value
            }
        };
        lowering.parameters.insert(p.id, value.clone());
        parameters.push(value);
        first += count;
    }
    for o in &law.rows {
        lowering.observation(o, law.loss)?;
    }
    let linear = if law.rows.len() == 1 { lowering.linear(law.loss) } else { None };
    let numbers = numbers.iter().map(|e| lowering.scalar(e)).collect::<Result<Vec<_>, _>>()?;
    Ok((Lowered { program: lowering.to.finish(), parameters, start, linear }, numbers))
}

/// Coordinates of weights with normal priors of sd 1 about `means`, cut to sets: the program of their prior, every weight, and
/// where a chain starts.
pub(super) fn weights(means: &[f64], cuts: &[Cut]) -> Result<(Program, Vec<Operand>, Vec<f64>), MechanismError> {
    let to = Builder::new(means.len(), 0);
    let mut lowering = Lowering { to, env: &NoEnvironment, columns: vec![], parameters: BTreeMap::new(), predictor: None };
    let mut weights: Vec<Operand> = (0..means.len()).map(|i| Operand::Shared(i as u32)).collect();
    let mut start = means.to_vec();
    for cut in cuts {
        let (Cut::Box { at, .. } | Cut::Ball { at, .. }) = cut;
        let inside = weights.get_mut(at.clone()).ok_or(MechanismError::Parameter)?;
        let value = match cut {
            // An offset's coefficient is not a weight.
            Cut::Box { lo, hi, .. } if lo == hi => vec![Operand::Constant(*lo); inside.len()],
            Cut::Box { lo, hi, .. } => inside.iter().map(|u| lowering.real(*u, Range::new(*lo, *hi))).collect::<Result<Vec<_>, _>>()?,
            Cut::Ball { radius, .. } => lowering.ball(inside, *radius)?,
        };
        inside.copy_from_slice(&value);
        start.get_mut(at.clone()).unwrap_or(&mut []).fill(0.0);
    }
    for (i, (w, mean)) in weights.iter().zip(means).enumerate() {
        // The coordinate behind an offset stays where its prior puts it.
        let w = if matches!(w, Operand::Constant(_)) { &Operand::Shared(i as u32) } else { w };
        let away = lowering.to.shift(-mean, *w);
        let square = lowering.to.mul(away, away);
        let term = lowering.to.scale(-0.5, square);
        lowering.to.program().log_prior.push(term);
    }
    Ok((lowering.to.finish(), weights, start))
}
