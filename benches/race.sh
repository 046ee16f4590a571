#!/bin/sh
# Rounds of 64 processes with 10 attempts each at a budget that 50 charges fill: what is accepted is exactly what fits, and the ledger adds up.
# Resumable: every round adds a line to benches/results/race.txt, and the script stops once ROUNDS are there.
# Usage: benches/race.sh [ROUNDS [TEST]], TEST being the test binary `product`, built by `cargo test --no-run --test product`
set -u
wanted=${1:-100}
out=$(realpath benches/results)/race.txt
test=${2:-$(cargo test --no-run --test product 2>&1 | sed -n 's/.*(\(.*\))$/\1/p' | tail -1)}
touch "$out"
while [ "$(grep -c '^round: ' "$out")" -lt "$wanted" ]; do
  DPM_ROUNDS=1 "$test" --exact ledger::processes::a_hundred_rounds_of_sixty_four_processes --ignored --nocapture 2>&1 | grep -o 'round: .*' >> "$out" || exit 1
done
grep -c '^round: ' "$out"
