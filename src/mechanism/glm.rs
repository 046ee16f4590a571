//! Draws from a generalised linear model: what of the rows is kept, and the chain in units of the prior's sds.

use super::MechanismError;
use super::plan::{Feature, GlmLaw, Link, WeightBlock};
use crate::data::StatisticError;
use crate::data::encode::Shape;
use crate::data::scan::{Job, RowScope};
use crate::kernel::{Block, Family};
use crate::model::Expr;

/// Is the block one column of numbers or indicators? Numbers come first in the kernel's order.
fn is_numeric(feature: &Feature) -> bool {
    matches!(feature, Feature::Value(..))
}

/// The law of an outcome, for the kernel; outcomes are clipped to the declared range, so its bound is the one of the claim.
fn family(link: Link, outcome: &Expr) -> Result<Family, MechanismError> {
    let range = outcome.ty.range().ok_or(MechanismError::Range);
    let small = |n: u64| u32::try_from(n).map_err(|_| MechanismError::Parameter);
    Ok(match link {
        Link::Logit { trials: 1 } => Family::Logistic,
        Link::Logit { trials } => Family::Binomial { trials: small(trials)? },
        Link::Softmax { classes } => Family::Softmax { classes: small(classes)? },
        Link::Probit => Family::Probit,
        Link::Cloglog => Family::Cloglog,
        Link::PoissonLog => Family::Poisson { most: small(range?.hi as u64)? },
        Link::Normal { sd } => Family::Gaussian { variance: sd * sd, bound: range?.magnitude() },
    })
}

/// What the job of a draw keeps of every row.
pub(super) fn encode(job: &mut Job, law: &GlmLaw, features: &[Feature], outcome: &Expr, rows: &RowScope) -> Result<(), MechanismError> {
    if features.len() != law.blocks.len() {
        return Err(MechanismError::Parameter);
    }
    let both = || features.iter().zip(&law.blocks);
    let dense = both().filter(|(f, _)| is_numeric(f)).map(|(_, b)| b.dim).sum();
    // An indicator is the sd of its weight, a number is multiplied by it.
    let blocks = both().filter(|(f, _)| !is_numeric(f)).map(|(_, b)| Block { value: b.sd, ..Block::full(b.dim) }).collect();
    let shape = Shape { dense, blocks, norm: law.norm, family: family(law.link, outcome)? };
    let read: Vec<Option<(&Expr, f64)>> = both()
        .map(|(f, b)| match f {
            Feature::One => None,
            Feature::Value(e, factor) => Some((e, factor * b.sd)),
            Feature::Level(e) => Some((e, b.sd)),
        })
        .collect();
    job.encode(&read, outcome, &shape, rows).map_err(|e: StatisticError| e.into())
}

/// First coefficient of every block in the kernel's order: numbers first, then indicators.
fn places(features: &[Feature], blocks: &[WeightBlock]) -> Vec<usize> {
    let mut places = vec![0; blocks.len()];
    let mut next = 0;
    for numeric in [true, false] {
        for ((place, f), b) in places.iter_mut().zip(features).zip(blocks) {
            if is_numeric(f) == numeric {
                *place = next;
                next += b.dim;
            }
        }
    }
    places
}
