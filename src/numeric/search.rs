//! Bisection for a monotone condition that returns a point where the condition was seen to hold.

/// More than enough to separate any two neighbouring doubles of one sign and magnitude.
const STEPS: u32 = 128;

fn middle(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    // Geometric steps while the ends differ in magnitude.
    if small > 0.0 && large / small > 4.0 { small.sqrt() * large.sqrt() } else { small + (large - small) / 2.0 }
}

/// From a point where `holds` is true towards one where it may not be: the last point found true, `None` if `good`
/// itself fails. Stops when the two are neighbours.
fn towards(good: f64, goal: f64, mut holds: impl FnMut(f64) -> bool) -> Option<f64> {
    if !holds(good) {
        return None;
    }
    if holds(goal) {
        return Some(goal);
    }
    let (mut good, mut bad) = (good, goal);
    for _ in 0..STEPS {
        let next = middle(good, bad);
        if next == good || next == bad || next.is_nan() {
            break;
        }
        if holds(next) {
            good = next;
        } else {
            bad = next;
        }
    }
    Some(good)
}

/// The smallest point of `[lo, hi]` found to satisfy a condition that holds from some point on.
pub fn least(lo: f64, hi: f64, holds: impl FnMut(f64) -> bool) -> Option<f64> {
    towards(hi, lo, holds)
}

/// The largest point of `[lo, hi]` found to satisfy a condition that holds up to some point.
pub fn greatest(lo: f64, hi: f64, holds: impl FnMut(f64) -> bool) -> Option<f64> {
    towards(lo, hi, holds)
}

/// The point of `[lo, hi]` with the smallest value found, and that value: golden sections of a unimodal function.
pub fn minimum(lo: f64, hi: f64, steps: u32, mut value: impl FnMut(f64) -> f64) -> (f64, f64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut lo, mut hi) = (lo, hi);
    let mut left = hi - GOLDEN * (hi - lo);
    let mut right = lo + GOLDEN * (hi - lo);
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..steps {
        if at_left <= at_right {
            hi = right;
            (right, at_right) = (left, at_left);
            left = hi - GOLDEN * (hi - lo);
            at_left = value(left);
        } else {
            lo = left;
            (left, at_left) = (right, at_right);
            right = lo + GOLDEN * (hi - lo);
            at_right = value(right);
        }
    }
    if at_left <= at_right { (left, at_left) } else { (right, at_right) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_safe_side() {
        let x = least(0.0, 10.0, |x| x * x >= 2.0).unwrap();
        assert!(x * x >= 2.0 && x.next_down() * x.next_down() < 2.0);
        let x = greatest(0.0, 10.0, |x| x * x <= 2.0).unwrap();
        assert!(x * x <= 2.0 && x.next_up() * x.next_up() > 2.0);
        assert_eq!(greatest(1.0, 10.0, |x| x < 1.0), None);
        assert_eq!(least(1.0, 10.0, |_| true), Some(1.0));
    }

    #[test]
    fn tiny_answers_keep_their_digits() {
        let x = greatest(1e-300, 1.0, |x| x <= 1e-200).unwrap();
        assert_eq!(x, 1e-200);
    }

    #[test]
    fn finds_a_minimum() {
        let (x, y) = minimum(-3.0, 5.0, 60, |x| (x - 1.0).powi(2) + 2.0);
        assert!((x - 1.0).abs() < 1e-6 && (y - 2.0).abs() < 1e-12);
    }
}
