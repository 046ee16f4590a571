//! What the analysis of a program says: one entry a release, every mechanism considered, and the total.

use crate::mechanism::plan::MechanismPlan;
use crate::model::{BudgetKind, ReleaseId};
use crate::privacy::Claim;
use crate::privacy::certificate::Side;
use crate::rules::{Premise, Tempering, Totals};
use crate::source::Span;

/// What stands behind a guarantee, strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// An exact draw.
    Exact,
    /// An approximate sampler whose own guarantee is proved.
    Certified,
    /// The guarantee of the ideal posterior, valid only if the chain has converged.
    Conditional,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Exact => "exact",
            Status::Certified => "certified",
            Status::Conditional => "conditional",
        }
    }
}

/// One free number of a mechanism: `r = 0.668`.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub value: f64,
    /// Solved from the budget, not written by the user.
    pub solved: bool,
}

impl Parameter {
    /// Noise and beta are private above their values, anything else below.
    pub fn side(&self) -> Side {
        if matches!(self.name, "scale" | "sigma" | "gradient_sigma" | "beta") { Side::Up } else { Side::Down }
    }
}

/// A prediction from public values only; it bounds nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct PredictedError {
    /// What is predicted, in words.
    pub measure: &'static str,
    pub value: f64,
}

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
    /// Other predictions, by name: `kl`, `interval_width`.
    pub further: Vec<(&'static str, f64)>,
    pub status: Status,
}

/// What will run for a release and what it costs.
#[derive(Clone, PartialEq, Debug)]
pub struct Chosen {
    pub mechanism: &'static str,
    pub rule: &'static str,
    pub parameters: Vec<Parameter>,
    /// How the posterior is weakened; `None` for noise on a query.
    pub tempering: Option<Tempering>,
    /// `None` while a public table or value that it needs is not bound.
    pub plan: Option<MechanismPlan>,
    /// The cost of the whole release: all its draws, and all groups of an `each`.
    pub claim: Claim,
    pub premises: Vec<Premise>,
    pub predicted_error: PredictedError,
    pub status: Status,
}

#[derive(Clone, PartialEq, Debug)]
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
    /// Totals of the public observations of its model, in order; `None` where the table is not bound.
    pub public: Vec<Option<Totals>>,
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

#[derive(Clone, PartialEq, Debug)]
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
}

impl Analysis {
    pub fn release(&self, id: ReleaseId) -> Option<&ReleaseAnalysis> {
        self.releases.iter().find(|r| r.id == id)
    }
}
