//! What models of released counts predict: for the cells (`predictive`, `loo`), as made-up rows, for another population (`poststratify`).

use super::expressions::{node, number, some};
use super::messages::type_text;
use super::scope::{Binding, Origin};
use super::{Checked, Checker, Stop, vectors};
use crate::model::fit::{Fit, Sampling};
use crate::model::{Axis, Builtin, Expr, ExprKind, Label, Range, ReleaseId, Type, VectorType};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::{ast, tokens};
use std::sync::Arc;

/// The most cells of a table whose counts are predicted by usual draws: every draw predicts all of them.
const MOST_CELLS: usize = 10_000;
/// The most made-up rows.
const MOST_ROWS: u64 = 10_000_000;

impl Checker<'_> {
    /// The draws of a model, and the model.
    fn modelled(&mut self, written: &ast::Expr, of: &str) -> Checked<(Expr, Arc<Fit>)> {
        let e = self.expr(written)?;
        let found = if let ExprKind::Released(id) = e.kind { self.release(id).and_then(|r| r.fit.clone()) } else { None };
        let Some(fit) = found else {
            let what = if let Label::Row(_) = e.label { "a number of every draw".into() } else { type_text(&e.ty) };
            let d = Diagnostic::new("E0209", format!("`{of}` needs the posterior of a model of released counts")).label(e.span, what);
            let whole = if let ast::ExprKind::Field(base, _) = &written.kind { self.expr(base).ok() } else { None };
            let fit = |e: &Expr| matches!(e.kind, ExprKind::Released(id) if self.release(id).is_some_and(|r| r.fit.is_some()));
            return self.fail(match whole.filter(fit) {
                Some(whole) => d.help(Help::from(("all of its draws:", self.written(whole.span))).over(e.span)),
                None => d.help("all of its draws are one, as in `output post = posterior(m, u)`"),
            });
        };
        if fit.tables.iter().any(|t| t.moments.is_some()) {
            let d =
                Diagnostic::new("E0209", format!("`{of}` is about cells, and this is a model of moments")).label(e.span, "its posterior");
            return self.fail(d.help("release counts for it: histogram(bin(x, width = 5), y)"));
        }
        let most = MOST_CELLS * Sampling::USUAL.total() / fit.sampling.total().max(Sampling::USUAL.total());
        if fit.predicted().iter().map(|a| a.levels.len()).product::<usize>() > most {
            let d = Diagnostic::new("E0025", format!("`{of}` predicts at most {most} cells")).label(e.span, "a model of more");
            return self.fail(d.help("release a table of fewer columns, or of wider bins"));
        }
        Ok((e, fit))
    }

    /// The released table of a model, or a margin of it, by axes that the model uses.
    fn table_of(&mut self, cells: &ast::Expr, (post, fit): (&Expr, &Fit)) -> Checked<Expr> {
        let e = self.expr(cells)?;
        let table = fit.tables.first().ok_or(Stop)?;
        let all: Vec<usize> = (0..table.axes.len()).collect();
        let found: Option<(ReleaseId, Vec<usize>)> = match &e.kind {
            ExprKind::Released(id) => Some((*id, all)),
            ExprKind::Call(Builtin::Margin, args) => match args.as_slice() {
                [Expr { kind: ExprKind::Released(id), .. }, kept @ ..] => {
                    Some((*id, kept.iter().filter_map(|k| Some(k.constant()? as usize)).collect()))
                }
                _ => None,
            },
            _ => None,
        };
        let (name, post) = (self.program.released.get(table.release.0).cloned().unwrap_or_default(), self.written(post.span));
        let Some((_, kept)) = found.filter(|(id, _)| *id == table.release) else {
            let d = Diagnostic::new("E0209", format!("`{post}` is a model of the table `{name}`")).label(e.span, "not that table");
            return self.fail(d.help(Help::from(("the table, or `margin` of it:", name)).over(e.span)));
        };
        let used = fit.axes();
        let axis = |i: &usize| table.axes.get(*i).map(|a| a.name.as_str());
        // Every group has sums of its own, whether the model names it or not.
        if !table.sums.is_empty() {
            return Ok(e);
        }
        if let Some(unused) = kept.iter().find(|i| !used.contains(i)).and_then(axis) {
            let d = Diagnostic::new("E0209", format!("the model of `{post}` says nothing about `{unused}`"));
            let d = d.label(e.span, format!("counted by `{unused}`, which the model sums out"));
            let names = some(used.iter().filter_map(axis));
            return self.fail(d.help(Help::from(("by the columns that it uses:", format!("margin({name}, {names})"))).over(e.span)));
        }
        Ok(e)
    }

    /// `predictive(cells, post)`: what was released beside what the model predicts.
    pub(super) fn predictive(&mut self, cells: &ast::Expr, post: &ast::Expr, span: Span) -> Checked<Expr> {
        let (post, fit) = self.modelled(post, "predictive")?;
        let cells = self.table_of(cells, (&post, &fit))?;
        let Type::Vector(VectorType { axes: Some(axes), .. }) = &cells.ty else { return Err(Stop) };
        let mut axes = axes.to_vec();
        // Exposures are given: what is predicted are the sums that the model observes.
        if let (Some(last), Some(observed)) = (axes.last_mut().filter(|a| !a.sums.is_empty()), fit.predicted().pop()) {
            *last = observed;
        }
        let column = self.by_cell(axes, span)?;
        let count = column.levels().map_or(0, |l| l.len()) as f64;
        let parts = ["released", "mean", "low", "high"].map(|name| (name.to_owned(), column.clone()));
        let within = ("within".to_owned(), Type::Int(Range::new(0.0, count)));
        let ty = Type::Record(parts.into_iter().chain([within]).collect());
        Ok(node(ExprKind::Call(Builtin::Predictive, vec![cells, post]), ty, Label::Public, span))
    }

    /// The posterior of a model, which a prior is not: what it predicts was not learned from the counts.
    fn learned(&mut self, post: &ast::Expr, of: &str) -> Checked<(Expr, Arc<Fit>)> {
        let called = |f: &ast::Expr| matches!(&f.kind, ast::ExprKind::Name(n) if n == "prior" && self.scopes.find(n).is_none());
        let inline = matches!(&post.kind, ast::ExprKind::Call(f, _) if called(f));
        let (at, found) = (post.span, if inline { None } else { Some(self.modelled(post, of)?) });
        match found.filter(|(_, fit)| !fit.prior) {
            Some(found) => Ok(found),
            None => {
                let d = Diagnostic::new("E0209", format!("`{of}` asks what a model learned, and a prior has learned nothing"));
                self.fail(d.label(at, "draws of a prior").help("take draws of the posterior, which `output post = posterior(..)` names"))
            }
        }
    }

    /// A number for every cell of these axes.
    fn by_cell(&mut self, axes: Vec<Axis>, span: Span) -> Checked<Type> {
        let levels = self.cells(&axes, span)?;
        let column = vectors::boxed(levels.len() as u64, Range::ALL, Some(levels));
        Ok(Type::Vector(VectorType { axes: Some(Arc::new(axes)), ..column }))
    }

    /// `loo(post)`: how well the model predicts every cell from the others.
    pub(super) fn loo(&mut self, post: &ast::Expr, span: Span) -> Checked<Expr> {
        let (post, fit) = self.learned(post, "loo")?;
        let column = self.by_cell(fit.predicted(), span)?;
        let parts = ["cells", "k"].map(|name| (name.to_owned(), column.clone())).into_iter();
        let ty = Type::Record(parts.chain(["elpd", "se", "p"].map(|name| (name.to_owned(), Type::Real(Range::ALL)))).collect());
        Ok(node(ExprKind::Call(Builtin::Loo, vec![post]), ty, Label::Public, span))
    }

    /// `loo_compare(post, other)`: how much better the first predicts.
    pub(super) fn loo_compare(&mut self, a: &ast::Expr, b: &ast::Expr, span: Span) -> Checked<Expr> {
        let ((a, first), (b, second)) = (self.learned(a, "loo_compare")?, self.learned(b, "loo_compare")?);
        if first.parameters.first().map(|p| p.id) == second.parameters.first().map(|p| p.id) {
            let d = Diagnostic::new("E0209", "a model is compared with itself").label(a.span, "a posterior of a model");
            return self.fail(d.label(b.span, "a posterior of the same model").help("compare posteriors of two models of the same counts"));
        }
        let table = |fit: &Fit| fit.tables.first().map(|t| t.release);
        if table(&first) != table(&second) {
            let name = |fit: &Fit| table(fit).and_then(|id| self.program.released.get(id.0).cloned()).unwrap_or_default();
            let (ours, theirs) = (format!("a model of `{}`", name(&first)), format!("a model of `{}`", name(&second)));
            let d = Diagnostic::new("E0209", "these models use different tables").label(a.span, ours).label(b.span, theirs);
            return self
                .fail(d.cause("what they predict are different counts").help("release the joint table, and let both be models of it"));
        }
        let of_sums = first.tables.iter().any(|t| !t.sums.is_empty());
        if of_sums && first.predicted() != second.predicted() {
            let names = |fit: &Fit| {
                let observed = fit.predicted().pop().map(|a| a.sums).unwrap_or_default();
                format!("of {}", some(observed.iter().map(|s| s.name.as_str())))
            };
            let d = Diagnostic::new("E0209", "these models observe different sums").label(a.span, names(&first));
            let d = d.label(b.span, names(&second)).cause("what they predict are different numbers");
            return self.fail(d.help("compare models that observe the same sums; they may read different exposures"));
        }
        if !of_sums && first.axes() != second.axes() {
            let axes = first.tables.first().map(|t| t.axes.clone()).unwrap_or_default();
            let names = |fit: &Fit| some(fit.axes().iter().filter_map(|i| axes.get(*i)).map(|a| a.name.as_str()));
            let (ours, theirs) = (format!("by {}", names(&first)), format!("by {}", names(&second)));
            let d = Diagnostic::new("E0209", "these models use different cells").label(a.span, ours).label(b.span, theirs);
            let d = d.cause("a column that a model does not name is summed out: it predicts fewer, larger counts");
            let (fewer, more) = if first.axes().len() < second.axes().len() { (&first, &second) } else { (&second, &first) };
            let missing = more.axes().into_iter().find(|i| !fewer.axes().contains(i)).and_then(|i| axes.get(i));
            let same = missing.zip(fewer.released.first().and_then(|p| self.param(*p))).map(|(axis, p)| {
                let level = axis.levels.first().map_or("", String::as_str);
                let level = if tokens::is_name(level) || level.parse::<i64>().is_ok() { level.to_owned() } else { format!("{level:?}") };
                let when = if axis.ty == Type::Bool { axis.name.clone() } else { format!("{} == {level}", axis.name) };
                let same = format!("if {when} then {0} else {0}", p.name);
                let mut used = None;
                fewer.observations.iter().flat_map(|o| &o.likelihood.args).for_each(|e| {
                    e.walk(&mut |x| {
                        if x.is_param(p.id) {
                            used = Some(x.span);
                        }
                    });
                });
                let help = Help::from((format!("name `{}` in both, also where nothing depends on it:", axis.name), same));
                used.map_or(help.clone(), |used| help.over(used))
            });
            return self.fail(d.helps(same));
        }
        let ty = Type::Record(["elpd_diff", "se_diff", "k"].map(|name| (name.to_owned(), Type::Real(Range::ALL))).to_vec());
        Ok(node(ExprKind::Call(Builtin::LooCompare, vec![a, b]), ty, Label::Public, span))
    }

    /// `simulate(cells, post, rows = 1000)`: made-up rows, as a table of their counts.
    pub(super) fn made_up(&mut self, cells: &ast::Expr, post: &ast::Expr, rows: &ast::Expr, span: Span) -> Checked<Expr> {
        let (post, fit) = self.modelled(post, "simulate")?;
        if fit.tables.iter().any(|t| !t.sums.is_empty()) {
            let d = Diagnostic::new("E0209", "sums say nothing of single rows, so none can be made up").label(post.span, "a model of sums");
            return self.fail(d.help("release counts for them: histogram(bin(x, width = 5), y)"));
        }
        let cells = self.table_of(cells, (&post, &fit))?;
        let n = self.whole_constant(rows, "the number of made-up rows")?;
        if n > MOST_ROWS {
            let d = Diagnostic::new("E0201", "too many made-up rows").label(rows.span, format!("at most {MOST_ROWS}"));
            return self.fail(d.help("rows = 1000"));
        }
        let Type::Vector(v) = &cells.ty else { return Err(Stop) };
        let ty = vectors::boxed(v.dim, Range::new(0.0, n as f64), v.levels.clone());
        let ty = Type::Vector(VectorType { axes: v.axes.clone(), ..ty });
        let set = self.releases.len();
        let args = vec![cells, post, number(n as f64, rows.span), number(set as f64, span)];
        Ok(node(ExprKind::Call(Builtin::MadeUp, args), ty, Label::Public, span))
    }

    /// `poststratify(inv_logit(post.u[region]), census, people)`: of every draw the mean over the rows of a public table, by weight.
    pub(super) fn poststratify(&mut self, e: &ast::Expr, table: &ast::Expr, weight: &ast::Expr, span: Span) -> Checked<Expr> {
        let bound = if let ast::ExprKind::Name(name) = &table.kind { self.scopes.find(name).map(|e| e.binding.clone()) } else { None };
        let Some(Binding::Table(t)) = bound.filter(|b| matches!(b, Binding::Table(t) if self.table(*t).is_some_and(|t| !t.private))) else {
            let d = Diagnostic::new("E0209", "`poststratify` averages over the rows of a public table").label(table.span, "no such table");
            return self
                .fail(d.help(("for example a census:", "public census[groups] { region: category {north, south}, people: int in 0.. }")));
        };
        let outer = self.observed.replace(t);
        let weight = self.expr(weight);
        let beside = self.beside.replace(t);
        let e = self.expr(e);
        (self.observed, self.beside) = (outer, beside);
        let (e, weight) = (e?, weight?);
        if weight.label != Label::Row(t) || !weight.ty.is_scalar_number() || !weight.ty.range().is_some_and(|r| r.lo >= 0.0) {
            let what = type_text(&weight.ty);
            let d =
                Diagnostic::new("E0209", "the weights of `poststratify` are a column without negative numbers").label(weight.span, what);
            return self.fail(d.help("people: int in 0.."));
        }
        let draws = if let Label::Row(draws) = e.label { self.origin(draws) } else { None };
        if !matches!(draws, Some(Origin::Draws(_))) || !e.ty.is_scalar_number() {
            let d = Diagnostic::new("E0209", "`poststratify` averages one number of every draw").label(e.span, "not one");
            let name = self.table_name(t);
            return self.fail(d.help(format!("poststratify(inv_logit(post.m + post.u[region]), {name}, people)")));
        }
        let (ty, label) = (Type::Real(e.ty.range().unwrap_or(Range::ALL)), e.label);
        Ok(node(ExprKind::Call(Builtin::Poststratify, vec![e, weight]), ty, label, span))
    }
}
