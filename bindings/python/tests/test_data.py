"""Every kind of table gives the statistics that its CSV gives."""

import csv
import datetime
import decimal
import math
import sqlite3
import traceback
from pathlib import Path

import numpy
import pytest

import dpm

pytestmark = pytest.mark.filterwarnings("ignore:this program ran before", "ignore:W0")

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


def test_frames_equal_their_csv(tmp_path):
    program = dpm.compile(COUNTS.format(n=len(CELLS["x"])))
    expected = program.run({"t": _csv(tmp_path / "t.csv")}).releases
    assert expected["cs"]
    for name, frame in _frames():
        found = program.run({"t": frame}).releases
        assert found == {**expected, "xs": pytest.approx(expected["xs"], abs=0.2)}, name


def test_no_cell_decides_whether_a_run_raises():
    pandas = pytest.importorskip("pandas")

    class Rude:
        def __str__(self):
            raise RuntimeError("secret4711")

    program = dpm.compile(
        'budget eps(10000)\nprivate t[4] { x: int in 0..9, c: category {"1", other} }\n'
        "release a = sum(x) using geometric\nrelease b = histogram(c) using geometric\n"
    )
    plain = {"x": [1, 2, 3, 4], "c": ["1", "1", "2", "3"], "unnamed": ["a", "b", "c", "d"]}
    for odd in ("\udcff", Rude(), b"\xff", complex(1, 2), [1], {}, 1 << 200):
        for column in ("c", "unnamed"):
            rows = {**plain, column: [*plain[column][:3], odd]}
            frame = pandas.DataFrame({name: pandas.Series(values, dtype=object) for name, values in rows.items()})
            for table in (rows, frame):
                found = program.run({"t": table})
                assert (found["a"], found["b"]["1"]) == (10, 2), odd


def test_whole_floats_are_whole_numbers_and_times_are_not_dates():
    pandas = pytest.importorskip("pandas")
    program = dpm.compile('budget eps(10000)\nprivate t[3] { g: category {"1", "2", other} }\nrelease b = histogram(g) using geometric\n')
    for values in ([1.0, 2.0, None], numpy.array([1.0, 2.0, numpy.nan])):
        for table in ({"g": values}, pandas.DataFrame({"g": values}), pandas.DataFrame({"g": pandas.Series(list(values), dtype=object)})):
            assert program.run({"t": table})["b"] == {"1": 1, "2": 1, "other": 1}
    dates = dpm.compile(
        'budget eps(10000)\nprivate t[2] { d: date in ["2020-01-01", "2021-12-31"] }\nrelease b = count(year(d) == 2021) using geometric\n'
    )
    days = [datetime.datetime(2021, 3, 1), datetime.date(2021, 3, 2)]
    assert dates.run({"t": {"d": days}})["b"] == 2
    # A column of times is refused by its type, whatever the times are.
    times = numpy.array(["2021-03-01", "2021-03-02"], dtype="datetime64[ns]")
    for table in ({"d": times}, pandas.DataFrame({"d": times}), pandas.DataFrame({"d": pandas.to_datetime(["2021-03-01 08:00", "2021-03-02 09:00"])})):
        with pytest.raises(dpm.DataError, match="`d`|'d'|d"):
            dates.run({"t": table})


# Every type of column, each with odd cells, and what a program may declare it as.
NUMBERS = [0, 1, -3, 7, None, 120]
REALS = [0.1, -0.0, None, math.nan, math.inf, -math.inf, 5e-324, 1e300, 2.5, 9.999999999999998]
WORDS = ["red", "Red", " red ", "a,b", 'qu"ote', "line\nbreak", "", None, "true", "1", "NA", "é", "x" * 40000]
DAYS = [datetime.date(1970, 1, 1), datetime.date(2020, 2, 29), None, datetime.date(1, 1, 1), datetime.date(9999, 12, 31)]


