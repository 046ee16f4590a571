//! What is certified against what is true, by enumeration: the table of rule book 8.11, and those of 17, before and now, with planted mistakes.
//!
//! `UPDATE_RESULTS=1` writes `benches/results/excess.txt`.

mod curves;

use crate::numbers_support::{certified, certified_at, certified_on, dirichlet};
use crate::whole_posteriors::worst_loss;
use dpm::privacy::Claim;
use std::fmt::Write;

/// Text of a row; before, certified now, true.
type Row = (String, f64, f64, f64);

fn pure(text: &str) -> f64 {
    certified(text).total().pure()
}

fn gdp(text: &str) -> f64 {
    certified(text).total().gdp()
}

/// `budget` large enough, one query of a table.
fn query(n: &str, columns: &str, query: &str) -> String {
    format!("private t[{n}] {{ {columns} }}\nrelease q = {query}\n")
}

fn grid(lo: f64, hi: f64, n: u32) -> impl Iterator<Item = f64> + Clone {
    (0..=n).map(move |i| lo + (hi - lo) * f64::from(i) / f64::from(n))
}

/// How far a function of a row moves a sum: largest difference of two values, largest value.
fn extent(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
    (hi - lo, hi.abs().max(lo.abs()))
}

fn functions(rows: &mut Vec<Row>) {
    let inv_logit = |x: f64| 1.0 / (1.0 + (-x).exp());
    // The normal distribution function by its series.
    let phi = |x: f64| {
        let terms = (1..60).scan(x, |t, k| {
            let now = *t;
            *t *= x * x / (2.0 * f64::from(k) + 1.0);
            Some(now)
        });
        0.5 + terms.sum::<f64>() * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
    };
    let unit = || grid(0.0, 1.0, 1000);
    let around = || grid(-2.0, 3.0, 1000);
    for (words, column, query_of, (replaced, added), before) in [
        ("sum(inv_logit(a)), a in [0, 1]", "a: real in [0, 1]", "inv_logit(a)", extent(unit().map(inv_logit)), (1.0, 1.0)),
        ("sum(Phi(a)), a in [0, 1]", "a: real in [0, 1]", "Phi(a)", extent(unit().map(phi)), (1.0, 1.0)),
        ("sum(b * b), b in [-2, 3]", "b: real in [-2, 3]", "b * b", extent(around().map(|b| b * b)), (15.0, 9.0)),
        ("sum(a * (1 - a)), a in [0, 1]", "a: real in [0, 1]", "a * (1 - a)", extent(unit().map(|a| a * (1.0 - a))), (1.0, 1.0)),
        ("sum(dot(v, v)), v in l2(2)", "v: vector[2] in l2(2)", "dot(v, v)", extent(grid(0.0, 2.0, 100).map(|r| r * r)), (8.0, 4.0)),
    ] {
        for (n, truth, before) in [("n", replaced, before.0), ("private n", added, before.1)] {
            let now = pure(&query(n, column, &format!("sum({query_of}) using laplace(scale = 1)")));
            rows.push((format!("{words}, laplace(1), [{n}]"), before, now, truth));
        }
    }
    let ball = grid(0.0, std::f64::consts::TAU, 64).flat_map(|t| [-2.0, 3.0].map(|b| [2.0 * b * t.cos(), 2.0 * b * t.sin()]));
    let ball: Vec<[f64; 2]> = ball.collect();
    let far = |v: &[f64; 2], w: &[f64; 2]| (v[0] - w[0]).hypot(v[1] - w[1]);
    let replaced = ball.iter().flat_map(|v| ball.iter().map(move |w| far(v, w))).fold(0.0, f64::max);
    let added = ball.iter().map(|v| far(v, &[0.0; 2])).fold(0.0, f64::max);
    for (n, truth, before) in [("n", replaced, 288.0_f64.sqrt()), ("private n", added, 72.0_f64.sqrt())] {
        let now = gdp(&query(n, "v: vector[2] in l2(2), b: real in [-2, 3]", "sum(v * b) using gaussian(sigma = 1)"));
        rows.push((format!("sum(v * b), v in l2(2), b in [-2, 3], gaussian(1), [{n}]"), before, now, truth));
    }
}

