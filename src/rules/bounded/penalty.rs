//! The last state of a penalty chain on the beta-divergence posterior: private by itself, converged or not.
//!
//! ## Shape
//! That of `beta_div`. Each step proposes a state from public facts alone, adds discrete normal noise of sd sigma to the change of
//! the weighted loss of all rows, and accepts with the penalty `exp(-sigma^2 / 2)` (Ceperley and Dewing 1999; Yildirim and
//! Ermis 2019).
//!
//! ## Claim
//! zCDP `T D^2 / (2 sigma^2)` (§12): T noisy answers, each a sum that a replaced row moves by at most `D = 2 k w R`, an added
//! or removed one by `k w R`, with the range R of `beta_div`. Every state of the chain is a function of these answers, so
//! nothing is assumed about convergence. T is 300, sigma 1.5 and beta 1.5 (or what makes R least, where M > 1) unless given;
//! the weight w is solved from the budget, or sigma where w is given, or T where sigma alone is given.
//!
//! ## Refuses
//! What `beta_div` refuses, but for the chain.
//!
//! ## Checked by
//! Golden values; the loss of every law searched over random and extreme rows and parameters (`tests/loss_ranges.rs`).

use super::density::row_loss;
use super::model::{BoundedLoss, Moved};
use super::paying;
use crate::numeric::amount::stated_up;
use crate::numeric::round::{div_up, mul_down, mul_up};
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::count::count_up;
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
        let moves = self.width(beta, weight, moved);
        let squares = mul_up(count_up(iterations), mul_up(moves, moves));
        let rho = div_up(squares, mul_down(2.0, mul_down(sigma, sigma)));
        Claim::Zcdp { rho: if rho.is_nan() { f64::INFINITY } else { stated_up(rho) } }
    }
}
