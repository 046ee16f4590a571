#!/usr/bin/env python3
"""Random small programs against brute force at 50 digits: what `dpm certify` states is never below the truth.

random_truth.py run DPM COUNT [PART OF]   certifies and judges programs 0 to COUNT - 1 (of OF workers the PART-th), a line each in
                                          target/truth/PART.csv; goes on where it ended
random_truth.py table                     writes benches/results/random_truth.txt from those lines
random_truth.py table more                adds them to it as those of further programs: lines of earlier runs are not kept, their table is
random_truth.py golden DPM COUNT          writes tests/random_truth.json: the first COUNT programs with their truths

Needs mpmath. A program draws from one conjugate posterior, asks one mean, or adds noise to one sum: random prior, rows, number of
rows, relation, rows a unit, weight, concentration or budget. The truth shares nothing with src: every data set of so few rows
(reals on a grid with its ends; an open or secret number of rows also by hundreds of equal rows), every replaced, added or removed
unit, both orders of a pair; divergences by log-gammas, (epsilon, delta) by incomplete functions on the set where the loss exceeds epsilon.
Any set gives a lower bound, so an error in its ends can only make the truth smaller. Draws that move more than one dimension are
judged by their Renyi divergences, and by the pairs among them that move one.
"""

import collections
import csv
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from mpmath import mp, mpf

mp.dps = 50
BITS = 220
ONE = 1 << BITS
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LINES = os.path.join(ROOT, "target/truth")
PAIRS = 24  # of a program, at most: else fewer rows
MOST = 60  # larger epsilons are not judged: their exponentials leave too few of 50 digits
FAR = 500  # equal rows that stand for many


# Laws by their natural parameters: log-normaliser, whether it is finite, and the curve of a pair.

def gammas(a):
    return sum(map(mp.loggamma, a)) - mp.loggamma(sum(a))


NORMALISER = {
    "dirichlet": gammas,
    "gamma": lambda p: mp.loggamma(p[0]) - p[0] * mp.log(p[1]),
    "normal": lambda p: p[1] ** 2 / (2 * p[0]) - mp.log(p[0]) / 2,
}


def proper(law, p):
    return p[0] > 0 if law == "normal" else all(x > 0 for x in p)


class Laws:
    """Divergences of pairs of one family, log-normalisers worked out once."""

    def __init__(self, law):
        self.law, self.known = law, {}

    def c(self, p):
        if p not in self.known:
            self.known[p] = NORMALISER[self.law](p)
        return self.known[p]

    def renyi(self, p, q, order):
        mixed = tuple(order * x + (1 - order) * y for x, y in zip(p, q))
        if not proper(self.law, mixed):
            return mp.inf
        return (self.c(mixed) - order * self.c(p)) / (order - 1) + self.c(q)

    def limit(self, p, q):
        """The order from which on the divergence is infinite."""
        ends = [x / (y - x) + 1 for x, y in zip(p, q) if y > x]
        return min(ends[:1] if self.law == "normal" and q[0] > p[0] else [] if self.law == "normal" else ends, default=mp.inf)

    def stick(self, p, q, e):
        """P(S) - exp(e) Q(S) where the loss exceeds e; None in more than one dimension."""
        moved = [i for i, (x, y) in enumerate(zip(p, q)) if x != y]
        if self.law == "dirichlet" and len(p) > 2:
            if len(moved) != 2:
                return None
            # What two shares make of their sum is sufficient.
            i, j = moved
            if p[i] + p[j] != q[i] + q[j]:
                return None
            return Laws("dirichlet").stick((p[i], p[j]), (q[i], q[j]), e)
        constant = self.c(q) - self.c(p) - e
        da, db = p[0] - q[0], p[1] - q[1]
        if self.law == "normal":
            cuts = roots(-da / 2, db, constant)
            loss = lambda x: -da / 2 * x * x + db * x + constant
            below = lambda at, x: mp.ncdf((x - at[1] / at[0]) * mp.sqrt(at[0]))
            above = lambda at, x: mp.ncdf(-(x - at[1] / at[0]) * mp.sqrt(at[0]))
        elif self.law == "gamma":
            loss = lambda u, m=mp: da * u - db * m.exp(u) + constant
            cuts = [-constant / da] if db == 0 else crossings(loss, float(mp.log(da / db)) if da * db > 0 else None)
            below = lambda at, u: gamma_below(at[0], at[1] * mp.exp(u))
            above = lambda at, u: 1 - below(at, u)
        else:
            loss = lambda u, m=mp: -da * m.log1p(m.exp(-u)) - db * m.log1p(m.exp(u)) + constant
            cuts = [-constant / da] if da == -db else crossings(loss, float(mp.log(da / db)) if da * db > 0 else None)
            below = lambda at, u: beta_below(at[0], at[1], u)
            above = lambda at, u: beta_below(at[1], at[0], -u)
        mass = lambda cut, f: f(p, cut) - mp.exp(e) * f(q, cut)
        if not cuts:
            return 1 - mp.exp(e) if loss(mpf(0)) > 0 else mpf(0)
        if len(cuts) == 1:
            return mass(cuts[0], below if loss(cuts[0] - 1) > 0 else above)
        lo, hi = cuts
        if loss((lo + hi) / 2) > 0:
            return 1 - mp.exp(e) - mass(lo, below) - mass(hi, above)
        return mass(lo, below) + mass(hi, above)


