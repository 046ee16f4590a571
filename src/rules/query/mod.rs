//! Query mechanisms: noise on an aggregate, a noisy quantile, or a Beta draw around a mean.

pub(super) mod beta_query;
pub(super) mod exponential;
pub(super) mod noise;
mod sensitivity;
mod shared;
#[cfg(test)]
mod tests;
