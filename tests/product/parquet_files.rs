//! Parquet and Arrow through the binary: the answers of CSV, public refusals, and nothing of a broken file.

use crate::columns::{Cells, Column, Layout, csv, parquet};
use std::fs;
use std::process::{Command, Stdio};
use tempfile::TempDir;

const CANARY: &str = "kanarie-31337";
const PROGRAM: &str = "private t[6] { x: real in [0, 10], g: category {u, v}, id: text }
release s = sum(x) using laplace(scale = 1e-9)
release c = count(g == u) using laplace(scale = 1e-9)
";

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(TempDir::new().unwrap());
        place.write("q.dpm", PROGRAM.as_bytes());
        place
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn dpm(&self, args: &str, input: Option<&str>) -> (Option<i32>, String, String) {
        let input = input.map_or(Stdio::null(), |name| fs::File::open(self.0.path().join(name)).unwrap().into());
        let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
        let out = command.args(args.split(' ')).current_dir(self.0.path()).env("NO_COLOR", "1").stdin(input).output().unwrap();
        let [shown, said] = [out.stdout, out.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(!said.contains(CANARY), "{said}");
        (out.status.code(), shown, said)
    }

    /// Released numbers, whose noise is far smaller than what is shown.
    fn answers(&self, args: &str, input: Option<&str>) -> Vec<i64> {
        let (code, shown, said) = self.dpm(args, input);
        assert_eq!(code, Some(0), "{said}");
        let lines = shown.lines().filter(|l| l.starts_with("released"));
        let numbers = lines.map(|l| l.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap());
        numbers.map(|x| (x * 1000.0).round() as i64).collect()
    }
}

fn column(name: &str, schema: &str, cells: Cells, texts: &[&str]) -> Column {
    Column { name: name.into(), schema: schema.into(), cells, texts: texts.iter().map(|t| t.as_bytes().to_vec()).collect() }
}

fn rows() -> Vec<Column> {
    let x = [Some(1.5), None, Some(f64::NAN), Some(99.0), Some(2.0), Some(3.25)];
    let texts = ["u", "v", "w", CANARY, "", "u"];
    vec![
        column("surplus", "int64 NAME (TIMESTAMP(MILLIS, true))", Cells::Int64(vec![Some(1); 6]), &["1"; 6]),
        column("x", "double NAME", Cells::Double(x.to_vec()), &["1.5", "", "NaN", "99", "2", "3.25"]),
        column("g", "binary NAME (UTF8)", Cells::Bytes(texts.map(|t| Some(t.as_bytes().to_vec())).to_vec()), &texts),
        column("id", "int64 NAME", Cells::Int64(vec![Some(7); 6]), &["7"; 6]),
    ]
}

