"""Peak memory of `dpm run` on a regression against the encoded size of its rows: 4 bytes a number, 1 a category, 4 an outcome.

memory.py DPM writes benches/results/memory.txt. The program itself and the buffers take what a run on 100 rows takes.
"""

import os
import random
import subprocess
import sys
import tempfile

DPM = os.path.abspath(sys.argv[1])
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "memory.txt")

SHAPES = [
    ("784 numbers", 784, 0, 7_988),
    ("784 numbers", 784, 0, 31_952),
    ("6 numbers, 8 categories of 12", 6, 8, 400_000),
]


def program(numbers, groups):
    levels = ", ".join(f"l{i}" for i in range(12))
    columns = [f"x: vector[{numbers}] in l2(1)"] + [f"g{i}: category {{{levels}}}" for i in range(groups)]
    lines = ["budget gdp(1)", f"private t[n] {{ {', '.join(columns)}, y: bool }}", f"param w: vector[{numbers}] ~ normal(0, 1)"]
    lines += [f"param u{i}: vector[g{i}] ~ normal(0, 1)" for i in range(groups)]
    terms = " + ".join(["dot(w, x)"] + [f"u{i}[g{i}]" for i in range(groups)])
    return "\n".join(lines + [f"observe y ~ bernoulli_logit({terms})", "release v = draw(w) using diffuse(steps = 3)"]) + "\n"


def write(path, numbers, groups, rows):
    rng = random.Random(1)
    row = lambda: [f"{rng.random() / 30:.4f}" for _ in range(numbers)] + [f"l{rng.randrange(12)}" for _ in range(groups)] + [str(rng.randrange(2))]
    some = [",".join(row()) + "\n" for _ in range(500)]
    with open(path, "w") as f:
        f.write(",".join([f"x_{i + 1}" for i in range(numbers)] + [f"g{i}" for i in range(groups)] + ["y"]) + "\n")
        for i in range(rows):
            f.write(some[i % len(some)])


def peak(text, path):
    """Bytes at most resident, measured by a shell of its own so that nothing else is counted."""
    code = "import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); sys.exit(r.returncode) if r.returncode else print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    found = subprocess.run([sys.executable, "-c", code, DPM, "run", text, "--data", f"t={path}"], capture_output=True, text=True)
    if found.returncode:
        sys.exit(found.stderr)
    return 1024 * int(found.stdout)


with tempfile.TemporaryDirectory() as folder:
    lines = []
    for name, numbers, groups, rows in SHAPES:
        text, few, many = (os.path.join(folder, f) for f in ("m.dpm", "few.csv", "many.csv"))
        with open(text, "w") as f:
            f.write(program(numbers, groups))
        write(few, numbers, groups, 100)
        write(many, numbers, groups, rows)
        # Two categories of 12 share a byte.
        encoded = rows * (4 * numbers + (groups + 1) // 2 + 4)
        least, most = peak(text, few), peak(text, many)
        lines.append(
            f"{rows} rows of {name}: encoded {encoded / 1e6:.1f} MB, file {os.path.getsize(many) / 1e6:.1f} MB, peak of the whole process {most / 1e6:.1f} MB ({least / 1e6:.1f} MB with 100 rows): {most / encoded:.2f} times the encoded size, {(most - least) / encoded:.2f} times without what 100 rows take"
        )
        print(lines[-1], flush=True)
with open(OUT, "w") as f:
    f.write("\n".join(lines) + "\n")
