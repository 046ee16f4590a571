#!/bin/sh
# Every system call of a charged run that touches the disk fails once, in turn; and the run is killed at every one.
# After each: a run that opened its data, or printed, is charged; the ledger reads as before or after, or is locked.
# Resumable: every kind of fault adds a line to benches/results/inject.txt, and one that is there is left out.
# Needs strace. Usage: benches/inject.sh [DPM [PART OF]], as `benches/inject.sh dpm 0 3`, `.. 1 3` and `.. 2 3` at once.
set -u
dpm=$(realpath "${1:-target/debug/dpm}")
part=${2:-0} of=${3:-1} number=0
out=$(realpath benches/results)/inject.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
{ echo smoker; for i in $(seq 120); do echo true; done; } > staff.csv
printf "private staff[n >= 100] { smoker: bool }\n" > schema
printf 'budget eps(0.1)\nprivate staff[n >= 100] { smoker: bool }\nrelease share = mean(smoker) using laplace\n' > tenth.dpm
fresh() {
  rm -f ledger*
  "$dpm" ledger init ledger --dataset staff=staff.csv --schema schema --shared --budget "eps(1000)" > /dev/null || exit 1
}
# Nothing where the ledger is locked; `show` would price all of them.
charges() { "$dpm" ledger history ledger > entries 2> why && grep -c '  reserve ' entries; }
touch "$out"
fresh
faults=
for call in fsync fdatasync pwrite64 write pread64 read openat rename unlink ftruncate fcntl flock mmap munmap close fstat statx newfstatat lseek getrandom; do
  for kind in error=EIO error=ENOSPC error=EACCES error=ENOMEM signal=KILL; do faults="$faults $call:$kind"; done
done
for fault in pwrite64:retval=10 write:retval=3 $faults; do
  number=$((number + 1))
  if [ $((number % of)) -ne "$part" ] || grep -q "^$fault: " "$out"; then continue; fi
  fresh
  : > result
  call=${fault%%:*}
  # Stops at these calls alone; a kill then leaves no trace.
  fast=--seccomp-bpf
  case $fault in *KILL) fast= ;; esac
  points=0 charged=0 untouched=0 locked=0 poisoned=0 bad=0
  before=$(charges)
  while :; do
    strace -f $fast -o trace -e trace=openat,"$call" -e inject="$fault":when=$((points + 1)) \
      "$dpm" run tenth.dpm --data staff=@staff --ledger ledger --json > answer 2> said
    status=$?
    # A kill leaves no mark in the trace but the end of the process.
    grep -q -e INJECTED -e 'killed by SIGKILL' trace || break
    points=$((points + 1))
    opened=$(grep 'openat(.*staff.csv' trace | grep -c -v ' = -1')
    if [ -e ledger.poisoned ]; then poisoned=$((poisoned + 1)); rm -f ledger.poisoned; fi
    after=$(charges)
    if [ -z "$after" ]; then
      grep -q locked why || { bad=$((bad + 1)); echo "unexpected: $fault $points: $(cat why)" >> result; }
      locked=$((locked + 1))
      fresh
      before=0
      continue
    fi
    case $((after - before)) in
      0)
        untouched=$((untouched + 1))
        if [ "$opened" -gt 0 ] || [ -s answer ]; then
          bad=$((bad + 1)); echo "UNCHARGED: $fault $points (exit $status)" >> result
        fi ;;
      1) charged=$((charged + 1)) ;;
      *) bad=$((bad + 1)); echo "DOUBLE: $fault $points: $before -> $after" >> result ;;
    esac
    before=$after
    # A ledger that grows makes more calls, and the last of them is never reached.
    if [ "$after" -ge 10 ]; then fresh; before=0; fi
  done
  cat result >> "$out"
  echo "$fault: $points points; charged $charged, untouched $untouched, locked $locked (poison marks $poisoned); violations $bad" >> "$out"
done
awk '/ points; / { n += $2; bad += $NF } END { print n " points, " bad " violations"; exit bad > 0 }' "$out"
