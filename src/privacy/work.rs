//! What pricing has worked out on this thread since it began: every number once, and how many points of curves that took.
//!
//! Claims are public, so what is kept tells nothing; it changes no number.

use super::Claim;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// A number of a claim and, of an epsilon, the order that attains it.
type Found = (f64, Option<f64>);

/// What was asked of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Asked {
    /// Epsilon at this delta, by its bits.
    Epsilon(u64),
    /// Epsilon at this delta of a curve alone, searched for from here.
    Near(u64, u64),
    /// The divergence at this order.
    Rdp(u64),
}

/// Answers kept at most.
const MOST: usize = 100_000;

thread_local! {
    static POINTS: Cell<u64> = const { Cell::new(0) };
    static KNOWN: RefCell<HashMap<Claim, HashMap<Asked, Found>>> = RefCell::default();
}

/// Starts afresh, so that what a program takes does not depend on what was priced before it.
pub fn begin() {
    POINTS.set(0);
    KNOWN.take();
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
