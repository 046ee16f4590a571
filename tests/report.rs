//! Reports, pictures and the starter project, through the binary as a user calls it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn dpm(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).current_dir(folder).args(words).output().unwrap()
}

fn example(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples").join(name).display().to_string()
}

/// Tags open and close, and nothing is loaded from elsewhere.
fn well_formed(html: &str) {
    for tag in ["html", "body", "main", "section", "table", "div", "figure", "svg", "ul", "li", "p", "h2"] {
        let opens = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opens, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    for outside in ["src=", "href=\"http", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn a_report_explains_every_release() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["01_beta_bernoulli.dpm", "06_logistic.dpm", "10_groups.dpm", "13_two_releases.dpm"] {
        let done = dpm(folder.path(), &["report", &example(name), "-o", "report.html"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let html = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        well_formed(&html);
        for part in ["Who is protected", "The program", "What an attacker can gain", "How the costs add up", "What this rests on", "<svg"] {
            assert!(html.contains(part), "{name}: {part}");
        }
    }
}

/// The page of a certificate or plan is the page of its program; an altered certificate has none.
#[test]
fn programs_plans_and_certificates_have_one_page() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    std::fs::copy(example("01_beta_bernoulli.dpm"), folder.path().join("rate.dpm")).unwrap();
    assert!(dpm(folder.path(), &["certify", "rate.dpm", "-o", "cert.json"]).status.success());
    assert!(dpm(folder.path(), &["report", "rate.dpm", "-o", "a.html"]).status.success());
    assert!(dpm(folder.path(), &["report", "cert.json", "-o", "b.html"]).status.success());
    assert_eq!(read("a.html"), read("b.html"));
    let altered = read("cert.json").replacen("rdp(order = 8, eps = 0.5)", "rdp(order = 8, eps = 0.4)", 1);
    std::fs::write(folder.path().join("cert.json"), altered).unwrap();
    assert_eq!(dpm(folder.path(), &["report", "cert.json", "-o", "c.html"]).status.code(), Some(5));
    assert!(!folder.path().join("c.html").exists());
}

#[test]
fn pictures_show_the_limit_and_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    for (shows, words) in [("rdp", ["limit order", "budget rdp(8)"]), ("dp", ["delta", "epsilon"]), ("tradeoff", ["guessing", "hits"])] {
        let done = dpm(folder.path(), &["plot", &example("01_beta_bernoulli.dpm"), "--shows", shows, "-o", "p.svg"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let svg = std::fs::read_to_string(folder.path().join("p.svg")).unwrap();
        assert!(words.iter().all(|w| svg.contains(w)), "{shows}: {words:?}");
    }
    assert_eq!(
        dpm(folder.path(), &["plot", &example("01_beta_bernoulli.dpm"), "--release", "nothing", "-o", "p.svg"]).status.code(),
        Some(2)
    );
}

#[test]
fn a_new_project_runs() {
    let folder = tempfile::tempdir().unwrap();
    assert!(dpm(folder.path(), &["new", "start"]).status.success());
    let done = dpm(folder.path(), &["run", "start/rate.dpm", "--data", "start/answers.csv"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("p_hat"));
    assert!(dpm(folder.path(), &["fmt", "--check", "start/rate.dpm"]).status.success());
    assert_eq!(dpm(folder.path(), &["new", "start"]).status.code(), Some(2));
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(String::from_utf8_lossy(&dpm(folder.path(), &["completions", shell]).stdout).contains("certify"), "{shell}");
    }
    assert!(String::from_utf8_lossy(&dpm(folder.path(), &["man"]).stdout).contains(".TH dpm"));
}
