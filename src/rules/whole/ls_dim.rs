//! Laplace noise on the counts of a posterior, sized by the number of levels; a baseline.
//!
//! ## Shape
//! As `ls_hist`; `ls_dim(eps =)`.
//!
//! ## Claim
//! The scale is `k D / eps` for k levels and D the items of one unit, as in the paper; one unit moves the released counts by
//! min(2, k - 1) D, so the true cost is pure `eps min(2, k - 1) / k`, and that is what is certified: half of eps with
//! two levels (§9). A budget of eps therefore lets the argument be `k / min(2, k - 1)` times larger: it is then `ls_hist`.
//!
//! ## Refuses
//! As `ls_hist`.
//!
//! ## Checked by
//! The exact law of the released counts on all neighbouring data sets; golden values.

use super::Answer;
use super::counts;
use super::noisy::{Law, Noisy};
use crate::numeric::round::mul_up;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::offer::Offer;
use crate::rules::{Answers, Match, Question, Rule, offers};

static MECHANISM: Mechanism = Mechanism::new("ls_dim", &[Arg::EPS]);

pub static RULE: Rule = Rule {
    name: "ls_dim",
    summary: "a whole posterior from counts with Laplace noise sized by the levels",
    section: "9",
    source: include_str!("ls_dim.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    let counts = counts::find(&RULE, question, false)?;
    counts.public_rows(question, ("its counts are clamped to exactly {n} rows", "the released counts sum to {n}"))?;
    let moved = counts.moved();
    let l1 = mul_up(if counts.places() == 2 { 1.0 } else { 2.0 }, moved);
    let factor = mul_up(counts.places() as f64, moved);
    let rows = counts.rows_name(question).to_owned();
    Ok(vec![Box::new(Answer(Noisy { counts, law: Law::Floor { factor, l1 }, aware: false, rows }))])
}
