"""Neighbouring registered files whose one differing row has odd cells: of charged runs on both, exit code, standard error, length of the answer, files and their
sizes, and entries of the ledger are compared. Resumable: every batch adds a line to benches/results/pairs.txt.
Usage: python3 benches/pairs.py [PAIRS] [DPM]"""
import json
import os
import random
import subprocess
import sys
import tempfile

WANTED = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
DPM = os.path.realpath(sys.argv[2] if len(sys.argv) > 2 else "target/debug/dpm")
OUT = os.path.realpath("benches/results/pairs.txt")
BATCH = 10
TABLE = """[private n] by id max 3 {
    id: text, b: bool, i: int in 0..9, x: real in [-1, 1], c: category {north, south, other} else other,
    d: date in ["2020-01-01", "2020-12-31"], v: vector[2] in [0, 1],
}
"""
HEADER = "id,b,i,x,c,d,v_1,v_2"
# Each reads the table by another road; the last is refused by the budget, behind whatever it learnt of the file.
PROGRAMS = [
    "budget eps(1)\n{t}release m = sum(x) using laplace\nrelease k = count(b) using geometric\n",
    "budget zcdp(0.5)\n{t}release m = sum(v) using gaussian\n",
    "budget eps(1)\n{t}param p ~ beta(2, 2)\nobserve b ~ bernoulli(p)\nrelease q = posterior(p)\n",
    "budget eps(1)\n{t}param p ~ dirichlet([1, 1, 1])\nobserve c ~ categorical(p)\nrelease q = posterior(p)\n",
    "budget eps(1)\n{t}release h = histogram(c)\noutput share = h[1] / 2\n",
    "budget zcdp(0.5)\n{t}release s = sum(i) using gaussian\n",
    "budget eps(100)\n{t}release m = sum(x) using laplace\n",
]
ODD = ["", " ", "NA", "nan", "NaN", "inf", "-inf", "1e999", "-1e999", "1e-999", "0x10", "1_000", "٣", "\0", "\x1a", "\ufeff", "true", "TRUE ", "yes", "-0", "+0", "\"1,5\"", "\"1,234\"",
       "\"a\nb\"", "\"a\r\nb\"", "\"\"\"\"", "\"\"", "é", "漢" * 50, "🙂", "=cmd()", "$5", "12%", "9" * 400, "0." + "3" * 5000, "z" * 65_536, "2020-02-29", "2020-02-30", "0000-00-00", "2020-13-01",
       "north", "North", "other", "-", "?", "null", "'1'", "1 2", "\t", "#", "//", "0e0", ".", "1.", ".5", "--1", "\u202e1", "\x7f", "\x80"]


def row(r):
    return [f"p{r.randrange(12)}", r.choice(["true", "false"]), str(r.randrange(10)), f"{r.uniform(-1, 1):.3f}", r.choice(["north", "south", "east"]),
            f"2020-{r.randrange(1, 13):02}-{r.randrange(1, 29):02}", f"{r.random():.3f}", f"{r.random():.3f}"]


def call(folder, *args):
    done = subprocess.run([DPM, *args], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def files(folder):
    return sorted((name, os.path.getsize(os.path.join(folder, name))) for name in os.listdir(folder)
                  if not name.startswith(("l", "w")))


def entries(folder):
    """Of both data sets: kinds, costs and sizes of all entries, without names, random ones and hashes."""
    code, out, _ = call(folder, "ledger", "history", "l", "--json")
    assert code == 0
    found = {}
    for entry in json.loads(out)["entries"]:
        for charge in entry.get("charges", []):
            plain = {k: v for k, v in entry.items() if k not in ("index", "hash", "run", "charges")}
            found.setdefault(charge.pop("dataset"), []).append(json.dumps([plain, charge], sort_keys=True))
    return found


def batch(r):
    """Pairs that were tried, runs that answered, and what differed."""
    different, answered = [], 0
    with tempfile.TemporaryDirectory() as folder:
        write = lambda name, text: open(os.path.join(folder, name), "w", newline="", encoding="utf-8", errors="surrogatepass").write(text)
        sets, pairs, schema = [], [], ""
        for i in range(BATCH):
            rows = [row(r) for _ in range(r.choice([20, 21, 25, 40]))]
            at, other = r.randrange(len(rows)), row(r)
            for cell in r.sample(range(8), r.randrange(1, 9)):
                other[cell] = r.choice(ODD)
            for side, its in (("x", rows), ("z", rows[:at] + [other] + rows[at + 1:])):
                write(f"{side}{i}.csv", "\n".join([HEADER, *(",".join(cells) for cells in its)]) + "\n")
                sets += ["--dataset", f"{side}{i}={side}{i}.csv"]
                schema += f"private {side}{i}" + TABLE.replace(" n]", f" n_{side}{i}]")
            pairs.append(r.randrange(len(PROGRAMS)))
        write("lschema.dpm", schema)
        made = call(folder, "ledger", "init", "l", "--schema", "lschema.dpm", "--shared", "--budget", "dp(eps = 20, delta = 1e-6)", *sets)
        assert made[0] == 0, made[2][:2000].decode()
        for i, which in enumerate(pairs):
            seen = []
            write("lp.dpm", PROGRAMS[which].format(t="private t" + TABLE))
            for side in "xz":
                before = files(folder)
                code, out, err = call(folder, "run", "lp.dpm", "--anyway", "--json", "--ledger", "l", "--data", f"t=@{side}{i}", "-o", "lout.json")
                size = os.path.getsize(os.path.join(folder, "lout.json")) if os.path.exists(os.path.join(folder, "lout.json")) else -1
                # The batch stays below the entry 100, so that its number has as many digits on both sides.
                length = len(out.replace(f"{side}{i}".encode(), b"t"))
                seen.append((code, err.replace(f"{side}{i}".encode(), b"t"), length, size, files(folder) == before))
                answered += code == 0
            if seen[0] != seen[1]:
                different.append((which, seen))
        logged = entries(folder)
        for i in range(BATCH):
            if logged.get(f"x{i}", []) != logged.get(f"z{i}", []):
                different.append((pairs[i], logged.get(f"x{i}"), logged.get(f"z{i}")))
    return answered, different


def so_far():
    if not os.path.exists(OUT):
        return 0
    return sum(int(line.split()[1]) for line in open(OUT) if line.startswith("pairs:"))


r = random.SystemRandom()
while so_far() < WANTED:
    tried = answered = 0
    while tried < 100:
        some, different = batch(r)
        tried, answered = tried + BATCH, answered + some
        if different:
            sys.exit(f"DIFFERENT: {different}")
    with open(OUT, "a") as out:
        out.write(f"pairs: {tried} answered: {answered} of {2 * tried} different: 0\n")
print(so_far(), "pairs, none different")
