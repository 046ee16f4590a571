//! What models of released counts predict, against sums over every table of exact counts.

use crate::fits::{ln_choose, outputs, rounded};
use dpm::run::{Results, Value};

const N: u64 = 50;
const SIGMA: f64 = 6.0;

fn votes(more: &str) -> String {
    format!(
        "budget gdp(9)\nprivate t[n] {{ vote: bool }}\nparam p ~ beta(2, 2)\nrelease cells = histogram(vote) using gaussian(sigma = 6)\n\
         observe cells.vote ~ bernoulli(p)\noutput post = posterior(p)\n{more}"
    )
}

fn asked(more: &str, noisy: [i128; 2]) -> Results {
    outputs(&votes(more), &format!("vote\n{}", "1\n".repeat(N as usize)), &noisy)
}

fn part<'r>(results: &'r Results, name: &str, part: &str) -> &'r Value {
    let found = results.outputs.iter().find(|(n, ..)| n == name);
    let Some((_, Value::Record(parts), _)) = found else { panic!("{name}: {found:?}") };
    &parts.iter().find(|(n, _)| n == part).unwrap().1
}

fn numbers(results: &Results, name: &str, of: &str) -> Vec<f64> {
    part(results, name, of).numbers()
}

/// Shares with a weight each, at the middle of 1,000 intervals.
fn shares(weight: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let all: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).map(|p| (p, p * (1.0 - p) * weight(p))).collect();
    let sum: f64 = all.iter().map(|(_, w)| w).sum();
    all.into_iter().map(|(p, w)| (p, w / sum)).collect()
}

fn binomial(n: u64, c: u64, p: f64) -> f64 {
    (ln_choose(n, c) + c as f64 * p.ln() + (n - c) as f64 * (1.0 - p).ln()).exp()
}

/// `p(noisy | p)`, also without one of the two counts.
fn likelihood(noisy: [i128; 2], p: f64, seen: [bool; 2]) -> f64 {
    of_rows(noisy, (N, SIGMA), p, seen)
}

fn of_rows(noisy: [i128; 2], (n, sigma): (u64, f64), p: f64, seen: [bool; 2]) -> f64 {
    let noise = |i: usize, c: u64| if seen[i] { rounded(noisy[i] as f64 - c as f64, sigma) } else { 1.0 };
    (0..=n).map(|c| binomial(n, c, p) * noise(0, n - c) * noise(1, c)).sum()
}

/// Mean and the quantiles at 5 % and 95 % of the second noisy count under shares with these weights.
fn predicted(shares: &[(f64, f64)]) -> [f64; 3] {
    let chance = |c: u64| shares.iter().map(|(p, w)| w * binomial(N, c, *p)).sum::<f64>();
    let counts: Vec<f64> = (0..=N).map(chance).collect();
    let law: Vec<(f64, f64)> = (-60..120)
        .map(|y| (f64::from(y), counts.iter().zip(0..).map(|(w, c)| w * rounded(f64::from(y) - f64::from(c), SIGMA)).sum()))
        .collect();
    let quantile = |q: f64| {
        let mut below = 0.0;
        law.iter().find(|(_, w)| (below += w, below >= q).1).unwrap().0
    };
    [law.iter().map(|(y, w)| y * w).sum(), quantile(0.05), quantile(0.95)]
}

#[test]
fn checks_agree_with_sums_over_all_tables() {
    let noisy = [17, 38];
    let found =
        asked("output before = prior(p)\noutput first = predictive(cells, before)\noutput check = predictive(cells, post)\n", noisy);
    for (name, law) in [("first", shares(|_| 1.0)), ("check", shares(|p| likelihood(noisy, p, [true; 2])))] {
        assert_eq!(numbers(&found, name, "released"), [17.0, 38.0]);
        let [mean, low, high] = predicted(&law);
        let [m, l, h] = ["mean", "low", "high"].map(|of| numbers(&found, name, of)[1]);
        assert!((m - mean).abs() < 0.8 && (l - low).abs() <= 1.5 && (h - high).abs() <= 1.5, "{name}: {m} {l} {h}, {mean} {low} {high}");
        // The noise is in it: without it the interval of the posterior would be half as wide.
        assert!(h - l > 20.0);
    }
    assert_eq!(numbers(&found, "check", "within"), [2.0]);
}

/// A prior that the counts contradict, and stays: the check sees it.
#[test]
fn a_wrong_model_fails_its_check() {
    let text = votes("output check = predictive(cells, post)\n").replace("beta(2, 2)", "beta(2000, 2000)");
    let rows = format!("vote\n{}", "1\n".repeat(N as usize));
    let found = outputs(&text, &rows, &[4, 47]);
    assert_eq!(numbers(&found, "check", "within"), [0.0], "{:?}", found.outputs);
}

