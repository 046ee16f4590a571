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

/// Decimals beyond the bracket that are tried, and steps back from it, each twice as long.
const CLOSE: u32 = 4;
const STEPS_BACK: u32 = 8;

/// So far beyond the last decimal nothing fits.
const ASTRAY: f64 = 1e-6;

/// Doublings or halvings before a search gives up: 2^60 covers every useful scale.
const REACH: u32 = 60;

/// What a value costs over what is allowed.
#[derive(Clone, Copy)]
pub struct Price<'a> {
    /// At most 1 exactly where it fits: this decides.
    pub exact: &'a dyn Fn(f64) -> f64,
    /// Mostly 1 at the same place, for less work: this says where to look.
    pub near: &'a dyn Fn(f64) -> f64,
}

impl Price<'_> {
    /// With nothing that is only near.
    fn sure(self) -> Self {
        Price { near: self.exact, ..self }
    }

    fn is_sure(self) -> bool {
        std::ptr::addr_eq(self.near, self.exact)
    }
}

/// The largest `x` in (0, `most`] that fits, rounded down to 12 significant digits and verified. The search may `begin` where it
/// is thought to lie.
///
/// It should fit below some point and fail above it; where it does not, the value returned still fits.
pub fn largest(most: f64, begin: Option<f64>, price: Price) -> Option<f64> {
    let fits = &|x| (price.exact)(x) <= 1.0;
    let begun = begin.filter(|x| *x > 0.0 && *x < most / 2.0).and_then(|x| around(x, most / 2.0, price.near));
    if begun.is_none() && fits(most) {
        return Some(most);
    }
    let (mut yes, mut no) = begun.unwrap_or((most / 2.0, most));
    let mut halvings = 0;
    while begun.is_none() && (price.near)(yes) > 1.0 {
        (yes, no) = (yes / 2.0, yes);
        halvings += 1;
        if halvings > REACH {
            return None;
        }
    }
    let found = narrowed(yes, no, price.near);
    settled(found, most, 1.0, price, &|price| largest(most, None, price))
}

/// A value that fits and one above it that does not, at most `most`, looked for in growing steps from `begin`; `None` where they are
/// far from there.
fn around(begin: f64, most: f64, cost: &dyn Fn(f64) -> f64) -> Option<(f64, f64)> {
    let up = cost(begin) <= 1.0;
    let (mut last, mut step) = (begin, 1.1);
    for _ in 0..6 {
        let x = if up { last * step } else { last / step };
        if x > most {
            return None;
        }
        if (cost(x) <= 1.0) != up {
            return Some(if up { (last, x) } else { (x, last) });
        }
        (last, step) = (x, step * step);
    }
    None
}

/// The smallest `x` > 0 that fits, rounded up to 12 significant digits and verified. The search begins at `start`.
pub fn smallest(start: f64, price: Price) -> Option<f64> {
    let near = &|x| (price.near)(x) <= 1.0;
    let (mut yes, mut no) = (start, start);
    let mut moves = 0;
    while !near(yes) {
        (no, yes) = (yes, yes * 2.0);
        moves += 1;
        if moves > REACH {
            return None;
        }
    }
    while no == yes || near(no) {
        (yes, no) = (no.min(yes), no.min(yes) / 2.0);
        moves += 1;
        if moves > 2 * REACH {
            return None;
        }
    }
    let found = narrowed(yes, no, price.near);
    settled(found, f64::INFINITY, -1.0, price, &|price| smallest(start, price))
}

