//! The short form of `benches/calibration.py`: a data set of every model at one epsilon, 40 of two models, and a study that goes on where it stopped.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the study into a folder; answers its rows: how many numbers of each data set, by model and set.
fn study(into: &Path, sets: &str, models: &[&str]) -> (String, BTreeMap<(String, String), usize>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let done = Command::new("python3")
        .arg(root.join("benches/calibration.py"))
        .args([env!("CARGO_BIN_EXE_dpm"), sets, "--eps", "3", "--models", &models.join(","), "--into"])
        .arg(into)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = fs::read_to_string(into.join("calibration.csv")).unwrap();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let [model, "3.0", set, number, rank, poor] = cells.as_slice() else { panic!("{line}") };
        assert!(number.starts_with("post.") && ["0", "1"].contains(poor), "{line}");
        assert!((0.0..=1.0).contains(&rank.parse::<f64>().unwrap()), "{line}");
        *found.entry((model.to_string(), set.to_string())).or_insert(0) += 1;
    }
    (text, found)
}

/// 40 data sets of two models: each 90 % interval holds the truth in at least 25, but in one of 400,000 studies.
#[test]
fn intervals_of_forty_data_sets() {
    let into = tempfile::tempdir().unwrap();
    let (text, found) = study(into.path(), "40", &["ab_test", "survival"]);
    assert_eq!(found.len(), 80);
    let mut inside = BTreeMap::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split(',').collect();
        let rank: f64 = cells[4].parse().unwrap();
        *inside.entry((cells[0], cells[3])).or_insert(0) += u32::from((0.05..=0.95).contains(&rank));
    }
    assert!(inside.len() == 4 && inside.values().all(|n| *n >= 25), "{inside:?}");
}

/// One data set of each of the eight models of `examples/models`; then a second one of one of them, which leaves the others as they are.
#[test]
fn the_study_of_calibration_goes_on() {
    let into = tempfile::tempdir().unwrap();
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models")).unwrap();
    let models: Vec<String> = files.map(|f| f.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(models.len(), 8);
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    let (before, found) = study(into.path(), "1", &models);
    assert!(found.len() == 8 && found.values().all(|numbers| *numbers >= 2), "{found:?}");
    let (after, found) = study(into.path(), "2", &["ab_test"]);
    assert_eq!((found.len(), found[&("ab_test".to_owned(), "1".to_owned())]), (9, 2));
    assert!(after.starts_with(&before) && after.len() > before.len());
    let report = fs::read_to_string(into.path().join("calibration.txt")).unwrap();
    assert!(models.iter().all(|m| report.contains(m)), "{report}");
}
