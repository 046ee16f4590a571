#!/usr/bin/env python3
"""Plants the bugs of bugs.txt into a copy of the tree, and runs the tests of that copy with one bug on at a time.

plant.py plant ROOT COPY        writes the copy
plant.py run ROOT COPY BINARIES [I N] runs what is not in COPY/found yet, of N workers the I-th; BINARIES is what cargo said it built;
                                 DPM_BUGS=name,name keeps to these
plant.py table ROOT COPY        prints the table of what was found
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

# From quick to slow: the files and folders of tests, whatever the binary that holds them.
LAYERS = {
    "golden": ["golden", "golden_posteriors"],
    "brute force": ["brute_force", "row_types", "brute_force_real", "composition", "whole_posteriors", "loss_ranges", "loss_widths", "exhaustive"],
    "integration": ["integration", "langevin", "glm_posteriors", "precision"],
    "audit": ["audits", "audit"],
    "law": ["samplers", "tapes", "laws", "density", "chains", "glm_draws"],
    "verifier": ["verify"],
}
# What these read: claims and certificates, never a draw; or draws, never a claim. A bug in the other is not shown to them.
CLAIMS = ["golden", "row_types", "brute_force", "brute_force_real", "composition", "loss_ranges", "loss_widths", "exhaustive", "integration", "glm_posteriors",
          "precision", "verify"]
DRAWN = LAYERS["law"]
# Seconds each: all bugs are shown to these first.
QUICK = LAYERS["golden"] + LAYERS["brute force"][:-1] + LAYERS["integration"][:-1]
# Of the verifier, what holds the compiler to it; the rest of its tests are about changed certificates and random programs.
TESTS = {"verify": ["verify::accepts_what_the_compiler_certifies"]}
# Only if no layer caught the bug: reading of data, refusals, freshness, then all the rest.
OTHERS = ["public_designs", "sums", "exact_draws", "excess", "fixed_samples", "rounded_noise", "data", "data_mechanisms", "neighbours", "canaries", "freshness", "repeated", "rule_programs", "regressions", "analyze",
          "wrong_programs", "unit tests"]
# Independent draws that a layer judges by.
DRAWS = {"law": "1e5 a point", "audit": "3e3 to 2e5 a side", "long": "1e7 and four times 1e6"}
LIMIT = 900


def bugs(root):
    """Every bug: its name, words, and places (file, context, old, new)."""
    found, place = [], None
    for line in (root / "benches/planted/bugs.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = line.partition(": ")
        if key == "bug":
            found.append({"name": value, "likely": "", "long": "", "kind": "claim", "alone": "", "places": []})
        elif key in ("what", "likely", "long", "kind", "alone"):
            found[-1][key] = value
        elif key == "file":
            place = {"file": value, "in": None}
            found[-1]["places"].append(place)
        elif key in ("in", "old", "new"):
            place[key] = value
        else:
            sys.exit(f"bugs.txt: {line}")
    return found


def key(bug):
    """Changes when the bug does: an old result is then no result."""
    return (bug["name"] or "nothing") + "-" + hashlib.sha256(json.dumps([bug["places"], bug["long"]]).encode()).hexdigest()[:12]


def span(text, place):
    """Where the expression stands in its file; it must stand there once."""
    context = place["in"] or place["old"]
    for part, whole in ((context, text), (place["old"], context)):
        if whole.count(part) != 1:
            sys.exit(f"{place['file']}: {whole.count(part)} times in its place: {part}")
    start = text.index(context) + context.index(place["old"])
    return start, start + len(place["old"])


def plant(root, copy):
    tree = copy / "tree"
    files = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.splitlines()
    changed = {}
    for bug in bugs(root):
        for place in bug["places"]:
            text = (root / place["file"]).read_text()
            changed.setdefault(place["file"], []).append((*span(text, place), bug["name"], place["new"]))
    for name, places in changed.items():
        text = (root / name).read_text()
        places.sort(reverse=True)
        for (start, end, bug, _), (_, before, other, _) in zip(places, places[1:]):
            if before > start:
                sys.exit(f"{name}: {bug} and {other} overlap")
        for start, end, bug, new in places:
            text = f'{text[:start]}(if crate::planted::is("{bug}") {{ {new} }} else {{ {text[start:end]} }}){text[end:]}'
        changed[name] = text
    changed["src/lib.rs"] = "#![allow(unused_parens, unused_braces)]\n" + (root / "src/lib.rs").read_text() + "pub mod planted;\n"
    changed["src/planted.rs"] = (root / "benches/planted/planted.rs").read_text()
    for name in sorted(set(files) | {"src/planted.rs"}):
        if name == "src/planted.rs" or (root / name).is_file():
            new = changed[name].encode() if name in changed else (root / name).read_bytes()
            target = tree / name
            if not target.is_file() or target.read_bytes() != new:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(new)
    gone = [p for p in (tree / "tests").rglob("*.rs") if not (root / p.relative_to(tree)).exists()]
    for path in gone:
        path.unlink()


def binaries(root, messages):
    """How to run the files of tests, and benches, by name: a program of cargo's messages and what to ask it for."""
    found = {}
    for line in open(messages):
        said = json.loads(line) if line.startswith("{") else {}
        if said.get("reason") == "compiler-artifact" and said.get("executable"):
            kind, name = said["target"]["kind"], said["target"]["name"]
            if kind == ["bench"]:
                found["bench " + name] = [said["executable"]]
            elif kind == ["lib"]:
                found["unit tests"] = [said["executable"]]
            elif kind == ["test"]:
                files = (p.stem if p.is_file() else p.name for p in (root / "tests" / name).iterdir())
                found |= {file: [said["executable"], *TESTS.get(file, [file + "::"])] for file in files}
    return found


