//! The posterior of regression weights given noisy second moments: a chain over the moments, weights in closed form (rule book §15);
//! of logistic weights given noisy scores, a normal law (§20).

use super::Posterior;
use crate::dist::sample::uniform;
use crate::mechanism::plan::{WholeFamily, WholeLaw, WholeNoise};
use crate::mechanism::whole::steps::state;
use crate::numeric::dense::{Matrix, cholesky, factor_of_inverse, factor_of_sum};
use crate::numeric::logistic::{CURVATURE, Look, look, symmetric};
use crate::run::bits::Bits;
use rand::RngExt;
use rand_distr::StandardNormal;

type Vector = nalgebra::DVector<f64>;

/// States that are kept, one in `THIN`, after `FIRST` that are not.
const KEPT: usize = 1000;
const THIN: usize = 10;
const FIRST: usize = 2000;

/// The posterior of the weights of a plan; `noisy` are the products with i <= j row by row, then the sums.
pub(super) fn given(law: &WholeLaw, rows: f64, noisy: &[f64], rng: &mut Bits) -> Option<Posterior> {
    let (WholeFamily::Weights { mean, precision, sd, norm }, WholeNoise::Moments { products, sums }) = (&law.family, law.noise) else {
        return None;
    };
    let d = mean.len();
    let mean = Vector::from_row_slice(mean);
    let precision = (precision.len() == d * d).then(|| Matrix::from_row_slice(d, d, precision))?;
    if rows < 1.0 {
        return Some(normal(&mean, &factor_of_inverse(&cholesky(precision)?)));
    }
    let (upper, sums_seen) = noisy.split_at_checked(d * (d + 1) / 2)?;
    let moments = Moments {
        mean,
        precision,
        sd: *sd,
        trace: rows * norm * norm,
        products: symmetric(d, upper),
        products_noise: products,
        sums: Vector::from_row_slice(sums_seen),
        sums_noise: sums,
    };
    if moments.sums.len() == d { moments.posterior(rng) } else { None }
}

/// The normal law of means given a noisy sum of their rows: `S~ ~ N(n mu, n C + sigma^2 I)`, so its precision is that of the prior and
/// `n^2 (n C + sigma^2 I)^-1`.
pub(super) fn means(law: &WholeLaw, rows: f64, noisy: &[f64]) -> Option<Posterior> {
    let (WholeFamily::Means { precision, precision_mean, covariance }, WholeNoise::Gaussian { sigma }) = (&law.family, law.noise) else {
        return None;
    };
    let d = precision_mean.len();
    let square = |m: &[f64]| (m.len() == d * d).then(|| Matrix::from_row_slice(d, d, m));
    let (mut precision, mut moment) = (square(precision)?, Vector::from_row_slice(precision_mean));
    // No row says nothing, and noise around 0 nothing either.
    if rows >= 1.0 {
        let spread = square(covariance)? * (1.0 / rows) + Matrix::identity(d, d) * (sigma / rows * (sigma / rows));
        // The inverse of the spread is L^-T L^-1.
        let inverse = cholesky(spread)?.solve_lower_triangular(&Matrix::identity(d, d))?;
        let seen = inverse.transpose() * &inverse;
        let mean_of_rows = Vector::from_row_slice(noisy.get(noisy.len().checked_sub(d)?..)?) * (1.0 / rows);
        moment += &seen * mean_of_rows;
        precision += seen;
    }
    let lower = cholesky(precision)?;
    let mean = lower.tr_solve_lower_triangular(&lower.solve_lower_triangular(&moment)?)?;
    Some(normal(&mean, &factor_of_inverse(&lower)))
}

/// The normal law of logistic weights given noisy products and scores (rule book §20).
pub(super) fn seen(law: &WholeLaw, noisy: &[f64]) -> Option<Posterior> {
    let (WholeFamily::Scored { mean, precision, law: rows }, WholeNoise::Scores { scores: sd, .. }) = (&law.family, law.noise) else {
        return None;
    };
    let statistics = noisy.split_at_checked(mean.len() * (mean.len() + 1) / 2)?;
    let Look { mean, factor, .. } = look((mean, precision), statistics, CURVATURE * rows.trials(), sd)?;
    Some(normal(&mean, &factor))
}

/// The normal law of weights in released coordinates, after all steps (rule book §20).
pub(super) fn stepwise(law: &WholeLaw, rows: f64, noisy: &[f64]) -> Option<Posterior> {
    let (mean, factor) = state(law, rows, noisy)?.weights();
    Some(normal(&mean, &factor))
}

fn normal(mean: &Vector, factor: &Matrix) -> Posterior {
    let rows = factor.row_iter().enumerate().map(|(i, row)| row.iter().take(i + 1).copied().collect());
    Posterior::MultiNormal { mean: mean.iter().copied().collect(), factor: rows.collect() }
}

/// A regression with known sd, and what was released of its rows.
pub(super) struct Moments {
    pub mean: Vector,
    pub precision: Matrix,
    pub sd: f64,
    /// Upper bound on the trace of the true products.
    pub trace: f64,
    /// `sum x x'` and its noise, `sum x y` and its noise (standard deviations).
    pub products: Matrix,
    pub products_noise: f64,
    pub sums: Vector,
    pub sums_noise: f64,
}

