//! Whether every certified release could run, found out before anything is charged or opened.

use super::evaluate::{Known, evaluate};
use super::fit;
use super::mentions::walk;
use super::rebind::{plan, within};
use super::value::Value;
use crate::analyze::{Analysis, Chosen, PublicData, ReleaseAnalysis};
use crate::data::Environment;
use crate::data::layout::width;
use crate::mechanism::bits::OsBits;
use crate::mechanism::chain::MOST_STEPS;
use crate::mechanism::plan::{ChainLaw, MechanismPlan, Noise, PosteriorLaw};
use crate::mechanism::{MechanismError, Scope, prepare};
use crate::model::print::argument_text;
use crate::model::{Each, Expr, ExprKind, Label, MechanismKind, Program, Query, Range, ReleaseStep, Step, TableId, Type};
use crate::source::{Diagnostic, Help, Span};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The values that earlier releases may have, all at one end of their ranges.
struct Ends<'r> {
    known: Known<'r>,
    high: bool,
}

impl Environment for Ends<'_> {
    fn value(&self, e: &Expr) -> Option<Vec<f64>> {
        let found = evaluate(e, &self.known).ok().map(|v| v.numbers()).filter(|v| v.len() == width(&e.ty));
        found.or_else(|| at_end(&e.ty, self.high).map(|v| v.numbers()))
    }
}

fn at_end(ty: &Type, high: bool) -> Option<Value> {
    let of = |range: Range| within(if high { range.hi } else { range.lo }, range);
    let row = |dim: u64, range: Range| Some(vec![of(range); usize::try_from(dim).ok()?]);
    match ty {
        Type::Bool | Type::Int(_) | Type::Real(_) => ty.range().map(of).map(Value::Number),
        Type::Date(range) => Some(Value::Number(of(*range))),
        Type::Vector(v) => row(v.dim, v.range).map(Value::Vector),
        Type::Simplex { dim, .. } | Type::Counts { dim, .. } => row(*dim, ty.range()?).map(Value::Vector),
        Type::Matrix { rows, columns, range } => Some(Value::Matrix(vec![row(*columns, *range)?; usize::try_from(*rows).ok()?])),
        Type::Record(parts) => {
            parts.iter().map(|(name, ty)| Some((name.clone(), at_end(ty, high)?))).collect::<Option<_>>().map(Value::Record)
        }
        Type::Category(_) | Type::Text | Type::Posterior(_) => None,
    }
}

/// A complaint about every release that is certified and could not run, whatever its rows and whatever was released before.
/// `program` has the public values that are bound in place.
pub fn rehearse(program: &Program, analysis: &Analysis, public: &dyn PublicData) -> Vec<Diagnostic> {
    let mut used = BTreeMap::new();
    walk(&program.steps, &mut |e| {
        e.walk(&mut |x| {
            if let ExprKind::Released(id) = x.kind {
                used.insert(id, x.ty.clone());
            }
        });
    });
    let rows = |t: usize| program.tables.get(t).map(|t| t.rows.exactly.unwrap_or(t.rows.at_least));
    let mut said = vec![];
    for high in [false, true].into_iter().take(1 + used.len()) {
        let aggregate = |e: &Expr, _: &dyn Environment| at_end(&e.ty, high);
        // Without randomness nothing runs, and the run will say so.
        let Ok(rng) = OsBits::new() else { return said };
        let known = Known {
            released: used.iter().filter_map(|(id, ty)| Some((*id, at_end(ty, high)?))).collect(),
            scalars: BTreeMap::new(),
            laws: BTreeMap::new(),
            rows: (0..program.tables.len()).filter_map(|t| Some((TableId(t), rows(t)?))).collect(),
            public: &aggregate,
            rng: RefCell::new(rng),
        };
        let ends = Ends { known, high };
        for complaint in chains(program, analysis, &ends) {
            if !said.contains(&complaint) {
                said.push(complaint);
            }
        }
        collect(&program.steps, None, &mut |release, each| {
            let Some(found) = analysis.release(release.id) else { return };
            let Some(chosen) = &found.chosen else { return };
            // Once that is bound it is certified anew.
            if analysis.unbound(found) {
                return;
            }
            let plan = plan(release, each.is_some(), chosen, program, public, &ends);
            let tried = plan.as_ref().map(|plan| {
                let table = program.tables.get(plan.table().0).ok_or(MechanismError::Expression)?;
                let group = each.filter(|e| e.table == plan.table()).map(|e| (e.key, 0));
                prepare(plan, &Scope { table, group, env: &ends }).map(drop)
            });
            let why = match tried {
                Some(Ok(())) => return,
                Some(Err(why)) => Some(why),
                None => None,
            };
            let complaint = complaint(release, program, (found, chosen), plan.as_ref(), why);
            if !said.contains(&complaint) {
                said.push(complaint);
            }
        });
    }
    said
}

