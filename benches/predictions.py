"""Are predicted errors met on real rows? Program-data pairs of all mechanisms: what the certificate predicts beside what runs show.

predictions.py --data DIR [--only TEXT] [--runs N] [--seconds S] [--again] [--rough] [--predict] works through the pairs of predictions_pairs.py on the public data
sets in DIR, a folder for each. A finished pair is a line of results/predictions.csv; what is there is not run again, and a refusal is a line
too. A pair is run until its realised error has a standard error of 5 %, or S seconds (60) are over; --rough gives pairs that stopped before
another try; --predict makes predictions again and keeps what runs showed, for a change of dpm that touches predictions alone. It ends by writing results/predictions.txt. The dpm command is that of DPM_COMMAND, or target/release/dpm, or target/debug/dpm. Needs numpy and scipy.

The predicted error is that of `dpm certify --json` for a program with a budget. For the realised error `dpm lock` writes its parameters
out, and a program without a budget repeats that release, which is the same law drawn again. What is measured is what the prediction's measure says:
the root mean square distance of draws from the mean of the posterior of the rows; the mean Hellinger distance of released posteriors from it; the
95 % quantile of the distance between answer and truth, or of the rows between a released and the true quantile (the worst of several). Of
these less than one row counts as one, predicted or realised: the rows between two values are whole.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import tempfile
import time
from collections import defaultdict

import numpy as np

from predictions_pairs import pairs

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results")
TABLE, SUMMARY = os.path.join(RESULTS, "predictions.csv"), os.path.join(RESULTS, "predictions.txt")
FIELDS = ["id", "mechanism", "measure", "predicted", "realised", "ratio", "error", "runs", "warnings", "further"]
CHAINS = {"beta_div", "ops", "penalty", "dp_hmc", "dp_sgld"}
TOLD = {"W0510", "W0511", "W0512", "W0513"}
ENOUGH = 0.05


def command():
    found = [os.environ.get("DPM_COMMAND", "")] + [os.path.join(HERE, "..", "target", kind, "dpm") for kind in ("release", "debug")]
    return next(c for c in found if c and os.path.exists(c))


def dpm(*args):
    done = subprocess.run([command(), *args], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    return done.returncode, done.stdout, done.stderr


def numbers(value):
    """Of a released draw or answer."""
    if isinstance(value, dict):
        value = list(value.values())
    return np.atleast_1d(np.array(value, float))


def rows_off(pair, answers):
    """How many rows lie between each answer and its level; one column a level."""
    y, n = pair.values, len(pair.values)
    below, upto = np.searchsorted(y, answers - 1e-9, "left"), np.searchsorted(y, answers + 1e-9, "right")
    q = np.array(pair.levels) * n
    return np.maximum(0, np.maximum(below - q, q - upto))


def realised(pair, measure, released):
    """What the measure says, and its Monte Carlo error as a share."""
    if "Hellinger" in measure:
        all_of = np.array([pair.truth.distance(r) for r in released])
        value, spread = all_of.mean(), all_of.std() / np.sqrt(len(all_of))
        return value, spread / max(value, 1e-12)
    x = np.array([numbers(r) for r in released])
    dice = np.random.default_rng(1)
    if "rows between" in measure:
        off = rows_off(pair, x)
        of = lambda i: np.quantile(off[i], 0.95, axis=0).max()
    else:
        far = np.sqrt(((x - pair.truth.mean) ** 2).sum(1))
        of = (lambda i: np.sqrt((far[i] ** 2).mean())) if "mean square" in measure else (lambda i: np.quantile(far[i], 0.95))
    value = of(np.arange(len(x)))
    again = [of(dice.integers(0, len(x), len(x))) for _ in range(100)]
    return value, np.std(again) / max(value, 1e-12)


def again(line, many, mechanism):
    """The same release so many times; of chains, which take long to check, as one release of so many draws."""
    if mechanism in CHAINS:
        return re.sub(r"draw\((\w+)\)", rf"draws(\1, {many})", line) + "\n"
    return "".join(line.replace("release r", f"release r{i}", 1) + "\n" for i in range(many))


def predicted_of(one, source):
    """Measure, prediction, warnings and further predictions of a pair; a refusal has no prediction."""
    with open(source, "w", encoding="utf-8") as file:
        file.write(f"budget {one['budget']}\n{one['pair'].body}\nrelease r = {one['how']}\n")
    code, out, err = dpm("certify", source, "--json")
    if code != 0:
        first = (json.loads(out).get("diagnostics") or [{}])[0] if out.strip().startswith("{") else {}
        return {"measure": "refused", "further": f"{first.get('code', code)}: {first.get('message', err)[:140]}"}
    predicted = json.loads(out)["releases"][0]["predicted_error"]
    offers = json.loads(dpm("compare", source, "--json")[1])["releases"][0]["mechanisms"]
    further = next((o["predicted"] for o in offers if o["mechanism"] == one["mechanism"] and o["applies"]), {})
    warnings = sorted(set(re.findall(r"W05\d\d", err + dpm("check", source)[2])))
    return {
        "measure": predicted["measure"],
        "predicted": predicted["value"],
        "warnings": " ".join(warnings),
        "further": "; ".join(f"{k} {v:.3g}" for k, v in further.items()),
    }


def beside(found, realised):
    """A prediction with what runs showed."""
    least = 1 if "rows between" in found["measure"] else 0
    ratio = max(realised, least) / max(found["predicted"], least)
    return found | {"predicted": f"{found['predicted']:.4g}", "realised": f"{realised:.4g}", "ratio": f"{ratio:.3f}"}


def study(one, wanted, seconds, folder):
    pair = one["pair"]
    data, source, repeated = (os.path.join(folder, name) for name in ("t.csv", "one.dpm", "many.dpm"))
    with open(data, "w", encoding="utf-8") as file:
        file.write(pair.text())
    found = predicted_of(one, source)
    if "predicted" not in found:
        return found
    measure = found["measure"]
    code, out, err = dpm("lock", source, "--print")
    line = next(l for l in out.splitlines() if l.startswith("release r"))
    chain = one["mechanism"] in CHAINS
    released, start, many = [], time.time(), 30 if chain else 1
    runs = one["runs"] or wanted or (150 if "Hellinger" in measure else 1500 if "95" in measure else 400)
    while True:
        many = min(many, runs - len(released))
        with open(repeated, "w", encoding="utf-8") as file:
            file.write(pair.body + "\n" + again(line, many, one["mechanism"]))
        began = time.time()
        code, out, err = dpm("run", repeated, "--data", f"t={data}", "--json", "--anyway")
        if code != 0:
            raise SystemExit(f"{one['id']}: {err or out}"[:2000])
        drawn = list(json.loads(out)["releases"].values())
        released += drawn[0] if chain else drawn
        # As many releases a program as take some three seconds.
        many = many if chain else int(max(1, min(100, many * 2 if time.time() - began < 1 else many * 3 / (time.time() - began))))
        late = time.time() - start > seconds
        if len(released) >= runs or (late and len(released) >= 20):
            value, error = realised(pair, measure, released)
            if late or wanted or error <= ENOUGH:
                break
            runs = 2 * runs
    return beside(found, value) | {"error": f"{error:.3f}", "runs": len(released)}


def finished():
    if not os.path.exists(TABLE):
        return {}
    with open(TABLE, encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def keep(rows):
    with open(TABLE, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def apart(ratio):
    """How many times apart, whichever is larger."""
    return max(ratio, 1 / ratio) if ratio > 0 else float("inf")


def state(row):
    """Where a pair stands."""
    times = apart(float(row["ratio"]))
    if times <= 1.25:
        return "within 25 %"
    if times <= 2:
        return "within 2 times"
    return "more, and warned" if TOLD & set(row["warnings"].split()) else "more, and nothing said"


STATES = ["within 25 %", "within 2 times", "more, and warned", "more, and nothing said"]


def summary(rows):
    measured = [r for r in rows if r["ratio"]]
    off = lambda rows: np.median([abs(float(r["ratio"]) - 1) for r in rows])
    times = lambda r: apart(float(r["ratio"]))
    silent = [r for r in measured if not TOLD & set(r["warnings"].split())]
    show = lambda r: f"  {float(r['ratio']):7.3f}  {r['id']}: predicted {r['predicted']}, realised {r['realised']}; {state(r)}"
    lines = ["Predicted and realised errors of releases on real rows, by benches/predictions.py. Ratios are realised over predicted.", ""]
    mechanisms, refused = len({r["mechanism"] for r in measured}), len(rows) - len(measured)
    lines += [f"pairs measured: {len(measured)}, of {mechanisms} mechanisms; refused programs: {refused}"]
    for name, some in (("all pairs", measured), ("pairs without a warning", silent)):
        if some:
            worst = max(some, key=times)
            lines += [f"{name} ({len(some)}): median |ratio - 1| {100 * off(some):.0f} %; worst {times(worst):.2f} times apart ({worst['id']})"]
    lines += [f"  {name}: {sum(state(r) == name for r in measured)}" for name in STATES]
    lines += ["", "Warned, before anything is spent: W0510, W0511, W0512 or W0513."]
    lines += ["", "Outside of 2 times:"] + [show(r) for r in sorted(measured, key=lambda r: -times(r)) if times(r) > 2]
    lines += ["", "By mechanism: pairs, median |ratio - 1|, least and largest ratio:"]
    groups = defaultdict(list)
    for r in measured:
        groups[r["mechanism"]].append(r)
    for name, some in groups.items():
        ratios = [float(r["ratio"]) for r in some]
        lines += [f"  {name:17} {len(some):2}  {100 * off(some):4.0f} %  {min(ratios):6.3f}  {max(ratios):6.3f}"]
    lines += ["", "All pairs (ratio, standard error of the realised one, runs):"]
    lines += [f"  {float(r['ratio']):7.3f}  {100 * float(r['error']):4.1f} %  {r['runs']:>5}  {r['id']}  {r['warnings']}".rstrip() for r in measured]
    said = [f"  {r['id']}: {r['further']}" for r in rows if not r["ratio"]]
    lines += ["", "Refused:", *said] if said else []
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=float, default=60, help="no more programs are run for a pair after so long, once 20 runs are there")
    parser.add_argument("--again", action="store_true", help="measure the pairs of --only again")
    parser.add_argument("--predict", action="store_true", help="make the predictions of the pairs of --only again, and run nothing")
    parser.add_argument("--rough", action="store_true", help="measure those again whose standard error is above 5 %%")
    args = parser.parse_args()
    done, wanted = finished(), pairs(args.data)
    for one in wanted:
        known = done.get(one["id"])
        rough = args.rough and known and known["error"] and float(known["error"]) > ENOUGH
        if args.predict and args.only in one["id"] and known and known["ratio"]:
            with tempfile.TemporaryDirectory() as folder:
                done[one["id"]] = known | beside(predicted_of(one, os.path.join(folder, "one.dpm")), float(known["realised"]))
            keep([done[p["id"]] for p in wanted if p["id"] in done])
        if args.predict or args.only not in one["id"] or (known and not args.again and not rough):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = study(one, args.runs, args.seconds, folder)
        done[one["id"]] = dict.fromkeys(FIELDS, "") | {"id": one["id"], "mechanism": one["mechanism"]} | found
        print(one["id"], found.get("ratio", found.get("further")), found.get("runs", ""), found.get("warnings", ""), flush=True)
        keep([done[p["id"]] for p in wanted if p["id"] in done])
    rows = [done[p["id"]] for p in wanted if p["id"] in done]
    with open(SUMMARY, "w", encoding="utf-8") as file:
        file.write(summary(rows))
    print(summary(rows).split("\n\nAll pairs")[0])


if __name__ == "__main__":
    main()
