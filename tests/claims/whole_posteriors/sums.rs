//! Posteriors of means and weights from noisy sums and moments, by double sums.

use super::*;

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
        let law = WholeLaw { family: WholeFamily::Normal { mean: m0, precision: 1.0 / (s0 * s0), sd, secret: None }, noise, aware: true };
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

/// Noise that is far out only tilts the law of the sum: the mean moves by its covariance with the sum over the scale, and its sd
/// stays. However far, a public number of components says so.
#[test]
fn a_mean_and_noise_far_out() {
    for (m0, s0, sd, n, noisy, scale) in [
        (0.0, 5.0, 2.0, 30.0, 1e8, 0.5),
        (0.0, 5.0, 2.0, 30.0, -1e8, 0.5),
        (3.0, 1e-3, 1.0, 50.0, 1e7, 2.0),
        (1e100, 1.0, 1.0, 20.0, 0.0, 2.0),
        (1e100, 1e-8, 1e8, 20.0, 0.0, 2.0),
        (-1e100, 1e-100, 1e100, 20.0, 0.0, 2.0),
        (-1e100, 1e100, 1e-100, 20.0, 0.0, 1e-10),
    ] {
        let law = WholeLaw {
            family: WholeFamily::Normal { mean: m0, precision: 1.0 / (s0 * s0), sd, secret: None },
            noise: WholeNoise::Geometric { scale },
            aware: true,
        };
        let components = vec![Number::new(n as i128, 0), Number::new((noisy * 1024.0) as i128, -10)];
        let found = posterior_of(&law, &Released { components }, true, &mut OsBits::new().unwrap()).unwrap();
        let Posterior::Mixture { components, .. } = &found else { panic!("{found:?}") };
        assert!(components.len() < 20_000, "{}", components.len());
        let mean = m0 + f64::signum(noisy - n * m0) * n * s0 * s0 / scale;
        let (off, wide) = ((found.mean()[0] - mean).abs(), found.sd()[0] / s0);
        if m0.abs() < 1e9 {
            assert!(off <= 1e-3 * s0 && (wide - 1.0).abs() < 5e-4, "{m0} {s0}: {mean} {off} {wide}");
        } else if s0 < 1e80 {
            // No double lies beside the mean.
            assert!(off <= 1e-15 * mean.abs() && wide < 1.001, "{m0} {s0}: {mean} {off} {wide}");
        }
        let q = found.quantiles(&[0.1, 0.9]);
        assert!(
            q[0].is_finite() && q[0] <= q[1] && (found.cdf(&[m0 + 1e3 * f64::signum(noisy - m0) * s0]))[0].is_finite(),
            "{m0} {s0}: {q:?}"
        );
    }
}

/// A prior so wide that it says nothing, and centred far away: rows that are all but known leave the law of the noise.
#[test]
fn a_mean_with_a_wide_prior_far_away() {
    for (noise, wide) in [(WholeNoise::Geometric { scale: 2.0 }, 2.0 * f64::sqrt(2.0)), (WholeNoise::Gaussian { sigma: 3.0 }, 3.0)] {
        let family = WholeFamily::Normal { mean: 1e100, precision: 1e-200, sd: 1e-100, secret: None };
        for exponent in [0, -20] {
            let components = vec![Number::new(20, 0), Number::new(5 << -exponent, exponent)];
            let law = WholeLaw { family: family.clone(), noise, aware: true };
            let found = posterior_of(&law, &Released { components }, true, &mut OsBits::new().unwrap()).unwrap();
            let (mean, sd) = (found.mean()[0], found.sd()[0]);
            assert!((mean - 0.25).abs() < 1e-9 && (sd * 20.0 / wide - 1.0).abs() < 0.03, "{noise:?}: {mean} {sd}");
        }
    }
}

