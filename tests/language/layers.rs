//! The import rule of ARCHITECTURE.md, circles among files, and that every file of tests is run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A layer, its level, and what it may import: only what stands above it in this table, or beside it where both list
/// the other. `plan` is the file `mechanism/plan.rs`, what shall be drawn as plain data, with `mechanism::grid_slack`,
/// how coarse its grid is; neither touches a value.
const LAYERS: &[(&str, u8, &[&str])] = &[
    ("source", 0, &[]),
    ("verify", 0, &[]),
    ("numeric", 0, &[]),
    ("files", 0, &[]),
    ("json", 0, &[]),
    ("private", 0, &[]),
    ("plot", 0, &[]),
    ("kernel", 1, &["numeric"]),
    ("syntax", 1, &["source", "numeric"]),
    ("dist", 2, &["numeric", "kernel"]),
    ("model", 3, &["source", "numeric", "dist"]),
    ("privacy", 4, &["numeric", "model"]),
    ("plan", 4, &["model"]),
    ("check", 5, &["source", "numeric", "json", "syntax", "model", "dist"]),
    ("data", 5, &["numeric", "files", "private", "kernel", "model", "plan", "mechanism"]),
    ("mechanism", 5, &["numeric", "private", "kernel", "model", "dist", "plan", "data"]),
    ("ledger", 5, &["numeric", "files", "privacy"]),
    ("sql", 6, &["numeric", "model", "plan", "data"]),
    ("rules", 6, &["source", "numeric", "model", "dist", "privacy", "plan"]),
    ("analyze", 7, &["source", "numeric", "model", "dist", "privacy", "plan", "rules"]),
    ("run", 8, &["source", "numeric", "private", "model", "dist", "plan", "check", "data", "mechanism", "rules", "analyze"]),
    ("explain", 8, &["source", "numeric", "model", "dist", "check", "rules"]),
    ("pipeline", 9, &["source", "files", "syntax", "model", "privacy", "check", "rules", "analyze", "run"]),
    ("compiled", 10, &["source", "numeric", "model", "privacy", "check", "data", "analyze", "run", "verify", "pipeline"]),
    ("audit", 10, &["model", "privacy", "plan", "data", "mechanism", "analyze", "run", "plot"]),
    (
        "session",
        11,
        &["source", "numeric", "syntax", "model", "privacy", "check", "data", "ledger", "rules", "analyze", "run", "pipeline", "compiled"],
    ),
    ("lsp", 10, &["source", "syntax", "model", "dist", "numeric", "check", "analyze", "run", "explain", "pipeline"]),
    ("report", 11, &["source", "numeric", "model", "dist", "privacy", "analyze", "run", "plot", "compiled"]),
    (
        "cli",
        12,
        &[
            "source",
            "numeric",
            "json",
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
            "sql",
        ],
    ),
    ("main", 13, &["cli", "private"]),
];

/// What must stay true however the table grows.
const NEVER: &[(&str, &[&str])] = &[
    ("rules", &["syntax", "check", "data", "mechanism", "run", "private"]),
    ("analyze", &["syntax", "check", "data", "mechanism", "run", "private"]),
    ("check", &["rules", "analyze", "data", "mechanism", "run", "private"]),
    ("explain", &["data", "mechanism", "run", "private"]),
    ("cli", &["private"]),
];