/// The largest `x` > 0 that fits, without an upper end. The search begins at `start`.
pub fn largest_positive(start: f64, price: Price) -> Option<f64> {
    let mut most = start;
    for _ in 0..REACH {
        if (price.near)(most) > 1.0 {
            return largest(most, None, price);
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

/// The last decimal that fits, at or near a value that does. `dearer` is 1 where larger values cost more, else -1. Where many
/// more decimals fit, what was near was not: the search is made `again`.
fn settled(found: f64, most: f64, dearer: f64, price: Price, again: &dyn Fn(Price) -> Option<f64>) -> Option<f64> {
    let fits = |x: f64| x > 0.0 && x.is_finite() && (price.exact)(x) <= 1.0;
    let rounded = |x: f64, side: f64| if side > 0.0 { up12(x).min(most) } else { down12(x) };
    let dear = |x: f64, by: f64| rounded(x * (1.0 + dearer * by), dearer);
    let cheap = |x: f64, by: f64| rounded(x * (1.0 - dearer * by), -dearer);
    // The bracket is narrower than the rounding: the nearest decimal beyond it may be the exact solution.
    let mut x = dear(found, 0.0);
    if fits(x) {
        for _ in 0..CLOSE {
            let next = dear(x, 1e-13);
            if next == x || !fits(next) {
                return Some(x);
            }
            x = next;
        }
        // What is near remembers where it was asked before: it may say less here than it said in the search.
        let loose = || (price.near)(x) > (price.exact)(x) || fits(dear(x, ASTRAY));
        return if !price.is_sure() && loose() { again(price.sure()) } else { Some(x) };
    }
    x = cheap(found, 0.0);
    for step in 0..STEPS_BACK {
        if fits(x) {
            return Some(x);
        }
        x = cheap(x, 1e-12 * f64::from(1_u32 << step));
    }
    // What was near said less than it should.
    if (price.near)(found) <= 1.0 && (price.exact)(found) > 1.0 { again(price.sure()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(most: f64, cost: &dyn Fn(f64) -> f64) -> Option<f64> {
        super::largest(most, None, Price { exact: cost, near: cost })
    }

    fn smallest(start: f64, cost: &dyn Fn(f64) -> f64) -> Option<f64> {
        super::smallest(start, Price { exact: cost, near: cost })
    }

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

    /// Near the end it says where, far from it as if nothing were known.
    #[test]
    fn a_search_may_begin_anywhere() {
        let costs: [&dyn Fn(f64) -> f64; 3] = [&|x| x * x / 0.04, &|x| x / 0.3, &|x| if x < 0.07 { 0.5 } else { f64::INFINITY }];
        for cost in costs {
            let (price, found) = (Price { exact: cost, near: cost }, largest(1.0, cost));
            for begin in [0.0, 1e-9, 0.069, 0.07, 0.19, 0.2, 0.21, 0.29, 0.45, 0.6, 7.0, f64::NAN] {
                assert_eq!(super::largest(1.0, Some(begin), price), found, "{begin}");
            }
        }
        assert_eq!(super::largest(1.0, Some(0.3), Price { exact: &|_| 0.0, near: &|_| 0.0 }), Some(1.0));
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
    /// Where what should be near is far above, by much, by little or here and there, the answer is the same.
    #[test]
    fn what_is_near_decides_nothing() {
        let exact: &dyn Fn(f64) -> f64 = &|x| x * x / 0.5;
        let nears: [Box<dyn Fn(f64) -> f64>; 5] = [
            Box::new(|x| 1.01 * x * x / 0.5),
            Box::new(|x| (1.0 + 1e-12) * x * x / 0.5),
            Box::new(|x| x * x / 0.5 + if x > 0.6 { 3.0 } else { 0.0 }),
            Box::new(|x| x * x / 0.5 + (x * 1e6).sin().abs()),
            Box::new(|x| if x > 0.5 { 2.0 } else { x * x / 0.5 }),
        ];
        for near in &nears {
            assert_eq!(super::largest(1.0, None, Price { exact, near }), largest(1.0, exact));
            let (exact, near): (&dyn Fn(f64) -> f64, &dyn Fn(f64) -> f64) = (&|x| exact(1.0 / x), &|x| near(1.0 / x));
            assert_eq!(super::smallest(1.0, Price { exact, near }), smallest(1.0, exact));
        }
    }
}
