//! Program -> releases with claims: every rule is judged, parameters are solved from the budget, costs compose.

pub mod budget;
mod calibrate;
mod certify;
mod chains;
mod choose;
mod counted;
mod doubt;
mod expect;
mod fit;
mod fits;
mod instead;
mod messages;
mod noisy_cells;
mod parallel;
mod public;
mod report;
mod scene;
mod shapes;
mod site;
mod solve;
mod spend;
mod summed;
#[cfg(test)]
mod testing;
mod text;
mod unmatched;
mod useless;
mod warnings;

pub use crate::rules::offer::{Parameter, Status};
pub use budget::short as budget_text;
pub use certify::certificate;
pub use public::{PublicData, Stated, Unbound, bind, totals};
pub use report::{Analysis, BudgetVerdict, Candidate, Chosen, ReleaseAnalysis};
pub use scene::grouped;
pub use text::{candidates_text, certificate_text, cost_text, summary_text};

use crate::model::{BudgetKind, Program, ReleaseStep};
use crate::privacy::work;
use crate::rules::offer::View;
use crate::source::{Diagnostic, Diagnostics, SourceMap};
use choose::{Outcome, Shown, choose};
use fit::Judged;
use scene::Scene;
use site::{Site, sites};
use solve::MOST_POINTS;
use spend::Allotments;

/// Every mechanism that a program may name, and `auto`.
pub fn mechanism_names() -> impl Iterator<Item = &'static str> {
    crate::rules::mechanisms(None).into_iter().map(|m| m.name).chain(["auto"])
}

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
    work::begin();
    let bound = public::bind(program, public);
    let program = bound.as_ref();
    let (mut analysis, mut diagnostics) = match judged(program, public, sources, all) {
        Ok(found) => found,
        Err(diagnostic) => (nothing(program), vec![*diagnostic]),
    };
    analysis.scalars = public::scalars(program, public);
    analysis.digests = public::digests(program, public);
    diagnostics.extend(expect::judge(&program.steps, &analysis));
    diagnostics.extend(warnings::warnings(program));
    diagnostics.extend(fits::judge(program, &analysis));
    (analysis, diagnostics)
}

/// Complaints that stop `certify`, `compile` and `run` but not `check`: a hole was left (E0312).
pub fn holes(analysis: &Analysis) -> Diagnostics {
    let left = analysis.releases.iter().filter(|r| r.hole);
    left.map(|r| {
        let diagnostic =
            Diagnostic::new("E0312", format!("`{}` has a hole instead of a mechanism", r.name)).label(r.mechanism_span, "fill this in");
        match &r.chosen {
            Some(chosen) => diagnostic
                .help(("least predicted error at this budget:", format!("using {}", chosen.mechanism.name)))
                .help("(`dpm compare` lists every mechanism and why it does or does not apply)"),
            None => diagnostic.help("`dpm compare` lists every mechanism and why it does or does not apply"),
        }
    })
    .collect()
}

fn judged(program: &Program, public: &dyn PublicData, sources: &SourceMap, all: bool) -> Result<Judged, Box<Diagnostic>> {
    let sites = sites(program);
    fit::fitted(program, &|terms| {
        let allotments = spend::allot(program, terms.growth).map_err(|mut d| {
            let scenes = sites.iter().map(|site| Scene::new(program, sources, public, site, None, None));
            d.help.extend(scenes.filter(|_| d.code == "E0402").filter_map(|scene| instead::not_by_draws(&scene)));
            d
        })?;
        let given = Given { allotments: &allotments, budget: program.budget.as_ref().filter(|_| !terms.even).map(|b| &b.kind) };
        let shown = if all { Shown::Everything } else { Shown::Holes };
        one_pass(program, public, sources, &sites, given, if terms.shown { shown } else { Shown::None })
    })
}

/// What releases may cost.
#[derive(Clone, Copy)]
struct Given<'a> {
    allotments: &'a Allotments,
    /// What a release without `spend` may cost whose numbers are written; without it, its allotment.
    budget: Option<&'a BudgetKind>,
}

fn one_pass(
    program: &Program,
    public: &dyn PublicData,
    sources: &SourceMap,
    sites: &[Site],
    given: Given,
    shown: Shown,
) -> Result<Judged, Box<Diagnostic>> {
    let mut analysis = nothing(program);
    let mut diagnostics = Vec::new();
    for site in sites {
        // Where every mechanism is asked for the limit is that of a release.
        if shown == Shown::Everything {
            work::restart();
        }
        let allotment = given.allotments.get(&site.release.id);
        let most = given.budget.filter(|_| site.release.spend.is_none()).or(allotment);
        let scene = Scene::new(program, sources, public, site, allotment, most);
        let Outcome { analysis: one, diagnostics: said } = choose(&scene, shown);
        diagnostics.extend(said);
        if let Some(chosen) = &one.chosen {
            analysis.status = analysis.status.max(chosen.status);
        }
        analysis.releases.push(one);
        if work::done() > MOST_POINTS {
            return Err(Box::new(messages::too_much_work(site.release.span)));
        }
    }
    let one = |release: &ReleaseStep, view: View| analysis.release(release.id)?.chosen.as_ref()?.one(view);
    analysis.total = site::total(program, &one);
    if let (Some(budget), Some(total)) = (&program.budget, &analysis.total) {
        analysis.budget = Some(BudgetVerdict {
            kind: budget.kind.clone(),
            met: total.implies(&budget.kind),
            unspent: budget::unspent(total, &budget.kind),
        });
    }
    Ok((analysis, diagnostics))
}

fn nothing(program: &Program) -> Analysis {
    Analysis {
        releases: vec![],
        total: None,
        budget: program.budget.as_ref().map(|b| BudgetVerdict { kind: b.kind.clone(), met: false, unspent: vec![] }),
        status: Status::Exact,
        scalars: vec![],
        digests: Default::default(),
    }
}
