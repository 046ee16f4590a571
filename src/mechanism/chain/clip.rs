//! Gradients of single rows as integers of bounded length, and the noise that their sums take (rule book §12).

use dashu_ratio::RBig;

use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::draw::gaussian::normal;
use crate::mechanism::grid;
use crate::mechanism::plan::ChainLaw;
use crate::mechanism::real::{Param, rational};

/// The longest gradient of a row, in units of its integers.
pub const LONGEST: i128 = 1 << 30;
/// The same less room for the rounding of norms: 2^30 (1 - 2^-40).
const REACH: f64 = 1_073_741_824.0 - 9.765_625e-4;

/// Binary places of a difference below the range.
const PLACES: i32 = 52;

/// Normal noise rounded to integers. A sum of integers with it is the sum with the normal number itself, rounded: the curve is
/// that of a normal mechanism.
pub struct Rounded {
    mean: Param,
    variance: Param,
}

impl Rounded {
    fn of(sd: &RBig) -> Rounded {
        Rounded { mean: Param::new(RBig::ZERO), variance: Param::new(sd * sd) }
    }

    /// The sum with noise.
    pub fn on<B: BitSource>(&self, sum: i128, bits: &mut B) -> Result<i128, MechanismError> {
        Ok(grid::add(sum, normal(&self.mean, &self.variance, 0, bits)?))
    }
}

/// The sd of noise on a sum of integers that stand for numbers of `units` each, times `per`: never less than asked for.
fn in_units(sigma: f64, per: f64, units: &RBig) -> Result<RBig, MechanismError> {
    if !(sigma > 0.0 && per > 0.0) {
        return Err(MechanismError::Parameter);
    }
    let sd = RBig::from((rational(sigma)? * units / rational(per)?).ceil());
    grid::check_noise(&sd).map(|()| sd)
}

/// The noise on sums of gradients, in their integers, where that on numbers cut to `clip` is `sigma`.
pub fn on_gradients(sigma: f64, clip: f64) -> Result<Rounded, MechanismError> {
    Ok(Rounded::of(&in_units(sigma, clip, &RBig::from(LONGEST))?))
}

/// Binary places of the grid on which differences of at most `range` are added: they stay below 2^52 of its units.
pub(super) fn places(range: f64) -> i32 {
    PLACES - libm::frexp(range).1
}

/// The noise on sums of differences of losses, in their integers, where that on weighted ones of at most `range` is `sigma`.
pub fn on_losses(sigma: f64, weight: f64, range: f64) -> Result<Rounded, MechanismError> {
    Ok(Rounded::of(&in_units(sigma, weight, &rational(libm::ldexp(1.0, places(range)))?)?))
}

/// Fails where a chain that pays for its answers could not draw their noise, before data are read.
pub fn check_noise(chain: &ChainLaw, weight: f64) -> Result<(), MechanismError> {
    match chain {
        ChainLaw::Hmc { sigma, range, clip, gradient_sigma, .. } => {
            on_losses(*sigma, weight, *range)?;
            on_gradients(*gradient_sigma, *clip)?;
        }
        ChainLaw::Sgld { clip, sigma, .. } => {
            on_gradients(*sigma, *clip)?;
        }
        ChainLaw::Penalty { sigma, range, .. } => {
            on_losses(*sigma, weight, *range)?;
        }
        ChainLaw::Nuts { .. } | ChainLaw::Slice { .. } => {}
    }
    Ok(())
}

/// Adds the gradient of one row, in units of the spreads and no longer than `clip`, as integers of L2 norm at most 2^30.
pub fn cut(row: &[f64], spreads: &[f64], clip: f64, sums: &mut [i128]) {
    let parts = || row.iter().zip(spreads).map(|(g, s)| g * s).map(|x| if x.is_finite() { x } else { 0.0 });
    let most = parts().fold(0.0, |most: f64, x| most.max(x.abs()));
    if most == 0.0 {
        return;
    }
    let norm = most * parts().map(|x| (x / most) * (x / most)).sum::<f64>().sqrt();
    let factor = REACH / norm.max(clip);
    let integers = || parts().map(|x| i128::from((x * factor) as i64));
    // The certificate rests on this line alone; a row that fails it is left out.
    let square = integers().fold(0i128, |sum, q| sum.saturating_add(q.saturating_mul(q)));
    if square <= LONGEST * LONGEST {
        sums.iter_mut().zip(integers()).for_each(|(sum, q)| *sum = sum.saturating_add(q));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_no_longer_than_the_clip() {
        let wild = [0.0, 1.0, -3.0, 1e-300, 1e300, -1e308, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN, f64::NEG_INFINITY];
        for a in wild {
            for b in wild {
                for clip in [1e-3, 1.0, 1e6] {
                    let mut sums = [0i128; 3];
                    cut(&[a, b, 0.5], &[1.0, 2.0, 1e-3], clip, &mut sums);
                    let square: i128 = sums.iter().map(|q| q * q).sum();
                    assert!(square <= LONGEST * LONGEST, "{a} {b} {clip} {sums:?}");
                }
            }
        }
        // Short ones keep their length, long ones their direction.
        let cut_at = |g: [f64; 2], clip| {
            let mut sums = [0i128; 2];
            cut(&g, &[1.0, 1.0], clip, &mut sums);
            sums.map(|q| q as f64 / LONGEST as f64 * clip)
        };
        let close = |found: [f64; 2], wanted: [f64; 2]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-8), "{found:?} {wanted:?}");
        };
        close(cut_at([0.3, -0.4], 1.0), [0.3, -0.4]);
        close(cut_at([3.0, -4.0], 1.0), [0.6, -0.8]);
        close(cut_at([1e300, 1e300], 1.0), [0.5_f64.sqrt(), 0.5_f64.sqrt()]);
    }

    #[test]
    fn noise_is_never_less_than_asked_for() {
        for (sigma, per) in [(1.5, 0.3), (1e-12, 1.0), (2.0, 1e-9)] {
            let found = in_units(sigma, per, &RBig::from(LONGEST)).unwrap().to_f64().value();
            let exact = sigma / per * LONGEST as f64;
            assert!(found >= exact && found <= exact + 1.0 + 1e-9 * exact, "{found} {exact}");
        }
        for (sigma, per) in [(0.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (f64::INFINITY, 1.0), (1.0, 0.0)] {
            assert_eq!(on_gradients(sigma, per).err(), Some(MechanismError::Parameter), "{sigma} {per}");
        }
        for (sigma, per) in [(1e40, 1.0), (1.0, 1e-40)] {
            assert_eq!(on_gradients(sigma, per).err(), Some(MechanismError::Wide), "{sigma} {per}");
        }
    }
}
