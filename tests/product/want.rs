//! `dpm compare --want`: what it prints is pasted back and holds, and a little less does not.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn dpm(folder: &Path, text: &str, words: &[&str]) -> (i32, String, String) {
    std::fs::write(folder.join("a.dpm"), text).unwrap();
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_dpm")).args(words).current_dir(folder).env_clear().output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// The answer as data, and what the text says.
fn want(folder: &Path, text: &str, wish: &str) -> (i32, Value, String) {
    let (code, out, said) = dpm(folder, text, &["compare", "a.dpm", "--want", wish, "--json"]);
    let answer = serde_json::from_str::<Value>(&out).unwrap_or_else(|_| panic!("{out}{said}"))["want"].clone();
    let (again, out, _) = dpm(folder, text, &["compare", "a.dpm", "--want", wish]);
    assert_eq!(code, again);
    (code, answer, out)
}

/// The predicted error of a release in the certificate; `None` where the program is refused.
fn error(folder: &Path, text: &str, release: &str) -> Option<f64> {
    let (code, out, said) = dpm(folder, text, &["certify", "a.dpm", "--json"]);
    if code != 0 {
        return None;
    }
    let certificate: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{said}"));
    let all = certificate["releases"].as_array().unwrap();
    all.iter().find(|r| r["name"] == release).unwrap()["predicted_error"]["value"].as_f64()
}

/// The text with one line replaced.
fn pasted(text: &str, line: usize, by: &str) -> String {
    text.lines().enumerate().map(|(i, old)| if i + 1 == line { format!("{by}\n") } else { format!("{old}\n") }).collect()
}

/// The next smaller number that is tried: of three digits; of small counts the one before.
fn less(x: f64, counts: bool) -> f64 {
    let unit = 10_f64.powf(x.log10().floor() - 2.0);
    if counts { x - unit.max(1.0) } else { format!("{:.2e}", x - unit).parse().unwrap() }
}

const BERNOULLI: &str = "private staff[n >= 100] { smoker: bool }\nparam p ~ beta(6, 18)\nobserve smoker ~ bernoulli(p)\n";

/// Programs, wishes, and the words of the first line of the answer.
fn answered() -> Vec<(String, &'static str, f64, [&'static str; 2])> {
    let rows = "private staff[200] { age: int in 18..90, y: real in [0, 1] }\n";
    vec![
        (format!("budget eps(0.5)\n{rows}release m = mean(y)\n"), "m", 0.01, ["eps = ", "n = "]),
        (format!("budget gdp(1)     # of all\n{rows}release m = mean(y) using gaussian\n"), "m", 0.005, ["mu = ", "n = "]),
        (format!("budget zcdp(0.1)\n{rows}release a = mean(age) spend 20%\nrelease m = mean(y)\n"), "a", 1.0, ["rho = ", "n = "]),
        (format!("budget dp(eps = 1, delta = 1e-6)\n{rows}release m = mean(y)\nrelease a = mean(age)\n"), "a", 2.0, ["eps = ", "n = "]),
        (format!("budget rdp(order = [2, 8], eps = [0.1, 0.5])\n{rows}release m = mean(y)\n"), "m", 0.02, ["eps at order 2 = ", "n = "]),
        (format!("budget rdp(order = 8, eps = 0.5)\n{BERNOULLI}release p_hat = draw(p)\n"), "p_hat", 0.043, ["eps = ", "n >= "]),
        // Met as it is: less would do.
        (format!("budget rdp(order = 8, eps = 0.5)\n{BERNOULLI}release p_hat = draw(p)\n"), "p_hat", 0.06, ["eps = ", "n >= "]),
        // Refused as it is: the noise that is written wants more.
        (format!("budget eps(0.1)\n{rows}release m = mean(y) using laplace(scale = 0.01)\n"), "m", 0.05, ["eps = ", "n = "]),
        (format!("budget eps(1)\n{BERNOULLI}release post = posterior(p)\n"), "post", 0.03, ["eps = ", "n >= "]),
    ]
}

