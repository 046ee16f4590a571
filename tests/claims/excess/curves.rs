//! (epsilon, delta) of draws by their exact curves, before by conversion, and true: rule book 17.

use super::Row;
use crate::exact_draws::{beta, gamma, one_count};
use crate::numbers_support::certified;
use dpm::privacy::Claim;
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;
use std::fmt::Write;

/// The least epsilon at which the dearest of these pairs, in either order, costs at most delta.
fn least(curve: fn(f64, [f64; 2], [f64; 2]) -> f64, pairs: &[[[f64; 2]; 2]], delta: f64) -> f64 {
    let most = |e: f64| pairs.iter().map(|[p, q]| curve(e, *p, *q).max(curve(e, *q, *p))).fold(0.0, f64::max);
    let (mut no, mut yes) = (0.0, 64.0);
    for _ in 0..60 {
        let middle = f64::midpoint(no, yes);
        if most(middle) <= delta { yes = middle } else { no = middle }
    }
    yes
}

/// Rule book 17: epsilon by conversion of the worst divergences, by exact curves, and of the dearest of all pairs of data sets.
pub fn draws(rows: &mut Vec<Row>) {
    type Draw = (&'static str, String, f64, fn(f64, [f64; 2], [f64; 2]) -> f64, Vec<[[f64; 2]; 2]>);
    let beta_rows =
        |r: f64, n: u32| (0..n).map(move |s| [s + 1, s].map(|s| [6.0 + r * f64::from(s), 18.0 + r * f64::from(n - s)])).collect::<Vec<_>>();
    let rate = |r: f64| {
        format!(
            "private t[100] {{ y: bool }}\nparam p ~ beta(6, 18)\nobserve y ~ bernoulli(p)\nrelease d = draw(p) using diffuse(r = {r})\n"
        )
    };
    let cases: [Draw; 9] = [
        ("Beta(6, 18), 100 rows of weight 0.67", rate(0.67), 1e-5, beta, beta_rows(0.67, 100)),
        ("Beta(6, 18), 100 rows", rate(1.0), 1e-6, beta, beta_rows(1.0, 100)),
        (
            "Dirichlet(3, 4, 5), one row of a hundred moves",
            "private t[100] { y: category {u, v, w} }\nparam s ~ dirichlet([3, 4, 5])\nobserve y ~ categorical(s)\nrelease d = draw(s) using direct\n".into(),
            1e-5,
            beta,
            vec![[[3.0, 5.0], [4.0, 4.0]], [[3.0, 6.0], [4.0, 5.0]], [[4.0, 6.0], [5.0, 5.0]]],
        ),
        (
            "Gamma(8, 2), counts of 0 to 3",
            "private t[50] { y: int in 0..3 }\nparam m ~ gamma(8, 2)\nobserve y ~ poisson(m)\nrelease d = draw(m) using direct\n".into(),
            1e-5,
            gamma,
            (0..100).map(|s| [[8.0 + f64::from(s), 52.0], [11.0 + f64::from(s), 52.0]]).collect(),
        ),
        (
            "Gamma(4, 30), 20 waiting times in [0, 2]",
            "private t[20] { y: real in [0, 2] }\nparam m ~ gamma(4, 30)\nobserve y ~ exponential(m)\nrelease d = draw(m) using direct\n".into(),
            1e-5,
            gamma,
            (0..20).map(|s| [[24.0, 30.0 + 2.0 * f64::from(s)], [24.0, 32.0 + 2.0 * f64::from(s)]]).collect(),
        ),
        (
            "precision Gamma(4, 30), 20 values within 2 of their mean",
            "private t[20] { y: real in [-2, 2] }\nparam tau ~ gamma(4, 30)\nobserve y ~ normal(0, 1 / sqrt(tau))\nrelease d = draw(tau) using direct\n".into(),
            1e-5,
            gamma,
            (0..20).map(|s| [[14.0, 30.0 + 2.0 * f64::from(s)], [14.0, 32.0 + 2.0 * f64::from(s)]]).collect(),
        ),
        (
            "Beta(4, 30), 20 numbers of failures in 0..3",
            "private t[20] { y: int in 0..3 }\nparam p ~ beta(4, 30)\nobserve y ~ geometric(p)\nrelease d = draw(p) using direct\n".into(),
            1e-5,
            one_count,
            (0..20).map(|s| [[24.0, 30.0 + 3.0 * f64::from(s)], [24.0, 33.0 + 3.0 * f64::from(s)]]).collect(),
        ),
        (
            "Beta(6, 18), rows that come and go",
            rate(1.0).replace("t[100]", "t[private n]"),
            1e-5,
            one_count,
            [0.0, 1e3, 1e6].map(|more| [[18.0 + more, 6.0], [18.0 + more, 7.0]]).into(),
        ),
        (
            "Beta(6, 18), rows that change their group",
            rate(1.0).replace("y: bool", "g: category {u, v}, y: bool").replace("param", "each g of t {\nparam") + "}\n",
            1e-5,
            // Both groups at once, as other rows outnumber these: a quotient of two Gamma variables.
            beta,
            vec![[[6.0, 7.0], [7.0, 6.0]]],
        ),
    ];
    for (words, text, delta, curve, pairs) in cases {
        let claim = certified(&text).total().clone();
        let before = claim.clone().converted().epsilon(delta);
        rows.push((format!("{words}: epsilon at delta {delta}"), before, claim.epsilon(delta), least(curve, &pairs, delta)));
    }
}

/// Losses of Beta(6, 18 + w n) against Beta(6 + w, 18 + w n - w), or the reverse, as many times as `copies`, each rounded down to a grid: the
/// least epsilon at delta of at least one pair of data sets, rounded down.
fn composed(w: f64, n: f64, copies: u32, delta: f64, reverse: bool) -> f64 {
    const STEP: f64 = 2.5e-4;
    let (p, q) = ([6.0, 18.0 + w * n], [6.0 + w, 18.0 + w * (n - 1.0)]);
    let ln_b = |x: [f64; 2]| ln_gamma(x[0]) + ln_gamma(x[1]) - ln_gamma(x[0] + x[1]);
    // What of the first law lies where the loss of p against q is less than t, which falls in x.
    let (shift, drawn, sign) = (ln_b(q) - ln_b(p), if reverse { q } else { p }, if reverse { -1.0 } else { 1.0 });
    let below = |t: f64| {
        let x = 1.0 / (1.0 + ((sign * t - shift) / w).exp());
        if reverse { beta_reg(drawn[0], drawn[1], x) } else { 1.0 - beta_reg(drawn[0], drawn[1], x) }
    };
    let (low, high) = (-1600_i32, 1600_i32);
    let one: Vec<f64> = (low..high).map(|k| below(f64::from(k + 1) * STEP) - below(f64::from(k) * STEP)).map(|x| x.max(0.0)).collect();
    let twice = |a: &[f64], b: &[f64]| {
        let mut all = vec![0.0; a.len() + b.len() - 1];
        // What is left out only lowers the result.
        let some = |x: &f64| *x > 1e-12;
        let (from, to) = (b.iter().position(some).unwrap(), b.iter().rposition(some).unwrap());
        for (i, x) in a.iter().enumerate().filter(|(_, x)| some(x)) {
            all[i + from..].iter_mut().zip(&b[from..=to]).for_each(|(sum, y)| *sum += x * y);
        }
        all
    };
    let all = (1..copies).fold(one.clone(), |all, _| twice(&one, &all));
    let curve = |e: f64| {
        let losses = (low * copies as i32..).map(|k| f64::from(k) * STEP);
        all.iter().zip(losses).filter(|(_, t)| *t > e).map(|(x, t)| x * (1.0 - (e - t).exp())).sum::<f64>()
    };
    let (mut no, mut yes) = (0.0, 8.0);
    for _ in 0..40 {
        let middle = f64::midpoint(no, yes);
        if curve(middle) <= delta { yes = middle } else { no = middle }
    }
    no
}

/// Ten draws, before by the sum of their divergences.
pub fn ten_draws(rows: &mut Vec<Row>) {
    for (w, n, delta) in [(0.1, 100.0, 1e-5), (0.1, 1000.0, 1e-6)] {
        let text = format!(
            "private t[{n}] {{ y: bool }}\nparam p ~ beta(6, 18)\nobserve y ~ bernoulli(p)\nrelease d = draws(p, 10) using diffuse(r = {w})\n"
        );
        let claim = certified(&text).total().clone();
        let truth = composed(w, n, 10, delta, false).max(composed(w, n, 10, delta, true));
        rows.push((
            format!("ten draws of Beta(6, 18), {n} rows of weight {w}: epsilon at delta {delta}"),
            claim.clone().converted().epsilon(delta),
            claim.epsilon(delta),
            truth,
        ));
    }
}

/// The largest weight of a row at epsilon 1, before by conversion.
pub fn weights(text: &mut String) {
    for (a, b, n, delta) in [(6.0, 18.0, 100, 1e-5), (6.0, 18.0, 100, 1e-6), (2.0, 2.0, 1000, 1e-6), (20.0, 30.0, 1000, 1e-5)] {
        let claim = |r: f64| {
            let program = format!(
                "private t[{n}] {{ y: bool }}\nparam p ~ beta({a}, {b})\nobserve y ~ bernoulli(p)\nrelease d = draw(p) using diffuse(r = {r})\n"
            );
            certified(&program).total().clone()
        };
        let largest = |of: &dyn Fn(Claim) -> f64| {
            let (mut yes, mut no) = (0.0, 1.0);
            for _ in 0..24 {
                let middle = f64::midpoint(yes, no);
                if of(claim(middle)) <= 1.0 { yes = middle } else { no = middle }
            }
            yes
        };
        let (before, now) = (largest(&|c| c.converted().epsilon(delta)), largest(&|c| c.epsilon(delta)));
        assert!(now > 1.05 * before, "{before} {now}");
        writeln!(text, "Beta({a}, {b}), {n} rows, delta {delta} | {before:.4} | {now:.4} | {:+.1} %", 100.0 * (now / before - 1.0))
            .unwrap();
    }
}
