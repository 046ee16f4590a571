//! Models of released counts: `observe cells.vote ~ ..` and `output post = posterior(m, u)`, which no private row is left in.

use super::expressions::{node, some};
use super::messages::type_text;
use super::scope::{Binding, Origin};
use super::{Checked, Checker, ReleaseInfo, Stop};
use crate::dist::{Distribution, Support};
use crate::model::fit::{CellTable, Fit, Sampling};
use crate::model::{
    Axis, Builtin, Column, ColumnId, Expr, ExprKind, Label, Observation, ParamId, Parameter, Range, ReleaseId, Step, TableId, Type,
};
use crate::source::suggest::did_you_mean;
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::rc::Rc;
use std::sync::Arc;

/// More events than this in a row are not added up.
const MOST_EVENTS: f64 = 1e6;
/// More rows than this make a chain of hours.
const MOST_ROWS: usize = 200_000;
/// Fewer draws of a chain say nothing of its tails.
const FEWEST_DRAWS: usize = 100;

impl Checker<'_> {
    pub(super) fn outside_blocks(&mut self, word: &str, call: Span) -> Checked<()> {
        if self.group.is_none() && self.branches.is_empty() {
            return Ok(());
        }
        let d = Diagnostic::new("E0209", format!("a {word} of released counts cannot be inside `each` or `when`"));
        self.fail(d.label(call, "inside a block").help("move it after the block"))
    }

    /// The parameters of a posterior or prior, by the names that it gives them, and how long it is sampled.
    pub(super) fn asked(&mut self, word: &str, args: &[ast::Arg], call: Span) -> Checked<(Vec<(String, ParamId)>, Sampling)> {
        let (mut wanted, mut sampling) = (vec![], Sampling::USUAL);
        for arg in args {
            if let Some(name) = &arg.name {
                if args.iter().take_while(|a| a.span != arg.span).any(|a| a.name.as_ref().is_some_and(|n| n.value == name.value)) {
                    let d = Diagnostic::new("E0208", format!("`{}` is given twice", name.value)).label(name.span, "the second time");
                    return self.fail(d.help("leave out one of the two"));
                }
                match name.value.as_str() {
                    "chains" => sampling.chains = self.whole_constant(&arg.value, "the number of chains")? as usize,
                    "draws" => {
                        let what = "the number of draws of a chain";
                        // No draws are too few, which is said below.
                        let none = self.public_constant(&arg.value, what)? == 0.0;
                        sampling.draws = if none { 0 } else { self.whole_constant(&arg.value, what)? as usize };
                    }
                    _ => {
                        let d =
                            Diagnostic::new("E0208", format!("`{word}` has no argument `{}`", name.value)).label(name.span, "not known");
                        return self.fail(match did_you_mean(&name.value, ["chains", "draws"]) {
                            Some(near) => d.near(name.span, &near),
                            None => d.help(Help::from(("how many draws a chain:", "draws = 1000")).over(arg.span)),
                        });
                    }
                }
                continue;
            }
            let e = self.expr(&arg.value)?;
            let label = if let ast::ExprKind::Name(n) = &arg.value.kind { Some(n.clone()) } else { None };
            self.drawn_parameters(&e, label, &mut wanted)?;
        }
        let Sampling { chains, draws } = sampling;
        if draws < FEWEST_DRAWS || sampling.total() > Sampling::MOST {
            // The one that is wrong beside what the other usually is.
            let usual = Sampling::USUAL;
            let long = draws < FEWEST_DRAWS || draws * usual.chains > Sampling::MOST;
            let (name, n) = if long { ("draws", usual.draws) } else { ("chains", usual.chains) };
            let at = args.iter().find(|a| a.name.as_ref().is_some_and(|of| of.value == name)).map_or(call, |a| a.span);
            let d =
                Diagnostic::new("E0025", format!("a chain has at least {FEWEST_DRAWS} draws, and all together at most {}", Sampling::MOST));
            let d = d.label(at, format!("{chains} chains of {draws}"));
            return self.fail(d.help(Help::from(format!("{name} = {n}")).over(at)));
        }
        match wanted.is_empty() {
            false => Ok((wanted, sampling)),
            true => self.fail(self.arity(&format!("`{word}`"), &format!("{word}(m, u), parameters of one model"), call)),
        }
    }

    /// `output post = posterior(m, u)`, or `prior(m, u)`: a chain on what is public.
    pub(super) fn fit(&mut self, name: &ast::Name, (word, args): (&str, &[ast::Arg]), call: Span, span: Span) -> Checked<Step> {
        self.outside_blocks(word, call)?;
        let (wanted, sampling) = self.asked(word, args, call)?;
        let ids: Vec<ParamId> = wanted.iter().map(|(_, p)| *p).collect();
        let all = self.with_total(&ids, call)?;
        let (params, mut observations) = self.closure(&all, call)?;
        let beside = |o: &Observation| self.is_of_sums(o) && observations.iter().any(|own| own.table == o.table);
        let known = self.observations.iter().filter(|(o, _, tied)| tied.is_none() && beside(o));
        let known: Vec<Observation> = known.map(|(o, ..)| o.clone()).collect();
        observations.extend(known);
        let (totals, mut observations): (Vec<Observation>, Vec<Observation>) = observations.into_iter().partition(|o| self.is_total(o));
        let tables = self.observed_cells(&observations, &totals, call)?;
        let mut parameters: Vec<Parameter> = params.iter().filter_map(|p| self.param(*p)).cloned().collect();
        let mut given = vec![];
        for table in &tables {
            let (own, laws) = self.conditioned(table, &observations, call)?;
            given.extend(own.iter().map(|p| p.id));
            parameters.extend(own);
            observations.extend(laws);
        }
        let parts: Vec<(String, Type)> = wanted.iter().filter_map(|(n, p)| Some((n.clone(), self.param(*p)?.ty.clone()))).collect();
        for id in &params {
            if let Some(info) = self.params.get_mut(id.0) {
                info.released.get_or_insert((name.value.clone(), call));
            }
        }
        let ty = Type::Posterior(Box::new(Type::Record(parts.clone())));
        let fit = Arc::new(Fit {
            sampling,
            prior: word == "prior",
            parameters,
            released: ids,
            observations,
            tables,
            given,
            total: totals.into_iter().next(),
        });
        let value = node(ExprKind::Fit(fit.clone()), ty.clone(), Label::Public, call);
        let id = ReleaseId(self.releases.len());
        self.releases.push(ReleaseInfo { ty: ty.clone(), query: None, late: true, fit: Some(fit), predictor: None });
        self.program.released.push(name.value.clone());
        let column = |(n, ty): &(String, Type)| Column {
            name: n.clone(),
            headers: vec![],
            public: true,
            ty: ty.clone(),
            missing: vec![],
            view: None,
            span,
        };
        self.derived(Origin::Draws(id), &name.value, parts.iter().map(column).collect(), 1, span);
        self.define(name, Binding::Value(Rc::new(node(ExprKind::Released(id), ty, Label::Public, name.span))))?;
        Ok(Step::Output { id: Some(id), name: name.value.clone(), value, shown: true, span })
    }

    /// Is it `cells.n ~ ..`, the law of a secret number of rows?
    fn is_total(&self, o: &Observation) -> bool {
        let ExprKind::Column(t, c) = o.outcome.kind else { return false };
        matches!(self.origin(t), Some(Origin::Cells(id)) if c.0 >= self.axes_of(id).len())
    }

    /// A model of moments has the laws of all columns together.
    fn is_of_sums(&self, o: &Observation) -> bool {
        matches!(self.origin(o.table), Some(Origin::Cells(id)) if self.moment_axes(id).is_some())
    }

    /// The parameters of a model, with those of the law of its number of rows, or of all columns of its moments.
    fn with_total(&mut self, ids: &[ParamId], call: Span) -> Checked<Vec<ParamId>> {
        let (_, observations) = self.closure(ids, call)?;
        let of = |o: &Observation| observations.iter().any(|own| own.table == o.table);
        let found = self.observations.iter().map(|(o, ..)| o).filter(|o| of(o) && (self.is_total(o) || self.is_of_sums(o)));
        let args: Vec<Expr> = found.flat_map(|o| o.likelihood.args.clone()).collect();
        Ok([ids, &self.latents(args.iter())].concat())
    }

    /// A number of rows that is Poisson makes the counts of all cells independent.
    fn law_of_total(&mut self, totals: &[Observation]) -> Checked<()> {
        if let Some(again) = totals.get(1) {
            return self.fail(Diagnostic::new("E0209", "the number of rows is observed once").label(again.span, "again here"));
        }
        let Some(o) = totals.first() else { return Ok(()) };
        let (column, args) = (self.written(o.outcome.span), &o.likelihood.args);
        if o.likelihood.family.name == "poisson" && args.iter().all(|e| !matches!(e.label, Label::Row(_) | Label::Mix(_))) {
            return Ok(());
        }
        let d = Diagnostic::new("E0209", "in a model of counts, a secret number of rows must have a Poisson distribution");
        let d = d.label(o.likelihood.span, "another distribution, or one that differs between rows");
        self.fail(d.help(("its rate may have any prior:", format!("observe {column} ~ poisson(total)"))))
    }

    /// The released tables of a model, none of them twice from the same rows; nothing else may be observed with them.
    fn observed_cells(&mut self, observations: &[Observation], totals: &[Observation], call: Span) -> Checked<Vec<CellTable>> {
        let mut found: Vec<CellTable> = vec![];
        self.law_of_total(totals)?;
        for o in observations {
            let Some(Origin::Cells(id)) = self.origin(o.table) else {
                let rows = self.table_name(o.table);
                if !self.table(o.table).is_some_and(|t| t.private) {
                    let d = Diagnostic::new("E0209", format!("this model observes the public rows of `{rows}` beside released counts"));
                    return self.fail(d.label(o.span, "public rows").help("put what they say into the priors"));
                }
                let d = Diagnostic::new("E0105", format!("this model observes rows of `{rows}`, which a chain may not read"))
                    .label(o.span, format!("rows of `{rows}`"))
                    .label(call, "computed from released counts alone");
                let d = d.cause("a posterior in an `output` is free because all it reads was released before");
                let counted = observations.iter().any(|o| matches!(self.origin(o.table), Some(Origin::Cells(_))));
                return self.fail(match counted {
                    true => d.help(Help::from(format!("remove `{}`", self.written(o.span))).edit(o.span, "")),
                    false => d.help(("release the posterior of private rows:", format!("release x = {}", self.written(call)))),
                });
            };
            let axes = self.axes_of(id);
            match self.moment_axes(id) {
                Some(_) => self.normal_in_columns(o, &axes)?,
                None if !self.sums_of_release(id).is_empty() => self.rate_of_sums(o, &axes)?,
                None => self.ends_with_its_axis(o, &axes)?,
            }
            if found.iter().any(|t| t.table == o.table) {
                continue;
            }
            let query = self.release(id).and_then(|r| r.query.clone());
            let name = self.table_name(o.table);
            let rows = query.as_ref().map(|(rows, _)| *rows);
            if let Some((other, rows)) = found.iter().find(|t| t.rows == rows).and_then(|t| Some((t.table, rows?))) {
                let (other, rows) = (self.table_name(other), self.table_name(rows));
                let d = Diagnostic::new("E0105", format!("`{other}` and `{name}` count the same rows of `{rows}`"))
                    .label(o.span, "counted again")
                    .cause("a model of both would treat their shared sampling error as independent");
                return self.fail(d.help("release one table with the columns of both"));
            }
            if let Some(other) = found.first() {
                let other = self.table_name(other.table);
                let d =
                    Diagnostic::new("E0209", format!("one model observes both `{other}` and `{name}`")).label(o.span, "the second table");
                return self.fail(d.help("declare one model for each table, and compare their posteriors"));
            }
            found.push(self.cells_of(o.table, id, query, (o.span, !totals.is_empty()))?);
        }
        if let Some(table) = found.first() {
            let rows = table.rows(observations);
            if rows > MOST_ROWS {
                let d = Diagnostic::new("E0025", format!("a model of released counts has at most {MOST_ROWS} cells and nodes"));
                let d = d.label(call, format!("{rows}: each bin of a predictor counts as several quadrature points"));
                return self.fail(d.help("release wider bins"));
            }
            self.in_order(table, observations)?;
            if table.moments.is_some() {
                self.laws_of_moments(table, observations, call)?;
            }
            self.exposures_apart(table, observations)?;
        }
        if found.is_empty() && !self.complete {
            return Err(Stop);
        }
        if found.is_empty() {
            let d = Diagnostic::new("E0300", "no `observe` of released counts uses these parameters").label(call, "nothing to learn from");
            return self.fail(d.help("observe released counts: observe cells.vote ~ .., with cells = histogram(..) released before"));
        }
        Ok(found)
    }

    /// The counts say how often each value of the column was seen, so the family must give chances to these values and no others.
    fn ends_with_its_axis(&mut self, o: &Observation, axes: &[Axis]) -> Checked<()> {
        let range = o.outcome.ty.range();
        let axis = if let ExprKind::Column(_, c) = o.outcome.kind { axes.get(c.0) } else { None };
        let binned = axis.is_some_and(|a| !a.edges.is_empty());
        // Beside a component that ends with the column, the last value would be a value and no tail.
        let all = o.likelihood.components().iter().all(|(family, _)| family.support.is_binned());
        let few = all && range.is_some_and(|r| r.hi <= MOST_EVENTS);
        let fits = |(family, args): &(&Distribution, &[Expr])| match family.support {
            Support::Bool => o.outcome.ty == Type::Bool,
            Support::Categories => !binned,
            Support::CountsToFirst => {
                let most = args.first().and_then(Expr::constant);
                !binned && range.is_some_and(|r| r.lo == 0.0 && Some(r.hi) == most)
            }
            Support::Counts => few,
            Support::Real(_) | Support::BetweenArgs => binned,
            _ => false,
        };
        let Some((family, _)) = o.likelihood.components().into_iter().find(|part| !fits(part)) else { return self.has_bins(o) };
        let (name, column) = (family.name, self.written(o.outcome.span));
        if binned {
            let d = Diagnostic::new("E0209", format!("`{name}` has no distribution function here, and `{column}` is counted in bins"))
                .label(o.likelihood.span, "gives a probability to each value, not to a bin of several");
            let axis = axis.map_or("k", |a| a.name.as_str());
            let d = d.help(format!("count each value on its own, by `histogram({axis})`"));
            return self.fail(d.help("or a count without an end: poisson, neg_binomial_2"));
        }
        let d = Diagnostic::new("E0209", format!("`{name}` does not take the values that the cells of `{column}` have"));
        let d = d
            .label(o.likelihood.span, "its support does not end where the domain of the column does")
            .label(o.outcome.span, type_text(&o.outcome.ty));
        let d = d.cause("values outside the domain were moved into it before they were counted");
        let d = d
            .help("bernoulli or bernoulli_logit for a bool, categorical or ordered_logistic for levels")
            .help("binomial(N, p) or poisson for an int in 0..N");
        let numbers = matches!(family.support, Support::Real(_) | Support::BetweenArgs) && !binned;
        self.fail(match axis.filter(|_| numbers).map(|a| a.name.clone()) {
            Some(x) => {
                let help = Help::from(("a number in bins:", format!("bin({x}, width = 1)"), "as an argument of histogram"));
                d.help(self.counted_at(o.table, &x).map_or(help.clone(), |at| help.over(at)))
            }
            None => d,
        })
    }

    /// Numbers are counted from one end of a bin to the other, whole numbers from the last one on.
    fn has_bins(&mut self, o: &Observation) -> Checked<()> {
        let known = |args: &[Expr]| args.iter().map(Expr::constant).collect::<Vec<_>>();
        let unknown = |(family, args): &(&Distribution, &[Expr])| family.support.is_binned() && !family.has_bins(&known(args));
        let Some((family, _)) = o.likelihood.components().into_iter().find(unknown) else { return Ok(()) };
        let (name, column) = (family.name, self.written(o.outcome.span));
        let d = Diagnostic::new("E0209", format!("the probability of a bin of `{column}` under `{name}` is not known"));
        let d = d.label(o.likelihood.span, "its distribution function cannot be differentiated in all of its arguments");
        let d = match family.has_bins(&[Some(1.0); 3]) {
            true => d.help(format!("write the first argument of `{name}` as a constant")),
            false => d,
        };
        let with = |d: &&Distribution| d.has_bins(&vec![Some(1.0); d.args.len()]);
        let known: Vec<&str> = crate::dist::all().filter(with).map(|d| d.name).collect();
        self.fail(d.help(format!("families of numbers in bins: {}", known.join(", "))))
    }

    /// Every axis is an outcome once, and none depends on itself, also through others.
    fn in_order(&mut self, table: &CellTable, observations: &[Observation]) -> Checked<()> {
        let mut needs: Vec<(usize, Vec<usize>, Span)> = vec![];
        for o in observations {
            let (outcomes, given) = table.used(std::slice::from_ref(o));
            let own: Vec<usize> = o.likelihood.args.iter().flat_map(|e| table.columns(e)).collect();
            let Some(outcome) = outcomes.first().copied().filter(|_| outcomes.len() == 1) else { continue };
            if let Some((_, _, first)) = needs.iter().find(|(c, ..)| *c == outcome) {
                let d = Diagnostic::new("E0209", "a column of released counts is observed once").label(o.span, "again here");
                return self.fail(d.label(*first, "first here").help("write one likelihood for it"));
            }
            needs.push((outcome, [given, own].concat(), o.span));
        }
        // Columns whose conditions are known, until there are no more.
        let mut left = needs;
        while let Some(i) = left.iter().position(|(_, on, _)| !on.iter().any(|c| left.iter().any(|(other, ..)| other == c))) {
            left.remove(i);
        }
        match left.first() {
            None => Ok(()),
            Some((.., at)) => {
                let d = Diagnostic::new("E0209", "this column of released counts depends on itself").label(*at, "in a circle");
                self.fail(
                    d.cause("the factors of a model multiply: each column is conditional on those before it")
                        .help("leave out one of the conditions"),
                )
            }
        }
    }

    /// A value of every draw of a posterior, as a posterior.
    pub(super) fn each_draw(&mut self, e: Expr, t: TableId) -> Expr {
        let Some(Origin::Draws(id)) = self.origin(t) else { return e };
        let (span, inner) = (e.span, if e.ty == Type::Bool { Type::Real(Range::UNIT) } else { e.ty.clone() });
        let of = self.release(id).map_or(Type::Text, |r| r.ty.clone());
        let all = node(ExprKind::Released(id), of, Label::Public, span);
        node(ExprKind::Call(Builtin::EachDraw, vec![e, all]), Type::Posterior(Box::new(inner)), Label::Public, span)
    }

    /// `post.m`: one number of every draw.
    pub(super) fn drawn(&mut self, base: &Expr, parts: &[(String, Type)], field: &ast::Name, span: Span) -> Checked<Expr> {
        let ExprKind::Released(id) = base.kind else { return Err(Stop) };
        let Some(i) = self.origins.iter().position(|o| *o == Origin::Draws(id)) else { return Err(Stop) };
        let t = TableId(self.program.tables.len() + i);
        match parts.iter().position(|(n, _)| *n == field.value) {
            Some(c) => self.column_expr(t, ColumnId(c), span),
            None => {
                let names = some(parts.iter().map(|(n, _)| n.as_str()));
                let d = Diagnostic::new("E0206", format!("the posterior has no part `{}`", field.value));
                self.fail(d.label(field.span, format!("parts: {names}")))
            }
        }
    }

    /// Does it come from a chain?
    pub(super) fn is_late(&self, e: &Expr) -> bool {
        let mut late = false;
        e.walk(&mut |x| {
            late |= match x.kind {
                ExprKind::Fit(_) => true,
                ExprKind::Released(id) => self.release(id).is_some_and(|r| r.late),
                _ => false,
            }
        });
        late
    }

    /// What a chain gives decides nothing private: it is computed after every release.
    pub(super) fn after_releases(&mut self, e: &Expr, what: &str) -> Checked<()> {
        if !self.is_late(e) {
            return Ok(());
        }
        let d = Diagnostic::new("E0105", format!("{what} depends on a chain")).label(e.span, "computed after every release");
        let d = d.cause("what was released is written down before a chain runs");
        self.fail(d.help("let a second program release it, once you have seen what the chain says"))
    }
}
