#!/bin/sh
# Coverage of 90 % intervals of `posterior(w) using refined` on data of the model, a line a place of the grid: benches/results/posteriors_coverage.txt.
#
# A run goes on where the last one was stopped: places that the file has are left out. CLAIMS is the built test (left out: it is built).
set -eu
cd "$(dirname "$0")/.."
out=benches/results/posteriors_coverage.txt
export DPM_LONG=1 DPM_KNOWN="$PWD/$out"
${CLAIMS:-cargo test -q --test claims --} intervals_over_a_grid intervals_of_classes --nocapture --test-threads=1 | grep --line-buffered -o "[a-z_]*(.*eps .*" >>$out
