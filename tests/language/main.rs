//! The language: syntax, types, messages, the manual and the rule of imports.
// Helpers of tests may fail loudly and print; clippy knows only the functions marked `#[test]`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, clippy::print_stderr)]

mod advice;
mod docs;
mod emit;
mod expand;
mod figures;
#[path = "../support/fuzz/mod.rs"]
mod fuzz;
mod identity;
mod layers;
mod render;
mod row_types;
mod rule_programs;
mod stan;
mod syntax;
mod syntax_errors;
mod wrong_programs;

/// A snapshot in `tests/snapshots`, named for the file of tests that takes it.
fn snapshot(file: &str, name: &str, text: &str) {
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(format!("{file}__{name}"), text);
    });
}
