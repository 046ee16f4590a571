//! What to release where no mechanism releases a posterior whole, but a rule knows draws of it.

use super::scene::Scene;
use super::solve::solve;
use super::unmatched::tried_text;
use crate::model::print::likelihood_text;
use crate::model::{BudgetKind, Model, Query, Records, ReleaseStep, Request, RowCount, releases};
use crate::rules::offer::Offer;
use crate::rules::{Ask, Judged};
use crate::source::{Diagnostic, Help, Span};

/// E0300: one draw is offered where it meets the allotment, or with what its rule asks for first.
pub fn drawn_instead(scene: &Scene, judged: &Judged) -> Option<Diagnostic> {
    let model = scene.model.as_deref()?;
    let Request::Posterior { parameter } = model.request else { return None };
    let name = &model.parameters.iter().find(|p| p.id == parameter)?.name;
    let drawn = Model { request: Request::Draw { parameters: vec![parameter], times: 1 }, ..model.clone() };
    let mut draws = scene.judge_of(Ask::Model(&drawn), None);
    // Of a draw that needs the exact number of rows; other complaints help a draw alone.
    let none = draws.usual().next().is_none();
    let refused = draws.refused.iter().find(|(rule, _)| !rule.by_name()).map(|(_, r)| r.diagnostic.clone());
    let refusal = refused.filter(|d| none && d.code == "E0313");
    if refusal.is_some() {
        // As many as its Help shows.
        let rows = RowCount { at_least: 1200, exactly: Some(1200) };
        draws = scene.judge_of(Ask::Model(&Model { records: Records { rows, ..drawn.records }, ..drawn.clone() }), None);
    }
    if draws.usual().next().is_none() && refusal.is_none() {
        return None;
    }
    let mut d = Diagnostic::new("E0300", format!("no mechanism of this version releases the posterior of `{name}` whole"))
        .label(scene.place(), "only draws of it have a rule");
    for o in &model.private {
        d = d.label(o.likelihood.span, format!("the rows follow {}", likelihood_text(model, o, scene.program)));
    }
    let tried: Vec<(&str, &str)> = judged.unmatched.iter().map(|(rule, why)| (rule.name, why.as_str())).collect();
    d = d.note(tried_text(&tried));
    let release = scene.site.release;
    let tail = tail(scene);
    let meets = |o: &dyn Offer| !o.changes_prior() && scene.allotment.is_none_or(|l| solve(scene.site, o, l).is_some());
    let using = if scene.allotment.is_none() { " using direct" } else { "" };
    let mut lines = refusal.as_ref().map_or(vec![], |r| r.help.clone());
    if draws.usual().any(meets) {
        let then = if refusal.is_some() { "then release" } else { "release" };
        lines.push((format!("{then} one draw:"), format!("release {} = draw({name}){using}{tail}", release.name)).into());
    }
    let d = match refusal {
        Some(r) => d.cause(format!("a draw is refused too: {}", r.message)),
        None => d,
    };
    lines.extend(super::noisy_cells::of_noisy_cells(scene));
    Some(d.helps(lines))
}

/// What stands behind the mechanism: ` spend 20%`.
fn tail<'a>(scene: &Scene<'a>) -> &'a str {
    let release = scene.site.release;
    let from = release.mechanism.span.unwrap_or(release.query_span).end;
    scene.sources.slice(Span { start: from, ..release.span }).trim_end()
}

/// The whole posterior in place of draws of one parameter, where some mechanism releases it within the limit.
pub fn whole_instead(scene: &Scene, limit: &BudgetKind, lead: &str) -> Option<Help> {
    let (name, offered) = whole(scene)?;
    offered.usual().find(|o| solve(scene.site, *o, limit).is_some())?;
    let code = format!("release {} = posterior({name}){}", scene.site.release.name, tail(scene));
    Some(Help::from((lead, code)).over(scene.site.release.span))
}

/// The posterior of the one parameter that is drawn, and who answers it.
fn whole<'a>(scene: &Scene<'a>) -> Option<(&'a str, Judged)> {
    let Query::Posterior(model) = &scene.site.release.query else { return None };
    let Request::Draw { parameters, .. } = &model.request else { return None };
    let [parameter] = parameters.as_slice() else { return None };
    let name = &model.parameters.iter().find(|p| p.id == *parameter)?.name;
    let whole = Model { request: Request::Posterior { parameter: *parameter }, ..scene.model.as_deref()?.clone() };
    Some((name, scene.judge_of(Ask::Model(&whole), None)))
}

/// E0402 with many draws of one parameter: draws only tell of its uncertainty, and the whole posterior does at once.
pub fn not_by_draws(scene: &Scene) -> Option<Help> {
    let release = scene.site.release;
    let Query::Posterior(model) = &release.query else { return None };
    let Request::Draw { times, .. } = model.request else { return None };
    let (name, offered) = whole(scene).filter(|_| times > 1)?;
    offered.usual().next()?;
    let lead = format!("{times} draws cost {times} times one draw; the whole posterior costs one release:");
    let edits = |h: Help, r: &ReleaseStep| match &r.spend {
        Some(spend) if r.id != release.id => h.edit(spend.span, ""),
        _ => h,
    };
    let help = Help::from((lead, format!("release {} = posterior({name})", release.name))).over(release.span);
    Some(releases(&scene.program.steps).into_iter().fold(help, edits))
}
