"""Exact draws beside numpy's: draws.py NUMPY_PYTHON NOW [BEFORE] writes benches/results/draws.txt.

NOW and BEFORE are built benches (`cargo bench --bench draws --no-run` prints the path). Everything is run in turn, round after round: each figure is a
median of medians in ns a draw, with its range. numpy's are of arrays of 10,000, which stay in the cache. What the file says after its first empty
line, written by hand, stays.
"""

import os
import re
import statistics
import subprocess
import sys

ROUNDS = 7
UNITS = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "draws.txt")
NUMPY = """
import numpy, statistics, time
rng, n = numpy.random.Generator(numpy.random.PCG64()), 10_000
for name, law in [("normal", lambda: rng.normal(1.5, 2.5, n)), ("gamma", lambda: rng.gamma(12.5, 1 / 1.5, n)), ("beta", lambda: rng.beta(12.5, 87, n))]:
    def seconds():
        start = time.perf_counter()
        law()
        return time.perf_counter() - start
    print(name + "_exact", statistics.median(seconds() for _ in range(200)) * 1e9 / n)
"""


def numpy(python):
    lines = subprocess.run([python, "-c", NUMPY], capture_output=True, text=True, check=True).stdout.split("\n")
    return {name: float(ns) for name, ns in (line.split() for line in lines if line)}


def bench(path):
    """Medians of the exact draws, of 1,000 draws each: microseconds a thousand are ns a draw."""
    said = subprocess.run([path, "--bench", "--sample-count", "30", "exact", "by_"], capture_output=True, text=True, check=True).stdout
    found, group = {}, ""
    for line in said.split("\n"):
        cells = re.findall(r"[─│ ]([\w.-]+) +[\d.]+ (?:ns|µs|ms|s) +│ [\d.]+ (?:ns|µs|ms|s) +│ ([\d.]+) (ns|µs|ms|s)", line)
        head = re.search(r"─ (\w+_by_\w+)", line)
        group = head.group(1) if head else group if line.startswith("│  ") else ""
        for name, number, unit in cells:
            found[f"{group} {name}".strip()] = float(number) * UNITS[unit]
    return found


def main():
    python, *paths = sys.argv[1:]
    names = ["numpy", "now", "before"][: 1 + len(paths)]
    runs = {name: [] for name in names}
    load = lambda: " ".join(open("/proc/loadavg").read().split()[:3])
    first = load()
    for _ in range(ROUNDS):
        for name, path in zip(names, [python, *paths]):
            runs[name].append((numpy if name == "numpy" else bench)(path))
    lines = [
        f"ns a draw, medians of {ROUNDS} rounds in turn with their ranges; release build, one of {os.cpu_count()} shared cores; load {first}, after {load()}",
        f"{'draw':24}" + "".join(f"{name:>24}" for name in names) + "    now/numpy  before/now",
    ]
    for key in runs["now"][0]:
        cells = {name: sorted(run[key] for run in runs[name] if key in run) for name in names}
        show = lambda x: f"{statistics.median(x):.0f} ({x[0]:.0f} to {x[-1]:.0f})" if x else ""
        ratio = lambda a, b: f"{statistics.median(cells[a]) / statistics.median(cells[b]):.1f}" if cells.get(a) and cells.get(b) else ""
        lines.append(f"{key:24}" + "".join(f"{show(cells[n]):>24}" for n in names) + f"{ratio('now', 'numpy'):>13}{ratio('before', 'now'):>12}")
    notes = open(RESULTS).read().partition("\n\n")[2]
    with open(RESULTS, "w") as f:
        f.write("\n".join(lines) + "\n\n" + notes)
    print("\n".join(lines))


main()
