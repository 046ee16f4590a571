//! Matching: the parts of a model every conjugate rule looks for, and what a matched rule keeps of them.

use super::refusals;
use crate::model::{Builtin, Expr, ExprKind, Label, Model, Observation, Parameter, Range, Records, Relation, Request, Type};
use crate::numeric::round::{add_down, mul_up};
use crate::rules::count::{count_down, count_up};
use crate::rules::tempered::LimitReason;
use crate::rules::text::{four_down, plain, plural};
use crate::rules::{Context, Match, Premise, Rule, not_mine, refuse};
use crate::source::Span;

/// What a matched rule keeps of the model: owned, so that it outlives it.
#[derive(Clone)]
pub(crate) struct Facts {
    pub rule: &'static Rule,
    pub parameter: String,
    pub prior_span: Span,
    pub records: Records,
    pub premises: Vec<Premise>,
    /// The rows of public tables that observe the same parameter.
    pub public: PublicSum,
}

/// Totals over all public observations of the one parameter.
#[derive(Clone, Default)]
pub(crate) struct PublicSum {
    pub rows: u64,
    pub sums: Vec<f64>,
    /// Are all public tables bound? If not, the totals are lower bounds (every statistic used is at least 0).
    pub known: bool,
}

impl PublicSum {
    pub fn collect(model: &Model, context: &Context) -> PublicSum {
        let mut all = PublicSum { known: true, ..PublicSum::default() };
        for index in 0..model.public.len() {
            let Some(totals) = context.public.get(index) else {
                all.known = false;
                continue;
            };
            all.rows = all.rows.saturating_add(totals.rows);
            if all.sums.len() < totals.sums.len() {
                all.sums.resize(totals.sums.len(), 0.0);
            }
            for (sum, more) in all.sums.iter_mut().zip(&totals.sums) {
                *sum = add_down(*sum, *more);
            }
        }
        all
    }

    pub fn sum(&self) -> f64 {
        self.sums.first().copied().unwrap_or(0.0)
    }
}

impl Facts {
    pub fn collect(rule: &'static Rule, model: &Model, parameter: &Parameter, context: &Context) -> Facts {
        let mut facts = Facts::of_rows(rule, model, parameter, context);
        let prior = format!("`{}` has the prior {}", parameter.name, parameter.prior.name());
        facts.premises.insert(0, Premise::holds(prior, Some(parameter.prior.span)));
        facts
    }

    /// The same for a rule that takes many priors: nothing is said of them.
    pub fn of_rows(rule: &'static Rule, model: &Model, parameter: &Parameter, context: &Context) -> Facts {
        let table = context.table(model.records.table);
        let records = model.records;
        let unit = match (records.relation, records.unit_rows) {
            (Relation::ReplaceOne, 1) => "neighbours differ in the contents of one row".to_string(),
            (Relation::ReplaceOne, k) => {
                format!("neighbours differ in at most {k} rows of one unit")
            }
            (Relation::AddRemove, 1) => "neighbours add or remove one row".to_string(),
            (Relation::AddRemove, k) => {
                format!("neighbours add or remove at most {k} rows of one unit")
            }
        };
        let mut premises = vec![Premise::holds(unit, table.map(|t| t.rows_span))];
        let public = PublicSum::collect(model, context);
        for (index, observation) in model.public.iter().enumerate() {
            let text = match context.public.get(index) {
                Some(t) => format!("{} strengthen the prior", plural(t.rows, "public row")),
                None => "public rows are not bound yet: the prior alone is counted".to_string(),
            };
            premises.push(Premise::holds(text, Some(observation.span)));
        }
        Facts { rule, parameter: parameter.name.clone(), prior_span: parameter.prior.span, records, premises, public }
    }

    pub fn premise(&mut self, text: impl Into<String>, span: Option<Span>) {
        self.premises.push(Premise::holds(text, span));
    }

    /// The fewest rows a data set that has a neighbour can have, for rules whose cost falls as n grows. A unit of k
    /// rows in a table with fewer than k is covered by k in k rows: more of the posterior moves there.
    pub fn fewest_rows(&self) -> u64 {
        let declared = self.records.rows.exactly.unwrap_or(self.records.rows.at_least);
        declared.max(self.records.unit_rows).max(1)
    }

