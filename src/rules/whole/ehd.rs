//! One of all posteriors that the rows could lead to, by Hellinger distance and global sensitivity.
//!
//! ## Shape
//! `posterior(p)` of a Beta or Dirichlet prior with integer rows, as `ls_hist`; `ehd(eps =, calibration =)`. n is public.
//!
//! ## Claim
//! Candidates are all posteriors reachable with exactly n rows; one is chosen with weight `exp(-eps H / (2 GS))`, H its
//! Hellinger distance from the posterior and GS the largest distance that one moved item makes anywhere. Neighbours' log
//! weights differ by at most eps / 2, so the loss has range eps (§10, §6); a unit of d items costs d eps.
//! The law that is sampled has these weights on a public grid, computed in doubles whose error the eps covers.
//!
//! `calibration = exact`: the realised loss is about half of that. It is computed from the sampled law for all neighbouring
//! counts of n items, rounded up, and the weights get the largest eps found at which it is at most the eps that is claimed;
//! then the claim is pure eps. The loss depends on n, the prior and eps alone.
//!
//! ## Refuses
//! A secret number of rows; more candidates than 4,194,304 (three levels or more) or 100,000,000 rows (two levels).
//! Exact calibration without an exact n, with public rows or a prior that is not known, or with too many candidates: their
//! number squared times the pairs of levels may be 1,048,576 (1,023 rows at two levels, 32 at three).
//!
//! ## Checked by
//! Full enumeration of small data sets: the law, and the realised loss over all neighbours, which is the certified one
//! where it was calibrated; golden values.

use super::calibrated;
use super::counts::{self, Counts};
use super::predicted::{self, Prediction};
use super::{Answer, Whole};
use crate::mechanism::plan::{MechanismPlan, WholeLaw, WholeNoise};
use crate::numeric::amount::times_up;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Calibration, Mechanism};
use crate::rules::conjugate::Facts;
use crate::rules::offer::{Offer, Parameter};
use crate::rules::text::four_down;
use crate::rules::{Answers, Match, Premise, Question, Rule, offers};

static MECHANISM: Mechanism = Mechanism::new("ehd", &[Arg::EPS, Arg::CALIBRATION]);

pub static RULE: Rule = Rule {
    name: "ehd",
    summary: "one of all reachable posteriors, by distance",
    section: "10",
    source: include_str!("ehd.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    reachable(&RULE, question, None)
}

/// The match that both Hellinger mechanisms share; `gamma` smooths the sensitivity.
pub(super) fn reachable(rule: &'static Rule, question: &Question, gamma: Option<f64>) -> Match<Vec<Box<dyn Offer>>> {
    let counts = counts::find(rule, question, false)?;
    counts.public_rows(
        question,
        ("its candidates are all posteriors reachable with exactly {n} rows", "the set of candidates would itself reveal {n}"),
    )?;
    counts.few_candidates(question)?;
    let exact = question.arguments(rule.own()).calibration() == Some(Calibration::Exact);
    let known = if exact { Some(counts.all_known(question)?) } else { None };
    Ok(vec![Box::new(Answer(Hellinger { counts, gamma, known }))])
}

struct Hellinger {
    counts: Counts,
    gamma: Option<f64>,
    /// Prior counts and the number of items, where the scale follows from the realised loss.
    known: Option<(Vec<f64>, u64)>,
}

impl Hellinger {
    /// The eps of the law, where `eps` is claimed.
    fn argument(&self, eps: f64) -> f64 {
        match &self.known {
            Some((alpha, items)) if drawable(eps) => calibrated::argument(alpha, *items, eps, self.gamma),
            _ => eps,
        }
    }
}

/// The grid of scores reaches from here to there.
fn drawable(eps: f64) -> bool {
    (1e-6..=1e4).contains(&eps)
}

impl Whole for Hellinger {
    fn facts(&self) -> &Facts {
        &self.counts.facts
    }

    fn knob(&self) -> &'static str {
        "eps"
    }

    fn claim(&self, eps: f64) -> Claim {
        let loss = if drawable(eps) { times_up(eps, self.counts.moved()) } else { f64::INFINITY };
        if self.known.is_some() { Claim::Pure { epsilon: loss } } else { Claim::BoundedRange { eta: loss } }
    }

    fn premises(&self, eps: f64) -> Vec<Premise> {
        let mut list = self.counts.premises();
        list.push(Premise::holds("the candidates are all posteriors reachable with as many rows, whatever the data are", None));
        if self.known.is_some() {
            let text = format!(
                "the weights have {} for eps: their law's worst loss over all neighbouring counts, computed and rounded up, is at most eps",
                four_down(self.argument(eps))
            );
            list.push(Premise::holds(text, None));
        } else {
            list.push(Premise::holds("scores are distances on a grid, computed in doubles; 1/4096 of eps covers both errors", None));
        }
        list
    }

    fn plan(&self, eps: f64) -> Option<MechanismPlan> {
        let epsilon = self.argument(eps);
        let noise = WholeNoise::Hellinger { epsilon, gamma: self.gamma };
        let law = WholeLaw { family: self.counts.family()?, noise, aware: false };
        Some(MechanismPlan::Whole { law, statistic: self.counts.statistic.clone() })
    }

    fn parameters(&self, eps: f64) -> Vec<Parameter> {
        let gamma = self.gamma.map(|g| Parameter::exact("gamma", g));
        gamma.into_iter().chain(self.known.is_some().then(|| Parameter::down("calibrated", self.argument(eps)))).collect()
    }

    fn predicted(&self, eps: f64, rows: f64) -> Prediction {
        predicted::hellinger(&self.counts.centre(), rows * self.counts.items as f64, self.argument(eps), self.gamma)
    }

    fn ignores_noise(&self) -> bool {
        true
    }
}
