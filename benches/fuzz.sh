#!/bin/sh
# Random programs by the million: benches/fuzz.sh [GENERATED, AND MUTATED, PROGRAMS] [MINUTES]
# Goes on where an earlier run stopped (target/fuzz.json; remove it to begin anew) and writes benches/results/fuzz.txt.
set -eu
cd "$(dirname "$0")/.."
DPM_FUZZ="${1:-1000000}" DPM_FUZZ_MINUTES="${2:-600}" \
    cargo test --release --test studies fuzzing::long_form -- --ignored --nocapture
