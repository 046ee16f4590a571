//! Parquet files: every cell of every type of column is read as CSV's text of it is, whatever the layout; broken files have one text.

use crate::columns::{Cells, Column, Layout, csv, parquet};
use crate::data_support::*;
use dpm::data::row::Rows;
use dpm::data::{DataError, Misfit, Source, count_rows};
use dpm::model::{ColumnId, Range, Table, Type, View};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterVersion;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use std::io::Cursor;
use std::sync::Arc;

/// Cells of one column of the corpus, in the order of `pick`; a cell that is missing has no text.
fn of<T: Clone>(name: &str, schema: &str, pool: &[(T, String)], pick: &[Option<usize>], wrap: fn(Vec<Option<T>>) -> Cells) -> Column {
    let cell = |p: &Option<usize>| p.map(|i| pool[i % pool.len()].clone());
    Column {
        name: name.into(),
        schema: schema.into(),
        cells: wrap(pick.iter().map(|p| cell(p).map(|(x, _)| x)).collect()),
        texts: pick.iter().map(|p| cell(p).map_or(vec![], |(_, text)| text.into_bytes())).collect(),
    }
}

fn written<T: ToString + Copy>(pool: &[T]) -> Vec<(T, String)> {
    pool.iter().map(|x| (*x, x.to_string())).collect()
}

/// Two's complement of a decimal in so many bytes.
fn complement(x: i128, bytes: usize) -> Vec<u8> {
    let all = x.to_be_bytes();
    if bytes <= 16 { all[16 - bytes..].to_vec() } else { [vec![if x < 0 { 0xff } else { 0 }; bytes - 16], all.to_vec()].concat() }
}

