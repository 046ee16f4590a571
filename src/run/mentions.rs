//! What the steps of a program mention: released values, tables, public columns.

use crate::model::record::margins;
use crate::model::{Expr, ExprKind, Query, ReleaseId, ReleaseStep, Step, TableId, releases};
use std::collections::BTreeSet;

fn expressions(release: &ReleaseStep) -> Vec<&Expr> {
    match &release.query {
        Query::Aggregate(q) => vec![&q.value],
        Query::Posterior(m) => {
            let priors = m.parameters.iter().flat_map(|p| p.prior.args.iter());
            let rows = m.private.iter().chain(&m.public).flat_map(|o| std::iter::once(&o.outcome).chain(o.likelihood.args.iter()));
            priors.chain(rows).collect()
        }
    }
}

pub(super) fn mentioned_releases(release: &ReleaseStep) -> BTreeSet<ReleaseId> {
    let mut out = BTreeSet::new();
    expressions(release).into_iter().for_each(|e| released_in(e, &mut out));
    out
}

fn released_in(e: &Expr, out: &mut BTreeSet<ReleaseId>) {
    e.walk(&mut |x| {
        if let ExprKind::Released(id) = x.kind {
            out.insert(id);
        }
    });
}

/// Released and computed values that some expression mentions.
pub fn mentioned(steps: &[Step]) -> BTreeSet<ReleaseId> {
    let mut out = BTreeSet::new();
    walk(steps, &mut |e| released_in(e, &mut out));
    out
}

/// Tables whose number of rows, or whose public columns, some expression asks for.
pub fn mentioned_tables(steps: &[Step]) -> BTreeSet<TableId> {
    let mut out = asked_columns(steps);
    walk(steps, &mut |e| {
        e.walk(&mut |x| {
            if let ExprKind::RowCount(t) = x.kind {
                out.insert(t);
            }
        });
    });
    out
}

/// Tables of whose columns some public value is asked.
pub fn asked_columns(steps: &[Step]) -> BTreeSet<TableId> {
    let mut out = BTreeSet::new();
    walk(steps, &mut |e| out.extend(e.asked()));
    // The record of a released table has the sizes of its public groups.
    let counted = |r: &ReleaseStep| match &r.query {
        Query::Aggregate(q) => margins(&q.value).map(|_| q.table),
        Query::Posterior(_) => None,
    };
    out.extend(releases(steps).into_iter().filter_map(counted));
    out
}

/// Every expression of every step.
pub(super) fn walk(steps: &[Step], look: &mut dyn FnMut(&Expr)) {
    for step in steps {
        match step {
            Step::Release(r) => expressions(r).into_iter().for_each(&mut *look),
            Step::Output { value, .. } => look(value),
            Step::When { condition, then, otherwise, .. } => {
                look(condition);
                walk(then, look);
                walk(otherwise, look);
            }
            Step::Each(e) => walk(&e.body, look),
            Step::Expect(_) => {}
        }
    }
}
