#!/bin/sh
# Drives `dpm lsp` by the client library pytest-lsp; wants python3. Takes the debug build, or the binary that DPM_BIN names.
# An environment with what requirements.txt lists is made in target/client, once.
set -eu
cd "$(dirname "$0")"
root="$(cd ../.. && pwd)"
[ -n "${DPM_BIN:-}" ] || cargo build --quiet
python="$root/target/client/bin/python"
[ -x "$python" ] || { python3 -m venv "$root/target/client" && "$python" -m pip install --quiet -r requirements.txt; }
exec "$python" -m pytest -q -p no:cacheprovider "$@"
