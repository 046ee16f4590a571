#!/bin/sh
# Sensitivity of scores beside products of features (rule book, section 20): a million random pairs of rows.
set -eu
cd "$(dirname "$0")/.."
SCORE_PAIRS=1000000 cargo test --release --lib scores -- --nocapture
