//! A way to answer a release: a mechanism backed by a rule, with at most one free number.

use super::parallel::View;
use super::report::{Parameter, PredictedError, Status};
use crate::mechanism::plan::MechanismPlan;
use crate::privacy::Claim;
use crate::rules::bounded::Refusal;
use crate::rules::{Matched, Premise, Tempering};
use crate::source::Diagnostic;

/// The free number of a mechanism and the side on which it is private.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Knob {
    /// Nothing to solve.
    None,
    /// In (0, 1]: smaller is more private.
    Weight(&'static str),
    /// Above 0: larger is more private.
    Noise(&'static str),
    /// Above 0: smaller is more private.
    Loss(&'static str),
    /// Above 1: larger is more private, as far as `start`.
    Beta(&'static str),
    /// A whole number from 1 on: smaller is more private.
    Count(&'static str),
}

impl Knob {
    pub fn name(self) -> Option<&'static str> {
        match self {
            Knob::None => None,
            Knob::Weight(name) | Knob::Noise(name) | Knob::Loss(name) | Knob::Beta(name) | Knob::Count(name) => Some(name),
        }
    }
}

/// One mechanism with the rule that proves it, for one release, in one group. Everything is a function of public facts.
pub trait Way {
    fn mechanism(&self) -> &'static str;
    fn rule(&self) -> &'static str;
    fn knob(&self) -> Knob;
    /// A value of the knob that costs about 1, to start a search from; 0 where every value is free.
    fn start(&self) -> f64 {
        1.0
    }
    /// A value of the knob at which a message may name the cost.
    fn example(&self) -> f64 {
        1.0
    }
    /// The cost of the release in one group at the value `x` of the knob; `None` where this view has no guarantee.
    fn claim(&self, view: View, x: f64) -> Option<Claim>;
    fn premises(&self, x: f64) -> Vec<Premise>;
    /// What will run; `None` while a public value it needs is not bound.
    fn plan(&self, x: f64) -> Option<MechanismPlan>;
    fn predicted_error(&self, x: f64) -> PredictedError;
    /// What the value of the knob means, in a few words: `data weight 67%`.
    fn remark(&self, x: f64) -> String;
    fn tempering(&self, _x: f64) -> Option<Tempering> {
        None
    }
    /// Is the posterior one of another prior than the program's?
    fn changes_prior(&self) -> bool {
        false
    }
    fn status(&self) -> Status {
        Status::Exact
    }
    /// The matched posterior rule behind it, for messages about priors and orders.
    fn matched(&self) -> Option<&dyn Matched> {
        None
    }
    /// Other predictions beside the error, by name; they bound nothing either.
    fn further(&self, _x: f64) -> Vec<(&'static str, f64)> {
        vec![]
    }
    /// Numbers that follow from the knob: what is certified besides it.
    fn derived(&self, _x: f64) -> Vec<Parameter> {
        vec![]
    }
    /// Does `auto` take it only where nothing else is offered?
    fn last_resort(&self) -> bool {
        false
    }
    /// Numbers that the program gives besides the knob.
    fn given(&self) -> Vec<Parameter> {
        vec![]
    }
    /// What to write after `using`, where arguments are solved; `given` stands between the parentheses.
    fn written(&self, given: &str) -> String {
        let arguments = if given.is_empty() { String::new() } else { format!("({given})") };
        format!("{}{arguments}", self.mechanism())
    }
    /// How the cost follows from the knob, for a label, and why, for a Cause line.
    fn reckoning(&self) -> Option<(String, String)> {
        None
    }
    /// The same at this value of the knob with its weight free.
    fn tempered(&self, _x: f64) -> Option<Box<dyn Way>> {
        None
    }
}

/// Everything there is to say about the ways of one release.
#[derive(Default)]
pub struct Offer {
    pub ways: Vec<Box<dyn Way>>,
    /// Rules that match the shape but refuse a premise.
    pub refused: Vec<(&'static str, Diagnostic)>,
    /// Rules and mechanisms of another shape, with the reason.
    pub unmatched: Vec<(&'static str, String)>,
    /// What a program must ask for by name.
    pub asked: Asked,
}

/// Ways that `auto` never takes: chains that must have converged, and chains that pay for every step.
#[derive(Default)]
pub struct Asked {
    pub ways: Vec<Box<dyn Way>>,
    pub refused: Vec<(&'static str, Refusal)>,
    pub unmatched: Vec<(&'static str, String)>,
}
