//! Designs at the command line: names of weights wherever they are shown, and data that say nothing.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const NAMES: [&str; 6] = ["intercept", "age", "sex[male]", "region[south]", "region[other]", "age * sex[male]"];

fn program(release: &str) -> String {
    format!(
        "budget dp(eps = 2, delta = 1e-6)\n\
         private t[60] {{ age: real in [20, 80] else 50, sex: category {{female, male}}, region: category {{north, south, other}}, over: bool }}\n\
         let x = design(age, sex, region, age * sex)\nparam w: vector[x] ~ normal(0, 1)\n\
         observe over ~ bernoulli_logit(dot(w, x))\nrelease r = {release}\n"
    )
}

fn dpm(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).current_dir(folder).args(arguments).output().unwrap()
}

fn rows(row: impl Fn(usize) -> String) -> String {
    std::iter::once("age,sex,region,over".to_owned()).chain((0..60).map(row)).collect::<Vec<_>>().join("\n") + "\n"
}

/// One class, constant columns, missing cells, nothing in range: each ends like any other, with answers of the same shape.
#[test]
fn degenerate_rows_end_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let data = [
        rows(|i| format!("{},{},{},{}", 20 + i, ["female", "male"][i % 2], ["north", "south", "other"][i % 3], i % 2)),
        rows(|_| "50,female,north,no".into()),
        rows(|i| format!("{},male,south,yes", 20 + i)),
        rows(|i| format!("-1e300,,{},", ["", "nowhere"][i % 2])),
        rows(|i| format!("nan,male,south,{}", i % 2)),
    ];
    for release in ["draw(w)", "draw(w) using refined", "posterior(w) using score_statistics"] {
        fs::write(folder.path().join("p.dpm"), program(release)).unwrap();
        let mut lengths = vec![];
        for text in &data {
            fs::write(folder.path().join("d.csv"), text).unwrap();
            let out = dpm(folder.path(), &["run", "p.dpm", "--anyway", "--data", "d.csv"]);
            assert_eq!(out.status.code(), Some(0), "{release}: {}", String::from_utf8_lossy(&out.stderr));
            let shown = String::from_utf8(out.stdout).unwrap();
            assert!(NAMES.iter().all(|n| shown.contains(n)), "{release}\n{shown}");
            lengths.push(shown.len());
        }
        assert!(lengths.windows(2).all(|w| w[0] == w[1]), "{release} {lengths:?}");
    }
}

/// The record has weights by name, in ArviZ they are a coordinate, and a number of a column is divided by half its range.
#[test]
fn weights_have_names_and_units() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("d.csv"), rows(|i| format!("{},male,south,{}", 20 + i, i % 2))).unwrap();
    let json = |release: &str, outputs: &str, more: &[&str]| -> Value {
        fs::write(folder.path().join("p.dpm"), program(release) + outputs).unwrap();
        let out = dpm(folder.path(), &[&["run", "p.dpm", "--anyway", "--data", "d.csv", "--json"], more].concat());
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let record = json("draw(w)", "output per_unit = natural(r)\noutput one = r[age]\noutput men = r[\"sex[male]\"]\n", &[]);
    let number = |of: &str, name: &str| record.pointer(&format!("/{of}/{name}")).and_then(Value::as_f64).unwrap();
    let own: Vec<&String> = record["releases"]["r"].as_object().unwrap().keys().collect();
    assert_eq!(own.len(), NAMES.len());
    // The record writes a released number to the digits of its grid.
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    for (name, scale) in NAMES.iter().zip([1.0, 30.0, 1.0, 1.0, 1.0, 30.0]) {
        let (scaled, unit) = (number("releases/r", name), number("outputs/per_unit", name));
        assert!(near(scaled / scale, unit), "{name} {scaled} {unit}");
    }
    assert!(
        near(number("outputs", "one"), number("releases/r", "age")) && near(number("outputs", "men"), number("releases/r", "sex[male]"))
    );
    let draws = folder.path().join("a.json");
    let post = json("posterior(w) using score_statistics", "output per_unit = natural(mean(r))\n", &["--arviz", draws.to_str().unwrap()]);
    let arviz: Value = serde_json::from_slice(&fs::read(&draws).unwrap()).unwrap();
    assert_eq!(arviz["coords"]["r_level"], serde_json::json!(NAMES));
    assert!(post["outputs"]["per_unit"]["age"].is_number());
}
