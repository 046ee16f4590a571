//! Compiled log-densities against forward-mode derivatives and plain formulas that share no code with them, on every
//! likelihood, every prior and a thousand generated models; extreme rows and parameters.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, dead_code)]

mod density_support;

use density_support::dual::{self, At, Dual, c};
use density_support::{Case, Dice, with_density};
use dpm::mechanism::MechanismError;
use dpm::mechanism::plan::{ChainLaw, Loss};
use dpm::model::ParamId;

const NLL: Loss = Loss::NegativeLog;
const SLICE: ChainLaw = ChainLaw::Slice { steps: None };

fn beta(beta: f64) -> Loss {
    Loss::Beta { beta }
}

const TABLE: &str = "private data[n] { x: real, z: vector[3], g: category {a, b, d}, k: bool, i: int in 0..9, w: real in [0, 1000] }\n";

/// A row of the table: x, z, g, k, i, w.
fn row(dice: &mut Dice) -> Vec<f64> {
    let mut row: Vec<f64> = (0..4).map(|_| dice.normal()).collect();
    row.extend([dice.below(3) as f64, dice.below(2) as f64, dice.below(10) as f64, -2.0 * dice.unit().ln()]);
    row
}

fn close(a: f64, b: f64, scale: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + scale.abs() + a.abs().max(b.abs())), "{what}: {a} for {b}");
}

/// Value and gradient at `u` by dual numbers: the log-density at a weight, and the loss alone.
fn by_duals(case: &Case, rows: &[Vec<f64>], weight: f64, u: &[f64], direction: Option<usize>) -> (Dual, Dual) {
    let coordinates: Vec<Dual> = u.iter().enumerate().map(|(i, u)| Dual { v: *u, d: f64::from(u8::from(direction == Some(i))) }).collect();
    let (mut first, mut parameters, mut log): (usize, Vec<(ParamId, Vec<Dual>)>, Dual) = (0, vec![], c(0.0));
    for p in &case.law.parameters {
        let width = dpm::data::row::width(&p.ty);
        let count = if matches!(p.ty, dpm::model::Type::Simplex { .. }) { width - 1 } else { width };
        let (value, jacobian) = dual::parameter(p, &coordinates[first..first + count]);
        first += count;
        parameters.push((p.id, value.clone()));
        let at = At { table: case.table(), row: &[], parameters: &parameters };
        log = log + jacobian + dual::prior(p, &value, &at);
    }
    let loss = rows.iter().fold(c(0.0), |s, row| s + At { table: case.table(), row, parameters: &parameters }.loss(&case.law));
    (log - c(weight) * loss, loss)
}

/// Losses agree; gradients agree in every direction; values agree up to a constant.
fn agrees(case: &Case, rows: &[Vec<f64>], places: &[Vec<f64>], tolerance: f64, what: &str) {
    let weight = 0.7;
    with_density(case, rows, weight, |density, lowered| {
        assert_eq!(lowered.program.dimension, places[0].len(), "{what}");
        let mut constant = None;
        for u in places {
            let mut gradient = vec![0.0; u.len()];
            let value = density.value_and_gradient(u, &mut gradient);
            let again = density.value(u);
            assert!((value - again).abs() <= 1e-12 * value.abs(), "{what}: {value} {again}");
            let mut losses = vec![];
            density.losses(u, &mut losses);
            assert_eq!(losses.len(), rows.len());
            let (log, loss) = by_duals(case, rows, weight, u, None);
            let found: f64 = losses.iter().sum();
            close(found, loss.v, 0.0, tolerance, &format!("{what}: loss"));
            let gap = value - log.v;
            let expected = *constant.get_or_insert(gap);
            assert!((gap - expected).abs() <= 10.0 * tolerance * (1.0 + value.abs()), "{what}: value {value} {}", log.v);
            for (i, g) in gradient.iter().enumerate() {
                let slope = by_duals(case, rows, weight, u, Some(i)).0.d;
                close(*g, slope, 0.0, 30.0 * tolerance, &format!("{what}: slope {i} at {u:?}"));
                let h = 1e-5 * (1.0 + u[i].abs());
                let mut at = |by: f64| {
                    let mut v = u.clone();
                    v[i] += by;
                    density.value(&v)
                };
                let difference = (at(h) - at(-h)) / (2.0 * h);
                assert!((g - difference).abs() <= 1e-5 * (1.0 + g.abs() + 1e-3 * value.abs()), "{what}: difference {i} {g} {difference}");
            }
        }
    });
}

