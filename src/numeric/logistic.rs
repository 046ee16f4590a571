//! The normal law of regression weights given noisy scores at weight 0 and noisy products of features (rule book §20).

use super::dense::{Matrix, cholesky, factor_of_inverse, factor_of_sum};
use nalgebra::{DVector, SymmetricEigen};

/// The second derivative of the quadratic nearest to the loss `ln(1 + exp(t)) - t y` of one trial: least squares over 200
/// Chebyshev points of predictors in [-4, 4].
pub const CURVATURE: f64 = 0.16334;
/// Rotations of an eigenvalue decomposition; a few times the dimension are enough.
pub const MOST_ROTATIONS: usize = 100_000;

/// The part of the features' size that is along one axis where there is an intercept, or what is like one.
const ALONE: f64 = 2.0 / 3.0;
/// Predictors nearer to 0 than this are taken for this: a curve is straight there.
const NEAR: f64 = 1e-3;
/// How often a look is taken again, half of the way each time.
const LOOKS: usize = 30;
/// What the first look told counts for at least this part in a second stage.
const WIDEST: f64 = 100.0;
/// Of what a draw may spend, the share at which a typical row keeps its weight.
const TARGET: f64 = 0.6;

/// By how much less a second stage takes for known what the first look told: `(mu / .6)^2 n / trace`, from 1 to 100, for the trace of
/// the looked variances times the products of features.
pub fn wider(mu: f64, rows: f64, trace: f64) -> f64 {
    if trace > 0.0 { ((mu / TARGET).powi(2) * rows / trace).clamp(1.0, WIDEST) } else { WIDEST }
}

/// The square of how much flatter a logistic curve is over normal predictors of this variance than at 0, about.
pub fn flatter(variance: f64) -> f64 {
    1.0 + std::f64::consts::PI / 8.0 * variance
}

/// A symmetric matrix from its entries with i <= j, row by row.
pub fn symmetric(d: usize, upper: &[f64]) -> Matrix {
    // Row i starts after d + (d - 1) + .. numbers.
    let place = |i: usize, j: usize| i * d - i * i.saturating_sub(1) / 2 + j - i;
    Matrix::from_fn(d, d, |i, j| upper.get(place(i.min(j), i.max(j))).copied().unwrap_or(f64::NAN))
}

/// The axes of a symmetric matrix and its size along each, without what is negative; `None` where doubles cannot compute them.
fn positive(d: usize, upper: &[f64]) -> Option<(Matrix, DVector<f64>)> {
    let seen = symmetric(d, upper);
    if seen.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::try_new(seen, f64::EPSILON, MOST_ROTATIONS)?;
    Some((eigenvectors, eigenvalues.map(|x| x.max(0.0))))
}

/// The nearest products that rows can have.
pub fn positive_part(d: usize, upper: &[f64]) -> Option<Matrix> {
    let (axes, sizes) = positive(d, upper)?;
    Some(&axes * Matrix::from_diagonal(&sizes) * axes.transpose())
}

/// Normal weights: their mean, and the lower triangular factor of their covariance.
#[derive(Clone, PartialEq, Debug)]
pub struct Look {
    pub mean: DVector<f64>,
    pub factor: Matrix,
    /// The products without what no rows can have: the positive part of those that were seen.
    pub products: Matrix,
    /// Lower triangular, of the precision of the prior.
    prior: Matrix,
    /// Any root `R`, `R' R` the precision that the statistics added.
    told: Matrix,
}

impl Look {
    /// Where nothing was seen; `None` where the precision is none.
    pub fn nothing(mean: &[f64], precision: &[f64]) -> Option<Look> {
        let d = mean.len();
        let prior = cholesky(Matrix::from_row_slice(d, d, precision))?;
        let (factor, none) = (factor_of_inverse(&prior), Matrix::zeros(d, d));
        Some(Look { mean: DVector::from_column_slice(mean), factor, products: none.clone(), prior, told: none })
    }

    /// The factor of the covariance if the statistics told so many times less: what only the prior says stays as it is.
    pub fn widened(&self, times: f64) -> Matrix {
        factor_of_inverse(&factor_of_sum(&[(1.0, &self.prior.transpose()), (times.sqrt().recip(), &self.told)]))
    }
}

