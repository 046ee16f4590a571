//! Simulation-based calibration of released posteriors: how many 90 % intervals hold the truth; `DPM_LONG=1` for the long form.

use crate::numbers_support;
use dpm::mechanism::draw::finite::discrete_laplace;
use dpm::mechanism::plan::{MechanismPlan, WholeFamily, WholeLaw, WholeNoise};
use dpm::mechanism::real::Param;
use dpm::mechanism::{Number, OsBits, Released};
use dpm::run::{Posterior, posterior_of};
use rand::SeedableRng;
use rand_distr::Distribution;
use std::collections::BTreeMap;

/// Rates from Beta(1, 1), 100 rows each, one count with discrete Laplace noise of scale 1 / eps: the share of 90 %
/// intervals that hold the rate, and their mean width.
fn calibrate(epsilon: f64, aware: bool, sets: u32) -> (f64, f64) {
    let (n, mut rng) = (100u64, rand_chacha::ChaCha20Rng::seed_from_u64(7));
    let mut bits = OsBits::new().unwrap();
    let scale = Param::new(dashu_ratio::RBig::try_from(1.0 / epsilon).unwrap());
    let family = WholeFamily::Counts { alpha: vec![1.0, 1.0], items: 1, single: true };
    let law = WholeLaw { family, noise: WholeNoise::Geometric { scale: 1.0 / epsilon }, aware };
    let mut known = BTreeMap::new();
    let (mut hit, mut width) = (0u32, 0.0);
    for _ in 0..sets {
        let rate: f64 = rand_distr::Beta::new(1.0, 1.0).unwrap().sample(&mut rng);
        let s = rand_distr::Binomial::new(n, rate).unwrap().sample(&mut rng);
        let noisy = i128::from(s) + discrete_laplace(&scale, &mut bits).unwrap();
        // The interval is a function of the released count.
        let ends = known.entry(noisy).or_insert_with(|| {
            let released = Released { components: [i128::from(n), noisy].map(|x| Number::new(x, 0)).to_vec() };
            posterior_of(&law, &released, true, &mut bits).unwrap().quantiles(&[0.05, 0.95])
        });
        hit += u32::from(ends[0] <= rate && rate <= ends[1]);
        width += ends[1] - ends[0];
    }
    (f64::from(hit) / f64::from(sets), width / f64::from(sets))
}

#[test]
fn intervals_that_account_for_noise_hold_what_they_say() {
    let long = std::env::var_os("DPM_LONG").is_some();
    let sets = if long { 10_000 } else { 2_000 };
    // Short form: five standard deviations, 3.4 %; a right posterior fails one case in 1.7 million.
    let slack = if long { 0.02 } else { 0.034 };
    println!("{sets} data sets, 100 rows, prior Beta(1, 1): share of 90 % intervals that hold the rate, mean width");
    for epsilon in [0.1, 0.5, 1.0, 5.0] {
        let (aware, wide) = calibrate(epsilon, true, sets);
        let (plug_in, narrow) = calibrate(epsilon, false, sets);
        println!(
            "eps {epsilon:<4} noise_aware {:5.2} %  width {wide:.4}    plug_in {:5.2} %  width {narrow:.4}",
            100.0 * aware,
            100.0 * plug_in
        );
        assert!((aware - 0.9).abs() < slack, "eps {epsilon}: {aware}");
    }
}

/// Means from N(0, 1), 100 rows of sd 1 each, moved into [-6, 6] and onto a grid, their sum with discrete Laplace noise of scale
/// 12 / eps: the share of 90 % intervals that hold the mean, and their mean width.
fn calibrate_mean(epsilon: f64, aware: bool, sets: u32) -> (f64, f64) {
    const EXPONENT: i32 = -20;
    let (n, mut rng) = (100u32, rand_chacha::ChaCha20Rng::seed_from_u64(11));
    let mut bits = OsBits::new().unwrap();
    let scale = 12.0 / epsilon;
    let steps = Param::new(dashu_ratio::RBig::try_from(scale * 2f64.powi(-EXPONENT)).unwrap());
    let family = WholeFamily::Normal { mean: 0.0, precision: 1.0, sd: 1.0, secret: None };
    let law = WholeLaw { family, noise: WholeNoise::Geometric { scale }, aware };
    let normal = rand_distr::Normal::new(0.0, 1.0).unwrap();
    let (mut hit, mut width, mut wide) = (0u32, 0.0, 0u32);
    for i in 0..sets {
        let mean: f64 = normal.sample(&mut rng);
        let row =
            |rng: &mut rand_chacha::ChaCha20Rng| ((mean + normal.sample(rng)).clamp(-6.0, 6.0) * 2f64.powi(-EXPONENT)).round() as i128;
        let sum: i128 = (0..n).map(|_| row(&mut rng)).sum();
        let noisy = sum + discrete_laplace(&steps, &mut bits).unwrap();
        let released = Released { components: vec![Number::new(n.into(), 0), Number::new(noisy, EXPONENT)] };
        let found: Posterior = posterior_of(&law, &released, true, &mut bits).unwrap();
        // The mean lies in the interval if and only if its distribution function is in [0.05, 0.95] there.
        let at = found.cdf(&[mean])[0];
        let inside = (0.05..=0.95).contains(&at);
        hit += u32::from(inside);
        if i % 20 == 0 {
            let ends = found.quantiles(&[0.05, 0.95]);
            assert!((ends[0] <= mean && mean <= ends[1]) == inside || (at - 0.05).abs() < 1e-6 || (at - 0.95).abs() < 1e-6);
            width += ends[1] - ends[0];
            wide += 1;
        }
    }
    (f64::from(hit) / f64::from(sets), width / f64::from(wide))
}

