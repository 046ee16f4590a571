//! A program with modules, functions, models and `let` written out, as dpm text that means the same.

use super::fit::Fit;
use super::print::{Names, operator, query_text};
use super::{
    Builtin, Expr, ExprKind, MechanismKind, Model, Observation, ParamId, Parameter, Program, Query, ReleaseStep, Step, Table, Type,
    releases,
};
use crate::dist::Support;
use crate::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};

/// The inlined program.
pub fn expand(program: &Program, sources: &SourceMap) -> String {
    let (names, declared, lets) = (unique(program), BTreeSet::new(), BTreeSet::new());
    let mut printer = Printer { program, sources, names, declared, lets, out: String::new() };
    if let Some(budget) = &program.budget {
        printer.line(0, &format!("budget {}", sources.slice(budget.span)));
        printer.out.push('\n');
    }
    for scalar in &program.scalars {
        printer.line(0, sources.slice(scalar.span));
    }
    for table in &program.tables {
        printer.line(0, sources.slice(table.span));
    }
    for record in &program.records {
        printer.line(0, sources.slice(record.span));
    }
    if releases(&program.steps).iter().any(|r| is_arithmetic(&r.query)) {
        let name = printer.whole();
        printer.line(0, &format!("fn {name}(value) = value"));
    }
    printer.out.push('\n');
    printer.steps(&program.steps, 0);
    printer.out
}

/// What a statement calls the parameters that it asks for together: `post.a` of `posterior(a)`.
fn parts(program: &Program) -> BTreeMap<ParamId, String> {
    let mut found = BTreeMap::new();
    let mut call = |ids: &[ParamId], ty: &Type| {
        let ty = if let Type::Posterior(inner) = ty { inner } else { ty };
        let Type::Record(parts) = ty else { return };
        for (id, (name, _)) in ids.iter().zip(parts) {
            found.entry(*id).or_insert_with(|| name.clone());
        }
    };
    for r in releases(&program.steps) {
        if let Query::Posterior(Model { request: super::Request::Draw { parameters, .. }, .. }) = &r.query {
            call(parameters, &r.ty);
        }
    }
    for step in &program.steps {
        if let Step::Output { value: Expr { kind: ExprKind::Fit(fit), ty, .. }, .. } = step {
            call(&fit.released, ty);
        }
    }
    found
}

fn outputs(steps: &[Step], found: &mut BTreeSet<String>) {
    for step in steps {
        match step {
            Step::Output { name, .. } => found.extend([name.clone()]),
            Step::When { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|s| outputs(s, found)),
            Step::Each(each) => outputs(&each.body, found),
            Step::Release(_) | Step::Expect(_) => {}
        }
    }
}

/// Tables with columns of their own: those of the program, and released counts.
fn counted(program: &Program) -> impl Iterator<Item = &Table> {
    let draws = |t: &&Table| {
        let fit = |s: &Step| matches!(s, Step::Output { name, value, .. } if *name == t.name && matches!(value.kind, ExprKind::Fit(_)));
        !program.steps.iter().any(fit)
    };
    program.tables.iter().chain(program.derived.iter().filter(draws))
}

/// Parameters of all models under names that differ.
fn unique(program: &Program) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = vec![];
    let (mut taken, called): (BTreeSet<String>, _) = (BTreeSet::new(), parts(program));
    taken.extend(counted(program).flat_map(|t| t.columns.iter().map(|c| c.name.clone())));
    taken.extend(program.tables.iter().flat_map(|t| [Some(t.name.clone()), t.count_name.clone()]).flatten());
    taken.extend(program.scalars.iter().map(|s| s.name.clone()).chain(program.released.iter().cloned()));
    outputs(&program.steps, &mut taken);
    let models =
        releases(&program.steps).into_iter().filter_map(|r| if let Query::Posterior(m) = &r.query { Some(&m.parameters) } else { None });
    let fits = program.steps.iter().filter_map(|s| match s {
        Step::Output { value: Expr { kind: ExprKind::Fit(fit), .. }, .. } => Some(&fit.parameters),
        _ => None,
    });
    for parameters in models.chain(fits) {
        for p in parameters {
            if all.iter().any(|q| q.id == p.id) {
                continue;
            }
            let own = called.get(&p.id).unwrap_or(&p.name);
            let mut name = own.clone();
            let mut i = 2;
            while !taken.insert(name.clone()) {
                name = format!("{own}_{i}");
                i += 1;
            }
            all.push(Parameter { name, ..p.clone() });
        }
    }
    all.sort_by_key(|p| p.id);
    all
}

