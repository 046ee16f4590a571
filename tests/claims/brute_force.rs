//! Every conjugate rule of counts, every aggregate and quantiles against all small data sets, by closed forms written for the tests.

use crate::numbers_support::worst::{FORMS, Is, Worst, program, random};
use crate::numbers_support::{certified, claim, dirichlet, histograms};
use dpm::analyze::Unbound;
use dpm::check::{NoFiles, describe};
use dpm::mechanism::plan::MechanismPlan;
use dpm::model::Norms;
use dpm::pipeline;
use dpm::privacy::Claim;
use dpm::source::SourceMap;
use dpm::syntax::{parse, parse_expr};

/// Beta and binomial rows (§1): successes `others + x` of the unit with x, `others + y` of its neighbour.
fn beta_pairs(worst: &mut Worst, [a, b]: [f64; 2], n: u64, k: u64, trials: u64, r: f64) {
    let k = k.min(n);
    for others in 0..=(n - k) * trials {
        for x in 0..=k * trials {
            for y in 0..x {
                let at = |s: u64| [a + r * s as f64, b + r * (n * trials - s) as f64];
                worst.dirichlet(&at(others + x), &at(others + y));
            }
        }
    }
}

#[test]
fn beta_and_binomial_rows() {
    for (a, b) in [(0.5, 3.0), (2.0, 1.0), (2.5, 2.5)] {
        for (k, trials) in [(1, 1), (2, 1), (3, 1), (1, 3), (2, 2)] {
            let column = format!("y: int in 0..{trials}");
            let model = format!("m ~ beta({a}, {b})\nobserve y ~ binomial({trials}, m)");
            for (form, r, m) in FORMS {
                for n in 1..=5 {
                    let text = program(&n.to_string(), k, &column, &model, form);
                    let mut worst = Worst::default();
                    beta_pairs(&mut worst, [a / m, b / m], n, k, trials, r);
                    worst.judge(&claim(&text), if n < k { Is::Above } else { Is::Attained }, &text);
                }
                // A lower bound on n: the fewest rows are the dearest.
                let least = k.max(2);
                let text = program(&format!("n >= {least}"), k, &column, &model, form);
                let mut worst = Worst::default();
                (least..=5).for_each(|n| beta_pairs(&mut worst, [a / m, b / m], n, k, trials, r));
                worst.judge(&claim(&text), Is::Attained, &text);
                // Rows that come and go: k more rows of any successes; the limit of many rows is the dearest.
                let text = program("private n", k, &column, &model, form);
                let mut worst = Worst::default();
                for n in [0, 1, 2, 3, 4, 3000] {
                    let some: Vec<u64> = if n < 5 { (0..=n * trials).collect() } else { vec![0, n / 2, n * trials] };
                    for s in some {
                        for rows in 1..=k {
                            for x in 0..=rows * trials {
                                let at = |s: u64, n: u64| [a / m + r * s as f64, b / m + r * (n * trials - s) as f64];
                                worst.dirichlet(&at(s, n), &at(s + x, n + rows));
                            }
                        }
                    }
                }
                worst.judge(&claim(&text), Is::Near(1.05), &text);
            }
        }
    }
}

/// Several columns of one table add their trials.
#[test]
fn two_columns_of_one_rate() {
    for (form, r, m) in FORMS {
        let (a, b, n, k) = (1.5, 4.0, 3, 2);
        let model = format!("m ~ beta({a}, {b})\nobserve y ~ bernoulli(m)\nobserve z ~ binomial(2, m)");
        let text = program(&n.to_string(), k, "y: bool, z: int in 0..2", &model, form);
        let mut worst = Worst::default();
        beta_pairs(&mut worst, [a / m, b / m], n, k, 3, r);
        worst.judge(&claim(&text), Is::Attained, &text);
    }
}

