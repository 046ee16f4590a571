//! The binary and the sessions behind it, as users, editors and attackers meet them.
// Helpers of tests may fail loudly and print; clippy knows only the functions marked `#[test]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, clippy::print_stderr)]

mod arviz;
mod bad_input;
mod bombs;
mod canaries;
#[cfg(feature = "parquet")]
#[path = "../support/columns.rs"]
mod columns;
mod commands;
mod dates;
mod design;
mod examples;
#[path = "../support/fuzz/mod.rs"]
mod fuzz;
mod gallery;
#[cfg(unix)]
mod inspect;
mod ledger;
mod long_answers;
mod lsp;
mod made_up_rows;
mod masses;
mod missing;
mod neighbours;
mod new_users;
mod noninterference;
#[cfg(feature = "parquet")]
mod parquet_files;
#[cfg(unix)]
mod phases;
mod plans;
mod predictions;
mod public_designs;
mod records;
mod regressions;
#[cfg(unix)]
mod repl;
mod report;
mod scaled;
mod seed;
mod selected;
mod session;
mod sources;
mod useless;
mod want;
