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
//! A secret number of rows: the released counts would sum to it. Outcomes that are no whole numbers.
//!
//! ## Checked by
//! The exact law of the released counts on all neighbouring data sets: the realised loss is eps; golden values.

use super::counts::find;
use super::noisy::{Law, Noisy};
use super::{Asked, Match, WholeRule, WholeVerdict};
use crate::numeric::round::mul_up;
use crate::rules::Meta;

pub(super) struct LsHist;

static META: Meta =
    Meta { name: "ls_hist", summary: "a whole posterior from counts with Laplace noise", section: "9", source: include_str!("ls_hist.rs") };

impl WholeRule for LsHist {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, asked: &Asked) -> WholeVerdict {
        judge(asked).map_or_else(|v| v, |m| WholeVerdict::Matched(vec![Box::new(m)]))
    }
}

fn judge(asked: &Asked) -> Match<Noisy> {
    let counts = find(&META, asked, false)?;
    counts.public_rows(asked, "its counts are clamped to exactly {n} rows")?;
    let l1 = mul_up(if counts.places() == 2 { 1.0 } else { 2.0 }, counts.moved());
    let rows = counts.rows_name(asked).to_owned();
    Ok(Noisy { counts, law: Law::Floor { factor: l1, l1 }, aware: false, rows })
}
