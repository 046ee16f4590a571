//! Posteriors of released counts against sums over every table of exact counts.

use dpm::check::NoFiles;
use dpm::data::{DataError, Source};
use dpm::mechanism::{MechanismError, Number, OsBits};
use dpm::model::{Query, ReleaseId, Step, TableId, releases};
use dpm::pipeline;
use dpm::run::{Bound, Draws, Files, Posterior, Results, Value, resume};
use std::collections::BTreeMap;

/// The rows of the private table: only their number and their public columns are read.
struct Rows(String);

impl Files for Rows {
    fn open(&self, _: TableId) -> Result<Source, DataError> {
        Ok(Source::new(std::io::Cursor::new(self.0.clone().into_bytes())))
    }
    fn bits(&self) -> Result<OsBits, MechanismError> {
        OsBits::new()
    }
}

/// The outputs of a program whose first release gave these counts.
pub fn outputs(text: &str, rows: &str, noisy: &[i128]) -> Results {
    let checked = pipeline::check("p.dpm", text, &NoFiles);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let (analysis, said) = pipeline::analyze(&checked, &Bound::default(), false);
    assert!(!said.iter().any(|d| d.is_error()), "{said:?}");
    let program = &checked.program;
    assert!(matches!(releases(&program.steps)[0].query, Query::Aggregate(_)));
    let counts = Value::GridVector(noisy.iter().map(|n| Number::new(*n, 0)).collect());
    let outputs: Vec<Step> = program.steps.iter().filter(|s| matches!(s, Step::Output { .. })).cloned().collect();
    let known = BTreeMap::from([(ReleaseId(0), counts)]);
    resume(program, &analysis.unwrap(), &Bound::default(), &Rows(rows.into()), &outputs, known).unwrap().0
}

pub fn fitted(text: &str, rows: &str, noisy: &[i128]) -> Draws {
    match &outputs(text, rows, noisy).outputs[0].1 {
        Value::Posterior(Posterior::Draws(draws)) => draws.clone(),
        other => panic!("{other:?}"),
    }
}

/// `P(k)` of the rounded normal law by its distribution function, in another form than the product's.
pub fn rounded(k: f64, sigma: f64) -> f64 {
    let phi = |x: f64| 0.5 * libm::erfc(-x / (sigma * 2f64.sqrt()));
    phi(k + 0.5) - phi(k - 0.5)
}

pub fn geometric(k: f64, scale: f64) -> f64 {
    let p = (-1.0 / scale).exp();
    (1.0 - p) / (1.0 + p) * p.powf(k.abs())
}

pub fn ln_choose(n: u64, k: u64) -> f64 {
    (1..=k).map(|i| (((n - k + i) as f64) / i as f64).ln()).sum()
}

/// Mean and sd of a density on midpoints of [0, 1].
fn moments(density: impl Fn(f64) -> f64) -> (f64, f64) {
    let at: Vec<(f64, f64)> = (0..4000).map(|i| (f64::from(i) + 0.5) / 4000.0).map(|p| (p, density(p))).collect();
    let all: f64 = at.iter().map(|(_, d)| d).sum();
    let mean = at.iter().map(|(p, d)| p * d).sum::<f64>() / all;
    (mean, (at.iter().map(|(p, d)| (p - mean).powi(2) * d).sum::<f64>() / all).sqrt())
}

#[track_caller]
pub fn close(found: &Draws, place: usize, (mean, sd): (f64, f64), off: f64) {
    let s = found.summaries()[place];
    assert!(s.rhat < 1.02 && s.ess_bulk > 400.0, "{s:?}");
    let error = 5.0 * s.mcse + off * sd;
    assert!((s.mean - mean).abs() < error, "mean {} for {mean}, sd {sd}", s.mean);
    assert!((s.sd / sd - 1.0).abs() < 0.08 + off, "sd {} for {sd}", s.sd);
}

