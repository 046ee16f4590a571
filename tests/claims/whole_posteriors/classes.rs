//! Weights of several classes in two stages: how far one replaced row moves what leaves, what an attacker sees, coverage, degenerate rows.

use super::refined::{far, features, first_stage, numbers, separation};
use super::scores::left;
use super::*;
use dpm::mechanism::whole::rows::{added, exponent};
use dpm::mechanism::whole::steps::{Next, State, state};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

fn model(n: u64, (k, d): (usize, usize), sd: f64, using: &str) -> String {
    format!(
        "private t[{n}] {{ id: text, x: vector[{d}] in l2(1), y: category {{{}}} }}\nparam W: matrix[{k}, {d}] ~ normal(0, {sd})\n\
         observe y ~ categorical_logit(W * x)\nrelease q = posterior(W) using {using}\n",
        NAMES[..k].join(", ")
    )
}

/// How many numbers leave: first, and with the products or the scores of a step.
fn sizes(k: usize, d: usize) -> [usize; 3] {
    let all = k * d;
    [d * (d + 1) / 2 + all, all * (all + 1) / 2, all]
}

/// A row as it is read: features of length up to 1, 1 less than K for its class and -1 for others.
fn read(x: &[f64], class: usize, k: usize) -> Vec<f64> {
    let own = (0..k).map(|i| if i == class { k as f64 - 1.0 } else { -1.0 });
    x.iter().copied().chain(own).collect()
}

/// How often each number of a release counts in the square of its norm.
fn times(next: Next, all: usize) -> (Vec<f64>, f64) {
    match next {
        Next::Products { .. } => {
            let times = (0..all).flat_map(|i| (i..all).map(move |j| if i == j { 1.0 } else { 2.0 })).collect();
            (times, f64::sqrt(2.0) * (1.0 + 2f64.powi(-30)))
        }
        _ => (vec![1.0; all], 2.0),
    }
}

/// The first sums entry by entry: no pair of rows is further apart than what the certificate has beside the steps, and some are as far.
#[test]
fn first_sums_of_classes_move_as_far_as_is_paid_for() {
    let mut next = numbers(5);
    for (k, d) in [(2, 1), (2, 3), (3, 2), (5, 2)] {
        let text = model(400, (k, d), 1.0, "refined(sigma = 40)");
        let (paid, products, scores) = first_stage(&text);
        let mut furthest: f64 = 0.0;
        for _ in 0..40_000 {
            let mut row = || {
                let x: Vec<f64> = (0..d).map(|_| next() - 0.5).collect();
                let length = x.iter().map(|x| x * x).sum::<f64>().sqrt() / if next() < 0.7 { 1.0 } else { next() };
                read(&x.iter().map(|x| x / length).collect::<Vec<f64>>(), (k as f64 * next()) as usize, k)
            };
            let (a, b) = (row(), row());
            let product = |i: usize, j: usize| ((a[i] * a[j] - b[i] * b[j]) / products).powi(2) * if i == j { 1.0 } else { 2.0 };
            let moved: f64 = (0..d).flat_map(|i| (i..d).map(move |j| (i, j))).map(|(i, j)| product(i, j)).sum();
            let sums = (0..k * d).map(|i| ((a[d + i / d] * a[i % d] - b[d + i / d] * b[i % d]) / scores).powi(2)).sum::<f64>();
            furthest = furthest.max((moved + sums) / paid);
        }
        // The worst pair stands at an angle, which one feature does not have.
        assert!(furthest <= 1.0 + 1e-9 && (d == 1 || furthest > 0.9), "{k} {d}: {furthest}");
    }
}

/// With next to no noise the first sums are those of the rows, class by class.
#[test]
fn first_sums_of_classes_are_exact() {
    let text = model(3, (3, 2), 1.0, "refined(sigma = 0.001)");
    let file = "id,x_1,x_2,y\na,0.5,0.25,b\na,-0.5,0.5,c\na,0.75,0,b\n";
    let rows = [read(&[0.5, 0.25], 1, 3), read(&[-0.5, 0.5], 2, 3), read(&[0.75, 0.0], 1, 3)];
    let numbers = left(&text, file, 1).remove(0);
    for i in 0..6 {
        let exact: f64 = rows.iter().map(|row| row[2 + i / 2] * row[i % 2]).sum();
        assert!((numbers[3 + i] - exact).abs() < 0.008, "{i}: {} {exact}", numbers[3 + i]);
    }
}

