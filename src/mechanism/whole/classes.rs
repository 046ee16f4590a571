//! Rows of several classes in steps: a score and an information that are vectors and matrices over the classes (rule book §20.5).
//!
//! Weights are K vectors, one a class. Only their differences move a row, so its features in released coordinates are those of each class less their mean.
//! No claim rests on these formulas: what a row adds is held in integers.

use crate::numeric::dense::{Matrix, cholesky};
use crate::numeric::logistic::symmetric;
use nalgebra::DVector;

type Vector = DVector<f64>;

/// Numbers are this much smaller than their bound allows, so that no rounding of doubles takes a row out.
const INSIDE: f64 = 1.0 - 1e-12;
/// Rows that are looked at to place a ball around all scores: directions, and lengths up to half more than where rows are cut.
const DIRECTIONS: usize = 24;
const LENGTHS: [f64; 4] = [0.4, 0.8, 1.0, 1.5];
const MOVES: u32 = 40;
/// Between rows that are looked at, few scores are further out than this.
const BETWEEN: f64 = 1.05;

/// Products of features, those of i <= j row by row, as products of the features of differences of K classes: `(I - 1 1' / K)` times each.
pub(super) fn spread(upper: &[f64], features: usize, classes: usize) -> Vec<f64> {
    let (products, all) = (symmetric(features, upper), features * classes);
    let at = |i: usize, j: usize| {
        let own = if i / features == j / features { 1.0 } else { 0.0 };
        (own - 1.0 / classes as f64) * products.get((i % features, j % features)).copied().unwrap_or(f64::NAN)
    };
    (0..all).flat_map(|i| (i..all).map(move |j| at(i, j))).collect()
}

/// The place of a step: weights `mean + across' z`, and the factor of the covariance of z that is open.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub mean: &'a Vector,
    pub across: &'a Matrix,
    pub z: &'a Vector,
    pub spread: &'a Matrix,
    pub classes: usize,
}

/// A row at the place of a step.
struct Row {
    /// Its features in released coordinates for each class, less their mean under its law: a score is one column.
    apart: Matrix,
    /// The law of its class, and how much smaller its slope is than that of a row whose predictors are known.
    law: Vector,
    smaller: f64,
    /// The length of its features.
    length: f64,
}

impl Row {
    /// `None` where doubles give no numbers.
    fn at(place: Place, x: &[f64]) -> Option<Row> {
        let Place { mean, across, z, spread, classes } = place;
        let (features, mut apart) = (x.len(), Matrix::zeros(mean.len(), classes));
        let mut at = Vector::zeros(classes);
        for (k, (mut column, t)) in apart.column_iter_mut().zip(at.iter_mut()).enumerate() {
            for (j, x) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                let place = k * features + j;
                column.axpy(*x, &across.column(place), 1.0);
                *t += x * mean.get(place).copied().unwrap_or(f64::NAN);
            }
            *t += column.dot(z);
        }
        centred(&mut apart, &Vector::from_element(classes, 1.0 / classes as f64));
        let length = apart.norm();
        // Of weights that are open the mean law of the row is wanted, and its mean slope: about those of predictors that are smaller.
        let open = spread.tr_mul(&apart).norm_squared() / (classes as f64 - 1.0);
        let smaller = (1.0 + std::f64::consts::FRAC_PI_4 * open).sqrt().recip();
        let top = at.max();
        let mut law = at.map(|t| (smaller * (t - top)).exp());
        law /= law.sum();
        centred(&mut apart, &law);
        length.is_finite().then_some(Row { apart, law, smaller, length })
    }

    fn share(&self, cut: f64) -> f64 {
        (cut / self.length.max(cut)).powi(2)
    }
}

/// What a row adds to the products of a step, row by row from the diagonal on; nothing where doubles give no numbers.
pub(super) fn products(place: Place, x: &[f64], (cut, bound): (f64, f64)) -> Vec<f64> {
    let Some(row) = Row::at(place, x) else { return vec![] };
    let mut weighted = row.apart.clone();
    let share = row.smaller * row.share(cut);
    weighted.column_iter_mut().zip(row.law.iter()).for_each(|(mut column, p)| column *= p * share);
    let products = weighted * row.apart.transpose();
    let inside = bound / products.norm().max(bound) * INSIDE;
    (0..products.nrows()).flat_map(|i| products.row(i).iter().skip(i).map(|x| x * inside).collect::<Vec<f64>>()).collect()
}

