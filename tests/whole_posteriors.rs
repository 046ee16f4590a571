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

/// A mean by its definition: sums over the mean, and over the total behind the noise, of prior, rows and noise.
#[test]
fn means_by_double_sums() {
    // Prior mean and sd, sd of a row, rows, what was released, noise, step of the grid.
    let laplace = |scale| WholeNoise::Geometric { scale };
    let gaussian = |sigma| WholeNoise::Gaussian { sigma };
    let fine = -30;
    let cases = [
        (1.0, 2.0, 1.5, 50.0, 40.0, laplace(0.7), fine),
        (1.0, 2.0, 1.5, 50.0, 40.0, laplace(12.0), fine),
        (1.0, 0.3, 1.5, 50.0, 140.0, laplace(60.0), fine),
        (0.0, 1.0, 1.0, 20.0, 900.0, laplace(15.0), fine),
        (0.0, 5.0, 2.0, 30.0, -50.0, gaussian(9.0), fine),
        (2.0, 1.0, 1.0, 10.0, 17.0, gaussian(0.8), 0),
        (2.0, 1.0, 1.0, 10.0, 17.0, laplace(0.4), 0),
        (2.0, 1.0, 1.0, 10.0, 17.0, laplace(6.0), 0),
    ];
    for case @ (m0, s0, sd, n, noisy, noise, exponent) in cases {
        let law = WholeLaw { family: WholeFamily::Normal { mean: m0, precision: 1.0 / (s0 * s0), sd }, noise, aware: true };
        let step = 2f64.powi(exponent);
        let components = vec![Number::new(n as i128, 0), Number::new((noisy / step) as i128, exponent)];
        let found = posterior_of(&law, &Released { components }, true, &mut OsBits::new().unwrap()).unwrap();
        let spread = sd * f64::sqrt(n);
        let ln_noise = |far: f64| match noise {
            WholeNoise::Gaussian { sigma } => -far * far / (2.0 * sigma * sigma),
            WholeNoise::Geometric { scale } => -far.abs() / scale,
            other => panic!("{other:?}"),
        };
        let size = match noise {
            WholeNoise::Gaussian { sigma: x } | WholeNoise::Geometric { scale: x } => x,
            _ => spread,
        };
        // Whole numbers where the grid has them; else steps of which one ends at the kink of the noise.
        let h = if exponent == 0 { 1.0 } else { spread.min(size) / 40.0 };
        let likelihood = |mu: f64| -> f64 {
            let first = ((n * mu - 9.0 * spread - noisy) / h).floor() as i64;
            let last = ((n * mu + 9.0 * spread - noisy) / h).ceil() as i64;
            (first..=last)
                .map(|i| {
                    let s = noisy + i as f64 * h;
                    (-(s - n * mu).powi(2) / (2.0 * spread * spread) + ln_noise(noisy - s)).exp()
                })
                .sum()
        };
        let (centre, wide) = (found.mean()[0], found.sd()[0]);
        let points = 1200;
        let mus: Vec<f64> = (0..=points).map(|i| centre + wide * 12.0 * (f64::from(2 * i) / f64::from(points) - 1.0)).collect();
        let density: Vec<f64> = mus.iter().map(|mu| (-(mu - m0).powi(2) / (2.0 * s0 * s0)).exp() * likelihood(*mu)).collect();
        let total: f64 = density.iter().sum();
        let mean: f64 = mus.iter().zip(&density).map(|(x, d)| x * d).sum::<f64>() / total;
        let sd = (mus.iter().zip(&density).map(|(x, d)| (x - mean).powi(2) * d).sum::<f64>() / total).sqrt();
        assert!((mean - centre).abs() < 2e-4 * wide && (sd / wide - 1.0).abs() < 5e-4, "{case:?}: {centre} {mean}, {wide} {sd}");
        // The density itself, and the distribution function at the quantiles.
        let gap = mus[1] - mus[0];
        let most = density.iter().copied().fold(0.0, f64::max) / (total * gap);
        for (x, d) in mus.iter().zip(&density).step_by(37) {
            assert!(
                (found.density(*x) - d / (total * gap)).abs() < 1e-3 * most,
                "{case:?} at {x}: {} {}",
                found.density(*x),
                d / (total * gap)
            );
        }
        for q in [0.01, 0.05, 0.5, 0.95, 0.99] {
            let x = found.quantiles(&[q])[0];
            assert!((found.cdf(&[x])[0] - q).abs() < 1e-6, "{case:?} {q}");
            let below: f64 = mus.iter().zip(&density).take_while(|(m, _)| **m <= x).map(|(_, d)| d).sum::<f64>() / total;
            assert!((below - q).abs() < 0.01, "{case:?} {q} {below}");
        }
        assert_eq!(found.quantiles(&[0.0, 1.0]), [f64::NEG_INFINITY, f64::INFINITY]);
    }
}

