//! What reads private rows and what is drawn from them: data, kernels, samplers and chains against their laws.
// Helpers of tests may fail loudly and print; clippy knows only the functions marked `#[test]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "parquet")]
mod arrow_files;
mod audits;
mod bins;
mod chains;
#[cfg(feature = "parquet")]
#[path = "../support/columns.rs"]
mod columns;
mod counted;
mod data;
mod data_mechanisms;
mod data_panics;
mod data_support;
mod density;
mod density_support;
mod diagnostics;
mod families;
mod fits;
mod folders;
mod foretold;
mod freshness;
mod glm_draws;
mod kernel;
mod kernel_memory;
mod langevin;
mod laws;
mod mechanisms;
#[cfg(feature = "parquet")]
mod parquet_files;
mod predicted_sums;
mod predictions;
mod quantiles;
mod recorded;
mod row_gradients;
mod samplers;
mod sql;
mod sums;
mod tapes;
