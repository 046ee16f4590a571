"""Private and public tables as the command reads them: Parquet in memory, rows of SQLite as CSV; never a file on a disk."""

from __future__ import annotations

import contextlib
import csv
import datetime
import importlib.util
import io
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from ._command import DataError, UsageError


@contextlib.contextmanager
def opened(tables: Mapping[str | None, object], numbers: bool = True):
    """Gives ``(arguments, descriptors)``: ``name=path`` for every table, and the descriptors that must be inherited.

    A path, an ``@id`` of a ledger or, where there may be ``numbers``, a public number is passed on as it is. Anything else is written into memory that has no name in the file
    system.
    """
    arguments, files = [], []
    try:
        for name, table in tables.items():
            before = "" if name is None else f"{name}="
            if isinstance(table, Sql):
                table = table._source()
            if isinstance(table, _Argument):
                arguments.append(before + table)
            elif isinstance(table, (str, os.PathLike)):
                path = os.fspath(table)
                arguments.append(before + (path if path.startswith("@") else str(Path(path).expanduser().absolute())))
            elif numbers and isinstance(table, (int, float)):
                arguments.append(f"{before}{table!r}")
            else:
                file = _memory()
                files.append(file)
                _written(table, file)
                file.flush()
                file.seek(0)
                arguments.append(f"{before}{_FOLDER}/{file.fileno()}")
        yield arguments, tuple(f.fileno() for f in files)
    finally:
        for file in files:
            file.close()


class _Argument(str):
    """Passed on as it is."""


class Sql:
    """A table or the rows of a query in a database. Make one with `dpm.sql`."""

    def __init__(self, kind: str, where: str, query: str, table: str | None):
        self._kind, self._where, self._query, self._table = kind, where, query, table

    def __repr__(self) -> str:
        # The address may hold a password.
        return f"<dpm.sql of {self._kind}>"

    def _source(self) -> object:
        if self._kind == "sqlite" and self._table is not None:
            return _Argument(f"sqlite:{Path(self._where).absolute()}?table={self._table}")
        return self

    def _write(self, file) -> None:
        if self._kind == "sqlite":
            import sqlite3

            with contextlib.closing(sqlite3.connect(f"file:{self._where}?mode=ro", uri=True)) as connection:
                rows = connection.execute(self._query)
                _write_rows([column[0] for column in rows.description], rows, file)
        elif self._kind == "duckdb":
            import duckdb

            with contextlib.closing(duckdb.connect(self._where, read_only=True)) as connection:
                _write_stream(connection.sql(self._query), file)
        else:
            from adbc_driver_postgresql import dbapi

            with contextlib.closing(dbapi.connect(self._where)) as connection, contextlib.closing(connection.cursor()) as cursor:
                cursor.execute(self._query)
                _write_arrow(cursor.fetch_record_batch(), file)


def sql(uri: str, *, table: str | None = None, query: str | None = None) -> Sql:
    """The rows of a table or a query in a database, read when the program runs.

    ``uri`` is ``sqlite:FILE``, ``duckdb:FILE`` or ``postgresql://..``; ``query`` is SQL, ``table`` a name. A table of SQLite is
    read by the command itself; DuckDB and PostgreSQL want ``duckdb`` or ``adbc_driver_postgresql``. Whatever a driver
    says when it fails is kept back, since it may quote a cell.
    """
    if not isinstance(uri, str):
        raise UsageError(f"dpm.sql takes an address as text, not a {type(uri).__name__}")
    kind, _, where = uri.partition(":")
    if kind not in ("sqlite", "duckdb", "postgresql") or not where:
        raise UsageError("dpm.sql takes sqlite:FILE, duckdb:FILE or postgresql://..")
    if (table is None) == (query is None):
        raise UsageError("dpm.sql takes either table= or query=")
    needed = {"sqlite": None, "duckdb": "duckdb", "postgresql": "adbc_driver_postgresql"}[kind]
    if needed is not None and importlib.util.find_spec(needed) is None:
        raise UsageError(f"dpm.sql of {kind} needs a package: pip install {needed}")
    if kind != "postgresql" and not Path(where).is_file():
        raise DataError(f"{where} does not exist: write {kind}:FILE, without slashes before the name")
    asked = query if query is not None else 'SELECT * FROM "' + str(table).replace('"', '""') + '"'
    return Sql(kind, uri if kind == "postgresql" else where, asked, table)


