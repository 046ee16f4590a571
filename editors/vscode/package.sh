#!/usr/bin/env bash
# Writes target/dpm.vsix: the extension with its library in one file. Works in target/vscode. Wants node 20 and npm.
set -euo pipefail
cd "$(dirname "$0")/../.."
made=target/vscode
mkdir -p $made
cmp -s editors/vscode/package.json $made/package.json || rm -rf $made/node_modules
cp -r editors/vscode/. LICENSE-MIT $made
cd $made
mv LICENSE-MIT LICENSE
[ -d node_modules ] || npm install --no-package-lock --no-audit --no-fund --silent
node_modules/.bin/esbuild client.js --bundle --platform=node --external:vscode --minify --outfile=dist/client.js --log-level=warning
node_modules/.bin/vsce package --no-dependencies --allow-missing-repository -o ../dpm.vsix
