//! The certified Langevin chain: its last state, and nothing else, is released (rule book §14).
//!
//! Step sizes, lengths, start and domain are public functions of the plan that the certificate was made for and of the
//! public number of rows. Between steps nothing is allocated; gradients run on all cores. The chain computes in doubles,
//! which the certificate assumes ideal; its last state is rounded to a public grid like every release.

mod noise;
mod posterior;
mod schedule;

pub use noise::Normals;
pub use posterior::{Posterior, Potential};
pub use schedule::schedule;

use super::MechanismError;
use super::bits::BitSource;
use super::grid::{Number, below};

/// A set that a run of neighbouring coordinates is projected onto.
#[derive(Clone, PartialEq, Debug)]
pub enum Cut {
    /// Every one of these coordinates in `[lo, hi]`.
    Box { at: std::ops::Range<usize>, lo: f64, hi: f64 },
    /// Their L2 norm at most `radius`.
    Ball { at: std::ops::Range<usize>, radius: f64 },
}

/// A chain as data; every field is public.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    /// h and K of each phase: the noise of a step is `sqrt(2 h)`.
    pub phases: Vec<(f64, u64)>,
    /// The convex set that every state is projected onto, as a product over disjoint coordinates.
    pub cuts: Vec<Cut>,
    /// theta_0: public, such as the prior mean.
    pub start: Vec<f64>,
}

/// Binary places of the grid below the least scale that a posterior of smoothness M can have.
const PLACES: i32 = 32;

/// The exponent of the grid for a posterior of at most this curvature, in units of `scale`.
pub fn exponent(smooth: f64, scale: f64) -> i32 {
    below(scale / smooth.sqrt(), PLACES)
}

impl Chain {
    fn check(&self, dimension: usize) -> Result<(), MechanismError> {
        let steps = self.phases.iter().all(|(h, _)| *h > 0.0 && h.is_finite());
        let finite = self.start.iter().all(|x| x.is_finite());
        let proper = self.cuts.iter().all(|cut| match cut {
            Cut::Box { at, lo, hi } => lo <= hi && at.end <= dimension,
            Cut::Ball { at, radius } => *radius > 0.0 && at.end <= dimension,
        });
        if steps && finite && proper && self.start.len() == dimension { Ok(()) } else { Err(MechanismError::Parameter) }
    }

    /// Runs the chain on all cores: its last state.
    pub fn run<P: Potential, B: BitSource>(&self, potential: &mut P, bits: &mut B) -> Result<Vec<f64>, MechanismError> {
        self.check(potential.dimension())?;
        in_threads(|| self.last(potential, bits))?
    }

    /// theta_K.
    fn last<P: Potential, B: BitSource>(&self, potential: &mut P, bits: &mut B) -> Result<Vec<f64>, MechanismError> {
        let mut normals = Normals::new(bits);
        let (mut theta, mut gradient) = (self.start.clone(), vec![0.0; self.start.len()]);
        self.project(&mut theta);
        for (step, steps) in &self.phases {
            let scale = (2.0 * step).sqrt();
            for _ in 0..*steps {
                potential.gradient(&theta, &mut gradient)?;
                for (t, g) in theta.iter_mut().zip(&gradient) {
                    *t += scale * normals.draw()? - step * g;
                }
                self.project(&mut theta);
            }
        }
        Ok(theta)
    }

    /// The nearest point of the set.
    fn project(&self, theta: &mut [f64]) {
        for cut in &self.cuts {
            match cut {
                Cut::Box { at, lo, hi } => {
                    let inside = theta.get_mut(at.clone()).unwrap_or(&mut []);
                    inside.iter_mut().for_each(|t| *t = t.max(*lo).min(*hi));
                }
                Cut::Ball { at, radius } => {
                    let inside = theta.get_mut(at.clone()).unwrap_or(&mut []);
                    let length = inside.iter().map(|t| t * t).sum::<f64>().sqrt();
                    if length > *radius {
                        inside.iter_mut().for_each(|t| *t *= radius / length);
                    }
                }
            }
        }
    }
}

/// The nearest point of the grid, saturating.
pub fn round(x: f64, exponent: i32) -> Number {
    let index = libm::floor(libm::ldexp(x, -exponent) + 0.5) as i128;
    Number::new(index, exponent)
}

/// In a pool of one thread a core, so that gradients are handed from thread to thread without sleeping.
pub(super) fn in_threads<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, MechanismError> {
    let pool = rayon::ThreadPoolBuilder::new().build().map_err(|_| MechanismError::NoThreads)?;
    Ok(pool.install(work))
}
