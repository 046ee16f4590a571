//! Potentials of a chain: the weighted loss of private rows plus a Gaussian prior.

use crate::kernel::{Design, KernelError, Likelihood};
use crate::mechanism::MechanismError;

/// A differentiable negative log-density.
pub trait Potential: Send {
    fn dimension(&self) -> usize;
    /// Writes the gradient at `theta`.
    fn gradient(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<(), MechanismError>;
}

/// `weight * sum of losses + 1/2 sum_j precision_j (theta_j - mean_j)^2`.
pub struct Posterior<'a> {
    likelihood: Likelihood<'a>,
    weight: f64,
    prior: Vec<(f64, f64)>,
}

impl<'a> Posterior<'a> {
    /// `score_bound` is B of the certificate, enforced on every row; `prior` gives precision and mean of each coefficient.
    pub fn new(design: &'a Design, score_bound: f64, weight: f64, prior: Vec<(f64, f64)>) -> Result<Posterior<'a>, MechanismError> {
        let likelihood = Likelihood::new(design, score_bound)?;
        let proper = |(precision, mean): &(f64, f64)| *precision >= 0.0 && precision.is_finite() && mean.is_finite();
        let good = weight > 0.0 && weight.is_finite() && prior.iter().all(proper) && prior.len() == likelihood.dimension();
        if good { Ok(Posterior { likelihood, weight, prior }) } else { Err(MechanismError::Parameter) }
    }
}

impl Potential for Posterior<'_> {
    fn dimension(&self) -> usize {
        self.prior.len()
    }

    fn gradient(&mut self, theta: &[f64], gradient: &mut [f64]) -> Result<(), MechanismError> {
        self.likelihood.gradient(theta, gradient)?;
        for ((g, t), (precision, mean)) in gradient.iter_mut().zip(theta).zip(&self.prior) {
            *g = self.weight * *g + precision * (t - mean);
        }
        Ok(())
    }
}

impl From<KernelError> for MechanismError {
    fn from(_: KernelError) -> MechanismError {
        MechanismError::Parameter
    }
}
