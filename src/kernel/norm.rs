//! Features as 32-bit numbers whose norm is proved to be at most the declared one.

use crate::numeric::round::{add_up, div_down, mul_down, mul_up, sqrt_down};
use crate::numeric::stored::LARGEST;

/// Rounded towards zero, finite; what is not a number becomes 0.
pub fn toward_zero(x: f64) -> f32 {
    let y = x as f32;
    if y.is_nan() {
        0.0
    } else if f64::from(y).abs() > x.abs() || y.is_infinite() {
        f32::from_bits(y.to_bits().saturating_sub(1))
    } else {
        y
    }
}

/// At least the sum of squares. The square of a 32-bit number is an exact double; only the additions round.
pub fn squares_up(row: &[f32]) -> f64 {
    row.iter().fold(0.0, |sum, x| {
        let x = f64::from(*x);
        add_up(sum, x * x)
    })
}

/// How often a row is shrunk before it becomes 0; the first factor does nearly always.
const TRIES: u32 = 64;

/// Writes a row, times a common factor of at most 1, such that `‖row‖² + (factor · fixed)² <= limit` for certain.
///
/// `limit` is the square of the declared norm rounded down, `fixed_squared` the square of the norm of the indicator
/// columns rounded up. Returns the factor for those. The factor is 1 where the row fits as it is.
pub fn store(row: &[f64], fixed_squared: f64, limit: f64, stored: &mut [f32]) -> f32 {
    let mut factor = 1.0f32;
    for _ in 0..TRIES {
        for (s, x) in stored.iter_mut().zip(row) {
            *s = toward_zero(toward_zero_finite(*x) * f64::from(factor));
        }
        let f = f64::from(factor);
        let total = add_up(squares_up(stored), mul_up(f * f, fixed_squared));
        if total <= limit {
            return factor;
        }
        // Rounded towards zero twice: nearly always enough at once.
        let shrink = f64::from(factor) * sqrt_down(div_down(limit, total));
        factor = toward_zero(shrink).min(f32::from_bits(factor.to_bits().saturating_sub(1)));
    }
    stored.fill(0.0);
    0.0
}

/// A finite double within the range of 32 bits, so that a factor can be found for any row.
fn toward_zero_finite(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.clamp(-LARGEST, LARGEST) }
}

/// The square of a declared norm, rounded down.
pub fn limit(norm: f64) -> f64 {
    mul_down(norm, norm)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dashu_ratio::RBig;
    use proptest::prelude::*;

    fn exact(x: f64) -> RBig {
        RBig::try_from(x).unwrap()
    }

    #[test]
    fn rounds_towards_zero() {
        assert_eq!((toward_zero(0.1), toward_zero(-0.1)), (0.1f32.next_down(), -0.1f32.next_down()));
        assert_eq!((toward_zero(f64::MAX), toward_zero(f64::NEG_INFINITY)), (f32::MAX, -f32::MAX));
        assert_eq!((toward_zero(f64::NAN), toward_zero(0.5), toward_zero(1e-320)), (0.0, 0.5, 0.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// By exact rationals: the stored row is inside the ball, and only as much smaller as rounding asks for.
        #[test]
        fn stored_norm_is_at_most_the_declared_one(
            row in prop::collection::vec(prop_oneof![-1.0f64..1.0, -1e6f64..1e6, Just(f64::NAN), Just(1e300), Just(1e-300)], 1..20),
            norm in prop_oneof![Just(1.0), 1e-3f64..1e3],
            fixed in prop_oneof![Just(0.0), 0.0f64..2.0],
        ) {
            let mut stored = vec![0.0; row.len()];
            let factor = store(&row, fixed, limit(norm), &mut stored);
            let mut total = stored.iter().map(|x| { let x = exact(f64::from(*x)); &x * &x }).fold(RBig::ZERO, |a, b| a + b);
            let f = exact(f64::from(factor));
            total += &f * &f * exact(fixed);
            let c = exact(norm);
            prop_assert!(total <= &c * &c);
            let clean: Vec<f64> = row.iter().map(|x| toward_zero_finite(*x)).collect();
            let length = (clean.iter().map(|x| x * x).sum::<f64>() + fixed).sqrt();
            let wanted = (norm / length).min(1.0);
            prop_assert!(f64::from(factor) >= wanted * (1.0 - 1e-6), "{factor} for {wanted}");
        }
    }
}
