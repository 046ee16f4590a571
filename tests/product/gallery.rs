//! The gallery of real data: every program compiles, answers on a small sample, and stands in the page as it is.
//!
//! Chains take seconds each, so an output that draws, and what follows it, is compiled here and run by `benches/gallery/run.py --short`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Rows of a sample.
const ROWS: &str = "200";

/// The programs by the samples they read.
const SAMPLES: [(&str, &str); 17] = [
    ("01_ab_test", "bank"),
    ("02_pooled_poll", "bank"),
    ("03_linear", "power"),
    ("04_logistic", "adult"),
    ("05_poisson_exposure", "flchain"),
    ("06_survival", "gbsg"),
    ("07_two_way_table", "adult"),
    ("08_mean_variance", "nmes"),
    ("09_median", "nmes"),
    ("10_by_month", "flights"),
    ("11_mixture", "wdbc"),
    ("12_both_moments", "wine"),
    ("13_missing", "flchain"),
    ("14_dates", "bikes"),
    ("15_top_levels", "flights"),
    ("16_five_million", "adult"),
    ("17_rows_per_person", "flights"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gallery")
}

fn program(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.dpm"))).unwrap()
}

/// The program with the number of rows of its sample, wherever its own number stands as a word.
fn for_sample(text: &str) -> String {
    let header = text.lines().find(|l| l.starts_with("private ")).unwrap();
    let size = header.split(['[', ']']).nth(1).unwrap();
    if size.bytes().all(|b| b.is_ascii_digit()) { text.replace(size, ROWS) } else { text.to_owned() }
}

/// The program without the first output that draws a chain and all that stands below it.
fn without_chains(text: &str) -> String {
    let end = text.lines().position(|l| l.starts_with("output ") && l.contains("= posterior("));
    text.lines().take(end.unwrap_or(usize::MAX)).map(|l| format!("{l}\n")).collect()
}

/// What statements of this keyword name.
fn names<'a>(text: &'a str, keyword: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |l| l.strip_prefix(keyword)?.split_whitespace().next())
}

fn dpm(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).args(arguments).output().unwrap()
}

fn succeeded(name: &str, done: &Output) {
    assert_eq!(done.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn every_program_of_the_gallery_is_named_here() {
    let mut found: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".dpm")?.to_owned()))
        .collect();
    found.sort();
    assert_eq!(found, SAMPLES.map(|(name, _)| name));
}

#[test]
fn programs_of_the_gallery_answer_on_samples() {
    let temporary = tempfile::tempdir().unwrap();
    for (name, sample) in SAMPLES {
        let whole = for_sample(&program(name));
        let released = without_chains(&whole);
        let path = temporary.path().join(format!("{name}.dpm"));
        let path = path.to_str().unwrap();
        fs::write(path, &whole).unwrap();
        succeeded(name, &dpm(&["check", path]));
        fs::write(path, &released).unwrap();
        let data = folder().join(format!("samples/{sample}.csv"));
        let done = dpm(&["run", path, "--data", data.to_str().unwrap(), "--anyway", "--json"]);
        succeeded(name, &done);
        let answers: Value = serde_json::from_slice(&done.stdout).unwrap();
        for wanted in ["release ", "output "].into_iter().flat_map(|keyword| names(&released, keyword)) {
            // The mean of some rows is an output, of a release of its parts.
            let answered = ["releases", "outputs"].into_iter().any(|kind| answers[kind].get(wanted).is_some());
            assert!(answered, "{name}: no answer to `{wanted}`");
        }
    }
}

#[test]
fn the_page_quotes_every_program_as_it_is() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gallery.md")).unwrap();
    for (name, _) in SAMPLES {
        let quoted = format!("\n{}\n```\n", program(name).trim_end());
        assert!(page.contains(&quoted), "docs/gallery.md does not quote {name}.dpm: write the page again with benches/gallery/run.py");
    }
}

#[test]
fn samples_are_small() {
    let files: Vec<PathBuf> = fs::read_dir(folder().join("samples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let total: u64 = files.iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!(total < 200_000, "{total} bytes");
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "csv")) {
        assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 201, "{}", path.display());
    }
}
