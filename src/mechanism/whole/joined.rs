//! The first look beside the steps: two views of the same rows, each with noise of its own (rule book §20).

use crate::model::links::Law;
use crate::numeric::dense::{Matrix, cholesky, factor_of_inverse};
use crate::numeric::logistic::positive_part;
use nalgebra::DVector;

type Vector = DVector<f64>;

/// Sums of scores in the coordinates of a state: `information z`, the sampling error of as many rows, and noise of this variance.
pub(super) struct Seen {
    pub information: Matrix,
    pub scores: Vector,
    pub noise: f64,
}

/// The first look in its own coordinates `w = mean + factor z`: sums at weight 0, as if they were scores of a quadratic.
pub(super) struct First {
    pub law: Law,
    pub mean: Vector,
    pub factor: Matrix,
    /// Products of features, without what no rows can have, and the sums beside them: scores of a slope in the predictor.
    pub products: Matrix,
    pub sums: Vector,
    pub slope: f64,
    /// Variance of the noise on the sums, and of that on the products for the square of the weights.
    pub noise: (f64, f64),
    pub rows: f64,
}

impl First {
    /// As scores of weights about z, spread like this: their information, themselves, and the covariance of what is not sampling error.
    fn scores(&self, (z, spread): (&Vector, &Matrix)) -> Option<(Matrix, Vector, Matrix)> {
        let (d, (bent, _)) = (z.len(), self.law.first_is_off()?);
        let (weights, spread) = (&self.mean + &self.factor * z, &self.factor * spread);
        let size = weights.norm_squared() + spread.norm_squared();
        // Over predictors that are spread out the mean outcome rises less.
        let seen = (&self.products * &weights).dot(&weights) + (&self.products * &spread).dot(&spread);
        let products = &self.products * (self.slope * self.law.flatter(seen / self.rows));
        let scores = self.factor.tr_mul(&(&self.sums - &products * &self.mean));
        let off = self.factor.tr_mul(&(&products * weights));
        let far = off.norm_squared() + self.factor.tr_mul(&(&products * spread)).norm_squared();
        let noise = self.factor.tr_mul(&self.factor) * (self.noise.0 + self.noise.1 * size)
            + &off * off.transpose() * bent.powi(2)
            + Matrix::from_diagonal_element(d, d, bent.powi(2) * far / d as f64);
        Some((self.factor.tr_mul(&(products * &self.factor)), scores, noise))
    }

    /// The mean and the factor of the covariance of z given both, and a prior (mean, precision); `alone` are those of the steps without the first look,
    /// whose noise may not be judged by what it says itself. The errors of rows are the same in both, where the first look has no less information;
    /// `None` where doubles cannot compute it.
    pub fn beside(&self, (away, precision): (&Vector, &Matrix), seen: &Seen, alone: (&Vector, &Matrix)) -> Option<(Vector, Matrix)> {
        let d = away.len();
        let (information, scores, noise) = self.scores(alone)?;
        let more = information - &seen.information;
        let upper: Vec<f64> = (0..d).flat_map(|i| (i..d).map(move |j| (i, j))).map(|at| more.get(at).copied().unwrap_or(0.0)).collect();
        let own = positive_part(d, &upper)?;
        let apart = Matrix::from_diagonal_element(d, d, seen.noise);
        // Of the scores of the steps, and of how much those of the first look differ.
        let above = stacked(&(&seen.information + &apart), &-&apart);
        let below = stacked(&-&apart, &(own + noise + &apart));
        let mut covariance = Matrix::zeros(2 * d, 2 * d);
        covariance.columns_mut(0, d).copy_from(&above);
        covariance.columns_mut(d, d).copy_from(&below);
        let scores = Vector::from_iterator(2 * d, seen.scores.iter().copied().chain((scores - &seen.scores).iter().copied()));
        let root = cholesky(covariance)?;
        let rows = root.solve_lower_triangular(&stacked(&seen.information, &more))?;
        let lower = cholesky(precision + rows.tr_mul(&rows))?;
        let pulled = precision * away + rows.tr_mul(&root.solve_lower_triangular(&scores)?);
        let z = lower.tr_solve_lower_triangular(&lower.solve_lower_triangular(&pulled)?)?;
        let spread = factor_of_inverse(&lower);
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

    fn view(h: f64, score: f64, noise: f64) -> First {
        let one = |x: f64| Vector::from_element(1, x);
        let law = Law::Normal { sd: 1.0 };
        First {
            law,
            products: number(h),
            sums: one(score),
            mean: one(0.0),
            factor: number(1.0),
            slope: 1.0,
            noise: (noise, 0.0),
            rows: 1.0,
        }
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
            let still = (&Vector::zeros(1), &number(1.0));
            let seen = Seen { information: number(h1), scores: Vector::from_element(1, o1), noise: n1 };
            let (z, spread) = view(h0, o0, n0).beside((&Vector::from_element(1, away), &number(precision)), &seen, still).unwrap();
            assert!((z[0] - mean).abs() < 1e-6 && (spread[(0, 0)].powi(2) / variance - 1.0).abs() < 1e-5, "{z} {mean} {spread} {variance}");
        }
    }

    /// A first look that is all noise changes nothing.
    #[test]
    fn a_view_that_says_nothing_is_left_out() {
        let (away, precision) = (Vector::from_element(1, 0.3), number(0.8));
        let seen = Seen { information: number(2.0), scores: Vector::from_element(1, 1.5), noise: 0.7 };
        let (believed, still) = (2.0 / 2.7, (&Vector::zeros(1), &number(1.0)));
        let alone = (0.8 * 0.3 + believed * 1.5) / (0.8 + believed * 2.0);
        let first = view(2.0, -9.0, 1e12);
        assert!((first.beside((&away, &precision), &seen, still).unwrap().0[0] - alone).abs() < 1e-6);
    }

    /// Scores of weights that are far out rise less: by the mean slope of the curve over a normal law.
    #[test]
    fn spread_predictors_make_a_flatter_first_look() {
        for (law, curve) in [
            (Law::Logit { trials: 1 }, (|t| 0.25 / (0.5 * t).cosh().powi(2)) as fn(f64) -> f64),
            (Law::Probit, |t| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt()),
            (Law::Cloglog, |t| (t - t.exp()).exp()),
        ] {
            for v in [0.5f64, 2.0, 10.0, 100.0] {
                let at = |i: i32| f64::from(i) / 100.0;
                let weigh =
                    |f: &dyn Fn(f64) -> f64| (-1000..=1000).map(|i| f(v.sqrt() * at(i)) * (-0.5 * at(i).powi(2)).exp()).sum::<f64>();
                let mean = weigh(&curve) / weigh(&|_| 1.0);
                let told = law.first().0 * law.flatter(v);
                assert!((told / mean - 1.0).abs() < 0.06 || law.flatter(v) == 1.5, "{law:?} {v}: {told} {mean}");
            }
        }
    }
}
