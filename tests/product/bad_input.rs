//! Bad input of every kind, through the binary: documented exit codes, and nothing said of a private table.
//!
//! Public mistakes are named; private cells are mapped without a word, so that two neighbouring files cannot be told
//! apart by exit code, by standard error, or by the length of standard output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod cells;

/// A folder with a program and its files.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(program: &str) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.write("p.dpm", program.as_bytes());
        place
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `dpm` with arguments, in the folder.
    fn dpm(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_dpm")).args(arguments).current_dir(self.path()).env_clear().output().unwrap()
    }

    /// Ends with `code`, says `part` on standard error, prints no canary and nothing on standard output.
    fn refuses(&self, arguments: &[&str], code: i32, part: &str) {
        let out = self.dpm(arguments);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?} does not say `{part}`:\n{said}");
        assert!(out.stdout.is_empty(), "{arguments:?} prints {}", String::from_utf8_lossy(&out.stdout));
        assert!(!said.contains(CANARY), "{said}");
    }
}

/// Stands in private cells; must never be seen again.
const CANARY: &str = "kanarie-31337";

const RATE: &str = "budget rdp(order = 8, eps = 0.5)
private staff[n >= 3] { smoker: bool }
param p ~ beta(6, 18)
observe smoker ~ bernoulli(p)
release p_hat = draw(p)
";

/// Sampled twice, so that the release's own width is the only thing that differs.
fn smokers(header: &str, rows: usize) -> Vec<u8> {
    let mut text = format!("{header}\n");
    (0..rows).for_each(|i| text += if i % 3 == 0 { "1,kanarie-31337\n" } else { "0,kanarie-31337\n" });
    text.into_bytes()
}

#[test]
fn a_missing_file_is_named() {
    let place = Place::new(RATE);
    place.write("ok.csv", &smokers("smoker,pay", 9));
    fs::create_dir(place.path().join("folder.csv")).unwrap();
    place.refuses(&["check", "absent.dpm"], 3, "absent.dpm cannot be opened");
    place.refuses(&["check", "folder.csv"], 3, "folder.csv cannot be opened");
    place.refuses(&["certify", "absent.dpm"], 3, "absent.dpm");
    place.refuses(&["run", "absent.dpm", "--data", "ok.csv"], 3, "absent.dpm");
    place.refuses(&["run", "p.dpm", "--data", "absent.csv"], 3, "absent.csv: the file cannot be opened");
    place.refuses(&["run", "p.dpm", "--data", "staff=absent.csv"], 3, "absent.csv: the file cannot be opened");
    place.refuses(&["run", "p.dpm", "--data", "folder.csv"], 3, "folder.csv: no file with rows is there");
    place.write("latin.dpm", b"private t[n] { \xe9: bool }");
    place.refuses(&["check", "latin.dpm"], 3, "not UTF-8");
    place.refuses(&["run", "p.dpm", "--data", "ok.csv", "-o", "no/such/folder.json"], 3, "no/such/folder.json");
}

/// Messages show lines of a program, so what looks like data is not read as one, whatever command asks.
#[test]
fn data_named_as_a_program_are_refused_by_name() {
    let place = Place::new(RATE);
    let row = format!("smoker\n{CANARY}\n");
    for name in ["staff.csv", "STAFF.CSV", "staff.csv.gz", "staff.tsv", "staff.parquet", "staff.jsonl"] {
        place.write(name, row.as_bytes());
        let shown = format!("the program {name} is named as data");
        for command in
            ["check", "certify", "compare", "expand", "fmt", "lock --print", "show --stan", "audit", "report -o page.html", "run"]
        {
            let arguments: Vec<&str> = command.split(' ').chain([name]).collect();
            place.refuses(&arguments, 3, &shown);
            place.refuses(&arguments, 3, "Help: a program is text with statements such as `private`, `param` and `release`");
        }
    }
    place.write("staff.dpm", &[row.as_bytes(), b"\xff\n"].concat());
    place.refuses(&["check", "staff.dpm"], 3, "staff.dpm is not UTF-8 text\n  Help: a program is text");
    let out = Command::new("sh")
        .args(["-c", &format!("echo ':load staff.csv' | {} repl --no-history", env!("CARGO_BIN_EXE_dpm"))])
        .current_dir(place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("staff.csv is named as data") && !said.contains(CANARY), "{said}");
}

