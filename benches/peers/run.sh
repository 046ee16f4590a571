#!/bin/sh
# Side by side: time a leapfrog step and effective draws a second of NUTS on the same posteriors, three seeds of everyone, ten of dpm and nutpie on the dense rows; dpm before and after the others.
#
# PEERS is the virtual environment (made if it is not there), PEERS_DATA where generated data go. Writes benches/results/peers.txt: settings of the
# peers on one seed, from which those of the three seeds were chosen; the seeds; medians. PREFIX goes before what is timed, BENCH is the built bench. Stan and
# the beta-divergence are left out: stan_nuts.py, and the tasks `..:beta:..`, by hand.
set -eu
cd "$(dirname "$0")/../.."
here=benches/peers out=benches/results/peers.txt python="$PEERS/bin/python" limit="${LIMIT:-180}"
export PYTHONWARNINGS=ignore PYTHONPATH=$here
[ -e "$python" ] || sh $here/setup.sh
[ -e "$PEERS_DATA/mnist.bin" ] || "$python" $here/data.py
say() { echo "$*" >>$out; }
load() { cut -d' ' -f1-3 /proc/loadavg; }
peer() { # before the line, script, arguments
    before=$1 script=$2
    shift 2
    ${PREFIX:-} timeout "$limit" "$python" $here/"$script"_nuts.py "$@" 2>"$PEERS_DATA/peer.err" | grep ESS | sed "s/^/$before/" >"$PEERS_DATA/line" || true
    if [ -s "$PEERS_DATA/line" ]; then cat "$PEERS_DATA/line" >>$out; else say "$before$script $*: no result within $limit s"; fi
}
ours() { # tasks
    ${PREFIX:-} ${BENCH:-cargo bench --bench peers --} "$@" >>$out
    "$python" $here/ours.py >>$out
}

: >$out
say "NUTS, one chain, $(nproc) cores; load before: $(load)"
for settings in float64 float32 float32,gathered float32,gathered,dense_mass; do peer "choice: " numpyro adult logistic 300 200 1 $settings; done
for settings in diagonal low_rank low_rank,gathered low_rank,jax,float32 low_rank,jax,gathered,float32 low_rank,float32 low_rank,gathered,float32; do
    peer "choice: " nutpie adult logistic 300 200 1 $settings
done
say "load before the seeds: $(load)"
ours adult:logistic:300:400:1 adult:logistic:300:400:2 adult:logistic:300:400:3
while read -r script data loss warm draws settings seeds; do
    for seed in $seeds; do peer "" "$script" "$data" "$loss" "$warm" "$draws" "$seed" "$settings"; done
done <<EOF
numpyro adult logistic 300 1000 float32 1 2 3
nutpie adult logistic 300 500 low_rank,gathered 1 2 3
nutpie adult logistic 300 500 low_rank,gathered,float32 1 2 3
nutpie mnist logistic 300 300 low_rank,float32 1 2 3 4 5 6 7 8 9 10
numpyro mnist logistic 300 600 float32 1 2 3
EOF
for seed in 1 2 3 4 5 6 7 8 9 10; do ours mnist:logistic:300:1000:$seed; done
say "load before dpm again: $(load)"
ours adult:logistic:300:400:1 adult:logistic:300:400:2 adult:logistic:300:400:3
say "load after: $(load)"
"$python" $here/medians.py $out >"$PEERS_DATA/medians"
cat "$PEERS_DATA/medians" >>$out
