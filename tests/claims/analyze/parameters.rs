//! Every parameter of every mechanism, wherever it is printed, beside the value that is used: noise and beta are never
//! shown below it, weights and losses never above it, anything else is shown as it is.

use super::*;
use dpm::analyze::{Parameter, candidates_text, certificate_text, mechanism_names, summary_text};
use dpm::check::NoFiles;
use dpm::compiled::{Compiled, compile, locked};
use dpm::pipeline;
use dpm::report::page;
use dpm::run::Bound;
use std::cmp::Ordering;
use std::collections::BTreeSet;

const COUNTS: &str = "private t[60] { y: bool }\nparam p ~ beta(6, 18)\nobserve y ~ bernoulli(p)\nrelease x = draw(p)";
const WHOLE: &str = "private t[60] { y: bool }\nparam p ~ beta(0.5, 3)\nobserve y ~ bernoulli(p)\nrelease x = posterior(p)";
const THREE: &str =
    "private t[n] { y: category {a, b, c} }\nparam p ~ dirichlet([1, 1, 1])\nobserve y ~ categorical(p)\nrelease x = posterior(p)";
const RATE: &str = "private t[private n] { y: int in 0..7 }\nparam p ~ gamma(2, 1)\nobserve y ~ poisson(p)\nrelease x = posterior(p)";
const WEIGHTS: &str = "private t[n >= 1000] { v: vector[2] in l2(1.3), y: real in [-3, 3] }\nparam w: vector[2] ~ normal(0, 1)\n\
                       observe y ~ normal(dot(w, v), 0.5)\nrelease x = posterior(w)";
const LOGIT: &str = "private t[n >= 1000] { v: vector[3] in l2(1.3), y: bool }\nparam w: vector[3] ~ normal(0, 1)\n\
                     observe y ~ bernoulli_logit(dot(w, v))\nrelease x = draw(w)";
const LOOK: &str = "private t[n >= 1000] { v: vector[3] in l2(1.3), y: bool }\nparam w: vector[3] ~ normal(0, 1)\n\
                    observe y ~ bernoulli_logit(dot(w, v))\nrelease x = posterior(w)";
const CUT: &str = "private t[n] { v: vector[2] in l2(1), y: bool }\nparam w: vector[2] in l2(2) ~ normal(0, 1)\n\
                   observe y ~ bernoulli_logit(dot(w, v))\nrelease x = draw(w)";
const SUM: &str = "private t[n >= 500] { y: int in 0..7 }\nrelease x = sum(y)";
const SHARE: &str = "private t[n >= 500] { y: bool }\nrelease x = mean(y)";
const RANK: &str = "private t[n >= 500] { y: real }\nrelease x = quantile(y, 0.5)";

