//! Whole posteriors by enumeration: sampled laws and realised losses over all neighbours, noise on counts, mixtures.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing)]

mod numbers_support;

use dpm::mechanism::plan::{MechanismPlan, WholeFamily, WholeLaw, WholeNoise};
use dpm::mechanism::whole::hellinger::{self, Run};
use dpm::mechanism::{Number, OsBits, Released};
use dpm::run::{Posterior, posterior_of};
use dpm::verify::{Against, Verifier, digest};
use numbers_support::{certified, histograms, ln_gamma};

const PRIORS: [&[f64]; 5] = [&[1.0, 1.0], &[0.05, 0.05], &[0.5, 7.0], &[1.0, 1.0, 1.0], &[0.2, 1.0, 3.0]];

/// Hellinger distance in other words than the product's: log-Gamma functions of statrs.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let ln_beta = |v: &[f64]| {
        v.iter().map(|x| statrs::function::gamma::ln_gamma(*x)).sum::<f64>() - statrs::function::gamma::ln_gamma(v.iter().sum())
    };
    let middle: Vec<f64> = a.iter().zip(b).map(|(x, y)| 0.5 * (x + y)).collect();
    (1.0 - (ln_beta(&middle) - 0.5 * (ln_beta(a) + ln_beta(b))).exp()).max(0.0).sqrt()
}

fn posterior(alpha: &[f64], c: &[u64]) -> Vec<f64> {
    alpha.iter().zip(c).map(|(a, c)| a + *c as f64).collect()
}

fn apart(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(x, y)| x.abs_diff(*y)).sum::<u64>() / 2
}

/// Sensitivities by definition: over all candidates, neighbours and data sets.
fn ideal(alpha: &[f64], n: u64, c: &[u64], epsilon: f64, gamma: Option<f64>) -> Vec<f64> {
    let all = histograms(n, alpha.len());
    let h = |a: &[u64], b: &[u64]| distance(&posterior(alpha, a), &posterior(alpha, b));
    let local = |a: &[u64]| all.iter().filter(|b| apart(a, b) == 1).map(|b| h(a, b)).fold(0.0, f64::max);
    let strength = match gamma {
        None => epsilon / 2.0 / all.iter().map(|a| local(a)).fold(0.0, f64::max),
        Some(g) => {
            let inverse = all.iter().map(|a| 1.0 / local(a) + g * apart(a, c) as f64).fold(f64::INFINITY, f64::min);
            epsilon / 2.0 / (1.0 + g) * inverse
        }
    };
    normalised(all.iter().map(|r| -strength * h(c, r)).collect())
}

fn normalised(ln: Vec<f64>) -> Vec<f64> {
    let total: f64 = ln.iter().map(|x| x.exp()).sum();
    ln.into_iter().map(|x| x - total.ln()).collect()
}

