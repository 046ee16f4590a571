//! The last state of a Hamiltonian chain with noisy gradients on the beta-divergence posterior: private by itself.
//!
//! ## Shape
//! That of `beta_div`. Each proposal follows `steps` leapfrog steps from a random momentum; the rows' gradients at every end of
//! a step are cut in L2 norm, added, and released with noise. It is accepted like a step of `penalty` (Räisä et al. 2021).
//!
//! ## Claim
//! mu-GDP with `mu^2 = T [D^2 / sigma^2 + (steps + 1) G^2 / gradient_sigma^2]` (§12): of T proposals each asks for one sum of losses,
//! which a replaced row moves by at most `D = 2 k w R`, and for steps + 1 sums of gradients, which it moves by at most
//! `G = 2 k clip` in L2 norm; rows added or removed cost half of both. Nothing bounds the gradient of a beta-divergence where
//! features are unbounded, the integral's part included, so the cut is what bounds it. Both sums are of integers, and the noise
//! is normal, rounded to integers, so the bound is that of the code and not of real numbers. Every state is a function of these answers:
//! nothing is assumed about convergence. T is 50, steps 5, clip 1, sigma and beta as for `penalty` unless given; gradients
//! cost as much as losses unless `gradient_sigma` is given; then the weight, sigma or T is solved as for `penalty`.
//!
//! ## Refuses
//! What `beta_div` refuses, but for the chain.
//!
//! ## Checked by
//! Golden values; the norm of what a row adds, enforced in integers (`src/mechanism/chain/hmc.rs`); sums of random rows with one
//! replaced, and the hockey-stick curve of the noise by its series (`tests/draws/row_gradients.rs`).

use super::density::row_loss;
use super::model::{BoundedLoss, Gradients, Moved};
use super::paying;
use super::penalty::{answer, larger};
use crate::numeric::Amount;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::{Answers, Question, Rule, Verdict};

pub static DP_HMC: Mechanism = Mechanism::new(
    "dp_hmc",
    &[
        Arg::count("iterations"),
        Arg::STEPS,
        Arg::positive("clip"),
        Arg::positive("sigma"),
        Arg::positive("gradient_sigma"),
        Arg::positive("step"),
        Arg::BETA,
        Arg::WEIGHT,
    ],
)
.by_name()
.called("a Hamiltonian chain");

pub static RULE: Rule = Rule {
    name: "dp_hmc",
    summary: "a Hamiltonian chain with noisy gradients on the beta-divergence posterior, private at every step",
    section: "12",
    source: include_str!("dp_hmc.rs"),
    answers: Answers::Draws,
    mechanisms: &[&DP_HMC],
    judge,
};

fn judge(question: &Question) -> Verdict {
    super::model::judge(&RULE, question, row_loss, paying::hamiltonian)
}

impl BoundedLoss {
    /// One chain of this many proposals.
    pub fn hmc_claim(&self, beta: f64, weight: f64, (iterations, sigma): (u64, f64), gradients: Gradients, moved: Moved) -> Claim {
        let sides = if moved == Moved::Replaced { 2 } else { 1 };
        let moves = larger(gradients.clip).map(|clip| clip.times(&Amount::whole(self.records.unit_rows)).times(&Amount::whole(sides)));
        let sums = iterations.saturating_mul(gradients.steps.saturating_add(1));
        let forces = answer(moves, gradients.sigma).each(sums);
        Claim::Product(vec![self.chain_claim(beta, weight, iterations, sigma, moved), forces])
    }
}
