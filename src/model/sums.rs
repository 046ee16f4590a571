//! Sums of columns in groups: what `sums(died, years, groups = sex)` releases, and which expressions are linear in columns.

use super::{Axis, Builtin, Expr, ExprKind, Levels, Range, Type};
use crate::numeric::decimal::sig_up;
use std::sync::Arc;

/// One column of released sums. Each row counts as its value divided by the unit, so from 0 to 1.
#[derive(Clone, PartialEq, Debug)]
pub struct Summed {
    pub name: String,
    pub unit: f64,
    /// Are all values whole numbers?
    pub whole: bool,
}

impl Summed {
    /// Of values from 0 to `most`: the unit of whole numbers is the largest of them, of others that in three digits.
    pub fn new(name: &str, most: f64, whole: bool) -> Summed {
        let short = sig_up(most, 3).parse().ok().filter(|u: &f64| *u >= most && u.is_finite());
        Summed { name: name.into(), unit: if whole { most } else { short.unwrap_or(most) }, whole }
    }

    /// What the sum is called: it says the unit.
    pub fn label(&self) -> String {
        if self.unit == 1.0 { self.name.clone() } else { format!("{} / {}", self.name, super::print::number(self.unit)) }
    }

    fn column(&self) -> Axis {
        let range = Range::new(0.0, self.unit);
        let ty = if self.whole { Type::Int(range) } else { Type::Real(range) };
        Axis { name: self.name.clone(), ty, levels: Arc::default(), public: false, edges: vec![], sums: vec![] }
    }
}

/// The last axis of a table of sums, which says what is summed.
pub fn axis(sums: Vec<Summed>) -> Axis {
    let levels: Levels = Arc::new(sums.iter().map(Summed::label).collect());
    Axis { name: "sum".into(), ty: Type::Category(levels.clone()), levels, public: false, edges: vec![], sums }
}

/// The columns of the rows behind a table of sums: those that make the groups, then the summed ones, without levels. `None` of other
/// tables.
pub fn columns(axes: &[Axis]) -> Option<(Vec<Axis>, &[Summed])> {
    let (last, by) = axes.split_last().filter(|(last, _)| !last.sums.is_empty())?;
    Some((by.iter().cloned().chain(last.sums.iter().map(Summed::column)).collect(), &last.sums))
}

/// The columns that make the groups of `sum([(sex == f) * [died, years / 15], ..])`, and what is summed in each.
pub fn parts(value: &Expr) -> Option<(Vec<&Expr>, &[Expr])> {
    let ExprKind::Call(Builtin::RowSum, args) = &value.kind else { return None };
    let [Expr { kind: ExprKind::List(items), .. }] = args.as_slice() else { return None };
    let mut by = vec![];
    let Some(Expr { kind: ExprKind::Call(Builtin::Mul, args), .. }) = items.first().filter(|e| matches!(e.ty, Type::Vector(_))) else {
        return Some((by, items));
    };
    let [group, Expr { kind: ExprKind::List(row), .. }] = args.as_slice() else { return None };
    group.walk(&mut |e| {
        if let ExprKind::Column(..) = e.kind {
            by.push(e);
        }
    });
    Some((by, row))
}

/// The lowest and the highest degree of the terms of an expression, as a polynomial in some of its parts; `None` where it is none.
pub fn degrees(e: &Expr, own: &dyn Fn(&Expr) -> bool) -> Option<(u32, u32)> {
    if own(e) {
        return Some((1, 1));
    }
    let parts = e.parts().into_iter().map(|e| degrees(e, own)).collect::<Option<Vec<_>>>()?;
    let most = parts.iter().map(|p| p.1).max().unwrap_or(0);
    match (&e.kind, parts.as_slice()) {
        _ if most == 0 => Some((0, 0)),
        (ExprKind::Call(Builtin::Add | Builtin::Sub | Builtin::Neg, _), parts) => Some((parts.iter().map(|p| p.0).min()?, most)),
        (ExprKind::List(_), parts) => Some((parts.iter().map(|p| p.0).min()?, most)),
        (ExprKind::Call(Builtin::Mul | Builtin::Dot, _), [a, b]) => Some((a.0 + b.0, a.1 + b.1)),
        (ExprKind::Call(Builtin::Div, _), [a, (_, 0)]) => Some(*a),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_short_and_large_enough() {
        for (most, unit) in [(15.058, 15.1), (1.0, 1.0), (0.0123, 0.0123), (999.9, 1000.0)] {
            assert_eq!(Summed::new("x", most, false).unit, unit, "{most}");
        }
        assert_eq!(Summed::new("x", 5501.0, true).unit, 5501.0);
        assert_eq!(Summed::new("years", 15.058, false).label(), "years / 15.1");
    }
}
