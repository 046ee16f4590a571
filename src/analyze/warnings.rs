//! Warnings about budgets and headers that promise less than they seem to.

use super::budget::written;
use crate::model::print::number;
use crate::model::{Budget, BudgetKind, Builtin, ExprKind, Program, Query, Relation, ReleaseStep, Table, releases};
use crate::numeric::decimal::sig_up;
use crate::privacy::Claim;
use crate::source::{Diagnostic, Diagnostics};

/// Epsilon above which a promise is worth nothing.
const VACUOUS: f64 = 20.0;

/// W0501 and W0507.
pub fn warnings(program: &Program) -> Diagnostics {
    let mut found = Vec::new();
    found.extend(program.budget.as_ref().and_then(|b| vacuous(b, program)));
    // Draws, posteriors and means need the number; sums and counts do without.
    let summed = |r: &&ReleaseStep| match &r.query {
        Query::Aggregate(q) => {
            let mut means = false;
            q.value.walk(&mut |e| means |= matches!(e.kind, ExprKind::Call(Builtin::RowMean, _)));
            !means
        }
        _ => false,
    };
    let without_it = releases(&program.steps).iter().all(summed);
    for table in program.tables.iter().filter(|t| t.private && t.relation == Relation::ReplaceOne) {
        let Some((key, _)) = table.unit else { continue };
        let key = table.columns.get(key.0).map_or("unit", |c| c.name.as_str());
        found.push(
            Diagnostic::new("W0507", format!("the number of rows of every `{key}` in `{}` is assumed public", table.name))
                .label(table.rows_span, "a public number of rows, with `by`")
                .helps(
                    without_it.then(|| Table::redeclared(Some(table), "if it is not:", &format!("private {}", table.public_name()), "")),
                ),
        );
    }
    found
}

fn vacuous(budget: &Budget, program: &Program) -> Option<Diagnostic> {
    let too_much = match &budget.kind {
        BudgetKind::Pure(epsilon) | BudgetKind::Dp { epsilon, .. } => *epsilon > VACUOUS,
        BudgetKind::Rdp(points) => points.iter().all(|(_, epsilon)| *epsilon > VACUOUS),
        BudgetKind::Zcdp(rho) => Claim::Zcdp { rho: *rho }.epsilon(1e-6) > VACUOUS,
        BudgetKind::Gdp(mu) => Claim::Gdp { mu: *mu }.epsilon(1e-6) > VACUOUS,
    };
    let text = written(&budget.kind);
    let meaning = match &budget.kind {
        BudgetKind::Zcdp(rho) => Some(Claim::Zcdp { rho: *rho }.epsilon(1e-6)),
        BudgetKind::Gdp(mu) => Some(Claim::Gdp { mu: *mu }.epsilon(1e-6)),
        _ => None,
    };
    let meaning = meaning.map_or(String::new(), |e| format!(": epsilon = {} at delta = 1e-6", sig_up(e, 3)));
    if too_much {
        return Some(
            Diagnostic::new("W0501", format!("the budget {text} promises next to nothing"))
                .label(budget.span, format!("odds may change by a factor above exp({VACUOUS}){meaning}"))
                .help("an epsilon of 1 is strong, of 10 weak"),
        );
    }
    let BudgetKind::Dp { delta, .. } = budget.kind else { return None };
    let rows = program.tables.iter().filter(|t| t.private);
    let known = rows.filter_map(|t| t.rows.exactly.or((t.rows.at_least > 1).then_some(t.rows.at_least)));
    let n = known.max()?;
    (delta > 1.0 / n as f64).then(|| {
        Diagnostic::new("W0501", format!("delta = {} allows publishing a whole row now and then", number(delta)))
            .label(budget.span, format!("delta is above 1 / n = 1 / {n}"))
            .help(format!("choose delta well below 1 / n, such as 1e-{}", (10.0 * n as f64).log10().ceil().max(6.0)))
    })
}
