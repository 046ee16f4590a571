//! Public designs: eigenvalue bounds against exact arithmetic, exact posteriors of neighbours against what is certified, and what takes
//! a design's curvature away.
//!
//! A road of its own: densities summed on a grid from likelihoods as the manual defines them, matrices in fractions.

use crate::numbers_support::{certified_on as certified, claim};
use dashu_ratio::RBig;
use dpm::check::NoFiles;
use dpm::compiled::Given;
use dpm::pipeline;
use dpm::rules::Design;
use dpm::verify::{Against, Verifier, digest};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::Value;

struct Random(ChaCha20Rng);

impl Random {
    fn between(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.0.next_u64() % of.len() as u64) as usize]
    }
}

/// Is a symmetric matrix positive definite? Every pivot of its elimination in fractions is.
fn definite(matrix: &[Vec<RBig>]) -> bool {
    let mut left = matrix.to_vec();
    while let Some((head, rows)) = left.clone().split_first() {
        if head[0] <= RBig::ZERO {
            return false;
        }
        let without = |row: &Vec<RBig>| (1..row.len()).map(|j| &row[j] - &row[0] * &head[j] / &head[0]).collect();
        left = rows.iter().map(without).collect();
    }
    true
}

fn exact(x: f64) -> RBig {
    RBig::try_from(x).unwrap()
}

fn shifted(matrix: &[Vec<RBig>], by: f64) -> Vec<Vec<RBig>> {
    let mut matrix = matrix.to_vec();
    (0..matrix.len()).for_each(|i| matrix[i][i] -= exact(by));
    matrix
}

/// Towards zero, in 32 bits.
fn stored(x: f64) -> f64 {
    let y = x as f32;
    f64::from(if f64::from(y).abs() > x.abs() { f32::from_bits(y.to_bits() - 1) } else { y })
}

/// `X'X` in fractions.
fn squared(rows: &[Vec<f64>], d: usize) -> Vec<Vec<RBig>> {
    let entry = |i: usize, j: usize| rows.iter().fold(RBig::ZERO, |sum, x| sum + exact(x[i]) * exact(x[j]));
    (0..d).map(|i| (0..d).map(|j| entry(i, j)).collect()).collect()
}

/// Random designs, some of them nearly of less than full rank: the bound is below the least eigenvalue in fractions, also of the rows as
/// a chain stores them, and near it where that is far from 0.
#[test]
fn eigenvalues_are_below_those_in_fractions() {
    let mut random = Random(ChaCha20Rng::seed_from_u64(1));
    let (mut near, mut nothing) = (0, 0);
    for case in 0..160 {
        let (d, n) = (random.pick(&[1, 2, 3, 5]), random.pick(&[3, 8, 30]));
        // A column is another one and so much of its own.
        let own = if case % 2 == 0 { 1.0 } else { 10f64.powf(random.between(-9.0, -1.0)) };
        let row = |random: &mut Random| {
            let mut x: Vec<f64> = (0..d).map(|_| random.between(-1.0, 1.0)).collect();
            if d > 1 {
                x[d - 1] = x[0] * (1.0 - own) + x[d - 1] * own;
            }
            x
        };
        let rows: Vec<Vec<f64>> = (0..n).map(|_| row(&mut random)).collect();
        let product = |i: usize, j: usize| rows.iter().fold(0.0, |sum, x| sum + x[i] * x[j]);
        let products: Vec<f64> = (0..d).flat_map(|i| (i..d).map(move |j| (i, j))).map(|(i, j)| product(i, j)).collect();
        let design = Design::new(n as u64, products).unwrap();
        let norm = rows.iter().map(|x| x.iter().map(|v| v * v).sum::<f64>()).fold(0.0, f64::max).sqrt() * (1.0 + 1e-12);
        let sums: Vec<Vec<RBig>> = (0..d).map(|i| (0..d).map(|j| exact(product(i.min(j), i.max(j)))).collect()).collect();
        assert!(design.least == 0.0 || definite(&shifted(&sums, design.least)), "{case}: {design:?}");
        let kept = design.stored_least(norm);
        // Half of the rows a little shorter, as a row at the norm may be.
        let shorter = |(i, x): (usize, &Vec<f64>)| x.iter().map(|v| stored(stored(*v) * (1.0 - (i % 2) as f64 * 4e-7))).collect();
        let stored: Vec<Vec<f64>> = rows.iter().enumerate().map(shorter).collect();
        assert!(kept == 0.0 || definite(&shifted(&squared(&stored, d), kept)), "{case}: {kept} {design:?}");
        assert!(kept <= design.least);
        nothing += usize::from(kept == 0.0);
        if own == 1.0 && design.least > 1e-2 {
            assert!(!definite(&shifted(&sums, design.least * (1.0 + 1e-9))), "{case}: far below: {design:?}");
            assert!(kept > design.least * (1.0 - 1e-3), "{case}: {kept} {design:?}");
            near += 1;
        }
    }
    assert!(near > 40 && nothing > 10, "{near} {nothing}");
}

