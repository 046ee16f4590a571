"""Judges the draws that `cargo bench --bench peers` left in PEERS_DATA, by the measure of the others."""

import json
import os

from common import DATA, report

import numpy as np

for line in open(os.path.join(DATA, "ours.json")):
    r = json.loads(line)
    w = np.fromfile(os.path.join(DATA, r["file"])).reshape(-1, r["dimension"])
    report(r["who"], r["data"], r["loss"], r["seed"], w, r["warm_s"], r["draw_s"], r["steps"], r["steps_warm"])
