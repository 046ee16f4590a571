#!/usr/bin/env bash
# Builds the wheel, with --sdist from the source distribution as pip does, and installs it in two environments below target/: target/python with the newest pandas, polars, pyarrow, DuckDB and ArviZ, and
# target/python-oldest with the oldest that are tested; with --servers also PySpark and PostgreSQL's driver in the first, on Debian with a Java and the server.
# Wants Rust and Python 3.10 or later.
set -euo pipefail
cd "$(dirname "$0")/../.."
oldest='numpy==1.26.* pandas==2.2.* polars==1.10.* pyarrow==16.* duckdb==1.2.* arviz==0.20.* scipy==1.11.* matplotlib==3.8.*'
[ -x target/wheel/bin/maturin ] || { python3 -m venv target/wheel && target/wheel/bin/pip install -q 'maturin>=1.10,<2'; }
[ -x target/python/bin/pip ] || python3 -m venv target/python
[ -x target/python-oldest/bin/pip ] || python3 -m venv target/python-oldest
rm -f target/wheels/*.whl target/wheels/*.tar.gz
if [ "${1:-}" = --sdist ]; then
    (cd bindings/python && ../../target/wheel/bin/maturin sdist --out ../../target/wheels)
    PATH=$PWD/target/wheel/bin:$PATH target/wheel/bin/pip wheel --no-build-isolation --no-deps -w target/wheels target/wheels/*.tar.gz
else
    (cd bindings/python && ../../target/wheel/bin/maturin build --target x86_64-unknown-linux-gnu --out ../../target/wheels)
fi
for place in python python-oldest; do
    versions=$([ $place = python ] && echo numpy pandas polars pyarrow duckdb arviz || echo "$oldest")
    # shellcheck disable=SC2086
    target/$place/bin/pip install -q $versions ipython ipykernel nbclient nbformat pytest
    target/$place/bin/pip install -q --force-reinstall --no-deps target/wheels/*.whl
done
if [ "${1:-}" = --servers ]; then
    target/python/bin/pip install -q pyspark adbc-driver-postgresql
    if command -v apt-get >/dev/null && { ! command -v java >/dev/null || ! ls /usr/lib/postgresql/*/bin/pg_ctl; } >/dev/null 2>&1; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends default-jre-headless postgresql
    fi
fi
ls -l target/wheels
