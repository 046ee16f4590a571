//! Designs: the features that `design(..)` made of columns, what they are called and in which units they are.

use super::print::level_text;
use super::{Builtin, Expr, ExprKind, Levels, Model, ParamId, Program, Type};
use std::sync::Arc;

/// One design of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Design {
    /// Its features by name, in order.
    pub names: Levels,
    pub intercept: bool,
    pub terms: Vec<Vec<Factor>>,
    /// By what the deviation of each feature from its centre was divided.
    pub scales: Vec<f64>,
}

/// What a term is the product of: the value of a row.
#[derive(Clone, PartialEq, Debug)]
pub struct Factor {
    pub value: Expr,
    /// What it is called: a `let`, or else the text of the value.
    pub name: String,
    /// Is it a `let`?
    pub named: bool,
    /// The level that no feature stands for, of a category.
    pub reference: usize,
}

impl Program {
    /// The design whose features have these names.
    pub fn design(&self, names: Option<&Levels>) -> Option<&Design> {
        names.and_then(|names| self.designs.iter().find(|d| d.names == *names))
    }

    /// The text of a value of a row, columns without their table where no other has their name.
    pub fn short_text(&self, e: &Expr) -> String {
        let mut text = super::print::Names { program: self, parameters: &[], typed: false, surface: None }.expr(e);
        e.walk(&mut |x| {
            if let ExprKind::Column(t, c) = x.kind
                && let Some((table, column)) = self.table(t).and_then(|t| Some((t, t.columns.get(c.0)?)))
                && self.tables.iter().flat_map(|t| &t.columns).filter(|c| c.name == column.name).count() == 1
            {
                text = text.replace(&format!("{}.{}", table.name, column.name), &column.name);
            }
        });
        text
    }
}

impl Model {
    /// Of a matrix of weights of rows `categorical_logit(W * x)`: the levels of the outcome, and the features by name or from 1.
    pub fn sides(&self, of: ParamId) -> Option<(Levels, Levels)> {
        self.private.iter().chain(&self.public).find_map(|o| {
            let ([t], Type::Category(rows)) = (o.likelihood.args.as_slice(), &o.outcome.ty) else { return None };
            let ExprKind::Call(Builtin::MatVec, pair) = &t.kind else { return None };
            let [w, x] = pair.as_slice() else { return None };
            let Type::Vector(v) = &x.ty else { return None };
            let columns = v.levels.clone().unwrap_or_else(|| Arc::new((1..=v.dim).map(|i| i.to_string()).collect()));
            w.is_param(of).then(|| (rows.clone(), columns))
        })
    }
}

impl Design {
    /// As a program writes it; `value` writes a factor.
    pub fn text(&self, value: &dyn Fn(&Factor) -> String) -> String {
        let factor = |f: &Factor| match &f.value.ty {
            Type::Category(levels) if f.reference > 0 => {
                format!("relevel({}, {})", value(f), levels.get(f.reference).map_or_else(String::new, |l| level_text(l)))
            }
            _ => value(f),
        };
        let mut parts: Vec<String> = self.terms.iter().map(|t| t.iter().map(factor).collect::<Vec<_>>().join(" * ")).collect();
        if !self.intercept {
            parts.push("intercept = false".into());
        }
        format!("design({})", parts.join(", "))
    }
}
