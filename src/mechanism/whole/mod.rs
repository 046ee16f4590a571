//! Whole posteriors: noisy counts and sums, or one of the reachable posteriors, from which a posterior is written down once.

mod classes;
pub(super) mod drawn;
pub mod hellinger;
mod joined;
pub mod rows;
pub mod steps;

use super::bits::BitSource;
use super::draw::discrete_gaussian::discrete_gaussian;
use super::draw::finite::{discrete_laplace, floor_laplace};
use super::draw::gaussian::normal;
use super::grid::{self, Number, check_noise};
use super::plan::{WholeFamily, WholeLaw, WholeNoise};
use super::real::{Param, rational};
use super::{MechanismError, Released};
use crate::data::scan::{Measured, Totals};
use crate::model::Range;
use dashu_ratio::RBig;

const BAD: MechanismError = MechanismError::Parameter;

/// The number of items where it is public, then one number for each count.
pub(crate) fn release<B: BitSource>(
    law: &WholeLaw,
    measured: &Measured,
    public_rows: Option<u64>,
    bits: &mut B,
) -> Result<Released, MechanismError> {
    let totals = measured.totals.first().ok_or(BAD)?;
    if let WholeFamily::Normal { secret: Some(range), .. } = law.family {
        let ([of_rows, of_sum], None) = (law.noise.parts().ok_or(BAD)?, public_rows) else { return Err(BAD) };
        let rows = Number::new(noisy_sum(measured.rows.into(), of_rows, 0, bits)?, 0);
        let half = totals.exponent - 1;
        let sum = noisy_sum(from_middle(totals, measured.rows, range)?, of_sum, half, bits)?;
        return Ok(Released { components: vec![rows, Number::new(sum, half)] });
    }
    let places = match &law.family {
        WholeFamily::Normal { .. } | WholeFamily::Rate { .. } => Some(1),
        WholeFamily::Means { precision_mean, .. } => Some(precision_mean.len()),
        _ => None,
    };
    if let Some(places) = places {
        let rows = public_rows.filter(|_| totals.sums.len() == places).ok_or(BAD)?;
        let mut components = vec![Number::new(rows.into(), 0)];
        for sum in &totals.sums {
            components.push(Number::new(noisy_sum(*sum, law.noise, totals.exponent, bits)?, totals.exponent));
        }
        return Ok(Released { components });
    }
    if let WholeFamily::Weights { .. } | WholeFamily::Scored { .. } = law.family {
        let rows = public_rows.ok_or(BAD)?;
        let mut components = vec![Number::new(rows.into(), 0)];
        components.extend(match law.noise {
            WholeNoise::Steps { .. } => rows::release(law, measured, rows, bits)?,
            noise => noisy_moments(totals, noise, bits)?,
        });
        return Ok(Released { components });
    }
    let sums: Vec<i128> = totals.sums.iter().map(|s| shifted(*s, totals.exponent)).collect();
    let all = u64::from(law.items()).checked_mul(measured.rows).ok_or(MechanismError::Range)?;
    let counts = counts(law, &sums, all)?;
    let out = match law.noise {
        WholeNoise::FloorLaplace { scale } => {
            public_rows.ok_or(BAD)?;
            floor(&counts, all, scale, bits)?
        }
        WholeNoise::Hellinger { epsilon, gamma } => {
            public_rows.ok_or(BAD)?;
            let WholeFamily::Counts { alpha, .. } = &law.family else { return Err(BAD) };
            hellinger::choose(alpha, &counts, (epsilon, gamma), bits)?.into_iter().map(i128::from).collect()
        }
        WholeNoise::Geometric { scale } => {
            let scale = Param::new(rational(scale)?);
            noisy(&counts, |bits: &mut B| discrete_laplace(&scale, bits), law.kept(counts.len(), public_rows.is_some()), bits)?
        }
        WholeNoise::Gaussian { sigma } => {
            let sigma = rational(sigma)?;
            noisy(&counts, |bits: &mut B| discrete_gaussian(&sigma, bits), law.kept(counts.len(), public_rows.is_some()), bits)?
        }
        WholeNoise::Rows { .. } => {
            // Both are secret: public rows would be released as they are.
            let ([of_rows, of_sum], [sum], None) = (law.noise.parts().ok_or(BAD)?, counts.as_slice(), public_rows) else {
                return Err(BAD);
            };
            vec![noisy_sum(all.into(), of_rows, 0, bits)?, noisy_sum((*sum).into(), of_sum, 0, bits)?]
        }
        WholeNoise::Moments { .. } | WholeNoise::Scores { .. } | WholeNoise::Steps { .. } => return Err(BAD),
    };
    let size = public_rows.map(|_| i128::from(all));
    let components = size.into_iter().chain(out).map(|x| Number::new(x, 0)).collect();
    Ok(Released { components })
}

/// The least mu of steps in released coordinates: sums of 2^41 steps of a grid then have noise of less than 2^82.
const LEAST_MU: f64 = 1e-12;

