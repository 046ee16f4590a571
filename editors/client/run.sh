#!/usr/bin/env bash
# Drives `dpm lsp` by the client library of Visual Studio Code, and tests the extension around it; wants node 20 and npm. Takes the debug build, or the binary that DPM_BIN names.
# With --time it measures the server instead. What the tests need is installed in target/vscode, once.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -n "${DPM_BIN:-}" ] || cargo build --quiet
export DPM_BIN=${DPM_BIN:-$PWD/target/debug/dpm} NODE_PATH=$PWD/target/vscode/node_modules
editors/vscode/package.sh >/dev/null
[ "${1:-}" != --time ] || exec node editors/client/time_server.js
exec node --test "$@" editors/client/*.test.js
