//! Releases in Hellinger distance, their laws and realised losses over all neighbours.

use super::*;

#[test]
fn hellinger_laws_and_losses_by_enumeration() {
    for alpha in PRIORS {
        let n = if alpha.len() == 2 { 12 } else { 5 };
        let all = histograms(n, alpha.len());
        for epsilon in [0.1, 1.0, 8.0] {
            for gamma in [None, Some(1.0), Some(0.1), Some(3.0)] {
                let laws: Vec<Vec<f64>> =
                    all.iter().map(|c| sampled(&hellinger::law(alpha, c, epsilon, gamma).unwrap(), epsilon)).collect();
                for (c, law) in all.iter().zip(&laws) {
                    assert_eq!(law.len(), all.len());
                    // The sampled law is the ideal one at a hair less than epsilon.
                    for (p, q) in law.iter().zip(ideal(alpha, n, c, epsilon, gamma)) {
                        assert!((p - q).abs() <= epsilon / 2048.0, "{alpha:?} {c:?} {epsilon} {gamma:?}: {p} {q}");
                    }
                }
                for (a, p) in all.iter().zip(&laws) {
                    for (b, q) in all.iter().zip(&laws).filter(|(b, _)| apart(a, b) == 1) {
                        let losses: Vec<f64> = p.iter().zip(q).map(|(p, q)| p - q).collect();
                        let most = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
                        assert!(most <= epsilon && most - least <= epsilon, "{alpha:?} {a:?} {b:?}: {most} {least}");
                    }
                }
            }
        }
    }
}

/// The largest log ratio of the laws of neighbouring counts, each by its scores.
pub fn worst_loss(alpha: &[f64], items: u64, epsilon: f64, gamma: Option<f64>) -> f64 {
    let all = histograms(items, alpha.len());
    let laws: Vec<Vec<f64>> = all.iter().map(|c| sampled(&hellinger::law(alpha, c, epsilon, gamma).unwrap(), epsilon)).collect();
    let mut worst: f64 = 0.0;
    for (a, p) in all.iter().zip(&laws) {
        for (b, q) in all.iter().zip(&laws).filter(|(b, _)| apart(a, b) == 1) {
            assert_ne!(a, b);
            worst = p.iter().zip(q).map(|(p, q)| p - q).fold(worst, f64::max);
        }
    }
    worst
}

/// What is certified is what the law loses: not more, and not a thousandth less.
#[test]
fn calibrated_mechanisms_lose_what_they_say() {
    let coin = |n: u64, prior: &str| format!("private t[{n}] {{ x: bool }}\nparam p ~ {prior}\nobserve x ~ bernoulli(p)\n");
    let tosses = "private t[7] { x: int in [0, 3] }\nparam p ~ beta(2, 1)\nobserve x ~ binomial(3, p)\n".to_owned();
    let shares = "private t[7] { x: category {a, b, c} }\nparam p ~ dirichlet([0.2, 1, 3])\nobserve x ~ categorical(p)\n".to_owned();
    // One row of three items moves three: the certificate is three times the loss of one.
    let cases =
        [(coin(40, "beta(1, 1)"), 1.0), (coin(1, "beta(3, 2)"), 1.0), (coin(25, "beta(0.05, 7)"), 1.0), (tosses, 3.0), (shares, 1.0)];
    for (model, moved) in cases {
        for using in
            ["ehds(eps = E, calibration = exact)", "ehds(eps = E, gamma = 0.1, calibration = exact)", "ehd(eps = E, calibration = exact)"]
        {
            for eps in [0.1, 1.0, 8.0] {
                let text = format!("{model}release q = posterior(p) using {}\n", using.replace('E', &eps.to_string()));
                let certified = certified(&text);
                let claimed = certified.claim().pure() / moved;
                assert!((claimed / eps - 1.0).abs() < 1e-12, "{text} {claimed}");
                let law = plan(&text);
                let (WholeNoise::Hellinger { epsilon, gamma }, WholeFamily::Counts { alpha, items, .. }) = (law.noise, law.family) else {
                    panic!()
                };
                let n: u64 = text.split(['[', ']']).nth(1).unwrap().parse().unwrap();
                let found = worst_loss(&alpha, n * u64::from(items), epsilon, gamma);
                assert!(found <= claimed && found >= 0.999 * claimed, "{text} {found} {claimed} {epsilon}");
                assert!(epsilon > eps, "{text} {epsilon}");
            }
        }
    }
}

