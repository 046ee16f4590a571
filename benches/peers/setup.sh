#!/bin/sh
# Makes the virtual environment of the peers, outside the tree: PEERS says where.
set -eu
python3 -m venv "$PEERS"
"$PEERS/bin/pip" install --quiet --upgrade pip
"$PEERS/bin/pip" install --quiet numpy==2.4.6 arviz==0.23.4 "jax[cpu]==0.10.2" numpyro==0.22.0 pymc==5.28.5 nutpie==0.16.8
# Stan needs older tools, so it has its own.
python3 -m venv "$PEERS/stan"
"$PEERS/stan/bin/pip" install --quiet --upgrade pip "setuptools<70"
"$PEERS/stan/bin/pip" install --quiet pystan==3.10.0 httpstan==4.13.0 arviz==0.23.4 numpy==2.4.6