/// The same rows, as `tests/support/arrow/make.py` wrote them.
fn arrow(name: &str) -> Vec<u8> {
    fs::read(format!("{}/tests/support/arrow/{name}.arrow", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn answers_are_those_of_csv_from_a_file_a_pipe_and_registered_data() {
    let place = Place::new();
    place.write("rows.csv", &csv(&rows()));
    place.write("s.dpm", b"private t[6] { x: real in [0, 10], g: category {u, v}, id: text }\n");
    let wanted = place.answers("run q.dpm --data rows.csv", None);
    assert_eq!(wanted, [16_750, 2000]);
    let files = [parquet(&rows(), &Layout { group: 4, ..Layout::PLAIN }), arrow("six"), arrow("six_stream")];
    for (at, bytes) in files.iter().enumerate() {
        // A name says nothing but that a file is compressed.
        ["rows.parquet", "rows.dat"].iter().for_each(|name| place.write(name, bytes));
        for args in ["run q.dpm --data rows.parquet", "run q.dpm --data t=rows.dat"] {
            assert_eq!(place.answers(args, None), wanted);
        }
        assert_eq!(place.answers("run q.dpm --data -", Some("rows.parquet")), wanted);
        let init = format!("ledger init l{at} --dataset t=rows.parquet --schema s.dpm --shared --budget eps(1e20)");
        assert_eq!(place.dpm(&init, None).0, Some(0));
        assert_eq!(place.answers(&format!("run q.dpm --data t=@t --ledger l{at}"), None), wanted);
    }
}

/// A folder and a pattern are all their files, which are as private as one; a ledger registers files alone.
#[test]
fn a_folder_is_one_table() {
    let place = Place::new();
    let root = place.0.path();
    fs::create_dir(root.join("rows")).unwrap();
    let half = |from: usize| -> Vec<u8> {
        let columns = rows().into_iter().map(|mut c| {
            c.texts = c.texts[from..from + 3].to_vec();
            c
        });
        csv(&columns.collect::<Vec<_>>())
    };
    place.write("rows/1.csv", &half(0));
    place.write("rows/2.csv", &half(3));
    for data in ["rows", "t=rows/", "t=rows/*.csv"] {
        assert_eq!(place.answers(&format!("run q.dpm --data {data}"), None), [16_750, 2000]);
    }
    for args in ["run q.dpm --data rows -o rows/1.csv", "run rows/2.csv --data t=rows/?.csv"] {
        let (code, shown, said) = place.dpm(args, None);
        assert!(code == Some(2) && shown.is_empty(), "{args}: {said}");
    }
    assert_eq!(fs::read(root.join("rows/1.csv")).unwrap(), half(0));
    place.write("s.dpm", b"private t[6] { x: real in [0, 10] }\n");
    let (code, _, said) = place.dpm("ledger init l --dataset t=rows --schema s.dpm --shared --budget eps(1)", None);
    assert!(code == Some(2) && said.contains("`t`") && said.contains("folder"), "{said}");
    place.write("rows/3.csv", b"x\n1\n");
    let (code, _, said) = place.dpm("run q.dpm --data rows", None);
    assert!(code == Some(3) && said.contains("rows: the files for `t` do not all have the same columns in the same order"), "{said}");
    fs::create_dir(root.join("none")).unwrap();
    let (code, _, said) = place.dpm("run q.dpm --data none", None);
    assert!(code == Some(3) && said.contains("none: no file with rows is there"), "{said}");
}

#[test]
fn a_public_table_may_be_parquet() {
    let place = Place::new();
    place.write(
        "p.dpm",
        format!("{PROGRAM}public w[n >= 1] {{ k: int in 0..9, d: date in [\"2020-01-01\", \"2020-12-31\"] }}\noutput m = sum(w.k)\n")
            .as_bytes(),
    );
    let k = |cells: [Option<i32>; 2]| {
        let day = Cells::Int32(vec![Some(18_262), Some(18_300)]);
        vec![column("k", "int32 NAME", Cells::Int32(cells.to_vec()), &["", ""]), column("d", "int32 NAME (DATE)", day, &["", ""])]
    };
    place.write("good.parquet", &parquet(&k([Some(3), Some(4)]), &Layout::PLAIN));
    place.write("bad.parquet", &parquet(&k([Some(3), Some(40)]), &Layout::PLAIN));
    place.write("rows.csv", &csv(&rows()));
    let (code, shown, said) = place.dpm("run p.dpm --data rows.csv --public w=good.parquet", None);
    assert!(code == Some(0) && shown.lines().any(|l| l.starts_with('m') || l.contains(" m ")), "{shown}{said}");
    let (code, _, said) = place.dpm("run p.dpm --data rows.csv --public w=bad.parquet", None);
    assert!(code == Some(3) && said.contains("line 3 of the public file for `w`: the cell of `k` is not of its type"), "{said}");
}

#[test]
fn what_is_wrong_with_a_file_is_said_without_its_cells() {
    let place = Place::new();
    let whole = parquet(&rows(), &Layout::PLAIN);
    place.write("rows.parquet", &whole);
    let says = |wanted: &str| {
        let (code, shown, said) = place.dpm("run q.dpm --data t=rows.parquet", None);
        assert!(code == Some(3) && shown.is_empty() && said.contains(wanted), "{wanted}: {said}");
        said
    };
    place.write("q.dpm", PROGRAM.replace("[6]", "[7]").as_bytes());
    says("the file for `t` does not have exactly 7 rows");
    place.write("q.dpm", PROGRAM.replace("x: real", "x from \"z\": real").as_bytes());
    says("the file for `t` has no column `z`");
    place.write("q.dpm", PROGRAM.replace("x: real", "x from \"surplus\": real").as_bytes());
    says("the column `surplus` of the file for `t` holds times, which are not read\n  Help: write the day as a date");
    place.write("q.dpm", PROGRAM.as_bytes());
    // A cell's bytes, headers of pages and messages, the footer and its length: one text.
    let mut found = vec![];
    for (whole, least) in [(whole, 5), (arrow("six"), 8)] {
        for cut in [least, 60, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            place.write("rows.parquet", &whole[..cut]);
            found.push(says("rows.parquet: the file cannot be read"));
        }
        for at in [whole.len() - 1, whole.len() - 6] {
            let mut broken = whole.clone();
            broken[at] ^= 0x55;
            place.write("rows.parquet", &broken);
            found.push(says("rows.parquet: the file cannot be read"));
        }
    }
    found.dedup();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[cfg(unix)]
#[test]
fn the_owner_inspects_it() {
    let place = Place::new();
    place.write("rows.parquet", &parquet(&rows(), &Layout::PLAIN));
    // In two parts, whose columns that are not read stay so.
    fs::create_dir(place.0.path().join("twice")).unwrap();
    ["twice/1", "twice/2"].iter().for_each(|name| place.write(name, &parquet(&rows(), &Layout::PLAIN)));
    let (code, _, said) = place.dpm("inspect q.dpm --data t=twice -o twice.txt", None);
    assert_eq!(code, Some(0), "{said}");
    let twice = fs::read_to_string(place.0.path().join("twice.txt")).unwrap();
    assert!(twice.contains("t: 12 rows, 4 columns") && twice.contains("8 read"), "{twice}");
    let (code, _, said) = place.dpm("inspect q.dpm --data t=rows.parquet -o seen.txt", None);
    assert_eq!(code, Some(0), "{said}");
    let seen = fs::read_to_string(place.0.path().join("seen.txt")).unwrap();
    let lines: Vec<&str> = seen.lines().map(str::trim).collect();
    for wanted in [
        "t: 6 rows, 4 columns",
        "4 read",
        "1 of these moved to an end of the domain",
        "1 NA or another word for missing",
        &format!("{CANARY:?}: 1"),
    ] {
        assert!(lines.contains(&wanted), "{wanted} is not in\n{seen}");
    }
}
