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

use super::shared::{Match, argument, not_mine, number, only, positive, premises, quantile, refuse, wrong_argument};
use super::{Knob, MatchedQuery, QueryRule, QueryVerdict};
use crate::mechanism::plan::MechanismPlan;
use crate::model::{AggregateQuery, Expr, MechanismArg, Relation};
use crate::numeric::round::mul_up;
use crate::privacy::Claim;
use crate::rules::count::count_up;
use crate::rules::{Context, Meta, Premise};
use crate::source::Diagnostic;

pub(super) struct Exponential;

static META: Meta = Meta {
    name: "exponential",
    summary: "a quantile over a public grid by the exponential mechanism",
    section: "8.7",
    source: include_str!("exponential.rs"),
};

const DEFAULT_POINTS: u32 = 1024;
/// What `mechanism::quantile::points` makes.
const MOST_POINTS: f64 = 65_536.0;

impl QueryRule for Exponential {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, query: &AggregateQuery, args: &[MechanismArg], context: Context) -> QueryVerdict {
        find(query, args, &context).map_or_else(|v| v, |m| QueryVerdict::Matched(Box::new(m)))
    }
}

struct Matching {
    query: AggregateQuery,
    value: Expr,
    q: f64,
    lo: f64,
    hi: f64,
    points: u32,
    sensitivity: f64,
    epsilon: Option<f64>,
    premises: Vec<Premise>,
}

fn find(query: &AggregateQuery, args: &[MechanismArg], context: &Context) -> Match<Matching> {
    let Some((value, q)) = quantile(&query.value) else {
        return not_mine("the query must be quantile(e, q) with a constant q in [0, 1]");
    };
    only(args, &["lo", "hi", "points", "eps"])?;
    let range = value.ty.range().filter(|_| value.ty.is_scalar_number());
    let end = |name, position, own: Option<f64>| Ok(number(argument(args, name, position), name)?.or(own.filter(|x| x.is_finite())));
    let lo = end("lo", 0, range.map(|r| r.lo))?;
    let hi = end("hi", 1, range.map(|r| r.hi))?;
    let (Some(lo), Some(hi)) = (lo, hi) else {
        return refuse(no_grid(query));
    };
    if lo >= hi || !(hi - lo).is_finite() {
        let span = argument(args, "lo", 0).map_or(query.value.span, |a| a.span);
        return refuse(wrong_argument(span, "lo", "below `hi`"));
    }
    let asked = argument(args, "points", 2);
    let points = match (number(asked, "points")?, asked) {
        (None, _) => DEFAULT_POINTS,
        (Some(x), _) if x.fract() == 0.0 && (2.0..=MOST_POINTS).contains(&x) => x as u32,
        (_, arg) => {
            let span = arg.map_or(query.value.span, |a| a.span);
            return refuse(wrong_argument(span, "points", "a whole number from 2 to 65536"));
        }
    };
    let each = match query.records.relation {
        Relation::ReplaceOne => 1.0,
        Relation::AddRemove => q.max((1.0 - q).next_up()),
    };
    let sensitivity = mul_up(count_up(query.records.unit_rows), each);
    Ok(Matching {
        premises: premises(query, "score", sensitivity, context),
        epsilon: positive(argument(args, "eps", 3), "eps")?,
        query: query.clone(),
        value: value.clone(),
        q,
        lo,
        hi,
        points,
        sensitivity,
    })
}

fn no_grid(query: &AggregateQuery) -> Diagnostic {
    Diagnostic::new("E0202", "the quantile has no finite grid of candidates")
        .label(query.value.span, "the values are not bounded")
        .cause("the exponential mechanism chooses among public candidates between two public ends")
        .help("using exponential(0, 1000)")
}

impl MatchedQuery for Matching {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn knob(&self) -> Knob {
        Knob { name: "eps", given: self.epsilon, larger_is_cheaper: false, unit: 1.0 }
    }

    fn claim(&self, epsilon: f64) -> Claim {
        Claim::BoundedRange { eta: epsilon }
    }

    fn premises(&self) -> Vec<Premise> {
        self.premises.clone()
    }

    fn plan(&self, epsilon: f64) -> MechanismPlan {
        MechanismPlan::Quantile {
            table: self.query.table,
            value: self.value.clone(),
            q: self.q,
            lo: self.lo,
            hi: self.hi,
            points: self.points,
            epsilon,
            score_sensitivity: self.sensitivity,
        }
    }

