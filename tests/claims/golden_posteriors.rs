//! Golden values of whole posteriors: Hellinger distances and sensitivities, laws of finite mechanisms, realised losses.

use crate::numbers_support::{claim, histograms};
use dpm::mechanism::OsBits;
use dpm::mechanism::draw::finite::floor_laplace;
use dpm::mechanism::real::Param;
use dpm::mechanism::whole::{floor, hellinger};
use dpm::numeric::hellinger as numeric;
use dpm::privacy::Claim;
use serde_json::Value;

fn reals(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn counts(v: &Value) -> Vec<u64> {
    v.as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).collect()
}

/// Probabilities of all candidates by the distances that the mechanism uses, at a strength.
fn law(alpha: &[f64], c: &[u64], strength: f64) -> Vec<f64> {
    let distances = hellinger::distances(alpha, c);
    let all: Vec<f64> = distances.iter().flat_map(|(h, n)| std::iter::repeat_n((-strength * h).exp(), *n as usize)).collect();
    let total: f64 = all.iter().sum();
    all.into_iter().map(|w| w / total).collect()
}

fn strength(mechanism: &str, alpha: &[f64], c: &[u64], epsilon: f64, gamma: Option<f64>) -> f64 {
    match mechanism {
        // Not private, so not in the product: the local sensitivity itself.
        "EHDL" => epsilon / (2.0 * numeric::local_sensitivity(alpha, c)),
        "EHD" => hellinger::strength(alpha, c, epsilon, None),
        _ => hellinger::strength(alpha, c, epsilon, gamma),
    }
}

fn realised(alpha: &[f64], n: u64, law: &dyn Fn(&[u64]) -> Vec<f64>) -> f64 {
    let all = histograms(n, alpha.len());
    let laws: Vec<Vec<f64>> = all.iter().map(|c| law(c)).collect();
    let mut worst: f64 = 0.0;
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            if a.iter().zip(b).map(|(x, y)| x.abs_diff(*y)).sum::<u64>() == 2 {
                worst = laws[i].iter().zip(&laws[j]).map(|(p, q)| (p / q).ln()).fold(worst, f64::max);
            }
        }
    }
    worst
}

/// How often an event happens in so many trials, held to its probability with five standard deviations: a right sampler
/// fails one case in 1.7 million.
fn frequency(expected: f64, mut happens: impl FnMut() -> bool) {
    const TRIALS: u32 = 40_000;
    let seen = f64::from((0..TRIALS).filter(|_| happens()).count() as u32) / f64::from(TRIALS);
    let sd = (expected * (1.0 - expected) / f64::from(TRIALS)).sqrt();
    assert!((seen - expected).abs() < 5.0 * sd, "{seen} for {expected}");
}

fn program(mechanism: &str, k: u64, epsilon: f64) -> String {
    let levels: Vec<String> = (0..k).map(|i| format!("l{i}")).collect();
    let ones = vec!["1"; k as usize].join(", ");
    match k {
        2 => format!(
            "private t[n] {{ x: bool }}\nparam p ~ beta(1, 1)\nobserve x ~ bernoulli(p)\nrelease q = posterior(p) using {mechanism}(eps = {epsilon})\n"
        ),
        _ => format!(
            "private t[n] {{ x: category {{{}}} }}\nparam p ~ dirichlet([{ones}])\nobserve x ~ categorical(p)\nrelease q = posterior(p) using {mechanism}(eps = {epsilon})\n",
            levels.join(", ")
        ),
    }
}

#[test]
fn every_golden_case_of_whole_posteriors() {
    let file: Value = serde_json::from_str(include_str!("../golden.json")).unwrap();
    let mut bits = OsBits::new().unwrap();
    let mut tested = 0;
    for case in file["cases"].as_array().unwrap() {
        let (rule, quantity, p) = (case["rule"].as_str().unwrap(), case["quantity"].as_str().unwrap(), &case["params"]);
        let expected = case["expected"].as_f64().unwrap_or(f64::NAN);
        let number = |name: &str| p[name].as_f64();
        let close = |x: f64, what: &str| assert!((x / expected - 1.0).abs() < 1e-9, "{} {what}: {x} for {expected}", case["id"]);
        match (rule, quantity) {
            ("hellinger_dirichlet", _) => close(numeric::dirichlet_distance(&reals(&p["a"]), &reals(&p["b"])), "distance"),
            ("ehd_mechanisms", _) => {
                let (alpha, n) = (reals(&p["prior"]), p["n"].as_u64().unwrap());
                let c = p.get("counts").map(counts);
                let (epsilon, gamma) = (number("epsilon").unwrap_or(1.0), number("gamma"));
                let mechanism = p["mechanism"].as_str().unwrap_or("");
                let of = |c: &[u64]| law(&alpha, c, strength(mechanism, &alpha, c, epsilon, gamma));
                match quantity {
                    "local_sensitivity" => close(numeric::local_sensitivity(&alpha, &c.unwrap()), "LS"),
                    "global_sensitivity" => close(numeric::global_sensitivity(&alpha, n), "GS"),
                    "inverse_smooth_sensitivity" => close(numeric::inverse_smooth(&alpha, &c.unwrap(), gamma.unwrap()), "1/S"),
                    "probability" => {
                        let candidate = counts(&p["candidate"]);
                        let place = histograms(n, alpha.len()).iter().position(|h| *h == candidate).unwrap();
                        close(of(&c.unwrap())[place], "probability");
                    }
                    "realised_privacy_loss" => {
                        let loss = realised(&alpha, n, &of);
                        close(loss, "loss");
                        assert!(mechanism == "EHDL" || loss <= epsilon, "{loss}");
                    }
                    other => panic!("{other}"),
                }
            }
            ("floor_laplace", "probability") => {
                let scale = Param::new(dashu_ratio::RBig::try_from(number("scale").unwrap()).unwrap());
                let t = p["t"].as_i64().unwrap();
                frequency(expected, || floor_laplace(&scale, &mut bits).unwrap() == i128::from(t));
            }
            ("laplace_posterior", "probability") => {
                let (c, epsilon, k) = (counts(&p["counts"]), number("epsilon").unwrap(), number("k").unwrap());
                let l1 = if k == 2.0 { 1.0 } else { 2.0 };
                let scale = if p["mechanism"] == "LSDim" { k / epsilon } else { l1 / epsilon };
                let wanted: Vec<i128> = counts(&p["released_first_coordinates"]).into_iter().map(i128::from).collect();
                let n = c.iter().sum();
                frequency(expected, || floor(&c, n, scale, &mut bits).unwrap().starts_with(&wanted));
            }
            ("laplace_posterior", "realised_privacy_loss") => {
                let mechanism = if p["mechanism"] == "LSDim" { "ls_dim" } else { "ls_hist" };
                let found = claim(&program(mechanism, p["k"].as_u64().unwrap(), number("epsilon").unwrap()));
                let Claim::Pure { epsilon } = found else { panic!("{found:?}") };
                assert!(epsilon >= expected * (1.0 - 1e-15) && epsilon <= expected * (1.0 + 1e-12), "{epsilon} for {expected}");
            }
            _ => continue,
        }
        tested += 1;
    }
    assert_eq!(tested, 66);
}
