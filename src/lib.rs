//! dpm: a language, compiler and runtime for Bayesian analysis of private data.

pub mod mechanism;
pub mod model;
pub mod numeric;
pub mod privacy;
pub mod rules;
pub mod source;
pub mod syntax;
