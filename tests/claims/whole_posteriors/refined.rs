//! Weights of regressions in two stages: how far one replaced row moves what leaves, coverage, degenerate rows.

use super::scores::left;
use super::*;
use dpm::mechanism::whole::rows::{added, exponent};
use dpm::mechanism::whole::steps::{Next, State, state};

/// The type of the outcome and the law of the rows; the first is linear, the last two are counts.
const LAWS: [(&str, &str); 7] = [
    ("real in [-1, 1]", "normal(dot(w, x), 0.2)"),
    ("bool", "bernoulli_logit(dot(w, x))"),
    ("int in 0..8", "binomial_logit(8, dot(w, x))"),
    ("bool", "bernoulli_probit(dot(w, x))"),
    ("bool", "bernoulli_cloglog(dot(w, x))"),
    ("int in 0..200", "poisson_log(dot(w, x))"),
    ("int in 0..200", "neg_binomial_2(exp(dot(w, x) + x[2]), 3)"),
];
/// The sd of the prior of weights, where rows say enough and predictors stay in reach.
const SDS: [f64; 7] = [0.3, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0];
/// What is taken off the outcome of a row that is not a count.
const CENTRES: [f64; 5] = [0.0, 0.5, 4.0, 0.5, 0.625];

/// A row of two features as it is read.
fn read(law: usize, [x, z, y]: [f64; 3]) -> [f64; 4] {
    match CENTRES.get(law) {
        Some(centre) => [x, z, y - centre, 0.0],
        None if law == 5 => [x, z, (y + 0.5).ln(), 0.0],
        None => [x, z, (y + 0.5).ln() - z, z],
    }
}

fn program(law: usize, n: u64, using: &str) -> String {
    model(law, n, 2, 1.0, &format!("refined({using})"))
}

fn model(law: usize, n: u64, d: usize, sd: f64, using: &str) -> String {
    let (ty, rows) = LAWS[law];
    format!(
        "private t[{n}] {{ id: text, x: vector[{d}] in l2(1), y: {ty} }}\nparam w: vector[{d}] ~ normal(0, {sd})\n\
         observe y ~ {rows}\nrelease q = posterior(w) using {using}\n"
    )
}

