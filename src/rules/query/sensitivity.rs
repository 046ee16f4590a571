//! Sensitivities of queries inside groups of a private key, where rows come and go.

use crate::model::{AggregateQuery, Builtin, Expr, ExprKind, Label, Norms, Type, grid};
use crate::rules::offer::View;

/// How far the query moves in one group of a private key under `view`, each norm rounded up; infinite where no bound
/// is known. The size of such a group is secret, so nothing is ever divided by it.
pub fn in_group(query: &AggregateQuery, view: View) -> Norms {
    let rows = query.records.unit_rows as f64;
    Group { rows, view }.of(&query.value)
}

struct Group {
    /// The most rows one unit may have.
    rows: f64,
    view: View,
}

impl Group {
    fn of(&self, e: &Expr) -> Norms {
        if e.label == Label::Public {
            return match e.kind {
                // The size of the group itself is not a public number of the header.
                ExprKind::RowCount(_) => Norms::INFINITE,
                _ => Norms::ZERO,
            };
        }
        let ExprKind::Call(f, args) = &e.kind else {
            return Norms::INFINITE;
        };
        match (*f, args.as_slice()) {
            (Builtin::RowSum, [row]) => self.rows_of(row),
            (Builtin::RowHistogram, [_]) => self.histogram(),
            (Builtin::RowCountAgg, []) => Norms::scalar(match self.view {
                View::Replace => 0.0,
                View::AddRemove | View::Exchange | View::Crossing => self.rows,
            }),
            (Builtin::Neg, [a]) => self.of(a),
            // A number next to a vector would be repeated in every component: not covered here.
            (Builtin::Add | Builtin::Sub, [a, b]) if same_shape(a, b) => sum(self.of(a), self.of(b)),
            (Builtin::Mul, [a, b]) if a.label == Label::Public => scale(self.of(b), magnitude(a)),
            (Builtin::Mul, [a, b]) if b.label == Label::Public => scale(self.of(a), magnitude(b)),
            (Builtin::Div, [a, b]) if b.label == Label::Public => match constant(b) {
                Some(c) if c != 0.0 => scale(self.of(a), (1.0 / c).abs().next_up()),
                _ => Norms::INFINITE,
            },
            _ => Norms::INFINITE,
        }
    }

    /// A sum over rows: k rows change within their type, or k rows come or go, or both at once.
    fn rows_of(&self, row: &Expr) -> Norms {
        let Some((sup, diam)) = facts(&row.ty) else {
            return Norms::INFINITE;
        };
        let one = match self.view {
            View::Replace => diam,
            View::AddRemove => sup,
            // One row out and one in differ by the diameter; a surplus row moves the sum by its own norm.
            View::Exchange | View::Crossing => larger(diam, sup),
        };
        scale(one, self.rows)
    }

    fn histogram(&self) -> Norms {
        let k = self.rows;
        match self.view {
            View::AddRemove => Norms { l1: k, l2: k, linf: k },
            View::Replace | View::Exchange | View::Crossing => {
                Norms { l1: 2.0 * k, l2: mul_up(k, std::f64::consts::SQRT_2.next_up()), linf: k }
            }
        }
    }
}

/// Largest norms of a value and of the difference of two.
fn facts(ty: &Type) -> Option<(Norms, Norms)> {
    match ty {
        Type::Bool | Type::Int(_) | Type::Real(_) => {
            let r = ty.range()?;
            Some((Norms::scalar(r.magnitude()), Norms::scalar(r.width())))
        }
        // Rows are rounded to a public grid before they are summed; where that may stretch a difference, it counts.
        Type::Vector(v) => Some((sum(v.sup, grid::slack(ty)), sum(v.diam, grid::slack(ty)))),
        _ => None,
    }
}

fn same_shape(a: &Expr, b: &Expr) -> bool {
    match (&a.ty, &b.ty) {
        (Type::Vector(a), Type::Vector(b)) => a.dim == b.dim,
        (a, b) => a.is_scalar_number() && b.is_scalar_number(),
    }
}

