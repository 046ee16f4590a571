//! Rows with one linear predictor: the fused kernel of regressions computes their losses.

use super::Operand;
use crate::kernel::{Design, KernelError, Likelihood};

/// A design matrix whose coefficients are shared numbers of a program, in the order of its layout.
pub struct Fused<'a> {
    likelihood: Likelihood<'a>,
    coefficients: Vec<Operand>,
    theta: Vec<f64>,
    gradient: Vec<f64>,
}

impl<'a> Fused<'a> {
    /// One coefficient for each of the design's dimensions.
    pub fn new(design: &'a Design, coefficients: Vec<Operand>) -> Result<Fused<'a>, KernelError> {
        let likelihood = Likelihood::new(design, f64::INFINITY)?;
        if likelihood.dimension() != coefficients.len() {
            return Err(KernelError::Length);
        }
        let zeros = vec![0.0; coefficients.len()];
        Ok(Fused { likelihood, coefficients, theta: zeros.clone(), gradient: zeros })
    }

    /// The sum of losses; derivatives are added to `sums`.
    pub(super) fn loss(&mut self, shared: &[f64], sums: Option<&mut Vec<f64>>) -> f64 {
        for (theta, from) in self.theta.iter_mut().zip(&self.coefficients) {
            *theta = match from {
                Operand::Constant(x) => *x,
                Operand::Shared(i) => shared.get(*i as usize).copied().unwrap_or(f64::NAN),
                Operand::Column(_) | Operand::Local(_) => f64::NAN,
            };
        }
        let loss = self.likelihood.loss_and_gradient(&self.theta, &mut self.gradient).unwrap_or(f64::NAN);
        if let Some(sums) = sums {
            for (from, g) in self.coefficients.iter().zip(&self.gradient) {
                if let Operand::Shared(i) = from
                    && let Some(sum) = sums.get_mut(*i as usize)
                {
                    *sum += g;
                }
            }
        }
        loss
    }
}
