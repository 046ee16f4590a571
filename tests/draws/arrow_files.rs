//! Arrow files and streams: the cells of the Parquet corpus as other writers lay them out; broken files have one text.
//!
//! `tests/support/arrow/make.py` made the files from the rows that `writes_the_corpus` writes.

use crate::columns::{Column, Layout, csv, parquet};
use crate::data_support::*;
use crate::parquet_files::{corpus, rows, tables};
use dpm::data::{DataError, Misfit, Source, count_rows};
use dpm::model::{ColumnId, Type};
use std::io::Cursor;
use std::path::PathBuf;

/// Files, streams, both codecs, views, dictionaries that are whole, grow or are replaced, and columns that are stepped over.
const FILES: [&str; 12] =
    ["plain", "lz4", "zstd", "old", "stream", "nested", "views", "chosen", "grown", "replaced", "polars", "polars_stream"];

fn file(name: &str) -> Vec<u8> {
    std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/support/arrow/{name}.arrow"))).unwrap()
}

/// Not every writer has decimals of as many bytes as they take.
fn some() -> Vec<Column> {
    corpus(7, 52).into_iter().filter(|c| c.name != "dv").collect()
}

#[test]
#[ignore = "writes the rows that the files were made of"]
fn writes_the_corpus() {
    std::fs::write(std::env::temp_dir().join("corpus.parquet"), parquet(&some(), &Layout::PLAIN)).unwrap();
}

/// CSV is the oracle: what all statistics are computed from is the same bit by bit, in order and side by side.
#[test]
fn every_cell_is_read_as_its_text_in_csv() {
    let columns = some();
    let text = csv(&columns);
    for table in tables(&columns) {
        let want = rows(&table, &text);
        assert_eq!(want.len(), 52);
        for name in FILES {
            assert_eq!(rows(&table, &file(name)), want, "{name}: {} as {:?}", table.columns[0].name, table.columns[0].ty);
            if matches!(table.columns[0].ty, Type::Real(range) if range.hi == 5.0) {
                assert_eq!(total(&table, 0, &file(name)).to_bits(), total(&table, 0, &text).to_bits(), "{name}");
            }
        }
    }
    for key in ["i64", "s", "day"] {
        let mut t = table(&[(key, Type::Text), ("d", Type::real(-2.0, 5.0))]);
        t.unit = Some((ColumnId(0), 2));
        let count = |file: &[u8]| count_rows(&t, Source::stored(Cursor::new(file.to_vec()), false).unwrap()).unwrap().unwrap();
        FILES.iter().for_each(|name| assert_eq!(count(&file(name)), count(&text), "{name}: {key}"));
    }
}

#[test]
fn what_no_cell_could_be_read_as_is_refused_by_its_schema() {
    for (header, misfit) in [
        ("list", Misfit::Nested),
        ("struct", Misfit::Nested),
        ("dense", Misfit::Nested),
        ("runs", Misfit::Nested),
        ("time", Misfit::Times),
        ("stamp", Misfit::Times),
        ("sixteen", Misfit::Binary),
        ("huge", Misfit::Binary),
    ] {
        for name in ["nested", "old"] {
            let source = Source::stored(Cursor::new(file(name)), false).unwrap();
            let found = count_rows(&table(&[(header, Type::Text)]), source);
            assert_eq!(found, Err(DataError::Misfit { table: "staff".into(), header: header.into(), misfit }));
        }
    }
}

/// No file, however it is broken, makes room for more than it could hold.
#[test]
fn broken_files_end_in_one_way() {
    let t = table(&[("i64", Type::real(0.0, 9.0)), ("s", Type::Text), ("d38", Type::Bool), ("d", Type::real(0.0, 1.0))]);
    let (mut refused, mut read) = (0, 0);
    for name in FILES {
        let whole = file(name);
        for at in (0..whole.len()).step_by(37) {
            for broken in [[&whole[..at], &[whole[at] ^ 0x81], &whole[at + 1..]].concat(), whole[..at].to_vec()] {
                let mut found = Ok(None);
                let used =
                    allocation_counter::measure(|| found = Source::stored(Cursor::new(broken), false).and_then(|s| count_rows(&t, s)));
                assert!(used.bytes_max < 16 << 20, "{} bytes for {name}", used.bytes_max);
                match found {
                    Ok(_) => read += 1,
                    Err(DataError::Unreadable | DataError::Column { .. } | DataError::Misfit { .. } | DataError::NoHeader { .. }) => {
                        refused += 1
                    }
                    Err(DataError::Format { .. }) => refused += 1,
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }
    assert!(refused > 500 && read > 500, "{refused} refused, {read} read");
}
