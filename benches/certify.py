"""Time and memory of `dpm check` and `dpm certify` on programs that are as dear to price as their text allows.

certify.py DPM writes benches/results/certify.txt: processor time of the quicker of two runs, and peak memory. Every program ends within two seconds
and 512 MB on a quiet machine, or is refused by a limit that is named.
"""

import os
import resource
import subprocess
import sys
import tempfile

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


def run(dpm, command, path):
    """Seconds of processor, bytes at most resident, exit code and the codes of complaints."""
    code = "import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], capture_output=True, text=True); u = resource.getrusage(resource.RUSAGE_CHILDREN); " \
        "text = r.stdout + r.stderr; print(u.ru_utime + u.ru_stime, u.ru_maxrss, r.returncode, ','.join(sorted({w.strip('[]') for w in text.split() if w.startswith('[E') or w.startswith('[W')})))"
    seconds, kilobytes, exit, *codes = subprocess.run([sys.executable, "-c", code, dpm, command, path], capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), int(kilobytes) / 1024, int(exit), " ".join(codes)


def main():
    dpm = os.path.abspath(sys.argv[1])
    only = sys.argv[2:]
    lines = []
    for name, text in SHAPES:
        if only and not any(part in name for part in only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.dpm")
            with open(path, "w") as f:
                f.write(text)
            cells = []
            for command in ("check", "certify"):
                runs = [run(dpm, command, path) for _ in range(1 if only else 2)]
                seconds, megabytes, exit, codes = min(runs)
                cells.append(f"{seconds:6.2f} s {megabytes:5.0f} MB")
            lines.append(f"{name:46} {cells[0]}   {cells[1]}   exit {exit} {codes}".rstrip())
            print(lines[-1], flush=True)
    if not only:
        head = f"processor time and peak memory of `dpm check` and `dpm certify`; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n"
        with open(OUT, "w") as f:
            f.write(head + "\n".join(lines) + "\n")


main()
