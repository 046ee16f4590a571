//! Coordinates in which a posterior of many weights is nearly round: its mode, and the curvature there by differences of gradients.

use nalgebra::DVector;

use crate::kernel::density::Density;
use crate::numeric::dense::{Matrix, cholesky};

/// Wider states are not turned: their curvature takes as many gradients, and its factor as many columns.
const WIDEST: usize = 2048;
/// Curvatures that are measured on the way to the mode.
const LOOKS: usize = 4;
/// Newton steps by one of them.
const STEPS: usize = 20;
/// Squared distance from the mode, in units of the posterior's spread, from which on a step is not worth it.
const NEAR: f64 = 0.01;
/// A curvature that takes so few steps to the mode is the one at the mode.
const FEW: usize = 3;
/// Displacements of differences, in units of the spread of a coordinate where all others are fixed.
const FRACTION: f64 = 1e-4;

/// `state = centre + L^-T z`, for the curvature `L L'` at the centre.
pub struct Preconditioner {
    centre: DVector<f64>,
    lower: Matrix,
}

impl Preconditioner {
    /// `None` where the state is too wide, or the density is not close to a normal one: then nothing is gained.
    pub fn of(density: &mut Density, start: &[f64]) -> Option<Preconditioner> {
        let mut at = Point::of(density, DVector::from_column_slice(start)).filter(|p| (1..=WIDEST).contains(&p.place.len()))?;
        let mut scales = DVector::from_element(start.len(), 1.0);
        for _ in 0..LOOKS {
            let curvature = curvature(density, &at, &scales)?;
            scales = curvature.diagonal().map(|h| h.sqrt().recip());
            let lower = cholesky(curvature)?;
            let steps;
            (at, steps) = climb(density, at, &lower);
            if steps <= FEW {
                let found = Preconditioner { centre: at.place, lower };
                return found.is_round(density, start).then_some(found);
            }
        }
        None
    }

    /// What the coordinates stand for.
    pub fn state(&self, z: &[f64]) -> DVector<f64> {
        let mut state = DVector::from_column_slice(z);
        self.lower.tr_solve_lower_triangular_unchecked_mut(&mut state);
        state + &self.centre
    }

    /// The gradient by the coordinates, from that by the state.
    pub fn turn(&self, gradient: &mut [f64]) {
        let mut turned = DVector::from_column_slice(gradient);
        self.lower.solve_lower_triangular_unchecked_mut(&mut turned);
        gradient.copy_from_slice(turned.as_slice());
    }

    /// A place as far from the centre as a draw is, where `start` is seen from there.
    pub fn coordinates(&self, start: &[f64]) -> Vec<f64> {
        let z = self.lower.tr_mul(&(DVector::from_column_slice(start) - &self.centre));
        let length = z.norm();
        let ones = DVector::from_element(z.len(), 1.0);
        let z = if length > 0.0 && length.is_finite() { z * ((self.centre.len() as f64).sqrt() / length) } else { ones };
        z.as_slice().to_vec()
    }

    /// Is the gradient on both sides, as far away as a draw is, about that of a standard normal law?
    fn is_round(&self, density: &mut Density, start: &[f64]) -> bool {
        let far = DVector::from_vec(self.coordinates(start));
        [1.0, -1.0].into_iter().all(|side| {
            let z = &far * side;
            let Some(point) = Point::of(density, self.state(z.as_slice())) else { return false };
            let mut gradient = point.gradient.as_slice().to_vec();
            self.turn(&mut gradient);
            (DVector::from_vec(gradient) + &z).norm() <= 0.5 * z.norm()
        })
    }
}

/// A place of finite density.
struct Point {
    place: DVector<f64>,
    value: f64,
    gradient: DVector<f64>,
}

impl Point {
    fn of(density: &mut Density, place: DVector<f64>) -> Option<Point> {
        let mut gradient = DVector::zeros(place.len());
        let value = density.value_and_gradient(place.as_slice(), gradient.as_mut_slice());
        (value.is_finite() && gradient.iter().all(|g| g.is_finite())).then_some(Point { place, value, gradient })
    }
}

/// Minus the second derivatives of the log-density, by differences of as many gradients as there are coordinates.
fn curvature(density: &mut Density, at: &Point, scales: &DVector<f64>) -> Option<Matrix> {
    let d = at.place.len();
    let mut differences = Matrix::zeros(d, d);
    let mut place = at.place.clone();
    for ((j, mut column), scale) in differences.column_iter_mut().enumerate().zip(scales) {
        let here = at.place.get(j).copied()?;
        // Of the coordinate as it is stored, so that the quotient is one of what was moved.
        let there = here + FRACTION * scale;
        *place.get_mut(j)? = there;
        let moved = Point::of(density, place.clone())?;
        column.copy_from(&((&at.gradient - &moved.gradient) / (there - here)));
        *place.get_mut(j)? = here;
    }
    let symmetric = (&differences + differences.transpose()) * 0.5;
    symmetric.iter().all(|x| x.is_finite()).then_some(symmetric)
}

/// Newton steps by one curvature, each halved until the density rises; and how many there were.
fn climb(density: &mut Density, mut at: Point, lower: &Matrix) -> (Point, usize) {
    for taken in 0..STEPS {
        let mut step = at.gradient.clone();
        lower.solve_lower_triangular_unchecked_mut(&mut step);
        if step.norm_squared() <= NEAR {
            return (at, taken);
        }
        lower.tr_solve_lower_triangular_unchecked_mut(&mut step);
        let risen = (0..10).find_map(|halves| {
            let place = &at.place + &step * f64::from(1 << halves).recip();
            Point::of(density, place).filter(|p| p.value > at.value)
        });
        match risen {
            Some(higher) => at = higher,
            None => return (at, STEPS),
        }
    }
    (at, STEPS)
}
