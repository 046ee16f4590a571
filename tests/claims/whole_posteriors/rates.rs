//! Posteriors of rates, precisions and vectors of means from noisy sums: by double sums, by closed forms, and how often they hold the truth.

use super::*;
use dpm::mechanism::draw::finite::discrete_laplace;
use dpm::mechanism::real::Param;
use rand::SeedableRng;
use rand_distr::Distribution;

const EXPONENT: i32 = -20;

fn given(family: WholeFamily, noise: WholeNoise, aware: bool, rows: i128, noisy: &[f64]) -> Posterior {
    let sums = noisy.iter().map(|x| Number::new((x * 2f64.powi(-EXPONENT)).round() as i128, EXPONENT));
    let components = std::iter::once(Number::new(rows, 0)).chain(sums).collect();
    posterior_of(&WholeLaw { family, noise, aware }, &Released { components }, true, &mut OsBits::new().unwrap()).unwrap()
}

/// A rate by its definition: sums over the rate, and over the total behind the noise, of prior, rows and noise.
#[test]
fn rates_by_double_sums() {
    let (laplace, gaussian) = (|scale| WholeNoise::Geometric { scale }, |sigma| WholeNoise::Gaussian { sigma });
    // Prior, what one row adds to the shape, factor of the sum, rows, what was released, noise.
    let cases = [
        (2.0, 1.0, 1.0, 1.0, 20, 15.0, laplace(0.7)),
        (2.0, 1.0, 1.0, 1.0, 20, 15.0, laplace(8.0)),
        (2.0, 3.0, 1.0, 1.0, 1, -4.0, laplace(5.0)),
        (0.5, 0.2, 1.0, 0.5, 3, 90.0, laplace(9.0)),
        (3.0, 2.0, 2.5, 1.0, 16, 30.0, gaussian(6.0)),
        (2.0, 1.0, 0.5, 0.5, 1, 1.0, gaussian(3.0)),
        (2.0, 1.0, 0.5, 0.5, 400, 350.0, gaussian(3.0)),
        // A strong prior beside a row or a few, and rows that hardly add to the shape.
        (10_000.0, 10_000.0, 1.0, 1.0, 1, 9.0, laplace(12.0)),
        (10_000.0, 10_000.0, 1.0, 1.0, 3, -4.0, gaussian(12.0)),
        (400.0, 300.0, 0.5, 0.5, 10, 2.0, laplace(3.0)),
        (2.0, 1.0, 0.3, 1.0, 1, 2.0, laplace(0.3)),
        (2.0, 1.0, 0.05, 1.0, 2, 9.0, laplace(0.5)),
    ];
    for case @ (a, b, per_row, scale, rows, noisy, noise) in cases {
        let found = given(WholeFamily::Rate { shape: a, rate: b, per_row, scale }, noise, true, rows, &[noisy]);
        let more = rows as f64 * per_row;
        let ln_noise = |far: f64| match noise {
            WholeNoise::Gaussian { sigma } => -far * far / (2.0 * sigma * sigma),
            WholeNoise::Geometric { scale } => -far.abs() / scale,
            other => panic!("{other:?}"),
        };
        let (step, most) = (0.004, (noisy.max(0.0) + 400.0).ln());
        let likelihood = |rate: f64| -> f64 {
            let nodes = (0..40_000).map(|i| most - step * f64::from(i)).take_while(|u| *u > -90.0);
            nodes
                .map(|u| {
                    (more * (u + (rate * scale).ln()) - rate * scale * u.exp() + more + ln_noise(noisy - u.exp()) - more * more.ln()).exp()
                })
                .sum()
        };
        let (low, high) = (found.quantiles(&[1e-6])[0], found.quantiles(&[1.0 - 1e-6])[0]);
        // Even in the logarithm, so that each counts with its width.
        let points = 500;
        let rates: Vec<f64> = (0..points).map(|i| low * (high / low).powf((f64::from(i) + 0.5) / f64::from(points))).collect();
        let highest = a * (a / b).ln() - a;
        let density: Vec<f64> = rates.iter().map(|x| (a * x.ln() - b * x - highest).exp() * likelihood(*x)).collect();
        let total: f64 = density.iter().sum();
        let mean: f64 = rates.iter().zip(&density).map(|(x, d)| x * d).sum::<f64>() / total;
        let sd = (rates.iter().zip(&density).map(|(x, d)| (x - mean).powi(2) * d).sum::<f64>() / total).sqrt();
        let (centre, wide) = (found.mean()[0], found.sd()[0]);
        // Of a heavy tail the sums over rates end too early.
        assert!((mean - centre).abs() < 2e-3 * wide && (sd / wide - 1.0).abs() < 2e-2, "{case:?}: {centre} {mean}, {wide} {sd}");
        for q in [0.05, 0.5, 0.95] {
            let x = found.quantiles(&[q])[0];
            let below: f64 = rates.iter().zip(&density).take_while(|(m, _)| **m <= x).map(|(_, d)| d).sum::<f64>() / total;
            assert!((below - q).abs() < 0.01, "{case:?} {q} {below}");
        }
    }
}

