//! Compiled log-densities against forward-mode derivatives and plain formulas that share no code with them, on every
//! likelihood, every prior and a thousand generated models; extreme rows and parameters.

mod edges;

use crate::density_support::dual::{self, At, Dual, c};
use crate::density_support::{Case, Dice, with_density};
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
        let width = dpm::data::layout::width(&p.ty);
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
    ("param s: real in [0.3, 5] ~ lognormal(0, 1)", "w ~ half_cauchy(s)", 1, true),
    ("param m ~ logistic(0, 1)\nparam s: real in [0.3, 4] ~ half_cauchy(1)", "x ~ logistic(m, s)", 2, true),
    ("param m ~ gamma(2, 1)\nparam phi ~ gamma(2, 1)", "i ~ neg_binomial_2(m, phi)", 2, true),
    ("param e ~ normal(0, 1)\nparam cuts: ordered[2] ~ normal(0, 2)", "g ~ ordered_logistic(e + x, cuts)", 3, true),
    ("param e ~ normal(0, 1)\nparam cuts: ordered[9] ~ normal(0, 2)", "i ~ ordered_logistic(e * x, cuts)", 10, true),
    ("param m ~ normal(0, 1)\nparam s ~ gamma(2, 1)", "w ~ lognormal(m, s)", 2, false),
    ("param a ~ gamma(2, 1)\nparam s ~ weibull(2, 3)", "w ~ weibull(a, s)", 2, false),
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
    ("param p ~ logistic(0.3, 2)", 1),
    ("param p ~ half_cauchy(2)", 1),
    ("param p ~ lognormal(0.3, 0.8)", 1),
    ("param p ~ weibull(1.7, 2)", 1),
    ("param t ~ half_cauchy(1)\nparam p ~ weibull(t, 2)", 2),
    ("param t ~ half_cauchy(1)\nparam p ~ lognormal(0.1, t)", 2),
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
    for (ordered, dimension) in [
        ("param s: ordered[3] ~ normal(0.4, 2)", 3),
        ("param s: ordered[3] ~ exponential(2)", 3),
        ("param s: ordered[3] ~ beta(2, 3)", 3),
        ("param s: ordered[2] in [-1, 4] ~ normal(0, 1)", 2),
        ("param t ~ half_normal(1)\nparam s: ordered[3] ~ normal(0, t)", 4),
    ] {
        let case = case(ordered, "x ~ normal(s[2] - s[1], 1)", NLL);
        agrees(&case, &rows, &places(&mut dice, dimension, 3), 1e-8, ordered);
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
