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

use super::counts::find;
use super::noisy::{Law, Noisy};
use super::{Asked, Match, WholeRule, WholeVerdict};
use crate::numeric::round::mul_up;
use crate::rules::Meta;

pub(super) struct LsDim;

static META: Meta = Meta {
    name: "ls_dim",
    summary: "a whole posterior from counts with Laplace noise sized by the levels",
    section: "9",
    source: include_str!("ls_dim.rs"),
};

impl WholeRule for LsDim {
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
    let moved = counts.moved();
    let l1 = mul_up(if counts.places() == 2 { 1.0 } else { 2.0 }, moved);
    let factor = mul_up(counts.places() as f64, moved);
    let rows = counts.rows_name(asked).to_owned();
    Ok(Noisy { counts, law: Law::Floor { factor, l1 }, aware: false, rows })
}
