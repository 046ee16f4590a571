//! Amounts of privacy are the decimals that are written: they add up exactly, in the program and in the verifier.

use crate::numbers_support::{certified, error_of};
use dpm::analyze::{certificate_text, summary_text};
use dpm::verify::{Against, Verifier, digest};
use serde_json::{Value, json};

const TABLE: &str = "private t[60] { b: bool, two: int in 0..2, three: int in 0..3, four: int in 0..4, six: int in 0..6, seven: int in 0..7, \
                     eight: int in 0..8 }\n";
const POSTERIOR: &str = "param p ~ beta(0.5, 3)\nobserve b ~ bernoulli(p)\n";

/// One release a query with what stands after it.
fn program(budget: &str, releases: &[(&str, usize)]) -> String {
    let all = releases.iter().flat_map(|(text, times)| std::iter::repeat_n(*text, *times));
    let list: String = all.enumerate().map(|(i, text)| format!("release r{i} = {text}\n")).collect();
    let model = if list.contains("posterior") { POSTERIOR } else { "" };
    format!("budget {budget}\n{TABLE}{model}{list}")
}

fn verified(verifier: &Verifier, certificate: &Value) -> Vec<String> {
    verifier.verify(certificate, Against::default()).into_iter().map(|f| format!("{}: {}", f.path, f.text)).collect()
}

