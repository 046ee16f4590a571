//! Models of released counts: the noise must have a law that they know (E0315), axes that they do not name add noise (W0509), and
//! wide bins flatten slopes (W0511).

use super::Analysis;
use crate::mechanism::plan::{MechanismPlan, Noise};
use crate::model::fit::{CellTable, Fit};
use crate::model::{ExprKind, Observation, Program, Step};
use crate::numeric::decimal::sig_up;
use crate::source::{Diagnostic, Diagnostics, Span};
use std::sync::Arc;

/// What is wrong with the released tables that models read, or costs them precision.
pub fn judge(program: &Program, analysis: &Analysis) -> Diagnostics {
    let fits = program.steps.iter().filter_map(|step| match step {
        Step::Output { value, .. } => {
            if let ExprKind::Fit(fit) = &value.kind {
                Some((fit, value.span))
            } else {
                None
            }
        }
        _ => None,
    });
    let said = |(fit, at): (&Arc<Fit>, Span)| -> Diagnostics {
        let one = |t: &CellTable| [law(t, program, analysis), summed_out(t, fit, program, at), wide_bins(t, fit, program), modes(fit)];
        fit.tables.iter().flat_map(one).flatten().collect()
    };
    fits.flat_map(said).collect()
}

/// Fewer bins of a number on the right than this flatten its slope: of 2,000 rows with five bins by a sixth.
const FEW_BINS: usize = 16;

fn wide_bins(table: &CellTable, fit: &Fit, program: &Program) -> Option<Diagnostic> {
    let own = fit.own();
    let few = |c: &usize| table.axes.get(*c).is_some_and(|a| a.levels.len() < FEW_BINS);
    let place = table.in_bins(&own).1.into_iter().find(few)?;
    let reads = |o: &&Observation| o.likelihood.args.iter().any(|e| table.columns(e).contains(&place));
    let (axis, at) = (table.axes.get(place)?, own.iter().find(reads)?.likelihood.span);
    let name = program.table(table.table).map_or("", |t| &t.name);
    // Of a prior the posterior of the same model says it.
    (!fit.prior).then(|| {
        Diagnostic::new(
            "W0511",
            format!("`{}` of `{name}` has only {} bins, so its effects are estimated too flat", axis.name, axis.levels.len()),
        )
        .label(at, "takes it as uniform within each bin")
        .help(format!("release {FEW_BINS} bins of `{}` or more, where there are rows for them", axis.name))
    })
}

/// Noise makes bumps that a component may sit on; a chain hardly ever leaves one (`benches/results/calibration.txt`).
fn modes(fit: &Fit) -> Option<Diagnostic> {
    let own = fit.own();
    let of_several = own.iter().find(|o| o.likelihood.components().len() > 1).filter(|_| !fit.prior)?;
    let d = Diagnostic::new("W0512", "a chain of a mixture may miss a mode, so intervals are approximate");
    let seen = "between 78 % and 87 % of the 90 % intervals contained the truth";
    Some(d.label(of_several.likelihood.span, seen).help("do not use it where its chains disagree: an R-hat above 1.01 is reported"))
}

fn law(table: &CellTable, program: &Program, analysis: &Analysis) -> Option<Diagnostic> {
    let release = analysis.release(table.release)?;
    let Some(MechanismPlan::Noise { noise, .. }) = &release.chosen.as_ref()?.plan else { return None };
    if !table.has_counts() || matches!(noise, Noise::Geometric { .. } | Noise::Rounded { .. }) {
        return None;
    }
    let name = program.table(table.table).map_or("", |t| &t.name);
    // Normal noise meets no pure epsilon.
    let pure = matches!(program.budget.as_ref().map(|b| &b.kind), Some(crate::model::BudgetKind::Pure(_)));
    Some(
        Diagnostic::new("E0315", format!("no model can use the distribution of the noise on `{name}`"))
            .label(release.mechanism_span, "noise that is not an integer")
            .label(table.cells.span, "a model of these counts")
            .cause("counts with integer noise have a likelihood that is computed exactly")
            .help(("for integers:", "using geometric"))
            .helps((!pure).then_some(("or, cheaper for many releases:", "using gaussian"))),
    )
}

fn summed_out(table: &CellTable, fit: &Fit, program: &Program, at: Span) -> Option<Diagnostic> {
    let (outcomes, given) = table.used(&fit.observations);
    let left: Vec<&str> =
        table.axes.iter().enumerate().filter(|(i, _)| !outcomes.contains(i) && !given.contains(i)).map(|(_, a)| a.name.as_str()).collect();
    // Of a prior the posterior of the same model says it.
    if left.is_empty() || fit.prior || !table.has_counts() {
        return None;
    }
    let levels = |i: &usize| table.axes.get(*i).map_or(1, |a| a.levels.len());
    let cells: usize = table.axes.iter().map(|a| a.levels.len()).product();
    let each = cells / outcomes.iter().chain(&given).map(levels).product::<usize>().max(1);
    let name = program.table(table.table).map_or("", |t| &t.name);
    Some(
        Diagnostic::new("W0509", format!("the model does not use `{}` of `{name}`", left.join("`, `")))
            .label(
                at,
                format!(
                    "adds up {each} cells, and the noise of each: its standard deviation is {} times as large",
                    sig_up((each as f64).sqrt(), 3)
                ),
            )
            .help(format!("release a table without `{}`", left.join("`, `"))),
    )
}
