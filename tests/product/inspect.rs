//! `dpm inspect`: what the owner of a file sees, and that nobody else does.

use rexpect::reader::Options;
use rexpect::session::spawn_with_options;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = "private visits[n] by id max 2 {
  id: text
  age: int in 18..99
  region: category {north, south, other} else other
  smoker: bool
  day: date in [\"2020-01-01\", \"2024-12-31\"]
  pay from \"Pay\": real in [0, 200]
}
release a = sum(age) using laplace(scale = 200)
";

/// Four units; `pay` has another header than the program says.
const ROWS: &str = "id,age,region,smoker,day,PAY,joined,team
u1,30,north,T,2020-02-29,$50,2019-01-02,red
u1,NA,North,maybe,29.02.2020,250,2019-01-03,blue
u1,12,nort,2,2031-01-01,,2019-01-04,red
u2,41.5,south,no,,1.5,2019-01-05,blue
u3,old,\u{1b}[31mred,yes,2020-01-05,n/a,,green
u4
";

fn place() -> TempDir {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("p.dpm"), PROGRAM).unwrap();
    fs::write(place.path().join("rows.csv"), ROWS).unwrap();
    place
}

fn command(place: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    command.arg("inspect").args(args).current_dir(place.path()).env("NO_COLOR", "1");
    command
}

fn dpm(place: &TempDir, args: &[&str]) -> Output {
    command(place, args).output().unwrap()
}