def _columns():
    pyarrow = pytest.importorskip("pyarrow")
    pa = pyarrow
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64()):
        yield pa.array(NUMBERS, kind)
    for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        yield pa.array([0, 1, 3, None, 200], kind)
    yield pa.array([2**64 - 1, 2**63, 5], pa.uint64())
    yield pa.array(REALS, pa.float64())
    yield pa.array([0.1, None, math.nan, math.inf, -1.5, 3e38, 9.7], pa.float32())
    yield pa.array([0.5, None, -1.5, 0.0999755859375], pa.float32()).cast(pa.float16()) if hasattr(pa, "float16") else pa.nulls(4)
    for kind in (pa.string(), pa.large_string()):
        yield pa.array(WORDS, kind)
    yield pa.array(WORDS).dictionary_encode()
    yield pa.array(NUMBERS).dictionary_encode()
    yield pa.array(DAYS, pa.date32())
    yield pa.array(DAYS[:3], pa.date64())
    yield pa.array([decimal.Decimal("1.25"), decimal.Decimal("-0.01"), None, decimal.Decimal("9.99")], pa.decimal128(10, 2))
    yield pa.array([decimal.Decimal("1.25"), None], pa.decimal256(50, 2))
    yield pa.nulls(4)
    yield pa.array([True, None, False, True])
    if int(pa.__version__.split(".")[0]) >= 18:
        # Older versions cast no other text to it.
        yield pa.array(WORDS).cast(pa.string_view())


def _cell(value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _declared(kind) -> list[str]:
    """A type that reads such a column as a number, where one may, and two that read its text."""
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    text = ['category {red, "a,b", "true", "1", other}']
    if pa.types.is_boolean(value):
        return ["bool", *text]
    if pa.types.is_date(value):
        return ['date in ["2018-01-01", "2021-12-31"]', *text]
    return ["real in [-2, 10]", "int in 0..7", "bool", *text]


def test_columns_of_every_type_equal_their_csv(tmp_path):
    pa = pytest.importorskip("pyarrow")
    columns = list(_columns())
    assert len(columns) >= 20
    for at, column in enumerate(columns):
        values = [x.as_py() for x in column]
        # A float of 32 bits stands for its shortest decimal.
        if column.type == pa.float32():
            values = [None if v is None else str(numpy.float32(v)) for v in values]
        path = tmp_path / f"{at}.csv"
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([["x", "one"], *[[_cell(v), "1"] for v in values]])
        for kind in _declared(column.type):
            asked = "histogram(x) using geometric" if "category" in kind else "count(x) using geometric" if kind == "bool" else "sum(x) using laplace"
            if kind.startswith("int"):
                asked = "sum(x) using geometric"
            if kind.startswith("date"):
                asked = "histogram(year(x), month(x)) using geometric"
            program = dpm.compile(f"budget eps(10000)\nprivate t[{len(values)}] {{ x: {kind} }}\nrelease a = {asked}\n")
            expected = program.run({"t": path}, anyway=True).releases["a"]
            found = program.run({"t": pa.table({"x": column})}, anyway=True).releases["a"]
            same = pytest.approx(expected, abs=0.2) if isinstance(expected, float) else expected
            assert found == same, (column.type, kind)


def test_the_same_columns_through_pandas_and_polars():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    program = dpm.compile(
        'budget eps(10000)\nprivate t[13] { x: category {red, "a,b", "true", "1", other}, y: real in [-2, 10] }\n'
        "release a = histogram(x) using geometric\nrelease b = sum(y) using laplace\n"
    )
    y = [*REALS, 1.0, 2.0, 3.0]
    expected = program.run({"t": {"x": WORDS, "y": y}}).releases
    frames = {
        "pandas": pandas.DataFrame({"x": WORDS, "y": y}),
        "objects": pandas.DataFrame({"x": pandas.Series(WORDS, dtype=object), "y": pandas.Series(y, dtype=object)}),
        "categories": pandas.DataFrame({"x": pandas.Categorical(WORDS), "y": y}),
        "polars": polars.DataFrame({"x": WORDS, "y": y}),
        "polars categories": polars.DataFrame({"x": polars.Series(WORDS, dtype=polars.Categorical), "y": y}),
    }
    for name, frame in frames.items():
        found = program.run({"t": frame}).releases
        assert found == {**expected, "b": pytest.approx(expected["b"], abs=0.2)}, name


def test_columns_that_no_program_could_read_are_passed_over_unless_it_names_them():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"b": [True, False, True], "lists": [[1], [], None], "times": pa.array([0, 1, None], pa.duration("s")), "now": pa.array([0, 1, 2], pa.timestamp("us"))})
    frames = [table, pytest.importorskip("polars").from_arrow(table)]
    for frame in frames:
        assert dpm.compile("budget eps(1000)\nprivate t[3] { b: bool }\nrelease a = count(b) using geometric\n").run({"t": frame})["a"] == 2
        for name in ("lists", "times", "now"):
            with pytest.raises(dpm.DataError, match=name):
                dpm.compile(f"budget eps(1000)\nprivate t[3] {{ {name}: real in [0, 1] }}\nrelease a = sum({name})\n").run({"t": frame})


