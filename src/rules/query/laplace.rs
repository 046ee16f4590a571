//! Laplace noise on an aggregate.
//!
//! ## Shape
//! A number or vector with finite L1 sensitivity D1; `laplace(scale =)`.
//!
//! ## Claim
//! Laplace noise of scale b, rounded to a public grid: pure `eps = D1 / b` with the Laplace curve (§8.7).
//!
//! ## Refuses
//! Infinite sensitivity; quantiles.
//!
//! ## Checked by
//! The ratio of densities at every shift; the claim at given scales.

use super::shared::{Match, argument, dimension, finite, not_mine, only, positive, premises, quantile, with_slack};
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
    let scale = positive(argument(args, "scale", 0), "scale")?;
    let d1 = finite(query, query.sensitivity.l1, "L1", context)?;
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
    use super::super::tests_support::{matched, refused, sum_query};
    use super::*;

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
}