def roots(a, b, c):
    if a == 0:
        return [-c / b] if b else []
    inside = b * b - 4 * a * c
    return sorted([(-b - mp.sqrt(inside)) / (2 * a), (-b + mp.sqrt(inside)) / (2 * a)]) if inside > 0 else []


def series(above, below, x):
    """1 + x above/below + x^2 above (above + 1)/(below (below + 1)) + ..: positive terms that fall in the end, in integers."""
    above, below, x = (int(v * ONE) for v in (above, below, x))
    total = term = ONE
    while term:
        term = (term * x >> BITS) * above // below
        total += term
        above, below = above + ONE, below + ONE
        if term < total >> 180:
            break
    return mpf(total) / ONE


def beta_below(a, b, u):
    """The chance that the logit of a Beta(a, b) lies below u, from the side whose terms fall."""
    x, rest = 1 / (1 + mp.exp(-u)), 1 / (1 + mp.exp(u))
    if x * (a + b) > a:
        return 1 - beta_below(b, a, -u)
    return mp.exp(a * mp.log(x) + b * mp.log(rest) - gammas((a, b))) / a * series(a + b, a + 1, x)


def gamma_below(a, x):
    """The chance that a Gamma(a, 1) lies below x; where less than 1e-60 lies beyond, 1."""
    if x > 2 * a + 300:
        return mpf(1)
    total = term = ONE
    below, step = int((a + 1) * ONE), int(x * ONE)
    while term > total >> 180:
        term = term * step // below
        total += term
        below += ONE
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * mpf(total) / ONE


def crossings(f, peak):
    """Where f is zero: monotone, or on either side of its peak. In doubles, then by secants: the curve is flat in the ends of its set."""
    def value(u):
        try:
            return f(u, math)
        except OverflowError:
            return f(mpf(u))

    def one(start, step):
        near, far = start, start + step
        for _ in range(40):
            side = value(near) > 0
            if side != (value(far) > 0):
                for _ in range(60):
                    mid = (near + far) / 2
                    near, far = (mid, far) if (value(mid) > 0) == side else (near, mid)
                a, b = mpf(near), mpf(near) + mpf(10) ** -17 * (1 + abs(near))
                for _ in range(3):
                    fa, fb = f(a), f(b)
                    if fa == fb:
                        break
                    a, b = b, b - fb * (b - a) / (fb - fa)
                return [b if abs(b - near) < 1e-6 * (1 + abs(near)) else mpf(near)]
            near, far = far, far + 2 * (far - near)
        return []
    if peak is None:
        return one(0.0, 1.0) or one(0.0, -1.0)
    return sorted(one(peak, -1.0) + one(peak, 1.0))


# Random programs.

def sig(x, digits=3):
    return f"{x:.{digits}g}"


def pick(rng, lo, hi):
    """A number of three digits, its logarithm even."""
    return sig(lo * (hi / lo) ** rng.random())