/// Independent draws, and the normal form of the likelihood, would be off by 0.03 (one sd, and at most); these chains, whose draws are worth a
/// third, by three times 0.045 and 0.03.
#[test]
fn every_cell_from_the_others() {
    for noisy in [[17, 38], [-4, 51], [30, 30]] {
        let found = asked("output fit = loo(post)\n", noisy);
        let all = |seen| shares(|_| 1.0).iter().map(|(p, w)| w * likelihood(noisy, *p, seen)).sum::<f64>().ln();
        let exact = [all([true, true]) - all([false, true]), all([true, true]) - all([true, false])];
        let (cells, elpd) = (numbers(&found, "fit", "cells"), numbers(&found, "fit", "elpd")[0]);
        for (found, exact) in cells.iter().zip(exact) {
            assert!((found - exact).abs() < 0.165, "{noisy:?}: {found} for {exact}");
        }
        assert!((elpd - cells.iter().sum::<f64>()).abs() < 1e-9);
        // Counts that sum to 60 instead of 50 contradict each other: there one of them changes the posterior by much.
        let trusted = numbers(&found, "fit", "k").iter().all(|k| *k <= 0.7);
        assert!(trusted == found.warnings.is_empty() && (trusted || noisy != [17, 38]), "{noisy:?} {:?}", found.warnings);
    }
}

const REGIONS: &str = "budget gdp(9)\nprivate t[n] { region: public category {a, b, c, d}, vote: bool }\n\
    release cells = histogram(region, vote) using gaussian(sigma = 4)\n\
    param u: vector[region] ~ normal(0, 1.5)\nobserve cells.vote ~ bernoulli_logit(u[region])\noutput post = posterior(u)\n\
    param p ~ beta(1, 1)\nobserve cells.vote ~ bernoulli(if region == a then p else p)\noutput one = posterior(p)\n";

fn regions(more: &str, noisy: [i128; 8]) -> Results {
    outputs(&format!("{REGIONS}{more}"), &format!("region,vote\n{}", "a,1\nb,0\nc,1\nd,0\n".repeat(100)), &noisy)
}

/// The difference of the densities of all cells, each left out in turn, by integrals over shares.
fn exactly(noisy: [i128; 8]) -> f64 {
    let shares: Vec<f64> = (0..200).map(|i| (f64::from(i) + 0.5) / 200.0).collect();
    let normal = |p: f64| (-0.5 * ((p / (1.0 - p)).ln() / 1.5).powi(2)).exp() / (p * (1.0 - p));
    let seen = [[true, true], [false, true], [true, false]];
    let of = |r: usize, seen| shares.iter().map(|p| of_rows([noisy[2 * r], noisy[2 * r + 1]], (100, 4.0), *p, seen)).collect::<Vec<f64>>();
    let regions: Vec<[Vec<f64>; 3]> = (0..4).map(|r| seen.map(|s| of(r, s))).collect();
    let own = |density: &[f64]| density.iter().zip(&shares).map(|(d, p)| d * normal(*p)).sum::<f64>().ln();
    let all = |left: usize, density: &[f64]| {
        let others = |i: usize| (0..4).filter(|r| *r != left).map(|r| regions[r][0][i]).product::<f64>();
        density.iter().enumerate().map(|(i, d)| d * others(i)).sum::<f64>().ln()
    };
    let gain = |of: &dyn Fn(&[f64]) -> f64, r: usize| 2.0 * of(&regions[r][0]) - of(&regions[r][1]) - of(&regions[r][2]);
    (0..4).map(|r| gain(&own, r) - gain(&|d| all(r, d), r)).sum()
}

#[test]
fn models_are_compared() {
    let more = "output better = loo_compare(post, one)\noutput back = loo_compare(one, post)\n";
    for noisy in [[20, 80, 80, 20, 30, 70, 70, 30], [50, 50, 51, 49, 48, 52, 50, 50]] {
        let found = regions(more, noisy);
        let (elpd, se) = (numbers(&found, "better", "elpd_diff")[0], numbers(&found, "better", "se_diff")[0]);
        let exact = exactly(noisy);
        assert!((elpd - exact).abs() < 0.8, "{elpd} for {exact}");
        assert_eq!(numbers(&found, "back", "elpd_diff"), [-elpd]);
        // Where regions differ the model with regions is better, and where they do not it is hardly worse.
        assert!(if noisy[0] == 20 { elpd > 3.0 * se && elpd > 10.0 } else { elpd < 0.5 && se < 1.0 }, "{elpd} {se}");
    }
}

