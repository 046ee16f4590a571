//! `dpm expand`: the text that it prints is right, means the same, and is its own expansion.

use crate::docs::programs;
use dpm::model::{expand::expand, releases};
use dpm::pipeline::{self, Folder};
use dpm::run::Bound;
use dpm::source::render;
use std::fs;
use std::path::Path;

/// The expansion of a program, and what is certified of it; nothing of a program with errors.
fn expanded(place: &Path, text: &str) -> Result<(String, Vec<String>), String> {
    let checked = pipeline::check("p.dpm", text, &Folder::of(place));
    let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    match analysis {
        Some(analysis) if !diagnostics.iter().any(|d| d.is_error()) => {
            let claim = |r: &dpm::analyze::ReleaseAnalysis| format!("{} {:?}", r.name, r.chosen.as_ref().map(|c| &c.claim));
            let claims = analysis.releases.iter().map(claim).chain([format!("{:?}", analysis.total)]).collect();
            assert_eq!(analysis.releases.len(), releases(&checked.program.steps).len());
            Ok((expand(&checked.program, &checked.sources), claims))
        }
        _ => Err(render::text(&checked.sources, &diagnostics, false)),
    }
}

/// What is wrong with the expansion of a right program.
fn fault(place: &Path, text: &str) -> Option<String> {
    let (once, claims) = expanded(place, text).ok()?;
    match expanded(place, &once) {
        Err(said) => Some(format!("{text}\nas\n{once}\n{said}")),
        // A function that gives back its argument has a name of its own in every text.
        Ok((twice, again)) if twice.replace("whole_query", "whole") != once || again != claims => {
            Some(format!("{text}\nas\n{once}\nthen\n{twice}\n{claims:?}\n{again:?}"))
        }
        Ok(_) => None,
    }
}

#[test]
fn expansions_mean_what_programs_mean() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut count, mut faults) = (0, vec![]);
    for folder in ["examples", "examples/models", "tests/certified"] {
        for file in fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()) {
            if file.extension().is_some_and(|e| e == "dpm") {
                count += 1;
                let text = fs::read_to_string(&file).unwrap();
                assert!(folder == "tests/certified" || expanded(&file, &text).is_ok(), "{}", file.display());
                faults.extend(fault(&file, &text));
            }
        }
    }
    let pages = dpm::explain::pages().into_iter().map(|p| p.body).chain([fs::read_to_string(root.join("docs/counts.md")).unwrap()]);
    for (_, text) in pages.flat_map(|page| programs(&page)).filter(|(code, _)| code.is_empty()) {
        count += 1;
        faults.extend(fault(&root.join("p.dpm"), &text));
    }
    assert!(faults.is_empty(), "{} of {count}:\n{}", faults.len(), faults.join("\n\n"));
    assert!(count > 150, "{count}");
}

const TWO: &str = "budget dp(eps = 1, delta = 1e-6)
private t[n] { reg: public category {north, m}, g: category {a, b}, vote: bool, age: int in 0..99 }
public s[k] { reg: category {x, y}, g: category {a, b}, people: int in 0.. }
";

