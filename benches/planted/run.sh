#!/bin/sh
# Planted bugs: a copy of the tree in which every bug of bugs.txt sleeps behind an environment variable is built once, then
# each bug is woken alone and every layer of tests runs. Goes on where it stopped; writes benches/results/planted.txt, where rows
# of bugs that did not run in FOLDER stay as they were. DPM_BUGS=name,name runs these alone.
# Usage: benches/planted/run.sh [FOLDER]; the copy, its build and what was found lie in FOLDER (target/planted).
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
folder=${1:-target/planted}
mkdir -p "$folder"
folder=$(realpath "$folder")
plant() { python3 benches/planted/plant.py "$1" "$root" "$folder" ${2:+"$2"}; }
# Dependencies that are built already need not be built again.
if [ ! -d "$folder/target" ] && [ -d target/debug ]; then
    mkdir -p "$folder/target"
    cp -al target/debug "$folder/target/debug"
fi
plant plant
export CARGO_TARGET_DIR="$folder/target"
echo "building the copy once"
(cd "$folder/tree" && cargo test --no-run --message-format json) >"$folder/built.json"
(cd "$folder/tree" && cargo build --profile dev --bench laws --message-format json) >>"$folder/built.json"
plant run "$folder/built.json"
plant table >"$folder/table"
cp "$folder/table" benches/results/planted.txt
tail -9 benches/results/planted.txt
