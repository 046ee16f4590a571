//! What the analysis of a program says: one entry a release, every mechanism considered, and the total.

use crate::mechanism::plan::MechanismPlan;
use crate::model::{BudgetKind, ReleaseId};
use crate::privacy::Claim;
use crate::rules::arguments::{Arguments, Mechanism};
use crate::rules::offer::{Chain, Offer, Parameter, PredictedError, Status, View};
use crate::rules::tempered::Tempering;
use crate::rules::{Premise, PublicTotals, Question, Rule};
use crate::source::Span;
use std::rc::Rc;

/// A mechanism that was considered for a release.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// `diffuse`; for a rule that does not match the model, the name of the rule.
    pub mechanism: &'static str,
    pub rule: Option<&'static str>,
    /// It matches and meets the allotment.
    pub applies: bool,
    /// Why it applies or does not, in a few words.
    pub reason: String,
    pub parameters: Vec<Parameter>,
    pub predicted_error: Option<PredictedError>,
    /// It decides between offers that are predicted alike.
    pub noise: f64,
    pub status: Status,
}

/// What will run for a release and what it costs.
#[derive(Clone)]
pub struct Chosen {
    pub mechanism: &'static Mechanism,
    pub rule: &'static Rule,
    /// As the program gives them.
    pub arguments: Arguments,
    pub parameters: Vec<Parameter>,
    /// What claim, premises and plan came out of, at this value of its free number.
    pub(super) offer: Rc<dyn Offer>,
    pub(super) value: f64,
    /// It was certified for groups of a private key.
    pub secret_groups: bool,
    /// How the posterior is weakened; `None` for noise on a query.
    pub tempering: Option<Tempering>,
    /// `None` while a public or released value that it needs is not known.
    pub plan: Option<MechanismPlan>,
    /// The cost of the whole release: all its draws, and all groups of an `each`.
    pub claim: Claim,
    pub premises: Vec<Premise>,
    pub predicted_error: PredictedError,
    /// The chain behind it; `None` for an exact draw.
    pub chain: Option<Chain>,
    pub status: Status,
}

impl Chosen {
    /// The cost in one group under this view.
    pub(super) fn one(&self, view: View) -> Option<Claim> {
        self.offer.seen(view, self.value)
    }

    /// The plan for the question with the values in place that a run alone knows; all else in it is as certified.
    pub fn plan_of(&self, question: &Question) -> Option<MechanismPlan> {
        self.offer.plan_of(question, self.value)
    }
}

#[derive(Clone)]
pub struct ReleaseAnalysis {
    pub id: ReleaseId,
    pub name: String,
    /// `draw(p)`
    pub query: String,
    /// The program says `using ?`.
    pub hole: bool,
    /// Its part of the budget; `None` without a budget.
    pub allotment: Option<BudgetKind>,
    /// `None` if no mechanism fits: a diagnostic says why.
    pub chosen: Option<Chosen>,
    /// Totals of the public observations of its model, and the design of its rows, as far as they are bound.
    pub public: PublicTotals,
    /// In table order; complete for `auto`, a hole, and where all were asked for.
    pub candidates: Vec<Candidate>,
    pub span: Span,
    /// The mechanism as written, else the query.
    pub mechanism_span: Span,
}

/// The budget and whether the total meets it.
#[derive(Clone, PartialEq, Debug)]
pub struct BudgetVerdict {
    pub kind: BudgetKind,
    pub met: bool,
    /// What is left, in the budget's own unit (epsilon, rho, mu squared; epsilon at each order for rdp), rounded down.
    pub unspent: Vec<f64>,
}

#[derive(Clone)]
pub struct Analysis {
    /// In program order, also those inside `when` and `each`.
    pub releases: Vec<ReleaseAnalysis>,
    /// The cost of the whole program; `None` if a release has no mechanism.
    pub total: Option<Claim>,
    pub budget: Option<BudgetVerdict>,
    /// The weakest status of any release.
    pub status: Status,
    /// The value of every public scalar, bound or by default.
    pub scalars: Vec<Option<f64>>,
    /// Digests of the public tables and records that are bound, by name.
    pub digests: std::collections::BTreeMap<String, String>,
}

impl Analysis {
    /// Does the plan of a release wait for something public that is not bound yet?
    pub fn unbound(&self, release: &ReleaseAnalysis) -> bool {
        let open = release.chosen.as_ref().is_some_and(|c| c.plan.is_none());
        open && (release.public.observations.contains(&None) || self.scalars.contains(&None))
    }

    pub fn release(&self, id: ReleaseId) -> Option<&ReleaseAnalysis> {
        self.releases.iter().find(|r| r.id == id)
    }
}
