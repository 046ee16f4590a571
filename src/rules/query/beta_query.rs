//! A mean of values in [0, 1], answered by one Beta draw.
//!
//! ## Shape
//! `mean(e)` or `sum(e) / n` with e in [0, 1]; `beta_query(a, b, r = | m =)`, a and b the prior counts.
//!
//! ## Claim
//! As `beta_bernoulli` with one trial a row: the sum moves by at most 1 a row, and its end points are the worst (§1.4).
//!
//! ## Refuses
//! Other queries; values outside [0, 1]; prior counts that are not positive constants.
//!
//! ## Checked by
//! Program 05 (r = 0.363, m = 0.191); golden values; a grid of real-valued data sets.

use super::shared::{Match, argument, finite, not_mine, only, positive, refuse, wrong_argument};
use super::{QueryRule, QueryVerdict};
use crate::mechanism::plan::{Statistic, StatisticKind};
use crate::model::{AggregateQuery, Builtin, Expr, ExprKind, MechanismArg, Range, Relation};
use crate::rules::conjugate::{BetaDraw, Counts, Facts, PublicSum, out_of_reach};
use crate::rules::{Context, Meta, Premise};
use crate::source::Diagnostic;

pub(super) struct BetaQuery;

static META: Meta = Meta {
    name: "beta_query",
    summary: "a mean of values in [0, 1], answered by one Beta draw",
    section: "1.4",
    source: include_str!("beta_query.rs"),
};

impl QueryRule for BetaQuery {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, query: &AggregateQuery, args: &[MechanismArg], context: Context) -> QueryVerdict {
        find(query, args, &context).unwrap_or_else(|v| v)
    }

    fn needs_no_arguments(&self) -> bool {
        false
    }
}

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

fn find(query: &AggregateQuery, args: &[MechanismArg], context: &Context) -> Match<QueryVerdict> {
    let Some(value) = averaged(query).filter(|e| e.ty.is_scalar_number()) else {
        return not_mine("the query must be mean(e) or sum(e) / n");
    };
    if args.is_empty() {
        return not_mine("needs the prior counts: beta_query(a, b)");
    }
    only(args, &["a", "b", "r", "m"])?;
    let range = value.ty.range().unwrap_or(Range::ALL);
    if !range.within(Range::UNIT) {
        if !range.is_finite() {
            finite(query, f64::INFINITY, "L1", context)?;
        }
        return refuse(not_a_share(value, range));
    }
    let count = |name, position| -> Match<f64> {
        let arg = argument(args, name, position);
        match positive(arg, name)? {
            Some(x) if !(1e-100..=1e100).contains(&x) => {
                let span = arg.map_or(query.value.span, |a| a.span);
                refuse(out_of_reach(span, "a prior count", Range::point(x)))
            }
            Some(x) => Ok(x),
            None => {
                let span = args.first().map_or(query.value.span, |a| a.span);
                refuse(wrong_argument(span, name, "given: beta_query(a, b)"))
            }
        }
    };
    let (a, b) = (count("a", 0)?, count("b", 1)?);
    let fraction = |name, position| -> Match<Option<f64>> {
        let arg = argument(args, name, position);
        match (positive(arg, name)?, arg) {
            (Some(x), Some(arg)) if x > 1.0 => refuse(wrong_argument(arg.span, name, "at most 1")),
            (x, _) => Ok(x),
        }
    };
    let (weight, concentration) = (fraction("r", 2)?, fraction("m", 3)?);
    if query.records.relation == Relation::AddRemove {
        // The draw is centred on S / n with the true n; a mean over a secret n is E0104 before it comes here.
        return not_mine("needs a public number of rows");
    }
    let span = args.first().map_or(query.value.span, |a| a.span);
    let table = context.table(query.table);
    let facts = Facts {
        meta: &META,
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
        statistic: Statistic { table: query.table, kind: StatisticKind::Sum(value.clone()) },
    };
    Ok(QueryVerdict::Posterior { draw: Box::new(draw), weight, concentration })
}