/// From a prior (mean, precision), the products with i <= j and the scores as they left, the curvature of a loss in its predictor (of
/// a trial `CURVATURE`), and the sd of the noise on scores.
///
/// With `H = curvature S+` the scores are `H w` with noise of that variance: `K = H (H + sd^2)^-1`, precision `P0 + K H`.
/// `None` where doubles cannot compute it.
pub fn look((mean, precision): (&[f64], &[f64]), (upper, scores): (&[f64], &[f64]), curvature: f64, sd: f64) -> Option<Look> {
    let d = mean.len();
    if precision.len() != d * d || scores.len() != d || upper.len() != d * (d + 1) / 2 || sd.is_nan() || sd <= 0.0 {
        return None;
    }
    if scores.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let (axes, sizes) = positive(d, upper)?;
    let products = &axes * Matrix::from_diagonal(&sizes) * axes.transpose();
    // How much of a score is believed along every axis, and the information that is left: K and K H.
    let believed = sizes.map(|x| {
        let h = curvature * x;
        h / (h + sd * sd)
    });
    let root = |(x, k): (&f64, &f64)| (curvature * x * k).sqrt();
    let roots = DVector::from_iterator(d, sizes.iter().zip(believed.iter()).map(root));
    let prior = cholesky(Matrix::from_row_slice(d, d, precision))?;
    let root = Matrix::from_diagonal(&roots) * axes.transpose();
    let lower = factor_of_sum(&[(1.0, &prior.transpose()), (1.0, &root)]);
    let scored = &axes * believed.component_mul(&(axes.transpose() * DVector::from_row_slice(scores)));
    let prior_mean = DVector::from_row_slice(mean);
    let pulled = &prior * (prior.transpose() * &prior_mean) + scored;
    let mean = lower.tr_solve_lower_triangular(&lower.solve_lower_triangular(&pulled)?)?;
    let factor = factor_of_inverse(&lower);
    mean.iter().chain(factor.iter()).all(|x| x.is_finite()).then_some(Look { mean, factor, products, prior, told: root })
}

/// What scores are on average for weights: `chord w`, which changes by `tangent` where the weights do, and the variance of the scores of rows.
struct Rise {
    chord: Matrix,
    tangent: Matrix,
    variance: Matrix,
}

impl Look {
    /// Of predictors that are spread as the weights found say: normal, `1/4 (1 + pi v / 8)^-1/2` of a variance v (Stein 1981), so that sums say little of how
    /// large weights are where predictors are wide; where most of the features' size is along one axis, of that size along this one, as with an intercept.
    fn rise(&self, (axis, size): (&DVector<f64>, f64), trials: f64, rows: f64) -> Rise {
        let seen = &self.products * &self.mean;
        let square = seen.dot(&self.mean) / rows;
        if size > ALONE * self.products.trace() {
            let at = (axis.dot(&self.mean) * (size / rows).sqrt()).abs().max(NEAR);
            let smaller = flatter((square - at * at).max(0.0)).sqrt().recip();
            let p = 1.0 / (1.0 + (-at * smaller).exp());
            let (chord, slope) = (trials * (p - 0.5) / at, trials * smaller * p * (1.0 - p));
            let tangent = &self.products * slope;
            return Rise { chord: &tangent + axis * axis.transpose() * (size * (chord - slope)), variance: tangent.clone(), tangent };
        }
        let flat = flatter(square);
        let slope = 0.25 * trials / flat.sqrt();
        let chord = &self.products * slope;
        Rise {
            tangent: &chord - &seen * seen.transpose() * (slope * (1.0 - 1.0 / flat) / seen.dot(&self.mean).max(f64::MIN_POSITIVE)),
            variance: chord.clone(),
            chord,
        }
    }
}

