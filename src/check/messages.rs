//! Complaints about labels, in the user's names: what is private, where it comes from, what to do instead.

use super::scope::{Binding, Origin};
use super::sensitivity::sensitivity;
use super::{Checked, Checker};
use crate::model::{BudgetKind, Builtin, ColumnId, Expr, ExprKind, Label, Range, Records, Table, TableId, Type};
use crate::numeric::calendar;
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

/// A number as a user would write it.
pub(crate) fn plain(x: f64) -> String {
    if x == f64::INFINITY {
        "inf".into()
    } else if x == f64::NEG_INFINITY {
        "-inf".into()
    } else if x != 0.0 && (x.abs() >= 1e15 || x.abs() < 1e-5) {
        format!("{x:e}")
    } else {
        format!("{x}")
    }
}

pub(crate) fn range_text(r: Range) -> String {
    format!("[{}, {}]", plain(r.lo), plain(r.hi))
}

/// A type in words: "a real number in [0, 1]".
pub(crate) fn type_text(ty: &Type) -> String {
    match ty {
        Type::Bool => "true or false".into(),
        Type::Int(r) if *r == Range::ALL => "a whole number".into(),
        Type::Int(r) => format!("a whole number in {}", range_text(*r)),
        Type::Real(r) if *r == Range::ALL => "a real number".into(),
        Type::Real(r) => format!("a real number in {}", range_text(*r)),
        Type::Date(r) => format!("a date in [{}, {}]", calendar::text(r.lo), calendar::text(r.hi)),
        Type::Category(l) => format!("a category of {} levels", l.len()),
        Type::Vector(v) if v.ordered => format!("{} increasing numbers", v.dim),
        Type::Vector(v) => format!("a vector of {} numbers", v.dim),
        Type::Matrix { rows, columns, .. } => format!("a {rows} x {columns} matrix"),
        Type::Simplex { dim, .. } => format!("{dim} shares that sum to 1"),
        Type::Counts { dim, total, fewer: true } => format!("{dim} counts that sum to at most {total}"),
        Type::Counts { dim, total, .. } => format!("{dim} counts that sum to {total}"),
        Type::Text => "text".into(),
        Type::Posterior(_) => "a released posterior".into(),
        Type::Record(parts) => format!("a record of {} parts", parts.len()),
    }
}

