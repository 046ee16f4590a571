//! Rules and mechanisms are compared by identity: no source outside their own files, parser, renderer and manual knows a name.

use dpm::rules::{RULES, mechanisms};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a name may be written as text: their own files, the manual, the second implementation, texts for people, samplers as
/// certificates write them, the help of a syntax error, and where the checker goes by the mechanism that is written: types of answers, and the share of a count beside a sum.
const NAMES: &[&str] = &[
    "rules/bounded/",
    "rules/conjugate/",
    "rules/glm/",
    "rules/query/",
    "rules/whole/",
    "rules/tempered.rs",
    "explain/",
    "verify/",
    "source/codes/",
    "mechanism/plan.rs",
    "check/releases.rs",
    "check/selected.rs",
    "syntax/errors/",
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_rule_or_mechanism_is_compared_by_name() {
    let distributions: BTreeSet<&str> = dpm::dist::all().map(|d| d.name).collect();
    let mechanisms = mechanisms(None);
    let names = RULES.iter().map(|r| r.name).chain(mechanisms.iter().map(|m| m.name));
    // A distribution of the same name may be compared.
    let names: BTreeSet<&str> = names.filter(|n| !distributions.contains(n)).collect();
    assert!(names.len() > 30);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = vec![];
    files(&source, &mut all);
    let mut wrong = vec![];
    for path in all {
        let short = path.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        if NAMES.iter().any(|n| short.starts_with(n)) {
            continue;
        }
        for line in code.lines().filter(|l| !l.trim_start().starts_with("//")) {
            wrong.extend(names.iter().filter(|n| line.contains(&format!("\"{n}\""))).map(|n| format!("{short}: {n}: {}", line.trim())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What ARCHITECTURE.md says of its recipes: the code that names one distribution, and one function of rows.
#[test]
fn a_distribution_and_a_function_of_rows_are_one_record() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = vec![];
    files(&src, &mut all);
    let naming = |name: &str| {
        let names = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            code.lines().any(|line| line.split("//").next().unwrap().contains(name))
        };
        let mut found: Vec<String> =
            all.iter().filter(|p| names(p)).map(|p| p.strip_prefix(&src).unwrap().to_string_lossy().into_owned()).collect();
        found.sort();
        found
    };
    assert_eq!(naming("\"half_normal\""), ["dist/positive.rs", "verify/bounded.rs"]);
    assert_eq!(naming("::Tanh"), ["numeric/unary.rs"]);
    assert_eq!(naming("\"tanh"), ["numeric/unary.rs", "verify/bounded.rs", "verify/value.rs"]);
}
