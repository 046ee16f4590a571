//! Simulation-based calibration of released posteriors: how many 90 % intervals hold the truth; `DPM_LONG=1` for the long form.

#![allow(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

use dpm::mechanism::draw::finite::discrete_laplace;
use dpm::mechanism::plan::{WholeFamily, WholeLaw, WholeNoise};
use dpm::mechanism::real::Param;
use dpm::mechanism::{Number, OsBits, Released};
use dpm::run::posterior_of;
use rand::SeedableRng;
use rand_distr::Distribution;
use std::collections::BTreeMap;

/// Rates from Beta(1, 1), 100 rows each, one count with discrete Laplace noise of scale 1 / eps: the share of 90 %
/// intervals that hold the rate, and their mean width.
fn calibrate(epsilon: f64, aware: bool, sets: u32) -> (f64, f64) {
    let (n, mut rng) = (100u64, rand_chacha::ChaCha20Rng::seed_from_u64(7));
    let mut bits = OsBits::new().unwrap();
    let scale = Param::new(dashu::rational::RBig::try_from(1.0 / epsilon).unwrap());
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
