#!/bin/sh
# Holds grammar.js to the programs that the compiler reads: every one parses without an error, and those with a syntax error do not.
# Wants cargo, node and a C compiler; the generated parser stays in target/tree-sitter.
set -eu
cd "$(dirname "$0")/../.."
right="$(ls examples/*.dpm stdlib/*.dpm tests/certified/*.dpm tests/certified/public/*.dpm tests/programs/*.dpm tests/rules/*/*.dpm)"
right="$right $(ls tests/wrong/*.dpm | grep -v '/15\.dpm$')"
# Not here: what the compiler refuses before or behind its grammar (beyond.txt): strange characters, depth, chains of comparisons.
wrong="$(ls tests/errors/E00*.dpm | grep -v -f editors/tree-sitter-dpm/beyond.txt)"
CARGO_TARGET_DIR="$PWD/target/tree-sitter" cargo run --quiet --manifest-path editors/tree-sitter-dpm/check/Cargo.toml -- $right --wrong $wrong
