//! Tables and public scalars: what a program is about.

use super::scope::Binding;
use super::{Checked, Checker, Stop};
use crate::model::{Column, ColumnId, Expr, ExprKind, Label, Levels, Relation, RowCount, Scalar, ScalarId, Table, TableId, Type};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most rows a unit may have; far above any use, small enough for exact arithmetic.
const MAX_UNIT_ROWS: u64 = 1_000_000_000;

/// The most columns that all files of a program have, and the most bytes of their names: each is looked up by its name.
const MAX_COLUMNS: u64 = 1_000_000;
const MAX_HEADERS: u64 = 64 << 20;

impl Checker<'_> {
    /// Declares every table, public scalar and the budget, wherever they are in the file.
    pub(super) fn declare_tables(&mut self, items: &[ast::Item]) {
        for item in items {
            let _reported = match &item.kind {
                ast::ItemKind::PublicScalar { name, ty, value } => self.public_scalar(name, ty, value.as_ref(), item.span),
                ast::ItemKind::Private(t) => self.declare_table(t, true, item.span),
                ast::ItemKind::PublicTable(t) => self.declare_table(t, false, item.span),
                _ => continue,
            };
        }
        for item in items {
            if let ast::ItemKind::Budget { call } = &item.kind {
                let _reported = self.declare_budget(call, item.span);
            }
        }
    }

    fn public_scalar(&mut self, name: &ast::Name, ty: &ast::Type, value: Option<&ast::Expr>, span: Span) -> Checked<()> {
        let ty = match self.declared_type(ty) {
            Ok(ty) if ty.is_scalar_number() => ty,
            Ok(_) => {
                return self.fail(
                    Diagnostic::new("E0209", format!("`{}` must be a number", name.value))
                        .label(ty.span, "a public value is bool, int or real; declare a table for more")
                        .help(format!("public {}: real in [0, 10]", name.value)),
                );
            }
            Err(Stop) => {
                self.scopes.bind(&name.value, Binding::Poisoned, name.span);
                return Err(Stop);
            }
        };
        let value = value.map(|v| self.public_constant(v, "a public value")).transpose()?;
        if let (Some(x), Some(range)) = (value, ty.range())
            && !range.contains(x)
        {
            return self.fail(
                Diagnostic::new("E0203", format!("`{}` is outside its declared domain", name.value))
                    .label(span, format!("{x} is not in {}", super::messages::range_text(range))),
            );
        }
        let id = ScalarId(self.program.scalars.len());
        let bound = value.map(|x| match ty {
            Type::Bool => super::expressions::node(ExprKind::Bool(x != 0.0), Type::Bool, Label::Public, span),
            _ => super::expressions::number(x, span),
        });
        match &bound {
            Some(e) => self.define(name, Binding::Value(Rc::new(e.clone())))?,
            None => self.define(name, Binding::Scalar(id))?,
        }
        self.program.scalars.push(Scalar { name: name.value.clone(), ty, value: bound, span });
        Ok(())
    }

    fn declare_table(&mut self, t: &ast::Table, private: bool, span: Span) -> Checked<()> {
        let id = TableId(self.program.tables.len());
        let header = self.table_header(t, private);
        // Columns are declared even if the header is wrong, so that their uses make no second error.
        let placeholder = Table {
            name: t.name.value.clone(),
            private,
            relation: Relation::ReplaceOne,
            count_name: None,
            rows: RowCount { at_least: 0, exactly: None },
            unit: None,
            order: None,
            columns: vec![],
            span,
            rows_span: t.rows.span,
        };
        let (relation, rows, count_name) = match header {
            Ok(h) => h,
            Err(Stop) => (Relation::ReplaceOne, RowCount { at_least: 0, exactly: None }, None),
        };
        self.program.tables.push(Table { relation, rows, count_name: count_name.clone(), ..placeholder });
        self.define(&t.name, Binding::Table(id))?;
        let mut first: BTreeMap<&str, Span> = BTreeMap::new();
        for column in &t.columns {
            // As for statements: enough has been said.
            if self.diagnostics.len() >= crate::syntax::MAX_COMPLAINTS {
                break;
            }
            let before = first.get(column.name.value.as_str()).copied();
            first.entry(&column.name.value).or_insert(column.name.span);
            let declared = self.declare_column(t, column, before);
            match (declared, self.program.tables.get_mut(id.0)) {
                (Ok(column), Some(table)) => {
                    let place = (id, ColumnId(table.columns.len()));
                    self.columns.entry(column.name.clone()).or_default().push(place);
                    table.columns.push(column);
                }
                // Enough has been said about this column: its uses are silent.
                _ if before.is_none() => self.scopes.bind(&column.name.value, Binding::Poisoned, column.name.span),
                _ => {}
            }
        }
        if let ast::RowsKind::Named { secret, name, .. } = &t.rows.kind {
            let binding = if *secret && private {
                Binding::SecretCount(id)
            } else {
                let ty = Type::Int(self.count_range(id));
                Binding::Value(Rc::new(Expr { kind: ExprKind::RowCount(id), ty, label: Label::Public, span: name.span }))
            };
            self.define(name, binding)?;
        }
        if let Some(unit) = &t.unit {
            let unit = self.unit(t, unit, private)?;
            if let Some(table) = self.program.tables.get_mut(id.0) {
                (table.unit, table.order) = (Some(unit.0), unit.1);
            }
        }
        if private { self.same_relation(id) } else { Ok(()) }
    }

    fn table_header(&mut self, t: &ast::Table, private: bool) -> Checked<(Relation, RowCount, Option<String>)> {
        match &t.rows.kind {
            ast::RowsKind::Exactly(0) => self.fail(
                Diagnostic::new("E0203", format!("`{}` is declared to have no rows", t.name.value))
                    .label(t.rows.span, "at least 1")
                    .help(format!("{}[n]", t.name.value)),
            ),
            ast::RowsKind::Exactly(n) => Ok((Relation::ReplaceOne, RowCount { at_least: *n, exactly: Some(*n) }, None)),
            ast::RowsKind::Named { secret: true, name, .. } if !private => self.fail(
                Diagnostic::new("E0209", "a public table has no secrets")
                    .label(t.rows.span, "`private` inside a public table")
                    .help(format!("public {}[{}]", t.name.value, name.value)),
            ),
            ast::RowsKind::Named { secret: true, name, at_least: Some(bound) } => self.fail(
                Diagnostic::new("E0104", "a secret number of rows has no public bound")
                    .label(bound.span, format!("`>= {}` would tell something about it", bound.value))
                    .label(t.rows.span, "secret here: neighbours add or remove one unit")
                    .cause("if the data set has exactly this many rows, its smaller neighbour would break the promise")
                    .helps([("private ", String::new(), "secret, no bound"), ("", format!(" >= {}", bound.value), "public")].map(
                        |(secret, least, effect)| {
                            let unit = t.unit.as_ref().map_or(String::new(), |u| format!(" {}", self.written(u.span)));
                            let rows = format!("[{secret}{}{least}]", name.value);
                            Help::from(("", format!("private {}{rows}{unit} {{ ... }}", t.name.value), effect)).edit(t.rows.span, rows)
                        },
                    )),
            ),
            ast::RowsKind::Named { secret, name, at_least } => {
                let relation = if *secret { Relation::AddRemove } else { Relation::ReplaceOne };
                // A public number of rows is at least 1: without a row there is no neighbour that replaces one.
                let fewest = u64::from(private && !*secret);
                let at_least = at_least.as_ref().map_or(0, |b| b.value).max(fewest);
                Ok((relation, RowCount { at_least, exactly: None }, Some(name.value.clone())))
            }
        }
    }

    /// `first` is where the table already has a column of this name.
    fn declare_column(&mut self, table: &ast::Table, column: &ast::Column, first: Option<Span>) -> Checked<Column> {
        let name = &column.name;
        if let Some(first) = first {
            return self.fail(
                Diagnostic::new("E0207", format!("`{}` has two columns `{}`", table.name.value, name.value))
                    .label(name.span, "again here")
                    .label(first, "first here")
                    .help(format!("rename one: {}_2 from \"{}\"", name.value, name.value)),
            );
        }
        let ty = self.declared_type(&column.ty)?;
        let parts = match &ty {
            Type::Vector(v) if !v.ordered => Some(v.dim),
            Type::Counts { dim, .. } => Some(*dim),
            Type::Vector(_) | Type::Matrix { .. } | Type::Simplex { .. } => {
                return self.fail(
                    Diagnostic::new("E0209", format!("`{}` cannot be a column", name.value))
                        .label(column.ty.span, super::messages::type_text(&ty))
                        .help("columns are bool, int, real, text, category, vector or counts"),
                );
            }
            _ => None,
        };
        self.file_columns(parts, column)?;
        let headers = match (parts, &column.from) {
            (None, from) => vec![from.as_ref().map_or(name.value.clone(), |f| f.value.clone())],
            (Some(d), None) => (1..=d).map(|i| format!("{}_{i}", name.value)).collect(),
            (Some(d), Some(from)) => {
                let names: Vec<String> = from.value.split(',').map(|s| s.trim().to_string()).collect();
                if names.len() as u64 != d {
                    return self.fail(
                        Diagnostic::new("E0201", format!("{} header names for {d} components", names.len()))
                            .label(from.span, format!("{} names", names.len()))
                            .label(column.ty.span, format!("{d} components")),
                    );
                }
                names
            }
        };
        let missing = column.missing.as_ref().map_or(Ok(vec![]), |value| self.missing(column, &ty, value))?;
        Ok(Column { name: name.value.clone(), headers, public: column.public, ty, missing, view: None, span: column.span })
    }

    /// Counts the columns that a declared one has in its file, before their names are made.
    fn file_columns(&mut self, parts: Option<u64>, column: &ast::Column) -> Checked<()> {
        let over = |(columns, bytes): (u64, u64)| columns > MAX_COLUMNS || bytes > MAX_HEADERS;
        let before = self.file_columns;
        let columns = parts.unwrap_or(1);
        let bytes = match &column.from {
            Some(from) => from.value.len() as u64,
            None => columns.saturating_mul(column.name.value.len() as u64 + 8),
        };
        self.file_columns = (before.0.saturating_add(columns), before.1.saturating_add(bytes));
        match over(self.file_columns) {
            false => Ok(()),
            // One cause, one complaint.
            true if over(before) => Err(Stop),
            true => self.fail(
                Diagnostic::new(
                    "E0025",
                    format!("the files of a program have at most {MAX_COLUMNS} columns in all, with {} MiB of names", MAX_HEADERS >> 20),
                )
                .label(column.ty.span, format!("{} columns so far", self.file_columns.0))
                .help("declare the columns that are used, or split the program"),
            ),
        }
    }

    fn unit(&mut self, t: &ast::Table, unit: &ast::Unit, private: bool) -> Checked<((ColumnId, u64), Option<ColumnId>)> {
        if !private {
            return self.fail(
                Diagnostic::new("E0209", "a public table has no privacy unit")
                    .label(unit.span, "remove this")
                    .help(format!("public {}[..]", t.name.value)),
            );
        }
        if self.scopes.here(&unit.key.value).is_some_and(|e| matches!(e.binding, Binding::Poisoned)) {
            return Err(Stop);
        }
        let Some(key) = t.columns.iter().position(|c| c.name.value == unit.key.value) else {
            return self.fail(
                Diagnostic::new("E0206", format!("`{}` has no column `{}`", t.name.value, unit.key.value))
                    .label(unit.key.span, "the column that tells whose row it is")
                    .help(format!("private {}[n] {} {{ {}: text, ... }}", t.name.value, self.written(unit.span), unit.key.value)),
            );
        };
        if unit.max_rows.value == 0 || unit.max_rows.value > MAX_UNIT_ROWS {
            return self.fail(
                Diagnostic::new("E0203", "a unit needs between 1 and 1000000000 rows")
                    .label(unit.max_rows.span, format!("{}", unit.max_rows.value))
                    .help(format!("by {} max 4", unit.key.value)),
            );
        }
        let public_key = t.columns.get(key).is_some_and(|c| c.public);
        if public_key {
            return self.fail(
                Diagnostic::new("E0209", format!("the id `{}` is declared public", unit.key.value))
                    .label(unit.key.span, "an id stays private")
                    .help(format!("{}: text", unit.key.value)),
            );
        }
        let order = unit.order.as_ref().map(|order| self.order(t, order)).transpose()?;
        Ok(((ColumnId(key), unit.max_rows.value), order))
    }

    /// The column that says which rows of a unit are kept: of one value, so that all rows can be compared.
    fn order(&mut self, t: &ast::Table, order: &ast::Name) -> Checked<ColumnId> {
        if self.scopes.here(&order.value).is_some_and(|e| matches!(e.binding, Binding::Poisoned)) {
            return Err(Stop);
        }
        let Some(at) = t.columns.iter().position(|c| c.name.value == order.value) else {
            return self.fail(
                Diagnostic::new("E0206", format!("`{}` has no column `{}`", t.name.value, order.value))
                    .label(order.span, "the column whose least values are kept")
                    .help(format!("{}: int in 0..100", order.value)),
            );
        };
        let ty = self.program.tables.last().and_then(|table| table.columns.get(at)).map(|c| &c.ty);
        let one = matches!(ty, Some(Type::Bool | Type::Int(_) | Type::Real(_) | Type::Category(_) | Type::Date(_)));
        if !one {
            return self.fail(
                Diagnostic::new("E0206", format!("rows have no order by `{}`", order.value))
                    .label(order.span, "not a number, a date, a category or a bool")
                    .cause("which rows of a unit are kept follows from their values as declared")
                    .help("order by another column"),
            );
        }
        Ok(ColumnId(at))
    }

    /// All private tables have the same relation and the same kind of unit (E0107b).
    fn same_relation(&mut self, id: TableId) -> Checked<()> {
        let Some(this) = self.table(id).cloned() else { return Err(Stop) };
        let first = self.program.tables.iter().find(|t| t.private && t.span != this.span).cloned();
        let Some(first) = first else { return Ok(()) };
        let kind = |t: &Table| (t.relation, t.unit.is_some());
        if kind(&first) == kind(&this) {
            return Ok(());
        }
        let words = |t: &Table| match (t.relation, t.unit.is_some()) {
            (Relation::ReplaceOne, false) => "one row replaced",
            (Relation::ReplaceOne, true) => "all rows of one unit replaced",
            (Relation::AddRemove, false) => "one row added or removed",
            (Relation::AddRemove, true) => "all rows of one unit added or removed",
        };
        self.fail(
            Diagnostic::new("E0107b", format!("`{}` and `{}` protect different things", first.name, this.name))
                .label(this.rows_span, format!("neighbours: {}", words(&this)))
                .label(first.rows_span, format!("neighbours: {}", words(&first)))
                .cause("a total cost needs one neighbour relation and one kind of unit")
                .help("give both headers the same form, for example [n] and [m]"),
        )
    }

    pub(super) fn columns_named(&self, name: &str) -> &[(TableId, ColumnId)] {
        self.columns.get(name).map_or(&[], Vec::as_slice)
    }

    /// The levels of the category columns of this name, where all have the same.
    pub(super) fn levels_of_name(&self, name: &str) -> Option<Levels> {
        if let Some(Type::Category(levels)) = self.type_of_name(name) { Some(levels) } else { None }
    }

    /// The type of the value of this name: of a column of the table whose model is being checked, or of its columns where all have
    /// the same.
    pub(super) fn type_of_name(&self, name: &str) -> Option<Type> {
        let observed = self.observed.filter(|_| !self.scopes.in_body()).and_then(|t| self.table(t));
        if let Some(column) = observed.and_then(|t| t.columns.iter().find(|c| c.name == name)) {
            return Some(column.ty.clone());
        }
        if let Some(entry) = self.scopes.find(name) {
            return if let Binding::Value(e) = &entry.binding { Some(e.ty.clone()) } else { None };
        }
        let declared = self.columns_named(name);
        let recorded = if declared.is_empty() { self.recorded_column(name) } else { None };
        let mut all = declared.iter().filter_map(|(t, c)| self.column(*t, *c)).chain(recorded).map(|c| &c.ty);
        let first = all.next()?;
        all.all(|ty| ty == first).then(|| first.clone())
    }

    /// The name and the type of a column, with its table (`poll.region`, `cells.region` of released counts) or alone.
    pub(super) fn type_of_column(&self, e: &ast::Expr) -> Option<(String, Type)> {
        let (table, name) = match &e.kind {
            ast::ExprKind::Name(name) => return Some((name.clone(), self.type_of_name(name)?)),
            ast::ExprKind::Field(base, field) => match &base.kind {
                ast::ExprKind::Name(table) => (table, &field.value),
                _ => return None,
            },
            _ => return None,
        };
        let ty = match self.scopes.find(table).or_else(|| self.scopes.outermost(table))?.binding {
            Binding::Table(t) => self.table(t)?.columns.iter().find(|c| c.name == *name)?.ty.clone(),
            Binding::Release(id) => self.axes_of(id).iter().find(|a| a.name == *name)?.ty.clone(),
            _ => return None,
        };
        Some((name.clone(), ty))
    }
}