fn said(out: &Output) -> (Option<i32>, String) {
    assert!(out.stdout.is_empty(), "{}", String::from_utf8_lossy(&out.stdout));
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

const FIRST: &str = "PRIVATE: this counts and quotes single cells. It is for the owner of the data and is not a release.";

/// What it says, line by line without blanks around.
fn is_complete(text: &str) {
    assert!(text.starts_with(FIRST), "{text}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for wanted in [
        "visits: 6 rows, 8 columns",
        "1 rows have fewer cells than the header",
        "key `id`: 4 units, the largest has 3 rows; 1 have more than 2 and lose rows",
        "age: int in 18..99",
        "1 NA or another word for missing",
        "1 of these moved to an end of the domain",
        "1 of these rounded to a whole number",
        "\"old\": 1",
        "\"North\": 1",
        "\"nort\": 1",
        "\"\\u{1b}[31mred\": 1",
        "\"maybe\": 1",
        "\"29.02.2020\": 1",
        "the file has no column \"Pay\"; did you mean `pay from \"PAY\"`?",
        "joined: date in [\"FIRST\", \"LAST\"]",
        "team: category {\"blue\", \"green\", \"red\", other} else other",
        "PAY: real in [LOWEST, HIGHEST]",
    ] {
        assert!(lines.contains(&wanted), "{wanted}\n{text}");
    }
    assert!(text.contains("Bounds that are read off the data are private values") && !text.contains('\u{1b}'), "{text}");
    // No bound of the data is suggested.
    assert!(!text.contains("2019") && !text.contains("250"), "{text}");
}

#[test]
fn a_terminal_shows_it() {
    let place = place();
    let options = Options::new().timeout_ms(Some(60_000)).strip_ansi_escape_codes(false);
    let mut p = spawn_with_options(command(&place, &["p.dpm", "--data", "rows.csv"]), options).unwrap();
    is_complete(&p.exp_eof().unwrap().replace('\r', ""));
}

#[test]
fn a_new_file_is_for_its_owner_alone() {
    let place = place();
    let out = dpm(&place, &["p.dpm", "--data", "visits=rows.csv", "-o", "seen.txt"]);
    assert_eq!(said(&out), (Some(0), String::new()));
    let seen = place.path().join("seen.txt");
    is_complete(&fs::read_to_string(&seen).unwrap());
    assert_eq!(fs::metadata(&seen).unwrap().permissions().mode() & 0o777, 0o600);
    // Nothing is written over, and nothing is written through a link.
    let before = fs::read(&seen).unwrap();
    std::os::unix::fs::symlink("elsewhere.txt", place.path().join("link.txt")).unwrap();
    for name in ["seen.txt", "link.txt", "rows.csv"] {
        let (code, text) = said(&dpm(&place, &["p.dpm", "--data", "rows.csv", "-o", name]));
        assert!(code == Some(2) && text.contains("is there already"), "{text}");
    }
    assert!(fs::read(&seen).unwrap() == before && !place.path().join("elsewhere.txt").exists());
    assert_eq!(fs::read_to_string(place.path().join("rows.csv")).unwrap(), ROWS);
}

#[test]
fn neither_pipes_nor_registered_data() {
    let place = place();
    let (code, text) = said(&dpm(&place, &["p.dpm", "--data", "rows.csv"]));
    assert!(code == Some(2) && text.contains("on a terminal, or in a new file"), "{text}");
    let (code, text) = said(&command(&place, &["p.dpm", "--data", "rows.csv"]).stdout(Stdio::piped()).output().unwrap());
    assert!(code == Some(2) && text.contains("on a terminal"), "{text}");
    for data in ["@trial", "visits=@trial"] {
        let (code, text) = said(&dpm(&place, &["p.dpm", "--data", data, "-o", "x.txt"]));
        assert!(code == Some(2) && text.contains("never data that are registered"), "{text}");
    }
    let (code, text) = said(&dpm(&place, &["p.dpm", "--data", "none.csv", "-o", "y.txt"]));
    assert!(code == Some(3) && text.contains("none.csv"), "{text}");
    assert!(!place.path().join("x.txt").exists());
}

fn run(place: &TempDir, args: &[&str], input: Stdio) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    let out = command.arg("run").args(args).current_dir(place.path()).stdin(input).output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// The reader takes other delimiters by option and rows from standard input; another format is named by public facts alone.
#[test]
fn formats_are_named_and_delimiters_are_options() {
    let place = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(place.path().join(name), bytes).unwrap();
    write(
        "q.dpm",
        b"private t[3] { x: real in [0, 10], g from \"a,b\": category {u, v} }\nrelease s = sum(x) using laplace(scale = 1e-9)\n",
    );
    write("semi.csv", b"x;a,b\n1.5;u\n\"2\";v\n3;\"u;v\"\n");
    write("tab.csv", b"x\ta,b\n1.5\tu\n2\tv\n3\tw\n");
    let sum = |(code, shown, said): (Option<i32>, String, String)| {
        assert_eq!(code, Some(0), "{said}");
        let line = shown.lines().find(|l| l.starts_with("released")).unwrap().to_owned();
        line.split_whitespace().nth(2).unwrap().parse::<f64>().unwrap()
    };
    for (file, delimiter) in [("semi.csv", ";"), ("tab.csv", "tab"), ("tab.csv", "\t")] {
        let args = ["q.dpm", "--data", file, "--delimiter", delimiter];
        assert!((sum(run(&place, &args, Stdio::null())) - 6.5).abs() < 1e-6);
    }
    let open = Stdio::from(fs::File::open(place.path().join("semi.csv")).unwrap());
    assert!((sum(run(&place, &["q.dpm", "--data", "-", "--delimiter", ";"], open)) - 6.5).abs() < 1e-6);
    for (name, bytes, wanted) in [
        ("a.csv", &b"x;g\n1;u\n"[..], "has semicolons between its columns, not commas\n  Help: say so:    --delimiter ';'"),
        ("b.csv", b"x\tg\n1\tu\n", "has tabs between its columns, not commas\n  Help: say so:    --delimiter tab"),
        ("c.csv", b"PAR1\x15\x04\x15,SECRET", if cfg!(feature = "parquet") { "cannot be read" } else { "is Parquet, not CSV" }),
        ("h.csv", b"ARROW1\0\0SECRET", if cfg!(feature = "parquet") { "cannot be read" } else { "is Arrow, not CSV" }),
        ("d.csv", b"\xff\xfex\0,\0g\0\n\0", "is UTF-16, not UTF-8"),
        ("e.csv", b"PK\x03\x04SECRET", "is a zip archive or a spreadsheet, not CSV"),
        ("f.csv", b"\x1f\x8b\x08SECRET", "is compressed, and its name does not end in .gz"),
    ] {
        write(name, bytes);
        let (code, shown, said) = run(&place, &["q.dpm", "--data", name], Stdio::null());
        assert!(code == Some(3) && shown.is_empty() && said.contains(wanted) && !said.contains("SECRET"), "{said}");
    }
    // A header that has the wrong names and commas is what it was.
    write("g.csv", b"y,g\n1,u\n");
    let (code, _, said) = run(&place, &["q.dpm", "--data", "g.csv"], Stdio::null());
    assert!(code == Some(3) && said.contains("the file for `t` has no column `x`"), "{said}");
    // Who chooses a delimiter may cut rows in two: not of registered data.
    let (code, _, said) = run(&place, &["q.dpm", "--data", "t=@id", "--ledger", "l", "--delimiter", ";"], Stdio::null());
    assert!(code == Some(2) && said.contains("cannot be used with"), "{said}");
    let (code, _, said) = run(&place, &["q.dpm", "--data", "g.csv", "--delimiter", "|"], Stdio::null());
    assert!(code == Some(2) && said.contains("a delimiter is"), "{said}");
}
