//! Whole posteriors by enumeration: sampled laws and realised losses over all neighbours, noise on counts, mixtures.

mod classes;
mod counts;
mod distances;
pub use distances::worst_loss;
mod rates;
mod refined;
mod scores;
mod secret;
mod sums;

use crate::numbers_support::{certified, histograms, ln_gamma};
use dpm::mechanism::plan::{MechanismPlan, WholeFamily, WholeLaw, WholeNoise};
use dpm::mechanism::whole::hellinger::{self, Run};
use dpm::mechanism::{Number, OsBits, Released};
use dpm::run::{Posterior, posterior_of};
use dpm::verify::{Against, Verifier, digest};

const PRIORS: [&[f64]; 5] = [&[1.0, 1.0], &[0.05, 0.05], &[0.5, 7.0], &[1.0, 1.0, 1.0], &[0.2, 1.0, 3.0]];

/// Hellinger distance in other words than the product's: log-Gamma functions of statrs.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let ln_beta = |v: &[f64]| {
        v.iter().map(|x| statrs::function::gamma::ln_gamma(*x)).sum::<f64>() - statrs::function::gamma::ln_gamma(v.iter().sum())
    };
    let middle: Vec<f64> = a.iter().zip(b).map(|(x, y)| 0.5 * (x + y)).collect();
    (1.0 - (ln_beta(&middle) - 0.5 * (ln_beta(a) + ln_beta(b))).exp()).max(0.0).sqrt()
}

fn posterior(alpha: &[f64], c: &[u64]) -> Vec<f64> {
    alpha.iter().zip(c).map(|(a, c)| a + *c as f64).collect()
}

fn apart(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(x, y)| x.abs_diff(*y)).sum::<u64>() / 2
}

/// Sensitivities by definition: over all candidates, neighbours and data sets.
fn ideal(alpha: &[f64], n: u64, c: &[u64], epsilon: f64, gamma: Option<f64>) -> Vec<f64> {
    let all = histograms(n, alpha.len());
    let h = |a: &[u64], b: &[u64]| distance(&posterior(alpha, a), &posterior(alpha, b));
    let local = |a: &[u64]| all.iter().filter(|b| apart(a, b) == 1).map(|b| h(a, b)).fold(0.0, f64::max);
    let strength = match gamma {
        None => epsilon / 2.0 / all.iter().map(|a| local(a)).fold(0.0, f64::max),
        Some(g) => {
            let inverse = all.iter().map(|a| 1.0 / local(a) + g * apart(a, c) as f64).fold(f64::INFINITY, f64::min);
            epsilon / 2.0 / (1.0 + g) * inverse
        }
    };
    normalised(all.iter().map(|r| -strength * h(c, r)).collect())
}

fn normalised(ln: Vec<f64>) -> Vec<f64> {
    let total: f64 = ln.iter().map(|x| x.exp()).sum();
    ln.into_iter().map(|x| x - total.ln()).collect()
}

/// The logarithms of the law that is sampled, from its scores on the grid.
fn sampled(runs: &[Run], epsilon: f64) -> Vec<f64> {
    let step = 2f64.powi(hellinger::exponent(epsilon));
    normalised(runs.iter().flat_map(|r| std::iter::repeat_n(-(r.score as f64) * step, r.count as usize)).collect())
}

fn plan(text: &str) -> WholeLaw {
    match certified(text).analysis.releases[0].chosen.as_ref().unwrap().plan.clone() {
        Some(MechanismPlan::Whole { law, .. }) => law,
        other => panic!("{other:?}"),
    }
}

fn numbers(list: &[i128]) -> Released {
    Released { components: list.iter().map(|x| Number::new(*x, 0)).collect() }
}
