//! Laplace noise on the counts of a posterior, sized by what one row moves.
//!
//! ## Shape
//! `posterior(p)` of a Beta prior with Bernoulli or binomial rows, or a Dirichlet prior with categorical or multinomial
//! rows, all integers; `ls_hist(eps =)`. The number of rows n is public.
//!
//! ## Claim
//! `floor(Laplace(scale))` is added to every count but the last, `scale = D / eps`, where D is what one unit moves those
//! counts by: 1 with two levels, 2 with more, times the items and rows of a unit. Then each is moved into what is left of
//! n, in order, and the last count is the remainder: post-processing. Pure eps (§9). The noise is an integer law: a sign,
//! and a geometric number.
//!
//! ## Refuses
//! A secret number of rows: the released counts would sum to it. Outcomes that are not a whole numbers.
//!
//! ## Checked by
//! The exact law of the released counts on all neighbouring data sets: the realised loss is eps; golden values.

use super::Answer;
use super::counts;
use super::noisy::{Law, Noisy};
use crate::numeric::round::mul_up;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::offer::Offer;
use crate::rules::{Answers, Match, Question, Rule, offers};

static MECHANISM: Mechanism = Mechanism::new("ls_hist", &[Arg::EPS]);

pub static RULE: Rule = Rule {
    name: "ls_hist",
    summary: "a whole posterior from counts with Laplace noise",
    section: "9",
    source: include_str!("ls_hist.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    let counts = counts::find(&RULE, question, false)?;
    counts.public_rows(question, ("its counts are clamped to exactly {n} rows", "the released counts sum to {n}"))?;
    let l1 = mul_up(if counts.places() == 2 { 1.0 } else { 2.0 }, counts.moved());
    let rows = counts.rows_name(question).to_owned();
    Ok(vec![Box::new(Answer(Noisy { counts, law: Law::Floor { factor: l1, l1 }, aware: false, rows }))])
}
