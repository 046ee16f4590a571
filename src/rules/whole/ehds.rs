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

use super::ehd::{Hellinger, reachable};
use super::{Asked, Match, WholeRule, WholeVerdict};
use crate::rules::Meta;

pub(super) struct Ehds;

static META: Meta = Meta {
    name: "ehds",
    summary: "one of all reachable posteriors, by distance and smooth sensitivity",
    section: "10",
    source: include_str!("ehds.rs"),
};

impl WholeRule for Ehds {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, asked: &Asked) -> WholeVerdict {
        judge(asked).map_or_else(|v| v, |m| WholeVerdict::Matched(vec![Box::new(m)]))
    }
}

fn judge(asked: &Asked) -> Match<Hellinger> {
    reachable(&META, asked, Some((asked.number)("gamma").unwrap_or(1.0)))
}
