"""Every kind of table gives the statistics that its CSV gives."""

import csv
import math

import pytest

import dpm
from dpm import _tables

pytestmark = pytest.mark.filterwarnings("ignore:this program ran before")

# A budget so large that the noise is 0 but for a chance of e^-1000: what is released is the exact
# count, and the sum of `x` to about 0.004.
COUNTS = """
budget eps(10000)
private t[{n}] {{ x: real in [0, 10], k: int in 0..5, b: bool, c: category {{red, "a,b", other}} }}
release xs = sum(x) using laplace
release ks = sum(k) using geometric
release bs = count(b) using geometric
release cs = histogram(c) using geometric
"""

CELLS = {
    "x": [0.1, 9.75, None, -3.0, 1e300, math.inf, 0.30000000000000004, 2.5],
    "k": [0, 5, None, -2, 9, 3, 1, 2],
    "b": [True, False, None, True, True, False, True, False],
    "c": ["red", "a,b", None, 'qu"ote', "line\nbreak", "other", "red", "Red "],
}


def _csv(path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(CELLS)
        for row in zip(*CELLS.values()):
            writer.writerow(["" if v is None else str(v).lower() if isinstance(v, bool) else repr(v) if isinstance(v, float) else v for v in row])
    return path


def _frames():
    pandas, polars, pyarrow, duckdb = (pytest.importorskip(m) for m in ("pandas", "polars", "pyarrow", "duckdb"))
    arrow = pyarrow.table(CELLS)
    yield "columns", CELLS
    yield "pandas", pandas.DataFrame({**CELLS, "k": pandas.array(CELLS["k"], dtype="Int64"), "b": pandas.array(CELLS["b"], dtype="boolean")})
    yield "categorical", arrow.to_pandas().assign(c=pandas.Categorical(CELLS["c"]))
    yield "polars", polars.DataFrame(CELLS, strict=False)
    yield "arrow", arrow
    yield "batches", arrow.to_reader(max_chunksize=3)
    yield "dictionary", arrow.set_column(3, "c", arrow["c"].dictionary_encode())
    yield "duckdb", duckdb.sql("select * from arrow")


@pytest.mark.parametrize("fallback", [False, True])
def test_frames_equal_their_csv(tmp_path, monkeypatch, fallback):
    program = dpm.compile(COUNTS.format(n=len(CELLS["x"])))
    expected = program.run({"t": _csv(tmp_path / "t.csv")}).releases
    assert expected["cs"]
    for name, frame in _frames():
        if fallback and name not in ("columns", "pandas", "categorical", "polars"):
            continue
        if fallback:
            monkeypatch.setattr(_tables, "_arrow", lambda: None)
        found = program.run({"t": frame}).releases
        assert found == {**expected, "xs": pytest.approx(expected["xs"], abs=0.2)}, name


def test_a_second_run_without_a_ledger_says_that_it_spends_again():
    program = dpm.compile("budget eps(1)\nprivate t[3] { b: bool }\nrelease a = count(b)\n")
    data = {"t": {"b": [True, False, True]}}
    program.run(data)
    with pytest.warns(UserWarning, match="spends its budget again"):
        program.run(data)


def test_a_single_table_needs_no_name(examples):
    result = dpm.compile(examples / "01_beta_bernoulli.dpm").run(examples / "01_staff.csv")
    assert 0 < result["p_hat"] < 1


def test_what_is_not_a_table_is_refused_by_its_type():
    program = dpm.compile(COUNTS.format(n=8))
    with pytest.raises(TypeError, match="is not a table"):
        program.run({"t": 7j})
    with pytest.raises(ValueError, match="differ in length"):
        program.run({"t": {**CELLS, "x": [1.0]}})


def test_a_missing_column_is_named_without_a_cell():
    program = dpm.compile(COUNTS.format(n=8))
    with pytest.raises(dpm.DataError) as caught:
        program.run({"t": {"x": [1234.5] * 8}})
    assert "1234.5" not in str(caught.value)
