//! Draws of weights from the posterior that a regression in steps says: post-processing of what left, as many as one likes (rule book §20).

use super::super::bits::BitSource;
use super::super::grid::below;
use super::super::langevin::{Normals, round};
use super::super::plan::{WholeFamily, WholeLaw};
use super::super::{MechanismError, Released};
use super::steps::state;
use super::{BAD, rows};
use crate::data::scan::Measured;
use crate::numeric::logistic::Look;
use nalgebra::DVector;

/// Binary places of the grid below the least sd of a weight.
const PLACES: i32 = 32;

/// The steps leave once; every draw is a normal number from what they say.
pub fn draws<B: BitSource>(
    law: &WholeLaw,
    measured: &Measured,
    rows: u64,
    times: u64,
    bits: &mut B,
) -> Result<Vec<Released>, MechanismError> {
    let left: Vec<f64> = rows::release(law, measured, rows, bits)?.iter().map(|n| n.to_f64()).collect();
    // What doubles cannot compute says nothing: the prior is left.
    let (mean, factor) = match state(law, rows as f64, &left).map(|seen| seen.weights()) {
        Some(found) if found.0.iter().chain(found.1.iter()).all(|x| x.is_finite()) => found,
        _ => prior(law).ok_or(BAD)?,
    };
    let grids: Vec<i32> = factor.row_iter().map(|row| below(row.norm().max(f64::MIN_POSITIVE), PLACES)).collect();
    let mut normals = Normals::new(bits);
    let mut one = || {
        let z: Vec<f64> = (0..mean.len()).map(|_| normals.draw()).collect::<Result<_, _>>()?;
        let drawn = &mean + &factor * DVector::from_vec(z);
        Ok(Released { components: drawn.iter().zip(&grids).map(|(w, grid)| round(*w, *grid)).collect() })
    };
    (0..times).map(|_| one()).collect()
}

fn prior(law: &WholeLaw) -> Option<(DVector<f64>, crate::numeric::dense::Matrix)> {
    let (WholeFamily::Weights { mean, precision, .. } | WholeFamily::Scored { mean, precision, .. }) = &law.family else { return None };
    Look::nothing(mean, precision).map(|found| (found.mean, found.factor))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::super::super::bits::Repeated;
    use super::super::super::plan::{Law, WholeNoise};
    use super::*;
    use crate::data::scan::Totals;
    use crate::kernel::density::Columns;

    /// Draws have the mean and the covariance of the posterior that the same noise gives, and there are as many as were asked for.
    #[test]
    fn draws_are_from_the_posterior_of_the_same_noise() {
        let mut columns = Columns::new(3);
        (0..400).for_each(|i| columns.push(&[0.5, f64::from(i % 7) / 10.0, f64::from(i % 3)]));
        let totals = Totals { sums: vec![30, 20], exponent: 0, products: vec![100, 60, 60, 50], products_exponent: 0, values: vec![] };
        let measured = Measured { rows: 400, totals: vec![totals], design: None, columns: Some(columns) };
        let law = Law::Counts { shape: f64::INFINITY, logs: (-0.69, 0.92), constant: Some((0, 0.5)) };
        let law = WholeLaw {
            family: WholeFamily::Scored { mean: vec![0.0; 2], precision: vec![1.0, 0.0, 0.0, 1.0], law },
            noise: WholeNoise::Steps { products: 3.0, scores: 4.0, most: 0.92, mu: 1.0 },
            aware: true,
        };
        let same = || Repeated::new([5; 32], 0);
        let left: Vec<f64> = rows::release(&law, &measured, 400, &mut same()).unwrap().iter().map(|n| n.to_f64()).collect();
        let (mean, factor) = state(&law, 400.0, &left).unwrap().weights();
        let covariance = &factor * factor.transpose();
        let times = 4000;
        let drawn: Vec<Vec<f64>> = draws(&law, &measured, 400, times, &mut same()).unwrap().iter().map(Released::to_f64).collect();
        let average = |f: &dyn Fn(&[f64]) -> f64| drawn.iter().map(|w| f(w)).sum::<f64>() / times as f64;
        assert_eq!(drawn.len() as u64, times);
        // Five standard errors of each.
        let close = 5.0 / (times as f64).sqrt();
        for i in 0..2 {
            let sd = covariance[(i, i)].sqrt();
            assert!((average(&|w| w[i]) - mean[i]).abs() < close * sd, "{i}");
            for j in 0..2 {
                let found = average(&|w| (w[i] - mean[i]) * (w[j] - mean[j]));
                let size = (covariance[(i, i)] * covariance[(j, j)] + covariance[(i, j)].powi(2)).sqrt();
                assert!((found - covariance[(i, j)]).abs() < close * size, "{i} {j}: {found} {covariance}");
            }
        }
    }
}
