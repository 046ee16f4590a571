//! Private files: every malformed cell is some ordinary value, and nothing of a cell shows in an error.

use std::io::Write;

use crate::data_support::*;
use dpm::data::{DataError, PublicColumn, Source, count_rows, load_public};
use dpm::mechanism::plan::{MechanismPlan, PosteriorLaw, Statistic, StatisticKind};
use dpm::model::{Range, Relation, RowCount, Type};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

#[test]
fn every_cell_has_a_value() {
    let int = table(&[("x", Type::Int(Range::new(17.0, 90.0)))]);
    let real = table(&[("x", Type::real(-2.0, 5.0))]);
    let half_line = table(&[("x", Type::real(1.0, 4.0))]);
    let boolean = table(&[("x", Type::Bool)]);
    // cell, int in 17..90, real in [-2, 5], real in [1, 4], bool
    let cases: &[(&[u8], f64, f64, f64, f64)] = &[
        (b"3", 17.0, 3.0, 3.0, 0.0),
        (b" +42 ", 42.0, 5.0, 4.0, 0.0),
        (b"41.5", 42.0, 5.0, 4.0, 0.0),
        (b"42.5", 42.0, 5.0, 4.0, 0.0),
        (b"1e2", 90.0, 5.0, 4.0, 0.0),
        (b"nan", 17.0, 0.0, 1.0, 0.0),
        (b"\"\"", 17.0, 0.0, 1.0, 0.0),
        (b" ", 17.0, 0.0, 1.0, 0.0),
        (b"inf", 90.0, 5.0, 4.0, 0.0),
        (b"-inf", 17.0, -2.0, 1.0, 0.0),
        (b"1e400", 90.0, 5.0, 4.0, 0.0),
        (b"-1e400", 17.0, -2.0, 1.0, 0.0),
        (b"-0", 17.0, 0.0, 1.0, 0.0),
        (b"5e-324", 17.0, 0.0, 1.0, 0.0),
        (b"1,000", 17.0, 1.0, 1.0, 1.0),
        (b"1.", 17.0, 1.0, 1.0, 1.0),
        (b".5", 17.0, 0.5, 1.0, 0.0),
        (b"0x10", 17.0, 0.0, 1.0, 0.0),
        (b"1_0", 17.0, 0.0, 1.0, 0.0),
        (b"TRUE", 17.0, 0.0, 1.0, 1.0),
        (b"yes", 17.0, 0.0, 1.0, 1.0),
        (b"1", 17.0, 1.0, 1.0, 1.0),
        (b"\xff\xfe", 17.0, 0.0, 1.0, 0.0),
        (b"\0", 17.0, 0.0, 1.0, 0.0),
        (b"\"2", 17.0, 0.0, 1.0, 0.0),
        (b"\"2\"", 17.0, 2.0, 2.0, 0.0),
        (b"2\"", 17.0, 0.0, 1.0, 0.0),
        (b"\"\"\"", 17.0, 0.0, 1.0, 0.0),
    ];
    for (cell, a, b, c, d) in cases {
        for (table, want) in [(&int, a), (&real, b), (&half_line, c), (&boolean, d)] {
            let file = [b"x\n", *cell, b"\n"].concat();
            let got = total(table, 0, &file);
            assert!(same(got, *want), "{:?}: {got} is not {want}", String::from_utf8_lossy(cell));
        }
    }
}

/// A row is inside its types as soon as it is read: chains take rows as they are, without the clipping of sums.
#[test]
fn a_row_that_is_read_lies_inside_its_types() {
    let levels = Type::Category(std::sync::Arc::new(vec!["u".into(), "v".into(), "w".into()]));
    let columns = [("a", Type::Bool), ("b", Type::Int(Range::new(-3.0, 9.0))), ("c", Type::real(1.0, 4.0)), ("d", levels)];
    let table = table(&columns);
    for cell in ["", "nan", "inf", "-inf", "7e300", "-1", "1e-9", "maybe", "4.5", "w ", "yes", "x"] {
        for file in [format!("a,b,c,d\n{cell},{cell},{cell},{cell}\n"), format!("a,b,c,d\n{cell},{cell}\n")] {
            let source = Source::new(std::io::Cursor::new(file.into_bytes()));
            let mut rows = dpm::data::row::Rows::open(&table, source).unwrap();
            let mut row = [f64::NAN; 4];
            assert!(rows.advance().unwrap());
            rows.fill(&mut row);
            let inside = [row[0] == 0.0 || row[0] == 1.0, (-3.0..=9.0).contains(&row[1]) && row[1].fract() == 0.0];
            assert!(inside == [true; 2] && (1.0..=4.0).contains(&row[2]) && [0.0, 1.0, 2.0].contains(&row[3]), "{cell}: {row:?}");
        }
    }
}

