//! Directed rounding: `_up` is never below the exact result, `_down` never above; an exact result stays as it is.
//!
//! The rounded result of IEEE arithmetic is moved by one step where its exact error, found by a fused multiply-add, has
//! the wrong sign, and always where that error may itself have been rounded.

/// Errors of results in this range are exact doubles.
fn moderate(x: f64) -> bool {
    (1e-250..=1e250).contains(&x.abs())
}

/// `result` moved up if it is below the exact value, whose difference has the sign of `error`.
fn up(result: f64, error: f64, exact: bool) -> f64 {
    if exact && error <= 0.0 { result } else { result.next_up() }
}

/// What was lost in `a + b`: Knuth's two-sum, exact unless something overflows.
fn sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let other = sum - a;
    (a - (sum - other)) + (b - other)
}

/// At least `a + b`.
pub fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let error = sum_error(a, b, sum);
    up(sum, error, error.is_finite())
}

/// At most `a + b`.
pub fn add_down(a: f64, b: f64) -> f64 {
    -add_up(-a, -b)
}

/// At least `a - b`.
pub fn sub_up(a: f64, b: f64) -> f64 {
    add_up(a, -b)
}

/// At most `a - b`.
pub fn sub_down(a: f64, b: f64) -> f64 {
    add_down(a, -b)
}

/// At least `a * b`.
pub fn mul_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if a == 0.0 || b == 0.0 {
        return product;
    }
    up(product, a.mul_add(b, -product), moderate(product))
}

/// At most `a * b`.
pub fn mul_down(a: f64, b: f64) -> f64 {
    -mul_up(-a, b)
}

/// At least `a / b`.
pub fn div_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if a == 0.0 && b != 0.0 {
        return quotient;
    }
    let rest = (-quotient).mul_add(b, a);
    up(quotient, rest * b.signum(), moderate(quotient) && moderate(a))
}

/// At most `a / b`.
pub fn div_down(a: f64, b: f64) -> f64 {
    -div_up(-a, b)
}

/// At least the square root of `a`.
pub fn sqrt_up(a: f64) -> f64 {
    let root = a.sqrt();
    if a == 0.0 {
        return 0.0;
    }
    up(root, (-root).mul_add(root, a), moderate(a))
}

/// At most the square root of `a`, never negative.
pub fn sqrt_down(a: f64) -> f64 {
    let root = a.sqrt();
    let exact = moderate(a) && (-root).mul_add(root, a) >= 0.0;
    if exact { root } else { root.next_down().max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encloses_the_exact_result() {
        assert!(add_up(0.1, 0.2) > 0.3 && add_down(0.1, 0.2) <= 0.1 + 0.2);
        assert!(mul_up(0.1, 3.0) > mul_down(0.1, 3.0));
        assert!(div_up(1.0, 3.0) > div_down(1.0, 3.0));
        assert!(add_down(1.0, 1e-20) == 1.0 && add_up(1.0, 1e-20) > 1.0);
        assert!(mul_up(1e-200, 1e-200) > 0.0 && mul_down(1e-200, 1e-200) <= 0.0);
        assert!(sub_down(1.0, 1e-20) < sub_up(1.0, 1e-20));
        assert!(sqrt_down(2.0) < sqrt_up(2.0));
    }

    #[test]
    fn exact_results_stay() {
        assert_eq!((add_up(0.25, 0.5), add_down(0.25, 0.5)), (0.75, 0.75));
        assert_eq!((mul_up(0.5, 0.5), mul_down(0.5, 0.5)), (0.25, 0.25));
        assert_eq!((div_up(6.0, 3.0), div_down(-6.0, 3.0)), (2.0, -2.0));
        assert_eq!((sqrt_up(25.0), sqrt_down(25.0)), (5.0, 5.0));
        assert_eq!((add_up(0.0, 0.0), mul_up(0.0, 7.0), div_up(0.0, 7.0)), (0.0, 0.0, 0.0));
    }

    #[test]
    fn infinity_stays() {
        assert_eq!(add_up(f64::INFINITY, 2.0), f64::INFINITY);
        assert_eq!(add_down(f64::MAX, f64::MAX), f64::MAX);
        assert_eq!(div_up(1.0, 0.0), f64::INFINITY);
        assert_eq!(mul_up(1e300, 1e300), f64::INFINITY);
    }
}