#[test]
fn a_pasted_line_meets_the_wish_and_a_little_less_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (text, release, wish, names) in answered() {
        let (code, answer, out) = want(folder, &text, &format!("{release} within {wish}"));
        assert_eq!(code, 0, "{text}{out}");
        assert!(out.starts_with(&format!("{release} within {wish}: {}", names[0])), "{text}{out}");
        for (way, name) in [("budget", names[0]), ("rows", names[1])] {
            let found = &answer[way];
            let (x, line) = (found["value"].as_f64().unwrap(), found["text"].as_str().unwrap());
            let (first, _) = out.split_once('\n').unwrap();
            assert!(first.contains(&format!("{name}{x} at ")) && out.contains(&format!("\n{line}\n")), "{text}{out}");
            let number = usize::try_from(found["line"].as_u64().unwrap()).unwrap();
            let met = error(folder, &pasted(&text, number, line), release);
            assert!(met == found["predicted_error"].as_f64() && met.is_some_and(|e| e <= wish), "{met:?}\n{text}{out}");
            // In a budget of several numbers the first alone is less; that has to do.
            let short = line.replacen(&x.to_string(), &less(x, way == "rows").to_string(), 1);
            assert_ne!(short, line, "{x} {out}");
            let missed = error(folder, &pasted(&text, number, &short), release);
            assert!(missed.is_none_or(|e| e > wish), "{missed:?}\n{short}\n{text}{out}");
        }
    }
}

#[test]
fn what_cannot_be_reached_is_said_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cases = [
        // A draw is never nearer than the posterior is wide; more rows help.
        (
            "budget zcdp(0.1)\nprivate t[500] { y: real in [0, 200] }\nparam mu ~ normal(60, 40)\nobserve y ~ normal(mu, 30)\n\
             release d = draw(mu)\n",
            "d within 1",
            0,
            vec!["d within 1: n = 9", "rho = 100 at n = 500 is not enough", "the spread of the posterior itself"],
        ),
        ("budget eps(1)\nprivate t[private n] { y: bool }\nrelease c = count(y)\n", "c within 2", 0, vec!["eps = ", "is secret"]),
        ("budget eps(1)\nprivate t[n] { y: bool }\nrelease c = count(y)\n", "c within 2", 0, vec!["100 rows (none are declared)"]),
        (
            "budget eps(1)\nprivate t[500] { y: bool }\nrelease c = count(y) spend eps(0.1)\nrelease b = count(not y)\n",
            "c within 2",
            1,
            vec!["cannot be reached", "the budget makes no difference", "the number of rows makes no difference", "has a fixed cost"],
        ),
        (
            "budget eps(1)\nprivate t[100] { y: bool }\nrelease m = mean(y)\n",
            "m within 0.0005",
            0,
            vec!["eps = 60", "promises next to nothing (W0501)"],
        ),
        ("private t[500] { y: bool }\nrelease c = count(y) using geometric(scale = 2)\n", "c within 1", 1, vec!["has no budget"]),
        (
            "budget eps(1)\nprivate t[500] { y: bool }\nrelease c = count(y)\nexpect certificate(total) <= eps(1)\n",
            "c within 2",
            0,
            vec!["after this change an expectation fails: expect certificate(total) <= eps(1)"],
        ),
    ];
    for (text, wish, exit, words) in cases {
        let (code, _, out) = want(folder, text, wish);
        assert_eq!(code, exit, "{text}{out}");
        for word in words {
            assert!(out.contains(word), "{word}\n{text}{out}");
        }
    }
}

#[test]
fn a_wish_in_other_words_is_wrong_use() {
    let folder = tempfile::tempdir().unwrap();
    let text = "budget eps(1)\nprivate t[500] { y: bool }\nrelease c = count(y)\n";
    for wish in [
        "",
        "c",
        "c in 2",
        "c within",
        "c within two",
        "c within 0",
        "c within -1",
        "c within inf",
        "c within nan",
        "c within 2 rows",
        "d within 2",
    ] {
        let (code, out, said) = dpm(folder.path(), text, &["compare", "a.dpm", "--want", wish]);
        assert_eq!((code, out.as_str()), (2, ""), "{wish}: {said}");
        assert!(said.contains("within 0.02") || said.contains("RELEASE within ERROR"), "{wish}: {said}");
    }
}
