//! Mechanisms that release a whole posterior: noise on its counts or sum, or one of all posteriors it could be.

mod calibrated;
mod counts;
pub(super) mod ehd;
pub(super) mod ehds;
mod linear;
pub(super) mod ls_dim;
pub(super) mod ls_hist;
mod means;
pub(super) mod noise_aware;
mod noisy;
mod normal;
pub(super) mod plug_in;
mod predicted;
mod predicted_normal;
mod rates;
pub(super) mod refined_draws;
pub(super) mod refined_posterior;
mod refusals;
pub(super) mod score_statistics;
mod secret_mean;
mod sum;

use super::conjugate::Facts;
use super::offer::{Knob, Offer, Parameter, PredictedError, View, assumed_rows};
use super::{Premise, Rule};
use crate::mechanism::plan::MechanismPlan;
use crate::numeric::decimal::sig_up;
use crate::privacy::Claim;
use predicted::Prediction;

pub(super) use refusals::secret_rows;

/// A mechanism that fits a posterior; its free number is a privacy loss.
trait Whole {
    fn facts(&self) -> &Facts;
    /// `eps` or `rho`.
    fn knob(&self) -> &'static str;
    /// Upper bound on the privacy loss at this value of the knob, which must be positive.
    fn claim(&self, value: f64) -> Claim;
    /// The same for rows of one group that differ so; `None` where nothing is proved.
    fn seen(&self, view: View, value: f64) -> Option<Claim> {
        (view == View::from(self.facts().records.relation)).then(|| self.claim(value))
    }
    fn premises(&self, value: f64) -> Vec<Premise>;
    /// `None` while a public or released argument of the prior, or a public table, is not bound.
    fn plan(&self, value: f64) -> Option<MechanismPlan>;
    /// Numbers that follow from the knob or are given.
    fn parameters(&self, value: f64) -> Vec<Parameter>;
    /// What is released beside the posterior, averaged over the prior predictive at n rows.
    fn predicted(&self, value: f64, rows: f64) -> Prediction;
    /// Are the intervals of what is released too narrow, because it says nothing of the noise?
    fn ignores_noise(&self) -> bool;
}

/// The offer of a mechanism that fits.
struct Answer<W>(W);

impl<W: Whole> Answer<W> {
    fn predicted(&self, x: f64) -> Prediction {
        self.0.predicted(x, assumed_rows(self.0.facts().records.rows))
    }
}

impl<W: Whole> Offer for Answer<W> {
    fn rule(&self) -> &'static Rule {
        self.0.facts().rule
    }

    fn knob(&self) -> Knob {
        Knob::Loss(self.0.knob())
    }

    fn claim(&self, view: View, x: f64) -> Option<Claim> {
        self.0.seen(view, x)
    }

    fn premises(&self, x: f64) -> Vec<Premise> {
        self.0.premises(x)
    }

    fn plan(&self, x: f64) -> Option<MechanismPlan> {
        self.0.plan(x)
    }

    fn predicted_error(&self, x: f64) -> PredictedError {
        self.predicted(x).error()
    }

    fn remark(&self, x: f64) -> String {
        let noise = if self.0.ignores_noise() { ", intervals too narrow" } else { "" };
        format!("expected Hellinger distance {}{noise}", sig_up(self.predicted(x).hellinger, 3))
    }

    fn derived(&self, x: f64) -> Vec<Parameter> {
        self.0.parameters(x)
    }

    fn last_resort(&self) -> bool {
        self.0.ignores_noise()
    }
}