/// A model, a kind of budget, and what stands after `using`: every mechanism with its number solved, then every argument written.
const PROGRAMS: &[(&str, &str, &str)] = &[
    (COUNTS, "rdp", "diffuse"),
    (COUNTS, "rdp", "concentrated"),
    (COUNTS, "", "direct"),
    (COUNTS, "", "diffuse(r = 0.123456)"),
    (COUNTS, "", "concentrated(m = 0.123456)"),
    (LOGIT, "zcdp", "diffuse"),
    (LOGIT, "zcdp", "gibbs"),
    (LOGIT, "", "gibbs(weight = 0.0123456, sampler = langevin, steps = 1234)"),
    (LOGIT, "zcdp", "refined"),
    (LOGIT, "", "refined(sigma = 12.3456)"),
    (LOOK, "zcdp", "score_statistics"),
    (LOOK, "", "score_statistics(sigma = 12.3456, sigma_products = 23.4567)"),
    (SUM, "eps", "laplace"),
    (SUM, "", "laplace(scale = 12.3456)"),
    (SUM, "eps", "geometric"),
    (SUM, "", "geometric(scale = 12.3456)"),
    (SUM, "zcdp", "gaussian"),
    (SUM, "", "gaussian(sigma = 12.3456)"),
    (SHARE, "rdp", "beta_query(6.78912, 18.9123)"),
    (SHARE, "", "beta_query(a = 6.78912, b = 18.9123, r = 0.123456)"),
    (SHARE, "", "beta_query(a = 6.78912, b = 18.9123, m = 0.123456)"),
    (RANK, "eps", "exponential(-12.3456, 1234.5)"),
    (RANK, "", "exponential(lo = -12.3456, hi = 1234.5, eps = 0.123456)"),
    (WHOLE, "eps", "noise_aware"),
    (WHOLE, "zcdp", "noise_aware"),
    (WHOLE, "", "noise_aware(eps = 0.123456)"),
    (WHOLE, "", "noise_aware(rho = 0.123456)"),
    (THREE, "zcdp", "noise_aware"),
    (RATE, "eps", "noise_aware"),
    (RATE, "zcdp", "noise_aware"),
    (RATE, "", "noise_aware(eps = 0.123456)"),
    (RATE, "", "noise_aware(rho = 0.123456)"),
    (WEIGHTS, "zcdp", "noise_aware"),
    (WEIGHTS, "", "noise_aware(rho = 0.123456)"),
    (WHOLE, "eps", "plug_in"),
    (WHOLE, "zcdp", "plug_in"),
    (WHOLE, "", "plug_in(eps = 0.123456)"),
    (WHOLE, "", "plug_in(rho = 0.123456)"),
    (WHOLE, "eps", "ls_hist"),
    (WHOLE, "", "ls_hist(eps = 0.123456)"),
    (THREE, "eps", "ls_dim"),
    (THREE, "", "ls_dim(eps = 0.123456)"),
    (WHOLE, "eps", "ehd"),
    (WHOLE, "", "ehd(eps = 0.123456, calibration = exact)"),
    (WHOLE, "eps", "ehds"),
    (WHOLE, "", "ehds(eps = 0.123456, gamma = 0.123456, calibration = exact)"),
    (LOGIT, "eps", "beta_div assuming convergence"),
    (LOGIT, "", "beta_div(beta = 1.0000012345, weight = 0.123456, sampler = slice, steps = 1234) assuming convergence"),
    (LOGIT, "", "beta_div(beta = 1234.5678) assuming convergence"),
    (CUT, "eps", "ops assuming convergence"),
    (CUT, "", "ops(weight = 0.123456, sampler = nuts, steps = 1234) assuming convergence"),
    (LOGIT, "zcdp", "penalty"),
    (LOGIT, "zcdp", "penalty(weight = 0.123456)"),
    (LOGIT, "zcdp", "penalty(sigma = 12.3456, weight = 0.123456)"),
    (LOGIT, "", "penalty(iterations = 1234, sigma = 12.3456, step = 0.123456, beta = 1.23456, weight = 0.123456)"),
    (LOGIT, "zcdp", "dp_hmc"),
    (LOGIT, "zcdp", "dp_hmc(sigma = 12.3456, gradient_sigma = 123.456, weight = 0.123456)"),
    (
        LOGIT,
        "",
        "dp_hmc(iterations = 1234, steps = 1234, clip = 1.23456, sigma = 12.3456, gradient_sigma = 123.456, step = 0.123456, beta = 1.23456, weight = 0.123456)",
    ),
    (LOGIT, "zcdp", "dp_sgld"),
    (
        LOGIT,
        "",
        "dp_sgld(iterations = 1234, batch = 123, clip = 1.23456, sigma = 12.3456, step = 0.123456, beta = 1.23456, weight = 0.123456)",
    ),
];

/// Two budgets of each kind: their solutions have other digits.
fn budgets(kind: &str) -> &'static [&'static str] {
    match kind {
        "eps" => &["budget eps(0.7)\n", "budget eps(1.9)\n"],
        "zcdp" => &["budget zcdp(0.037)\n", "budget zcdp(0.41)\n"],
        "rdp" => &["budget rdp(order = 8, eps = 0.5)\n", "budget rdp(order = 3, eps = 0.0123)\n"],
        _ => &[""],
    }
}

/// Arguments that are words, and numbers that no certificate rests on and none shows.
const UNSEEN: [&str; 3] = ["sampler", "calibration", "grid"];

/// What a shown value may be, beside the one that is used.
fn side(name: &str) -> Ordering {
    match name {
        "scale" | "scale_rows" | "sigma" | "sigma_rows" | "sigma_products" | "gradient_sigma" | "beta" => Ordering::Greater,
        "r" | "m" | "mu" | "weight" | "eps" | "rho" | "calibrated" => Ordering::Less,
        "a" | "b" | "lo" | "hi" | "gamma" | "iterations" | "steps" | "batch" | "clip" | "step" => Ordering::Equal,
        other => panic!("{other}: on which side may it be shown?"),
    }
}

/// The numbers behind `name =` in a text.
fn shown(text: &str, name: &str) -> Vec<f64> {
    let wanted = format!("{name} = ");
    let found = text.match_indices(&wanted).filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    let number = |at: usize| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c))).unwrap_or(rest.len());
        rest[..end].trim_end_matches('.').parse().ok()
    };
    found.filter_map(|(at, _)| number(at + wanted.len())).collect()
}

