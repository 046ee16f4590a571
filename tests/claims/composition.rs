//! Programs of several releases, branches, groups and units against all neighbours of tiny data sets.

use crate::numbers_support::{certified, dirichlet};
use dpm::privacy::Claim;
use std::collections::BTreeMap;

const ORDERS: [f64; 5] = [1.07, 1.4, 1.9, 2.6, 5.3];

/// A row: its group and its value.
type Row = (usize, i64);
/// Two neighbouring data sets.
type Pair = (Vec<Row>, Vec<Row>);

/// What one unit may do to the data.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Change {
    /// Up to k rows get other contents; with `keep`, each stays in its group.
    Replace { k: usize, keep: bool },
    /// Up to k rows come or go.
    Add { k: usize },
}

fn multisets(values: &[Row], size: usize) -> Vec<Vec<Row>> {
    if size == 0 {
        return vec![vec![]];
    }
    let from = |i: usize| multisets(&values[i..], size - 1).into_iter().map(move |rest| [vec![values[i]], rest].concat());
    (0..values.len()).flat_map(from).collect()
}

/// All neighbours with at most `rows` rows, in both roles.
fn neighbours(values: &[Row], rows: usize, change: Change) -> Vec<Pair> {
    let mut found = vec![];
    let (Change::Replace { k, .. } | Change::Add { k }) = change;
    for moved in 1..=k.min(rows) {
        let units = multisets(values, moved);
        let groups = |unit: &[Row]| unit.iter().map(|row| row.0).collect::<Vec<_>>();
        for rest in (0..=rows - moved).flat_map(|size| multisets(values, size)) {
            let with = |unit: &[Row]| [rest.clone(), unit.to_vec()].concat();
            for x in &units {
                match change {
                    Change::Add { .. } => found.extend([(with(x), rest.clone()), (rest.clone(), with(x))]),
                    // Units are sorted by group, so equal lists mean that every row can stay in its own.
                    Change::Replace { keep, .. } => {
                        let others = units.iter().filter(|y| *y != x && !(keep && groups(x) != groups(y)));
                        found.extend(others.map(|y| (with(x), with(y))));
                    }
                }
            }
        }
    }
    found
}

/// Rows and sum of one group.
fn totals(rows: &[Row], group: usize) -> (i64, i64) {
    let values = rows.iter().filter(|row| row.0 == group).map(|row| row.1);
    (values.clone().count() as i64, values.sum())
}

/// Additive noise.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Noise {
    Geometric(f64),
    Gaussian(f64),
    Laplace(f64),
}

/// `P(k)` of two-sided geometric noise.
fn mass(k: i64, scale: f64) -> f64 {
    (0.5 / scale).tanh() * (-k.abs() as f64 / scale).exp()
}

/// Far enough for scales up to 4 at orders up to 6: what is left out is below 1e-30.
const FAR: i64 = 400;

impl Noise {
    fn text(&self) -> String {
        match self {
            Noise::Geometric(scale) => format!("geometric(scale = {scale})"),
            Noise::Gaussian(sigma) => format!("gaussian(sigma = {sigma})"),
            Noise::Laplace(scale) => format!("laplace(scale = {scale})"),
        }
    }

    /// The divergence at every order by the size of the move.
    fn table(&self) -> [Vec<f64>; ORDERS.len()] {
        ORDERS.map(|l| (0..16).map(|d| self.divergence(l, d)).collect())
    }

    /// Rényi divergence of order l between the noise and the noise moved by d.
    fn divergence(&self, l: f64, d: i64) -> f64 {
        let d_real = d.abs() as f64;
        match self {
            _ if d == 0 => 0.0,
            Noise::Gaussian(sigma) => l * d_real * d_real / (2.0 * sigma * sigma),
            Noise::Laplace(scale) => {
                let e = d_real / scale;
                ((l * ((l - 1.0) * e).exp() + (l - 1.0) * (-l * e).exp()) / (2.0 * l - 1.0)).ln() / (l - 1.0)
            }
            Noise::Geometric(scale) => {
                let term = |k: i64| (l * mass(k, *scale).ln() - (l - 1.0) * mass(k - d, *scale).ln()).exp();
                (-FAR..=FAR).map(term).sum::<f64>().ln() / (l - 1.0)
            }
        }
    }
}

