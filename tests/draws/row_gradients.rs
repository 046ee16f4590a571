//! Gradients of single rows: they add up to the gradient of all, no row moves another's, and rounded noise pays for them.

use crate::density_support::{Case, Dice, with_density};
use dpm::kernel::density::RowGradients;
use dpm::mechanism::plan::{ChainLaw, Loss};

const TABLE: &str = "private data[n] { x: real, z: vector[3], g: category {a, b, d}, k: bool, i: int in 0..9, w: real in [0, 1000] }\n";

/// Models of every kind of tape: derived columns, transformed parameters, tables of levels, sums without a closed form.
const MODELS: &[&str] = &[
    "param v: vector[3] ~ normal(0, 2)\nobserve k ~ bernoulli_logit(dot(v, z))\nrelease d = draw(v)\n",
    "param W: matrix[3, 3] ~ normal(0, 1)\nobserve g ~ categorical_logit(W * z)\nrelease d = draw(W)\n",
    "param m ~ normal(0, 1)\nparam s: real in [0.2, inf] ~ half_normal(1)\nobserve x ~ normal(m * exp(z[1]), s)\nrelease d = draw(m, s)\n",
    "param t ~ normal(0, 1)\nparam u: vector[g] ~ normal(0, 1)\nobserve i ~ poisson_log(t + u[g])\nrelease d = draw(t, u)\n",
    "param p ~ beta(2, 3)\nparam q: vector[3] in l2(2) ~ normal(0, 1)\nobserve k ~ bernoulli(0.1 + 0.8 * p * inv_logit(dot(q, z)))\nrelease d = draw(p, q)\n",
];

fn case(model: &str) -> Case {
    Case::new(&format!("{TABLE}{model}"), Loss::Beta { beta: 1.5 }, ChainLaw::Slice { steps: None })
}

/// A row of the table: x, z, g, k, i, w; now and then with wild numbers of any size.
fn row(dice: &mut Dice, wild: bool) -> Vec<f64> {
    let size = if wild && dice.unit() < 0.3 { 10_f64.powf(40.0 * dice.unit() - 20.0) } else { 1.0 };
    let mut row: Vec<f64> = (0..4).map(|_| size * dice.normal()).collect();
    row.extend([dice.below(3) as f64, dice.below(2) as f64, dice.below(10) as f64, 1.0]);
    row
}

/// What stands for 1 in sums of integers.
const ONE: f64 = (1u64 << 50) as f64;

#[test]
fn rows_add_up_to_the_gradient_of_all() {
    let mut dice = Dice(31);
    for model in MODELS {
        let case = case(model);
        let rows: Vec<Vec<f64>> = (0..300).map(|_| row(&mut dice, false)).collect();
        with_density(&case, &rows, 0.7, |density, lowered| {
            let columns = case.columns(lowered, &rows);
            let mut single = RowGradients::new(&lowered.program, &columns);
            for _ in 0..5 {
                let u: Vec<f64> = (0..lowered.program.dimension).map(|_| dice.normal()).collect();
                let (mut all, mut prior) = (vec![0.0; u.len()], vec![0.0; u.len()]);
                density.value_and_gradient(&u, &mut all);
                density.prior_gradient(&u, &mut prior);
                let sums = single.sum(&u, |row, sums| {
                    for (sum, g) in sums.iter_mut().zip(row) {
                        *sum += if g.is_finite() { (g * ONE) as i128 } else { 0 };
                    }
                });
                for i in 0..u.len() {
                    let found = prior[i] - 0.7 * sums[i] as f64 / ONE;
                    let size = all[i].abs() + prior[i].abs() + 1.0;
                    assert!((found - all[i]).abs() <= 1e-9 * size, "{model} {i}: {found} for {}", all[i]);
                }
            }
        });
    }
}

/// To the last bit, so that a replaced row changes its own share of a sum and nothing else.
#[test]
fn no_row_moves_the_gradient_of_another() {
    let mut dice = Dice(32);
    let bits = |row: &[f64], sums: &mut [i128]| {
        for (sum, g) in sums.iter_mut().zip(row) {
            // All that is not a number is one thing.
            *sum += if g.is_nan() { 1 } else { i128::from((g + 0.0).to_bits()) };
        }
    };
    for model in MODELS {
        let case = case(model);
        let lowered = case.lower().unwrap();
        for n in [1, 7, 130, 2100] {
            let mut rows: Vec<Vec<f64>> = (0..n).map(|_| row(&mut dice, true)).collect();
            let u: Vec<f64> = (0..lowered.program.dimension).map(|_| 3.0 * dice.normal()).collect();
            let losses = |rows: &[Vec<f64>]| {
                with_density(&case, rows, 1.0, |density, _| {
                    let mut found = vec![];
                    density.losses(&u, &mut found);
                    found.iter().map(|l| l.to_bits()).collect::<Vec<u64>>()
                })
            };
            let sum = |rows: &[Vec<f64>]| RowGradients::new(&lowered.program, &case.columns(&lowered, rows)).sum(&u, bits);
            let (at, before) = (dice.below(n), sum(&rows));
            let (old, new) = (rows[at].clone(), row(&mut dice, true));
            let mut losses_before = losses(&rows);
            rows[at] = new.clone();
            let mut losses_after = losses(&rows);
            assert_eq!(
                (losses_before.remove(at), losses_after.remove(at)),
                (losses(std::slice::from_ref(&old))[0], losses(std::slice::from_ref(&new))[0])
            );
            assert_eq!(losses_before, losses_after, "{model} {n}");
            let (alone, instead, after) = (sum(&[old]), sum(&[new]), sum(&rows));
            rows.remove(at);
            let without = sum(&rows);
            for i in 0..u.len() {
                assert_eq!(after[i] - before[i], instead[i] - alone[i], "{model} {n} {i}");
                assert_eq!(before[i] - without[i], alone[i], "{model} {n} {i}");
            }
        }
    }
}

/// Normal noise rounded to integers and moved by an integer, from its chances: below the curve of the normal law. The discrete normal
/// law, whose chances are proportional to a density, is not.
#[test]
fn rounded_noise_pays_as_much_as_continuous_noise() {
    let mut broken = false;
    for sigma in [0.4_f64, 1.0, 2.5, 10.0] {
        let reach = (40.0 * sigma) as i64 + 60;
        let tail = |x: f64| 0.5 * libm::erfc(x / (sigma * 2.0_f64.sqrt()));
        let rounded = |k: i64| tail(k.unsigned_abs() as f64 - 0.5) - tail(k.unsigned_abs() as f64 + 0.5);
        let shape = |k: i64| (-((k * k) as f64) / (2.0 * sigma * sigma)).exp();
        let total: f64 = (-reach..=reach).map(shape).sum();
        for moved in [1i64, 2, 5] {
            let mu = moved as f64 / sigma;
            for i in 0..=20 {
                let e = f64::from(i) * 0.2 * mu;
                let curve = |p: &dyn Fn(i64) -> f64| (-reach..=reach).map(|k| (p(k) - e.exp() * p(k - moved)).max(0.0)).sum::<f64>();
                let claimed = dpm::privacy::Claim::Gdp { mu }.delta(e);
                let found = curve(&rounded);
                assert!(found <= claimed + 1e-12, "{sigma} {moved} {e}: {found} above {claimed}");
                broken |= curve(&shape) / total > 1.001 * claimed;
            }
        }
    }
    assert!(broken, "the discrete law would do as well");
}