/// The verifier computes the loss by its own road: an argument one part in a hundred larger does not pass.
#[test]
fn a_calibrated_argument_cannot_be_raised() {
    for model in [
        "private t[200] { x: bool }\nparam p ~ beta(0.5, 2)\nobserve x ~ bernoulli(p)\n",
        "private t[8] { x: category {a, b, c, d} }\nparam p ~ dirichlet([1, 1, 0.3, 4])\nobserve x ~ categorical(p)\n",
    ] {
        for using in ["ehds(eps = 0.7, calibration = exact)", "ehd(eps = 3, calibration = exact)"] {
            let text = format!("{model}release q = posterior(p) using {using}\n");
            let mut json = certified(&text).certificate.to_json();
            let failures = |c: &serde_json::Value| Verifier::default().verify(c, Against::default());
            assert!(failures(&json).is_empty(), "{text} {:?}", failures(&json));
            let argument = json["releases"][0]["parameters"]["calibrated"].as_f64().unwrap();
            json["releases"][0]["parameters"]["calibrated"] = serde_json::json!(1.01 * argument);
            json["digest"] = digest(&json).into();
            assert!(failures(&json).iter().any(|f| f.text.contains("worst loss")), "{text} {:?}", failures(&json));
        }
    }
}

#[test]
fn the_hellinger_sampler_follows_its_law() {
    const TRIALS: usize = 20_000;
    let mut bits = OsBits::new().unwrap();
    for (alpha, c, epsilon, gamma) in [(&[1.0, 1.0][..], &[3u64, 4][..], 4.0, Some(1.0)), (&[0.2, 1.0, 3.0], &[1, 2, 1], 8.0, None)] {
        let all = histograms(c.iter().sum(), c.len());
        let law = sampled(&hellinger::law(alpha, c, epsilon, gamma).unwrap(), epsilon);
        let mut seen = vec![0usize; all.len()];
        for _ in 0..TRIALS {
            let chosen = hellinger::choose(alpha, c, (epsilon, gamma), &mut bits).unwrap();
            seen[all.iter().position(|h| *h == chosen).unwrap()] += 1;
        }
        let chi: f64 = seen.iter().zip(&law).map(|(s, p)| (*s as f64 - TRIALS as f64 * p.exp()).powi(2) / (TRIALS as f64 * p.exp())).sum();
        // False alarms: one in a million.
        let limit = statrs::distribution::ContinuousCDF::inverse_cdf(
            &statrs::distribution::ChiSquared::new((all.len() - 1) as f64).unwrap(),
            1.0 - 1e-6,
        );
        assert!(chi < limit, "{chi} {limit}");
    }
}

/// Far candidates are one run: the law is that of the full table.
#[test]
fn many_rows_are_weighed_by_runs() {
    let (alpha, c) = ([1.0, 1.0], [40_000u64, 60_000]);
    let runs = hellinger::law(&alpha, &c, 1.0, Some(1.0)).unwrap();
    assert_eq!(runs.iter().map(|r| r.count).sum::<u64>(), 100_001);
    assert!(runs.len() < 20_000);
    let step = 2f64.powi(hellinger::exponent(1.0));
    let strength = hellinger::strength(&alpha, &c, 1.0, Some(1.0));
    let mut at = 0u64;
    for r in &runs {
        for i in [at, at + r.count - 1] {
            let h = distance(&[1.0 + 40_000.0, 1.0 + 60_000.0], &[1.0 + i as f64, 1.0 + (100_000 - i) as f64]);
            // log-Gamma functions of 1e5 cancel to 1e-5 of a distance; the strength is used up to 1/4096.
            assert!((r.score as f64 * step / strength - h).abs() < 3e-4, "{i} {h}");
        }
        at += r.count;
    }
    assert_eq!(hellinger::law(&alpha, &[60_000_000, 60_000_000], 1.0, None), Err(dpm::mechanism::MechanismError::Candidates));
}