impl Moments {
    /// A mixture of normal laws, one for each kept state. `None` where no products are in reach of doubles.
    ///
    /// Given the true products S the released sums are normal, `N(S w, sd^2 S + noise^2 I)`, so the weights are: integrated out,
    /// the sums are `N(S m, S V S + sd^2 S + noise^2 I)`. What is left is a law of S alone: normal around what was released,
    /// times that density, over positive definite S with a trace that the rows can have. Elliptical slice sampling (Murray,
    /// Adams, MacKay 2010) leaves it unchanged and needs no tuning.
    pub fn posterior(&self, rng: &mut Bits) -> Option<Posterior> {
        let prior = cholesky(self.precision.clone())?;
        let centre = &self.products;
        let mut state = self.start()?;
        let mut level = self.ln_likelihood(&state, &prior).filter(|l| !l.is_nan()).unwrap_or(f64::NEG_INFINITY);
        let mut components = Vec::with_capacity(KEPT);
        for step in 0..FIRST + KEPT * THIN {
            let other = self.tossed(rng);
            let threshold = level + uniform(rng).max(f64::MIN_POSITIVE).ln();
            let mut angle = std::f64::consts::TAU * uniform(rng);
            let (mut low, mut high) = (angle - std::f64::consts::TAU, angle);
            let away = &state - centre;
            // The bracket shrinks to where we are, by a half or so every time.
            for _ in 0..64 {
                let next = centre + &away * angle.cos() + &other * angle.sin();
                if let Some(found) = self.ln_likelihood(&next, &prior).filter(|l| *l >= threshold) {
                    (state, level) = (next, found);
                    break;
                }
                if angle < 0.0 {
                    low = angle
                } else {
                    high = angle
                }
                angle = low + (high - low) * uniform(rng);
            }
            if step >= FIRST && step % THIN == 0 {
                components.push(self.weights(&state, &prior)?);
            }
        }
        let weights = vec![1.0 / components.len() as f64; components.len()];
        Some(Posterior::Mixture { weights, components })
    }

    /// Noise on the products.
    fn tossed(&self, rng: &mut Bits) -> Matrix {
        let d = self.products.nrows();
        let mut toss = |i: usize, j: usize| if i < j { 0.0 } else { self.products_noise * rng.sample::<f64, _>(StandardNormal) };
        let mut out = Matrix::from_fn(d, d, &mut toss);
        out.fill_upper_triangle_with_lower_triangle();
        out
    }

    /// Products that rows can have, near those released.
    fn start(&self) -> Option<Matrix> {
        let d = self.products.nrows();
        let mut shift = 0.0;
        for _ in 0..200 {
            let near = &self.products + Matrix::from_diagonal_element(d, d, shift);
            let near = &near * (0.99 * self.trace / near.trace()).clamp(0.0, 1.0);
            if cholesky(near.clone()).is_some() {
                return Some(near);
            }
            shift = (2.0 * shift).max(1e-3 * self.products_noise);
        }
        None
    }

    /// Of the released sums given products S, weights integrated out; `None` where no rows have these products.
    fn ln_likelihood(&self, s: &Matrix, prior: &Matrix) -> Option<f64> {
        if s.trace() > self.trace {
            return None;
        }
        let factor = factor_of_sum(&[(1.0, &prior.solve_lower_triangular_unchecked(s)), (1.0, &self.noise(s)?.transpose())]);
        let left = factor.solve_lower_triangular_unchecked(&self.off(s)).norm_squared();
        Some(-0.5 * (left + 2.0 * factor.diagonal().iter().map(|x| x.ln()).sum::<f64>()))
    }

    /// The factor of the covariance of the released sums given products S and the weights; `None` unless S is positive definite.
    fn noise(&self, s: &Matrix) -> Option<Matrix> {
        let unit = Matrix::identity(s.nrows(), s.nrows());
        Some(factor_of_sum(&[(self.sd, &cholesky(s.clone())?.transpose()), (self.sums_noise, &unit)]))
    }

    /// What the sums are away from those of the prior's mean.
    fn off(&self, s: &Matrix) -> Vector {
        &self.sums - s * &self.mean
    }

    /// The weights given products S and the released sums.
    fn weights(&self, s: &Matrix, prior: &Matrix) -> Option<Posterior> {
        let d = s.nrows();
        let noise = self.noise(s)?;
        // The least squares of prior and sums: their numbers as one column more, turned with the others.
        let mut seen = noise.solve_lower_triangular_unchecked(s).insert_column(d, 0.0);
        seen.set_column(d, &noise.solve_lower_triangular_unchecked(&self.off(s)));
        let both = factor_of_sum(&[(1.0, &prior.transpose().insert_column(d, 0.0)), (1.0, &seen)]);
        let (precision, last) = (both.view((0, 0), (d, d)).into_owned(), both.view((d, 0), (1, d)).transpose());
        let step = precision.tr_solve_lower_triangular_unchecked(&last).column(0).into_owned();
        Some(normal(&(&self.mean + step), &factor_of_inverse(&precision)))
    }
}
