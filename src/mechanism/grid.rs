//! Public grids of powers of two, and the numbers that are released on them.

use dashu_base::{Signed, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Where an index saturates: a clamp known to everyone, so it is post-processing of the ideal draw.
pub const LARGEST_INDEX: i128 = 1 << 126;

/// `index * 2^exponent`, exactly: what leaves a mechanism.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    pub index: i128,
    pub exponent: i32,
}

impl Number {
    pub fn new(index: i128, exponent: i32) -> Number {
        Number { index, exponent }
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