/// A pipe without a writer never answers, a device never ends: neither is read, whatever asks for it. Data may come from a pipe.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_by_name() {
    let place = Place::new(RATE);
    let pipe = |name: &str| assert!(Command::new("mkfifo").arg(name).current_dir(place.path()).status().unwrap().success());
    ["pipe", "pipe.dpm", "pipe.csv"].into_iter().for_each(pipe);
    place.write("ok.csv", &smokers("smoker,pay", 120));
    place.write("m.dpm", b"use pipe\nprivate t[n] { b: bool }\nrelease c = count(b) using geometric(scale = 2)\n");
    place.write("q.dpm", PILOT.as_bytes());
    // Ended from outside (124) where it waits.
    let ends = |script: &str| {
        let limited = format!("dpm() {{ timeout 10 {} \"$@\"; }}; {script}", env!("CARGO_BIN_EXE_dpm"));
        let out = Command::new("sh").args(["-c", &limited]).current_dir(place.path()).stdin(std::process::Stdio::null()).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let cert = ends("dpm certify p.dpm -o p.cert && dpm compile p.dpm -o p.plan");
    assert_eq!(cert.0, Some(0), "{}", cert.2);
    for name in ["pipe", "/dev/zero"] {
        for command in [
            "check NAME",
            "certify NAME",
            "compare NAME",
            "compile NAME -o x.plan",
            "run NAME --data ok.csv",
            "audit NAME",
            "report NAME -o x.html",
            "plot NAME -o x.svg",
            "fmt NAME",
            "expand NAME",
            "lock --print NAME",
            "show --stan NAME",
            "verify NAME",
            "verify p.cert --program NAME",
            "verify p.cert --key NAME",
            "certify p.dpm --sign NAME",
            "certify q.dpm --public k=1 --public pilot=NAME",
        ] {
            let (code, shown, said) = ends(&format!("dpm {}", command.replace("NAME", name)));
            assert_eq!(code, Some(3), "{command} {name}: {said}");
            assert!(said.contains(name) && said.contains("is not a regular file") && shown.is_empty(), "{command} {name}: {said}");
        }
    }
    let (code, _, said) = ends("dpm check m.dpm");
    assert!(code == Some(1) && said.contains("pipe.dpm") && said.contains("regular file"), "{said}");
    // Data: no device, no pipe that nobody writes to; a pipe that brings rows.
    let (code, _, said) = ends("dpm run p.dpm --data /dev/zero");
    assert!(code == Some(3) && said.contains("/dev/zero: the file is neither a regular file nor a pipe"), "{said}");
    let (code, _, said) = ends("dpm run p.dpm --data pipe.csv");
    assert!(code == Some(3) && said.contains("pipe.csv: the pipe brought nothing: start what writes to it first"), "{said}");
    let (code, shown, said) = ends("cat ok.csv >pipe.csv & sleep 0.2; dpm run p.dpm --data pipe.csv");
    assert!(code == Some(0) && shown.contains("p_hat"), "{said}");
    // At the prompt.
    let (code, shown, said) = ends("echo ':load pipe.dpm' | dpm repl --history pipe");
    assert!(code == Some(2) && shown.is_empty() && said.contains("will not overwrite pipe"), "{said}");
    let (code, shown, said) = ends("echo ':load pipe.dpm' | dpm repl --no-history --public pilot=pipe --data staff=/dev/zero");
    assert!(code == Some(3) && shown.is_empty() && said.contains("/dev/zero"), "{said}");
    let (code, _, said) = ends("echo ':load pipe.dpm' | dpm repl --no-history");
    assert!(code == Some(0) && said.contains("pipe.dpm is not a regular file"), "{said}");
    place.write("p.schema", b"private staff[n >= 100] { smoker: bool }\n");
    // Ledgers and what stands beside them.
    let init = "--dataset staff=DATA --schema p.schema --shared --budget 'eps(1)'";
    let (code, _, said) = ends(&format!("dpm ledger init l {}", init.replace("DATA", "pipe.csv")));
    assert!(code == Some(2) && said.contains("`staff`"), "{said}");
    let (code, _, said) = ends("dpm ledger show pipe");
    assert!(code == Some(4) && said.contains("no ledger"), "{said}");
    assert_eq!(ends(&format!("dpm ledger init l {}", init.replace("DATA", "ok.csv"))).0, Some(0));
    for beside in ["l.head", "l-journal", "l.head.new"] {
        let (code, _, said) = ends(&format!(
            "mv l.head kept; cp kept l.head; rm -f {beside}; mkfifo {beside}; dpm run p.dpm --data staff=@staff --ledger l; c=$?; rm {beside}; cp kept l.head; exit $c"
        ));
        assert!(code == Some(4) && said.contains("ledger"), "{beside}: {code:?} {said}");
    }
}

