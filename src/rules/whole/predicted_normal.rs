//! Predictions for normal laws: means, and weights of a regression.

use super::predicted::{DATA, Prediction, WIDTH};
use crate::numeric::hellinger::distance;
use crate::numeric::special::normal_quantile;

/// The means for a normal mean of this prior precision with a noisy sum: the released law is nearly normal, and its mean is
/// off by a normal number.
pub(super) fn normal(precision: f64, sd: f64, rows: f64, noise: f64, aware: bool) -> Prediction {
    let row = sd * sd;
    let exact = 1.0 / (precision + rows / row);
    let (variance, off) = if aware {
        let variance = 1.0 / (precision + rows / (row + noise / rows.max(1.0)));
        (variance, variance - exact)
    } else {
        (exact, noise * (exact / row).powi(2))
    };
    let mut sum = Prediction::default();
    for i in 0..DATA {
        let z = normal_quantile((i as f64 + 0.5) / DATA as f64);
        sum.add(normals_beside(exact, variance, z * z * off.max(0.0)), 1.0);
    }
    sum.over(DATA as f64).beside_prior(2.0 / precision - exact)
}

/// The means for `dim` independent weights of this prior precision, the products of each feature with itself summing to `each`; `bias`
/// is how far an approximation moves a weight.
pub(super) fn weights(precision: f64, (sd, bias): (f64, f64), each: f64, (products, sums): (f64, f64), dim: usize) -> Prediction {
    // The noise on a product counts with the weight it multiplies.
    let noise = sums * sums + products * products * dim as f64 / precision;
    let row = sd * sd;
    let exact = 1.0 / (precision + each / row);
    let variance = 1.0 / (precision + each * each / (each * row + noise).max(1e-300));
    let mut one = Prediction::default();
    for i in 0..DATA {
        let z = normal_quantile((i as f64 + 0.5) / DATA as f64);
        one.add(normals_beside(exact, variance, z * z * (variance - exact).max(0.0) + bias * bias), 1.0);
    }
    let one = one.over(DATA as f64).beside_prior(2.0 / precision - exact);
    let overlap = (1.0 - one.hellinger * one.hellinger).max(0.0).powf(dim as f64);
    let squares = one.squares.map(|x| x * dim as f64);
    Prediction { hellinger: (1.0 - overlap).sqrt(), kl: one.kl * dim as f64, width: one.width, squares }
}

impl Prediction {
    /// Beside numbers of this prior precision that no row says anything of.
    pub(super) fn beside_unseen(self, precision: f64, (seen, unseen): (usize, usize)) -> Prediction {
        let variance = 1.0 / precision;
        let share = unseen as f64 / (seen + unseen).max(1) as f64;
        let width = ((1.0 - share) * self.width.powi(2) + share * WIDTH * WIDTH * variance).sqrt();
        Prediction { width, squares: self.squares.map(|x| x + unseen as f64 * variance), ..self }
    }
}

/// The means for independent components of this prior precision and variance of a row, each with a noisy sum.
pub(super) fn means(parts: &[(f64, f64)], rows: f64, noise: f64, aware: bool) -> Prediction {
    let all: Vec<Prediction> = parts.iter().map(|(own, row)| normal(*own, row.sqrt(), rows, noise, aware)).collect();
    let overlap: f64 = all.iter().map(|p| (1.0 - p.hellinger * p.hellinger).max(0.0)).product();
    let sum = |of: fn(&Prediction) -> f64| all.iter().map(of).sum::<f64>();
    let width = sum(|p| p.width) / parts.len().max(1) as f64;
    let squares = [sum(|p| p.squares.first().copied().unwrap_or(0.0)), sum(|p| p.squares.last().copied().unwrap_or(0.0))];
    Prediction { hellinger: (1.0 - overlap).max(0.0).sqrt(), kl: sum(|p| p.kl), width, squares }
}

/// The means for a rate with a Gamma(shape, rate) prior whose rows add `more` to the shape, with noise of this variance on what they
/// add to the rate: normal laws of its logarithm, and its own spread where the prior has its quantiles.
pub(super) fn rate((shape, rate): (f64, f64), more: f64, noise: f64, aware: bool) -> Prediction {
    let exact = 1.0 / (shape + more);
    let mut sum = Prediction::default();
    for i in 0..DATA {
        let z = |j: usize| normal_quantile((((i * j) % DATA) as f64 + 0.5) / DATA as f64);
        let lambda = shape / rate * (z(1) / (shape + 0.5).sqrt()).exp();
        // What the rows add has mean more / lambda, relative sd 1 / sqrt(more).
        let seen = more / (1.0 + noise * lambda * lambda / more);
        let (variance, off) = if aware {
            let variance = 1.0 / (shape + seen);
            (variance, variance - exact)
        } else {
            (exact, noise * (lambda * exact).powi(2))
        };
        let one = normals_beside(exact, variance, z(7).powi(2) * off.max(0.0));
        let [own, _] = one.squares.map(|x| x * lambda * lambda);
        let prior = shape / (rate * rate) + (lambda - shape / rate).powi(2);
        sum.add(Prediction { width: one.width * lambda, squares: [own, prior], ..one }, 1.0);
    }
    sum.over(DATA as f64)
}

/// A released normal law beside the exact one: their variances, and the square of the distance of their means.
fn normals_beside(exact: f64, variance: f64, gap: f64) -> Prediction {
    let both = exact + variance;
    let hellinger = distance(0.5 * (2.0 * (exact * variance).sqrt() / both).ln() - 0.25 * gap / both);
    let kl = 0.5 * ((variance / exact).ln() + (exact + gap) / variance - 1.0);
    Prediction { hellinger, kl: kl.max(0.0), width: WIDTH * variance.sqrt(), squares: [variance + gap, 0.0] }
}