/// The plug-in posterior is the conjugate one at the noisy sum, and so is the aware one where there is next to no noise.
#[test]
fn a_mean_without_noise_is_conjugate() {
    let family = WholeFamily::Normal { mean: 3.0, precision: 0.25, sd: 2.0 };
    let release = Released { components: vec![Number::new(40, 0), Number::new(100 << 20, -20)] };
    let (precision, mean) = (0.25 + 10.0, (0.75 + 25.0) / 10.25);
    for (aware, noise) in [(false, 5.0), (true, 1e-3)] {
        for noise in [WholeNoise::Geometric { scale: noise }, WholeNoise::Gaussian { sigma: noise }] {
            let law = WholeLaw { family: family.clone(), noise, aware };
            let found = posterior_of(&law, &release, true, &mut OsBits::new().unwrap()).unwrap();
            assert!((found.mean()[0] - mean).abs() < 1e-6 && (found.sd()[0] - 1.0 / f64::sqrt(precision)).abs() < 1e-6, "{found:?}");
        }
    }
}

/// The ends of a row's range on its grid, times the rows of a unit, over the scale of the plan: what the certificate claims.
#[test]
fn noisy_sums_cost_what_they_say() {
    for (column, lo, hi) in [("real in [-3.3, 7.1]", -3.3, 7.1), ("int in 2..9", 2.0, 9.0), ("real in [0, 1e-3]", 0.0, 1e-3)] {
        for (header, k) in [("[n]", 1.0), ("[n] by id max 3", 3.0)] {
            for (argument, aware) in [("eps = 0.3", "noise_aware"), ("rho = 0.02", "noise_aware"), ("eps = 2", "plug_in")] {
                let text = format!(
                    "private t{header} {{ id: text, y: {column} }}\nparam mu ~ normal(1, 2)\nobserve y ~ normal(mu, 1.5)\nrelease q = posterior(mu) using {aware}({argument})\n"
                );
                let claim = certified(&text).claim().clone();
                let range = dpm::model::Range::new(lo, hi);
                let ty = if column.starts_with("int") { dpm::model::Type::Int(range) } else { dpm::model::Type::Real(range) };
                let grid = dpm::data::statistic::Quantizer::new(&ty).unwrap();
                let moved = k * (grid.scalar(hi) - grid.scalar(lo)) as f64 * 2f64.powi(grid.exponent());
                assert!(moved <= k * (hi - lo) * (1.0 + 1e-15));
                match plan(&text).noise {
                    WholeNoise::Geometric { scale } => {
                        assert!(moved / scale <= claim.pure() * (1.0 + 1e-15) && moved / scale > 0.999 * claim.pure(), "{text}");
                    }
                    WholeNoise::Gaussian { sigma } => {
                        let rho = moved * moved / (2.0 * sigma * sigma);
                        assert!(rho <= claim.zcdp() * (1.0 + 1e-15) && rho > 0.999 * claim.zcdp(), "{text} {rho}");
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
}

/// Groups of levels, and shares of one draw against each other, by summing over a grid of shares.
#[test]
fn groups_of_shares_and_which_is_ahead() {
    let components = vec![Posterior::Dirichlet(vec![2.0, 3.0, 1.5, 4.0]), Posterior::Dirichlet(vec![5.0, 1.0, 2.5, 2.0])];
    let mixture = Posterior::Mixture { weights: vec![0.25, 0.75], components };
    let found = mixture.together(&[0, 2]).unwrap();
    let Posterior::Mixture { components, .. } = &found else { panic!() };
    assert_eq!(components[0], Posterior::Beta(3.5, 7.0));
    assert!((found.mean()[0] - (mixture.mean()[0] + mixture.mean()[2])).abs() < 1e-12);
    // P(x > y) for Dirichlet(2, 3, 1.5 + 4): densities of the first two shares on a grid.
    let (mut above, mut all) = (0.0, 0.0);
    let steps = 600;
    for i in 0..steps {
        for j in 0..steps - i {
            let at = |i: u32| (f64::from(i) + 0.5) / f64::from(steps);
            let (x, y) = (at(i), at(j));
            let rest = 1.0 - x - y;
            if rest <= 0.0 {
                continue;
            }
            let w = x * y * y * rest.powf(4.5);
            all += w;
            above += w * f64::from(u8::from(i > j)) + 0.5 * w * f64::from(u8::from(i == j));
        }
    }
    let one = Posterior::Dirichlet(vec![2.0, 3.0, 1.5, 4.0]);
    assert!((one.ahead(&[0], &[1]).unwrap() - above / all).abs() < 1e-3, "{:?} {}", one.ahead(&[0], &[1]), above / all);
    // What both sides hold does not count.
    assert_eq!(one.ahead(&[0, 3], &[1, 3]), one.ahead(&[0], &[1]));
    assert_eq!((one.ahead(&[0, 1], &[1]), one.ahead(&[1], &[1])), (Some(1.0), Some(0.0)));
    assert_eq!(one.together(&[4]), None);
}

/// Ends of the support, and nothing at infinity.
#[test]
fn values_at_the_ends() {
    let mixture = Posterior::Mixture { weights: vec![0.5; 2], components: vec![Posterior::Beta(3.0, 4.0), Posterior::Beta(9.0, 2.0)] };
    assert_eq!(mixture.quantiles(&[0.0, 1.0]), [0.0, 1.0]);
    let gamma = Posterior::Gamma(3.0, 2.0);
    assert_eq!(gamma.quantiles(&[0.0, 1.0]), [0.0, f64::INFINITY]);
    assert_eq!((gamma.density(f64::INFINITY), gamma.density(-1.0), gamma.cdf(&[f64::INFINITY])), (0.0, 0.0, vec![1.0]));
}

/// Second moments of two rows that differ: the largest step over random rows of the ball and its worst pairs, over the scales
/// of the plan, is what the certificate claims.
#[test]
fn noisy_moments_cost_what_they_say() {
    let (c, y_most, rho) = (1.5, 3.0, 0.3);
    let text = format!(
        "private t[n] {{ x: vector[3] in l2({c}), y: real in [-2, {y_most}] }}\nparam w: vector[3] ~ normal(0, 1)\nobserve y ~ normal(dot(w, x), 1)\nrelease q = posterior(w) using noise_aware(rho = {rho})\n"
    );
    let claim = certified(&text).claim().zcdp();
    let WholeNoise::Moments { products, sums } = plan(&text).noise else { panic!() };
    let cost = |x: [f64; 3], y: f64, z: [f64; 3], v: f64| {
        let mut total = 0.0;
        for i in 0..3 {
            for j in i..3 {
                total += (x[i] * x[j] - z[i] * z[j]).powi(2) / (2.0 * products * products);
            }
            total += (x[i] * y - z[i] * v).powi(2) / (2.0 * sums * sums);
        }
        total
    };
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut worst: f64 = 0.0;
    for _ in 0..100_000 {
        let mut point = || -> [f64; 3] {
            let v = [0; 3].map(|_| 2.0 * uniform() - 1.0);
            let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.map(|x| x * c / norm)
        };
        let (x, z) = (point(), point());
        let (y, v) = (5.0 * uniform() - 2.0, 5.0 * uniform() - 2.0);
        worst = worst.max(cost(x, y, z, v)).max(cost(x, y_most, z, y_most));
    }
    assert!(worst <= claim, "{worst} {claim}");
    // Each half is attained by itself: features at right angles, and opposite ones.
    let half = cost([c, 0.0, 0.0], 0.0, [0.0, c, 0.0], 0.0);
    let other = cost([c, 0.0, 0.0], y_most, [-c, 0.0, 0.0], y_most);
    assert!(half <= 0.5 * claim && half > 0.499_999 * claim && other <= 0.5 * claim && other > 0.499_999 * claim, "{half} {other} {claim}");
}

/// One weight: its posterior by a double sum over the weight and the true product behind the noise.
#[test]
fn weights_by_double_sums() {
    for (n, product, sum, products, sums, sd, m0, v0) in [
        (50.0, 30.0, 12.0, 4.0, 6.0, 0.7, 0.0, 4.0),
        (40.0, 5.0, -9.0, 6.0, 3.0, 1.0, 1.0, 0.5),
        (1000.0, 300.0, 150.0, 1.0, 1.0, 0.5, 0.0, 1.0),
    ] {
        let family = WholeFamily::Weights { mean: vec![m0], precision: vec![1.0 / v0], sd, norm: 1.0 };
        let law = WholeLaw { family, noise: WholeNoise::Moments { products, sums }, aware: true };
        let components = [n, product, sum].map(|x: f64| Number::new((x * 1024.0) as i128, -10)).to_vec();
        let found = posterior_of(&law, &Released { components }, true, &mut OsBits::new().unwrap()).unwrap();
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for i in 0..400 {
            let s = (f64::from(i) + 0.5) / 400.0 * n.min(product + 9.0 * products);
            let near: f64 = -(s - product).powi(2) / (2.0 * products * products);
            for j in 0..800 {
                let w = m0 + f64::sqrt(v0) * 7.0 * (f64::from(j) / 400.0 - 1.0);
                let spread = sd * sd * s + sums * sums;
                let p = (near - (w - m0).powi(2) / (2.0 * v0) - (sum - s * w).powi(2) / (2.0 * spread)).exp() / spread.sqrt();
                total += p;
                mean += p * w;
                square += p * w * w;
            }
        }
        let (mean, sd) = (mean / total, (square / total - (mean / total).powi(2)).sqrt());
        // A thousand states, one in ten of a chain: errors of the mean of some 3 % of an sd.
        assert!((found.mean()[0] - mean).abs() < 0.2 * sd, "{} {mean} {sd}", found.mean()[0]);
        assert!((found.sd()[0] / sd - 1.0).abs() < 0.15, "{} {sd}", found.sd()[0]);
    }
}

/// A rate whose number of rows is secret: sums over both of what may stand behind the noise.
#[test]
fn rates_of_secret_rows_by_enumeration() {
    let (a, b, rows, sum) = (2.0, 1.5, 12.0, 30.0);
    for gaussian in [false, true] {
        let noise = WholeNoise::Rows { gaussian, rows: 1.5, sum: 6.0 };
        let law = WholeLaw { family: WholeFamily::Gamma { shape: a, rate: b }, noise, aware: true };
        let found = posterior_of(&law, &numbers(&[12, 30]), false, &mut OsBits::new().unwrap()).unwrap();
        let ln = |far: f64, size: f64| if gaussian { -far * far / (2.0 * size * size) } else { -far.abs() / size };
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for n in 0..=80 {
            for s in 0..=if n == 0 { 0 } else { 260 } {
                let (n, s) = (f64::from(n), f64::from(s));
                // Negative binomial: Gamma-Poisson with the rate integrated out.
                let own = ln_gamma(a + s) - ln_gamma(a) - ln_gamma(s + 1.0)
                    + a * (b / (b + n)).ln()
                    + if s > 0.0 { s * (n / (b + n)).ln() } else { 0.0 };
                let w = (own + ln(rows - n, 1.5) + ln(sum - s, 6.0)).exp();
                let m = (a + s) / (b + n);
                total += w;
                mean += w * m;
                square += w * m * m;
            }
        }
        let (mean, spread) = (mean / total, (square / total - (mean / total).powi(2)).sqrt());
        // 1,000 exact draws of both: five standard errors.
        assert!((found.mean()[0] - mean).abs() < 5.0 * spread / 1000f64.sqrt(), "{gaussian} {} {mean}", found.mean()[0]);
    }
}

/// A unit that comes or goes moves the sum by its rows times the largest outcome, and the number of rows by its rows.
#[test]
fn noisy_sums_and_rows_cost_what_they_say() {
    for argument in ["eps = 0.4", "rho = 0.03"] {
        let text = format!(
            "private t[private n] by id max 2 {{ id: text, x: int in 0..5 }}\nparam l ~ gamma(2, 1)\nobserve x ~ poisson(l)\nrelease q = posterior(l) using noise_aware({argument})\n"
        );
        let claim = certified(&text).claim().clone();
        let WholeNoise::Rows { gaussian, rows, sum } = plan(&text).noise else { panic!() };
        let cost = if gaussian { 50.0 / (sum * sum) + 2.0 / (rows * rows) } else { 10.0 / sum + 2.0 / rows };
        let claimed = if gaussian { claim.zcdp() } else { claim.pure() };
        assert!(cost <= claimed * (1.0 + 1e-15) && cost > 0.999 * claimed, "{text} {cost}");
    }
}

/// Weights that are jointly normal are compared by the law of their difference.
#[test]
fn weights_against_each_other() {
    let law = |mean: [f64; 2], factor: [f64; 3]| Posterior::MultiNormal {
        mean: mean.to_vec(),
        factor: vec![vec![factor[0]], factor[1..].to_vec()],
    };
    // Covariance [[4, 3], [3, 2.5]]: the difference has variance 0.5.
    let one = law([1.0, 0.5], [2.0, 1.5, 0.5]);
    let exact = statrs::distribution::ContinuousCDF::cdf(&statrs::distribution::Normal::new(0.0, 1.0).unwrap(), 0.5 / 0.5f64.sqrt());
    assert!((one.ahead(&[0], &[1]).unwrap() - exact).abs() < 1e-9);
    let both = Posterior::Mixture { weights: vec![0.25, 0.75], components: vec![one.clone(), law([0.0, 0.0], [1.0, 0.0, 1.0])] };
    assert!((both.ahead(&[0], &[1]).unwrap() - (0.25 * exact + 0.375)).abs() < 1e-9);
    assert_eq!(both.component(1).unwrap().mean(), [0.125]);
}
