#!/usr/bin/env bash
# The Python package's tests with the development build of the command, in an environment of their own below target/.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -x target/python/bin/pytest ] || {
    python3 -m venv target/python
    target/python/bin/pip install -q numpy pandas polars pyarrow duckdb 'arviz<1' ipython ipykernel nbclient nbformat pytest
}
cargo build -q
DPM_COMMAND=$PWD/target/debug/dpm PYTHONPATH=$PWD/bindings/python/python target/python/bin/pytest -q bindings/python