#[test]
fn queries_of_real_rows() {
    let mut state = 1;
    for (a, b, r) in [(2.0, 3.0, 1.0), (0.5, 1.5, 0.6)] {
        for n in 1..=3 {
            let text = format!("private t[{n}] {{ x: real in [0, 1] }}\nrelease q = mean(x) using beta_query({a}, {b}, r = {r})\n");
            let mut worst = Worst::default();
            let mut value = || if random(&mut state) < 0.5 { random(&mut state).round() } else { random(&mut state) };
            for _ in 0..400 {
                let others: f64 = (1..n).map(|_| value()).sum();
                let at = |x: f64| [a + r * (others + x), b + r * (f64::from(n) - others - x)];
                worst.dirichlet(&at(value()), &at(value()));
            }
            for corner in [0.0, f64::from(n) - 1.0] {
                worst.dirichlet(
                    &[a + r * corner, b + r * (f64::from(n) - corner)],
                    &[a + r * (corner + 1.0), b + r * (f64::from(n) - corner - 1.0)],
                );
            }
            worst.judge(&claim(&text), Is::Attained, &text);
        }
    }
}

/// All components of a vector move together, and their draws are independent: divergences add.
#[test]
fn queries_of_vectors() {
    let mut state = 4;
    for (a, b, r, n) in [(2.0, 3.0, 1.0, 1u32), (0.5, 1.5, 0.6, 2), (3.0, 1.0, 0.8, 3)] {
        let text = format!("private t[{n}] {{ x: vector[3] in [0, 1] }}\nrelease q = mean(x) using beta_query({a}, {b}, r = {r})\n");
        let mut worst = Worst::default();
        let mut value = || if random(&mut state) < 0.7 { random(&mut state).round() } else { random(&mut state) };
        let mut pair = |others: [f64; 3], x: [f64; 3], y: [f64; 3]| {
            let at = |i: usize, x: f64| [a + r * (others[i] + x), b + r * (f64::from(n) - others[i] - x)];
            let one = |l: f64, x: [f64; 3], y: [f64; 3]| (0..3).map(|i| dirichlet(l, &at(i, x[i]), &at(i, y[i]))).sum::<f64>();
            worst.see(|l| one(l, x, y).max(one(l, y, x)));
        };
        for _ in 0..400 {
            let others = [0; 3].map(|_| (1..n).map(|_| value()).sum::<f64>());
            pair(others, [0; 3].map(|_| value()), [0; 3].map(|_| value()));
        }
        for corner in [0.0, f64::from(n) - 1.0] {
            pair([corner; 3], [0.0; 3], [1.0; 3]);
        }
        worst.judge(&claim(&text), Is::Attained, &text);
    }
}

/// Units with `moved` items each among `all` items on the categories of `alpha`.
fn dirichlet_pairs(worst: &mut Worst, alpha: &[f64], all: u64, moved: u64, r: f64) {
    let d = alpha.len();
    let units = histograms(moved, d);
    for others in histograms(all - moved, d) {
        let at = |x: &[u64]| (0..d).map(|i| alpha[i] + r * (others[i] + x[i]) as f64).collect::<Vec<_>>();
        for (i, x) in units.iter().enumerate() {
            units[..i].iter().for_each(|y| worst.dirichlet(&at(x), &at(y)));
        }
    }
}

/// The same when up to `moved` items come or go, in whole rows.
fn dirichlet_added(worst: &mut Worst, alpha: &[f64], rows: &[u64], items: u64, k: u64, r: f64) {
    let d = alpha.len();
    for n in rows {
        let all = if *n < 9 {
            histograms(n * items, d)
        } else {
            histograms(1, d).iter().map(|h| h.iter().map(|x| x * n * items).collect()).collect()
        };
        for others in all {
            let at = |x: &[u64]| (0..d).map(|i| alpha[i] + r * (others[i] + x[i]) as f64).collect::<Vec<_>>();
            for more in 1..=k {
                histograms(more * items, d).iter().for_each(|x| worst.dirichlet(&at(&vec![0; d]), &at(x)));
            }
        }
    }
}

