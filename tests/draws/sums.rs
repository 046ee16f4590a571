//! Posteriors of released moments against integration on a grid, and against least squares where there is hardly any noise.

use crate::fits::{close, fitted, outputs};
use dpm::run::{Posterior, Value};
use nalgebra::{DMatrix, DVector};

const ROWS: usize = 200;

/// Mean and covariance of (u, 1.6 u^2) with u = (x - 50) / 50 moved into [-1, 1], x normal, by sums over a grid.
fn one_row(mu: f64, sd: f64) -> ([f64; 2], [f64; 3]) {
    let (mut mean, mut second, steps) = ([0.0; 2], [0.0; 3], 600);
    for i in 0..steps {
        let z = -7.0 + 14.0 * (f64::from(i) + 0.5) / f64::from(steps);
        let weight = (-0.5 * z * z).exp() * 14.0 / f64::from(steps) / std::f64::consts::TAU.sqrt();
        let u = ((mu + sd * z - 50.0) / 50.0).clamp(-1.0, 1.0);
        let t = [u, 1.6 * u * u];
        (0..2).for_each(|k| mean[k] += weight * t[k]);
        second[0] += weight * t[0] * t[0];
        second[1] += weight * t[0] * t[1];
        second[2] += weight * t[1] * t[1];
    }
    (mean, [second[0] - mean[0] * mean[0], second[1] - mean[0] * mean[1], second[2] - mean[1] * mean[1]])
}

/// The density of two sums at `at`, with noise of this variance on each.
fn sums(at: [f64; 2], (mean, cov): ([f64; 2], [f64; 3]), noise: f64) -> f64 {
    let n = ROWS as f64;
    let [a, b, c] = [n * cov[0] + noise, n * cov[1], n * cov[2] + noise];
    let [x, y] = [at[0] - n * mean[0], at[1] - n * mean[1]];
    let det = a * c - b * b;
    (-0.5 * (c * x * x - 2.0 * b * x * y + a * y * y) / det).exp() / det.sqrt()
}

/// Mean and sd of mu and sd under priors normal(50, 20) and half_normal(20).
fn on_a_grid(steps: u32, density: impl Fn(([f64; 2], [f64; 3])) -> f64) -> [(f64, f64); 2] {
    let mut all = [0.0; 5];
    for i in 0..steps {
        for j in 0..steps {
            let (mu, sd) = (20.0 + 60.0 * (f64::from(i) + 0.5) / f64::from(steps), 60.0 * (f64::from(j) + 0.5) / f64::from(steps));
            let prior = (-0.5 * ((mu - 50.0) / 20.0).powi(2) - 0.5 * (sd / 20.0).powi(2)).exp();
            let weight = prior * density(one_row(mu, sd));
            for (sum, x) in all.iter_mut().zip([1.0, mu, mu * mu, sd, sd * sd]) {
                *sum += weight * x;
            }
        }
    }
    let of = |i: usize| (all[i] / all[0], (all[i + 1] / all[0] - (all[i] / all[0]).powi(2)).sqrt());
    [of(1), of(3)]
}

fn program(using: &str) -> String {
    format!(
        "budget gdp(9)\nprivate t[n] {{ x: real in [0, 100] }}\nparam mu ~ normal(50, 20)\nparam sd ~ half_normal(20)\n\
         release m = moments(x) using {using}\nobserve m.x ~ normal(mu, sd)\noutput post = posterior(mu, sd)\n"
    )
}

#[test]
fn mean_and_spread_behind_normal_noise() {
    let rows = format!("x\n{}", "1\n".repeat(ROWS));
    for (noisy, sigma) in [([22, 61], 6.0), ([-45, 150], 14.0)] {
        let found = fitted(&program(&format!("gaussian(sigma = {sigma})")), &rows, &noisy);
        let at = noisy.map(|x| x as f64);
        let truth = on_a_grid(60, |row| sums(at, row, sigma * sigma));
        (0..2).for_each(|i| close(&found, i, truth[i], 0.05));
        // Bounds that nobody was moved to, and noise at face value, are seen.
        let blind = on_a_grid(60, |row| sums(at, row, 0.01));
        assert!(found.summaries()[1].sd > 1.2 * blind[1].1, "{truth:?} {blind:?}");
    }
}

