//! Declarations of data in Stan, and names that Stan accepts.

use super::words::{At, column_name, is_small, literal, size_name};
use super::{Refusal, Stan, refuse};
use crate::model::{Column, Expr, ExprKind, Range, Table, TableId, Type};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn bounds(r: Range) -> String {
    match (r.lo.is_finite(), r.hi.is_finite()) {
        (true, true) => format!("<lower={}, upper={}>", literal(r.lo), literal(r.hi)),
        (true, false) => format!("<lower={}>", literal(r.lo)),
        (false, true) => format!("<upper={}>", literal(r.hi)),
        (false, false) => String::new(),
    }
}

impl Stan<'_> {
    /// The block of data: the columns that the model reads, then public and released values by name.
    pub(super) fn data(&self) -> Result<Vec<String>, Refusal> {
        let mut tables: BTreeMap<usize, BTreeSet<usize>> = self.rows().map(|o| (o.table.0, BTreeSet::new())).collect();
        if let Some(e) = self.each {
            tables.entry(e.table.0).or_default().insert(e.key.0);
        }
        let (mut values, mut wrong) = (BTreeSet::new(), None);
        for e in self.expressions() {
            e.walk(&mut |x| match x.kind {
                ExprKind::RowCount(t) => drop(tables.entry(t.0).or_default()),
                ExprKind::Column(t, c) => drop(tables.entry(t.0).or_default().insert(c.0)),
                ExprKind::Scalar(_) | ExprKind::Released(_) if matches!(x.ty, Type::Record(_)) => {}
                ExprKind::Scalar(_) | ExprKind::Released(_) | ExprKind::Field(..) => match self.value(x) {
                    Ok(value) => drop(values.insert(value)),
                    Err(refusal) => drop(wrong.get_or_insert(refusal)),
                },
                _ => {}
            });
        }
        if let Some(refusal) = wrong {
            return Err(refusal);
        }
        let mut out = vec![];
        for (t, columns) in tables {
            let Some(table) = self.program.table(TableId(t)) else { continue };
            out.push(format!("int<lower=0> {};", size_name(table)));
            for column in columns.iter().filter_map(|c| table.columns.get(*c)) {
                out.push(declare_column(table, column)?);
            }
        }
        out.extend(values);
        Ok(out)
    }

    /// A public or released value, given as data.
    fn value(&self, e: &Expr) -> Result<String, Refusal> {
        let name = self.expr(e, At::default())?;
        Ok(match &e.ty {
            Type::Bool => format!("int<lower=0, upper=1> {name};"),
            Type::Int(r) if is_small(*r) => format!("int{} {name};", bounds(*r)),
            Type::Int(r) | Type::Real(r) | Type::Date(r) => format!("real{} {name};", bounds(*r)),
            Type::Vector(v) => format!("vector{}[{}] {name};", bounds(v.range), v.dim),
            Type::Simplex { dim, .. } => format!("simplex[{dim}] {name};"),
            Type::Matrix { rows, columns, range } => format!("matrix{}[{rows}, {columns}] {name};", bounds(*range)),
            Type::Category(l) => format!("int<lower=1, upper={}> {name};", l.len()),
            Type::Counts { dim, .. } => format!("vector<lower=0>[{dim}] {name};"),
            Type::Text | Type::Posterior(_) | Type::Record(_) => {
                return refuse(e.span, format!("`{name}` is neither a number nor a vector, which data of Stan are"));
            }
        })
    }
}

fn declare_column(table: &Table, column: &Column) -> Result<String, Refusal> {
    let (n, name) = (size_name(table), column_name(table, column));
    Ok(match &column.ty {
        Type::Bool => format!("array[{n}] int<lower=0, upper=1> {name};"),
        Type::Int(r) if is_small(*r) => format!("array[{n}] int{} {name};", bounds(*r)),
        Type::Date(r) => format!("array[{n}] int{} {name}; // days since 1970-01-01", bounds(*r)),
        Type::Int(r) | Type::Real(r) => format!("array[{n}] real{} {name};", bounds(*r)),
        Type::Category(l) => format!("array[{n}] int<lower=1, upper={}> {name};", l.len()),
        Type::Vector(v) => format!("array[{n}] vector[{}] {name};", v.dim),
        Type::Counts { dim, .. } => format!("array[{n}, {dim}] int<lower=0> {name};"),
        Type::Matrix { rows, columns, range } => format!("array[{n}] matrix{}[{rows}, {columns}] {name};", bounds(*range)),
        Type::Simplex { dim, .. } => format!("array[{n}] simplex[{dim}] {name};"),
        Type::Text | Type::Posterior(_) | Type::Record(_) => {
            return refuse(column.span, format!("the column `{}` has no numbers", column.name));
        }
    })
}
