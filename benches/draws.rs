//! Exact draws on a grid beside draws in doubles: `cargo bench --bench draws`; `draws.py` puts them beside numpy's in `benches/results`.
#![allow(clippy::unwrap_used)]

use dashu_ratio::RBig;
use divan::{Bencher, counter::ItemsCount};
use dpm::mechanism::OsBits;
use dpm::mechanism::draw::gamma::{GammaLaw, beta, dirichlet, gamma};
use dpm::mechanism::draw::gaussian::normal;
use dpm::mechanism::real::Param;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use rand_distr::Distribution;

const DRAWS: usize = 1_000;

fn main() {
    divan::main();
}

fn param(x: f64) -> Param {
    Param::new(RBig::try_from(x).unwrap())
}

fn shapes<const N: usize>(xs: [f64; N]) -> [GammaLaw; N] {
    xs.map(|a| GammaLaw::new(RBig::try_from(a).unwrap()).unwrap())
}

/// So many draws an iteration, so that the table shows draws a second.
fn time<T>(bencher: Bencher, mut draw: impl FnMut() -> T) {
    bencher.counter(ItemsCount::new(DRAWS)).bench_local(|| {
        for _ in 0..DRAWS {
            divan::black_box(draw());
        }
    });
}

#[divan::bench]
fn beta_exact(bencher: Bencher) {
    let (laws, mut bits) = (shapes([12.5, 87.0]), OsBits::new().unwrap());
    time(bencher, || beta(&laws, -40, &mut bits).unwrap());
}

#[divan::bench]
fn beta_doubles(bencher: Bencher) {
    let (law, mut rng) = (rand_distr::Beta::new(12.5, 87.0).unwrap(), ChaCha20Rng::seed_from_u64(1));
    time(bencher, || law.sample(&mut rng));
}

#[divan::bench]
fn gamma_exact(bencher: Bencher) {
    let ([law], rate, mut bits) = (shapes([12.5]), param(1.5), OsBits::new().unwrap());
    time(bencher, || gamma(&law, &rate, -32, &mut bits).unwrap());
}

#[divan::bench]
fn gamma_doubles(bencher: Bencher) {
    let (law, mut rng) = (rand_distr::Gamma::new(12.5, 1.0 / 1.5).unwrap(), ChaCha20Rng::seed_from_u64(1));
    time(bencher, || law.sample(&mut rng));
}

#[divan::bench]
fn normal_exact(bencher: Bencher) {
    let (mean, variance, mut bits) = (param(1.5), param(6.25), OsBits::new().unwrap());
    time(bencher, || normal(&mean, &variance, -32, &mut bits).unwrap());
}

#[divan::bench]
fn normal_doubles(bencher: Bencher) {
    let (law, mut rng) = (rand_distr::Normal::new(1.5, 2.5).unwrap(), ChaCha20Rng::seed_from_u64(1));
    time(bencher, || law.sample(&mut rng));
}

#[divan::bench]
fn dirichlet_3_exact(bencher: Bencher) {
    let (laws, mut bits) = (shapes([12.5, 87.0, 3.0]), OsBits::new().unwrap());
    time(bencher, || dirichlet(&laws, 3, -40, &mut bits).unwrap());
}

#[divan::bench]
fn dirichlet_3_doubles(bencher: Bencher) {
    let laws = [12.5, 87.0, 3.0].map(|a| rand_distr::Gamma::new(a, 1.0).unwrap());
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    time(bencher, || {
        let gammas = [0, 1, 2].map(|i: usize| laws.get(i).map_or(0.0, |l| l.sample(&mut rng)));
        let total: f64 = gammas.iter().sum();
        gammas.map(|g| g / total)
    });
}

/// A finer grid is more often left to slower arithmetic.
#[divan::bench(args = [-32, -40, -46])]
fn normal_by_grid(bencher: Bencher, exponent: i32) {
    let (mean, variance, mut bits) = (param(1.5), param(6.25), OsBits::new().unwrap());
    time(bencher, || normal(&mean, &variance, exponent, &mut bits).unwrap());
}

#[divan::bench(args = [0.5, 5.0, 5e4])]
fn gamma_by_shape(bencher: Bencher, shape: f64) {
    let ([law], rate, mut bits) = (shapes([shape]), param(1.5), OsBits::new().unwrap());
    time(bencher, || gamma(&law, &rate, -32, &mut bits).unwrap());
}

#[divan::bench(args = [3, 10, 30])]
fn dirichlet_by_size(bencher: Bencher, size: usize) {
    let laws: Vec<GammaLaw> = (0..size).map(|i| GammaLaw::new(RBig::from(2 + i % 7)).unwrap()).collect();
    let mut bits = OsBits::new().unwrap();
    time(bencher, || dirichlet(&laws, size, -40, &mut bits).unwrap());
}
