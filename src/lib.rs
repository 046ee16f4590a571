//! dpm: a language, compiler and runtime for Bayesian analysis of private data.
#![doc = include_str!("../ARCHITECTURE.md")]

pub mod analyze;
pub mod audit;
pub mod check;
pub mod cli;
pub mod compiled;
pub mod data;
pub mod dist;
pub mod explain;
pub mod kernel;
pub mod ledger;
pub mod lsp;
pub mod mechanism;
pub mod model;
pub mod numeric;
pub mod pipeline;
pub mod plot;
pub mod privacy;
pub mod private;
pub mod report;
pub mod rules;
pub mod run;
pub mod session;
pub mod source;
pub mod syntax;
pub mod verify;
