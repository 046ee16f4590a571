//! One draw from a posterior whose parameters are cut to a bounded set on which a row's log-likelihood is bounded (one-posterior sampling).
//!
//! ## Shape
//! Any proper priors, `bernoulli_logit(t)` or `binomial_logit(N, t)` rows of one private table, and a predictor t of bounded
//! size: weights with a declared domain, such as `param w: vector[2] in l2(4)`, and bounded features. Or rows of another law whose
//! log-density is bounded where its arguments can be: Bernoulli with probit or cloglog link or a chance, binomial, geometric,
//! negative binomial, Poisson, exponential, gamma of known shape, normal; Laplace, logistic and Cauchy of known scale. Outcomes have bounds.
//!
//! ## Claim
//! Bounded range `eta = 2 k w R` for replaced rows, `k w R` for added or removed ones (§7): where `|t| <= B` the loss
//! `N log(1 + e^t) - y t` of a row moves within an interval of length `R = N B`, as `log(1 + e^B) - log(1 + e^-B) = B` and the
//! width is a convex function of y. With one ball of radius R0 and features of norm c this is `eta = 2 w c R0`, half of
//! what Wang et al. (2015) and Geumlek et al. (2017) print. What no parameter moves cancels: where t of one row moves within an
//! interval of length V over all weights, the loss, whose slope lies in [-N, N], moves by at most N V. So `R = N min(B, V)`, and an
//! offset of any size costs no more than twice what B is without it. For other laws R is the largest length of the interval that the loss of
//! one row moves within over all parameters; what parameters do not move, such as `log y!`, cancels. The guarantee is that of the ideal
//! posterior: a chain that draws from it must have converged, so the certificate is conditional.
//!
//! ## Refuses
//! A predictor or a log-density without a bound (E0305), another likelihood (E0300), a flat prior (E0306), a chain without
//! `assuming convergence` (E0311).
//!
//! ## Checked by
//! Golden values; log ratios of neighbouring posteriors on a grid; for every law, its log-density written out once more on grids of parameters
//! and outcomes (`tests/claims/loss_widths.rs`).

use super::density::Fault;
use super::ideal;
use super::range::RowLoss;
use super::width;
use crate::dist::{Law, Support};
use crate::model::enclose::enclose;
use crate::model::{Builtin, Expr, ExprKind, Label, Observation, Range, Type};
use crate::numeric::Interval;
use crate::numeric::round::{add_up, div_up, mul_up};
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::{Answers, Question, Rule, Verdict};

pub static OPS: Mechanism = Mechanism::new("ops", &[Arg::WEIGHT, Arg::SAMPLER, Arg::STEPS])
    .by_name()
    .elsewhere(&[("radius", "the radius is the domain of the weights, as in `param w: vector[2] in l2(4) ~ normal(0, 1)`")]);

pub static RULE: Rule = Rule {
    name: "ops",
    summary: "one draw from a posterior whose parameters are cut to a bounded set",
    section: "7",
    source: include_str!("ops.rs"),
    answers: Answers::Draws,
    mechanisms: &[&OPS],
    judge,
};

fn judge(question: &Question) -> Verdict {
    super::model::judge(&RULE, question, row_loss, ideal::offer)
}

/// Doubles hold the posterior of predictors up to this size.
const MOST: f64 = 1e4;

fn row_loss(o: &Observation) -> Result<RowLoss, Fault<'_>> {
    let discrete = matches!(o.outcome.ty, Type::Bool | Type::Int(_));
    let (trials, predictor) = match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("bernoulli_logit", [t]) if discrete => (1.0, t),
        ("binomial_logit", [n, t]) if discrete => match n.constant().filter(|n| *n >= 1.0 && n.is_finite()) {
            Some(n) => (n, t),
            None => return Err(Fault::Unknown("the number of trials must be a constant".into())),
        },
        _ => return other(o, discrete),
    };
    match reach(predictor) {
        Some(most) if most <= MOST => {
            let width = moves(predictor).map_or(most, |v| v.min(most));
            Ok(RowLoss::Log { most: Some(most), width: mul_up(trials, width) })
        }
        _ => Err(Fault::Predictor { argument: predictor }),
    }
}

/// Rows whose loss is bounded where their arguments stay within the domains of the parameters.
fn other(o: &Observation, discrete: bool) -> Result<RowLoss, Fault<'_>> {
    let unknown = |reason: &str| Err(Fault::Unknown(reason.to_owned()));
    if !discrete && matches!(o.likelihood.family.law, Law::Levels { .. } | Law::Count(_)) {
        return unknown("the outcome of a discrete law must be whole");
    }
    let support = if o.likelihood.family.support == Support::Real(Range::ALL) { Range::ALL } else { Range::new(0.0, f64::INFINITY) };
    let Some(y) = o.outcome.ty.range().filter(|y| y.is_finite() && y.within(support)) else {
        return unknown("the outcome must be a number between bounds, within the support of its law");
    };
    let within = |e: &Expr| match (enclose(e), reach(e)) {
        (own, Some(most)) => Interval::new(own.lo.max(-most), own.hi.min(most)),
        (own, None) => own,
    };
    match width::width(o, y, within) {
        None => unknown("no bound on the log-density of these rows is proved"),
        Some(width) if width.is_finite() => Ok(RowLoss::Log { most: None, width }),
        Some(_) => {
            let moved = o.likelihood.args.iter().rev().find(|e| matches!(e.label, Label::Latent | Label::Mix(_)));
            moved.map_or_else(|| unknown("a scale that may be 0"), |argument| Err(Fault::Log { argument }))
        }
    }
}

