//! The rules: what each one matches, claims and refuses. A rule is one file and one line of a family table.

use crate::mechanism::plan::{PosteriorLaw, Statistic};
use crate::model::Model;
use crate::privacy::Claim;
use crate::source::{Diagnostic, Span};

/// What a rule is, for `dpm explain`, certificates and tables.
#[derive(Debug)]
pub struct Meta {
    /// `beta_bernoulli`
    pub name: &'static str,
    /// One line for tables.
    pub summary: &'static str,
    /// Section of the rule book: `1.1`.
    pub section: &'static str,
    /// The source text of the rule's file; its `//!` head is the manual page.
    pub source: &'static str,
}

/// How a posterior is weakened: `weight` r in (0, 1] multiplies every private row's statistic; `concentration` m in
/// (0, 1] divides the whole prior (public rows included).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tempering {
    pub weight: f64,
    pub concentration: f64,
}

impl Tempering {
    pub const DIRECT: Tempering = Tempering {
        weight: 1.0,
        concentration: 1.0,
    };
}

/// One premise of a rule and where the program says it.
#[derive(Clone, PartialEq, Debug)]
pub struct Premise {
    pub text: String,
    pub holds: bool,
    pub span: Option<Span>,
}

/// What a rule says about a model.
pub enum Verdict {
    /// Another shape of model; one short reason for `using ?` ("prior must be beta(a, b)").
    NotMine(String),
    /// The right shape, but a premise fails: the complaint says which and what would satisfy it. Never falls through
    /// to a weaker rule silently.
    Refused(Box<Diagnostic>),
    Matched(Box<dyn Matched>),
}

/// A model that a rule has matched: pure, sees no data.
pub trait Matched {
    fn meta(&self) -> &'static Meta;
    /// Upper bound on the privacy loss of **one** draw, for every data set and every n that the header allows.
    /// Monotone: a smaller weight or concentration never costs more (where the rule book says so; see `monotone`).
    fn claim(&self, tempering: Tempering) -> Claim;
    /// Is `claim` monotone in the tempering, so that bisection finds the largest? (Returned values are re-verified anyway.)
    fn monotone(&self) -> bool {
        true
    }
    fn premises(&self, tempering: Tempering) -> Vec<Premise>;
    /// The law drawn from and its statistic.
    fn law(&self, tempering: Tempering) -> (PosteriorLaw, Statistic);
    /// Root mean square distance of the draw from the posterior mean of the untempered model, averaged over the prior
    /// predictive at n rows (root of the sum of squares for vectors). Bounds nothing.
    fn predicted_error(&self, tempering: Tempering, rows: f64) -> f64;
    /// The prior under concentration m, as the user would write it: `beta(11.42, 34.26)` with 4 digits.
    fn prior_text(&self, concentration: f64) -> String;
    /// The same model seen under add-or-remove of one unit, any number of rows; for private groups.
    fn claim_add_remove(&self, tempering: Tempering) -> Claim;
}

/// A statistical rule. It never sees syntax or data.
pub trait Rule: Sync {
    fn meta(&self) -> &'static Meta;
    fn judge(&self, model: &Model) -> Verdict;
}