fn mu(text: &str, design: &str) -> f64 {
    certified(text, design).releases[0].claim.gdp()
}

fn phi(t: f64) -> f64 {
    0.5 * libm::erfc(-t / std::f64::consts::SQRT_2)
}

/// -log likelihood of one row.
fn loss(link: &str, t: f64, y: f64) -> f64 {
    match link {
        "bernoulli_logit" => (-t.abs()).exp().ln_1p() + t.max(0.0) - y * t,
        "bernoulli_probit" => -phi(if y > 0.5 { t } else { -t }).ln(),
        "bernoulli_cloglog" if y > 0.5 => -(-(-t.exp()).exp_m1()).ln(),
        "bernoulli_cloglog" => t.exp(),
        "poisson_log" => t.exp() - y * t,
        "normal" => (y - t).powi(2) / (2.0 * 0.7 * 0.7),
        other => panic!("{other}"),
    }
}

const LINKS: [(&str, &str, f64, f64); 5] = [
    ("bernoulli_logit", "bool", 0.0, 1.0),
    ("bernoulli_probit", "bool", 0.0, 1.0),
    ("bernoulli_cloglog", "bool", 0.0, 1.0),
    ("poisson_log", "int in 0..3", 0.0, 3.0),
    ("normal", "real in [-1, 1]", -1.0, 1.0),
];

/// An intercept and a slope cut to a box, priors of two sds, and a design of one column.
fn program(link: &str, outcome: &str, n: usize, (half, sds, r): (f64, [f64; 2], f64), public: &str) -> String {
    let args = if link == "normal" { "a + b * x, 0.7" } else { "a + b * x" };
    format!(
        "private t[{n}] {{ x: {public} real in [-1, 1], y: {outcome} }}\nparam a: real in [-{half}, {half}] ~ normal(0, {})\n\
         param b: real in [-{half}, {half}] ~ normal(0, {})\nobserve y ~ {link}({args})\nrelease v = draw(a, b) using diffuse(r = {r})\n",
        sds[0], sds[1]
    )
}

fn file(column: &[f64]) -> String {
    column.iter().fold("x\n".to_owned(), |text, x| format!("{text}{x}\n"))
}

const SIDE: usize = 110;

/// Masses of the posterior of (a, b) on a grid; rows are features, outcomes and how many there are.
fn masses(link: &str, rows: &[(f64, f64, f64)], (half, sds, r): (f64, [f64; 2], f64)) -> Vec<f64> {
    let at = |i: usize| half * (2.0 * (i as f64 + 0.5) / SIDE as f64 - 1.0);
    let potential = |i: usize| {
        let (a, b) = (at(i / SIDE), at(i % SIDE));
        let prior = (a / sds[0]).powi(2) / 2.0 + (b / sds[1]).powi(2) / 2.0;
        prior + r * rows.iter().map(|(x, y, n)| n * loss(link, a + b * x, *y)).sum::<f64>()
    };
    let all: Vec<f64> = (0..SIDE * SIDE).map(potential).collect();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let total: f64 = all.iter().map(|u| (least - u).exp()).sum();
    all.iter().map(|u| (least - u).exp() / total).collect()
}

