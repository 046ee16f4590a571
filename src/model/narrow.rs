//! Does a table ask for no more than another declares: the columns, bounds, levels, unit and number of rows of a registration?

use super::types::{Levels, Type};
use super::{Column, Table, View};

/// What `asked` would learn of the rows that `registered` does not grant, in words; `None` where it is a narrowing.
///
/// A narrowing is a function of the registered table: fewer columns, tighter bounds (by moving values to the nearest end),
/// fewer levels (merged into the last). It is never more public, never of another header, key or unit, and never knows
/// more of the number of rows.
pub fn beyond(asked: &Table, registered: &Table) -> Option<String> {
    if asked.relation != registered.relation {
        return Some(format!("neighbours differ in another way than in `{}`", header(registered)));
    }
    let key = |t: &Table| t.unit.map(|(key, most)| (t.columns.get(key.0).map(|c| c.headers.clone()), most));
    let order = |t: &Table| t.ordered_by().map(|c| c.headers.clone());
    let unit = match (key(asked), key(registered)) {
        (None, None) => true,
        (Some((a, most)), Some((r, limit))) => a == r && most <= limit && order(asked) == order(registered),
        _ => false,
    };
    if !unit {
        return Some(format!("its unit is not that of `{}`", header(registered)));
    }
    let known = registered.rows.exactly.unwrap_or(registered.rows.at_least);
    if asked.rows.exactly.is_some_and(|n| registered.rows.exactly != Some(n)) || asked.rows.at_least > known {
        return Some(format!("it says more of the number of rows than `{}`", header(registered)));
    }
    let viewed = |column: &Column| column.view.and_then(|(base, view)| Some((asked.columns.get(base.0)?, view)));
    asked.columns.iter().find_map(|column| match viewed(column) {
        // Which cells are missing is known of no registered column, public ones included; the rest follows from the value.
        Some((base, View::Missing)) => column.public.then(|| format!("which cells of `{}` are missing is private", base.name)),
        Some(_) => None,
        None => column_beyond(column, registered),
    })
}

fn column_beyond(asked: &Column, registered: &Table) -> Option<String> {
    let name = &asked.name;
    let Some(granted) = registered.columns.iter().find(|c| c.headers == asked.headers) else {
        return Some(format!("no column of the registration reads what `{name}` reads"));
    };
    if asked.public && !granted.public {
        return Some(format!("`{name}` is private"));
    }
    if asked.public && !alike_where_missing(asked, granted) {
        return Some(format!(
            "`{name}` counts missing cells as another value than the registration, and which cells are missing is private"
        ));
    }
    let exact = asked.public && !matches!(asked.ty, Type::Int(_) | Type::Real(_) | Type::Date(_) | Type::Category(_));
    let within = if exact { asked.ty == granted.ty } else { narrows(&asked.ty, &granted.ty) };
    (!within).then(|| format!("`{name}` is not within the type that is registered for it"))
}

/// Is every value of the first type made of one of the second by clipping, projecting or merging?
fn narrows(asked: &Type, granted: &Type) -> bool {
    match (asked, granted) {
        (Type::Int(a), Type::Int(g)) | (Type::Real(a), Type::Real(g)) | (Type::Date(a), Type::Date(g)) => g.lo <= a.lo && a.hi <= g.hi,
        (Type::Category(a), Type::Category(g)) => merges(a, g),
        (Type::Vector(a), Type::Vector(g)) => {
            let inside = g.range.lo <= a.range.lo && a.range.hi <= g.range.hi;
            let shorter = a.sup.l1 <= g.sup.l1 && a.sup.l2 <= g.sup.l2 && a.sup.linf <= g.sup.linf;
            a.dim == g.dim && a.levels == g.levels && a.ordered == g.ordered && inside && shorter
        }
        _ => asked == granted,
    }
}

/// What a missing cell of a public column counts as follows from what it counts as in the registration: else two programs, or
/// one that names the column twice, would tell which cells are missing.
fn alike_where_missing(asked: &Column, granted: &Column) -> bool {
    let instead = |c: &Column| c.missing.first().copied().unwrap_or_else(|| unsaid(&c.ty));
    let (new, old) = (instead(asked), instead(granted));
    match (&asked.ty, &granted.ty) {
        (Type::Int(a) | Type::Real(a) | Type::Date(a), _) => new == old.max(a.lo).min(a.hi),
        (Type::Category(a), Type::Category(g)) => {
            let level = |levels: &Levels, x: f64| levels.get(x as usize).cloned();
            let last = a.len().saturating_sub(1);
            let merged = level(g, old).and_then(|old| a.iter().take(last).position(|l| *l == old)).unwrap_or(last);
            new == merged as f64
        }
        _ => asked.missing == granted.missing,
    }
}

/// What a missing cell counts as where the column does not say.
fn unsaid(ty: &Type) -> f64 {
    match ty {
        Type::Category(levels) => levels.len().saturating_sub(1) as f64,
        Type::Date(range) => range.lo,
        other => other.range().map_or(0.0, |r| 0.0_f64.max(r.lo).min(r.hi)),
    }
}

/// All levels but the last are registered, and none of them is where the registration puts what it does not know: the last
/// level of the table takes everything else, under whatever name.
fn merges(asked: &Levels, granted: &Levels) -> bool {
    let unknown = granted.last();
    let others = asked.split_last().map_or(&[][..], |(_, others)| others);
    others.iter().all(|level| granted.contains(level) && Some(level) != unknown)
}

/// `private staff[n >= 100] by id max 4`
fn header(table: &Table) -> String {
    let rows = match (table.relation, table.rows.exactly, table.rows.at_least) {
        (super::Relation::AddRemove, ..) => "private n".into(),
        (_, Some(n), _) => n.to_string(),
        (_, None, least) if least > 1 => format!("{} >= {least}", table.public_name()),
        _ => table.public_name().to_owned(),
    };
    let unit = table.unit_text().map_or(String::new(), |u| format!(" {u}"));
    format!("private {}[{rows}]{unit}", table.name)
}