#[test]
fn a_header_must_hold_every_column_once() {
    let place = Place::new(RATE);
    let refuse = |bytes: &[u8], part: &str| {
        place.write("d.csv", bytes);
        place.refuses(&["run", "p.dpm", "--data", "d.csv"], 3, part);
    };
    refuse(b"", "has no header line");
    refuse(b"\n\n\n", "has no header line");
    refuse(&smokers("smokes,pay", 9), "has no column `smoker`");
    refuse(&smokers("Smoker,pay", 9), "has no column `smoker`");
    refuse(&smokers("31337,pay", 9), "has no column `smoker`");
    refuse(&smokers("smoker,smoker", 9), "two columns `smoker`");
}

#[test]
fn a_public_number_of_rows_is_kept() {
    let place = Place::new(RATE);
    place.write("two.csv", &smokers("smoker,pay", 2));
    place.refuses(&["run", "p.dpm", "--data", "two.csv"], 3, "fewer than 3 rows");
    let exact = Place::new(&RATE.replace("n >= 3", "1200"));
    for rows in [0, 1199, 1201] {
        exact.write("d.csv", &smokers("smoker,pay", rows));
        exact.refuses(&["run", "p.dpm", "--data", "d.csv"], 3, "exactly 1200 rows");
    }
    exact.write("d.csv", &smokers("smoker,pay", 1200));
    assert_eq!(exact.dpm(&["run", "p.dpm", "--data", "d.csv"]).status.code(), Some(0));
}

/// Rules rest on at least one row wherever n is public; where it is secret, none is a number like any other.
#[test]
fn every_form_of_a_public_number_of_rows_is_kept() {
    let rows = |n: usize| (0..n).map(|i| format!("p{i},1\n")).collect::<String>();
    let same = |n: usize| "p,1\n".repeat(n);
    let cases: [(&str, String, Option<&str>); 22] = [
        ("n]", rows(0), Some("has no rows")),
        ("n]", rows(1), None),
        ("n >= 0]", rows(0), Some("has no rows")),
        ("n >= 1]", rows(0), Some("has no rows")),
        ("n >= 1]", rows(1), None),
        ("n >= 3]", rows(0), Some("fewer than 3 rows")),
        ("n >= 3]", rows(2), Some("fewer than 3 rows")),
        ("n >= 3]", rows(3), None),
        ("1]", rows(0), Some("exactly 1 rows")),
        ("1]", rows(1), None),
        ("1]", rows(2), Some("exactly 1 rows")),
        ("private n]", rows(0), None),
        ("private n]", rows(1), None),
        ("n] by id max 2", rows(0), Some("has no rows")),
        ("n] by id max 2", same(1), None),
        ("n >= 1] by id max 2", rows(0), Some("has no rows")),
        // Rows are counted as they are kept.
        ("n >= 3] by id max 2", same(3), Some("fewer than 3 rows")),
        ("n >= 3] by id max 3", same(3), None),
        ("2] by id max 2", same(3), None),
        ("3] by id max 2", same(3), Some("exactly 3 rows")),
        ("private n] by id max 2", rows(0), None),
        ("private n] by id max 2", same(3), None),
    ];
    for (header, data, wanted) in cases {
        let place = Place::new(&format!("private t[{header} {{ id: text, b: bool }}\nrelease c = sum(b) using geometric(scale = 3)\n"));
        place.write("t.csv", format!("id,b\n{data}").as_bytes());
        let out = place.dpm(&["run", "p.dpm", "--data", "t.csv", "--anyway"]);
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(if wanted.is_some() { 3 } else { 0 }), "[{header} with {data:?}: {said}");
        assert!(wanted.is_none_or(|w| said.contains(w)), "[{header} with {data:?}: {said}");
    }
    for (header, code) in [("m]", 0), ("m >= 0]", 0), ("m >= 1]", 3), ("1]", 3)] {
        let place = Place::new(&format!("public u[{header} {{ b: bool }}\noutput c = count(u.b)\n"));
        place.write("u.csv", b"b\n");
        let out = place.dpm(&["run", "p.dpm", "--public", "u=u.csv"]);
        assert_eq!(out.status.code(), Some(code), "[{header}: {}", String::from_utf8_lossy(&out.stderr));
    }
}

