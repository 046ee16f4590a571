//! The query that a Poisson model with private exposures needs: sums of events and exposures by group, where bins would be biased.

use crate::model::{Column, Expr, ExprKind, Model, Table, TableId, Type, sums::degrees};

/// More groups than this are mostly noise.
const MOST_GROUPS: f64 = 200.0;

/// `sums(died, years, groups = sex)` for `died ~ poisson(rate[sex] * years)`; `None` where sums do not determine the model.
/// `key` is that of the groups around it, if there are any.
pub fn summed(model: &Model, table: &Table, key: Option<&Column>) -> Option<String> {
    let of = model.records.table;
    let (mut events, mut exposures, mut by): (Vec<usize>, Vec<usize>, Vec<usize>) = (vec![], vec![], vec![]);
    for o in &model.private {
        let ("poisson", [mean], ExprKind::Column(_, y)) = (o.likelihood.family.name, o.likelihood.args.as_slice(), &o.outcome.kind) else {
            return None;
        };
        if !matches!(table.columns.get(y.0)?.ty, Type::Int(_) | Type::Bool) || degrees(mean, &|e| is_number(e, of, table)) != Some((1, 1)) {
            return None;
        }
        events.push(y.0);
        mean.walk(&mut |e| {
            if let ExprKind::Column(t, c) = e.kind
                && t == of
            {
                if is_number(e, of, table) { exposures.push(c.0) } else { by.push(c.0) }
            }
        });
    }
    [&mut exposures, &mut by].into_iter().for_each(|list| {
        list.sort_unstable();
        list.dedup();
    });
    let column = |c: &usize| table.columns.get(*c);
    let bounded = |c: &Column| c.ty.range().is_some_and(|r| r.lo >= 0.0 && r.hi > 0.0 && r.is_finite());
    let levels = |c: &Column| if let Type::Category(levels) = &c.ty { Some(levels.len() as f64) } else { None };
    let by: Vec<&Column> = key.into_iter().chain(by.iter().filter_map(column)).collect();
    let groups = by.iter().map(|c| levels(c)).product::<Option<f64>>()?;
    let apart = events.iter().all(|c| !exposures.contains(c) && events.iter().filter(|d| c == *d).count() == 1);
    let read: Vec<&Column> = events.iter().chain(&exposures).filter_map(column).collect();
    if !apart || groups > MOST_GROUPS || !read.iter().all(|c| bounded(c) && c.missing.is_empty()) {
        return None;
    }
    let named = |list: &[&Column]| list.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    let groups = match by.as_slice() {
        [] => String::new(),
        [one] => format!(", groups = {}", one.name),
        _ => format!(", groups = [{}]", named(&by)),
    };
    Some(format!("sums({}{groups})", named(&read)))
}

/// Is it a column of numbers, and no level that makes a group?
fn is_number(e: &Expr, of: TableId, table: &Table) -> bool {
    matches!(e.kind, ExprKind::Column(t, c) if t == of && table.columns.get(c.0).is_some_and(|c| c.ty.is_scalar_number()))
}
