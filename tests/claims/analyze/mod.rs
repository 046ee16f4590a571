//! Programs through parser, checker and analyzer: the certificates of the manual, costs that compose, complaints.

mod parameters;
mod prices;
mod refusals;
use std::collections::BTreeMap;

use dpm::analyze::{Analysis, Chosen, PublicData, Unbound, analyze, analyze_all, certificate, holes};
use dpm::check::{NoFiles, check};
use dpm::mechanism::plan::Statistic;
use dpm::model::{BudgetKind, Program, ScalarId};
use dpm::privacy::Claim;
use dpm::rules::Totals;
use dpm::source::{Diagnostics, FileId, SourceMap, render};
use dpm::syntax::parse;

struct Read {
    map: SourceMap,
    main: FileId,
    program: Program,
    analysis: Analysis,
    diagnostics: Diagnostics,
}

fn read_with(text: &str, public: &dyn PublicData, all: bool) -> Read {
    let mut map = SourceMap::default();
    let main = map.add("test.dpm", text);
    let (ast, said) = parse(main, text);
    assert!(said.is_empty(), "{}", render::text(&map, &said, false));
    let (program, said) = check(&mut map, main, &ast, true, &NoFiles);
    assert!(said.is_empty(), "{}", render::text(&map, &said, false));
    let run = if all { analyze_all } else { analyze };
    let (analysis, diagnostics) = run(&program, public, &map);
    Read { map, main, program, analysis, diagnostics }
}

fn read(text: &str) -> Read {
    read_with(text, &Unbound::default(), false)
}

impl Read {
    fn chosen(&self, name: &str) -> &Chosen {
        let found = self.analysis.releases.iter().find(|r| r.name == name);
        let chosen = found.unwrap().chosen.as_ref();
        chosen.unwrap_or_else(|| panic!("{}", render::text(&self.map, &self.diagnostics, false)))
    }

    fn parameter(&self, name: &str) -> f64 {
        self.chosen(name).parameters.last().unwrap().value
    }

    fn shown(&self) -> String {
        render::text(&self.map, &self.diagnostics, false)
    }

    /// The codes of all complaints.
    fn codes(&self) -> Vec<&str> {
        self.diagnostics.iter().map(|d| d.code).collect()
    }
}

/// An example of the repository.
fn example(name: &str) -> Read {
    let path = format!("{}/examples/{name}.dpm", env!("CARGO_MANIFEST_DIR"));
    read(&std::fs::read_to_string(path).unwrap())
}

/// `got` is `want` up to rounding up.
#[track_caller]
fn assert_up(got: f64, want: f64) {
    assert!(got >= want && got <= want * (1.0 + 1e-12), "{got}, not {want}");
}

/// `x` cut to three decimals.
fn three(x: f64) -> f64 {
    (x * 1000.0).floor() / 1000.0
}

#[test]
fn beta_bernoulli_solves_the_weight() {
    let p = example("01_beta_bernoulli");
    assert!(p.codes().is_empty());
    let chosen = p.chosen("p_hat");
    assert_eq!((chosen.mechanism.name, chosen.rule.name), ("diffuse", "beta_bernoulli"));
    assert_eq!(three(p.parameter("p_hat")), 0.668);
    assert_eq!(three(chosen.claim.max_order()), 9.978);
    assert!(chosen.claim.rdp(8.0) <= 0.5 && chosen.claim.rdp(8.0) > 0.499_999);
    assert!(p.analysis.budget.as_ref().unwrap().met);
}