const PILOT: &str = "budget rdp(order = 20, eps = 0.25)
public pilot[m >= 2] { smoker: bool, age: int in 18..90 }
public k: real in [0, 5]
private survey[n] { smoker: bool }
param p ~ beta(1 + k, 1)
observe pilot.smoker ~ bernoulli(p)
observe survey.smoker ~ bernoulli(p)
release p_hat = draw(p)
";

#[test]
fn a_bad_public_cell_is_named_with_its_line() {
    let place = Place::new(PILOT);
    let refuse = |text: &str, part: &str| {
        place.write("pilot.csv", text.as_bytes());
        place.refuses(&["certify", "p.dpm", "--public", "pilot=pilot.csv", "--public", "k=1"], 3, part);
    };
    refuse("smoker,age\n1,30\nperhaps,40\n", "line 3 of the public file for `pilot`: the cell of `smoker`");
    refuse("smoker,age\n1,30\n\n0,seventeen\n", "line 4 of the public file for `pilot`: the cell of `age`");
    for cell in ["17", "91", "30.5", "NaN", "inf", "-inf", "1e400", "", " ", "0x20"] {
        refuse(&format!("smoker,age\n1,30\n0,40\n1,{cell}\n"), "line 4");
    }
    refuse("smoker,age\n1,30\n0\n", "line 3");
    refuse("smoker,age\n1,30\n", "fewer than 2 rows");
    refuse("smoker\n1\n0\n", "no column `age`");
}

#[test]
fn a_wrong_public_value_is_named() {
    let place = Place::new(PILOT);
    place.write("pilot.csv", b"smoker,age\n1,30\n0,40\n");
    place.write("survey.csv", &smokers("smoker,pay", 9));
    let pilot = ["certify", "p.dpm", "--public", "pilot=pilot.csv", "--public"];
    for value in ["k=6", "k=-1", "k=nan", "k=inf", "k=x", "k=1e400"] {
        place.refuses(&[&pilot[..], &[value]].concat(), 3, "`k` is not in its declared domain");
    }
    for value in ["k=", "k", "=1", ""] {
        place.refuses(&[&pilot[..], &[value]].concat(), 2, "--public wants");
    }
    place.refuses(&[&pilot[..], &["j=1"]].concat(), 2, "declares no public `j`");
    place.refuses(&["certify", "p.dpm", "--public", "pilot=absent.csv"], 3, "absent.csv");
    place.refuses(&["certify", "p.dpm", "--public", "survey=survey.csv"], 2, "`survey` is a private table");
    let run = ["run", "p.dpm", "--public", "k=1", "--public", "pilot=pilot.csv", "--data"];
    place.refuses(&[&run[..], &["pilot=survey.csv"]].concat(), 2, "`pilot` is a public table");
    place.refuses(&[&run[..], &["servey=survey.csv"]].concat(), 2, "--data wants");
    place.refuses(&[&run[..], &["survey=survey.csv", "--data", "survey.csv"]].concat(), 2, "named twice");
    place.refuses(&run[..6], 2, "--data survey=PATH");
    place.refuses(&["run", "p.dpm", "--public", "k=1", "--data", "survey.csv"], 2, "--public pilot=PATH");
    let twice = ["certify", "p.dpm", "--public", "k=1", "--public", "k=2"];
    place.refuses(&twice, 2, "named twice");
}