fn hockey_stick(p: &[f64], q: &[f64], e: f64) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - e.exp() * q).max(0.0)).sum()
}

/// Exact posteriors of two weights whose neighbours differ in one outcome, for every link: none is further apart than the actual X'X
/// allows, and the design is what makes the difference.
#[test]
fn posteriors_of_two_weights_keep_the_curvature_of_their_design() {
    for (seed, (link, outcome, lo, hi)) in (20..).zip(LINKS) {
        let mut random = Random(ChaCha20Rng::seed_from_u64(seed));
        let (mut closest, mut gained): (f64, f64) = (0.0, 1.0);
        for _ in 0..14 {
            let spots = [-1.0, random.between(-1.0, 1.0), 1.0];
            let counts: Vec<usize> = (0..3).map(|_| 10f64.powf(random.between(0.0, 2.2)) as usize).collect();
            let column: Vec<f64> = spots.iter().zip(&counts).flat_map(|(x, n)| vec![*x; *n]).collect();
            let numbers = (random.between(0.4, 1.5), [random.between(0.4, 3.0), random.between(0.4, 3.0)], random.between(0.3, 1.0));
            let text = program(link, outcome, column.len(), numbers, "public");
            let claim = certified(&text, &file(&column)).releases[0].claim.clone();
            gained = gained.min(claim.gdp() / crate::numbers_support::claim(&text).gdp());
            let share = random.pick(&[0.0, 0.3, 1.0]);
            let moved = random.pick(&[0, 2]);
            // All rows but one, at both ends of the outcome.
            let rows = |y: f64| {
                let others = spots.iter().zip(&counts).enumerate().map(|(i, (x, n))| (*x, (*n - usize::from(i == moved)) as f64));
                let ends = others.flat_map(|(x, n)| [(x, hi, (n * share).round()), (x, lo, n - (n * share).round())]);
                ends.chain([(spots[moved], y, 1.0)]).collect::<Vec<_>>()
            };
            let [p, q] = [lo, hi].map(|y| masses(link, &rows(y), numbers));
            for i in 0..=10 {
                let e = f64::from(i) * 0.4 * claim.gdp();
                let (found, allowed) = (hockey_stick(&p, &q, e).max(hockey_stick(&q, &p, e)), claim.delta(e));
                assert!(found <= allowed + 1e-7, "{link}: {found} > {allowed} at {e}\n{text}{spots:?} {counts:?}");
                if allowed > 1e-4 {
                    closest = closest.max(found / allowed);
                }
            }
        }
        let reached = if link == "normal" { 0.7 } else { 0.1 };
        assert!(closest > reached && gained < 0.7, "{link}: {closest} {gained}");
    }
}

/// The constant of canonical links would be too small for probit: exact posteriors of one slope with a known design.
#[test]
fn a_canonical_constant_would_break_the_bound() {
    let (half, n) = (3.0, 20);
    let text = format!(
        "private t[{n}] {{ x: public real in [-1, 1], y: bool }}\nparam b: real in [-{half}, {half}] ~ normal(0, 1)\n\
         observe y ~ bernoulli_probit(b * x)\nrelease v = draw(b) using direct\n"
    );
    let column: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let claim = certified(&text, &file(&column)).releases[0].claim.clone();
    let cells = 20_000;
    let at = |i: usize| half * (2.0 * (i as f64 + 0.5) / f64::from(cells) - 1.0);
    // Every outcome says the same of b but the last, which is replaced; they may all say yes, or no.
    let law = |others: f64, last: f64| {
        let all = (0..cells as usize).map(|i| {
            let b = at(i);
            (-b * b / 2.0 - f64::from(n - 1) * loss("bernoulli_probit", b, others) - loss("bernoulli_probit", b, last)).exp()
        });
        let all: Vec<f64> = all.collect();
        let total: f64 = all.iter().sum();
        all.iter().map(|x| x / total).collect::<Vec<f64>>()
    };
    let [p, q] = [0.0, 1.0].map(|last| law(0.0, last));
    let found = hockey_stick(&p, &q, 0.0).max(hockey_stick(&q, &p, 0.0));
    let h = |t: f64| (-t * t / 2.0).exp() / (std::f64::consts::TAU.sqrt() * phi(-t));
    let m = 1.0 + f64::from(n) * h(-half) * (h(-half) + half);
    let canonical = 2.0 * phi(0.5 / m.sqrt()) - 1.0;
    assert!(found > 1.02 * canonical && found <= claim.delta(0.0), "{found} {canonical} {}", claim.delta(0.0));
}