fn places(dice: &mut Dice, dimension: usize, count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|_| (0..dimension).map(|_| 0.7 * dice.normal()).collect()).collect()
}

/// Likelihoods with their parameters, coordinates, and whether a beta-divergence is supported.
const LIKELIHOODS: &[(&str, &str, usize, bool)] = &[
    ("param p ~ beta(2, 3)", "k ~ bernoulli(p)", 1, true),
    ("param v: vector[3] ~ normal(0, 2)", "k ~ bernoulli_logit(dot(v, z))", 3, true),
    ("param v: vector[3] ~ normal(0, 2)", "k ~ bernoulli_probit(dot(v, z))", 3, true),
    ("param v: vector[3] ~ normal(0, 2)", "k ~ bernoulli_cloglog(dot(v, z))", 3, true),
    ("param v: vector[3] ~ normal(0, 2)", "k ~ bernoulli(inv_logit(dot(v, z)))", 3, true),
    ("param p ~ beta(2, 3)", "i ~ binomial(9, p)", 1, true),
    ("param v: vector[3] ~ normal(0, 2)", "i ~ binomial_logit(9, dot(v, z))", 3, true),
    ("param s ~ dirichlet([1, 2, 3])", "g ~ categorical(s)", 2, true),
    ("param W: matrix[3, 3] ~ normal(0, 1)", "g ~ categorical_logit(W * z)", 9, true),
    ("param r ~ gamma(2, 1)", "i ~ poisson(r)", 1, true),
    ("param v: vector[3] ~ normal(0, 1)", "i ~ poisson_log(dot(v, z) + 1)", 3, true),
    ("param p ~ beta(2, 3)", "i ~ geometric(p)", 1, true),
    ("param p ~ beta(2, 3)\nparam r ~ gamma(2, 1)", "i ~ neg_binomial(r, p)", 2, true),
    ("param v: vector[3] ~ normal(0, 1)\nparam s: real in [0.3, 4] ~ half_normal(1)", "x ~ normal(dot(v, z), s)", 4, true),
    ("param m ~ cauchy(0, 1)\nparam s: real in [0.3, 4] ~ inv_gamma(2, 1)", "x ~ laplace(m, s)", 2, true),
    ("param m ~ laplace(0, 1)\nparam s: real in [0.5, inf] ~ exponential(1)", "x ~ student_t(3, m, s)", 2, true),
    ("param m ~ student_t(4, 0, 1)\nparam s: real in [0.3, 4] ~ uniform(0.3, 4)", "x ~ cauchy(m, s)", 2, true),
    ("param r: real in [0.1, 3] ~ gamma(2, 1)", "w ~ exponential(r)", 1, true),
    ("param r: real in [0.1, 3] ~ gamma(2, 1)", "w ~ gamma(2.5, r)", 1, true),
    ("param s: real in [0.3, 5] ~ half_normal(1)", "w ~ half_normal(s)", 1, true),
    ("param u: vector[g] ~ normal(0, 1)", "k ~ bernoulli_logit(u[g])", 3, true),
    ("param p: real in [0.1, 0.8] ~ beta(2, 3)", "k ~ bernoulli(p)", 1, true),
    ("param nu: real in [1.5, 9] ~ gamma(2, 1)\nparam s: real in [0.5, 4] ~ half_normal(1)", "x ~ student_t(nu, 0.3, s)", 2, true),
    ("param a: real in [1.2, 6] ~ gamma(2, 1)\nparam r: real in [0.1, 3] ~ gamma(2, 1)", "w ~ gamma(a, r)", 2, true),
];

fn case(parameters: &str, observation: &str, loss: Loss) -> Case {
    let names: Vec<&str> = parameters.lines().map(|l| l.trim_start_matches("param ").split([' ', ':']).next().unwrap()).collect();
    let text = format!("{TABLE}{parameters}\nobserve {observation}\nrelease d = draw({})\n", names.join(", "));
    Case::new(&text, loss, SLICE)
}