/// A number that the program gives is not given once more, whatever the value.
#[test]
fn a_public_value_of_the_program_stands() {
    let place = Place::new("public k: real in [0, 5] = 2\nprivate t[n] { y: bool }\nrelease r = count(y) using laplace(scale = k)\n");
    place.refuses(&["certify", "p.dpm", "--public", "k=4"], 2, "`k` has its value in the program");
    place.refuses(&["certify", "p.dpm", "--public", "k=2"], 2, "`k` has its value in the program");
}

/// Aggregates over public rows read public values that were bound.
#[test]
fn aggregates_of_public_rows_read_public_values() {
    let place = Place::new(
        "public u[m] { w: int in 0..9 }\npublic k: int in 0..9\nprivate t[n] { w: public int in 0..9 }\n\
         output c = [count(u.w > k), sum(u.w * k), quantile(u.w, k / 9), count(t.w > k), sum(t.w * k)]\n",
    );
    for file in ["w.csv", "u.csv"] {
        place.write(file, b"w\n1\n4\n9\n");
    }
    let out = place.dpm(&["run", "p.dpm", "--public", "u=u.csv", "--public", "k=3", "--data", "t=w.csv", "--json"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(value["outputs"]["c"], serde_json::json!([2.0, 42.0, 4.0, 2.0, 42.0]));
}

#[test]
fn a_wrong_command_line_ends_in_two() {
    let place = Place::new(RATE);
    place.write("d.csv", &smokers("smoker,pay", 9));
    place.refuses(&[], 2, "Usage");
    place.refuses(&["chekc", "p.dpm"], 2, "chekc");
    place.refuses(&["check"], 2, "FILE");
    place.refuses(&["check", "p.dpm", "--jsn"], 2, "--jsn");
    place.refuses(&["check", "p.dpm", "q.dpm"], 2, "q.dpm");
    for order in ["0.5", "1", "0", "-2", "nan", "inf", "two"] {
        place.refuses(&["certify", "p.dpm", &format!("--order={order}")], 2, "--order");
    }
    for delta in ["2", "1", "0", "-1", "nan", "x"] {
        place.refuses(&["certify", "p.dpm", &format!("--delta={delta}")], 2, "--delta");
    }
    place.refuses(&["run", "p.dpm"], 2, "--data staff=PATH");
    place.refuses(&["run", "p.dpm", "--data", "d.csv", "--seed", "1"], 2, "--seed");
    place.refuses(&["show", "p.dpm"], 2, "--stan");
    place.refuses(&["audit", "p.dpm", "--trials", "5"], 2, "--trials");
    place.refuses(&["audit", "p.dpm", "--trials", "1000000000000"], 2, "--trials");
    place.refuses(&["audit", "p.dpm", "-o", "p.dpm"], 2, "overwrite");
    place.refuses(&["check", "p.dpm", "--data", "d.csv"], 2, "--data");
}

#[test]
fn a_wrong_program_ends_in_one_before_any_data_are_read() {
    let place = Place::new("private t[n] { b: bool }\noutput o = mean(b)\n");
    // The data do not even exist: a rejected program never looks.
    place.refuses(&["run", "p.dpm", "--data", "absent.csv"], 1, "E0101");
    let hole = Place::new(&RATE.replace("draw(p)", "draw(p) using ?"));
    hole.refuses(&["run", "p.dpm", "--data", "absent.csv"], 1, "E0312");
    hole.refuses(&["certify", "p.dpm"], 1, "E0312");
    let expect = Place::new(&format!("{RATE}expect certificate(total) <= rdp(order = 8, eps = 0.01)\n"));
    let out = expect.dpm(&["certify", "p.dpm"]);
    assert_eq!(out.status.code(), Some(5));
    expect.refuses(&["run", "p.dpm", "--data", "absent.csv"], 5, "E0501");
}