#[test]
fn the_shape_of_the_file_does_not_matter() {
    let t = table(&[("x", Type::real(0.0, 10.0)), ("y", Type::Bool)]);
    for file in [
        &b"x,y\n1.5,1\n2,0\n"[..],
        b"\xef\xbb\xbfx,y\r\n1.5,yes\r\n2,no\r\n",
        b"z,y,x\n9,1,1.5\n\n9,0,2",
        b"\"x\",\" y \"\n\"1.5\",\"1\",surplus,\"more\"\n2\n",
        b"x,y\n\n\n1.5,1\n\n2,0\n\n",
        b"x,note,y\n1.5,\"two\nlines, \"\"quoted\"\"\",1\n2,,0\n",
    ] {
        let text = String::from_utf8_lossy(file);
        assert!(same(total(&t, 0, file), 3.5), "{text}");
        assert!(same(total(&t, 1, file), 1.0), "{text}");
        let source = Source::new(std::io::Cursor::new(file.to_vec()));
        assert_eq!(count_rows(&t, source), Ok(Some(2)), "{text}");
    }
}

#[test]
fn a_stray_quote_stays_in_its_row() {
    let mut t = table(&[("x", Type::Bool), ("note", Type::Text)]);
    t.rows.at_least = 100;
    let good: String = (0..100).map(|i| format!("{},note {i}\n", i % 2)).collect();
    for cell in ["\"", "\"abc", "ab\"c", "\"a\"b", "\"\"\"", "\"a\"\"", "abc\""] {
        for at in [0, 50, 99] {
            let mut lines: Vec<String> = good.lines().map(String::from).collect();
            lines[at] = format!("{},{cell}", at % 2);
            let file = format!("x,note\n{}\n", lines.join("\n"));
            assert!(same(total(&t, 0, file.as_bytes()), 50.0), "{cell} at {at}");
        }
    }
}

#[test]
fn order_and_malformed_neighbours_leave_every_byte_alike() {
    let t = table(&[("x", Type::real(0.0, 1.0)), ("b", Type::Bool)]);
    let plan = MechanismPlan::Posterior {
        law: PosteriorLaw::Beta { a: 2.0, b: 3.0, trials: 1 },
        weight: 0.5,
        statistic: Statistic { table: T, kind: StatisticKind::Sum(column(&t, 0)) },
        times: 5,
    };
    let text = |file: &[u8]| {
        let draws = run(&plan, &t, file, None).unwrap();
        draws.iter().map(|d| d.components[0].decimal()).collect::<Vec<_>>()
    };
    let base = text(b"x,b\n0.3,1\n0.1,0\n0.7,1\n0.2,1\n");
    assert_eq!(base, text(b"x,b\n0.7,1\n0.2,1\n0.1,0\n0.3,1\n"));
    let width = base[0].len();
    for cell in ["nan", "inf", "-inf", "1e400", "-0", "5e-324", "", "\"", "\0", "ZZZ-CANARY", "\u{fffd}"] {
        let out = text(format!("x,b\n{cell},1\n0.1,0\n0.7,1\n0.2,1\n").as_bytes());
        assert!(out.iter().all(|d| d.len() == width), "{cell}: {out:?}");
    }
}

#[test]
fn only_public_facts_are_errors_and_none_quotes_a_cell() {
    let mut t = table(&[("x", Type::Int(Range::new(0.0, 9.0)))]);
    let plan = nearly_exact(sum_of(column(&t, 0)));
    let canary = "CANARY-7731";
    let body = format!("x,{canary}\n{canary},{canary}\n\"{canary}\n");
    t.rows.at_least = 3;
    let mut errors = vec![run(&plan, &t, body.as_bytes(), None).unwrap_err()];
    t.rows = RowCount { at_least: 1, exactly: Some(1) };
    errors.push(run(&plan, &t, body.as_bytes(), None).unwrap_err());
    t.rows.exactly = None;
    errors.push(run(&plan, &t, format!("{canary}\n{canary}\n").as_bytes(), None).unwrap_err());
    errors.push(run(&plan, &t, b"x,x\n1,2\n", None).unwrap_err());
    errors.push(run(&plan, &t, b"", None).unwrap_err());
    let kinds: Vec<_> = errors.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds[0], kinds[1]);
    assert!(matches!(errors[2], DataError::Column { twice: false, .. }));
    assert!(matches!(errors[3], DataError::Column { twice: true, .. }));
    assert!(matches!(errors[4], DataError::NoHeader { .. }));
    for e in &errors {
        assert!(!format!("{e} {e:?}").contains(canary), "{e}");
    }
    // A secret number of rows is never checked.
    t.relation = Relation::AddRemove;
    t.rows.at_least = 1000;
    assert!(run(&plan, &t, body.as_bytes(), None).is_ok());
    let source = Source::new(std::io::Cursor::new(body.into_bytes()));
    assert_eq!(count_rows(&t, source), Ok(None));
}

