//! Directed rounding of the four operations: `_up` is never below the exact result, `_down` never above.
//!
//! IEEE arithmetic is correctly rounded to nearest, so one step outward encloses the exact result.

/// At least `a + b`.
pub fn add_up(a: f64, b: f64) -> f64 {
    (a + b).next_up()
}

/// At most `a + b`.
pub fn add_down(a: f64, b: f64) -> f64 {
    (a + b).next_down()
}

/// At least `a - b`.
pub fn sub_up(a: f64, b: f64) -> f64 {
    (a - b).next_up()
}

/// At most `a - b`.
pub fn sub_down(a: f64, b: f64) -> f64 {
    (a - b).next_down()
}

/// At least `a * b`.
pub fn mul_up(a: f64, b: f64) -> f64 {
    (a * b).next_up()
}

/// At most `a * b`.
pub fn mul_down(a: f64, b: f64) -> f64 {
    (a * b).next_down()
}

/// At least `a / b`.
pub fn div_up(a: f64, b: f64) -> f64 {
    (a / b).next_up()
}

/// At most `a / b`.
pub fn div_down(a: f64, b: f64) -> f64 {
    (a / b).next_down()
}

/// At least the square root of `a`.
pub fn sqrt_up(a: f64) -> f64 {
    a.sqrt().next_up()
}

/// At most the square root of `a`, never negative.
pub fn sqrt_down(a: f64) -> f64 {
    a.sqrt().next_down().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encloses_the_exact_result() {
        assert!(add_up(0.1, 0.2) > 0.3 && add_down(0.1, 0.2) <= 0.1 + 0.2);
        assert!(mul_up(0.1, 3.0) > mul_down(0.1, 3.0));
        assert!(div_up(1.0, 3.0) > div_down(1.0, 3.0));
        assert!(sub_down(1.0, 0.9) < sub_up(1.0, 0.9));
        assert!(sqrt_down(2.0) < sqrt_up(2.0));
    }

    #[test]
    fn infinity_stays() {
        assert_eq!(add_up(f64::INFINITY, 1.0), f64::INFINITY);
        assert_eq!(mul_up(1e300, 1e300), f64::INFINITY);
    }
}