/// The logarithms of the law that is sampled, from its scores on the grid.
fn sampled(runs: &[Run], epsilon: f64) -> Vec<f64> {
    let step = 2f64.powi(hellinger::exponent(epsilon));
    normalised(runs.iter().flat_map(|r| std::iter::repeat_n(-(r.score as f64) * step, r.count as usize)).collect())
}

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
fn worst_loss(alpha: &[f64], items: u64, epsilon: f64, gamma: Option<f64>) -> f64 {
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

fn plan(text: &str) -> WholeLaw {
    match certified(text).analysis.releases[0].chosen.as_ref().unwrap().plan.clone() {
        Some(MechanismPlan::Whole { law, .. }) => law,
        other => panic!("{other:?}"),
    }
}

/// `P(floor(Laplace(b)) = t)`, and of moving into [0, left].
fn floor_probability(t: i64, b: f64) -> f64 {
    let t = if t < 0 { -1 - t } else { t } as f64;
    0.5 * ((-t / b).exp() - (-(t + 1.0) / b).exp())
}

fn clamped(from: u64, to: u64, left: u64, b: f64) -> f64 {
    let far = 4000;
    let shift = |x: i64| x - from as i64;
    match to {
        0 if left == 0 => 1.0,
        0 => (-far..=shift(0)).map(|t| floor_probability(t, b)).sum(),
        t if t == left => (shift(t as i64)..far).map(|t| floor_probability(t, b)).sum(),
        t => floor_probability(shift(t as i64), b),
    }
}

#[test]
fn laplace_posteriors_cost_what_they_say() {
    for (mechanism, k) in [("ls_hist", 2), ("ls_hist", 3), ("ls_dim", 2), ("ls_dim", 3)] {
        let epsilon = 0.7;
        let (column, prior, row) = match k {
            2 => ("bool", "beta(1, 1)", "bernoulli(p)"),
            _ => ("category {a, b, c}", "dirichlet([1, 1, 1])", "categorical(p)"),
        };
        let text = format!(
            "private t[n] {{ x: {column} }}\nparam p ~ {prior}\nobserve x ~ {row}\nrelease q = posterior(p) using {mechanism}(eps = {epsilon})\n"
        );
        let claimed = certified(&text).claim().pure();
        let WholeNoise::FloorLaplace { scale } = plan(&text).noise else { panic!() };
        let n = 4;
        let all = histograms(n, k);
        let law = |c: &[u64]| -> Vec<f64> {
            all.iter()
                .map(|r| {
                    let mut left = n;
                    r[..k - 1]
                        .iter()
                        .zip(c)
                        .map(|(to, from)| {
                            let p = clamped(*from, *to, left, scale);
                            left -= to;
                            p
                        })
                        .product()
                })
                .collect()
        };
        let mut worst: f64 = 0.0;
        for a in &all {
            assert!((law(a).iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for b in all.iter().filter(|b| apart(a, b) == 1) {
                worst = law(a).iter().zip(law(b)).map(|(p, q)| (p / q).ln()).fold(worst, f64::max);
            }
        }
        assert!(worst <= claimed * (1.0 + 1e-9) && worst > 0.999 * claimed, "{mechanism} {k}: {worst} {claimed}");
    }
}

/// Noise on counts: the shifts of all neighbours over the scale of the plan, which is what the certificate claims.
#[test]
fn noisy_counts_cost_what_they_say() {
    for (header, relation) in [("[n]", "replace"), ("[private n]", "add")] {
        for k in [2usize, 3] {
            let (column, prior, row) = match k {
                2 => ("bool", "beta(1, 1)", "bernoulli(p)"),
                _ => ("category {a, b, c}", "dirichlet([1, 1, 1])", "categorical(p)"),
            };
            for argument in ["eps = 0.3", "rho = 0.02"] {
                let text = format!(
                    "private t{header} {{ x: {column} }}\nparam p ~ {prior}\nobserve x ~ {row}\nrelease q = posterior(p) using noise_aware({argument})\n"
                );
                let law = plan(&text);
                let kept = law.kept(k, relation == "replace");
                let (mut l1, mut l2): (f64, f64) = (0.0, 0.0);
                for n in 1..4u64 {
                    let other = if relation == "replace" { n } else { n - 1 };
                    for a in histograms(n, k) {
                        for b in histograms(other, k) {
                            let moved: u64 = a.iter().zip(&b).map(|(x, y)| x.abs_diff(*y)).sum();
                            if moved != if relation == "replace" { 2 } else { 1 } {
                                continue;
                            }
                            let steps = a.iter().zip(&b).take(kept).map(|(x, y)| x.abs_diff(*y) as f64);
                            l1 = l1.max(steps.clone().sum());
                            l2 = l2.max(steps.map(|x| x * x).sum::<f64>().sqrt());
                        }
                    }
                }
                let claim = certified(&text).claim().clone();
                match law.noise {
                    WholeNoise::Geometric { scale } => assert!(l1 / scale <= claim.pure() && l1 / scale > 0.999 * claim.pure()),
                    WholeNoise::Gaussian { sigma } => {
                        let rho = l2 * l2 / (2.0 * sigma * sigma);
                        assert!(rho <= claim.zcdp() && rho > 0.999 * claim.zcdp(), "{text} {rho}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

fn numbers(list: &[i128]) -> Released {
    Released { components: list.iter().map(|x| Number::new(*x, 0)).collect() }
}

/// The mixture by its definition: beta-binomial probabilities of all counts times the noise.
#[test]
fn mixtures_by_enumeration() {
    let (a, b, n, noisy) = (0.7, 2.0, 30u64, 33i128);
    for noise in [WholeNoise::Geometric { scale: 2.5 }, WholeNoise::Gaussian { sigma: 4.0 }] {
        let family = WholeFamily::Counts { alpha: vec![a, b], items: 1, single: true };
        let law = WholeLaw { family, noise, aware: true };
        let found = posterior_of(&law, &numbers(&[i128::from(n), noisy]), true, &mut OsBits::new().unwrap()).unwrap();
        let weight = |s: u64| {
            let (s, f, far) = (s as f64, (n - s) as f64, (noisy - i128::from(s)) as f64);
            let binomial = ln_gamma(n as f64 + 1.0) - ln_gamma(s + 1.0) - ln_gamma(f + 1.0);
            let noise = match noise {
                WholeNoise::Gaussian { sigma } => -far * far / (2.0 * sigma * sigma),
                _ => -far.abs() / 2.5,
            };
            (binomial + ln_gamma(a + s) + ln_gamma(b + f) + noise).exp()
        };
        let total: f64 = (0..=n).map(weight).sum();
        let mean: f64 = (0..=n).map(|s| weight(s) / total * (a + s as f64) / (a + b + n as f64)).sum();
        assert!((found.mean()[0] - mean).abs() < 1e-9, "{noise:?} {} {mean}", found.mean()[0]);
        let Posterior::Mixture { weights, components } = &found else { panic!() };
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12 && weights.len() == components.len());
    }
}

/// Three levels: 1,000 exact draws of the counts; means within five standard errors of the enumerated ones.
#[test]
fn drawn_mixtures_by_enumeration() {
    let (alpha, n, noisy) = ([0.5, 1.0, 2.0], 12u64, [9i128, 4, -2]);
    for public in [true, false] {
        let noise = WholeNoise::Geometric { scale: 2.0 };
        let law = WholeLaw { family: WholeFamily::Counts { alpha: alpha.to_vec(), items: 1, single: false }, noise, aware: true };
        let released: Vec<i128> = public.then_some(i128::from(n)).into_iter().chain(noisy).collect();
        let found = posterior_of(&law, &numbers(&released), public, &mut OsBits::new().unwrap()).unwrap();
        let everything: f64 = alpha.iter().sum();
        let sizes = if public { n..=n } else { 0..=60 };
        let (mut total, mut mean, mut square) = (0.0, [0.0; 3], [0.0; 3]);
        for size in sizes {
            for c in histograms(size, 3) {
                let each: f64 = (0..3)
                    .map(|i| ln_gamma(alpha[i] + c[i] as f64) - ln_gamma(c[i] as f64 + 1.0) - (noisy[i] as f64 - c[i] as f64).abs() / 2.0)
                    .sum();
                let w = (each + ln_gamma(size as f64 + 1.0) - ln_gamma(everything + size as f64)).exp();
                total += w;
                for i in 0..3 {
                    let m = (alpha[i] + c[i] as f64) / (everything + size as f64);
                    mean[i] += w * m;
                    square[i] += w * m * m;
                }
            }
        }
        for i in 0..3 {
            let (m, s) = (mean[i] / total, square[i] / total);
            let error = ((s - m * m).max(0.0) / 1000.0).sqrt();
            assert!((found.mean()[i] - m).abs() < 5.0 * error + 1e-6, "{public} {i}: {} {m}", found.mean()[i]);
        }
    }
}