/// The dearest pair at every order, how many there are, and the claim judged by them.
fn judge(claim: &Claim, pairs: &[Pair], largest: f64, text: &str, divergence: impl Fn(usize, &Pair) -> f64) {
    assert!(pairs.len() > 1, "nothing to compare");
    for (index, l) in ORDERS.into_iter().enumerate() {
        let worst = pairs.iter().map(|pair| divergence(index, pair)).fold(0.0, f64::max);
        let found = claim.rdp(l);
        let case = || format!("order {l}: claimed {found}, worst of {} pairs {worst}\n{text}", pairs.len());
        assert!(found >= worst * (1.0 - 1e-9) - 1e-11, "too small: {}", case());
        assert!(found <= largest * worst * (1.0 + 1e-9) + 1e-11, "too large by more than {largest}: {}", case());
    }
}

/// One run of `each g` with two levels under every header: change, header, key, how far the claim may lie above.
fn headers() -> Vec<(Change, &'static str, &'static str)> {
    vec![
        (Change::Replace { k: 1, keep: true }, "t[n]", "public "),
        (Change::Replace { k: 2, keep: true }, "t[n] by u max 2", "public "),
        (Change::Replace { k: 1, keep: false }, "t[n]", ""),
        (Change::Replace { k: 2, keep: false }, "t[n] by u max 2", ""),
        (Change::Add { k: 1 }, "t[private n]", ""),
        (Change::Add { k: 2 }, "t[private n] by u max 2", ""),
    ]
}

/// Two groups of up to three rows; four groups, so that both rows of a unit can leave one and enter another.
const SHAPES: [(usize, usize); 2] = [(2, 3), (4, 2)];

fn levels(count: usize) -> String {
    ["a", "b", "c", "d"][..count].join(", ")
}