#[test]
fn auto_takes_a_direct_draw_that_fits() {
    for (name, release, kind, least, most) in [
        ("02_dirichlet", "share_hat", BudgetKind::Rdp(vec![(4.0, 0.517)]), 0.516, 0.517),
        ("04_normal_mean", "mu_hat", BudgetKind::Zcdp(0.0223), 0.0222, 0.0223),
        ("14_posterior_predictive", "p_hat", BudgetKind::Rdp(vec![(5.0, 0.427)]), 0.4265, 0.427),
    ] {
        let p = example(name);
        let chosen = p.chosen(release);
        assert_eq!(chosen.mechanism.name, "direct", "{name}");
        assert!(chosen.claim.implies(&kind), "{name}");
        let cost = match kind {
            BudgetKind::Rdp(points) => chosen.claim.rdp(points[0].0),
            _ => chosen.claim.zcdp(),
        };
        assert!(cost > least && cost <= most, "{name}: {cost}");
    }
}

#[test]
fn gamma_poisson_meets_an_approximate_budget() {
    let p = example("03_gamma_poisson");
    assert_eq!(three(p.parameter("rate_hat")), 0.133);
    let claim = &p.chosen("rate_hat").claim;
    assert!(claim.epsilon(1e-6) <= 1.0);
    assert_eq!((claim.max_order() * 10.0).floor(), 309.0);
}

/// 40 of 200 in the pilot.
struct Pilot(BTreeMap<ScalarId, f64>);

impl PublicData for Pilot {
    fn totals(&self, _: &Statistic) -> Option<Totals> {
        Some(Totals { rows: 200, sums: vec![40.0] })
    }
    fn scalars(&self) -> &BTreeMap<ScalarId, f64> {
        &self.0
    }
}

#[test]
fn public_rows_strengthen_the_prior_once_bound() {
    let unbound = example("11_public_prior");
    assert_eq!(three(unbound.parameter("p_hat")), 0.052);
    assert!(unbound.chosen("p_hat").plan.is_none());
    let text = unbound.map.get(unbound.main).unwrap().text.clone();
    let bound = read_with(&text, &Pilot(BTreeMap::new()), false);
    assert_eq!(three(bound.parameter("p_hat")), 0.849);
    assert!(bound.chosen("p_hat").plan.is_some());
}

#[test]
fn a_certificate_is_complete_and_its_digest_covers_it() {
    let p = example("01_beta_bernoulli");
    let c = certificate(&p.program, &p.analysis, &p.map, p.main, &[12.0, 3.5], &[1e-9]).unwrap();
    let json = c.to_json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "certificate",
            "dpm",
            "rulebook",
            "program",
            "tables",
            "public",
            "steps",
            "releases",
            "total",
            "budget",
            "assumptions",
            "digest",
            "signature"
        ]
    );
    let release = &json["releases"][0];
    assert_eq!(release["mechanism"], "diffuse");
    assert_eq!(release["premises"][0]["line"], 6);
    let rdp = release["profile"]["rdp"].as_array().unwrap();
    let at = |order: f64| rdp.iter().find(|e| e["order"].as_f64() == Some(order)).unwrap()["epsilon"].clone();
    assert!(at(8.0).as_f64().unwrap() <= 0.5);
    assert_eq!(at(12.0), "inf");
    assert!(at(3.5).as_f64().unwrap() < at(4.0).as_f64().unwrap());
    assert_eq!(json["budget"]["met"], true);
    assert_eq!(json["digest"], c.digest());
    let mut other = c.clone();
    other.releases[0].claim = Claim::Gdp { mu: 0.1 };
    assert_ne!(other.digest(), c.digest());
}

#[test]
fn every_candidate_is_solved_when_all_are_asked_for() {
    let p = example("01_beta_bernoulli");
    assert!(p.analysis.releases[0].candidates.is_empty());
    let text = p.map.get(p.main).unwrap().text.clone();
    let all = read_with(&text, &Unbound::default(), true);
    let diffuse = all.analysis.releases[0].candidates.iter().find(|c| c.mechanism == "diffuse").unwrap();
    assert!(diffuse.applies && diffuse.predicted_error.is_some());
    assert_eq!(three(diffuse.parameters[0].value), 0.668);
}

