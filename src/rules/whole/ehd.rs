//! One of all posteriors that the rows could lead to, by Hellinger distance and global sensitivity.
//!
//! ## Shape
//! `posterior(p)` of a Beta or Dirichlet prior with integer rows, as `ls_hist`; `ehd(eps =)`. n is public.
//!
//! ## Claim
//! Candidates are all posteriors reachable with exactly n rows; one is chosen with weight `exp(-eps H / (2 GS))`, H its
//! Hellinger distance from the posterior and GS the largest distance that one moved item makes anywhere. Neighbours' log
//! weights differ by at most eps / 2, so the loss has range eps (§10, §6); a unit of d items costs d eps.
//! The law that is sampled has these weights on a public grid, computed in doubles whose error the eps covers.
//!
//! ## Refuses
//! A secret number of rows; more candidates than 4,194,304 (three levels or more) or 100,000,000 rows (two levels).
//!
//! ## Checked by
//! Full enumeration of small data sets: the law, and the realised loss over all neighbours; golden values.

use super::counts::{Counts, find};
use super::predicted;
use super::{Asked, Match, MatchedWhole, WholeRule, WholeVerdict};
use crate::mechanism::plan::{MechanismPlan, WholeLaw, WholeNoise};
use crate::numeric::round::mul_up;
use crate::privacy::Claim;
use crate::rules::{Meta, Premise};

pub(super) struct Ehd;

static META: Meta =
    Meta { name: "ehd", summary: "one of all reachable posteriors, by distance", section: "10", source: include_str!("ehd.rs") };

impl WholeRule for Ehd {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, asked: &Asked) -> WholeVerdict {
        judge(asked).map_or_else(|v| v, |m| WholeVerdict::Matched(vec![Box::new(m)]))
    }
}

fn judge(asked: &Asked) -> Match<Hellinger> {
    reachable(&META, asked, None)
}

/// The match that both Hellinger mechanisms share; `gamma` smooths the sensitivity.
pub(super) fn reachable(meta: &'static Meta, asked: &Asked, gamma: Option<f64>) -> Match<Hellinger> {
    let counts = find(meta, asked, false)?;
    counts.public_rows(asked, "its candidates are all posteriors reachable with exactly {n} rows")?;
    counts.few_candidates(asked)?;
    Ok(Hellinger { counts, gamma })
}

pub(super) struct Hellinger {
    counts: Counts,
    gamma: Option<f64>,
}

impl MatchedWhole for Hellinger {
    fn meta(&self) -> &'static Meta {
        self.counts.facts.meta
    }

    fn knob(&self) -> &'static str {
        "eps"
    }

    fn claim(&self, eps: f64) -> Claim {
        // The grid of scores reaches from here to there.
        let drawable = (1e-6..=1e4).contains(&eps);
        Claim::BoundedRange { eta: if drawable { mul_up(eps, self.counts.moved()) } else { f64::INFINITY } }
    }

    fn premises(&self, _: f64) -> Vec<Premise> {
        let mut list = self.counts.premises();
        list.push(Premise::holds("the candidates are all posteriors reachable with as many rows, whatever the data are", None));
        list.push(Premise::holds("scores are distances on a grid, computed in doubles; 1/4096 of eps covers both errors", None));
        list
    }

    fn plan(&self, epsilon: f64) -> Option<MechanismPlan> {
        let noise = WholeNoise::Hellinger { epsilon, gamma: self.gamma };
        let law = WholeLaw { family: self.counts.family()?, noise, aware: false };
        Some(MechanismPlan::Whole { law, statistic: self.counts.statistic.clone() })
    }

    fn parameters(&self, _: f64) -> Vec<(&'static str, f64)> {
        self.gamma.map(|g| ("gamma", g)).into_iter().collect()
    }

    fn predicted_error(&self, eps: f64, rows: f64) -> f64 {
        predicted::hellinger(&self.counts.centre(), rows * self.counts.items as f64, eps, self.gamma)
    }

    fn ignores_noise(&self) -> bool {
        true
    }
}
