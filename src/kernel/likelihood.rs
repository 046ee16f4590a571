//! The sum of losses over all rows and its gradient, on all cores, with nothing allocated between two evaluations.

use rayon::prelude::*;

use super::KernelError;
use super::design::{Design, Segment};
use super::pass::{Rule, Sums, pass};
use super::tables::Tables;

/// Ranges of rows that are summed by themselves. A constant, so that sums do not depend on the number of threads.
const RANGES: usize = 16;

/// A design matrix with the buffers that its evaluation needs.
///
/// Inside a `rayon` thread pool the ranges are shared out to its threads.
pub struct Likelihood<'a> {
    design: &'a Design,
    bound: f64,
    weights: Vec<Tables>,
    ranges: Vec<(&'a [Segment], Sums)>,
}

impl<'a> Likelihood<'a> {
    /// `score_bound` is the B of the certificate: every residual is clamped to it. Infinite for none.
    pub fn new(design: &'a Design, score_bound: f64) -> Result<Likelihood<'a>, KernelError> {
        if score_bound.is_nan() || score_bound < 0.0 {
            return Err(KernelError::Family);
        }
        let per_range = design.segments.len().div_ceil(RANGES).max(1);
        let ranges = design.segments.chunks(per_range).map(|s| (s, Sums::new(design))).collect();
        let weights = (0..design.family.predictors()).map(|_| Tables::new(&design.layout)).collect();
        Ok(Likelihood { design, bound: score_bound, weights, ranges })
    }

    /// Coefficients of the model.
    pub fn dimension(&self) -> usize {
        self.design.dimension()
    }

    /// Writes the gradient of the sum of losses at `theta`.
    pub fn gradient(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<(), KernelError> {
        self.evaluate(theta, gradient, false).map(|_| ())
    }

    /// Writes the gradient and returns the sum of losses, up to terms that do not depend on `theta`.
    pub fn loss_and_gradient(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<f64, KernelError> {
        self.evaluate(theta, gradient, true)
    }

    fn evaluate(&mut self, theta: &[f64], gradient: &mut [f64], with_loss: bool) -> Result<f64, KernelError> {
        let Likelihood { design, bound, weights, ranges } = self;
        let layout = &design.layout;
        if theta.len() != design.dimension() || gradient.len() != theta.len() {
            return Err(KernelError::Length);
        }
        for (tables, theta) in weights.iter_mut().zip(theta.chunks_exact(layout.dimension())) {
            tables.expand(layout, theta);
        }
        let rule = Rule { family: design.family, bound: *bound, with_loss };
        ranges.par_iter_mut().with_max_len(1).for_each(|(segments, sums)| pass(rule, segments, weights, sums));
        let loss = fold(ranges);
        gradient.fill(0.0);
        if let Some((_, all)) = ranges.first() {
            for (tables, g) in all.gradient.iter().zip(gradient.chunks_exact_mut(layout.dimension())) {
                tables.collect(layout, g);
            }
        }
        Ok(loss)
    }
}

/// Sums in a binary tree, into the first range.
fn fold(ranges: &mut [(&[Segment], Sums)]) -> f64 {
    if ranges.len() > 1 {
        let (low, high) = ranges.split_at_mut(ranges.len().div_ceil(2));
        fold(low);
        fold(high);
        if let (Some((_, a)), Some((_, b))) = (low.first_mut(), high.first()) {
            a.loss += b.loss;
            a.gradient.iter_mut().zip(&b.gradient).for_each(|(a, b)| a.add(b));
        }
    }
    ranges.first().map_or(0.0, |(_, s)| s.loss)
}
