//! Loops over runs of numbers, compiled for what processors have: the same sums, products and roundings with each of them.

use multiversion::multiversion;

use crate::numeric::{Binary, Range};

/// Doubles near this one, 1.5 * 2^52, are whole numbers, the next of which is the next in bits as well.
const WHOLE: f64 = 6_755_399_441_055_744.0;

/// The index of a number on a grid whose step is `1 / factor`, moved between two whole numbers of at most 2^51: rounded to the nearest,
/// ties to even, or toward 0. No number counts as 0.
#[inline(always)]
pub fn index(x: f64, factor: f64, (lo, hi): (f64, f64), toward_zero: bool) -> i64 {
    let y = x * factor;
    let y = if toward_zero { y.trunc() } else { (y + WHOLE) - WHOLE };
    let y = if y.is_nan() { 0.0 } else { y };
    (y.max(lo).min(hi) + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits()).cast_signed()
}

/// [`index`] of every number.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
pub fn indices(x: &[f64], factor: f64, ends: (f64, f64), toward_zero: bool, out: &mut Vec<i64>) {
    out.clear();
    out.resize(x.len(), 0);
    out.iter_mut().zip(x).for_each(|(to, x)| *to = index(*x, factor, ends, toward_zero));
}

/// Moves every number into a range of finite ends: no number to the point nearest 0.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
pub fn into_range(x: &mut [f64], range: Range) {
    let zero = 0.0_f64.max(range.lo).min(range.hi);
    for x in x {
        let y = x.max(range.lo).min(range.hi) + 0.0;
        *x = if x.is_nan() { zero } else { y };
    }
}

/// Adds the magnitudes, and the squares, of a run to what the rows have.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
pub fn add_norms(run: &[f64], magnitudes: &mut [f64], squares: &mut [f64]) {
    magnitudes.iter_mut().zip(run).for_each(|(sum, x)| *sum += x.abs());
    squares.iter_mut().zip(run).for_each(|(sum, x)| *sum += x * x);
}

/// A function of two numbers, in place of the first.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw+avx2+fma+bmi1+bmi2", "x86_64+avx2+fma+bmi1+bmi2"))]
pub fn binary(f: Binary, x: &mut [f64], y: &[f64]) {
    #[inline(always)]
    fn each(x: &mut [f64], y: &[f64], f: impl Fn(f64, f64) -> f64) {
        x.iter_mut().zip(y).for_each(|(x, y)| *x = f(*x, *y));
    }
    match f {
        Binary::Add => each(x, y, |x, y| x + y),
        Binary::Sub => each(x, y, |x, y| x - y),
        Binary::Mul => each(x, y, |x, y| x * y),
        Binary::Div => each(x, y, |x, y| x / y),
        f => each(x, y, |x, y| f.value(x, y)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::project;
    use proptest::prelude::*;

    /// Of every kind: no numbers, infinities, both zeros, the smallest and the largest.
    fn numbers() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            -9.0..9.0f64,
            (-40i32..40).prop_map(|i| f64::from(i) / 2.0),
            Just(-0.0),
            Just(f64::NAN),
            Just(f64::INFINITY)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn runs_are_what_single_numbers_are(x in prop::collection::vec(numbers(), 1..40), lo in -(1i64 << 43)..1 << 43, width in 0i64..1 << 43, e in -60..60i32, toward_zero: bool) {
            let (factor, hi) = (libm::ldexp(1.0, e), lo + width);
            let one = |x: &f64| {
                let y = libm::ldexp(*x, e);
                (if toward_zero { libm::trunc(y) } else { libm::rint(y) } as i64).clamp(lo, hi)
            };
            let mut found = vec![];
            indices(&x, factor, (lo as f64, hi as f64), toward_zero, &mut found);
            prop_assert_eq!(found, x.iter().map(one).collect::<Vec<_>>());
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let range = Range::new(lo as f64, hi as f64);
            let mut moved = x.clone();
            into_range(&mut moved, range);
            prop_assert_eq!(bits(&moved), bits(&x.iter().map(|x| project::into_range(*x, range)).collect::<Vec<_>>()));
            for f in Binary::ALL {
                let y: Vec<f64> = x.iter().rev().copied().collect();
                let mut found = x.clone();
                binary(f, &mut found, &y);
                let one: Vec<f64> = x.iter().zip(&y).map(|(x, y)| f.value(*x, *y)).collect();
                prop_assert!(found.iter().zip(&one).all(|(a, b)| a == b || a.is_nan() && b.is_nan()));
            }
        }
    }
}