#[test]
fn categorical_and_multinomial_rows() {
    let priors: [&[f64]; 4] = [&[0.5, 1.0, 2.0], &[3.0, 0.3, 0.3], &[2.5, 2.5], &[0.1, 0.1, 0.1, 0.1]];
    for alpha in priors {
        let d = alpha.len();
        for (form, r, m) in FORMS {
            let prior: Vec<f64> = alpha.iter().map(|a| a / m).collect();
            for (items, k, most) in [(1u64, 1u64, 4u64), (1, 2, 3), (1, 3, 4), (2, 1, 3), (3, 1, 2), (2, 2, 2)] {
                let levels: Vec<String> = (0..d).map(|i| format!("c{i}")).collect();
                let (column, rows) = match items {
                    1 => (format!("y: category {{{}}}", levels.join(", ")), "categorical(m)".to_string()),
                    _ => (format!("y: counts[{d}] of {items}"), format!("multinomial({items}, m)")),
                };
                let model = format!("m ~ dirichlet({alpha:?})\nobserve y ~ {rows}");
                for n in 1..=most {
                    let text = program(&n.to_string(), k, &column, &model, form);
                    let mut worst = Worst::default();
                    dirichlet_pairs(&mut worst, &prior, n * items, k.min(n) * items, r);
                    worst.judge(&claim(&text), if n < k { Is::Above } else { Is::Attained }, &text);
                }
                // A lower bound on n: more rows never cost more.
                let text = program(&format!("n >= {k}"), k, &column, &model, form);
                let mut worst = Worst::default();
                (k..=most).for_each(|n| dirichlet_pairs(&mut worst, &prior, n * items, k * items, r));
                worst.judge(&claim(&text), Is::Attained, &text);
                let text = program("private n", k, &column, &model, form);
                let mut worst = Worst::default();
                dirichlet_added(&mut worst, &prior, &[0, 1, 2, 3000], items, k, r);
                worst.judge(&claim(&text), Is::Near(1.05), &text);
            }
        }
    }
}

/// Rows of at most N items (§2.4), of any number each, in both orders; the other rows need not hold any.
#[test]
fn rows_of_fewer_items() {
    let priors: [&[f64]; 4] = [&[0.5, 1.0, 2.0], &[3.0, 0.3, 0.3], &[2.5, 2.0], &[0.1, 0.1, 0.1, 0.1]];
    for alpha in priors {
        let d = alpha.len();
        for (form, r, m) in FORMS {
            for (items, k, n) in [(1u64, 1u64, 2u64), (2, 1, 2), (3, 1, 1), (2, 2, 2)] {
                let upto = |most: u64| (0..=most).flat_map(|all| histograms(all, d)).collect::<Vec<_>>();
                let (units, rest) = (upto(items * k), upto(items * (n - k.min(n))));
                let mut worst = Worst::default();
                for others in &rest {
                    let at = |x: &[u64]| (0..d).map(|i| alpha[i] / m + r * (others[i] + x[i]) as f64).collect::<Vec<_>>();
                    for (i, x) in units.iter().enumerate() {
                        units[..i].iter().for_each(|y| worst.dirichlet(&at(x), &at(y)));
                    }
                }
                let column = format!("y: counts[{d}] of at_most({items})");
                let model = format!("m ~ dirichlet({alpha:?})\nobserve y ~ multinomial({items}, m)");
                let text = program(&n.to_string(), k, &column, &model, form);
                worst.judge(&claim(&text), Is::Attained, &text);
                // More rows change nothing, and neither does a lower bound on their number.
                for rows in ["n >= 2".to_string(), (n + 40).to_string()] {
                    let more = program(&rows, k, &column, &model, form);
                    assert_eq!(claim(&more), claim(&text), "{more}");
                }
                let text = program("private n", k, &column, &model, form);
                let mut worst = Worst::default();
                for n in [0, 1, 3000] {
                    for others in
                        if n < 9 { upto(n * items) } else { histograms(1, d).iter().map(|h| h.iter().map(|x| x * n).collect()).collect() }
                    {
                        let at = |x: &[u64]| (0..d).map(|i| alpha[i] / m + r * (others[i] + x[i]) as f64).collect::<Vec<_>>();
                        units.iter().for_each(|x| worst.dirichlet(&at(&vec![0; d]), &at(x)));
                    }
                }
                worst.judge(&claim(&text), Is::Near(1.05), &text);
            }
        }
    }
}

