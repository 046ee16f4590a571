//! What a plan asks of the rows of its table: known, and refused if need be, before any data is read.

use super::plan::{MechanismPlan, PosteriorLaw, Spacing, Statistic, StatisticKind, WholeLaw, WholeNoise};
use super::{MechanismError, Scope, density, glm};
use crate::data::eval::RowScope;
use crate::data::layout::width;
use crate::data::scan::Job;
use crate::model::{Builtin, Expr, ExprKind, Label, TableId, Type};

/// The statistics of a plan, to be measured by `data::scan`.
pub(super) fn job(plan: &MechanismPlan, scope: &Scope) -> Result<Job, MechanismError> {
    let rows = RowScope { id: plan.table(), table: scope.table, env: scope.env };
    let mut job = Job::rows(scope.group, scope.table)?;
    let least = if scope.group.is_some() { 0 } else { scope.table.rows.exactly.unwrap_or(scope.table.rows.at_least) };
    match plan {
        MechanismPlan::Posterior { law: PosteriorLaw::Glm(law), weight, statistic, .. } => match &statistic.kind {
            StatisticKind::Rows { features, outcome } => glm::encode(&mut job, (law, *weight, least), features, outcome, &rows)?,
            _ => return Err(MechanismError::Parameter),
        },
        // Sums first, then the rows themselves, in coordinates that the sums say.
        MechanismPlan::Posterior { law: PosteriorLaw::Refined(_) | PosteriorLaw::Stepwise(_), statistic: s, .. }
        | MechanismPlan::Whole { law: WholeLaw { noise: WholeNoise::Steps { .. }, .. }, statistic: s } => match &s.kind {
            StatisticKind::Moments { x, y, added } => {
                job.moments(x, y, &rows)?;
                let kept: Vec<Expr> = [x, y].into_iter().chain(added).cloned().collect();
                job.columns(&kept, vec![], &rows)?;
            }
            _ => return Err(MechanismError::Parameter),
        },
        MechanismPlan::Posterior { law: PosteriorLaw::Density(law), weight, statistic, .. } => match &statistic.kind {
            StatisticKind::Columns(columns) => density::encode(&mut job, (law, *weight, columns), &rows)?,
            _ => return Err(MechanismError::Parameter),
        },
        MechanismPlan::Posterior { .. } | MechanismPlan::Whole { .. } | MechanismPlan::Noise { .. } => {
            let all = sums(plan).ok_or(MechanismError::Expression)?;
            all.iter().try_for_each(|s| statistic(&mut job, s, &rows))?;
        }
        MechanismPlan::Quantile { value, ty, spacing, .. } => {
            job.values(value, &spacing.scale(ty), ty.range().filter(|_| *spacing == Spacing::Log), &rows)?;
        }
    }
    Ok(job)
}

fn statistic(job: &mut Job, s: &Statistic, rows: &RowScope) -> Result<(), MechanismError> {
    match &s.kind {
        StatisticKind::Sum(value) => job.sum(value, rows)?,
        StatisticKind::Levels { value, dim, first } => job.levels(value, *dim, *first, rows)?,
        StatisticKind::Rows { .. } | StatisticKind::Columns(_) => return Err(MechanismError::Expression),
        StatisticKind::Moments { x, y, .. } => job.moments(x, y, rows)?,
    }
    Ok(())
}

/// The statistics of a plan that adds integers alone, in the order of the totals of its job; `None` of one that keeps rows.
pub fn sums(plan: &MechanismPlan) -> Option<Vec<Statistic>> {
    match plan {
        MechanismPlan::Posterior {
            law: PosteriorLaw::Glm(_) | PosteriorLaw::Refined(_) | PosteriorLaw::Stepwise(_) | PosteriorLaw::Density(_),
            ..
        }
        | MechanismPlan::Whole { law: WholeLaw { noise: WholeNoise::Steps { .. }, .. }, .. }
        | MechanismPlan::Quantile { .. } => None,
        MechanismPlan::Posterior { statistic, .. } | MechanismPlan::Whole { statistic, .. } => Some(vec![statistic.clone()]),
        MechanismPlan::Noise { value, table, .. } => {
            // Every row aggregate inside an aggregate expression, in the order of a walk.
            let mut found = Some(vec![]);
            value.walk(&mut |e| match (&mut found, aggregate(e, *table)) {
                (Some(all), Some(Ok(s))) => all.push(s),
                (_, Some(Err(_))) => found = None,
                _ => {}
            });
            found
        }
    }
}

/// The statistic of a row aggregate; `None` if the node is none (a row count needs no statistic of its own).
pub(crate) fn aggregate(e: &Expr, id: TableId) -> Option<Result<Statistic, MechanismError>> {
    if !matches!(e.label, Label::Aggregate(t) if t == id) {
        return None;
    }
    let ExprKind::Call(builtin, args) = &e.kind else {
        return None;
    };
    let kind = match (builtin, args.as_slice()) {
        (Builtin::RowSum | Builtin::RowMean, [x]) => StatisticKind::Sum(x.clone()),
        // `count(e)` is the number of rows where e holds.
        (Builtin::RowCountAgg, [x]) => StatisticKind::Sum(x.clone()),
        (Builtin::RowHistogram, [x]) => {
            let first = match &x.ty {
                Type::Int(range) => range.lo as i64,
                _ => 0,
            };
            StatisticKind::Levels { value: x.clone(), dim: width(&e.ty) as u64, first }
        }
        (Builtin::RowQuantile | Builtin::RowMin | Builtin::RowMax, _) => {
            return Some(Err(MechanismError::Expression));
        }
        _ => return None,
    };
    Some(Ok(Statistic { table: id, kind }))
}
