//! The import rule of ARCHITECTURE.md, checked by reading every `crate::` path of the sources.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A layer, its level, and what it may import: only what stands above it in this table, or beside it where both list
/// the other. `plan` is the file `mechanism/plan.rs`, what shall be drawn as plain data, with `mechanism::grid_slack`,
/// how coarse its grid is; neither touches a value.
const LAYERS: &[(&str, u8, &[&str])] = &[
    ("source", 0, &[]),
    ("verify", 0, &[]),
    ("numeric", 0, &[]),
    ("private", 0, &[]),
    ("plot", 0, &[]),
    ("kernel", 1, &["numeric"]),
    ("syntax", 1, &["source"]),
    ("model", 1, &["source"]),
    ("dist", 2, &["model"]),
    ("privacy", 2, &["numeric", "model"]),
    ("plan", 2, &["model"]),
    ("check", 3, &["source", "syntax", "model", "dist"]),
    ("data", 3, &["numeric", "private", "kernel", "model", "plan", "mechanism"]),
    ("mechanism", 3, &["numeric", "private", "kernel", "model", "dist", "plan", "data"]),
    ("ledger", 3, &["numeric", "privacy"]),
    ("rules", 4, &["source", "numeric", "model", "dist", "privacy", "plan"]),
    ("analyze", 5, &["source", "numeric", "model", "privacy", "plan", "rules"]),
    ("run", 6, &["source", "numeric", "private", "model", "plan", "check", "data", "mechanism", "rules", "analyze"]),
    ("explain", 6, &["source", "model", "dist", "check", "rules"]),
    ("pipeline", 7, &["source", "syntax", "model", "privacy", "check", "rules", "analyze"]),
    ("compiled", 8, &["source", "numeric", "model", "privacy", "check", "data", "analyze", "run", "verify", "pipeline"]),
    ("audit", 8, &["model", "privacy", "plan", "data", "mechanism", "analyze", "run", "plot"]),
    (
        "session",
        9,
        &["source", "numeric", "syntax", "model", "privacy", "check", "data", "ledger", "rules", "analyze", "run", "pipeline", "compiled"],
    ),
    ("lsp", 8, &["source", "syntax", "model", "dist", "numeric", "check", "analyze", "run", "explain", "pipeline"]),
    ("report", 9, &["source", "numeric", "model", "privacy", "analyze", "run", "plot", "compiled"]),
    (
        "cli",
        10,
        &[
            "source",
            "numeric",
            "syntax",
            "model",
            "dist",
            "privacy",
            "plan",
            "check",
            "data",
            "mechanism",
            "ledger",
            "rules",
            "analyze",
            "run",
            "verify",
            "explain",
            "pipeline",
            "compiled",
            "session",
            "audit",
            "lsp",
            "report",
            "plot",
        ],
    ),
    ("main", 11, &["cli", "private"]),
];

/// What must stay true however the table grows.
const NEVER: &[(&str, &[&str])] = &[
    ("rules", &["syntax", "check", "data", "mechanism", "run", "private"]),
    ("analyze", &["syntax", "check", "data", "mechanism", "run", "private"]),
    ("check", &["rules", "analyze", "data", "mechanism", "run", "private"]),
    ("explain", &["data", "mechanism", "run", "private"]),
    ("cli", &["private"]),
];

fn sources() -> Vec<PathBuf> {
    let mut found = vec![];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn layer_of(path: &Path) -> String {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    if below == Path::new("mechanism/plan.rs") {
        return "plan".into();
    }
    let first = below.iter().next().unwrap().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// The layers named by `crate::..` (`dpm::..` in main.rs) on one line, comments aside.
fn imports(line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or("");
    let mut found = vec![];
    for mark in ["crate::", "dpm::"] {
        for (at, _) in code.match_indices(mark) {
            let whole = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"');
            let rest = &code[at + mark.len()..];
            assert!(!rest.starts_with('{'), "write one `use` a module: {line}");
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if whole {
                let plan = rest.starts_with("mechanism::plan") || rest.starts_with("mechanism::grid_slack");
                found.push(if plan { "plan".into() } else { name });
            }
        }
    }
    found
}

#[test]
fn imports_point_downwards() {
    let table: BTreeMap<&str, &[&str]> = LAYERS.iter().map(|(name, _, may)| (*name, *may)).collect();
    let mut faults = vec![];
    for path in sources() {
        let layer = layer_of(&path);
        if layer == "lib" {
            continue;
        }
        let Some(may) = table.get(layer.as_str()) else {
            faults.push(format!("{}: `{layer}` is in no row of the table", path.display()));
            continue;
        };
        for (i, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            for import in imports(line) {
                if import != layer && !may.contains(&import.as_str()) {
                    faults.push(format!("{}:{}: `{layer}` may not import `{import}`", path.display(), i + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The table itself: imports go to a lower level, but for the one pair that opens private values together.
#[test]
fn the_table_is_layered() {
    let level: BTreeMap<&str, u8> = LAYERS.iter().map(|(name, level, _)| (*name, *level)).collect();
    for (name, own, may) in LAYERS {
        for import in *may {
            let pair = matches!((*name, *import), ("data", "mechanism") | ("mechanism", "data"));
            assert!(level[import] < *own || pair, "{name} imports {import}");
        }
    }
    for (name, never) in NEVER {
        let (_, _, may) = LAYERS.iter().find(|(n, ..)| n == name).unwrap();
        for import in *never {
            assert!(!may.contains(import), "{name} must never import {import}");
        }
    }
}

/// ARCHITECTURE.md shows the same table.
#[test]
fn the_architecture_document_has_this_table() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap();
    for (name, level, may) in LAYERS {
        let imports = if may.is_empty() { "nothing of ours".into() } else { may.join(", ") };
        let row = format!("| {name} | {level} | {imports} |");
        assert!(text.contains(&row), "ARCHITECTURE.md lacks the row\n{row}");
    }
}