#[test]
fn poisson_rows() {
    for (a, b, lo, hi, k) in [(2.0, 1.0, 0u64, 3u64, 1u64), (0.5, 4.0, 1, 3, 1), (6.0, 0.5, 0, 2, 2)] {
        let model = format!("m ~ gamma({a}, {b})\nobserve y ~ poisson(m)");
        let column = format!("y: int in {lo}..{hi}");
        for (form, r, m) in FORMS {
            let at = |s: u64, n: u64| [a / m + r * s as f64, b / m + r * n as f64];
            for n in 1..=4 {
                let (mut worst, k_) = (Worst::default(), k.min(n));
                for others in (n - k_) * lo..=(n - k_) * hi {
                    for x in k_ * lo..=k_ * hi {
                        (k_ * lo..x).for_each(|y| worst.gamma(at(others + x, n), at(others + y, n)));
                    }
                }
                let text = program(&n.to_string(), k, &column, &model, form);
                worst.judge(&claim(&text), if n < k { Is::Above } else { Is::Attained }, &text);
            }
            let mut worst = Worst::default();
            for n in 0..=6 {
                for s in n * lo..=n * hi {
                    for rows in 1..=k {
                        (rows * lo..=rows * hi).for_each(|x| worst.gamma(at(s, n), at(s + x, n + rows)));
                    }
                }
            }
            let text = program("private n", k, &column, &model, form);
            worst.judge(&claim(&text), Is::Above, &text);
        }
    }
}

#[test]
fn geometric_and_negative_binomial_rows() {
    for (a, b, lo, hi, k, successes) in [(2.0, 3.0, 0u64, 3u64, 1u64, 1u64), (1.0, 2.0, 1, 3, 2, 3), (0.5, 0.5, 0, 2, 1, 2)] {
        let rows = if successes == 1 { "geometric(m)".into() } else { format!("neg_binomial({successes}, m)") };
        let model = format!("m ~ beta({a}, {b})\nobserve y ~ {rows}");
        let column = format!("y: int in {lo}..{hi}");
        for (form, r, m) in FORMS {
            let at = |s: u64, n: u64| [a / m + r * (n * successes) as f64, b / m + r * s as f64];
            let pairs = |worst: &mut Worst, n: u64| {
                let k = k.min(n);
                for others in (n - k) * lo..=(n - k) * hi {
                    for x in k * lo..=k * hi {
                        (k * lo..x).for_each(|y| worst.dirichlet(&at(others + x, n), &at(others + y, n)));
                    }
                }
            };
            for n in 1..=4 {
                let text = program(&n.to_string(), k, &column, &model, form);
                let mut worst = Worst::default();
                pairs(&mut worst, n);
                worst.judge(&claim(&text), if n < k { Is::Above } else { Is::Attained }, &text);
            }
            let text = program("n", k, &column, &model, form);
            let mut worst = Worst::default();
            (1..=12).for_each(|n| pairs(&mut worst, n));
            worst.judge(&claim(&text), Is::Above, &text);
            let text = program("private n", k, &column, &model, form);
            let mut worst = Worst::default();
            for n in [0, 1, 2, 5, 800] {
                let some: Vec<u64> = if n < 9 { (n * lo..=n * hi).collect() } else { vec![n * lo, n * (lo + hi) / 2, n * hi] };
                for s in some {
                    for rows in 1..=k {
                        (rows * lo..=rows * hi).for_each(|x| worst.dirichlet(&at(s, n), &at(s + x, n + rows)));
                    }
                }
            }
            worst.judge(&claim(&text), Is::Above, &text);
        }
    }
}

/// Rows of `a: int in 0..2, b: int in 0..3`.
type Row = (i32, i32);

