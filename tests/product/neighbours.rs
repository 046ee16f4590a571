//! Neighbouring and malformed files: what anyone can see is the same but for the drawn digits.
//!
//! 10,000 pairs through the library, 200 through the binary, all with the randomness of a real run.

use crate::noninterference::{Dice, pair, programs};
use dpm::check::NoFiles;
use dpm::data::{DataError, Source};
use dpm::mechanism::MechanismError;
use dpm::mechanism::bits::OsBits;
use dpm::model::TableId;
use dpm::run::{Bound, Files, execute, json, padding};
use dpm::{analyze, pipeline};
use std::process::{Command, Output};

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
        match execute(&self.checked.program, &self.analysis, &Bound::default(), &Memory(file)) {
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
    command.arg("run").arg(folder.join(format!("p{program}.dpm"))).arg("--data").arg(&data).arg("-o").arg(&out);
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