/// Linear regression in closed form: the mean shift of every row over the spread of the posterior.
#[test]
fn linear_designs_attain_their_bound() {
    let text = |n: usize, r: f64, prior: &str| {
        format!(
            "private t[{n}] {{ x: public vector[2] in l2(1), y: real in [-1, 2] }}\nparam w: vector[2] ~ {prior}\n\
             observe y ~ normal(dot(w, x), 0.8)\nrelease v = draw(w) using diffuse(r = {r})\n"
        )
    };
    let mut random = Random(ChaCha20Rng::seed_from_u64(3));
    let mut closest: f64 = 0.0;
    for case in 0..40 {
        let (n, r) = (random.pick(&[4, 20, 200]), random.between(0.2, 1.0));
        // Every fourth design has its rows on both axes: the bound is reached.
        let angle = |random: &mut Random, i: usize| match case % 4 {
            0 => std::f64::consts::FRAC_PI_2 * i as f64,
            _ => random.between(0.0, 1.0 + case as f64 / 10.0),
        };
        let rows: Vec<[f64; 2]> = (0..n).map(|i| angle(&mut random, i)).map(|a| [a.cos(), a.sin()]).collect();
        let design = rows.iter().fold("x_1,x_2\n".to_owned(), |text, x| format!("{text}{},{}\n", x[0], x[1]));
        for (prior, sd) in [("normal(0, 1.3)", 1.3_f64), ("multi_normal([0, 0], [[1.69, 0], [0, 1.69]])", 1.3)] {
            let certified = mu(&text(n, r, prior), &design);
            let mut l = [1.0 / (sd * sd), 0.0, 1.0 / (sd * sd)];
            for x in &rows {
                let s = r / 0.64;
                l = [l[0] + s * x[0] * x[0], l[1] + s * x[0] * x[1], l[2] + s * x[1] * x[1]];
            }
            let det = l[0] * l[2] - l[1] * l[1];
            let leverage = |x: &[f64; 2]| (l[2] * x[0] * x[0] - 2.0 * l[1] * x[0] * x[1] + l[0] * x[1] * x[1]) / det;
            let truth = 3.0 * r / 0.64 * rows.iter().map(leverage).fold(0.0, f64::max).sqrt();
            assert!(certified >= truth * (1.0 - 1e-12), "{case}: {certified} {truth}");
            closest = closest.max(truth / certified);
        }
    }
    assert!(closest > 0.99999, "{closest}");
}

/// More rows never cost more, and a hundred times as many cost a tenth in the end; only what storing a row may lose is paid for.
#[test]
fn more_rows_of_a_design_never_cost_more() {
    let mut random = Random(ChaCha20Rng::seed_from_u64(4));
    for (link, outcome, ..) in LINKS {
        let numbers = (0.8, [1.0, 2.0], 0.7);
        let all: Vec<f64> = (0..3000).map(|_| random.between(-1.0, 1.0)).collect();
        let cost = |n: usize| mu(&program(link, outcome, n, numbers, "public"), &file(&all[..n]));
        let costs: Vec<f64> = [1, 2, 3, 10, 11, 30, 300, 3000].map(cost).to_vec();
        assert!(costs.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-6)), "{link}: {costs:?}");
        assert!(costs[7] < 0.12 * costs[0] || link.starts_with("bernoulli"), "{link}: {costs:?}");
        assert!(costs[7] < 0.37 * costs[6], "{link}: {costs:?}");
    }
}

