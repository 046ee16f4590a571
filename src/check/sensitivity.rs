//! How far an aggregate moves when one unit's rows change (language reference §7.2: Sum, Lin, Add, Lip).

use super::vectors::{add_up, boxed, div_up, least, mul_up, scale, sqrt_up, sum, tighten};
use crate::model::{Builtin, Expr, ExprKind, Label, Norms, Range, Records, Relation, Type, grid};

/// Upper bounds on the change of `e` between neighbours of its table; infinite where no bound is known, 0 for a
/// public expression.
///
/// `records` gives the relation, the rows per unit k and the lower bound on n; inside `each` those of the group.
pub fn sensitivity(e: &Expr, records: &Records) -> Norms {
    if !matches!(e.label, Label::Aggregate(_)) {
        return if e.label == Label::Public { Norms::ZERO } else { Norms::INFINITE };
    }
    let of = |e: &Expr| sensitivity(e, records);
    match &e.kind {
        ExprKind::Call(op, args) => match (*op, args.as_slice()) {
            (Builtin::RowSum, [x]) => row_sum(x, records),
            (Builtin::RowMean, [x]) => row_mean(x, records),
            (Builtin::RowCountAgg, _) => match records.relation {
                Relation::AddRemove => Norms::scalar(records.unit_rows as f64),
                // Only inside `each` over a private key: a unit's rows may all leave the group.
                Relation::ReplaceOne => Norms::scalar(records.unit_rows as f64),
            },
            (Builtin::RowHistogram, _) => histogram(records),
            (Builtin::RowMin | Builtin::RowMax, [x]) => Norms::scalar(x.ty.range().map_or(f64::INFINITY, Range::width)),
            (Builtin::Unary(f), [x]) if f.facts().fraction.is_some() => of(x),
            (Builtin::Clip, [x, lo, hi]) if lo.label == Label::Public && hi.label == Label::Public => of(x),
            // Of two numbers the smaller or larger moves no further than both together.
            (Builtin::Add | Builtin::Sub | Builtin::Min | Builtin::Max, [a, b]) => sum(broadcast(of(a), a, b), broadcast(of(b), b, a)),
            (Builtin::Mul, [a, b]) | (Builtin::Mul, [b, a]) if a.label == Label::Public => broadcast(scale(of(b), magnitude(a)), b, a),
            (Builtin::Div, [a, b]) if b.label == Label::Public => {
                let smallest = b.ty.range().map_or(0.0, |r| if r.contains(0.0) { 0.0 } else { r.lo.abs().min(r.hi.abs()) });
                if smallest > 0.0 { broadcast(divide(of(a), smallest), a, b) } else { Norms::INFINITE }
            }
            (Builtin::VecSum, [v]) => {
                let n = of(v);
                Norms::scalar(n.l1)
            }
            (Builtin::VecMean, [v]) => {
                let d = super::vectors::as_vector(&v.ty).map_or(1, |v| v.dim);
                Norms::scalar(div_up(of(v).l1, d as f64))
            }
            (Builtin::VecMin | Builtin::VecMax, [v]) => Norms::scalar(of(v).linf),
            (Builtin::Dot, [a, b]) | (Builtin::Dot, [b, a]) if a.label == Label::Public => {
                let w = super::vectors::as_vector(&a.ty).map_or(Norms::INFINITE, |v| v.sup);
                let n = of(b);
                Norms::scalar(mul_up(w.l2, n.l2).min(mul_up(w.linf, n.l1)).min(mul_up(w.l1, n.linf)))
            }
            _ => Norms::INFINITE,
        },
        ExprKind::Index(v, i) if i.label == Label::Public => Norms::scalar(of(v).linf),
        ExprKind::List(items) => items.iter().map(of).fold(Norms::ZERO, super::vectors::append),
        ExprKind::If(c, a, b) if c.label == Label::Public => {
            let (x, y) = (broadcast(of(a), a, b), broadcast(of(b), b, a));
            Norms { l1: x.l1.max(y.l1), l2: x.l2.max(y.l2), linf: x.linf.max(y.linf) }
        }
        _ => Norms::INFINITE,
    }
}

fn magnitude(e: &Expr) -> f64 {
    e.ty.range().map_or(f64::INFINITY, Range::magnitude)
}

/// A number next to a vector is repeated in every component.
fn broadcast(n: Norms, side: &Expr, other: &Expr) -> Norms {
    match (side.ty.is_scalar_number(), super::vectors::as_vector(&other.ty)) {
        (true, Some(v)) => boxed(v.dim, Range::new(0.0, n.linf), None).diam,
        _ => n,
    }
}

fn divide(n: Norms, by: f64) -> Norms {
    Norms { l1: div_up(n.l1, by), l2: div_up(n.l2, by), linf: div_up(n.linf, by) }
}

/// What one row contributes: its largest value, and the largest difference of two of its values.
fn row_norms(x: &Expr) -> (Norms, Norms) {
    match &x.ty {
        // Rows are rounded to a public grid before they are summed; where that may stretch a difference, it counts.
        ty @ Type::Vector(v) => (sum(v.sup, grid::slack(ty)), sum(v.diam, grid::slack(ty))),
        Type::Counts { dim, total, .. } => {
            let t = *total as f64;
            let sup = Norms { l1: t, l2: t, linf: t };
            let diam = Norms { l1: 2.0 * t, l2: mul_up(sqrt_up(2.0), t), linf: t };
            (tighten(sup, *dim), tighten(diam, *dim))
        }
        ty => ty.range().map_or((Norms::INFINITE, Norms::INFINITE), scalar_norms),
    }
}

/// Norm facts of a scalar of this range.
fn scalar_norms(range: Range) -> (Norms, Norms) {
    (Norms::scalar(range.magnitude()), Norms::scalar(range.width()))
}

fn row_sum(x: &Expr, records: &Records) -> Norms {
    let (sup, diam) = row_norms(x);
    let k = records.unit_rows as f64;
    match records.relation {
        Relation::ReplaceOne => scale(diam, k),
        Relation::AddRemove => scale(sup, k),
    }
}

/// Replacing j <= k of n rows moves a mean by at most j/n diameters, and never by more than one diameter.
fn row_mean(x: &Expr, records: &Records) -> Norms {
    let (_, diam) = row_norms(x);
    let n = records.rows.exactly.unwrap_or(records.rows.at_least).max(1) as f64;
    least(divide(scale(diam, records.unit_rows as f64), n), diam)
}

/// Replace: each of k rows leaves one bin and enters another; the worst case moves all between the same two bins.
fn histogram(records: &Records) -> Norms {
    let k = records.unit_rows as f64;
    match records.relation {
        Relation::ReplaceOne => Norms { l1: add_up(k, k), l2: mul_up(sqrt_up(2.0), k), linf: k },
        Relation::AddRemove => Norms { l1: k, l2: k, linf: k },
    }
}