/// Laplace noise is integrated here over a grid of both noises, there by a variance for each.
#[test]
fn mean_and_spread_behind_laplace_noise() {
    let rows = format!("x\n{}", "1\n".repeat(ROWS));
    let text = program("laplace(scale = 8)").replace("gdp(9)", "eps(9)");
    let found = fitted(&text, &rows, &[22, 61]);
    let noise: Vec<(f64, f64)> = (0..48).map(|i| -48.0 + 2.0 * f64::from(i) + 1.0).map(|e| (e, (-e.abs() / 8.0).exp())).collect();
    let density = |row| {
        let one = |(e, p): &(f64, f64)| noise.iter().map(|(f, q)| p * q * sums([22.0 - e, 61.0 - f], row, 0.0)).sum::<f64>();
        noise.iter().map(one).sum::<f64>()
    };
    let truth = on_a_grid(36, density);
    (0..2).for_each(|i| close(&found, i, truth[i], 0.12));
}

/// So many rows that noise says little beside them (at 500 it doubles the sd of a slope): least squares, with a bool among the conditions.
#[test]
fn a_regression_is_that_of_its_rows() {
    const MANY: usize = 50_000;
    let n = MANY as f64;
    let mut dice = 12_345_u64;
    let mut next = || {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut normal = || (0..12).map(|_| next()).sum::<f64>() - 6.0;
    let rows: Vec<[f64; 3]> = (0..MANY)
        .map(|_| {
            let (x, t) = (40.0 + 8.0 * normal(), f64::from(u8::from(normal() > 0.4)));
            [x, t, 20.0 + 0.8 * x - 6.0 * t + 7.0 * normal()]
        })
        .collect();
    let scaled: Vec<[f64; 3]> = rows.iter().map(|[x, t, y]| [(x - 50.0) / 50.0, (t - 0.5) / 0.5, (y - 50.0) / 50.0]).collect();
    let sum = |f: &dyn Fn(&[f64; 3]) -> f64| scaled.iter().map(f).sum::<f64>().round() as i128;
    let square = |i: usize| sum(&|u: &[f64; 3]| 0.707 * u[i] * u[i]);
    let noisy = [
        sum(&|u| u[0]),
        sum(&|u| u[1]),
        sum(&|u| u[2]),
        square(0),
        sum(&|u| u[0] * u[1]),
        sum(&|u| u[0] * u[2]),
        square(1),
        sum(&|u| u[1] * u[2]),
        square(2),
    ];
    // Written in another order than the laws need.
    let text = "budget gdp(9)\nprivate rows[n] { x: real in [0, 100], t: bool, y: real in [0, 100] }\n\
                release m = moments(x, t, y) using gaussian(sigma = 0.6)\nparam a ~ normal(50, 50)\nparam b ~ normal(0, 5)\nparam c ~ normal(0, 20)\n\
                param sd ~ half_normal(20)\nparam mu ~ normal(50, 20)\nparam s ~ half_normal(20)\nparam q ~ normal(0, 2)\n\
                observe m.y ~ normal(a + b * (x - 40) + t * c, sd)\nobserve m.x ~ normal(mu, s)\nobserve m.t ~ bernoulli_logit(q)\n\
                output post = posterior(a, b, c, sd, mu, s)\n";
    let found = fitted(text, &format!("x,t,y\n{}", "1,1,1\n".repeat(MANY)), &noisy);
    // Least squares of y on (1, x - 40, t).
    let design: Vec<[f64; 3]> = rows.iter().map(|[x, t, _]| [1.0, x - 40.0, *t]).collect();
    let cross = |i: usize, j: usize| design.iter().map(|d| d[i] * d[j]).sum::<f64>();
    let mut m: Vec<Vec<f64>> = (0..3)
        .map(|i| {
            let right = design.iter().zip(&rows).map(|(d, r)| d[i] * r[2]).sum::<f64>();
            let unit = (0..3).map(|j| f64::from(u8::from(i == j)));
            (0..3).map(|j| cross(i, j)).chain([right]).chain(unit).collect()
        })
        .collect();
    for i in 0..3 {
        let by = m[i][i];
        m[i].iter_mut().for_each(|x| *x /= by);
        let own = m[i].clone();
        for (j, row) in m.iter_mut().enumerate() {
            let by = row[i];
            if i != j {
                row.iter_mut().zip(&own).for_each(|(x, y)| *x -= by * y);
            }
        }
    }
    let coefficients = [m[0][3], m[1][3], m[2][3]];
    let left = |(d, r): (&[f64; 3], &[f64; 3])| (r[2] - d.iter().zip(coefficients).map(|(x, b)| x * b).sum::<f64>()).powi(2);
    let variance = design.iter().zip(&rows).map(left).sum::<f64>() / (n - 3.0);
    for i in 0..3 {
        close(&found, i, (coefficients[i], (variance * m[i][4 + i]).sqrt()), 0.25);
    }
    let sd = variance.sqrt();
    close(&found, 3, (sd, sd / (2.0 * n).sqrt()), 0.3);
    let mean = rows.iter().map(|r| r[0]).sum::<f64>() / n;
    let spread = (rows.iter().map(|r| (r[0] - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    close(&found, 4, (mean, spread / n.sqrt()), 0.25);
}

/// Columns on the right that no statement describes: one is skewed, and bools depend on it and on each other. Least squares again, and
/// what it predicts.
#[test]
fn columns_on_the_right_may_follow_any_law() {
    const MANY: usize = 50_000;
    let mut dice = 54_321_u64;
    let mut next = || {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut row = || {
        let x = 100.0 * next().powi(3);
        let t = f64::from(u8::from(next() < 0.2 + 0.006 * x));
        let v = f64::from(u8::from(next() < 0.2 + 0.5 * t));
        [x, t, v, 10.0 + 0.5 * x - 8.0 * t + 5.0 * v + 6.0 * ((0..12).map(|_| next()).sum::<f64>() - 6.0)]
    };
    let rows: Vec<[f64; 4]> = (0..MANY).map(|_| row()).collect();
    let scaled = rows.iter().map(|[x, t, v, y]| [(x - 50.0) / 50.0, 2.0 * t - 1.0, 2.0 * v - 1.0, (y - 50.0) / 100.0]);
    let mut sums = [0.0; 14];
    for u in scaled {
        let pairs = (0..4).flat_map(|i| (i..4).map(move |j| if i == j { 0.707 * u[i] * u[i] } else { u[i] * u[j] }));
        sums.iter_mut().zip(u.into_iter().chain(pairs)).for_each(|(sum, x)| *sum += x);
    }
    let text = "budget gdp(9)\nprivate rows[n] { x: real in [0, 100], t: bool, v: bool, y: real in [-50, 150] }\nlet f = design(x, t, v)\n\
                param w: vector[f] ~ normal(0, 50)\nparam sd ~ half_normal(20)\nobserve y ~ normal(dot(w, f), sd)\n\
                release post = posterior(w, sd, chains = 2) using gaussian\noutput at = predict(post, x = 40, t = true, v = false)\n";
    let data = format!("x,t,v,y\n{}", "1,1,1,1\n".repeat(MANY));
    let found = outputs(text, &data, &sums.map(|x| x.round() as i128)).outputs;
    let draws = |i: usize| match &found[i].1 {
        Value::Posterior(Posterior::Draws(draws)) => draws,
        other => panic!("{other:?}"),
    };
    assert_eq!((draws(0).chains, draws(0).count()), (2, 2000));
    let x = DMatrix::from_fn(MANY, 4, |i, j| [1.0, (rows[i][0] - 50.0) / 50.0, rows[i][1], rows[i][2]][j]);
    let y = DVector::from_fn(MANY, |i, _| rows[i][3]);
    let inverse = (x.transpose() * &x).try_inverse().unwrap();
    let weights = &inverse * x.transpose() * &y;
    let variance = (&y - &x * &weights).norm_squared() / (MANY - 4) as f64;
    for i in 0..4 {
        close(draws(0), i, (weights[i], (variance * inverse[(i, i)]).sqrt()), 0.3);
    }
    close(draws(0), 4, (variance.sqrt(), (variance / (2.0 * MANY as f64)).sqrt()), 0.3);
    let at = DVector::from_vec(vec![1.0, -0.2, 1.0, 0.0]);
    close(draws(1), 0, (at.dot(&weights), (variance * at.dot(&(&inverse * &at))).sqrt()), 0.3);
}

/// Mean and sd of a rate under gamma(2, 10), given noisy sums of events and of exposures in tens, in units of 10; `noisy` is the
/// mass of a rounded noise, `seen` the density of the noise.
fn rate(events: f64, exposure: f64, noisy: impl Fn(f64) -> f64, seen: impl Fn(f64) -> f64) -> (f64, f64) {
    let (mut all, steps) = ([0.0; 3], 240);
    let mass: Vec<f64> = (0..90).map(|c| noisy(events - f64::from(c))).collect();
    for i in 0..steps {
        let rate = 1.2 * (f64::from(i) + 0.5) / f64::from(steps);
        let mut weight = 0.0;
        for j in 0..320 {
            let s = 0.25 * (f64::from(j) + 0.5);
            let mut poisson = (-rate * 10.0 * s).exp();
            let mut sum = 0.0;
            for (c, m) in mass.iter().enumerate() {
                sum += poisson * m;
                poisson *= rate * 10.0 * s / (c as f64 + 1.0);
            }
            weight += sum * seen(exposure - s);
        }
        weight *= rate * (-10.0 * rate).exp();
        for (sum, x) in all.iter_mut().zip([1.0, rate, rate * rate]) {
            *sum += weight * x;
        }
    }
    (all[1] / all[0], (all[2] / all[0] - (all[1] / all[0]).powi(2)).sqrt())
}

fn of_rates(using: &str) -> String {
    format!(
        "budget gdp(9)\nprivate t[n] {{ g: category {{a, b}}, died: bool, years: real in [0, 10] }}\n\
         release s = sums(died, years, groups = g) using {using}\nparam rate: vector[g] ~ gamma(2, 10)\n\
         observe s.died ~ poisson(rate[g] * years)\noutput post = posterior(rate)\n"
    )
}

#[test]
fn rates_behind_noise_on_events_and_exposures() {
    let rows = format!("g,died,years\n{}", "a,1,1\n".repeat(ROWS));
    let below = |x: f64| if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() };
    for (sums, scale) in [([22, 21, 30, 9], 4.0), ([6, 40, -3, 12], 2.5)] {
        let at = sums.map(|x| x as f64);
        let normal = fitted(&of_rates(&format!("gaussian(sigma = {scale})")), &rows, &sums);
        let laplace = fitted(&of_rates(&format!("laplace(scale = {scale})")).replace("gdp(9)", "eps(9)"), &rows, &sums);
        for (i, [events, exposure]) in [[at[0], at[1]], [at[2], at[3]]].into_iter().enumerate() {
            let mass = |k: f64| crate::fits::rounded(k, scale);
            close(&normal, i, rate(events, exposure, mass, |e| (-0.5 * (e / scale).powi(2)).exp()), 0.04);
            let mass = |k: f64| below((k + 0.5) / scale) - below((k - 0.5) / scale);
            let truth = rate(events, exposure, mass, |e| (-(e / scale).abs()).exp());
            close(&laplace, i, truth, 0.06);
            // An exposure at face value, and events at face value, are seen.
            let exposed = rate(events, exposure, mass, |e| f64::from(u8::from(e.abs() < 0.3)));
            let counted = rate(events, exposure, |k| f64::from(u8::from(k == events.max(0.0) - events)), |e| (-(e / scale).abs()).exp());
            assert!(i == 0 || exposed.1 < 0.9 * truth.1 || (exposed.0 - truth.0).abs() > 0.2 * truth.1, "{exposed:?} {truth:?}");
            assert!(
                counted.1.is_nan() || counted.1 <= 0.0 || counted.1 < 0.95 * truth.1 || (counted.0 - truth.0).abs() > 0.1 * truth.1,
                "{counted:?} {truth:?}"
            );
        }
    }
}

/// Hardly any noise, two kinds of events, two exposures, two columns that make groups: maximum likelihood.
#[test]
fn events_of_two_kinds_under_two_exposures() {
    let text = "budget gdp(9)\nprivate t[n] { g: category {a, b}, h: category {p, q, r}, ill: bool, falls: int in 0..20, home: real in [0, 10], away: real in [0, 4] }\n\
         release s = sums(ill, falls, home, away, groups = [g, h]) using gaussian(sigma = 0.4)\nparam r ~ gamma(1, 1)\nparam u: vector[h] ~ gamma(1, 1)\nparam v ~ gamma(1, 1)\n\
         observe s.falls ~ poisson(u[h] * home + (if g == b then 2 else 1) * v * away)\nobserve s.ill ~ poisson(r * home)\noutput post = posterior(r, u, v)\n";
    // In every group 3,000 of home and 1,000 of away in natural units.
    let sums = |g: f64, u: f64| [600, ((u * 3000.0 + g * 0.3 * 1000.0) / 20.0) as i128, 300, 250];
    let noisy: Vec<i128> = [1.0, 2.0].iter().flat_map(|g| [0.5, 0.9, 0.2].iter().flat_map(move |u| sums(*g, *u))).collect();
    let found = fitted(text, &format!("g,h,ill,falls,home,away\n{}", "a,p,1,1,1,1\n".repeat(5000)), &noisy);
    let means: Vec<f64> = found.summaries().iter().map(|s| s.mean).collect();
    for (mean, truth) in means.iter().zip([0.2, 0.5, 0.9, 0.2, 0.3]) {
        assert!((mean / truth - 1.0).abs() < 0.06, "{means:?}");
    }
}