/// As for other laws: no two rows are further apart than the noise pays for, rows that no file should hold among them, and all parts sum to
/// the mu of the steps.
#[test]
fn rows_of_classes_move_what_leaves_no_further_than_is_paid_for() {
    for (k, d) in [(2, 2), (3, 2), (5, 3)] {
        let plan = plan(&model(400, (k, d), 2.0, "refined(sigma = 40)"));
        let WholeNoise::Steps { mu, .. } = plan.noise else { panic!("{plan:?}") };
        let (mut next, mut closest, [first, ..]) = (numbers(7), [0.0f64; 2], sizes(k, d));
        for _ in 0..20 {
            let mut seen: Vec<f64> = (0..first).map(|_| 200.0 * next() - 60.0).collect();
            let mut spent = 0.0;
            while let Some(State { next: Some(what), .. }) = state(&plan, 400.0, &seen) {
                let found = state(&plan, 400.0, &seen).unwrap();
                let (Next::Level { bound, sd, .. } | Next::Products { bound, sd, .. } | Next::Scores { bound, sd, .. }) = what;
                let (times, factor) = times(what, k * d);
                let steps = bound / 2f64.powi(exponent(bound));
                spent += (factor * bound / sd).powi(2);
                let wild = [f64::NAN, f64::INFINITY, 1e300, -1e150];
                let mut row = || {
                    let mut x: Vec<f64> = (0..d).map(|_| next() - 0.5).collect();
                    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                    x.iter_mut().for_each(|x| *x /= length);
                    if next() < 0.03 {
                        x[0] = wild[(4.0 * next()) as usize];
                    }
                    added(&found, what, &read(&x, (k as f64 * next()) as usize, k))
                };
                for _ in 0..300 {
                    let (a, b) = (row(), row());
                    assert!(far(&a, &[], &times) <= steps * (1.0 + 1e-15), "{what:?}");
                    let apart = far(&a, &b, &times) / (factor * steps);
                    assert!(apart <= 1.0 + 1e-15, "{what:?} {a:?} {b:?}");
                    let kind = usize::from(factor == 2.0);
                    closest[kind] = closest[kind].max(apart);
                }
                seen.extend(times.iter().map(|_| 20.0 * next() - 10.0));
            }
            let [_, products, scores] = sizes(k, d);
            assert!(seen.len() == first || seen.len() == first + 3 * (products + scores), "{}", seen.len());
            assert!(seen.len() == first || (spent <= mu * mu && spent > 0.999 * mu * mu), "{spent} {mu}");
        }
        assert!(closest[0] > 0.4 && closest[1] > 0.8, "{k} {d}: {closest:?}");
    }
}

/// Made-up data of the model: the share of 90 % intervals of differences to the first class that hold the truth, how far their means are off
/// and how wide they are.
fn coverage((n, k, d): (u64, usize, usize), sd: f64, (head, using): (&str, &str), sets: usize, next: &mut impl FnMut() -> f64) -> [f64; 3] {
    let text = format!("{head}{}", model(n, (k, d), sd, using));
    let plan = plan(&text);
    let (mut held, mut miss, mut wide) = (0, 0.0, 0.0);
    for _ in 0..sets {
        let mut normal = || (-2.0 * (1.0 - next()).ln()).sqrt() * (std::f64::consts::TAU * next()).cos();
        let w: Vec<f64> = (0..k * d).map(|_| sd * normal()).collect();
        let mut file = (1..=d).fold("id".to_owned(), |head, j| head + &format!(",x_{j}")) + ",y\n";
        for i in 0..n {
            let x = features(d, &mut normal);
            let p: Vec<f64> = w.chunks(d).map(|w| w.iter().zip(&x).map(|(a, b)| a * b).sum::<f64>().exp()).collect();
            let mut rest = 0.5 * libm::erfc(normal() / std::f64::consts::SQRT_2) * p.iter().sum::<f64>();
            let class = p.iter().position(|p| {
                rest -= p;
                rest < 0.0
            });
            file += &x.iter().fold(i.to_string(), |row, x| row + &format!(",{x:.6}"));
            file += &format!(",{}\n", NAMES[class.unwrap_or(k - 1)]);
        }
        let (mean, factor) = state(&plan, n as f64, &left(&text, &file, 1).remove(0)).unwrap().weights();
        for i in d..k * d {
            let width = (factor.row(i) - factor.row(i % d)).norm();
            let off = (mean[i] - mean[i % d]) - (w[i] - w[i % d]);
            held += usize::from(off.abs() <= 1.645 * width);
            (miss, wide) = (miss + off * off, wide + width);
        }
    }
    let all = (sets * (k - 1) * d) as f64;
    [held as f64 / all, (miss / all).sqrt(), wide / all]
}

