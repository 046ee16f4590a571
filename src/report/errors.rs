//! The predicted error of every mechanism for a release, by the size of the budget.

use crate::analyze::budget::scaled;
use crate::analyze::{Candidate, Status, analyze_all};
use crate::model::{Budget, BudgetKind, Program, releases};
use crate::plot::{Axis, Chart, Line};
use crate::run::Bound;
use crate::source::SourceMap;
use std::collections::BTreeMap;

/// Budgets shown: from an eighth of the program's to eight times it, two to a doubling.
const HALF_DOUBLINGS: i32 = 6;

/// What the axis shows of a budget: its name and number.
fn size(kind: &BudgetKind) -> (String, f64) {
    match kind {
        BudgetKind::Pure(e) => ("epsilon of the budget".into(), *e),
        BudgetKind::Dp { epsilon, delta } => (format!("epsilon of the budget at delta {delta:e}"), *epsilon),
        BudgetKind::Zcdp(rho) => ("rho of the budget (zCDP)".into(), *rho),
        BudgetKind::Gdp(mu) => ("mu of the budget (GDP)".into(), *mu),
        BudgetKind::Rdp(points) => {
            let (order, e) = points.first().copied().unwrap_or((f64::NAN, f64::NAN));
            (format!("epsilon of the budget at Rényi order {order}"), e)
        }
    }
}

/// What was found of one release.
#[derive(Default)]
struct Found {
    lines: Vec<Line>,
}

impl Found {
    fn add(&mut self, x: f64, candidates: &[Candidate]) {
        for c in candidates.iter().filter(|c| c.applies) {
            let Some(error) = c.predicted_error.as_ref().filter(|e| e.value.is_finite() && e.value > 0.0) else { continue };
            let at = (x, error.value);
            let note = if c.status == Status::Conditional { " (conditional)" } else { "" };
            let name = format!("{}{note}", c.mechanism);
            match self.lines.iter_mut().find(|l| l.name == name) {
                // Two rules may answer to one name: the first is the one that would be taken.
                Some(line) if line.points.last().is_some_and(|p| p.0 == x) => {}
                Some(line) => line.points.push(at),
                None => self.lines.push(Line { name, points: vec![at], dashed: false }),
            }
        }
    }

    fn chart(self, release: &str, x: &str) -> Option<Chart> {
        let values = |of: fn(&(f64, f64)) -> f64| self.lines.iter().flat_map(|l| &l.points).map(of).collect::<Vec<_>>();
        let x = Axis::around(x, values(|p| p.0).into_iter(), true)?;
        let y = Axis::around("predicted error", values(|p| p.1).into_iter(), true)?;
        Some(Chart { title: release.into(), x, y, lines: self.lines })
    }
}

/// The chart of every release by name; `None` without a budget, or where no mechanism has a prediction.
pub fn errors(program: &Program, public: &Bound, sources: &SourceMap) -> Vec<(String, Option<Chart>)> {
    let names = || releases(&program.steps).into_iter().map(|r| r.name.clone());
    let Some(budget) = &program.budget else { return names().map(|n| (n, None)).collect() };
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for i in -HALF_DOUBLINGS..=HALF_DOUBLINGS {
        let kind = scaled(&budget.kind, 2.0_f64.powf(f64::from(i) / 2.0));
        let x = size(&kind).1;
        let mut other = program.clone();
        other.budget = Some(Budget { kind, ..budget.clone() });
        for r in analyze_all(&other, public, sources).0.releases {
            found.entry(r.name).or_default().add(x, &r.candidates);
        }
    }
    let x = size(&budget.kind).0;
    names().map(|n| (found.remove(&n).and_then(|f| f.chart(&n, &x)), n)).map(|(c, n)| (n, c)).collect()
}