/// Posteriors of released counts that no chain can compute.
fn chains(program: &Program, analysis: &Analysis, env: &Ends) -> Vec<Diagnostic> {
    let mut said = vec![];
    for step in &program.steps {
        let Step::Output { value, .. } = step else { continue };
        let ExprKind::Fit(of) = &value.kind else { continue };
        let drawn = |id| match analysis.release(id)?.chosen.as_ref()?.plan.as_ref()? {
            MechanismPlan::Noise { noise, .. } => Some(*noise),
            _ => None,
        };
        let read = |id| Some(program.records.iter().find(|r| r.id == id)?.counts.as_ref()?.noise);
        let noise = of.tables.first().and_then(|t| drawn(t.release).or_else(|| read(t.release)));
        // Without one, or with noise that has no law, something else was said.
        let sums = of.tables.iter().any(|t| !t.has_counts());
        let known = |noise: &Noise| sums || matches!(noise, Noise::Geometric { .. } | Noise::Rounded { .. });
        let Some(noise) = noise.filter(known) else { continue };
        if fit::rehearse(of, noise, env).is_err() {
            let d = Diagnostic::new("E0314", "no chain can run on this model").label(value.span, "cannot be computed");
            let d = d.cause(
                "a prior that is cut at bounds which depend on parameters, a function without derivatives, or noise beyond what is summed",
            );
            said.push(d.help("leave out the domain of the parameter, or write the model with other functions"));
        }
    }
    said
}

/// Every release with the `each` around it.
pub(super) fn collect<'p>(steps: &'p [Step], each: Option<&'p Each>, see: &mut dyn FnMut(&'p ReleaseStep, Option<&'p Each>)) {
    for step in steps {
        match step {
            Step::Release(release) => see(release, each),
            Step::When { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|s| collect(s, each, see)),
            Step::Each(inner) => collect(&inner.body, Some(inner), see),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
}

/// The first argument of a prior that a run alone knows, and its text.
fn waiting(release: &ReleaseStep, program: &Program) -> Option<(Span, String)> {
    let Query::Posterior(model) = &release.query else { return None };
    let open = |e: &&Expr| e.label == Label::Public && e.constant().is_none();
    let found = model.parameters.iter().flat_map(|p| &p.prior.args).find(open)?;
    Some((found.span, argument_text(model, found, program)))
}

/// An argument of the mechanism with this value: in place of another value of it, or after the others.
fn argument(release: &ReleaseStep, place: Span, lead: &str, name: &str, value: u64) -> Help {
    let code = format!("{name} = {value}");
    let help = Help::from((lead, code.clone()));
    let MechanismKind::Named { args, .. } = &release.mechanism.kind else { return help };
    match (args.iter().find(|a| a.name.as_deref() == Some(name)), args.last()) {
        (Some(own), _) => help.over(own.span),
        (None, Some(last)) => help.edit(Span { start: last.span.end, ..last.span }, format!(", {code}")),
        (None, None) => help.edit(Span { start: place.end, ..place }, format!("({code})")),
    }
}

/// E0314; `plan` is `None` where none follows from the values that earlier releases may have.
fn complaint(
    release: &ReleaseStep,
    program: &Program,
    (found, chosen): (&ReleaseAnalysis, &Chosen),
    plan: Option<&MechanismPlan>,
    why: Option<MechanismError>,
) -> Diagnostic {
    let (name, place) = (&release.name, found.mechanism_span);
    let new = |why: &str| Diagnostic::new("E0314", format!("`{name}` is certified, but it cannot be drawn: {why}"));
    let chain = match plan {
        Some(MechanismPlan::Posterior { law: PosteriorLaw::Density(law), weight, .. }) => Some((&law.chain, *weight)),
        _ => None,
    };
    match (why, chain, waiting(release, program)) {
        (None, _, Some((span, text))) => new("its prior may take a value that its rule does not match")
            .label(span, "known only once an earlier release has run, and its range is too wide")
            .label(place, format!("rule `{}` must match for all of it", chosen.rule.name))
            .help(Help::from(("bound it:", format!("clip({text}, 1, 100)"))).over(span)),
        (Some(MechanismError::Steps), Some((chain, _)), _) => {
            let each = if let ChainLaw::Hmc { steps, .. } = chain { steps.saturating_add(1) } else { 1 };
            new("its chain would take more than a billion steps").label(place, format!("every iteration takes {each}")).help(argument(
                release,
                place,
                "at most:",
                "iterations",
                MOST_STEPS / each,
            ))
        }
        (Some(MechanismError::Steps), None, _) => new("its chain would take more than a billion steps")
            .label(place, "the number that its features and its rows require")
            .help(argument(release, place, "say how long it may be:", "steps", 100_000)),
        (Some(MechanismError::Wide), ..) => {
            let d = new("its noise would be too large for the integers it is drawn in")
                .label(place, "its scale or sd is above 2^112 steps of the grid");
            if chosen.arguments.is_empty() {
                d.help("the summed values are too large: narrow their range, for example with clip(.., 0, 100), or use a larger unit")
            } else {
                d.help(("leave it to the budget:", format!("using {}", chosen.mechanism.name)))
            }
        }
        (why, ..) => {
            let why = why.map_or("no plan follows from its model".into(), |why| why.to_string());
            new(&why).label(place, "every run would stop here").help(("what else applies:", "using ?"))
        }
    }
}
