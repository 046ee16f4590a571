"""Private and public tables as the command reads them: comma-separated rows in memory, never in a file on a disk."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def opened(tables: Mapping[str, object]):
    """Gives ``(arguments, descriptors)``: ``name=path`` for every table, and the descriptors that must be inherited.

    A path, an ``@id`` of a ledger or a public number is passed on as it is. Anything else is written as CSV into memory that has no name
    in the file system.
    """
    arguments, files = [], []
    try:
        for name, table in tables.items():
            before = "" if name is None else f"{name}="
            if isinstance(table, (str, os.PathLike)):
                path = os.fspath(table)
                arguments.append(before + (path if path.startswith("@") else str(Path(path).absolute())))
            elif isinstance(table, (int, float)):
                arguments.append(f"{before}{table!r}")
            else:
                file = _memory()
                files.append(file)
                write(table, file)
                file.flush()
                file.seek(0)
                arguments.append(f"{before}{_FOLDER}/{file.fileno()}")
        yield arguments, tuple(f.fileno() for f in files)
    finally:
        for file in files:
            file.close()


_LINUX = hasattr(os, "memfd_create")
_FOLDER = "/proc/self/fd" if _LINUX else "/dev/fd"


def _memory():
    """Without memory files (not Linux) a file that has no name any more and only its owner could read."""
    return os.fdopen(os.memfd_create("dpm"), "w+b") if _LINUX else tempfile.TemporaryFile()


def write(table: object, file) -> None:
    """Writes a table as CSV with a header.

    Takes whatever has ``__arrow_c_stream__`` (pyarrow, polars, pandas, DuckDB), where pyarrow is installed; data frames
    of polars and pandas without it; and a mapping of column names to equally long sequences. A missing value is an empty
    cell.
    """
    arrow = _arrow()
    if arrow is not None and hasattr(table, "__arrow_c_stream__"):
        _write_arrow(arrow.RecordBatchReader.from_stream(table), file)
    elif arrow is not None and hasattr(table, "__dataframe__") and hasattr(table, "to_csv"):
        _write_arrow(arrow.Table.from_pandas(table, preserve_index=False).to_reader(), file)
    elif hasattr(table, "write_csv"):
        table.write_csv(file)
    elif hasattr(table, "to_csv"):
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        table.to_csv(text, index=False)
        text.detach()
    elif isinstance(table, Mapping):
        _write_columns(table, file)
    else:
        raise TypeError(f"{type(table).__name__} is not a table: give a data frame, an Arrow table, a mapping of columns, or a path")


def _arrow():
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def _write_arrow(reader, file) -> None:
    """Streams batches; a column of a type that CSV does not have becomes text first."""
    import pyarrow as pa
    import pyarrow.csv

    kinds = [_cell(field) for field in reader.schema]
    schema = pa.schema([pa.field(field.name, kind) for field, kind in zip(reader.schema, kinds)])
    with pyarrow.csv.CSVWriter(file, schema) as writer:
        for batch in reader:
            columns = [column if column.type == kind else column.cast(kind) for column, kind in zip(batch.columns, kinds)]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def _cell(field):
    """The type a column is written as; refuses what has no cell."""
    import pyarrow as pa

    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_float64(kind) or pa.types.is_date32(kind):
        return kind
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_date(kind):
        return pa.date32()
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_decimal(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
        return pa.large_string()
    raise TypeError(f"column `{field.name}` has the type {kind}, which no column of dpm can be read from")


def _write_columns(table: Mapping, file) -> None:
    columns = {name: list(values) for name, values in table.items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError("columns differ in length")
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values()):
        writer.writerow([_text(value) for value in row])
    text.detach()


def _text(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(float(value))
    return value