impl Checker<'_> {
    /// The first column of a private table that an expression mentions, of those that are not public if there are any.
    pub(super) fn private_column(&self, e: &Expr) -> Option<(TableId, ColumnId)> {
        let mut found = vec![];
        e.walk(&mut |x| {
            if let ExprKind::Column(t, c) = x.kind
                && self.table(t).is_some_and(|t| t.private)
            {
                found.push((t, c));
            }
        });
        let private = |(t, c): &&(TableId, ColumnId)| self.column(*t, *c).is_some_and(|c| !c.public);
        found.iter().find(private).or(found.first()).copied()
    }

    /// Adds "private column" at the declaration of the first private column in `e`.
    pub(super) fn label_column(&self, d: Diagnostic, e: &Expr, text: &str) -> Diagnostic {
        match self.private_column(e).and_then(|(t, c)| self.column(t, c)) {
            Some(column) => d.label(column.span, text),
            None => d,
        }
    }

    /// Text of the program under a span, for messages.
    pub(super) fn written(&self, span: Span) -> String {
        let text = self.map.slice(span);
        if text.chars().count() > 60 { format!("{}..", text.chars().take(58).collect::<String>()) } else { text.to_string() }
    }

    /// The text under `whole` with the named parts replaced; `None` if there is no part in it (it is in a `let`).
    pub(super) fn rewritten(&self, whole: Span, parts: &[(Span, String)]) -> Option<String> {
        let mut parts: Vec<&(Span, String)> =
            parts.iter().filter(|(s, _)| s.file == whole.file && whole.start <= s.start && s.end <= whole.end).collect();
        parts.sort_by_key(|(s, _)| s.start);
        let (mut out, mut at) = (String::new(), whole.start);
        let text = |start, end| self.map.slice(Span { start, end, ..whole });
        for (span, name) in &parts {
            if span.start >= at {
                out.push_str(text(at, span.start));
                out.push_str(name);
                at = span.end;
            }
        }
        out.push_str(text(at, whole.end));
        (!parts.is_empty()).then(|| out.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The text under a span with another name in place of one.
    pub(super) fn with_name(&self, span: Span, name: &str, other: &str) -> String {
        let (text, mut out, mut at) = (self.map.slice(span), String::new(), 0);
        for (i, _) in text.match_indices(name).filter(|(i, _)| whole_word(text, *i, name.len())) {
            out.push_str(text.get(at..i).unwrap_or(""));
            out.push_str(other);
            at = i + name.len();
        }
        out + text.get(at..).unwrap_or("")
    }

    /// Where the query of a released table names this column.
    pub(super) fn counted_at(&self, table: TableId, name: &str) -> Option<Span> {
        let Some(Origin::Cells(id)) = self.origin(table) else { return None };
        let (_, query) = self.release(id)?.query.as_ref()?;
        let mut found = None;
        query.walk(&mut |e| {
            if let ExprKind::Column(t, c) = e.kind
                && self.column(t, c).is_some_and(|c| c.name == name)
            {
                found = Some(e.span);
            }
        });
        found
    }

    /// An empty place before the statement that is being checked.
    pub(super) fn before_statement(&self) -> Span {
        Span { end: self.statement.start, ..self.statement }
    }

    /// The mechanism a new query would use under this budget, with a share if there is room for one: for Help.
    pub(super) fn using_text(&self) -> String {
        match self.program.budget.as_ref().map(|b| &b.kind) {
            Some(BudgetKind::Pure(_)) => format!("using laplace{}", self.share_text()),
            _ => format!("using gaussian{}", self.share_text()),
        }
    }

    /// ` spend 20%` where the shares of the program leave that much.
    pub(super) fn share_text(&self) -> &'static str {
        if self.shares <= 80.0 { " spend 20%" } else { "" }
    }

    /// A line to declare bounds for the first private column of `e` that has none.
    pub(super) fn bounds_first(&self, e: &Expr) -> Option<Help> {
        let (t, c) = self.private_column(e)?;
        let column = self.column(t, c).filter(|c| c.ty.range().is_some_and(|r| !r.is_finite()))?;
        let domain = if matches!(column.ty, Type::Int(_)) { "int in 0..10" } else { "real in [0, 10]" };
        Some(("declare public bounds first:", format!("{}: {domain}", column.name)).into())
    }

    /// What an aggregate is: "an exact mean over the rows of `trial`".
    pub(super) fn aggregate_text(&self, e: &Expr, table: TableId) -> String {
        let name = self.table_name(table);
        let word = match e.kind {
            ExprKind::Call(Builtin::RowMean, _) => "an exact mean over the",
            ExprKind::Call(Builtin::RowSum, _) => "an exact sum over the",
            ExprKind::Call(Builtin::RowCountAgg, _) => "an exact count of the",
            ExprKind::Call(Builtin::RowHistogram, _) => "exact counts over the",
            ExprKind::Call(Builtin::RowQuantile, _) => "an exact quantile of the",
            _ => "computed from all",
        };
        format!("{word} rows of `{name}`")
    }

    /// The innermost aggregate inside `e` whose parts are not aggregates.
    pub(super) fn aggregate_inside<'e>(&self, e: &'e Expr) -> &'e Expr {
        let mut found = e;
        e.walk(&mut |x| {
            if is_row_aggregate(x) && std::ptr::eq(found, e) {
                found = x;
            }
        });
        found
    }

    /// The aggregates of a query as releases of their own, what is computed from them as an output. `None` where one of them has
    /// no bound or is named by a `let`, where a share would have to be split, and inside `each`, which has no outputs.
    pub(super) fn taken_apart(&self, e: &Expr, records: &Records, release: &ast::Release, statement: Span) -> Option<String> {
        let whole = release.query.span;
        let (mut parts, mut bounded): (Vec<Span>, bool) = (vec![], true);
        e.walk(&mut |x| {
            if is_row_aggregate(x) {
                parts.push(x.span);
                bounded &= sensitivity(x, records).linf.is_finite();
            }
        });
        let call = |s: &Span| self.map.slice(*s).ends_with(')');
        let inside = |s: &Span| s.file == whole.file && whole.start <= s.start && s.end <= whole.end && *s != whole && call(s);
        if !bounded || !parts.iter().all(inside) || self.group.is_some() || (parts.len() > 1 && release.spend.is_some()) {
            return None;
        }
        let name = &release.name.value;
        let names: Vec<String> = match parts.len() {
            1 => vec![name.clone()],
            many => (1..=many).map(|i| self.fresh_name(&format!("{name}_{i}"))).collect(),
        };
        let output = if parts.len() == 1 { self.fresh_name("result") } else { name.clone() };
        let named: Vec<(Span, String)> = parts.into_iter().zip(names).collect();
        let result = self.rewritten(whole, &named)?;
        let tail = self.map.slice(Span { start: whole.end, end: statement.end, ..whole }).trim_end();
        let line = |(span, name): &(Span, String)| format!("release {name} = {}{tail}\n", self.map.slice(*span));
        Some(format!("{}output {output} = {result}", named.iter().map(line).collect::<String>()))
    }

    /// E0102: a row value that looks at the whole table.
    pub(super) fn row_and_aggregate<T>(&mut self, row: &Expr, aggregate: &Expr, whole: Span) -> Checked<T> {
        let (Label::Aggregate(table) | Label::Row(table) | Label::Mix(table)) = aggregate.label else { return Err(super::Stop) };
        let name = self.table_name(table);
        let written = self.written(whole);
        let clip = written.starts_with("clip") || written.starts_with("project");
        let headline = if clip { "a clipping bound may not depend on private data" } else { "a row value may not look at the whole table" };
        let d = Diagnostic::new("E0102", headline).label(aggregate.span, format!("this depends on every row of `{name}`"));
        let d = self.label_column(d, aggregate, "private");
        let subject = self.written(row.span);
        let d = d.cause(if clip {
            let what = self.defining.as_ref().map_or_else(|| "the clipped value".to_string(), |n| format!("`{n}`"));
            format!("{what} would no longer be a function of its own row: changing one row could change\nthe clipped value of all others, so no sensitivity can be derived")
        } else {
            format!("`{written}` would no longer be a function of its own row: changing one row could change\nits value in all others, so no sensitivity can be derived")
        });
        let bounds = row.ty.range().filter(|r| r.is_finite());
        let (lo, hi) = bounds.map_or((0.0, 1000.0), |r| (r.lo, r.hi));
        let hi_name = self.fresh_name("hi");
        self.fail(if clip {
            let quantile = format!("release {hi_name} = quantile({subject}, 0.95) using exponential({}, {})", plain(lo), plain(hi));
            let clipped = format!("clip({subject}, 0, {hi_name})");
            let statement = self.rewritten(self.statement, &[(whole, clipped.clone())]).unwrap_or_else(|| clipped.clone());
            let edits = vec![(self.before_statement(), format!("{quantile}\n")), (whole, clipped)];
            d.help(Help::from(("use a public constant:", format!("clip({subject}, 0, 200)"))).over(whole)).helps(Help::several(
                "or spend budget on it:",
                [quantile, statement],
                edits,
            ))
        } else {
            // What was released may be any number; the public bounds of what it summarises hold it.
            let known = aggregate.ty.range().filter(|r| r.is_finite());
            let value = known.map_or(hi_name.clone(), |r| format!("clip({hi_name}, {}, {})", plain(r.lo), plain(r.hi)));
            let release = format!("release {hi_name} = {} {}", self.written(aggregate.span), self.using_text());
            let statement = self.rewritten(self.statement, &[(aggregate.span, value.clone())]).unwrap_or_else(|| value.clone());
            let edits = vec![(self.before_statement(), format!("{release}\n")), (aggregate.span, value)];
            d.helps(Help::several("release the summary first, then use the released value:", [release, statement], edits))
        })
    }

    /// A name that is not taken yet.
    pub(super) fn fresh_name(&self, wish: &str) -> String {
        let mut name = wish.to_string();
        while self.scopes.find(&name).is_some() || !self.columns_named(&name).is_empty() {
            name.push('_');
        }
        name
    }

    /// E0103: a branch on private data, that of a `when` statement or within an expression.
    pub(super) fn private_branch<T>(&mut self, condition: &Expr, table: TableId, when: Option<Span>) -> Checked<T> {
        let name = self.table_name(table);
        let d = Diagnostic::new("E0103", "a branch may not depend on private data");
        let (span, text) = match condition.label {
            Label::Row(_) => (condition.span, format!("private: one value for each row of `{name}`")),
            _ => (condition.span, format!("private: computed from all rows of `{name}`")),
        };
        let d = self.label_column(d.label(span, text), condition, "private column it depends on");
        let inside = self.aggregate_inside(condition);
        let inner = self.written(inside.span);
        let m = self.fresh_name("m");
        let rest = self.rewritten(condition.span, &[(inside.span, m.clone())]).unwrap_or_else(|| format!("{m} >= 0"));
        let (using, bounds) = (self.using_text(), self.bounds_first(inside));
        let column = self.private_column(condition).and_then(|(t, c)| self.column(t, c));
        let row_example = match column.map(|c| (c.name.clone(), c.ty.clone())) {
            Some((c, Type::Bool)) => format!("if {c} then 1 else 0"),
            Some((c, ty)) => format!(
                "if {c} >= {} then 1 else 0",
                plain(ty.range().filter(|r| r.is_finite()).map_or(0.0, |r| ((r.lo + r.hi) / 2.0).round()))
            ),
            None => "if x >= 0 then 1 else 0".into(),
        };
        let d = d.cause("whether the block runs at all would reveal the comparison exactly");
        let release = format!("release {m} = {inner} {using}");
        let mut released = Help::from(("branch on a released value:", release.clone()));
        if let Some(when) = when {
            released = released.edit(Span { end: when.start, ..when }, release + "\n").edit(condition.span, rest.clone());
        }
        self.fail(match condition.label {
            Label::Row(_) => d.help(format!("use `if` inside an expression: `{row_example}` stays inside its row")),
            _ => d
                .helps(bounds)
                .help(released)
                .help(("", format!("when {rest} {{ ... }}")))
                .help(format!("A row-level `{row_example}` is fine: it stays inside its row.")),
        })
    }

    /// E0104: use of a secret number of rows.
    pub(super) fn secret_count<T>(&mut self, table: TableId, span: Span) -> Checked<T> {
        let Some(t) = self.table(table) else { return Err(super::Stop) };
        let (name, at, unit) = (t.name.clone(), t.rows_span, t.unit_in_words());
        let public = Table::redeclared(Some(t), "or make it public:", t.public_name(), format!("neighbours then replace {unit}"));
        let size = self.fresh_name("size");
        let (share, using) = (self.share_text(), "using geometric");
        self.fail(
            Diagnostic::new("E0104", format!("the number of rows of `{name}` is secret"))
                .label(span, "this needs the exact number of rows")
                .label(at, format!("secret here: neighbours add or remove {unit}"))
                .cause("with a secret n, the exact number of rows is itself private data")
                .help(("release it:", format!("release {size} = count() {using}{share}")))
                .help(public),
        )
    }

    /// E0105: two tables in one row.
    pub(super) fn two_tables<T>(&mut self, a: &Expr, b: &Expr) -> Checked<T> {
        let table = |l: Label| match l {
            Label::Row(t) | Label::Mix(t) | Label::Aggregate(t) => Some(t),
            _ => None,
        };
        let name = |t: Option<TableId>, s: &Self| t.map_or_else(String::new, |t| s.table_name(t));
        let (ta, tb) = (name(table(a.label), self), name(table(b.label), self));
        let d = Diagnostic::new("E0105", format!("one row of `{ta}` and one row of `{tb}` in one expression"))
            .label(b.span, format!("from `{tb}`"))
            .label(a.span, format!("from `{ta}`"));
        let counted = |l: Label| table(l).and_then(|t| self.origin(t)).is_some_and(|o| matches!(o, Origin::Cells(_)));
        let way = match (counted(a.label), counted(b.label)) {
            (true, false) => self.let_of_rows(b),
            (false, true) => self.let_of_rows(a),
            _ => None,
        };
        if let Some((name, help)) = way {
            return self.fail(
                d.cause(format!(
                    "`{name}` stands for columns of private rows; the same names in an `observe` of counts are columns of the counts"
                ))
                .help(help),
            );
        }
        self.fail(
            d.cause("tables are not joined: one person could match many rows of the other table")
                .help(format!("observe each table in a model of its own, or declare the columns of `{tb}` in `{ta}`")),
        )
    }

    /// The `let` of private rows that an expression over counts uses, and the expression with its text in place of its name.
    fn let_of_rows(&self, e: &Expr) -> Option<(String, Help)> {
        let text = self.map.slice(e.span);
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.filter(|w| !w.is_empty()).find_map(|name| {
            let Some(Binding::Value(value)) = self.scopes.find(name).map(|e| &e.binding) else { return None };
            let rows = matches!(value.label, Label::Row(_)) && value.span.file == e.span.file;
            let same = rows.then(|| format!("({})", self.map.slice(value.span)))?;
            let at = text.match_indices(name).find(|(i, _)| whole_word(text, *i, name.len()))?.0;
            let start = e.span.start + at as u32;
            let place = Span { start, end: start + name.len() as u32, ..e.span };
            let code = self.rewritten(e.span, &[(place, same.clone())])?;
            Some((name.to_owned(), Help::from(("write it out:", code)).edit(place, same)))
        })
    }

    /// E0106: a prior or likelihood that uses the data twice.
    pub(super) fn data_used_twice<T>(&mut self, data: &Expr, whole: Span) -> Checked<T> {
        let d = Diagnostic::new("E0106", "private data used in a prior")
            .label(if matches!(data.label, Label::Latent) { whole } else { data.span }, "depends on private rows");
        let d = self.label_column(d, data, "private");
        self.fail(
            d.cause("a prior, or an argument of a likelihood, may not summarise the rows that are observed: the data would count twice")
                .help("use public constants, or strengthen the prior with a public table:")
                .help("as in public pilot[m] { .. }, read from a file of its own"),
        )
    }
}

/// Does no letter of a name stand right before or after?
fn whole_word(text: &str, at: usize, len: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let (before, after) = (text.get(..at).unwrap_or(""), text.get(at + len..).unwrap_or(""));
    !before.ends_with(part) && !after.starts_with(part)
}

/// A sum, mean, count or the like over private rows.
fn is_row_aggregate(e: &Expr) -> bool {
    matches!(e.label, Label::Aggregate(_)) && matches!(e.kind, ExprKind::Call(f, _) if f.over_rows())
}