/// Numbers in [0, 1) that are the same in every run.
pub(super) fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut s = seed;
    move || {
        s = s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (s >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A row of length up to 1 with any outcome, now and then of doubles that no file should hold.
fn row(next: &mut impl FnMut() -> f64) -> [f64; 4] {
    let (angle, kind) = (6.3 * next(), next());
    let length = if kind < 0.7 { 1.0 } else { next() };
    let wild = [f64::NAN, f64::INFINITY, 1e300, -1e150][(4.0 * next()) as usize];
    let y = if next() < 0.9 { 2.0 * next() - 1.0 } else { wild };
    let added = if next() < 0.9 { 4.0 * next() - 2.0 } else { wild };
    if kind < 0.02 { [wild, next(), y, added] } else { [length * angle.cos(), length * angle.sin(), y, added] }
}

/// In whole steps of the grid: how long a row is, and how far it is from another.
pub(super) fn far(a: &[i64], b: &[i64], times: &[f64]) -> f64 {
    let at = |v: &[i64], i: usize| v.get(i).copied().unwrap_or(0) as f64;
    times.iter().enumerate().map(|(i, t)| t * (at(a, i) - at(b, i)).powi(2)).sum::<f64>().sqrt()
}

/// The code that forms what rows add, at coordinates of random releases: no two rows are further apart than the noise pays for,
/// and some come near.
#[test]
fn rows_move_what_leaves_no_further_than_is_paid_for() {
    for law in 0..LAWS.len() {
        let plan = plan(&program(law, 400, "sigma = 20"));
        let mut next = numbers(7);
        let mut closest = [0.0f64; 3];
        for _ in 0..if law == 0 { 300 } else { 100 } {
            let (p, q, c) = (400.0 * next(), 400.0 * next(), 200.0 * next() - 100.0);
            let mut seen = vec![p, c, q, 200.0 * next() - 100.0, 200.0 * next() - 100.0];
            while let Some(State { next: Some(what), .. }) = state(&plan, 400.0, &seen) {
                let found = state(&plan, 400.0, &seen).unwrap();
                let (bound, times, factor) = match what {
                    Next::Products { bound, sd, cut, most } => {
                        assert!(sd > 0.0 && bound >= most * cut * cut);
                        (bound, vec![1.0, 2.0, 1.0], f64::sqrt(2.0) * (1.0 + 2f64.powi(-30)))
                    }
                    Next::Scores { bound, .. } => (bound, vec![1.0, 1.0], 2.0),
                    Next::Level { bound, .. } => (bound, vec![1.0], 2.0),
                };
                let steps = bound / 2f64.powi(exponent(bound));
                for _ in 0..300 {
                    let (a, b) = (added(&found, what, &row(&mut next)), added(&found, what, &row(&mut next)));
                    assert!(far(&a, &[], &times) <= steps * (1.0 + 1e-15));
                    let apart = far(&a, &b, &times) / (factor * steps);
                    assert!(apart <= 1.0 + 1e-15, "{what:?} {a:?} {b:?}");
                    let kind = 3 - times.len();
                    closest[kind] = closest[kind].max(apart);
                }
                let more: Vec<f64> = times.iter().map(|_| 20.0 * next() - 10.0).collect();
                seen.extend(more);
            }
            let whole = [5 + 3 + 3 * 2, 5 + 3 * (3 + 2), 5 + 1 + 3 * (3 + 2)][law.min(1) + usize::from(law > 4)];
            assert!(seen.len() == 5 || seen.len() == whole, "{}", seen.len());
        }
        assert!(closest[0] > 0.9 && closest[1] > 0.8 && (law < 5 || closest[2] > 0.9), "{law}: {closest:?}");
    }
}

/// The square of the mu of what leaves first, and the standard deviations of the noise on products and scores.
pub(super) fn first_stage(text: &str) -> (f64, f64, f64) {
    let (whole, plan) = (certified(text).claim().gdp(), plan(text));
    let WholeNoise::Steps { products, scores, mu, .. } = plan.noise else { panic!("{plan:?}") };
    (whole * whole - mu * mu, products, scores)
}

/// The first sums of rows of trials: what one row adds, as it leaves with next to no noise, moves them entry by entry no further than the certificate has
/// beside the steps, for any pair of rows, and some as far.
#[test]
fn first_sums_of_trials_move_as_far_as_is_paid_for() {
    let mut next = numbers(5);
    for (law, most) in [(1, 1.0), (2, 8.0), (3, 1.0), (4, 1.0)] {
        let added = |y: f64| left(&program(law, 1, "sigma = 0.00001"), &format!("id,x_1,x_2,y\na,0.5,0.25,{y}\n"), 1)[0][3] / 0.5;
        let ends = [0.0, most].map(added);
        assert!((ends[1] - ends[0] - most).abs() < 1e-3, "{law}: {ends:?}");
        let text = program(law, 400, "sigma = 40");
        let (paid, products, scores) = first_stage(&text);
        let mut furthest: f64 = 0.0;
        for _ in 0..40_000 {
            let mut row = || {
                let (angle, length) = (6.3 * next(), if next() < 0.7 { 1.0 } else { next() });
                let y = if next() < 0.9 { ends[usize::from(next() < 0.5)] } else { ends[0] + most * next() };
                [length * angle.cos(), length * angle.sin(), y]
            };
            let ([a, b, s], [p, q, t]) = (row(), row());
            let square = |x: f64, sd: f64| (x / sd).powi(2);
            let moved = square(a * a - p * p, products) + 2.0 * square(a * b - p * q, products) + square(b * b - q * q, products);
            furthest = furthest.max((moved + square(a * s - p * t, scores) + square(b * s - q * t, scores)) / paid);
        }
        assert!(furthest <= 1.0 + 1e-4 && furthest > 0.98, "{law}: {furthest}");
    }
}

/// The noise of what leaves next is what its part of the mu pays for: the squares sum to at most that of the second stage.
#[test]
fn the_parts_of_the_cost_sum_to_the_whole() {
    for law in 0..LAWS.len() {
        let plan = plan(&program(law, 400, "sigma = 20"));
        let dpm::mechanism::plan::WholeNoise::Steps { mu, .. } = plan.noise else { panic!("{plan:?}") };
        let mut seen = vec![200.0, 3.0, 190.0, 50.0, -20.0];
        let mut spent = 0.0;
        while let Some(State { next: Some(next), .. }) = state(&plan, 400.0, &seen) {
            let (moved, sd, count) = match next {
                Next::Products { cut, most, sd, .. } => (f64::sqrt(2.0) * (1.0 + 2f64.powi(-30)) * most * cut * cut, sd, 3),
                Next::Scores { cut, clip, bound, sd, .. } => {
                    // Around a centre scores of trials are nearer to it than to 0; others have none.
                    let from_zero = clip * cut;
                    assert!(if (1..5).contains(&law) { bound <= from_zero } else { bound == from_zero }, "{law}: {bound} {from_zero}");
                    (2.0 * bound, sd, 2)
                }
                Next::Level { sd, .. } => (1.0, sd, 1),
            };
            spent += (moved / sd).powi(2);
            seen.extend(vec![1.0; count]);
        }
        assert!(spent <= mu * mu && spent > 0.999 * mu * mu, "{law}: {spent} {mu}");
    }
}

/// What leaves for a data set that ends in one row or another: each number with its expectations and its variance, step by step.
fn expected(law: usize, plan: &WholeLaw, (others, pair): (&[[f64; 3]], [[f64; 3]; 2]), numbers: &[f64]) -> Vec<([f64; 2], f64)> {
    let (WholeNoise::Steps { products, scores, .. } | WholeNoise::Scores { products, scores }) = plan.noise else { panic!("{plan:?}") };
    let variances = [products * products, 0.5 * products * products, products * products, scores * scores, scores * scores];
    let read: Vec<[f64; 4]> = others.iter().chain(&pair).map(|row| read(law, *row)).collect();
    // Of the others together, and with each of the two.
    let sums = |of: &dyn Fn(&[f64; 4]) -> Vec<f64>| -> Vec<[f64; 2]> {
        let all: Vec<Vec<f64>> = read.iter().map(of).collect();
        let (others, pair) = all.split_at(others.len());
        let together = |i: usize| others.iter().map(|v| v[i]).sum::<f64>();
        (0..pair[0].len()).map(|i| [0, 1].map(|end| together(i) + pair[end][i])).collect()
    };
    let mut found: Vec<([f64; 2], f64)> =
        sums(&|[x, z, y, _]| vec![x * x, x * z, z * z, y * x, y * z]).into_iter().zip(variances).collect();
    while let Some(seen) = numbers.get(..found.len()).and_then(|left| state(plan, others.len() as f64 + 1.0, left)) {
        let Some(next) = seen.next else { break };
        let (Next::Level { bound, sd, .. } | Next::Products { bound, sd, .. } | Next::Scores { bound, sd, .. }) = next;
        let off = matches!(next, Next::Products { .. });
        let step = 2f64.powi(exponent(bound));
        let sums = sums(&|row| added(&seen, next, row).iter().map(|x| step * *x as f64).collect());
        found.extend(sums.into_iter().enumerate().map(|(i, sum)| (sum, sd * sd * if off && i == 1 { 0.5 } else { 1.0 })));
    }
    found
}

/// An attacker who knows all rows but one, and the law of the noise, sees by the likelihood ratio which of two rows it is: over the
/// draws of both data sets, what it sees is not above the certified mu, and comes near it.
#[test]
fn an_attacker_comes_near_the_certified_mu() {
    let cases = [
        (1, "score_statistics(sigma = 1, sigma_products = 1.5)", 10_000, 0.9),
        (1, "refined(sigma = 1)", 1400, 0.8),
        (2, "refined(sigma = 8)", 1400, 0.8),
        (0, "refined(sigma = 1)", 1400, 0.8),
        (4, "refined(sigma = 1)", 1400, 0.8),
        (5, "refined(sigma = 8)", 1400, 0.8),
    ];
    std::thread::scope(|threads| cases.map(|case| threads.spawn(move || attack(case))).map(|thread| thread.join().unwrap()));
}

fn attack((law, using, draws, least): (usize, &str, usize, f64)) {
    const OTHERS: i32 = 159;
    let text = model(law, OTHERS as u64 + 1, 2, 1.0, using);
    // The outcomes at both ends, and of the other rows.
    let (ends, most) =
        ([[-1.0, 1.0], [0.0, 1.0], [0.0, 8.0], [0.0, 1.0], [0.0, 1.0], [0.0, 200.0]][law], [0.1, 1.0, 5.0, 1.0, 1.0, 2.0][law]);
    let usual = |i: i32| if law == 2 { f64::from(3 + i % 3) } else { most * f64::from(i % 3 / 2) };
    let (plan, mu) = (plan(&text), certified(&text).claim().gdp());
    // All as long as the pair, in all directions: none is cut.
    let angle = |i: i32| (std::f64::consts::TAU / f64::from(OTHERS) * f64::from(i)).sin_cos();
    let others: Vec<[f64; 3]> = (0..OTHERS).map(|i| [angle(i).1, angle(i).0, usual(i)]).collect();
    let file = |last: &[f64; 3]| {
        let rows = others.iter().chain([last]);
        rows.fold("id,x_1,x_2,y\n".to_owned(), |f, [x, z, y]| f + &format!("a,{x},{z},{y}\n"))
    };
    // The pair that is furthest apart after one release.
    let typical = left(&text, &file(&[0.6, 0.8, ends[1]]), 1).remove(0);
    let circle = |k: usize| (0.196_349_540_849_362_07 * k as f64).sin_cos();
    let rows: Vec<[f64; 3]> = (0..32).flat_map(|k| ends.map(|y| [circle(k).1, circle(k).0, y])).collect();
    let pairs = (0..rows.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let seen: Vec<Vec<([f64; 2], f64)>> = rows.iter().map(|row| expected(law, &plan, (&others, [*row; 2]), &typical)).collect();
    let apart = |a: usize, b: usize| seen[a].iter().zip(&seen[b]).map(|(([p, _], v), ([q, _], _))| (p - q).powi(2) / v).sum::<f64>();
    let (a, b) = pairs.max_by(|(a, b), (c, d)| apart(*a, *b).total_cmp(&apart(*c, *d))).unwrap();
    let pair = [rows[a], rows[b]];
    let ratio = |numbers: &Vec<f64>| {
        let seen = expected(law, &plan, (&others, pair), numbers);
        seen.iter().zip(numbers).map(|(([p, q], v), x)| (p - q) * (x - (p + q) / 2.0) / v).sum::<f64>()
    };
    let [one, other] = pair.map(|row| left(&text, &file(&row), draws).iter().map(ratio).collect::<Vec<f64>>());
    let found = separation(&one, &other);
    let error = 6.0 * (2.0 / draws as f64).sqrt();
    println!("{law} {using}: {found:.3} of {mu:.3}");
    assert!(found - error <= mu && found >= least * mu, "{law} {using}: {found} {mu}");
}

/// The mu between two samples of log-likelihood ratios.
pub(super) fn separation(one: &[f64], other: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let variance = |x: &[f64]| x.iter().map(|v| (v - mean(x)).powi(2)).sum::<f64>() / x.len() as f64;
    (mean(one) - mean(other)) / (0.5 * (variance(one) + variance(other))).sqrt()
}

/// A count of this mean and shape, from its distribution function, 200 at most.
fn count(mean: f64, shape: f64, normal: &mut impl FnMut() -> f64) -> f64 {
    let (mut left, mut y) = (0.5 * libm::erfc(normal() / std::f64::consts::SQRT_2), 0.0);
    let mut p = if shape.is_infinite() { (-mean).exp() } else { (shape / (shape + mean)).powf(shape) };
    while left > p && y < 200.0 {
        left -= p;
        p *= if shape.is_infinite() { mean / (y + 1.0) } else { (y + shape) / (y + 1.0) * mean / (mean + shape) };
        y += 1.0;
    }
    y
}

/// A constant, and the rest of the ball.
pub(super) fn features(d: usize, normal: &mut impl FnMut() -> f64) -> Vec<f64> {
    let mut x: Vec<f64> = (1..d).map(|_| normal() / (d as f64 - 1.0).sqrt()).collect();
    let long = x.iter().map(|x| x * x).sum::<f64>().sqrt().max(1.0);
    x.iter_mut().for_each(|x| *x *= 0.7 / long);
    x.insert(0, 0.7);
    x
}

/// Made-up data of the model: the share of 90 % intervals that hold a weight, how far means are off, and how wide the posterior says.
fn coverage(
    law: usize,
    (n, d, sd): (u64, usize, f64),
    (head, using): (&str, &str),
    sets: usize,
    next: &mut impl FnMut() -> f64,
) -> [f64; 3] {
    let text = format!("{head}{}", model(law, n, d, sd, using));
    let plan = plan(&text);
    let (mut held, mut miss, mut wide) = (0, 0.0, 0.0);
    for _ in 0..sets {
        let mut normal = || (-2.0 * (1.0 - next()).ln()).sqrt() * (std::f64::consts::TAU * next()).cos();
        let w: Vec<f64> = (0..d).map(|_| sd * normal()).collect();
        let mut file = (1..=d).fold("id".to_owned(), |head, j| head + &format!(",x_{j}")) + ",y\n";
        for i in 0..n {
            let x = features(d, &mut normal);
            let t: f64 = w.iter().zip(&x).map(|(a, b)| a * b).sum();
            let e = normal();
            let one = |p: f64| f64::from(u8::from(0.5 * libm::erfc(e / std::f64::consts::SQRT_2) < p));
            let p = 1.0 / (1.0 + (-t).exp());
            let y = match law {
                0 => t + 0.2 * e,
                1 => one(p),
                2 => (0..8)
                    .map(|k| if k == 0 { one(p) } else { f64::from(u8::from(0.5 * libm::erfc(normal() / std::f64::consts::SQRT_2) < p)) })
                    .sum(),
                3 => f64::from(u8::from(t + e > 0.0)),
                4 => one(-(-t.exp()).exp_m1()),
                5 => count(t.exp(), f64::INFINITY, &mut normal),
                _ => count((t + x[1]).exp(), 3.0, &mut normal),
            };
            file += &x.iter().fold(i.to_string(), |row, x| row + &format!(",{x:.6}"));
            file += &format!(",{y}\n");
        }
        let (mean, factor) = state(&plan, n as f64, &left(&text, &file, 1).remove(0)).unwrap().weights();
        for i in 0..d {
            let width = factor.row(i).norm();
            held += usize::from((mean[i] - w[i]).abs() <= 1.645 * width);
            (miss, wide) = (miss + (mean[i] - w[i]).powi(2), wide + width);
        }
    }
    let all = (sets * d) as f64;
    [held as f64 / all, (miss / all).sqrt(), wide / all]
}

/// 240 weights of 120 data sets at some costs; the linear one further from its prior.
#[test]
fn intervals_hold_the_truth() {
    let mut next = numbers(11);
    for (law, n, sd, sigma) in [
        (0, 300, 0.3, 3.0),
        (0, 1000, 0.3, 30.0),
        (1, 500, 2.0, 4.0),
        (1, 1000, 2.0, 20.0),
        (2, 500, 1.0, 8.0),
        (3, 1000, 1.0, 4.0),
        (4, 1000, 1.0, 4.0),
        (5, 1000, 1.0, 20.0),
        (6, 1000, 1.0, 40.0),
    ] {
        let [share, miss, wide] = coverage(law, (n, 2, sd), ("", &format!("refined(sigma = {sigma})")), 120, &mut next);
        println!("{} n {n} sigma {sigma}: {share:.3}, rms {miss:.4}, sd {wide:.4}", LAWS[law].1);
        // Five standard errors of 240 below .88.
        assert!(share > 0.77, "{} {n} {sigma}: {share}", LAWS[law].1);
    }
}

/// The grid of benches/posteriors.sh (`DPM_LONG`): a line for every law, number of rows and of weights, and epsilon, but for those that
/// the file `DPM_KNOWN` has. Each place has numbers of its own.
#[test]
fn intervals_over_a_grid() {
    let known = std::env::var("DPM_KNOWN").ok().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    let long = std::env::var("DPM_LONG").is_ok();
    let (rows, weights, epsilons): (&[u64], &[usize], &[f64]) =
        if long { (&[500, 2000, 10_000, 50_000], &[2, 5, 20], &[0.1, 1.0, 10.0]) } else { (&[500], &[3], &[1.0]) };
    let places = rows.iter().flat_map(|n| (0..LAWS.len()).map(move |law| (*n, law)));
    let places = places.flat_map(|p| weights.iter().map(move |d| (p, *d))).flat_map(|p| epsilons.iter().map(move |e| (p, *e)));
    for ((((n, law), d), epsilon), seed) in places.zip(17..) {
        let place = format!("{}, n {n}, d {d}, eps {epsilon}: ", LAWS[law].1);
        if known.contains(&place) {
            continue;
        }
        let sd = SDS[law];
        let sets = if long { (240 / d).min((500_000 / n) as usize).max(20) } else { 30 };
        let head = format!("budget dp(eps = {epsilon}, delta = 1e-5)\n");
        let [share, miss, wide] =
            coverage(law, (n, d, sd), (&head, "refined"), sets, &mut numbers(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15)));
        println!("{place}{share:.3} of {}, rms {miss:.4}, sd {wide:.4}", sets * d);
        assert!(long || share > 0.7, "{place}{share}");
    }
}

/// One row, constant and zero columns, one class, classes that a line separates, cells without meaning: a posterior of finite numbers, whatever left.
#[test]
fn degenerate_rows_end_like_any_other() {
    let row = |x: &str, y: &str| format!("a,{x},{y}\n");
    for law in 0..LAWS.len() {
        let (one, other) = (["1", "1", "8", "1", "1", "200", "200"][law], ["-1", "0", "0", "0", "0", "0", "0"][law]);
        let rows = [
            vec![row("0.5,0.5", one)],
            vec![row("0.5,0.5", one); 40],
            vec![row("0,0", "0"); 40],
            vec![row("nan,inf", "?"); 40],
            (0..40).map(|i| row(if i % 2 == 0 { "0.7,0" } else { "-0.7,0" }, if i % 2 == 0 { one } else { other })).collect(),
        ];
        for rows in rows {
            for using in ["sigma = 2", "sigma = 0.001", "sigma = 1e9", "sigma = 1e-5"] {
                let text = program(law, rows.len() as u64, using);
                let (plan, file) = (plan(&text), format!("id,x_1,x_2,y\n{}", rows.concat()));
                for numbers in left(&text, &file, 10) {
                    let (mean, factor) = state(&plan, rows.len() as f64, &numbers).unwrap().weights();
                    assert!(mean.iter().all(|m| m.is_finite()), "{law} {using}: {mean}");
                    assert!((0..2).all(|i| factor.row(i).norm() > 0.0 && factor.row(i).norm() <= 1.0 + 1e-9), "{law} {using}: {factor}");
                }
            }
        }
    }
}

/// Rare counts, and exposures in units that make the intercept far from 0: means are within some sds of the truth.
#[test]
fn rates_are_found_in_any_unit() {
    let mut next = numbers(23);
    for (unit, rate) in [(1.0, 0.02), (1.0, 1.0), (1.0, 40.0), (1e4, 1e-4), (1e-3, 3e3)] {
        let (low, high) = (0.5 * unit, 4.0 * unit);
        let text = format!(
            "private t[4000] {{ id: text, a: real in [-1, 1], e: real in [{low}, {high}], y: int in 0..500 }}\nparam w: vector[2] ~ normal(0, 5)\n\
             observe y ~ poisson(e * exp(dot(w, [1, a])))\nrelease q = posterior(w) using refined(sigma = 60)\n"
        );
        let plan = plan(&text);
        for _ in 0..6 {
            let mut normal = || (-2.0 * (1.0 - next()).ln()).sqrt() * (std::f64::consts::TAU * next()).cos();
            let mut file = "id,a,e,y\n".to_owned();
            for _ in 0..4000 {
                let (a, share) = (0.5 * normal().clamp(-2.0, 2.0), 0.5 * libm::erfc(normal() / std::f64::consts::SQRT_2));
                let e = low + (high - low) * share;
                let y = count(e * rate * (0.5 * a).exp(), f64::INFINITY, &mut normal);
                file += &format!("i,{a},{e},{y}\n");
            }
            let (mean, factor) = state(&plan, 4000.0, &left(&text, &file, 1).remove(0)).unwrap().weights();
            for (i, truth) in [rate.ln(), 0.5].into_iter().enumerate() {
                let far = (mean[i] - truth).abs() / factor.row(i).norm();
                assert!(far < 6.0 && factor.row(i).norm() < 1.5, "{unit} {rate}: {mean} {far}");
            }
        }
    }
}
