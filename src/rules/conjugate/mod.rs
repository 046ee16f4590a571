//! Conjugate rules: one exact draw from a closed-form posterior, certified by one worst pair of its family.
//!
//! The lemma they share (rule book §0.1). For two members `P`, `Q` of an exponential family with log-normaliser `C`,
//! let `g(t) = C(Q + t (P - Q))`. Then `D_l(P || Q)` is the integral of `g''` against a tent that is 0 at `Q` (t = 0),
//! 1 at `P` (t = 1) and 0 again at t = l. Hence `D` grows with the step, and wherever `g''` falls along a coordinate
//! `D` falls with the base. So every number put into a pair is rounded the private way: bases down, steps up.

pub(super) mod beta_bernoulli;
pub(super) mod beta_geometric;
pub(super) mod dirichlet_categorical;
pub(super) mod dirichlet_multinomial;
pub(crate) mod expected;
pub(crate) mod facts;
pub(super) mod gamma_exponential;
mod gamma_moves;
pub(super) mod gamma_poisson;
pub(super) mod linear_private_design;
pub(super) mod linear_public_design;
pub(super) mod matching_prior;
pub(super) mod mv_normal_known_covariance;
pub(super) mod normal_known_variance;
pub(super) mod normal_precision;
pub(super) mod normal_unknown_both;

mod refusals;
mod vector_prior;

use crate::mechanism::plan::StatisticKind;
use crate::model::{Model, Observation};

pub(super) use beta_bernoulli::{BetaDraw, Counts};
pub(super) use dirichlet_multinomial::alphas;
pub use facts::REACH;
pub(super) use facts::{Facts, PublicSum};
pub(super) use gamma_moves::RateDraw;
pub(super) use linear_public_design::{design, dotted};
pub use matching_prior::{MatchingPrior, matching_prior};
pub(super) use normal_known_variance::known_sd;
pub use normal_precision::deviation_of;
pub(super) use refusals::{out_of_reach, secret_rows, unbounded, unbounded_features};
pub(super) use vector_prior::{Covariance, NormalWeights, normal_weights};

/// What a normal observation contributes: the outcome itself, or its squared deviation where the precision is unknown.
pub(super) fn normal_statistic(o: &Observation, model: &Model) -> Option<StatisticKind> {
    let tau = model.parameters.first()?;
    match normal_precision::squared_deviation(o, tau.id) {
        Some(deviation) => Some(StatisticKind::Sum(deviation)),
        None => Some(StatisticKind::Sum(o.outcome.clone())),
    }
}
