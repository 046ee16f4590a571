#!/bin/sh
# Charged runs killed with SIGKILL after a random time, in batches of 100, each batch on a fresh ledger.
# A run whose data were read (access time) or that printed is charged; no run is charged twice; the ledger stays whole.
# Resumable: every batch adds a line to benches/results/kill9.txt, and the script stops once N kills are there.
# Usage: benches/kill9.sh [N] [DPM]
set -u
wanted=${1:-10000}
dpm=$(realpath "${2:-target/debug/dpm}")
out=$(realpath benches/results)/kill9.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
touch "$out"
cd "$folder" || exit 1
{ echo smoker; for i in $(seq 120); do echo true; done; } > staff.csv
printf "private staff[n >= 100] { smoker: bool }\n" > schema
printf 'budget eps(0.1)\nprivate staff[n >= 100] { smoker: bool }\nrelease share = mean(smoker) using laplace\n' > tenth.dpm
# Nothing where the ledger is locked; `show` would price all of them.
charges() { "$dpm" ledger history ledger > entries 2> why && grep -c '  reserve ' entries; }
past() { touch -a -d @1 staff.csv; }
past; cat staff.csv > /dev/null
[ "$(stat -c %X staff.csv)" -gt 1 ] || { echo "access times are off on this file system"; exit 1; }
done_so_far() { awk '{ n += $2 } END { print n + 0 }' "$out"; }
while [ "$(done_so_far)" -lt "$wanted" ]; do
  rm -f ledger*
  "$dpm" ledger init ledger --dataset staff=staff.csv --schema schema --shared --budget "eps(1000)" > /dev/null || exit 1
  start=$(date +%s%N)
  "$dpm" run tenth.dpm --data staff=@staff --ledger ledger > /dev/null
  whole=$(($(date +%s%N) - start))
  before=$(charges) kills=0 read=0 charged=0 bad=0
  while [ "$kills" -lt 100 ]; do
    past
    # What an earlier run printed would be taken for this one's, which may be killed before its shell has emptied the file.
    rm -f answer
    random=$(od -An -N4 -tu4 /dev/urandom)
    delay=$(awk -v w="$whole" -v r="$random" 'BEGIN { printf "%.6f", w / 1e9 * 1.2 * r / 4294967296 }')
    "$dpm" run tenth.dpm --data staff=@staff --ledger ledger --json > answer 2> /dev/null &
    pid=$!
    sleep "$delay"
    kill -9 "$pid" 2> /dev/null
    wait "$pid" 2> /dev/null
    seen=0
    if [ "$(stat -c %X staff.csv)" -gt 1 ] || [ -s answer ]; then seen=1; fi
    after=$(charges)
    if [ -z "$after" ]; then bad=$((bad + 1)); echo "locked" >&2; break; fi
    step=$((after - before))
    if [ "$step" -lt "$seen" ] || [ "$step" -gt 1 ]; then
      bad=$((bad + 1))
      echo "run $kills: $before -> $after, access $(stat -c %X staff.csv), printed $(wc -c < answer)" >&2
    fi
    kills=$((kills + 1)) read=$((read + seen)) charged=$((charged + step)) before=$after
  done
  "$dpm" ledger verify ledger > /dev/null || bad=$((bad + 1))
  echo "kills: $kills read-or-printed: $read charged: $charged violations: $bad" >> "$out"
  [ "$bad" -eq 0 ] || exit 1
done
awk '{ n += $2; r += $4; c += $6; b += $8 } END { print n " kills, " r " runs had read or printed, " c " charged, " b " violations" }' "$out"
