//! Gamma prior on a precision, normal rows of known mean: one draw of the precision.
//!
//! ## Shape
//! `tau ~ gamma(a, b)`; each row `~ normal(m0, 1 / sqrt(tau))` with a public m0 and an outcome in `[lo, hi]`. Public
//! rows strengthen the prior.
//!
//! ## Claim
//! With squared deviations in `[d0, d1]`: `Gamma(A, B)` against `Gamma(A, B + r k (d1 - d0) / 2)`,
//! `A = a / m + r n / 2`, `B = b / m + r n d0 / 2`; finite below order `1 + 2 B / (r k (d1 - d0))` (§3.3); for an
//! exact n, (eps, delta) by the exact curve of this pair (§17). It grows with n unless m0 lies outside `[lo, hi]`; then as in `gamma_exponential`.
//!
//! ## Refuses
//! An outcome without bounds; an n that is secret or inexact while a deviation may be 0; unbound public rows.
//!
//! ## Checked by
//! Grids of data sets with n <= 3 in both roles; golden values.

use super::facts::{
    Facts, all_observations, apply, literal, of_family, one_private, outcome_range, positive_argument, public_argument, the_parameter,
    within_reach,
};
use super::gamma_exponential::rows_known;
use super::gamma_moves::RateDraw;
use crate::mechanism::plan::{Statistic, StatisticKind};
use crate::model::{Builtin, Expr, ExprKind, Label, Model, Observation, ParamId, Range};
use crate::numeric::round::{add_down, add_up, mul_down, mul_up};
use crate::rules::tempered::{EXACT, judge};
use crate::rules::text::plain;
use crate::rules::{Answers, Context, Match, Rule, not_mine};

