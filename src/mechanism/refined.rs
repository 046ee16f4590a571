//! A draw of logistic weights in two stages: noisy scores say where to look, a Langevin chain draws there (rule book §20).
//!
//! Everything that the second stage chooses (coordinates, step sizes, the length of the chain) is a function of what left in the
//! first, of the plan and of the public number of rows.

use super::bits::BitSource;
use super::langevin::{Chain, Potential, exponent, round, schedule};
use super::plan::{RefinedLaw, WholeFamily};
use super::whole::noisy_moments;
use super::{MechanismError, Released};
use crate::data::scan::Measured;
use crate::kernel::density::Columns;
use crate::kernel::{Design, DesignBuilder, Family, Layout, Likelihood};
use crate::numeric::dense::Matrix;
use crate::numeric::logistic::{CURVATURE, Look, MOST_ROTATIONS, look, look_again, wider};
use nalgebra::{DVector, SymmetricEigen};

const BAD: MechanismError = MechanismError::Parameter;
/// Largest curvature of a chain: coordinates narrow until it is met, so the work is bounded by public facts.
const STEEPEST: f64 = 3e4;
/// Where the sd of predictors may be above this the first look is taken again; below, the smaller weights of one look lose less on tables of many features.
const WIDE: f64 = 5.1;
/// The kernel bounds no norm here: a row's weight does.
const UNBOUNDED: f64 = 1e100;

/// Coordinates for the second stage: `w = mean + factor z`, and the largest curvature of the potential of z.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    pub mean: DVector<f64>,
    pub factor: Matrix,
    pub smooth: f64,
}

/// From the first look: its covariance if the statistics told `f = (mu / .6)^2 n / tr(V S+)` times less, f between 1 and 100; 100 where
/// the trace is 0.
///
/// A row of weight `rho <= 1` with `2 rho N |u| <= mu` adds at most `rho N |u|^2 / 4` to the curvature, the lesser of `mu |u| / 8` and
/// `N |u|^2 / 4`, and `|u| <= norm sqrt(largest eigenvalue)`.
pub fn stage(law: &RefinedLaw, trials: f64, seen: Look, rows: f64) -> Stage {
    let trace = (seen.factor.transpose() * &seen.products * &seen.factor).trace();
    let factor = seen.widened(wider(law.mu, rows, trace));
    let size = spectral(&factor);
    let row = |length: f64| (0.125 * law.mu * length).min(0.25 * trials * length * length);
    let curvature = |size: f64| 1.0 + rows * row(law.norm * size) * (1.0 + 1e-9);
    let narrower = ((STEEPEST - 1.0) / (curvature(size) - 1.0)).min(1.0);
    Stage { mean: seen.mean, factor: factor * narrower, smooth: curvature(size * narrower).min(STEEPEST) }
}

/// Not below the largest singular value of a triangular factor but for rounding, for which `stage` leaves room.
fn spectral(factor: &Matrix) -> f64 {
    let square = SymmetricEigen::try_new(factor.transpose() * factor, f64::EPSILON, MOST_ROTATIONS);
    let largest = square.map_or(f64::INFINITY, |e| e.eigenvalues.max().max(0.0).sqrt());
    // The Frobenius norm is not below it either.
    largest.min(factor.norm())
}

/// A row in the coordinates of a stage, with the weight that its length allows.
struct Whitened {
    /// The features, then the predictor at the middle.
    predictor: Vec<f64>,
    outcome: f64,
    weight: f64,
}

impl Whitened {
    fn of(law: &RefinedLaw, trials: f64, stage: &Stage, row: &[f64]) -> Whitened {
        let (x, y) = row.split_at(stage.mean.len().min(row.len()));
        let x = DVector::from_column_slice(x);
        let u = stage.factor.tr_mul(&x);
        // As it was read, half of the trials less.
        let outcome = (y.first().copied().unwrap_or(0.0) + 0.5 * trials).clamp(0.0, trials);
        let weight = weight(law.mu, trials, &u);
        Whitened { predictor: u.iter().copied().chain([stage.mean.dot(&x)]).collect(), outcome, weight }
    }
}