/// What leaves the prior alone: a rank that is not full, a private feature, units of several rows, groups, rows that come and go.
#[test]
fn where_a_design_says_nothing() {
    let numbers = (1.0, [1.0, 1.0], 0.5);
    let (public, private) =
        (program("normal", "real in [-1, 1]", 200, numbers, "public"), program("normal", "real in [-1, 1]", 200, numbers, ""));
    let spread: Vec<f64> = (0..200).map(|i| f64::from(i) / 100.0 - 1.0).collect();
    let alone = claim(&public).gdp();
    assert!(mu(&public, &file(&spread)) < 0.5 * alone);
    // All rows alike: a and b cannot be told apart.
    assert_eq!(mu(&public, &file(&[0.5; 200])), alone);
    // Without public columns there is nothing to bind.
    let refused = |text: &str| {
        let checked = pipeline::check("t.dpm", text, &NoFiles);
        assert!(!checked.has_errors(), "{text}");
        Given { tables: [("t".to_owned(), file(&spread))].into(), ..Given::default() }.bind(&checked.program).is_err()
    };
    assert!(refused(&private));
    assert!(refused(&public.replace("t[200] { ", "t[n] by u max 2 { u: text, ")));
    // A private feature beside a public one.
    let two = public.replace("y: real", "z: real in [-1, 1], y: real").replace("b * x", "b * z");
    assert_eq!(mu(&two, &file(&spread)), claim(&two).gdp());
    // Groups have some of the rows.
    let each = public.replace("y: real", "g: public category {p, q}, y: real").replace("param a", "each g of t {\nparam a") + "}\n";
    let grouped = spread.iter().fold("x,g\n".to_owned(), |text, x| format!("{text}{x},p\n"));
    assert_eq!(mu(&each, &grouped), claim(&each).gdp());
    // A private offset moves the predictor, and its slope, not the design.
    let offset = public.replace("y: real", "o: real in [-1, 1], y: real").replace("a + b", "o + a + b");
    assert!(mu(&offset, &file(&spread)) < 0.5 * claim(&offset).gdp());
}

/// Where 32 bits cut features off, or lose them, rows that differ are stored alike, or as 0: they add nothing. Outcomes that small move by as much.
#[test]
fn what_32_bits_lose_counts_for_nothing() {
    let cut = "private t[400] { x: public real in [-2e30, 2e30], z: public real in [-2e30, 2e30], y: real in [0, 0.01] }\n\
               param a: real in [-1e-29, 1e-29] ~ normal(0, 1)\nparam b: real in [-1e-29, 1e-29] ~ normal(0, 1)\n\
               observe y ~ normal(a * x + b * z, 0.01)\nrelease v = draw(a, b) using direct(steps = 100)\n";
    let rows = (0..400).map(|i| if i % 2 == 0 { "2e30,1e30\n" } else { "1e30,2e30\n" });
    let design = std::iter::once("x,z\n").chain(rows).collect::<String>();
    assert_eq!(mu(cut, &design), claim(cut).gdp());
    assert!(mu(&cut.replace("2e30", "2e29"), &design.replace("e30", "e29")) < 0.5 * claim(&cut.replace("2e30", "2e29")).gdp());
    let lost = "private t[10000] { x: public real in [-5e-45, 5e-45], y: real in [0, 5e-45] }\nparam a: real in [-10, 10] ~ normal(0, 1)\n\
                observe y ~ normal(a * x, 2e-45)\nrelease v = draw(a) using direct(steps = 100)\n";
    let column = [vec![5e-45], vec![1.3e-45; 9_999]].concat();
    assert_eq!(mu(lost, &file(&column)), claim(lost).gdp());
    // Without a design, by the least feature; a concentrated prior makes features times sds smaller.
    let least = |low: &str, how: &str| {
        claim(&lost.replace("[-5e-45, 5e-45]", &format!("[{low}, 5e-20]")).replace("2e-45)", "2e-20)").replace("direct(", how)).gdp()
    };
    assert!(least("4e-20", "direct(") < 0.1 * least("1.3e-45", "direct("));
    assert!(least("4e-20", "concentrated(m = 1e-30, ") >= least("1.3e-45", "concentrated(m = 1e-30, "));
    // The two outcomes are stored as 0 and as 2^-149.
    let outcome = "private t[1] { y: real in [1.39e-45, 1.5e-45] }\nparam a: real in [-10, 10] ~ normal(0, 1)\n\
                   observe y ~ normal(a * 3e-45, 2e-45)\nrelease v = draw(a) using direct(steps = 100)\n";
    let wide = outcome.replace("[1.39e-45, 1.5e-45]", "[0, 1.4e-45]");
    assert!(claim(outcome).gdp() >= 0.5 * claim(&wide).gdp());
}