_LINUX = hasattr(os, "memfd_create")
_FOLDER = "/proc/self/fd" if _LINUX else "/dev/fd"


def _memory():
    """Without memory files (not Linux) a file that has no name any more and only its owner could read."""
    return os.fdopen(os.memfd_create("dpm"), "w+b") if _LINUX else tempfile.TemporaryFile()


def _written(table: object, file) -> None:
    """Writes a table, or raises an error whose text is fixed: what pandas, pyarrow and DuckDB say quotes cells."""
    writer = _writer(table)
    # PySpark logs an error, cell and all, before it raises it.
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        writer(table, file)
        return
    except Exception:
        # Not re-raised here: the exception that follows shall not hold the one that quotes a cell.
        pass
    finally:
        logging.disable(before)
    raise DataError(f"the rows of the {type(table).__name__} could not be read; look at it by itself to see why")


def _writer(table: object):
    """How a table is written: by pyarrow, but for polars, which writes by itself. A missing value is an empty cell. The index of a pandas frame is not a column."""
    if isinstance(table, Sql):
        return Sql._write
    if type(table).__module__.split(".")[0] == "polars" and hasattr(table, "collect"):
        return lambda lazy, file: _write_polars(lazy.collect(), file)
    if type(table).__module__.split(".")[0] == "polars" and hasattr(table, "write_parquet"):
        return _write_polars
    if hasattr(table, "iloc") and hasattr(table, "to_csv") and hasattr(table, "columns"):
        return _write_pandas
    if hasattr(table, "toArrow"):
        # A Spark table: its session computes it, and rows arrive as Arrow.
        return lambda rows, file: _write_stream(rows.toArrow(), file)
    if hasattr(table, "__arrow_c_stream__") and not hasattr(table, "to_frame"):
        return _write_stream
    if isinstance(table, Mapping):
        lengths = {name: len(values) for name, values in table.items() if hasattr(values, "__len__")}
        usual = max(lengths.values(), key=list(lengths.values()).count, default=0)
        odd = [name for name, length in lengths.items() if length != usual]
        if odd:
            # Not the lengths: how many rows there are may be private.
            raise ValueError(f"columns differ in length: `{odd[0]}` is not as long as `{next(name for name in lengths if name not in odd)}`")
        return _write_columns
    hint = " (of one column: .to_frame())" if hasattr(table, "to_frame") else ""
    raise TypeError(f"{type(table).__name__} is not a table{hint}: give a data frame, an Arrow table, a mapping of columns, or a path")


def advised(said: str, tables: Mapping[str | None, object]) -> str:
    """What the command says of a column of times, with how the table at hand gives days."""
    column = re.search(r"the column `([^`]*)` of the table given for `(\w+)`", said)
    if column is None:
        return said
    name, of = column.groups()
    table = tables.get(of, tables.get(None))
    if type(table).__module__.split(".")[0] == "polars":
        day, hour = f'pl.col("{name}").cast(pl.Date)', ".dt.hour()"
    elif hasattr(table, "iloc"):
        day, hour = f'frame["{name}"].dt.date', ".dt.hour"
    else:
        return said
    return said.replace("write the day as a date, or the hour as a number", f"give the day, as by {day}, or the hour as a number, {hour}")


def _write_stream(table, file) -> None:
    import pyarrow as pa

    _write_arrow(pa.RecordBatchReader.from_stream(table), file)


def _write_arrow(reader, file) -> None:
    """Streams batches; a column of a type that Parquet does not have is moved into one that it has."""
    import pyarrow as pa
    import pyarrow.parquet

    # An extension (numbers of PostgreSQL without bounds are one) is stored as a type that the rest may know.
    kinds = [_cell(_stored(field.type)) for field in reader.schema]
    schema = pa.schema([pa.field(field.name, kind) for field, kind in zip(reader.schema, kinds)])
    texts = [field.name for field in schema if pa.types.is_large_string(field.type) or pa.types.is_string(field.type) or pa.types.is_dictionary(field.type)]
    with pyarrow.parquet.ParquetWriter(file, schema, compression="NONE", use_dictionary=texts, write_statistics=False) as writer:
        for batch in reader:
            columns = [_as(column, kind) for column, kind in zip(batch.columns, kinds)]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _stored(kind):
    return getattr(kind, "storage_type", kind)