/// The decimal with its point, from its digits: no arithmetic.
fn pointed(x: i128, scale: usize) -> String {
    let digits = format!("{:0>width$}", x.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let sign = if x < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
}

/// Days counted one by one from 1970-01-01 in both directions.
fn days() -> Vec<(i32, String)> {
    let length = |y: i32, m: i32| match m {
        2 if y % 4 == 0 && (y % 100 != 0 || y % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let text = |y: i32, m: i32, d: i32| format!("{y:04}-{m:02}-{d:02}");
    let (mut y, mut m, mut d) = (1970, 1, 1);
    let mut all = vec![];
    for n in 0..60_000 {
        all.push((n, text(y, m, d)));
        (y, m, d) = if d < length(y, m) {
            (y, m, d + 1)
        } else if m < 12 {
            (y, m + 1, 1)
        } else {
            (y + 1, 1, 1)
        };
    }
    (y, m, d) = (1970, 1, 1);
    for n in 1..60_000 {
        (y, m, d) = if d > 1 {
            (y, m, d - 1)
        } else if m > 1 {
            (y, m - 1, length(y, m - 1))
        } else {
            (y - 1, 12, 31)
        };
        all.push((-n, text(y, m, d)));
    }
    // Every 997th, the days about leap days, and days that no calendar of four digits has: as if missing.
    let mut kept: Vec<_> = all.iter().filter(|(n, t)| n % 997 == 0 || t.contains("-02-2") && n % 31 == 0).cloned().collect();
    kept.extend([i32::MIN, -719_163, 2_932_897, i32::MAX].map(|n| (n, String::new())));
    kept.extend([(-719_162, "0001-01-01".to_string()), (2_932_896, "9999-12-31".into())]);
    kept
}

const TEXTS: [&[u8]; 44] = [
    b"",
    b" ",
    b"north",
    b" north",
    b"north ",
    b"North",
    b"other",
    b"true",
    b"TRUE",
    b" yes ",
    b"no",
    b"T",
    b"f",
    b"0",
    b"1",
    b"1.0",
    b"-0",
    b"2",
    b"+.5",
    b"5.",
    b"1e3",
    b"1e400",
    b"-1e400",
    b"5e-324",
    b"inf",
    b"-Infinity",
    b"nan",
    b"NA",
    b"null",
    b"1,234.50",
    b"$500",
    b"-$2",
    "£1,234".as_bytes(),
    b"12%",
    b"0x1f",
    b"1_000",
    b"a,b",
    b"say \"no\"",
    b"two\nlines",
    b"\r\n",
    b"\xff\xfe\0",
    b"2020-02-29",
    b" 1999-12-31 ",
    b"2021-02-29",
];

/// All types of columns with odd cells, `rows` of each, some missing.
pub fn corpus(seed: u64, rows: usize) -> Vec<Column> {
    let mut dice = ChaCha20Rng::seed_from_u64(seed);
    let mut pick = || -> Vec<Option<usize>> { (0..rows).map(|_| (dice.next_u32() % 8 != 0).then_some(dice.next_u32() as usize)).collect() };
    let tiny = f64::from_bits(1);
    let doubles = written(&[
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        3.0,
        0.1,
        0.1 + 0.2,
        1e-9,
        7e300,
        -7e300,
        1e22,
        1e23,
        f64::MAX,
        f64::MIN_POSITIVE,
        tiny,
        -tiny,
        2f64.powi(53),
        2f64.powi(53) + 2.0,
        123_456_789.125,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        4.000_000_000_000_001,
    ]);
    let floats = written(&[
        0f32,
        -0.0,
        1.0,
        0.1,
        -0.3,
        1.5,
        16_777_216.0,
        16_777_218.0,
        1e-45,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::NAN,
        f32::INFINITY,
        -f32::INFINITY,
        3.217_592_7,
        123_456.79,
        8_388_609.0,
        0.999_999_94,
    ]);
    let longs = written(&[0, 1, -1, 2, 7, 42, 90, i64::MIN, i64::MAX, (1 << 53) + 1, -(1 << 53) - 3, 9_007_199_254_740_993, 1_000_000_007]);
    let unsigned = [0u64, 1, 2, 255, u64::MAX, u64::MAX - 1024, 1 << 63, (1 << 53) + 1].map(|x| (x.cast_signed(), x.to_string()));
    let short = [0u32, 1, 7, 255, 1 << 31, u32::MAX].map(|x| (x.cast_signed(), x.to_string()));
    let digits = [0i128, 1, -1, 5, 99, -100, 150, 12_345, -99_999, 999_999_999];
    let small: Vec<(i32, String)> = digits.iter().map(|x| (*x as i32, pointed(*x, 2))).collect();
    let large = [0, 1, -1, 3, 10i128.pow(18) - 1, -(10i128.pow(17)) - 7, (1 << 53) + 1, 4_503_599_627_370_497];
    let middle: Vec<(i64, String)> = large.iter().map(|x| (*x as i64, pointed(*x, 3))).collect();
    let huge: Vec<i128> = large.iter().copied().chain([10i128.pow(38) - 1, 1 - 10i128.pow(38), 10i128.pow(37) + 3]).collect();
    let fixed: Vec<(Vec<u8>, String)> = huge.iter().map(|x| (complement(*x, 16), pointed(*x, 37))).collect();
    // As few bytes as it takes, or more than it takes; more digits than any decimal: as if missing.
    let mut variable: Vec<(Vec<u8>, String)> = (0..).zip(&huge).map(|(i, x)| (complement(*x, 16 + i % 5), pointed(*x, 0))).collect();
    variable.extend([(vec![5], "5".into()), (vec![0xff, 0x80], "-128".into()), (vec![1; 17], String::new()), (vec![], "0".into())]);
    let mut columns = vec![
        of("b", "boolean NAME", &written(&[true, false]), &pick(), Cells::Bool),
        of("i8", "int32 NAME (INTEGER(8, true))", &written(&[0, 1, -1, 127, -128]), &pick(), Cells::Int32),
        of("i32", "int32 NAME", &written(&[0, 1, -1, 3, i32::MIN, i32::MAX]), &pick(), Cells::Int32),
        of("i64", "int64 NAME", &longs, &pick(), Cells::Int64),
        of("u32", "int32 NAME (INTEGER(32, false))", &short, &pick(), Cells::Int32),
        of("u64", "int64 NAME (INTEGER(64, false))", &unsigned, &pick(), Cells::Int64),
        of("old", "int32 NAME (UINT_32)", &short, &pick(), Cells::Int32),
        of("f", "float NAME", &floats, &pick(), Cells::Float),
        of("d", "double NAME", &doubles, &pick(), Cells::Double),
        of("d9", "int32 NAME (DECIMAL(9, 2))", &small, &pick(), Cells::Int32),
        of("d18", "int64 NAME (DECIMAL(18, 3))", &middle, &pick(), Cells::Int64),
        of("d38", "fixed_len_byte_array(16) NAME (DECIMAL(38, 37))", &fixed, &pick(), Cells::Fixed),
        of("dv", "binary NAME (DECIMAL(38, 0))", &variable, &pick(), Cells::Bytes),
        of("day", "int32 NAME (DATE)", &days(), &pick(), Cells::Int32),
        of("none", "int32 NAME (UNKNOWN)", &[(0, String::new())], &vec![None; rows], Cells::Int32),
    ];
    for (name, schema) in [("s", "binary NAME (UTF8)"), ("raw", "binary NAME"), ("e", "binary NAME (ENUM)")] {
        let pick = pick();
        let cells: Vec<_> = pick.iter().map(|p| p.map(|i| TEXTS[i % TEXTS.len()].to_vec())).collect();
        let texts = cells.iter().map(|c| c.clone().unwrap_or_default()).collect();
        columns.push(Column { name: name.into(), schema: schema.into(), cells: Cells::Bytes(cells), texts });
    }
    columns
}

/// Every declared type that a column is read as, under every way of saying what is missing.
pub fn tables(columns: &[Column]) -> Vec<Table> {
    let levels = |of: &[&str]| Type::Category(Arc::new(of.iter().map(|s| (*s).to_string()).collect()));
    let everywhere = [levels(&["0", "1", "0.5", "true", "north", " north", "2020-02-29", "-1", "other"]), Type::Text];
    let numbers = [
        Type::real(-2.0, 5.0),
        Type::real(f64::NEG_INFINITY, f64::INFINITY),
        Type::real(-1e300, 1e300),
        Type::Int(Range::new(-3.0, 90.0)),
        Type::Int(Range::new(0.0, f64::INFINITY)),
        Type::Bool,
        Type::Counts { dim: 1, total: 7, fewer: false },
        Type::Counts { dim: 1, total: 7, fewer: true },
    ];
    let date = [Type::Date(Range::new(-30_000.0, 30_000.0)), Type::Date(Range::new(-719_162.0, 2_932_896.0))];
    let mut all = vec![];
    for c in columns {
        let own: Vec<Type> = match c.name.as_str() {
            "b" => vec![Type::Bool],
            "day" => date.to_vec(),
            "s" | "raw" | "e" | "none" => [&numbers[..], &date].concat(),
            _ => numbers.to_vec(),
        };
        for ty in own.iter().chain(&everywhere) {
            let mut t = table(&[(c.name.as_str(), ty.clone())]);
            t.columns[0].headers = vec![c.name.clone()];
            let mut views = vec![View::Missing];
            views.extend(if matches!(ty, Type::Date(_)) { vec![View::Year, View::Weekday] } else { vec![] });
            for view in views {
                let (mut seen, missing) = (t.columns[0].clone(), view == View::Missing);
                (seen.name, seen.ty, seen.view) = ("v".into(), Type::Int(Range::ALL), Some((ColumnId(0), view)));
                seen.ty = if missing { Type::Bool } else { seen.ty };
                t.columns.push(seen);
            }
            let mut other = t.clone();
            other.columns[0].missing = vec![1.0];
            all.extend([t, other]);
        }
    }
    all
}

/// All that a program can ask of the rows: their numbers, bit by bit, and the bytes of texts.
pub fn rows(table: &Table, file: &[u8]) -> Vec<(Vec<u64>, Vec<u8>)> {
    let mut rows = Rows::open(table, Source::stored(Cursor::new(file.to_vec()), false).unwrap()).unwrap();
    let mut row = vec![0.0; rows.slots()];
    let mut all = vec![];
    while rows.advance().unwrap() {
        rows.fill(&mut row);
        let text = if table.columns[0].ty == Type::Text { rows.bytes(0).to_vec() } else { vec![] };
        all.push((row.iter().map(|x: &f64| x.to_bits()).collect(), text));
    }
    all
}

fn layouts() -> impl Strategy<Value = Layout> {
    let compression = prop_oneof![
        Just(Compression::UNCOMPRESSED),
        Just(Compression::SNAPPY),
        Just(Compression::GZIP(GzipLevel::default())),
        Just(Compression::ZSTD(ZstdLevel::default())),
        Just(Compression::LZ4_RAW),
    ];
    let version = prop_oneof![Just(WriterVersion::PARQUET_1_0), Just(WriterVersion::PARQUET_2_0)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (1..200usize, 1..200usize, version, compression, flags).prop_map(
        |(group, page, version, compression, (dictionary, delta, statistics))| {
            // The writer's other encoding of texts is refused.
            let delta = delta || (!dictionary && version == WriterVersion::PARQUET_2_0);
            Layout { group, page, version, compression, dictionary, delta, statistics }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// CSV is the oracle: what all statistics are computed from is the same bit by bit.
    #[test]
    fn every_cell_is_read_as_its_text_in_csv(seed in any::<u64>(), layout in layouts()) {
        let columns = corpus(seed, 130);
        prop_assert!(columns.len() * 130 >= 2000);
        let (text, binary) = (csv(&columns), parquet(&columns, &layout));
        for table in tables(&columns) {
            let (want, found) = (rows(&table, &text), rows(&table, &binary));
            prop_assert_eq!(want.len(), 130);
            for (i, (want, found)) in want.iter().zip(&found).enumerate() {
                let cell = String::from_utf8_lossy(&columns.iter().find(|c| c.name == table.columns[0].headers[0]).unwrap().texts[i]).into_owned();
                prop_assert_eq!(want, found, "{:?} of {} as {:?}", cell, &table.columns[0].name, &table.columns[0].ty);
            }
            prop_assert_eq!(found.len(), 130);
        }
    }

    /// The same rows of the same units are kept, and released sums are the same.
    #[test]
    fn units_and_sums_are_those_of_csv(seed in any::<u64>(), layout in layouts(), most in 1..5u64) {
        let columns = corpus(seed, 130);
        let (text, binary) = (csv(&columns), parquet(&columns, &layout));
        for key in [("i64", Type::Text), ("d", Type::Text), ("s", Type::Text), ("day", Type::Text), ("u64", Type::real(-9.0, 1e30))] {
            let mut t = table(&[key.clone(), ("d", Type::real(-2.0, 5.0)), ("d38", Type::real(-2.0, 5.0))]);
            t.unit = Some((ColumnId(0), most));
            let count = |file: &[u8]| count_rows(&t, Source::stored(Cursor::new(file.to_vec()), false).unwrap());
            prop_assert_eq!(count(&text), count(&binary));
            prop_assert!(count(&text).unwrap().unwrap() < 130, "no unit lost a row");
            prop_assert_eq!(total(&t, 1, &text).to_bits(), total(&t, 1, &binary).to_bits());
            prop_assert_eq!(total(&t, 2, &text).to_bits(), total(&t, 2, &binary).to_bits());
        }
    }
}

#[test]
fn what_no_cell_could_be_read_as_is_refused_by_its_schema() {
    let cells = |n| Cells::Int64(vec![Some(n); 3]);
    let column = |schema: &str, cells| Column { name: "x".into(), schema: schema.into(), cells, texts: vec![vec![]; 3] };
    let booleans = column("boolean NAME", Cells::Bool(vec![Some(true); 3]));
    let day = column("int32 NAME (DATE)", Cells::Int32(vec![Some(3); 3]));
    for (column, ty, misfit) in [
        (column("int64 NAME (TIMESTAMP(MILLIS, true))", cells(7)), Type::real(0.0, 1.0), Misfit::Times),
        (column("int64 NAME (TIME(MICROS, true))", cells(7)), Type::Text, Misfit::Times),
        (column("fixed_len_byte_array(16) NAME (UUID)", Cells::Fixed(vec![Some(vec![0; 16]); 3])), Type::Text, Misfit::Binary),
        (column("fixed_len_byte_array(20) NAME (DECIMAL(40, 2))", Cells::Fixed(vec![Some(vec![0; 20]); 3])), Type::Bool, Misfit::Binary),
        (column("binary NAME (JSON)", Cells::Bytes(vec![Some(vec![b'1']); 3])), Type::Bool, Misfit::Binary),
        (booleans.clone(), Type::real(0.0, 1.0), Misfit::Booleans),
        (booleans, Type::Date(Range::new(0.0, 1.0)), Misfit::Booleans),
        (day.clone(), Type::Bool, Misfit::Days),
        (day, Type::Int(Range::new(0.0, 9.0)), Misfit::Days),
        (column("int64 NAME", cells(7)), Type::Date(Range::new(0.0, 1.0)), Misfit::Numbers),
    ] {
        let source = Source::stored(Cursor::new(parquet(&[column], &Layout::PLAIN)), false).unwrap();
        let found = count_rows(&table(&[("x", ty)]), source);
        assert_eq!(found, Err(DataError::Misfit { table: "staff".into(), header: "x".into(), misfit }));
    }
}

/// Every byte of a small file, changed in several ways, and every length of it: rows or one error, no panic, and no room for more
/// than the file could hold.
#[test]
fn broken_files_end_in_one_way() {
    let columns: Vec<Column> = corpus(1, 12).into_iter().filter(|c| ["i64", "s", "d38", "d"].contains(&c.name.as_str())).collect();
    let t = table(&[("i64", Type::real(0.0, 9.0)), ("s", Type::Text), ("d38", Type::Bool), ("d", Type::real(0.0, 1.0))]);
    let mut dice = ChaCha20Rng::seed_from_u64(3);
    // Tracing a panic of the decoders to its line would take more room than any file here.
    dpm::private::quiet_panics();
    let (mut refused, mut read) = (0, 0);
    let mut try_it = |file: Vec<u8>| {
        let length = file.len();
        let mut found = Ok(None);
        let used = allocation_counter::measure(|| found = Source::stored(Cursor::new(file), false).and_then(|s| count_rows(&t, s)));
        assert!(used.bytes_max < 16 << 20, "{} bytes for a file of {length}", used.bytes_max);
        match found {
            Ok(_) => read += 1,
            Err(DataError::Rows { .. }) => panic!("the table asks for no number of rows"),
            Err(_) => refused += 1,
        }
    };
    for (compression, delta) in
        [(Compression::SNAPPY, true), (Compression::ZSTD(ZstdLevel::default()), false), (Compression::LZ4_RAW, false)]
    {
        let layout =
            Layout { compression, delta, dictionary: !delta, group: 7, page: 5, version: WriterVersion::PARQUET_2_0, ..Layout::PLAIN };
        let whole = parquet(&columns, &layout);
        for at in 0..whole.len() {
            for value in [0, 0xff, dice.next_u32() as u8, whole[at] ^ 1] {
                let mut file = whole.clone();
                file[at] = value;
                try_it(file);
            }
            if at % 7 == 0 {
                try_it([&whole[..at], &whole[whole.len() - 8..]].concat());
                try_it(whole[..at].to_vec());
            }
        }
    }
    let _ = std::panic::take_hook();
    assert!(refused > 1000 && read > 100, "{refused} refused, {read} read");
}
