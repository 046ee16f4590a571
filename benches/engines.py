"""The queries of `dpm sql` in engines from PyPI: the same adversarial rows in each, and the integers that each gives back.

engines.py DPM [ROWS] wants duckdb, datafusion and pyarrow (pip install duckdb datafusion pyarrow) and writes benches/results/engines.txt.
The oracle is SQLite, which Python has, and which `cargo test --test draws sql` holds to the totals of the same cells as CSV. A sum of
one column is held against whole numbers computed here as well, from fractions.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

import datafusion
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from odd_cells import ASKED, RANGES, csv_text, declared, flat, rows, seeded, total

DPM = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 1200
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "engines.txt")


def query(folder, dialect):
    run = subprocess.run([DPM, "sql", os.path.join(folder, "p.dpm"), "--dialect", dialect], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    text = run.stdout
    first = {}
    for line in text.splitlines():
        if line.startswith("-- ") and " part " in line and "first = " in line:
            name, part = line[3:].split(":")[0].split(" part ")
            first[(name, int(part))] = int(line.split("first = ")[1].split(",")[0])
    return text.rstrip().rstrip(";"), first


def answer(found, first):
    table = {}
    for name, part, level, cell, n, low, mid, high, *_ in found:
        key = (name, int(part), int(level), int(cell))
        assert key not in table, key
        table[key] = (int(n), int(low) + (int(mid) << 20) + (int(high) << 40) + int(n) * first.get((name, int(part)), 0))
    return table


def written(folder, name, text, lines):
    """An answer as CSV, in any order."""
    path = os.path.join(folder, name + ".csv")
    mark = re.search(r"0 AS (dpm_[0-9a-f]{16}) FROM", text)[1]
    with open(path, "w") as f:
        f.writelines(",".join(map(str, line)) + "\n" for line in [("name", "part", "group_level", "cell", "n", "low", "mid", "high", mark), *reversed(lines)])
    return path


def in_sqlite(text, data):
    c = sqlite3.connect(":memory:")
    c.execute("create table t(x, y, k, m, b, c, g, h)")
    c.executemany("insert into t values (?,?,?,?,?,?,?,?)", data)
    return c.execute(text).fetchall()


def in_duckdb(text, data):
    c = duckdb.connect()
    c.execute("create table t(x double, y double, k bigint, m bigint, b boolean, c boolean, g varchar collate nocase, h varchar)")
    c.register("rows", arrow(data))
    c.execute("insert into t select * from rows")
    return c.execute(text).fetchall()


def in_datafusion(text, data):
    c = datafusion.SessionContext()
    c.register_record_batches("t", [arrow(data).to_batches(max_chunksize=100)])
    found = c.sql(text).to_pydict()
    return list(zip(*found.values()))


def arrow(data):
    types = [pa.float64(), pa.float64(), pa.int64(), pa.int64(), pa.bool_(), pa.bool_(), pa.string(), pa.string()]
    return pa.table({name: pa.array(column, ty, from_pandas=False) for name, column, ty in zip("xykmbcgh", zip(*data), types)})


def far(folder, data, oracle, exponents, answers):
    """What `dpm run` releases of the same rows as CSV and as Parquet in many row groups, and of the answers of engines, with noise of scale 1e-9, where the oracle is another."""
    program = re.sub(r"^(\s*release .*)$", r"\1 using laplace(scale = 1e-9)", open(os.path.join(folder, "p.dpm")).read().replace("budget eps(1)\n", ""), flags=re.M)
    program_at, csv_at, parquet_at = (os.path.join(folder, name) for name in ("r.dpm", "d.csv", "d.parquet"))
    with open(program_at, "w") as f:
        f.write(program)
    with open(csv_at, "w", newline="") as f:
        f.write(csv_text(data))
    pq.write_table(arrow(data), parquet_at, row_group_size=97)
    wrong = []
    for option, path in [("--data", csv_at), ("--data", parquet_at), *(("--counted", path) for path in answers)]:
        run = subprocess.run([DPM, "run", program_at, option, path, "--json", "--anyway"], capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stderr)
        releases = json.loads(run.stdout)["releases"]
        for (name, _, level, cell), (n, sum_) in oracle.items():
            value = releases[name]
            value = flat(list(value.values())[level] if isinstance(value, dict) else value[level]) if name in ("c0", "c1") else flat(value)
            wanted = sum_ * 2.0 ** exponents[name] if name in exponents else n
            if abs(float(value[cell]) - wanted) > 1e-7 * max(1, abs(wanted) * 1e-6):
                wrong.append(f"{os.path.basename(path)}: {name}, level {level}, cell {cell}")
    return wrong


engines = {"duckdb": in_duckdb, "datafusion": in_datafusion}
counted = {name: 0 for name in engines}
wrong, files = [], 0
rng = seeded()
with tempfile.TemporaryDirectory() as folder:
    for lo, hi in RANGES:
        with open(os.path.join(folder, "p.dpm"), "w") as f:
            f.write("budget eps(1)\n\n" + declared(lo, hi) + ASKED)
        data = rows(lo, hi, rng, ROWS)
        text, first = query(folder, "sqlite")
        oracle = answer(in_sqlite(text, data), first)
        if oracle[("a0", 0, 0, 0)] != (ROWS, total([row[0] for row in data], lo, hi)):
            wrong.append(f"sqlite: sum(x) on [{lo}, {hi}]")
        exponents = {m[0]: int(m[1]) for m in re.findall(r"-- (\w+) part 0: a sum in steps of 2\^(-?\d+)", text)}
        answers = [written(folder, "sqlite", text, in_sqlite(text, data))]
        for name, run in engines.items():
            text, first = query(folder, name)
            lines = run(text, data)
            answers.append(written(folder, name, text, lines))
            found = answer(lines, first)
            counted[name] += len(found)
            wrong += [f"{name} on [{lo}, {hi}]: {key} is {found.get(key)}, not {oracle.get(key)}" for key in sorted(oracle.keys() | found.keys()) if found.get(key) != oracle.get(key)]
        if 1e-3 < hi < 1e7:
            wrong += far(folder, data, oracle, exponents, answers)
            files += (2 + len(answers)) * len(oracle)
lines = [f"{ROWS} rows of adversarial cells for each of {len(RANGES)} ranges; SQLite {sqlite3.sqlite_version} is the oracle"]
versions = {"duckdb": duckdb.__version__, "datafusion": datafusion.__version__}
lines += [f"{name} {versions[name]}: {counted[name]} integers compared" for name in engines]
lines += [f"CSV, Parquet and answers of the engines through dpm run, noise of scale 1e-9: {files} numbers compared"]
lines += [f"{len(wrong)} differ"] + wrong[:20]
print("\n".join(lines))
if wrong:
    sys.exit(5)
with open(OUT, "w") as f:
    f.write("\n".join(lines) + "\n")