def fails(copy, program, bug, arguments=()):
    """Does the program fail with this bug on? Also the names of the tests that do."""
    tree = copy / "tree"
    target = pathlib.Path(program[0]).parents[1]
    environment = dict(os.environ, DPM_PLANTED=bug, CARGO_MANIFEST_DIR=str(tree), CARGO_TARGET_DIR=str(target), INSTA_UPDATE="no")
    environment.pop("UPDATE_DOCS", None)
    try:
        done = subprocess.run([*program, *arguments], cwd=tree, env=environment, capture_output=True, text=True, errors="replace",
                              timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return True, ["(no end)"]
    return done.returncode != 0, sorted(set(re.findall(r"^test (\S+).* FAILED$", done.stdout, re.M)))


def run(root, copy, messages, first="0", workers="1"):
    known = binaries(root, messages)
    (copy / "found").mkdir(exist_ok=True)
    nothing = {"name": "", "what": "no bug", "likely": "", "long": "", "kind": "", "alone": "", "places": []}
    asked = os.environ.get("DPM_BUGS", "").split(",")
    listed = [bug for bug in bugs(root) + [nothing] if asked == [""] or bug["name"] in asked]
    # Bugs meant for one layer alone are shown to every layer, the others first to quick tests, then until one catches them.
    jobs = [(bug, False) for bug in listed if bug["alone"]]
    jobs += [(bug, quick) for quick in (True, False) for bug in listed if not bug["alone"]]
    for index, (bug, quick) in enumerate(jobs):
        if index % int(workers) != int(first):
            continue
        path = copy / "found" / key(bug)
        mine = json.loads(path.read_text()) if path.exists() else {"seconds": {}, "failed": {}}

        def one(program, arguments=(), name=None):
            name = name or program
            if name not in mine["failed"] and program in known:
                start = time.time()
                failed, which = fails(copy, known[program], bug["name"], arguments)
                mine["failed"][name] = which if failed and which else (["(the program)"] if failed else [])
                mine["seconds"][name] = round(time.time() - start, 1)
                path.write_text(json.dumps(mine, indent=1))
            return bool(mine["failed"].get(name))

        def enough():
            return bug["name"] and not bug["alone"] and len(layers_of(mine, [])) > (1 if quick else 0)

        skipped = skipped_by(bug)
        likely = [p for name in bug["likely"].split(", ") for p in LAYERS.get(name, [name])]
        programs = [p for layer in LAYERS.values() for p in layer]
        elsewhere = any(one(p) for p in likely if p in OTHERS)
        for program in dict.fromkeys([p for p in likely if p in programs] + programs):
            early = program in QUICK or program in bug["likely"].split(", ")
            if program not in skipped and not enough() and not elsewhere and (early or not quick):
                one(program)
        if quick:
            continue
        if bug["long"] and not enough() and "bench laws" in known:
            (copy / "tree/benches/results/laws.txt").unlink(missing_ok=True)
            one("bench laws", [bug["long"]], f"long form of laws, {bug['long']}")
        if not layers_of(mine, []) or not bug["name"]:
            for program in OTHERS:
                if not elsewhere and one(program) and bug["name"]:
                    break
        caught = [p for p, which in mine["failed"].items() if which]
        said = ", ".join(caught) or ("CAUGHT BY NOTHING" if bug["name"] else "everything passes")
        print(f"{index + 1} of {len(jobs)}: {bug['name'] or 'no bug'}: {said}", flush=True)


def skipped_by(bug):
    return {"draw": CLAIMS, "claim": DRAWN}.get(bug["kind"], [])


def layers_of(mine, silent):
    names = [name for name, programs in LAYERS.items() if any(mine["failed"].get(p) and p not in silent for p in programs)]
    if any(which for p, which in mine["failed"].items() if p.startswith("long form")) and "law" not in names:
        names.append("law")
    return names or [f"others ({p})" for p, which in mine["failed"].items() if which and p not in silent]


def table(root, copy):
    """Rows of bugs that were not run in this folder are those of the table before."""
    found = {path.name: json.loads(path.read_text()) for path in (copy / "found").iterdir()}
    before = (root / "benches/results/planted.txt").read_text().splitlines()
    kept = {line.split(" | ")[0]: line for line in before if " | " in line and not line.startswith("#")}
    nothing = found.get(key({"name": "", "places": [], "long": ""}))
    silent = [p for p, which in nothing["failed"].items() if which] if nothing else []
    lines, alone = [], {}
    for bug in bugs(root):
        mine = found.get(key(bug))
        names = layers_of(mine, silent) if mine else []
        asked = bool(mine) and all(p in mine["failed"] or p in skipped_by(bug) for layer in LAYERS.values() for p in layer)
        draws = [DRAWS["audit"]] if "audit" in names else []
        if "law" in names:
            short = any(mine["failed"].get(p) for p in LAYERS["law"])
            draws.append(DRAWS["law"] if short else DRAWS["long"])
        caught = ", ".join(names) or ("NOTHING" if asked else "not run")
        line = " | ".join([bug["name"], bug["what"], caught, "every layer" if asked else "until caught", "; ".join(draws) or "-"])
        lines.append(line if mine else kept.get(bug["name"], line))
        _, _, caught, shown, _ = lines[-1].split(" | ")
        if caught in LAYERS and shown == "every layer":
            alone.setdefault(caught, []).append(bug["name"])
    print("# benches/planted/run.sh: one bug at a time, and the layers of tests that caught it.")
    print("# Tests that read claims alone were not shown bugs in what is drawn, those that read draws alone none in claims;")
    print("# a bug meant for one layer alone was shown to every layer, any other to further tests only until it was caught.")
    print("# Rows of bugs that were not run again are those of earlier runs.")
    print("# bug | what it does | caught by | shown to | draws of the law or audit layer")
    print("\n".join(lines))
    print(f"\nbugs {len(lines)}, caught {sum('NOTHING' not in l and 'not run' not in l for l in lines)}")
    for layer in LAYERS:
        print(f"only {layer}: {', '.join(alone.get(layer, [])) or 'none'}")
    if nothing:
        quiet = [p for p, which in nothing["failed"].items() if not which]
        open_ = [p for layer in LAYERS.values() for p in layer if p not in nothing["failed"]]
        print(f"without a bug {len(quiet)} programs pass, {len(silent)} fail {silent or ''}, not run yet {open_ or 'none'}")
    else:
        print(*(line for line in before if line.startswith("without a bug")))


if __name__ == "__main__":
    command, root, copy = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
    {"plant": plant, "run": run, "table": table}[command](root, copy, *sys.argv[4:])
