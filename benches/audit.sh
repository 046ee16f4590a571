#!/bin/sh
# Audits every example, every exactly Gaussian mechanism and random certified programs at confidence 1 - 1e-9.
# Usage: benches/audit.sh [PROGRAMS] [DRAWS]; a line of benches/results/audit.txt is not made again, so it goes on where it stopped.
# DPM_EXAMPLE=07 keeps to the examples of that name; DPM_CHAIN_DRAWS=20 draws another number from chains than 100;
# DPM_BIN=target/release/dpm is faster, where there is one.
set -eu
cd "$(dirname "$0")/.."
DPM_PROGRAMS="${1:-500}" DPM_DRAWS="${2:-2000}" cargo test --test studies audit_study::long_form -- --ignored --nocapture
grep -c 'below the certificate' benches/results/audit.txt
! grep 'ABOVE THE CERTIFICATE' benches/results/audit.txt