#[test]
fn queries_and_draws_share_a_budget() {
    let p = example("13_two_releases");
    assert!(p.codes().is_empty());
    assert_eq!(p.chosen("mean_age").mechanism.name, "gaussian");
    assert!((p.parameter("mean_age") - 0.72).abs() < 1e-9);
    assert_eq!(p.chosen("mu_hat").mechanism.name, "direct");
    let total = p.analysis.total.as_ref().unwrap();
    assert!(total.zcdp() > 0.0643 && total.zcdp() < 0.06445);
    assert_eq!(three(p.analysis.budget.as_ref().unwrap().unspent[0]), 0.035);
}

#[test]
fn a_beta_query_solves_either_number() {
    let p = example("05_statistical_query");
    assert_eq!(three(p.parameter("share")), 0.363);
    let text = p.map.get(p.main).unwrap().text.clone();
    let fixed = read(&text.replace("beta_query(6, 18)", "beta_query(6, 18, m = 0.191)"));
    assert_eq!(fixed.parameter("share"), 0.191);
    let over = read(&text.replace("beta_query(6, 18)", "beta_query(6, 18, m = 0.192)"));
    assert_eq!(over.codes(), ["E0401"]);
}

#[test]
fn auto_answers_a_query_with_the_least_error() {
    let p = read(
        "budget zcdp(0.02)
         private t[n >= 500] { x: real in [0, 1] }
         release m = mean(x)",
    );
    assert_eq!(p.chosen("m").mechanism.name, "gaussian");
    let p = read(
        "budget eps(1)
         private t[n] { x: int in 0..5 }
         release m = sum(x)
         release q = quantile(x, 0.5)",
    );
    assert!(["laplace", "geometric"].contains(&p.chosen("m").mechanism.name));
    assert_eq!(p.chosen("q").mechanism.name, "exponential");
}

#[test]
fn shares_that_round_up_still_make_a_whole() {
    // 0.2 and 0.8 as doubles add up to more than 1: the shares are used to a hair less.
    for split in [["20%", "80%"], ["10%", "90%"], ["30%", "70%"], ["1%", "99%"]] {
        let p = read(&format!(
            "budget eps(1)
             private t[n] {{ x: real in [0, 1] }}
             release a = sum(x) using laplace spend {}
             release b = sum(x) using laplace spend {}",
            split[0], split[1]
        ));
        assert!(p.codes().is_empty(), "{split:?}");
        let total = p.analysis.total.as_ref().unwrap().pure();
        assert!(total <= 1.0 && total > 1.0 - 1e-9, "{split:?}: {total}");
    }
}

#[test]
fn several_orders_must_all_hold() {
    let p = read(
        "budget rdp(order = [2, 6], eps = [0.1, 0.2])
         private t[n] { y: bool }
         param p ~ beta(9, 9)
         observe y ~ bernoulli(p)
         release x = draw(p) using diffuse",
    );
    let claim = &p.chosen("x").claim;
    assert!(claim.rdp(2.0) <= 0.1 && claim.rdp(6.0) <= 0.2);
    assert!(claim.rdp(2.0) > 0.0999 || claim.rdp(6.0) > 0.1999);
}

#[test]
fn a_public_scalar_is_known_by_its_value_once_bound() {
    struct Bound(BTreeMap<ScalarId, f64>);
    impl PublicData for Bound {
        fn totals(&self, _: &Statistic) -> Option<Totals> {
            None
        }
        fn scalars(&self) -> &BTreeMap<ScalarId, f64> {
            &self.0
        }
    }
    let text = "public k: real in [1, 10]
                private t[n] { y: bool }
                param p ~ beta(2 * k, 2 * k)
                observe y ~ bernoulli(p)
                release x = draw(p) using direct";
    assert_eq!(read(text).chosen("x").claim.max_order(), 3.0);
    let bound = Bound(BTreeMap::from([(ScalarId(0), 4.0)]));
    let p = read_with(text, &bound, false);
    assert_eq!(p.chosen("x").claim.max_order(), 9.0);
    assert!(p.chosen("x").plan.is_some());
}

