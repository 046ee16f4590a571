//! Levels by name, what an index may not be, and what to write instead.

use super::expressions::{node, some};
use super::{Checked, Checker};
use crate::model::{Expr, ExprKind, Label, Levels, Type};
use crate::source::{Diagnostic, Help, Span};

/// Most levels that a Help line writes out.
const MOST: f64 = 40.0;

impl Checker<'_> {
    /// A level by name.
    pub(super) fn level(&mut self, name: &str, levels: &Levels, span: Span) -> Checked<Expr> {
        match self.place_of(name, levels) {
            Some(i) => Ok(node(ExprKind::Level(i), Type::Category(levels.clone()), Label::Public, span)),
            None => {
                let near = crate::source::suggest::did_you_mean(name, levels.iter().map(String::as_str));
                // A level of several columns has a comma in it.
                let quoted: Vec<String> = levels.iter().map(|l| if l.contains(',') { format!("\"{l}\"") } else { l.clone() }).collect();
                let listed = some(quoted.iter().map(String::as_str));
                let d = Diagnostic::new("E0206", format!("there is no level `{name}`")).label(span, format!("levels: {listed}"));
                self.fail(match near {
                    Some(n) => d.near(span, &n),
                    None => d,
                })
            }
        }
    }

    /// E0201: a component that is not there, or one that the rows would choose.
    pub(super) fn no_index<T>(&mut self, base: &Expr, index: &Expr, dim: u64) -> Checked<T> {
        if index.label == Label::Public || !index.ty.is_scalar_number() {
            let d = Diagnostic::new("E0201", format!("this index is not in 1..{dim}"))
                .label(index.span, "indices start at 1")
                .label(base.span, format!("{dim} components"));
            return self.fail(d);
        }
        let d = Diagnostic::new("E0201", "an index is a public number, or a level of a category")
            .label(index.span, if matches!(index.label, Label::Row(_)) { "a number of every row" } else { "not public" })
            .label(base.span, format!("{dim} components"));
        let help = self.as_levels(base, index, dim);
        self.fail(d.helps(help))
    }

    /// A column of whole numbers from 1 on as a category, and the vector with a number for each of its levels.
    fn as_levels(&self, base: &Expr, index: &Expr, dim: u64) -> Vec<Help> {
        let (ExprKind::Column(t, c), Type::Int(range), ExprKind::Param(id)) = (&index.kind, &index.ty, &base.kind) else { return vec![] };
        let column = self.table(*t).and_then(|t| t.columns.get(c.0)).filter(|c| c.view.is_none());
        let parameter = self.params.iter().map(|p| &p.parameter).find(|p| p.id == *id);
        let (Some(column), Some(p)) = (column, parameter) else { return vec![] };
        if range.lo != 1.0 || range.hi != dim as f64 || range.hi > MOST {
            return vec![];
        }
        let levels: Vec<String> = (1..=dim).map(|k| format!("\"{k}\"")).collect();
        let category = format!("{}: category {{{}}}", column.name, levels.join(", "));
        let (all, levels) = (format!("vector[{dim}]"), format!("vector[{}]", column.name));
        let head = Span { end: p.prior.span.start, ..p.span };
        let Some(at) = self.map.slice(head).find(&all) else { return vec![] };
        let start = head.start + at as u32;
        let of = Span { start, end: start + all.len() as u32, ..head };
        let edits = vec![(column.span, category.clone()), (of, levels.clone())];
        Help::several("declare its values as levels:", [category, format!("param {}: {levels} ..", p.name)], edits)
    }
}