/// All Rust files below a folder of the tree.
fn sources(folder: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
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
    for path in sources("src") {
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

/// Circles of files that import each other: paths under `src`, in order. The list only gets shorter: a circle that is not listed
/// fails, and so does a line whose circle is gone or has changed.
///
/// A file imports another if it names it, or something in it, in a path from `crate`, `super` or `self`, or in a `use` of
/// a module of its own folder. What `mod.rs` re-exports belongs to `mod.rs`. A re-export imports nothing, nor does a call
/// of a child (`child::f()`): `mod.rs` lists its folder. Unit tests do not count.
const CIRCLES: &[&str] = &[
    "privacy/compose.rs privacy/layout.rs",
    "rules/glm/draw.rs rules/glm/priors.rs rules/glm/refusals.rs",
    "rules/mod.rs rules/offer.rs rules/tempered.rs",
    "rules/whole/counts.rs rules/whole/refusals.rs",
    "run/evaluate.rs run/simulate.rs",
    "run/posterior/line.rs run/posterior/mod.rs",
    "run/posterior/mixture.rs run/posterior/rate.rs",
];

/// The code of a file, without comments, re-exports and unit tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let own = text.find("#[cfg(test)]\nmod tests").map_or(text.as_str(), |at| &text[..at]);
    let lines: Vec<&str> = own.lines().map(|line| line.split("//").next().unwrap().trim()).collect();
    let statements = lines.join("\n");
    let re_export = |s: &str| s.lines().position(|line| line.starts_with("pub") && line.contains(" use ") || line.starts_with("pub use "));
    let kept = statements.split_inclusive(';').map(|s| s.lines().take(re_export(s).unwrap_or(usize::MAX)).collect::<Vec<_>>().join("\n"));
    kept.collect::<Vec<_>>().join("\n")
}

/// The module of a file, as names from the root of the crate.
fn module(path: &Path) -> Vec<String> {
    let below = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap().with_extension("");
    below.iter().map(|n| n.to_str().unwrap().to_owned()).filter(|n| n != "mod").collect()
}

/// What a path in the code of module `own` stands for, from the root of the crate; braces give several.
fn absolute(own: &[String], path: &str) -> Vec<Vec<String>> {
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(path.len());
    let (head, rest) = path.split_at(end);
    let items = match rest.strip_prefix('{').filter(|_| head.ends_with("::")) {
        Some(list) => list.split('}').next().unwrap().split(',').map(str::trim).collect(),
        None => vec![""],
    };
    assert!(!items.iter().any(|i| i.contains('{')), "write one `use` a module: {path:.80}");
    let mut base = own.to_vec();
    let mut names = head.split("::").filter(|n| !n.is_empty()).peekable();
    while let Some(name) = names.next_if(|n| ["crate", "super", "self"].contains(n)) {
        match name {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            _ => {}
        }
    }
    base.extend(names.map(String::from));
    let full = |item: &&str| base.iter().cloned().chain(item.split("::").map(String::from)).collect();
    items.iter().map(full).collect()
}

/// Every file with the files it imports, as paths under `src`.
fn file_imports() -> BTreeMap<String, BTreeSet<String>> {
    let files: Vec<PathBuf> = sources("src").into_iter().filter(|f| !f.ends_with("src/main.rs") && !f.ends_with("src/lib.rs")).collect();
    let name = |f: &Path| f.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap().to_str().unwrap().to_owned();
    let modules: BTreeMap<Vec<String>, String> = files.iter().map(|f| (module(f), name(f))).collect();
    let mut found = BTreeMap::new();
    for file in &files {
        let own = module(file);
        let is_child = |path: &str| {
            let first = path.split("::").next().unwrap();
            modules.contains_key(&[&own[..], &[first.to_owned()]].concat())
        };
        let lines = code(file)
            .lines()
            .map(|line| match line.strip_prefix("use ") {
                Some(path) if is_child(path) => format!("use self::{path}"),
                _ => line.to_owned(),
            })
            .collect::<Vec<_>>()
            .join("\n");
        let mut imports = BTreeSet::new();
        for mark in ["crate::", "super::", "self::"] {
            for (at, _) in lines.match_indices(mark) {
                if lines[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c)) || lines[..at].ends_with("pub(in ") {
                    continue;
                }
                for path in absolute(&own, &lines[at..]) {
                    imports.extend((1..=path.len()).rev().find_map(|n| modules.get(&path[..n])).cloned());
                }
            }
        }
        imports.remove(&name(file));
        found.insert(name(file), imports);
    }
    found
}

#[test]
fn files_import_each_other_in_the_listed_circles_alone() {
    let imports = file_imports();
    let reach = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), imports[from].iter().collect::<Vec<_>>());
        while let Some(file) = open.pop() {
            if seen.insert(file.as_str()) {
                open.extend(&imports[file]);
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = imports.keys().map(|f| (f.as_str(), reach(f))).collect();
    let circle = |f: &&str| reached[f].iter().copied().filter(|g| reached[g].contains(f)).collect::<Vec<_>>().join(" ");
    let found: BTreeSet<String> = reached.keys().map(circle).filter(|c| !c.is_empty()).collect();
    let listed: BTreeSet<String> = CIRCLES.iter().map(|c| (*c).to_owned()).collect();
    assert!(found == listed, "new: {:#?}\ngone or changed: {:#?}", &found - &listed, &listed - &found);
}

/// Tests are a handful of binaries, each a folder with a `main.rs`: a file that nobody declares would never run.
#[test]
fn every_file_of_tests_is_declared() {
    let declares = |by: &Path, name: &str| {
        fs::read_to_string(by).is_ok_and(|text| text.lines().any(|l| l == format!("mod {name};") || l == format!("pub mod {name};")))
    };
    let files = sources("tests");
    let groups: Vec<&PathBuf> = files.iter().filter(|f| f.ends_with("main.rs")).collect();
    assert!(groups.len() <= 5, "{groups:?}");
    for file in files.iter().filter(|f| !f.ends_with("main.rs")) {
        let module = if file.ends_with("mod.rs") { file.parent().unwrap() } else { file };
        let (folder, name) = (module.parent().unwrap(), module.file_stem().unwrap().to_str().unwrap());
        let mut by = vec![folder.join("main.rs"), folder.join("mod.rs"), folder.with_extension("rs")];
        if folder.ends_with("tests/support") {
            by.extend(groups.iter().map(|g| g.to_path_buf()));
        }
        assert!(by.iter().any(|by| declares(by, name)), "{} is in no group of tests", file.display());
    }
}
