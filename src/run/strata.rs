//! Poststratification: a number of every draw, averaged over the rows of a public table by their weights.

use super::value::Value;
use crate::model::{Builtin, ColumnId, Expr, ExprKind, Label, Range, TableId, Type};
use std::collections::BTreeMap;

/// The expression with every `poststratify` written out for the rows of its table, those alike together. `rows` gives the values of
/// some columns and a weight, row by row.
pub fn written_out(e: &Expr, rows: &dyn Fn(&Expr) -> Option<Value>) -> Option<Expr> {
    replaced(e, &|x| match &x.kind {
        ExprKind::Call(Builtin::Poststratify, args) => Some(averaged(x, args, rows)),
        _ => None,
    })
}

/// A copy whose nodes are replaced from the top down.
pub(super) fn replaced(e: &Expr, by: &dyn Fn(&Expr) -> Option<Option<Expr>>) -> Option<Expr> {
    if let Some(found) = by(e) {
        return found;
    }
    let all = |items: &[Expr]| items.iter().map(|i| replaced(i, by)).collect::<Option<Vec<Expr>>>();
    let one = |e: &Expr| replaced(e, by).map(Box::new);
    let kind = match &e.kind {
        ExprKind::List(items) => ExprKind::List(all(items)?),
        ExprKind::Call(f, items) => ExprKind::Call(*f, all(items)?),
        ExprKind::If(c, a, b) => ExprKind::If(one(c)?, one(a)?, one(b)?),
        ExprKind::Index(a, i) => ExprKind::Index(one(a)?, one(i)?),
        ExprKind::Field(a, name) => ExprKind::Field(one(a)?, name.clone()),
        kind => kind.clone(),
    };
    Some(Expr { kind, ..e.clone() })
}

fn averaged(whole: &Expr, args: &[Expr], rows: &dyn Fn(&Expr) -> Option<Value>) -> Option<Expr> {
    let [e, weight] = args else { return None };
    let table = weight.rows_of()?;
    let mut columns: Vec<Expr> = vec![];
    e.walk(&mut |x| {
        if matches!(x.kind, ExprKind::Column(t, _) if t == table) && !columns.iter().any(|c| c.kind == x.kind) {
            columns.push(x.clone());
        }
    });
    let list = |items: Vec<Expr>, label: Label| {
        let ty = Type::Vector(crate::check::vectors::boxed(items.len() as u64, Range::ALL, None));
        Expr { kind: ExprKind::List(items), ty, label, span: e.span }
    };
    let asked = list(columns.iter().chain([weight]).cloned().collect(), weight.label);
    let asked = Expr { kind: ExprKind::Call(Builtin::Poststratify, vec![asked.clone()]), ..asked };
    let mut alike: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
    for row in rows(&asked)?.numbers().chunks(columns.len() + 1) {
        let (weight, values) = row.split_last()?;
        *alike.entry(values.iter().map(|x| x.to_bits()).collect()).or_default() += weight;
    }
    let all = Some(alike.values().sum::<f64>()).filter(|all| *all > 0.0)?;
    let number = |x: f64| Expr { kind: ExprKind::Number(x), ty: Type::Real(Range::point(x)), label: Label::Public, span: e.span };
    let weights = alike.values().map(|w| number(w / all)).collect();
    let values = alike.keys().map(|values| replaced(e, &|x| at(x, table, &columns, values))).collect::<Option<Vec<Expr>>>()?;
    let dot = ExprKind::Call(Builtin::Dot, vec![list(weights, Label::Public), list(values, whole.label)]);
    Some(Expr { kind: dot, ..whole.clone() })
}

/// The value of a column in one row of the table; `None` for everything else.
fn at(x: &Expr, table: TableId, columns: &[Expr], values: &[u64]) -> Option<Option<Expr>> {
    let ExprKind::Column(t, ColumnId(_)) = x.kind else { return None };
    let place = columns.iter().position(|c| t == table && c.kind == x.kind)?;
    let value = f64::from_bits(*values.get(place)?);
    let kind = match x.ty {
        Type::Category(_) => ExprKind::Level(value as usize),
        Type::Bool => ExprKind::Bool(value != 0.0),
        _ => ExprKind::Number(value),
    };
    Some(Some(Expr { kind, label: Label::Public, ..x.clone() }))
}
