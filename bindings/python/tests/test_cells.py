"""Odd cells, one by one and in every kind of statistic: each kind of frame gives, to the step of the grid, what the same cells give as CSV.

One range of numbers and few rows; with DPM_LONG=1 eleven ranges and 1,200 rows. `-s` prints what was compared (benches/results/arrow.txt).
"""

import math
import os
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import dpm

sys.path.insert(0, str(Path(__file__).parents[3] / "benches"))
import odd_cells  # noqa: E402

LONG = "DPM_LONG" in os.environ
# Sums over the last two have no noise that is fine enough: only their bins are asked.
RANGES = [*odd_cells.RANGES, (-1e300, 1e300), (0.0, 1e-300)] if LONG else [(-5.0, 5.0)]
ROWS = 1200 if LONG else 60
# Every cell of the longest pool, and twenty others.
ONES = 70

pytestmark = pytest.mark.filterwarnings("ignore:this program ran before", "ignore:W0")


def _programs(lo, hi, cells):
    """What is asked of `ROWS` rows, and of one row for each of these cells of `x`: every kind of statistic, every cell by itself, and bins."""
    inside = sorted({x for x in cells if x is not None and lo < x < hi})
    # Every cell within the range opens a bin of its own: a change of one unit in the last place would be seen.
    binned = odd_cells.declared(lo, hi, ONES) + f"release bins = histogram(bin(x, [{', '.join(map(repr, inside))}]))\n"
    if hi - lo > 1e200 or hi - lo < 1e-200:
        return [(False, binned)]
    return [(True, odd_cells.declared(lo, hi, ROWS) + odd_cells.ASKED), (False, _one_by_one(lo, hi)), (False, binned)]


def _one_by_one(lo, hi):
    """A program that releases every cell of every row by itself."""
    levels = ", ".join(f"r{i}" for i in range(ONES))
    # Beside numbers far from 0 a double has no digits left for the step of the sum itself.
    near = [f"sum(x - {lo!r})"] if lo > 1000 else []
    asked = ["sum(x)", "sum(y)", "sum(k)", "sum(m)", "count(b)", "count(c)", "histogram(g)", "histogram(h)"]
    asked += [f"count(is_na({name}))" for name in odd_cells.COLUMNS]
    inside = "\n".join(f"  release e{i} = {what}" for i, what in enumerate(asked + near))
    return odd_cells.declared(lo, hi, ONES, f",\n  i: category {{{levels}}}") + f"each i of t {{\n{inside}\n}}\n"


def _frames(columns):
    """The same columns as frames of every kind, typed, as text and as objects."""
    pandas, polars, pa, duckdb = (pytest.importorskip(m) for m in ("pandas", "polars", "pyarrow", "duckdb"))
    arrow = {"x": pa.float64(), "y": pa.float64(), "k": pa.int64(), "m": pa.int64(), "b": pa.bool_(), "c": pa.bool_()}
    typed = pa.table({name: pa.array(values, arrow.get(name, pa.string()), from_pandas=False) for name, values in columns.items()})
    worded = [name for name in columns if name not in arrow]
    texts = {name: [_text(value) for value in values] for name, values in columns.items()}
    own = {"x": "float64", "y": "float64", "k": "Int64", "m": "Int64", "b": "boolean", "c": "boolean"}
    pandas_typed = pandas.DataFrame({name: pandas.array(values, dtype=own[name]) if name in own else pandas.Series(values) for name, values in columns.items()})
    encoded = typed
    for name in worded:
        at = encoded.schema.get_field_index(name)
        encoded = encoded.set_column(at, name, encoded[name].dictionary_encode())
        encoded = encoded.set_column(at, name, encoded[name].cast(pa.dictionary(pa.int32(), pa.large_string())))
    kinds = {"x": polars.Float64, "y": polars.Float64, "k": polars.Int64, "m": polars.Int64, "b": polars.Boolean, "c": polars.Boolean}
    polars_typed = polars.DataFrame(columns, schema={name: kinds.get(name, polars.String) for name in columns})
    yield "pyarrow", typed
    yield "pyarrow, batches of 97 rows", typed.to_reader(max_chunksize=97)
    yield "pyarrow, dictionaries", encoded
    yield "pyarrow, text", pa.table({name: pa.array(values, pa.string()) for name, values in texts.items()})
    yield "pandas", pandas_typed
    yield "pandas, inferred", pandas.DataFrame(columns)
    yield "pandas, objects", pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in columns.items()})
    yield "pandas, text", pandas.DataFrame({name: pandas.Series(values, dtype="string") for name, values in texts.items()})
    yield "pandas, categories", pandas_typed.assign(**{name: pandas.Categorical(columns[name]) for name in worded})
    yield "pandas, Arrow types", typed.to_pandas(types_mapper=pandas.ArrowDtype)
    yield "polars", polars_typed
    yield "polars, lazy", polars_typed.lazy()
    yield "polars, text", polars.DataFrame(texts, schema={name: polars.String for name in texts})
    yield "polars, categories", polars_typed.with_columns([polars.col(name).cast(polars.Categorical) for name in worded])
    yield "duckdb", duckdb.from_arrow(typed)
    yield "columns", columns


