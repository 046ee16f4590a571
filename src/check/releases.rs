//! `release x = query using mechanism spend share`: the query, its sensitivity, the choice of mechanism.

use super::messages::type_text;
use super::scope::Binding;
use super::{Checked, Checker, ReleaseInfo, Stop, vectors};
use crate::model::{
    AggregateQuery, ArgValue, Builtin, Expr, ExprKind, Label, Levels, MechanismArg, MechanismChoice, MechanismKind, Norms, ParamId, Query,
    Range, ReleaseId, ReleaseStep, Request, Spend, SpendKind, Step, Type, VectorType,
};
use crate::numeric::calendar;
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::collections::BTreeSet;

/// `using .. spend ..`
pub(super) struct Clauses {
    pub mechanism: MechanismChoice,
    pub spend: Option<Spend>,
}

impl Checker<'_> {
    pub(super) fn release_statement(&mut self, r: &ast::Release, span: Span) -> Checked<Step> {
        self.price(span)?;
        self.room()?;
        let clauses = self.clauses(r);
        let word = r.query.path.last().map(|n| n.value.as_str()).unwrap_or_default();
        let built_in = r.query.path.len() == 1 && matches!(word, "draw" | "draws" | "posterior");
        let (query, ty) = if built_in { self.posterior_query(word, &r.query, &r.name.value)? } else { self.aggregate_query(r, span)? };
        self.released(&r.name, (query, ty, r.query.span), clauses?, span)
    }

    /// What stands behind the query.
    pub(super) fn clauses(&mut self, r: &ast::Release) -> Checked<Clauses> {
        let mechanism = self.mechanism(r.using.as_ref());
        let spend = r.spend.as_ref().map(|s| self.spend(s)).transpose();
        Ok(Clauses { mechanism: mechanism?, spend: spend? })
    }

    /// The release of a checked query, known from here on by its name.
    pub(super) fn released(
        &mut self,
        name: &ast::Name,
        (query, ty, query_span): (Query, Type, Span),
        Clauses { mechanism, spend }: Clauses,
        span: Span,
    ) -> Checked<Step> {
        let ty = released_type(&query, &mechanism, ty);
        self.weigh(&query, &ty, query_span)?;
        let id = ReleaseId(self.releases.len());
        self.not_hiding(name)?;
        self.define(name, Binding::Release(id))?;
        let predictor = if let Query::Posterior(model) = &query { super::new_rows::predictor(model) } else { None };
        let asked = if let Query::Aggregate(q) = &query { Some((q.table, q.value.clone())) } else { None };
        self.releases.push(ReleaseInfo { ty: ty.clone(), query: asked, late: false, fit: None, predictor });
        self.program.released.push(name.value.clone());
        Ok(Step::Release(ReleaseStep { id, name: name.value.clone(), query, query_span, mechanism, spend, ty, span }))
    }

    /// Is it a posterior of noisy cells, by its words or because no other release gives the posterior of several parameters?
    pub(super) fn of_noisy_cells(&mut self, r: &ast::Release) -> bool {
        let posterior = matches!(r.query.path.as_slice(), [word] if word.value == "posterior");
        posterior
            && match r.using.as_ref().map(|u| &u.mechanism) {
                Some(ast::Mechanism::Named { name, .. }) if name.value != "auto" => {
                    matches!(name.value.as_str(), "noisy_cells" | "noisy_moments" | "gaussian" | "geometric" | "laplace")
                }
                _ => r.query.args.iter().filter(|a| a.name.is_none()).count() > 1 || self.of_moments(r),
            }
    }

    pub(super) fn not_hiding(&mut self, name: &ast::Name) -> Checked<()> {
        let column = self.columns_named(&name.value).first().and_then(|(t, c)| self.column(*t, *c));
        let Some(column) = column.map(|c| c.span) else { return Ok(()) };
        self.fail(
            Diagnostic::new("E0207", format!("`{}` is already a column", name.value))
                .label(name.span, "a second meaning")
                .label(column, "the column")
                .help(format!("choose another name, for example {}_hat", name.value)),
        )
    }

    /// `draw(w, b)`, `draws(p, 10)`, `posterior(p)`.
    fn posterior_query(&mut self, word: &str, call: &ast::Call, name: &str) -> Checked<(Query, Type)> {
        if let Some(arg) = call.args.iter().find(|a| a.name.as_ref().is_some_and(|n| matches!(n.value.as_str(), "chains" | "draws"))) {
            let own: Vec<&str> = call.args.iter().filter(|a| a.name.is_none()).map(|a| self.map.slice(a.span)).collect();
            let help = Help::from(("without it:", format!("{word}({})", own.join(", ")))).over(call.span);
            let d = Diagnostic::new("E0208", "this release is not sampled by chains of a chosen length").label(arg.span, "not used here");
            return self.fail(d.help(help));
        }
        let (args, times) = match (word, call.args.as_slice()) {
            (_, []) => return self.fail(self.arity(&format!("`{word}`"), "draw(p), draws(p, 10), posterior(p)", call.span)),
            ("draws", [first, times]) => (std::slice::from_ref(first), self.whole_constant(&times.value, "the number of draws")?),
            ("draws", _) => return self.fail(self.arity("`draws`", "draws(p, 10)", call.span)),
            (_, args) => (args, 1),
        };
        let mut wanted: Vec<(String, ParamId)> = vec![];
        for arg in args {
            let e = self.expr(&arg.value)?;
            let label = match &arg.value.kind {
                ast::ExprKind::Name(n) => Some(n.clone()),
                _ => None,
            };
            self.drawn_parameters(&e, label, &mut wanted)?;
        }
        let ids: Vec<ParamId> = wanted.iter().map(|(_, p)| *p).collect();
        if word == "posterior" {
            let [(_, parameter)] = wanted.as_slice() else {
                return self.fail(self.arity("`posterior`", "posterior(p), one parameter", call.span));
            };
            let ty = self.param(*parameter).map(|p| p.ty.clone()).ok_or(Stop)?;
            let model = self.component(&ids, Request::Posterior { parameter: *parameter }, name, call.span)?;
            let sides = model.sides(*parameter);
            let name = |(rows, columns): (Levels, Levels)| -> Vec<String> {
                rows.iter().flat_map(|r| columns.iter().map(move |c| format!("{r}, {c}"))).collect()
            };
            // A name that two entries would have says nothing; then they have places.
            let names = sides.map(name).filter(|names| names.iter().collect::<BTreeSet<_>>().len() == names.len());
            let levels = names.map(|names| self.listed(names));
            return Ok((Query::Posterior(model), Type::Posterior(Box::new(entries(ty, levels)))));
        }
        let model = self.component(&ids, Request::Draw { parameters: ids.clone(), times }, name, call.span)?;
        let parts: Vec<(String, Type)> = wanted.iter().filter_map(|(n, p)| self.param(*p).map(|p| (n.clone(), p.ty.clone()))).collect();
        let one = match parts.as_slice() {
            [(_, ty)] => ty.clone(),
            _ => Type::Record(parts),
        };
        let ty = if word == "draws" { self.repeated(one, times, call.span)? } else { one };
        Ok((Query::Posterior(model), ty))
    }

    fn repeated(&mut self, one: Type, times: u64, span: Span) -> Checked<Type> {
        match &one {
            t if t.is_scalar_number() => Ok(Type::Vector(vectors::boxed(times, t.range().unwrap_or(Range::ALL), None))),
            Type::Vector(v) => Ok(Type::Matrix { rows: times, columns: v.dim, range: v.range }),
            Type::Simplex { dim, .. } => Ok(Type::Matrix { rows: times, columns: *dim, range: Range::UNIT }),
            other => {
                let what = type_text(other);
                self.fail(
                    Diagnostic::new("E0209", "`draws` repeats one number or one vector")
                        .label(span, what)
                        .help("release one draw(..) for each"),
                )
            }
        }
    }

    /// A parameter, or a list of parameters that a model returned.
    pub(super) fn drawn_parameters(&mut self, e: &Expr, label: Option<String>, out: &mut Vec<(String, ParamId)>) -> Checked<()> {
        match &e.kind {
            ExprKind::Param(p) => {
                let own = self.param(*p).map(|p| p.name.clone()).unwrap_or_default();
                if self.group.is_some() && self.params.get(p.0).is_some_and(|i| i.group != self.group) {
                    return self.groups_share(*p, &own, e.span);
                }
                let name = label.unwrap_or_else(|| own.clone());
                let name = if out.iter().any(|(n, _)| *n == name) { format!("{own}_{}", out.len() + 1) } else { name };
                if out.iter().any(|(_, q)| q == p) {
                    return self.fail(Diagnostic::new("E0207", "the same parameter is drawn twice").label(e.span, "again here"));
                }
                out.push((name, *p));
                self.factors(out.len(), e.span)
            }
            ExprKind::List(items) if e.label == Label::Latent => {
                for item in items {
                    self.drawn_parameters(item, None, out)?;
                }
                Ok(())
            }
            _ => {
                let written = self.written(e.span);
                let d = Diagnostic::new("E0209", "only parameters can be drawn").label(e.span, "not a parameter");
                self.fail(match e.label {
                    Label::Latent | Label::Mix(_) => {
                        d.help(format!("draw the parameters, then compute with the released values: output x = ..{written}.."))
                    }
                    Label::Public => d.help(format!("already public: output x = {written}")),
                    _ => d.help(("to release a summary of rows:", format!("release x = mean({written}) {}", self.using_text()))),
                })
            }
        }
    }

    fn aggregate_query(&mut self, release: &ast::Release, statement: Span) -> Checked<(Query, Type)> {
        let call = &release.query;
        let e = self.expr(&as_expr(call))?;
        self.after_releases(&e, "a release")?;
        let table = match e.label {
            Label::Aggregate(t) => t,
            Label::Public => {
                let (name, whole) = (&release.name.value, self.map.slice(e.span));
                let written = if whole.len() > 400 { self.written(e.span) } else { whole.to_owned() };
                let d = Diagnostic::new("E0209", "this value is public already").label(e.span, "costs nothing, and needs no noise");
                let d = match self.asks_private_table(&e) {
                    true => d.cause("it uses public columns only, which are the same in neighbouring data sets"),
                    false => d,
                };
                return self.fail(d.help(("output it:", format!("output {name} = {written}"))));
            }
            Label::Row(t) => {
                let (name, written) = (self.table_name(t), self.written(e.span));
                let d = Diagnostic::new("E0202", "one value for each row cannot be released")
                    .label(e.span, format!("as many values as `{name}` has rows"));
                let d = self.label_column(d, &e, "private column");
                return self.fail(d.help(("release a summary:", format!("release x = mean({written}) {}", self.using_text()))));
            }
            Label::Latent | Label::Mix(_) => {
                let name = ast::Name::new("x".into(), e.span);
                return self.latent_release(&e, &name);
            }
        };
        self.group_table(table, call.span)?;
        let records = self.records(table)?;
        let sensitivity = super::sensitivity::sensitivity(&e, &records);
        let quantile = matches!(e.kind, ExprKind::Call(crate::model::Builtin::RowQuantile, _));
        if !quantile && !sensitivity.linf.is_finite() {
            let apart = self.taken_apart(&e, &records, release, statement);
            return self.unbounded_query(&e, apart);
        }
        if matches!(e.ty, Type::Bool) {
            return self.fail(
                Diagnostic::new("E0209", "a comparison of private values cannot be released")
                    .label(e.span, "true or false about all rows")
                    .help("release the value itself, then compare"),
            );
        }
        let ty = e.ty.clone();
        Ok((Query::Aggregate(AggregateQuery { table, value: e, sensitivity, records }), ty))
    }

    fn latent_release<T>(&mut self, e: &Expr, _name: &ast::Name) -> Checked<T> {
        let first = self.latents(std::iter::once(e)).first().copied();
        let p = first.and_then(|p| self.param(p)).map_or_else(|| "p".to_string(), |p| p.name.clone());
        self.fail(
            Diagnostic::new("E0107", "a parameter is released by drawing it")
                .label(e.span, "depends on a parameter")
                .help(format!("release {p}_hat = draw({p})")),
        )
    }

    /// E0202: no finite bound on a query.
    pub(super) fn unbounded_query<T>(&mut self, e: &Expr, apart: Option<String>) -> Checked<T> {
        let column = self.private_column(e).and_then(|(t, c)| self.column(t, c)).cloned();
        let inside = self.aggregate_inside(e).clone();
        let subject = match &inside.kind {
            ExprKind::Call(_, args) => args.first().map_or(inside.span, |a| a.span),
            _ => inside.span,
        };
        let x = self.written(subject);
        let unbounded = column.as_ref().filter(|c| c.ty.range().is_some_and(|r| !r.is_finite()));
        let d = match &unbounded {
            Some(c) => Diagnostic::new("E0202", format!("`{}` has no bounds, so one person can move the answer without limit", c.name)),
            None => Diagnostic::new("E0202", "no finite bound is known for this query"),
        };
        let d = d.label(e.span, "its sensitivity is infinite");
        let d = match &column {
            Some(c) if unbounded.is_some() => d.label(c.span, "unbounded private column"),
            Some(c) => d.label(c.span, "private column"),
            None => d,
        };
        let d = d.cause("noise is scaled to the largest change one unit can make, which is infinite here");
        let d = match &unbounded {
            Some(c) => {
                let domain = match &c.ty {
                    Type::Int(_) => "int in 0..100".to_string(),
                    Type::Vector(v) => format!("vector[{}] in [0, 100]", v.dim),
                    _ => "real in [0, 100]".to_string(),
                };
                d.help(("declare public bounds:", format!("{}: {domain}", c.name), "(rows outside are clamped)"))
                    .help(Help::from(("or clip in the query:", format!("clip({x}, 0, 100)"))).over(subject))
            }
            None => d.help(apart.unwrap_or("release sums, means, counts or histograms, and combine the released values afterwards".into())),
        };
        self.fail(d)
    }

    /// What `using` says.
    fn mechanism(&mut self, using: Option<&ast::Using>) -> Checked<MechanismChoice> {
        let Some(using) = using else {
            return Ok(MechanismChoice { kind: MechanismKind::Auto, assuming_convergence: false, span: None });
        };
        let kind = match &using.mechanism {
            ast::Mechanism::Hole => MechanismKind::Hole,
            ast::Mechanism::Named { name, args } if name.value == "auto" && args.is_empty() => MechanismKind::Auto,
            ast::Mechanism::Named { name, args } => {
                let args = args.iter().map(|a| self.mechanism_arg(a)).collect::<Checked<Vec<_>>>()?;
                MechanismKind::Named { name: name.value.clone(), args }
            }
        };
        if let Some(call) = &using.within {
            // Its delta is known (rule book, section 11.1), but every other number of a certificate would be that of exact draws.
            let d = Diagnostic::new("E0208", "a distance from exact draws cannot be assumed").label(call.span, "not offered");
            return self.fail(d.help("a chain is assumed to have converged by `assuming convergence`; an exact draw needs nothing"));
        }
        Ok(MechanismChoice { kind, assuming_convergence: using.assuming.is_some(), span: Some(using.span) })
    }

    fn mechanism_arg(&mut self, arg: &ast::Arg) -> Checked<MechanismArg> {
        let value = match &arg.value.kind {
            ast::ExprKind::Name(word) if self.scopes.find(word).is_none() => ArgValue::Word(word.clone()),
            ast::ExprKind::List(items) => {
                ArgValue::Many(items.iter().map(|e| self.public_constant(e, "an argument")).collect::<Checked<Vec<f64>>>()?)
            }
            _ => ArgValue::Number(self.public_constant(&arg.value, "an argument of a mechanism")?),
        };
        Ok(MechanismArg { name: arg.name.as_ref().map(|n| n.value.clone()), value, span: arg.span })
    }

    fn spend(&mut self, spend: &ast::Spend) -> Checked<Spend> {
        let kind = match &spend.kind {
            ast::SpendKind::Percent(p) if *p > 0.0 && *p <= 100.0 => SpendKind::Share(format!("{p}e-2").parse().unwrap_or(p / 100.0)),
            ast::SpendKind::Percent(p) => {
                return self
                    .fail(Diagnostic::new("E0402", format!("a share of {p}%")).label(spend.span, "between 0% and 100%").help("spend 20%"));
            }
            ast::SpendKind::Cost(call) => SpendKind::Cost(self.cost(call)?),
        };
        Ok(Spend { kind, span: spend.span })
    }
}

