//! Program -> releases with claims: every rule is judged, parameters are solved from the budget, costs compose.

pub mod budget;
mod calibrate;
mod certify;
mod chains;
mod choose;
mod expect;
mod instead;
mod messages;
mod parallel;
mod public;
mod report;
mod scene;
mod shapes;
mod site;
mod spend;
#[cfg(test)]
mod testing;
mod text;
mod warnings;

pub use crate::rules::mechanisms;
pub use crate::rules::offer::{Parameter, Status};
pub use budget::short as budget_text;
pub use certify::certificate;
pub use public::{PublicData, Stated, Unbound};
pub use report::{Analysis, BudgetVerdict, Candidate, Chosen, ReleaseAnalysis};
pub use text::{candidates_text, certificate_text, summary_text};

use std::collections::BTreeMap;

use crate::model::{Budget, BudgetKind, Program, ReleaseId, ReleaseStep};
use crate::rules::offer::View;
use crate::source::{Diagnostic, Diagnostics, SourceMap};
use choose::{Decision, Outcome, choose};
use scene::Scene;
use site::{Site, sites};
use spend::Allotments;

/// By how much shares are enlarged to see whether written parameters compose to the budget.
const LARGER: [f64; 5] = [1.05, 1.15, 1.4, 2.0, 4.0];
/// How much of each share is used when rounding takes the exact sum of all shares over the budget.
const SHRINK: f64 = 1.0 - 1e-11;
/// A budget used to this part is used; passes made to get there.
const ENOUGH: f64 = 0.999;
const PASSES: u32 = 8;

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
                chosen.mechanism.name
            )),
            None => diagnostic.help("`dpm compare` lists every mechanism and why it does or does not apply"),
        }
    })
    .collect()
}

fn judged(program: &Program, public: &dyn PublicData, sources: &SourceMap, all: bool) -> Result<(Analysis, Diagnostics), Box<Diagnostic>> {
    let sites = sites(program);
    let pass = |shrink: f64, growth: f64| -> Result<(Analysis, Diagnostics), Box<Diagnostic>> {
        let allotments = spend::allot(program, shrink, growth)?;
        Ok(one_pass(program, public, sources, &sites, &allotments, all))
    };
    let (analysis, diagnostics) = pass(1.0, 1.0)?;
    if met(&analysis) {
        return Ok(grown(program, &|growth| pass(1.0, growth).ok(), (analysis, diagnostics)));
    }
    // Every release meets its share, but the sums, rounded up, are over by a last digit: use a hair less of each.
    let (again, diagnostics) = pass(SHRINK, 1.0)?;
    if met(&again) {
        return Ok((again, diagnostics));
    }
    let mut diagnostics = diagnostics;
    if let (Some(budget), Some(total)) = (&program.budget, &again.total) {
        diagnostics.push(messages::total_over(budget, total));
    }
    Ok((again, diagnostics))
}

/// The same analysis with more for each release without `spend`, where releases compose to less than the sum of their
/// epsilons: the largest growth found whose total, composed again, is within the budget.
fn grown(
    program: &Program,
    pass: &dyn Fn(f64) -> Option<(Analysis, Diagnostics)>,
    first: (Analysis, Diagnostics),
) -> (Analysis, Diagnostics) {
    let releases = crate::model::releases(&program.steps);
    let open = releases.iter().any(|r| r.spend.is_none());
    // Of the budget, at the same delta; shares of other kinds of budget add up already.
    let spent = |analysis: &Analysis| match (&program.budget, &analysis.total) {
        (Some(Budget { kind: kind @ BudgetKind::Dp { epsilon, .. }, .. }), Some(total)) => total.cost_in(kind) / epsilon,
        _ => 1.0,
    };
    let wrong = |said: &Diagnostics| said.iter().any(Diagnostic::is_error);
    let too_dear = |d: &Diagnostic| !d.is_error() || d.code == "E0401";
    let dp = matches!(&program.budget, Some(Budget { kind: BudgetKind::Dp { .. }, .. }));
    // Written parameters may cost more than an even share of epsilon and yet compose to the budget: so does what `lock` writes.
    if dp && releases.len() > 1 && open && wrong(&first.1) && first.1.iter().all(too_dear) {
        let larger = LARGER.iter().filter_map(|growth| pass(*growth));
        return larger.into_iter().find(|again| met(&again.0) && !wrong(&again.1)).unwrap_or(first);
    }
    let used = spent(&first.0);
    if releases.len() < 2 || !open || !(used > 0.0 && used < ENOUGH) || first.1.iter().any(Diagnostic::is_error) {
        return first;
    }
    let (mut best, mut yes, mut used, mut no) = (first, 1.0, used, f64::INFINITY);
    for _ in 0..PASSES {
        // Costs are nearly proportional to shares.
        let straight = yes / used * (1.0 - 1e-4);
        let growth = if straight < no { straight } else { f64::midpoint(yes, no) };
        let Some(again) = pass(growth) else { break };
        let cost = spent(&again.0);
        if met(&again.0) && cost <= 1.0 && !again.1.iter().any(Diagnostic::is_error) {
            // Some releases need no more than they have.
            let stuck = cost - used < 1e-4;
            (best, yes, used) = (again, growth, cost);
            if stuck || used >= ENOUGH {
                break;
            }
        } else {
            no = growth;
        }
    }
    best
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
        decision.offer.claim(view, decision.value)
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