def test_python_objects_are_read_as_text_whatever_they_are():
    pandas = pytest.importorskip("pandas")
    program = dpm.compile("budget eps(10000)\nprivate t[5] { x: real in [0, 10] }\nrelease a = sum(x) using laplace\n")
    mixed = pandas.DataFrame({"x": pandas.Series([1, "2.5", True, None, decimal.Decimal("3")], dtype=object)})
    booleans = pandas.DataFrame({"x": pandas.Series([True] * 5, dtype=object)})
    assert program.run({"t": mixed})["a"] == pytest.approx(program.run({"t": {"x": list(mixed["x"])}})["a"], abs=0.1)
    assert program.run({"t": booleans})["a"] == pytest.approx(program.run({"t": {"x": [True] * 5}})["a"], abs=0.1)


def test_what_a_frame_says_of_its_cells_is_not_repeated():
    duckdb = pytest.importorskip("duckdb")
    program = dpm.compile("budget eps(1)\nprivate t[1] { x: real in [0, 10] }\nrelease a = sum(x)\n")
    relation = duckdb.sql("select cast(v as int) as x from (select case when random() < 2 then 'secret4711' end as v)")
    with pytest.raises(dpm.DataError) as caught:
        program.run({"t": relation})
    shown = "".join(traceback.format_exception(caught.value))
    assert "secret4711" not in shown and caught.value.__context__ is None and caught.value.__cause__ is None


def test_nothing_is_left_open(tmp_path):
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("no /proc")
    program = dpm.compile("budget eps(10)\nprivate t[3] { b: bool }\nrelease a = count(b)\n")
    before = len(list(folder.iterdir()))
    program.run({"t": {"b": [True, False, True]}})
    with pytest.raises(dpm.DataError):
        program.run({"t": {"c": [True, False, True]}})
    assert len(list(folder.iterdir())) == before


def test_a_second_run_without_a_ledger_says_that_it_spends_again():
    program = dpm.compile("budget eps(10)\nprivate t[3] { b: bool }\nrelease a = count(b)\n")
    data = {"t": {"b": [True, False, True]}}
    program.run(data)
    with pytest.warns(UserWarning, match="spends its budget again"):
        program.run(data)


def test_a_single_table_needs_no_name(examples):
    result = dpm.compile(examples / "01_beta_bernoulli.dpm").run(examples / "01_staff.csv")
    assert 0 < result["p_hat"] < 1


def test_what_is_not_a_table_is_refused_by_its_type():
    program = dpm.compile(COUNTS.format(n=8))
    for odd in (7j, 7):
        with pytest.raises(TypeError, match="is not a table"):
            program.run({"t": odd})
    with pytest.raises(ValueError, match=r"^columns differ in length: `b` is not as long as `x`$"):
        program.run({"t": {**CELLS, "b": [True]}})


def test_a_missing_column_is_named_without_a_cell():
    program = dpm.compile(COUNTS.format(n=8))
    with pytest.raises(dpm.DataError) as caught:
        program.run({"t": {"x": [1234.5] * 8}})
    assert "1234.5" not in str(caught.value) and str(caught.value).startswith("the table given for `t` has no column `k`\n  Help: ")


def test_tables_are_named_as_in_python():
    program = dpm.compile(COUNTS.format(n=8))
    for data, said in (
        ({"tt": CELLS}, 'the program has no private table `tt`: it takes data={"t": ..}'),
        (CELLS, 'the program has no private table `x`: it takes data={"t": ..}'),
        (None, 'the data of `t` are missing: data={"t": ..}'),
        ({"t": "@t"}, '@t names registered data: ledger="PATH" is missing'),
    ):
        with pytest.raises(dpm.UsageError) as caught:
            program.run(data)
        assert str(caught.value) == said


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_databases_give_the_statistics_of_their_csv(tmp_path, kind):
    program = dpm.compile(COUNTS.format(n=len(CELLS["x"])))
    expected = program.run({"t": _csv(tmp_path / "t.csv")}).releases
    path = tmp_path / "t.db"
    kinds = {"x": "double precision", "k": "integer", "b": "boolean", "c": "varchar"}
    connect = sqlite3.connect if kind == "sqlite" else pytest.importorskip("duckdb").connect
    connection = connect(str(path))
    connection.execute("create table t (" + ", ".join(f"{name} {type}" for name, type in kinds.items()) + ")")
    connection.executemany("insert into t values (?, ?, ?, ?)", list(zip(*CELLS.values())))
    connection.commit()
    connection.close()
    table = dpm.sql(f"{kind}:{path}", table="t")
    for rows in (table, dpm.sql(f"{kind}:{path}", query="select * from t where 1 = 1")):
        found = program.run({"t": rows}).releases
        assert found == {**expected, "xs": pytest.approx(expected["xs"], abs=0.2)}
    assert "t.db" not in repr(table)
    with pytest.raises(dpm.DataError) as caught:
        program.run({"t": dpm.sql(f"{kind}:{path}", table="u")})
    assert "line\nbreak" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(dpm.DataError, match="does not exist"):
        dpm.sql(f"{kind}:{tmp_path / 'nowhere.db'}", table="t")


