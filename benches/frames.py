"""Five million rows from a data frame to a release, beside the command on the same rows as Parquet: python3 benches/frames.py [ROWS] > benches/results/frames.txt
Wants the wheel (bindings/python/install.sh), pandas, polars and pyarrow. In turn, so that what others do meets all alike; wall time, and processor time of both."""
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet

import dpm

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
AGAIN = 7
r = numpy.random.default_rng(1)
frame = pandas.DataFrame({
    "x": r.uniform(0, 10, ROWS), "k": r.integers(0, 101, ROWS), "b": r.random(ROWS) > 0.5,
    "c": pandas.Categorical.from_codes(r.integers(0, 3, ROWS), ["red", "green", "other"]),
    "d": pandas.to_datetime("2020-01-01") + pandas.to_timedelta(r.integers(0, 365, ROWS), unit="D"),
})
table = pyarrow.Table.from_pandas(frame, preserve_index=False)
table = table.set_column(4, "d", table["d"].cast(pyarrow.date32()))
# Of pandas, dates as dates: times of day are another column.
frame["d"] = pandas.Series(table["d"].to_pandas(types_mapper=pandas.ArrowDtype))
text = frame.assign(c=frame["c"].astype(str))
program = f"""budget eps(1)
private t[{ROWS}] {{ x: real in [0, 10], k: int in 0..100, b: bool, c: category {{red, green, other}}, d: date in ["2020-01-01", "2020-12-31"] }}
release a = mean(x)
release m = mean(k)
release h = histogram(c, b, month(d))
"""
compiled = dpm.compile(program)
import warnings

warnings.simplefilter("ignore")
with tempfile.TemporaryDirectory() as folder:
    pyarrow.parquet.write_table(table, f"{folder}/t.parquet")
    open(f"{folder}/t.dpm", "w").write(program)
    command = lambda: subprocess.run([dpm.command(), "run", f"{folder}/t.dpm", f"--data=t={folder}/t.parquet", "--json"], check=True, capture_output=True)
    roads = {
        "pandas": lambda: compiled.run({"t": frame}),
        "pandas, text for a category": lambda: compiled.run({"t": text}),
        "polars": lambda f=polars.from_arrow(table): compiled.run({"t": f}),
        "pyarrow": lambda: compiled.run({"t": table}),
        "command on Parquet": command,
    }
    spent = {name: [] for name in roads}
    for _ in range(AGAIN):
        for name, road in roads.items():
            before, started = os.times(), time.perf_counter()
            road()
            wall, after = time.perf_counter() - started, os.times()
            spent[name].append((wall, sum(after[:4]) - sum(before[:4])))
middle = {name: [statistics.median(x) for x in zip(*times)] for name, times in spent.items()}
base = middle["command on Parquet"]
load = os.getloadavg()[0]
print(f"{ROWS} rows, 5 columns to a release (benches/frames.py): medians of {AGAIN}, seconds; load {load:.1f}.")
print(f"Python {platform.python_version()}, pandas {pandas.__version__}, polars {polars.__version__}, pyarrow {pyarrow.__version__}, dpm {dpm.version()}")
print(f"{'':30}{'wall':>8}{'beside':>9}{'CPU':>8}{'beside':>9}")
for name, (wall, cpu) in middle.items():
    print(f"{name:30}{wall:8.2f}{wall / base[0]:9.2f}{cpu:8.2f}{cpu / base[1]:9.2f}")
