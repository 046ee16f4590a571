//! Programs of many releases under (epsilon, delta): the budget is used up, the verifier agrees, and coarser grids lose next to nothing.

use crate::numbers_support::certified;
use dpm::privacy::Claim;
use dpm::verify::{Against, Verifier};

/// Draws of different posteriors, Laplace and normal noise, all by `auto`; as `benches/mixed.py`.
fn mixed(draws: u32, noises: u32) -> String {
    let columns: String = (0..draws).map(|i| format!(", b{i}: bool")).collect();
    let mut text = format!("budget dp(eps = 1, delta = 1e-6)\nprivate t[n >= 100] {{ x: real in [0, 1]{columns} }}\n");
    for i in 0..draws {
        let a = 6.0 + f64::from(i) / 7.0;
        text += &format!("param p{i} ~ beta({a:.4}, 18)\nobserve b{i} ~ bernoulli(p{i})\nrelease d{i} = draw(p{i})\n");
    }
    for i in 0..noises {
        let (most, noise) = (1.0 - f64::from(i) / 1000.0, if i % 2 == 1 { "laplace" } else { "gaussian" });
        text += &format!("release n{i} = sum(clip(x, 0, {most})) using {noise}\n");
    }
    text
}

/// The short form has 40 releases, the long one (`DPM_LONG=1`) 200.
#[test]
fn mixed_releases_use_their_budget() {
    let half = if std::env::var_os("DPM_LONG").is_some() { 100 } else { 20 };
    let text = mixed(half, half);
    let certificate = certified(&text).certificate;
    let spent = certificate.total.claim.epsilon(1e-6);
    assert!(spent <= 1.0 && spent >= 0.999, "{spent}");
    let c = serde_json::from_str(&certificate.to_json().to_string()).unwrap();
    let failures = Verifier::default().verify(&c, Against { program: Some(&text), key: None });
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn equal_releases_get_equal_shares() {
    let releases: String = (0..60).map(|i| format!("release r{i} = draw(p)\n")).collect();
    let text = format!(
        "budget dp(eps = 3, delta = 1e-5)\nprivate t[n >= 1000] {{ b: bool }}\nparam p ~ beta(6, 18)\nobserve b ~ bernoulli(p)\n{releases}"
    );
    let all = certified(&text);
    let Claim::Product(parts) = all.total() else { panic!("{:?}", all.total()) };
    assert!(parts.len() == 60 && parts.iter().all(|part| *part == parts[0]));
    let spent = all.total().epsilon(1e-5);
    assert!(spent <= 3.0 && spent >= 0.99 * 3.0, "{spent}");
}

/// Of many different answers by randomised response the law of the loss is known: a sum of steps of a thousandth.
#[test]
fn many_different_responses() {
    for count in [20_usize, 40, 80] {
        let steps: Vec<usize> = (0..count).map(|i| 40 + 3 * i).collect();
        let all: usize = steps.iter().sum();
        let mut law = vec![0.0; 2 * all + 1];
        law[all] = 1.0;
        for step in &steps {
            let likely = 1.0 / (1.0 + (-(*step as f64) / 1000.0).exp());
            let mut next = vec![0.0; law.len()];
            for (i, p) in law.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                next[i + step] += p * likely;
                next[i - step] += p * (1.0 - likely);
            }
            law = next;
        }
        let claim = Claim::Product(steps.iter().map(|step| Claim::Pure { epsilon: *step as f64 / 1000.0 }).collect());
        for e in [1.0, 3.0, 6.0] {
            let losses = law.iter().enumerate().map(|(i, p)| ((i as f64 - all as f64) / 1000.0, p));
            let truth: f64 = losses.filter(|(loss, _)| *loss > e).map(|(loss, p)| p * -(e - loss).exp_m1()).sum();
            if truth > 1e-9 {
                let found = claim.epsilon(truth);
                assert!(found >= e * (1.0 - 1e-9) && found <= 1.002 * e, "{count} at {e}: {found}");
            }
        }
    }
}
