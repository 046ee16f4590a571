//! The last state of a penalty chain on the beta-divergence posterior: private by itself, converged or not.
//!
//! ## Shape
//! That of `beta_div`. Each step proposes a state from public facts alone, adds rounded normal noise of sd sigma to the change of
//! the weighted loss of all rows, and accepts with the penalty `exp(-sigma^2 / 2)` (Ceperley and Dewing 1999; Yildirim and
//! Ermis 2019).
//!
//! ## Claim
//! mu-GDP with `mu = sqrt(T) D / sigma` (§12): T noisy answers, each a sum that a replaced row moves by at most `D = 2 k w R`, an
//! added or removed one by `k w R`, with the range R of `beta_div`. The sums are of integers, and normal noise that is rounded
//! there is post-processing of a normal mechanism. Every state of the chain is a function of these answers, so
//! nothing is assumed about convergence. T is 300, sigma 1.5 and beta 1.5 (or what makes R least, where M > 1) unless given;
//! the weight w is solved from the budget, or sigma where w is given, or T where sigma alone is given.
//!
//! ## Refuses
//! What `beta_div` refuses, but for the chain.
//!
//! ## Checked by
//! Golden values; the loss of every law searched over random and extreme rows and parameters (`tests/claims/loss_ranges.rs`).

use super::density::row_loss;
use super::model::{BoundedLoss, Moved};
use super::paying;
use crate::numeric::Amount;
use crate::numeric::amount::quotient_up;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::{Answers, Question, Rule, Verdict};

pub static PENALTY: Mechanism =
    Mechanism::new("penalty", &[Arg::count("iterations"), Arg::positive("sigma"), Arg::positive("step"), Arg::BETA, Arg::WEIGHT])
        .by_name()
        .called("a penalty chain");

pub static RULE: Rule = Rule {
    name: "penalty",
    summary: "a penalty chain on the beta-divergence posterior, private at every step",
    section: "12",
    source: include_str!("penalty.rs"),
    answers: Answers::Draws,
    mechanisms: &[&PENALTY],
    judge,
};

fn judge(question: &Question) -> Verdict {
    super::model::judge(&RULE, question, row_loss, paying::penalty)
}

impl BoundedLoss {
    /// One chain of this many steps. Every term of the noisy sum is a difference of two losses of one row, in `[-R, R]`.
    pub fn chain_claim(&self, beta: f64, weight: f64, iterations: u64, sigma: f64, moved: Moved) -> Claim {
        answer(larger(self.width(beta, weight, moved)), sigma).each(iterations)
    }
}

/// One sum that moves by at most `moves`, with normal noise of this sd, as a double or as the decimal it stands for; unbounded where
/// one is not an amount.
pub(super) fn answer(moves: Option<Amount>, sigma: f64) -> Claim {
    Claim::Gdp { mu: quotient_up(moves, smaller(sigma)) }
}

/// A double or the decimal it stands for, whichever is larger.
pub(super) fn larger(x: f64) -> Option<Amount> {
    Amount::of(x).max(Amount::exactly(x))
}

/// A double or the decimal it stands for, whichever is smaller.
pub(super) fn smaller(x: f64) -> Option<Amount> {
    Amount::of(x).min(Amount::exactly(x))
}
