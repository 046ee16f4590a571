//! Parts of a list of which at most one is not 0: `region == s` beside `region == w`, `old == true` beside `old == false`, both together, and
//! products with them.

use super::vectors::{append, as_vector, boxed, most, tighten};
use crate::model::{Binary, Builtin, ColumnId, Expr, ExprKind, TableId, VectorType};
use std::collections::BTreeSet;

/// The columns that have to be at a level for the value not to be 0, and these levels.
fn needs(e: &Expr, columns: &mut Vec<(TableId, ColumnId)>, levels: &mut Vec<usize>) {
    let ExprKind::Call(f, args) = &e.kind else { return };
    match (*f, args.as_slice()) {
        (Builtin::Mul | Builtin::Binary(Binary::And), [a, b]) => {
            needs(a, columns, levels);
            needs(b, columns, levels);
        }
        (Builtin::Eq, [a, b]) => {
            let level = |e: &Expr| match e.kind {
                ExprKind::Level(i) => Some(i),
                ExprKind::Bool(b) => Some(usize::from(b)),
                _ => None,
            };
            for (column, other) in [(a, b), (b, a)] {
                if let (ExprKind::Column(t, c), Some(i)) = (&column.kind, level(other)) {
                    columns.push((*t, *c));
                    levels.push(i);
                }
            }
        }
        _ => {}
    }
}

/// A bounded part that can be 0, as a vector.
fn bounded(e: &Expr) -> Option<VectorType> {
    let v = if e.ty.is_scalar_number() { boxed(1, e.ty.range()?, None) } else { as_vector(&e.ty)? };
    (v.range.is_finite() && v.range.contains(0.0)).then_some(v)
}

/// How many of the first parts exclude each other, and the norms of all of them together.
///
/// A row has one level of a column. So of parts that need other levels of the same columns one is not 0 at most: their norms are
/// those of the largest, and the difference of two rows has two parts that are not 0.
pub(super) fn exclusive(items: &[Expr]) -> Option<(usize, VectorType)> {
    let (mut of, mut seen) = (vec![], BTreeSet::new());
    let mut all: Option<VectorType> = None;
    for item in items {
        let (mut columns, mut levels) = (vec![], vec![]);
        needs(item, &mut columns, &mut levels);
        if seen.is_empty() {
            of.clone_from(&columns);
        }
        let Some(part) = bounded(item).filter(|_| !columns.is_empty() && columns == of) else { break };
        if !seen.insert(levels) {
            break;
        }
        all = Some(match all {
            None => part,
            Some(v) => VectorType {
                dim: v.dim.saturating_add(part.dim),
                range: v.range.hull(part.range),
                sup: most(v.sup, part.sup),
                diam: most(v.diam, part.diam),
                ..v
            },
        });
    }
    let (count, v) = (seen.len(), all?);
    (count > 1).then(|| {
        let sup = tighten(v.sup, v.dim);
        let diam = tighten(most(v.diam, append(v.sup, v.sup)), v.dim);
        (count, VectorType { sup, diam, ..v })
    })
}
