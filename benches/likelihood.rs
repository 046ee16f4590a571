//! Times of the likelihood kernel and of a certified Langevin draw, on data of the shapes of Adult and MNIST, and on ten million rows.
//!
//! `cargo bench --bench likelihood` writes `benches/results/likelihood.txt`. Each time is the least of many repetitions:
//! on a shared machine it is the one that others disturbed least. The read of the same bytes is in the same run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

use std::fmt::Write;
use std::time::Instant;

use dpm::kernel::{Block, Design, DesignBuilder, Family, Layout, Likelihood};
use dpm::mechanism::OsBits;
use dpm::mechanism::langevin::{Chain, Posterior, schedule};
use dpm::privacy::gdp;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

const ROWS: usize = 32_561;

/// 14 categorical columns with 100 levels in all, rows of norm 1, skewed levels, a quarter of positive outcomes.
fn adult_like() -> Design {
    let levels: Vec<usize> = [vec![7; 12], vec![8; 2]].concat();
    let value = (1.0f64 / 14.0).sqrt();
    let blocks = levels.iter().map(|l| Block { levels: *l, reference: None, value }).collect();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let layout = Layout::new(0, blocks, 1.0 + 1e-12).unwrap();
    let mut builder = DesignBuilder::new(layout, Family::Logistic, Some(ROWS)).unwrap();
    for _ in 0..ROWS {
        let row: Vec<u32> = levels.iter().map(|l| (rng.random::<f64>().powi(3) * *l as f64) as u32).collect();
        let chance = 0.1 + 0.3 * f64::from(row[0] + row[1]) / 12.0;
        builder.push(&[], &row, f64::from(rng.random::<f64>() < chance)).unwrap();
    }
    builder.finish()
}

/// Rows of numbers, norm 1.
fn dense(rows: usize, columns: usize) -> Design {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let mut builder = DesignBuilder::new(Layout::projected(columns, vec![], 1.0).unwrap(), Family::Logistic, Some(rows)).unwrap();
    for _ in 0..rows {
        let row: Vec<f64> = (0..columns).map(|_| rng.random::<f64>()).collect();
        builder.push(&row, &[], f64::from(rng.random::<bool>())).unwrap();
    }
    builder.finish()
}

/// Milliseconds, the least of many.
fn least(repetitions: usize, mut work: impl FnMut()) -> f64 {
    (0..repetitions).fold(f64::INFINITY, |best, _| {
        let start = Instant::now();
        work();
        best.min(start.elapsed().as_secs_f64() * 1e3)
    })
}

fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn gradient(design: &Design, threads: usize, repetitions: usize, with_loss: bool) -> f64 {
    let theta: Vec<f64> = (0..design.dimension()).map(|j| 0.01 * (j % 7) as f64).collect();
    let mut gradient = vec![0.0; theta.len()];
    in_threads(threads, || {
        let mut likelihood = Likelihood::new(design, 1.0).unwrap();
        least(repetitions, || {
            if with_loss {
                divan::black_box(likelihood.loss_and_gradient(&theta, &mut gradient).unwrap());
            } else {
                likelihood.gradient(&theta, &mut gradient).unwrap();
            }
            divan::black_box(&gradient);
        })
    })
}

#[multiversion::multiversion(targets("x86_64+avx512f", "x86_64+avx2"))]
fn sum(words: &[u64]) -> u64 {
    words.iter().fold(0, |s, w| s ^ w)
}

/// A read of so many bytes, in as many pieces as the kernel makes.
fn read(bytes: usize, threads: usize, repetitions: usize) -> f64 {
    let words = vec![3u64; bytes / 8];
    in_threads(threads, || {
        least(repetitions, || {
            divan::black_box(words.par_chunks(words.len().div_ceil(16)).map(sum).reduce(|| 0, |a, b| a ^ b));
        })
    })
}

/// Milliseconds that STREAM's rate gives for so many bytes: a read of an array far beyond every cache.
fn stream(bytes: usize, threads: usize) -> f64 {
    const ARRAY: usize = 1 << 30;
    read(ARRAY, threads, 10) * bytes as f64 / ARRAY as f64
}

/// Logistic regression, the weight solved for epsilon 1 and delta 1e-5: the last state of the chain that `dpm run` would run.
fn draw(design: &Design, text: &mut String) {
    let allowed = dpm::numeric::search::greatest(1e-3, 10.0, |mu| gdp::delta(mu, 1.0) <= 1e-5).unwrap();
    for sd in [1.0f64, 0.175] {
        let precision = sd.powi(-2);
        let weight = (allowed * precision.sqrt() / 2.0).min(1.0);
        let smooth = precision + weight * ROWS as f64 / 4.0;
        let phases = schedule(precision, smooth, None).unwrap();
        let steps: u64 = phases.iter().map(|(_, k)| k).sum();
        let (d, start) = (design.dimension(), Instant::now());
        let mut posterior = Posterior::new(design, 1.0, weight, vec![(precision, 0.0); d]).unwrap();
        let chain = Chain { phases, cuts: vec![], start: vec![0.0; d] };
        assert_eq!(chain.run(&mut posterior, &mut OsBits::new().unwrap()).unwrap().len(), d);
        writeln!(
            text,
            "certified draw, Adult-like, prior normal(0, {sd}), weight {weight:.4}: epsilon 1 at delta 1e-5, {steps} steps, {:.2} s",
            start.elapsed().as_secs_f64()
        )
        .unwrap();
    }
}

fn main() {
    let mut text = String::from("Least of many repetitions on a shared machine; ms but for the draw.\n");
    let (adult, mnist, large) = (adult_like(), dense(7_988, 784), dense(10_000_000, 20));
    let bytes = 7_988 * 784 * 4;
    // Features and outcomes, 4 bytes each.
    let large_bytes = 10_000_000 * 21 * 4;
    for threads in [1, 2] {
        let (a, b) = (gradient(&adult, threads, 5_000, false), gradient(&adult, threads, 5_000, true));
        writeln!(text, "Adult-like 32,561 x 100, {threads} threads: gradient {a:.3}, with loss {b:.3}").unwrap();
        let (a, b) = (gradient(&mnist, threads, 1_000, false), gradient(&mnist, threads, 1_000, true));
        let (r, s) = (read(bytes, threads, 1_000), stream(bytes, threads));
        writeln!(
            text,
            "MNIST-like 7,988 x 784, {threads} threads: gradient {a:.3}, with loss {b:.3}; its {bytes} bytes read at the rate of STREAM \
             (1 GiB array) {s:.3}, ratio {:.2}; read again from the cache {r:.3}, ratio {:.2}",
            a / s,
            a / r
        )
        .unwrap();
        let (a, s) = (gradient(&large, threads, 20, false), stream(large_bytes, threads));
        writeln!(
            text,
            "10,000,000 x 20, {threads} threads: gradient {a:.1}; its {large_bytes} bytes read at the rate of STREAM (1 GiB array) {s:.1}, ratio {:.2}",
            a / s
        )
        .unwrap();
    }
    draw(&adult, &mut text);
    print!("{text}");
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results/likelihood.txt"), text).unwrap();
}
