//! Laws that depend on released values: the model with those values in place, judged again by its own rule.

use super::evaluate::{Known, evaluate};
use crate::analyze::{Chosen, PublicData, Status};
use crate::mechanism::plan::{MechanismPlan, PosteriorLaw};
use crate::model::{Expr, ExprKind, Label, Model, Program, Query, Range, ReleaseStep, Request, Type};
use crate::rules::{Asked, Context, PublicTotals, Verdict, WholeVerdict, posterior_rules, public_statistics, whole_rules};

/// The plan of a release whose prior mentions released values, now that they are known.
///
/// The tempering is the certified one: solved for the whole range of those values, so it covers this one.
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
    let totals = PublicTotals { observations: totals };
    let context = Context { program, public: &totals };
    if let Request::Posterior { .. } = &model.request {
        return whole(&model, chosen, context);
    }
    let tempering = chosen.tempering?;
    let rule = posterior_rules().find(|r| r.meta().name == chosen.rule)?;
    let Verdict::Matched(matched) = rule.judge(&model, context) else { return None };
    let (law, statistic) = matched.law(tempering)?;
    // The law as a rule makes it is that of a Langevin chain.
    if matches!(law, PosteriorLaw::Glm(_)) && chosen.status == Status::Conditional {
        return None;
    }
    let times = match &model.request {
        Request::Draw { times, .. } => *times,
        Request::Posterior { .. } => return None,
    };
    Some(MechanismPlan::Posterior { law, weight: tempering.weight, statistic, times })
}

/// The plan of a whole posterior at the certified value of its free number.
fn whole(model: &Model, chosen: &Chosen, context: Context) -> Option<MechanismPlan> {
    let number = |name: &str| chosen.parameters.iter().find(|p| p.name == name).map(|p| p.value);
    let rule = whole_rules().iter().find(|r| r.meta().name == chosen.rule)?;
    let place = model.parameters.first()?.prior.span;
    let WholeVerdict::Matched(ways) = rule.judge(&Asked { model, context, place, number: &number }) else { return None };
    ways.iter().find_map(|w| w.plan(number(w.knob())?))
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
