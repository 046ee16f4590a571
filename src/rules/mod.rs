//! The rules: what each one matches, claims and refuses. A rule is one file and one line of a family table.

pub mod bounded;
pub mod conjugate;
mod count;
pub mod glm;
pub mod public;
pub mod query;
#[cfg(test)]
mod testing;
mod text;
pub mod whole;

use crate::mechanism::plan::{PosteriorLaw, Statistic};
use crate::model::{Model, Program, Table, TableId};
use crate::privacy::Claim;
use crate::source::{Diagnostic, Span};

pub use bounded::loss_rules;
pub use public::{PublicTotals, Totals, public_statistics};
pub use query::{MatchedQuery, QueryRule, QueryVerdict, query_rules};
pub use whole::{Asked, MatchedWhole, WholeRule, WholeVerdict, whole_rules};

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

impl Meta {
    /// The manual page: the `//!` lines at the head of the rule's file without their prefix.
    pub fn page(&self) -> String {
        let head = self.source.lines().map_while(|l| l.strip_prefix("//!"));
        head.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect::<Vec<_>>().join("\n")
    }
}

/// How a posterior is weakened: `weight` r in (0, 1] multiplies every private row's statistic; `concentration` m in
/// (0, 1] divides the whole prior (public rows included).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tempering {
    pub weight: f64,
    pub concentration: f64,
}

impl Tempering {
    pub const DIRECT: Tempering = Tempering { weight: 1.0, concentration: 1.0 };
}

/// One premise of a rule and where the program says it.
#[derive(Clone, PartialEq, Debug)]
pub struct Premise {
    pub text: String,
    pub holds: bool,
    pub span: Option<Span>,
}

impl Premise {
    /// A premise that holds.
    pub fn holds(text: impl Into<String>, span: Option<Span>) -> Premise {
        Premise { text: text.into(), holds: true, span }
    }
}

/// What a rule may look at besides the model: declarations (for names, spans and public columns) and the public rows.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub program: &'a Program,
    /// Totals of `Model::public`, as far as those tables are bound.
    pub public: &'a PublicTotals,
}

impl<'a> Context<'a> {
    pub fn table(&self, id: TableId) -> Option<&'a Table> {
        self.program.tables.get(id.0)
    }
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

/// Why a claim is infinite from some order on, in the words of E0301.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LimitReason {
    /// For a label on the prior: `the smallest prior count is 6, and 1 + min(6, 18) = 7`.
    pub prior: String,
    /// For the Cause line.
    pub cause: String,
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
    ///
    /// Its parameters are at least as private as those of `claim`. Counts, shapes and rates: rounding to nearest is
    /// monotone, so the nearest double of a sum and quotient lies between the same rounded down and rounded up, and the
    /// claim takes the end that costs more. Precisions, which pass through an inverse: rounded up here, after a proved
    /// bound where the inverse is of a full matrix. The weight r is the same double in both, exact from there on.
    ///
    /// `None` while a public or released argument of the prior, or a public
    /// table, is known by its range alone: judge the model again once it is bound.
    fn law(&self, tempering: Tempering) -> Option<(PosteriorLaw, Statistic)>;
    /// Is the draw exact, or the last state of a Langevin chain whose own guarantee is proved?
    fn by_chain(&self) -> bool {
        false
    }
    /// Why no chain with a guarantee of its own draws from this model, where the ideal draw has a claim all the same.
    fn chain_refusal(&self) -> Option<Diagnostic> {
        None
    }
    /// Root mean square distance of the draw from the posterior mean of the untempered model, averaged over the prior
    /// predictive at n rows (root of the sum of squares for vectors). Bounds nothing.
    fn predicted_error(&self, tempering: Tempering, rows: f64) -> f64;
    /// The prior under concentration m, as the user would write it: `beta(11.42, 34.26)` with 4 digits.
    fn prior_text(&self, concentration: f64) -> String;
    /// Where the prior is written.
    fn prior_span(&self) -> Span;
    /// Why the claim is infinite at this order; `None` for rules whose claims are finite at every order.
    fn limit_reason(&self, order: f64, tempering: Tempering) -> Option<LimitReason>;
    /// The same model seen under add-or-remove of one unit, any number of rows; for private groups. `None` where no
    /// bound is proved.
    fn claim_add_remove(&self, tempering: Tempering) -> Option<Claim>;
}

/// A statistical rule. It never sees syntax or private data.
pub trait Rule: Sync {
    fn meta(&self) -> &'static Meta;
    fn judge(&self, model: &Model, context: Context) -> Verdict;
}

/// Every rule for draws from a posterior, in the order `auto` breaks ties and `using ?` lists them.
pub fn posterior_rules() -> impl Iterator<Item = &'static dyn Rule> {
    conjugate::RULES.iter().chain(glm::RULES).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_file_has_the_four_headings() {
        let posterior = posterior_rules().map(|r| r.meta());
        let query = query_rules().iter().map(|r| r.meta());
        let loss = loss_rules().iter().map(|r| r.meta());
        let mut names = vec![];
        let whole = whole_rules().iter().map(|r| r.meta());
        for meta in posterior.chain(query).chain(loss).chain(whole) {
            let page = meta.page();
            let mut rest = page.as_str();
            for heading in ["## Shape", "## Claim", "## Refuses", "## Checked by"] {
                let at = rest.find(heading);
                assert!(at.is_some(), "{}: no `{heading}` in order", meta.name);
                rest = &rest[at.unwrap()..];
            }
            let first = page.lines().next().unwrap_or("");
            assert!(first.ends_with('.'), "{}: first line is no sentence", meta.name);
            assert!(!names.contains(&meta.name), "{} is listed twice", meta.name);
            names.push(meta.name);
        }
        assert!(names.len() > 12);
    }
}
