//! `--seed` exists with the feature `tape` alone, and then the result says that it is not private.

use std::process::{Command, Output};

fn seeded(extra: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let [program, data] = ["rate.dpm", "staff.csv"].map(|f| folder.path().join(f));
    let text = "private staff[n] { smoker: bool }\nparam p ~ beta(6, 18)\nobserve smoker ~ bernoulli(p)\nrelease p_hat = draw(p) using diffuse(r = 0.5)\n";
    std::fs::write(&program, text).unwrap();
    std::fs::write(&data, "smoker\n1\n0\n").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_dpm")).arg("run").arg(&program).arg("--data").arg(&data).args(extra).output();
    run.unwrap()
}

#[test]
#[cfg(not(feature = "tape"))]
fn a_release_binary_knows_no_seed() {
    let out = seeded(&["--seed", "1"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(out.stdout.is_empty());
    assert!(seeded(&[]).status.success());
}

#[test]
#[cfg(feature = "tape")]
fn a_seeded_run_is_void() {
    let [a, b] = [seeded(&["--seed", "1", "--json"]), seeded(&["--seed", "1", "--json"])];
    assert_eq!(a.status.code(), Some(0));
    assert_eq!(a.stdout, b.stdout);
    let record: serde_json::Value = serde_json::from_slice(&a.stdout).unwrap();
    assert_eq!(record["certificate"]["total"]["status"], "void");
    assert_eq!(record["certificate"]["releases"][0]["status"], "void");
    assert!(record["certificate"]["assumptions"][0].as_str().unwrap().starts_with("NOT PRIVATE"));
    assert!(record["seeded"].as_str().unwrap().starts_with("NOT PRIVATE"));
    let text = seeded(&["--seed", "2"]);
    assert!(String::from_utf8(text.stdout).unwrap().contains("NOT PRIVATE"));
}
