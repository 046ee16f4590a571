//! Posteriors of noisy counts, what the noise costs, and the mixtures by enumeration.

use super::*;
use dpm::analyze::Unbound;
use dpm::check::NoFiles;
use dpm::data::Environment;
use dpm::model::{Expr, Step};
use dpm::pipeline;

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

/// Groups of a private key: the shifts of the counts of all groups together, between all data sets of three rows of which one is replaced.
#[test]
fn noisy_counts_in_groups_of_a_private_key_cost_what_they_say() {
    for (column, levels, body, items) in [
        ("bool", 2, "param p ~ beta(1, 1)\n  observe x ~ bernoulli(p)", 1),
        ("category {a, b, c}", 3, "param p ~ dirichlet([1, 1, 1])\n  observe x ~ categorical(p)", 1),
        ("int in 0..3", 2, "param p ~ beta(1, 1)\n  observe x ~ binomial(3, p)", 3),
    ] {
        for argument in ["eps = 0.3", "rho = 0.02"] {
            let text = format!(
                "private t[n] {{ g: category {{u, v}}, x: {column} }}\neach g of t {{\n  {body}\n  release q = posterior(p) using noise_aware({argument})\n}}\n"
            );
            let law = plan(&text);
            let kept = law.kept(levels, false);
            assert_eq!(kept, levels);
            // A row is a group and what it adds to the counts of it.
            let adds: Vec<Vec<i64>> = match items {
                1 => (0..levels).map(|l| (0..levels).map(|m| i64::from(l == m)).collect()).collect(),
                n => (0..=n).map(|k| vec![k, n - k]).collect(),
            };
            let rows: Vec<Vec<i64>> =
                adds.iter().flat_map(|a| [[a.clone(), vec![0; levels]].concat(), [vec![0; levels], a.clone()].concat()]).collect();
            let (mut l1, mut l2): (f64, f64) = (0.0, 0.0);
            for (a, b) in rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b))) {
                let steps = a.iter().zip(b).map(|(x, y)| (x - y).abs() as f64);
                l1 = l1.max(steps.clone().sum());
                l2 = l2.max(steps.map(|x| x * x).sum::<f64>().sqrt());
            }
            let claim = certified(&text).claim().clone();
            match law.noise {
                WholeNoise::Geometric { scale } => assert!(l1 / scale <= claim.pure() && l1 / scale > 0.999 * claim.pure(), "{text}"),
                WholeNoise::Gaussian { sigma } => {
                    let rho = l2 * l2 / (2.0 * sigma * sigma);
                    assert!(rho <= claim.zcdp() && rho > 0.999 * claim.zcdp(), "{text} {rho} {}", claim.zcdp());
                }
                other => panic!("{other:?}"),
            }
        }
    }
    // Of Poisson rows the sum and the number of rows leave in both groups.
    let text = "private t[n] { g: category {u, v}, x: int in 0..5 }\neach g of t {\n  param l ~ gamma(2, 1)\n  observe x ~ poisson(l)\n  release q = posterior(l) using noise_aware(eps = 0.4)\n}\n";
    let WholeNoise::Rows { rows, sum, .. } = plan(text).noise else { panic!() };
    let cost = 2.0 * (5.0 / sum + 1.0 / rows);
    let claimed = certified(text).claim().pure();
    assert!(cost <= claimed * (1.0 + 1e-15) && cost > 0.999 * claimed, "{cost} {claimed}");
}

/// Every released number is 3.
struct Three;

impl Environment for Three {
    fn value(&self, _: &Expr) -> Option<Vec<f64>> {
        Some(vec![3.0])
    }
}

