//! The parser on every program of the tree, and on texts made to break it.

use std::fs;
use std::path::{Path, PathBuf};

use dpm::source::FileId;
use dpm::syntax::parse;

/// All `.dpm` files of a folder, by name.
fn programs(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "dpm"))
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect()
}

/// Every program of the tree that has no syntax error.
fn good() -> Vec<(PathBuf, String)> {
    let mut all = programs("examples");
    all.extend(programs("stdlib"));
    all.extend(programs("tests/programs"));
    all.extend(programs("tests/wrong"));
    all.retain(|(path, _)| !path.ends_with("tests/wrong/15.dpm"));
    assert!(all.len() >= 16 + 4 + 1 + 14);
    all
}

#[test]
fn every_program_parses() {
    for (path, text) in good() {
        let (ast, diagnostics) = parse(FileId(0), &text);
        assert_eq!(diagnostics, vec![], "{}", path.display());
        assert!(!ast.items.is_empty(), "{}", path.display());
    }
}
