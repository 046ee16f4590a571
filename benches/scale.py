"""Many rows: time, processor time and peak memory of dpm and of three engines on the same file, each in a process of its own.

scale.py DPM FOLDER [ROWS] wants polars, duckdb, datafusion and pyarrow; FOLDER keeps the files (some 5 GB at 100,000,000 rows). It writes
benches/results/scale.txt. DPM is the file that .ci/dist builds; a release build takes some 7 MB more. All numbers are medians; runs of the four are in turn. What the engines add up are doubles, as a user would
write it, where dpm adds exact integers and releases them with noise.
"""

import os
import statistics
import subprocess
import sys
import tempfile

DPM, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
MOST = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000_000
AGAIN = 5
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "scale.txt")
LEVELS = [f"region{i}" for i in range(8)]
COLUMNS = f"x: real in [0, 10], c: category {{{', '.join(LEVELS)}}}"

# Name, columns of the table, its units, what is released, and the same for polars (of a lazy frame `t`) and in SQL.
CLIPPED = "least(greatest(x, 0.0), 10.0)"
SUM = ("sum", COLUMNS, "", "release s = sum(x)", "t.select(pl.col('x').clip(0, 10).sum())", f"select sum({CLIPPED}) from t")
BY = (
    "mean by category", COLUMNS, "", "release s = mean(x, groups = c)", "t.group_by('c').agg(pl.col('x').clip(0, 10).sum(), pl.len())",
    f"select c, sum({CLIPPED}), count(*) from t group by c",
)
UNITS = (
    "sum of a unit's first row", "u: int, x: real in [0, 10]", "by u max 1", "release s = sum(x)",
    "t.group_by('u', maintain_order=False).agg(pl.col('x').first()).select(pl.col('x').clip(0, 10).sum())",
    f"select sum({CLIPPED}) from (select u, any_value(x) as x from t group by u)",
)

MAKE = """
import sys, numpy as np, pyarrow as pa, pyarrow.parquet as pq, pyarrow.csv as pc
path, rows, ids = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
levels = pa.array([f"region{i}" for i in range(8)])
r = np.random.default_rng(1)
writer, left = None, rows
while left:
    n = min(left, 1_000_000)
    x = pa.array(r.uniform(-2, 12, n) if path.endswith(".parquet") else r.uniform(-2, 12, n).round(4))
    if ids:
        t = pa.table({"u": r.integers(0, ids, n), "x": x})
    else:
        t = pa.table({"x": x, "c": levels.take(pa.array(r.integers(0, 8, n)))})
    if writer is None:
        writer = pq.ParquetWriter(path, t.schema) if path.endswith(".parquet") else pc.CSVWriter(path, t.schema, write_options=pc.WriteOptions(quoting_style="none"))
    writer.write_table(t)
    left -= n
writer.close()
"""

# The peak is read every two milliseconds: what the system says at the end counts the memory of the process that it was forked from.
TIMED = """
import resource, subprocess, sys, time
started = time.perf_counter()
process, peak = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL), 0
while process.poll() is None:
    try:
        status = open(f"/proc/{process.pid}/status").read()
        peak = int(status.split("VmHWM:")[1].split()[0]) if "VmHWM:" in status else peak
        process.wait(0.002)
    except subprocess.TimeoutExpired:
        pass
wall, used = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
print(process.returncode, wall, used.ru_utime + used.ru_stime, peak / 1024)
"""


def made(name, rows, ids=0):
    path = os.path.join(FOLDER, name)
    if not os.path.exists(path):
        subprocess.run([sys.executable, "-c", MAKE, path + ".part" + os.path.splitext(name)[1], str(rows), str(ids)], check=True)
        os.rename(path + ".part" + os.path.splitext(name)[1], path)
    return path


def commands(case, path, rows):
    _, columns, unit, release, polars, sql = case
    parquet = path.endswith(".parquet")
    program = f"budget gdp(1)\nprivate t[{rows if not unit else 'private n'}] {unit} {{ {columns} }}\n{release}\n"
    scan = "scan_parquet" if parquet else "scan_csv"
    read = f"read_{'parquet' if parquet else 'csv'}('{path}')"
    register = "register_parquet" if parquet else "register_csv"
    python = lambda text: [sys.executable, "-c", text]
    return {
        "dpm": (program, [f"--data=t={path}"]),
        "polars": python(f"import polars as pl\nt = pl.{scan}({path!r})\nprint({polars}.collect(engine='streaming'))"),
        "duckdb": python(f"import duckdb\nprint(duckdb.sql({sql.replace('from t', 'from ' + read)!r}).fetchall())"),
        "datafusion": python(f"import datafusion\nc = datafusion.SessionContext()\nc.{register}('t', {path!r})\nprint(c.sql({sql.replace('any_value', 'first_value')!r}).to_pydict())"),
    }


def timed(command):
    found = subprocess.run([sys.executable, "-c", TIMED, *command], capture_output=True, text=True)
    status, *numbers = found.stdout.split()
    if status != "0":
        sys.exit(f"{command}: {found.stderr}")
    return [float(x) for x in numbers]


def measured(case, path, rows, again):
    roads = commands(case, path, rows)
    with tempfile.TemporaryDirectory() as folder:
        text, flags = roads["dpm"]
        file = os.path.join(folder, "p.dpm")
        with open(file, "w") as f:
            f.write(text)
        roads["dpm"] = [DPM, "run", file, *flags]
        all = {name: [] for name in roads}
        for _ in range(again):
            for name, command in roads.items():
                all[name].append(timed(command))
    return {name: [statistics.median(x) for x in zip(*runs)] for name, runs in all.items()}


def versions():
    import datafusion, duckdb, polars

    own = subprocess.run([DPM, "--version"], capture_output=True, text=True).stdout.strip()
    return f"{own}, polars {polars.__version__}, duckdb {duckdb.__version__}, datafusion {datafusion.__version__}"


def main():
    os.makedirs(FOLDER, exist_ok=True)
    lines = []

    def say(line):
        lines.append(line)
        print(line, flush=True)

    say(f"Medians of {AGAIN} runs in turn on {os.cpu_count()} cores: seconds, seconds of processors, peak MB of the process (benches/scale.py).")
    say(versions())
    say(f"\n{'':46}{'wall':>8}{'beside':>8}{'CPU':>8}{'peak':>8}")
    small = max(MOST // 100, 1)
    places = [(case, "parquet", n, 0) for case in (SUM, BY) for n in (small, MOST // 10, MOST)]
    places += [(case, "csv", MOST // 10, 0) for case in (SUM, BY)]
    places += [(UNITS, "parquet", MOST // 5, MOST // 5)]
    for case, kind, rows, ids in places:
        path = made(f"{'units' if ids else 'rows'}{rows}.{kind}", rows, ids)
        found = measured(case, path, rows, AGAIN)
        for name, (wall, cpu, peak) in found.items():
            what = f"{rows:,} rows of {kind}, {case[0]}" if name == "dpm" else ""
            say(f"{what:46}{name:>11}{wall:8.2f}{wall / found['dpm'][0]:8.2f}{cpu:8.2f}{peak:8.0f}")
        others = [v for name, v in found.items() if name != "dpm"]
        fastest = min(others)
        say(f"{'':46}{'':11}dpm takes {found['dpm'][0] / fastest[0]:.2f} of the time of the fastest other and {found['dpm'][2] / fastest[2]:.2f} of its memory")
    with open(OUT, "w") as f:
        f.write("\n".join(lines) + "\n")


main()
