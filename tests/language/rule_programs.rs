//! Every rule has a folder of programs it accepts (their expectations hold) and refuses (with the whole message).

use crate::snapshot;
use dpm::check::NoFiles;
use dpm::run::Bound;
use dpm::source::{Diagnostics, SourceMap, render};
use dpm::{analyze, pipeline, rules};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn judge(name: &str, text: &str) -> (SourceMap, Diagnostics, bool) {
    let checked = pipeline::check(name, text, &NoFiles);
    let (analysis, mut diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    let mut certified = false;
    if let Some(analysis) = &analysis {
        diagnostics.extend(analyze::holes(analysis));
        certified = pipeline::certify(&checked, analysis, &[], &[]).is_some();
    }
    (checked.sources, diagnostics, certified)
}

/// Rules that only ever refuse.
const REFUSALS: &[&str] = &["linear_private_design", "normal_unknown_both"];

#[test]
fn every_rule_accepts_and_refuses_as_its_folder_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let names: BTreeSet<String> = rules::RULES.iter().map(|r| r.name.to_string()).collect();
    let folders: BTreeSet<String> = fs::read_dir(&root).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(folders, names, "one folder for every rule, and one rule for every folder");
    for name in names {
        let mut programs: Vec<_> = fs::read_dir(root.join(&name)).unwrap().map(|e| e.unwrap().path()).collect();
        programs.sort();
        let (mut accepted, mut refused) = (0, 0);
        for path in programs {
            let stem = path.file_stem().unwrap().to_str().unwrap().to_string();
            let text = fs::read_to_string(&path).unwrap();
            let (map, diagnostics, certified) = judge(&format!("{stem}.dpm"), &text);
            let shown = render::text(&map, &diagnostics, false);
            let errors = diagnostics.iter().filter(|d| d.is_error()).count();
            if stem.starts_with("accept_") {
                assert!(errors == 0 && certified, "{name}/{stem} should be accepted\n{shown}");
                accepted += 1;
            } else {
                assert!(stem.starts_with("refuse_"), "{name}/{stem}: accept_ or refuse_");
                assert_eq!(errors, 1, "{name}/{stem} should be refused, once\n{shown}");
                snapshot("rule_programs", &format!("{name}__{stem}"), &format!("{text}\n{shown}"));
                refused += 1;
            }
        }
        assert!(refused > 0, "{name} refuses nothing");
        assert!(accepted > 0 || REFUSALS.contains(&name.as_str()), "{name} accepts nothing");
    }
}
