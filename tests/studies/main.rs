//! Short forms of studies that scripts under `benches/` run at length.
// Helpers of tests may fail loudly and print; clippy knows only the functions marked `#[test]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, clippy::print_stderr)]

mod audit;
mod audit_study;
mod calibration;
mod coverage;
mod enumerable;
mod exhaustive;
#[path = "../support/fuzz/mod.rs"]
mod fuzz;
mod fuzzing;
#[path = "../support/numbers_support/mod.rs"]
mod numbers_support;
mod planted;
