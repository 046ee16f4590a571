//! The posterior of regression weights given noisy second moments: a chain over the moments, weights in closed form (rule book §15).

use super::Posterior;
use super::matrix::{Factor, Matrix};
use crate::dist::sample::uniform;
use crate::mechanism::plan::{WholeFamily, WholeLaw, WholeNoise};
use crate::run::simulate::Bits;
use rand_distr::{Distribution, StandardNormal};

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
    let precision = Matrix { dim: d, entries: precision.clone() };
    if rows < 1.0 {
        return Some(Posterior::MultiNormal { mean: mean.clone(), factor: precision.cholesky()?.of_inverse().rows });
    }
    let (upper, sums_seen) = noisy.split_at_checked(d * (d + 1) / 2)?;
    // Row i of the upper triangle starts after d + (d - 1) + .. numbers.
    let place = |i: usize, j: usize| i * d - i * i.saturating_sub(1) / 2 + j - i;
    let at = |i: usize, j: usize| upper.get(place(i.min(j), i.max(j))).copied().unwrap_or(f64::NAN);
    let moments = Moments {
        mean: mean.clone(),
        precision,
        sd: *sd,
        trace: rows * norm * norm,
        products: Matrix::new(d, at),
        products_noise: products,
        sums: sums_seen.to_vec(),
        sums_noise: sums,
    };
    if moments.sums.len() == d { moments.posterior(rng) } else { None }
}

/// A regression with known sd, and what was released of its rows.
pub(super) struct Moments {
    pub mean: Vec<f64>,
    pub precision: Matrix,
    pub sd: f64,
    /// Upper bound on the trace of the true products.
    pub trace: f64,
    /// `sum x x'` and its noise, `sum x y` and its noise (standard deviations).
    pub products: Matrix,
    pub products_noise: f64,
    pub sums: Vec<f64>,
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
        let prior = self.precision.cholesky()?;
        let centre = &self.products;
        let mut state = self.start()?;
        let mut level = self.ln_likelihood(&state, &prior).filter(|l| !l.is_nan()).unwrap_or(f64::NEG_INFINITY);
        let mut components = Vec::with_capacity(KEPT);
        for step in 0..FIRST + KEPT * THIN {
            let other = self.tossed(rng);
            let threshold = level + uniform(rng).max(f64::MIN_POSITIVE).ln();
            let mut angle = std::f64::consts::TAU * uniform(rng);
            let (mut low, mut high) = (angle - std::f64::consts::TAU, angle);
            let away = state.plus(-1.0, centre);
            // The bracket shrinks to where we are, by a half or so every time.
            for _ in 0..64 {
                let next = centre.plus(angle.cos(), &away).plus(angle.sin(), &other);
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
        let d = self.products.dim;
        let mut out = Matrix::new(d, |_, _| 0.0);
        for i in 0..d {
            for j in i..d {
                let z: f64 = StandardNormal.sample(rng);
                for at in [i * d + j, j * d + i] {
                    if let Some(e) = out.entries.get_mut(at) {
                        *e = self.products_noise * z;
                    }
                }
            }
        }
        out
    }

    /// Products that rows can have, near those released.
    fn start(&self) -> Option<Matrix> {
        let mut shift = 0.0;
        for _ in 0..200 {
            let near = self.products.shifted(shift);
            let near = near.scaled((0.99 * self.trace / near.trace()).clamp(0.0, 1.0));
            if near.cholesky().is_some() {
                return Some(near);
            }
            shift = (2.0 * shift).max(1e-3 * self.products_noise);
        }
        None
    }

    /// Of the released sums given products S, weights integrated out; `None` where no rows have these products.
    fn ln_likelihood(&self, s: &Matrix, prior: &Factor) -> Option<f64> {
        if s.trace() > self.trace {
            return None;
        }
        let factor = Factor::of_rows(&[(1.0, &prior.forward_each(s)), (1.0, &self.noise(s)?.transposed())]);
        let left: f64 = factor.forward(&self.off(s)).iter().map(|x| x * x).sum();
        Some(-0.5 * (left + factor.ln_determinant()))
    }

    /// The covariance of the released sums given products S and the weights; `None` unless S is positive definite.
    fn noise(&self, s: &Matrix) -> Option<Factor> {
        let unit = Matrix::new(s.dim, |i, j| f64::from(u8::from(i == j)));
        Some(Factor::of_rows(&[(self.sd, &s.cholesky()?.transposed()), (self.sums_noise, &unit)]))
    }

    /// What the sums are away from those of the prior's mean.
    fn off(&self, s: &Matrix) -> Vec<f64> {
        self.sums.iter().zip(s.times(&self.mean)).map(|(t, m)| t - m).collect()
    }

    /// The weights given products S and the released sums.
    fn weights(&self, s: &Matrix, prior: &Factor) -> Option<Posterior> {
        let noise = self.noise(s)?;
        let seen = noise.forward_each(s);
        // The least squares of prior and sums: their numbers as one column more, turned with the others.
        let prior = prior.transposed().beside(&vec![0.0; s.dim]);
        let mut precision = Factor::of_rows(&[(1.0, &prior), (1.0, &seen.beside(&noise.forward(&self.off(s))))]);
        let step = precision.rows.pop().map(|last| precision.backward(&last))?;
        let mean = self.mean.iter().zip(step).map(|(m, x)| m + x).collect();
        Some(Posterior::MultiNormal { mean, factor: precision.of_inverse().rows })
    }
}