/// What is wrong with a number as shown at a place.
fn fault(name: &str, shown: f64, used: f64, place: &str) -> Option<String> {
    let right = match side(name) {
        Ordering::Greater => shown >= used && shown <= used * 1.011,
        Ordering::Less => shown <= used && shown >= used * 0.989,
        Ordering::Equal => shown == used,
    };
    (!right).then(|| format!("{name} is {used}, and shown as {shown}: {place}"))
}

/// All parameters of a release in one text, where each has to be.
fn faults_in(chosen: &Chosen, text: &str) -> Vec<String> {
    let of = |p: &Parameter| {
        let found = shown(text, p.name);
        let missing = found.is_empty().then(|| format!("{} is not shown: {text}", p.name));
        found.into_iter().filter_map(|x| fault(p.name, x, p.value, text)).chain(missing).collect::<Vec<_>>()
    };
    chosen.parameters.iter().flat_map(of).collect()
}

/// Noise in the words of premises: each number is that of a parameter.
fn faults_in_premises(chosen: &Chosen) -> Vec<String> {
    let noise = |p: &&Parameter| side(p.name) == Ordering::Greater && p.name != "beta";
    let numbers = |text: &str, word: &str| -> Vec<f64> {
        let rest = text.match_indices(word).map(|(at, _)| text[at + word.len()..].split([' ', ',']).next().unwrap());
        rest.filter_map(|n| n.parse().ok()).collect()
    };
    let strange = |text: &String| {
        let close = |x: f64, p: &Parameter| x >= p.value && x <= p.value * 1.0011;
        let all = [numbers(text, "scale "), numbers(text, "sd ")].concat();
        all.into_iter().any(|x| !chosen.parameters.iter().filter(noise).any(|p| close(x, p)))
    };
    chosen.premises.iter().filter(|p| strange(&p.text)).map(|p| format!("{}: {:?}", p.text, chosen.parameters)).collect()
}

fn compiled(text: &str) -> Compiled {
    let rejected = |r: dpm::compiled::Rejected| panic!("{text}\n{}", render::text(&r.sources, &r.diagnostics, false));
    compile(pipeline::check("test.dpm", text, &NoFiles), Bound::default()).unwrap_or_else(rejected)
}

/// The arguments that a mechanism takes, by its own complaint about another.
fn arguments(mechanism: &str) -> Vec<String> {
    let using = format!("{mechanism}(nonsense = 1)");
    let complaints = PROGRAMS.iter().filter(|(_, _, u)| u.starts_with(mechanism)).flat_map(|(model, ..)| {
        let read = read(&format!("{model} using {using}"));
        read.diagnostics.into_iter().filter(|d| d.code == "E0208").flat_map(|d| d.help).map(|h| h.code)
    });
    let list = complaints.last().unwrap_or_else(|| panic!("{mechanism} is not among the programs"));
    let inside = list.split_once('(').map_or("", |(_, inside)| inside);
    inside.split([',', ')']).filter_map(|a| a.split_once(" = ")).map(|(name, _)| name.trim().to_owned()).collect()
}

