#!/usr/bin/env bash
# Installs the R package, on Debian with what it needs; with --tests also what its tests need, and nothing else. The dpm command is installed by itself.
set -euo pipefail
cd "$(dirname "$0")"
needed=(r-base-core r-cran-jsonlite)
[ "${1:-}" != --tests ] || needed+=(r-cran-{bayesplot,bit64,knitr,markdown,posterior,roxygen2,testthat})
if command -v apt-get >/dev/null && ! dpkg -s "${needed[@]}" >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${needed[@]}"
fi
[ "${1:-}" = --tests ] || R CMD INSTALL .
