#!/usr/bin/env bash
# Builds the wheel and installs it in two environments below target/: target/python with the newest pandas, polars, pyarrow, DuckDB and ArviZ, and
# target/python-oldest with the oldest that are tested. Wants Rust and Python 3.10 or later.
set -euo pipefail
cd "$(dirname "$0")/../.."
oldest='numpy==1.26.* pandas==2.2.* polars==1.10.* pyarrow==16.* duckdb==1.2.* arviz==0.20.* scipy==1.11.* matplotlib==3.8.*'
[ -x target/wheel/bin/maturin ] || { python3 -m venv target/wheel && target/wheel/bin/pip install -q 'maturin>=1.10,<2'; }
[ -x target/python/bin/pip ] || python3 -m venv target/python
[ -x target/python-oldest/bin/pip ] || python3 -m venv target/python-oldest
rm -f target/wheels/*.whl
(cd bindings/python && ../../target/wheel/bin/maturin build --target x86_64-unknown-linux-gnu --out ../../target/wheels)
for place in python python-oldest; do
    versions=$([ $place = python ] && echo numpy pandas polars pyarrow duckdb arviz || echo "$oldest")
    # shellcheck disable=SC2086
    target/$place/bin/pip install -q $versions ipython ipykernel nbclient nbformat pytest
    target/$place/bin/pip install -q --force-reinstall --no-deps target/wheels/*.whl
done
ls -l target/wheels
