#!/usr/bin/env bash
# R CMD check of the package, with its vignette and generated pages; on Debian what is missing is installed. Takes the debug build of the command, or DPM_COMMAND.
set -euo pipefail
cd "$(dirname "$0")/../.."
bindings/r/install.sh --tests
[ -n "${DPM_COMMAND:-}" ] || cargo build -q
export DPM_COMMAND=${DPM_COMMAND:-$PWD/target/debug/dpm} DPM_ROOT=$PWD
rm -rf target/r && mkdir -p target/r && cp -r bindings/r target/r/dpm && cd target/r
Rscript -e 'roxygen2::roxygenise("dpm", load_code = "source")' >/dev/null
diff -r ../../bindings/r dpm || { echo "the pages of the manual are not those of the sources: roxygen2::roxygenise()" >&2; exit 1; }
R CMD build dpm
R CMD check --no-manual dpm_*.tar.gz
! grep -q '^Status:.*\(ERROR\|WARNING\)' dpm.Rcheck/00check.log