#[test]
fn every_likelihood_agrees_with_its_formula() {
    let mut dice = Dice(1);
    let rows: Vec<_> = (0..5).map(|_| row(&mut dice)).collect();
    for (parameters, observation, dimension, bounded) in LIKELIHOODS {
        for loss in [NLL, beta(1.25), beta(2.0)] {
            let case = case(parameters, observation, loss);
            if !bounded && loss != NLL {
                assert_eq!(case.lower().err(), Some(MechanismError::Expression), "{observation}");
                continue;
            }
            agrees(&case, &rows, &places(&mut dice, *dimension, 2), 1e-7, &format!("{observation} {loss:?}"));
        }
    }
}

/// Priors on parameters of every domain, cut ones included; some depend on other parameters.
const PRIORS: &[(&str, usize)] = &[
    ("param p ~ normal(1, 2)", 1),
    ("param p: real in [-1, 3] ~ normal(0, 1)", 1),
    ("param p: real in [0.5, inf] ~ normal(0, 1)", 1),
    ("param p ~ half_normal(2)", 1),
    ("param p ~ laplace(0.3, 2)", 1),
    ("param p ~ cauchy(0.3, 2)", 1),
    ("param p ~ student_t(3, 0.3, 2)", 1),
    ("param p ~ exponential(2)", 1),
    ("param p: real in [0.2, 5] ~ exponential(2)", 1),
    ("param p ~ gamma(2.5, 2)", 1),
    ("param p: real in [0.2, inf] ~ inv_gamma(2.5, 2)", 1),
    ("param p ~ inv_gamma(2.5, 2)", 1),
    ("param p ~ beta(0.7, 2)", 1),
    ("param p: real in [0.1, 0.6] ~ beta(2, 3)", 1),
    ("param p ~ uniform(-2, 3)", 1),
    ("param t ~ half_normal(1)\nparam p ~ normal(0, t)", 2),
    ("param t ~ gamma(2, 1)\nparam m ~ normal(0, 1)\nparam p ~ student_t(4, m, t)", 3),
    ("param t ~ gamma(2, 1)\nparam p ~ gamma(t, 2)", 2),
    ("param t ~ gamma(2, 1)\nparam p ~ inv_gamma(3, t)", 2),
    ("param t ~ gamma(2, 1)\nparam p ~ beta(t, 2)", 2),
];

#[test]
fn every_prior_agrees_with_its_formula() {
    let mut dice = Dice(2);
    let rows: Vec<_> = (0..3).map(|_| row(&mut dice)).collect();
    for (parameters, dimension) in PRIORS {
        let case = case(parameters, "x ~ normal(p, 1)", beta(1.5));
        agrees(&case, &rows, &places(&mut dice, *dimension, 3), 1e-8, parameters);
    }
    let shares = "param s ~ dirichlet([0.5, 1, 2.5])";
    agrees(&case(shares, "x ~ normal(s[2], 1)", NLL), &rows, &places(&mut dice, 2, 3), 1e-8, shares);
}

/// A random expression over parameters p, q, v, s and the columns of a row, defined everywhere.
fn expression(dice: &mut Dice, depth: usize) -> String {
    if depth == 0 {
        let leaves = ["p", "q", "x", "v[g]", "z[2]", "v[1]", "0.7", "dot(v, z)", "s"];
        return leaves[dice.below(leaves.len())].into();
    }
    let mut e = || expression(dice, depth - 1);
    let (a, b) = (e(), e());
    match dice.below(20) {
        0 | 1 => format!("({a} + {b})"),
        2 | 3 => format!("({a} - {b})"),
        4 | 5 => format!("tanh({a}) * ({b})"),
        6 => format!("tanh({a})"),
        7 => format!("inv_logit({a})"),
        8 => format!("exp(tanh({a}))"),
        9 => format!("log(abs({a}) + 0.5)"),
        10 => format!("sqrt(abs({a}) + 0.1)"),
        11 => format!("max({a}, {b})"),
        12 => format!("min({a}, {b})"),
        13 => format!("(if k then {a} else {b})"),
        14 => format!("(if x > 0.2 then {a} else {b})"),
        15 => format!("(abs({a}) + 0.5)^1.7 / (1 + abs({b}))"),
        16 => format!("log1p(abs({a}))"),
        17 => format!("sum([{a}, {b}, 2 * p])"),
        18 => format!("Phi({a})"),
        _ => format!("clip({a}, -1.5, 2.5)"),
    }
}