/// The grid of benches/posteriors.sh (`DPM_LONG`), but for places that the file `DPM_KNOWN` has: a line for each, with numbers of its own.
#[test]
fn intervals_of_classes_hold_the_truth() {
    let known = std::env::var("DPM_KNOWN").ok().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    let long = std::env::var("DPM_LONG").is_ok();
    let (rows, epsilons): (&[u64], &[f64]) = if long { (&[500, 2000, 10_000], &[0.1, 1.0, 10.0]) } else { (&[1000], &[1.0]) };
    let places = [(2, 2), (3, 2), (3, 5), (5, 4)].into_iter().flat_map(|size| rows.iter().map(move |n| (size, *n)));
    for ((((k, d), n), epsilon), seed) in places.flat_map(|p| epsilons.iter().map(move |e| (p, *e))).zip(17u64..) {
        let place = format!("categorical_logit(W * x), {k} classes, n {n}, d {d}, eps {epsilon}: ");
        if known.contains(&place) {
            continue;
        }
        let head = format!("budget dp(eps = {epsilon}, delta = 1e-5)\n");
        let sets = if long { 40 } else { 60 / k };
        let mut next = numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let [share, miss, wide] = coverage((n, k, d), 1.5, (&head, "refined"), sets, &mut next);
        println!("{place}{share:.3} of {}, rms {miss:.4}, sd {wide:.4}", sets * (k - 1) * d);
        assert!(long || share > 0.75, "{place}{share}");
    }
}

/// What leaves for a data set: each number with its expectation for these rows and its variance, step by step.
fn expected(plan: &WholeLaw, (rows, k, d): (&[Vec<f64>], usize, usize), numbers: &[f64]) -> Vec<(f64, f64)> {
    let WholeNoise::Steps { products, scores, .. } = plan.noise else { panic!("{plan:?}") };
    let sum = |of: &dyn Fn(&[f64]) -> f64| rows.iter().map(|row| of(row)).sum::<f64>();
    let mut found = vec![];
    for i in 0..d {
        found.extend((i..d).map(|j| (sum(&|row| row[i] * row[j]), products * products * if i == j { 1.0 } else { 0.5 })));
    }
    found.extend((0..k * d).map(|i| (sum(&|row| row[d + i / d] * row[i % d]), scores * scores)));
    while let Some(seen) = numbers.get(..found.len()).and_then(|left| state(plan, rows.len() as f64, left)) {
        let Some(next) = seen.next else { break };
        let (Next::Level { bound, sd, .. } | Next::Products { bound, sd, .. } | Next::Scores { bound, sd, .. }) = next;
        let (step, times) = (2f64.powi(exponent(bound)), times(next, k * d).0);
        let all: Vec<Vec<i64>> = rows.iter().map(|row| added(&seen, next, row)).collect();
        let one = |i: usize| step * all.iter().map(|row| row.get(i).copied().unwrap_or(0) as f64).sum::<f64>();
        found.extend(times.iter().enumerate().map(|(i, t)| (one(i), sd * sd / t)));
    }
    found
}