def family(rng):
    """Name, law, prior, sufficient statistics that a row may have, and the text of column, prior and rows."""
    name = rng.choice(["bernoulli", "binomial", "categorical", "poisson", "exponential", "mean", "precision", "multinomial", "geometric", "query"])
    a, b = pick(rng, 0.3, 20), pick(rng, 0.3, 20)
    grid = lambda lo, hi: [mpf(lo) + (mpf(hi) - mpf(lo)) * i / 2 for i in range(3)]
    if name in ("bernoulli", "binomial", "query"):
        trials = rng.randint(2, 3) if name == "binomial" else 1
        rows = [(mpf(y) / 1, mpf(trials - y)) for y in range(trials + 1)]
        if name == "query":
            rows = [(y, 1 - y) for y in grid(0, 1)]
            return name, "dirichlet", (a, b), rows, "y: real in [0, 1]", None, None
        column = "y: bool" if name == "bernoulli" else f"y: int in 0..{trials}"
        return name, "dirichlet", (a, b), rows, column, f"beta({a}, {b})", "bernoulli(m)" if trials == 1 else f"binomial({trials}, m)"
    if name in ("categorical", "multinomial"):
        d = rng.randint(2, 4) if name == "categorical" else rng.randint(2, 3)
        items = 1 if name == "categorical" else 2
        alpha = [pick(rng, 0.3, 10) for _ in range(d)]
        rows = [tuple(mpf(c.count(i)) for i in range(d)) for c in itertools.combinations_with_replacement(range(d), items)]
        levels = ", ".join(f"c{i}" for i in range(d))
        column = f"y: category {{{levels}}}" if items == 1 else f"y: counts[{d}] of {items}"
        return name, "dirichlet", tuple(alpha), rows, column, f"dirichlet([{', '.join(alpha)}])", "categorical(m)" if items == 1 else "multinomial(2, m)"
    if name == "poisson":
        lo = rng.choice([0, 0, 1])
        hi = lo + rng.randint(1, 3)
        return name, "gamma", (a, b), [(mpf(y), mpf(1)) for y in range(lo, hi + 1)], f"y: int in {lo}..{hi}", f"gamma({a}, {b})", "poisson(m)"
    if name == "geometric":
        successes, hi = rng.randint(1, 2), rng.randint(1, 3)
        rows = "geometric(m)" if successes == 1 else f"neg_binomial({successes}, m)"
        return name, "dirichlet", (a, b), [(mpf(successes), mpf(y)) for y in range(hi + 1)], f"y: int in 0..{hi}", f"beta({a}, {b})", rows
    lo = rng.choice(["0", "0.25", "1"]) if name == "exponential" else rng.choice(["-1", "0", "0.5"])
    hi = sig(float(lo) + rng.choice([0.5, 1, 2.5]))
    column = f"y: real in [{lo}, {hi}]"
    if name == "exponential":
        return name, "gamma", (a, b), [(mpf(1), y) for y in grid(lo, hi)], column, f"gamma({a}, {b})", "exponential(m)"
    if name == "precision":
        ys = grid(lo, hi) + ([mpf(0)] if mpf(lo) < 0 < mpf(hi) else [])
        return name, "gamma", (a, b), [(mpf(1) / 2, y * y / 2) for y in dict.fromkeys(ys)], column, f"gamma({a}, {b})", "normal(0, 1 / sqrt(m))"
    mean, sd, noise = rng.choice(["0", "2"]), pick(rng, 0.3, 5), pick(rng, 0.5, 5)
    prior = (1 / mpf(sd) ** 2, mpf(mean) / mpf(sd) ** 2)
    return name, "normal", prior, [(1 / mpf(noise) ** 2, y / mpf(noise) ** 2) for y in grid(lo, hi)], column, f"normal({mean}, {sd})", f"normal(m, {noise})"


def plus(a, b):
    return tuple(x + y for x, y in zip(a, b))


def times(n, a):
    return tuple(n * x for x in a)


def sums(rows, n):
    """What n rows may add up to."""
    nothing = times(0, rows[0])
    found = {nothing}
    for _ in range(n):
        found = {plus(s, row) for s in found for row in rows}
    return sorted(found)


def neighbours(rows, n, k, relation):
    """Pairs of sums of all rows."""
    found = set()
    if relation == "add":
        for rest in [s for i in range(n + 1) for s in sums(rows, i)] + [times(FAR, row) for row in rows]:
            found |= {(rest, plus(rest, unit)) for j in range(1, k + 1) for unit in sums(rows, j)}
        return sorted(found)
    rest = sums(rows, n - k)
    if relation == "open":
        rest += sums(rows, n - k + 1) + [times(FAR, row) for row in rows]
    units = sums(rows, k)
    return sorted({(plus(r, x), plus(r, y)) for r in rest for x, y in itertools.combinations(units, 2)})


