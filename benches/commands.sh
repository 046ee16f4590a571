#!/bin/sh
# Whole processes, as a user starts them: time and peak memory by GNU time, best of several runs.
# Builds the release binary (or takes the one that DPM_BIN names), writes benches/results/commands.txt. ROWS=10000000 is the size of the CSV pass.
set -eu
cd "$(dirname "$0")/.."
[ -n "${DPM_BIN:-}" ] || cargo build --release --quiet
dpm="${DPM_BIN:-$PWD/target/release/dpm}"
rows="${ROWS:-10000000}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

cat > "$work/rate20.dpm" <<'PROGRAM'
# Twenty lines: a rate, a mean, a table of counts.
budget zcdp(0.5)

private staff[n >= 100] {
  smoker: bool
  age: int in 18..90
  pay: real in [0, 200]
}

release mean_age = mean(age) using gaussian spend 20%

param mu ~ normal(60, 40)
observe pay ~ normal(mu, 30)
release mu_hat = draw(mu) spend 60%

release smokers = sum(smoker) using gaussian spend 20%

output gap = mu_hat - 50
output share = smokers / 100
expect certificate(total) <= zcdp(0.5)
PROGRAM
cat > "$work/dirichlet.dpm" <<'PROGRAM'
budget rdp(order = 1.25, eps = 1)
private t[n] { c: int in 1..1000000 }
param s ~ dirichlet(rep(0.5, 1000000))
observe c ~ categorical(s)
release s_hat = draw(s)
PROGRAM
cat > "$work/beta.dpm" <<'PROGRAM'
budget rdp(order = 8, eps = 0.5)
private t[1000000000000] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p)
PROGRAM
cp examples/01_beta_bernoulli.dpm "$work/rate.dpm"
# A linear congruential generator with seed 1: every third row or so is a smoker.
awk -v rows="$rows" 'BEGIN { print "id,smoker,age"; x = 1
    for (i = 0; i < rows; i++) { x = (x * 48271) % 2147483647; print i "," (x % 10 < 3 ? 1 : 0) "," 18 + x % 73 } }' > "$work/staff.csv"

# measure RUNS COMMAND..: the fastest run as "seconds MiB".
measure() {
    runs="$1"; shift
    : > "$work/times"
    for _ in $(seq "$runs"); do
        start="$(date +%s%N)"
        env time -f '%M' -o "$work/time" "$@" > /dev/null 2> "$work/errors" || { cat "$work/errors" >&2; exit 1; }
        end="$(date +%s%N)"
        echo "$(( (end - start) / 1000 )) $(tail -n 1 "$work/time")" >> "$work/times"
    done
    sort -n "$work/times" | awk 'NR == 1 { printf "%.4f s, %.0f MiB\n", $1 / 1e6, $2 / 1024 }'
}

line() { printf '%-58s %s\n' "$1" "$2" | tee -a "$work/report"; }

echo "Whole processes in a release build (benches/commands.sh): wall time, start included, and peak memory; best run." > "$work/report"
line "check, 20 lines (goal 0.010 s), best of 20" "$(measure 20 "$dpm" check "$work/rate20.dpm")"
line "certify, Dirichlet d = 1e6 (goal 1 s), best of 5" "$(measure 5 "$dpm" certify "$work/dirichlet.dpm")"
line "certify --json, Dirichlet d = 1e6, best of 5" "$(measure 5 "$dpm" certify --json "$work/dirichlet.dpm")"
line "certify, Beta n = 1e12, best of 5" "$(measure 5 "$dpm" certify "$work/beta.dpm")"
csv="$(measure 2 "$dpm" run "$work/rate.dpm" --data "staff=$work/staff.csv")"
line "run, program 01 on $rows rows of 3 columns, best of 2" "$csv"
line "  rows per second" "$(echo "$csv" | awk -v rows="$rows" '{ printf "%.2e\n", rows / $1 }')"
line "  size of the file" "$(du -m "$work/staff.csv" | cut -f1) MiB"
mkdir -p benches/results
cp "$work/report" benches/results/commands.txt
