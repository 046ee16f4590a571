//! Expressions: names, literals, indices, fields, conditionals, and the join of labels.

use super::scope::{Binding, Origin};
use super::{Checked, Checker, MAX_DEPTH, Stop, measure, vectors};
use crate::model::{Builtin, Expr, ExprKind, Label, Range, TableId, Type};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

/// A node.
pub(super) fn node(kind: ExprKind, ty: Type, label: Label, span: Span) -> Expr {
    Expr { kind, ty, label, span }
}

/// A public number.
pub(super) fn number(x: f64, span: Span) -> Expr {
    node(ExprKind::Number(x), Type::Real(Range::point(x)), Label::Public, span)
}

/// The first names of a list that may be long.
pub(super) fn some<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut list: Vec<&str> = names.take(SOME + 1).collect();
    if list.len() > SOME {
        list.truncate(SOME);
        list.push("..");
    }
    list.join(", ")
}

const SOME: usize = 24;

impl Checker<'_> {
    pub(super) fn expr(&mut self, e: &ast::Expr) -> Checked<Expr> {
        self.spend_nodes(1, e.span)?;
        match &e.kind {
            ast::ExprKind::Number(x, _) => Ok(number(*x, e.span)),
            ast::ExprKind::Percent(x) => Ok(number(*x, e.span)),
            ast::ExprKind::Text(s) => Ok(node(ExprKind::Text(s.clone()), Type::Text, Label::Public, e.span)),
            ast::ExprKind::Bool(b) => Ok(node(ExprKind::Bool(*b), Type::Bool, Label::Public, e.span)),
            ast::ExprKind::Hole => self.fail(
                Diagnostic::new("E0312", "a hole `?` was left")
                    .label(e.span, "write a value here")
                    .help("a hole is understood only after `using`: it lists every mechanism that fits"),
            ),
            ast::ExprKind::Paren(inner) => self.expr(inner),
            ast::ExprKind::Name(name) => self.name(name, e.span),
            ast::ExprKind::List(items) => {
                let items = self.exprs(items)?;
                self.list(items, e.span)
            }
            ast::ExprKind::Unary(op, a) => {
                let op = match op {
                    ast::UnaryOp::Neg => Builtin::Neg,
                    ast::UnaryOp::Not => Builtin::Not,
                };
                let a = self.expr(a)?;
                self.apply(op, vec![a], e.span)
            }
            ast::ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ast::ExprKind::If(c, a, b) => self.conditional(c, a, b, e.span),
            ast::ExprKind::Call(callee, args) => self.call(callee, args, e.span),
            ast::ExprKind::Index(base, index) => self.index(base, index, e.span),
            ast::ExprKind::Field(base, field) => self.field(base, field, e.span),
        }
    }

    /// Checks every expression, so that several faults of one statement are all reported.
    pub(super) fn exprs(&mut self, items: &[ast::Expr]) -> Checked<Vec<Expr>> {
        let checked: Vec<Checked<Expr>> = items.iter().map(|e| self.expr(e)).collect();
        checked.into_iter().collect()
    }

    pub(super) fn name(&mut self, name: &str, span: Span) -> Checked<Expr> {
        // What a function or model calls by this name is its own.
        if !self.scopes.in_body()
            && let Some(column) = self.cell_column(name, span)
        {
            return Ok(column);
        }
        let found = self.scopes.find(name).map(|e| e.binding.clone());
        match found {
            Some(Binding::Value(value)) => {
                let (nodes, depth) = measure(&value);
                self.spend_nodes(nodes, span)?;
                if self.group.is_some() && self.asks_private_table(&value) {
                    return self.of_all_rows(name, &value, span);
                }
                if depth > MAX_DEPTH {
                    return self.too_deep(span);
                }
                let mut value = (*value).clone();
                if matches!(value.kind, ExprKind::Call(..)) && matches!(value.label, Label::Latent | Label::Mix(_)) {
                    self.program.places.push((span, value.span));
                }
                value.span = span;
                Ok(value)
            }
            Some(Binding::Param(id)) => match self.param(id) {
                Some(p) => Ok(node(ExprKind::Param(id), p.ty.clone(), Label::Latent, span)),
                None => Err(Stop),
            },
            Some(Binding::Release(id)) => match self.release(id) {
                Some(r) => Ok(node(ExprKind::Released(id), r.ty.clone(), Label::Public, span)),
                None => Err(Stop),
            },
            Some(Binding::Scalar(id)) => match self.program.scalars.get(id.0) {
                Some(s) => Ok(node(ExprKind::Scalar(id), s.ty.clone(), Label::Public, span)),
                None => Err(Stop),
            },
            Some(Binding::SecretCount(t)) => self.secret_count(t, span),
            Some(Binding::Poisoned) => Err(Stop),
            Some(Binding::Table(_)) => self.fail(
                Diagnostic::new("E0209", format!("`{name}` is a table, not a value"))
                    .label(span, "a table")
                    .help(format!("name one of its columns: {name}.{}", self.first_column(name))),
            ),
            Some(Binding::Fn(_) | Binding::Model(_)) => self.fail(
                Diagnostic::new("E0209", format!("`{name}` is a function, not a value"))
                    .label(span, "a function needs its arguments")
                    .help(format!("{name}(..)")),
            ),
            None => self.column_or_unknown(name, span),
        }
    }

    pub(super) fn too_deep<T>(&mut self, span: Span) -> Checked<T> {
        self.fail(
            Diagnostic::new("E0025", "this expression is nested too deeply once its names are written out")
                .label(span, format!("more than {MAX_DEPTH} operations inside each other"))
                .help("release or declare an intermediate value"),
        )
    }

    fn first_column(&self, table: &str) -> String {
        let t = self.program.tables.iter().find(|t| t.name == table);
        t.and_then(|t| t.columns.first()).map_or_else(|| "column".into(), |c| c.name.clone())
    }

    pub(super) fn column_expr(&mut self, t: TableId, c: crate::model::ColumnId, span: Span) -> Checked<Expr> {
        match self.column(t, c) {
            Some(column) => Ok(node(ExprKind::Column(t, c), column.ty.clone(), Label::Row(t), span)),
            None => Err(Stop),
        }
    }

    /// A bare name that no statement binds: a column of a table, if exactly one has it.
    fn column_or_unknown(&mut self, name: &str, span: Span) -> Checked<Expr> {
        let columns = if self.scopes.in_body() { &[] } else { self.columns_named(name) };
        match *columns {
            [(t, c)] => self.column_expr(t, c, span),
            [(a, _), (b, _), ..] => {
                let (a, b) = (self.table_name(a), self.table_name(b));
                self.fail(
                    Diagnostic::new("E0206", format!("`{name}` is a column of `{a}` and of `{b}`"))
                        .label(span, "which table?")
                        .helps([format!("{a}.{name}"), format!("{b}.{name}")]),
                )
            }
            [] if name == "inf" => Ok(number(f64::INFINITY, span)),
            [] if name == "pi" => Ok(number(std::f64::consts::PI, span)),
            [] => self.unknown(name, span),
        }
    }

    pub(super) fn unknown<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        if !self.complete {
            return Err(Stop);
        }
        let mut candidates: Vec<String> = self.scopes.visible().into_iter().map(String::from).collect();
        candidates.extend(self.program.tables.iter().flat_map(|t| t.declared().map(|c| c.name.clone())));
        let near = crate::source::suggest::did_you_mean(name, candidates.iter().map(String::as_str));
        let d = Diagnostic::new("E0206", format!("unknown name `{name}`")).label(span, "nothing of this name is declared above");
        let d = match near {
            Some(n) => d.near(span, &n),
            None => d.help(format!("declare it first: a column, `param {name} ~ ..`, `let {name} = ..` or `public {name}: real`")),
        };
        self.fail(d)
    }

    /// A vector of parts: scalars give components, vectors are set side by side, matrices make a bare tuple.
    pub(super) fn list(&mut self, items: Vec<Expr>, span: Span) -> Checked<Expr> {
        let label = self.join_all(&items, span)?;
        let mut out = vectors::boxed(0, Range::new(f64::INFINITY, f64::NEG_INFINITY), None);
        (out.sup, out.diam) = (crate::model::Norms::ZERO, crate::model::Norms::ZERO);
        let mut rest = items.as_slice();
        while let Some((item, after)) = rest.split_first() {
            let together = super::exclusive::exclusive(rest);
            rest = together.as_ref().map_or(after, |(count, _)| rest.get(*count..).unwrap_or_default());
            let part = match &item.ty {
                _ if let Some((_, together)) = together => together,
                ty if ty.is_scalar_number() => vectors::boxed(1, ty.range().unwrap_or(Range::ALL), None),
                Type::Vector(v) => v.clone(),
                Type::Simplex { dim, .. } => vectors::boxed(*dim, Range::UNIT, None),
                Type::Matrix { rows, columns, range } => vectors::boxed(rows.saturating_mul(*columns), *range, None),
                other => {
                    let what = super::messages::type_text(other);
                    return self.fail(Diagnostic::new("E0209", format!("a list holds numbers, not {what}")).label(item.span, what));
                }
            };
            out.sup = vectors::append(out.sup, part.sup);
            out.diam = vectors::append(out.diam, part.diam);
            out.dim = out.dim.saturating_add(part.dim);
            out.range = out.range.hull(part.range);
        }
        out.sup = vectors::tighten(out.sup, out.dim);
        out.diam = vectors::tighten(out.diam, out.dim);
        if items.is_empty() {
            return self.fail(Diagnostic::new("E0201", "a list needs at least one value").label(span, "empty"));
        }
        Ok(node(ExprKind::List(items), Type::Vector(out), label, span))
    }

    fn conditional(&mut self, c: &ast::Expr, a: &ast::Expr, b: &ast::Expr, span: Span) -> Checked<Expr> {
        let c = self.expr(c)?;
        self.want_bool(&c)?;
        if let Label::Aggregate(t) = c.label {
            return self.private_branch(&c, t, None);
        }
        let (a, b) = (self.expr(a)?, self.expr(b)?);
        let label = self.join_all(&[c.clone(), a.clone(), b.clone()], span)?;
        let ty = match (&a.ty, &b.ty) {
            (Type::Bool, Type::Bool) => Type::Bool,
            (Type::Int(x), Type::Int(y)) => Type::Int(x.hull(*y)),
            (Type::Text, Type::Text) => Type::Text,
            (x, y) if x.is_scalar_number() && y.is_scalar_number() => {
                Type::Real(x.range().unwrap_or(Range::ALL).hull(y.range().unwrap_or(Range::ALL)))
            }
            (Type::Vector(x), Type::Vector(y)) if x.dim == y.dim => {
                Type::Vector(vectors::boxed(x.dim, x.range.hull(y.range), x.levels.clone()))
            }
            (x, y) => {
                let (x, y) = (super::messages::type_text(x), super::messages::type_text(y));
                if x == y {
                    return self.fail(
                        Diagnostic::new("E0209", "`if` chooses between numbers, vectors or texts").label(a.span, x).label(b.span, y),
                    );
                }
                return self
                    .fail(Diagnostic::new("E0209", "the two branches of `if` have different types").label(a.span, x).label(b.span, y));
            }
        };
        Ok(node(ExprKind::If(Box::new(c), Box::new(a), Box::new(b)), ty, label, span))
    }

    /// `u[region]`: the component of a row's level.
    fn picked(&mut self, base: Expr, index: Expr, same: bool, part: Type, span: Span) -> Checked<Expr> {
        // A vector that is not a parameter would need its own row operation.
        if !same || !(self.averaged_draws(&base) || matches!(base.kind, ExprKind::Param(_))) {
            if same {
                let d = Diagnostic::new("E0209", "only parameters are indexed by a column")
                    .label(base.span, "not a parameter")
                    .label(index.span, "a value of every row");
                return self.fail(d);
            }
            let levels = |ty: &Type| ty.levels().map_or(String::new(), |l| some(l.iter().map(String::as_str)));
            let d = Diagnostic::new("E0201", "the vector and its index have different levels")
                .label(index.span, format!("one of {}", levels(&index.ty)))
                .label(base.span, format!("one number for each of {}", levels(&base.ty)));
            return self.fail(d);
        }
        let label = self.join_all(&[base.clone(), index.clone()], span)?;
        Ok(node(ExprKind::Index(Box::new(base), Box::new(index)), part, label, span))
    }

    /// A parameter of every draw, where draws are averaged over the rows of a table.
    pub(super) fn averaged_draws(&self, e: &Expr) -> bool {
        self.beside.is_some() && matches!(e.kind, ExprKind::Column(t, _) if self.origin(t).is_some())
    }

    pub(super) fn want_bool(&mut self, e: &Expr) -> Checked<()> {
        match &e.ty {
            Type::Bool => Ok(()),
            other => {
                let what = super::messages::type_text(other);
                self.fail(Diagnostic::new("E0209", "a condition must be true or false").label(e.span, what))
            }
        }
    }

    fn index(&mut self, base: &ast::Expr, indices: &[ast::Expr], span: Span) -> Checked<Expr> {
        let base = self.expr(base)?;
        let axes = if let Type::Vector(v) = &base.ty {
            v.axes.clone().filter(|axes| axes.len() > 1 || axes.iter().any(|a| a.ty == Type::Bool || !a.edges.is_empty()))
        } else {
            None
        };
        if let Some(axes) = axes {
            return self.cell_of(base, &axes, indices, span);
        }
        let inner = match &base.ty {
            Type::Posterior(inner) => (**inner).clone(),
            other => other.clone(),
        };
        let several = inner.levels().and_then(|_| ast::level_name(indices));
        let (Some(index), true) = (indices.first(), indices.len() == 1 || several.is_some()) else {
            return self.fail(self.arity("`[..]`", "one index, from 1 or by level", span));
        };
        let (dim, part) = match &inner {
            Type::Vector(v) => (v.dim, Type::Real(v.range)),
            Type::Simplex { dim, .. } => (*dim, Type::Real(Range::UNIT)),
            Type::Counts { dim, total, .. } => (*dim, Type::Int(Range::new(0.0, *total as f64))),
            Type::Matrix { rows, columns, range } => (*rows, Type::Vector(vectors::boxed(*columns, *range, None))),
            other => {
                let what = super::messages::type_text(other);
                return self.fail(Diagnostic::new("E0209", "only vectors have components").label(base.span, what));
            }
        };
        // A bare name is a level, unless it is an argument of the function we are in, or no level but a value.
        let by_level = match (&index.kind, inner.levels()) {
            (_, Some(levels)) if several.is_some() => several.as_ref().map(|level| (level, levels.clone())),
            (ast::ExprKind::Text(level), Some(levels)) => Some((level, levels.clone())),
            (ast::ExprKind::Name(name), Some(levels)) => {
                let level = self.place_of(name, levels).is_some();
                let value = self.scopes.find(name).is_some() && (self.scopes.in_body() || !level);
                let column = !level
                    && (!self.columns_named(name).is_empty() || (!self.scopes.in_body() && self.cell_column(name, index.span).is_some()));
                (!value && !column).then(|| (name, levels.clone()))
            }
            _ => None,
        };
        let index = match by_level {
            Some((level, levels)) => self.level(level, &levels, index.span)?,
            None => {
                let i = self.expr(index)?;
                if let (Type::Category(of), Some(levels)) = (&i.ty, inner.levels()) {
                    let same = of == levels;
                    return self.picked(base, i, same, part, span);
                }
                let range = i.ty.range().filter(|_| i.ty.is_scalar_number());
                let inside = range.is_some_and(|r| r.lo >= 1.0 && r.hi <= dim as f64 && (r.lo.fract() == 0.0 || !r.is_point()));
                if i.label != Label::Public || !inside {
                    return self.no_index(&base, &i, dim);
                }
                i
            }
        };
        let ty = if matches!(base.ty, Type::Posterior(_)) { Type::Posterior(Box::new(part)) } else { part };
        let label = base.label;
        Ok(node(ExprKind::Index(Box::new(base), Box::new(index)), ty, label, span))
    }

    fn field(&mut self, base: &ast::Expr, field: &ast::Name, span: Span) -> Checked<Expr> {
        if let ast::ExprKind::Name(name) = &base.kind {
            if let Some(Binding::Table(t)) = self.scopes.find(name).map(|e| e.binding.clone()) {
                return self.table_column(t, field, span);
            }
            // In a model of released counts, a column of theirs.
            if let (Some(Binding::Release(id)), Some(t)) = (self.scopes.find(name).map(|e| e.binding.clone()), self.observed)
                && self.origin(t) == Some(Origin::Cells(id))
            {
                return self.table_column(t, field, span);
            }
            if self.scopes.find(name).is_none()
                && let Some(Binding::Table(t)) = self.scopes.outermost(name).map(|e| e.binding.clone())
            {
                return self.table_column(t, field, span);
            }
        }
        let base = self.expr(base)?;
        if let Type::Posterior(inner) = &base.ty
            && let Type::Record(parts) = inner.as_ref()
        {
            return self.drawn(&base, parts, field, span);
        }
        let Type::Record(parts) = &base.ty else {
            let what = super::messages::type_text(&base.ty);
            return self
                .fail(Diagnostic::new("E0206", format!("`.{}` needs a table or a drawn record", field.value)).label(base.span, what));
        };
        match parts.iter().find(|(n, _)| *n == field.value) {
            Some((_, ty)) => {
                let (ty, label) = (ty.clone(), base.label);
                Ok(node(ExprKind::Field(Box::new(base), field.value.clone()), ty, label, span))
            }
            None => {
                let names = some(parts.iter().map(|(n, _)| n.as_str()));
                self.fail(
                    Diagnostic::new("E0206", format!("the draw has no part `{}`", field.value))
                        .label(field.span, format!("parts: {names}")),
                )
            }
        }
    }

    pub(super) fn table_column(&mut self, t: TableId, field: &ast::Name, span: Span) -> Checked<Expr> {
        let place = self.table(t).and_then(|t| t.columns.iter().position(|c| c.name == field.value));
        match place {
            Some(c) => self.column_expr(t, crate::model::ColumnId(c), span),
            None if self.scopes.here(&field.value).is_some_and(|e| matches!(e.binding, Binding::Poisoned)) => Err(Stop),
            None => {
                let table = self.table_name(t);
                let columns = || self.table(t).into_iter().flat_map(|t| t.columns.iter().map(|c| c.name.as_str()));
                let near = crate::source::suggest::did_you_mean(&field.value, columns());
                let d = Diagnostic::new("E0206", format!("`{table}` has no column `{}`", field.value))
                    .label(field.span, format!("columns: {}", some(columns())));
                self.fail(match near {
                    Some(n) => d.help(Help::from(format!("did you mean `{table}.{n}`?")).edit(field.span, n)),
                    None => d,
                })
            }
        }
    }

    /// Who may know a value made of these parts (language reference §7.1).
    pub(super) fn join_all(&mut self, parts: &[Expr], span: Span) -> Checked<Label> {
        let mut out: Option<&Expr> = None;
        let mut label = Label::Public;
        let beside = self.beside;
        for part in parts {
            let own = if matches!(part.label, Label::Row(t) if beside == Some(t)) { Label::Public } else { part.label };
            let joined = match (label, own) {
                (Label::Public, other) | (other, Label::Public) => other,
                (Label::Latent, Label::Latent) => Label::Latent,
                (Label::Row(a), Label::Row(b)) if a == b => Label::Row(a),
                (Label::Mix(a), Label::Row(b) | Label::Mix(b)) | (Label::Row(a), Label::Mix(b)) if a == b => Label::Mix(a),
                (Label::Row(a) | Label::Mix(a), Label::Latent) | (Label::Latent, Label::Row(a) | Label::Mix(a)) => Label::Mix(a),
                (Label::Aggregate(a), Label::Aggregate(b)) if a == b => Label::Aggregate(a),
                (Label::Aggregate(_), Label::Row(_) | Label::Mix(_)) => return self.row_and_aggregate(part, out.unwrap_or(part), span),
                (Label::Row(_) | Label::Mix(_), Label::Aggregate(_)) => return self.row_and_aggregate(out.unwrap_or(part), part, span),
                (Label::Aggregate(_), Label::Latent) | (Label::Latent, Label::Aggregate(_)) => {
                    return self.data_used_twice(part, span);
                }
                _ => return self.two_tables(out.unwrap_or(part), part),
            };
            if joined != label || out.is_none() {
                if own != Label::Public {
                    out = Some(part);
                }
                label = joined;
            }
        }
        Ok(label)
    }
}
