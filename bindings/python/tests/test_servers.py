"""Tables that a server holds give the statistics of their CSV: Spark, and PostgreSQL started here on the loopback address."""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import traceback
from pathlib import Path

import pytest

import dpm
from test_data import CELLS, COUNTS, _csv

pytestmark = pytest.mark.filterwarnings("ignore:this program ran before", "ignore:W0")


@pytest.fixture
def expected(tmp_path):
    program = dpm.compile(COUNTS.format(n=len(CELLS["x"])))
    return program, program.run({"t": _csv(tmp_path / "t.csv")}).releases


def test_a_spark_table_is_read_by_its_session(expected):
    sessions = pytest.importorskip("pyspark.sql").SparkSession
    if shutil.which("java") is None:
        pytest.skip("no Java")
    program, releases = expected
    session = sessions.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    try:
        frame = session.createDataFrame(list(zip(*CELLS.values())), "x double, k int, b boolean, c string")
        found = program.run({"t": frame}).releases
        frame.createOrReplaceTempView("t")
        counted = program.run(counted={"t": session.sql(program.sql("spark").rstrip().rstrip(";"))}, engine=f"spark {session.version}").releases
    finally:
        session.stop()
    for answer in (found, counted):
        assert answer == {**releases, "xs": pytest.approx(releases["xs"], abs=0.2)}


@pytest.fixture(scope="module")
def postgres():
    """The address of a new server, which is gone after the tests; it will not run as root."""
    pytest.importorskip("adbc_driver_postgresql")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")) or [Path(p) for p in [shutil.which("pg_ctl")] if p]
    if not found:
        pytest.skip("no PostgreSQL")
    programs = found[-1].parent
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(socket.socket()) as free:
        user = {"user": "nobody"} if os.geteuid() == 0 else {}
        if user:
            shutil.chown(folder, "nobody")
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        run = lambda *command: subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=120, **user)
        rows = f"{folder}/rows"
        run(programs / "initdb", "-D", rows, "-U", "dpm", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder} -c fsync=off"
        run(programs / "pg_ctl", "-D", rows, "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield f"postgresql://dpm@127.0.0.1:{port}/postgres"
        finally:
            run(programs / "pg_ctl", "-D", rows, "-w", "-m", "immediate", "stop")


def test_a_table_of_postgresql_gives_the_statistics_of_its_csv(postgres, expected):
    from adbc_driver_postgresql import dbapi

    program, releases = expected
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute("create table t (x double precision, k integer, b boolean, c text)")
        cursor.executemany("insert into t values ($1, $2, $3, $4)", list(zip(*CELLS.values())))
        cursor.execute("create table typed as select 1.25::numeric as x, date '2020-02-29' as d, 3::smallint as k, now() as at, array[1] as l, 'red'::varchar as c")
        connection.commit()
    table = dpm.sql(postgres, table="t")
    for rows in (table, dpm.sql(postgres, query="select * from t where 1 = 1")):
        found = program.run({"t": rows}).releases
        assert found == {**releases, "xs": pytest.approx(releases["xs"], abs=0.2)}
    assert "dpm@" not in repr(table)
    typed = dpm.compile(
        'budget eps(10000)\nprivate t[1] { x: real in [0, 10], d: date in ["2018-01-01", "2021-12-31"], k: int in 0..5, c: category {red, other} }\n'
        "release a = sum(x) using laplace\nrelease b = count(year(d) == 2020 and c == red) using geometric\nrelease e = sum(k) using geometric\n"
    ).run({"t": dpm.sql(postgres, table="typed")})
    assert (round(typed["a"], 1), typed["b"], typed["e"]) in {(1.2, 1, 3), (1.3, 1, 3)}
    # A cell that a query cannot compute is quoted by the server, and not here.
    with pytest.raises(dpm.DataError) as caught:
        program.run({"t": dpm.sql(postgres, query="select x, c::integer as k, b, c from t")})
    shown = "".join(traceback.format_exception(caught.value))
    assert "line" not in str(caught.value) and 'qu"ote' not in shown and "red" not in str(caught.value).split() and caught.value.__context__ is None