#[test]
fn a_thousand_generated_models() {
    let mut dice = Dice(3);
    let (mut done, mut refused) = (0, 0);
    while done < 1_000 {
        let (mut rows, mut e) = (vec![], String::new());
        for _ in 0..2 {
            rows.push(row(&mut dice));
            e = expression(&mut dice, 1 + done % 4);
        }
        let f = expression(&mut dice, 2);
        let likelihood = match dice.below(7) {
            0 => format!("k ~ bernoulli_logit({e})"),
            1 => format!("k ~ bernoulli_probit(tanh({e}))"),
            2 => format!("x ~ normal({e}, s)"),
            3 => format!("x ~ normal({e}, 0.5 + exp(tanh({f})))"),
            4 => format!("x ~ laplace({e}, s)"),
            5 => format!("g ~ categorical_logit([{e}, {f}, 0])"),
            _ => format!("x ~ student_t(4, {e}, s)"),
        };
        let loss = if done % 2 == 0 { NLL } else { beta(1.0 + dice.unit()) };
        let text = format!(
            "{TABLE}param p ~ normal(0, 1)\nparam q ~ laplace(0, 1)\nparam v: vector[3] ~ normal(0, 1)\n\
             param s: real in [0.4, 3] ~ half_normal(1)\nobserve {likelihood}\nrelease d = draw(p, q, v, s)\n"
        );
        // A model whose release leaves parameters out of the connected component has fewer coordinates.
        match Case::checked(&text.replace("v[g]", "dot(v, z)"), loss, SLICE) {
            Ok(case) => {
                let dimension = case.lower().unwrap().program.dimension;
                agrees(&case, &rows, &places(&mut dice, dimension, 1), 1e-7, &text);
                done += 1;
            }
            Err(errors) => {
                refused += 1;
                assert!(refused < 1_000, "{errors}\n{text}");
            }
        }
    }
}

/// Regressions give the same numbers through the fused kernel, which stores features in 32 bits.
#[test]
fn the_fused_kernel_agrees_with_the_compiled_rows() {
    let mut dice = Dice(4);
    let parameters =
        "param v: vector[3] ~ normal(0, 1)\nparam u: vector[g] ~ normal(0, 1)\nparam b ~ normal(0, 1)\nparam t ~ half_normal(1)";
    let observation = "k ~ bernoulli_logit(dot(v, z) * 2 - u[g] + t * b - 0.5 * x + w * (b + t))";
    let rows: Vec<Vec<f64>> = (0..700)
        .map(|_| row(&mut dice).into_iter().enumerate().map(|(i, x)| if i < 4 || i == 7 { f64::from(x as f32) } else { x }).collect())
        .collect();
    for loss in [NLL, beta(4.0 / 3.0), beta(2.5)] {
        let case = case(parameters, observation, loss);
        let lowered = case.lower().unwrap();
        let columns = case.columns(&lowered, &rows);
        let linear = lowered.linear.as_ref().unwrap();
        let design = linear.design(&columns).unwrap();
        let mut fused = dpm::kernel::density::Density::fused(&lowered.program, linear.fused(&design).unwrap(), 0.3);
        let mut plain = dpm::kernel::density::Density::new(&lowered.program, &columns, 0.3);
        let mut gaps = vec![];
        for u in places(&mut dice, lowered.program.dimension, 3) {
            let (mut g, mut h) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            gaps.push(fused.value_and_gradient(&u, &mut g) - plain.value_and_gradient(&u, &mut h));
            g.iter().zip(&h).for_each(|(g, h)| close(*g, *h, 0.0, 1e-9, "slope"));
        }
        assert!(gaps.iter().all(|g| (g - gaps[0]).abs() < 1e-7), "{loss:?} {gaps:?}");
    }
}

