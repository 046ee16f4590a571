//! What ran stays as it ran: the choices of each release, compared with those of a later text.

use super::state::{Admitted, Entry, Fixed, Judged, Outcome, State};
use crate::analyze::ReleaseAnalysis;
use crate::analyze::budget::{cost, written};
use crate::compiled::{Edit, edited, edits};
use crate::model::print::normal_form;
use crate::model::{ReleaseId, ReleaseStep, Step, releases};

/// What is decided for the releases below some steps, in program order.
pub(super) fn fixed(steps: &[Step], judged: &Judged) -> Vec<Fixed> {
    let one = |r: &ReleaseStep| {
        let c = judged.analysis.release(r.id)?.chosen.as_ref()?;
        Some(Fixed {
            name: r.name.clone(),
            normal_form: normal_form(&r.query, &judged.checked.program),
            mechanism: c.mechanism.name,
            rule: c.rule.name,
            parameters: c.parameters.iter().map(|p| (p.name, p.value)).collect(),
            tempering: c.tempering,
            premises: c.premises.iter().map(|p| p.text.clone()).collect(),
            claim: c.claim.clone(),
        })
    };
    releases(steps).into_iter().filter_map(one).collect()
}

/// Everything that ran is decided as it was when it ran.
pub(super) fn settled(entries: &[Entry], judged: &Judged) -> Admitted<()> {
    let mut rest = judged.checked.program.steps.as_slice();
    for entry in entries {
        let (own, after) = rest.split_at(entry.steps.min(rest.len()));
        rest = after;
        if !entry.fixed.is_empty() && fixed(own, judged) != entry.fixed {
            return Err(Outcome::Refused(format!("this would change `{}`, which has run", entry.names.join(", "))));
        }
    }
    Ok(())
}

/// The values below some steps, in program order.
pub(super) fn ids(steps: &[Step]) -> Vec<ReleaseId> {
    let mut out = vec![];
    for step in steps {
        match step {
            Step::Release(r) => out.push(r.id),
            Step::Output { id, .. } => out.extend(*id),
            Step::When { then, otherwise, .. } => out.extend(ids(then).into_iter().chain(ids(otherwise))),
            Step::Each(e) => out.extend(ids(&e.body)),
            Step::Expect(_) => {}
        }
    }
    out
}

impl State {
    /// A statement with the choices of now: mechanisms, parameters, and the cost as its `spend`.
    pub(super) fn frozen(&self, at: usize) -> String {
        let judged = &self.judged;
        let budget = judged.checked.program.budget.as_ref();
        let spend = |r: &ReleaseAnalysis| {
            let spent = cost(&r.chosen.as_ref()?.claim, &budget?.kind)?;
            Some(written(&spent))
        };
        let from: usize = self.entries.iter().take(at).map(|e| e.text.len()).sum();
        let Some(entry) = self.entries.get(at) else { return String::new() };
        let inside = |e: &Edit| e.start >= from && e.end <= from + entry.text.len();
        let edits = edits(&judged.checked, &judged.analysis, &spend).into_iter().filter(inside).collect();
        edited(&entry.text, from, edits)
    }
}
