//! A quantile over a public grid by the exponential mechanism.
//!
//! ## Shape
//! `quantile(e, q)` with a constant q; `exponential(lo, hi)` gives the grid's ends, or e's own bounds do; 1,024 points
//! unless `points =`; `eps =`.
//!
//! ## Claim
//! Score `u(t) = -|#{x < t} - q n|` of sensitivity k (rows replaced) or `k max(q, 1 - q)` (added or removed), weights
//! `exp(eps u / (2 D))`: the log ratio of neighbours lies in an interval of width eps, so eps-bounded range (§8.7, §6).
//!
//! ## Refuses
//! Other queries; a grid without finite ends.
//!
//! ## Checked by
//! All data sets of three values on a small grid, both relations: the width of the log ratio.

use super::shared::{premises, quantile};
use crate::mechanism::plan::MechanismPlan;
use crate::model::print::number;
use crate::model::{AggregateQuery, Expr, Relation};
use crate::numeric::decimal::sig_up;
use crate::numeric::round::mul_up;
use crate::privacy::Claim;
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::count::count_up;
use crate::rules::offer::{Knob, Offer, Parameter, PredictedError, View, assumed_rows};
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers, refuse};
use crate::source::Diagnostic;

static EXPONENTIAL: Mechanism = Mechanism::new("exponential", &[Arg::real("lo"), Arg::real("hi"), Arg::positive("points"), Arg::EPS]);

pub static RULE: Rule = Rule {
    name: "exponential",
    summary: "a quantile over a public grid by the exponential mechanism",
    section: "8.7",
    source: include_str!("exponential.rs"),
    answers: Answers::Queries,
    mechanisms: &[&EXPONENTIAL],
    judge: |question| offers(find(question).map(|found| vec![Box::new(found) as Box<dyn Offer>])),
};

const DEFAULT_POINTS: u32 = 1024;
/// What `mechanism::quantile::points` makes.
const MOST_POINTS: f64 = 65_536.0;

struct Noisy {
    query: AggregateQuery,
    value: Expr,
    q: f64,
    lo: f64,
    hi: f64,
    points: u32,
    /// The ends of the grid that the program gives.
    given: Vec<Parameter>,
    secret_groups: bool,
    premises: Vec<Premise>,
}

fn find(question: &Question) -> Match<Noisy> {
    let (query, args) = (question.query()?, question.arguments(&EXPONENTIAL));
    let Some((value, q)) = quantile(&query.value) else {
        return not_mine("the query must be quantile(e, q) with a constant q in [0, 1]");
    };
    let range = value.ty.range().filter(|_| value.ty.is_scalar_number());
    let end = |name, own: Option<f64>| args.get(name).or(own.filter(|x| x.is_finite()));
    let (Some(lo), Some(hi)) = (end("lo", range.map(|r| r.lo)), end("hi", range.map(|r| r.hi))) else {
        return refuse(no_grid(query));
    };
    if lo >= hi || !(hi - lo).is_finite() {
        let at = args.span("hi").or(args.span("lo")).unwrap_or(query.value.span);
        return refuse(Diagnostic::new("E0208", "`lo` must lie below `hi`").label(at, format!("not above {}", number(lo))));
    }
    let points = match (args.get("points"), args.span("points")) {
        (None, _) => DEFAULT_POINTS,
        (Some(x), _) if x.fract() == 0.0 && (2.0..=MOST_POINTS).contains(&x) => x as u32,
        (Some(_), at) => {
            return refuse(
                Diagnostic::new("E0208", "`points` must be a whole number from 2 to 65536").label(at.unwrap_or(query.value.span), "here"),
            );
        }
    };
    let mut found = Noisy {
        query: query.clone(),
        value: value.clone(),
        q,
        lo,
        hi,
        points,
        given: ["lo", "hi"].into_iter().filter_map(|name| Some(Parameter::exact(name, args.get(name)?))).collect(),
        secret_groups: question.secret_groups,
        premises: vec![],
    };
    found.premises = premises(query, "score", found.sensitivity(query.records.relation), &question.context);
    Ok(found)
}

impl Noisy {
    /// How far one unit moves the score. Rows that are exchanged move it no further than rows that are replaced: one that
    /// leaves and one that comes by 1 together, a surplus row by `max(q, 1 - q)`.
    fn sensitivity(&self, relation: Relation) -> f64 {
        let each = match relation {
            Relation::ReplaceOne => 1.0,
            Relation::AddRemove => self.q.max((1.0 - self.q).next_up()),
        };
        mul_up(count_up(self.query.records.unit_rows), each)
    }
}

fn no_grid(query: &AggregateQuery) -> Diagnostic {
    Diagnostic::new("E0202", "the quantile has no finite grid of candidates")
        .label(query.value.span, "the values are not bounded")
        .cause("the exponential mechanism chooses among public candidates between two public ends")
        .help("using exponential(0, 1000)")
}

impl Offer for Noisy {
    fn rule(&self) -> &'static Rule {
        &RULE
    }

    fn knob(&self) -> Knob {
        Knob::Loss("eps")
    }

    /// The scores are scaled by the sensitivity under the table's own relation, which is the largest of all views.
    fn claim(&self, view: View, epsilon: f64) -> Option<Claim> {
        let covered =
            view == View::from(self.query.records.relation) || (self.secret_groups && self.query.records.relation == Relation::ReplaceOne);
        covered.then_some(Claim::BoundedRange { eta: epsilon })
    }

    fn premises(&self, _: f64) -> Vec<Premise> {
        self.premises.clone()
    }

    fn plan(&self, epsilon: f64) -> Option<MechanismPlan> {
        Some(MechanismPlan::Quantile {
            table: self.query.table,
            value: self.value.clone(),
            q: self.q,
            lo: self.lo,
            hi: self.hi,
            points: self.points,
            epsilon,
            score_sensitivity: self.sensitivity(self.query.records.relation),
        })
    }

    fn predicted_error(&self, epsilon: f64) -> PredictedError {
        // For values spread evenly over the grid the answer is Laplace about the quantile in ranks, scale 2 D / eps.
        let width = self.hi - self.lo;
        let ranks = 2.0 * self.sensitivity(self.query.records.relation) / epsilon * 20f64.ln();
        let step = width / f64::from(self.points - 1);
        PredictedError::of_answer((ranks / assumed_rows(self.query.records.rows).max(1.0) * width + step / 2.0).min(width))
    }

    fn remark(&self, epsilon: f64) -> String {
        format!("95% of answers within {}", sig_up(self.predicted_error(epsilon).value, 3))
    }

    fn given(&self) -> Vec<Parameter> {
        self.given.clone()
    }
}