/// The plug-in posterior is the conjugate one at the noisy sum, and so is the aware one where there is next to no noise.
#[test]
fn a_mean_without_noise_is_conjugate() {
    let family = WholeFamily::Normal { mean: 3.0, precision: 0.25, sd: 2.0, secret: None };
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

/// Ends of the support, and nothing at infinity.
#[test]
fn values_at_the_ends() {
    let mixture = Posterior::Mixture { weights: vec![0.5; 2], components: vec![Posterior::Beta(3.0, 4.0), Posterior::Beta(9.0, 2.0)] };
    assert_eq!(mixture.quantiles(&[0.0, 1.0]), [0.0, 1.0]);
    let gamma = Posterior::Gamma(3.0, 2.0);
    assert_eq!(gamma.quantiles(&[0.0, 1.0]), [0.0, f64::INFINITY]);
    assert_eq!((gamma.density(f64::INFINITY), gamma.density(-1.0), gamma.cdf(&[f64::INFINITY])), (0.0, 0.0, vec![1.0]));
    // What is not a number has no place in a law; the ends do.
    let normal = Posterior::Normal(1.0, 2.0);
    for law in [&mixture, &gamma, &normal] {
        assert!(law.density(f64::NAN).is_nan() && law.cdf(&[f64::NAN])[0].is_nan() && law.quantiles(&[f64::NAN])[0].is_nan());
        assert_eq!(law.cdf(&[f64::NEG_INFINITY, f64::INFINITY]), [0.0, 1.0]);
    }
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
    // Each block alone reaches .64 of it, half of 1/.78125: features at right angles, and opposite ones; both are not at their worst together.
    let half = cost([c, 0.0, 0.0], 0.0, [0.0, c, 0.0], 0.0);
    let other = cost([c, 0.0, 0.0], y_most, [-c, 0.0, 0.0], y_most);
    assert!(
        half <= 0.64 * claim && half > 0.639_999 * claim && other <= 0.64 * claim && other > 0.639_999 * claim,
        "{half} {other} {claim}"
    );
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

/// Where squares leave the doubles, or are lost in larger ones: no component is wider than the prior, or further away than the
/// released sums can push it.
#[test]
fn weights_with_extreme_numbers() {
    for (prior, sd) in [(1.0, 1.0), (1e8, 1e-8), (1e100, 1.0), (1e100, 1e-100), (1e-100, 1e100), (1e-100, 1e-100), (1e100, 1e100)] {
        for (products, sums) in [([20.0, 0.0, 0.5], [5.0, -3.0]), ([-3.0, 2.0, -1.0], [-2.0, 4.0]), ([10.0, -10.0, 10.0], [-20.0, 20.0])] {
            let precision = vec![1.0 / (prior * prior), 0.0, 0.0, 1.0 / (prior * prior)];
            let family = WholeFamily::Weights { mean: vec![0.0; 2], precision, sd, norm: 1.0 };
            let law = WholeLaw { family, noise: WholeNoise::Moments { products: 1.5, sums: 2.0 }, aware: true };
            let numbers = [20.0].iter().chain(&products).chain(&sums).map(|x: &f64| Number::new((x * 1024.0) as i128, -10));
            let found = posterior_of(&law, &Released { components: numbers.collect() }, true, &mut OsBits::new().unwrap()).unwrap();
            let Posterior::Mixture { components, .. } = &found else { panic!("{prior} {sd}: {found:?}") };
            for c in components {
                let narrow = c.sd().iter().all(|s| *s <= prior * (1.0 + 1e-9));
                assert!(narrow && c.mean().iter().all(|m| m.abs() <= 20.0 * prior), "{prior} {sd} {products:?}: {c:?}");
            }
        }
    }
}

/// After a charge there is a posterior: of numbers that doubles cannot hold, one of nan.
#[test]
fn what_doubles_cannot_compute_is_nan() {
    let geometric = WholeNoise::Geometric { scale: 2.0 };
    let none = f64::NAN;
    for (family, noise, numbers) in [
        (WholeFamily::Normal { mean: none, precision: 1.0, sd: 1.0, secret: None }, geometric, vec![20, 3]),
        (WholeFamily::Gamma { shape: none, rate: 1.0 }, WholeNoise::Rows { gaussian: false, rows: 2.0, sum: 2.0 }, vec![20, 3]),
        (WholeFamily::Counts { alpha: vec![none; 3], items: 1, single: false }, geometric, vec![20, 3, 4, 5]),
        (
            WholeFamily::Weights { mean: vec![0.0; 2], precision: vec![0.0; 4], sd: 1.0, norm: 1.0 },
            WholeNoise::Moments { products: 1.0, sums: 1.0 },
            vec![20, 3, 4, 5, 6, 7],
        ),
    ] {
        let public = !matches!(noise, WholeNoise::Rows { .. });
        let release = Released { components: numbers.into_iter().map(|n| Number::new(n, 0)).collect() };
        let found = posterior_of(&WholeLaw { family, noise, aware: true }, &release, public, &mut OsBits::new().unwrap()).unwrap();
        let nan = |x: Vec<f64>| !x.is_empty() && x.iter().all(|x| x.is_nan());
        assert!(nan(found.mean()) && nan(found.sd()), "{found:?}");
        for one in found.marginals() {
            assert!(
                nan(one.quantiles(&[0.5])) && nan(one.cdf(&[0.5])) && one.larger(&one).is_nan() && one.density(0.5).is_nan(),
                "{one:?}"
            );
        }
        assert!(found.marginals().len() < 2 || found.ahead(&[0], &[1]).unwrap().is_nan());
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
