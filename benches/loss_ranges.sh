#!/bin/sh
# The loss of a row at a million random rows and parameters for every likelihood at five values of beta: what part of the
# certified range is reached. Stops at a loss outside of it. Writes benches/results/loss_ranges.txt line by line; stopped and
# started again it goes on where it was. BUILD=--release is faster where a release build exists.
set -eu
cd "$(dirname "$0")/.."
export LOSS_RANGES="$PWD/benches/results/loss_ranges.txt"
exec nice -n 19 cargo test ${BUILD:-} --test claims a_million_rows_stay_inside -- --ignored --nocapture