/// The verifier proves the eigenvalue and derives the cost; what is altered, with a digest made anew, is found.
#[test]
fn certificates_of_designs_are_verified() {
    let spread: Vec<f64> = (0..200).map(|i| f64::from(i) / 100.0 - 1.0).collect();
    let linear = "private t[200] { x: public real in [-1, 1], y: real in [-1, 2] }\nparam w: vector[2] ~ normal(0, 1.3)\n\
                  observe y ~ normal(dot(w, [1, x]), 0.8)\nrelease v = draw(w) using diffuse(r = 0.4)\n";
    let levels = "private t[200] { x: public real in [-1, 1], g: public category {p, q, s}, y: bool }\nparam u: vector[g] in [-1, 1] ~ normal(0, 2)\n\
                  param b: real in [-1, 1] ~ normal(0, 1)\nobserve y ~ bernoulli_cloglog(-u[g] + b * x / 2)\nrelease v = draw(u, b) using concentrated(m = 0.5)\n";
    // A matrix that is diagonal, whose least eigenvalue is known exactly.
    let diagonal = levels
        .replace("bernoulli_cloglog(-u[g] + b * x / 2)", "bernoulli_probit(u[g])")
        .replace("param b: real in [-1, 1] ~ normal(0, 1)\n", "")
        .replace("(u, b)", "(u)");
    let design = file(&spread);
    let with_levels = spread.iter().enumerate().fold("x,g\n".to_owned(), |text, (i, x)| format!("{text}{x},{}\n", ["p", "q", "s"][i % 3]));
    let mut programs: Vec<(String, String)> =
        vec![(linear.into(), design.clone()), (levels.into(), with_levels.clone()), (diagonal, with_levels)];
    programs.extend(LINKS.map(|(link, outcome, ..)| (program(link, outcome, 200, (0.9, [1.0, 3.0], 0.6), "public"), design.clone())));
    let failures = |c: &Value| Verifier::default().verify(c, Against::default());
    for (text, design) in &programs {
        let all = certified(text, design);
        assert!(all.releases[0].claim.gdp() < 0.9 * claim(text).gdp(), "{text}");
        let certificate: Value = serde_json::from_str(&all.to_json().to_string()).unwrap();
        assert_eq!(failures(&certificate), vec![], "{text}");
        let altered = |change: &dyn Fn(&mut Value)| {
            let mut c = certificate.clone();
            change(&mut c);
            c["digest"] = digest(&c).into();
            failures(&c)
        };
        let design = "/releases/0/public_design";
        let times = |c: &mut Value, at: &str, by: f64| {
            let found = c.pointer_mut(&format!("{design}/{at}")).unwrap();
            *found = (found.as_f64().unwrap() * by).into();
        };
        assert!(!altered(&|c| times(c, "least", 1.001)).is_empty(), "{text}");
        assert!(!altered(&|c| times(c, "least", 0.9)).is_empty(), "{text}");
        let count = all.releases[0].public_design.as_ref().unwrap().products.len();
        assert!(!altered(&|c| (0..count).for_each(|i| times(c, &format!("products/{i}"), 0.5))).is_empty(), "{text}");
        assert!(!altered(&|c| drop(c["public"].as_object_mut().unwrap().remove("designs"))).is_empty(), "{text}");
        assert!(!altered(&|c| drop(c["releases"][0].as_object_mut().unwrap().remove("public_design"))).is_empty(), "{text}");
        let hidden = |c: &mut Value| c["tables"][0]["columns"].as_array_mut().unwrap().iter_mut().for_each(|c| c["public"] = false.into());
        assert!(!altered(&hidden).is_empty(), "{text}");
    }
}
