#!/bin/sh
# Random programs against the exact law of their output: benches/exhaustive.sh [PROGRAMS], ten minutes for 2,000.
# Writes benches/results/exhaustive.txt.
set -eu
cd "$(dirname "$0")/.."
out=benches/results/exhaustive.txt
DPM_PROGRAMS="${1:-2000}" cargo test --test studies exhaustive::long_form -- --ignored --nocapture |
    grep -E '^(programs|with|refused|above|attained|planted)' >target/exhaustive.txt
{
    echo '# benches/exhaustive.sh: the largest divergence over all neighbours with at most four rows against the certificate.'
    cat target/exhaustive.txt
} >"$out"
cat "$out"
