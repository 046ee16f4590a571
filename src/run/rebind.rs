//! Laws that wait for released values: the certified plan with those values in place.

use crate::analyze::{Chosen, PublicData, grouped, totals};
use crate::data::Environment;
use crate::mechanism::plan::MechanismPlan;
use crate::model::{Expr, ExprKind, Label, Program, Query, Range, ReleaseStep, Type};
use crate::rules::{Ask, Context, Question, REACH};

/// The plan of a release, in a group or not, now that the public values it mentions are known to `env`.
///
/// What certifies it was proved for the whole range of those values, so it covers these.
pub fn plan(
    release: &ReleaseStep,
    in_group: bool,
    chosen: &Chosen,
    program: &Program,
    public: &dyn PublicData,
    env: &dyn Environment,
) -> Option<MechanismPlan> {
    if let Some(plan) = &chosen.plan {
        return Some(plan.clone());
    }
    let Query::Posterior(model) = &release.query else { return None };
    let mut model = grouped(model, in_group).into_owned();
    model.parameters.iter_mut().flat_map(|p| &mut p.prior.args).for_each(|e| settle(e, env));
    for o in model.private.iter_mut().chain(&mut model.public) {
        settle(&mut o.outcome, env);
        o.likelihood.args.iter_mut().for_each(|e| settle(e, env));
    }
    let totals = totals(&model, in_group, program, public);
    chosen.plan_of(&Question {
        ask: Ask::Model(&model),
        context: Context { program, public: &totals },
        written: Some((chosen.mechanism, &chosen.arguments)),
        assuming_convergence: release.mechanism.assuming_convergence,
        place: release.mechanism.span.unwrap_or(release.query_span),
        statement: release.span,
        budgeted: true,
        secret_groups: chosen.secret_groups,
    })
}

/// Puts the values of public numbers and vectors in their place.
fn settle(e: &mut Expr, env: &dyn Environment) {
    let literal = |x: f64, range| {
        let x = within(x, range);
        (ExprKind::Number(x), Type::Real(Range::point(x)))
    };
    match (&mut e.kind, &e.ty) {
        (ExprKind::List(items), _) => items.iter_mut().for_each(|i| settle(i, env)),
        (_, ty @ (Type::Bool | Type::Int(_) | Type::Real(_))) if e.label == Label::Public => {
            let range = ty.range().unwrap_or(Range::ALL);
            if let Some([x]) = env.value(e).as_deref() {
                (e.kind, e.ty) = literal(*x, range);
            }
        }
        (_, Type::Vector(v)) if e.label == Label::Public => {
            let item = |x| {
                let (kind, ty) = literal(x, v.range);
                Expr { kind, ty, label: e.label, span: e.span }
            };
            if let Some(values) = env.value(e).filter(|x| x.len() as u64 == v.dim) {
                e.kind = ExprKind::List(values.into_iter().map(item).collect());
            }
        }
        (ExprKind::Call(_, items), _) => items.iter_mut().for_each(|i| settle(i, env)),
        (ExprKind::If(c, a, b), _) => [c, a, b].into_iter().for_each(|i| settle(i, env)),
        (ExprKind::Index(a, i), _) => [a, i].into_iter().for_each(|i| settle(i, env)),
        (ExprKind::Field(a, _), _) => settle(a, env),
        _ => {}
    }
}

/// A value moved into the range that the certificate is about, and out of magnitudes that no rule reads: a released value
/// cannot be refused.
pub(super) fn within(x: f64, range: Range) -> f64 {
    let x = if x.abs() >= REACH.lo { x.clamp(-REACH.hi, REACH.hi) } else { 0.0 };
    x.max(range.lo).min(range.hi)
}
