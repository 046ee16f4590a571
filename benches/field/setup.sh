#!/bin/sh
# Makes the virtual environments of the peers, outside the tree: FIELD says where. diffprivlib needs an older scikit-learn.
set -eu
for name in ibm dp; do
    python3 -m venv "$FIELD/$name"
    "$FIELD/$name/bin/pip" install --quiet --upgrade pip
done
"$FIELD/ibm/bin/pip" install --quiet diffprivlib==0.6.6 scikit-learn==1.5.2 numpy==2.2.6 scipy==1.17.1
"$FIELD/dp/bin/pip" install --quiet opendp==0.16.0 dp-accounting==0.6.0 numpy==2.4.6 scipy==1.17.1