/// Fails, before any data are read, where noise would be wider than integers hold. `grids` has the exponents of the sums and of the products.
pub(super) fn check(noise: WholeNoise, grids: (i32, i32)) -> Result<(), MechanismError> {
    let fits = |x: f64, exponent: i32| check_noise(&(rational(x)? / Number::new(1, exponent).exact()));
    match noise {
        WholeNoise::FloorLaplace { scale } | WholeNoise::Geometric { scale } => fits(scale, grids.0),
        WholeNoise::Gaussian { sigma } => fits(sigma, grids.0),
        WholeNoise::Hellinger { .. } => Ok(()),
        WholeNoise::Rows { rows, sum, .. } => fits(rows, 0).and_then(|()| fits(sum, grids.0 - 1)),
        WholeNoise::Moments { products, sums: scores } | WholeNoise::Scores { products, scores } => {
            fits(products, grids.1).and_then(|()| fits(scores, grids.0))
        }
        WholeNoise::Steps { products, scores, mu, .. } => {
            check(WholeNoise::Scores { products, scores }, grids)?;
            if mu >= LEAST_MU { Ok(()) } else { Err(MechanismError::Wide) }
        }
    }
}

/// A sum in steps of `2^exponent` with noise of whole steps: scale and sd of the noise are in the units of the outcome.
fn noisy_sum<B: BitSource>(sum: i128, noise: WholeNoise, exponent: i32, bits: &mut B) -> Result<i128, MechanismError> {
    let steps = |x: f64| rational(x).map(|x| x / Number::new(1, exponent).exact());
    let noise = match noise {
        WholeNoise::Geometric { scale } => discrete_laplace(&Param::new(steps(scale)?), bits)?,
        WholeNoise::Gaussian { sigma } => discrete_gaussian(&steps(sigma)?, bits)?,
        _ => return Err(BAD),
    };
    Ok(grid::add(sum, noise))
}

/// The sum over rows of their distance from the middle of the range, which no row is further from than half of its width, in half
/// steps: rows lie between the outermost steps inside of the range.
fn from_middle(totals: &Totals, rows: u64, range: Range) -> Result<i128, MechanismError> {
    let [sum] = totals.sums.as_slice() else { return Err(BAD) };
    let step = Number::new(1, totals.exponent).exact();
    let ends = (rational(range.lo)? / &step).ceil() + (rational(range.hi)? / &step).floor();
    let ends = i128::try_from(ends).map_err(|_| MechanismError::Range)?;
    let middle = ends.checked_mul(rows.into()).ok_or(MechanismError::Range)?;
    sum.checked_mul(2).and_then(|twice| twice.checked_sub(middle)).ok_or(MechanismError::Range)
}

/// Products of features, those of i <= j row by row, then products with the outcome, each with noise of its own.
pub(super) fn noisy_moments<B: BitSource>(totals: &Totals, noise: WholeNoise, bits: &mut B) -> Result<Vec<Number>, MechanismError> {
    let mut out = vec![];
    // As many features as sums, or fewer where outcomes are several numbers.
    for (i, row) in totals.products.chunks(totals.products.len().isqrt().max(1)).enumerate() {
        for (j, x) in row.iter().enumerate().skip(i) {
            let x = match noise {
                WholeNoise::Moments { products, .. } => {
                    noisy_sum(*x, WholeNoise::Gaussian { sigma: products }, totals.products_exponent, bits)?
                }
                WholeNoise::Scores { products, .. } => rounded(*x, (products, i == j), totals.products_exponent, bits)?,
                _ => return Err(BAD),
            };
            out.push(Number::new(x, totals.products_exponent));
        }
    }
    for x in &totals.sums {
        let x = match noise {
            WholeNoise::Moments { sums, .. } => noisy_sum(*x, WholeNoise::Gaussian { sigma: sums }, totals.exponent, bits)?,
            WholeNoise::Scores { scores, .. } => rounded(*x, (scores, true), totals.exponent, bits)?,
            _ => return Err(BAD),
        };
        out.push(Number::new(x, totals.exponent));
    }
    Ok(out)
}

/// A sum in steps of `2^exponent` and a normal number rounded to whole steps: the rounded sum of both, so GDP as if nothing were
/// rounded. Its variance is `sd^2`, or half of that where it is not `whole`.
fn rounded<B: BitSource>(sum: i128, (sd, whole): (f64, bool), exponent: i32, bits: &mut B) -> Result<i128, MechanismError> {
    let square = rational(sd)? * rational(sd)?;
    let variance = if whole { square } else { square / RBig::from(2u8) };
    check_noise(&(rational(sd)? / Number::new(1, exponent).exact()))?;
    let noise = normal(&Param::new(RBig::ZERO), &Param::new(variance), exponent, bits)?;
    Ok(grid::add(sum, noise))
}

/// A total in units of `2^exponent` as an integer; statistics of counts are integers.
fn shifted(sum: i128, exponent: i32) -> i128 {
    match u32::try_from(exponent) {
        Ok(up) => sum.checked_shl(up).unwrap_or(0),
        Err(_) => sum >> exponent.unsigned_abs().min(126),
    }
}