    fn predicted_error(&self, epsilon: f64, rows: f64) -> f64 {
        // For values spread evenly over the grid the answer is Laplace about the quantile in ranks, scale 2 D / eps.
        let width = self.hi - self.lo;
        let ranks = 2.0 * self.sensitivity / epsilon * 20f64.ln();
        let step = width / f64::from(self.points - 1);
        (ranks / rows.max(1.0) * width + step / 2.0).min(width)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{matched, query, refused};
    use super::*;
    use crate::model::{ArgValue, Builtin, ExprKind, Label, Range, Type};
    use crate::rules::testing as t;

    fn of(q: f64, range: Range, relation: Relation, k: u64) -> AggregateQuery {
        let value = t::expr(ExprKind::Number(0.0), Type::Real(range), Label::Row(t::TABLE));
        let kind = ExprKind::Call(Builtin::RowQuantile, vec![value, t::number(q)]);
        let mut query = query(kind, Type::Real(range), 1.0);
        query.records.relation = relation;
        query.records.unit_rows = k;
        query
    }

    /// Log probabilities of the grid points for a data set.
    fn log_law(data: &[f64], grid: &[f64], q: f64, eps: f64, d: f64) -> Vec<f64> {
        let n = data.len() as f64;
        let score = |t: &f64| -(data.iter().filter(|x| *x < t).count() as f64 - q * n).abs();
        let w: Vec<f64> = grid.iter().map(|t| eps * score(t) / (2.0 * d)).collect();
        let z = w.iter().map(|x| x.exp()).sum::<f64>().ln();
        w.iter().map(|x| x - z).collect()
    }

    #[test]
    fn the_log_ratio_of_all_small_neighbours_has_width_eps() {
        let grid: Vec<f64> = (0..5).map(f64::from).collect();
        let values = [0.0, 1.5, 2.5, 4.0];
        for (q, relation) in [(0.5, Relation::ReplaceOne), (0.9, Relation::AddRemove), (0.3, Relation::AddRemove)] {
            let m = matched(&Exponential, &of(q, Range::new(0.0, 4.0), relation, 1), &[]);
            let MechanismPlan::Quantile { epsilon, score_sensitivity: d, .. } = m.plan(0.8) else {
                panic!("a quantile plan");
            };
            let mut widest: f64 = 0.0;
            for a in values {
                for b in values {
                    for c in values {
                        for e in values {
                            let p = [a, b, c];
                            let q_data: &[f64] = match relation {
                                Relation::ReplaceOne => &[a, b, e],
                                Relation::AddRemove => &[a, b],
                            };
                            let x = log_law(&p, &grid, q, epsilon, d);
                            let y = log_law(q_data, &grid, q, epsilon, d);
                            let ratio: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
                            let hi = ratio.iter().copied().fold(f64::MIN, f64::max);
                            let lo = ratio.iter().copied().fold(f64::MAX, f64::min);
                            widest = widest.max(hi - lo);
                        }
                    }
                }
            }
            assert!(widest <= 0.8 + 1e-12, "{q}: {widest}");
            assert!(widest > 0.39, "{q}: {widest}");
        }
    }

    #[test]
    fn no_more_points_than_the_mechanism_makes() {
        let q = of(0.5, Range::UNIT, Relation::ReplaceOne, 1);
        let points = |x: f64| [MechanismArg { name: Some("points".into()), value: ArgValue::Number(x), span: t::span(0, 1) }];
        for x in [1.0, 65_537.0, 2.5] {
            assert_eq!(refused(&Exponential, &q, &points(x)).code, "E0208");
        }
        for x in [2.0, 65_536.0] {
            let plan = matched(&Exponential, &q, &points(x)).plan(1.0);
            assert!(matches!(plan, MechanismPlan::Quantile { points, .. } if f64::from(points) == x));
        }
    }

    #[test]
    fn the_grid_must_be_finite() {
        let q = of(0.5, Range::ALL, Relation::ReplaceOne, 1);
        assert_eq!(refused(&Exponential, &q, &[]).code, "E0202");
        let q = of(0.5, Range::new(0.0, 1.0), Relation::AddRemove, 3);
        let MechanismPlan::Quantile { points, score_sensitivity, .. } = matched(&Exponential, &q, &[]).plan(1.0) else {
            panic!("a quantile plan");
        };
        assert_eq!(points, 1024);
        assert!((1.5..1.500_000_1).contains(&score_sensitivity));
    }
}
