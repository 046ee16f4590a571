//! Draws from a posterior of logistic weights as it is: what the papers' guarantees are for. No certificate: many chains, each run until it forgets its start.

use super::data::Row;
use super::logistic::{normals, sigmoid};
use nalgebra::{DMatrix, DVector};
use rand::{Rng, RngExt};

/// Transitions of a chain. Each turns the state by about a right angle, after which a normal law has forgotten it.
const TRANSITIONS: usize = 8;
/// Evaluations of the gradient in a transition; more of them where too few transitions are accepted.
const KICKS: [usize; 3] = [2, 4, 8];

/// The posterior for a normal prior of mean 0 where every row counts `weight`, and a normal law near it.
pub struct Ideal {
    /// Rows times the sign of their outcome, and the same turned.
    rows: DMatrix<f64>,
    columns: DMatrix<f64>,
    precision: f64,
    weight: f64,
    /// The mode, and a root of the inverse curvature there.
    centre: DVector<f64>,
    root: DMatrix<f64>,
}

impl Ideal {
    pub fn new(rows: &[Row], precision: f64, weight: f64) -> Ideal {
        let (n, d) = (rows.len(), rows[0].0.len());
        let rows = DMatrix::from_fn(n, d, |i, j| if rows[i].1 { rows[i].0[j] } else { -rows[i].0[j] });
        let (columns, centre, root) = (rows.transpose(), DVector::zeros(d), DMatrix::zeros(d, d));
        let mut ideal = Ideal { rows, columns, precision, weight, centre, root };
        // Newton steps; any centre and root keep the law of the chain, good ones make it fast.
        loop {
            let curves = (&ideal.rows * &ideal.centre).map(|t| (weight * sigmoid(t) * sigmoid(-t)).sqrt());
            let scaled = DMatrix::from_fn(d, n, |j, i| ideal.columns[(j, i)] * curves[i]);
            let curvature = &scaled * scaled.transpose() + DMatrix::identity(d, d) * precision;
            let factor = curvature.cholesky().unwrap();
            ideal.root = factor.l().transpose().solve_upper_triangular(&DMatrix::identity(d, d)).unwrap();
            let slope = ideal.at(&DMatrix::zeros(d, 1), false).1.column(0).into_owned();
            if slope.norm_squared() < 0.01 * d as f64 {
                return ideal;
            }
            ideal.centre -= &ideal.root * slope;
        }
    }

    /// Weights from coordinates in which the posterior is nearly standard normal, a chain in each column.
    fn weights(&self, z: &DMatrix<f64>) -> DMatrix<f64> {
        let mut w = &self.root * z;
        w.column_iter_mut().for_each(|mut c| c += &self.centre);
        w
    }

    /// The negative log-density of each column, if asked for, and its gradient in these coordinates.
    fn at(&self, z: &DMatrix<f64>, valued: bool) -> (Vec<f64>, DMatrix<f64>) {
        let w = self.weights(z);
        let mut t = &self.rows * &w;
        let loss = |t: &f64| (-t).max(0.0) + (-t.abs()).exp().ln_1p();
        let value = |c| 0.5 * self.precision * w.column(c).norm_squared() + self.weight * t.column(c).iter().map(loss).sum::<f64>();
        let values = if valued { (0..z.ncols()).map(value).collect() } else { vec![] };
        t.apply(|t| *t = sigmoid(-*t));
        (values, self.root.transpose() * (w * self.precision - &self.columns * t * self.weight))
    }

    /// The last states of so many chains, which are independent.
    ///
    /// Hamiltonian trajectories: those of the standard normal law are followed exactly, what differs from it kicks.
    pub fn draws(&self, count: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
        KICKS.iter().find_map(|kicks| self.chains(count, *kicks, rng)).expect("nine tenths of the transitions are accepted")
    }

    /// `None` where too few transitions are accepted.
    fn chains(&self, count: usize, kicks: usize, rng: &mut impl Rng) -> Option<Vec<Vec<f64>>> {
        let d = self.centre.len();
        let noise = |rng: &mut _| DMatrix::from_vec(d, count, normals(d * count, rng));
        let mut z = noise(rng);
        let (mut values, mut gradient) = self.at(&z, true);
        let mut accepted = 0;
        for _ in 0..TRANSITIONS {
            let angle = rng.random_range(1.0..2.2) / kicks as f64;
            let (sin, cos) = angle.sin_cos();
            let (start, mut p) = (z.clone(), noise(rng));
            let before: Vec<f64> = p.column_iter().zip(&values).map(|(p, v)| v + 0.5 * p.norm_squared()).collect();
            let (mut new_values, mut new_gradient) = (vec![], gradient.clone());
            for kick in 1..=kicks {
                p -= (&new_gradient - &z) * (0.5 * angle);
                (z, p) = (&z * cos + &p * sin, &p * cos - &z * sin);
                (new_values, new_gradient) = self.at(&z, kick == kicks);
                p -= (&new_gradient - &z) * (0.5 * angle);
            }
            for c in 0..count {
                let after = new_values[c] + 0.5 * p.column(c).norm_squared();
                if rng.random::<f64>().ln() < before[c] - after {
                    values[c] = new_values[c];
                    gradient.set_column(c, &new_gradient.column(c));
                    accepted += 1;
                } else {
                    z.set_column(c, &start.column(c));
                }
            }
        }
        let draws = || self.weights(&z).column_iter().map(|c| c.iter().copied().collect()).collect();
        (accepted * 10 > count * TRANSITIONS * 9).then(draws)
    }
}
