//! The certified Langevin chain: its last state, and nothing else, is released (rule book §14).
//!
//! Step size, length, start and ball are public and come from the plan that the certificate was made for. Between steps
//! nothing is allocated; gradients run on all cores. The chain computes in doubles, which the certificate assumes ideal;
//! its last state is rounded to a public grid like every release.

mod noise;
mod posterior;

pub use noise::Normals;
pub use posterior::{Posterior, Potential};

use super::bits::BitSource;
use super::grid::{LARGEST_INDEX, Number, below};
use super::{MechanismError, Released};

/// A chain as data; every field is public.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    /// h: of which the noise is `sqrt(2 h)`.
    pub step: f64,
    /// K.
    pub steps: u64,
    /// Radius of the ball around 0 that every state is projected onto, if any.
    pub ball: Option<f64>,
    /// theta_0: 0 or the prior mean; inside the ball.
    pub start: Vec<f64>,
    /// Exponent of the grid of the release.
    pub exponent: i32,
}

/// Binary places of the grid below the least scale that a posterior of smoothness M can have.
const PLACES: i32 = 32;

/// The exponent of the grid for a posterior of at most this curvature.
pub fn exponent(smooth: f64) -> i32 {
    below(1.0 / smooth.sqrt(), PLACES)
}

impl Chain {
    fn check(&self, dimension: usize) -> Result<(), MechanismError> {
        let inside = self.ball.is_none_or(|r| r > 0.0 && norm(&self.start) <= r);
        let finite = self.start.iter().all(|x| x.is_finite());
        if self.step > 0.0 && self.step.is_finite() && inside && finite && self.start.len() == dimension {
            Ok(())
        } else {
            Err(MechanismError::Parameter)
        }
    }

    /// Runs the chain on all cores and rounds its last state.
    pub fn release<P: Potential, B: BitSource>(&self, potential: &mut P, bits: &mut B) -> Result<Released, MechanismError> {
        self.check(potential.dimension())?;
        let last = in_threads(|| self.last(potential, bits))??;
        let components = last.iter().map(|x| round(*x, self.exponent)).collect();
        Ok(Released { components })
    }

    /// theta_K.
    fn last<P: Potential, B: BitSource>(&self, potential: &mut P, bits: &mut B) -> Result<Vec<f64>, MechanismError> {
        let mut normals = Normals::new(bits);
        let (mut theta, mut gradient) = (self.start.clone(), vec![0.0; self.start.len()]);
        let scale = (2.0 * self.step).sqrt();
        for _ in 0..self.steps {
            potential.gradient(&theta, &mut gradient)?;
            for (t, g) in theta.iter_mut().zip(&gradient) {
                *t += scale * normals.draw()? - self.step * g;
            }
            if let Some(radius) = self.ball {
                project(&mut theta, radius);
            }
        }
        Ok(theta)
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The nearest point of the ball.
fn project(theta: &mut [f64], radius: f64) {
    let length = norm(theta);
    if length > radius {
        theta.iter_mut().for_each(|t| *t *= radius / length);
    }
}

/// The nearest point of the grid, saturating.
fn round(x: f64, exponent: i32) -> Number {
    let index = libm::floor(libm::ldexp(x, -exponent) + 0.5) as i128;
    Number::new(index.clamp(-LARGEST_INDEX, LARGEST_INDEX), exponent)
}

/// In a pool of one thread a core, so that gradients are handed from thread to thread without sleeping.
fn in_threads<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, MechanismError> {
    let pool = rayon::ThreadPoolBuilder::new().build().map_err(|_| MechanismError::NoThreads)?;
    Ok(pool.install(work))
}
