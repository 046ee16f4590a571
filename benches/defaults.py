"""What defaults are worth: log10 of the rmse of draws from the weights that made the rows, as before and as now (rule book, sections 10 and 12.3).

defaults.py DPM [DATA_SETS] > benches/results/defaults.txt    Needs numpy. Logistic rows with 2 features in the unit ball, weights from their prior;
a draw of each data set (40) by each program, the same data sets for both.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

DPM, DATA_SETS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
ROWS = 10_000
ROADS = {
    "beta_div, eps 0.6: beta alone": ("eps(0.6)", "beta_div(weight = 1) assuming convergence"),
    "beta_div, eps 0.6: beta and weight": ("eps(0.6)", "beta_div assuming convergence"),
    "dp_sgld, eps 1, delta 1e-5: samples of 100 rows": ("dp(eps = 1, delta = 1e-5)", "dp_sgld(batch = 100)"),
    "dp_sgld, eps 1, delta 1e-5: all rows": ("dp(eps = 1, delta = 1e-5)", "dp_sgld"),
}


def program(budget, how):
    return f"""budget {budget}
private t[{ROWS}] {{ a: real in [-1, 1], b: real in [-1, 1], y: bool }}
let x = project(l2(1), [a, b])
param w: vector[2] ~ normal(0, 1)
observe y ~ bernoulli_logit(dot(w, x))
release d = draw(w) using {how}
"""


squares = {road: [] for road in ROADS}
with tempfile.TemporaryDirectory() as folder:
    source, data = os.path.join(folder, "p.dpm"), os.path.join(folder, "t.csv")
    for number in range(DATA_SETS):
        dice = np.random.default_rng(number)
        w = dice.normal(size=2)
        x = dice.normal(size=(ROWS, 2))
        x *= (np.sqrt(dice.random(ROWS)) / np.linalg.norm(x, axis=1))[:, None]
        y = dice.random(ROWS) < 1 / (1 + np.exp(-x @ w))
        with open(data, "w", encoding="utf-8") as file:
            file.write("a,b,y\n" + "".join(f"{a},{b},{str(c).lower()}\n" for (a, b), c in zip(x, y)))
        for road, parts in ROADS.items():
            with open(source, "w", encoding="utf-8") as file:
                file.write(program(*parts))
            done = subprocess.run([DPM, "run", source, "--data", f"t={data}", "--json", "--anyway"], check=True, capture_output=True, text=True)
            squares[road].append(np.mean((np.array(json.loads(done.stdout)["releases"]["d"]) - w) ** 2))
print(f"log10 rmse of draws of 2 weights, {ROWS} rows, {DATA_SETS} data sets (benches/defaults.py): mean and standard error")
for road, found in squares.items():
    rmse, error = math.sqrt(np.mean(found)), np.std(found) / math.sqrt(len(found))
    print(f"{road:50} {math.log10(rmse):6.2f}  {error / (2 * rmse**2 * math.log(10)):.2f}")
