//! Claims and certificates against golden values, enumeration, integration and the verifier; no draw is made but of whole posteriors.
// Helpers of tests may fail loudly and print; clippy knows only the functions marked `#[test]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, clippy::print_stderr)]

mod amounts;
mod analyze;
mod brute_force;
mod brute_force_real;
mod composition;
mod design;
mod distributions;
mod exact_draws;
mod excess;
mod fixed_samples;
#[path = "../support/fuzz/mod.rs"]
mod fuzz;
mod glm_posteriors;
mod golden;
mod golden_posteriors;
mod integration;
mod loss_ranges;
mod loss_widths;
mod many;
mod moments;
mod more_rows;
#[path = "../support/numbers_support/mod.rs"]
mod numbers_support;
mod precision;
mod public_designs;
mod random_truth;
mod repeated;
mod rounded_noise;
mod rounding;
mod selected;
mod sums;
mod verify;
mod whole_posteriors;
