#!/bin/sh
# Every system call of a charged run that touches the disk fails once, in turn; and the run is killed at every one.
# After each: a run that opened its data, or printed, is charged; the ledger reads as before or after, or is locked.
# Needs strace. Usage: benches/inject.sh [DPM]; writes benches/results/inject.txt.
set -u
dpm=$(realpath "${1:-target/debug/dpm}")
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
charges() { "$dpm" ledger show ledger --json 2> why | sed -n 's/.*"charges": \([0-9]*\).*/\1/p'; }
: > result
fresh
wrong=0 total=0
for fault in fsync:error=EIO fsync:error=ENOSPC pwrite64:error=EIO pwrite64:error=ENOSPC pwrite64:retval=10 write:error=ENOSPC write:error=EIO \
  pread64:error=EIO read:error=EIO openat:error=EIO openat:error=ENOSPC rename:error=EIO unlink:error=EIO ftruncate:error=EIO fcntl:error=EIO \
  fsync:signal=KILL pwrite64:signal=KILL write:signal=KILL openat:signal=KILL rename:signal=KILL unlink:signal=KILL fcntl:signal=KILL \
  pread64:signal=KILL; do
  call=${fault%%:*}
  points=0 charged=0 untouched=0 locked=0 poisoned=0 bad=0
  while :; do
    before=$(charges)
    strace -f -o trace -e trace=openat,"$call" -e inject="$fault":when=$((points + 1)) \
      "$dpm" run tenth.dpm --data staff=@staff --ledger ledger --json > answer 2> said
    status=$?
    # A kill leaves no mark in the trace but the end of the process.
    grep -q -e INJECTED -e 'killed by SIGKILL' trace || break
    points=$((points + 1))
    opened=$(grep 'staff.csv' trace | grep -c -v ' = -1')
    if [ -e ledger.poisoned ]; then poisoned=$((poisoned + 1)); rm -f ledger.poisoned; fi
    after=$(charges)
    if [ -z "$after" ]; then
      grep -q locked why || { bad=$((bad + 1)); echo "unexpected: $fault $points: $(cat why)" >> result; }
      locked=$((locked + 1))
      fresh
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
  done
  echo "$fault: $points points; charged $charged, untouched $untouched, locked $locked (poison marks $poisoned); violations $bad" >> result
  wrong=$((wrong + bad)) total=$((total + points))
done
echo "total: $total points, $wrong violations" >> result
cat result
cp result "$out"
[ "$wrong" -eq 0 ]
