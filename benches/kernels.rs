//! Costs of the parts: reading and checking the gallery, a certificate, a Rényi divergence, one exact draw of each law.
// A benchmark may fail loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout, clippy::print_stderr)]

use divan::{Bencher, black_box};
use dpm::check::NoFiles;
use dpm::pipeline;
use dpm::privacy::{Claim, Family, Pair};
use dpm::run::Bound;

fn main() {
    divan::main();
}

fn example(name: &str) -> String {
    std::fs::read_to_string(format!("{}/examples/{name}.dpm", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

const GALLERY: [&str; 4] = ["01_beta_bernoulli", "04_normal_mean", "13_two_releases", "16_modules"];

#[divan::bench(args = GALLERY)]
fn parse_and_check(bencher: Bencher, name: &str) {
    let text = example(name);
    bencher.bench(|| pipeline::check(name, black_box(&text), &NoFiles).program.steps.len());
}

#[divan::bench(args = ["01_beta_bernoulli", "02_dirichlet", "13_two_releases"])]
fn certify(bencher: Bencher, name: &str) {
    let checked = pipeline::check(name, &example(name), &NoFiles);
    bencher.bench(|| {
        let (analysis, _) = pipeline::analyze(black_box(&checked), &Bound::default(), false);
        let analysis = analysis.unwrap();
        pipeline::certify(&checked, &analysis, &[], &[]).unwrap().to_json()
    });
}

/// The Rényi divergence of two Beta laws one row apart.
#[divan::bench(args = [1.000001, 2.0, 8.0])]
fn beta_divergence(order: f64) -> f64 {
    let coordinates = vec![(6.0, 0.668), (84.8, -0.668)];
    let claim = Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates, total: None }]);
    black_box(claim).rdp(black_box(order))
}

/// A private table and one plan on it, executed on totals that were measured once.
mod draws {
    use super::*;
    use dpm::data::Source;
    use dpm::mechanism::plan::MechanismPlan;
    use dpm::mechanism::{OsBits, Scope, execute, prepare};

    const HEAD: &str =
        "budget rdp(order = 2, eps = 100)\nprivate t[1000] { b: bool, i: int in 0..9, x: real in [0, 1], c: category {u, v, w} }\n";

    const LAWS: [(&str, &str); 9] = [
        ("beta", "param p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\nrelease r = draw(p)\n"),
        ("dirichlet of 3", "param p ~ dirichlet([5, 5, 5])\nobserve c ~ categorical(p)\nrelease r = draw(p)\n"),
        ("gamma", "param p ~ gamma(30, 5)\nobserve i ~ poisson(p)\nrelease r = draw(p)\n"),
        ("gamma rate", "param p ~ gamma(30, 5)\nobserve x ~ exponential(p)\nrelease r = draw(p)\n"),
        ("normal", "param p ~ normal(0, 5)\nobserve x ~ normal(p, 2)\nrelease r = draw(p)\n"),
        ("laplace", "release r = mean(x) using laplace\n"),
        ("gaussian", "release r = mean(x) using gaussian\n"),
        ("geometric", "release r = sum(i) using geometric\n"),
        ("exponential", "release r = quantile(x, 0.5) using exponential\n"),
    ];

    #[divan::bench(args = LAWS.map(|(name, _)| name))]
    fn draw(bencher: Bencher, name: &str) {
        let model = LAWS.iter().find(|(n, _)| *n == name).unwrap().1;
        let budget =
            if matches!(name, "laplace" | "geometric" | "exponential") { "budget eps(1)" } else { "budget rdp(order = 2, eps = 100)" };
        let checked = pipeline::check(name, &(HEAD.replace("budget rdp(order = 2, eps = 100)", budget) + model), &NoFiles);
        let (analysis, said) = pipeline::analyze(&checked, &Bound::default(), false);
        let analysis = analysis.unwrap_or_else(|| panic!("{said:?}"));
        let plan: MechanismPlan = analysis.releases[0].chosen.as_ref().unwrap_or_else(|| panic!("{said:?}")).plan.clone().unwrap();
        let table = &checked.program.tables[0];
        let scope = Scope { table, group: None, env: &dpm::data::eval::NoEnvironment };
        let rows: String = (0..1_000).map(|i| format!("{},{},0.{},v\n", i % 2, i % 10, i % 7)).collect();
        let source = Source::new(std::io::Cursor::new(format!("b,i,x,c\n{rows}").into_bytes()));
        let job = prepare(&plan, &scope).unwrap();
        let measured = dpm::data::scan(table, source, &[job]).unwrap().remove(0);
        bencher.bench_local(|| execute(&plan, &scope, &measured, &mut OsBits::new().unwrap()).unwrap());
    }
}