/// Rows of any size and parameters far out: no panic, every beta-divergence inside its range, every gradient a number.
#[test]
fn extreme_rows_and_parameters() {
    let mut dice = Dice(5);
    let extreme = [1e300, -1e300, 0.0, 1.0, f64::MIN_POSITIVE, -1e-300, 1e8, f64::MAX];
    for (parameters, observation, dimension, bounded) in LIKELIHOODS {
        for loss in [NLL, beta(1.1), beta(1.5), beta(3.0)] {
            if !bounded && loss != NLL {
                continue;
            }
            let case = case(parameters, observation, loss);
            let rows: Vec<Vec<f64>> = (0..150)
                .map(|_| {
                    let mut row = row(&mut dice);
                    for i in [0, 1, 2, 3] {
                        row[i] = extreme[dice.below(extreme.len())];
                    }
                    row[7] = extreme[dice.below(extreme.len())].abs().min(1000.0);
                    row
                })
                .collect();
            with_density(&case, &rows, 1.0, |density, lowered| {
                for _ in 0..20 {
                    let u: Vec<f64> = (0..*dimension).map(|_| [1e8, -1e8, 1e300, -1e300, 0.0, 40.0, -800.0, 1.0][dice.below(8)]).collect();
                    let (mut gradient, mut losses) = (vec![0.0; *dimension], vec![]);
                    let value = density.value_and_gradient(&u, &mut gradient);
                    density.losses(&u, &mut losses);
                    assert!(gradient.iter().all(|g| g.is_finite()), "{observation} {gradient:?}");
                    if loss != NLL {
                        let range = &lowered.program.losses[0];
                        assert!(losses.iter().all(|l| *l >= range.lo && *l <= range.hi), "{observation} {loss:?}");
                        let sum: f64 = losses.iter().sum();
                        assert!(sum.is_finite() && (value.is_nan() || value < f64::INFINITY));
                    }
                }
            });
        }
    }
}

/// The length of every interval is no more than the rule book certifies, and nearly that.
#[test]
fn ranges_are_those_of_the_rule_book() {
    let root = std::f64::consts::TAU.sqrt();
    let pi = std::f64::consts::PI;
    for (parameters, observation, peak) in [
        ("param p ~ normal(0, 1)", "k ~ bernoulli_logit(p)", 1.0),
        ("param p ~ normal(0, 1)", "i ~ poisson_log(p)", 1.0),
        ("param p ~ normal(0, 1)", "x ~ normal(p, 0.5)", 2.0 / root),
        ("param s: real in [0.3, 4] ~ half_normal(1)", "x ~ normal(0, s)", 1.0 / (0.3 * root)),
        ("param s: real in [0.3, 4] ~ half_normal(1)", "x ~ laplace(0, s)", 1.0 / 0.6),
        ("param s: real in [0.3, 4] ~ half_normal(1)", "x ~ student_t(1, 0, s)", 1.0 / (0.3 * pi)),
        ("param r: real in [0.3, 4] ~ half_normal(1)", "w ~ exponential(r)", 4.0),
        ("param r: real in [0.3, 4] ~ half_normal(1)", "w ~ gamma(2, r)", 4.0 / std::f64::consts::E),
        ("param r: real in [0.3, 4] ~ half_normal(1)", "w ~ half_normal(r)", 2.0 / (0.3 * root)),
    ] {
        for b in [1.01, 1.3, 2.0, 3.0] {
            let lowered = case(parameters, observation, beta(b)).lower().unwrap();
            let loss = &lowered.program.losses[0];
            let (found, book) = (loss.hi - loss.lo, peak.powf(b - 1.0) / (b - 1.0));
            assert!(found <= book && found > book * (1.0 - 1e-8), "{observation} {b}: {found} {book}");
        }
    }
    // Probabilities away from 0, and densities of any shape.
    for b in [1.1f64, 1.5, 3.0] {
        let length = |parameters: &str, observation: &str| {
            let lowered = case(parameters, observation, beta(b)).lower().unwrap();
            lowered.program.losses[0].hi - lowered.program.losses[0].lo
        };
        let a = b - 1.0;
        let close = |found: f64, book: f64| assert!(found <= book && found > book * (1.0 - 1e-8), "{b}: {found} {book}");
        close(length("param p: real in [0.1, 0.8] ~ beta(2, 3)", "k ~ bernoulli(p)"), (0.9f64.powf(a) - 0.1f64.powf(a)) / a);
        let peak = 1.0 / (0.5 * root);
        let student = "param nu: real in [1.5, 9] ~ gamma(2, 1)";
        close(length(student, "x ~ student_t(nu, 0, 0.5)"), peak.powf(a) * (1.0 / a + 1.0 / b));
    }
}

