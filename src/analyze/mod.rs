//! Program -> releases with claims: every rule is judged, parameters are solved from the budget, costs compose.

mod arguments;
pub mod budget;
mod calibrate;
mod certify;
mod choose;
mod expect;
mod messages;
mod parallel;
mod posterior;
mod public;
mod queries;
mod report;
mod scene;
mod sensitivity;
mod shapes;
mod site;
mod spend;
#[cfg(test)]
mod testing;
mod text;
mod warnings;
mod ways;

pub use arguments::mechanism_names;
pub use certify::certificate;
pub use public::{PublicData, Stated, Unbound};
pub use report::{Analysis, BudgetVerdict, Candidate, Chosen, Parameter, PredictedError, ReleaseAnalysis, Status};
pub use text::{candidates_text, certificate_text, summary_text};

use std::collections::BTreeMap;

use crate::model::{Program, ReleaseId, ReleaseStep};
use crate::source::{Diagnostic, Diagnostics, SourceMap};
use choose::{Decision, Outcome, choose};
use parallel::View;
use scene::Scene;
use site::{Site, sites};
use spend::Allotments;

/// How much of each share is used when rounding takes the exact sum of all shares over the budget.
const SHRINK: f64 = 1.0 - 1e-11;

/// Analyzes a checked program: chooses a mechanism and a rule for every release, solves free parameters from the
/// budget, and judges the total and the expectations. Sees no private value; `public` may be empty ([`Unbound`]).
pub fn analyze(program: &Program, public: &dyn PublicData, sources: &SourceMap) -> (Analysis, Diagnostics) {
    analyze_with(program, public, sources, false)
}

/// The same with every candidate solved for every release, also where a mechanism is named: for comparisons.
pub fn analyze_all(program: &Program, public: &dyn PublicData, sources: &SourceMap) -> (Analysis, Diagnostics) {
    analyze_with(program, public, sources, true)
}

fn analyze_with(program: &Program, public: &dyn PublicData, sources: &SourceMap, all: bool) -> (Analysis, Diagnostics) {
    let bound = public::bind(program, public);
    let program = bound.as_ref();
    let (mut analysis, mut diagnostics) = match judged(program, public, sources, all) {
        Ok(found) => found,
        Err(diagnostic) => (nothing(program), vec![*diagnostic]),
    };
    analysis.scalars = public::scalars(program, public);
    diagnostics.extend(expect::judge(&program.steps, &analysis));
    diagnostics.extend(warnings::warnings(program));
    (analysis, diagnostics)
}

/// Complaints that stop `certify`, `compile` and `run` but not `check`: a hole was left (E0312).
pub fn holes(analysis: &Analysis) -> Diagnostics {
    let left = analysis.releases.iter().filter(|r| r.hole);
    left.map(|r| {
        let diagnostic = Diagnostic::new("E0312", format!("`{}` has a hole instead of a mechanism", r.name))
            .label(r.mechanism_span, "fill this in");
        match &r.chosen {
            Some(chosen) => diagnostic.help(format!(
                "least predicted error at this budget:    using {}\n(`dpm compare` lists every mechanism and why it does or does not apply)",
                chosen.mechanism
            )),
            None => diagnostic.help("`dpm compare` lists every mechanism and why it does or does not apply"),
        }
    })
    .collect()
}

fn judged(program: &Program, public: &dyn PublicData, sources: &SourceMap, all: bool) -> Result<(Analysis, Diagnostics), Box<Diagnostic>> {
    let sites = sites(program);
    let pass = |shrink: f64| -> Result<(Analysis, Diagnostics), Box<Diagnostic>> {
        let allotments = spend::allot(program, shrink)?;
        Ok(one_pass(program, public, sources, &sites, &allotments, all))
    };
    let (analysis, diagnostics) = pass(1.0)?;
    if met(&analysis) {
        return Ok((analysis, diagnostics));
    }
    // Every release meets its share, but the sums, rounded up, are over by a last digit: use a hair less of each.
    let (again, diagnostics) = pass(SHRINK)?;
    if met(&again) {
        return Ok((again, diagnostics));
    }
    let mut diagnostics = diagnostics;
    if let (Some(budget), Some(total)) = (&program.budget, &again.total) {
        diagnostics.push(messages::total_over(budget, total));
    }
    Ok((again, diagnostics))
}

/// The total is unknown, or within the budget, or there is no budget.
fn met(analysis: &Analysis) -> bool {
    analysis.budget.as_ref().is_none_or(|b| b.met) || analysis.total.is_none()
}

fn one_pass(
    program: &Program,
    public: &dyn PublicData,
    sources: &SourceMap,
    sites: &[Site],
    allotments: &Allotments,
    all: bool,
) -> (Analysis, Diagnostics) {
    let mut analysis = nothing(program);
    let mut diagnostics = Vec::new();
    let mut decisions: BTreeMap<ReleaseId, Decision> = BTreeMap::new();
    for site in sites {
        let allotment = allotments.get(&site.release.id);
        let scene = Scene::new(program, sources, public, site, allotment);
        let Outcome { analysis: one, decision, diagnostics: said } = choose(&scene, all);
        diagnostics.extend(said);
        if let Some(chosen) = &one.chosen {
            analysis.status = analysis.status.max(chosen.status);
        }
        if let Some(decision) = decision {
            decisions.insert(site.release.id, decision);
        }
        analysis.releases.push(one);
    }
    let one = |release: &ReleaseStep, view: View| {
        let decision = decisions.get(&release.id)?;
        decision.way.claim(view, decision.value)
    };
    analysis.total = site::total(program, &one);
    if let (Some(budget), Some(total)) = (&program.budget, &analysis.total) {
        analysis.budget = Some(BudgetVerdict {
            kind: budget.kind.clone(),
            met: total.implies(&budget.kind),
            unspent: budget::unspent(total, &budget.kind),
        });
    }
    (analysis, diagnostics)
}

fn nothing(program: &Program) -> Analysis {
    Analysis {
        releases: vec![],
        total: None,
        budget: program.budget.as_ref().map(|b| BudgetVerdict { kind: b.kind.clone(), met: false, unspent: vec![] }),
        status: Status::Exact,
        scalars: vec![],
    }
}
