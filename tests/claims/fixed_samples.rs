//! Steps on samples of fixed size (rule book §12.3): golden values, other settings against an attained pair, and what a sample is worth.

use crate::numbers_support::{certified_at, claim};

fn program(n: u64, iterations: u64, batch: Option<u64>, sigma: f64, more: &str) -> String {
    let batch = batch.map_or(String::new(), |rows| format!(" batch = {rows},"));
    format!(
        "private t[{n}] {{ x: vector[2], y: bool, u: real in [0, 1] }}\nparam w: vector[2] ~ normal(0, 1)\nobserve y ~ bernoulli_logit(dot(w, x))\n\
         release d = draw(w) using dp_sgld(iterations = {iterations},{batch} clip = 1, sigma = {sigma})\n{more}"
    )
}

fn epsilon(text: &str, delta: f64) -> f64 {
    certified_at(text, &[], &[delta]).total().epsilon(delta)
}

/// Golden `sgld_fixed_size_sample`: at least what one pair of data sets attains, and about the bound on a coarse grid.
#[test]
fn known_costs_of_samples() {
    for (n, batch, steps, sigma, delta, attained, bound) in [
        (2000, 50, 500, 1.263, 1e-5, 10.868590058818805, 12.385289841584783),
        (2000, 64, 100, 1.879, 1e-6, 3.1252349129379273, 3.357301831967747),
        (10_000, 100, 100, 0.796, 1e-5, 12.392231278311368, 12.684171178209438),
        (50_000, 64, 500, 1.023, 1e-5, 2.973155461224278, 3.0184049320513817),
    ] {
        let found = epsilon(&program(n, steps, Some(batch), sigma, ""), delta);
        assert!(found >= attained && found <= 1.02 * bound, "{n} {batch} {steps} {sigma}: {found}, {attained} to {bound}");
    }
}

/// With all rows the chain is GDP in closed form, and that is the default; a sample of all rows is the same.
#[test]
fn all_rows_are_a_normal_mechanism() {
    let whole = claim(&program(300, 40, None, 10.0, "")).gdp();
    assert!((whole / (40.0_f64.sqrt() * 0.2) - 1.0).abs() < 1e-9, "{whole}");
    assert_eq!(whole, claim(&program(300, 40, Some(300), 10.0, "")).gdp());
    assert_eq!(whole, claim(&program(300, 40, Some(1000), 10.0, "")).gdp());
}

/// A smaller share never costs more, nor do more rows at the same batch.
#[test]
fn more_rows_never_cost_more() {
    let costs: Vec<f64> = [64, 65, 100, 300, 1000, 10_000, 1_000_000].map(|n| epsilon(&program(n, 30, Some(64), 1.5, ""), 1e-5)).to_vec();
    assert!(costs.windows(2).all(|pair| pair[1] <= pair[0]), "{costs:?}");
    assert!(costs[6] < 0.05 * costs[0], "{costs:?}");
    let promised = program(300, 30, Some(64), 1.5, "").replace("t[300]", "t[n >= 300]");
    assert_eq!(epsilon(&promised, 1e-5), costs[3]);
}

/// Beside noise, and twice over: never below one chain, and well below the sum of the epsilons.
#[test]
fn samples_compose_with_other_releases() {
    let one = epsilon(&program(2000, 50, Some(50), 1.5, ""), 1e-6);
    let noise = "release m = sum(u) using gaussian(sigma = 2)\n";
    let beside = epsilon(&program(2000, 50, Some(50), 1.5, noise), 1e-6);
    let alone = dpm::privacy::Claim::Gdp { mu: 0.5 }.epsilon(1e-6);
    assert!(beside > one.max(alone) && beside < 0.95 * (one + alone), "{one} {alone} {beside}");
    let twice = epsilon(&program(2000, 100, Some(50), 1.5, ""), 1e-6);
    assert!(twice > one && twice < 1.7 * one, "{one} {twice}");
}

/// The law of one pair of tables, in plain sums: every gradient is -1 but that of one row, which is 1 or -1 too. The loss of a step is that of
/// (1 - g) N(0, s^2) + g N(2, s^2) from N(0, s^2), composed on a grid of losses rounded down: never above what is certified.
#[test]
fn no_less_than_an_attained_pair() {
    for (n, batch, steps, sigma, delta) in [(100, 10, 8, 1.2, 1e-5), (400, 20, 30, 0.9, 1e-6), (50, 25, 3, 3.0, 1e-4)] {
        let (g, width) = (batch as f64 / n as f64, 0.01);
        let density = |x: f64, m: f64| (-(x - m) * (x - m) / (2.0 * sigma * sigma)).exp();
        let law = |x: f64| (1.0 - g) * density(x, 0.0) + g * density(x, 2.0);
        let (cells, reach) = (20_000, 12.0 * sigma + 2.0);
        let at = |i: i32| -reach + 2.0 * reach * (f64::from(i) + 0.5) / f64::from(cells);
        let norm: f64 = (0..cells).map(|i| law(at(i))).sum();
        // Losses in steps of `width`, rounded down; what lies beyond the ends is moved to them or left out.
        let places = 1500_usize;
        let mut one = vec![0.0; 2 * places + 1];
        for i in 0..cells {
            let (p, q) = (law(at(i)), density(at(i), 0.0));
            let place = ((p / q).ln() / width).floor() + places as f64;
            one[place.clamp(0.0, 2.0 * places as f64) as usize] += p / norm;
        }
        let mut all = one.clone();
        for _ in 1..steps {
            let mut next = vec![0.0; 2 * places + 1];
            for (i, p) in one.iter().enumerate().filter(|(_, p)| **p > 1e-13) {
                for (j, q) in all.iter().enumerate().filter(|(_, q)| **q > 0.0) {
                    if let Some(slot) = (i + j).checked_sub(places).and_then(|k| next.get_mut(k)) {
                        *slot += p * q;
                    }
                }
            }
            all = next;
        }
        let loss = |i: usize| (i as f64 - places as f64) * width;
        let found = |e: f64| all.iter().enumerate().map(|(i, p)| p * -(e - loss(i)).min(0.0).exp_m1()).sum::<f64>();
        let certified = epsilon(&program(n, steps, Some(batch), sigma, ""), delta);
        assert!(found(certified) <= delta, "{n} {batch} {steps}: {} at {certified}", found(certified));
        // It is near the bound: three fifths of the epsilon are too few.
        assert!(found(0.6 * certified) > delta, "{n} {batch} {steps}: {}", found(0.6 * certified));
    }
}