/// A cell that alone says what a parameter is: leaving it out changes all, and the warning names it.
#[test]
fn cells_that_decide_are_named() {
    let text = "budget gdp(9)\nprivate t[n] { kind: category {a, b, c, d, e} }\nparam s ~ dirichlet([0.1, 0.1, 0.1, 0.1, 0.1])\n\
        release cells = histogram(kind) using gaussian(sigma = 1)\nobserve cells.kind ~ categorical(s)\noutput post = posterior(s)\noutput fit = loo(post)\n";
    let found = outputs(text, &format!("kind\n{}", "a\n".repeat(2000)), &[1997, 0, 1, -1, 3]);
    let k = numbers(&found, "fit", "k");
    let bad: Vec<&str> = k.iter().zip(["a", "b", "c", "d", "e"]).filter(|(k, _)| k.is_nan() || **k > 0.7).map(|(_, n)| n).collect();
    assert_eq!(found.warnings.is_empty(), bad.is_empty(), "{k:?} {:?}", found.warnings);
    assert!(!bad.is_empty() && found.warnings[0].ends_with(&format!(": {}", bad.join("; "))), "{k:?} {:?}", found.warnings);
}

/// All rows of a set come from one draw: sets differ as the posterior does, not as rows do.
#[test]
fn made_up_rows_come_from_one_draw() {
    let sets: String = (0..60).map(|i| format!("output set{i} = simulate(cells, post, rows = 1000000)\n")).collect();
    let found = asked(&sets, [17, 38]);
    let share = |(_, v, _): &(String, Value, _)| {
        let counts = v.numbers();
        assert_eq!(counts.iter().sum::<f64>(), 1e6);
        counts[1] / 1e6
    };
    let all: Vec<f64> = found.outputs.iter().skip(1).map(share).collect();
    let (mean, sd) = {
        let mean = all.iter().sum::<f64>() / 60.0;
        (mean, (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 59.0).sqrt())
    };
    let law = shares(|p| likelihood([17, 38], p, [true; 2]));
    let exact = law.iter().map(|(p, w)| p * w).sum::<f64>();
    let spread = law.iter().map(|(p, w)| w * (p - exact).powi(2)).sum::<f64>().sqrt();
    // Five standard errors each; rows alone would give a spread of 0.0005.
    assert!((mean - exact).abs() < 5.0 * spread / 60f64.sqrt() && (sd / spread - 1.0).abs() < 0.46, "{mean} {exact} {sd} {spread}");
    assert_eq!(found.warnings.len(), 60);
}

/// The same record answers the same, and what a check asks does not move the draws.
#[test]
fn the_same_record_has_the_same_answers() {
    let more =
        "output check = predictive(margin(cells, region), post)\noutput fit = loo(post)\noutput rows = simulate(cells, post, rows = 100)\n";
    let noisy = [20, 80, 80, 20, 30, 70, 70, 30];
    let (a, b) = (regions(more, noisy), regions(more, noisy));
    assert_eq!(a.outputs, b.outputs);
    assert_eq!(a.outputs[0], regions("", noisy).outputs[0]);
    // A margin of a public column is its size, with the noise of two cells.
    assert_eq!(numbers(&a, "check", "released"), [100.0; 4]);
    for (low, high) in numbers(&a, "check", "low").iter().zip(numbers(&a, "check", "high")) {
        let half = 1.645 * 4.0 * 2f64.sqrt();
        assert!((low - 100.0 + half).abs() < 1.5 && (high - 100.0 - half).abs() < 1.5, "{low} {high}");
    }
}

/// A noisy count has a probability: with hardly any noise it is that of a count, never above 1.
#[test]
fn probabilities_of_counts_are_below_one() {
    for sigma in [0.3, 0.45, 1.0] {
        let text = votes("output fit = loo(post)\n").replace("sigma = 6", &format!("sigma = {sigma}"));
        let rows = format!("vote\n{}", "1\n".repeat(N as usize));
        for noisy in [[17, 33], [0, 50], [18, 33]] {
            let found = outputs(&text, &rows, &noisy);
            let all = |seen| shares(|_| 1.0).iter().map(|(p, w)| w * of_rows(noisy, (N, sigma), *p, seen)).sum::<f64>().ln();
            let exact = [all([true, true]) - all([false, true]), all([true, true]) - all([true, false])];
            for (found, exact) in numbers(&found, "fit", "cells").iter().zip(exact) {
                assert!(*found <= 0.0 && (found - exact).abs() < 0.1, "{sigma} {noisy:?}: {found} for {exact}");
            }
        }
    }
}
