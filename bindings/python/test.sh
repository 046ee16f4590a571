#!/usr/bin/env bash
# The tests of the wheel that bindings/python/install.sh installed, in both of its environments.
set -euo pipefail
cd "$(dirname "$0")/../.."
for place in python python-oldest; do
    target/$place/bin/pip list 2>/dev/null | grep -E '^(dpm|numpy|pandas|polars|pyarrow|duckdb|arviz) ' | tr -s ' ' | paste -sd ' '
    (unset DPM_COMMAND PYTHONPATH && cd bindings/python && "../../target/$place/bin/pytest" -q -p no:cacheprovider)
done
