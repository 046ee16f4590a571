//! Solving a free parameter from a cost limit: the returned value is rounded to the private side and verified again.

use crate::numeric::decimal::{down12, up12};

/// Steps of bisection after which a bracket of one doubling is far below the twelfth digit.
const STEPS: u32 = 44;

/// Doublings or halvings before a search gives up: 2^60 covers every useful scale.
const REACH: u32 = 60;

/// The largest `x` in (0, `most`] with `fits(x)`, rounded down to 12 significant digits and verified.
///
/// `fits` should hold below some point and fail above it; where it does not, the value returned still fits.
pub fn largest(most: f64, fits: &dyn Fn(f64) -> bool) -> Option<f64> {
    if fits(most) {
        return Some(most);
    }
    let (mut yes, mut no) = (most / 2.0, most);
    let mut halvings = 0;
    while !fits(yes) {
        (yes, no) = (yes / 2.0, yes);
        halvings += 1;
        if halvings > REACH {
            return None;
        }
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(yes, no);
        if fits(middle) { yes = middle } else { no = middle }
    }
    // The bracket is narrower than the rounding: the nearest decimal above may be the exact solution.
    let start = if up12(yes) <= most && fits(up12(yes)) { up12(yes) } else { down12(yes) };
    verified(start, |x| down12(x * (1.0 - 1e-11)), fits)
}

/// The smallest `x` > 0 with `fits(x)`, rounded up to 12 significant digits and verified. The search begins at `start`.
pub fn smallest(start: f64, fits: &dyn Fn(f64) -> bool) -> Option<f64> {
    let (mut yes, mut no) = (start, start);
    let mut moves = 0;
    while !fits(yes) {
        (no, yes) = (yes, yes * 2.0);
        moves += 1;
        if moves > REACH {
            return None;
        }
    }
    while no == yes || fits(no) {
        (yes, no) = (no.min(yes), no.min(yes) / 2.0);
        moves += 1;
        if moves > 2 * REACH {
            return None;
        }
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(yes, no);
        if fits(middle) { yes = middle } else { no = middle }
    }
    let start = if fits(down12(yes)) { down12(yes) } else { up12(yes) };
    verified(start, |x| up12(x * (1.0 + 1e-11)), fits)
}

/// The largest `x` > 0 with `fits(x)`, without an upper end. The search begins at `start`.
pub fn largest_positive(start: f64, fits: &dyn Fn(f64) -> bool) -> Option<f64> {
    let mut most = start;
    for _ in 0..REACH {
        if !fits(most) {
            return largest(most, fits);
        }
        most *= 2.0;
    }
    None
}

/// Rounding moves a value to the side that should fit; a few steps further where the curve says otherwise.
fn verified(start: f64, next: impl Fn(f64) -> f64, fits: &dyn Fn(f64) -> bool) -> Option<f64> {
    let mut x = start;
    for _ in 0..8 {
        if x > 0.0 && x.is_finite() && fits(x) {
            return Some(x);
        }
        x = next(x);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_weight_is_found_from_below() {
        let r = largest(1.0, &|x| x * x <= 0.5).unwrap();
        assert!(r * r <= 0.5 && (r - 0.5f64.sqrt()).abs() < 1e-11);
        assert_eq!(largest(1.0, &|x| x < 2.0), Some(1.0));
        assert_eq!(largest(1.0, &|_| false), None);
    }

    #[test]
    fn the_smallest_noise_is_found_from_above() {
        for limit in [0.72, 1.0, 3.0, 1e6, 1e-6] {
            let s = smallest(1.0, &|x| x >= limit).unwrap();
            assert!(s >= limit && s <= limit * (1.0 + 1e-11), "{limit}: {s}");
        }
        assert_eq!(smallest(1.0, &|_| false), None);
        assert_eq!(smallest(1.0, &|x| x >= 0.72).unwrap(), 0.72);
    }
}