#[test]
fn an_endless_line_is_one_row() {
    let t = table(&[("x", Type::Bool), ("note", Type::Text)]);
    let long = [&b"x,note\n1,"[..], &vec![b'a'; 1 << 25], b"\n1,b\n"].concat();
    assert!(same(total(&t, 0, &long), 2.0));
}

#[test]
fn public_tables_are_checked() {
    let mut t = table(&[("x", Type::Int(Range::new(0.0, 9.0))), ("name", Type::Text)]);
    t.private = false;
    let load = |text: &str| load_public(&t, Source::new(std::io::Cursor::new(text.to_string())));
    let read = load("name,x\nann,1\n\nbob, 9\n").unwrap();
    assert_eq!(read.rows, 2);
    assert_eq!(
        read.columns,
        vec![PublicColumn::Numbers { width: 1, values: vec![1.0, 9.0] }, PublicColumn::Text(vec!["ann".into(), "bob".into()]),]
    );
    for cell in ["", "x", "10", "1.5", "nan", "inf", "-1"] {
        let error = load(&format!("x,name\n1,a\n{cell},b\n")).unwrap_err();
        assert_eq!(error, DataError::Cell { table: "staff".into(), column: "x".into(), line: 3 });
    }
}

#[test]
fn files_may_be_compressed_and_may_be_missing() {
    let t = table(&[("x", Type::Bool)]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("staff.csv.gz");
    let mut encoder = flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
    encoder.write_all(b"x\n1\n0\n1\n").unwrap();
    encoder.finish().unwrap();
    assert_eq!(count_rows(&t, Source::open(&path).unwrap()), Ok(Some(3)));
    assert_eq!(Source::open(&folder.path().join("no.csv")).err(), Some(DataError::Missing));
    let broken = folder.path().join("broken.csv.gz");
    std::fs::write(&broken, b"not gzip").unwrap();
    let read = count_rows(&t, Source::open(&broken).unwrap());
    assert_eq!(read, Err(DataError::Unreadable));
}

/// A figure for the record: `cargo test --release --test draws data::speed -- --ignored --nocapture`.
#[test]
#[ignore = "prints rows a second"]
fn speed() {
    let t = table(&[("x", Type::Bool)]);
    let file = [&b"x\n"[..], &b"1\n0\n".repeat(5_000_000)].concat();
    let start = std::time::Instant::now();
    assert!(same(total(&t, 0, &file), 5e6));
    println!("10,000,000 rows in {:.2} s", start.elapsed().as_secs_f64());
}

/// One row's cells are random bytes (line ends left out: they would end the row), in 10,000 files.
#[test]
fn random_cells_change_neither_the_count_nor_the_form_of_the_answer() {
    let mut t = table(&[("x", Type::real(0.0, 1.0)), ("note", Type::Text), ("b", Type::Bool)]);
    t.rows.exactly = Some(20);
    let plan = MechanismPlan::Posterior {
        law: PosteriorLaw::Normal { precision: 1.0, precision_mean: 0.0, variance: 1.0 },
        weight: 1.0,
        statistic: Statistic { table: T, kind: StatisticKind::Sum(column(&t, 0)) },
        times: 1,
    };
    let alphabet = b"\"\"\",,, \0\t\xff\xc3019.e-+naif\xef\xbb\xbfTyes";
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let mut pick = |n: usize| rng.next_u32() as usize % n;
    let digits = |line: &[u8], at: usize| {
        let mut file = b"x,note,b\n".to_vec();
        for i in 0..20 {
            if i == at {
                file.extend_from_slice(line);
            } else {
                file.extend_from_slice(format!("0.{i},\"a, \"\"b\"\"\",{}", i % 2).as_bytes());
            }
            file.push(b'\n');
        }
        run(&plan, &t, &file, None).map(|d| (d.len(), d[0].components[0].exponent))
    };
    let base = digits(b"0,,0", 0);
    assert!(base.is_ok());
    for _ in 0..10_000 {
        let length = 1 + pick(12);
        let line: Vec<u8> = (0..length).map(|_| alphabet[pick(alphabet.len())]).collect();
        let at = pick(20);
        assert_eq!(digits(&line, at), base, "{:?} at {at}", String::from_utf8_lossy(&line));
    }
}
