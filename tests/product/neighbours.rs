//! Neighbouring and malformed files: what anyone can see is the same but for the drawn digits.
//!
//! 10,000 pairs through the library, 200 through the binary, all with the randomness of a real run.

use crate::noninterference::extremes::{Extreme, extremes, some_extremes};
use crate::noninterference::{Dice, pair, programs};
use dpm::check::NoFiles;
use dpm::data::{DataError, Source};
use dpm::mechanism::MechanismError;
use dpm::mechanism::bits::OsBits;
use dpm::model::TableId;
use dpm::run::{Bound, Files, execute, json, padding};
use dpm::{analyze, pipeline};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

const PAIRS: usize = 10_000;
const BINARY_PAIRS: usize = 200;

struct Memory<'a>(&'a [u8]);

impl Files for Memory<'_> {
    fn open(&self, _: TableId) -> Result<Source, DataError> {
        Ok(Source::new(std::io::Cursor::new(self.0.to_vec())))
    }

    fn bits(&self) -> Result<OsBits, MechanismError> {
        OsBits::new()
    }
}

struct Prepared {
    checked: pipeline::Checked,
    analysis: analyze::Analysis,
}

fn prepare(text: &str) -> Prepared {
    let checked = pipeline::check("t.dpm", text, &NoFiles);
    let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "{text}{errors:?}");
    Prepared { checked, analysis: analysis.unwrap() }
}

impl Prepared {
    /// Everything of a run that could differ: the error, or names and padded lengths of what is published.
    fn visible(&self, file: &[u8]) -> String {
        match execute(&self.checked.program, &self.analysis, &Bound::default(), &Memory(file), &mut |_| true) {
            Err(error) => format!("{error:?}"),
            Ok(results) => {
                let length = |(name, value, ty): &(String, dpm::run::Value, dpm::model::Type)| {
                    let json = json(value, ty);
                    format!("{name} {} ", json.to_string().len() + padding(value, [&json]))
                };
                results.releases.iter().chain(&results.outputs).map(length).collect()
            }
        }
    }
}

#[test]
fn library_runs_look_alike() {
    let prepared: Vec<Prepared> = programs().iter().map(|p| prepare(p)).collect();
    let mut dice = Dice::new(1);
    let mut looks: Vec<String> = vec![String::new(); prepared.len()];
    for i in 0..PAIRS {
        let which = i % prepared.len();
        let [good, other] = pair(&mut dice);
        let (a, b) = (prepared[which].visible(&good), prepared[which].visible(&other));
        assert!(!a.contains("Error") && !a.is_empty());
        assert_eq!(a, b, "{i}: {}", String::from_utf8_lossy(&other));
        // And every file with this public header looks like every other.
        if looks[which].is_empty() {
            looks[which] = a.clone();
        }
        assert_eq!(a, looks[which]);
    }
}

fn run(folder: &std::path::Path, program: usize, file: &[u8], json: bool) -> (Output, u64) {
    let (data, out) = (folder.join("t.csv"), folder.join("out.json"));
    std::fs::write(&data, file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    command.arg("run").arg(folder.join(format!("p{program}.dpm"))).arg("--data").arg(&data).arg("-o").arg(&out).arg("--anyway");
    if json {
        command.arg("--json");
    }
    let output = command.output().unwrap();
    (output, std::fs::metadata(&out).unwrap().len())
}

#[test]
fn runs_of_the_binary_look_alike() {
    let folder = tempfile::tempdir().unwrap();
    let programs = programs();
    for (i, text) in programs.iter().enumerate() {
        std::fs::write(folder.path().join(format!("p{i}.dpm")), text).unwrap();
    }
    let mut dice = Dice::new(2);
    for i in 0..BINARY_PAIRS {
        let json = (i / programs.len()).is_multiple_of(2);
        let [good, other] = pair(&mut dice);
        let (a, a_file) = run(folder.path(), i % programs.len(), &good, json);
        let (b, b_file) = run(folder.path(), i % programs.len(), &other, json);
        assert_eq!(a.status.code(), Some(0), "{}", String::from_utf8_lossy(&a.stderr));
        assert_eq!(a.status, b.status);
        assert_eq!(a.stderr, b.stderr);
        let differ = |out: &Output| String::from_utf8_lossy(&out.stdout).into_owned();
        assert_eq!(a.stdout.len(), b.stdout.len(), "{}\n{}", differ(&a), differ(&b));
        assert_eq!(a_file, b_file);
    }
}

/// The binary under test: the one just built, or one named by `DPM_BIN`.
fn binary() -> String {
    std::env::var("DPM_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_dpm").into())
}

/// After a certificate there is a result, whatever the rows: a program of every kind.
#[test]
fn some_extreme_programs_end_alike_on_extreme_rows() {
    let programs = some_extremes();
    for mechanism in dpm::rules::mechanisms(None) {
        let named = |p: &Extreme| p.text.contains(&format!("using {}", mechanism.name));
        assert!(mechanism.name == "auto" || programs.iter().any(named), "{} is in no program", mechanism.name);
    }
    end_alike(&programs);
}