/// A budget, releases and how often each, and a smaller budget.
type Sum = (&'static str, &'static [(&'static str, usize)], &'static str);

/// Budgets that are met to the last digit, with the largest decimals below them that are not.
const EXACT: &[Sum] = &[
    ("eps(0.3)", &[("count(b) using laplace(scale = 10)", 1), ("count(b) using laplace(scale = 5)", 1)], "eps(0.29999999999999999)"),
    ("eps(1)", &[("count(b) using laplace(scale = 10)", 10)], "eps(0.99999999999999999)"),
    ("eps(0.3)", &[("count(b) using geometric(scale = 10)", 3)], "eps(0.29999999999999999)"),
    (
        "eps(0.3)",
        &[("posterior(p) using noise_aware(eps = 0.1)", 1), ("posterior(p) using noise_aware(eps = 0.2)", 1)],
        "eps(0.2999999999999999)",
    ),
    ("eps(0.21)", &[("sum(seven) using laplace(scale = 100)", 3)], "eps(0.20999999999999999)"),
    ("dp(eps = 1, delta = 1e-18)", &[("count(b) using laplace(scale = 10)", 10)], "dp(eps = 0.9999, delta = 1e-18)"),
    ("zcdp(0.5)", &[("count(b) using gaussian(sigma = 10)", 100)], "zcdp(0.49999999999999999)"),
    (
        "zcdp(0.3)",
        &[("posterior(p) using noise_aware(rho = 0.1)", 1), ("posterior(p) using noise_aware(rho = 0.2)", 1)],
        "zcdp(0.29999999999999999)",
    ),
    ("zcdp(1)", &[("posterior(p) using noise_aware(rho = 0.1)", 10)], "zcdp(0.99999999999999999)"),
    ("gdp(1)", &[("count(b) using gaussian(sigma = 10)", 100)], "gdp(0.99999999999999999)"),
    ("gdp(0.5)", &[("sum(three) using gaussian(sigma = 10)", 1), ("sum(four) using gaussian(sigma = 10)", 1)], "gdp(0.49999999999999999)"),
    ("rdp(order = 2, eps = 0.3)", &[("count(b) using gaussian(sigma = 10)", 30)], "rdp(order = 2, eps = 0.29999999999999999)"),
    (
        "rdp(order = [2, 8], eps = [0.1, 0.4])",
        &[("count(b) using gaussian(sigma = 10)", 10)],
        "rdp(order = [2, 8], eps = [0.1, 0.39999999999999999])",
    ),
    // Shares in percent, of budgets that no double holds.
    (
        "eps(0.1)",
        &[("sum(seven) using laplace(scale = 100) spend 70%", 1), ("sum(three) using laplace(scale = 100) spend 30%", 1)],
        "eps(0.09999999999999999)",
    ),
    (
        "gdp(0.1)",
        &[("sum(six) using gaussian(sigma = 100) spend 36%", 1), ("sum(eight) using gaussian(sigma = 100) spend 64%", 1)],
        "gdp(0.09999999999999999)",
    ),
    (
        "zcdp(0.3)",
        &[("posterior(p) using noise_aware(rho = 0.09) spend 30%", 1), ("posterior(p) using noise_aware(rho = 0.21) spend 70%", 1)],
        "zcdp(0.29999999999999999)",
    ),
    // Costs that are written: 0.1 + 0.2.
    (
        "eps(0.3)",
        &[("count(b) using laplace(scale = 10) spend eps(0.1)", 1), ("count(b) using laplace(scale = 5) spend eps(0.2)", 1)],
        "eps(0.29999999999999999)",
    ),
];

#[test]
fn written_noise_adds_up_exactly() {
    let verifier = Verifier::default();
    for (budget, releases, below) in EXACT {
        let found = certified(&program(budget, releases));
        let json = found.certificate.to_json();
        assert_eq!(json["budget"]["met"], json!(true), "{budget}");
        assert_eq!(verified(&verifier, &json), Vec::<String>::new(), "{budget}");
        assert!(["E0401", "E0402"].contains(&error_of(&program(below, releases))), "{below}");
        // One release more, or the first one twice.
        let more = [releases, &[(releases[0].0, 1)][..]].concat();
        assert!(["E0401", "E0402"].contains(&error_of(&program(budget, &more))), "{budget}");
    }
}

/// A certificate whose budget lies a last digit below its total, or whose total lies below its parts, is no certificate.
#[test]
fn the_verifier_adds_exactly_too() {
    let verifier = Verifier::default();
    let forged = |certificate: &Value, place: &str, from: f64| {
        let mut other = certificate.clone();
        let number = other.pointer_mut(place).unwrap_or_else(|| panic!("{place}"));
        assert_eq!(number.as_f64(), Some(from), "{place}");
        *number = json!(from.next_down());
        other["digest"] = digest(&other).into();
        verified(&verifier, &other)
    };
    for (budget, releases, limit, total) in [
        ("eps(0.3)", EXACT[0].1, ("/budget/epsilon", 0.3), ("/total/profile/pure", 0.3)),
        ("eps(1)", EXACT[1].1, ("/budget/epsilon", 1.0), ("/total/profile/pure", 1.0)),
        ("zcdp(0.5)", EXACT[6].1, ("/budget/rho", 0.5), ("/total/profile/zcdp", 0.5)),
        ("gdp(0.5)", EXACT[10].1, ("/budget/mu", 0.5), ("/total/profile/gdp", 0.5)),
    ] {
        let certificate = certified(&program(budget, releases)).certificate.to_json();
        for (place, from) in [limit, total] {
            let name = place.trim_start_matches('/').split('/').next().unwrap();
            let found = forged(&certificate, place, from);
            assert!(found.iter().any(|f| f.starts_with(name)), "{budget} {place}: {found:?}");
        }
    }
}

/// A number in a program is its decimal, as written: in totals, in what is left, and where no double holds its digits.
#[test]
fn amounts_are_decimals() {
    let two = &[("count(b) using laplace(scale = 10)", 1), ("count(b) using laplace(scale = 5)", 1)];
    let found = certified(&program("eps(0.4)", two));
    let total = found.total();
    assert_eq!((total.pure(), total.epsilon(0.0)), (0.3, 0.3));
    assert_eq!(found.analysis.budget.as_ref().unwrap().unspent, [0.1]);
    let summary = summary_text(&found.analysis);
    assert!(summary.contains("eps 0.3 ") && summary.contains("unspent 0.1\n"), "{summary}");
    for budget in ["eps(0.3)", "dp(eps = 0.3, delta = 1e-300)"] {
        certified(&program(budget, two));
        let less = budget.replace("0.3", "0.29999999999999999");
        assert!(["E0401", "E0402"].contains(&error_of(&program(&less, two))), "{less}");
        // Digits above it change nothing.
        certified(&program(&budget.replace("0.3", "0.30000000000000001"), two));
    }
}

/// A cost that is shown is never below the one that is used, by however little.
#[test]
fn costs_are_not_shown_below_what_they_are() {
    for (scale, eps) in
        [("0.99999999999", "1.01"), ("10", "0.1"), ("3", "0.334"), ("9.9999999999999", "0.101"), ("10.0000000000001", "0.1")]
    {
        let found = certified(&program("eps(2)", &[(&format!("count(b) using laplace(scale = {scale})"), 1)]));
        for text in [summary_text(&found.analysis), certificate_text(&found.certificate)] {
            assert!(text.contains(&format!("eps {eps} ")), "{scale}: {text}");
        }
    }
}