fn share(noisy: [i128; 2], n: u64, noise: impl Fn(f64) -> f64) -> (f64, f64) {
    moments(|p| {
        let rows = |c: u64| (ln_choose(n, c) + c as f64 * p.ln() + (n - c) as f64 * (1.0 - p).ln()).exp();
        let one = |c: u64| rows(c) * noise(noisy[0] as f64 - (n - c) as f64) * noise(noisy[1] as f64 - c as f64);
        p * (1.0 - p) * (0..=n).map(one).sum::<f64>()
    })
}

const SHARE: &str = "private t[n] { vote: bool }\nparam p ~ beta(2, 2)\n";
const FIT: &str = "observe cells.vote ~ bernoulli(p)\noutput post = posterior(p)\n";

#[test]
fn a_share_behind_noise_of_either_law() {
    let rows = format!("vote\n{}", "1\n".repeat(50));
    for (noisy, sigma) in [([17, 38], 6.0), ([-4, 51], 6.0), ([30, 30], 1.5)] {
        let text = format!("budget gdp(9)\n{SHARE}release cells = histogram(vote) using gaussian(sigma = {sigma})\n{FIT}");
        close(&fitted(&text, &rows, &noisy), 0, share(noisy, 50, |k| rounded(k, sigma)), 0.05);
        // The wrong scale of the noise is seen.
        if sigma == 6.0 {
            let (mean, sd) = share(noisy, 50, |k| rounded(k, 0.7 * sigma));
            let s = fitted(&text, &rows, &noisy).summaries()[0];
            assert!((s.mean - mean).abs() > 0.1 * sd || (s.sd / sd - 1.0).abs() > 0.1, "{s:?} {mean} {sd}");
        }
    }
    let text = format!("budget eps(9)\n{SHARE}release cells = histogram(vote) using geometric(scale = 4)\n{FIT}");
    close(&fitted(&text, &rows, &[17, 38]), 0, share([17, 38], 50, |k| geometric(k, 4.0)), 0.08);
}

/// Ints that do not begin at 0, and a column that is summed out: four noises in each count.
#[test]
fn what_a_model_does_not_name_is_summed_out() {
    let text = "budget gdp(9)\nprivate t[n] { age: int in 18..21, vote: bool }\nparam p ~ beta(2, 2)\n\
                release cells = histogram(age, vote) using gaussian(sigma = 3)\nobserve cells.vote ~ bernoulli(p)\noutput post = posterior(p)\n";
    let found = fitted(text, &format!("age,vote\n{}", "18,1\n".repeat(50)), &[5, 8, 3, 9, 6, 12, 3, 9]);
    close(&found, 0, share([17, 38], 50, |k| rounded(k, 6.0)), 0.05);
    let slope = "budget gdp(9)\nprivate t[n] { age: int in 18..21 }\nparam a ~ beta(1, 1)\n\
                 release cells = histogram(age) using gaussian(sigma = 0.5)\nlet s = 3\nobserve cells.age ~ binomial(s, a)\noutput post = posterior(a)\n";
    assert!(!pipeline::check("p.dpm", slope, &NoFiles).diagnostics.is_empty(), "18 is not a number of successes of 3");
}

/// Regions whose sizes are public: a share each, and the total of one does not tell of the other.
#[test]
fn sizes_of_public_groups_are_used() {
    let text = "budget gdp(9)\nprivate t[n] { region: public category {a, b}, vote: bool }\nparam p: vector[region] ~ beta(2, 2)\n\
                release cells = histogram(region, vote) using gaussian(sigma = 4)\nobserve cells.vote ~ bernoulli(p[region])\noutput post = posterior(p)\n";
    let rows = format!("region,vote\n{}{}", "a,1\n".repeat(20), "b,0\n".repeat(60));
    let found = fitted(text, &rows, &[9, 15, 20, 33]);
    assert_eq!(found.names.as_slice(), ["p[a]", "p[b]"]);
    close(&found, 0, share([9, 15], 20, |k| rounded(k, 4.0)), 0.06);
    close(&found, 1, share([20, 33], 60, |k| rounded(k, 4.0)), 0.06);
}