/// All ways in which the sums of three groups may move when the rows of one unit change: rows in [0, 1], at the ends.
fn moves(k: u32, old: bool, new: bool, stay: bool) -> Vec<[f64; 3]> {
    let states = |there: bool| if there { (0..6_u32.pow(k)).collect::<Vec<u32>>() } else { vec![u32::MAX] };
    let row = |code: u32, i: u32| if code == u32::MAX { None } else { Some((code / 6_u32.pow(i)) % 6) };
    let mut found = vec![];
    for (a, b) in states(old).into_iter().flat_map(|a| states(new).into_iter().map(move |b| (a, b))) {
        let mut sums = [0.0; 3];
        let mut legal = true;
        for i in 0..k {
            let (from, to) = (row(a, i), row(b, i));
            legal &= !stay || from.zip(to).is_none_or(|(x, y)| x % 3 == y % 3);
            for (one, sign) in [(from, -1.0), (to, 1.0)] {
                if let Some(state) = one {
                    sums[state as usize % 3] += sign * f64::from(state / 3);
                }
            }
        }
        if legal {
            found.push(sums);
        }
    }
    found
}

fn groups(rows: &mut Vec<Row>) {
    let program = |n: &str, key: &str, query: &str| {
        format!(
            "private t[{n}] by id max 3 {{ id: text, g: {key}category {{u, v, w}}, x: real in [0, 1] }}\neach g of t {{ release s = {query} }}\n"
        )
    };
    let l1 = |all: &[[f64; 3]]| all.iter().map(|m| m.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let l2 = |all: &[[f64; 3]]| all.iter().map(|m| m.iter().map(|x| x * x).sum::<f64>().sqrt()).fold(0.0, f64::max);
    for (words, n, key, all, before) in [
        ("public key", "n", "public ", moves(3, true, true, true), [9.0, 27.0_f64.sqrt()]),
        ("private key", "n", "", moves(3, true, true, false), [9.0, 27.0_f64.sqrt()]),
        ("public key, private n", "private n", "public ", moves(3, false, true, true), [9.0, 27.0_f64.sqrt()]),
        ("private key, private n", "private n", "", moves(3, false, true, false), [9.0, 27.0_f64.sqrt()]),
    ] {
        let text = |q| program(n, key, q);
        rows.push((
            format!("units of 3 rows in 3 groups, sum(x), laplace(1), {words}"),
            before[0],
            pure(&text("sum(x) using laplace(scale = 1)")),
            l1(&all),
        ));
        rows.push((
            format!("units of 3 rows in 3 groups, sum(x), gaussian(1), {words}"),
            before[1],
            gdp(&text("sum(x) using gaussian(sigma = 1)")),
            l2(&all),
        ));
    }
}

/// Largest divergence of Beta posteriors of one group of at most six rows, of which exactly k may change.
fn beta_group(a: f64, b: f64, k: u32, order: f64) -> f64 {
    let mut worst: f64 = 0.0;
    for n in k..=6 {
        for (s, t) in (0..=n).flat_map(|s| (0..=n).map(move |t| (s, t))).filter(|(s, t)| s.abs_diff(*t) <= k) {
            let at = |s: u32| [a + f64::from(s), b + f64::from(n - s)];
            worst = worst.max(dirichlet(order, &at(s), &at(t)));
        }
    }
    worst
}

fn draws_in_groups(rows: &mut Vec<Row>) {
    let (a, b, order) = (6.0, 18.0, 2.5);
    let text = "private t[n] by id max 3 { id: text, g: public category {u, v, w}, y: bool }\neach g of t { param p ~ beta(6, 18)\nobserve y ~ bernoulli(p)\nrelease r = draw(p) using direct }\n";
    let now = certified_at(text, &[order], &[]).total().rdp(order);
    let cost: Vec<f64> = (0..=3).map(|k| if k == 0 { 0.0 } else { beta_group(a, b, k, order) }).collect();
    let spreads = [[3, 0, 0], [2, 1, 0], [1, 1, 1]];
    let each: Vec<f64> = spreads.iter().map(|s| s.iter().map(|k| cost[*k]).sum()).collect();
    let truth = each.iter().copied().fold(0.0, f64::max);
    rows.push((format!("units of 3 rows in 3 groups, Beta(6, 18) draws, public key, order {order}"), 3.0 * cost[3], now, truth));
    // Planted: the claim is convex in k, so three shares of one row each are less than three rows in one group.
    assert!(truth > 1.2 * 3.0 * cost[1] && truth == each[0], "a share of k is not seen: {each:?}");

    // One row leaves a group and enters another; either order of the neighbours, groups of every size.
    let order = 6.5;
    let text = "private t[n] { g: category {u, v}, y: bool }\neach g of t { param p ~ beta(6, 18)\nobserve y ~ bernoulli(p)\nrelease r = draw(p) using direct }\n";
    let now = certified_at(text, &[order], &[]).total().rdp(order);
    let (mut out, mut back) = (0.0_f64, 0.0_f64);
    for n in [0_u32, 1, 2, 5, 50, 1000, 100_000] {
        for s in [0, 1, n / 2, n].into_iter().filter(|s| *s <= n) {
            let lacks = [a + f64::from(s), b + f64::from(n - s)];
            for has in [[lacks[0] + 1.0, lacks[1]], [lacks[0], lacks[1] + 1.0]] {
                (out, back) = (out.max(dirichlet(order, &lacks, &has)), back.max(dirichlet(order, &has, &lacks)));
            }
        }
    }
    rows.push((format!("private key, one row, Beta(6, 18) draws, order {order}"), 2.0 * out, now, out + back));

    // Planted: units of several categorical rows may spread over levels, so they have no curve of one worst pair.
    let text = "private t[n] by id max 2 { id: text, c: category {u, v, w, x} }\nparam p ~ dirichlet([3, 3, 3, 3])\nobserve c ~ categorical(p)\nrelease r = draw(p) using direct\n";
    assert!(matches!(certified(text).total(), Claim::Renyi(_)), "units of categorical rows have a curve");
}

/// Posteriors of bounded losses in groups of a private key: a unit's rows may stand anywhere, before and after. The log ratio of two draws is, up to
/// a constant, the sum over groups of what the unit adds there, each a function of that group's own parameter: the ranges add.
fn losses_in_groups(rows: &mut Vec<Row>) {
    let text = "private t[n] by id max 3 { id: text, g: category {u, v, w}, y: bool }\neach g of t { param p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\n\
                release d = draw(p) using beta_div(beta = 2, weight = 0.1) assuming convergence }\n";
    let now = pure(text);
    let (weight, k) = (0.1, 3_i32);
    let loss = |p: f64, y: bool| -(if y { p } else { 1.0 - p }) + (p * p + (1.0 - p) * (1.0 - p)) / 2.0;
    let range = |trues: i32, falses: i32| {
        extent(grid(0.0, 1.0, 400).map(move |p| f64::from(trues) * loss(p, true) + f64::from(falses) * loss(p, false))).0
    };
    let known: Vec<Vec<f64>> = (-k..=k).map(|t| (-k..=k).map(|f| range(t, f)).collect()).collect();
    // How many rows each of the six places, a group and an outcome, gains.
    let mut most: f64 = 0.0;
    let place = |code: u32, i: u32| (code / 6_u32.pow(i)) as usize % 6;
    for (before, after) in (0..216).flat_map(|a| (0..216).map(move |b| (a, b))) {
        let mut gains = [k; 6];
        for i in 0..3 {
            gains[place(before, i)] -= 1;
            gains[place(after, i)] += 1;
        }
        most = most.max(gains.chunks(2).map(|g| known[g[0] as usize][g[1] as usize]).sum());
    }
    rows.push(("units of 3 rows in 3 groups, beta_div of weight 0.1, private key".into(), 3.0 * now, now, weight * most));
}

/// The scale of a Hellinger mechanism from its sensitivities, and from its realised loss: certified epsilon over that loss.
fn hellinger_losses(rows: &mut Vec<Row>) {
    for (name, gamma) in [("ehd", None), ("ehds", Some(1.0))] {
        let given = gamma.map_or(String::new(), |g| format!("gamma = {g}, "));
        let text = format!(
            "private t[40] {{ y: bool }}\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease q = posterior(p) using {name}(eps = 1, {given}calibration = exact)\n"
        );
        let all = certified(&text);
        let calibrated = all.certificate.releases[0].parameters.iter().find(|p| p.0 == "calibrated").unwrap().1;
        let loss = |epsilon: f64| worst_loss(&[1.0, 1.0], 40, epsilon, gamma);
        let claimed = all.total().pure();
        rows.push((format!("{name}, Beta(1, 1), 40 rows: certified over realised loss"), 1.0 / loss(1.0), claimed / loss(calibrated), 1.0));
    }
}

/// Noise of `dp_sgld` beside a mean gradient whose rows are cut to norm 1, by the size of samples.
fn samples(text: &mut String) {
    let noise = |using: &str, rows: f64| {
        let program = format!(
            "budget dp(eps = 1, delta = 1e-5)\nprivate t[500] {{ y: bool, v: vector[2] in l2(1) }}\nparam w: vector[2] ~ normal(0, 1)\nobserve y ~ bernoulli_logit(dot(w, v))\nrelease r = draw(w) using dp_sgld(iterations = 100{using})\n"
        );
        certified(&program).certificate.releases[0].parameters.iter().find(|p| p.0 == "sigma").unwrap().1 / rows
    };
    let all = noise("", 500.0);
    for batch in [10, 50, 200] {
        let part = noise(&format!(", batch = {batch}"), f64::from(batch));
        assert!(all < part, "{batch}: {part} {all}");
        writeln!(text, "500 rows, 100 steps, batch {batch} | {part:.4} | {all:.4}").unwrap();
    }
}

fn offsets(rows: &mut Vec<Row>) {
    let text = "private t[n] { x: vector[2] in l2(1), o: real in [0, 10], y: bool }\nparam w: vector[2] in l2(1) ~ normal(0, 1)\nobserve y ~ bernoulli_logit(o + dot(w, x))\nrelease r = draw(w) using ops(weight = 0.05) assuming convergence\n";
    let circle: Vec<[f64; 2]> = grid(0.0, std::f64::consts::TAU, 16).map(|t| [t.cos(), t.sin()]).collect();
    let loss = |w: &[f64; 2], x: &[f64; 2], o: f64, y: f64| {
        let t: f64 = o + w[0] * x[0] + w[1] * x[1];
        (1.0 + t.exp()).ln() - y * t
    };
    let outcomes = [(0.0, 0.0), (0.0, 1.0), (10.0, 0.0), (10.0, 1.0)];
    let mut truth: f64 = 0.0;
    for (x, z) in circle.iter().flat_map(|x| circle.iter().map(move |z| (x, z))) {
        for ((o, y), (p, v)) in outcomes.iter().flat_map(|a| outcomes.iter().map(move |b| (*a, *b))) {
            let ratio = circle.iter().map(|w| 0.05 * (loss(w, x, o, y) - loss(w, z, p, v)));
            truth = truth.max(extent(ratio).0);
        }
    }
    rows.push(("ops, offset in [0, 10], w and x in l2(1), weight 0.05".into(), 1.1, pure(text), truth));
}

fn moments(rows: &mut Vec<Row>) {
    for d in [1, 2, 3] {
        let text = format!(
            "private t[100] {{ x: vector[{d}] in l2(2), y: real in [-3, 3] }}\nparam w: vector[{d}] ~ normal(0, 1)\nobserve y ~ normal(dot(w, x), 1)\nrelease post = posterior(w) using noise_aware(rho = 1)\n"
        );
        let given = &certified(&text).certificate.releases[0].parameters;
        let sigma = |name: &str| given.iter().find(|p| p.0 == name).unwrap().1;
        let (sums, products) = (sigma("sigma"), sigma("sigma_products"));
        // In a plane both rows span: lengths, the angle between them, outcomes at their ends.
        let mut truth: f64 = 0.0;
        for (a, b) in grid(0.0, 2.0, 40).flat_map(|a| grid(0.0, 2.0, 40).map(move |b| (a, b))) {
            let cosines = if d == 1 { vec![-1.0, 1.0] } else { grid(-1.0, 1.0, 80).collect() };
            for q in cosines {
                for (y, v) in [(3.0, 3.0), (3.0, -3.0)] {
                    let inner: f64 = a * b * q;
                    let first = a.powi(4) + b.powi(4) - 2.0 * inner * inner;
                    let first = if d == 1 { (a * a - b * b).powi(2) } else { first };
                    let second = y * y * a * a + v * v * b * b - 2.0 * y * v * inner;
                    truth = truth.max(first / (2.0 * products * products) + second / (2.0 * sums * sums));
                }
            }
        }
        // Before, the same noise was certified at half of the cost for each block at its worst.
        let before = 32.0 / (2.0 * products * products) + 144.0 / (2.0 * sums * sums);
        rows.push((format!("noise_aware linear, {d} features, zCDP of one noise"), before, certified(&text).total().zcdp(), truth));
    }
}

/// Beta alone was solved; what is compared is the predicted error.
fn beta_divergence(text: &mut String) {
    for (times, eps) in [(1, 0.6), (1, 1.3), (1, 2.0), (20, 8.0)] {
        let program = |using: &str| {
            let draw = if times == 1 { "draw(p)".to_owned() } else { format!("draws(p, {times})") };
            format!(
                "budget eps({eps})\nprivate t[10000] {{ y: bool }}\nparam p: real in [0, 1] ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease r = {draw} using {using} assuming convergence\n"
            )
        };
        let of = |using: &str| {
            let all = certified(&program(using));
            let release = &all.certificate.releases[0];
            let at = |name: &str| release.parameters.iter().find(|p| p.0 == name).map_or(1.0, |p| p.1);
            assert!(all.total().pure() <= eps);
            (at("beta"), at("weight"), release.predicted_error)
        };
        let (before, now) = (of("beta_div(weight = 1)"), of("beta_div"));
        assert!(now.2 <= before.2 && now.0 <= 2.443, "{eps}: {before:?} {now:?}");
        let show = |x: (f64, f64, f64)| format!("beta {:.3}, weight {:.3}, predicted error {:.4}", x.0, x.1, x.2);
        writeln!(text, "{times} draws, eps {eps} | {} | {}", show(before), show(now)).unwrap();
    }
}

/// Public designs, before by what their types allow: half of the rows on each axis, in closed form.
fn designs(rows: &mut Vec<Row>) {
    let file = |n: usize| (0..n).fold("x_1,x_2\n".to_owned(), |text, i| format!("{text}{},{}\n", i % 2, (i + 1) % 2));
    for n in [20, 2000] {
        let columns = format!("private t[{n}] {{ x: public vector[2] in l2(1), y: real in [-1, 1] }}\n");
        for (words, domain) in [("linear regression", ""), ("normal rows, weights in l2(5)", " in l2(5)")] {
            let text = format!(
                "{columns}param w: vector[2]{domain} ~ normal(0, 1)\nobserve y ~ normal(dot(w, x), 1)\nrelease d = draw(w) using direct\n"
            );
            let now = certified_on(&text, &file(n)).releases[0].claim.gdp();
            rows.push((
                format!("{words}, {n} rows on two axes: mu"),
                certified(&text).claim().gdp(),
                now,
                2.0 / (1.0 + n as f64 / 2.0).sqrt(),
            ));
        }
    }
}

#[test]
fn no_more_than_is_true() {
    let mut rows = vec![];
    functions(&mut rows);
    groups(&mut rows);
    draws_in_groups(&mut rows);
    curves::draws(&mut rows);
    curves::ten_draws(&mut rows);
    losses_in_groups(&mut rows);
    hellinger_losses(&mut rows);
    offsets(&mut rows);
    moments(&mut rows);
    designs(&mut rows);
    let mut text = String::from(
        "# tests/claims/excess.rs: what is certified, before and now, and what is true, by enumeration.\n# what | before | now | true\n",
    );
    for (what, before, now, truth) in &rows {
        assert!(*now >= truth * (1.0 - 1e-9), "{what}: {now} is less than {truth}");
        assert!(*now <= truth * 1.01 + 1e-9, "{what}: {now}, true {truth}");
        assert!(*before >= now * (1.0 - 1e-9), "{what}: {before} before");
        writeln!(text, "{what} | {before:.4} | {now:.4} | {truth:.4}").unwrap();
    }
    text.push_str("# beta_div: beta alone | beta and weight\n");
    beta_divergence(&mut text);
    text.push_str("# weight of a row at epsilon 1: by conversion | by the curve\n");
    curves::weights(&mut text);
    text.push_str("# dp_sgld at (1, 1e-5): sd of the noise of a mean gradient of this batch | of all rows, the default\n");
    samples(&mut text);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/results/excess.txt");
    if std::env::var_os("UPDATE_RESULTS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), text, "UPDATE_RESULTS=1 writes it");
}
