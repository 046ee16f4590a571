//! Mechanisms that release a whole posterior: noise on its counts or sum, or one of all posteriors it could be.

mod calibrated;
mod counts;
mod ehd;
mod ehds;
mod linear;
mod ls_dim;
mod ls_hist;
mod noise_aware;
mod noisy;
mod normal;
mod plug_in;
mod predicted;
mod refusals;

pub use predicted::Prediction;

use super::{Context, Meta, Premise};
use crate::mechanism::plan::MechanismPlan;
use crate::model::Model;
use crate::privacy::Claim;
use crate::source::{Diagnostic, Span};

/// What a rule for whole posteriors looks at.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub model: &'a Model,
    pub context: Context<'a>,
    /// The mechanism as written, else the query: the place to edit.
    pub place: Span,
    /// Numbers that the program gives this mechanism, by name.
    pub number: &'a dyn Fn(&str) -> Option<f64>,
}

/// A mechanism for whole posteriors. It sees neither syntax nor private data.
pub trait WholeRule: Sync {
    /// `meta().name` is the word after `using`.
    fn meta(&self) -> &'static Meta;
    fn judge(&self, asked: &Asked) -> WholeVerdict;
}

/// What a rule says about a posterior.
pub enum WholeVerdict {
    NotMine(String),
    Refused(Box<Diagnostic>),
    /// One way or several, which differ in the name of their free number.
    Matched(Vec<Box<dyn MatchedWhole>>),
}

/// A mechanism that fits: pure, sees no data.
pub trait MatchedWhole {
    fn meta(&self) -> &'static Meta;
    /// The free number, a privacy loss: `eps` or `rho`.
    fn knob(&self) -> &'static str;
    /// Upper bound on the privacy loss at this value of the knob, which must be positive.
    fn claim(&self, value: f64) -> Claim;
    fn premises(&self, value: f64) -> Vec<Premise>;
    /// `None` while a public or released argument of the prior, or a public table, is not bound.
    fn plan(&self, value: f64) -> Option<MechanismPlan>;
    /// Numbers that follow from the knob or are given, by name: `scale`, `sigma`, `gamma`.
    fn parameters(&self, value: f64) -> Vec<(&'static str, f64)>;
    /// What is released beside the posterior, averaged over the prior predictive at n rows.
    fn predicted(&self, value: f64, rows: f64) -> Prediction;
    /// Are the intervals of what is released too narrow, because it says nothing of the noise?
    fn ignores_noise(&self) -> bool;
}

/// Every mechanism for whole posteriors, in the order `auto` breaks ties.
pub fn whole_rules() -> &'static [&'static dyn WholeRule] {
    RULES
}

static RULES: &[&dyn WholeRule] = &[&noise_aware::NoiseAware, &ls_hist::LsHist, &ls_dim::LsDim, &ehds::Ehds, &ehd::Ehd, &plug_in::PlugIn];

/// A step of matching, as for draws.
type Match<T> = Result<T, WholeVerdict>;

fn not_mine<T>(reason: impl Into<String>) -> Match<T> {
    Err(WholeVerdict::NotMine(reason.into()))
}

fn refused<T>(diagnostic: Diagnostic) -> Match<T> {
    Err(WholeVerdict::Refused(Box::new(diagnostic)))
}
