//! Missing and unreadable cells: what `else` makes of them, and `is_na`, which tells them apart.

use super::messages::{plain, range_text, type_text};
use super::{Checked, Checker};
use crate::model::{Column, ColumnId, Expr, ExprKind, Range, Type, View};
use crate::numeric::calendar;
use crate::source::suggest::did_you_mean;
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

impl Checker<'_> {
    /// The value after `else`, component by component: a public constant inside the domain of its column.
    pub(super) fn missing(&mut self, column: &ast::Column, ty: &Type, value: &ast::Expr) -> Checked<Vec<f64>> {
        const WHAT: &str = "the value after `else`";
        match ty {
            Type::Bool => {
                let e = self.expr(value)?;
                match e.kind {
                    ExprKind::Bool(b) => Ok(vec![f64::from(u8::from(b))]),
                    _ => self.wrong_missing(column, value, &["false", "true"]),
                }
            }
            Type::Int(range) | Type::Real(range) => {
                let x = self.public_constant(value, WHAT)?;
                self.inside(column, value, x, *range, matches!(ty, Type::Int(_)))?;
                Ok(vec![x])
            }
            Type::Date(range) => {
                let x = self.day(value)?;
                if !range.contains(x) {
                    let near = calendar::text(x.max(range.lo).min(range.hi));
                    let d = Diagnostic::new("E0203", format!("the value after `else` lies outside the domain of `{}`", column.name.value));
                    let d = d.label(value.span, type_text(ty)).label(column.ty.span, "the domain of the column");
                    let help = Help::from(("the nearest day inside:", format!("else \"{near}\""))).edit(value.span, format!("\"{near}\""));
                    return self.fail(d.help(help));
                }
                Ok(vec![x])
            }
            Type::Category(levels) => match &value.kind {
                ast::ExprKind::Name(name) | ast::ExprKind::Text(name) => match self.place_of(name, levels) {
                    Some(i) => Ok(vec![i as f64]),
                    None => {
                        let last = levels.last().map_or_else(String::new, |l| crate::model::print::level_text(l));
                        let near =
                            did_you_mean(name, levels.iter().map(String::as_str)).map_or(last, |l| crate::model::print::level_text(&l));
                        let d = Diagnostic::new("E0206", format!("`{}` has no level `{name}`", column.name.value));
                        let d = d.label(value.span, "not one of its levels").label(column.ty.span, "the levels of the column");
                        self.fail(d.help(Help::from(("one of its levels:", format!("else {near}"))).edit(value.span, near)))
                    }
                },
                _ => {
                    let last = levels.last().map_or_else(String::new, |l| crate::model::print::level_text(l));
                    self.wrong_missing(column, value, &[&last])
                }
            },
            Type::Vector(v) => {
                let parts = match &value.kind {
                    ast::ExprKind::List(items) => {
                        items.iter().map(|e| Ok((e, self.public_constant(e, WHAT)?))).collect::<Checked<Vec<_>>>()?
                    }
                    _ => vec![(value, self.public_constant(value, WHAT)?)],
                };
                if parts.len() > 1 && parts.len() as u64 != v.dim {
                    let d = Diagnostic::new("E0201", format!("{} values after `else` for {} components", parts.len(), v.dim));
                    let d = d.label(value.span, format!("{} values", parts.len())).label(column.ty.span, format!("{} components", v.dim));
                    return self.fail(d.help(Help::from(("one value for all components:", "else 0")).edit(value.span, "0")));
                }
                for (e, x) in &parts {
                    self.inside(column, e, *x, v.range, false)?;
                }
                // One value stands for all components.
                let times = if parts.len() == 1 { v.dim as f64 } else { 1.0 };
                let sum = |f: fn(f64) -> f64| times * parts.iter().map(|(_, x)| f(*x)).sum::<f64>();
                let (l1, l2) = (sum(f64::abs), libm::sqrt(sum(|x| x * x)));
                // A value on the edge of a ball may have a norm one rounding above its radius; rows are projected anyway.
                let slack = 1.0 + 1e-12;
                if l1 > v.sup.l1 * slack || l2 > v.sup.l2 * slack {
                    let d = Diagnostic::new("E0203", format!("the value after `else` lies outside the domain of `{}`", column.name.value));
                    let d = d.label(value.span, format!("of length {l2:.3}")).label(column.ty.span, "the domain of the column");
                    return self.fail(d.help(Help::from(("inside every ball:", "else 0")).edit(value.span, "0")));
                }
                Ok(parts.into_iter().map(|(_, x)| x).collect())
            }
            _ => {
                let d = Diagnostic::new("E0209", format!("`{}` cannot have an `else`", column.name.value));
                let d = d.label(value.span, "remove this").label(column.ty.span, type_text(ty));
                self.fail(d.help("bool, int, real, date, category and vector columns take `else`"))
            }
        }
    }

    fn wrong_missing<T>(&mut self, column: &ast::Column, value: &ast::Expr, right: &[&str]) -> Checked<T> {
        let d = Diagnostic::new("E0209", format!("the value after `else` has a different type from `{}`", column.name.value));
        let d = d.label(value.span, "of another type").label(column.ty.span, "the type of the column");
        self.fail(d.helps(right.iter().map(|text| Help::from(format!("else {text}")).edit(value.span, *text))))
    }

    /// Is a number in a range, and whole where it has to be?
    fn inside(&mut self, column: &ast::Column, value: &ast::Expr, x: f64, range: Range, whole: bool) -> Checked<()> {
        if range.contains(x) && x.is_finite() && (x.fract() == 0.0 || !whole) {
            return Ok(());
        }
        let why = if range.contains(x) && x.is_finite() {
            "not a whole number".to_owned()
        } else {
            format!("{} is not in {}", plain(x), range_text(range))
        };
        let near = if x.is_finite() { x } else { 0.0 }.max(range.lo).min(range.hi);
        let near = if whole { libm::rint(near) } else { near };
        let d = Diagnostic::new("E0203", format!("the value after `else` lies outside the domain of `{}`", column.name.value));
        let d = d.label(value.span, why).label(column.ty.span, "the domain of the column");
        self.fail(d.help(Help::from(("the nearest value inside:", format!("else {}", plain(near)))).edit(value.span, plain(near))))
    }

    /// `is_na(age)`, `month(day)`: a column that says this of another one. The table has it from here on.
    pub(super) fn view(&mut self, name: &str, of: &ast::Expr, span: Span) -> Checked<Expr> {
        let x = self.expr(of)?;
        let Some(view) = View::ALL.into_iter().find(|v| v.word() == name) else { return Err(super::Stop) };
        let file = |t: crate::model::TableId| t.0 < self.program.tables.len();
        let column = match x.kind {
            ExprKind::Column(t, c) if file(t) => self.column(t, c).cloned().map(|column| (t, c, column)),
            _ => None,
        };
        let Some((t, c, column)) = column.filter(|(.., c)| c.view.is_none()) else { return self.not_viewed(view, &x) };
        let ty = match (view, &column.ty) {
            (View::Missing, ty) if *ty != Type::Text => Type::Bool,
            (View::Year, Type::Date(r)) => Type::Int(Range::new(calendar::year(r.lo), calendar::year(r.hi))),
            (View::Month, Type::Date(r)) if calendar::year(r.lo) == calendar::year(r.hi) => {
                Type::Int(Range::new(calendar::month(r.lo), calendar::month(r.hi)))
            }
            (View::Month, Type::Date(_)) => Type::Int(Range::new(1.0, 12.0)),
            (View::Weekday, Type::Date(_)) => Type::Int(Range::new(1.0, 7.0)),
            _ => return self.not_viewed(view, &x),
        };
        let Some(table) = self.program.tables.get_mut(t.0) else { return Err(super::Stop) };
        let known = table.columns.iter().position(|k| k.view == Some((c, view)));
        let at = known.unwrap_or(table.columns.len());
        if known.is_none() {
            let name = format!("{}.{}", column.name, view.word());
            table.columns.push(Column { name, ty, missing: vec![], view: Some((c, view)), ..column });
        }
        self.column_expr(t, ColumnId(at), span)
    }

    fn not_viewed<T>(&mut self, view: View, x: &Expr) -> Checked<T> {
        let name = view.word();
        if view == View::Missing {
            let d = Diagnostic::new("E0209", "`is_na` asks about a column of a data file").label(x.span, type_text(&x.ty));
            let d = d.cause("a computed value is never missing; a `text` column is an identifier, and any bytes are one");
            return self.fail(d.help("is_na(age), with age a column of a private or public table"));
        }
        let d = Diagnostic::new("E0209", format!("`{name}` asks about a column of dates")).label(x.span, type_text(&x.ty));
        let d = self.label_column(d, x, "declared here");
        self.fail(d.help(("declare the column as a date:", "day: date in [\"2020-01-01\", \"2024-12-31\"]")))
    }
}