/// Names that two tables share, levels that have the name of a parameter, axes that are no columns, parts that models name.
#[test]
fn names_stay_apart() {
    for text in [
        "release cells = histogram(t.reg, t.g, vote)
param m ~ normal(0, 1)
param u: vector[t.reg, t.g] ~ normal(0, 1)
observe cells.vote ~ bernoulli_logit(u[reg, g] + (if reg == \"m\" then m else 0) + (if cells.reg == north then m else 0))
output post = posterior(m, u)
output one = post.u[north, b] + post.u[\"m\", a]
",
        "release cells = histogram(t.reg, vote)
param u: vector[t.reg] ~ normal(0, 1)
observe cells.vote ~ bernoulli_logit(u[cells.reg])
output post = posterior(u)
output one = post.u[north]
",
        "let old = age >= 65
release cells = histogram(old, bin(age, width = 5), vote)
param b ~ normal(0, 1)
param c: vector[old] ~ normal(0, 1)
observe cells.vote ~ bernoulli_logit(b * old + age * 0.01)
output post = posterior(b)
output first = cells[true, 70, false]
",
        "use std.rates
release cells = histogram(vote)
let a = rate(cells.vote, 2, 3)
output post = posterior(a)
output p = mean(post.a)
",
        "use std.rates
let a = rate(t.vote, 20, 30)
let p = rate(t.vote, 20, 30)
release both = draw(a, p) using beta_div assuming convergence
output gap = both.a - both.p
",
    ] {
        let text = format!("{TWO}{}", text.replace("c: vector[old] ~ normal(0, 1)", "c ~ normal(0, 1)"));
        let right = expanded(Path::new("p.dpm"), &text);
        assert!(right.is_ok(), "{text}\n{}", right.unwrap_err());
        if let Some(fault) = fault(Path::new("p.dpm"), &text) {
            panic!("{fault}");
        }
    }
}

/// A posterior of noisy cells is the release of its columns and the output of its posterior, at the same cost and of the same model.
#[test]
fn noisy_cells_are_written_out() {
    let head = "budget dp(eps = 1, delta = 1e-6)\nprivate t[n] { region: public category {north, south}, vote: bool, age: int in 0..99, pay: real in [0, 100] }\n";
    let model = |of: &str, t: &str| {
        format!(
            "param m ~ normal(0, 1)\nparam u: vector[region] ~ normal(0, 1)\nparam b ~ normal(0, 0.1)\n\
             observe {of}.vote ~ bernoulli_logit(m + u[{t}region] + b * ({t}pay - 50) + 0.01 * {t}age)\n"
        )
    };
    let edges = |step: usize, to: usize| {
        (1..).map(|i| (step * i).to_string()).take_while(|e| e.parse::<usize>().unwrap() < to).collect::<Vec<_>>().join(", ")
    };
    for using in ["", " using noisy_cells", " using noisy_cells spend 50%", " using gaussian", " using geometric(scale = 3)"] {
        let sugar = format!("{head}{}release post = posterior(m, u, b){using}\noutput one = post.m + post.u[north]\n", model("t", ""));
        let using = using.replace(" using noisy_cells", "");
        let long = format!(
            "{head}release post_cells = histogram(region, vote, bin(age, width = 6), bin(pay, width = 5)){using}\n{}\
             output post = posterior(m, u, b)\noutput one = post.m + post.u[north]\n",
            model("post_cells", "")
        );
        let (sugar, long) = (expanded(Path::new("p.dpm"), &sugar).unwrap(), expanded(Path::new("p.dpm"), &long).unwrap());
        assert_eq!(sugar, long);
        assert!(sugar.0.contains(&format!("bin(t.pay, [{}])", edges(5, 100))), "{}", sugar.0);
    }
}

/// A model of a module takes columns of released counts, numbers made of them as well.
#[test]
fn models_take_columns_of_released_counts() {
    let text = "model trend(y: bool, x: real, g) {
  param a: vector[g] ~ normal(0, 1)
  param b ~ normal(0, 1)
  observe y ~ bernoulli_logit(a[g] + b * x)
  return [a, b]
}
budget dp(eps = 1, delta = 1e-6)
private t[n] { reg: public category {north, south}, vote: bool, age: int in 0..3 }
release cells = histogram(reg, vote, age)
let w = trend(cells.vote, cells.age / 3, cells.reg)
output post = posterior(w)
output one = post.a[north] + post.b
";
    let (once, _) = expanded(Path::new("p.dpm"), text).unwrap();
    assert!(once.contains("observe cells.vote ~ bernoulli_logit(a[cells.reg] + (b * (cells.age / 3)))"), "{once}");
    assert_eq!(fault(Path::new("p.dpm"), text), None);
}

#[test]
fn a_mean_of_some_rows_is_written_out() {
    let head = "private t[n >= 900] { pay: real in [0, 200], age: int in 0..99, region: public category {north, south} }\n";
    for (budget, using, weight) in [
        ("eps(1)", "", "1"),
        ("dp(eps = 1, delta = 1e-6)", " spend 50%", "1"),
        ("dp(eps = 1, delta = 1e-6)", " using gaussian", "1.7"),
        ("zcdp(1)", "", "1.7"),
        ("zcdp(1)", " using laplace(scale = 5)", "1"),
    ] {
        let rest = "output between = interval(m, 0.9)\n";
        let sugar = format!("budget {budget}\n{head}release m = mean(pay, where = age >= 65){using}\n{rest}");
        let long = format!(
            "budget {budget}\n{head}release m_parts = sum((age >= 65) * [(pay - 100) / 100, {weight}]){using}\noutput m = quotient(m_parts, {weight}, 0, 200)\n{rest}"
        );
        let (sugar, long) = (expanded(Path::new("p.dpm"), &sugar).unwrap(), expanded(Path::new("p.dpm"), &long).unwrap());
        assert_eq!(sugar, long);
    }
    let public = format!("budget eps(1)\n{head}release m = mean(pay, where = region == north)\n");
    let text = expanded(Path::new("p.dpm"), &public).unwrap().0;
    assert!(text.contains("output m = quotient(m_parts, sum(t.region == north), 0, 200)"), "{text}");
}
