//! Gamma prior, exponential rows or gamma rows of known shape: one draw of a rate of waiting times.
//!
//! ## Shape
//! `rate ~ gamma(a, b)`; each row `~ exponential(rate)` or `~ gamma(s, rate)`, one constant s for all, with an outcome in `[lo, hi]`. Public
//! rows strengthen the prior.
//!
//! ## Claim
//! `Gamma(A, B)` against `Gamma(A, B + r k (hi - lo))` with `A = a / m + r n s` (s = 1 for exponential rows), `B = b / m + r n lo`; finite below order
//! `1 + B / (r k (hi - lo))` (§3.2); for an exact n, (eps, delta) by the exact curve of this pair (§17). It grows with n if lo = 0; with lo > 0 and n only bounded below, the shape is
//! replaced by a bound on `A / B` times the least B (proof in `gamma_moves.rs`). When rows are added or removed and
//! lo > 0: the sum of a moving shape and a moving rate.
//!
//! ## Refuses
//! An outcome without bounds; an n that is secret or inexact while lo = 0; public rows that are not bound yet.
//!
//! ## Checked by
//! Grids of data sets with n <= 3 in both roles; golden values; every n up to 3000 where n is open.

use super::facts::{Facts, all_observations, of_family, one_private, outcome_range, positive_argument, the_parameter};
use super::gamma_moves::RateDraw;
use super::refusals;
use crate::mechanism::plan::{Statistic, StatisticKind};
use crate::model::{Model, Observation, ParamId, Range, Relation};
use crate::rules::tempered::{EXACT, judge};
use crate::rules::text::plain;
use crate::rules::{Answers, Context, Match, Rule, not_mine, refuse};

pub static RULE: Rule = Rule {
    name: "gamma_exponential",
    summary: "gamma prior, exponential rows or gamma rows of known shape: one draw of a rate of waiting times",
    section: "3.2",
    source: include_str!("gamma_exponential.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

const SHAPE: &str = "gamma(a, b)";

fn find(model: &Model, context: &Context) -> Match<RateDraw> {
    the_parameter(model, "gamma", 2, SHAPE)?;
    let draw = matched(&RULE, model, context)?;
    rows_known(&draw, model, context)?;
    Ok(draw)
}

/// The model without premises about the number of rows, whatever is asked of it.
pub(in crate::rules) fn matched(rule: &'static Rule, model: &Model, context: &Context) -> Match<RateDraw> {
    let parameter = of_family(model, "gamma", 2, SHAPE)?;
    let id = parameter.id;
    let rows = "exponential(rate), or gamma(s, rate) of one constant shape s";
    all_observations(model, rows, |o| known_shape(o, id).is_some())?;
    let observation = one_private(model, &parameter.name)?;
    let shape = known_shape(observation, id);
    all_observations(model, rows, |o| known_shape(o, id) == shape)?;
    let Some(per_row) = shape else { return not_mine(format!("rows must be {rows}")) };
    if let [known, _] = observation.likelihood.args.as_slice() {
        positive_argument(known, "the shape of the rows")?;
    }
    let [a, b] = parameter.prior.args.as_slice() else {
        return not_mine(format!("prior must be {SHAPE}"));
    };
    let range = outcome_range(observation, model, context, Range::new(0.0, f64::INFINITY))?;
    let mut facts = Facts::collect(rule, model, parameter, context);
    facts.premise(format!("the outcome lies in [{}, {}]", plain(range.lo), plain(range.hi)), Some(observation.outcome.span));
    Ok(RateDraw {
        a: positive_argument(a, "the prior's shape")?,
        b: positive_argument(b, "the prior's rate")?,
        per_row,
        scale: 1.0,
        share: range,
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(observation.outcome.clone()) },
        facts,
    })
}

/// The shape of `gamma(s, rate)` and `exponential(rate)`, which is 1, where the rate is the parameter and s a constant.
fn known_shape(o: &Observation, rate: ParamId) -> Option<f64> {
    match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("exponential", [own]) if own.is_param(rate) => Some(1.0),
        ("gamma", [shape, own]) if own.is_param(rate) => shape.constant(),
        _ => None,
    }
}

