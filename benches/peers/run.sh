#!/bin/sh
# Side by side: time a leapfrog step and effective draws a second of NUTS on the same posteriors.
#
# PEERS is the virtual environment (setup.sh makes it), PEERS_DATA where generated data go. Writes benches/results/peers.txt.
# The beta-divergence takes the peers minutes for few draws: their effective sizes are then rough.
set -eu
cd "$(dirname "$0")/../.."
here=benches/peers out=benches/results/peers.txt python="$PEERS/bin/python"
export PYTHONWARNINGS=ignore PYTHONPATH=$here
[ -e "$PEERS_DATA/mnist.bin" ] || "$python" $here/data.py
say() { echo "$*" >>$out; }
: >$out
say "NUTS, doubles, one chain, $(nproc) cores; load before: $(cut -d' ' -f1-3 /proc/loadavg)"
cargo bench --bench peers >>$out
"$python" $here/ours.py >>$out
for peer in ${PEER_LIST:-numpyro nutpie stan}; do
    [ "$peer" = stan ] && runs="$PEERS/stan/bin/python" || runs="$python"
    for task in ${TASKS:-adult:logistic:150 mnist:logistic:60 adult:beta:40}; do
        data=${task%%:*} rest=${task#*:}
        loss=${rest%%:*} draws=${rest#*:}
        timeout "${LIMIT:-900}" "$runs" $here/${peer}_nuts.py "$data" "$loss" "$draws" "$draws" 2>"$PEERS_DATA/peer.err" | grep ESS >>$out ||
            say "$data $loss $peer: no result within ${LIMIT:-900} s: $(tail -n 1 "$PEERS_DATA/peer.err")"
    done
done
say "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
cat $out
