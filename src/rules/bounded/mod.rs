//! Bounded losses: posteriors whose loss of one row lies in an interval of known length, most by the beta-divergence.
//!
//! What they share (rule book §5.1). With density f and `a = b - 1 > 0` the loss of a row is
//! `l = -f(y)^a / a + (1/b) int f^b`. If it lies in an interval of length R for every row that the columns allow and every
//! parameter that the prior allows, then a replaced row changes the sum of losses by something in `[-R, R]`, an added one by
//! something in an interval of length R. R follows from the largest value M of the density, and M from declared domains alone.

mod beta_div;
mod density;
mod dp_hmc;
mod dp_sgld;
mod enclose;
mod model;
mod ops;
mod penalty;
mod range;
mod refusals;

pub use dp_hmc::Gradients;
pub use model::{BoundedLoss, Mended, Moved, Refusal, Unfit};
pub use range::{RowLoss, excess};

use super::{Context, Meta};
use crate::model::Model;

/// A rule for a posterior of bounded loss. It never sees syntax or private data.
pub trait LossRule: Sync {
    fn meta(&self) -> &'static Meta;
    /// The loss of one row and the length of its range, or why there is none.
    ///
    /// # Errors
    /// [`Unfit`] for another shape of model, or a premise that fails.
    fn judge(&self, model: &Model, context: Context) -> Result<BoundedLoss, Unfit>;
}

/// Every rule for bounded losses, in the order `using ?` lists them.
pub fn loss_rules() -> &'static [&'static dyn LossRule] {
    RULES
}

static RULES: &[&dyn LossRule] = &[&beta_div::BetaDiv, &penalty::Penalty, &dp_hmc::DpHmc, &dp_sgld::DpSgld, &ops::Ops];