#[test]
fn parameters_are_shown_on_their_private_side() {
    let mut seen: BTreeSet<(String, &str)> = BTreeSet::new();
    let mut faults = vec![];
    for (model, kind, using) in PROGRAMS {
        for budget in budgets(kind) {
            let c = compiled(&format!("{budget}{model} using {using}\n"));
            let chosen = c.analysis.releases[0].chosen.as_ref().unwrap();
            seen.extend(chosen.parameters.iter().map(|p| (chosen.mechanism.name.to_owned(), p.name)));
            let report = page(&c, None);
            let report = report.split_once("Parameters: ").unwrap().1.split_once(". Sampler").unwrap().0;
            for place in [certificate_text(&c.certificate).lines().next().unwrap(), &summary_text(&c.analysis), report] {
                faults.extend(faults_in(chosen, place));
            }
            faults.extend(faults_in_premises(chosen));
            // What is locked is what was solved, to the last digit.
            let locked = locked(&c.checked, &c.analysis);
            for p in chosen.parameters.iter().filter(|p| p.solved) {
                assert_eq!(shown(&locked, p.name), [p.value], "{locked}");
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let names: BTreeSet<&str> = mechanism_names().filter(|m| *m != "auto").collect();
    for mechanism in names {
        for argument in arguments(mechanism) {
            let number = !UNSEEN.contains(&argument.as_str());
            // The length of a chain that has a sampler is not part of its claim.
            let length = argument == "steps" && mechanism != "dp_hmc";
            assert_eq!(seen.iter().any(|(m, a)| m == mechanism && *a == argument), number && !length, "{mechanism}({argument})");
        }
    }
}

#[test]
fn comparisons_show_them_so() {
    let (mut faults, mut seen) = (vec![], BTreeSet::new());
    for model in [COUNTS, WHOLE, RATE, WEIGHTS, LOGIT, CUT, SUM] {
        for budget in ["eps", "zcdp", "rdp"].into_iter().flat_map(budgets) {
            let all = read_with(&format!("{budget}{model} using ?\n"), &Unbound::default(), true);
            let release = &all.analysis.releases[0];
            let text = candidates_text(release);
            for c in &release.candidates {
                assert!(text.contains(&c.reason));
                for (p, x) in c.parameters.iter().flat_map(|p| shown(&c.reason, p.name).into_iter().map(move |x| (p, x))) {
                    faults.extend(fault(p.name, x, p.value, &c.reason));
                    // Only a number that is cut tells one side from the other.
                    if x != p.value {
                        seen.insert((c.mechanism, p.name));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for (mechanism, name) in [("diffuse", "r"), ("concentrated", "m"), ("laplace", "scale"), ("gibbs", "weight")] {
        assert!(seen.contains(&(mechanism, name)), "{mechanism} {name} is not among {seen:?}");
    }
}

/// A Help line that offers a solved number: its text is pasted, and the number is the one that is solved then.
#[test]
fn help_lines_show_what_is_solved() {
    for (model, kind, using) in [
        (COUNTS, "rdp", "diffuse(r = 0.999)"),
        (COUNTS, "rdp", "concentrated(m = 0.999)"),
        (LOGIT, "zcdp", "gibbs(weight = 1)"),
        (SUM, "eps", "laplace(scale = 1.1)"),
        (SUM, "eps", "geometric(scale = 1.1)"),
        (SUM, "zcdp", "gaussian(sigma = 1.1)"),
        (SHARE, "rdp", "beta_query(6, 18, r = 0.999)"),
        (RANK, "eps", "exponential(-12, 1234, eps = 3)"),
        (WHOLE, "eps", "noise_aware(eps = 3)"),
        (RATE, "zcdp", "noise_aware(rho = 3)"),
        (WHOLE, "zcdp", "plug_in(rho = 3)"),
        (WHOLE, "eps", "ls_hist(eps = 3)"),
        (WHOLE, "eps", "ehds(eps = 3)"),
        (LOGIT, "eps", "beta_div(beta = 1.1) assuming convergence"),
        (CUT, "eps", "ops(weight = 1) assuming convergence"),
        (LOGIT, "zcdp", "penalty(sigma = 0.1, iterations = 300, weight = 1)"),
        (LOGIT, "zcdp", "dp_hmc(sigma = 0.1, iterations = 300, weight = 1)"),
        (LOGIT, "zcdp", "dp_sgld(sigma = 0.1)"),
    ] {
        for budget in budgets(kind) {
            let refused = read(&format!("{budget}{model} using {using}\n"));
            let help = refused.diagnostics.iter().find(|d| matches!(d.code, "E0401" | "E0301")).unwrap().help.clone();
            let mut offered = 0;
            for line in &help {
                let Some(pasted) = line.code.strip_prefix("using ") else { continue };
                for knob in ["r", "m", "weight", "scale", "sigma", "eps", "rho", "beta"] {
                    for x in shown(&line.effect, knob) {
                        let solved = read(&format!("{budget}{model} using {pasted}\n"));
                        // What is pasted fits, also where the number is a cost.
                        let Some(used) = solved.chosen("x").parameters.iter().find(|p| p.name == knob) else { continue };
                        assert_eq!(fault(knob, x, used.value, &line.to_string()), None);
                        offered += 1;
                    }
                }
            }
            assert!(offered > 0, "{using}\n{help:?}");
        }
    }
}

/// What one row moves, in the words of a premise, is no less than it is: the square root of 2.
#[test]
fn a_premise_does_not_round_a_sensitivity_down() {
    let c = compiled(&format!("budget zcdp(0.1)\n{THREE} using noise_aware\n"));
    let chosen = c.analysis.releases[0].chosen.as_ref().unwrap();
    let words = chosen.premises.iter().find_map(|p| p.text.split_once("moves by at most ")).unwrap().1;
    let moved: f64 = words.split(' ').next().unwrap().parse().unwrap();
    assert!((2.0_f64.sqrt()..1.4151).contains(&moved), "{words}");
}
