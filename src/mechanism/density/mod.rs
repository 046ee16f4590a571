//! Posteriors known by their log-density: the plan compiled to a program over columns, the rows it reads, the chain it runs.

mod builder;
mod draw;
mod expression;
mod likelihood;
mod prior;
mod transform;

use std::collections::BTreeMap;

use super::MechanismError;
use super::plan::DensityLaw;
use crate::data::Environment;
use crate::data::row::width;
use crate::kernel::density::{Operand, Program};
use crate::model::Expr;
use builder::Builder;
pub(super) use draw::{draw, encode};
use expression::Lowering;

/// A compiled posterior.
pub struct Lowered {
    pub program: Program,
    /// Every parameter of the law by its components.
    pub parameters: Vec<Vec<Operand>>,
}

/// Compiles a law whose row expressions are `columns`; fails on what has no derivative program, before data are read.
pub fn lower(law: &DensityLaw, columns: &[Expr], env: &dyn Environment) -> Result<Lowered, MechanismError> {
    let counts: Vec<usize> =
        law.parameters.iter().map(|p| transform::coordinates(&p.ty).ok_or(MechanismError::Expression)).collect::<Result<_, _>>()?;
    let (mut placed, mut next) = (vec![], 0);
    for e in columns {
        placed.push((e, next));
        next += width(&e.ty);
    }
    let to = Builder::new(counts.iter().sum(), next);
    let mut lowering = Lowering { to, env, columns: placed, parameters: BTreeMap::new() };
    let (mut first, mut parameters) = (0, vec![]);
    for (p, count) in law.parameters.iter().zip(counts) {
        let value = lowering.parameter(p, first)?;
        lowering.parameters.insert(p.id, value.clone());
        lowering.prior(p, &value)?;
        parameters.push(value);
        first += count;
    }
    for o in &law.rows {
        lowering.observation(o, law.loss)?;
    }
    Ok(Lowered { program: lowering.to.finish(), parameters })
}