/// The items at each place: they sum to `all` (for a Gamma posterior there is one place and no such sum).
fn counts(law: &WholeLaw, sums: &[i128], all: u64) -> Result<Vec<u64>, MechanismError> {
    let within = |x: i128| u64::try_from(x.max(0)).unwrap_or(u64::MAX);
    match (&law.family, sums) {
        (WholeFamily::Counts { alpha, single: true, .. }, [successes]) if alpha.len() == 2 => {
            let s = within(*successes).min(all);
            Ok(vec![s, all - s])
        }
        (WholeFamily::Counts { alpha, single: false, .. }, sums) if alpha.len() == sums.len() && alpha.len() >= 2 => {
            Ok(sums.iter().map(|s| within(*s).min(all)).collect())
        }
        (WholeFamily::Gamma { .. } | WholeFamily::Failures { .. }, [sum]) => Ok(vec![within(*sum)]),
        _ => Err(BAD),
    }
}

/// Floor-Laplace noise on every count but the last, each moved into what is left of `all`; the last is the remainder
/// (rule book §9). What follows the noise is post-processing.
pub fn floor<B: BitSource>(counts: &[u64], all: u64, scale: f64, bits: &mut B) -> Result<Vec<i128>, MechanismError> {
    let scale = Param::new(rational(scale)?);
    let (_, first) = counts.split_last().ok_or(BAD)?;
    let mut left = i128::from(all);
    let mut out = Vec::with_capacity(counts.len());
    for c in first {
        let noisy = grid::add((*c).into(), floor_laplace(&scale, bits)?).clamp(0, left);
        left -= noisy;
        out.push(noisy);
    }
    out.push(left);
    Ok(out)
}

/// Integer noise on the first `kept` counts.
fn noisy<B: BitSource>(
    counts: &[u64],
    mut noise: impl FnMut(&mut B) -> Result<i128, MechanismError>,
    kept: usize,
    bits: &mut B,
) -> Result<Vec<i128>, MechanismError> {
    counts.iter().take(kept).map(|c| Ok(grid::add((*c).into(), noise(bits)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that the data reader may give lie between the outermost steps inside of their range: none is further from the middle than
    /// half of the width, however the ends lie to the grid.
    #[test]
    fn no_row_is_further_from_the_middle_than_half_of_the_width() {
        for (lo, hi, exponent) in
            [(0.0, 1.0, 0), (-1.0, 4.0, 0), (0.3, 2.9, -2), (0.1, 0.35, -3), (-7.77, -3.01, -10), (1e6, 1e6 + 0.7, -4)]
        {
            let range = Range::new(lo, hi);
            let step = libm::ldexp(1.0, exponent);
            let (first, last) = ((lo / step).ceil() as i128, (hi / step).floor() as i128);
            for row in [first, (first + last) / 2, last] {
                let totals =
                    |rows: i128| Totals { sums: vec![rows * row], exponent, products: vec![], products_exponent: 0, values: vec![] };
                let one = from_middle(&totals(1), 1, range).unwrap();
                assert!(one.abs() as f64 * step <= hi - lo, "{lo} {hi} {row}: {one}");
                assert_eq!(from_middle(&totals(7), 7, range).unwrap(), 7 * one);
            }
        }
    }

    /// What leaves of a secret number of rows: their number and the sum from the middle of the range, each with the noise of its own.
    #[test]
    fn a_secret_mean_leaves_with_the_noise_of_its_plan() {
        let (sizes, truth, times) = ([3.0, 40.0], [20.0, 20.0 * (3.0 - 1.5)], 4_000);
        let family = WholeFamily::Normal { mean: 0.0, precision: 1.0, sd: 1.0, secret: Some(Range::new(-1.0, 4.0)) };
        let law = WholeLaw { family, noise: WholeNoise::Rows { gaussian: true, rows: sizes[0], sum: sizes[1] }, aware: true };
        let totals = Totals { sums: vec![20 * 3], exponent: 0, products: vec![], products_exponent: 0, values: vec![] };
        let measured = Measured { rows: 20, totals: vec![totals], design: None, columns: None };
        let mut bits = crate::mechanism::bits::Repeated::new([3; 32], 0);
        let drawn: Vec<Vec<f64>> = (0..times)
            .map(|_| release(&law, &measured, None, &mut bits).unwrap().components.iter().map(|n| n.to_f64()).collect())
            .collect();
        for i in 0..2 {
            let mean = drawn.iter().map(|x| x[i]).sum::<f64>() / f64::from(times);
            let variance = drawn.iter().map(|x| (x[i] - mean).powi(2)).sum::<f64>() / f64::from(times);
            // Five standard errors of each.
            assert!((mean - truth[i]).abs() < 5.0 * sizes[i] / f64::from(times).sqrt(), "{i}: {mean}");
            assert!((variance.sqrt() / sizes[i] - 1.0).abs() < 5.0 / (2.0 * f64::from(times)).sqrt(), "{i}: {variance}");
        }
        assert!(drawn.iter().all(|x| x.len() == 2) && release(&law, &measured, Some(20), &mut bits).is_err());
    }
}
