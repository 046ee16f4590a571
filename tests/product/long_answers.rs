//! Long answers are written in full: thousands of draws, mixtures of a thousand posteriors, names beyond any column.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, program: &str, data: &str, words: &[&str]) -> Output {
    std::fs::write(folder.join("p.dpm"), program).unwrap();
    std::fs::write(folder.join("t.csv"), data).unwrap();
    Command::new(env!("CARGO_BIN_EXE_dpm")).current_dir(folder).args(["run", "p.dpm", "--data", "t.csv"]).args(words).output().unwrap()
}

#[test]
fn nothing_is_too_long_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let name = "n".repeat(1_000);
    let cases = [
        (
            "budget eps(1)\nprivate t[n] { c: category {a, b, d} }\nparam s ~ dirichlet([1, 1, 1])\nobserve c ~ categorical(s)\nrelease r = posterior(s)\n".to_string(),
            "c\na\nb\nd\na\n",
        ),
        (
            "private t[n] { y: bool }\nparam p ~ beta(9, 9)\nobserve y ~ bernoulli(p)\nrelease r = draws(p, 12000) using diffuse(r = 0.001)\n".to_string(),
            "y\n1\n0\n",
        ),
        (format!("private t[n] {{ y: bool }}\nrelease {name} = count(y) using laplace(scale = 2)\n"), "y\n1\n0\n"),
    ];
    for (program, data) in cases {
        let done = run(folder.path(), &program, data, &["--json"]);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let record: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(record["releases"].as_object().unwrap().len(), 1);
        let done = run(folder.path(), &program, data, &["-o", "out.json"]);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let written: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
        assert_eq!(written["certificate"], record["certificate"]);
    }
}
