//! One of all posteriors that the rows could lead to, by Hellinger distance and smooth sensitivity.
//!
//! ## Shape
//! `posterior(p)` of a Beta or Dirichlet prior with integer rows, as `ls_hist`; `ehds(eps =, gamma =, calibration =)`, gamma 1 if it
//! is not given. n is public.
//!
//! ## Claim
//! As `ehd`, with weights `exp(-eps H / (2 (1 + gamma) S(x)))`, where `1 / S(x)` is the least over all counts x' of
//! `1 / LS(x') + gamma d(x, x')` and LS the largest distance that one item moved from x' makes. `|u / S - u' / S'| <= 1 +
//! gamma` for neighbours, so the loss has range eps for any gamma (§10, §6); a unit of d items costs d eps. `calibration = exact` as for `ehd`.
//!
//! ## Refuses
//! As `ehd`.
//!
//! ## Checked by
//! As `ehd`; the smooth sensitivity against its definition over all counts.

use super::ehd::reachable;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::offer::Offer;
use crate::rules::{Answers, Match, Question, Rule, offers};

static MECHANISM: Mechanism = Mechanism::new("ehds", &[Arg::EPS, Arg::GAMMA, Arg::CALIBRATION]);

pub static RULE: Rule = Rule {
    name: "ehds",
    summary: "one of all reachable posteriors, by distance and smooth sensitivity",
    section: "10",
    source: include_str!("ehds.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    reachable(&RULE, question, Some(question.arguments(&MECHANISM).get(Arg::GAMMA.name).unwrap_or(1.0)))
}