fn not_a_share(value: &Expr, range: Range) -> Diagnostic {
    Diagnostic::new("E0203", "`beta_query` answers the mean of values in [0, 1]")
        .label(value.span, format!("ranges over [{}, {}]", range.lo, range.hi))
        .cause("the draw is a probability; a value outside [0, 1] has no Beta posterior")
        .help(format!("rescale it:   let u = (e - ({})) / {}, and undo that on the released mean", range.lo, range.hi - range.lo))
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::query;
    use super::*;
    use crate::model::{ArgValue, Label, Type};
    use crate::rules::testing::{self as t, assert_bounds, beta, diverge, tempered};
    use crate::rules::{Matched, PublicTotals};

    fn mean(range: Range, n: u64) -> AggregateQuery {
        let e = t::expr(ExprKind::Number(0.0), Type::Real(range), Label::Row(t::TABLE));
        let mut q = query(ExprKind::Call(Builtin::RowMean, vec![e]), Type::Real(range), 1.0);
        q.records.rows.at_least = n;
        q
    }

    fn args(values: &[f64]) -> Vec<MechanismArg> {
        let arg = |x: &f64| MechanismArg { name: None, value: ArgValue::Number(*x), span: t::span(0, 1) };
        values.iter().map(arg).collect()
    }

    fn judge(q: &AggregateQuery, a: &[MechanismArg]) -> QueryVerdict {
        let b = t::Build::beta(1.0, 1.0);
        let context = Context { program: &b.program, public: &PublicTotals::unbound() };
        BetaQuery.judge(q, a, context)
    }

    fn drawn(q: &AggregateQuery, a: &[MechanismArg]) -> Box<dyn Matched> {
        match judge(q, a) {
            QueryVerdict::Posterior { draw, .. } => draw,
            _ => panic!("no draw"),
        }
    }

    #[test]
    fn program_05() {
        let draw = drawn(&mean(Range::UNIT, 500), &args(&[6.0, 18.0]));
        assert!(diverge(&draw.claim(tempered(0.363, 1.0)), 15.0) <= 0.3);
        assert!(diverge(&draw.claim(tempered(0.364, 1.0)), 15.0) > 0.3);
        assert!(diverge(&draw.claim(tempered(1.0, 0.191)), 15.0) <= 0.3);
        assert!(diverge(&draw.claim(tempered(1.0, 0.192)), 15.0) > 0.3);
        let error = draw.predicted_error(tempered(0.363, 1.0), 500.0);
        assert!((0.02..0.06).contains(&error), "{error}");
    }

    #[test]
    fn real_valued_rows_cost_no_more() {
        let draw = drawn(&mean(Range::UNIT, 3), &args(&[2.0, 3.0]));
        let claim = diverge(&draw.claim(tempered(1.0, 1.0)), 2.0);
        assert!((claim - 0.875_468_737_353_9).abs() < 1e-9, "{claim}");
        for i in 0..=30 {
            for d in 0..=10 {
                let (s, q) = (f64::from(i) / 10.0, (f64::from(i + d) / 10.0).min(3.0));
                let at = |s: f64| [2.0 + s, 3.0 + 3.0 - s];
                assert_bounds(claim, beta(2.0, at(s), at(q)).max(beta(2.0, at(q), at(s))), (i, d));
            }
        }
    }

    #[test]
    fn what_it_refuses() {
        let wide = mean(Range::new(0.0, 2.0), 3);
        assert!(matches!(judge(&wide, &args(&[1.0, 1.0])), QueryVerdict::Refused(d) if d.code == "E0203"));
        for far in [1e101, 1e-101] {
            assert!(matches!(judge(&mean(Range::UNIT, 3), &args(&[1.0, far])), QueryVerdict::Refused(d) if d.code == "E0203"));
        }
        let zero = args(&[0.0, 1.0]);
        assert!(matches!(judge(&mean(Range::UNIT, 3), &zero), QueryVerdict::Refused(d) if d.code == "E0208"));
        assert!(matches!(judge(&mean(Range::UNIT, 3), &[]), QueryVerdict::NotMine(_)));
    }
}