/// The premises about n that every summed rate shares (§3.11).
pub(super) fn rows_known(draw: &RateDraw, model: &Model, context: &Context) -> Match<()> {
    let (rule, parameter) = (draw.facts.rule.name, draw.facts.parameter.as_str());
    let observation = one_private(model, parameter)?;
    if !draw.facts.public.known {
        return refuse(refusals::unbound_public_rows(parameter, model, context));
    }
    if draw.bounded_in_rows() {
        return Ok(());
    }
    match (model.records.relation, model.records.rows.exactly) {
        (Relation::ReplaceOne, Some(_)) => Ok(()),
        (Relation::ReplaceOne, None) => refuse(refusals::grows_with_rows(
            rule,
            parameter,
            observation.span,
            model.records,
            Some("or bound the outcome away from 0, so that every row adds to the rate"),
            context,
        )),
        (Relation::AddRemove, _) => refuse(refusals::secret_rows(
            rule,
            parameter,
            observation.span,
            model.records,
            "the cost grows with the number of rows while an outcome may be 0, and no bound holds for every number",
            context,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Type;
    use crate::rules::tempered::Tempering;
    use crate::rules::testing::{Build, assert_bounds, assert_tight, diverge, gamma, tempered};

    fn build(a: f64, b: f64, lo: f64, hi: f64) -> Build {
        Build::gamma(a, b).outcome(Type::real(lo, hi)).observe("exponential", &[])
    }

    #[test]
    fn the_worst_neighbours_of_a_grid_of_data_sets() {
        for (a, b, n, lo, hi, k, r, m) in [(2.0, 3.0, 3u32, 0.0, 1.0, 1u64, 1.0, 1.0), (1.0, 2.0, 3, 0.5, 1.5, 2, 0.6, 0.5)] {
            let model = build(a, b, lo, hi).exactly(n.into()).unit(k);
            let claim = model.matched(&RULE).claim(tempered(r, m));
            for l in [1.1, 2.0, 3.5] {
                let mut worst: f64 = 0.0;
                for i in 0..=40 {
                    for j in 0..=40 {
                        let sum = |i: i32| f64::from(n) * (lo + (hi - lo) * f64::from(i) / 40.0);
                        if (sum(i) - sum(j)).abs() > k as f64 * (hi - lo) * (1.0 + 1e-12) {
                            continue;
                        }
                        let at = |i| [a / m + r * f64::from(n), b / m + r * sum(i)];
                        worst = worst.max(gamma(l, at(i), at(j)));
                    }
                }
                // The grid holds the corner pair for one row only if n divides 40 steps; it bounds from below.
                let corner = [a / m + r * f64::from(n), b / m + r * f64::from(n) * lo];
                let far = [corner[0], corner[1] + r * k as f64 * (hi - lo)];
                assert_bounds(diverge(&claim, l), worst, (a, b, n, l));
                assert_tight(diverge(&claim, l), gamma(l, corner, far), (a, b, n, l));
            }
        }
    }

    #[test]
    fn published_values() {
        for (a, b, lo, hi, n, r, l, want) in [
            (2.0, 3.0, 0.0, 1.0, 10, 1.0, 2.0, 1.413_396_427_876_601_5),
            (1.0, 2.0, 0.5, 1.5, 20, 1.0, 3.0, 0.233_479_485_192_258_63),
            (3.0, 1.5, 0.0, 2.0, 5, 0.25, 2.0, 0.500_577_901_539_629_7),
        ] {
            let m = build(a, b, lo, hi).exactly(n);
            let got = diverge(&m.matched(&RULE).claim(tempered(r, 1.0)), l);
            assert!((got - want).abs() < 1e-8 * want, "{got} {want}");
        }
    }

    #[test]
    fn an_open_n_is_bounded_for_every_n() {
        for (a, b, least) in [(2.0, 3.0, 1u64), (0.5, 40.0, 3), (9.0, 0.5, 0)] {
            let open = build(a, b, 0.5, 1.5).at_least(least);
            let open = open.matched(&RULE).claim(Tempering::DIRECT);
            for l in [1.2, 1.9] {
                let mut worst: f64 = 0.0;
                for n in least.max(1)..3000 {
                    let one = build(a, b, 0.5, 1.5).exactly(n);
                    worst = worst.max(diverge(&one.matched(&RULE).claim(Tempering::DIRECT), l));
                }
                let bound = diverge(&open, l);
                assert_bounds(bound, worst, (a, b, least, l));
                assert!(bound < 6.0 * worst, "{bound} {worst}");
            }
        }
    }

    #[test]
    fn added_rows_stay_below_the_bound() {
        let (a, b, lo, hi, r) = (3.0, 2.0, 0.5, 1.5, 0.4);
        let m = build(a, b, lo, hi).add_remove().unit(2);
        let claim = m.matched(&RULE).claim(tempered(r, 1.0));
        for l in [1.1, 1.8, 2.4] {
            for n in [0u32, 1, 3, 20, 500] {
                for i in 0..=4 {
                    for j in 1..=2 {
                        for x in [lo, 1.0, hi] {
                            let each = lo + (hi - lo) * f64::from(i) / 4.0;
                            let p = [a + r * f64::from(n), b + r * f64::from(n) * each];
                            let q = [p[0] + r * f64::from(j), p[1] + r * f64::from(j) * x];
                            let d = gamma(l, p, q).max(gamma(l, q, p));
                            assert_bounds(diverge(&claim, l), d, (l, n, i, j, x));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_it_refuses() {
        assert_eq!(build(1.0, 1.0, 0.0, 1.0).refused(&RULE).code, "E0313");
        let secret = build(1.0, 1.0, 0.0, 1.0).add_remove();
        assert_eq!(secret.refused(&RULE).code, "E0307");
        let open = build(1.0, 1.0, 0.0, f64::INFINITY).exactly(5);
        assert_eq!(open.refused(&RULE).code, "E0202");
        let unbound = build(1.0, 1.0, 0.0, 1.0).exactly(5).public_rows(None);
        assert_eq!(unbound.refused(&RULE).code, "E0313");
    }
}