/// A plan that waits for a released number has the noise that was certified for groups of a private key.
#[test]
fn late_priors_keep_the_noise_of_their_groups() {
    let body = |prior: &str| {
        format!(
            "each g of t {{\n  param p ~ beta({prior}, 1)\n  observe x ~ bernoulli(p)\n  release q = posterior(p) using noise_aware(eps = 0.3)\n}}\n"
        )
    };
    let head = "private t[n] { g: category {u, v}, x: bool }\n";
    let late = format!("{head}release c = sum(x) using laplace(scale = 100)\nlet k = clip(c, 1, 9)\n{}", body("k"));
    let checked = pipeline::check("t.dpm", &late, &NoFiles);
    let analysis = pipeline::analyze(&checked, &Unbound::default(), false).0.unwrap();
    let each = checked.program.steps.iter().find_map(|s| if let Step::Each(each) = s { Some(each) } else { None }).unwrap();
    let Some(Step::Release(release)) = each.body.first() else { panic!() };
    let chosen = analysis.release(release.id).unwrap().chosen.as_ref().unwrap();
    assert!(chosen.plan.is_none());
    let found = dpm::run::plan(release, true, chosen, &checked.program, &Unbound::default(), &Three).unwrap();
    let MechanismPlan::Whole { law, .. } = found else { panic!() };
    assert_eq!(law.noise, plan(&format!("{head}{}", body("3"))).noise);
    assert!(matches!(law.noise, WholeNoise::Geometric { scale } if scale >= 2.0 / 0.3));
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

/// Numbers of failures: the posterior of the chance by integration over it and sums over what may stand behind the noise.
#[test]
fn failures_by_integration() {
    let (a, b, rows, each, noisy) = (2.0, 3.0, 12u32, 1.5, 31i128);
    for noise in [WholeNoise::Geometric { scale: 2.5 }, WholeNoise::Gaussian { sigma: 4.0 }] {
        let law = WholeLaw { family: WholeFamily::Failures { a, b, successes: each }, noise, aware: true };
        let found = posterior_of(&law, &numbers(&[i128::from(rows), noisy]), true, &mut OsBits::new().unwrap()).unwrap();
        let ln_noise =
            |far: f64| if let WholeNoise::Gaussian { sigma } = noise { -far * far / (2.0 * sigma * sigma) } else { -far.abs() / 2.5 };
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for i in 0..2_000 {
            let p = (f64::from(i) + 0.5) / 2_000.0;
            // The chance of s + 1 failures from that of s.
            let (mut chance, mut likelihood) = (p.powf(each * f64::from(rows)), 0.0);
            for s in 0..300 {
                likelihood += chance * ln_noise(noisy as f64 - f64::from(s)).exp();
                chance *= (each * f64::from(rows) + f64::from(s)) / f64::from(s + 1) * (1.0 - p);
            }
            let w = likelihood * p.powf(a - 1.0) * (1.0 - p).powf(b - 1.0);
            (total, mean, square) = (total + w, mean + w * p, square + w * p * p);
        }
        let mean = mean / total;
        assert!((found.mean()[0] - mean).abs() < 1e-6, "{noise:?} {} {mean}", found.mean()[0]);
        let sd = (square / total - mean * mean).sqrt();
        assert!((found.sd()[0] - sd).abs() < 1e-5, "{noise:?} {} {sd}", found.sd()[0]);
    }
}

/// One unit moves the sum of its failures by its rows times the largest outcome.
#[test]
fn noisy_failures_cost_what_they_say() {
    for (argument, mechanism) in [("eps = 0.4", "noise_aware"), ("rho = 0.03", "noise_aware"), ("eps = 0.4", "plug_in")] {
        let text = format!(
            "private t[40] by id max 2 {{ id: text, x: int in 0..5 }}\nparam p ~ beta(2, 1)\nobserve x ~ geometric(p)\nrelease q = posterior(p) using {mechanism}({argument})\n"
        );
        let claim = certified(&text).claim().clone();
        let (cost, claimed) = match plan(&text).noise {
            WholeNoise::Geometric { scale } => (10.0 / scale, claim.pure()),
            WholeNoise::Gaussian { sigma } => (50.0 / (sigma * sigma), claim.zcdp()),
            other => panic!("{other:?}"),
        };
        assert!(cost <= claimed * (1.0 + 1e-15) && cost > 0.999 * claimed, "{text} {cost}");
    }
}
