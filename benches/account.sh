#!/usr/bin/env bash
# The recipe of docs/ledger.md, step by step, and what an analyst can and cannot do after it. Needs root and sudo: for a container that is thrown away.
#   benches/account.sh PATH-OF-DPM
set -euo pipefail
dpm=$(realpath "$1")
cd "$(dirname "$0")/.."
install -m 755 "$dpm" /usr/local/bin/dpm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp examples/01_staff.csv "$work/staff.csv"
echo 'private staff[n >= 100] { smoker: bool }' >"$work/schema.dpm"
cd "$work"
# The block of the page, as printed.
awk '/^## A separate account/ { here = 1 } here && /^```/ { if (block) exit; block = 1; next } block' "$OLDPWD/docs/ledger.md" >recipe.sh
[ -s recipe.sh ]
bash -eu recipe.sh
id ana >/dev/null 2>&1 || useradd --create-home --groups analysts ana
cat >/home/ana/rate.dpm <<'END'
budget eps(0.25)
private staff[n >= 100] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release post = posterior(p)
END
chmod 644 /home/ana/rate.dpm
as_ana() { sudo -u ana sh -c "cd; $1"; }
fails() { if as_ana "$1" >/dev/null 2>&1; then echo "an analyst can: $1"; exit 1; fi; }
as_ana 'sudo -n -u dpm /usr/local/bin/dpm-run < rate.dpm' | grep -q '"remaining"'
fails 'cat /srv/dpm/staff.csv'
fails 'ls /srv/dpm'
fails 'sudo -n -u dpm cat /srv/dpm/staff.csv'
fails 'sudo -n -u dpm /usr/local/bin/dpm-run x < rate.dpm'
fails 'sudo -n -u dpm dpm ledger policy /srv/dpm/budgets.ledger --dataset staff'
sudo -u dpm dpm ledger show /srv/dpm/budgets.ledger | grep -q 'spent 0.25 of 1'
echo 'an analyst gets the record of a charged run, and nothing else'
