//! What new users met: words that had no page, advice that was wrong, a prompt that nobody could leave. Other findings of theirs are tests of
//! their own subject: useless, missing, inspect, dates, want, commands, gallery, `quantiles` among the draws, `advice` among the language.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

/// What a command says, on both streams.
fn said(arguments: &[&str], typed: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpm"));
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    String::from_utf8([out.stdout, out.stderr].concat()).unwrap()
}

/// What `check` says of a program.
fn checked(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dpm");
    fs::write(&path, text).unwrap();
    said(&["check", path.to_str().unwrap()], "")
}

#[test]
fn words_of_the_field_have_a_page() {
    let words = "epsilon|eps|delta|zcdp|gdp|renyi|neighbour|privacy unit|sensitivity|hellinger|missing values|censoring|choosing a budget";
    for word in words.split('|') {
        let page = said(&["explain", word], "");
        assert!(page.starts_with("# ") && !page.contains("there is no page"), "{word}: {page}");
    }
    assert!(!checked("budget eps(1)\nprivate t[100] { y: bool }\nlet x = eps + 1\n").contains("`ops`"));
}

#[test]
fn the_prompt_knows_bare_words() {
    for word in ["quit", "exit"] {
        let left = said(&["repl"], &format!("{word}\noutput late = 1\n"));
        assert!(!left.contains("late") && !left.contains("E0"), "{left}");
    }
    assert!(said(&["repl"], "help\n").contains(":certificate"));
}

/// All components of a column of counts, and the day of a quantile of dates.
#[test]
fn sums_of_counts_and_quantiles_of_dates_are_shown_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (program, rows) = (folder.path().join("a.dpm"), folder.path().join("t.csv"));
    let text = "private t[4] { items: counts[3] of at_most(2), day: date in [\"2013-01-01\", \"2013-12-31\"] }\n\
                release s = sum(items) using geometric(scale = 0.001)\nrelease med = quantile(day, 0.5) using exponential(eps = 1000)\n";
    fs::write(&program, text).unwrap();
    fs::write(&rows, format!("items_1,items_2,items_3,day\n{}", "1,0,1,2013-06-15\n".repeat(4))).unwrap();
    let found = said(&["run", program.to_str().unwrap(), "--data", rows.to_str().unwrap(), "--anyway"], "");
    let line = |name: &str| found.lines().find(|l| l.contains(name)).unwrap_or(&found).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line("released s").contains("[ 4, 0, 4]"), "{found}");
    assert!(line("released med").contains("2013-06-1"), "{found}");
}

/// Text that was offered, and is no repair.
#[test]
fn advice_that_was_wrong_is_not_given() {
    let slope = |prior: &str| {
        format!(
            "budget eps(1)\nprivate t[100] {{ x: vector[2] in l2(1), y: bool }}\nparam w: vector[2] ~ {prior}\n\
             observe y ~ bernoulli_logit(dot(w, x))\nrelease d = draw(w) using diffuse\n"
        )
    };
    for (text, wrong, right) in [
        (slope("uniform(-5, 5)"), "normal(-5, 5)", "normal(0, "),
        (slope("student_t(3, 0, 2.5)"), "normal(3, 2.5)", "normal(0, 4.33)"),
        (
            "budget zcdp(0.5)\nprivate t[1000] { y: bool }\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease d = draw(p)\n"
                .to_owned(),
            "54.81",
            "posterior(p)",
        ),
    ] {
        let answer = checked(&text);
        assert!(!answer.contains(wrong) && answer.contains(right), "{answer}");
    }
}

#[test]
fn a_count_is_an_integer_and_few_draws_bound_nothing() {
    let count = "budget dp(eps = 1, delta = 1e-6)\nprivate t[1000] { y: bool }\nrelease c = count(y)\n";
    assert!(checked(count).contains("geometric"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dpm");
    fs::write(&path, count).unwrap();
    let audit = said(&["audit", path.to_str().unwrap(), "--trials", "20"], "");
    assert!(audit.contains("too few to contradict the certificate"), "{audit}");
}