fn constant(e: &Expr) -> Option<f64> {
    if mentions_count(e) { None } else { e.constant() }
}

/// The largest absolute value of a public expression, infinite if it involves the number of rows.
fn magnitude(e: &Expr) -> f64 {
    match e.ty.range() {
        Some(r) if e.ty.is_scalar_number() && !mentions_count(e) => r.magnitude(),
        _ => f64::INFINITY,
    }
}

fn mentions_count(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |n| found |= matches!(n.kind, ExprKind::RowCount(_)));
    found
}

fn scale(n: Norms, by: f64) -> Norms {
    Norms { l1: mul_up(n.l1, by), l2: mul_up(n.l2, by), linf: mul_up(n.linf, by) }
}

fn sum(a: Norms, b: Norms) -> Norms {
    Norms { l1: add_up(a.l1, b.l1), l2: add_up(a.l2, b.l2), linf: add_up(a.linf, b.linf) }
}

fn larger(a: Norms, b: Norms) -> Norms {
    Norms { l1: a.l1.max(b.l1), l2: a.l2.max(b.l2), linf: a.linf.max(b.linf) }
}

/// A product of numbers >= 0, rounded up; 0 times infinity counts as infinite.
fn mul_up(a: f64, b: f64) -> f64 {
    let p = a * b;
    if p.is_nan() {
        return f64::INFINITY;
    }
    // The fused remainder is exact, so an exact product stays as it is.
    if a.mul_add(b, -p) > 0.0 { p.next_up() } else { p }
}

fn add_up(a: f64, b: f64) -> f64 {
    let s = a + b;
    if a == 0.0 || b == 0.0 || s.is_infinite() { s } else { s.next_up() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ColumnId, Range};
    use crate::rules::testing::{Build, TABLE, expr, number};

    fn row(ty: Type) -> Expr {
        expr(ExprKind::Column(TABLE, ColumnId(1)), ty, Label::Row(TABLE))
    }

    fn of(value: Expr, view: View, k: u64) -> Norms {
        let records = crate::model::Records { unit_rows: k, ..Build::beta(1.0, 1.0).model.records };
        in_group(&AggregateQuery { table: TABLE, value, sensitivity: Norms::scalar(1.0), records }, view)
    }

    fn call(f: Builtin, args: Vec<Expr>) -> Expr {
        expr(ExprKind::Call(f, args), Type::Real(Range::ALL), Label::Aggregate(TABLE))
    }

    fn sum_of(lo: f64, hi: f64) -> Expr {
        call(Builtin::RowSum, vec![row(Type::real(lo, hi))])
    }

    #[test]
    fn rows_that_come_or_go_move_a_sum_by_their_size() {
        assert_eq!(of(sum_of(100.0, 101.0), View::Replace, 1).l1, 1.0);
        assert_eq!(of(sum_of(100.0, 101.0), View::AddRemove, 1).l1, 101.0);
        assert_eq!(of(sum_of(100.0, 101.0), View::Exchange, 3).l1, 303.0);
        assert_eq!(of(sum_of(-5.0, 5.0), View::Exchange, 1).l1, 10.0);
    }

    #[test]
    fn affine_queries_scale_and_everything_else_is_unbounded() {
        let scaled = call(Builtin::Mul, vec![number(-2.0), sum_of(0.0, 3.0)]);
        assert_eq!(of(scaled, View::AddRemove, 1).l1, 6.0);
        let shifted = call(Builtin::Add, vec![number(7.0), sum_of(0.0, 3.0)]);
        assert_eq!(of(shifted, View::AddRemove, 1).l1, 3.0);
        let mean = call(Builtin::RowMean, vec![row(Type::real(0.0, 1.0))]);
        assert_eq!(of(mean, View::AddRemove, 1).l1, f64::INFINITY);
        let count = expr(ExprKind::RowCount(TABLE), Type::Real(Range::ALL), Label::Public);
        let divided = call(Builtin::Div, vec![sum_of(0.0, 3.0), count]);
        assert_eq!(of(divided, View::AddRemove, 1).l1, f64::INFINITY);
    }
}