    /// The fewest rows besides those of the unit that differs.
    pub fn fewest_others(&self) -> f64 {
        count_down(self.fewest_rows().saturating_sub(self.records.unit_rows))
    }

    /// The exact number of rows, where the header says it.
    pub fn exact_rows(&self) -> Option<u64> {
        self.records.rows.exactly
    }

    /// `r k extent` rounded up: how far one unit moves a statistic whose rows lie `extent` apart.
    pub fn unit_step(&self, weight: f64, extent: f64) -> f64 {
        mul_up(weight, mul_up(count_up(self.records.unit_rows), extent))
    }

    /// Rows every data set has, for sums that only grow with n.
    pub fn sure_rows(&self) -> f64 {
        let declared = self.records.rows.exactly.unwrap_or(self.records.rows.at_least);
        count_down(declared.max(1))
    }

    /// Why order `order` is infinite: `kind` is `prior count` or `prior rate`, `shown` the base in a formula.
    pub fn limit_reason(&self, limit: Limit, order: f64) -> LimitReason {
        let Limit { family, kind, shown, base, step } = limit;
        let limit = 1.0 + base / step;
        let divided = if step == 1.0 { String::new() } else { format!(" / {}", tidy(step)) };
        let verb = match self.records.relation {
            Relation::ReplaceOne => "changed",
            Relation::AddRemove => "added",
        };
        let moved = match self.records.unit_rows {
            1 => format!("one {verb} row moves one {kind} by {}", tidy(step)),
            k => format!("one unit's {k} {verb} rows move one {kind} by {}", tidy(step)),
        };
        let left = base - step * (order - 1.0);
        let formula = if step == 1.0 {
            format!("{} + 1 - {} = {}", tidy(base), tidy(order), tidy(left))
        } else {
            format!("{} - {} * {} = {}", tidy(base), tidy(step), tidy(order - 1.0), tidy(left))
        };
        let smallest = if shown.starts_with("min(") { "smallest " } else { "" };
        LimitReason {
            prior: format!("the {smallest}prior {kind} is {}, and 1 + {shown}{divided} = {}", tidy(base), four_down(limit)),
            cause: format!(
                "{moved}; at order {} the divergence integral is that\nof a {family} with {kind} {formula}, \
                 which diverges (Geumlek et al. 2017, Cor. 1)",
                tidy(order)
            ),
        }
    }
}

/// What runs out at the limit order.
#[derive(Clone)]
pub(crate) struct Limit {
    pub family: &'static str,
    /// `count`, `shape` or `rate`.
    pub kind: &'static str,
    pub shown: String,
    pub base: f64,
    pub step: f64,
}

impl Limit {
    /// The one that runs out first.
    pub fn or(self, other: Limit) -> Limit {
        if other.base / other.step < self.base / self.step { other } else { self }
    }
}

/// A number for a sentence: as written where short, else four digits.
pub(crate) fn tidy(x: f64) -> String {
    let text = plain(x);
    if text.len() <= 7 { text } else { crate::rules::text::four_near(x) }
}

/// The one parameter of a model, if its prior is `family` with `arity` arguments; `shape` names it in reasons.
pub(crate) fn the_parameter<'a>(model: &'a Model, family: &str, arity: usize, shape: &str) -> Match<&'a Parameter> {
    let parameter = of_family(model, family, arity, shape)?;
    if !matches!(model.request, Request::Draw { .. }) {
        return not_mine("releases draws, not a whole posterior");
    }
    Ok(parameter)
}

/// The same, whatever is asked of it.
pub(crate) fn of_family<'a>(model: &'a Model, family: &str, arity: usize, shape: &str) -> Match<&'a Parameter> {
    let [parameter] = model.parameters.as_slice() else {
        return not_mine(format!("the model must have one parameter, with prior {shape}"));
    };
    if parameter.prior.name() != family || parameter.prior.args.len() != arity {
        return not_mine(format!("prior must be {shape}"));
    }
    if parameter.truncated.is_some() {
        return not_mine(format!("prior must be {shape}, not cut to a domain"));
    }
    if model.private.is_empty() {
        return not_mine("no private rows");
    }
    Ok(parameter)
}

