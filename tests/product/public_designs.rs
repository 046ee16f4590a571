//! Public designs: bound by `--public`, stated by digest, needed again by `dpm verify`, and held against the rows of a run.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "private t[n >= 50] { x: public real in [-1, 1], y: bool }
param a: real in [-1, 1] ~ normal(0, 2)
param b: real in [-1, 1] ~ normal(0, 2)
observe y ~ bernoulli_logit(a + b * x)
release v = draw(a, b) using diffuse(r = 0.5)
";

fn dpm(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).args(line.split(' ')).current_dir(folder).output().unwrap()
}

#[track_caller]
fn expect(code: i32, output: &Output, words: &str) {
    let said = format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(words), "{said}");
}

/// A program, rows, their public columns alone, and rows that differ in one public cell.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let x = |i: usize| i as f64 / 50.0 - 1.0;
    let rows = |moved: usize| (0..100).fold("y,x\n".to_owned(), |t, i| format!("{t}{},{}\n", i % 2, if i == moved { 0.123 } else { x(i) }));
    let design = (0..100).fold("x\n".to_owned(), |t, i| format!("{t}{}\n", x(i)));
    for (name, text) in [("p.dpm", PROGRAM.into()), ("rows.csv", rows(100)), ("other.csv", rows(7)), ("design.csv", design)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn a_certificate_needs_the_columns_that_it_rests_on() {
    let folder = folder();
    let folder = folder.path();
    expect(0, &dpm(folder, "certify p.dpm -o without.json"), "");
    expect(0, &dpm(folder, "certify p.dpm --public t=design.csv -o with.json"), "the features of all 100 rows are known");
    // The file of all rows says the same of the public columns.
    expect(0, &dpm(folder, "certify p.dpm --public t=rows.csv -o rows.json"), "");
    let [without, with, rows] = ["without.json", "with.json", "rows.json"].map(|name| read(folder, name));
    let mu = |c: &Value| c["releases"][0]["claim"]["mu"].as_f64().unwrap();
    assert!(mu(&with) < 0.5 * mu(&without), "{} {}", mu(&with), mu(&without));
    assert_eq!(with["digest"], rows["digest"]);
    assert_eq!(with["public"]["designs"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(without["public"].get("designs").is_none());
    expect(0, &dpm(folder, "verify without.json"), "verified: ");
    expect(5, &dpm(folder, "verify with.json"), "--public t=PATH");
    expect(0, &dpm(folder, "verify with.json --public t=design.csv"), "verified: ");
    expect(5, &dpm(folder, "verify with.json --public t=other.csv"), "are not those that the certificate rests on");
    expect(2, &dpm(folder, "verify without.json --public t=design.csv"), "rests on no public columns");
    expect(3, &dpm(folder, "verify with.json --public t=p.dpm"), "");
    expect(2, &dpm(folder, "audit p.dpm --public t=design.csv"), "makes up its rows");
}

#[test]
fn a_run_refuses_rows_with_other_public_columns() {
    let folder = folder();
    let folder = folder.path();
    expect(0, &dpm(folder, "run p.dpm --anyway --data t=rows.csv --public t=design.csv -o result.json"), "");
    expect(0, &dpm(folder, "verify result.json --public t=design.csv"), "verified: ");
    expect(3, &dpm(folder, "run p.dpm --anyway --data t=other.csv --public t=design.csv"), "are not, row by row, those of the file");
    expect(0, &dpm(folder, "run p.dpm --anyway --data t=other.csv"), "");
    // A plan carries the public columns and no others.
    expect(0, &dpm(folder, "compile p.dpm --public t=rows.csv -o plan.json"), "");
    let plan = read(folder, "plan.json");
    let carried = plan["public"]["tables"][0]["csv"].as_str().unwrap();
    assert!(carried.starts_with("x\n-1\n") && carried.lines().all(|line| !line.contains(',')), "{carried}");
    expect(0, &dpm(folder, "verify plan.json"), "verified: ");
    expect(0, &dpm(folder, "run plan.json --anyway --data t=rows.csv"), "");
    expect(3, &dpm(folder, "run plan.json --anyway --data t=other.csv"), "are not, row by row, those of the file");
}
