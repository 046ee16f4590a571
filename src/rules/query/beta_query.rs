//! A mean of values in [0, 1], answered by one Beta draw; of vectors, by one draw a component.
//!
//! ## Shape
//! `mean(e)` or `sum(e) / n` with e in [0, 1], a number or every component of a vector; `beta_query(a, b, r = | m =)`, a and b the
//! prior counts, the same for all components.
//!
//! ## Claim
//! As `beta_bernoulli` with one trial a row: the sum moves by at most 1 a row, and its end points are the worst (§1.4). One row moves all d
//! components of a vector, which are drawn independently: the claim of d draws.
//!
//! ## Refuses
//! Other queries; values outside [0, 1]; prior counts that are not positive constants.
//!
//! ## Checked by
//! Program 05 (r = 0.363, m = 0.191); golden values; a grid of real-valued data sets.

use super::shared::finite;
use crate::mechanism::plan::{Statistic, StatisticKind};
use crate::model::{AggregateQuery, Builtin, Expr, ExprKind, Range, Relation, Type};
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::conjugate::{BetaDraw, Counts, Facts, PublicSum, out_of_reach};
use crate::rules::offer::{Offer, Parameter};
use crate::rules::tempered::{Form, of_query};
use crate::rules::{Answers, Match, Premise, Question, Rule, not_mine, offers, refuse};
use crate::source::{Diagnostic, Help, Span};
use std::rc::Rc;

static BETA_QUERY: Mechanism = Mechanism::new("beta_query", &[Arg::positive("a"), Arg::positive("b"), Arg::share("r"), Arg::share("m")]);

pub static RULE: Rule = Rule {
    name: "beta_query",
    summary: "a mean of values in [0, 1], answered by one Beta draw a component",
    section: "1.4",
    source: include_str!("beta_query.rs"),
    answers: Answers::Queries,
    mechanisms: &[&BETA_QUERY],
    judge: |question| offers(find(question)),
};

/// The row value whose mean the query is.
fn averaged(query: &AggregateQuery) -> Option<&Expr> {
    match &query.value.kind {
        ExprKind::Call(Builtin::RowMean, args) => args.first(),
        ExprKind::Call(Builtin::Div, args) => match args.as_slice() {
            [sum, n] if n.kind == ExprKind::RowCount(query.table) => match &sum.kind {
                ExprKind::Call(Builtin::RowSum, inner) => inner.first(),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The range of a number or of the components of a vector, and how many they are.
fn numbers(ty: &Type) -> Option<(Range, u64)> {
    match ty {
        Type::Vector(v) if v.dim > 0 => Some((v.range, v.dim)),
        ty if ty.is_scalar_number() => ty.range().map(|range| (range, 1)),
        _ => None,
    }
}

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    let (query, context) = (question.query()?, &question.context);
    let Some((value, range, components)) = averaged(query).and_then(|e| numbers(&e.ty).map(|(range, d)| (e, range, d))) else {
        return not_mine("the query must be mean(e) or sum(e) / n");
    };
    if question.written.is_none_or(|(mechanism, _)| *mechanism != BETA_QUERY) {
        return not_mine("needs the prior counts: beta_query(a, b)");
    }
    let args = question.arguments(&BETA_QUERY);
    let (Some(a), Some(b)) = (args.get("a"), args.get("b")) else {
        return refuse(
            Diagnostic::new("E0208", "`beta_query` needs the two prior counts")
                .label(question.place, "the prior of the mean is missing")
                .help(("", "using beta_query(6, 18)", "pulls the answer towards 6 / (6 + 18) = 0.25")),
        );
    };
    args.not_both("r", "m", "`r` and `m` together leave nothing to compare")?;
    if !range.within(Range::UNIT) {
        if !range.is_finite() {
            finite(query, f64::INFINITY, "L1", context)?;
        }
        return refuse(not_a_share(value, range));
    }
    for (name, x) in [("a", a), ("b", b)] {
        if !(1e-100..=1e100).contains(&x) {
            let span = args.span(name).unwrap_or(query.value.span);
            return refuse(out_of_reach(span, "a prior count", Range::point(x)));
        }
    }
    if query.records.relation == Relation::AddRemove {
        // The draw is centred on S / n with the true n; a mean over a secret n is E0104 before it comes here.
        return not_mine("needs a public number of rows");
    }
    let span = args.span("a").unwrap_or(query.value.span);
    let table = context.table(query.table);
    let facts = Facts {
        rule: &RULE,
        parameter: "the mean".to_string(),
        prior_span: span,
        records: query.records,
        premises: vec![
            Premise::holds("the averaged value lies in [0, 1]", Some(value.span)),
            Premise::holds("the number of rows is public", table.map(|t| t.rows_span)),
        ],
        public: PublicSum { known: true, ..PublicSum::default() },
    };
    let draw = BetaDraw {
        facts,
        counts: Counts { a: Range::point(a), b: Range::point(b), successes: 0.0, failures: 0.0 },
        trials: 1,
        components,
        statistic: Statistic { table: query.table, kind: StatisticKind::Sum(value.clone()) },
    };
    // The program may fix one of r and m; the other is then 1.
    let forms: &[Form] = match (args.get("r"), args.get("m")) {
        (Some(_), _) => &[Form::Diffuse],
        (_, Some(_)) => &[Form::Concentrated],
        _ => &[Form::Diffuse, Form::Concentrated],
    };
    Ok(of_query(Rc::new(draw), query.records, components, forms, &[Parameter::exact("a", a), Parameter::exact("b", b)]))
}

fn not_a_share(value: &Expr, range: Range) -> Diagnostic {
    Diagnostic::new("E0203", "`beta_query` answers the mean of values in [0, 1]")
        .label(value.span, format!("ranges over [{}, {}]", range.lo, range.hi))
        .cause("the draw is a probability; a value outside [0, 1] has no Beta posterior")
        .help({
            let (start, end) = (Span { end: value.span.start, ..value.span }, Span { start: value.span.end, ..value.span });
            let (lo, width) = (range.lo, range.hi - range.lo);
            let tail = if lo == 0.0 { format!(") / {width}") } else { format!(" - ({lo})) / {width}") };
            Help::from(("rescale it, and undo that on the released mean:", format!("(..{tail}"))).edit(start, "(").edit(end, tail)
        })
}