/// What a row of this class adds to the scores of a step, less the centre.
pub(super) fn score(place: Place, (x, class): (&[f64], usize), (cut, bound): (f64, f64), centre: &Vector) -> Vec<f64> {
    let Some(row) = Row::at(place, x).filter(|_| class < place.classes) else { return vec![] };
    let away = row.apart.column(class) * row.share(cut) - centre;
    let inside = bound / away.norm().max(bound) * INSIDE;
    away.iter().map(|x| x * inside).collect()
}

/// A small ball around the scores of rows of all directions and classes at the place of a step: its centre and radius.
pub(super) fn ball(place: Place, cut: f64) -> Option<(Vector, f64)> {
    let mut points = vec![];
    for direction in directions(place)? {
        for length in LENGTHS {
            let row = Row::at(place, (&direction * (cut * length)).as_slice())?;
            let share = row.share(cut);
            points.extend(row.apart.column_iter().map(|column| column * share));
        }
    }
    let farthest = |centre: &Vector| {
        let far = points.iter().map(|p| ((p - centre).norm_squared(), p));
        far.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(square, p)| (square.sqrt(), p))
    };
    // Towards the point that is furthest away, by less every time (Badoiu and Clarkson 2003).
    let mut centre = Vector::zeros(place.mean.len());
    let (mut best, (mut least, mut point)) = (centre.clone(), farthest(&centre)?);
    for i in 1..=MOVES {
        centre += (point - &centre) / f64::from(i + 1);
        let radius;
        (radius, point) = farthest(&centre)?;
        if radius < least {
            (best, least) = (centre.clone(), radius);
        }
    }
    Some((best, BETWEEN * least))
}

/// Features of rows of length 1 in released coordinates: in the directions in which weights of classes differ, one beside these, and between them.
fn directions(place: Place) -> Option<Vec<Vector>> {
    let Place { mean, across, z, classes, .. } = place;
    let (all, d) = (mean.len(), mean.len() / classes);
    let blocks: Vec<Matrix> = (0..classes).map(|k| across.columns(k * d, d).transpose()).collect();
    let sum = blocks.iter().fold(Matrix::zeros(d, all), |sum, b| sum + b);
    let gram = blocks.iter().fold(Matrix::zeros(d, d), |sum, b| sum + b * b.transpose()) - &sum * sum.transpose() / classes as f64;
    let root = cholesky(gram)?;
    let weights = Matrix::from_column_slice(d, classes, (mean + across.tr_mul(z)).as_slice());
    let mean = weights.column_mean();
    let mut basis: Vec<Vector> = vec![];
    let units = (0..d).map(|i| Vector::from_fn(d, |j, _| if i == j { 1.0 } else { 0.0 }));
    let ways = weights.column_iter().map(|w| root.solve_lower_triangular(&(w - &mean))).collect::<Option<Vec<Vector>>>()?;
    for (i, way) in ways.into_iter().chain(units).enumerate() {
        let size = way.norm();
        let left = basis.iter().fold(way, |left, b| &left - b * b.dot(&left));
        if left.norm() > 1e-6 * size && basis.len() < classes {
            basis.push(left.normalize());
        } else if i >= classes && basis.len() == classes {
            break;
        }
    }
    let mut state = 1u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut found: Vec<Vector> = basis.iter().flat_map(|b| [b.clone(), -b]).collect();
    found.extend((0..DIRECTIONS).map(|_| basis.iter().fold(Vector::zeros(d), |sum, b| sum + b * number()).normalize()));
    found.into_iter().map(|v| root.tr_solve_lower_triangular(&v)).collect()
}

/// Takes the mean of the columns under these weights off each of them.
fn centred(columns: &mut Matrix, weights: &Vector) {
    let mean = &*columns * weights;
    columns.column_iter_mut().for_each(|mut column| column -= &mean);
}