/// A private column that the model conditions on: shares of its own, against all tables of 12 rows.
#[test]
fn private_conditions_have_shares() {
    let text = "budget gdp(9)\nprivate t[n] { x: bool, y: bool }\nparam a ~ beta(2, 2)\nparam b ~ beta(2, 2)\n\
                release cells = histogram(x, y) using gaussian(sigma = 1.5)\nobserve cells.y ~ bernoulli(if x then b else a)\noutput post = posterior(a, b)\n";
    let noisy = [3i128, 5, 4, 1];
    let found = fitted(text, &format!("x,y\n{}", "1,1\n".repeat(12)), &noisy);
    // With c rows without y and d with it, the posterior of a is Beta(2 + d, 2 + c), weighted by the marginal likelihood.
    let ln_beta = |a: f64, b: f64| libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let (mut all, mut first, mut second) = (0.0, [0.0; 2], [0.0; 2]);
    for c in 0..=12u64 {
        for d in 0..=12 - c {
            for e in 0..=12 - c - d {
                let f = 12 - c - d - e;
                let counts = [c, d, e, f].map(|k| k as f64);
                let noise: f64 = counts.iter().zip(noisy).map(|(k, y)| rounded(y as f64 - k, 1.5)).product();
                let ways = libm::lgamma(13.0) - counts.iter().map(|k| libm::lgamma(k + 1.0)).sum::<f64>();
                // Shares of x: Dirichlet(1, 1) integrates to a constant times the inverse of the ways to choose them.
                let given = ln_beta(1.0 + counts[0] + counts[1], 1.0 + counts[2] + counts[3]);
                let parts = [(counts[1], counts[0]), (counts[3], counts[2])];
                let marginal: f64 = parts.iter().map(|(s, f)| ln_beta(2.0 + s, 2.0 + f)).sum();
                let weight = noise * (ways + given + marginal).exp();
                all += weight;
                for (moments, (s, f)) in [&mut first, &mut second].into_iter().zip(parts) {
                    let (a, b) = (2.0 + s, 2.0 + f);
                    moments[0] += weight * a / (a + b);
                    moments[1] += weight * a * (a + 1.0) / ((a + b) * (a + b + 1.0));
                }
            }
        }
    }
    for (i, m) in [first, second].into_iter().enumerate() {
        let mean = m[0] / all;
        close(&found, i, (mean, (m[1] / all - mean * mean).sqrt()), 0.08);
    }
}

/// Hierarchical normals are moved off their funnel, and the same counts give the same draws.
#[test]
fn chains_repeat_and_mix() {
    let text = "budget gdp(9)\nprivate t[n] { region: public category {a, b, c, d}, vote: bool }\n\
                param m ~ normal(0, 1.5)\nparam tau ~ half_normal(1)\nparam u: vector[region] ~ normal(m, tau)\n\
                release cells = histogram(region, vote) using gaussian(sigma = 4)\nobserve cells.vote ~ bernoulli_logit(u[region])\noutput post = posterior(m, tau, u)\n";
    let rows = format!("region,vote\n{}", "a,1\nb,0\nc,1\nd,0\n".repeat(50));
    let noisy = [20, 31, 18, 27, 30, 24, 22, 25];
    let found = fitted(text, &rows, &noisy);
    let mixed = |s: &dpm::numeric::diagnostics::Summary| s.rhat < 1.05 && s.ess_bulk > 200.0 && s.ess_tail > 100.0;
    assert!(found.summaries().iter().all(mixed) && found.divergences < 40, "{:?} {}", found.summaries(), found.divergences);
    assert_eq!(found, fitted(text, &rows, &noisy));
    // A chain that is alone is the first of them, and its halves are compared.
    let one = fitted(&text.replace("(m, tau, u)", "(m, tau, u, chains = 1, draws = 300)"), &rows, &noisy);
    assert_eq!((one.chains, one.count()), (1, 300));
    assert!(one.numbers.iter().zip(found.numbers.iter()).all(|(one, all)| one[..] == all[..300]));
    assert!(one.summaries().iter().all(|s| s.rhat < 1.2), "{:?}", one.summaries());
}