/// An aggregate as it is written, what it is, and how much of the claim its worst neighbours reach.
type Aggregate = (&'static str, fn(&[Row]) -> Vec<i32>, f64);

fn sums(rows: &[Row]) -> Row {
    rows.iter().fold((0, 0), |s, r| (s.0 + r.0, s.1 + r.1))
}

const AGGREGATES: &[Aggregate] = &[
    ("sum(a)", |t| vec![sums(t).0], 1.0),
    ("sum(a - 2 * b)", |t| vec![sums(t).0 - 2 * sums(t).1], 1.0),
    ("sum(a) - 2 * sum(b)", |t| vec![sums(t).0 - 2 * sums(t).1], 1.0),
    ("max(sum(a), sum(b))", |t| vec![sums(t).0.max(sums(t).1)], 0.6),
    ("min(sum(b), 3 * sum(a))", |t| vec![sums(t).1.min(3 * sums(t).0)], 0.6),
    ("abs(sum(a) - 3)", |t| vec![(sums(t).0 - 3).abs()], 1.0),
    ("clip(sum(b), 2, 7)", |t| vec![sums(t).1.clamp(2, 7)], 1.0),
    ("[sum(a), 2 * sum(b)]", |t| vec![sums(t).0, 2 * sums(t).1], 1.0),
    ("dot([2, -1], [sum(a), sum(b)])", |t| vec![2 * sums(t).0 - sums(t).1], 0.8),
    ("dot([2, -2], sum([a, b]))", |t| vec![2 * sums(t).0 - 2 * sums(t).1], 0.8),
    ("sum([sum(a), sum(b)])", |t| vec![sums(t).0 + sums(t).1], 1.0),
    ("count(a > 0)", |t| vec![t.iter().filter(|r| r.0 > 0).count() as i32], 1.0),
    ("max(b)", |t| vec![t.iter().map(|r| r.1).max().unwrap()], 1.0),
    ("max(histogram(g))", |t| vec![(0..3).map(|g| t.iter().filter(|r| r.0 == g).count() as i32).max().unwrap()], 1.0),
    ("max(sum(a), sum([b, b, b]))", |t| vec![sums(t).0.max(sums(t).1); 3], 0.6),
    ("histogram(g) - sum(a)", |t| (0..3).map(|g| t.iter().map(|r| i32::from(r.0 == g) - r.0).sum()).collect(), 0.5),
    ("histogram(g)", |t| (0..3).map(|g| t.iter().filter(|r| r.0 == g).count() as i32).collect(), 1.0),
];

/// L1, L2 and the largest component.
fn norms(v: &[f64]) -> [f64; 3] {
    [v.iter().map(|x| x.abs()).sum(), v.iter().map(|x| x * x).sum::<f64>().sqrt(), v.iter().fold(0.0, |m, x| m.max(x.abs()))]
}

/// Every data set of three rows and every row replaced: an aggregate moves as far as the checker says, and no further; the noise
/// of those that may be released is charged for that.
#[test]
fn aggregates_move_as_far_as_said() {
    let values: Vec<Row> = (0..12).map(|i| (i % 3, i / 3)).collect();
    let mut sets = vec![];
    for i in 0..12 {
        for j in i..12 {
            sets.extend((j..12).map(|k| [values[i], values[j], values[k]]));
        }
    }
    let table = "private t[3] { a: int in 0..2, b: int in 0..3, g: category {u, v, w} }\n";
    let mut released = 0;
    for (text, value, tight) in AGGREGATES {
        let mut moved = [0.0_f64; 3];
        for set in &sets {
            let here = value(set);
            for (at, row) in (0..3).flat_map(|at| values.iter().map(move |row| (at, *row))) {
                let mut other = *set;
                other[at] = row;
                let step: Vec<f64> = value(&other).iter().zip(&here).map(|(x, y)| f64::from(x - y)).collect();
                moved = std::array::from_fn(|i| moved[i].max(norms(&step)[i]));
            }
        }
        let holds = |said: f64, i: usize| moved[i] <= said && moved[i] >= tight * said * (1.0 - 1e-9);
        let said = sensitivity(table, text);
        assert!(holds(said.l1, 0) && holds(said.l2, 1) && holds(said.linf, 2), "{text}: {moved:?} of {said:?}");
        for (noise, i) in [("laplace(scale = 1)", 0), ("gaussian(sigma = 1)", 1)] {
            let Some(found) = certificate(&format!("{table}release r = {text} using {noise}\n")) else { continue };
            released += 1;
            let claim = if let Claim::Gdp { mu } = found { mu } else { found.pure() };
            assert!(holds(claim, i), "{text} {noise}: {moved:?} of {claim}");
        }
    }
    assert_eq!(released, 18, "claims that were looked at");
}

/// What the checker says of an expression behind a table.
fn sensitivity(table: &str, text: &str) -> Norms {
    let mut sources = SourceMap::default();
    let main = sources.add("t.dpm", table);
    let aside = sources.add("e.dpm", text);
    let (ast, e) = (parse(main, table).0, parse_expr(aside, text).unwrap());
    describe(&mut sources, main, &ast, &e, &NoFiles).unwrap_or_else(|_| panic!("{text}")).sensitivity.unwrap()
}

/// The claim of a program with one release, if it certifies.
fn certificate(text: &str) -> Option<Claim> {
    let checked = pipeline::check("t.dpm", text, &NoFiles);
    let (analysis, said) = pipeline::analyze(&checked, &Unbound::default(), false);
    let found = pipeline::certify(&checked, &analysis?, &[], &[])?;
    (!said.iter().any(|d| d.is_error())).then(|| found.releases[0].claim.clone())
}

/// Quantiles of up to four rows on a grid of four points, chosen with weights `exp(eps u(t) / (2 D))`, -u(t) how far q n is from the
/// numbers between `#{x < t}` and `#{x <= t}`, and the D of the plan: how far the log ratios of neighbours lie apart.
#[test]
fn quantiles_keep_their_bounded_range() {
    fn sets(size: usize) -> Vec<Vec<i32>> {
        if size == 0 {
            return vec![vec![]];
        }
        sets(size - 1).iter().flat_map(|s| (0..4).map(|x| [&s[..], &[x]].concat())).collect()
    }
    let law = |rows: &[i32], q: f64, strength: f64| -> Vec<f64> {
        let [less, most] =
            [|x: i32, t: i32| x < t, |x: i32, t: i32| x <= t].map(|in_| move |t: i32| rows.iter().filter(|x| in_(**x, t)).count() as f64);
        let rank = q * rows.len() as f64;
        let score = |t: i32| -(less(t) - rank).max(rank - most(t)).max(0.0);
        let weights: Vec<f64> = (0..4).map(|t| (strength * score(t)).exp()).collect();
        let all: f64 = weights.iter().sum();
        weights.iter().map(|w| w / all).collect()
    };
    for q in [0.0, 0.1, 0.25, 0.5, 0.9, 1.0] {
        for (header, least, most, added) in [("[4]", 4, 4, false), ("[private n]", 0, 4, true), ("[private n] by id max 2", 0, 4, true)] {
            let text = format!(
                "private t{header} {{ id: text, x: int in 0..3 }}\nrelease r = quantile(x, {q}) using exponential(0, 3, eps = 1)\n"
            );
            let found = certified(&text);
            let plan = found.analysis.releases[0].chosen.as_ref().unwrap().plan.clone();
            let Some(MechanismPlan::Quantile { epsilon, levels, .. }) = plan else { panic!("{plan:?}") };
            let Claim::BoundedRange { eta } = found.claim() else { panic!("{:?}", found.claim()) };
            let strength = epsilon / (2.0 * levels[0].sensitivity);
            let units = if header.contains("max 2") { 2 } else { 1 };
            let mut worst: f64 = 0.0;
            for rows in (least..=most).flat_map(sets) {
                let p = law(&rows, q, strength);
                let others: Vec<Vec<i32>> = if added {
                    (1..=units).flat_map(sets).map(|more| [&rows[..], &more].concat()).collect()
                } else {
                    (0..rows.len())
                        .flat_map(|i| (0..4).map(move |x| (i, x)))
                        .map(|(i, x)| {
                            let mut other = rows.clone();
                            other[i] = x;
                            other
                        })
                        .collect()
                };
                for other in others {
                    let ratios: Vec<f64> = law(&other, q, strength).iter().zip(&p).map(|(a, b)| (a / b).ln()).collect();
                    let (low, high) = ratios.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), r| (r.min(l), r.max(h)));
                    worst = worst.max(high - low);
                }
            }
            assert!(worst <= eta * (1.0 + 1e-12) && worst > 0.49 * eta, "{header} {q}: {worst} of {eta}");
        }
    }
}
