//! `observe`: one factor a row of one table, and what it says about the parameters it mentions.

use super::scope::Binding;
use super::{Checked, Checker, Stop};
use crate::model::{Expr, Label, Observation, ParamId, TableId, Type};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;

impl Checker<'_> {
    pub(super) fn observe(&mut self, outcome: &[ast::Name], likelihood: &ast::Call, span: Span) -> Checked<()> {
        let y = self.outcome(outcome);
        // Names on the right are columns of the released table first.
        self.observed = y.as_ref().ok().and_then(|y| if let Label::Row(t) = y.label { Some(t) } else { None });
        self.observed = self.observed.filter(|t| self.origin(*t).is_some());
        let dist = self.distribution(likelihood);
        self.observed = None;
        let (y, call) = (y?, dist?);
        let args = &call.args;
        let Label::Row(table) = y.label else {
            let what = match y.label {
                Label::Public => "public, one value",
                Label::Aggregate(_) => "one value for the whole table",
                _ => "depends on parameters",
            };
            return self.fail(
                Diagnostic::new("E0209", "`observe` needs a column")
                    .label(y.span, what)
                    .help("observe y ~ .. with y a column, or a `let` made of columns"),
            );
        };
        let mut all = vec![y.clone()];
        all.extend(args.iter().cloned());
        self.join_all(&all, likelihood.span)?;
        for arg in args {
            if let Label::Aggregate(_) = arg.label {
                return self.data_used_twice(&arg.clone(), likelihood.span);
            }
            let name = outcome.last().map_or("", |n| n.value.as_str()).to_string();
            self.only_own_group(arg, &name, likelihood.span)?;
        }
        self.group_table(table, span)?;
        for (family, args) in call.components() {
            self.outcome_fits(&y, family, args, likelihood.span)?;
        }
        let tied = self.latents(args.iter());
        for p in &tied {
            self.still_open(*p, span)?;
            if !call.weights().is_some_and(|w| w.mentions(*p)) {
                self.adopt_levels(*p, &y);
            }
        }
        if let Some((first, others)) = tied.split_first() {
            self.link(*first, others);
        }
        self.observations.push((Observation { table, outcome: y, likelihood: call, span }, self.group, tied.first().copied()));
        Ok(())
    }

    /// Inside `each`, only rows of the grouped table (or public rows) may be observed or released: a level of its key says
    /// nothing about the rows of another table.
    pub(super) fn group_table(&mut self, table: TableId, span: Span) -> Checked<()> {
        let Some(group) = self.group.and_then(|g| self.groups.get(g)) else { return Ok(()) };
        if group.table == table || !self.table(table).is_some_and(|t| t.private) {
            return Ok(());
        }
        let (header, name) = (group.header, self.table_name(table));
        self.fail(
            Diagnostic::new("E0105", format!("`{name}` is not the table these groups are made of"))
                .label(span, format!("reads all rows of `{name}`"))
                .label(header, "groups of another table")
                .help("move this out of `each`"),
        )
    }

    /// Shares take the level names of the category they describe, so that `post[yes]` works.
    fn adopt_levels(&mut self, p: ParamId, outcome: &Expr) {
        let Type::Category(levels) = &outcome.ty else { return };
        let Some(info) = self.params.get_mut(p.0) else { return };
        if let Type::Simplex { dim, levels: slot } = &mut info.parameter.ty
            && slot.is_none()
            && *dim == levels.len() as u64
        {
            *slot = Some(levels.clone());
        }
    }

    fn outcome(&mut self, path: &[ast::Name]) -> Checked<Expr> {
        match path {
            [name] => self.name(&name.value, name.span),
            [table, column] => {
                let span = table.span.to(column.span);
                match self.scopes.find(&table.value).map(|e| e.binding.clone()) {
                    Some(Binding::Table(t)) => self.table_column(t, column, span),
                    Some(Binding::Release(id)) => {
                        let t = self.cell_table(id, &table.value, table.span)?;
                        self.table_column(t, column, span)
                    }
                    Some(Binding::Poisoned) => Err(Stop),
                    _ => self.unknown(&table.value, table.span),
                }
            }
            _ => Err(Stop),
        }
    }
}
