//! Laplace noise on an aggregate.
//!
//! ## Shape
//! A number or vector with finite L1 sensitivity D1; `laplace(scale =)`.
//!
//! ## Claim
//! Laplace noise of scale b, rounded to a public grid: pure `eps = D1 / b` with the Laplace curve (§8.7).
//!
//! ## Refuses
//! Scales outside [1e-200, 1e200]; queries that are not computed exactly; infinite sensitivity; quantiles.
//!
//! ## Checked by
//! The ratio of densities at every shift; the claim at given scales.

use super::shared::{Match, dimension, drawable, noisy, not_mine, only, premises, quantile, scale, with_slack};
use super::{Knob, MatchedQuery, QueryRule, QueryVerdict};
use crate::mechanism::plan::{MechanismPlan, Noise};
use crate::model::{AggregateQuery, MechanismArg};
use crate::numeric::round::div_up;
use crate::privacy::Claim;
use crate::rules::{Context, Meta, Premise};

pub(super) struct Laplace;

static META: Meta = Meta { name: "laplace", summary: "Laplace noise on an aggregate", section: "8.7", source: include_str!("laplace.rs") };

impl QueryRule for Laplace {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, query: &AggregateQuery, args: &[MechanismArg], context: Context) -> QueryVerdict {
        find(query, args, &context).map_or_else(|v| v, |m| QueryVerdict::Matched(Box::new(m)))
    }
}

struct Matching {
    query: AggregateQuery,
    d1: f64,
    dimension: f64,
    scale: Option<f64>,
    premises: Vec<Premise>,
}

fn find(query: &AggregateQuery, args: &[MechanismArg], context: &Context) -> Match<Matching> {
    let Some(dimension) = dimension(&query.value).filter(|_| quantile(&query.value).is_none()) else {
        return not_mine("the query must be a sum, mean, count or histogram");
    };
    only(args, &["scale"])?;
    let scale = scale(args, "scale")?;
    let d1 = noisy(query, query.sensitivity.l1, "L1", context)?;
    Ok(Matching { premises: premises(query, "L1", d1, context), query: query.clone(), d1, dimension, scale })
}

impl MatchedQuery for Matching {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn knob(&self) -> Knob {
        Knob { name: "scale", given: self.scale, larger_is_cheaper: true, unit: self.d1 }
    }

    fn claim(&self, scale: f64) -> Claim {
        if !drawable(scale) {
            return Claim::Laplace { epsilon: f64::INFINITY };
        }
        Claim::Laplace { epsilon: div_up(with_slack(self.d1, self.dimension, &self.plan(scale)), scale) }
    }

    fn premises(&self) -> Vec<Premise> {
        self.premises.clone()
    }

    fn plan(&self, scale: f64) -> MechanismPlan {
        MechanismPlan::Noise { table: self.query.table, value: self.query.value.clone(), noise: Noise::Laplace { scale } }
    }

    fn predicted_error(&self, scale: f64, _: f64) -> f64 {
        // P(|noise| > t) = exp(-t / scale) = 0.05
        scale * 20f64.ln() * self.dimension.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{matched, query, refused, sum_query};
    use super::*;
    use crate::model::{ArgValue, Builtin, ColumnId, Expr, ExprKind, Label, Range, Type};
    use crate::rules::testing as t;

    #[test]
    fn no_shift_within_the_sensitivity_costs_more() {
        let m = matched(&Laplace, &sum_query(3.0), &[]);
        let Claim::Laplace { epsilon } = m.claim(1.5) else {
            panic!("a Laplace claim");
        };
        assert_eq!(epsilon, 2.0);
        let density = |x: f64| (-(x.abs()) / 1.5).exp() / 3.0;
        for shift in [-3.0, -1.0, 0.5, 3.0] {
            for i in -100..100 {
                let x = f64::from(i) / 10.0;
                assert!((density(x) / density(x - shift)).ln() <= epsilon * (1.0 + 1e-12));
            }
        }
        assert!((m.predicted_error(1.5, 10.0) - 4.4936).abs() < 1e-3);
    }

    #[test]
    fn infinite_sensitivity_is_refused() {
        assert_eq!(refused(&Laplace, &sum_query(f64::INFINITY), &[]).code, "E0202");
    }

    #[test]
    fn scales_without_a_grid_are_refused() {
        for scale in [1e-201, 1e-300, 1e201] {
            let arg = MechanismArg { name: None, value: ArgValue::Number(scale), span: t::span(0, 1) };
            assert_eq!(refused(&Laplace, &sum_query(1.0), &[arg]).code, "E0203");
            assert_eq!(refused(&Laplace, &sum_query(scale), &[]).code, "E0203");
            let Claim::Laplace { epsilon } = matched(&Laplace, &sum_query(1.0), &[]).claim(scale) else {
                panic!("a Laplace claim");
            };
            assert_eq!(epsilon, f64::INFINITY);
        }
    }

    #[test]
    fn a_divisor_that_leaves_no_grid_costs_everything() {
        let real = t::expr(ExprKind::Column(t::TABLE, ColumnId(0)), Type::Real(Range::UNIT), Label::Row(t::TABLE));
        let mean_like = |by: f64| {
            let sum = t::expr(ExprKind::Call(Builtin::RowSum, vec![real.clone()]), Type::Real(Range::ALL), Label::Aggregate(t::TABLE));
            let third =
                t::expr(ExprKind::Call(Builtin::Div, vec![sum, t::number(3.0)]), Type::Real(Range::ALL), Label::Aggregate(t::TABLE));
            query(ExprKind::Call(Builtin::Div, vec![third, t::number(by)]), Type::Real(Range::ALL), 1.0)
        };
        let epsilon = |by: f64| match matched(&Laplace, &mean_like(by), &[]).claim(1e-190) {
            Claim::Laplace { epsilon } => epsilon,
            other => panic!("{other:?}"),
        };
        assert!(epsilon(1.0).is_finite());
        assert_eq!(epsilon(1e-100), f64::INFINITY);
    }

    #[test]
    fn what_cannot_be_computed_is_refused_before_data_are_read() {
        let column = t::expr(ExprKind::Column(t::TABLE, ColumnId(0)), Type::Bool, Label::Row(t::TABLE));
        let most = query(ExprKind::Call(Builtin::RowMax, vec![column.clone()]), Type::Real(Range::UNIT), 1.0);
        assert_eq!(refused(&Laplace, &most, &[]).code, "E0300");
        let counts = sum_query(1.0).value;
        let counts = Expr { kind: ExprKind::Call(Builtin::RowHistogram, vec![column]), ty: t::ball(2, 1.0), ..counts };
        let top = query(ExprKind::Call(Builtin::VecMax, vec![counts]), Type::Real(Range::ALL), 1.0);
        assert_eq!(refused(&Laplace, &top, &[]).code, "E0300");
    }
}
