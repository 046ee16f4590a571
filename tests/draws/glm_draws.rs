//! Draws of regressions as `dpm run` makes them: near the posterior they are meant to come from, in every shape of model.
//!
//! Nearness is accuracy, not privacy: bounds are wide, seeds fixed, sizes small (2,000 draws of one weight, 300 of others).

use crate::mechanisms::{Mechanism, Seeded};
use rand_core::Rng;

fn unit(bits: &mut Seeded) -> f64 {
    (bits.rng().next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

/// Rows of `x, g, y` with log-odds `1.5 x - 0.5 + (0.8 if g is b)`.
fn rows(n: usize) -> Vec<(f64, usize, bool)> {
    let mut bits = Seeded::new(5);
    (0..n)
        .map(|_| {
            let (x, g) = (2.0 * unit(&mut bits) - 1.0, usize::from(unit(&mut bits) < 0.5));
            (x, g, unit(&mut bits) < sigmoid(1.5 * x - 0.5 + 0.8 * g as f64))
        })
        .collect()
}

fn file(rows: &[(f64, usize, bool)]) -> String {
    rows.iter().fold("x,g,y\n".to_string(), |f, (x, g, y)| f + &format!("{x},{},{}\n", ["a", "b"][*g], u8::from(*y)))
}

const TABLE: &str = "private t[n] { x: real in [-1, 1], g: category {a, b}, y: bool }\n";

/// Mean and standard deviation of each component over draws.
fn moments(program: &str, data: &str, draws: u64) -> Vec<(f64, f64)> {
    let mechanism = Mechanism::new(program);
    let measured = mechanism.measure(data);
    let all: Vec<Vec<f64>> = mechanism.draws(&measured, draws, &mut Seeded::new(9)).iter().map(|r| r.to_f64()).collect();
    let n = all.len() as f64;
    (0..all[0].len())
        .map(|i| {
            let mean = all.iter().map(|d| d[i]).sum::<f64>() / n;
            (mean, (all.iter().map(|d| (d[i] - mean).powi(2)).sum::<f64>() / n).sqrt())
        })
        .collect()
}

/// One weight: the moments of the posterior are sums over a grid.
#[test]
fn one_weight_is_drawn_from_its_posterior() {
    let rows = rows(60);
    for (r, cut, times, factor) in
        [(1.0, None, "w", 1.0), (0.3, None, "w", 1.0), (1.0, Some(0.8), "w", 1.0), (1.0, None, "-3 * w / 2", -1.5)]
    {
        let domain = cut.map_or(String::new(), |c| format!(": real in [-{c}, {c}]"));
        let program = format!(
            "{TABLE}param w{domain} ~ normal(0.5, 2)\nobserve y ~ bernoulli_logit({times} * x)\nrelease d = draw(w) using diffuse(r = {r})\n"
        );
        let half = cut.unwrap_or(20.0);
        let grid: Vec<f64> = (0..20_000).map(|i| half * (f64::from(i) / 10_000.0 - 1.0)).collect();
        let log = |w: f64| {
            let fit: f64 = rows.iter().map(|(x, _, y)| if *y { sigmoid(factor * w * x).ln() } else { sigmoid(-factor * w * x).ln() }).sum();
            r * fit - (w - 0.5).powi(2) / 8.0
        };
        let weights: Vec<f64> = grid.iter().map(|w| log(*w).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mean = grid.iter().zip(&weights).map(|(w, p)| w * p).sum::<f64>() / total;
        let sd = (grid.iter().zip(&weights).map(|(w, p)| (w - mean).powi(2) * p).sum::<f64>() / total).sqrt();
        let found = moments(&program, &file(&rows), 2_000)[0];
        assert!((found.0 - mean).abs() < 0.12 * sd, "mean {} for {mean} +- {sd}", found.0);
        assert!((found.1 / sd - 1.0).abs() < 0.1, "sd {} for {sd}", found.1);
    }
}

/// An offset is added to the predictor and moves no weight, whatever the chain.
#[test]
fn offsets_are_added() {
    let rows = rows(60);
    for chain in ["", "sampler = slice", "sampler = nuts"] {
        if chain.ends_with("nuts") && cfg!(not(feature = "nuts")) {
            continue;
        }
        let (arguments, words) =
            if chain.is_empty() { (String::new(), "") } else { (format!("({chain}, steps = 60)"), " assuming convergence") };
        let program = format!(
            "{TABLE}param w ~ normal(0.5, 2)\nobserve y ~ bernoulli_logit(w * x - 2 * x * x + 0.7)\nrelease d = draw(w) using direct{arguments}{words}\n"
        );
        let grid: Vec<f64> = (0..20_000).map(|i| 20.0 * (f64::from(i) / 10_000.0 - 1.0)).collect();
        let log = |w: f64| {
            let t = |x: &f64| w * x - 2.0 * x * x + 0.7;
            let fit: f64 = rows.iter().map(|(x, _, y)| if *y { sigmoid(t(x)).ln() } else { sigmoid(-t(x)).ln() }).sum();
            fit - (w - 0.5).powi(2) / 8.0
        };
        let weights: Vec<f64> = grid.iter().map(|w| log(*w).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mean = grid.iter().zip(&weights).map(|(w, p)| w * p).sum::<f64>() / total;
        let sd = (grid.iter().zip(&weights).map(|(w, p)| (w - mean).powi(2) * p).sum::<f64>() / total).sqrt();
        let found = moments(&program, &file(&rows), 1_000)[0];
        assert!((found.0 - mean).abs() < 0.15 * sd, "{chain}: mean {} for {mean} +- {sd}", found.0);
        assert!((found.1 / sd - 1.0).abs() < 0.15, "{chain}: sd {} for {sd}", found.1);
    }
}

/// Levels, an intercept and a slope; the same as softmax over two classes, whose differences of weights are those.
#[test]
fn blocks_stand_where_they_belong() {
    let rows = rows(2_000);
    let program = format!(
        "{TABLE}param u: vector[g] ~ normal(0, 3)\nparam w ~ normal(0, 3)\nparam b ~ normal(0, 3)\n\
         observe y ~ bernoulli_logit(u[g] - 2 * (b - w * x / 2))\nrelease d = draw(u, w, b) using direct(steps = 8000)\n"
    );
    let found = moments(&program, &file(&rows), 8);
    let at = |i: usize| found[i].0;
    assert_eq!(found.len(), 4);
    assert!((at(1) - at(0) - 0.8).abs() < 0.25, "{found:?}");
    assert!((at(2) - 1.5).abs() < 0.25, "{found:?}");
    assert!((at(0) - 2.0 * at(3) + 0.5).abs() < 0.25, "{found:?}");
}

#[test]
fn matrices_are_released_class_by_class() {
    let rows = rows(2_000);
    let program = "private t[n] { x: real in [-1, 1], g: category {a, b}, y: bool, z: vector[2] in [-1, 1] }\n\
        param W: matrix[2, 2] ~ normal(0, 2)\nparam c: vector[2] ~ normal(0, 2)\n\
        observe g ~ categorical_logit(W * z + c)\nrelease d = draw(W, c) using direct(steps = 4000)\n";
    // The class is b with log-odds 2 x - 1; the second feature is idle.
    let mut bits = Seeded::new(6);
    let data = rows.iter().fold("x,z_1,z_2,g,y\n".to_string(), |f, (x, _, _)| {
        let b = unit(&mut bits) < sigmoid(2.0 * x - 1.0);
        f + &format!("0,{x},{},{},0\n", 2.0 * unit(&mut bits) - 1.0, if b { "b" } else { "a" })
    });
    let found = moments(program, &data, 8);
    assert_eq!(found.len(), 6);
    let difference = |a: usize, b: usize| found[b].0 - found[a].0;
    // W is released row by row, one row a class: (a, x), (a, idle), (b, x), (b, idle); then the two constants.
    assert!((difference(0, 2) - 2.0).abs() < 0.35, "{found:?}");
    assert!(difference(1, 3).abs() < 0.35, "{found:?}");
    assert!((difference(4, 5) + 1.0).abs() < 0.35, "{found:?}");
}

/// What is drawn in another order than it was declared in keeps its names.
#[test]
fn the_order_of_the_request_is_kept() {
    let program = "private t[n] { y: bool, z: real in [0, 1], g: category {a, b} }\nparam w ~ normal(100, 0.001)\n\
        param u: vector[g] ~ normal(7, 0.001)\nparam b ~ normal(-100, 0.001)\nobserve y ~ bernoulli_logit(w * z + b + u[g])\n\
        release d = draw(b, u, w) using direct\n";
    let means: Vec<f64> = moments(program, "y,z,g\n1,0.5,a\n", 3).iter().map(|m| m.0.round()).collect();
    assert_eq!(means, [-100.0, 7.0, 7.0, 100.0]);
}

/// Whatever the rows, weights stay in their declared domain up to half a step of the grid.
#[test]
fn domains_hold() {
    let program = "private t[n] { x: vector[2] in l2(1), y: int in 0..9 }\nparam w: vector[2] in l2(0.7) ~ normal(1, 1)\n\
        param b: real in [-0.2, 0.1] ~ normal(0, 1)\nobserve y ~ poisson_log(dot(w, x) + b)\nrelease d = draw(w, b) using gibbs(weight = 0.5)\n";
    let mechanism = Mechanism::new(program);
    let measured = mechanism.measure("x_1,x_2,y\n1,0,9\n0,nan,9\n5,5,-3\ninf,1,zebra\n");
    for draw in mechanism.draws(&measured, 200, &mut Seeded::new(1)) {
        let d = draw.to_f64();
        assert!(d[0].hypot(d[1]) < 0.7 + 1e-6 && d[2] > -0.2 - 1e-6 && d[2] < 0.1 + 1e-6, "{d:?}");
    }
}