/// A query that a function wrote as arithmetic (`sum(x) / n`): a release has to be one call.
fn is_arithmetic(query: &Query) -> bool {
    let Query::Aggregate(query) = query else { return false };
    match &query.value.kind {
        ExprKind::Call(f, _) => operator(*f).is_some() || matches!(*f, Builtin::Neg | Builtin::Not),
        _ => true,
    }
}

struct Printer<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    names: Vec<Parameter>,
    declared: BTreeSet<ParamId>,
    /// What histograms count by and columns are not.
    lets: BTreeSet<String>,
    out: String,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&"  ".repeat(depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A factor of a term of a design: a product is one number in parentheses.
    fn value(&self, e: &Expr) -> String {
        Names { program: self.program, parameters: &self.names, typed: false, surface: Some(self.sources) }.operand(e)
    }

    fn expr(&self, e: &Expr) -> String {
        Names { program: self.program, parameters: &self.names, typed: false, surface: Some(self.sources) }.expr(e)
    }

    fn steps(&mut self, steps: &[Step], depth: usize) {
        let outer = self.lets.clone();
        for step in steps {
            match step {
                Step::Release(r) => self.release(r, depth),
                Step::Output { name, value, shown, .. } => {
                    if let ExprKind::Fit(fit) = &value.kind {
                        self.fit(fit, depth);
                    }
                    let text = format!("{} {name} = {}", if *shown { "output" } else { "let" }, self.expr(value));
                    self.line(depth, &text);
                }
                Step::Expect(e) => {
                    let text = self.sources.slice(e.span).to_string();
                    // An expectation about an expression was decided by the checker; one about certificates stays.
                    if !matches!(e.fact, super::Fact::Checked { .. }) {
                        self.line(depth, &text);
                    }
                }
                Step::When { condition, then, otherwise, .. } => {
                    let text = format!("when {} {{", self.expr(condition));
                    self.models(then, depth);
                    self.models(otherwise, depth);
                    self.line(depth, &text);
                    self.steps(then, depth + 1);
                    if !otherwise.is_empty() {
                        self.line(depth, "} else {");
                        self.steps(otherwise, depth + 1);
                    }
                    self.line(depth, "}");
                }
                Step::Each(each) => {
                    let table = self.program.tables.get(each.table.0);
                    let key = table.and_then(|t| t.columns.get(each.key.0)).map_or("?", |c| c.name.as_str());
                    let text = format!("each {key} of {} {{", table.map_or("?", |t| t.name.as_str()));
                    self.line(depth, &text);
                    self.steps(&each.body, depth + 1);
                    self.line(depth, "}");
                }
            }
        }
        self.lets = outer;
    }

    /// Models drawn inside a branch are declared before it: they may have been declared outside.
    fn models(&mut self, steps: &[Step], depth: usize) {
        for release in releases(steps) {
            if let Query::Posterior(model) = &release.query {
                self.model(model, depth);
            }
        }
    }

    fn model(&mut self, model: &Model, depth: usize) {
        self.factors(&model.parameters, model.public.iter().chain(&model.private), depth);
    }

    /// What the compiler adds to a model of released counts is a comment: it adds it again.
    fn fit(&mut self, fit: &Fit, depth: usize) {
        let own = |p: &&Parameter| !fit.given.contains(&p.id);
        let parameters: Vec<Parameter> = fit.parameters.iter().filter(own).cloned().collect();
        let own = fit.own();
        self.factors(&parameters, own.iter().chain(&fit.total), depth);
        for p in fit.parameters.iter().filter(|p| fit.given.contains(&p.id)) {
            let prior = Names { program: self.program, parameters: &self.names, typed: false, surface: Some(self.sources) }.call(&p.prior);
            let what = match fit.tables.iter().any(|t| t.moments.is_some()) {
                true => "what the model conditions on is normal, or a bool, with any means and covariances",
                false => "their shares are those of what the model conditions on",
            };
            self.line(depth, &format!("# {} ~ {prior}: {what}", p.name));
        }
        for table in &fit.tables {
            let (outcomes, integrated) = table.in_bins(&fit.own());
            let name = self.program.table(table.table).map_or("?", |t| &t.name);
            if !table.sums.is_empty() {
                let text = "a sum of events is Poisson given the exact exposures, which are uniform from 0 to their largest; both have their noise";
                self.line(depth, &format!("# {name}: {text}"));
                continue;
            }
            if table.moments.is_some() {
                let moved = if table.used(&fit.observations).0.len() == 1 {
                    "of values moved into their bounds"
                } else {
                    "no value is beyond its bounds"
                };
                self.line(
                    depth,
                    &format!("# {name}: the sums are normal, with mean and covariance of the model's rows ({moved}), and the noise"),
                );
                continue;
            }
            for axis in outcomes {
                let text = format!("# {name}.{}: a bin has the probability of its values, the first and the last of all beyond", axis.name);
                self.line(depth, &text);
            }
            for axis in integrated.iter().filter_map(|c| table.axes.get(*c)) {
                let nodes = axis.levels.iter().enumerate().map(|(i, _)| axis.nodes(i).len()).max().unwrap_or(0);
                let rule = if let Type::Int(_) = axis.ty { "equally far apart" } else { "of Gauss and Legendre" };
                let text = format!(
                    "# {name}.{} on the right: the mean over its bin, uniform between its ends, at {nodes} nodes {rule}",
                    axis.name
                );
                self.line(depth, &text);
            }
        }
    }

    fn factors<'m>(&mut self, parameters: &[Parameter], rows: impl Iterator<Item = &'m Observation>, depth: usize) {
        let fresh: Vec<Parameter> =
            self.names.iter().filter(|p| parameters.iter().any(|q| q.id == p.id) && !self.declared.contains(&p.id)).cloned().collect();
        if fresh.is_empty() {
            return;
        }
        for p in &fresh {
            self.declared.insert(p.id);
            let prior = Names { program: self.program, parameters: &self.names, typed: false, surface: Some(self.sources) }.call(&p.prior);
            self.named_features(p, depth);
            let ty = parameter_type(p, self.program, &|e| self.value(e));
            self.line(depth, &format!("param {}{ty} ~ {prior}", p.name));
        }
        for o in rows {
            let names = Names { program: self.program, parameters: &self.names, typed: false, surface: Some(self.sources) };
            let right = names.call(&o.likelihood);
            let value = names.expr(&o.outcome);
            // A column that says where another one is missing is written as a call.
            let text = if matches!(o.outcome.kind, super::ExprKind::Column(..)) && !value.ends_with(')') {
                format!("observe {value} ~ {right}")
            } else {
                let name = self.fresh_outcome();
                self.line(depth, &format!("let {name} = {value}"));
                format!("observe {name} ~ {right}")
            };
            self.line(depth, &text);
        }
    }

    /// What a design names that is not a column.
    fn named_features(&mut self, p: &Parameter, depth: usize) {
        let named = self.program.design(p.ty.levels()).into_iter().flat_map(|d| d.terms.iter().flatten()).filter(|f| f.named);
        for f in named {
            if self.lets.insert(f.name.clone()) {
                self.line(depth, &format!("let {} = {}", f.name, self.expr(&f.value)));
            }
        }
    }

    fn fresh_outcome(&self) -> String {
        let taken =
            |n: &str| self.out.contains(&format!("let {n} =")) || self.program.tables.iter().any(|t| t.columns.iter().any(|c| c.name == n));
        let mut i = 1;
        while taken(&format!("outcome_{i}")) {
            i += 1;
        }
        format!("outcome_{i}")
    }

    /// The name of a function that gives back its argument; no text of the program has it.
    fn whole(&self) -> String {
        let mut name = "whole".to_owned();
        while self.sources.files().iter().any(|f| f.text.contains(&name)) {
            name.push_str("_query");
        }
        name
    }

    /// Sums by their names, as the statement has them.
    fn sums(&self, value: &Expr, ty: &Type) -> Option<String> {
        let Type::Vector(super::VectorType { axes: Some(axes), .. }) = ty else { return None };
        let (_, sums) = super::sums::columns(axes)?;
        let (groups, rows) = super::sums::parts(value)?;
        let of = |(s, e): (&super::sums::Summed, &Expr)| {
            let x = match &e.kind {
                ExprKind::Call(Builtin::Div, args) if s.unit != 1.0 => args.first()?,
                _ => e,
            };
            let text = self.expr(x);
            Some(if let ExprKind::Column(..) = x.kind { text } else { format!("{} = {text}", s.name) })
        };
        let mut all = sums.iter().zip(rows).map(of).collect::<Option<Vec<String>>>()?;
        let by: Vec<String> = groups.iter().map(|e| self.expr(e)).collect();
        match by.as_slice() {
            [] => {}
            [one] => all.push(format!("groups = {one}")),
            several => all.push(format!("groups = [{}]", several.join(", "))),
        }
        Some(format!("sums({})", all.join(", ")))
    }

    /// A histogram whose columns keep their names: what is not a column gets its name first.
    fn counts(&mut self, value: &Expr, ty: &Type, depth: usize) -> Option<String> {
        if let Some(text) = self.sums(value, ty) {
            return Some(text);
        }
        let (Type::Vector(super::VectorType { axes: Some(axes), .. }), ExprKind::Call(Builtin::RowHistogram, of)) = (ty, &value.kind)
        else {
            return None;
        };
        let by = match of.as_slice() {
            [Expr { kind: ExprKind::Call(Builtin::Cell, by), .. }] => by.as_slice(),
            by => by,
        };
        let mut written = vec![];
        for (e, axis) in by.iter().zip(axes.iter()) {
            let (of, edges) = if let ExprKind::Call(Builtin::Bin, parts) = &e.kind { (parts.first()?, parts.get(1)) } else { (e, None) };
            let named = !matches!(of.kind, ExprKind::Column(..)) && !axis.name.contains(' ');
            if named && self.lets.insert(axis.name.clone()) {
                self.line(depth, &format!("let {} = {}", axis.name, self.expr(of)));
            }
            let of = if named { axis.name.clone() } else { self.expr(of) };
            written.push(edges.map_or_else(|| of.clone(), |edges| format!("bin({of}, {})", self.expr(edges))));
        }
        Some(format!("histogram({})", written.join(", ")))
    }

    fn release(&mut self, r: &ReleaseStep, depth: usize) {
        let query = match &r.query {
            Query::Posterior(model) => {
                self.model(model, depth);
                let renamed = Model { parameters: self.names.clone(), ..model.clone() };
                query_text(&Query::Posterior(renamed), self.program)
            }
            Query::Aggregate(q) => {
                let value = self.counts(&q.value, &r.ty, depth).unwrap_or_else(|| self.expr(&q.value));
                if is_arithmetic(&r.query) { format!("{}({value})", self.whole()) } else { value }
            }
        };
        let mut text = format!("release {} = {query}", r.name);
        if let (Some(span), false) = (r.mechanism.span, r.mechanism.kind == MechanismKind::Auto) {
            text.push(' ');
            text.push_str(self.sources.slice(span));
        }
        if let Some(spend) = &r.spend {
            text.push(' ');
            text.push_str(self.sources.slice(spend.span));
        }
        self.line(depth, &text);
    }
}