/// All rows for the kernel, which rounds features and weights towards 0 and cuts scores to what the claim allows.
fn design(law: &RefinedLaw, trials: f64, stage: &Stage, columns: &Columns) -> Result<Design, MechanismError> {
    let family = if trials == 1.0 { Family::Logistic } else { Family::Binomial { trials: trials as u32 } };
    let layout = Layout::new(stage.mean.len() + 1, vec![], UNBOUNDED)?.with_offsets(1)?.with_weights();
    let mut builder = DesignBuilder::new(layout, family, Some(columns.rows()))?;
    let mut done = Ok(());
    columns.each(|row| {
        let row = Whitened::of(law, trials, stage, row);
        done = done.and(builder.push_weighted(&row.predictor, &[], row.outcome, row.weight));
    });
    done?;
    Ok(builder.finish())
}

/// The largest weight, at most 1, at which a row's score is at most mu / 2: `rho N |u| <= mu / 2`, rounded down.
fn weight(mu: f64, trials: f64, u: &DVector<f64>) -> f64 {
    let most = 2.0 * trials * u.norm() * (1.0 + 1e-12);
    if most > mu { (mu / most * (1.0 - 1e-12)).min(1.0) } else { 1.0 }
}

/// `z + sum rho (N sigma(t) - y) u`; the last coefficient of the kernel is that of the middle, 1.
struct Rows<'a> {
    likelihood: Likelihood<'a>,
    place: Vec<f64>,
    sum: Vec<f64>,
}

impl<'a> Rows<'a> {
    fn new(design: &'a Design, trials: f64) -> Result<Rows<'a>, MechanismError> {
        let width = design.dimension();
        Ok(Rows { likelihood: Likelihood::new(design, trials)?, place: vec![1.0; width], sum: vec![0.0; width] })
    }
}

impl Potential for Rows<'_> {
    fn dimension(&self) -> usize {
        self.place.len().saturating_sub(1)
    }

    fn gradient(&mut self, z: &[f64], gradient: &mut [f64]) -> Result<(), MechanismError> {
        self.place.iter_mut().zip(z).for_each(|(p, z)| *p = *z);
        self.likelihood.gradient(&self.place, &mut self.sum)?;
        gradient.iter_mut().zip(z).zip(&self.sum).for_each(|((g, z), s)| *g = z + s);
        Ok(())
    }
}

