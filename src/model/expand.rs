//! A program with modules, functions, models and `let` written out, as dpm text that means the same.

use super::fit::Fit;
use super::print::{Names, operator, query_text};
use super::{
    Builtin, Expr, ExprKind, MechanismKind, Model, Observation, ParamId, Parameter, Program, Query, ReleaseStep, Step, Type, releases,
};
use crate::dist::Support;
use crate::source::SourceMap;
use std::collections::BTreeSet;

/// The inlined program.
pub fn expand(program: &Program, sources: &SourceMap) -> String {
    let mut printer = Printer { program, sources, names: unique(program), declared: BTreeSet::new(), out: String::new() };
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

/// Parameters of all models under names that differ.
fn unique(program: &Program) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = vec![];
    let mut taken: BTreeSet<String> = BTreeSet::new();
    taken.extend(program.tables.iter().flat_map(|t| t.columns.iter().map(|c| c.name.clone())));
    taken.extend(releases(&program.steps).into_iter().map(|r| r.name.clone()));
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
            let mut name = p.name.clone();
            let mut i = 2;
            while !taken.insert(name.clone()) {
                name = format!("{}_{i}", p.name);
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
    out: String,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        self.out.push_str(&"  ".repeat(depth));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn expr(&self, e: &Expr) -> String {
        Names { program: self.program, parameters: &self.names, typed: false, surface: true }.expr(e)
    }

    fn steps(&mut self, steps: &[Step], depth: usize) {
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
        self.factors(&parameters, fit.own().iter(), depth);
        for p in fit.parameters.iter().filter(|p| fit.given.contains(&p.id)) {
            let prior = Names { program: self.program, parameters: &self.names, typed: false, surface: true }.call(&p.prior);
            self.line(depth, &format!("# {} ~ {prior}: their shares are those of what the model conditions on", p.name));
        }
        for table in &fit.tables {
            let (outcomes, integrated) = table.in_bins(&fit.own());
            let name = self.program.table(table.table).map_or("?", |t| &t.name);
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
            let prior = Names { program: self.program, parameters: &self.names, typed: false, surface: true }.call(&p.prior);
            let ty = parameter_type(p, self.program);
            self.line(depth, &format!("param {}{ty} ~ {prior}", p.name));
        }
        for o in rows {
            let names = Names { program: self.program, parameters: &self.names, typed: false, surface: true };
            let right = names.call(&o.likelihood);
            let text = if matches!(o.outcome.kind, super::ExprKind::Column(..)) {
                format!("observe {} ~ {right}", names.expr(&o.outcome))
            } else {
                let name = self.fresh_outcome();
                let value = Names { program: self.program, parameters: &self.names, typed: false, surface: true }.expr(&o.outcome);
                self.line(depth, &format!("let {name} = {value}"));
                format!("observe {name} ~ {right}")
            };
            self.line(depth, &text);
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

    fn release(&mut self, r: &ReleaseStep, depth: usize) {
        let query = match &r.query {
            Query::Posterior(model) => {
                self.model(model, depth);
                let renamed = Model { parameters: self.names.clone(), ..model.clone() };
                query_text(&Query::Posterior(renamed), self.program)
            }
            Query::Aggregate(q) => {
                let value = Names { program: self.program, parameters: &[], typed: false, surface: true }.expr(&q.value);
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

/// `: vector[3]`, `: real in [0, inf]`; nothing where the prior says it all.
fn parameter_type(p: &Parameter, program: &Program) -> String {
    use super::print::number;
    let domain = |r: super::Range| if p.truncated.is_some() { format!(" in [{}, {}]", number(r.lo), number(r.hi)) } else { String::new() };
    // One component for each level of a column: `vector[region]`.
    let keyed = |v: &super::VectorType| {
        if let Some(axes) = &v.axes {
            return axes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ");
        }
        let columns = program.tables.iter().chain(&program.derived).flat_map(|t| &t.columns);
        let of = |c: &&super::Column| v.levels.is_some() && c.ty.levels() == v.levels.as_ref();
        columns.into_iter().find(of).map_or_else(|| v.dim.to_string(), |c| c.name.clone())
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
