//! Public grids of powers of two, and the numbers that are released on them.

use super::MechanismError;
use dashu_base::{Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Where an index saturates: a clamp known to everyone, so it is post-processing of the ideal draw.
pub const LARGEST_INDEX: i128 = 1 << 126;
/// Where a value saturates before noise is added: with noise that saturates at `NOISE` the clamp of their sum is that of the ideal sum.
const LARGEST_VALUE: i128 = 1 << 125;
/// Where noise saturates. Never at `LARGEST_INDEX`: a sum with noise that was clamped there would show the value.
pub const NOISE: i128 = i128::MAX;
/// Noise may be so wide, as a power of two of steps of its grid: beyond, most of it would saturate.
const WIDEST: usize = 112;

/// Fails where noise of this scale or sd, in the steps of its grid, is not positive or wider than integers hold.
pub fn check_noise(scale: &RBig) -> Result<(), MechanismError> {
    if *scale <= RBig::ZERO {
        Err(MechanismError::Parameter)
    } else if *scale > RBig::from(UBig::ONE << WIDEST) {
        Err(MechanismError::Wide)
    } else {
        Ok(())
    }
}

/// A value and its noise, both indices of one grid. What is clamped is their sum, and the value by a bound known to everyone:
/// the first is post-processing, the second moves no two values apart.
pub fn add(value: i128, noise: i128) -> i128 {
    value.clamp(-LARGEST_VALUE, LARGEST_VALUE).saturating_add(noise).clamp(-LARGEST_INDEX, LARGEST_INDEX)
}

/// Fails where a value may be too large to be released on the grid of `2^exponent`, noise and all.
pub fn check_value(largest: f64, exponent: i32) -> Result<(), MechanismError> {
    if libm::ldexp(largest, -exponent) <= LARGEST_VALUE as f64 { Ok(()) } else { Err(MechanismError::Range) }
}

/// `index * 2^exponent`, exactly: what leaves a mechanism. An index is at most `LARGEST_INDEX` in size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    pub index: i128,
    pub exponent: i32,
}

impl Number {
    pub fn new(index: i128, exponent: i32) -> Number {
        Number { index: index.clamp(-LARGEST_INDEX, LARGEST_INDEX), exponent }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        libm::ldexp(self.index as f64, self.exponent)
    }

    /// Digits after the point: enough to tell neighbours on the grid apart; the same for every number of one grid.
    pub fn digits(self) -> usize {
        // 0.30103 is log10(2), rounded up.
        let halvings = self.exponent.min(0).unsigned_abs() as usize;
        (halvings * 30_103).div_ceil(100_000)
    }

    /// Decimal text with the grid's number of digits after the point, rounded half up.
    pub fn decimal(self) -> String {
        let digits = self.digits();
        let magnitude = UBig::from(self.index.unsigned_abs());
        let scaled: UBig = if self.exponent >= 0 {
            magnitude << self.exponent.unsigned_abs() as usize
        } else {
            let shift = self.exponent.unsigned_abs() as usize;
            let half = UBig::ONE << (shift - 1);
            (magnitude * UBig::from(10u8).pow(digits) + half) >> shift
        };
        let text = format!("{scaled:0>width$}", width = digits + 1);
        let (whole, part) = text.split_at(text.len() - digits);
        let sign = if self.index < 0 { "-" } else { "" };
        if digits == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
    }

    /// Most characters of the decimal text of any number of this grid: a sign, the digits of the largest index, a point.
    pub fn widest(self) -> usize {
        let largest = Number { index: -LARGEST_INDEX, exponent: self.exponent };
        largest.decimal().len()
    }

    pub fn exact(self) -> RBig {
        let m = IBig::from(self.index);
        let power = UBig::ONE << self.exponent.unsigned_abs() as usize;
        if self.exponent >= 0 { RBig::from(m * IBig::from(power)) } else { RBig::from_parts(m, power) }
    }
}

/// The grid point nearest to an exact number, halves upwards, saturating.
pub fn round(x: &RBig, exponent: i32) -> Number {
    let power = RBig::from(UBig::ONE << exponent.unsigned_abs() as usize);
    let scaled = if exponent >= 0 { x / power } else { x * power };
    let index = (scaled + RBig::from_parts(IBig::ONE, UBig::from(2u8))).floor();
    let limit = UBig::from(LARGEST_INDEX.unsigned_abs());
    let index = if index.clone().unsigned_abs() > limit {
        if index.is_negative() { -LARGEST_INDEX } else { LARGEST_INDEX }
    } else {
        i128::try_from(&index).unwrap_or(0)
    };
    Number { index, exponent }
}

/// The exponent of a grid `bits` binary places below a public scale; scales out of range are clamped.
pub fn below(scale: f64, bits: i32) -> i32 {
    let exponent = if scale.is_finite() && scale > 0.0 { libm::ilogb(scale) } else { 0 };
    (exponent - bits).clamp(-900, 900)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// However far noise reaches, what leaves is the ideal sum, clamped: it says nothing more about the value.
    #[test]
    fn saturated_noise_hides_the_value_as_ideal_noise_does() {
        let big = |x: i128| IBig::from(x);
        let ideal = |value: i128, noise: &IBig| -> i128 {
            let sum = big(value) + noise;
            i128::try_from(&sum.clamp(big(-LARGEST_INDEX), big(LARGEST_INDEX))).unwrap()
        };
        let values = [0, 1, -1, 101, 1 << 64, LARGEST_VALUE, -LARGEST_VALUE];
        let sizes = (0..140usize).flat_map(|k| [-1i128, 0, 1].map(|d| (IBig::ONE << k) + big(d)));
        for noise in sizes.flat_map(|x| [-x.clone(), x]) {
            let held = i128::try_from(&noise.clone().clamp(big(-NOISE), big(NOISE))).unwrap();
            for value in values {
                assert_eq!(add(value, held), ideal(value, &noise), "{value} {noise}");
            }
        }
        // Larger values count as the largest.
        assert_eq!(add(i128::MAX, -5), LARGEST_VALUE - 5);
    }

    #[test]
    fn noise_wider_than_integers_hold_is_refused() {
        let power = |k: usize| RBig::from(UBig::ONE << k);
        assert_eq!(check_noise(&power(WIDEST)), Ok(()));
        assert_eq!(check_noise(&(power(WIDEST) + RBig::ONE)), Err(MechanismError::Wide));
        assert_eq!(check_noise(&RBig::ZERO), Err(MechanismError::Parameter));
        assert_eq!((check_value(1e20, 0), check_value(1e20, -60)), (Ok(()), Err(MechanismError::Range)));
    }
}