pub static RULE: Rule = Rule {
    name: "normal_precision",
    summary: "gamma prior on a precision, normal rows of known mean: one draw of the precision",
    section: "3.3",
    source: include_str!("normal_precision.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

const SHAPE: &str = "gamma(a, b)";

/// Is `e` the standard deviation of precision `tau`: `1 / sqrt(tau)`, `sqrt(1 / tau)` or `tau^-0.5`?
pub fn deviation_of(e: &Expr, tau: ParamId) -> bool {
    let ExprKind::Call(f, args) = &e.kind else {
        return false;
    };
    let one = |e: &Expr| e.constant() == Some(1.0);
    let root = |e: &Expr| match &e.kind {
        ExprKind::Call(Builtin::Sqrt, inner) => matches!(inner.as_slice(), [t] if t.is_param(tau)),
        _ => false,
    };
    let inverse = |e: &Expr| match &e.kind {
        ExprKind::Call(Builtin::Div, inner) => {
            matches!(inner.as_slice(), [x, t] if one(x) && t.is_param(tau))
        }
        _ => false,
    };
    match (*f, args.as_slice()) {
        (Builtin::Div, [x, y]) => one(x) && root(y),
        (Builtin::Sqrt, [x]) => inverse(x),
        (Builtin::Pow, [x, y]) => x.is_param(tau) && negative_half(y),
        _ => false,
    }
}

fn negative_half(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(Builtin::Neg, inner) => {
            matches!(inner.as_slice(), [x] if x.constant() == Some(0.5))
        }
        _ => e.constant() == Some(-0.5),
    }
}

/// `(y - m0)^2`, if the observation is `y ~ normal(m0, 1 / sqrt(tau))` with a public m0 and a scalar y.
pub(super) fn squared_deviation(o: &Observation, tau: ParamId) -> Option<Expr> {
    let ("normal", [mean, sd]) = (o.likelihood.name(), o.likelihood.args.as_slice()) else {
        return None;
    };
    if !deviation_of(sd, tau) || mean.label != Label::Public {
        return None;
    }
    let y = o.outcome.ty.range().filter(|_| o.outcome.ty.is_scalar_number())?;
    let m = public_argument(mean).ok()?;
    // The difference and its square, enclosed.
    let apart = Range::new(add_down(y.lo, -m.hi), add_up(y.hi, -m.lo));
    let least = apart.lo.max(-apart.hi).max(0.0);
    let most = apart.magnitude();
    let square = Range::new(mul_down(least, least).max(0.0), mul_up(most, most));
    let span = o.outcome.span;
    let difference = apply(Builtin::Sub, vec![o.outcome.clone(), mean.clone()], apart, span);
    Some(apply(Builtin::Pow, vec![difference, literal(2.0, span)], square, span))
}

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
    all_observations(model, "normal(m0, 1 / sqrt(tau)) with a public m0", |o| squared_deviation(o, id).is_some())?;
    let observation = one_private(model, &parameter.name)?;
    let [a, b] = parameter.prior.args.as_slice() else {
        return not_mine(format!("prior must be {SHAPE}"));
    };
    let outcome = outcome_range(observation, model, context, Range::ALL)?;
    let Some(deviation) = squared_deviation(observation, id) else {
        return not_mine("rows must be normal(m0, 1 / sqrt(tau)) with a public m0");
    };
    let square = deviation.ty.range().unwrap_or(Range::ALL);
    if !square.is_finite() {
        return not_mine("the known mean must be bounded");
    }
    let mut facts = Facts::collect(rule, model, parameter, context);
    facts.premise(format!("the outcome lies in [{}, {}]", plain(outcome.lo), plain(outcome.hi)), Some(observation.outcome.span));
    within_reach(square.hi, observation.outcome.span, "the largest squared deviation")?;
    Ok(RateDraw {
        a: positive_argument(a, "the prior's shape")?,
        b: positive_argument(b, "the prior's rate")?,
        per_row: 0.5,
        scale: 0.5,
        share: Range::new(mul_down(0.5, square.lo), mul_up(0.5, square.hi)),
        statistic: Statistic { table: model.records.table, kind: StatisticKind::Sum(deviation) },
        facts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Type;
    use crate::rules::testing::{self as t, Build, assert_bounds, diverge, gamma, tempered};

    fn build(a: f64, b: f64, mean: f64, lo: f64, hi: f64) -> Build {
        let tau = || t::param(0, Type::real(0.0, f64::INFINITY));
        let call = |f, args| t::expr(ExprKind::Call(f, args), Type::real(0.0, 1.0), Label::Latent);
        let sd = call(Builtin::Div, vec![t::number(1.0), call(Builtin::Sqrt, vec![tau()])]);
        Build::gamma(a, b).outcome(Type::real(lo, hi)).observe_exprs("normal", vec![t::number(mean), sd])
    }

    #[test]
    fn the_worst_neighbours_of_a_grid_of_data_sets() {
        let (a, b, n, r) = (2.0, 1.5, 2i32, 0.7);
        for (mean, lo, hi) in [(0.2, -1.0, 1.5), (3.0, -1.0, 1.5)] {
            let m = build(a, b, mean, lo, hi).exactly(2);
            let claim = m.matched(&RULE).claim(tempered(r, 1.0));
            for l in [1.2, 1.6, 2.0] {
                let mut worst: f64 = 0.0;
                let y = |i: i32| lo + (hi - lo) * f64::from(i) / 25.0;
                let rate = |i: i32, j: i32| b + r * 0.5 * ((y(i) - mean).powi(2) + (y(j) - mean).powi(2));
                for i in 0..=25 {
                    for j in 0..=25 {
                        for j2 in 0..=25 {
                            let shape = a + r * 0.5 * f64::from(n);
                            let d = gamma(l, [shape, rate(i, j)], [shape, rate(i, j2)]);
                            worst = worst.max(d);
                        }
                    }
                }
                let bound = diverge(&claim, l);
                assert_bounds(bound, worst, (mean, l));
                if bound.is_finite() {
                    assert!(bound < 1.01 * worst, "{mean} {l}: {bound} {worst}");
                }
            }
        }
    }

    #[test]
    fn published_values() {
        for (a, b, dev, n, r, l, want) in
            [(2.0, 3.0, 1.0, 10, 1.0, 2.0, 0.197_196_138_766_874_25), (1.0, 0.5, 2.0, 5, 0.1, 3.0, 0.585_308_399_454_796_6)]
        {
            let m = build(a, b, 0.0, -dev, dev).exactly(n);
            let got = diverge(&m.matched(&RULE).claim(tempered(r, 1.0)), l);
            assert!((got - want).abs() < 1e-8 * want, "{got} {want}");
        }
    }

    #[test]
    fn what_it_refuses() {
        assert_eq!(build(1.0, 1.0, 0.0, -1.0, 1.0).refused(&RULE).code, "E0313");
        let open = build(1.0, 1.0, 0.0, 0.0, f64::INFINITY).exactly(3);
        assert_eq!(open.refused(&RULE).code, "E0202");
        let m = Build::gamma(1.0, 1.0).bernoulli();
        assert!(m.not_mine(&RULE).starts_with("rows must be normal(m0"));
    }
}
