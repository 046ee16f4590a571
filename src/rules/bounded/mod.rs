//! Bounded losses: posteriors whose loss of one row lies in an interval of known length, most by the beta-divergence.
//!
//! What they share (rule book §5.1). With density f and `a = b - 1 > 0` the loss of a row is
//! `l = -f(y)^a / a + (1/b) int f^b`. If it lies in an interval of length R for every row that the columns allow and every
//! parameter that the prior allows, then a replaced row changes the sum of losses by something in `[-R, R]`, an added one by
//! something in an interval of length R. R follows from the largest value M of the density, and M from declared domains alone.

pub mod beta_div;
mod density;
pub mod dp_hmc;
pub mod dp_sgld;
mod ideal;
mod model;
pub mod ops;
mod paying;
pub mod penalty;
mod range;
mod refusals;
mod sampled;
mod told;
mod width;

pub use range::excess;
