//! Expressions in Stan.

use super::words::{At, column_name, indexable, is_small, literal, plain, size_name};
use super::{Refusal, Stan, Text, refuse};
use crate::model::print::{self, number};
use crate::model::{Binary, Builtin, Expr, ExprKind, Label, Range, Step, Type};

fn is_vector(e: &Expr) -> bool {
    matches!(e.ty, Type::Vector(_) | Type::Simplex { .. } | Type::Counts { .. })
}

fn is_whole(e: &Expr) -> bool {
    matches!(e.ty, Type::Int(_) | Type::Bool | Type::Date(_)) && !matches!(e.kind, ExprKind::Number(_) | ExprKind::Bool(_))
}

impl Stan<'_> {
    pub(super) fn expr(&self, e: &Expr, at: At) -> Text {
        let of = |e: &Expr| self.expr(e, at);
        let indexed = |name: String, index: Option<&str>| index.map_or(name.clone(), |i| format!("{name}[{i}]"));
        Ok(match &e.kind {
            ExprKind::Number(x) if at.decimal && x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.1}"),
            ExprKind::Number(x) => literal(*x),
            ExprKind::Bool(b) => u8::from(*b).to_string(),
            ExprKind::Text(s) => format!("\"{s}\""),
            ExprKind::Level(i) => i.saturating_add(1).to_string(),
            ExprKind::Column(t, c) => {
                let table = self.program.tables.get(t.0);
                let Some((table, column)) = table.and_then(|t| Some((t, t.columns.get(c.0)?))) else {
                    return refuse(e.span, "its rows are in no file");
                };
                indexed(column_name(table, column), at.row)
            }
            ExprKind::Param(id) => indexed(self.names.get(id).cloned().unwrap_or_else(|| "?".into()), at.group),
            ExprKind::Released(id) => {
                let here = |s: &Step| matches!(s, Step::Release(r) if r.id == *id);
                if self.each.is_some_and(|each| each.body.iter().any(here)) {
                    return refuse(e.span, "a value that was released for each group, in a model of the same group");
                }
                plain(self.program.released.get(id.0).map_or("released", String::as_str))
            }
            ExprKind::Scalar(id) => plain(self.program.scalars.get(id.0).map_or("?", |s| s.name.as_str())),
            ExprKind::RowCount(t) if self.each.is_some_and(|each| each.table == *t) => {
                return refuse(e.span, "the number of rows of a group");
            }
            ExprKind::RowCount(t) => self.program.tables.get(t.0).map_or_else(|| "N".into(), size_name),
            // Not in the model of a release.
            ExprKind::Fit(_) | ExprKind::EachLevel => return refuse(e.span, "this is not a value of a model"),
            ExprKind::List(items) => self.list(items, at)?,
            ExprKind::If(c, a, b) => format!("({} ? {} : {})", of(c)?, of(a)?, of(b)?),
            ExprKind::Call(Builtin::Cell, values) => {
                // Levels count from 1, bools from 0, whole numbers from their least.
                let whole = At { decimal: false, ..at };
                let mut all = String::new();
                for e in values {
                    let text = self.expr(e, whole)?;
                    let (place, n) = match &e.ty {
                        Type::Category(levels) => (format!("({text} - 1)"), levels.len() as f64),
                        Type::Int(r) => (format!("({text} - {})", number(r.lo)), r.width() + 1.0),
                        _ => (text, 2.0),
                    };
                    all = if all.is_empty() { place } else { format!("({all} * {} + {place})", number(n)) };
                }
                format!("{all} + 1")
            }
            ExprKind::Index(a, i) => {
                // A row of a matrix lies down in Stan.
                let upright = if matches!(a.ty, Type::Matrix { .. }) { "'" } else { "" };
                format!("{}[{}]{upright}", indexable(&of(a)?), self.expr(i, At { decimal: false, ..at })?)
            }
            ExprKind::Field(a, name) => format!("{}_{}", of(a)?, plain(name)),
            ExprKind::Call(f, args) => self.call(e, *f, args, at)?,
        })
    }

    fn call(&self, e: &Expr, f: Builtin, args: &[Expr], at: At) -> Text {
        use Builtin as B;
        if f.over_rows() {
            return self.over_rows(e, f, args);
        }
        let (first, at) = match f {
            B::Div => (if args.first().is_some_and(is_whole) { "1.0 * " } else { "" }, At { decimal: true, ..at }),
            B::Rep => ("", At { decimal: false, ..at }),
            // Integers of Stan have 32 bits.
            B::Add | B::Sub | B::Mul if is_whole(e) && e.ty.range().is_some_and(|r| !is_small(r) || r == Range::ALL) => ("1.0 * ", at),
            _ => ("", at),
        };
        let texts = args.iter().map(|e| self.expr(e, at)).collect::<Result<Vec<_>, _>>()?;
        let sign = match f {
            B::Binary(Binary::Or) => Some("||"),
            B::Binary(Binary::And) => Some("&&"),
            // By component.
            B::Mul if args.iter().all(is_vector) => Some(".*"),
            B::Div if args.last().is_some_and(is_vector) => Some("./"),
            B::Pow if args.iter().any(is_vector) => Some(".^"),
            f => print::operator(f),
        };
        if let Some(sign) = sign {
            if args.iter().any(is_vector) && !matches!(f, B::Add | B::Sub | B::Mul | B::Div | B::Pow | B::MatVec) {
                return refuse(e.span, "vectors are not compared by component in Stan");
            }
            // A sign binds less than a power.
            let operand = |t: &String| if t.starts_with('-') && f == B::Pow { format!("({t})") } else { t.clone() };
            return Ok(format!("({first}{})", texts.iter().map(operand).collect::<Vec<_>>().join(&format!(" {sign} "))));
        }
        // Of integers Stan's fmin and fmax make reals.
        let integers = is_whole(e) && !at.decimal;
        let [min, max] = if integers { ["min", "max"] } else { ["fmin", "fmax"] };
        let all = texts.join(", ");
        Ok(match (f, texts.as_slice()) {
            (B::Neg, [a]) if a.starts_with('-') => format!("-({a})"),
            (B::Neg, [a]) => format!("-{a}"),
            (B::Not, [a]) => format!("!{a}"),
            (B::Clip, [x, lo, hi]) => format!("{min}({max}({x}, {lo}), {hi})"),
            (B::Min, [a, b]) => format!("{min}({a}, {b})"),
            (B::Max, [a, b]) => format!("{max}({a}, {b})"),
            (B::Dot, [a, b]) => format!("dot_product({a}, {b})"),
            (B::Append, [a, b]) => format!("append_row({a}, {b})"),
            (B::Rep, [x, n]) => format!("rep_vector({x}, {n})"),
            (B::Norm, [v]) => format!("norm2({v})"),
            (B::ProjectL2, [v, r]) => format!("({v} * fmin(1, {r} / norm2({v})))"),
            (B::ProjectLinf, [v, r]) => format!("fmin(fmax({v}, -({r})), {r})"),
            // An integer where it is known before the parameters are.
            (B::Unary(_), [_]) if integers && !matches!(e.label, Label::Latent | Label::Mix(_)) && args.iter().any(|a| !is_whole(a)) => {
                format!("to_int({}({all}))", print::function(f))
            }
            (B::Unary(_), [_]) => format!("{}({all})", print::function(f)),
            (B::VecSum | B::VecMean | B::VecMin | B::VecMax | B::VecSd, [_]) => format!("{}({all})", print::function(f)),
            (B::MatVec, _) | (B::Binary(_), _) => return refuse(e.span, "an operator without its operands"),
            _ => return refuse(e.span, format!("Stan has no `{}`", print::function(f))),
        })
    }

    /// A number of all rows of a public column.
    fn over_rows(&self, e: &Expr, f: Builtin, args: &[Expr]) -> Text {
        let name = match f {
            Builtin::RowSum => "sum",
            Builtin::RowMean => "mean",
            Builtin::RowMin => "min",
            Builtin::RowMax => "max",
            _ => return refuse(e.span, format!("Stan has no `{}` of rows", print::function(f))),
        };
        let [column] = args else { return refuse(e.span, "one column at a time") };
        if self.each.is_some() || !matches!(column.kind, ExprKind::Column(..)) || is_vector(column) {
            return refuse(e.span, "a number of all rows is written in Stan of one column of numbers, outside `each`");
        }
        Ok(format!("{name}({})", self.expr(column, At::default())?))
    }

    /// Numbers as a column vector, rows as a matrix, vectors one after the other.
    fn list(&self, items: &[Expr], at: At) -> Text {
        let texts = |items: &[Expr]| Ok::<_, Refusal>(items.iter().map(|e| self.expr(e, at)).collect::<Result<Vec<_>, _>>()?.join(", "));
        let rows: Vec<&[Expr]> =
            items.iter().filter_map(|e| if let ExprKind::List(row) = &e.kind { Some(row.as_slice()) } else { None }).collect();
        if rows.len() == items.len() {
            let rows = rows.iter().map(|row| Ok(format!("[{}]", texts(row)?))).collect::<Result<Vec<_>, _>>()?;
            return Ok(format!("[{}]", rows.join(", ")));
        }
        if items.iter().all(|e| e.ty.is_scalar_number()) {
            return Ok(format!("[{}]'", texts(items)?));
        }
        let mut all = String::new();
        for e in items {
            let text = self.expr(e, at)?;
            let part = if e.ty.is_scalar_number() { format!("[{text}]'") } else { text };
            all = if all.is_empty() { part } else { format!("append_row({all}, {part})") };
        }
        Ok(all)
    }
}
