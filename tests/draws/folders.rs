//! Several files as one table: their rows one after the other in the byte order of the names, and nothing that is not alike.

use crate::data_support::*;
use dpm::data::row::Rows;
use dpm::data::{DataError, Gathered, Opened, count_rows};
use dpm::model::{ColumnId, Table, Type};
use std::io::Write;
use std::path::Path;

fn numbers(table: &Table, path: &Path) -> Result<Vec<f64>, DataError> {
    let mut rows = Rows::open(table, Opened::open(path)?.source()?)?;
    let (mut row, mut all) = (vec![0.0; rows.slots()], vec![]);
    while rows.advance()? {
        rows.fill(&mut row);
        all.push(row[0]);
    }
    Ok(all)
}

#[test]
fn rows_of_a_folder_stand_in_the_order_of_its_names() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).unwrap();
    let t = table(&[("x", Type::real(0.0, 99.0)), ("u", Type::Text)]);
    write("b.csv", b"x,u\n3,v\n4,v");
    write("B.csv", b"x,u\n1,v\n2,w\n");
    write("part-10.csv", b"\xef\xbb\xbfx,u\r\n");
    write("_SUCCESS", b"");
    write(".b.csv.crc", b"no");
    let mut gz = flate2::write::GzEncoder::new(std::fs::File::create(path("part-2.csv.gz")).unwrap(), flate2::Compression::fast());
    gz.write_all(b"x,u\n\"5\",v\n").unwrap();
    gz.finish().unwrap();
    assert_eq!(numbers(&t, place.path()), Ok(vec![1.0, 2.0, 3.0, 4.0, 5.0]));
    assert_eq!(numbers(&t, &path("part-*")), Ok(vec![5.0]));
    assert_eq!(numbers(&t, &path("?.csv")), Ok(vec![1.0, 2.0, 3.0, 4.0]));
    // A second pass reads the same; the first rows of a unit are those of the first file.
    let mut by = t.clone();
    by.unit = Some((ColumnId(1), 2));
    let opened = Opened::open(place.path()).unwrap();
    for _ in 0..2 {
        assert_eq!(count_rows(&by, opened.source().unwrap()), Ok(Some(3)));
    }
    // A file that has the name of a pattern is that file.
    write("p*.csv", b"x,u\n7,v\n");
    assert_eq!(numbers(&t, &path("p*.csv")), Ok(vec![7.0]));
    // Alike in header and order, whatever is declared; said before any row.
    write("c.csv", b"u,x\nv,9\n");
    let opened = Opened::open(place.path()).unwrap();
    assert_eq!(Rows::open(&t, opened.source().unwrap()).err(), Some(DataError::Apart { table: "staff".into() }));
    write("c.csv", b"");
    assert_eq!(numbers(&t, place.path()), Err(DataError::NoHeader { table: "staff".into() }));
    std::fs::create_dir(path("year=2020")).unwrap();
    assert_eq!(numbers(&t, place.path()), Err(DataError::Folder(Gathered::Folders)));
    assert_eq!(numbers(&t, &path("z*.csv")), Err(DataError::Folder(Gathered::Nothing)));
    (0..501).for_each(|i| write(&format!("many-{i}"), b"x\n"));
    assert_eq!(numbers(&t, &path("many-*")), Err(DataError::Folder(Gathered::Many)));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_and_zstd_come_in_parts_too() {
    use crate::columns::{Cells, Column, Layout, parquet};
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(place.path().join(name), bytes).unwrap();
    let t = table(&[("x", Type::real(0.0, 99.0)), ("y", Type::Text)]);
    let file = |schema: &str, cells: Cells| {
        let y = Column { name: "y".into(), schema: "binary NAME".into(), cells: Cells::Bytes(vec![None; 2]), texts: vec![vec![]; 2] };
        parquet(&[y, Column { name: "x".into(), schema: schema.into(), cells, texts: vec![vec![]; 2] }], &Layout::PLAIN)
    };
    write("2", &file("double NAME", Cells::Double(vec![Some(3.5), None])));
    write("1", &file("double NAME", Cells::Double(vec![Some(1.0), Some(2.0)])));
    assert_eq!(numbers(&t, place.path()), Ok(vec![1.0, 2.0, 3.5, 0.0]));
    // Another type of a column is another table, and so is another format.
    write("3", &file("int32 NAME", Cells::Int32(vec![Some(3); 2])));
    assert_eq!(numbers(&t, place.path()), Err(DataError::Apart { table: "staff".into() }));
    write("3", b"y,x\nv,9\n");
    assert_eq!(numbers(&t, place.path()), Err(DataError::Apart { table: "staff".into() }));
    let packed = zstd::stream::encode_all(&b"x,y\n8,v\n9,v\n"[..], 1).unwrap();
    write("rows.csv.zst", &packed);
    assert_eq!(numbers(&t, &place.path().join("rows.csv.zst")), Ok(vec![8.0, 9.0]));
    write("rows.csv.zst", &packed[..packed.len() - 3]);
    assert_eq!(numbers(&t, &place.path().join("rows.csv.zst")), Err(DataError::Unreadable));
}