/// Upper bound on the absolute value of a scalar; `None` where this file knows no formula.
fn reach(e: &Expr) -> Option<f64> {
    let declared = || e.ty.range().map(|r| r.magnitude());
    if !matches!(e.label, Label::Latent | Label::Mix(_)) {
        return declared();
    }
    match &e.kind {
        ExprKind::Param(_) => declared(),
        ExprKind::Index(base, _) => match base.kind {
            ExprKind::Param(_) => base.ty.range().map(|r| r.magnitude()),
            _ => None,
        },
        ExprKind::Call(f, args) => match (*f, args.as_slice()) {
            (Builtin::Neg, [a]) => reach(a),
            (Builtin::Add | Builtin::Sub, [a, b]) => Some(add_up(reach(a)?, reach(b)?)),
            (Builtin::Mul, [a, b]) => Some(mul_up(reach(a)?, reach(b)?)),
            (Builtin::Div, [a, b]) => b.constant().filter(|x| *x != 0.0).and_then(|x| Some(div_up(reach(a)?, x.abs()))),
            (Builtin::Unary(f), [_]) => Some((f.facts().enclose)(Interval::ENTIRE).magnitude()).filter(|most| most.is_finite()),
            (Builtin::Dot, [a, b]) => Some(mul_up(norm(a)?, norm(b)?)),
            _ => None,
        },
        _ => None,
    }
}

/// Upper bound on how far a scalar of one row moves over all values of the parameters; `None` where this file knows no formula.
fn moves(e: &Expr) -> Option<f64> {
    let fixed = |e: &Expr| !matches!(e.label, Label::Latent | Label::Mix(_));
    let twice = |e: &Expr| Some(2.0 * reach(e)?);
    match &e.kind {
        _ if fixed(e) => Some(0.0),
        ExprKind::Param(_) => e.ty.range().map(|r| r.width()),
        ExprKind::Index(base, _) if matches!(base.kind, ExprKind::Param(_)) => base.ty.range().map(|r| r.width()),
        ExprKind::Call(f, args) => match (*f, args.as_slice()) {
            (Builtin::Neg, [a]) => moves(a),
            (Builtin::Add | Builtin::Sub, [a, b]) => Some(add_up(moves(a)?, moves(b)?)),
            (Builtin::Mul, [a, b]) if fixed(a) => Some(mul_up(reach(a)?, moves(b)?)),
            (Builtin::Mul, [a, b]) if fixed(b) => Some(mul_up(moves(a)?, reach(b)?)),
            (Builtin::Div, [a, b]) => b.constant().filter(|x| *x != 0.0).and_then(|x| Some(div_up(moves(a)?, x.abs()))),
            _ => twice(e),
        },
        _ => twice(e),
    }
}

/// Largest L2 norm of a parameter, or of what depends on no parameter.
fn norm(e: &Expr) -> Option<f64> {
    let plain = matches!(e.kind, ExprKind::Param(_)) || !matches!(e.label, Label::Latent | Label::Mix(_));
    match &e.ty {
        Type::Vector(v) if plain => Some(v.sup.l2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unary;
    use crate::rules::testing as t;

    #[test]
    fn predictors_of_every_form_are_bounded_from_above() {
        let w = || t::param(0, Type::real(-2.0, 1.0));
        let call = |f, args| t::expr(ExprKind::Call(f, args), Type::real(-1e300, 1e300), Label::Latent);
        assert_eq!(reach(&w()), Some(2.0));
        assert_eq!(reach(&call(Builtin::Sub, vec![w(), t::number(0.5)])), Some(2.5));
        assert_eq!(reach(&call(Builtin::Mul, vec![w(), t::number(-3.0)])), Some(6.0));
        assert_eq!(reach(&call(Builtin::Div, vec![w(), t::number(-4.0)])), Some(0.5));
        assert_eq!(reach(&call(Builtin::Unary(Unary::Tanh), vec![w()])), Some(1.0));
        assert_eq!(reach(&call(Builtin::Div, vec![w(), t::number(0.0)])), None);
        // Over the weights alone: an offset of the row cancels.
        let offset = t::expr(ExprKind::Column(t::TABLE, crate::model::ColumnId(1)), Type::real(0.0, 10.0), Label::Row(t::TABLE));
        let shifted = call(Builtin::Add, vec![offset.clone(), w()]);
        assert_eq!((reach(&shifted), moves(&shifted)), (Some(12.0), Some(3.0)));
        assert_eq!(moves(&call(Builtin::Mul, vec![offset.clone(), w()])), Some(30.0));
        assert_eq!(moves(&call(Builtin::Mul, vec![w(), w()])), Some(8.0));
        assert_eq!(moves(&call(Builtin::Add, vec![offset, call(Builtin::Exp, vec![w()])])), None);
        // No formula here, whatever its type says.
        assert_eq!(reach(&call(Builtin::Exp, vec![w()])), None);
    }
}