/// Next to no noise leaves the conjugate posterior, and so does the plug-in one.
#[test]
fn a_rate_without_noise_is_conjugate() {
    for (aware, scale) in [(true, 1e-4), (false, 3.0)] {
        let family = WholeFamily::Rate { shape: 2.0, rate: 1.0, per_row: 0.5, scale: 0.5 };
        let found = given(family, WholeNoise::Geometric { scale }, aware, 60, &[80.0]);
        let (shape, rate) = (32.0, 41.0);
        assert!(
            (found.mean()[0] / (shape / rate) - 1.0).abs() < 1e-4 && (found.sd()[0] / (f64::sqrt(shape) / rate) - 1.0).abs() < 1e-3,
            "{found:?}"
        );
    }
}

/// No rows, as in an empty group of a public key: the prior, whatever the noise.
#[test]
fn no_rows_leave_the_prior() {
    for noise in [WholeNoise::Geometric { scale: 3.0 }, WholeNoise::Gaussian { sigma: 3.0 }] {
        let found = given(WholeFamily::Rate { shape: 2.0, rate: 4.0, per_row: 0.5, scale: 0.5 }, noise, true, 0, &[2.0]);
        assert_eq!((found.mean()[0], found.sd()[0]), (0.5, f64::sqrt(2.0) / 4.0));
    }
    let family =
        WholeFamily::Means { precision: vec![4.0, 0.0, 0.0, 1.0], precision_mean: vec![2.0, 3.0], covariance: vec![1.0, 0.0, 0.0, 1.0] };
    let found = given(family, WholeNoise::Gaussian { sigma: 3.0 }, true, 0, &[5.0, -5.0]);
    assert_eq!((found.mean(), found.sd()), (vec![0.5, 3.0], vec![0.5, 1.0]));
}

/// Two means: precision and mean written out for two dimensions.
#[test]
fn means_in_closed_form() {
    let (p, c, sigma, n) = ([2.0, 0.5, 1.0], [1.5, -0.4, 0.8], 7.0, 25.0);
    let inverse = |[a, b, d]: [f64; 3]| [d / (a * d - b * b), -b / (a * d - b * b), a / (a * d - b * b)];
    let full = |[a, b, d]: [f64; 3]| vec![a, b, b, d];
    let (moment, noisy) = ([0.3, -1.0], [30.0, -12.0]);
    let family = WholeFamily::Means { precision: full(p), precision_mean: moment.to_vec(), covariance: full(c) };
    let found = given(family, WholeNoise::Gaussian { sigma }, true, 25, &noisy);
    let own = sigma * sigma / n;
    let seen = inverse([c[0] + own, c[1], c[2] + own]).map(|x| x * n);
    let total = [p[0] + seen[0], p[1] + seen[1], p[2] + seen[2]];
    let rows = [noisy[0] / n, noisy[1] / n];
    let sum = [moment[0] + seen[0] * rows[0] + seen[1] * rows[1], moment[1] + seen[1] * rows[0] + seen[2] * rows[1]];
    let v = inverse(total);
    let mean = [v[0] * sum[0] + v[1] * sum[1], v[1] * sum[0] + v[2] * sum[1]];
    for i in 0..2 {
        let sd = f64::sqrt(v[2 * i]);
        assert!((found.mean()[i] - mean[i]).abs() < 1e-9 && (found.sd()[i] - sd).abs() < 1e-9, "{found:?} {mean:?} {v:?}");
    }
}

