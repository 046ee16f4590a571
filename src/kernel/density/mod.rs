//! Log-densities of any model, compiled once to a program over columns that gives value and gradient for all rows at once.
//!
//! A [`Program`] has three tapes of operations: what follows from columns alone runs once when the rows are in (`derived`);
//! what follows from parameters alone runs once an evaluation, on single numbers (`shared`); the rest runs on blocks of rows
//! (`rows`), one dispatch an operation a block. Derivatives go backwards over the same tapes. Nothing is allocated between
//! two evaluations, both cores share the blocks, and sums are made in an order that depends on the number of rows alone.
//!
//! **The certified range.** A claim on a bounded loss is about the loss that is computed: every loss is moved into its
//! `[lo, hi]` row by row after everything else, and a loss that is not a number becomes the middle of it.

mod builder;
mod cells;
mod columns;
mod curve;
mod evaluate;
mod exposures;
mod functions;
mod fused;
mod known_total;
mod mean;
mod moments;
mod moved;
mod neg_binomial;
mod noise;
mod noisy_count;
mod op;
mod poisson;
mod products;
mod row_gradients;
mod tape;
mod within;

pub use crate::numeric::fast::{ln, ln_1p};
pub use crate::numeric::special::digamma;
pub use builder::Builder;
pub use cells::Cells;
pub use columns::{Columns, Lane, ROWS};
pub use evaluate::Density;
pub use exposures::{AtNodes, Events, Exposures, GivenExposures, SumNoise};
pub use fused::Fused;
pub use moments::{Column, Moments};
pub use neg_binomial::{PowerSum, binomial_power, neg_binomial_power};
pub use noise::Noise;
pub use noisy_count::NoisyCount;
pub use op::{One, Op, Operand, Two};
pub use poisson::power_sum;
pub use row_gradients::RowGradients;
pub use within::Binned;

use tape::{Inputs, forward};

/// A likelihood whose law has numbers that follow from parameters.
pub trait OfNumbers: Send + Sync {
    /// The negative log-likelihood, and its derivative by every number. Infinite, with derivatives 0, where it does not exist.
    fn total(&self, numbers: &[f64], by: &mut Vec<f64>) -> f64;
}

/// The loss of one observation: moved into `[lo, hi]`, whatever was computed.
#[derive(Clone, PartialEq, Debug)]
pub struct Loss {
    pub value: Operand,
    pub lo: f64,
    pub hi: f64,
}

/// A log-density: the sum of `log_prior` less the weight times all losses of all rows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Unconstrained coordinates; they are `Shared(0)`, `Shared(1)`, ..
    pub dimension: usize,
    /// Columns that are read from data; derived ones follow them.
    pub columns: usize,
    /// Operation i gives column `columns + i`, and reads those before it as `Local`.
    pub derived: Vec<Op>,
    /// Operation i gives `Shared(dimension + i)`; coordinates and earlier results are `Local` to it.
    pub shared: Vec<Op>,
    pub log_prior: Vec<Operand>,
    pub rows: Vec<Op>,
    pub losses: Vec<Loss>,
}

/// The value of an operation on constants alone.
pub fn constant(op: &Op) -> f64 {
    let mut out = [[0.0; 1]];
    forward(std::slice::from_ref(op), 0, Inputs { shared: &[], columns: &[] }, &mut out);
    let [[x]] = out;
    x
}