def test_databases_that_nobody_could_mean():
    for uri, what in (("mysql:x", {"table": "t"}), ("sqlite:", {"table": "t"}), ("sqlite:x", {}), ("sqlite:x", {"table": "t", "query": "select 1"})):
        with pytest.raises(dpm.UsageError):
            dpm.sql(uri, **what)


def test_what_a_new_user_runs_into_is_said_in_words_of_python():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    program = dpm.compile("budget eps(10)\nprivate t[4] { age: int in 0..99 }\nrelease a = sum(age)\n")
    frame = pandas.DataFrame({"age": [1, 2, 3, 4]})
    for series in (frame["age"], polars.Series("age", [1, 2, 3, 4])):
        with pytest.raises(TypeError, match=r"\.to_frame\(\)"):
            program.run({"t": series})
    for other in (frame.set_index("age"), frame.rename(columns={"age": "Age"})):
        with pytest.raises(dpm.DataError, match=r'has no column `age`\n  Help: age from "NAME IN THE TABLE".*reset_index\(\)'):
            program.run({"t": other})
    days = dpm.compile('budget eps(10)\nprivate t[2] { d: date in ["2020-01-01", "2021-12-31"] }\nrelease b = count(year(d) == 2021)\n')
    times = pandas.DataFrame({"d": pandas.to_datetime(["2020-03-01", "2021-03-02"])})
    with pytest.raises(dpm.DataError, match=r"the column `d` of the table given for `t` holds times.*\n.*\.dt\.date"):
        days.run({"t": times})
    days.run({"t": times.assign(d=times["d"].dt.date)})
    frame = polars.from_pandas(times)
    for table in (frame, frame.lazy(), {"t": frame}):
        with pytest.raises(dpm.DataError, match=r'give the day, as by pl\.col\("d"\)\.cast\(pl\.Date\).*\.dt\.hour\(\)'):
            days.run(table)
    days.run({"t": frame.with_columns(polars.col("d").cast(polars.Date))})
    with pytest.raises(dpm.DataError, match="write the day as a date") as caught:
        days.run({"t": {"d": times["d"].to_numpy()}})
    assert "frame" not in str(caught.value)


def test_a_run_that_would_learn_nothing_says_how_to_run_it_all_the_same():
    program = dpm.compile("budget eps(0.001)\nprivate t[4] { b: bool }\nrelease a = mean(b)\n")
    data = {"t": {"b": [True, False, True, False]}}
    with pytest.raises(dpm.Rejected, match="anyway=True") as caught:
        program.run(data)
    assert caught.value.code == "W0510" and "--" not in str(caught.value)
    assert isinstance(program.run(data, anyway=True)["a"], float)


def test_what_an_engine_counted_equals_the_rows(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    arrow = pytest.importorskip("pyarrow").table(CELLS)
    program = dpm.compile(COUNTS.format(n=len(CELLS["x"])))
    expected = program.run({"t": _csv(tmp_path / "t.csv")}).releases
    where = {"t": "arrow"}
    answer = duckdb.sql(program.sql("duckdb", places=where).rstrip().rstrip(";"))
    # The frame last: DuckDB 1.2 gives the rows of an answer once.
    for counted in (answer, answer.df()):
        result = program.run(counted={"t": counted}, places=where, engine="duckdb 1")
        assert result.releases == {**expected, "xs": pytest.approx(expected["xs"], abs=0.2)}
    with pytest.raises(dpm.DataError, match="not an answer to the query for `t`"):
        program.run(counted={"t": counted})
    with pytest.raises(dpm.UsageError, match="either rows or what was counted"):
        program.run({"t": arrow}, counted={"t": counted}, places=where)
    with pytest.raises(dpm.UsageError, match="no private table `u`"):
        program.run(counted={"u": answer})
