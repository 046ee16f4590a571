"""Time and memory of `dpm check`, `dpm certify` and `dpm verify` on programs that are as dear as their text allows.

certify.py DPM [PART OF A NAME ..] writes benches/results/certify.txt, if no part is named: processor time of the quicker of two runs, and peak
memory. `check` and `certify` of every program end within two seconds and 512 MB, or refuse it by a limit that is named. What is dear to price stands
here and is listed in full; what is large to read is in hostile.py, of which the worst are listed.
"""

import os
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from hostile import TEXTS

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "certify.txt")
COUNT = 500
DP = "budget dp(eps = 1, delta = 1e-6)\n"
TABLE = "private t[n >= 100] { b: bool, k: int in 0..50, x: real in [0, 1], c: category {u, v, w}, v: vector[5] in l2(1), g: category {p, q}, s: counts[45] of 45 }\n"
BETA = "param p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\n"


def many(line, count=COUNT):
    return "".join(line(i) + "\n" for i in range(count))


def draws(count, budget=DP):
    """So many draws, each of a parameter of its own, with priors that are all different."""
    columns = ", ".join(f"b{i}: bool" for i in range(count))
    models = many(lambda i: f"param p{i} ~ beta({6 + i / 7}, 18)\nobserve b{i} ~ bernoulli(p{i})\nrelease r{i} = draw(p{i})", count)
    return f"{budget}private t[n >= 100] {{ {columns} }}\n{models}"


def orders(count):
    listed = lambda f: ", ".join(f"{f(i):g}" for i in range(count))
    return f"budget rdp(order = [{listed(lambda i: 1.5 + i / 8)}], eps = [{listed(lambda i: 1 + i / 8)}])\n"


def written(line):
    return lambda i: line.format(i=i, x=20 + i / 7)


SHAPES = [
    ("500 equal sums", DP + TABLE + many(lambda i: f"release r{i} = sum(x)")),
    ("500 different sums", DP + TABLE + many(lambda i: f"release r{i} = sum(clip(x, 0, {1 - i / 1000}))")),
    ("500 different written noises", DP + TABLE + many(written("release r{i} = sum(x) using laplace(scale = {x})"))),
    ("500 normal noises, written", "budget dp(eps = 3, delta = 1e-5)\n" + TABLE + many(lambda i: f"release r{i} = count(b) using gaussian(sigma = 89.44)")),
    ("500 quantiles", DP + TABLE + many(lambda i: f"release r{i} = quantile(x, {0.1 + i / 1000})")),
    ("500 equal beta draws", DP + TABLE + BETA + many(lambda i: f"release r{i} = draw(p)")),
    ("100 different beta draws", draws(100)),
    ("500 different beta draws", draws(500)),
    ("500 different beta draws, 100 orders", draws(500, orders(100))),
    ("sums, noises and draws of every kind", DP + TABLE + BETA + many(lambda i: [
        f"release r{i} = sum(clip(x, 0, {1 - i / 1000}))", f"release r{i} = draw(p)", f"release r{i} = quantile(x, {0.1 + i / 1000})",
        f"release r{i} = count(b) using gaussian(sigma = {400 + i})", f"release r{i} = histogram(c)"][i % 5])),
    ("groups of a private key", DP + TABLE + "each g of t {\n" + BETA + many(lambda i: f"release r{i} = draw(p)") + "}\n"),
    ("500 expectations, each at a delta of its own", DP + TABLE + BETA + many(lambda i: f"release r{i} = draw(p)", 20)
     + many(lambda i: f"expect certificate(total) <= dp(eps = 2, delta = {1e-6 * (1 + i)})", COUNT - 20)),
    ("500 releases too dear", DP + TABLE + BETA + many(lambda i: f"release r{i} = draw(p) using diffuse(r = {0.5 + i / 2000})")),
    ("shares of 45 items over 45 categories", DP + TABLE + "param q ~ dirichlet(rep(3, 45))\nobserve s ~ multinomial(45, q)\nrelease r = draw(q)\n"),
    ("500 shares of 45 items over 45 categories", DP + TABLE + "param q ~ dirichlet(rep(3, 45))\nobserve s ~ multinomial(45, q)\n" + many(lambda i: f"release r{i} = draws(q, {i + 1})")),
    ("500 whole posteriors", DP + TABLE + BETA + many(lambda i: f"release r{i} = posterior(p)")),
    ("500 posteriors by a calibrated law", "budget eps(1)\nprivate t[10000] { b: bool }\n" + BETA + many(lambda i: f"release r{i} = posterior(p) using ehds(calibration = exact)")),
    ("500 regressions", DP + TABLE + "param w: vector[5] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, v))\n" + many(lambda i: f"release r{i} = draw(w)")),
    ("500 penalty chains", DP + TABLE + "param w: vector[5] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, v))\n" + many(lambda i: f"release r{i} = draw(w) using penalty")),
    ("100 chains on samples", "budget dp(eps = 100, delta = 1e-6)\nprivate t[10000] { b: bool, v: vector[5] in l2(1) }\nparam w: vector[5] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, v))\n"
     + many(lambda i: f"release r{i} = draw(w) using dp_sgld(iterations = {1000 + i}, batch = 100)", 100)),
    ("50,000 orders", orders(50_000) + TABLE + "release r = sum(x)\n"),
]