#[test]
fn what_has_no_bound_is_refused() {
    for (parameters, observation) in [
        ("param s ~ half_normal(1)", "x ~ normal(0, s)"),
        ("param r ~ half_normal(1)", "w ~ exponential(r)"),
        ("param a ~ gamma(2, 1)", "w ~ gamma(a, 1)"),
        ("param r: real in [0.1, 2] ~ gamma(2, 1)", "w ~ gamma(0.5, r)"),
    ] {
        assert_eq!(case(parameters, observation, beta(1.5)).lower().err(), Some(MechanismError::Expression), "{observation}");
    }
}

/// The Jacobian of the map onto a ball, by differences.
#[test]
fn balls_keep_volume() {
    let case = case("param v: vector[3] in l2(0.7) ~ normal(0, 100000000)", "x ~ normal(v[1], 1)", NLL);
    let mut dice = Dice(6);
    with_density(&case, &[], 1.0, |density, lowered| {
        let mut gaps = vec![];
        for u in places(&mut dice, 3, 4) {
            let mut map = |u: &[f64]| density.shared(u, &lowered.parameters[0]);
            let h = 1e-5;
            let m: Vec<Vec<f64>> = (0..3)
                .map(|j| {
                    let (mut a, mut b) = (u.clone(), u.clone());
                    a[j] += h;
                    b[j] -= h;
                    map(&a).iter().zip(map(&b)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
                })
                .collect();
            let x = map(&u);
            assert!(x.iter().map(|x| x * x).sum::<f64>() < 0.49);
            let det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
            gaps.push(density.value(&u) - det.abs().ln());
        }
        assert!(gaps.iter().all(|g| (g - gaps[0]).abs() < 1e-8), "{gaps:?}");
    });
}

/// Scalar functions against the library's, on 1e5 arguments.
#[test]
fn scalar_functions_keep_their_digits() {
    use dpm::kernel::density::{digamma, ln, ln_1p, power_sum};
    let mut dice = Dice(7);
    let mut worst = (0.0f64, 0.0f64);
    for _ in 0..100_000 {
        let x = (1400.0 * dice.unit() - 700.0).exp();
        let y = 1.0 + 0.1 * dice.normal();
        for x in [x, y.abs()] {
            worst.0 = worst.0.max((ln(x) - x.ln()).abs() / x.ln().abs().max(f64::MIN_POSITIVE));
        }
        let t = dice.normal() * 10f64.powi(-(dice.below(18) as i32));
        if t > -1.0 {
            worst.1 = worst.1.max((ln_1p(t) - t.ln_1p()).abs() / t.ln_1p().abs());
        }
    }
    assert!(worst.0 < 5e-16 && worst.1 < 1e-15, "{worst:?}");
    assert_eq!((ln(0.0), ln(f64::INFINITY), ln_1p(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY));
    assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && (ln(5e-324) - 5e-324f64.ln()).abs() < 1e-12);
    assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14 && (digamma(30.5) - 3.401_271_288_362_95).abs() < 1e-3);
    // Sums over the coarse grid are those over all whole numbers.
    for b in [1.01, 1.3, 2.0, 4.0] {
        for mean in [240.0f64, 260.0, 400.0, 1500.0, 20_000.0] {
            let t = mean.ln();
            let terms = |i: i64| (b * (i as f64 * t - mean - libm::lgamma(i as f64 + 1.0))).exp();
            let width = 14.0 * mean.sqrt();
            let direct: f64 = (((mean - width).max(0.0) as i64)..(mean + width) as i64).map(terms).sum();
            let (sum, slope) = power_sum(b, t);
            assert!((sum / direct - 1.0).abs() < 1e-9, "{b} {mean}: {sum} {direct}");
            let h = 1e-4;
            let difference = (power_sum(b, t + h).0 - power_sum(b, t - h).0) / (2.0 * h);
            assert!((slope - difference).abs() < 1e-6 * sum, "{b} {mean}: {slope} {difference}");
        }
        for t in [-1e300, -700.0, 0.0, 30.0, 600.0, 1e300] {
            let (sum, slope) = power_sum(b, t);
            assert!((0.0..=1.0).contains(&sum) && slope.is_finite(), "{b} {t}: {sum} {slope}");
        }
    }
}

