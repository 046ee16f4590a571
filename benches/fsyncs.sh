#!/bin/sh
# How often a charged run forces the disk, by `strace -c`, without and with a witness, and how long the calls of a run take. Needs strace.
# Usage: benches/fsyncs.sh [DPM] > benches/results/fsyncs.txt
set -eu
dpm=$(realpath "${1:-target/debug/dpm}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
{ echo smoker; for i in $(seq 120); do echo true; done; } > staff.csv
printf "private staff[n >= 100] { smoker: bool }\n" > schema
printf 'budget eps(0.1)\nprivate staff[n >= 100] { smoker: bool }\nrelease share = mean(smoker) using laplace\n' > tenth.dpm
"$dpm" ledger init ledger --dataset staff=staff.csv --schema schema --shared --budget "eps(1000)" > /dev/null
counted() {
  strace -f -c -o counts -e trace=fsync,fdatasync,sync,syncfs,sync_file_range,msync "$dpm" run tenth.dpm --data staff=@staff --ledger ledger --json > /dev/null
  awk -v what="$1" '$NF ~ /sync/ { n += $4; names = names " " $NF " " $4 } END { print what ": " n + 0 " calls that force the disk (" substr(names, 2) ")" }' counts
}
counted "a charged run"
counted "the run after it"
strace -f -T -e trace=fsync,fdatasync -o times "$dpm" run tenth.dpm --data staff=@staff --ledger ledger --json > /dev/null
sed -n 's/.*<\(.*\)>$/\1/p' times | awk '{ t += $1 } END { printf "they took %.1f ms together on this machine\n", t * 1000 }'
"$dpm" ledger witness ledger --at witness > /dev/null
counted "with a witness in a file"
