//! Sensitivities of queries inside groups, where the header's facts about the whole table do not hold.

use super::parallel::View;
use crate::model::{AggregateQuery, Builtin, Expr, ExprKind, Label, Norms, Type};

/// How far the query moves in one group under `view`, each norm rounded up; infinite where no bound is known.
///
/// `secret` says that group sizes are secret: then nothing may be divided by the number of rows of the group.
pub fn in_group(query: &AggregateQuery, view: View, secret: bool) -> Norms {
    // One rule for rows that stay, one for rows that come or go.
    Group {
        rows: query.records.unit_rows as f64,
        view,
        secret,
    }
    .of(&query.value)
}

struct Group {
    rows: f64,
    view: View,
    secret: bool,
}

impl Group {
    fn of(&self, e: &Expr) -> Norms {
        if e.label == Label::Public {
            return match e.kind {
                // The size of the group itself is no public number of the header.
                ExprKind::RowCount(_) => Norms::INFINITE,
                _ => Norms::ZERO,
            };
        }
        let ExprKind::Call(f, args) = &e.kind else {
            return Norms::INFINITE;
        };
        match (f, args.as_slice()) {
            (Builtin::RowSum, [row]) => self.rows_of(row),
            // A replaced row is in its group, so the group has at least one row.
            (Builtin::RowMean, [row]) if !self.secret => self.rows_of(row),
            (Builtin::RowHistogram, [_]) => self.histogram(),
            (Builtin::RowCountAgg, []) => Norms::scalar(match self.view {
                View::Replace => 0.0,
                View::AddRemove | View::Exchange => self.rows,
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
            View::Exchange => larger(diam, sup),
        };
        scale(one, self.rows)
    }

    fn histogram(&self) -> Norms {
        let k = self.rows;
        match self.view {
            View::AddRemove => Norms { l1: k, l2: k, linf: k },
            View::Replace | View::Exchange => Norms {
                l1: 2.0 * k,
                l2: mul_up(k, std::f64::consts::SQRT_2.next_up()),
                linf: k,
            },
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
        Type::Vector(v) => Some((v.sup, v.diam)),
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
    Norms {
        l1: mul_up(n.l1, by),
        l2: mul_up(n.l2, by),
        linf: mul_up(n.linf, by),
    }
}

fn sum(a: Norms, b: Norms) -> Norms {
    Norms {
        l1: add_up(a.l1, b.l1),
        l2: add_up(a.l2, b.l2),
        linf: add_up(a.linf, b.linf),
    }
}

pub fn larger(a: Norms, b: Norms) -> Norms {
    Norms {
        l1: a.l1.max(b.l1),
        l2: a.l2.max(b.l2),
        linf: a.linf.max(b.linf),
    }
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
