//! Every command that the tutorial and the other pages print runs as printed, one page after the other, from an empty folder.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The lines of the `sh` fences of a page; what builds dpm itself is left out.
fn script(page: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
    let fences = text.split("```").skip(1).step_by(2).filter_map(|f| f.strip_prefix("sh\n"));
    let fences: Vec<&str> = fences.filter(|f| !f.contains("cargo ")).collect();
    assert!(!fences.is_empty(), "{page} shows no command");
    fences.concat()
}

#[test]
fn every_printed_command_runs_from_an_empty_folder() {
    let dpm = Path::new(env!("CARGO_BIN_EXE_dpm"));
    let path = format!("{}:{}", dpm.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for page in ["docs/tutorial.md", "docs/howto.md", "docs/plans.md"] {
        let folder = tempfile::tempdir().unwrap();
        let out =
            Command::new("sh").args(["-e", "-x", "-c", &script(page)]).current_dir(folder.path()).env("PATH", &path).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{page}\n{said}\n{}", String::from_utf8_lossy(&out.stdout));
    }
}
