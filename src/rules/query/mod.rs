//! Query mechanisms: noise on an aggregate, a noisy quantile, or a Beta draw around a mean.

mod beta_query;
mod exponential;
mod gaussian;
mod geometric;
mod laplace;
mod shared;

use super::{Context, Matched, Meta, Premise};
use crate::mechanism::plan::MechanismPlan;
use crate::model::{AggregateQuery, MechanismArg};
use crate::privacy::Claim;
use crate::source::Diagnostic;

/// A mechanism for aggregate queries. It sees neither syntax nor private data.
pub trait QueryRule: Sync {
    /// `meta().name` is the word after `using`.
    fn meta(&self) -> &'static Meta;
    /// `args` are those the program writes after the name; none where the mechanism is chosen by `auto`.
    fn judge(&self, query: &AggregateQuery, args: &[MechanismArg], context: Context) -> QueryVerdict;
    /// Does the mechanism work without arguments, so that `auto` may choose it?
    fn needs_no_arguments(&self) -> bool {
        true
    }
}

/// What a query mechanism says about a query.
pub enum QueryVerdict {
    /// Another kind of query; one short reason.
    NotMine(String),
    Refused(Box<Diagnostic>),
    /// One free number sets cost and accuracy.
    Matched(Box<dyn MatchedQuery>),
    /// A draw from a posterior, tempered like any other; with the r or m that the program fixes.
    Posterior {
        draw: Box<dyn Matched>,
        weight: Option<f64>,
        concentration: Option<f64>,
    },
}

/// The one free number of a query mechanism.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Knob {
    /// `scale`, `sigma` or `eps`.
    pub name: &'static str,
    /// Given in the program.
    pub given: Option<f64>,
    /// Does a larger value cost less (noise), or more (an epsilon)?
    pub larger_is_cheaper: bool,
    /// A value of cost about 1, to start a search from; positive and finite. 0 if every value is free.
    pub unit: f64,
}

/// A query mechanism that fits a query: pure, sees no data.
pub trait MatchedQuery {
    fn meta(&self) -> &'static Meta;
    fn knob(&self) -> Knob;
    /// Upper bound on the privacy loss at this value of the knob, which must be positive.
    fn claim(&self, value: f64) -> Claim;
    fn premises(&self) -> Vec<Premise>;
    fn plan(&self, value: f64) -> MechanismPlan;
    /// The 95 % bound of |answer - truth| at n rows; for vectors the root of the sum of squares. Bounds nothing.
    fn predicted_error(&self, value: f64, rows: f64) -> f64;
}

/// Every query mechanism, in the order `auto` breaks ties.
pub fn query_rules() -> &'static [&'static dyn QueryRule] {
    RULES
}

static RULES: &[&dyn QueryRule] =
    &[&beta_query::BetaQuery, &laplace::Laplace, &gaussian::Gaussian, &geometric::Geometric, &exponential::Exponential];

#[cfg(test)]
mod tests_support {
    use super::*;
    use crate::model::*;
    use crate::rules::PublicTotals;
    use crate::rules::testing::{self as t, Build};

    pub fn query(kind: ExprKind, ty: Type, sensitivity: f64) -> AggregateQuery {
        AggregateQuery {
            table: t::TABLE,
            value: t::expr(kind, ty, Label::Aggregate(t::TABLE)),
            sensitivity: Norms::scalar(sensitivity),
            records: Build::beta(1.0, 1.0).model.records,
        }
    }

    /// The sum of a bool column, with the sensitivity given.
    pub fn sum_query(sensitivity: f64) -> AggregateQuery {
        let column = t::expr(ExprKind::Column(t::TABLE, ColumnId(0)), Type::Bool, Label::Row(t::TABLE));
        let kind = ExprKind::Call(Builtin::RowSum, vec![column]);
        query(kind, Type::Int(Range::ALL), sensitivity)
    }

    fn judge(rule: &dyn QueryRule, q: &AggregateQuery, args: &[MechanismArg]) -> QueryVerdict {
        let b = Build::beta(1.0, 1.0);
        let context = Context { program: &b.program, public: &PublicTotals::unbound() };
        rule.judge(q, args, context)
    }

    pub fn matched(rule: &dyn QueryRule, q: &AggregateQuery, args: &[MechanismArg]) -> Box<dyn MatchedQuery> {
        match judge(rule, q, args) {
            QueryVerdict::Matched(m) => m,
            QueryVerdict::Refused(d) => panic!("refused: {d:?}"),
            _ => panic!("not matched"),
        }
    }

    pub fn refused(rule: &dyn QueryRule, q: &AggregateQuery, args: &[MechanismArg]) -> Diagnostic {
        match judge(rule, q, args) {
            QueryVerdict::Refused(d) => *d,
            _ => panic!("not refused"),
        }
    }

    pub fn not_mine(rule: &dyn QueryRule, q: &AggregateQuery, args: &[MechanismArg]) -> String {
        match judge(rule, q, args) {
            QueryVerdict::NotMine(reason) => reason,
            _ => panic!("mine"),
        }
    }
}
