//! Draws of the Hellinger mechanism with smooth sensitivity as n and the number of levels grow: `cargo bench --bench posteriors`.
#![allow(clippy::unwrap_used)]

use divan::Bencher;
use dpm::mechanism::OsBits;
use dpm::mechanism::whole::hellinger::choose;

fn main() {
    divan::main();
}

fn draw(bencher: Bencher, k: usize, n: u64) {
    let mut bits = OsBits::new().unwrap();
    let alpha = vec![1.0; k];
    let mut counts = vec![n / k as u64; k];
    counts.iter_mut().take(1).for_each(|c| *c += n - n / k as u64 * k as u64);
    bencher.bench_local(|| choose(&alpha, &counts, (1.0, Some(1.0)), &mut bits).unwrap());
}

#[divan::bench(args = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000], sample_count = 10)]
fn two_levels(bencher: Bencher, n: u64) {
    draw(bencher, 2, n);
}

#[divan::bench(args = [10, 100, 300, 1_000, 2_000], sample_count = 5)]
fn three_levels(bencher: Bencher, n: u64) {
    draw(bencher, 3, n);
}

#[divan::bench(args = [10, 50, 100, 200], sample_count = 5)]
fn four_levels(bencher: Bencher, n: u64) {
    draw(bencher, 4, n);
}
