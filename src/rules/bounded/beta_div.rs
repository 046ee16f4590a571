//! One draw from the beta-divergence posterior of any model whose density is bounded.
//!
//! ## Shape
//! Any proper priors, any likelihood of one private table whose density has a bound M, any mean: linear, a network, with
//! unbounded features. M is 1 for discrete outcomes; for real ones, such as `normal`, `student_t` or `gamma` rows, it follows from the
//! declared domain of the scale, such as `param sigma: real in [0.5, inf]`, where their distribution has a bound (`dpm explain NAME`).
//!
//! ## Claim
//! Bounded range `eta = 2 k w R` for replaced rows, `k w R` for added or removed ones (§5.2): `R = M^(b-1) / (b-1)` where the
//! shape of the density is fixed, `((1-q)^(b-1) - q^(b-1)) / (b-1)` for a probability in [q, 1 - q], and
//! `M^(b-1) (1/(b-1) + 1/b)` for any other bounded density (§5.1). So the draw is eps-private with eps = eta, and its zCDP is
//! about a quarter of what eps alone would give. `beta` is solved from the budget; where M > 1 and no beta suffices, the
//! weight w is. The guarantee is that of the ideal posterior: a chain that draws from it must have converged, so the
//! certificate is conditional.
//!
//! ## Refuses
//! A scale that may come near 0 (E0305), a shape with an unbounded density (E0310), a flat prior (E0306), a chain without
//! `assuming convergence` (E0311).
//!
//! ## Checked by
//! Golden values; the loss of every law searched over random and extreme rows and parameters (`tests/claims/loss_ranges.rs`).

use super::density::row_loss;
use super::ideal;
use super::model::{BoundedLoss, Moved};
use crate::numeric::amount::stated_up;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::{Answers, Question, Rule, Verdict};

pub static BETA_DIV: Mechanism = Mechanism::new("beta_div", &[Arg::BETA, Arg::WEIGHT, Arg::SAMPLER, Arg::STEPS]).by_name();

pub static RULE: Rule = Rule {
    name: "beta_div",
    summary: "one draw from the beta-divergence posterior of any bounded density",
    section: "5.2",
    source: include_str!("beta_div.rs"),
    answers: Answers::Draws,
    mechanisms: &[&BETA_DIV],
    judge,
};

fn judge(question: &Question) -> Verdict {
    super::model::judge(&RULE, question, row_loss, ideal::offer)
}

impl BoundedLoss {
    /// One draw of the ideal posterior. The log ratio of neighbours is the change of the weighted loss and a constant, so it
    /// lies in an interval of this width (§5.2).
    pub fn draw_claim(&self, beta: f64, weight: f64, moved: Moved) -> Claim {
        Claim::BoundedRange { eta: stated_up(self.width(beta, weight, moved)) }
    }
}
