//! What pricing has worked out on this thread since it began: every number once, and how many points of curves that took.
//!
//! Claims are public, so what is kept tells nothing; it changes no number.

use super::Claim;
use super::lead::Lead;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// A number of a claim and how it was found: of an epsilon the order that attains it, of a curve its side.
type Found = (f64, Option<f64>);

/// The width of a grid, and the heights of a curve on it.
type Heights = (f64, Rc<[f64]>);

/// What was asked of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Asked {
    /// Epsilon at this delta, by its bits.
    Epsilon(u64),
    /// What a curve costs at this epsilon, over this delta, and by which side.
    Over(u64, u64, Option<Lead>),
    /// The divergence at this order.
    Rdp(u64),
}

/// Claims of which answers are kept at most, and of which curves are.
const MOST: usize = 100_000;
const CURVES: usize = 2_000;

thread_local! {
    static POINTS: Cell<u64> = const { Cell::new(0) };
    static KNOWN: RefCell<HashMap<Claim, HashMap<Asked, Found>>> = RefCell::default();
    static HEIGHTS: RefCell<HashMap<Claim, Vec<Heights>>> = RefCell::default();
}

/// Starts afresh, so that what a program takes does not depend on what was priced before it.
pub fn begin() {
    POINTS.set(0);
    KNOWN.take();
    HEIGHTS.take();
}

/// Counts from here on, and keeps what is known.
pub fn restart() {
    POINTS.set(0);
}

/// Points of curves so far; one of a large family counts its parts.
pub fn done() -> u64 {
    POINTS.get()
}

/// Some more points, or what takes as long.
pub fn count(points: usize) {
    POINTS.set(POINTS.get().saturating_add(points as u64));
}

/// The answer that is kept, or a new one.
pub(super) fn once(claim: &Claim, asked: Asked, answer: impl FnOnce() -> Found) -> Found {
    let known = KNOWN.with_borrow(|all| all.get(claim)?.get(&asked).copied());
    known.unwrap_or_else(|| {
        let found = answer();
        KNOWN.with_borrow_mut(|all| {
            if all.len() >= MOST {
                all.clear();
            }
            match all.get_mut(claim) {
                Some(answers) => drop(answers.insert(asked, found)),
                None => drop(all.insert(claim.clone(), HashMap::from([(asked, found)]))),
            }
        });
        found
    })
}

/// The same of the heights of a curve at `0, width, .., count width`.
pub(super) fn heights(claim: &Claim, width: f64, count: u32, answer: impl FnOnce() -> Vec<f64>) -> Rc<[f64]> {
    let same = |(w, list): &&Heights| *w == width && list.len() == count as usize + 1;
    let known = HEIGHTS.with_borrow(|all| all.get(claim)?.iter().find(same).map(|(_, list)| list.clone()));
    known.unwrap_or_else(|| {
        let found: Rc<[f64]> = answer().into();
        HEIGHTS.with_borrow_mut(|all| {
            if all.len() >= CURVES {
                all.clear();
            }
            all.entry(claim.clone()).or_default().push((width, found.clone()));
        });
        found
    })
}
