//! `dpm check --emit`: the program after each phase of the compiler.

use crate::analyze::{Analysis, candidates_text};
use crate::model::print::normal_form;
use crate::model::releases;
use crate::pipeline::Checked;

/// What is printed, in the order of the phases.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The tree of the program as written, with byte ranges
    Ast,
    /// What each release computes: every prior and likelihood, with modules and functions written out
    Model,
    /// Every mechanism for each release, solved for its part of the budget
    Offers,
    /// What a run draws for each release, as certified
    Plan,
}

/// `analysis` is `None` where the program has errors; the tree is there all the same.
pub fn text(phase: Phase, checked: &Checked, analysis: Option<&Analysis>) -> String {
    let program = &checked.program;
    let plan = |r: &crate::analyze::ReleaseAnalysis| {
        let plan = r.chosen.as_ref().and_then(|c| c.plan.as_ref());
        let plan = plan.map_or("not known before a public or released value is".into(), |p| format!("{p:#?}"));
        format!("release {}\n{plan}\n", r.name)
    };
    match (phase, analysis) {
        (Phase::Ast, _) => format!("{:#?}\n", checked.ast),
        (_, None) => String::new(),
        (Phase::Model, _) => {
            releases(&program.steps).iter().map(|r| format!("release {}\n{}\n", r.name, normal_form(&r.query, program))).collect()
        }
        (Phase::Offers, Some(a)) => a.releases.iter().map(|r| format!("release {}\n{}", r.name, candidates_text(r))).collect(),
        (Phase::Plan, Some(a)) => a.releases.iter().map(plan).collect(),
    }
}
