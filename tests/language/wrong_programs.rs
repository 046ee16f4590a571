//! Every wrong program of `tests/errors` and `tests/wrong`: codes, places and the whole text shown, without any data.

use crate::snapshot;
use dpm::pipeline::Folder;
use dpm::run::Bound;
use dpm::source::{Diagnostics, SourceMap, render};
use dpm::{analyze, pipeline};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Parse, check, analyze; holes are refused as `certify` does.
fn judge(name: &str, text: &str) -> (SourceMap, Diagnostics) {
    // Records of runs stand in a folder beside the programs.
    let checked = pipeline::check(name, text, &Folder::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors/p.dpm")));
    let (analysis, mut diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    if let Some(analysis) = &analysis {
        diagnostics.extend(analyze::holes(analysis));
    }
    (checked.sources, diagnostics)
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "dpm"));
    paths.sort();
    paths
}

/// `error E0301 at 9:25`, one line a diagnostic.
fn places(map: &SourceMap, diagnostics: &Diagnostics) -> Vec<String> {
    let place = |d: &dpm::source::Diagnostic| {
        let at = d.labels.first().map(|l| map.line_column(l.span.file, l.span.start));
        let (line, column) = at.unwrap_or((0, 0));
        let kind = if d.is_error() { "error" } else { "warning" };
        format!("{kind} {} at {line}:{column}", d.code)
    };
    diagnostics.iter().map(place).collect()
}

#[test]
fn wrong_programs_are_answered_as_they_say() {
    let mut failures = vec![];
    for path in programs("tests/errors") {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        if !dpm::syntax::parse(dpm::source::FileId(0), &text).1.is_empty() {
            continue; // syntax alone: syntax_errors.rs
        }
        let said: Vec<String> = text.lines().filter_map(|l| l.strip_prefix("#! ")).map(String::from).collect();
        let (map, diagnostics) = judge(&format!("{stem}.dpm"), &text);
        let found = places(&map, &diagnostics);
        if found != said {
            failures.push(format!("{stem}: says {said:?}, found {found:?}\n{}", render::text(&map, &diagnostics, false)));
        }
        let code = stem.split('_').next().unwrap();
        assert!(said.iter().any(|s| s.split(' ').nth(1) == Some(code)), "{stem} is named for another code");
        snapshot("wrong_programs", &stem, &format!("{text}\n{}", render::text(&map, &diagnostics, false)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The wrong variants of the example programs that this version can judge.
#[test]
fn wrong_variants_of_the_examples() {
    let expected = [
        ("01", "E0301"),
        ("02", "E0201"),
        ("03", "E0202"),
        ("04", "E0102"),
        ("05", "E0103"),
        ("06", "E0303"),
        ("07", "E0401"),
        ("08", "E0305"),
        ("09", "E0304"),
        ("10", "E0308"),
        ("11", "E0302"),
        ("12", "E0307"),
        ("13", "E0402"),
        ("14", "E0101"),
        ("15", "E0002"),
    ];
    for (number, code) in expected {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/wrong/{number}.dpm"))).unwrap();
        let (map, diagnostics) = judge(&format!("{number}.dpm"), &text);
        let codes: Vec<&str> = diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "program {number}\n{}", render::text(&map, &diagnostics, false));
        snapshot("wrong_programs", &format!("wrong_{number}"), &render::text(&map, &diagnostics, false));
    }
}

/// What is public is offered as an output, and the line that is offered is right as it stands.
#[test]
fn a_public_value_is_offered_as_an_output() {
    let header = "budget eps(1)\nprivate t[n] { g: public category {a, b}, w: public int in 0..3, x: real in [0, 1] }\n\
                  public u[m] { y: real in [0, 1] }\npublic k: int in 1..9\nrelease s = sum(x)\n";
    for query in ["histogram(g)", "sum(g == a)", "count(w > k)", "mean(w)", "quantile(w, 0.5)", "mean(u.y)", "sum(w * k)"] {
        for tail in ["", " using laplace", " using geometric(scale = 2) spend 10%"] {
            let statement = format!("release r = {query}{tail}");
            let (map, found) = judge("p.dpm", &format!("{header}{statement}\n"));
            let shown = render::text(&map, &found, false);
            assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), ["E0209"], "{shown}");
            let mended = format!("{header}{}\n", found[0].help[0].code);
            let (map, found) = judge("p.dpm", &mended);
            assert!(found.is_empty(), "{mended}{}", render::text(&map, &found, false));
        }
    }
}

#[test]
fn every_code_has_a_wrong_program_and_a_page() {
    let with_program: BTreeSet<String> =
        programs("tests/errors").iter().map(|p| p.file_stem().unwrap().to_str().unwrap().split('_').next().unwrap().to_string()).collect();
    let raised = codes_in_source();
    for code in &raised {
        assert!(dpm::source::codes::page(code).is_some(), "{code} is raised and has no page");
        assert!(with_program.contains(code), "{code} is raised and has no program in tests/errors");
    }
    for page in dpm::source::codes::all() {
        let known = raised.contains(page.code) || page.code.starts_with("E00");
        assert!(known, "{} has a page and is never raised", page.code);
    }
}

/// Every `"E0101"` in the sources outside the table of codes.
fn codes_in_source() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if path.file_name().is_some_and(|n| n != "codes" && n != "explain") {
                    folders.push(path);
                }
                continue;
            }
            if path.file_name().is_some_and(|n| n == "codes.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            for part in text.split("Diagnostic::new(").skip(1) {
                let part = part.trim_start().trim_start_matches('"');
                let code: String = part.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
                if code.starts_with("E0") || code.starts_with("W0") {
                    found.insert(code);
                }
            }
        }
    }
    found
}
