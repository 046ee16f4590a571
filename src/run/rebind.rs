//! Laws that depend on released values: the model with those values in place, judged again by its own rule.

use super::evaluate::{Known, evaluate};
use crate::analyze::{Chosen, PublicData};
use crate::mechanism::plan::MechanismPlan;
use crate::model::{Expr, ExprKind, Label, Model, Program, Query, Range, ReleaseStep, Type};
use crate::rules::{Ask, Context, PublicTotals, Question, Verdict, public_statistics};

/// The plan of a release whose prior mentions released values, now that they are known.
///
/// The rule judges the same question once more, with every number that was certified written out: they were solved for the
/// whole range of those values, so they cover this one.
pub fn plan(release: &ReleaseStep, chosen: &Chosen, program: &Program, public: &dyn PublicData, known: &Known) -> Option<MechanismPlan> {
    if let Some(plan) = &chosen.plan {
        return Some(plan.clone());
    }
    let Query::Posterior(model) = &release.query else { return None };
    let mut model: Model = model.clone();
    let priors = model.parameters.iter_mut().flat_map(|p| p.prior.args.iter_mut());
    let arguments = model.private.iter_mut().chain(model.public.iter_mut()).flat_map(|o| o.likelihood.args.iter_mut());
    priors.chain(arguments).for_each(|e| settle(e, known));
    let totals = public_statistics(&model).into_iter().map(|s| s.and_then(|s| public.totals(&s))).collect();
    let place = release.mechanism.span.unwrap_or(release.query_span);
    let certified = chosen.parameters.iter().fold(chosen.arguments.clone(), |all, p| all.with(p.name, p.value, place));
    let question = Question {
        ask: Ask::Model(&model),
        context: Context { program, public: &PublicTotals { observations: totals } },
        written: Some((chosen.mechanism, &certified)),
        assuming_convergence: release.mechanism.assuming_convergence,
        place,
        budgeted: false,
        secret_groups: false,
    };
    let Verdict::Offers(offers) = (chosen.rule.judge)(&question) else { return None };
    let own = offers.iter().filter(|o| o.mechanism() == chosen.mechanism);
    own.filter_map(|o| o.plan(o.knob().name().map_or(Some(chosen.value), |knob| certified.get(knob))?)).next()
}

/// Replaces a public expression by its value, clamped to the range the certificate assumed.
fn settle(e: &mut Expr, known: &Known) {
    if e.label == Label::Public && e.ty.is_scalar_number() {
        if let Some(x) = evaluate(e, known).ok().and_then(|v| v.as_number()) {
            let range = e.ty.range().unwrap_or(Range::ALL);
            let x = x.max(range.lo).min(range.hi);
            e.kind = ExprKind::Number(x);
            e.ty = Type::Real(Range::point(x));
        }
        return;
    }
    match &mut e.kind {
        ExprKind::List(items) | ExprKind::Call(_, items) => items.iter_mut().for_each(|i| settle(i, known)),
        ExprKind::If(c, a, b) => [c, a, b].into_iter().for_each(|i| settle(i, known)),
        ExprKind::Index(a, i) => [a, i].into_iter().for_each(|i| settle(i, known)),
        ExprKind::Field(a, _) => settle(a, known),
        _ => {}
    }
}
