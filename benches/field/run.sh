#!/bin/sh
# The field in one run: error at equal epsilon and delta, on the same files, of dpm, diffprivlib, OpenDP and the papers' baselines.
#
# FIELD holds the virtual environments (setup.sh makes them), DPM_DATA the data sets (../papers/README.md), FIELD_WORK what is
# generated; DPM is the program (left out: it is built). REPEATS runs of each, 10 (of regressions 20) unless it is set; what is in FIELD_WORK/results.csv is
# not run again. Writes benches/results/field.csv and field.txt.
set -eu
cd "$(dirname "$0")/../.."
here=benches/field
export PYTHONPATH=$here PYTHONWARNINGS=ignore
if [ -z "${DPM:-}" ]; then
    cargo build --release
    DPM=target/release/dpm
fi
export DPM
mkdir -p "$FIELD_WORK"
"$FIELD/ibm/bin/python" $here/data.py
"$FIELD/ibm/bin/python" $here/diffprivlib_models.py
"$FIELD/dp/bin/python" $here/opendp_counts.py
"$FIELD/dp/bin/python" $here/baselines.py
"$FIELD/dp/bin/python" $here/ours.py
"$FIELD/dp/bin/python" $here/regressions.py
"$FIELD/dp/bin/python" $here/summary.py
