#!/usr/bin/env bash
# R CMD check of the package with the development build of the command; wants R with jsonlite, posterior and testthat.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build -q
export DPM_COMMAND=$PWD/target/debug/dpm _R_CHECK_FORCE_SUGGESTS_=false
rm -rf target/r && mkdir -p target/r && cd target/r
R CMD build --no-build-vignettes ../../bindings/r
R CMD check --no-manual dpm_*.tar.gz
