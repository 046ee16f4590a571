//! What the papers compare with, named as such: output perturbation, noisy gradients, and the weights of two Gibbs posteriors.
//!
//! Neighbours replace a row, here as in dpm. None of these is part of dpm: doubles, and no certificate.

use super::data::Row;
use super::logistic::{mode, normals, sigmoid};
use dpm::privacy::Claim;
use rand::Rng;
use rand_distr::{Distribution, Gamma};

/// Output perturbation (Chaudhuri, Monteleoni and Sarwate 2011): the mode for `Lambda n` as precision of the prior, plus noise of
/// density `exp(-|z| / s)`. A replaced row of norm at most `bound` moves the mode by at most `2 bound / (n Lambda)`; pure epsilon.
pub fn output_perturbation(rows: &[Row], bound: f64, lambda: f64, epsilon: f64, rng: &mut impl Rng) -> Vec<f64> {
    let (n, d) = (rows.len() as f64, rows[0].0.len());
    let centre = mode(rows, lambda * n);
    let length = Gamma::new(d as f64, 2.0 * bound / (n * lambda * epsilon)).unwrap().sample(rng);
    let direction = normals(d, rng);
    let norm = direction.iter().map(|z| z * z).sum::<f64>().sqrt();
    centre.iter().zip(&direction).map(|(c, z)| c + length * z / norm).collect()
}

/// Settings of noisy gradient descent.
#[derive(Clone, Copy)]
pub struct Descent {
    pub steps: usize,
    /// In units of `4 / bound^2`, the inverse of the largest curvature.
    pub rate: f64,
    /// In units of the bound of a gradient.
    pub clip: f64,
}

/// What is tried; which is best is chosen by the results, and not paid for.
pub fn settings() -> Vec<Descent> {
    let mut all = vec![];
    for steps in [20, 100] {
        for rate in [0.5, 2.0, 8.0] {
            for clip in [0.25, 1.0] {
                all.push(Descent { steps, rate, clip });
            }
        }
    }
    all
}

/// What is fixed before any data are seen: a hundred steps of the length `1 / L` that the curvature allows, gradients uncut.
pub const FIXED: Descent = Descent { steps: 100, rate: 1.0, clip: 1.0 };

/// The largest mu whose Gaussian guarantee gives (epsilon, delta).
pub fn gaussian_mu(epsilon: f64, delta: f64) -> f64 {
    largest(|mu| Claim::Gdp { mu }.epsilon(delta) <= epsilon, 1e3)
}

/// The largest value below `top` that passes, for a test that small values pass.
pub fn largest(passes: impl Fn(f64) -> bool, top: f64) -> f64 {
    let (mut lo, mut hi) = (0.0, top);
    for _ in 0..80 {
        let middle = 0.5 * (lo + hi);
        if passes(middle) { lo = middle } else { hi = middle }
    }
    lo
}

/// DP-SGD (Abadi et al. 2016) with every row in every batch, and the penalty of a normal prior. Clipped gradients of a replaced row
/// differ by at most `2 clip`, so T steps are mu-GDP with `mu = 2 clip sqrt(T) / sigma`, exactly: for replaced rows the usual
/// accountants of random batches, which are for added or removed ones, would say too little.
pub fn noisy_descent(rows: &[Row], bound: f64, precision: f64, mu: f64, descent: Descent, rng: &mut impl Rng) -> Vec<f64> {
    let (n, d) = (rows.len() as f64, rows[0].0.len());
    let clip = descent.clip * bound;
    let sigma = 2.0 * clip * (descent.steps as f64).sqrt() / mu;
    let rate = descent.rate * 4.0 / (bound * bound * n);
    let mut w = vec![0.0; d];
    for _ in 0..descent.steps {
        let mut sum: Vec<f64> = normals(d, rng).iter().map(|z| sigma * z).collect();
        for (x, y) in rows {
            let slope = sigmoid(x.iter().zip(&w).map(|(a, b)| a * b).sum()) - f64::from(u8::from(*y));
            let norm = slope.abs() * x.iter().map(|v| v * v).sum::<f64>().sqrt();
            let factor = if norm > clip { slope * clip / norm } else { slope };
            sum.iter_mut().zip(x).for_each(|(s, v)| *s += factor * v);
        }
        w.iter_mut().zip(&sum).for_each(|(v, s)| *v -= rate * (s + precision * *v));
    }
    w
}

/// Largest mu of Minami et al. (2016), Corollary 8 as printed: `eps / sqrt(1 + 2 ln(1 / delta))`.
pub fn printed_mu(epsilon: f64, delta: f64) -> f64 {
    epsilon / (1.0 - 2.0 * delta.ln()).sqrt()
}

/// Largest mu that their Theorem 7 allows, for every epsilon: `eps >= mu^2 / 2 + mu sqrt(2 ln(1 / delta))`.
pub fn theorem_mu(epsilon: f64, delta: f64) -> f64 {
    let tail = (-2.0 * delta.ln()).sqrt();
    (tail * tail + 2.0 * epsilon).sqrt() - tail
}

/// Largest epsilon at which the corollary follows from the theorem.
pub fn printed_epsilon(delta: f64) -> f64 {
    let t = -delta.ln();
    2.0 * (1.0 + 2.0 * t) * (1.0 - (2.0 * t / (1.0 + 2.0 * t)).sqrt())
}
