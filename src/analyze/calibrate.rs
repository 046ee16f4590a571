//! Solving a free parameter from a cost limit: the returned value is rounded to the private side and verified again.
//!
//! Searches are given what a value costs over what is allowed: at most 1 where it fits. Only that comparison decides; how
//! far it is from 1 says where to look next, so that a dear claim is priced a dozen times and not fifty.

use crate::numeric::decimal::{down12, up12};

/// A bracket this narrow, relative to its value, is far below the twelfth digit.
const NARROW: f64 = 6e-14;

/// Steps by interpolation before bisection takes over, and of that.
const STEPS: u32 = 24;
const HALVINGS: u32 = 48;

/// Doublings or halvings before a search gives up: 2^60 covers every useful scale.
const REACH: u32 = 60;

/// The largest `x` in (0, `most`] with `cost(x) <= 1`, rounded down to 12 significant digits and verified.
///
/// It should fit below some point and fail above it; where it does not, the value returned still fits.
pub fn largest(most: f64, cost: &dyn Fn(f64) -> f64) -> Option<f64> {
    let fits = &|x| cost(x) <= 1.0;
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
    yes = narrowed(yes, no, cost);
    // The bracket is narrower than the rounding: the nearest decimal above may be the exact solution.
    let start = if up12(yes) <= most && fits(up12(yes)) { up12(yes) } else { down12(yes) };
    verified(start, |x| down12(x * (1.0 - 1e-11)), fits)
}

/// The smallest `x` > 0 with `cost(x) <= 1`, rounded up to 12 significant digits and verified. The search begins at `start`.
pub fn smallest(start: f64, cost: &dyn Fn(f64) -> f64) -> Option<f64> {
    let fits = &|x| cost(x) <= 1.0;
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
    yes = narrowed(yes, no, cost);
    let start = if fits(down12(yes)) { down12(yes) } else { up12(yes) };
    verified(start, |x| up12(x * (1.0 + 1e-11)), fits)
}

/// The largest `x` > 0 with `cost(x) <= 1`, without an upper end. The search begins at `start`.
pub fn largest_positive(start: f64, cost: &dyn Fn(f64) -> f64) -> Option<f64> {
    let mut most = start;
    for _ in 0..REACH {
        if cost(most) > 1.0 {
            return largest(most, cost);
        }
        most *= 2.0;
    }
    None
}

/// The end that fits of a bracket, once it is narrow: false position on logarithms, where costs are nearly straight, with
/// the value of an end that stays halved (the Illinois rule), so that both ends close in.
fn narrowed(mut yes: f64, mut no: f64, cost: &dyn Fn(f64) -> f64) -> f64 {
    let (mut below, mut above) = (cost(yes).ln(), cost(no).ln());
    let mut stayed = 0_i32;
    for step in 0..STEPS + HALVINGS {
        if (no - yes).abs() <= NARROW * yes {
            break;
        }
        let share = -below / (above - below);
        let guess = (yes.ln() + share * (no.ln() - yes.ln())).exp();
        // A guess at an end is moved inside by half of what is narrow: one price then closes the bracket there.
        let (low, high) = (yes.min(no) + 0.5 * NARROW * yes, yes.max(no) - 0.5 * NARROW * yes);
        let useful = share.is_finite() && above.is_finite() && step < STEPS;
        let x = if useful { guess.max(low).min(high) } else { f64::midpoint(yes, no) };
        let found = cost(x);
        if found <= 1.0 {
            (yes, below) = (x, found.ln());
            above *= if stayed > 0 { 0.5 } else { 1.0 };
            stayed = stayed.max(0) + 1;
        } else {
            (no, above) = (x, found.ln());
            below *= if stayed < 0 { 0.5 } else { 1.0 };
            stayed = stayed.min(0) - 1;
        }
    }
    yes
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
        let r = largest(1.0, &|x| x * x / 0.5).unwrap();
        assert!(r * r <= 0.5 && (r - 0.5f64.sqrt()).abs() < 1e-11);
        assert_eq!(largest(1.0, &|x| if x < 2.0 { 0.0 } else { 2.0 }), Some(1.0));
        assert_eq!(largest(1.0, &|_| f64::INFINITY), None);
    }

    #[test]
    fn the_smallest_noise_is_found_from_above() {
        for limit in [0.72, 1.0, 3.0, 1e6, 1e-6] {
            let s = smallest(1.0, &|x| limit / x).unwrap();
            assert!(s >= limit && s <= limit * (1.0 + 1e-11), "{limit}: {s}");
        }
        assert_eq!(smallest(1.0, &|_| f64::INFINITY), None);
        assert_eq!(smallest(1.0, &|x| 0.72 / x).unwrap(), 0.72);
    }

    /// Jumps, walls at the limit order, and curves far from straight end in the same digits, in few prices.
    #[test]
    fn few_prices_are_asked() {
        type Cost = Box<dyn Fn(f64) -> f64>;
        let costs: [(f64, Cost); 5] = [
            (0.3, Box::new(|x| if x <= 0.3 { 0.9 } else { 1.1 })),
            (0.3, Box::new(|x| if x < 0.7 { x / 0.3 } else { f64::INFINITY })),
            (0.25, Box::new(|x: f64| if x < 0.26 { (x / 0.25).powi(40) } else { f64::INFINITY })),
            (0.5_f64.ln_1p(), Box::new(|x: f64| x.exp_m1() / 0.5)),
            (1e-7, Box::new(|x: f64| (x / 1e-7).sqrt())),
        ];
        for (index, (exact, cost)) in costs.iter().enumerate() {
            let asked = std::cell::Cell::new(0);
            let counted = |x: f64| {
                asked.set(asked.get() + 1);
                cost(x)
            };
            let found = largest(1.0, &counted).unwrap();
            assert!(found <= *exact && found >= exact * (1.0 - 2e-11), "{found} {exact}");
            // A jump, and a wall until it is passed, can only be bisected.
            assert!(asked.get() < if index < 3 { 90 } else { 40 }, "{index}: {}", asked.get());
        }
    }
}