/// The same of `trials` trials from what the first look says, step by step, with scores that rise as the weights that are found say.
pub fn look_again(prior: (&[f64], &[f64]), left: (&[f64], &[f64]), trials: f64, sd: f64, rows: f64) -> Option<Look> {
    let mut found = look(prior, left, CURVATURE * trials, sd)?;
    let SymmetricEigen { eigenvectors, eigenvalues } = SymmetricEigen::try_new(found.products.clone(), f64::EPSILON, MOST_ROTATIONS)?;
    let (place, size) = eigenvalues.argmax();
    let axis = eigenvectors.column(place).into_owned();
    let (center, scores) = (DVector::from_column_slice(prior.0), DVector::from_column_slice(left.1));
    let noise = Matrix::from_diagonal_element(center.len(), center.len(), sd * sd);
    for _ in 0..LOOKS {
        let Rise { chord, tangent, variance } = found.rise((&axis, size), trials, rows);
        let root = cholesky(variance + &noise)?;
        found.told = root.solve_lower_triangular(&tangent)?;
        let lower = factor_of_sum(&[(1.0, &found.prior.transpose()), (1.0, &found.told)]);
        let off = root.solve_lower_triangular(&(&scores - chord * &found.mean))?;
        let pulled = found.told.tr_mul(&off) + &found.prior * found.prior.tr_mul(&(&center - &found.mean));
        let step = lower.tr_solve_lower_triangular(&lower.solve_lower_triangular(&pulled)?)?;
        found.mean += 0.5 * step;
        found.factor = factor_of_inverse(&lower);
    }
    found.mean.iter().chain(found.factor.iter()).all(|x| x.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    /// The constant by the normal equations at the nodes.
    #[test]
    fn the_curvature_is_that_of_the_nearest_quadratic() {
        let nodes: Vec<f64> = (0..200).map(|k| 4.0 * (std::f64::consts::PI * (f64::from(k) + 0.5) / 200.0).cos()).collect();
        let loss = |t: &f64| (-t).exp().ln_1p() + t / 2.0;
        let mean = |f: &dyn Fn(&f64) -> f64| nodes.iter().map(f).sum::<f64>() / 200.0;
        let (squares, fourths) = (mean(&|t| t * t), mean(&|t| t.powi(4)));
        let slope = (mean(&|t| t * t * loss(t)) - squares * mean(&loss)) / (fourths - squares * squares);
        assert!((2.0 * slope - CURVATURE).abs() < 5e-6, "{}", 2.0 * slope);
    }

    /// One weight, where every matrix is a number.
    #[test]
    fn one_weight_by_hand() {
        let (m0, p0, s, h, sd) = (0.5, 0.25, 300.0, 40.0, 12.0);
        let found = look((&[m0], &[p0]), (&[s], &[h]), 2.0 * CURVATURE, sd).unwrap();
        let curve = 2.0 * CURVATURE * s;
        let k = curve / (curve + sd * sd);
        let precision = p0 + k * curve;
        assert!((found.mean[0] - (p0 * m0 + k * h) / precision).abs() < 1e-12);
        assert!((found.factor[(0, 0)].powi(2) * precision - 1.0).abs() < 1e-12);
        let wide = found.widened(7.0)[(0, 0)];
        assert!((wide.powi(2) * (p0 + k * curve / 7.0) - 1.0).abs() < 1e-12 && found.widened(1.0) == found.factor);
    }

    /// Sums over rows of normal features, by integration, and over rows with an intercept: weights come back, where one look finds a part of them.
    #[test]
    fn weights_come_back_where_predictors_are_wide() {
        let (rows, sd) = (1e8, 1.0);
        let scored = |mean: f64, spread: f64, weight: &dyn Fn(f64) -> f64| -> f64 {
            let at = |i: i32| f64::from(i) / 100.0;
            let one = |z: f64| weight(z) * (-0.5 * z * z).exp() * (1.0 / (1.0 + (-mean - spread * z).exp()) - 0.5);
            (-800..=800).map(|i| one(at(i))).sum::<f64>() / 100.0 / std::f64::consts::TAU.sqrt()
        };
        for wide in [0.5, 3.0, 6.0] {
            // Three features of the same size; weights along one direction.
            let way = [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];
            let along = rows * scored(0.0, wide, &|z| z);
            let left: Vec<f64> = way.iter().map(|x| along * x).collect();
            let products = [rows, 0.0, 0.0, rows, 0.0, rows];
            let precision: Vec<f64> = (0..9).map(|i| if i % 4 == 0 { 1e-4 } else { 0.0 }).collect();
            let prior = (&[0.0; 3][..], precision.as_slice());
            let error = |found: &Look| found.mean.iter().zip(way).map(|(m, x)| (m - wide * x).abs()).fold(0.0, f64::max) / wide;
            let found = look_again(prior, (&products, &left), 1.0, sd, rows).unwrap();
            assert!(error(&found) < 0.08, "{wide} {}", found.mean);
            let once = look(prior, (&products, &left), CURVATURE, sd).unwrap();
            assert!(error(&once) > 3.0 * error(&found), "{wide} {}", once.mean);
            // An intercept of -wide beside a small feature.
            let size: f64 = 0.3;
            let left = [rows * scored(-wide, size, &|_| 1.0), rows * size * scored(-wide, size, &|z| z)];
            let prior = (&[0.0; 2][..], &[1e-4, 0.0, 0.0, 1e-4][..]);
            let found = look_again(prior, (&[rows, 0.0, rows * size * size], &left), 1.0, sd, rows).unwrap();
            assert!((found.mean[0] / -wide - 1.0).abs() < 0.02 && (found.mean[1] - 1.0).abs() < 0.05, "{wide} {}", found.mean);
        }
    }

    /// Nothing of negative products is believed: the prior comes back.
    #[test]
    fn without_products_there_is_the_prior() {
        let precision = [2.0, 0.5, 0.5, 1.0];
        let found = look((&[1.0, -1.0], &precision), (&[-5.0, 0.0, -7.0], &[100.0, -100.0]), CURVATURE, 3.0).unwrap();
        let covariance = &found.factor * found.factor.transpose();
        let unit = Matrix::from_row_slice(2, 2, &precision) * covariance;
        assert!((unit - Matrix::identity(2, 2)).amax() < 1e-12 && (found.mean[0] - 1.0).abs() < 1e-12, "{found:?}");
        assert!(look((&[0.0], &[1.0]), (&[f64::NAN], &[0.0]), 1.0, 1.0).is_none());
        assert!(look((&[0.0], &[0.0]), (&[1.0], &[0.0]), 1.0, 1.0).is_none());
    }
}
