//! Designs: the features that `design(..)` made of columns, what they are called and in which units they are.

use super::print::level_text;
use super::{Expr, ExprKind, Levels, Program, Type};

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
