"""Writes the Arrow files of the tests with pyarrow and polars from the corpus as Parquet: python3 make.py corpus.parquet (made by `cargo test --test draws writes_the_corpus -- --ignored`)."""

import pathlib
import sys
from decimal import Decimal

import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
rows = pq.read_table(sys.argv[1])
n = rows.num_rows
OPTIONS = pa.ipc.IpcWriteOptions


def write(name, table, stream=False, batch=17, **options):
    kind = pa.ipc.new_stream if stream else pa.ipc.new_file
    with kind(str(HERE / name), table.schema, options=OPTIONS(**options)) as out:
        out.write_table(table, max_chunksize=batch)


def mapped(table, change):
    return pa.table([change(name, table[name]) for name in table.column_names], table.column_names)


def chosen(name, column, index=None):
    """The column by numbers of a dictionary."""
    column = pa.concat_arrays(column.chunks)
    if pa.types.is_null(column.type) or pa.types.is_boolean(column.type):
        return column
    column = column.dictionary_encode()
    index = index or {"i8": pa.int8(), "s": pa.uint16(), "d": pa.int64(), "day": pa.uint8(), "raw": pa.uint64()}.get(name, pa.int32())
    return pa.DictionaryArray.from_arrays(column.indices.cast(index), column.dictionary)


def parts(table, grow):
    """Batches whose dictionaries grow, or are others in each."""
    for start in range(0, n, 17):
        part = table.slice(start, 17)
        if grow:
            whole = {name: chosen(name, table.slice(0, start + 17)[name], pa.int32()) for name in table.column_names}
            yield pa.record_batch([c.slice(start, part.num_rows) for c in whole.values()], list(whole))
        else:
            yield pa.record_batch([chosen(name, part[name], pa.int32()) for name in table.column_names], table.column_names)


def wide(name, column):
    to = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary(), pa.date32(): pa.date64()}.get(column.type, column.type)
    return column.combine_chunks().cast(to, safe=False)


def viewed(name, column):
    to = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}.get(column.type)
    return pa.concat_arrays([c.cast(to) for c in column.chunks]) if to else column


def surplus():
    """Columns of types that are not read, to be stepped over."""
    some = [None if i % 3 else [i, None] for i in range(n)]
    of = lambda cells, to: pa.array(cells, to)
    kinds = pa.array([i % 2 for i in range(n)], pa.int8())
    children = [pa.array(range(n)), pa.array(["a" * (i % 20) for i in range(n)], pa.string_view())]
    offsets = pa.array(range(n), pa.int32())
    return {
        "list": of(some, pa.list_(pa.int16())),
        "large": of(some, pa.large_list(pa.int64())),
        "fixed": of(some, pa.list_(pa.float32(), 2)),
        "view": of(some, pa.list_view(pa.int32())),
        "struct": of([None if i % 5 == 0 else {"a": "x" * i, "b": {"c": i}} for i in range(n)], pa.struct([("a", pa.string_view()), ("b", pa.struct([("c", pa.int8())]))])),
        "map": of([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int32())),
        "sparse": pa.UnionArray.from_sparse(kinds, children),
        "dense": pa.UnionArray.from_dense(kinds, offsets, children),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([n // 2, n], pa.int32()), pa.array(["u", None])),
        "time": of(range(n), pa.time64("us")),
        "stamp": of(range(n), pa.timestamp("ns", "UTC")),
        "span": of([(1, 2, i) for i in range(n)], pa.month_day_nano_interval()),
        "sixteen": of([b"0" * 16] * n, pa.binary(16)),
        "huge": of([Decimal(i) for i in range(n)], pa.decimal256(50, 2)),
        "lists": pa.array([["a"], None] * (n // 2), pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    }


write("plain.arrow", rows)
write("old.arrow", pa.table({**surplus(), **{name: rows[name] for name in rows.column_names}}), metadata_version=pa.ipc.MetadataVersion.V4)
write("zstd.arrow", mapped(rows, viewed), compression="zstd")
write("stream.arrow", mapped(rows, wide), stream=True, compression="lz4")
write("nested.arrow", pa.table({**surplus(), **{name: rows[name] for name in rows.column_names}}), batch=1000)
write("views.arrow", mapped(rows, viewed), batch=1000)
write("chosen.arrow", mapped(rows, chosen))
feather.write_feather(mapped(rows, lambda name, column: column.combine_chunks()), str(HERE / "lz4.arrow"), compression="lz4", chunksize=33)
for name, grow in [("grown.arrow", True), ("replaced.arrow", False)]:
    batches = list(parts(rows, grow))
    with pa.ipc.new_stream(str(HERE / name), batches[0].schema, options=OPTIONS(emit_dictionary_deltas=grow)) as out:
        for batch in batches:
            out.write_batch(batch)
bytes_only = mapped(rows, lambda name, column: column.cast(pa.binary()) if column.type == pa.string() else column)
polars.from_arrow(bytes_only).write_ipc(HERE / "polars.arrow", compression="zstd")
polars.from_arrow(bytes_only).write_ipc_stream(HERE / "polars_stream.arrow")
six = pa.table({
    "surplus": pa.array([1] * 6, pa.timestamp("ms", "UTC")),
    "x": pa.array([1.5, None, float("nan"), 99, 2, 3.25]),
    "g": pa.array(["u", "v", "w", "kanarie-31337", "", "u"]).dictionary_encode(),
    "id": pa.array([7] * 6),
})
write("six.arrow", six, batch=4, compression="zstd")
write("six_stream.arrow", six, stream=True, batch=4)
