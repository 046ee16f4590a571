//! Generalised linear models: one draw of the weights by a Langevin chain, certified as Gaussian differential privacy.
//!
//! The bound they share (rule book §4.1; Gopi, Lee and Liu 2022). Two potentials on a convex set, both m-strongly
//! convex, whose difference is G-Lipschitz, have Gibbs laws no further apart than two normal laws at distance
//! `mu = G / sqrt(m)`. A Langevin chain on them, projected onto the set after each step, costs no more at any length
//! (§14; Bok, Su and Altschuler 2024), so nothing is assumed about convergence.
//!
//! Weights are measured in units of their prior sd: the prior has m = 1 (1/m with concentration m), features are
//! multiplied by the sd of their weight, and a divergence does not change when both laws are rescaled. So priors of
//! different sds cost no more than each asks for.

mod draw;
pub(super) mod glm_on_ball;
mod link;
pub(super) mod lipschitz_glm;
mod predictor;
mod priors;
pub(super) mod refined;
mod refusals;

pub(super) use predictor::public_terms;