/// One draw: the scores leave with noise, then a chain runs where they point.
pub(super) fn draw<B: BitSource>(
    law: &RefinedLaw,
    measured: &Measured,
    public_rows: Option<u64>,
    bits: &mut B,
) -> Result<Released, MechanismError> {
    let (WholeFamily::Scored { mean, precision, law: rows_law }, Some(rows)) = (&law.family, public_rows) else { return Err(BAD) };
    let trials = rows_law.trials();
    let (Some(totals), Some(columns)) = (measured.totals.first(), &measured.columns) else { return Err(BAD) };
    let noisy: Vec<f64> = noisy_moments(totals, law.noise(), bits)?.iter().map(|n| n.to_f64()).collect();
    let statistics = noisy.split_at_checked(mean.len() * (mean.len() + 1) / 2).ok_or(BAD)?;
    // What doubles cannot compute says nothing: the prior is left.
    let prior = Look::nothing(mean, precision).ok_or(BAD)?;
    let found = if law.norm * spectral(&prior.factor) > WIDE {
        look_again((mean, precision), statistics, trials, law.scores, rows as f64)
    } else {
        look((mean, precision), statistics, CURVATURE * trials, law.scores)
    };
    let seen = found.unwrap_or(prior);
    let stage = stage(law, trials, seen, rows as f64);
    let phases = schedule(1.0, stage.smooth, None).ok_or(MechanismError::Steps)?;
    let design = design(law, trials, &stage, columns)?;
    let last = Chain { phases, cuts: vec![], start: vec![0.0; mean.len()] }.run(&mut Rows::new(&design, trials)?, bits)?;
    let drawn = &stage.mean + &stage.factor * DVector::from_vec(last);
    let grid = |i: usize| exponent(stage.smooth, stage.factor.row(i).norm());
    Ok(Released { components: drawn.iter().enumerate().map(|(i, w)| round(*w, grid(i))).collect() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::data::scan::Totals;
    use crate::mechanism::OsBits;
    use crate::mechanism::bits::Repeated;
    use crate::numeric::special::normal_cdf;

    struct Uniform(u64);

    impl Uniform {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn about(&mut self, size: f64) -> f64 {
            size * (2.0 * self.next() - 1.0)
        }
    }

    fn law(mu: f64, trials: f64, dim: usize) -> RefinedLaw {
        let precision = (0..dim * dim).map(|i| if i % (dim + 1) == 0 { 0.25 } else { 0.0 }).collect();
        let family =
            WholeFamily::Scored { mean: vec![0.0; dim], precision, law: crate::mechanism::plan::Law::Logit { trials: trials as u64 } };
        RefinedLaw { family, scores: 10.0, products: 15.0, mu, norm: 1.0 }
    }

    /// Rows in the unit ball, their outcomes anything, as they are read: half of the trials less.
    fn rows(n: usize, dim: usize, trials: f64, u: &mut Uniform) -> Columns {
        let mut columns = Columns::new(dim + 1);
        for _ in 0..n {
            let mut row: Vec<f64> = (0..dim).map(|_| u.about(1.0)).collect();
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            let part = if u.next() < 0.5 { 1.0 } else { u.next() };
            row.iter_mut().for_each(|x| *x *= part / length);
            row.push((trials * u.next()).round() - 0.5 * trials);
            columns.push(&row);
        }
        columns
    }

    fn whitened(law: &RefinedLaw, trials: f64, stage: &Stage, columns: &Columns) -> Vec<Whitened> {
        let mut rows = vec![];
        columns.each(|row| rows.push(Whitened::of(law, trials, stage, row)));
        rows
    }

    /// What a look of any size gives; the scores and curvatures of rows stay inside what the claim and the step sizes rest on.
    #[test]
    fn scores_and_curvatures_stay_inside() {
        let mut u = Uniform(3);
        for case in 0..300 {
            let (dim, trials, mu) = (1 + case % 4, if case % 3 == 0 { 5.0 } else { 1.0 }, 0.01 + 2.0 * u.next());
            let law = law(mu, trials, dim);
            let n = 1 + (u.next() * 300.0) as usize;
            let factor = Matrix::from_fn(dim, dim, |i, j| if j <= i { u.about(4.0) } else { 0.0 });
            let mean: Vec<f64> = (0..dim).map(|_| u.about(5.0)).collect();
            let precision = &factor * factor.transpose() + Matrix::identity(dim, dim) * 0.01;
            let part = n as f64 * u.next();
            let products: Vec<f64> = (0..dim).flat_map(|i| (i..dim).map(move |j| if i == j { part } else { 0.0 })).collect();
            let seen = look((&mean, precision.as_slice()), (&products, &mean), CURVATURE, 10.0 * u.next()).unwrap();
            let stage = stage(&law, trials, seen, n as f64);
            let columns = rows(n, dim, trials, &mut u);
            let whitened = whitened(&law, trials, &stage, &columns);
            let mut curvature = 1.0;
            for row in &whitened {
                let length = row.predictor[..dim].iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!(row.weight <= 1.0 && row.weight > 0.0 && 2.0 * row.weight * trials * length <= mu, "{mu} {:?}", row.predictor);
                curvature += row.weight * 0.25 * trials * length * length;
            }
            assert!(curvature <= stage.smooth && stage.smooth <= STEEPEST, "{curvature} {}", stage.smooth);
            // The gradient by differences of the potential.
            let z: Vec<f64> = (0..dim).map(|_| u.about(2.0)).collect();
            let potential = |z: &[f64]| {
                let loss = |row: &Whitened| {
                    let t = row.predictor[dim] + row.predictor.iter().zip(z).map(|(a, b)| a * b).sum::<f64>();
                    row.weight * (trials * (t.max(0.0) + (-t.abs()).exp().ln_1p()) - row.outcome * t)
                };
                whitened.iter().map(loss).sum::<f64>() + 0.5 * z.iter().map(|x| x * x).sum::<f64>()
            };
            let differences: Vec<f64> = (0..dim)
                .map(|i| {
                    let at = |h: f64| potential(&z.iter().enumerate().map(|(j, x)| if i == j { x + h } else { *x }).collect::<Vec<_>>());
                    (at(1e-5) - at(-1e-5)) / 2e-5
                })
                .collect();
            let mut gradient = vec![0.0; dim];
            let design = design(&law, trials, &stage, &columns).unwrap();
            Rows::new(&design, trials).unwrap().gradient(&z, &mut gradient).unwrap();
            assert!(gradient.iter().zip(&differences).all(|(a, b)| (a - b).abs() < 1e-4 * (1.0 + b.abs())), "{gradient:?} {differences:?}");
        }
    }

    /// As the kernel stores it, in 32 bits, a row whose outcome is as unlikely as can be adds at most mu / 2 to the gradient, and no less than
    /// it may.
    #[test]
    fn no_stored_row_is_worth_more_than_the_claim() {
        let mut u = Uniform(17);
        for case in 0..2000 {
            let (trials, mu) = (if case % 3 == 0 { 7.0 } else { 1.0 }, 0.01 + u.next());
            let x = [u.about(0.7), u.about(0.7)];
            let factor = Matrix::from_row_slice(2, 2, &[2.0 + u.next(), 0.0, u.about(3.0), 2.0 + u.next()]);
            let length = factor.tr_mul(&DVector::from_column_slice(&x)).norm();
            let stage = Stage { mean: DVector::from_column_slice(&x) * (1e4 / (x[0] * x[0] + x[1] * x[1])), factor, smooth: 1.0 };
            let mut columns = Columns::new(3);
            columns.push(&[x[0], x[1], -0.5 * trials]);
            let design = design(&law(mu, trials, 2), trials, &stage, &columns).unwrap();
            let mut gradient = [0.0; 2];
            Rows::new(&design, trials).unwrap().gradient(&[0.0; 2], &mut gradient).unwrap();
            let moved = 2.0 * gradient[0].hypot(gradient[1]);
            assert!(moved <= mu * (1.0 + 1e-13), "{mu} {moved}");
            assert!(moved >= (2.0 * trials * length).min(mu) * (1.0 - 1e-6), "{mu} {moved}");
        }
    }

    /// Rows that all point the same way, as far as they may, have the curvature that the step sizes are made for, and no less is allowed for.
    #[test]
    fn the_steepest_rows_attain_the_curvature() {
        for (mu, products) in [0.05, 0.5, 2.0].into_iter().flat_map(|mu| [0.0, 1e3, 1e6].map(|p| (mu, p))) {
            let law = law(mu, 1.0, 1);
            let seen = look((&[0.0], &[0.25]), (&[products], &[0.0]), CURVATURE, 10.0).unwrap();
            let stage = stage(&law, 1.0, seen, 50.0);
            let mut columns = Columns::new(2);
            (0..50).for_each(|_| columns.push(&[1.0, 0.5]));
            let rows = whitened(&law, 1.0, &stage, &columns);
            let curvature = 1.0 + rows.iter().map(|row| row.weight * 0.25 * row.predictor[0] * row.predictor[0]).sum::<f64>();
            assert!(curvature <= stage.smooth && stage.smooth <= curvature * (1.0 + 1e-8), "{mu} {products}: {curvature} {}", stage.smooth);
        }
    }

    /// Posteriors of one weight and its neighbour's, by integration: hockey-stick divergences stay below those of mu-GDP.
    #[test]
    fn neighbouring_draws_stay_below_the_claim() {
        let mut u = Uniform(11);
        let mut closest: f64 = 0.0;
        for _ in 0..200 {
            let mu = 0.1 + 2.0 * u.next();
            let law = law(mu, 1.0, 1);
            let stage = Stage {
                mean: DVector::from_element(1, u.about(3.0)),
                factor: Matrix::from_element(1, 1, 3.0 * u.next() + 0.05),
                smooth: 1.0,
            };
            let n = 1 + (u.next() * 5.0) as usize;
            let edge = |u: &mut Uniform| vec![if u.next() < 0.5 { 1.0 } else { u.about(1.0) }, if u.next() < 0.5 { 0.5 } else { -0.5 }];
            let others: Vec<Vec<f64>> = (1..n).map(|_| edge(&mut u)).collect();
            let density = |last: &[f64]| {
                let mut columns = Columns::new(2);
                others.iter().for_each(|row| columns.push(row));
                columns.push(last);
                let whitened = whitened(&law, 1.0, &stage, &columns);
                let ln = |z: f64| {
                    let loss = |row: &Whitened| {
                        let t = row.predictor[1] + row.predictor[0] * z;
                        row.weight * (t.max(0.0) + (-t.abs()).exp().ln_1p() - row.outcome * t)
                    };
                    -0.5 * z * z - whitened.iter().map(loss).sum::<f64>()
                };
                let values: Vec<f64> = (0..4000).map(|i| ln((f64::from(i) - 2000.0) / 200.0).exp()).collect();
                let total: f64 = values.iter().sum();
                values.into_iter().map(|v| v / total).collect::<Vec<f64>>()
            };
            let (p, q) = (density(&edge(&mut u)), density(&edge(&mut u)));
            for i in 0..20 {
                let e = 2.0 * mu * f64::from(i) / 20.0;
                let allowed = normal_cdf(mu / 2.0 - e / mu) - e.exp() * normal_cdf(-mu / 2.0 - e / mu);
                for (a, b) in [(&p, &q), (&q, &p)] {
                    let found: f64 = a.iter().zip(b).map(|(a, b)| (a - e.exp() * b).max(0.0)).sum();
                    assert!(found <= allowed + 1e-9, "{mu} {e}: {found} {allowed}");
                    closest = closest.max(found / allowed);
                }
            }
        }
        assert!(closest > 0.3, "{closest}");
    }

    /// Rows `(x, y)` and `(-x, 1 - y)` say the same: where sums, products and bits are equal so is all that the second stage chooses.
    #[test]
    fn nothing_but_what_left_chooses_the_second_stage() {
        let drawn = |x: f64| {
            let mut columns = Columns::new(2);
            (0..40).for_each(|_| columns.push(&[x, 0.5 * x]));
            let totals = Totals { sums: vec![20], exponent: 0, products: vec![40], products_exponent: 0, values: vec![] };
            let measured = Measured { rows: 40, totals: vec![totals], design: None, columns: Some(columns) };
            draw(&law(1.0, 1.0, 1), &measured, Some(40), &mut Repeated::new([7; 32], 0)).unwrap().components[0].to_f64()
        };
        assert_eq!(drawn(1.0), drawn(-1.0));
    }

    /// The chain draws from the posterior of these rows: mean and variance of 400 last states, within five standard errors.
    #[test]
    fn the_chain_draws_from_its_posterior() {
        let (law, mut u) = (law(0.8, 1.0, 1), Uniform(5));
        let seen = look((&[0.0], &[0.25]), (&[60.0], &[6.0]), CURVATURE, 10.0).unwrap();
        let stage = stage(&law, 1.0, seen, 200.0);
        let columns = rows(200, 1, 1.0, &mut u);
        let whitened = whitened(&law, 1.0, &stage, &columns);
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for i in 0..4000 {
            let z = (f64::from(i) - 2000.0) / 250.0;
            let t = |row: &Whitened| row.predictor[1] + row.predictor[0] * z;
            let loss = |row: &Whitened| row.weight * (t(row).exp().ln_1p() - row.outcome * t(row));
            let p = (-0.5 * z * z - whitened.iter().map(loss).sum::<f64>()).exp();
            (total, mean, square) = (total + p, mean + p * z, square + p * z * z);
        }
        let (mean, variance) = (mean / total, square / total - (mean / total).powi(2));
        let phases = schedule(1.0, stage.smooth, None).unwrap();
        let mut bits = OsBits::new().unwrap();
        let chain = Chain { phases, cuts: vec![], start: vec![0.0] };
        let design = design(&law, 1.0, &stage, &columns).unwrap();
        let draws: Vec<f64> = (0..400).map(|_| chain.run(&mut Rows::new(&design, 1.0).unwrap(), &mut bits).unwrap()[0]).collect();
        let found = draws.iter().sum::<f64>() / 400.0;
        let spread = draws.iter().map(|x| (x - found).powi(2)).sum::<f64>() / 400.0;
        assert!((found - mean).abs() < 5.0 * (variance / 400.0).sqrt() + 0.05 * variance.sqrt(), "{found} {mean}");
        assert!((spread / variance - 1.0).abs() < 5.0 * f64::sqrt(2.0 / 400.0) + 0.08, "{spread} {variance}");
    }
}