Program = collections.namedtuple("Program", "text name law prior pairs relation k noise draws y orders")


def program(index):
    rng = random.Random(index)
    name, law, prior, rows, column, distribution, likelihood = family(rng)
    relation = rng.choice(["exact", "exact", "open", "add"])
    k = rng.choice([1, 1, 2])
    n = rng.randint(k, 4)
    noise = rng.random() < 0.15 and name in ("bernoulli", "binomial", "poisson", "geometric", "exponential")
    while n > k and len(neighbours(rows, n, k, relation)) > PAIRS:
        n -= 1
    while k > 1 and len(neighbours(rows, n, k, relation)) > PAIRS:
        k -= 1
    header = {"exact": f"{n}", "open": f"n >= {n}", "add": "private n"}[relation]
    table = f"private t[{header}]" + (f" by id max {k}" if k > 1 else "") + f" {{ id: text, {column} }}"
    eps = pick(rng, 0.05, 4)
    kinds = {"dp": f"budget dp(eps = {eps}, delta = 1e-{rng.randint(4, 7)})", "rdp": f"budget rdp(order = {rng.choice(['1.5', '2', '3', '5'])}, eps = {eps})"}
    if law == "normal" or noise:
        kinds |= {"zcdp": f"budget zcdp({eps})", "gdp": f"budget gdp({eps})"}
    if noise:
        kinds |= {"pure": f"budget eps({eps})"}
    budget = kinds[rng.choice(sorted(kinds))] if rng.random() < 0.5 else ""
    draws = rng.choice([1, 1, 1, 3])
    if noise:
        draws, which = 1, rng.choice(["laplace", "gaussian"] + (["geometric"] if "int" in column or "bool" in column else []))
        written = "" if budget else f"({'sigma' if which == 'gaussian' else 'scale'} = {pick(rng, 0.5, 20)})"
        release = f"release d = sum(y) using {which}{written}"
        y = 1 if name in ("exponential", "geometric") else 0
        return Program("\n".join(filter(None, [budget, table, release])) + "\n", which, law, prior, neighbours(rows, n, k, relation), relation, k, which, 1, y, 99)
    if name == "query":
        written = "" if budget else f", r = {rng.choice(['1', pick(rng, 0.05, 1)])}"
        release = f"release d = mean(y) using beta_query({prior[0]}, {prior[1]}{written})"
        model, draws = "", 1
    else:
        form = rng.choice(["", "diffuse", "concentrated"] if budget else ["direct", f"diffuse(r = {pick(rng, 0.05, 1)})", f"concentrated(m = {pick(rng, 0.1, 1)})"])
        model = f"param m ~ {distribution}\nobserve y ~ {likelihood}"
        release = ("release d = draw(m)" if draws == 1 else f"release d = draws(m, {draws})") + (f" using {form}" if form else "")
    text = "\n".join(filter(None, [budget, table, model, release])) + "\n"
    return Program(text, name, law, tuple(map(mpf, prior)), neighbours(rows, n, k, relation), relation, k, None, draws, 0, rng.randint(0, 9))


# Truths of what a certificate states.

def noise_curves(p, scale):
    """Divergences of a noisy sum that moves by so much: Renyi, and the hockey stick."""
    moved = max(abs(x[p.y] - y[p.y]) for x, y in p.pairs)
    if p.noise == "gaussian":
        mu = moved / scale
        stick = lambda e: mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)
        return lambda l: l * mu * mu / 2, stick, None, mu
    e0 = moved / scale
    if p.noise == "laplace":
        renyi = lambda l: mp.log(l / (2 * l - 1) * mp.exp((l - 1) * e0) + (l - 1) / (2 * l - 1) * mp.exp(-l * e0)) / (l - 1)
        return renyi, lambda e: max(mpf(0), 1 - mp.exp((e - e0) / 2)), e0, None
    base = mp.exp(-1 / scale)
    reach = int(moved)
    # Of an integer law: both sides beyond the two centres, and the points between them.
    head = (1 - base) / (1 + base)
    between = range(1, reach)
    renyi = lambda l: mp.log(head / (1 - base) * (mp.exp((l - 1) * e0) + mp.exp(-l * e0)) + head * sum(
        mp.exp(-(i * l + (reach - i) * (1 - l)) / scale) for i in between)) / (l - 1) if reach else mpf(0)
    stick = lambda e: max(mpf(0), sum((max(mpf(0), head * (base ** i - mp.exp(e) * base ** (reach - i))) for i in between), mpf(0))
                          + head / (1 - base) * (1 - mp.exp(e - e0)))
    return renyi, stick, e0, None


