"""Writes docs/gallery.md: seventeen analyses of public data, each with its program, its answer, and the same analysis without privacy.

run.py --data FOLDER [--only NN,..] [--keep FOLDER]   runs the programs on whole data sets and writes the page
run.py --data FOLDER --samples                        writes samples/, at most 200 rows of each data set
run.py --short                                        runs the programs on samples/, whole, and checks their answers (no numpy)

FOLDER holds the public data sets that `SETS` names, one CSV file (or .csv.gz) each, under the paths given there. DPM_COMMAND names the binary; without
it target/release/dpm is taken, then target/debug/dpm. The page needs numpy and scipy for the answers without privacy. `--keep` stores the answers of
dpm, and a program whose text has not changed is not run again; without it every run draws anew.

Size: 17 programs, 569 to 32,735 rows, and 5,000,000 (43 MB, made in a temporary folder). Time: about twelve minutes on two busy cores, nearly all of it in
chains; `--short` has the same chains on smaller tables, and takes nearly as long.
"""

import argparse
import csv
import gzip
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap

import analyses

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
SAMPLES = os.path.join(HERE, "samples")
PAGE = os.path.join(ROOT, "docs", "gallery.md")
ROWS = 200


def command():
    """The binary to run."""
    known = [os.environ.get("DPM_COMMAND")] + [os.path.join(ROOT, "target", p, "dpm") for p in ("release", "debug")]
    found = [p for p in known if p and os.path.exists(p)]
    if not found:
        sys.exit("no dpm: build it, or name it by DPM_COMMAND")
    return found[0]


def program(name):
    with open(os.path.join(HERE, f"{name}.dpm"), encoding="utf-8") as file:
        return file.read()


def read(folder, data_set):
    """The rows of a data set, with what was derived for it."""
    path = os.path.join(folder, analyses.SETS[data_set]["file"])
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return list(csv.DictReader(file))


def write(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows([row[c] for c in columns] for row in rows)


def five_million(rows, columns):
    """The recipe of the large data set: 5,000,000 rows drawn with replacement, seed 1."""
    dice = random.Random(1)
    for _ in range(500):
        yield from dice.choices(rows, k=10_000)


def dpm(path, data, *more):
    """Both streams of a run of dpm and its exit code."""
    done = subprocess.run([command(), "run", path, "--data", data, *more], capture_output=True, text=True, encoding="utf-8")
    return done.returncode, done.stdout, done.stderr


def answer(analysis, rows, keep):
    """What dpm prints of one program."""
    name, text = analysis["name"], program(analysis["name"])
    stored = keep and os.path.join(keep, f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.txt")
    if stored and os.path.exists(stored):
        with open(stored, encoding="utf-8") as file:
            return file.read()
    with tempfile.TemporaryDirectory() as folder:
        columns = analysis["columns"]
        data = os.path.join(folder, "rows.csv")
        write(data, columns, five_million(rows, columns) if analysis.get("large") else rows)
        code, out, messages = dpm(os.path.join(HERE, f"{name}.dpm"), data)
    if code != 0:
        sys.exit(f"{name}: exit {code}\n{messages}")
    # Paths differ between machines.
    shown = (re.sub(r"\S*/(\S+\.dpm)", r"\1", messages).rstrip() + "\n" + out.rstrip()).strip("\n") + "\n"
    if stored:
        os.makedirs(keep, exist_ok=True)
        with open(stored, "w", encoding="utf-8") as file:
            file.write(shown)
    return shown


def section(analysis, folder, keep):
    """One analysis as a section of the page."""
    known = analyses.SETS[analysis["set"]]
    rows = read(folder, analysis["set"])
    n = 5_000_000 if analysis.get("large") else len(rows)
    print(analysis["name"], n, flush=True)
    shown = answer(analysis, rows, keep)
    without = analysis["without"]({c: [r[c] for r in rows] for c in analysis["columns"]}).strip("\n")
    note = analysis.get("recipe", "")
    fill = lambda text: textwrap.fill(text, 150, break_long_words=False, break_on_hyphens=False)
    return f"""## {analysis["title"]}

{fill(f'{analysis["question"]} {known["source"]}; n = {n:,}. {note}')}

```{" ".join(["dpm", *sorted(set(re.findall(r"^.(W0513).", shown, re.M)))])}
{program(analysis["name"]).rstrip()}
```

dpm says:

```text
{shown.rstrip()}
```

Without privacy:

```text
{without}
```

{fill(analysis["remark"])}
"""


def page(folder, only, keep):
    parts = [section(a, folder, keep) for a in analyses.ANALYSES if not only or a["name"][:2] in only]
    if only:
        return
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(analyses.INTRODUCTION.strip("\n") + "\n\n" + "\n".join(parts))


def samples(folder):
    """At most 200 rows of each data set: real ones where its licence is open, else made up from the declared domains."""
    os.makedirs(SAMPLES, exist_ok=True)
    for name, known in analyses.SETS.items():
        dice = random.Random(name)
        used = sorted({c for a in analyses.ANALYSES if a["set"] == name for c in a["columns"]})
        if "made_up" in known:
            rows = [known["made_up"](dice) for _ in range(ROWS)]
        else:
            rows = dice.sample(read(folder, name), ROWS)
        write(os.path.join(SAMPLES, f"{name}.csv"), used, rows)


def short():
    """Every program, with the number of rows of its sample, on its sample."""
    with tempfile.TemporaryDirectory() as folder:
        for analysis in analyses.ANALYSES:
            name, text = analysis["name"], program(analysis["name"])
            size = re.search(r"^private \w+\[(\d+)\]", text, re.M)
            path = os.path.join(folder, f"{name}.dpm")
            with open(path, "w", encoding="utf-8") as file:
                file.write(re.sub(rf"\b{size.group(1)}\b", str(ROWS), text) if size else text)
            code, out, messages = dpm(path, os.path.join(SAMPLES, f"{analysis['set']}.csv"), "--anyway", "--json")
            if code != 0:
                sys.exit(f"{name}: exit {code}\n{messages}")
            answers = json.loads(out)
            # The mean of some rows is an output, of a release of its parts.
            missing = set(re.findall(r"^(?:release|output) (\w+)", text, re.M)) - {*answers["releases"], *answers["outputs"]}
            if missing:
                sys.exit(f"{name}: no answer to {', '.join(sorted(missing))}")
            print(f"{name}: {', '.join([*answers['releases'], *answers['outputs']])}", flush=True)


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--data")
    asked.add_argument("--only", default="")
    asked.add_argument("--keep")
    asked.add_argument("--samples", action="store_true")
    asked.add_argument("--short", action="store_true")
    asked = asked.parse_args()
    if asked.short:
        return short()
    if not asked.data:
        sys.exit("name the folder of the data sets: --data FOLDER")
    if asked.samples:
        return samples(asked.data)
    return page(asked.data, [x for x in asked.only.split(",") if x], asked.keep)


if __name__ == "__main__":
    main()
