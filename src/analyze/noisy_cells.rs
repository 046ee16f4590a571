//! A posterior of noisy counts, offered where no rule releases that of the rows.

use super::scene::Scene;
use crate::model::{Expr, ExprKind, Relation, Request, Type};
use crate::source::{Help, Span};

/// The statement, where columns alone are observed and all that the model names can be counted.
pub fn of_noisy_cells(scene: &Scene) -> Option<Help> {
    let model = scene.model.as_deref().filter(|m| m.records.relation == Relation::ReplaceOne && m.public.is_empty())?;
    let Request::Posterior { parameter } = model.request else { return None };
    let name = &model.parameters.iter().find(|p| p.id == parameter)?.name;
    let finite = |e: &Expr| e.ty.range().is_none_or(|r| r.is_finite()) && !matches!(e.ty, Type::Vector(_));
    let mut counted = true;
    for o in &model.private {
        counted &= matches!(o.outcome.kind, ExprKind::Column(..)) && !matches!(o.outcome.ty, Type::Counts { .. });
        let mut of = |e: &Expr| e.walk(&mut |x| counted &= !matches!(x.kind, ExprKind::Column(..)) || finite(x));
        std::iter::once(&o.outcome).chain(&o.likelihood.args).for_each(&mut of);
    }
    let release = scene.site.release;
    let tail = scene.sources.slice(Span { start: release.query_span.end, ..release.span }).trim_end();
    (counted && release.mechanism.span.is_none() && !scene.site.grouped()).then(|| {
        let line = format!("release {} = posterior({name}) using noisy_cells{tail}", release.name);
        ("its posterior given noisy counts of these columns:", line).into()
    })
}
