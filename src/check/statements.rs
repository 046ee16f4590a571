//! Statements: param, let, observe, output, when; each in the order it stands.

use super::messages::type_text;
use super::scope::Binding;
use super::{Checked, Checker, ParamInfo, Stop, measure, vectors};
use crate::dist::Support;
use crate::model::{DistCall, Expr, ExprKind, Label, ParamId, Parameter, Range, Step, Type};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::MAX_COMPLAINTS;
use crate::syntax::ast::{self, ItemKind};
use std::collections::BTreeSet;
use std::rc::Rc;

impl Checker<'_> {
    /// A block with names of its own where it is nested; the whole program at the top.
    pub(super) fn block(&mut self, items: &[ast::Item]) -> Vec<Step> {
        self.statements(items)
    }

    pub(super) fn statements(&mut self, items: &[ast::Item]) -> Vec<Step> {
        let mut steps = vec![];
        let outer = std::mem::take(&mut self.pending);
        for item in items {
            // Enough has been said; more would only take time.
            if self.diagnostics.len() >= MAX_COMPLAINTS {
                break;
            }
            let around = std::mem::replace(&mut self.statement, item.span);
            let done = self.statement(item);
            self.statement = around;
            let before = std::mem::take(&mut self.pending);
            if let Ok(more) = done {
                steps.extend(before);
                steps.extend(more);
            }
        }
        self.pending = outer;
        steps
    }

    fn statement(&mut self, item: &ast::Item) -> Checked<Vec<Step>> {
        let leaves = matches!(item.kind, ItemKind::Release(_) | ItemKind::Output { .. } | ItemKind::Expect { .. });
        if leaves && self.scopes.in_body() {
            return self.fail(
                Diagnostic::new("E0209", "a model declares parameters and observations; it releases nothing")
                    .label(item.span, "inlined twice, this would be two releases of one name")
                    .help("return the parameter, and release it where the model is used"),
            );
        }
        let done: Checked<Option<Step>> = match &item.kind {
            ItemKind::Param { name, ty, prior } => self.param_statement(name, ty.as_ref(), prior, item.span).map(|()| None),
            ItemKind::Let { name, ty, value } => return self.let_statement(name, ty.as_ref(), value),
            ItemKind::Observe { outcome, likelihood } => {
                let done = self.observe(outcome, likelihood, item.span);
                self.complete &= done.is_ok();
                done.map(|()| None)
            }
            ItemKind::Release(r) if self.of_noisy_cells(r) => {
                let done = self.noisy_cells(r, item.span);
                if done.is_err() {
                    self.poison(item);
                }
                return done;
            }
            ItemKind::Release(r) if self.of_some_rows(r) || self.is_by_groups(r) => {
                let done = if self.is_by_groups(r) { self.mean_by_groups(r, item.span) } else { self.mean_of_some(r, item.span) };
                if done.is_err() {
                    self.poison(item);
                }
                return done;
            }
            ItemKind::Release(r) if self.is_moments(r) => self.moments(r, item.span).map(Some),
            ItemKind::Release(r) if self.is_sums(r) => self.sums(r, item.span).map(Some),
            ItemKind::Release(r) => self.release_statement(r, item.span).map(Some),
            ItemKind::PublicRecord { name, file, release } => {
                self.record_statement(name, file, release.as_ref().unwrap_or(name), item.span).map(|()| None)
            }
            ItemKind::Output { name, value } => self.output(name, value, item.span).map(Some),
            ItemKind::Expect { condition } => self.expect(condition, item.span).map(Some),
            ItemKind::Each { key, table, header, body } => self.each(key, table, *header, body, item.span).map(Some),
            ItemKind::When { condition, then, otherwise } => self.when(condition, then, otherwise.as_deref(), item.span).map(Some),
            _ => Ok(None),
        };
        if done.is_err() {
            self.poison(item);
        }
        done.map(|s| s.into_iter().collect())
    }

    /// A name whose statement failed: mentioning it later is silent.
    fn poison(&mut self, item: &ast::Item) {
        let name = match &item.kind {
            ItemKind::Param { name, .. } | ItemKind::Let { name, .. } => name,
            ItemKind::PublicRecord { name, .. } | ItemKind::Output { name, .. } => name,
            ItemKind::Release(r) => &r.name,
            _ => return,
        };
        if self.scopes.here(&name.value).is_none() {
            self.scopes.bind(&name.value, Binding::Poisoned, name.span);
        }
    }

    fn let_statement(&mut self, name: &ast::Name, ty: Option<&ast::Type>, value: &ast::Expr) -> Checked<Vec<Step>> {
        let model = match &value.kind {
            ast::ExprKind::Call(f, args) => match &f.kind {
                ast::ExprKind::Name(n) => match self.scopes.find(n).map(|e| e.binding.clone()) {
                    Some(Binding::Model(def)) => Some((n.clone(), def, args)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let outer = self.defining.replace(name.value.clone());
        let checked = match model {
            Some((n, def, args)) => self.inline_model(&n, &def, args, value.span),
            None => self.expr(value).map(|e| (e, vec![])),
        };
        self.defining = outer;
        let result = checked.and_then(|(e, steps)| {
            let (nodes, depth) = measure(&e);
            self.spend_nodes(nodes, value.span)?;
            if depth > super::MAX_DEPTH {
                return self.too_deep(value.span);
            }
            if let Some(ty) = ty {
                self.ascribed(ty, &e)?;
            }
            self.not_a_column(name)?;
            let e = self.computed_once(e, &name.value);
            self.define(name, Binding::Value(Rc::new(e)))?;
            Ok(steps)
        });
        if result.is_err() && self.scopes.here(&name.value).is_none() {
            self.scopes.bind(&name.value, Binding::Poisoned, name.span);
        }
        result
    }

    /// `let y: real in [0, 1] = ..`: a claim about the value, checked, never enforced.
    fn ascribed(&mut self, ty: &ast::Type, e: &Expr) -> Checked<()> {
        let want = self.declared_type(ty)?;
        let ok = match (&want, &e.ty) {
            (Type::Real(r), t) if t.is_scalar_number() => t.range().is_some_and(|x| x.within(*r)),
            (Type::Int(r), Type::Int(_) | Type::Bool) => e.ty.range().is_some_and(|x| x.within(*r)),
            (Type::Vector(a), t) => super::vectors::as_vector(t).is_some_and(|b| {
                a.dim == b.dim && (b.ordered || !a.ordered) && b.range.within(a.range) && b.sup.l1 <= a.sup.l1 && b.sup.l2 <= a.sup.l2
            }),
            (Type::Matrix { rows, columns, range }, Type::Matrix { rows: r, columns: c, range: x }) => {
                rows == r && columns == c && x.within(*range)
            }
            (Type::Category(a), Type::Category(b)) => a == b,
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        };
        if ok {
            return Ok(());
        }
        let what = type_text(&e.ty);
        self.fail(
            Diagnostic::new("E0203", "the value does not fit its declared type")
                .label(e.span, what)
                .label(ty.span, format!("declared: {}", type_text(&want)))
                .help("clip the value, or declare the wider type"),
        )
    }

    /// A name may not hide a column: rows would change their meaning half-way.
    fn not_a_column(&mut self, name: &ast::Name) -> Checked<()> {
        if self.scopes.in_body() {
            return Ok(());
        }
        let column = self.columns_named(&name.value).first().and_then(|(t, c)| self.column(*t, *c));
        let Some(column) = column.map(|c| c.span) else { return Ok(()) };
        self.fail(
            Diagnostic::new("E0207", format!("`{}` is already a column", name.value))
                .label(name.span, "a second meaning")
                .label(column, "the column")
                .help(format!("choose another name, for example {}_2", name.value)),
        )
    }

    fn param_statement(&mut self, name: &ast::Name, ty: Option<&ast::Type>, prior: &ast::Call, span: Span) -> Checked<()> {
        let DistCall { family: dist, args, mixed, .. } = self.distribution(prior)?;
        for arg in &args {
            if !matches!(arg.label, Label::Public | Label::Latent) {
                return self.data_used_twice(&arg.clone(), prior.span);
            }
            self.only_own_group(arg, &name.value, prior.span)?;
        }
        let support = self.prior_support(dist, &args, prior.span)?;
        let declared = ty.map(|t| self.declared_type(t)).transpose()?;
        let (value, truncated) = self.parameter_type(name, ty, declared, support, prior.span)?;
        let id = ParamId(self.params.len());
        let parameter = Parameter {
            id,
            name: name.value.clone(),
            ty: value,
            truncated,
            prior: DistCall { family: dist, args, mixed, span: prior.span },
            span,
        };
        self.not_a_column(name)?;
        self.define(name, Binding::Param(id))?;
        self.program.places.push((span, name.span.to(prior.span)));
        let parents = self.latents(parameter.prior.args.iter());
        for parent in &parents {
            self.still_open(*parent, span)?;
        }
        self.linked.push(id.0);
        self.link(id, &parents);
        self.params.push(ParamInfo { parameter, group: self.group, branches: self.branches.clone(), released: None });
        Ok(())
    }

    /// E0211: a branch may draw from a model declared outside it, but not change it.
    fn conditional_model(&mut self, p: ParamId, span: Span) -> Checked<()> {
        let Some(parameter) = self.param(p).cloned() else { return Err(Stop) };
        let name = parameter.name;
        let own = self.fresh_name(&format!("{name}_2"));
        let prior = format!("param {own} ~ {}", self.written(parameter.prior.span));
        let here = self.with_name(span, &name, &own);
        let edit = (span, format!("{prior}\n{here}"));
        self.fail(
            Diagnostic::new("E0211", format!("the model of `{name}` would depend on a branch"))
                .label(span, "adds to the model only if this branch is taken")
                .label(parameter.span, "declared outside the branch")
                .help("move this statement out of `when`, or declare a parameter of its own inside:")
                .helps(Help::several("", [prior, here], vec![edit])),
        )
    }

    /// The type of the values of a prior.
    fn prior_support(&mut self, dist: &crate::dist::Distribution, args: &[Expr], call: Span) -> Checked<Type> {
        let dim = |i: usize| args.get(i).and_then(|a| super::vectors::as_vector(&a.ty)).map_or(1, |v| v.dim);
        Ok(match dist.support {
            Support::Real(r) => Type::Real(r),
            Support::BetweenArgs => {
                let range = |i: usize| args.get(i).and_then(|a| a.ty.range()).unwrap_or(Range::ALL);
                let (lo, hi) = (range(0), range(1));
                if lo.hi >= hi.lo {
                    return self
                        .fail(Diagnostic::new("E0203", "uniform(lo, hi) needs lo below hi").label(call, "empty").help("uniform(0, 1)"));
                }
                Type::Real(Range::new(lo.lo, hi.hi))
            }
            Support::RealVector => Type::Vector(vectors::boxed(dim(0), Range::ALL, None)),
            Support::Simplex => Type::Simplex { dim: dim(0), levels: args.first().and_then(|a| a.ty.levels().cloned()) },
            _ => {
                return self.fail(
                    Diagnostic::new("E0203", format!("`{}` is a likelihood, not a prior", dist.name))
                        .label(
                            call,
                            if dist.support == Support::Mixed {
                                "one of several, for every row"
                            } else {
                                "its values are not real numbers"
                            },
                        )
                        .help("priors: normal, beta, gamma, dirichlet, half_normal, exponential, uniform, .."),
                );
            }
        })
    }

    /// The declared type cut to the support; a domain inside the support truncates the prior.
    fn parameter_type(
        &mut self,
        name: &ast::Name,
        written: Option<&ast::Type>,
        declared: Option<Type>,
        support: Type,
        prior: Span,
    ) -> Checked<(Type, Option<Range>)> {
        let (Some(declared), Some(written)) = (declared, written) else { return Ok((support, None)) };
        let outside = |d: Range, s: Range| d != Range::ALL && !d.within(s);
        match (&declared, &support) {
            (Type::Real(d) | Type::Vector(crate::model::VectorType { range: d, .. }) | Type::Matrix { range: d, .. }, Type::Real(s)) => {
                let (d, s) = (*d, *s);
                if outside(d, s) {
                    return self.fail(
                        Diagnostic::new("E0203", format!("the domain of `{}` is not inside the support of its prior", name.value))
                            .label(
                                written.domain.as_ref().map_or(written.span, |x| x.span),
                                format!("reaches outside {}", super::messages::range_text(s)),
                            )
                            .label(prior, format!("has support {}", super::messages::range_text(s)))
                            .help(format!(
                                "{}: real in {}",
                                name.value,
                                super::messages::range_text(Range::new(d.lo.max(s.lo), d.hi.min(s.hi)))
                            )),
                    );
                }
                let cut = if d == Range::ALL { s } else { d };
                let ordered = matches!(&declared, Type::Vector(v) if v.ordered);
                // Order is a cut too: the law is that of the prior where components rise.
                let truncated = (ordered || (d != Range::ALL && d != s)).then_some(cut);
                let ty = match declared {
                    Type::Vector(v) => {
                        let axes = v.axes.clone();
                        let ball = v.sup.l2.is_finite()
                            && v.range.magnitude() == v.sup.linf
                            && v.sup.l2 < vectors::boxed(v.dim, v.range, None).sup.l2;
                        let mut t = if ball { v } else { vectors::boxed(v.dim, cut, v.levels) };
                        t.range = Range::new(t.range.lo.max(cut.lo), t.range.hi.min(cut.hi));
                        (t.ordered, t.axes) = (ordered, axes);
                        Type::Vector(t)
                    }
                    Type::Matrix { rows, columns, .. } => Type::Matrix { rows, columns, range: cut },
                    _ => Type::Real(cut),
                };
                Ok((ty, truncated))
            }
            (Type::Vector(v), Type::Vector(s)) if v.dim == s.dim => {
                let truncated = (v.range != Range::ALL || v.ordered).then_some(v.range);
                Ok((declared.clone(), truncated))
            }
            (Type::Simplex { dim, levels }, Type::Simplex { dim: d, .. }) if dim == d => {
                Ok((Type::Simplex { dim: *dim, levels: levels.clone() }, None))
            }
            _ => {
                let (a, b) = (type_text(&declared), type_text(&support));
                self.fail(
                    Diagnostic::new("E0201", format!("`{}` and its prior have different shapes", name.value))
                        .label(written.span, a)
                        .label(prior, format!("gives {b}")),
                )
            }
        }
    }

    /// Parameters mentioned by these expressions.
    pub(super) fn latents<'e>(&self, exprs: impl Iterator<Item = &'e Expr>) -> Vec<ParamId> {
        let (mut out, mut seen) = (vec![], BTreeSet::new());
        for e in exprs {
            e.walk(&mut |x| {
                if let ExprKind::Param(p) = x.kind
                    && seen.insert(p)
                {
                    out.push(p);
                }
            });
        }
        out
    }

    /// Inside `each`, only parameters of the group may be used.
    pub(super) fn only_own_group(&mut self, e: &Expr, name: &str, call: Span) -> Checked<()> {
        if self.group.is_none() {
            return Ok(());
        }
        for p in self.latents(std::iter::once(e)) {
            if self.params.get(p.0).is_some_and(|i| i.group != self.group) {
                return self.groups_share(p, name, call);
            }
        }
        Ok(())
    }

    /// A model may not change after something was drawn from it.
    pub(super) fn still_open(&mut self, p: ParamId, span: Span) -> Checked<()> {
        if self.params.get(p.0).is_some_and(|i| i.branches != self.branches) {
            return self.conditional_model(p, span);
        }
        let Some((release, at)) = self.params.get(p.0).and_then(|i| i.released.clone()) else { return Ok(()) };
        let name = self.param(p).map_or_else(String::new, |p| p.name.clone());
        self.fail(
            Diagnostic::new("E0211", format!("the model of `{name}` changes after `{release}` was drawn from it"))
                .label(span, "adds to the model")
                .label(at, "already drawn here")
                .help("move every `param` and `observe` of a model before its first release"),
        )
    }

    fn output(&mut self, name: &ast::Name, value: &ast::Expr, span: Span) -> Checked<Step> {
        if let ast::ExprKind::Call(f, args) = &value.kind
            && let ast::ExprKind::Name(word) = &f.kind
            && (word == "posterior" || (word == "prior" && !matches!(self.scopes.find(word).map(|e| &e.binding), Some(Binding::Fn(_)))))
        {
            return self.fit(name, (word, args), value.span, span);
        }
        let e = self.expr(value)?;
        let e = if let Label::Row(t) = e.label { self.each_draw(e, t) } else { e };
        if self.group.is_some() || !self.branches.is_empty() {
            self.after_releases(&e, "an output in a block")?;
        }
        match e.label {
            Label::Public => {}
            Label::Latent | Label::Mix(_) => return self.parameter_in_output(&e, &format!("output {} =", name.value)),
            Label::Row(t) | Label::Aggregate(t) => return self.private_output(&e, t, name),
        }
        let (id, value) = match e.draws() {
            true => {
                let (id, e) = self.known_as(e, &name.value);
                (Some(id), e)
            }
            false => (None, e),
        };
        let known = match id {
            Some(id) => Expr { kind: ExprKind::Released(id), ..value.clone() },
            None => value.clone(),
        };
        self.define(name, Binding::Value(Rc::new(known)))?;
        Ok(Step::Output { id, name: name.value.clone(), value, shown: true, span })
    }

    fn when(&mut self, condition: &ast::Expr, then: &[ast::Item], otherwise: Option<&[ast::Item]>, span: Span) -> Checked<Step> {
        let checked = self.expr(condition).and_then(|c| {
            self.want_bool(&c)?;
            self.after_releases(&c, "a condition")?;
            match c.label {
                Label::Public => Ok(c),
                Label::Row(t) | Label::Aggregate(t) => self.private_branch(&c, t, Some(span)),
                Label::Latent | Label::Mix(_) => self.parameter_in_output(&c, "when"),
            }
        });
        // The blocks are checked even if the condition is wrong: their own faults are reported too.
        let branch = |s: &mut Self, items: &[ast::Item]| {
            s.scopes.push(None);
            s.branch_count += 1;
            s.branches.push(s.branch_count);
            let steps = s.statements(items);
            s.branches.pop();
            s.scopes.pop();
            steps
        };
        let then = branch(self, then);
        let otherwise = otherwise.map(|o| branch(self, o)).unwrap_or_default();
        Ok(Step::When { condition: checked?, then, otherwise, span })
    }
}
