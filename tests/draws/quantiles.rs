//! Quantiles: draws against enumeration of all points (chi-square, false alarms below 1e-6 a case), neighbours by the ratio of exact
//! laws, and predictions of the error against draws.

use crate::mechanisms::{Mechanism, Seeded, csv};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const DRAWS: u64 = 12_000;

/// How many rows a point is off.
fn off(t: f64, data: &[f64], q: f64) -> f64 {
    let rank = q * data.len() as f64;
    let count = |of: &dyn Fn(f64) -> bool| data.iter().filter(|x| of(**x)).count() as f64;
    (count(&|x| x < t) - rank).max(rank - count(&|x| x <= t)).max(0.0)
}

/// The chances of the points 0, 1, .., most.
fn law(data: &[f64], q: f64, most: u32, strength: f64) -> Vec<f64> {
    let weights: Vec<f64> = (0..=most).map(|t| (-strength * off(t.into(), data, q)).exp()).collect();
    let all: f64 = weights.iter().sum();
    weights.iter().map(|w| w / all).collect()
}

fn p_value(seen: &[u64], law: &[f64]) -> f64 {
    // Thin cells together.
    let (mut thin, mut stat, mut cells) = ((0.0, 0.0), 0.0, 0);
    let n = seen.iter().sum::<u64>() as f64;
    let term = |seen: f64, want: f64| (seen - want).powi(2) / want;
    for (seen, p) in seen.iter().zip(law) {
        if n * p < 20.0 {
            thin = (thin.0 + *seen as f64, thin.1 + n * p);
        } else {
            stat += term(*seen as f64, n * p);
            cells += 1;
        }
    }
    if thin.1 >= 1.0 {
        stat += term(thin.0, thin.1);
        cells += 1;
    } else {
        assert!(thin.0 <= 12.0, "{thin:?}");
    }
    if cells < 2 { 1.0 } else { 1.0 - ChiSquared::new(f64::from(cells - 1)).unwrap().cdf(stat) }
}

fn text(values: &[f64]) -> Vec<String> {
    values.iter().map(|x| x.to_string()).collect()
}

fn draws(program: &str, data: &[f64], count: u64) -> Vec<Vec<f64>> {
    let mechanism = Mechanism::new(program);
    let rows = text(data);
    let measured = mechanism.measure(&csv("y", &rows.iter().map(String::as_str).collect::<Vec<_>>()));
    mechanism.draws(&measured, count, &mut Seeded::new(count + data.len() as u64)).iter().map(|r| r.to_f64()).collect()
}

#[test]
fn draws_follow_the_law_of_all_points() {
    let many: Vec<f64> = (0..400).map(|i| f64::from((i * i) % 31)).collect();
    let sets: [&[f64]; 8] =
        [&[], &[7.0], &[0.0], &[30.0, 30.0], &[5.0, 5.0, 5.0, 5.0], &[1.0, 2.0, 3.0, 29.0], &[0.0, 0.0, 11.0, 30.0, 30.0], &many];
    for data in sets {
        for q in [0.0, 0.1, 0.5, 0.8, 1.0] {
            for (header, eps, sensitivity) in [("[n]", 1.0, 1.0), ("[private n]", 0.3, f64::max(q, 1.0 - q)), ("[n]", 40.0, 1.0)] {
                if data.is_empty() && header == "[n]" {
                    continue;
                }
                let program =
                    format!("private t{header} {{ y: int in 0..30 }}\nrelease x = quantile(y, {q}) using exponential(eps = {eps})\n");
                let right = law(data, q, 30, eps / (2.0 * sensitivity));
                let mut seen = vec![0; 31];
                draws(&program, data, DRAWS).iter().for_each(|x| seen[x[0] as usize] += 1);
                let p = p_value(&seen, &right);
                assert!(p > 1e-6, "{header} {q} {eps} {data:?}: {p}");
                // The test sees a law that is a tenth flatter, where its scores differ at all.
                let flat = law(data, q, 30, 0.5 * eps / (2.0 * sensitivity));
                let apart: f64 = right.iter().zip(&flat).map(|(p, r)| (p - r).abs()).sum();
                assert!(apart < 0.1 || p_value(&seen, &flat) < 1e-6, "{header} {q} {eps} {data:?}");
            }
        }
    }
}

