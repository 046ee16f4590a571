"""The queries of `dpm sql` in engines: the same adversarial rows in each, and the integers that each gives back, held to those of dpm on the rows as CSV.

engines.py DPM [ROWS] wants pyarrow, and runs what it finds of duckdb, datafusion, pyspark (with a Java) and PostgreSQL (its server and psql; a cluster of its own on the
loopback address, which is gone afterwards). dpm also reads the rows of SQLite, DuckDB, PostgreSQL and Spark, through their ADBC drivers where they have one. On Debian:

    apt-get install --no-install-recommends postgresql openjdk-17-jre-headless
    pip install pyarrow duckdb datafusion pyspark adbc-driver-sqlite adbc-driver-postgresql

It writes benches/results/engines.txt, which names every engine that did not run. Every answer must be, integer by integer, that of SQLite, which Python has; and SQLite's
that of dpm on the CSV, which is read off releases whose noise is a 256th of a step. Sums of one column are also computed here, from fractions. About ten minutes on two cores
that nobody else uses, most of them Spark's.
"""

import contextlib
import csv
import importlib.metadata
import importlib.util
import io
import itertools
import json
import math
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import traceback
import warnings
from fractions import Fraction
from pathlib import Path

import odd_cells as odd
import pyarrow as pa
import pyarrow.parquet as pq

DPM = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 1200
HERE = Path(__file__).resolve().parent
OUT = HERE / "results" / "engines.txt"
NAMES = [*odd.COLUMNS, *odd.MORE]
ANSWER = ("name", "part", "group_level", "cell", "n", "low", "mid", "high")
ASKED = odd.ASKED.replace("each h", odd.MORE_ASKED + "each h")
# Of every person the two rows that are the least by `k`, then by all columns.
BOUNDED = """private t[n] by u max 2 order k {
  x: real in [%r, %r],
  k: int in 17..90,
  c: bool else true,
  g: category {%s},
  w from "%s": real in [-1e6, 1e19],
  u: text
}
release e0 = sum(x)
release e2 = histogram(g, c)
release e3 = sum(w)
"""
wrong, said = [], []


def wants(what, text):
    if not what:
        wrong.append(text)


def dpm(*arguments, given=None):
    """Exit code, output and messages of the command, none of which shows a cell."""
    run = subprocess.run([DPM, *map(str, arguments)], capture_output=True, text=True, input=given, env={**os.environ, "NO_COLOR": "1"})
    wants(odd.SENTINEL not in run.stdout + run.stderr, f"dpm {arguments[0]} shows a cell")
    return run.returncode, run.stdout, run.stderr


def query(program, dialect, *more):
    code, text, message = dpm("sql", program, "--dialect", dialect, *more)
    if code:
        sys.exit(message)
    first = {}
    for line in text.splitlines():
        if line.startswith("-- ") and " part " in line and "first = " in line:
            name, part = line[3:].split(":")[0].split(" part ")
            first[(name, int(part))] = int(line.split("first = ")[1].split(",")[0])
    return text.rstrip().rstrip(";"), first


def totals(found, first):
    table = {}
    for name, part, level, cell, n, low, mid, high, *_ in found:
        key = (name, int(part), int(level), int(cell))
        assert key not in table, key
        table[key] = (int(n), int(low) + (int(mid) << 20) + (int(high) << 40) + int(n) * first.get((name, int(part)), 0))
    return table