def judge(p, stated):
    """Every stated number beside its truth: (what, the order or delta, stated, truth)."""
    release = stated["releases"][0]
    profile, parameters = release["profile"], release["parameters"]
    found = []
    if p.noise:
        scale = mpf(str(parameters.get("scale", parameters.get("sigma"))))
        renyi, stick, pure, mu = noise_curves(p, scale)
        worst_renyi, worst_stick = renyi, lambda e: (stick(e), stick)
    else:
        # What is drawn takes the double that the decimal stands for: beside a limit order that can be seen.
        r, m = mpf(float(parameters.get("r", 1))), mpf(float(parameters.get("m", 1)))
        laws = Laws(p.law)
        prior = times(1 / m, [mpf(float(x)) for x in p.prior])
        both = [pair for x, y in p.pairs for pair in ((x, y), (y, x))]
        both = [tuple(plus(prior, times(r, s)) for s in pair) for pair in both]
        pure = mu = None
        worst_renyi = lambda l: p.draws * max(laws.renyi(x, y, l) for x, y in both)
        limit = profile["max_order"]
        if limit is not None:
            # An order is the double that is printed, as the prior is: a limit is not an amount of privacy.
            found.append(("limit", None, min(laws.limit(x, y) for x, y in both), mpf(float(limit))))

        def worst_stick(e):
            """The largest of all pairs, and the curve of that pair."""
            best, at = mpf(0), None
            for x, y in both:
                h = laws.stick(x, y, e)
                if h is not None and h > best:
                    best, at = h, (x, y)
            return best, (lambda e: laws.stick(*at, e)) if at else None
    number = lambda x: mpf(repr(x))
    # Of a draw three orders, from a random one on.
    rows = profile["rdp"]
    rows = rows if p.noise else [row for i, row in enumerate(rows) if (i - p.orders) % max(1, len(rows)) < 3]
    found += [("rdp", row["order"], number(row["epsilon"]), worst_renyi(number(row["order"]))) for row in rows]
    if profile["zcdp"] is not None:
        found.append(("zcdp", None, number(profile["zcdp"]), max(worst_renyi(l) / l for l in map(mpf, ("1.001", 2, 7, 80)))))
    if pure is not None and profile["pure"] is not None:
        found.append(("pure", None, number(profile["pure"]), pure))
    if mu is not None and profile["gdp"] is not None:
        found.append(("gdp", None, number(profile["gdp"]), mu))
    if p.draws == 1:
        rows = [(row["delta"], row["epsilon"]) for row in profile["dp"] if row["epsilon"] is not None][:1]
        budget = stated["budget"]
        if budget and budget["kind"] == "dp" and budget["met"]:
            rows.append((budget["delta"], budget["epsilon"]))
        for place, (written, e) in enumerate(rows):
            delta, e = number(written), number(e)
            if e > MOST:
                continue
            h, curve = worst_stick(e)
            true = epsilon(curve, delta, e, h) if curve and h > mpf(10) ** -40 else None
            # Where nothing is lost at the stated epsilon the truth is below it.
            # The curve falls: where it is at most delta at the stated epsilon, the truth is not above that.
            true = min(true or mpf(0), e) if h <= delta else max(true or e, e * (1 + mpf(10) ** -30))
            found.append(("budget" if place else "dp", written, e, true))
    return found


def epsilon(curve, delta, start, h):
    """Where the curve is delta, from near there: secants of its logarithm."""
    at = lambda e: mp.log(max(curve(e), mpf(10) ** -48)) - mp.log(delta)
    a, fa = start, mp.log(h) - mp.log(delta)
    if abs(fa) < mpf(10) ** -30:
        return a
    b = start * (1 + mpf(10) ** -4 * (1 if fa > 0 else -1))
    for _ in range(12):
        fb = at(b)
        if abs(fb) < mpf(10) ** -16 or fb == fa:
            break
        a, fa, b = b, fb, max(b - fb * (b - a) / (fb - fa), mpf(0))
    # Zero at most: the curve begins below delta.
    return b