/// Does every observation, private and public, pass `accepts`?
pub(crate) fn all_observations(model: &Model, shape: &str, accepts: impl Fn(&Observation) -> bool) -> Match<()> {
    if model.private.iter().chain(&model.public).all(accepts) { Ok(()) } else { not_mine(format!("rows must be {shape}")) }
}

/// The one private observation of a rule that takes a single column.
pub(crate) fn one_private<'a>(model: &'a Model, parameter: &str) -> Match<&'a Observation> {
    match model.private.as_slice() {
        [one] => Ok(one),
        several => refuse(refusals::several_columns(several, parameter)),
    }
}

/// The range of a public argument: one point if it is a constant, its type's range if it is a public or released
/// scalar.
pub(crate) fn public_argument(e: &Expr) -> Match<Range> {
    if let Some(x) = e.constant() {
        return Ok(Range::point(x));
    }
    match (e.label, e.ty.range()) {
        (Label::Public, Some(range)) if e.ty.is_scalar_number() => Ok(range),
        _ => not_mine("the prior's arguments must be public numbers"),
    }
}

/// Positive numbers of a model lie between these: their fourth powers stay doubles or are rounded to the private side,
/// and the squares and reciprocals that a law holds are exact to the last digit.
pub const REACH: Range = Range { lo: 1e-100, hi: 1e100 };

/// A public argument that must be positive for the claim to be finite.
///
/// A range without an upper end is fine: the value itself is judged again once it is bound.
pub(crate) fn positive_argument(e: &Expr, what: &str) -> Match<Range> {
    let range = public_argument(e)?;
    if range.lo.is_nan() || range.lo <= 0.0 {
        return refuse(refusals::may_vanish(e.span, what, range));
    }
    if range.lo < REACH.lo || range.lo > REACH.hi {
        return refuse(refusals::out_of_reach(e.span, what, range));
    }
    Ok(range)
}

/// A public argument of any sign: 0, or of a magnitude within reach.
pub(crate) fn location_argument(e: &Expr, what: &str) -> Match<Range> {
    let range = public_argument(e)?;
    if range.is_point() {
        within_reach(range.lo, e.span, what)?
    }
    Ok(range)
}

/// Refuses a number other than 0 whose magnitude is out of reach.
pub(crate) fn within_reach(x: f64, span: Span, what: &str) -> Match<()> {
    if x == 0.0 || REACH.contains(x.abs()) {
        return Ok(());
    }
    refuse(refusals::out_of_reach(span, what, Range::point(x)))
}

/// The value of an argument known before the run.
pub(crate) fn point(range: Range) -> Option<f64> {
    range.is_point().then_some(range.lo)
}

/// The range of a numeric outcome; refused where infinite or outside the support.
pub(crate) fn outcome_range(observation: &Observation, model: &Model, context: &Context, support: Range) -> Match<Range> {
    let scalar = observation.outcome.ty.is_scalar_number();
    let Some(range) = observation.outcome.ty.range().filter(|_| scalar) else {
        return not_mine("the outcome must be a number");
    };
    if !range.is_finite() {
        return refuse(refusals::unbounded_rows(model, observation, context));
    }
    if !range.within(support) {
        return refuse(refusals::outside(observation, range, support));
    }
    within_reach(range.magnitude(), observation.outcome.span, "the bounds of the outcome")?;
    within_reach(range.width(), observation.outcome.span, "the width of the outcome's range")?;
    Ok(range)
}

/// `a + b` as a checked row expression.
pub(crate) fn sum(a: &Expr, b: &Expr, range: Range) -> Expr {
    apply(Builtin::Add, vec![a.clone(), b.clone()], range, a.span)
}

/// A number literal at `span`.
pub(crate) fn literal(x: f64, span: Span) -> Expr {
    Expr { kind: ExprKind::Number(x), ty: Type::Real(Range::point(x)), label: Label::Public, span }
}

/// A scalar row expression with the label of its first argument.
pub(crate) fn apply(f: Builtin, args: Vec<Expr>, range: Range, span: Span) -> Expr {
    let label = args.first().map_or(Label::Public, |a| a.label);
    Expr { kind: ExprKind::Call(f, args), ty: Type::Real(range), label, span }
}