def as_csv(text, lines):
    """An answer as CSV, in another order."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([(*ANSWER, re.search(r"0 AS (dpm_[0-9a-f]{16}) FROM", text)[1]), *reversed(lines)])
    return out.getvalue()


class Sqlite:
    name, version = "sqlite", sqlite3.sqlite_version

    def load(self, data, at):
        """In memory, or in a new file."""
        Path(at).unlink(missing_ok=True)
        self.at, self.db = at, sqlite3.connect(at)
        self.db.execute("create table t (" + ", ".join("`" + name.replace("`", "``") + "`" for name in NAMES) + ")")
        # It has no truth values, and `j` is a text to dpm.
        words = {None: None, True: "true", False: "false"}
        self.db.executemany(f"insert into t values ({','.join('?' * len(NAMES))})", [[*row[:10], words[row[10]], row[11]] for row in data])
        self.db.commit()

    def ask(self, text, setting):
        return self.db.execute(text).fetchall()

    def rows(self):
        yield "sqlite", python().sql(f"sqlite:{self.at}", table="t")
        yield "sqlite, a query", python().sql(f"sqlite:{self.at}", query="select * from t")
        yield from driver("sqlite", self.at)


class DuckDb:
    name = "duckdb"
    settings = ["SET threads = 1", "SET threads = 4; SET default_collation = 'nocase'", "SET threads = 2; PRAGMA disable_optimizer; SET preserve_insertion_order = false"]

    def __init__(self, folder):
        import duckdb

        self.version, self.connect, self.file, self.db = duckdb.__version__, duckdb.connect, Path(folder) / "rows.duckdb", None

    def load(self, data, at):
        self.close()
        self.file.unlink(missing_ok=True)
        self.db = self.connect(self.file)
        self.db.execute(f"create table t as select * from read_parquet('{at}')")
        self.db.execute("alter table t alter g set data type varchar collate nocase")

    def ask(self, text, setting):
        cursor = self.db.cursor()
        for one in setting.split("; "):
            cursor.execute(one)
        return cursor.execute(text).fetchall()

    def rows(self):
        yield "duckdb", self.db.sql("select * from t")
        self.close()
        yield "duckdb, a file", python().sql(f"duckdb:{self.file}", table="t")
        yield from driver("duckdb", self.file)
        self.db = self.connect(self.file)

    def close(self):
        if self.db is not None:
            self.db.close()
            self.db = None


class DataFusion:
    name = "datafusion"
    settings = ["1 partition", "7 partitions, batches of 100"]

    def __init__(self, folder):
        import datafusion

        self.version, self.module = datafusion.__version__, datafusion

    def load(self, data, at):
        rows = pq.read_table(at)
        self.at, self.batches = at, rows.to_batches(max_chunksize=100) or [pa.RecordBatch.from_pylist([], schema=rows.schema)]

    def ask(self, text, setting):
        config = self.module.SessionConfig()
        config = config.with_target_partitions(int(setting[0]))
        if "batches" in setting:
            config = config.with_batch_size(100)
        c = self.module.SessionContext(config)
        if "batches" in setting:
            c.register_parquet("t", str(self.at))
        else:
            c.register_record_batches("t", [self.batches])
        return list(zip(*c.sql(text).to_pydict().values()))

    def rows(self):
        return []


class Spark:
    """One session after another, since the number of threads is that of a session."""

    name = "spark"
    settings = [
        "local[1], ansi.enabled=true, session.timeZone=UTC, shuffle.partitions=1, 1 partition",
        "local[1], ansi.enabled=false, session.timeZone=America/St_Johns, shuffle.partitions=3, adaptive.enabled=false, 5 partitions",
        "local[4], ansi.enabled=true, session.timeZone=Asia/Kathmandu, shuffle.partitions=5, caseSensitive=true, ansi.doubleQuotedIdentifiers=true, 13 partitions",
        "local[4], ansi.enabled=false, session.timeZone=Pacific/Apia, shuffle.partitions=2, codegen.wholeStage=false, parser.escapedStringLiterals=true, 2 partitions",
    ]

    def __init__(self, folder):
        if shutil.which("java") is None:
            raise ImportError("there is no Java")
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        from pyspark.sql import SparkSession

        self.version, self.builder, self.folder, self.session, self.master = importlib.metadata.version("pyspark"), SparkSession.builder, folder, None, None

    def load(self, data, at):
        self.at = at

    def use(self, setting):
        master, *options, partitions = setting.split(", ")
        if self.master != master:
            self.close()
            places = {"spark.local.dir": self.folder, "spark.sql.warehouse.dir": f"{self.folder}/warehouse", "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={self.folder}"}
            builder = self.builder.master(master).config("spark.driver.memory", "1g").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1")
            for key, value in {**places, "spark.driver.host": "127.0.0.1", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}.items():
                builder = builder.config(key, value)
            self.session, self.master = builder.getOrCreate(), master
        session = self.session.newSession()
        for option in options:
            key, value = option.split("=")
            session.conf.set(f"spark.sql.{key}", value)
        rows = session.read.parquet(str(self.at))
        rows.withColumns({"g": rows["g"].cast("string collate UTF8_LCASE")}).repartition(int(partitions.split()[0])).createOrReplaceTempView("t")
        return session

    def ask(self, text, setting):
        return [tuple(row) for row in self.use(setting).sql(text).collect()]

    def rows(self):
        for setting in self.settings[::2]:
            yield f"spark, {setting}", self.use(setting).table("t")

    def close(self):
        if self.session is not None:
            self.session.stop()
            self.session = self.master = None


class Postgres:
    """A server of its own, by a user of its own: it will not run as root. Asked by psql, whose answers are CSV."""

    name = "postgres"
    parallel = "force_parallel_mode=on, max_parallel_workers={n}, max_parallel_workers_per_gather={n}, parallel_setup_cost=0, parallel_tuple_cost=0, min_parallel_table_scan_size=0"
    locales = {"c": "locale C", "utf8": "locale C.utf8", "icu": "locale de-DE of ICU"}
    settings = [
        "c, max_parallel_workers=0, extra_float_digits=1",
        "utf8, extra_float_digits=-15, " + parallel.format(n=4),
        "icu, extra_float_digits=3, " + parallel.format(n=2),
        "icu, max_parallel_workers=0, extra_float_digits=0, jit=on, jit_above_cost=0, jit_optimize_above_cost=-1, jit_inline_above_cost=-1",
        "utf8, extra_float_digits=-15, standard_conforming_strings=off, escape_string_warning=off, backslash_quote=off, enable_hashagg=off, datestyle=german, timezone=Asia/Kathmandu",
    ]

    def __init__(self, folder):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")) or [Path(p) for p in [shutil.which("pg_ctl")] if p]
        if not found or shutil.which("psql") is None:
            raise ImportError("there is no server or no psql")
        # Beside the script's own folder, which that user cannot enter.
        self.programs, self.folder = found[-1].parent, tempfile.mkdtemp()
        self.user = {"user": "nobody"} if os.geteuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "nobody")
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.run("initdb", "-D", "rows", "-U", "dpm", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self.folder} -c fsync=off -c max_worker_processes=16 -c shared_buffers=64MB"
        self.run("pg_ctl", "-D", "rows", "-w", "-l", "log", "-o", options, "start")
        self.version = self.psql("postgres", "show server_version").split()[0]
        more = {"c": "locale 'C'", "utf8": "locale 'C.utf8'", "icu": "locale 'C.utf8' locale_provider icu icu_locale 'de-DE'"}
        for name, locale in more.items():
            self.psql("postgres", f"create database {name} template template0 encoding 'UTF8' {locale}")
            self.psql(name, "create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")

    def run(self, program, *arguments):
        subprocess.run([self.programs / program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, timeout=120, **self.user)

    def psql(self, database, text, options="", check=True):
        address = f"postgresql://dpm@127.0.0.1:{self.port}/{database}"
        env = {**os.environ, "PGOPTIONS": options, "PGCLIENTENCODING": "UTF8"}
        run = subprocess.run(["psql", "-X", "-q", "-A", "-t" if not options else "--csv", "-v", "ON_ERROR_STOP=1", "-d", address, "-f", "-"], input=text, text=True, capture_output=True, env=env)
        if run.returncode and check:
            sys.exit(run.stderr[:2000])
        return run.stdout

    def load(self, data, at):
        cell = lambda x: "\\N" if x is None else f'"{x.replace(chr(34), chr(34) * 2)}"' if isinstance(x, str) else repr(x)
        lines = "".join(",".join(map(cell, row)) + "\n" for row in data)
        columns = zip(NAMES, ["float8"] * 2 + ["int8"] * 2 + ["bool"] * 2 + ["text collate nocase", "text", "int8", "int8", "bool", "text collate nocase"])
        columns = ", ".join('"' + name.replace('"', '""') + '" ' + kind for name, kind in columns)
        for database in self.locales:
            self.psql(database, f"drop table if exists t; create table t ({columns}); copy t from stdin with (format csv, null '\\N');\n{lines}\\.\nanalyze t;\n")

    def answer(self, text, setting, check=True):
        """As psql writes it."""
        database, *options = setting.split(", ")
        return self.psql(database, text + ";\n", " ".join(f"-c {option}" for option in options), check)

    def ask(self, text, setting):
        return [tuple(line) for line in csv.reader(io.StringIO(self.answer(text, setting)))][1:]

    def rows(self):
        if not importlib.util.find_spec("adbc_driver_postgresql"):
            return
        for name in ("c", "icu"):
            yield f"postgres, {self.locales[name]}", python().sql(f"postgresql://dpm@127.0.0.1:{self.port}/{name}", table="t")

    def close(self):
        self.run("pg_ctl", "-D", "rows", "-w", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)


def driver(name, file):
    """The rows of a file as the ADBC driver of its database gives them, where it is installed."""
    if not importlib.util.find_spec(f"adbc_driver_{name}"):
        return
    dbapi = importlib.import_module(f"adbc_driver_{name}.dbapi")
    with dbapi.connect(str(file)) as connection, connection.cursor() as cursor:
        cursor.execute("select * from t")
        yield f"{name}, its ADBC driver", cursor.fetch_record_batch()


def python():
    """The Python package of this checkout, over this command."""
    os.environ["DPM_COMMAND"] = DPM
    sys.path.insert(0, str(HERE.parent / "bindings" / "python" / "python"))
    import dpm as package

    return package


def arrow(data):
    types = [pa.float64()] * 2 + [pa.int64()] * 2 + [pa.bool_()] * 2 + [pa.string()] * 2 + [pa.int64()] * 2 + [pa.bool_(), pa.string()]
    return pa.table({name: pa.array([row[i] for row in data], ty, from_pandas=False) for i, (name, ty) in enumerate(zip(NAMES, types))})


def in_steps(value, exponent):
    """Released numbers in steps of their grid, to a whole one; or with half the last digit, where a double has too few of them for that."""
    unit = Fraction(2) ** exponent
    for number in odd.flat(value):
        coarse = abs(Fraction(number)) >= 2**52 * unit
        yield (Fraction(number) / unit, Fraction(math.ulp(number)) / unit) if coarse else (round(Fraction(number) / unit), 0)


def released(where, releases, oracle, steps):
    """Holds what dpm released, of rows or of an answer, to the integers of the oracle."""
    exact = coarse = 0
    for name, value in releases.items():
        found = list(in_steps(value, steps.get(name, 0)))
        width = len(found) // (2 if name in ("c0", "c1") else 1)
        for at, (number, last) in enumerate(found):
            n, total = oracle.get((name, 0, at // width, at % width), (0, 0))
            wanted = total if name in steps else n
            wants(abs(number - wanted) <= last, f"{where}: {name}, number {at} is {number}, not {wanted}")
            exact, coarse = exact + (last == 0), coarse + (last != 0)
    return exact, coarse


def run(program, *arguments, given=None):
    code, shown, message = dpm("run", program, *arguments, "--json", "--anyway", given=given)
    # Without the place of a file.
    wants(code == 0, re.sub(r"\S*/", "", f"dpm run {arguments[-1]}: {message.strip().splitlines()[-1:]}"))
    return {} if code else json.loads(shown)["releases"]


def found_engines(folder):
    made = []
    for engine in (DuckDb, DataFusion, Postgres, Spark):
        try:
            place = os.path.join(folder, engine.name)
            os.mkdir(place)
            made.append(engine(place))
        except ImportError as why:
            said.append(f"{engine.name}: NOT RUN: {why}")
    return made


class Count(dict):
    def add(self, key, numbers):
        self[key] = [a + b for a, b in zip(self.get(key, [0] * len(numbers)), numbers)]


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    return path


def for_postgres(program):
    """A product of doubles may fail there, and is not asked."""
    return re.sub(r"release b0 = .*\n", "", program)


def held(engines, folder, where, program, data, counts, turn, rows):
    """Every engine and setting beside SQLite, and dpm on the CSV, on Parquet, on answers and on rows of servers beside both."""
    at = lambda name: os.path.join(folder, name)
    header = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in NAMES]
    write(at("d.csv"), odd.csv_text(data, header))
    pq.write_table(arrow(data), at("d.parquet"), row_group_size=97)
    steps = odd.exponents(DPM, program, Path(at("p.dpm")))
    text, first = query(at("p.dpm"), "sqlite")
    sqlite = Sqlite()
    sqlite.load(data, at("d.db"))
    lines = sqlite.ask(text, "")
    oracle = totals(lines, first)
    # So little noise leaves room for this many rows, not for as many as any table has.
    quiet = odd.hardly_noisy(program.replace("t[n]", f"t[{next(iter(oracle.values()))[0]}]"), steps)
    write(at("r.dpm"), quiet)
    write(at("r-postgres.dpm"), for_postgres(quiet))
    counts.add("dpm on CSV", released(f"CSV, {where}", run(at("r.dpm"), "--data", at("d.csv")), oracle, steps))
    counts.add("dpm on Parquet", released(f"Parquet, {where}", run(at("r.dpm"), "--data", at("d.parquet")), oracle, steps))
    counts.add("dpm on the answer of sqlite", released(f"sqlite, {where}", run(at("r.dpm"), "--counted", "-", given=as_csv(text, lines)), oracle, steps))
    if rows:
        on_rows(sqlite, quiet, where, oracle, steps, counts)
    for engine in engines:
        name = engine.name
        asked = at("p.dpm")
        wanted = oracle
        if name == "postgres" and "release b0" in program:
            code, shown, message = dpm("sql", asked, "--dialect", name)
            wants((code, shown) == (1, "") and "`b0`" in message, f"postgres: b0 is not refused: {code} {message}")
            asked = write(at("p-postgres.dpm"), "budget eps(1)\n\n" + for_postgres(program))
            wanted = {key: value for key, value in oracle.items() if key[0] != "b0"}
        text, first = query(asked, name)
        engine.load(data, at("d.parquet"))
        # Spark plans for seconds: one of its settings for each range.
        for i, setting in enumerate(engine.settings[turn % 4 :][:1] if name == "spark" else engine.settings):
            lines = engine.ask(text, setting)
            wants(odd.SENTINEL not in repr(lines), f"{name}: a cell is in an answer")
            found = totals(lines, first)
            counts.add(f"{name}: {setting}", (len(found),))
            for key in sorted(wanted.keys() | found.keys()):
                wants(found.get(key) == wanted.get(key), f"{name}, {setting}, {where}: {key} is {found.get(key)}, not {wanted.get(key)}")
            if i < 2:
                answer = engine.answer(text, setting) if name == "postgres" else as_csv(text, lines)
                releases = run(at("r-postgres.dpm" if name == "postgres" else "r.dpm"), "--counted", "-", given=answer)
                counts.add(f"dpm on answers of {name}", released(f"answer of {name}, {where}", releases, wanted, steps))
        if rows:
            on_rows(engine, quiet, where, oracle, steps, counts)
    return oracle


def on_rows(engine, quiet, where, oracle, steps, counts):
    """dpm on the rows that a database gives it."""
    for setting, table in engine.rows():
        releases = {}
        try:
            releases = python().compile(quiet).run({"t": table}, anyway=True).releases
        except python().Error as error:
            wants(False, f"rows of {setting}, {where}: {error}")
        counts.add(f"dpm on rows of {setting}", released(f"rows of {setting}, {where}", releases, oracle, steps))


def message(text):
    """An error without the name of its file or table."""
    return re.sub(r"^(error: )?((\S*: )?the file for|the table given for|the answer to the query for) ", "error: for ", text.strip())


def refused(engines, folder, data):
    """What is wrong with rows is said in the same words, with the same exit code, wherever they are; and nothing that an engine says is shown."""
    at = lambda name: os.path.join(folder, name)
    package, compared = python(), 0
    head = lambda rows: odd.more_declared(-5.0, 5.0, rows) + "release s = sum(x) using laplace(scale = 1)\nrelease r = histogram(g) using laplace(scale = 1)\n"
    cases = [("as many rows as stated", str(len(data)), data), ("more", str(len(data) - 1), data), ("fewer", f"n >= {len(data) + 1}", data), ("none", "n", []), ("one", "n", data[:1]), ("one stated", "1", data[-1:])]
    for case, rows, some in cases:
        program = write(at("e.dpm"), head(rows))
        write(at("d.csv"), odd.csv_text(some, [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in NAMES]))
        pq.write_table(arrow(some) if some else arrow(data).slice(0, 0), at("d.parquet"))
        code, _, text = dpm("run", program, "--data", at("d.csv"), "--anyway")
        expected = (code, message(text) if code else "")
        for engine in engines:
            engine.load(some, at("d.parquet"))
            asked, _ = query(program, engine.name)
            answer = as_csv(asked, engine.ask(asked, engine.settings[0]))
            code, _, text = dpm("run", program, "--counted", "-", "--anyway", given=answer)
            wants((code, message(text) if code else "") == expected, f"{engine.name}: {case}: {code} {text}, not {expected}")
            compared += 1
            for setting, table in itertools.islice(engine.rows(), 1):
                code, text = outcome(package, head(rows), {"data": {"t": table}})
                wants((code, message(text)) == expected, f"rows of {setting}: {case}: {code} {text}, not {expected}")
                compared += 1
    # A column that is not there, and a query whose failure the engine explains with a cell.
    program = write(at("e.dpm"), head("n"))
    for engine in engines:
        engine.load(data, at("d.parquet"))
        for place in ("t=(SELECT x FROM t)", f"t=(SELECT x, y, k, m, b, c, h, CAST('{odd.SENTINEL[:3]}' || '{odd.SENTINEL[3:]}' AS INT) AS g FROM t)"):
            asked, _ = query(program, engine.name, "--from", place)
            answer = ""
            if engine.name == "postgres":
                answer = engine.answer(asked, engine.settings[0], check=False)
            else:
                with contextlib.suppress(Exception):
                    answer = as_csv(asked, engine.ask(asked, engine.settings[0]))
            code, shown, text = dpm("run", program, "--counted", "-", "--from", place, given=answer)
            wants((code, shown) == (3, "") and odd.SENTINEL not in answer, f"{engine.name}: {place}: {code} {shown}{text}")
            compared += 1
    for engine in engines:
        if engine.name == "postgres" and any(engine.rows()):
            address = f"postgresql://dpm@127.0.0.1:{engine.port}/c"
            bad = package.sql(address, query="select x, y, k, m, b, c, h, g::int as g from t")
        elif engine.name == "spark":
            session = engine.use(engine.settings[0])
            bad = session.sql("select x, y, k, m, b, c, h, cast(g as int) as g from t")
        elif engine.name == "duckdb":
            bad = engine.db.sql("select x, y, k, m, b, c, h, cast(g as int) as g from t")
        else:
            continue
        for given in ({"data": {"t": bad}}, {"counted": {"t": bad}}):
            code, text = outcome(package, head("n"), given)
            wants(code == 3 and "could not be read; look at it by itself" in text, f"{engine.name}: {code} {text}")
            compared += 1
    # What no query counts is refused in the same words for all.
    for what in ("quantile(x, 0.5)", "sum(exp(y))", "sum(x / 3)", "mean(x, where = b)", "histogram(month(day))", "sum(v)", "sum(k ^ 2)"):
        program = write(at("e.dpm"), head("n").replace("u: text", 'u: text, day: date in ["2018-01-01", "2021-12-31"], v: vector[2] in [0, 1]') + f"release z = {what}\n")
        answers = {dpm("sql", program, "--dialect", engine.name) for engine in [Sqlite, *engines]}
        wants(len(answers) == 1 and next(iter(answers))[0] == 1, f"{what}: {answers}")
        compared += len(engines)
    return compared


def outcome(package, program, given):
    """Exit code and message that the Python package has of a run. Of what is written meanwhile, by a driver too, nothing may quote a cell."""
    code, text, error = 0, "", None
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as written:
        kept = [(stream, os.dup(stream)) for stream in (1, 2)]
        try:
            for stream, _ in kept:
                os.dup2(written.fileno(), stream)
            package.compile(program).run(**given, anyway=True)
        except package.DataError as caught:
            code, text, error = 3, str(caught), caught
        finally:
            for stream, copy in kept:
                os.dup2(copy, stream)
                os.close(copy)
        written.seek(0)
        shown = written.read() + "".join(traceback.format_exception(error)) + repr(error and error.__context__)
    quoted = re.search(f"(?i){odd.SENTINEL}|CAST_INVALID|invalid input|could not convert", shown)
    wants(not quoted, f"{', '.join(given)}: the Python package shows what a driver says of a cell: {quoted and quoted[0]}")
    return code, text


def main(folder):
    warnings.simplefilter("ignore")
    engines = found_engines(folder)
    counts, rng, cells, distinct = Count(), odd.seeded(), 0, set()
    with contextlib.ExitStack() as stack:
        for engine in engines:
            if hasattr(engine, "close"):
                stack.callback(engine.close)
        for turn, (lo, hi) in enumerate(odd.RANGES):
            data = odd.more_rows(lo, hi, rng, ROWS)
            cells += sum(map(len, data))
            distinct.update((i, repr(cell)) for row in data for i, cell in enumerate(row))
            # Rows of servers, which the package reads one table at a time, in two of the ranges.
            oracle = held(engines, folder, f"[{lo}, {hi}]", odd.more_declared(lo, hi) + ASKED, data, counts, turn, rows=(lo, hi) in odd.RANGES[1:3])
            wants(oracle[("a0", 0, 0, 0)] == (ROWS, odd.total([row[0] for row in data], lo, hi)), f"sqlite: sum(x) on [{lo}, {hi}]")
            held(engines, folder, f"two rows of a person, [{lo}, {hi}]", BOUNDED % (lo, hi, ", ".join(f'"{level}"' for level in odd.LEVELS), odd.ODD_NAME), data, counts, turn, rows=(lo, hi) == odd.RANGES[1])
            print(f"[{lo}, {hi}]: {len(wrong)} differ", file=sys.stderr, flush=True)
        codes = refused(engines, folder, odd.more_rows(-5.0, 5.0, rng, 100))
    report(engines, counts, cells, len(distinct), codes)


def report(engines, counts, cells, distinct, codes):
    lines = [f"{cells} adversarial cells, {distinct} of them distinct: {ROWS} rows of {len(NAMES)} columns for each of {len(odd.RANGES)} ranges, seeded; SQLite {Sqlite.version} and dpm on the CSV are the oracles"]
    lines += [f"{engine.name} {engine.version}" for engine in engines] + said
    lines += ["integers of engines, equal to those of SQLite, by settings:"] + [f"  {name}: {n[0]}" for name, n in counts.items() if len(n) == 1]
    lines += ["numbers that dpm released with noise of a 256th of a step, equal to these integers (and to the last digit of a double, where that is coarser):"]
    lines += [f"  {name}: {n[0]} ({n[1]})" for name, n in counts.items() if len(n) == 2]
    lines += [f"{codes} exit codes and messages are those of the CSV, or the fixed ones; no cell and no text of an engine is in any", f"{len(wrong)} differ"] + wrong[:40]
    write(OUT, "\n".join(lines) + "\n")
    print("\n".join(lines))
    sys.exit(5 if wrong else 0)


# Ended from outside, it stops the server as well.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
with tempfile.TemporaryDirectory() as place:
    main(place)
