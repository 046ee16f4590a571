"""Time of `dpm certify` and `dpm verify` for programs of many releases under (epsilon, delta).

mixed.py DPM writes benches/results/mixed.csv, a line a program, and goes on where it ended; then benches/results/mixed.txt: wall and
processor time of the quickest of three processes each; processor time does not depend on what else runs. Half of the releases are draws of different posteriors, a quarter each sums with Laplace and counts with normal noise, all by `auto`.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
LINES, TEXT = (os.path.join(HERE, f"mixed.{kind}") for kind in ("csv", "txt"))


def mixed(draws, noises):
    """So many releases, in turn."""
    columns = "".join(f", b{i}: bool" for i in range(draws))
    lines = ["budget dp(eps = 1, delta = 1e-6)", f"private t[n >= 100] {{ x: real in [0, 1]{columns} }}"]
    for i in range(max(draws, noises)):
        if i < draws:
            lines += [f"param p{i} ~ beta({6 + i / 7:.4f}, 18)", f"observe b{i} ~ bernoulli(p{i})", f"release d{i} = draw(p{i})"]
        if i < noises:
            lines += [f"release n{i} = " + (f"sum(clip(x, 0, {1 - i / 1000:g})) using laplace" if i % 2 else f"sum(clip(x, 0, {1 - i / 1000:g})) using gaussian")]
    return "\n".join(lines) + "\n"


PROGRAMS = {
    "one draw": mixed(1, 0),
    "ten draws and five noises": mixed(10, 5),
    **{f"{n} mixed releases": mixed(n // 2, n // 2) for n in (10, 50, 100, 200)},
}


def best(*command):
    """Seconds by the clock and of the processor, each of the quickest of three, and how it ended."""
    found = []
    for _ in range(3):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append((time.perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        if found[0][0] > 30:
            break
    wall, processor = map(min, zip(*found))
    return f"{wall:.3f}", f"{processor:.3f}", done.returncode


def main():
    dpm = os.path.abspath(sys.argv[1])
    done = [row[0] for row in csv.reader(open(LINES))] if os.path.exists(LINES) else []
    with open(LINES, "a", newline="") as f, tempfile.TemporaryDirectory() as folder:
        path, certificate = os.path.join(folder, "p.dpm"), os.path.join(folder, "c.json")
        for name, text in PROGRAMS.items():
            if name in done:
                continue
            with open(path, "w") as program:
                program.write(text)
            certified = best(dpm, "certify", path, "-o", certificate)
            verified = best(dpm, "verify", certificate) if certified[2] == 0 else ("", "", "")
            csv.writer(f).writerow([name, *certified, *verified, f"{os.getloadavg()[0]:.1f}"])
            f.flush()
    rows = list(csv.reader(open(LINES)))
    lines = [f"seconds by the clock and of the processor, the quickest of three processes, {os.cpu_count()} cores",
             f"{'':28} {'certify':>8} {'cpu':>8}  exit {'verify':>8} {'cpu':>8}  exit   load"]
    lines += [f"{name:28} {a:>8} {b:>8} {c:>5} {d:>8} {e:>8} {f:>5} {load:>6}" for name, a, b, c, d, e, f, load in rows]
    with open(TEXT, "w") as f:
        f.write("\n".join(lines) + "\n")
    print("\n".join(lines))


main()