/// Sums without a closed form against all their terms, and their slopes against differences.
#[test]
fn sums_of_powers_are_those_over_all_outcomes() {
    use dpm::kernel::density::{binomial_power, neg_binomial_power};
    let near =
        |found: f64, exact: f64, what: String| assert!((found - exact).abs() <= 1e-7 * exact.abs() + 1e-12, "{what}: {found} for {exact}");
    for b in [1.02, 1.5, 3.0] {
        for r in [0.05, 1.0, 3.7, 80.0, 5_000.0] {
            for t in [-9.0, -3.0, 0.0, 2.0, 5.0, 8.0] {
                let (log_p, log_q): (f64, f64) = (-f64::ln_1p(f64::exp(t)), -f64::ln_1p(f64::exp(-t)));
                let mean = r * f64::exp(t);
                let last = (3.0 * mean + 60.0 * (mean + mean * mean / r).sqrt() + 500.0).min(4e6) as u64;
                let (mut log, mut digamma, mut sum) = (r * log_p, 0.0, [0.0; 3]);
                for k in 0..last {
                    let (k, term) = (k as f64, (b * log).exp());
                    let slopes = [1.0, b * (digamma + log_p), b * (log_p.exp() * k - r * log_q.exp())];
                    sum.iter_mut().zip(slopes).for_each(|(s, slope)| *s += term * slope);
                    log += log_q + ((k + r) / (k + 1.0)).ln();
                    digamma += 1.0 / (k + r);
                }
                let ([sum, by_shape, by_odds], found) = (sum, neg_binomial_power(b, r, t));
                near(found.value, sum, format!("negative binomial {b} {r} {t}"));
                assert!((found.by_shape - by_shape).abs() < 1e-6 * (sum / r + by_shape.abs()), "{b} {r} {t}: {found:?} {by_shape}");
                assert!((found.by_odds - by_odds).abs() < 1e-6 * (sum * (1.0 + r) + by_odds.abs()), "{b} {r} {t}: {found:?} {by_odds}");
            }
        }
        for n in [1_500.0, 40_000.0, 300_000.0] {
            for t in [-20.0, -9.0, -4.0, 0.0, 0.3, 6.0, 30.0] {
                let (log_p, log_q): (f64, f64) = (-f64::ln_1p(f64::exp(-t)), -f64::ln_1p(f64::exp(t)));
                let log = |k: f64| libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0) + k * log_p + (n - k) * log_q;
                let sum: f64 = (0..=n as u32).map(|k| (b * log(f64::from(k))).exp()).sum();
                let found = binomial_power(b, n, t);
                near(found.value, sum, format!("binomial {b} {n} {t}"));
                let by_odds = (binomial_power(b, n, t + 1e-4).value - binomial_power(b, n, t - 1e-4).value) / 2e-4;
                assert!((found.by_odds - by_odds).abs() < 1e-5 * (sum + by_odds.abs()), "{b} {n} {t}: {found:?} {by_odds}");
            }
        }
        for wild in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            for t in [-1e300, -700.0, 0.0, 40.0, 1e300, f64::INFINITY] {
                let found = neg_binomial_power(b, wild, t);
                assert!(
                    (found.value.is_nan() || (0.0..=1.0).contains(&found.value)) && found.by_shape.is_finite() && found.by_odds.is_finite(),
                    "{wild} {t} {found:?}"
                );
                let found = binomial_power(b, 1e9, t);
                assert!((0.0..=1.0).contains(&found.value) && found.by_odds.is_finite(), "{t} {found:?}");
            }
        }
    }
}
