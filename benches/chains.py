"""Time of a certified Langevin draw of a logistic regression of 6 features: chains.py DPM N:SD:MECHANISM.. prints seconds, reading included, of one thread unless RAYON_NUM_THREADS says more."""

import math
import os
import random
import subprocess
import sys
import tempfile
import time

WEIGHTS = [1, -0.7, 0.5, 0.2, -0.4, 0.8]
PROGRAM = """budget dp(eps = 1, delta = 1e-6)
private t[{n}] {{ x: vector[6] in l2(1), y: bool }}
param w: vector[6] ~ normal(0, {sd})
observe y ~ bernoulli_logit(dot(w, x))
release d = draw(w) using {using}
"""


def rows(n):
    dice = random.Random(1)
    yield "x_1,x_2,x_3,x_4,x_5,x_6,y\n"
    for _ in range(n):
        x = [round(dice.uniform(-0.4, 0.4), 3) for _ in WEIGHTS]
        z = sum(w * x for w, x in zip(WEIGHTS, x))
        yield ",".join(map(str, x)) + f",{int(dice.random() < 1 / (1 + math.exp(-z)))}\n"


for case in sys.argv[2:]:
    n, sd, using = case.split(":")
    with tempfile.TemporaryDirectory() as folder:
        program, data = os.path.join(folder, "p.dpm"), os.path.join(folder, "t.csv")
        open(program, "w").write(PROGRAM.format(n=n, sd=sd, using=using))
        open(data, "w").writelines(rows(int(n)))
        start, before = time.perf_counter(), os.times()
        command = [sys.argv[1], "run", program, "--data", f"t={data}"]
        subprocess.run(command, check=True, capture_output=True, env={"RAYON_NUM_THREADS": "1"} | os.environ)
        wall, after = time.perf_counter() - start, os.times()
        print(f"{using:8} n {n:>8} prior sd {sd:>4}: {wall:8.2f} s, of the processor {after.children_user - before.children_user:.2f} s", flush=True)