/// An attacker who knows all rows but one tells two rows apart by the likelihood ratio: not beyond the certified mu, and near it.
#[test]
fn an_attacker_on_classes_comes_near_the_certified_mu() {
    const OTHERS: usize = 119;
    for (k, least) in [(2, 0.75), (3, 0.75)] {
        let (d, draws) = (2, 200);
        let text = model(OTHERS as u64 + 1, (k, d), 1.0, "refined(sigma = 2)");
        let (plan, mu) = (plan(&text), certified(&text).claim().gdp());
        let row = |angle: f64, class: usize| read(&[angle.cos(), angle.sin()], class, k);
        let with = |last: Vec<f64>| -> Vec<Vec<f64>> { (0..OTHERS).map(|i| row(0.0528 * i as f64, i % k)).chain([last]).collect() };
        let line = |r: &Vec<f64>| format!("a,{},{},{}\n", r[0], r[1], NAMES[r[d..].iter().position(|v| *v > 0.0).unwrap()]);
        let file = |rows: &[Vec<f64>]| rows.iter().fold("id,x_1,x_2,y\n".to_owned(), |all, r| all + &line(r));
        // The pair that is furthest apart after one release.
        let typical = left(&text, &file(&with(row(0.9, 0))), 1).remove(0);
        let rows: Vec<Vec<f64>> = (0..24).flat_map(|i| (0..k).map(move |c| row(0.261_799_387_8 * f64::from(i), c))).collect();
        let seen: Vec<Vec<(f64, f64)>> = rows.iter().map(|r| expected(&plan, (&with(r.clone()), k, d), &typical)).collect();
        let apart = |a: usize, b: usize| seen[a].iter().zip(&seen[b]).map(|((p, v), (q, _))| (p - q).powi(2) / v).sum::<f64>();
        let pairs = (0..rows.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let (a, b) = pairs.max_by(|(a, b), (c, d)| apart(*a, *b).total_cmp(&apart(*c, *d))).unwrap();
        let (a, b) = (with(rows[a].clone()), with(rows[b].clone()));
        let ratio = |numbers: &Vec<f64>| {
            let (p, q) = (expected(&plan, (&a, k, d), numbers), expected(&plan, (&b, k, d), numbers));
            p.iter().zip(q).zip(numbers).map(|(((p, v), (q, _)), x)| (p - q) * (x - (p + q) / 2.0) / v).sum::<f64>()
        };
        let [one, other] = [&a, &b].map(|rows| left(&text, &file(rows), draws).iter().map(ratio).collect::<Vec<f64>>());
        let found = separation(&one, &other);
        println!("{k} classes: {found:.3} of {mu:.3}");
        let error = 6.0 * (2.0 / draws as f64).sqrt();
        assert!(found - error <= mu && found >= least * mu, "{k}: {found} {mu}");
    }
}

/// One row, zero features, one class, classes that a line separates, cells without meaning: a posterior of finite numbers.
#[test]
fn degenerate_rows_of_classes_end_like_any_other() {
    let row = |x: &str, y: &str| format!("a,{x},{y}\n");
    let sides = |i: usize| if i.is_multiple_of(2) { row("0.7,0", "a") } else { row("-0.7,0", "c") };
    let files = [
        vec![row("0.5,0.5", "b")],
        vec![row("0.5,0.5", "b"); 40],
        vec![row("0,0", "a"); 40],
        vec![row("nan,inf", "?"); 40],
        (0..40).map(sides).collect(),
    ];
    for rows in files {
        for using in ["sigma = 2", "sigma = 0.001", "sigma = 1e9", "sigma = 1e-5"] {
            let text = model(rows.len() as u64, (3, 2), 1.0, &format!("refined({using})"));
            let (plan, file) = (plan(&text), format!("id,x_1,x_2,y\n{}", rows.concat()));
            for numbers in left(&text, &file, 5) {
                let (mean, factor) = state(&plan, rows.len() as f64, &numbers).unwrap().weights();
                assert!(mean.iter().all(|m| m.is_finite()), "{using}: {mean}");
                assert!((0..6).all(|i| factor.row(i).norm() > 0.0 && factor.row(i).norm() <= 1.0 + 1e-9), "{using}: {factor}");
            }
        }
    }
}
