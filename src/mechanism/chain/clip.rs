//! Gradients of single rows as integers of bounded length, and the noise that their sums take (rule book §12).

use dashu::rational::RBig;

use crate::mechanism::MechanismError;
use crate::mechanism::real::rational;

/// The longest gradient of a row, in units of its integers.
pub const LONGEST: i128 = 1 << 30;
/// The same less room for the rounding of norms: 2^30 (1 - 2^-40).
const REACH: f64 = 1_073_741_824.0 - 9.765_625e-4;

/// The sd of noise on a sum of integers that stand for numbers of `units` each, times `per`: never less than asked for.
pub fn in_units(sigma: f64, per: f64, units: &RBig) -> Result<RBig, MechanismError> {
    Ok(RBig::from((rational(sigma)? * units / rational(per)?).ceil()))
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
    }
}