/// The percents that releases spend, wherever they stand.
pub(super) fn shares(items: &[ast::Item]) -> f64 {
    let one = |item: &ast::Item| match &item.kind {
        ast::ItemKind::Release(r) => match r.spend.as_ref().map(|s| &s.kind) {
            Some(ast::SpendKind::Percent(p)) => *p,
            _ => 0.0,
        },
        ast::ItemKind::Each { body, .. } => shares(body),
        ast::ItemKind::When { then, otherwise, .. } => shares(then).max(otherwise.as_deref().map_or(0.0, shares)),
        _ => 0.0,
    };
    items.iter().map(one).sum()
}

/// A call as an expression.
fn as_expr(call: &ast::Call) -> ast::Expr {
    let mut names = call.path.iter();
    let first = names.next().map_or_else(|| ast::Name::new(String::new(), call.span), Clone::clone);
    let mut callee = ast::Expr { kind: ast::ExprKind::Name(first.value), span: first.span };
    for name in names {
        let span = callee.span.to(name.span);
        callee = ast::Expr { kind: ast::ExprKind::Field(Box::new(callee), name.clone()), span };
    }
    ast::Expr { kind: ast::ExprKind::Call(Box::new(callee), call.args.clone()), span: call.span }
}

/// What is known of the released value: noise has no bounds, a beta draw and a grid do.
fn released_type(query: &Query, choice: &MechanismChoice, ty: Type) -> Type {
    if let Query::Posterior(_) = query {
        return ty;
    }
    let own = if let Type::Date(days) = ty { days } else { ty.range().unwrap_or(Range::ALL) };
    let quantile = matches!(query, Query::Aggregate(q) if matches!(q.value.kind, ExprKind::Call(Builtin::RowQuantile, _)));
    let range = match &choice.kind {
        // One mechanism answers quantiles, with a value between the bounds.
        MechanismKind::Auto | MechanismKind::Hole if quantile => own,
        MechanismKind::Named { name, .. } if name == "beta_query" => Range::UNIT,
        MechanismKind::Named { name, args } if name == "exponential" => {
            // By name first, then by place among those without one: as `rules::query` reads them.
            let number = |name: &str, place: usize| {
                let named = args.iter().find(|a| a.name.as_deref() == Some(name));
                match named.or_else(|| args.iter().filter(|a| a.name.is_none()).nth(place)).map(|a| &a.value) {
                    Some(ArgValue::Number(x)) => Some(*x),
                    _ => None,
                }
            };
            let (lo, hi) = (number("lo", 0).unwrap_or(own.lo), number("hi", 1).unwrap_or(own.hi));
            if lo <= hi { Range::new(lo, hi) } else { Range::ALL }
        }
        _ => Range::ALL,
    };
    match ty {
        Type::Vector(v) => Type::Vector(VectorType { axes: v.axes, ..vectors::boxed(v.dim, range, v.levels) }),
        // A quantile of dates, between days of the calendar.
        Type::Date(_) if range.within(Range::new(calendar::FIRST, calendar::LAST)) => Type::Date(range),
        _ => Type::Real(range),
    }
}

/// What a posterior is over: of a matrix its entries, row by row, by these names.
fn entries(ty: Type, levels: Option<Levels>) -> Type {
    let Type::Matrix { rows, columns, range } = ty else { return ty };
    let (dim, sup) = (rows.saturating_mul(columns), Norms::INFINITE);
    Type::Vector(VectorType { dim, range, sup, diam: sup, levels, axes: None, ordered: false })
}
