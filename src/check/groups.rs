//! `each key of table { .. }`: one independent copy of the body per level.

use super::messages::plain;
use super::scope::Binding;
use super::{Checked, Checker, Stop, vectors};
use crate::model::{ColumnId, Each, Expr, Levels, Step, TableId, Type};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

/// The `each` that we are in.
pub(super) struct GroupInfo {
    pub table: TableId,
    pub public_key: bool,
    pub header: Span,
    pub levels: Levels,
    pub key: String,
    /// Name of the first release of the body, for messages.
    pub release: Option<String>,
}

impl Checker<'_> {
    pub(super) fn each(&mut self, key: &ast::Name, table: &ast::Name, header: Span, body: &[ast::Item], span: Span) -> Checked<Step> {
        if let Some(outer) = self.group.and_then(|g| self.groups.get(g)).map(|g| g.header) {
            return self.fail(
                Diagnostic::new("E0209", "`each` inside `each`")
                    .label(header, "groups do not nest")
                    .label(outer, "already in groups here")
                    .help("declare one category column with a level for every combination"),
            );
        }
        let Some(Binding::Table(t)) = self.scopes.find(&table.value).map(|e| e.binding.clone()) else {
            if let Some(Binding::Table(_)) = self.scopes.find(&key.value).map(|e| &e.binding) {
                let (key, table) = (&key.value, &table.value);
                let d =
                    Diagnostic::new("E0206", format!("`{table}` is not a table, but `{key}` is")).label(header, "the column comes first");
                let swapped = format!("each {table} of {key}");
                return self.fail(d.help(Help::from(format!("{swapped} {{ ... }}")).edit(header, swapped)));
            }
            return self.unknown(&table.value, table.span);
        };
        let Some(tab) = self.table(t).cloned() else { return Err(Stop) };
        let Some(c) = tab.columns.iter().position(|c| c.name == key.value) else {
            return self.table_column(t, key, key.span).and(Err(Stop));
        };
        let Some(column) = tab.columns.get(c) else { return Err(Stop) };
        let levels = match &column.ty {
            Type::Category(l) => l.clone(),
            Type::Bool => std::sync::Arc::new(vec!["false".into(), "true".into()]),
            other => {
                let what = super::messages::type_text(other);
                let d = Diagnostic::new("E0209", format!("`{}` has no levels to group by", key.value))
                    .label(key.span, what)
                    .label(column.span, "declared here");
                return self.fail(d.help(format!("{}: category {{a, b, c}}", key.value)));
            }
        };
        if !tab.private {
            let d = Diagnostic::new("E0209", "`each` groups the rows of a private table").label(table.span, "a public table");
            return self.fail(d.help("aggregate public rows without `each`"));
        }
        let public_key = column.public;
        let id = self.groups.len();
        self.groups.push(GroupInfo {
            table: t,
            public_key,
            header,
            levels: levels.clone(),
            key: key.value.clone(),
            release: first_release(body),
        });
        self.group = Some(id);
        self.scopes.push(None);
        let body = self.statements(body);
        self.group = None;
        let frame = self.scopes.pop();
        // Released names become vectors indexed by the levels.
        for (name, entry) in frame.names {
            if let Binding::Poisoned = entry.binding
                && self.scopes.here(&name).is_none()
            {
                self.scopes.bind(&name, Binding::Poisoned, entry.span);
            }
            if let Binding::Release(r) = entry.binding {
                if let Some(info) = self.releases.get_mut(r.0) {
                    info.ty = by_level(&info.ty, &levels);
                }
                let name = crate::source::Spanned::new(name, entry.span);
                let _reported = self.define(&name, Binding::Release(r));
            }
        }
        Ok(Step::Each(Each { table: t, key: ColumnId(c), levels, public_key, body, span }))
    }

    /// E0209: a public value that is asked of all rows, inside a group, where the same words mean its rows alone.
    pub(super) fn of_all_rows<T>(&mut self, name: &str, value: &Expr, span: Span) -> Checked<T> {
        let header = self.group.and_then(|g| self.groups.get(g)).map_or(span, |g| g.header);
        let written = self.written(value.span);
        self.fail(
            Diagnostic::new("E0209", format!("`{name}` covers all rows, but this is inside a group"))
                .label(span, format!("`{written}` of all groups together"))
                .label(header, "inside, aggregates are those of one group")
                .help({
                    let total = self.fresh_name("total");
                    let code = format!("public {total}: real");
                    let before = Span { end: header.start, ..header };
                    Help::from(("give the number by hand:", code.clone())).edit(before, format!("{code}\n")).edit(span, total)
                }),
        )
    }

    /// E0308: a parameter of all groups used inside one.
    pub(super) fn groups_share<T>(&mut self, outside: crate::model::ParamId, inner_name: &str, call: Span) -> Checked<T> {
        let Some(group) = self.group.and_then(|g| self.groups.get(g)) else { return Err(Stop) };
        let (header, key, levels) = (group.header, group.key.clone(), group.levels.clone());
        let release = group.release.clone().unwrap_or_else(|| inner_name.to_string());
        let Some(shared) = self.param(outside).cloned() else { return Err(Stop) };
        let a = shared.name.clone();
        let prior: Option<Vec<f64>> = shared.prior.args.iter().map(Expr::constant).collect();
        let mean =
            prior.and_then(|args| (shared.prior.family.moments)(&args)).map(|(mean, _)| mean).filter(|m| a != inner_name && m.is_finite());
        // The parameter and what observes it alone move into the block; where it is the prior of others, its mean takes its place.
        let inside =
            |o: &crate::model::Observation| o.likelihood.args.iter().any(|e| e.mentions(outside)) && o.span.file == shared.span.file;
        let observed = self.observations.iter().filter(|(o, group, _)| group.is_none() && inside(o)).map(|(o, ..)| o.span);
        let moved: Vec<Span> = std::iter::once(shared.span).chain(observed).collect();
        let mut lines: Vec<String> = moved.iter().map(|span| self.map.slice(*span).to_owned()).collect();
        let mut edits = vec![(self.before_statement(), lines.join("\n") + "\n")];
        edits.extend(moved.iter().map(|span| (*span, String::new())));
        lines.push(self.map.slice(self.statement).to_owned());
        let own = Help::several("inside `each`:", lines, edits);
        let fixed = mean.map(|m| Help::from(("", format!("let {a} = {}", plain(m)), "its prior mean")).over(shared.span));
        let (first, second) = (levels.first().cloned().unwrap_or_default(), levels.get(1).cloned().unwrap_or_default());
        self.fail(
            Diagnostic::new("E0308", format!("groups share the parameter `{a}`, so parallel composition does not apply"))
                .label(call, format!("every {key}'s `{inner_name}` depends on `{a}`"))
                .label(shared.span, format!("`{a}` is learned from all rows"))
                .label(header, "parallel composition needs one independent model per group")
                .cause(format!("a draw of `{release}[{first}]` would carry information about rows in `{second}`"))
                .help("give every group the same fixed prior, and pool what was released afterwards, for free:")
                .helps(fixed.map_or(own, |h| vec![h]))
                .help(format!("afterwards such as `output shrunk = 0.7 * {release} + 0.3 * mean({release})`"))
                .help("or remove `each` and pay for one joint draw."),
        )
    }
}

fn first_release(body: &[ast::Item]) -> Option<String> {
    body.iter().find_map(|i| match &i.kind {
        ast::ItemKind::Release(r) => Some(r.name.value.clone()),
        _ => None,
    })
}

/// The type of a value released once per level.
pub(crate) fn by_level(ty: &Type, levels: &Levels) -> Type {
    let dim = levels.len() as u64;
    match ty {
        t if t.is_scalar_number() => Type::Vector(vectors::boxed(dim, t.range().unwrap_or(crate::model::Range::ALL), Some(levels.clone()))),
        Type::Vector(v) => Type::Matrix { rows: dim, columns: v.dim, range: v.range },
        Type::Simplex { dim: d, .. } => Type::Matrix { rows: dim, columns: *d, range: crate::model::Range::UNIT },
        Type::Posterior(inner) => Type::Posterior(Box::new(by_level(inner, levels))),
        other => other.clone(),
    }
}
