//! The rules: what each one matches, claims and refuses. A rule is one file and one line of the table.

mod answers;
pub mod arguments;
pub mod bounded;
mod classes;
pub mod conjugate;
mod count;
mod design;
pub mod glm;
pub mod offer;
pub mod public;
mod query;
mod scores;
pub mod tempered;
#[cfg(test)]
mod testing;
mod text;
mod whole;

use crate::model::{AggregateQuery, Model, Program, Request, Table, TableId};
use crate::source::{Diagnostic, Span};
use arguments::{Arguments, Mechanism, NONE};
use offer::Offer;

pub use answers::Answers;
pub use conjugate::REACH;
pub use design::{Design, Features, features};
pub use public::{PublicTotals, Totals, public_statistics};

/// A statistical rule. It never sees syntax or private data. Two rules are the same if they are one and the same static.
pub struct Rule {
    /// `beta_bernoulli`
    pub name: &'static str,
    /// One line for tables.
    pub summary: &'static str,
    /// Section of the rule book: `1.1`.
    pub section: &'static str,
    /// The source text of the rule's file; its `//!` head is the manual page.
    pub source: &'static str,
    pub answers: Answers,
    /// What a program may write to be answered by it.
    pub mechanisms: &'static [&'static Mechanism],
    pub judge: fn(&Question) -> Verdict,
}

impl Rule {
    /// The manual page: the `//!` lines at the head of the rule's file without their prefix.
    pub fn page(&self) -> String {
        let head = self.source.lines().map_while(|l| l.strip_prefix("//!"));
        head.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect::<Vec<_>>().join("\n")
    }

    /// The one mechanism of a rule that has its own.
    pub fn own(&self) -> &'static Mechanism {
        self.mechanisms.first().unwrap_or(&&tempered::DIRECT)
    }

    /// Must a program ask for it by name?
    pub fn by_name(&self) -> bool {
        !self.own().automatic()
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every rule: `auto` breaks ties in this order, and `using ?` lists them so.
pub static RULES: &[&Rule] = &[
    &conjugate::beta_bernoulli::RULE,
    &conjugate::dirichlet_categorical::RULE,
    &conjugate::dirichlet_multinomial::RULE,
    &conjugate::gamma_poisson::RULE,
    &conjugate::gamma_exponential::RULE,
    &conjugate::beta_geometric::RULE,
    &conjugate::normal_known_variance::RULE,
    &conjugate::normal_precision::RULE,
    &conjugate::mv_normal_known_covariance::RULE,
    &conjugate::linear_public_design::RULE,
    &conjugate::linear_private_design::RULE,
    &conjugate::normal_unknown_both::RULE,
    &glm::lipschitz_glm::RULE,
    &glm::glm_on_ball::RULE,
    &glm::refined::RULE,
    &whole::refined_draws::RULE,
    &query::beta_query::RULE,
    &query::noise::LAPLACE,
    &query::noise::GAUSSIAN,
    &query::noise::GEOMETRIC,
    &query::exponential::RULE,
    &bounded::beta_div::RULE,
    &bounded::penalty::RULE,
    &bounded::dp_hmc::RULE,
    &bounded::dp_sgld::RULE,
    &bounded::ops::RULE,
    &whole::noise_aware::RULE,
    &whole::refined_posterior::RULE,
    &whole::score_statistics::RULE,
    &whole::ls_hist::RULE,
    &whole::ls_dim::RULE,
    &whole::ehds::RULE,
    &whole::ehd::RULE,
    &whole::plug_in::RULE,
];

/// Every mechanism that answers such a question, once, in the order of the rules; every one for `None`.
pub fn mechanisms(answers: Option<Answers>) -> Vec<&'static Mechanism> {
    let mut found: Vec<&'static Mechanism> = vec![];
    for rule in RULES.iter().filter(|r| answers.is_none_or(|a| r.answers == a)) {
        for mechanism in rule.mechanisms {
            if !found.iter().any(|m| m.name == mechanism.name) {
                found.push(mechanism);
            }
        }
    }
    found
}

/// The mechanism that a program names.
pub fn mechanism(name: &str) -> Option<&'static Mechanism> {
    RULES.iter().find_map(|r| r.mechanisms.iter().find(|m| m.name == name).copied())
}

/// Is it the mechanism of a rule that a program must ask for by name?
pub fn is_by_name(mechanism: &Mechanism) -> bool {
    RULES.iter().any(|r| r.by_name() && r.own() == mechanism)
}

/// One premise of a rule that holds, and where the program says it.
#[derive(Clone, PartialEq, Debug)]
pub struct Premise {
    pub text: String,
    pub span: Option<Span>,
}

impl Premise {
    pub fn holds(text: impl Into<String>, span: Option<Span>) -> Premise {
        Premise { text: text.into(), span }
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

/// What is asked of the rows.
#[derive(Clone, Copy)]
pub enum Ask<'a> {
    Model(&'a Model),
    Query(&'a AggregateQuery),
}

/// A release as rules see it: what is asked, what is written after `using`, and what is public around it.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub ask: Ask<'a>,
    pub context: Context<'a>,
    /// The mechanism that the program names, with its arguments.
    pub written: Option<(&'static Mechanism, &'a Arguments)>,
    pub assuming_convergence: bool,
    /// The mechanism as written, else the query: the place to edit.
    pub place: Span,
    /// The whole statement.
    pub statement: Span,
    /// There is a budget, from which a free number can be solved.
    pub budgeted: bool,
    /// It is asked in groups of a private key, where rows come, go and are exchanged.
    pub secret_groups: bool,
}

impl<'a> Question<'a> {
    pub fn answers(&self) -> Answers {
        match self.ask {
            Ask::Model(Model { request: Request::Posterior { .. }, .. }) => Answers::Posteriors,
            Ask::Model(_) => Answers::Draws,
            Ask::Query(_) => Answers::Queries,
        }
    }

    /// The arguments written for this mechanism.
    pub fn arguments(&self, mechanism: &Mechanism) -> &'a Arguments {
        self.written.filter(|(m, _)| *m == mechanism).map_or(&NONE, |(_, arguments)| arguments)
    }

    /// The model of a question about a posterior.
    pub(in crate::rules) fn model(&self) -> Result<&'a Model, Verdict> {
        match self.ask {
            Ask::Model(model) => Ok(model),
            Ask::Query(_) => not_mine("releases posteriors, not queries"),
        }
    }