#[test]
fn solved_values_meet_their_limit_when_evaluated_again() {
    for (budget, prior, rows) in [
        ("rdp(order = 3, eps = 0.01)", "beta(2, 5)", "bernoulli"),
        ("dp(eps = 0.5, delta = 1e-7)", "beta(2, 5)", "bernoulli"),
        ("rdp(order = 30, eps = 0.2)", "beta(1, 1)", "bernoulli"),
    ] {
        for mechanism in ["diffuse", "concentrated"] {
            let text = |using: &str| {
                format!(
                    "budget {budget}
                     private t[n] {{ y: bool }}
                     param p ~ {prior}
                     observe y ~ {rows}(p)
                     release x = draw(p) using {using}"
                )
            };
            let solved = read(&text(mechanism)).parameter("x");
            let name = if mechanism == "diffuse" { "r" } else { "m" };
            let at = |x: f64| read(&text(&format!("{mechanism}({name} = {x:e})"))).diagnostics.iter().filter(|d| d.is_error()).count();
            assert_eq!(at(solved), 0, "{budget} {mechanism}");
            assert_eq!(at((solved * (1.0 + 1e-6)).min(1.0)), 1, "{budget} {mechanism}");
        }
    }
}

/// Under a dp budget parameters that together compose to it are accepted, though each is dearer than an even share of
/// epsilon: that is what `lock` writes. One that takes the total over the budget is not.
#[test]
fn written_parameters_may_use_what_composition_leaves() {
    let program = |sigma: f64| {
        format!(
            "budget dp(eps = 1, delta = 1e-6)\nprivate t[n] {{ y: bool, x: real in [0, 1] }}\nparam p ~ beta(6, 18)\n\
             observe y ~ bernoulli(p)\nrelease a = draw(p) using diffuse(r = 0.17)\n\
             release b = sum(x) using gaussian(sigma = {sigma})\nrelease c = sum(x) using laplace(scale = 2.33)\n"
        )
    };
    let fits = read(&program(9.71));
    assert!(fits.diagnostics.is_empty(), "{}", render::text(&fits.map, &fits.diagnostics, false));
    let total = fits.analysis.total.as_ref().unwrap().epsilon(1e-6);
    assert!(total <= 1.0 && total > 0.97, "{total}");
    let over = read(&program(4.0));
    assert_eq!(over.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>()[0], "E0401");
}

/// Of several numbers: by the tails of the noise, each is off by more with a chance of a twentieth, and the certificate says so and verifies.
#[test]
fn the_bound_of_each_number_is_that_of_its_noise() {
    let header = "private t[n >= 500] { g: category {a, b, c}, b: bool, y: int in 0..7 }\n";
    // The chance of more than x, and of x or more, which differ for integers.
    let tail = |noise: &str, x: f64| match noise {
        "laplace(scale = 4)" => [(-x / 4.0).exp(); 2],
        "gaussian(sigma = 4)" => [libm::erfc(x / 4.0 / std::f64::consts::SQRT_2); 2],
        _ => [1.0, 0.0].map(|more| 2.0 * (-(x + more) / 4.0).exp() / (1.0 + (-0.25_f64).exp())),
    };
    for noise in ["laplace(scale = 4)", "gaussian(sigma = 4)", "geometric(scale = 4)"] {
        let read = read(&format!("{header}release x = histogram(g, b) using {noise}\nrelease one = sum(y) using {noise}\n"));
        let [cells, one] = ["x", "one"].map(|name| read.chosen(name).predicted_error.clone());
        let each = cells.further.iter().find(|(name, _)| *name == "of_each_number").unwrap().1;
        let [beyond, from] = tail(noise, each);
        assert!(beyond <= 0.0501 && from >= 0.0499, "{noise}: {each} {beyond} {from}");
        assert!(one.value == each && one.further.is_empty() && cells.value > each, "{noise}: {one:?} {cells:?}");
    }
}