#[test]
fn groups_of_noisy_sums() {
    for noise in [Noise::Geometric(3.0), Noise::Gaussian(2.0), Noise::Laplace(4.0)] {
        let table = noise.table();
        for ((groups, rows), (lo, hi)) in SHAPES.into_iter().flat_map(|shape| [(0, 1), (-1, 1), (2, 3)].map(|range| (shape, range))) {
            let values: Vec<Row> = (0..groups).flat_map(|g| (lo..=hi).map(move |x| (g, x))).collect();
            let mut replaced_inside = 0.0;
            for (change, header, key) in headers() {
                let text = format!(
                    "private {header} {{ u: text, g: {key}category {{{}}}, x: int in {lo}..{hi} }}\n\
                     each g of t {{\n  release v = sum(x) using {}\n}}\n",
                    levels(groups),
                    noise.text()
                );
                let claim = certified(&text).total().clone();
                // The curve of pure DP covers every law of that epsilon, a geometric one moved by 2 or 3 is milder. Two
                // rows of a unit may lie in two groups or both in one: that is charged twice over.
                let one = matches!(change, Change::Replace { k: 1, .. } | Change::Add { k: 1 });
                let largest = match noise {
                    _ if !one => 6.0,
                    Noise::Geometric(_) => 1.3,
                    _ => 1.0 + 1e-6,
                };
                let pairs = neighbours(&values, rows, change);
                judge(&claim, &pairs, largest, &text, |index, (p, q)| {
                    (0..groups).map(|g| table[index][totals(p, g).1.abs_diff(totals(q, g).1) as usize]).sum()
                });
                // A row that changes its group costs more here than one that stays: the claim must see it.
                match (change, lo) {
                    (Change::Replace { k: 1, keep: true }, _) => replaced_inside = claim.rdp(1.9),
                    (Change::Replace { k: 1, keep: false }, 2) => assert!(claim.rdp(1.9) > 5.0 * replaced_inside, "{text}"),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn groups_of_draws() {
    let shares = |prior: &str| format!("param p ~ dirichlet({prior})\n  observe y ~ categorical(p)");
    let cases = [
        (vec![2.5, 3.0], "bool".to_string(), "param p ~ beta(3, 2.5)\n  observe y ~ bernoulli(p)".to_string()),
        (vec![6.0, 4.0], "bool".into(), "param p ~ beta(4, 6)\n  observe y ~ bernoulli(p)".into()),
        (vec![4.5, 2.5, 6.0], "category {red, green, blue}".into(), shares("[4.5, 2.5, 6]")),
    ];
    for ((groups, rows), (prior, outcome, model)) in SHAPES.into_iter().flat_map(|shape| cases.clone().map(|case| (shape, case))) {
        let values: Vec<Row> = (0..groups).flat_map(|g| (0..prior.len()).map(move |y| (g, y as i64))).collect();
        for (draw, times) in [("draw(p)", 1.0), ("draws(p, 3)", 3.0)] {
            for (change, header, key) in headers() {
                let text = format!(
                    "private {header} {{ u: text, g: {key}category {{{}}}, y: {outcome} }}\neach g of t {{\n  {model}\n  \
                     release x = {draw} using direct\n}}\n",
                    levels(groups)
                );
                let claim = certified(&text).total().clone();
                let law = |rows: &[Row], g: usize| -> Vec<f64> {
                    let count = |y: usize| rows.iter().filter(|row| **row == (g, y as i64)).count() as f64;
                    prior.iter().enumerate().map(|(y, a)| a + count(y)).collect()
                };
                let pairs = neighbours(&values, rows, change);
                for l in ORDERS {
                    let one = |(p, q): &Pair| (0..groups).map(|g| dirichlet(l, &law(p, g), &law(q, g))).sum::<f64>();
                    let worst = times * pairs.iter().map(one).fold(0.0, f64::max);
                    let found = claim.rdp(l);
                    let case = || format!("order {l}: claimed {found}, worst of {} pairs {worst}\n{text}", pairs.len());
                    assert!(found >= worst * (1.0 - 1e-9), "too small: {}", case());
                    if change == (Change::Replace { k: 1, keep: true }) {
                        assert!(found == worst || found <= worst * (1.0 + 1e-9), "not attained: {}", case());
                    }
                    // Several rows are charged to several groups, each with the limit order of k rows in one.
                    assert!(found <= 6.0 * worst || l >= claim.max_order(), "too large: {}", case());
                }
            }
        }
    }
}

/// Two releases of one table, one row or unit: both move at once.
#[test]
fn two_releases_of_one_table() {
    let values: Vec<Row> = (0..2).flat_map(|y| (0..=2).map(move |x| (y, x))).collect();
    for (header, change, rows) in [
        ("t[n]", Change::Replace { k: 1, keep: false }, 3),
        ("t[n] by u max 2", Change::Replace { k: 2, keep: false }, 3),
        ("t[private n]", Change::Add { k: 1 }, 3),
        ("t[private n] by u max 2", Change::Add { k: 2 }, 3),
    ] {
        for noise in [Noise::Geometric(2.0), Noise::Gaussian(3.0), Noise::Laplace(4.0)] {
            let text = format!(
                "private {header} {{ u: text, y: bool, x: int in 0..2 }}\nparam p ~ beta(8, 6)\nobserve y ~ bernoulli(p)\n\
                 release a = draws(p, 2) using diffuse(r = 0.5)\nrelease s = sum(x) using {}\n",
                noise.text()
            );
            let claim = certified(&text).total().clone();
            let law = |rows: &[Row]| {
                let ones = rows.iter().filter(|row| row.0 == 1).count() as f64;
                [8.0 + 0.5 * ones, 6.0 + 0.5 * (rows.len() as f64 - ones)]
            };
            let sum = |rows: &[Row]| rows.iter().map(|row| row.1).sum::<i64>();
            let (pairs, table) = (neighbours(&values, rows, change), noise.table());
            judge(&claim, &pairs, 1.5, &text, |index, (p, q)| {
                2.0 * dirichlet(ORDERS[index], &law(p), &law(q)) + table[index][sum(p).abs_diff(sum(q)) as usize]
            });
        }
    }
}

/// A noisy count decides which of two columns is counted, and how noisily: the joint law, term by term.
#[test]
fn branches_on_a_noisy_count() {
    let (first, coarse, fine) = (2.0, 4.0, 1.0);
    // Here the two numbers of a row are the two columns.
    let values: Vec<Row> = vec![(0, 0), (0, 1), (1, 0), (1, 1)];
    for (header, change) in [("t[n]", Change::Replace { k: 1, keep: false }), ("t[private n]", Change::Add { k: 1 })] {
        let text = format!(
            "private {header} {{ y: bool, z: bool }}\nrelease c = count(y) using geometric(scale = {first})\n\
             when c > 1 {{\n  release d = count(z) using geometric(scale = {fine})\n}} else {{\n  \
             release e = count(z) using geometric(scale = {coarse})\n}}\n"
        );
        let total = certified(&text).total().clone();
        let counts = |rows: &[Row]| (rows.iter().map(|r| r.0 as i64).sum::<i64>(), rows.iter().map(|r| r.1).sum::<i64>());
        // Equal shifts with equal first counts are the same pair of laws.
        let mut laws = BTreeMap::new();
        let pairs = neighbours(&values, 3, change);
        for (p, q) in &pairs {
            let ((py, pz), (qy, qz)) = (counts(p), counts(q));
            laws.insert((py, qy, pz - qz), ());
        }
        for l in ORDERS {
            let worst = laws.keys().map(|&(py, qy, dz)| {
                let second = |scale| ((l - 1.0) * Noise::Geometric(scale).divergence(l, dz)).exp();
                let (many, few) = (second(fine), second(coarse));
                let term = |c: i64| {
                    let here = (l * mass(c - py, first).ln() - (l - 1.0) * mass(c - qy, first).ln()).exp();
                    here * if c > 1 { many } else { few }
                };
                (-FAR..=FAR).map(term).sum::<f64>().ln() / (l - 1.0)
            });
            let (worst, found) = (worst.fold(0.0, f64::max), total.rdp(l));
            assert!(found >= worst * (1.0 - 1e-9), "order {l}: claimed {found}, worst of {} pairs {worst}\n{text}", pairs.len());
            assert!(found <= 1.5 * worst, "order {l}: claimed {found}, worst of {} pairs {worst}\n{text}", pairs.len());
        }
        // Pure DP and every (epsilon, delta), by the same sums.
        let pure = total.pure();
        for &(py, qy, dz) in laws.keys() {
            let largest = (py - qy).abs() as f64 / first + dz.abs() as f64 / fine;
            assert!(pure >= largest * (1.0 - 1e-12), "pure {pure} below {largest} of {} laws\n{text}", laws.len());
            for e in [0.0, 0.2, 0.7, 1.2] {
                let excess = |c: i64| {
                    let scale = if c > 1 { fine } else { coarse };
                    let (p, q) = (mass(c - py, first), mass(c - qy, first));
                    (-60..=60).map(|d| (p * mass(d, scale) - f64::exp(e) * q * mass(d - dz, scale)).max(0.0)).sum::<f64>()
                };
                let delta: f64 = (-60..=60).map(excess).sum();
                let (found, epsilon) = (total.delta(e), total.epsilon(delta.max(1e-300)));
                assert!(found >= delta - 1e-12, "delta({e}) {found} below {delta} of {} laws\n{text}", laws.len());
                assert!(epsilon >= e - 1e-9 || delta < 1e-9, "epsilon({delta}) {epsilon} below {e}, {} laws\n{text}", laws.len());
            }
        }
    }
}

/// A released draw decides how many draws of another parameter follow: the divergence integrated over the first draw.
#[test]
fn branches_on_a_draw() {
    let text = "private t[n] { y: bool, z: bool }\nparam p ~ beta(6, 7)\nobserve y ~ bernoulli(p)\nparam q ~ beta(5, 5)\n\
                observe z ~ bernoulli(q)\nrelease a = draw(p) using direct\n\
                when a > 0.5 {\n  release b = draws(q, 3) using direct\n} else {\n  release c = draw(q) using direct\n}\n";
    let total = certified(text).total().clone();
    let values: Vec<Row> = vec![(0, 0), (0, 1), (1, 0), (1, 1)];
    let laws = |rows: &[Row]| {
        let (n, y, z) = (rows.len() as f64, rows.iter().filter(|r| r.0 == 1).count() as f64, rows.iter().map(|r| r.1).sum::<i64>() as f64);
        ([6.0 + y, 7.0 + n - y], [5.0 + z, 5.0 + n - z])
    };
    let log_density = |[a, b]: [f64; 2], t: f64| {
        let constant = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
        constant + if t > 0.0 { -b * t - (a + b) * (-t).exp().ln_1p() } else { a * t - (a + b) * t.exp().ln_1p() }
    };
    let pairs = neighbours(&values, 3, Change::Replace { k: 1, keep: false });
    for l in [1.07, 1.4, 1.9, 2.6, 4.2] {
        let mut worst: f64 = 0.0;
        for (p, q) in &pairs {
            let ((py, pz), (qy, qz)) = (laws(p), laws(q));
            let after = dirichlet(l, &pz, &qz);
            // Simpson's rule on the logit line, on either side of the branch at 0; 0.02 steps are exact to 1e-9.
            let side = |sign: f64| {
                let term = |i: u32| {
                    let t = sign * 0.02 * f64::from(i);
                    let weight = if i == 0 { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
                    weight * (l * log_density(py, t) - (l - 1.0) * log_density(qy, t)).exp()
                };
                (0..2000).map(term).sum::<f64>() * 0.02 / 3.0
            };
            let sum = side(1.0) * (3.0 * (l - 1.0) * after).exp() + side(-1.0) * ((l - 1.0) * after).exp();
            worst = worst.max(sum.ln() / (l - 1.0));
        }
        let found = total.rdp(l);
        assert!(found >= worst - 1e-8, "order {l}: claimed {found}, worst of {} pairs {worst}\n{text}", pairs.len());
        assert!(found <= 1.5 * worst, "order {l}: claimed {found}, worst of {} pairs {worst}\n{text}", pairs.len());
    }
}
