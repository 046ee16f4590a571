//! Noisy counts or a noisy sum put into the posterior as if they were exact; a baseline (Foulds et al. 2016).
//!
//! ## Shape
//! As `noise_aware`; `plug_in(eps =)` or `plug_in(rho =)`. The number of rows is public.
//!
//! ## Claim
//! That of `noise_aware`, whose noise it shares: pure eps or rho-zCDP (§8.7, §15). The noisy counts are moved to 0 and to n
//! where they lie beyond, and stand in the posterior as if nothing had happened, so its intervals are too narrow.
//!
//! ## Refuses
//! As `noise_aware`; a secret number of rows.
//!
//! ## Checked by
//! The law of the noise on all neighbouring data sets; its coverage stands beside that of `noise_aware`.

use super::counts::find;
use super::noisy::pair;
use super::normal;
use super::{Asked, Match, MatchedWhole, WholeRule, WholeVerdict};
use crate::rules::Meta;

pub(super) struct PlugIn;

static META: Meta = Meta {
    name: "plug_in",
    summary: "a whole posterior that takes noisy counts as exact",
    section: "15",
    source: include_str!("plug_in.rs"),
};

impl WholeRule for PlugIn {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, asked: &Asked) -> WholeVerdict {
        judge(asked).map_or_else(|v| v, WholeVerdict::Matched)
    }
}

fn judge(asked: &Asked) -> Match<Vec<Box<dyn MatchedWhole>>> {
    if let Some(sum) = normal::find(&META, asked)? {
        return Ok(normal::pair(&sum, false));
    }
    let counts = find(&META, asked, true)?;
    counts.public_rows(asked, "its counts are moved into 0..{n}")?;
    Ok(pair(&counts, false, asked))
}