/// One replaced row, and one more: the log ratios of exact laws lie in an interval of width eps.
#[test]
fn neighbours_are_within_eps() {
    let values = [0.0, 3.0, 4.0, 9.0];
    let mut sets: Vec<Vec<f64>> = vec![vec![]];
    let mut last = sets.clone();
    for _ in 0..3 {
        last = last.iter().flat_map(|s| values.map(|x| [&s[..], &[x]].concat())).collect();
        sets.extend(last.iter().cloned());
    }
    let width = |a: &[f64], b: &[f64]| {
        let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a / b).ln()).collect();
        ratios.iter().copied().fold(f64::MIN, f64::max) - ratios.iter().copied().fold(f64::MAX, f64::min)
    };
    for q in [0.0, 0.3, 0.5, 1.0] {
        let mut widest = [0.0_f64; 2];
        for a in sets.iter().filter(|s| !s.is_empty()) {
            let less = &a[1..];
            let d = f64::max(q, 1.0 - q);
            widest[1] = widest[1].max(width(&law(a, q, 9, 0.5 / d), &law(less, q, 9, 0.5 / d)));
            for x in values {
                let other = [&[x], less].concat();
                widest[0] = widest[0].max(width(&law(a, q, 9, 0.5), &law(&other, q, 9, 0.5)));
            }
        }
        assert!(widest.iter().all(|w| *w <= 1.0 + 1e-12 && *w > 0.45), "{q}: {widest:?}");
    }
}

/// The program of a new user, with incomes from a heavy tail: the median is found although the grid has 2^40 points, most of them
/// far above any income, and the numbers predicted before are right.
#[test]
fn the_median_of_an_income() {
    let header = "private t[50000] { income: real in [0, 1000000] }";
    for grid in ["", "1, 1000000, grid = log, "] {
        let program = format!("{header}\nrelease m = quantile(income, 0.5) using exponential({grid}eps = 1)\n").replace("income", "y");
        // A lognormal of median 33,000, and one of median 33: nearly all values below a thousandth of the range.
        for median in [33_000.0, 33.0_f64] {
            let normal = statrs::distribution::Normal::new(0.0, 0.9).unwrap();
            let data: Vec<f64> =
                (0..50_000).map(|i| (median * normal.inverse_cdf((f64::from(i) + 0.5) / 50_000.0).exp()).min(1e6)).collect();
            let found = draws(&program, &data, 200);
            let rows: Vec<f64> = found.iter().map(|x| off(x[0], &data, 0.5)).collect();
            let far = rows.iter().filter(|r| **r > 62.0).count();
            // Binomial(200, 0.05) exceeds 30 with a chance below 1e-7.
            assert!(far <= 30, "{median}: {far}");
            assert!(found.iter().all(|x| (x[0] / median - 1.0).abs() < 0.05), "{median} {grid}");
        }
    }
}

/// Of values spread evenly, 95 % of answers are within the number predicted for them; of any, within the rows.
#[test]
fn what_is_predicted_holds() {
    for (n, eps, q) in [(2_000, 1.0, 0.5), (500, 0.5, 0.25), (10_000, 0.2, 0.9)] {
        let program = format!("private t[{n}] {{ y: real in [0, 100] }}\nrelease m = quantile(y, {q}) using exponential(eps = {eps})\n");
        let even: Vec<f64> = (0..n).map(|i| 100.0 * (f64::from(i) + 0.5) / f64::from(n)).collect();
        let predicted = 100.0 * (2.0 / eps) * 20f64.ln() / f64::from(n);
        let mut errors: Vec<f64> = draws(&program, &even, 4_000).iter().map(|x| (x[0] - 100.0 * q).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let found = errors[3_800];
        assert!((found / predicted - 1.0).abs() < 0.25, "{n} {eps} {q}: {found} of {predicted}");
    }
}

/// Several levels come out in the order of their levels, each near its own, however many there are.
#[test]
fn several_levels_ascend() {
    let program =
        "private t[1000] { y: real in [0, 1000] }\nrelease m = quantiles(y, [0.75, 0.25, 0.5, 0.26]) using exponential(eps = 0.2)\n";
    let data: Vec<f64> = (0..1000).map(f64::from).collect();
    for x in draws(program, &data, 200) {
        assert!(x.len() == 4 && x[1] <= x[3] && x[3] <= x[2] && x[2] <= x[0], "{x:?}");
        assert!([(0, 750.0), (1, 250.0), (2, 500.0), (3, 260.0)].iter().all(|(i, want)| (x[*i] - want).abs() < 330.0), "{x:?}");
    }
}
