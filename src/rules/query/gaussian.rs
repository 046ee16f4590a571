//! Normal noise on an aggregate.
//!
//! ## Shape
//! A number or vector with finite L2 sensitivity D2; `gaussian(sigma =)`.
//!
//! ## Claim
//! A normal draw of standard deviation sigma, rounded to a public grid: GDP with `mu = D2 / sigma` (§8.7).
//!
//! ## Refuses
//! Scales outside [1e-200, 1e200]; queries that are not computed exactly; infinite sensitivity; quantiles.
//!
//! ## Checked by
//! The divergence of two shifted normals by integration; program 13.

use super::shared::{Match, dimension, drawable, noisy, not_mine, only, premises, quantile, scale, with_slack};
use super::{Knob, MatchedQuery, QueryRule, QueryVerdict};
use crate::mechanism::plan::{MechanismPlan, Noise};
use crate::model::{AggregateQuery, MechanismArg};
use crate::numeric::round::div_up;
use crate::privacy::Claim;
use crate::rules::{Context, Meta, Premise};

pub(super) struct Gaussian;

static META: Meta = Meta { name: "gaussian", summary: "normal noise on an aggregate", section: "8.7", source: include_str!("gaussian.rs") };

impl QueryRule for Gaussian {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, query: &AggregateQuery, args: &[MechanismArg], context: Context) -> QueryVerdict {
        find(query, args, &context).map_or_else(|v| v, |m| QueryVerdict::Matched(Box::new(m)))
    }
}

struct Matching {
    query: AggregateQuery,
    d2: f64,
    dimension: f64,
    sigma: Option<f64>,
    premises: Vec<Premise>,
}

fn find(query: &AggregateQuery, args: &[MechanismArg], context: &Context) -> Match<Matching> {
    let Some(dimension) = dimension(&query.value).filter(|_| quantile(&query.value).is_none()) else {
        return not_mine("the query must be a sum, mean, count or histogram");
    };
    only(args, &["sigma"])?;
    let sigma = scale(args, "sigma")?;
    let d2 = noisy(query, query.sensitivity.l2, "L2", context)?;
    Ok(Matching { premises: premises(query, "L2", d2, context), query: query.clone(), d2, dimension, sigma })
}

impl MatchedQuery for Matching {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn knob(&self) -> Knob {
        Knob { name: "sigma", given: self.sigma, larger_is_cheaper: true, unit: self.d2 }
    }

    fn claim(&self, sigma: f64) -> Claim {
        if !drawable(sigma) {
            return Claim::Gdp { mu: f64::INFINITY };
        }
        Claim::Gdp { mu: div_up(with_slack(self.d2, self.dimension, &self.plan(sigma)), sigma) }
    }

    fn premises(&self) -> Vec<Premise> {
        self.premises.clone()
    }

    fn plan(&self, sigma: f64) -> MechanismPlan {
        MechanismPlan::Noise { table: self.query.table, value: self.query.value.clone(), noise: Noise::Gaussian { sigma } }
    }

    fn predicted_error(&self, sigma: f64, _: f64) -> f64 {
        1.959_963_984_540_054 * sigma * self.dimension.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests_support::{matched, refused, sum_query};
    use super::*;

    #[test]
    fn program_13() {
        // D2 = 72 / 500, sigma 0.72: zcdp mu^2 / 2 = 0.02.
        let m = matched(&Gaussian, &sum_query(72.0 / 500.0), &[]);
        let Claim::Gdp { mu } = m.claim(0.72) else {
            panic!("a GDP claim");
        };
        assert!((mu * mu / 2.0 - 0.02).abs() < 1e-12);
        assert_eq!(m.knob().given, None);
    }

    #[test]
    fn two_shifted_normals_integrated() {
        let m = matched(&Gaussian, &sum_query(1.0), &[]);
        let (sigma, l) = (2.0, 2.0);
        let Claim::Gdp { mu } = m.claim(sigma) else {
            panic!("a GDP claim");
        };
        let log = |x: f64, m: f64| -(x - m) * (x - m) / (2.0 * sigma * sigma);
        let z = sigma * std::f64::consts::TAU.sqrt();
        let total: f64 = (-4000..4000)
            .map(|i| {
                let x = f64::from(i) / 100.0;
                (l * log(x, 0.0) + (1.0 - l) * log(x, 1.0)).exp() / z * 0.01
            })
            .sum();
        assert!((total.ln() / (l - 1.0) - l * mu * mu / 2.0).abs() < 1e-10);
    }

    #[test]
    fn infinite_sensitivity_is_refused() {
        assert_eq!(refused(&Gaussian, &sum_query(f64::INFINITY), &[]).code, "E0202");
    }
}