/// A column as a dimension, with its table where another column has its name.
fn dimension(program: &Program, of: impl Fn(&super::Column) -> bool) -> Option<String> {
    let (table, column) = counted(program).find_map(|t| Some((t, t.columns.iter().find(|c| of(c))?)))?;
    let mut same = program.tables.iter().flat_map(|t| &t.columns).filter(|c| c.name == column.name);
    let alone = same.all(|c| c.ty == column.ty);
    Some(if alone { column.name.clone() } else { format!("{}.{}", table.name, column.name) })
}

/// `: vector[3]`, `: real in [0, inf]`; nothing where the prior says it all.
fn parameter_type(p: &Parameter, program: &Program, value: &dyn Fn(&Expr) -> String) -> String {
    use super::print::number;
    let domain = |r: super::Range| if p.truncated.is_some() { format!(" in [{}, {}]", number(r.lo), number(r.hi)) } else { String::new() };
    // One component for each level of a column: `vector[region]`.
    let keyed = |v: &super::VectorType| {
        if let Some(design) = program.design(v.levels.as_ref()) {
            return design.text(&|f| if f.named { f.name.clone() } else { value(&f.value) });
        }
        if let Some(axes) = &v.axes {
            let named = |a: &super::Axis| dimension(program, |c| c.name == a.name && c.ty == a.ty).unwrap_or_else(|| a.name.clone());
            return axes.iter().map(named).collect::<Vec<_>>().join(", ");
        }
        let of = |c: &super::Column| v.levels.is_some() && matches!(c.ty, Type::Category(_)) && c.ty.levels() == v.levels.as_ref();
        dimension(program, of).unwrap_or_else(|| v.dim.to_string())
    };
    match &p.ty {
        Type::Vector(v) if v.ordered => {
            let whole = matches!(p.prior.family.support, Support::Real(r) if r == v.range);
            format!(": ordered[{}]{}", keyed(v), if whole { String::new() } else { domain(v.range) })
        }
        // In one dimension every ball is a box.
        Type::Vector(v) if p.truncated.is_some() && v.dim > 1 && v.range.is_finite() && v.sup.l1 == v.sup.linf => {
            format!(": vector[{}] in l1({})", keyed(v), number(v.sup.l1))
        }
        Type::Vector(v) if p.truncated.is_some() && v.dim > 1 && v.range.is_finite() && v.sup.l2 == v.sup.linf => {
            format!(": vector[{}] in l2({})", keyed(v), number(v.sup.l2))
        }
        Type::Vector(v) if p.prior.family.support != Support::RealVector => format!(": vector[{}]{}", keyed(v), domain(v.range)),
        Type::Matrix { rows, columns, range } => format!(": matrix[{rows}, {columns}]{}", domain(*range)),
        Type::Real(r) if p.truncated.is_some() => format!(": real{}", domain(*r)),
        _ => String::new(),
    }
}
