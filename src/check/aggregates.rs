//! Aggregates: one value for all rows of a table, for a public vector, or for a released posterior.

use super::expressions::node;
use super::messages::type_text;
use super::vectors::as_vector;
use super::{Checked, Checker, Stop, vectors};
use crate::model::{Builtin, Expr, ExprKind, Label, Range, Relation, Table, TableId, Type};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

impl Checker<'_> {
    /// `sum mean min max sd count histogram quantile density cdf` of checked arguments.
    pub(super) fn aggregate(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        // Of one draw, both at once.
        if let ("larger", [a, b]) = (name, args.as_slice())
            && let (Label::Row(t), true) = (a.label, a.label == b.label)
            && self.origin(t).is_some()
        {
            let larger = self.apply(Builtin::Gt, args, span)?;
            let each = self.each_draw(larger, t);
            return self.posterior_summary("mean", vec![each], span);
        }
        let args: Vec<Expr> = args.into_iter().map(|e| if let Label::Row(t) = e.label { self.each_draw(e, t) } else { e }).collect();
        let Some(first) = args.first() else { return Err(Stop) };
        if let ("quantile", [level, x]) = (name, args.as_slice())
            && level.constant().is_some()
            && (matches!(x.label, Label::Row(_)) || as_vector(&x.ty).is_some())
        {
            let d = self.arity("`quantile`", &format!("quantile({}, {})", self.written(x.span), self.written(level.span)), span);
            return self.fail(d);
        }
        match (first.label, &first.ty) {
            (_, Type::Posterior(_)) => self.posterior_summary(name, args, span),
            _ if matches!(name, "interval" | "larger" | "sample") => {
                let d = Diagnostic::new("E0209", format!("`{name}` needs a released posterior")).label(first.span, "not a posterior");
                let answer = matches!(first.kind, ExprKind::Released(_)) && name == "interval";
                self.fail(d.help(if answer {
                    "a mean of the rows that meet a condition has one: mean(x, where = ..)"
                } else {
                    "release post = posterior(p)"
                }))
            }
            (Label::Row(t) | Label::Mix(t), _) => self.row_aggregate(name, t, args, span),
            (Label::Public | Label::Latent, _) => self.vector_summary(name, args, span),
            (Label::Aggregate(_), ty) if as_vector(ty).is_some() => self.vector_summary(name, args, span),
            (Label::Aggregate(_), _) => self.fail(
                Diagnostic::new("E0209", format!("`{name}` of one number")).label(first.span, "already one value for the whole table"),
            ),
        }
    }

    fn row_aggregate(&mut self, name: &str, t: TableId, mut args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let dates = args.first().map(|x| x.ty.clone()).filter(|ty| matches!(ty, Type::Date(_)));
        // What is one of the values is a date again.
        if let (Some(ty), "min" | "max" | "quantile") = (&dates, name) {
            args = args.into_iter().map(super::dates::days).collect();
            let found = self.row_aggregate(name, t, args, span)?;
            return Ok(Expr { ty: ty.clone(), ..found });
        }
        let Some(x) = args.first() else { return Err(Stop) };
        if let Label::Mix(_) = x.label {
            let x = x.clone();
            return self.data_used_twice(&x, span);
        }
        let private = self.table(t).is_some_and(|t| t.private);
        let secret = private && self.secret_size(t);
        let label = if private && !self.neighbours_agree(t, &args) { Label::Aggregate(t) } else { Label::Public };
        let range = x.ty.range();
        let numeric = x.ty.is_scalar_number() || matches!(x.ty, Type::Vector(_) | Type::Counts { .. });
        let whole = matches!(x.ty, Type::Bool | Type::Int(_) | Type::Counts { .. });
        let (op, ty) = match name {
            "sum" | "mean" if numeric => {
                let mean = name == "mean";
                if mean && secret {
                    return self.secret_mean(x, t, span);
                }
                let of = range.unwrap_or(Range::ALL);
                // Any number of values that are not negative have such a sum.
                let r = if mean { of } else { Range::new(if of.lo >= 0.0 { 0.0 } else { f64::NEG_INFINITY }, f64::INFINITY) };
                let ty = match (as_vector(&x.ty), &x.ty) {
                    (Some(v), _) => Type::Vector(vectors::boxed(v.dim, r, v.levels)),
                    (None, Type::Counts { dim, .. }) => Type::Vector(vectors::boxed(*dim, r, None)),
                    _ if whole && !mean => Type::Int(r),
                    _ => Type::Real(r),
                };
                (if mean { Builtin::RowMean } else { Builtin::RowSum }, ty)
            }
            "count" if x.ty == Type::Bool => (Builtin::RowSum, Type::Int(Range::new(0.0, f64::INFINITY))),
            "min" | "max" if x.ty.is_scalar_number() => {
                (if name == "min" { Builtin::RowMin } else { Builtin::RowMax }, Type::Real(range.unwrap_or(Range::ALL)))
            }
            "histogram" => return self.histogram(t, args, label, span),
            "quantile" if x.ty.is_scalar_number() => {
                let Some(q) = args.get(1) else { return Err(Stop) };
                let of = range.unwrap_or(Range::ALL);
                let ty = match (&q.kind, &q.ty) {
                    _ if q.label != Label::Public || !q.ty.range().is_some_and(|r| r.within(Range::UNIT)) => None,
                    (_, ty) if ty.is_scalar_number() => Some(Type::Real(of)),
                    (ExprKind::List(_), Type::Vector(v)) => Some(Type::Vector(vectors::boxed(v.dim, of, None))),
                    _ => None,
                };
                let Some(ty) = ty else {
                    let d = Diagnostic::new("E0203", "a quantile level lies between 0 and 1").label(q.span, type_text(&q.ty));
                    return self.fail(d.help("quantile(x, 0.95)").help("quantiles(x, [0.25, 0.5, 0.75])"));
                };
                (Builtin::RowQuantile, ty)
            }
            "sd" => {
                let written = self.written(x.span);
                return self.fail(
                    Diagnostic::new("E0202", "an exact sd has no simple sensitivity")
                        .label(span, "not a sum over rows")
                        .help(("release the two moments:", format!("release m1 = mean({written})")))
                        .help(("", format!("release m2 = mean({written}^2)"))),
                );
            }
            _ => {
                let (what, x) = (type_text(&x.ty), x.span);
                let d = Diagnostic::new("E0209", format!("`{name}` needs numbers")).label(x, what);
                let written = self.written(x);
                let days = Help::from(("count days from a fixed date:", format!("({written} - \"2020-01-01\")"))).over(x);
                return self.fail(if dates.is_some() { d.help(days) } else { d });
            }
        };
        Ok(node(ExprKind::Call(op, args), ty, label, span))
    }

    /// Do neighbours agree on every row of these values? They keep public columns, and replace one row by another in its place.
    /// Which rows of a unit are kept depends on its key, which is private; which rows are in a group is left aside.
    pub(super) fn neighbours_agree(&self, t: TableId, values: &[Expr]) -> bool {
        let kept = self.table(t).is_some_and(|t| t.relation == Relation::ReplaceOne && t.unit.is_none());
        let public = |e: &Expr| match e.kind {
            ExprKind::Column(t, c) => self.column(t, c).is_some_and(|c| c.public),
            _ => true,
        };
        let mut all = kept && self.group.is_none();
        values.iter().for_each(|v| v.walk(&mut |e| all &= public(e)));
        all
    }

    /// Is a public part of it asked of the rows of a private table?
    pub(super) fn asks_private_table(&self, e: &Expr) -> bool {
        e.asked().into_iter().any(|t| self.table(t).is_some_and(|t| t.private))
    }

    /// Is the number of rows in sight secret: by the header, or inside `each` over a private key?
    fn secret_size(&self, t: TableId) -> bool {
        let group_secret = self.group.and_then(|g| self.groups.get(g)).is_some_and(|g| g.table == t && !g.public_key);
        group_secret || self.table(t).is_some_and(|t| t.relation == Relation::AddRemove)
    }

    fn secret_mean<T>(&mut self, x: &Expr, t: TableId, span: Span) -> Checked<T> {
        let Some(table) = self.table(t) else { return Err(Stop) };
        let (name, at, secret) = (table.name.clone(), table.rows_span, table.relation == Relation::AddRemove);
        let unit = table.unit_in_words();
        let public = Table::redeclared(Some(table), "or make n public:", table.public_name(), format!("neighbours then replace {unit}"));
        let written = self.written(x.span);
        let (s, c) = (self.fresh_name("s"), self.fresh_name("c"));
        let split = [
            ("release sum and count:", format!("release {s} = sum({written})")),
            ("", format!("release {c} = count()")),
            ("", format!("output average = {s} / max({c}, 1)")),
        ];
        let d = Diagnostic::new("E0104", format!("a mean needs the number of rows of `{name}`, which is secret"))
            .label(span, "divides by the number of rows");
        let group = self.group.and_then(|g| self.groups.get(g)).filter(|_| !secret).map(|g| g.header);
        self.fail(match group {
            Some(group) => d
                .label(group, "the sizes of groups of a private key are secret")
                .cause("with a secret n, the exact number of rows is itself private data")
                .helps(split),
            None => d
                .label(at, format!("secret here: neighbours add or remove {unit}"))
                .cause("with a secret n, the exact number of rows is itself private data")
                .helps(split)
                .help(public),
        })
    }

    /// `count()`: all rows of the program's one private table (or of the `each` around it).
    pub(super) fn count_rows(&mut self, span: Span) -> Checked<Expr> {
        let private: Vec<usize> =
            (0..self.program.tables.len()).filter(|i| self.program.tables.get(*i).is_some_and(|t| t.private)).collect();
        let t = match (self.group, private.as_slice()) {
            (Some(g), _) => self.groups.get(g).map(|g| g.table),
            (None, [one]) => Some(TableId(*one)),
            _ => None,
        };
        let Some(t) = t else {
            return self.fail(
                Diagnostic::new("E0206", "`count()` needs exactly one private table")
                    .label(span, format!("this program has {}", private.len()))
                    .help("count(x >= 0) counts the rows of the table of x"),
            );
        };
        let secret = self.table(t).is_some_and(|t| t.relation == Relation::AddRemove);
        let grouped = self.group.is_some();
        if !secret && !grouped {
            return Ok(node(ExprKind::RowCount(t), Type::Int(self.count_range(t)), Label::Public, span));
        }
        let public_sizes = !secret && self.group.and_then(|g| self.groups.get(g)).is_some_and(|g| g.public_key);
        if public_sizes {
            let key = self.group.and_then(|g| self.groups.get(g)).map_or_else(String::new, |g| format!("{}.{}", self.table_name(t), g.key));
            let sizes = self.fresh_name("sizes");
            let d = Diagnostic::new("E0209", "the sizes of these groups are public already").label(span, "nothing to protect here");
            return self.fail(match self.table(t).is_some_and(|t| t.unit.is_none()) {
                true => {
                    let header = self.group.and_then(|g| self.groups.get(g)).map_or(span, |g| g.header);
                    let code = format!("output {sizes} = histogram({key})");
                    let before = Span { end: header.start, ..header };
                    let help = Help::from(("output them, outside of `each`:", code.clone()));
                    d.help(help.edit(before, format!("{code}\n")).edit(self.statement, ""))
                }
                false => d.help("read them off the public column, or bind them as a public table"),
            });
        }
        Ok(node(ExprKind::Call(Builtin::RowCountAgg, vec![]), Type::Int(Range::new(0.0, f64::INFINITY)), Label::Aggregate(t), span))
    }

    /// What the header says about a public number of rows.
    pub(super) fn count_range(&self, t: TableId) -> Range {
        let rows = self.table(t).map(|t| t.rows);
        match rows {
            Some(r) => match r.exactly {
                Some(n) => Range::point(n as f64),
                None => Range::new(r.at_least as f64, f64::INFINITY),
            },
            None => Range::new(0.0, f64::INFINITY),
        }
    }

    fn vector_summary(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let label = self.join_all(&args, span)?;
        let Some(v) = args.first().and_then(|a| as_vector(&a.ty)) else {
            let Some(a) = args.first() else { return Err(Stop) };
            let what = type_text(&a.ty);
            let d = Diagnostic::new("E0209", format!("`{name}` needs a vector, or a column of a table")).label(a.span, what);
            return self.fail(match &a.kind {
                ExprKind::Param(_) => {
                    let p = self.written(a.span);
                    let post = self.fresh_name(&format!("{p}_post"));
                    let release = format!("release {post} = posterior({p})");
                    let output = self.rewritten(self.statement, &[(a.span, post.clone())]).unwrap_or_else(|| post.clone());
                    let edits = vec![(self.before_statement(), format!("{release}\n")), (a.span, post)];
                    d.helps(Help::several("release its posterior:", [release, output], edits))
                }
                _ => d,
            });
        };
        let n = v.dim as f64;
        let r = v.range;
        let (op, range) = match name {
            "sum" | "count" => {
                (Builtin::VecSum, Range::new(if r.lo == 0.0 { 0.0 } else { r.lo * n }, if r.hi == 0.0 { 0.0 } else { r.hi * n }))
            }
            "mean" => (Builtin::VecMean, r),
            "min" => (Builtin::VecMin, r),
            "max" => (Builtin::VecMax, r),
            "sd" => (Builtin::VecSd, Range::new(0.0, r.width())),
            "quantile" => {
                self.levels_in_unit(args.get(1))?;
                (Builtin::VecQuantile, r)
            }
            _ => {
                let d =
                    Diagnostic::new("E0209", format!("`{name}` needs a released posterior or rows")).label(span, "not for a plain vector");
                return self.fail(d);
            }
        };
        let ty = match args.get(1).map(|q| &q.ty) {
            Some(Type::Vector(q)) if name == "quantile" => Type::Vector(vectors::boxed(q.dim, range, None)),
            _ => Type::Real(range),
        };
        Ok(node(ExprKind::Call(op, args), ty, label, span))
    }

    fn posterior_summary(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let Some(Type::Posterior(inner)) = args.first().map(|a| a.ty.clone()) else { return Err(Stop) };
        let range = inner.range().unwrap_or(Range::ALL);
        match (name, args.as_slice()) {
            ("interval", [post, share]) => return self.interval(post.clone(), share.clone(), span),
            ("larger" | "sample", [_, second]) => {
                let second = second.clone();
                return self.of_scalar(name, &inner, args, &second, span);
            }
            _ => {}
        }
        let op = match (name, args.len()) {
            ("mean", 1) => Builtin::PosteriorMean,
            ("sd", 1) => Builtin::PosteriorSd,
            ("quantile", 2) => Builtin::PosteriorQuantile,
            ("density", 2) => Builtin::PosteriorDensity,
            ("cdf", 2) => Builtin::PosteriorCdf,
            _ => {
                return self.fail(
                    Diagnostic::new("E0209", format!("`{name}` is not defined for a posterior"))
                        .label(span, "a released posterior")
                        .help("mean, sd, quantile, interval, density, cdf, larger, sample, sum of levels"),
                );
            }
        };
        let out = match op {
            Builtin::PosteriorMean | Builtin::PosteriorQuantile => range,
            Builtin::PosteriorCdf => Range::UNIT,
            _ => Range::new(0.0, f64::INFINITY),
        };
        if op == Builtin::PosteriorQuantile {
            self.levels_in_unit(args.get(1))?;
        }
        // Of a vector, one or several for every component, by its name.
        let ty = match (as_vector(&inner), args.get(1).map(|q| &q.ty)) {
            (Some(v), _) => Type::Vector(vectors::boxed(v.dim, out, v.levels)),
            (None, Some(Type::Vector(q))) => Type::Vector(vectors::boxed(q.dim, out, None)),
            (None, _) => Type::Real(out),
        };
        Ok(node(ExprKind::Call(op, args), ty, Label::Public, span))
    }

    /// E0201 where a constant level of a quantile is not a number from 0 to 1.
    fn levels_in_unit(&mut self, q: Option<&Expr>) -> Checked<()> {
        let outside = |e: &&Expr| e.constant().is_some_and(|x| !(0.0..=1.0).contains(&x));
        let found = match q.map(|q| &q.kind) {
            Some(ExprKind::List(items)) => items.iter().find(outside),
            _ => q.filter(outside),
        };
        let Some(at) = found.map(|e| e.span) else { return Ok(()) };
        let d = Diagnostic::new("E0201", "the level of a quantile is a number from 0 to 1").label(at, "not such a number");
        self.fail(d.help("quantile(post, 0.95), the value that a draw stays below with probability 95 %"))
    }

    /// `sum(post, [yes, blank])`: the marginal of some levels together.
    pub(super) fn together(&mut self, post: &ast::Expr, set: &ast::Expr, span: Span) -> Checked<Expr> {
        let post = self.expr(post)?;
        let simplex = match &post.ty {
            Type::Posterior(inner) => match inner.as_ref() {
                Type::Simplex { dim, .. } => Some((*dim, inner.levels().cloned())),
                _ => None,
            },
            _ => None,
        };
        let (Some((dim, levels)), ast::ExprKind::List(items)) = (simplex, &set.kind) else {
            let d = Diagnostic::new("E0209", "`sum` of two arguments adds levels of a posterior of shares").label(span, "not such a call");
            return self.fail(d.help("sum(post, [yes, blank])"));
        };
        let mut chosen: Vec<Expr> = vec![];
        for item in items {
            let e = match (&item.kind, &levels) {
                (ast::ExprKind::Name(name) | ast::ExprKind::Text(name), Some(levels)) => self.level(name, levels, item.span)?,
                _ => self.expr(item)?,
            };
            let index = e.constant().filter(|i| i.fract() == 0.0 && (1.0..=dim as f64).contains(i));
            if !matches!(e.kind, ExprKind::Level(_)) && index.is_none() {
                let d = Diagnostic::new("E0201", format!("this is neither a level nor an index in 1..{dim}"))
                    .label(e.span, "one of its levels");
                return self.fail(d.label(post.span, format!("{dim} levels")));
            }
            chosen.push(e);
        }
        let twice = chosen.iter().enumerate().find(|(i, e)| chosen.iter().take(*i).any(|f| f.same(e))).map(|(_, e)| e.span);
        if let Some(at) = twice {
            return self.fail(Diagnostic::new("E0201", "a level may be listed only once").label(at, "the second time"));
        }
        if chosen.is_empty() || chosen.len() as u64 >= dim {
            let d = Diagnostic::new("E0201", "add some of the levels, but not all of them")
                .label(set.span, format!("{} of {dim}", chosen.len()));
            return self.fail(d.cause("all shares together are 1"));
        }
        let list =
            node(ExprKind::List(chosen), Type::Vector(vectors::boxed(items.len() as u64, Range::ALL, None)), Label::Public, set.span);
        let ty = Type::Posterior(Box::new(Type::Real(Range::UNIT)));
        Ok(node(ExprKind::Call(Builtin::PosteriorSum, vec![post, list]), ty, Label::Public, span))
    }

    /// `interval(post, 0.9)`: the quantiles at 0.05 and 0.95.
    fn interval(&mut self, post: Expr, share: Expr, span: Span) -> Checked<Expr> {
        let Some(x) = share.constant().filter(|x| (0.0..=1.0).contains(x)) else {
            let d =
                Diagnostic::new("E0201", "the probability of an interval is a constant from 0 to 1").label(share.span, "not such a number");
            return self.fail(d.help("interval(post, 0.9)"));
        };
        let ends = [0.5 - 0.5 * x, 0.5 + 0.5 * x].map(|q| super::expressions::number(q, share.span));
        let list = self.list(ends.to_vec(), share.span)?;
        self.posterior_summary("quantile", vec![post, list], span)
    }

    /// `larger(post, other)` and `sample(post, times)` of posteriors of one number.
    fn of_scalar(&mut self, name: &str, inner: &Type, args: Vec<Expr>, second: &Expr, span: Span) -> Checked<Expr> {
        let other = if let Type::Posterior(other) = &second.ty { Some(other.as_ref()) } else { None };
        let times = second.constant().filter(|n| n.fract() == 0.0 && (1.0..=1e7).contains(n));
        let found = match (name, other, times) {
            _ if !inner.is_scalar_number() => None,
            ("larger", Some(other), _) if other.is_scalar_number() => Some((Builtin::PosteriorLarger, Type::Real(Range::UNIT))),
            ("sample", None, None) => {
                let d = Diagnostic::new("E0201", "the number of draws is a whole constant from 1 to 10000000");
                return self.fail(d.label(second.span, "not such a number").help(Help::from(("such as:", "1000")).over(second.span)));
            }
            ("sample", _, Some(n)) => {
                let range = inner.range().unwrap_or(Range::ALL);
                Some((Builtin::PosteriorSample, Type::Vector(vectors::boxed(n as u64, range, None))))
            }
            _ => None,
        };
        match found {
            Some((op, ty)) => Ok(node(ExprKind::Call(op, args), ty, Label::Public, span)),
            None => {
                let what = if name == "larger" { "larger(post[yes], post[no])" } else { "sample(post[yes], 1000)" };
                let d = Diagnostic::new("E0209", format!("`{name}` works on posteriors of one number")).label(span, "not such a call");
                self.fail(d.help(what))
            }
        }
    }
}
