//! Linear weights in two stages: how far one replaced row moves what leaves, coverage, degenerate rows.

use super::scores::left;
use super::*;
use dpm::mechanism::whole::rows::{added, exponent};
use dpm::mechanism::whole::steps::{Next, State, state};

fn program(n: u64, using: &str) -> String {
    format!(
        "private t[{n}] {{ id: text, x: vector[2] in l2(1), y: real in [-1, 1] }}\nparam w: vector[2] ~ normal(0, 1)\n\
         observe y ~ normal(dot(w, x), 0.2)\nrelease q = posterior(w) using refined({using})\n"
    )
}

/// Numbers in [0, 1) that are the same in every run.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut s = seed;
    move || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (s >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A row of length up to 1 with any outcome, now and then of doubles that no file should hold.
fn row(next: &mut impl FnMut() -> f64) -> [f64; 3] {
    let (angle, kind) = (6.3 * next(), next());
    let length = if kind < 0.7 { 1.0 } else { next() };
    let wild = [f64::NAN, f64::INFINITY, 1e300, -1e150][(4.0 * next()) as usize];
    let y = if next() < 0.9 { 2.0 * next() - 1.0 } else { wild };
    if kind < 0.02 { [wild, next(), y] } else { [length * angle.cos(), length * angle.sin(), y] }
}

/// In whole steps of the grid: how long a row is, and how far it is from another.
fn far(a: &[i64], b: &[i64], times: &[f64]) -> f64 {
    let at = |v: &[i64], i: usize| v.get(i).copied().unwrap_or(0) as f64;
    times.iter().enumerate().map(|(i, t)| t * (at(a, i) - at(b, i)).powi(2)).sum::<f64>().sqrt()
}

/// The code that forms what rows add, at coordinates of random releases: no two rows are further apart than the noise pays for,
/// and some come near.
#[test]
fn rows_move_what_leaves_no_further_than_is_paid_for() {
    let law = plan(&program(400, "sigma = 20"));
    let mut next = numbers(7);
    let mut closest = [0.0, 0.0f64];
    for _ in 0..300 {
        let (p, q, c) = (400.0 * next(), 400.0 * next(), 200.0 * next() - 100.0);
        let mut seen = vec![p, c, q, 200.0 * next() - 100.0, 200.0 * next() - 100.0];
        while let Some(State { next: Some(what), .. }) = state(&law, 400.0, &seen) {
            let found = state(&law, 400.0, &seen).unwrap();
            let (bound, times, factor) = match what {
                Next::Products { bound, sd, .. } => {
                    assert!(sd > 0.0);
                    (bound, vec![1.0, 2.0, 1.0], f64::sqrt(2.0) * (1.0 + 2f64.powi(-30)))
                }
                Next::Scores { bound, .. } => (bound, vec![1.0, 1.0], 2.0),
            };
            let steps = bound / 2f64.powi(exponent(bound));
            for _ in 0..300 {
                let (a, b) = (added(&found, what, &row(&mut next)), added(&found, what, &row(&mut next)));
                assert!(far(&a, &[], &times) <= steps * (1.0 + 1e-15));
                let apart = far(&a, &b, &times) / (factor * steps);
                assert!(apart <= 1.0 + 1e-15, "{what:?} {a:?} {b:?}");
                let kind = usize::from(times.len() == 2);
                closest[kind] = closest[kind].max(apart);
            }
            let more: Vec<f64> = times.iter().map(|_| 20.0 * next() - 10.0).collect();
            seen.extend(more);
        }
        assert!(seen.len() == 5 || seen.len() == 5 + 3 + 3 * 2, "{}", seen.len());
    }
    assert!(closest[0] > 0.97 && closest[1] > 0.97, "{closest:?}");
}

/// The noise of what leaves next is what its part of the mu pays for: the squares sum to at most that of the second stage.
#[test]
fn the_parts_of_the_cost_sum_to_the_whole() {
    let law = plan(&program(400, "sigma = 20"));
    let dpm::mechanism::plan::WholeNoise::Steps { mu, .. } = law.noise else { panic!("{law:?}") };
    let mut seen = vec![200.0, 3.0, 190.0, 50.0, -20.0];
    let mut spent = 0.0;
    while let Some(State { next: Some(next), .. }) = state(&law, 400.0, &seen) {
        let (moved, sd, count) = match next {
            Next::Products { bound, sd, .. } => (f64::sqrt(2.0) * (1.0 + 2f64.powi(-30)) * bound, sd, 3),
            Next::Scores { cut, clip, sd, .. } => (2.0 * clip * cut, sd, 2),
        };
        spent += (moved / sd).powi(2);
        seen.extend(vec![1.0; count]);
    }
    assert!(spent <= mu * mu && spent > 0.999 * mu * mu, "{spent} {mu}");
}

/// Intervals of made-up data of the model: 240 weights of 120 data sets at three costs.
#[test]
fn intervals_hold_the_truth() {
    let mut next = numbers(11);
    for (n, sigma) in [(300, 3.0), (300, 30.0), (1000, 30.0)] {
        let (law, text) = (plan(&program(n, &format!("sigma = {sigma}"))), program(n, &format!("sigma = {sigma}")));
        let (mut held, mut all, mut miss) = (0, 0, 0.0);
        for _ in 0..120 {
            let mut normal = || (-2.0 * (1.0 - next()).ln()).sqrt() * (std::f64::consts::TAU * next()).cos();
            let w = [0.3 * normal(), 0.3 * normal()];
            let mut file = "id,x_1,x_2,y\n".to_owned();
            for i in 0..n {
                let (a, e) = (i as f64 * 2.399_963, 0.2 * normal());
                let x = [0.9 * a.cos(), 0.5 * a.sin()];
                file += &format!("{i},{},{},{}\n", x[0], x[1], w[0] * x[0] + w[1] * x[1] + e);
            }
            let numbers = left(&text, &file, 1).remove(0);
            let (mean, factor) = state(&law, n as f64, &numbers).unwrap().weights();
            for i in 0..2 {
                held += usize::from((mean[i] - w[i]).abs() <= 1.645 * factor.row(i).norm());
                all += 1;
                miss += (mean[i] - w[i]).powi(2);
            }
        }
        let share = held as f64 / all as f64;
        println!("n {n} sigma {sigma}: {share:.3} of {all}, rms {:.4}", (miss / all as f64).sqrt());
        // Five standard errors of 240 below .88.
        assert!(share > 0.77, "{n} {sigma}: {share}");
    }
}

/// One row, constant and zero columns, cells without meaning: a posterior of finite numbers, whatever left.
#[test]
fn degenerate_rows_end_like_any_other() {
    let row = |x: &str, y: &str| format!("a,{x},{y}\n");
    let rows = [
        vec![row("0.5,0.5", "1")],
        vec![row("0.5,0.5", "1"); 40],
        vec![row("0,0", "0"); 40],
        vec![row("nan,inf", "?"); 40],
        (0..40).map(|i| row(if i % 2 == 0 { "0.7,0" } else { "-0.7,0" }, if i % 2 == 0 { "1" } else { "-1" })).collect(),
    ];
    for rows in rows {
        for using in ["sigma = 2", "sigma = 0.001", "sigma = 1e9", "sigma = 1e-5"] {
            let text = program(rows.len() as u64, using);
            let (law, file) = (plan(&text), format!("id,x_1,x_2,y\n{}", rows.concat()));
            for numbers in left(&text, &file, 10) {
                let (mean, factor) = state(&law, rows.len() as f64, &numbers).unwrap().weights();
                assert!(mean.iter().all(|m| m.is_finite()), "{using}: {mean}");
                assert!((0..2).all(|i| factor.row(i).norm() > 0.0 && factor.row(i).norm() <= 1.0 + 1e-9), "{using}: {factor}");
            }
        }
    }
}
