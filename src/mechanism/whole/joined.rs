//! The first look beside the steps: two views of the same rows, each with noise of its own (rule book §20).

use crate::numeric::dense::{Matrix, cholesky, factor_of_inverse};
use crate::numeric::logistic::{Look, positive_part};
use nalgebra::DVector;

type Vector = DVector<f64>;

/// How often the noise of the first look is weighed again with the weights that it multiplies.
const AGAIN: usize = 3;

/// Sums of scores in the coordinates of a state: `information z`, the sampling error of as many rows, and noise of this variance.
pub(super) struct Seen {
    pub information: Matrix,
    pub scores: Vector,
    pub noise: f64,
}

/// The first look in its own coordinates `w = mean + factor z`: scores at weight 0, as if they were those of a quadratic.
pub(super) struct First {
    information: Matrix,
    scores: Vector,
    mean: Vector,
    factor: Matrix,
    /// The place where weights are 0.
    zero: Vector,
    /// Variance of the noise on the sums, and of that on the products for the square of the weights.
    noise: (f64, f64),
    /// By what part of themselves scores may be off.
    bent: f64,
}

impl First {
    /// From scores with information `curvature` times the products, of a loss that bends by this part.
    pub fn new(found: &Look, scores: &[f64], curvature: f64, noise: (f64, f64), bent: f64) -> Option<First> {
        let (mean, factor) = (found.mean.clone(), found.factor.clone());
        let products = &found.products * curvature;
        let scores = factor.tr_mul(&(Vector::from_row_slice(scores) - &products * &mean));
        let zero = factor.solve_lower_triangular(&-&mean)?;
        Some(First { information: factor.transpose() * products * &factor, scores, zero, mean, factor, noise, bent })
    }

    /// Covariance of what is not sampling error, for weights about z.
    fn noise(&self, z: &Vector, spread: &Matrix) -> Matrix {
        let d = z.len();
        let weights = (&self.mean + &self.factor * z).norm_squared() + (&self.factor * spread).norm_squared();
        let (sums, products) = self.noise;
        let off = &self.information * (z - &self.zero);
        let far = off.norm_squared() + (&self.information * spread).norm_squared();
        let bent = self.bent * self.bent;
        self.factor.tr_mul(&self.factor) * (sums + products * weights)
            + &off * off.transpose() * bent
            + Matrix::from_diagonal_element(d, d, bent * far / d as f64)
    }

    /// The mean and the factor of the covariance of z given both, and a prior (mean, precision). The errors of rows are the same in both, where the
    /// first look has no less information; `None` where doubles cannot compute it.
    pub fn beside(&self, (away, precision): (&Vector, &Matrix), seen: &Seen) -> Option<(Vector, Matrix)> {
        let d = away.len();
        let more = &self.information - &seen.information;
        let upper: Vec<f64> = (0..d).flat_map(|i| (i..d).map(move |j| (i, j))).map(|at| more.get(at).copied().unwrap_or(0.0)).collect();
        let own = positive_part(d, &upper)?;
        let apart = Matrix::from_diagonal_element(d, d, seen.noise);
        let rows = stacked(&seen.information, &more);
        let scores = Vector::from_iterator(2 * d, seen.scores.iter().copied().chain((&self.scores - &seen.scores).iter().copied()));
        let (mut z, mut spread) = (Vector::zeros(d), Matrix::identity(d, d));
        for _ in 0..AGAIN {
            // Of the scores of the steps, and of how much those of the first look differ.
            let above = stacked(&(&seen.information + &apart), &-&apart);
            let below = stacked(&-&apart, &(&own + self.noise(&z, &spread) + &apart));
            let mut covariance = Matrix::zeros(2 * d, 2 * d);
            covariance.columns_mut(0, d).copy_from(&above);
            covariance.columns_mut(d, d).copy_from(&below);
            let root = cholesky(covariance)?;
            let (rows, scores) = (root.solve_lower_triangular(&rows)?, root.solve_lower_triangular(&scores)?);
            let lower = cholesky(precision + rows.tr_mul(&rows))?;
            let pulled = precision * away + rows.tr_mul(&scores);
            z = lower.tr_solve_lower_triangular(&lower.solve_lower_triangular(&pulled)?)?;
            spread = factor_of_inverse(&lower);
        }
        z.iter().chain(spread.iter()).all(|x| x.is_finite()).then_some((z, spread))
    }
}

/// One above the other.
fn stacked(above: &Matrix, below: &Matrix) -> Matrix {
    let d = above.nrows();
    let mut both = Matrix::zeros(d + below.nrows(), above.ncols());
    both.rows_mut(0, d).copy_from(above);
    both.rows_mut(d, below.nrows()).copy_from(below);
    both
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn number(x: f64) -> Matrix {
        Matrix::from_element(1, 1, x)
    }

    fn view(h: f64, score: f64, noise: f64, bent: f64) -> First {
        let one = |x: f64| Vector::from_element(1, x);
        First { information: number(h), scores: one(score), mean: one(0.0), factor: number(1.0), zero: one(0.0), noise: (noise, 0.0), bent }
    }

    /// One weight: the law of z given two numbers by summing the density over a lattice.
    #[test]
    fn two_views_of_a_weight_by_integration() {
        for (h0, h1, o0, o1, n0, n1) in [(3.0, 2.0, 4.0, 1.0, 5.0, 2.0), (2.0, 2.0, -1.0, 1.5, 0.5, 0.7), (1.0, 4.0, 2.0, 3.0, 1.0, 9.0)] {
            let (away, precision) = (0.3, 0.8);
            let own = f64::max(h0 - h1, 0.0);
            // The errors of rows that both share are e, the rest of those of the first look and its noise are one number.
            let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
            for i in -400..=400 {
                let z = f64::from(i) / 50.0;
                for j in -400..=400 {
                    let e = f64::from(j) / 400.0 * 8.0 * f64::sqrt(h1);
                    let ln = precision * (z - away).powi(2)
                        + e * e / h1
                        + (o1 - h1 * z - e).powi(2) / n1
                        + (o0 - h0 * z - e).powi(2) / (n0 + own);
                    let p = (-0.5 * ln).exp();
                    (total, mean, square) = (total + p, mean + p * z, square + p * z * z);
                }
            }
            let (mean, variance) = (mean / total, square / total - (mean / total).powi(2));
            let seen = Seen { information: number(h1), scores: Vector::from_element(1, o1), noise: n1 };
            let (z, spread) = view(h0, o0, n0, 0.0).beside((&Vector::from_element(1, away), &number(precision)), &seen).unwrap();
            assert!((z[0] - mean).abs() < 1e-6 && (spread[(0, 0)].powi(2) / variance - 1.0).abs() < 1e-5, "{z} {mean} {spread} {variance}");
        }
    }

    /// A first look that may be far off, or that is all noise, changes nothing.
    #[test]
    fn a_view_that_says_nothing_is_left_out() {
        let (away, precision) = (Vector::from_element(1, 0.3), number(0.8));
        let seen = Seen { information: number(2.0), scores: Vector::from_element(1, 1.5), noise: 0.7 };
        let believed = 2.0 / 2.7;
        let alone = (0.8 * 0.3 + believed * 1.5) / (0.8 + believed * 2.0);
        for first in [view(2.0, -9.0, 1e12, 0.0), view(2.0, -9.0, 1.0, 1e6)] {
            assert!((first.beside((&away, &precision), &seen).unwrap().0[0] - alone).abs() < 1e-6);
        }
    }
}