CHILD = """
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (6, 6))
done = subprocess.run(sys.argv[1:], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
text = (done.stdout[:200_000] + done.stderr[:200_000]).decode(errors="replace")
codes = sorted({w.strip("[]") for w in text.split() if w[:3] in ("[E0", "[W0")})
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.returncode, ",".join(codes))
"""


def run(dpm, *command):
    """Seconds of processor, megabytes at most resident, exit code and the codes of complaints, of the quicker of two runs."""
    found = []
    for _ in range(2):
        said = subprocess.run([sys.executable, "-c", CHILD, dpm, *command], capture_output=True, text=True, check=True).stdout.split()
        found.append((float(said[0]), float(said[1]), int(said[2]), " ".join(said[3:])))
        # What is far from the limit is not measured twice.
        if found[0][0] < 1:
            break
    return min(found)


def measure(dpm, name, text):
    """One text through every command: cells of seconds and megabytes, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        path, certificate = os.path.join(folder, "p.dpm"), os.path.join(folder, "c.json")
        with open(path, "w", newline="") as f:
            f.write(text)
        cells = [run(dpm, "check", path), run(dpm, "certify", path, "-o", certificate)]
        if os.path.exists(certificate):
            cells.append(run(dpm, "verify", certificate))
    return name, cells


def line(name, cells):
    shown = "   ".join(f"{seconds:6.2f} s {megabytes:5.0f} MB" for seconds, megabytes, _, _ in cells)
    _, _, exit, codes = cells[1]
    verified = f", verify exit {cells[2][2]}" if len(cells) > 2 else ""
    return f"{name:58} {shown:54} exit {exit} {codes}{verified}".rstrip()


def main():
    dpm, only = os.path.abspath(sys.argv[1]), sys.argv[2:]
    wanted = lambda name: not only or any(part in name for part in only)

    def all_of(texts):
        def one(item):
            row = measure(dpm, item[0], item[1]() if callable(item[1]) else item[1])
            print(line(*row), flush=True)
            return row

        # Processor time does not depend on what else runs.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(one, [item for item in texts if wanted(item[0])]))

    priced, read = all_of(SHAPES), all_of(TEXTS.items())
    if only:
        return
    every = [cell for _, cells in priced + read for cell in cells[:2]]
    worst = lambda which: sorted(read, key=lambda row: -max(cell[which] for cell in row[1]))[:15]
    dear = lambda cells: any(s > 2 or m > 512 or e not in (0, 1, 3, 5) for s, m, e, _ in cells)
    over, slow = ([name for name, cells in priced + read if dear(part(cells))] for part in (lambda c: c[:2], lambda c: c[2:]))
    lines = [
        f"processor time and peak memory of `dpm check`, `dpm certify` and, of what certifies, `dpm verify`; "
        f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        f"{len(priced)} programs that are dear to price, {len(read)} texts that are large to read; "
        f"at most {max(c[0] for c in every):.2f} s and {max(c[1] for c in every):.0f} MB",
        f"check or certify above 2 s or 512 MB: {'; '.join(over) or 'none'}",
        f"verify above 2 s or 512 MB, or stopped after 6 s: {'; '.join(slow) or 'none'}",
        "", "dear to price", *(line(*row) for row in priced),
        "", "large to read: the slowest", *(line(*row) for row in worst(0)),
        "", "large to read: the largest", *(line(*row) for row in worst(1)),
    ]
    with open(OUT, "w") as f:
        f.write("\n".join(lines) + "\n")


main()
