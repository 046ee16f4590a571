//! A linear regression in steps: what the numbers that left say of the weights, and what leaves next (rule book §20).
//!
//! Everything here is a function of the plan, of the public number of rows and of released numbers: the mechanism asks it what to
//! release next, and who reads the release asks it for the posterior.

use super::super::plan::{CURVED, STEP, STEPS, WholeFamily, WholeLaw, WholeNoise};
use crate::numeric::dense::Matrix;
use crate::numeric::logistic::{Look, look, positive_part};
use crate::numeric::round::{div_up, mul_down, mul_up};
use nalgebra::DVector;

type Vector = DVector<f64>;

/// Residuals are cut at so many sd, and at what the weights may still be away.
const REACH: f64 = 3.0;
/// What rounding to their grid may add to how far products move, in parts of it.
const SLACK: f64 = 1.0 / (1u64 << 30) as f64;
/// Bounds and costs beyond these end the steps: doubles have room around them.
const LEAST: f64 = 1e-100;
const MOST: f64 = 1e100;
const LEAST_MU: f64 = 1e-9;
/// How often the first look is taken again with the noise that its own weights bring.
const LOOKS: usize = 10;

/// What the numbers that left say: `w = mean + factor z`, and z is normal.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub mean: Vector,
    pub factor: Matrix,
    pub z: Vector,
    pub spread: Matrix,
    /// What leaves next.
    pub next: Option<Next>,
}

/// Sums over rows of `u = factor' x` and of residuals `r = y - x'mean - u'z`, with `a = min(1, (cut / |u|)^2)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Next {
    /// Of `a u u'` (places i <= j), with noise of this sd and, off the diagonal, of that over the root of 2.
    Products { cut: f64, bound: f64, sd: f64 },
    /// Of `a r u`, r cut to `[-clip, clip]`.
    Scores { cut: f64, clip: f64, bound: f64, sd: f64 },
}

/// A plan, and what it says of its prior and noise.
struct Plan<'a> {
    mean: &'a [f64],
    precision: &'a [f64],
    sd: f64,
    products: f64,
    scores: f64,
    most: f64,
    mu: f64,
}

/// The state after these numbers; `None` for another plan, or where doubles cannot compute the first look.
pub fn state(law: &WholeLaw, rows: f64, left: &[f64]) -> Option<State> {
    let (WholeFamily::Weights { mean, precision, sd, .. }, WholeNoise::Steps { products, scores, most, mu }) = (&law.family, law.noise)
    else {
        return None;
    };
    let plan = Plan { mean, precision, sd: *sd, products, scores, most, mu };
    let d = mean.len();
    let (first, rest) = left.split_at_checked(d * (d + 3) / 2)?;
    let found = plan.first(first)?;
    let cut = ((found.factor.transpose() * &found.products * &found.factor).trace() / rows).sqrt();
    plan.after(found, cut, rest)
}

impl Plan<'_> {
    /// The first look: products and sums `x y` at weight 0. The noise on the products counts as noise on the sums, of the size
    /// that the weights say: an entry of `E w` has variance `products^2 / 2 (|w|^2 + w_i^2)`.
    fn first(&self, left: &[f64]) -> Option<Look> {
        let d = self.mean.len();
        let (upper, sums) = left.split_at_checked(d * (d + 1) / 2)?;
        let row = self.sd * self.sd;
        let scores: Vec<f64> = sums.iter().map(|x| x / row).collect();
        let mut weights = 0.0;
        let mut found = None;
        for _ in 0..LOOKS {
            let noise = (self.scores.powi(2) + 0.5 * self.products.powi(2) * weights * (1.0 + 1.0 / d as f64)).sqrt();
            let seen = look((self.mean, self.precision), (upper, &scores), 1.0 / row, noise / row)?;
            weights = seen.mean.norm_squared() + seen.factor.norm_squared();
            found = Some(seen);
        }
        found
    }

    /// The steps that have left, one after the other: each one's residuals are weighted by their precision.
    fn after(&self, first: Look, cut: f64, left: &[f64]) -> Option<State> {
        let d = self.mean.len();
        let mut state = State { mean: first.mean, factor: first.factor, z: Vector::zeros(d), spread: Matrix::identity(d, d), next: None };
        let square = cut * cut;
        if !(LEAST..=MOST).contains(&square) || self.mu < LEAST_MU {
            return Some(state);
        }
        let Some((upper, mut left)) = left.split_at_checked(d * (d + 1) / 2) else {
            // Two positive semidefinite matrices of this norm are at most sqrt(2) times as far apart.
            let moved = mul_up(mul_up(std::f64::consts::SQRT_2.next_up(), 1.0 + SLACK), square);
            state.next = Some(Next::Products { cut, bound: square, sd: div_up(moved, mul_down(CURVED, self.mu)) });
            return Some(state);
        };
        let row = self.sd * self.sd;
        let (Some(products), Some(away)) =
            (positive_part(d, upper), state.factor.solve_lower_triangular(&(Vector::from_row_slice(self.mean) - &state.mean)))
        else {
            return Some(state);
        };
        let precision = state.factor.transpose() * Matrix::from_row_slice(d, d, self.precision) * &state.factor;
        // Sums over the steps of the reciprocal of the variance: alone, times z, times the residuals.
        let (mut sure, mut place, mut pull) = (0.0, Vector::zeros(d), Vector::zeros(d));
        for step in 0..STEPS {
            let width = if step == 0 { 2.0 } else { (state.spread.norm_squared() / d as f64).sqrt() };
            let clip = (REACH * self.sd + cut * width).min(2.0 * self.most);
            let bound = clip * cut;
            if !(LEAST..=MOST).contains(&bound) {
                return Some(state);
            }
            let sd = div_up(2.0 * bound, mul_down(STEP, self.mu));
            let Some((scores, rest)) = left.split_at_checked(d) else {
                state.next = Some(Next::Scores { cut, clip, bound, sd });
                return Some(state);
            };
            left = rest;
            let weight = 1.0 / (sd * sd);
            sure += weight;
            place += weight * &state.z;
            pull += weight * Vector::from_row_slice(scores);
            let seen = (&products * &place + &pull) / (sure * row);
            let noise = 1.0 / (sure.sqrt() * row);
            // What doubles cannot use is left out.
            if let Some(found) = look((away.as_slice(), precision.as_slice()), (upper, seen.as_slice()), 1.0 / row, noise) {
                (state.z, state.spread) = (found.mean, found.factor);
            }
        }
        Some(state)
    }
}

impl State {
    /// The weights: their mean, and the lower triangular factor of their covariance.
    pub fn weights(&self) -> (Vector, Matrix) {
        (&self.mean + &self.factor * &self.z, &self.factor * &self.spread)
    }
}
