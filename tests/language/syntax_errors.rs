//! Every wrong program of `tests/errors/E00*`: codes, places and the whole text shown.

use crate::snapshot;
use std::fs;
use std::path::Path;

use dpm::source::{SourceMap, render};
use dpm::syntax::parse;

#[test]
fn wrong_programs_are_answered_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("E00"))
        .collect();
    paths.sort();
    let mut codes = vec![];
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let said: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("#! ")).collect();
        let mut map = SourceMap::default();
        let file = map.add(format!("{stem}.dpm"), text.as_str());
        let (_, diagnostics) = parse(file, &text);
        if diagnostics.is_empty() {
            continue; // a limit that the checker holds: wrong_programs.rs
        }
        let found: Vec<String> = diagnostics
            .iter()
            .map(|d| {
                let (line, column) = map.line_column(file, d.labels[0].span.start);
                format!("error {} at {line}:{column}", d.code)
            })
            .collect();
        assert!(!said.is_empty(), "{stem} says nothing");
        assert_eq!(found, said, "{stem}");
        assert_eq!(said[0][6..11], stem[..5], "{stem} is named for another code");
        codes.push(stem[..5].to_owned());
        snapshot("syntax_errors", &stem, &render::text(&map, &diagnostics, false));
    }
    codes.dedup();
    let all: Vec<String> = (1..=25).map(|code| format!("E{code:04}")).collect();
    assert_eq!(codes, all, "every syntax code has a program");
}

/// The programs on the pages of `dpm explain`: the wrong one of a syntax code gets that code, all others are read.
#[test]
fn programs_on_the_pages_are_what_they_say() {
    let file = dpm::source::FileId(0);
    for page in dpm::source::codes::all() {
        let (_, wrong) = parse(file, page.example_wrong);
        let (_, right) = parse(file, page.example_right);
        assert_eq!(right, vec![], "{}", page.code);
        if page.code.starts_with("E00") {
            let codes: Vec<&str> = wrong.iter().map(|d| d.code).collect();
            assert_eq!(codes, [page.code], "{}", page.example_wrong);
        } else {
            assert_eq!(wrong, vec![], "{}", page.code);
        }
    }
    let syntax = dpm::source::codes::all().iter().filter(|page| page.code.starts_with("E00"));
    assert_eq!(syntax.count(), 25);
}