#[test]
fn intervals_of_a_mean_hold_what_they_say() {
    let long = std::env::var_os("DPM_LONG").is_some();
    let sets = if long { 10_000 } else { 2_000 };
    let slack = if long { 0.02 } else { 0.034 };
    println!("{sets} data sets, 100 rows in [-6, 6], prior Normal(0, 1), sd 1: share of 90 % intervals that hold the mean, mean width");
    for epsilon in [0.1, 0.5, 1.0, 5.0] {
        let (aware, wide) = calibrate_mean(epsilon, true, sets);
        let (plug_in, narrow) = calibrate_mean(epsilon, false, sets);
        println!(
            "eps {epsilon:<4} noise_aware {:5.2} %  width {wide:.4}    plug_in {:5.2} %  width {narrow:.4}",
            100.0 * aware,
            100.0 * plug_in
        );
        assert!((aware - 0.9).abs() < slack, "eps {epsilon}: {aware}");
    }
}

/// Two weights from N(0, 1), 400 rows with features in the unit disc and sd 0.5, second moments with the noise of the certified
/// plan: the share of 90 % intervals that hold a weight.
fn calibrate_weights(rho: f64, sets: u32, aware: bool) -> f64 {
    let text = format!(
        "private t[n] {{ x: vector[2] in l2(1), y: real in [-6, 6] }}\nparam w: vector[2] ~ normal(0, 1)\n\
         observe y ~ normal(dot(w, x), 0.5)\nrelease q = posterior(w) using noise_aware(rho = {rho})\n"
    );
    let program = numbers_support::certified(&text);
    let plan = program.analysis.releases[0].chosen.as_ref().unwrap().plan.as_ref();
    let Some(MechanismPlan::Whole { law, .. }) = plan else { panic!("no whole posterior") };
    let WholeNoise::Moments { products, sums } = law.noise else { panic!("no moments") };
    // Who does not account for the noise takes it for a thousandth of what it is.
    let part = if aware { 1.0 } else { 1e-3 };
    let law = &WholeLaw { noise: WholeNoise::Moments { products: part * products, sums: part * sums }, ..law.clone() };
    let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(13);
    let mut bits = OsBits::new().unwrap();
    let (normal, n) = (rand_distr::Normal::new(0.0, 1.0).unwrap(), 400);
    let mut hit = 0u32;
    for _ in 0..sets {
        let w: [f64; 2] = [normal.sample(&mut rng), normal.sample(&mut rng)];
        let mut moments = [0.0; 5];
        for _ in 0..n {
            let x: [f64; 2] = rand_distr::UnitDisc.sample(&mut rng);
            let y = (w[0] * x[0] + w[1] * x[1] + 0.5 * normal.sample(&mut rng)).clamp(-6.0, 6.0);
            let row = [x[0] * x[0], x[0] * x[1], x[1] * x[1], x[0] * y, x[1] * y];
            moments.iter_mut().zip(row).for_each(|(m, r)| *m += r);
        }
        let mut noisy = |(i, m): (usize, f64)| m + normal.sample(&mut rng) * if i < 3 { products } else { sums };
        let released: Vec<f64> = std::iter::once(f64::from(n)).chain(moments.into_iter().enumerate().map(&mut noisy)).collect();
        let components = released.iter().map(|x| Number::new((x * 2f64.powi(30)) as i128, -30)).collect();
        let found = posterior_of(law, &Released { components }, true, &mut bits).unwrap();
        for (i, truth) in w.iter().enumerate() {
            let ends = found.component(i).unwrap().quantiles(&[0.05, 0.95]);
            hit += u32::from(ends[0] <= *truth && *truth <= ends[1]);
        }
    }
    f64::from(hit) / f64::from(2 * sets)
}

#[test]
fn intervals_of_weights_hold_what_they_say() {
    let long = std::env::var_os("DPM_LONG").is_some();
    let sets = if long { 2_000 } else { 60 };
    println!("{sets} data sets, 400 rows, two weights from Normal(0, 1), sd 0.5: share of 90 % intervals that hold a weight");
    for rho in [0.02, 0.5] {
        let (share, unaware) = (calibrate_weights(rho, sets, true), calibrate_weights(rho, sets, false));
        println!("rho {rho:<4} noise_aware {:5.2} %  without the noise {:5.2} %", 100.0 * share, 100.0 * unaware);
        // Weights of one data set hang together: 60 sets have a standard deviation of at most 4 %.
        let slack = if long { 0.03 } else { 0.12 };
        assert!((share - 0.9).abs() < slack, "rho {rho}: {share}");
        assert!(unaware < 0.9 - slack, "rho {rho}: intervals without the noise pass, {unaware}");
    }
}