def _text(value):
    """The text of a cell without the quotes of CSV."""
    return None if value is None else value if isinstance(value, str) else odd_cells.cell_text(value)


def _statistics(releases, steps):
    """Every number in steps of its grid; (number, its last digit) where a double has too few digits for that."""
    found = {}
    for name, value in releases.items():
        unit = Fraction(2) ** steps.get(name, 0)
        for at, number in enumerate(odd_cells.flat(value)):
            fine = abs(Fraction(number)) < 2**52 * unit
            found[name, at] = round(Fraction(number) / unit) if fine else (number, math.ulp(number))
    return found


def _differ(found, expected):
    if isinstance(expected, tuple) and isinstance(found, tuple):
        return abs(found[0] - expected[0]) > 2 * expected[1]
    return found != expected


def test_odd_cells_equal_their_csv(tmp_path):
    rng, counted, coarse, wrong = odd_cells.seeded(), {}, 0, []
    for lo, hi in RANGES:
        data = odd_cells.rows(lo, hi, rng, ROWS)
        few = [*data[: ONES - 20], *([rng.uniform(lo, hi), *row[1:]] for row in data[-20:])]
        few = [[*row, f"r{i}"] for i, row in enumerate(few)]
        for many, program in _programs(lo, hi, [row[0] for row in few]):
            names, rows = (odd_cells.COLUMNS, data) if many else (odd_cells.COLUMNS + "i", few)
            steps = odd_cells.exponents(dpm.command(), program, tmp_path / "p.dpm")
            compiled = dpm.compile(odd_cells.hardly_noisy(program, steps))
            csv_at = tmp_path / "t.csv"
            csv_at.write_text(odd_cells.csv_text(rows, names), encoding="utf-8", newline="")
            run = lambda table: _statistics(compiled.run({"t": table}, anyway=True).releases, steps)
            expected = run(csv_at)
            coarse += sum(isinstance(value, tuple) for value in expected.values())
            # The sums of single cells are also those that fractions give.
            for at, row in enumerate(rows if ("e0", 0) in expected else []):
                assert isinstance(expected["e0", at], tuple) or expected["e0", at] == odd_cells.on_grid(row[0], lo, hi), (row[0], lo, hi)
            for name, frame in _frames(dict(zip(names, map(list, zip(*rows))))):
                found = run(frame)
                assert found.keys() == expected.keys()
                counted[name] = counted.get(name, 0) + len(found)
                wrong += [f"{name} on [{lo}, {hi}]: {key} is {found[key]}, not {expected[key]}" for key in found if _differ(found[key], expected[key])]
    lines = [f"{len(RANGES)} ranges, {ROWS} rows of odd cells for each, and {ONES} rows cell by cell; numbers compared with those of the CSV, by kind of frame:"]
    lines += [f"  {name}: {n}" for name, n in counted.items()]
    lines += [f"of each {coarse} to the last digits of a double, where these are coarser than the step of the grid", f"{len(wrong)} differ", *wrong[:20]]
    print("", *lines, sep="\n")
    assert len(counted) == 16 and min(counted.values()) > (10000 if LONG else 1000)
    assert not wrong, wrong[:20]
