//! `dpm check --emit`: a program after each phase, as golden files.

use crate::snapshot;
use std::process::Command;

#[test]
fn a_program_after_each_phase() {
    for (program, phases) in [("01_beta_bernoulli", &["ast", "model", "offers", "plan"][..]), ("13_two_releases", &["model", "plan"])] {
        for phase in phases {
            let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
            let out = command.args(["check", "--emit", phase, &format!("examples/{program}.dpm")]).output().unwrap();
            assert!(out.status.success());
            snapshot("emit", &format!("{program}__{phase}"), &String::from_utf8(out.stdout).unwrap());
        }
    }
}

#[test]
fn a_program_with_errors_has_a_tree_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.dpm");
    std::fs::write(&path, "private t[n] { x: bool }\nparam p ~ beta(1, 1)\nobserve z ~ bernoulli(p)\n").unwrap();
    for (phase, some) in [("ast", true), ("model", false), ("offers", false), ("plan", false)] {
        let out = Command::new(env!("CARGO_BIN_EXE_dpm")).args(["check", "--emit", phase]).arg(&path).output().unwrap();
        assert_eq!((out.status.code(), !out.stdout.is_empty()), (Some(1), some), "{phase}");
    }
}
