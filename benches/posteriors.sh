#!/bin/sh
# Coverage of 90 % intervals of `posterior(w) using refined` on data of the model: sh benches/posteriors.sh > benches/results/posteriors_coverage.txt
cd "$(dirname "$0")/.." || exit 1
echo "Share of 90 % intervals that hold a weight, of how many; root mean square error of the means; mean sd that the posterior says. delta 1e-5,"
echo "weights from the prior, features of norm at most 1 with a constant. By benches/posteriors.sh."
echo
DPM_LONG=1 cargo test -q --test claims intervals_over_a_grid -- --nocapture --test-threads=1 | grep eps