def _as(column, kind):
    import pyarrow as pa

    column = getattr(column, "storage", column)
    if column.type == kind:
        return column
    if pa.types.is_dictionary(column.type) and kind != _foreign():
        words = column.dictionary
        values = kind.value_type if pa.types.is_dictionary(kind) else words.type
        column = pa.DictionaryArray.from_arrays(column.indices, words.cast(values))
        return column if column.type == kind else column.cast(kind)
    return pa.nulls(len(column), kind) if kind == _foreign() else column.cast(kind)


def _foreign():
    """Stands for lists, records and the like: the command refuses such a column if the program names it, and passes it over if not."""
    import pyarrow as pa

    return pa.binary(1)


def _cell(kind):
    """The type that a column is written as."""
    import pyarrow as pa

    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if pa.types.is_dictionary(kind):
        value = kind.value_type
        inner = _cell(value)
        return pa.dictionary(kind.index_type, inner) if pa.types.is_string(inner) or pa.types.is_large_string(inner) else inner
    if is_text or pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return kind
    if pa.types.is_date32(kind) or pa.types.is_null(kind) or pa.types.is_decimal128(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return kind
    if pa.types.is_float16(kind):
        return pa.float64()
    if pa.types.is_date64(kind):
        return pa.date32()
    if str(kind) == "string_view":
        return pa.large_string()
    if pa.types.is_decimal(kind):
        return pa.large_string() if kind.bit_width > 128 else pa.decimal128(kind.precision, kind.scale)
    return _foreign()


def _write_pandas(frame, file) -> None:
    """Columns one by one; those of Python objects are texts whatever is in them, so that no cell decides how its column is read."""
    import pyarrow as pa

    columns = [_pandas_column(frame.iloc[:, at]) for at in range(frame.shape[1])]
    table = pa.Table.from_arrays(columns, names=[str(name) for name in frame.columns])
    _write_arrow(table.to_reader(), file)


def _pandas_column(series):
    import pyarrow as pa

    if hasattr(series, "cat"):
        codes = series.cat.codes.to_numpy()
        categories = _pandas_column(series.cat.categories.to_series())
        if isinstance(categories, pa.ChunkedArray):
            categories = categories.combine_chunks()
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), categories)
    if series.dtype != object:
        try:
            return pa.array(series, from_pandas=True)
        except (pa.ArrowException, TypeError):
            # Such as complex numbers: a fact of the type of the column.
            return pa.nulls(len(series), _foreign())
    return _objects(series, series.isna().to_numpy())


def _objects(values, missing):
    """Values of any kind, each as its text, so that no cell decides how the others are read, or whether they are."""
    import pyarrow as pa

    return pa.array([None if no else _text(value) for value, no in zip(values, missing)], type=pa.large_string())


def _write_polars(frame, file) -> None:
    """Columns that no column of dpm can be read from are left out."""
    strange = ("List", "Array", "Struct", "Object", "Duration", "Binary", "Int128", "UInt128", "Unknown")
    names = [name for name, kind in frame.schema.items() if type(kind).__name__ not in strange and str(kind) not in strange]
    frame.select(names).write_parquet(file, compression="uncompressed", statistics=False)


def _write_columns(table: Mapping, file) -> None:
    import numpy
    import pyarrow as pa

    columns = []
    for values in table.values():
        if isinstance(values, numpy.ndarray) and values.dtype != object and values.ndim == 1:
            columns.append(pa.array(values, from_pandas=True))
        else:
            values = list(values)
            columns.append(_objects(values, [value is None for value in values]))
    _write_arrow(pa.Table.from_arrays(columns, names=[str(name) for name in table]).to_reader(), file)


def _write_rows(names: Iterable, rows: Iterable, file) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_text(value) for value in row])
    text.detach()


def _text(value: object) -> str:
    """The text of a cell; total, since an error would tell that such a cell is there."""
    try:
        if value is None:
            return ""
        if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
            return "true" if value else "false"
        if isinstance(value, float):
            # A whole number as a whole number, as everywhere else.
            return str(int(value)) if float(value).is_integer() else repr(float(value))
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, datetime.datetime):
            midnight = value.time() == datetime.time() and value.tzinfo is None
            return value.date().isoformat() if midnight else value.isoformat()
        return str(value).encode("utf-8", "replace").decode()
    except Exception:
        return ""
