#!/bin/sh
# Time of `dpm verify` for every example, and every single change of all test certificates.
# Builds the release binary (or takes the one that DPM_BIN names); writes benches/results/verify.txt. MUTATIONS=no leaves the changes out.
set -eu
cd "$(dirname "$0")/.."
[ -n "${DPM_BIN:-}" ] || cargo build --release --quiet
dpm="${DPM_BIN:-$PWD/target/release/dpm}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
{
    echo "dpm verify, one process a certificate: seconds of wall time, best of 3, binary ${DPM_BIN:-of the release profile}"
    for program in examples/*.dpm tests/certified/*.dpm; do
        "$dpm" certify "$program" -o "$work/cert" > "$work/out" 2>&1 || continue
        best="$(for i in 1 2 3; do
            start="$(date +%s.%N)"
            "$dpm" verify "$work/cert" --program "$program" > "$work/out" 2>&1 || echo "FAILED" >&2
            end="$(date +%s.%N)"
            echo "$end $start" | awk '{printf "%.3f\n", $1 - $2}'
        done | sort -n | head -1)"
        echo "$best  $program"
    done
    if [ "${MUTATIONS:-yes}" = yes ]; then
        cargo test --release --test claims -- --ignored --nocapture rejects_ten_thousand 2>&1 | grep -E '^ +"|^\{|^\}|found by|test result'
    fi
} | tee benches/results/verify.txt
