//! Two-sided geometric noise on integers.
//!
//! ## Shape
//! A count, a histogram or a sum of integers with finite L1 sensitivity D1; `geometric(scale =)`.
//!
//! ## Claim
//! Noise with `P(k) ~ exp(-|k| / scale)` on the integers: pure `eps = D1 / scale` with the pure-DP curve, which the
//! discrete law attains; the continuous Laplace curve would be too small (§8.7).
//!
//! ## Refuses
//! Queries that are not integers; infinite sensitivity; scales outside [1e-200, 1e200].
//!
//! ## Checked by
//! The zCDP of unit-shifted laws summed over the integers.

use super::shared::{Match, dimension, drawable, noisy, not_mine, only, premises, scale, with_slack};
use super::{Knob, MatchedQuery, QueryRule, QueryVerdict};
use crate::mechanism::plan::{MechanismPlan, Noise};
use crate::model::{AggregateQuery, Builtin, Expr, ExprKind, MechanismArg, Type};
use crate::numeric::round::div_up;
use crate::privacy::Claim;
use crate::rules::{Context, Meta, Premise};

pub(super) struct Geometric;

static META: Meta =
    Meta { name: "geometric", summary: "two-sided geometric noise on integers", section: "8.7", source: include_str!("geometric.rs") };

impl QueryRule for Geometric {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, query: &AggregateQuery, args: &[MechanismArg], context: Context) -> QueryVerdict {
        find(query, args, &context).map_or_else(|v| v, |m| QueryVerdict::Matched(Box::new(m)))
    }
}

/// Is the value an integer (or a vector of integers) whatever the data are?
fn integer(e: &Expr) -> bool {
    let rows = |e: &Expr| matches!(e.ty, Type::Bool | Type::Int(_) | Type::Counts { .. });
    match &e.kind {
        ExprKind::Call(Builtin::RowCountAgg | Builtin::RowHistogram, _) => true,
        ExprKind::Call(Builtin::RowSum, args) => args.iter().all(rows),
        ExprKind::Call(Builtin::Add | Builtin::Sub | Builtin::Neg, args) => args.iter().all(integer),
        ExprKind::Call(Builtin::Mul, args) => args.iter().all(integer),
        ExprKind::RowCount(_) => true,
        _ => e.constant().is_some_and(|x| x.fract() == 0.0 && x.abs() < 9e15),
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
    let Some(dimension) = dimension(&query.value).filter(|_| integer(&query.value)) else {
        return not_mine("the query must be a count, a histogram or a sum of integers");
    };
    only(args, &["scale"])?;
    let scale = scale(args, "scale")?;
    let d1 = noisy(query, query.sensitivity.l1, "L1", context)?;
    let mut premises = premises(query, "L1", d1, context);
    premises.push(Premise::holds("the answer is an integer", Some(query.value.span)));
    Ok(Matching { premises, query: query.clone(), d1, dimension, scale })
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
            return Claim::Pure { epsilon: f64::INFINITY };
        }
        Claim::Pure { epsilon: div_up(with_slack(self.d1, self.dimension, &self.plan(scale)), scale) }
    }

    fn premises(&self) -> Vec<Premise> {
        self.premises.clone()
    }

    fn plan(&self, scale: f64) -> MechanismPlan {
        MechanismPlan::Noise { table: self.query.table, value: self.query.value.clone(), noise: Noise::Geometric { scale } }
    }

    fn predicted_error(&self, scale: f64, _: f64) -> f64 {
        // P(|k| > t) = 2 p^(t + 1) / (1 + p), p = exp(-1 / scale); the least integer t with at most 0.05.
        let p = (-1.0 / scale).exp();
        let t = (0.025 * (1.0 + p)).ln() / p.ln() - 1.0;
        t.ceil().max(0.0) * self.dimension.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{matched, not_mine as reason, query, sum_query};
    use super::*;
    use crate::model::{Label, Range};
    use crate::rules::testing as t;

    #[test]
    fn a_unit_shift_of_the_integer_law_is_pure_dp() {
        let m = matched(&Geometric, &sum_query(1.0), &[]);
        let Claim::Pure { epsilon } = m.claim(1.0) else {
            panic!("a pure claim");
        };
        assert_eq!(epsilon, 1.0);
        // KL divergence summed over the integers: eps tanh(eps / 2) = 0.4621, more than the continuous 0.3679.
        let z = (1.0 + (-1f64).exp()) / (1.0 - (-1f64).exp());
        let kl: f64 = (-200i32..200)
            .map(|k| {
                let p = (-f64::from(k.abs())).exp() / z;
                p * (f64::from((k - 1).abs()) - f64::from(k.abs()))
            })
            .sum();
        assert!((kl - 0.5f64.tanh()).abs() < 1e-12);
    }

    #[test]
    fn the_95_percent_bound_holds_and_is_least() {
        let m = matched(&Geometric, &sum_query(1.0), &[]);
        for scale in [0.2, 1.0, 7.5] {
            let t = m.predicted_error(scale, 1.0) as i32;
            let z: f64 = (-2000i32..2000).map(|k| (-f64::from(k.abs()) / scale).exp()).sum();
            let outside = |t: i32| -> f64 {
                let tail = t + 1..2000;
                tail.map(|k| 2.0 * (-f64::from(k) / scale).exp() / z).sum()
            };
            assert!(outside(t) <= 0.05 && (t == 0 || outside(t - 1) > 0.05), "{scale} {t}");
        }
    }

    #[test]
    fn only_integers() {
        let real = t::expr(ExprKind::Number(0.5), Type::Real(Range::UNIT), Label::Row(t::TABLE));
        let sum = ExprKind::Call(Builtin::RowSum, vec![real]);
        let q = query(sum, Type::Real(Range::ALL), 1.0);
        assert!(reason(&Geometric, &q, &[]).contains("integers"));
    }
}