#[test]
#[ignore = "an hour"]
fn extreme_programs_end_alike_on_extreme_rows() {
    end_alike(&extremes());
}

/// The same exit code and standard error for all files of a program, for draws of posteriors in a file of their own, and for the
/// picture of what was released.
fn end_alike(programs: &[Extreme]) {
    let (next, beyond) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let wrong = std::sync::Mutex::new(vec![]);
    let work = |folder: tempfile::TempDir| {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (file, data) = (folder.path().join("p.dpm"), folder.path().join("t.csv"));
            std::fs::write(&file, &program.text).unwrap();
            let dpm = |arguments: &[&str]| {
                let out = Command::new(binary()).args(arguments).current_dir(&folder).output().unwrap();
                (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
            };
            let whole = program.text.contains("posterior(");
            let end = |rows: &String| {
                std::fs::write(&data, rows).unwrap();
                let draws: &[&str] = if whole { &["--arviz", "draws.json"] } else { &[] };
                let run = dpm(&[&["run", "p.dpm", "--data", "t.csv", "-o", "result.json", "--anyway"], draws].concat());
                if !whole || run.0 != Some(0) {
                    return run;
                }
                let plot = dpm(&["plot", "result.json", "--shows", "posterior", "-o", "picture.svg"]);
                (plot.0, run.1 + &plot.1)
            };
            let ends: Vec<(Option<i32>, String)> = program.files.iter().map(end).collect();
            let told = |e: &(Option<i32>, String)| e.0 != Some(0) || e.1 != ends[0].1;
            // Noise that no integer holds is refused before any file is opened.
            if ends.iter().all(|e| e.0 == Some(1) && e.1.contains("[E0314]") && e.1 == ends[0].1) {
                beyond.fetch_add(1, Ordering::Relaxed);
            } else if ends.iter().any(told) {
                wrong.lock().unwrap().push(format!("{}{ends:?}", program.text));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| work(tempfile::tempdir().unwrap()));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), programs.len(), wrong.join("\n\n"));
    let beyond = beyond.into_inner();
    assert!(beyond > 0 && beyond * 5 < programs.len(), "{beyond} of {} have more noise than integers hold", programs.len());
}

/// A run that public facts end (too few rows) ends alike whatever the cells are.
#[test]
fn refusals_look_alike() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("p.dpm");
    std::fs::write(&program, programs()[0].replace("n >= 5", "n >= 500")).unwrap();
    let mut dice = Dice::new(3);
    let mut seen = vec![];
    for _ in 0..10 {
        for file in pair(&mut dice) {
            let data = folder.path().join("t.csv");
            std::fs::write(&data, file).unwrap();
            let out = Command::new(env!("CARGO_BIN_EXE_dpm")).arg("run").arg(&program).arg("--data").arg(&data).output().unwrap();
            seen.push((out.status.code(), out.stdout, out.stderr));
        }
    }
    assert_eq!(seen[0].0, Some(3));
    assert!(seen.iter().all(|s| *s == seen[0]));
}

/// An empty cell of a file with one column is a row like any other.
#[test]
fn one_column_and_an_empty_cell() {
    let prepared = prepare("private t[n >= 3] { x: real in [0, 1] }\nrelease a = mean(x) using laplace(scale = 1)\noutput m = n\n");
    let base = prepared.visible(b"x\n0.5\n1\n0.25\n");
    assert!(!base.contains("Error"), "{base}");
    for file in [
        &b"x\n0.5\n\n0.25\n"[..],
        b"x\n\n1\n0.25\n",
        b"x\n0.5\n1\n\n",
        b"x\r\n0.5\r\n\r\n1\r\n",
        b"\xef\xbb\xbfx\n\n\n\n",
        b"x\n\"\"\n1\n0.25",
    ] {
        assert_eq!(prepared.visible(file), base, "{}", String::from_utf8_lossy(file));
    }
    assert!(prepared.visible(b"x\n0.5\n1\n").contains("Rows"));
    let exact = prepare("private t[3] { x: real in [0, 1] }\nrelease a = mean(x) using laplace(scale = 1)\n");
    for file in [&b"x\n0.5\n\n0.25\n"[..], b"x\n0.5\n\n0.25", b"x\n\n\n\n"] {
        assert!(!exact.visible(file).contains("Error") && !exact.visible(file).contains("Rows"));
    }
    assert!(exact.visible(b"x\n1\n1\n1\n\n").contains("Rows"), "the blank line after the last row is a fourth row");
}

const COLUMNS: &str =
    "{ id: text, g: public category {a, c}, w: public int in 0..3, v: public real in [0, 2], x: real in [0, 1], b: bool }";

fn outputs(text: &str, file: &[u8]) -> Vec<String> {
    let prepared = prepare(text);
    let results = execute(&prepared.checked.program, &prepared.analysis, &Bound::default(), &Memory(file), &mut |_| true).unwrap();
    results.outputs.iter().map(|(_, value, ty)| json(value, ty).to_string()).collect()
}