/// What one row can do to the statistic, over the size of the noise of the plan, is what the certificate claims: squared deviations at
/// the ends and at the known mean, waiting times, and vectors on the circle.
#[test]
fn noisy_sums_of_rates_and_vectors_cost_what_they_say() {
    let scalar = |column: &str, prior: &str, row: &str| {
        format!("y: {column} }}\nparam m ~ {prior}\nobserve y ~ {row}\nrelease q = posterior(m) using ")
    };
    let vector = "y: vector[2] in l2(1.5) }\nparam m: vector[2] ~ multi_normal([0, 0], [[1, 0], [0, 2]])\nobserve y ~ multi_normal(m, [[1, 0.2], [0.2, 3]])\nrelease q = posterior(m) using ";
    let cases = [
        (scalar("real in [0.5, 4]", "gamma(2, 1)", "exponential(m)"), 3.5, true),
        (scalar("real in [0, 9]", "gamma(2, 1)", "gamma(2.5, m)"), 9.0, true),
        (scalar("real in [-1, 3]", "gamma(2, 1)", "normal(0.5, 1 / sqrt(m))"), 6.25, true),
        (scalar("real in [2, 3]", "gamma(2, 1)", "normal(0, 1 / sqrt(m))"), 5.0, true),
        (vector.to_owned(), 3.0, false),
    ];
    for (rows, apart, pure) in cases {
        for (header, k) in [("[n]", 1.0), ("[n] by id max 3", 3.0)] {
            for argument in ["eps = 0.3", "rho = 0.02"].into_iter().filter(|a| pure || a.starts_with("rho")) {
                let text = format!("private t{header} {{ id: text, {rows}noise_aware({argument})\n");
                let claim = certified(&text).claim().clone();
                let moved = k * apart;
                let (found, exact) = match plan(&text).noise {
                    WholeNoise::Geometric { scale } => (claim.pure(), moved / scale),
                    WholeNoise::Gaussian { sigma } => (claim.zcdp(), moved * moved / (2.0 * sigma * sigma)),
                    other => panic!("{other:?}"),
                };
                // The grid of a vector may stretch a difference by a step.
                assert!(exact <= found * (1.0 + 1e-12) && exact > 0.999 * found, "{text}: {exact} {found}");
            }
        }
    }
}

/// Rates from the prior, rows from the model and moved into their range, discrete Laplace noise: the share of 90 % intervals that hold the
/// rate, to five standard deviations of the share. 120 data sets each; `DPM_LONG=1` takes 2,000.
#[test]
fn intervals_of_rates_hold_what_they_say() {
    let (n, sets) = (100u32, if std::env::var_os("DPM_LONG").is_some() { 2000u32 } else { 120 });
    let most_off = 5.0 * (0.09 / f64::from(sets)).sqrt();
    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(17);
    let mut bits = OsBits::new().unwrap();
    // Waiting times up to 12 and squares up to 36, at rates around 1: hardly any is moved.
    for (per_row, scale, most, epsilon) in [(1.0, 1.0, 12.0, 0.5), (1.0, 1.0, 12.0, 5.0), (0.5, 0.5, 36.0, 1.0)] {
        let size = most / epsilon;
        let noise = Param::new(dashu_ratio::RBig::try_from(size * 2f64.powi(-EXPONENT)).unwrap());
        let (mut held, mut narrow) = (0u32, 0u32);
        for _ in 0..sets {
            let rate: f64 = rand_distr::Gamma::new(9.0, 1.0 / 9.0).unwrap().sample(&mut rng);
            let row = |rng: &mut rand_chacha::ChaCha20Rng| -> f64 {
                let x: f64 = rand_distr::Gamma::new(per_row, 1.0 / (rate * scale)).unwrap().sample(rng);
                x.min(most)
            };
            let sum: i128 = (0..n).map(|_| (row(&mut rng) * 2f64.powi(-EXPONENT)).round() as i128).sum();
            let noisy = (sum + discrete_laplace(&noise, &mut bits).unwrap()) as f64 * 2f64.powi(EXPONENT);
            let family = WholeFamily::Rate { shape: 9.0, rate: 9.0, per_row, scale };
            let at = |aware| given(family.clone(), WholeNoise::Geometric { scale: size }, aware, n.into(), &[noisy]).cdf(&[rate])[0];
            held += u32::from((0.05..=0.95).contains(&at(true)));
            narrow += u32::from((0.05..=0.95).contains(&at(false)));
        }
        let share = |x: u32| f64::from(x) / f64::from(sets);
        println!("{per_row} a row, eps {epsilon}: noise_aware {:.3}, plug_in {:.3}", share(held), share(narrow));
        assert!((share(held) - 0.9).abs() < most_off, "{per_row} {epsilon}: {}", share(held));
        assert!(epsilon > 1.0 || share(narrow) < 0.8, "{per_row} {epsilon}: intervals without the noise pass, {}", share(narrow));
    }
}