def certify(dpm, text, folder):
    path = os.path.join(folder, "p.dpm")
    with open(path, "w") as f:
        f.write(text)
    done = subprocess.run([dpm, "certify", path, "--json"], capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout), None
    return None, json.loads(done.stdout)["diagnostics"][0]["code"]


def run(dpm, count, part=0, of=1):
    os.makedirs(LINES, exist_ok=True)
    path = os.path.join(LINES, f"{part}.csv")
    done = {int(row[0]) for row in csv.reader(open(path))} if os.path.exists(path) else set()
    with open(path, "a", newline="") as out, tempfile.TemporaryDirectory() as folder:
        write = csv.writer(out)
        for index in range(part, count, of):
            if index in done:
                continue
            p = program(index)
            stated, refused = certify(dpm, p.text, folder)
            if refused:
                write.writerow([index, p.name, p.relation, p.k, f"refused {refused}"])
            else:
                release = stated["releases"][0]
                for what, _, claimed, true in judge(p, stated):
                    write.writerow([index, p.name, p.relation, p.k, release["rule"], release["mechanism"], what, mp.nstr(claimed, 20),
                                    mp.nstr(true, 20), mp.nstr(claimed / true - 1, 5) if true else "inf", len(p.pairs)])
            out.flush()


def table(more=""):
    rows = [row for name in sorted(os.listdir(LINES)) if name.endswith(".csv") for row in csv.reader(open(os.path.join(LINES, name)))]
    programs, refused = {row[0] for row in rows}, collections.Counter(row[4] for row in rows if len(row) == 5)
    judged = [row for row in rows if len(row) > 5]
    judged = [row for row in judged if row[6] not in ("dp", "budget") or float(row[7]) <= MOST]
    # Beyond the digits of the truth itself.
    below = [row for row in judged if row[9] != "inf" and float(row[9]) < -1e-40]
    seen = {row[0]: int(row[10]) for row in judged}
    groups = collections.defaultdict(list)
    for row in judged:
        groups[row[4], row[2], "1" if row[3] == "1" else "k", row[6]].append((float(row[9]), row[0]))
    lines = ["# benches/random_truth.py: stated over true, less 1, of random small programs; truths by enumeration at 50 digits.",
             f"# epsilons above {MOST} are left out. Open and secret numbers of rows: the true value is that of the few numbers of rows that were tried, the claim holds for all.",
             f"programs {len(programs)}, certified {len(seen)}, refused {sum(refused.values())} {dict(sorted(refused.items()))}",
             f"pairs of neighbours {sum(seen.values())}, each in both orders; stated numbers {len(judged)}, below the truth {len(below)}",
             "# rule | rows | rows a unit | number | programs | least | median | greatest"]
    for key, found in sorted(groups.items()):
        found.sort()
        number = lambda x: "-" if x == float("inf") else f"{x:.3g}"
        lines.append(" | ".join([*key, str(len({i for _, i in found})), number(found[0][0]), number(found[len(found) // 2][0]), number(found[-1][0])]))
    path, before = os.path.join(ROOT, "benches/results/random_truth.txt"), ""
    if more:
        numbers = sorted(map(int, programs))
        lines[:2] = [f"\n# programs {numbers[0]} to {numbers[-1]}, run later, by themselves:"]
        before = open(path).read()
    text = before + "\n".join(lines) + "\n"
    with open(path, "w") as f:
        f.write(text)
    print(text)
    print("below:", below[:20])


def golden(dpm, count):
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        index = 0
        while len(cases) < count:
            p = program(index)
            stated, refused = certify(dpm, p.text, folder)
            if not refused:
                cases.append({"program": p.text, "truths": [
                    {"what": what, "at": at, "stated": mp.nstr(claimed, 17), "true": mp.nstr(true, 20)}
                    for what, at, claimed, true in judge(p, stated) if what not in ("budget", "limit")]})
            index += 1
    with open(os.path.join(ROOT, "tests/random_truth.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "run":
        run(os.path.abspath(rest[0]), *map(int, rest[1:]))
    elif command == "table":
        table(*rest)
    elif command == "golden":
        golden(os.path.abspath(rest[0]), int(rest[1]))
