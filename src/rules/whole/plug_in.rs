//! Noisy counts or a noisy sum put into the posterior as if they were exact; a baseline (Foulds et al. 2016).
//!
//! ## Shape
//! As `noise_aware`; `plug_in(eps =)` or `plug_in(rho =)`. The number of rows is public.
//!
//! ## Claim
//! That of `noise_aware`, whose noise it shares: pure eps or rho-zCDP (§8.7, §15). The noisy counts are moved to 0 and to n
//! where they lie beyond, and are used in the posterior as if nothing had happened, so its intervals are too narrow.
//!
//! ## Refuses
//! As `noise_aware`; a secret number of rows.
//!
//! ## Checked by
//! The law of the noise on all neighbouring data sets; its coverage stands beside that of `noise_aware`.

use super::counts;
use super::noisy::pair;
use super::sum::public_rows;
use super::{normal, rates};
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::offer::Offer;
use crate::rules::{Answers, Match, Question, Rule, offers};

static MECHANISM: Mechanism = Mechanism::new("plug_in", &[Arg::EPS, Arg::RHO]);

pub static RULE: Rule = Rule {
    name: "plug_in",
    summary: "a whole posterior that takes noisy counts as exact",
    section: "15",
    source: include_str!("plug_in.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    question.arguments(&MECHANISM).not_both("eps", "rho", "`eps` and `rho` are two kinds of noise")?;
    if let Some(sum) = normal::find(&RULE, question)? {
        public_rows(&sum.facts, question, "the posterior of a mean needs {n}")?;
        return Ok(sum.pair(false));
    }
    if let Some(sum) = rates::find(&RULE, question)? {
        return Ok(sum.pair(false));
    }
    let counts = counts::find(&RULE, question, true)?;
    counts.public_rows(question, ("its counts are moved into 0..{n}", "the posterior that accounts for the noise needs {n}"))?;
    Ok(pair(&counts, false, question))
}