/// What is asked of public columns alone is public: by the exact values of all neighbours of all small tables.
#[test]
fn public_columns_give_neighbours_one_value() {
    // An aggregate, and what it is of the public cells (g is c, w, v) of the rows.
    type Truth = fn(&[(bool, f64, f64)]) -> String;
    let cases: [(&str, Truth); 9] = [
        ("histogram(g)", |r| {
            let c = r.iter().filter(|r| r.0).count();
            format!("{{\"a\":{}.0,\"c\":{c}.0}}", r.len() - c)
        }),
        ("sum(g == a)", |r| format!("{}.0", r.iter().filter(|r| !r.0).count())),
        ("count(g == c and w >= 2)", |r| format!("{}.0", r.iter().filter(|r| r.0 && r.1 >= 2.0).count())),
        ("mean(w)", |r| number(r.iter().map(|r| r.1).sum::<f64>() / r.len() as f64)),
        ("sum(v * w) / n", |r| number(r.iter().map(|r| r.1 * r.2).sum::<f64>() / r.len() as f64)),
        ("max(if g == a then v else 0)", |r| number(r.iter().map(|r| if r.0 { 0.0 } else { r.2 }).fold(f64::NEG_INFINITY, f64::max))),
        ("quantile(w, 0)", |r| number(r.iter().map(|r| r.1).fold(f64::INFINITY, f64::min))),
        ("sum([v, w])", |r| format!("[{},{}]", number(r.iter().map(|r| r.2).sum()), number(r.iter().map(|r| r.1).sum()))),
        ("if count(g == a) > 1 then min(w) else -1", |r| {
            let several = r.iter().filter(|r| !r.0).count() > 1;
            number(if several { r.iter().map(|r| r.1).fold(f64::INFINITY, f64::min) } else { -1.0 })
        }),
    ];
    let outputs_of = cases.iter().enumerate().map(|(i, (e, _))| format!("output o{i} = {e}\n")).collect::<String>();
    let text = format!("private t[n] {COLUMNS}\n{outputs_of}");
    // No letter, sign or length of a private cell matters.
    let private = ["p,0,0", "q,1,1", ",,", "p,nan,yes", "\"a,\n\"\"\",1e999,-", "q"];
    let mut dice = Dice::new(5);
    for rows in 1..=4 {
        for _ in 0..40 {
            let public: Vec<(bool, f64, f64)> =
                (0..rows).map(|_| (dice.below(2) == 1, dice.below(4) as f64, dice.below(5) as f64 / 2.0)).collect();
            let wanted: Vec<String> = cases.iter().map(|(_, truth)| truth(&public)).collect();
            let mut cells: Vec<&str> = (0..rows).map(|_| private[dice.below(private.len())]).collect();
            for _ in 0..4 {
                let at = dice.below(rows);
                cells[at] = private[dice.below(private.len())];
                let line = |((g, w, v), cells): (&(bool, f64, f64), &&str)| format!("{},{w},{v},{cells}\n", if *g { "c" } else { "a" });
                let file = format!("g,w,v,id,x,b\n{}", public.iter().zip(&cells).map(line).collect::<String>());
                assert_eq!(outputs(&text, file.as_bytes()), wanted, "{file}");
            }
        }
    }
}

fn number(x: f64) -> String {
    serde_json::json!(x).to_string()
}

/// Where neighbours differ in n, in the rows that are kept, in the rows of a group or in a column, nothing is public.
#[test]
fn public_columns_beside_what_is_private_stay_private() {
    let refused = |header: &str, statements: &str| {
        let text = format!("private t[{header} {COLUMNS}\n{statements}\n");
        let checked = pipeline::check("t.dpm", &text, &NoFiles);
        let codes: Vec<&str> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        assert_eq!(codes, ["E0101"], "{text}");
    };
    for header in ["private n]", "private n] by id max 2", "n] by id max 1", "9] by id max 3", "n >= 5] by id max 2"] {
        for e in ["histogram(g)", "sum(g == a)", "sum(w)", "max(v)", "quantile(w, 0.5)"] {
            refused(header, &format!("output o = {e}"));
        }
    }
    for e in ["sum(w * x)", "count(g == a and b)", "mean(if b then w else 0)", "sum(w) + mean(x)", "histogram(b)", "sum([w, x])"] {
        refused("n]", &format!("output o = {e}"));
    }
    for (key, e) in [("g", "sum(w)"), ("b", "sum(w)"), ("b", "histogram(g)")] {
        refused("n]", &format!("each {key} of t {{ output o = {e} }}"));
    }
}

/// A name for all rows is none for the rows of a group.
#[test]
fn a_public_value_of_all_rows_is_not_used_in_groups() {
    let of = |statement: &str| {
        let text = format!("private t[n] {COLUMNS}\nfn more(a, b) = a + b\nlet all = sum(w)\neach g of t {{ {statement} }}\n");
        let checked = pipeline::check("t.dpm", &text, &NoFiles);
        checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect::<Vec<_>>()
    };
    assert_eq!(of("release r = more(sum(x), all) using laplace(scale = 9)"), ["E0209"]);
    assert_eq!(of("release r = sum(x) using laplace(scale = 9)"), Vec::<&str>::new());
}
