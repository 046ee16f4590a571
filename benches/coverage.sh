#!/bin/sh
# Coverage of released intervals over 10,000 simulated data sets: sh benches/coverage.sh > benches/results/coverage.txt
cd "$(dirname "$0")/.." || exit 1
DPM_LONG=1 cargo test -q --test studies coverage:: -- --nocapture --test-threads=1 | grep -E 'eps|rho|data sets'