    /// The query of a question about rows.
    pub(in crate::rules) fn query(&self) -> Result<&'a AggregateQuery, Verdict> {
        match self.ask {
            Ask::Query(query) => Ok(query),
            Ask::Model(_) => not_mine("answers queries, not posteriors"),
        }
    }

    /// Every rule's verdict on it, in table order.
    pub fn judge(&self) -> Judged {
        let mut judged = Judged::default();
        for rule in RULES.iter().filter(|r| r.answers == self.answers()) {
            match (rule.judge)(self) {
                Verdict::NotMine(reason) => judged.unmatched.push((rule, reason)),
                Verdict::Refused(refusal) => judged.refused.push((rule, *refusal)),
                Verdict::Offers(offers) => judged.offers.extend(offers),
            }
        }
        judged
    }
}

/// What a rule says about a question.
pub enum Verdict {
    /// Another shape; one short reason for `using ?` ("prior must be beta(a, b)").
    NotMine(String),
    /// The right shape, but a premise fails: the complaint says which and what would satisfy it. Never falls through
    /// to a weaker rule silently.
    Refused(Box<Refusal>),
    /// One way or several.
    Offers(Vec<Box<dyn Offer>>),
}

/// A premise that fails, and what the same rule would offer with the line that mends it.
pub struct Refusal {
    pub diagnostic: Diagnostic,
    pub mended: Option<Mended>,
}

/// A declaration to paste, what it would make known, and the offers there would then be.
pub struct Mended {
    pub line: String,
    pub fact: String,
    pub offers: Vec<Box<dyn Offer>>,
}

impl From<Diagnostic> for Verdict {
    fn from(diagnostic: Diagnostic) -> Verdict {
        Verdict::Refused(Box::new(Refusal { diagnostic, mended: None }))
    }
}

impl From<Box<Diagnostic>> for Verdict {
    fn from(diagnostic: Box<Diagnostic>) -> Verdict {
        Verdict::from(*diagnostic)
    }
}

/// A step of matching: what was found, or the verdict that ends the match.
pub(in crate::rules) type Match<T> = Result<T, Verdict>;

pub(in crate::rules) fn not_mine<T>(reason: impl Into<String>) -> Match<T> {
    Err(Verdict::NotMine(reason.into()))
}

pub(in crate::rules) fn refuse<T>(diagnostic: Diagnostic) -> Match<T> {
    Err(Verdict::from(diagnostic))
}

/// The verdict of a match that offers this.
pub(in crate::rules) fn offers(found: Match<Vec<Box<dyn Offer>>>) -> Verdict {
    found.map_or_else(|verdict| verdict, Verdict::Offers)
}

/// Every verdict on one question.
#[derive(Default)]
pub struct Judged {
    pub offers: Vec<Box<dyn Offer>>,
    /// Rules that match the shape but refuse a premise.
    pub refused: Vec<(&'static Rule, Refusal)>,
    /// Rules of another shape, with the reason.
    pub unmatched: Vec<(&'static Rule, String)>,
}

impl Judged {
    /// Offers of rules that need not be asked for by name.
    pub fn usual(&self) -> impl Iterator<Item = &dyn Offer> {
        self.offers.iter().map(AsRef::as_ref).filter(|o| !o.rule().by_name())
    }

    /// Offers that a program must ask for by name.
    pub fn by_name(&self) -> impl Iterator<Item = &dyn Offer> {
        self.offers.iter().map(AsRef::as_ref).filter(|o| o.rule().by_name())
    }

    /// Offers of one mechanism.
    pub fn of<'a>(&'a self, mechanism: &'a Mechanism) -> impl Iterator<Item = &'a dyn Offer> {
        self.offers.iter().map(AsRef::as_ref).filter(move |o| o.mechanism() == mechanism)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_file_has_the_four_headings() {
        let mut names = vec![];
        for rule in RULES {
            let page = rule.page();
            let mut rest = page.as_str();
            for heading in ["## Shape", "## Claim", "## Refuses", "## Checked by"] {
                let at = rest.find(heading);
                assert!(at.is_some(), "{}: no `{heading}` in order", rule.name);
                rest = &rest[at.unwrap()..];
            }
            let first = page.lines().next().unwrap_or("");
            assert!(first.ends_with('.'), "{}: first line is not a sentence", rule.name);
            assert!(!rule.mechanisms.is_empty(), "{} has no mechanism", rule.name);
            assert!(!names.contains(&rule.name), "{} is listed twice", rule.name);
            names.push(rule.name);
        }
        assert!(names.len() > 12);
    }

    /// A name means one mechanism, whatever rule offers it.
    #[test]
    fn every_mechanism_is_one_static() {
        for rule in RULES {
            for m in rule.mechanisms {
                assert!(mechanism(m.name).is_some_and(|found| found == *m), "{m:?}");
            }
        }
    }
}
