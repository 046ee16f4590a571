//! Double arithmetic that names its rounding direction and stays exact where the result is exact.

/// Below this size the remainder of a product or quotient may itself underflow, so the result is always moved.
const TINY: f64 = 1e-250;

fn up(value: f64, too_low: bool) -> f64 {
    if too_low { value.next_up() } else { value }
}

fn down(value: f64, too_high: bool) -> f64 {
    // A finite true value above the largest double is bounded below by that double, not by infinity.
    let value = value.min(f64::MAX);
    if too_high { value.next_down() } else { value }
}

/// `a + b - fl(a + b)`, exactly (two-sum).
fn add_remainder(a: f64, b: f64, sum: f64) -> f64 {
    let shadow = sum - a;
    (a - (sum - shadow)) + (b - shadow)
}

pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    up(sum, add_remainder(a, b, sum) > 0.0)
}

pub(crate) fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    down(sum, add_remainder(a, b, sum) < 0.0)
}

fn unsure(a: f64, b: f64, value: f64) -> bool {
    value.abs() < TINY && a != 0.0 && b != 0.0
}

pub(crate) fn mul_up(a: f64, b: f64) -> f64 {
    let p = a * b;
    up(p, unsure(a, b, p) || a.mul_add(b, -p) > 0.0)
}

pub(crate) fn mul_down(a: f64, b: f64) -> f64 {
    let p = a * b;
    down(p, unsure(a, b, p) || a.mul_add(b, -p) < 0.0)
}

/// `a / b` for `b > 0`.
pub(crate) fn div_up(a: f64, b: f64) -> f64 {
    let q = a / b;
    up(q, unsure(a, 1.0, q) || q.mul_add(b, -a) < 0.0)
}

/// `a / b` for `b > 0`.
pub(crate) fn div_down(a: f64, b: f64) -> f64 {
    let q = a / b;
    down(q, unsure(a, 1.0, q) || q.mul_add(b, -a) > 0.0)
}

pub(crate) fn sqrt_down(x: f64) -> f64 {
    let s = x.sqrt();
    down(s, unsure(x, 1.0, x) || s.mul_add(s, -x) > 0.0)
}

pub(crate) fn sqrt_up(x: f64) -> f64 {
    let s = x.sqrt();
    up(s, unsure(x, 1.0, x) || s.mul_add(s, -x) < 0.0)
}

/// A count as a double that is at least it.
pub(crate) fn count_up(n: u64) -> f64 {
    let x = n as f64;
    up(x, n > (1 << 53))
}

/// A count as a double that is at most it.
pub(crate) fn count_down(n: u64) -> f64 {
    let x = n as f64;
    down(x, n > (1 << 53))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_results_do_not_move() {
        assert_eq!((add_up(6.0, 1.0), add_down(6.0, 1.0)), (7.0, 7.0));
        assert_eq!((mul_up(0.5, 6.0), mul_down(0.5, 6.0)), (3.0, 3.0));
        assert_eq!((div_up(6.0, 2.0), div_down(6.0, 2.0)), (3.0, 3.0));
        assert_eq!((sqrt_up(9.0), sqrt_down(9.0)), (3.0, 3.0));
        assert_eq!((count_up(100), count_down(100)), (100.0, 100.0));
    }

    #[test]
    fn inexact_results_bracket_the_truth() {
        assert_eq!(add_up(0.1, 0.2), add_down(0.1, 0.2).next_up());
        assert_eq!(mul_up(0.1, 0.3), mul_down(0.1, 0.3).next_up());
        assert_eq!(div_up(1.0, 3.0), div_down(1.0, 3.0).next_up());
        assert_eq!(sqrt_up(2.0), sqrt_down(2.0).next_up());
        assert!(mul_up(1e-200, 1e-200) > 0.0 && mul_down(1e-200, 1e-200) <= 0.0);
        assert_eq!(add_down(f64::MAX, f64::MAX), f64::MAX);
    }
}
