//! The Stan program of a program's posteriors, for readers who know Stan: same names, same parametrisations.

use super::print::number;
use super::{
    Binary, Builtin, Column, DistCall, Each, Expr, ExprKind, Model, Observation, Parameter, Program, Query, ReleaseStep, Step, Table, Type,
};
use crate::dist::{Distribution, Law, Support};
use std::collections::BTreeSet;
use std::fmt::Write;

/// One Stan program for each posterior that is released. Row-wise sums become loops; the privacy is dpm's alone.
pub fn stan(program: &Program) -> String {
    let mut found = vec![];
    posteriors(&program.steps, None, &mut found);
    let mut out = String::new();
    for (release, model, each) in &found {
        if found.len() > 1 {
            let _ = writeln!(out, "// ---- file: {}.stan", release.name);
        }
        let _ = writeln!(out, "// The posterior of release `{}` as declared: dpm's weight or concentration,", release.name);
        out.push_str("// its privacy unit, and the clamping and rounding of the data are left out.\n");
        out.push_str(&Stan { program, model, each: *each }.text());
    }
    if out.is_empty() {
        out.push_str("// this program releases no posterior: nothing to show in Stan\n");
    }
    out
}

/// Every released posterior with the `each` around it, in program order.
fn posteriors<'a>(steps: &'a [Step], each: Option<&'a Each>, found: &mut Vec<(&'a ReleaseStep, &'a Model, Option<&'a Each>)>) {
    for step in steps {
        match step {
            Step::Release(r) => {
                if let Query::Posterior(model) = &r.query {
                    found.push((r, model, each));
                }
            }
            Step::When { then, otherwise, .. } => {
                posteriors(then, each, found);
                posteriors(otherwise, each, found);
            }
            Step::Each(inner) => posteriors(&inner.body, Some(inner), found),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
}

struct Stan<'a> {
    program: &'a Program,
    model: &'a Model,
    /// Every parameter has one copy for each level of its key.
    each: Option<&'a Each>,
}

/// Where an expression is printed.
#[derive(Clone, Copy, Default)]
struct At<'a> {
    /// Index of the row: columns have one value each.
    row: Option<&'a str>,
    /// Index of the group: parameters of `each` have one value each.
    group: Option<&'a str>,
    /// Whole literals carry a decimal point: Stan divides integers without remainder.
    decimal: bool,
}

impl Stan<'_> {
    fn text(&self) -> String {
        let mut out = self.data();
        out.push_str("parameters {\n");
        for p in &self.model.parameters {
            let _ = writeln!(out, "  {}", declare_parameter(p, self.each.map(|e| e.levels.len())));
        }
        out.push_str("}\nmodel {\n");
        for p in &self.model.parameters {
            let at = At { group: self.each.map(|_| "g"), ..At::default() };
            let prior = self.distribution(&p.prior, at);
            let name = if self.each.is_some() { format!("{}[g]", p.name) } else { p.name.clone() };
            let target = if matches!(p.ty, Type::Matrix { .. }) { format!("to_vector({name})") } else { name };
            let lead = self.each.map_or(String::new(), |e| format!("for (g in 1:{}) ", e.levels.len()));
            let _ = writeln!(out, "  {lead}{target} ~ {prior};");
        }
        for o in self.rows() {
            let table = self.program.tables.get(o.table.0).map_or("rows", |t| t.name.as_str());
            let group = self.each.map(|e| self.key(e));
            let at = At { row: Some("i"), group: group.as_deref(), decimal: false };
            let outcome = self.outcome(o, at);
            let row = match o.likelihood.weights() {
                Some(weights) => self.mixture(o, weights, &outcome, at),
                None => format!("{outcome} ~ {}", self.distribution(&o.likelihood, at)),
            };
            let _ = writeln!(out, "  for (i in 1:N_{table}) {row};");
        }
        out.push_str("}\n");
        out
    }

    /// The block of data: tables that the model looks at, then public and released values by name.
    fn data(&self) -> String {
        let mut out = String::from("data {\n");
        let mut tables: BTreeSet<usize> = self.rows().map(|o| o.table.0).collect();
        let mut values = BTreeSet::new();
        for e in self.expressions() {
            e.walk(&mut |x| match x.kind {
                ExprKind::RowCount(t) | ExprKind::Column(t, _) => {
                    tables.insert(t.0);
                }
                ExprKind::Scalar(_) | ExprKind::Released(_) => {
                    values.insert(declare_value(&self.expr(x, At::default()), &x.ty));
                }
                _ => {}
            });
        }
        for table in tables.iter().filter_map(|t| self.program.tables.get(*t)) {
            let _ = writeln!(out, "  int<lower=0> N_{};", table.name);
            for column in &table.columns {
                if let Some(declaration) = declare_column(table, column) {
                    let _ = writeln!(out, "  {declaration}");
                }
            }
        }
        for value in values {
            let _ = writeln!(out, "  {value}");
        }
        out.push_str("}\n");
        out
    }

    fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let rows = self.rows().flat_map(|o| o.likelihood.args.iter().chain([&o.outcome]));
        self.model.parameters.iter().flat_map(|p| &p.prior.args).chain(rows)
    }

    /// The group of row `i`: levels count from 1, and `false` is the first of two.
    fn key(&self, each: &Each) -> String {
        let table = self.program.tables.get(each.table.0);
        let column = table.and_then(|t| t.columns.get(each.key.0));
        let shift = if column.is_some_and(|c| c.ty == Type::Bool) { " + 1" } else { "" };
        format!("{}_{}[i]{shift}", table.map_or("?", |t| t.name.as_str()), column.map_or("?", |c| c.name.as_str()))
    }

    /// What is observed; Stan counts levels from 1.
    fn outcome(&self, o: &Observation, at: At) -> String {
        let text = self.expr(&o.outcome, at);
        match &o.outcome.ty {
            _ if o.likelihood.family.support != Support::Categories => text,
            Type::Bool => format!("{text} + 1"),
            Type::Int(r) if r.lo != 1.0 => format!("{text} - {} + 1", number(r.lo)),
            _ => text,
        }
    }

    fn rows(&self) -> impl Iterator<Item = &Observation> {
        self.model.public.iter().chain(&self.model.private)
    }

    /// In Stan the densities of components are added up by hand.
    fn mixture(&self, o: &Observation, weights: &Expr, outcome: &str, at: At) -> String {
        let name = if o.likelihood.mixed.iter().any(|d| matches!(d.law, Law::Density(..))) { "lpdf" } else { "lpmf" };
        let all = self.expr(weights, at);
        let part = |((family, args), k): ((&'static Distribution, &[Expr]), usize)| {
            let call = DistCall { family, args: args.to_vec(), mixed: vec![], span: o.span };
            let log = self.distribution(&call, at).replacen('(', &format!("_{name}({outcome} | "), 1);
            // Half of a law that Stan has on the whole line.
            let half = if family.stan.contains("(0, ") { " + log2()" } else { "" };
            format!("log({all}[{k}]) + {log}{half}")
        };
        let parts: Vec<String> = o.likelihood.components().into_iter().zip(1..).map(part).collect();
        let sum = if matches!(weights.ty, Type::Simplex { .. }) { String::new() } else { format!(" - log(sum({all}))") };
        format!("target += log_sum_exp([{}]){sum}", parts.join(", "))
    }

    fn distribution(&self, call: &DistCall, at: At) -> String {
        call.family.in_stan(&call.args.iter().map(|e| self.expr(e, at)).collect::<Vec<_>>())
    }

    fn expr(&self, e: &Expr, at: At) -> String {
        let of = |e: &Expr| self.expr(e, at);
        let indexed = |name: String, index: Option<&str>| index.map_or(name.clone(), |i| format!("{name}[{i}]"));
        match &e.kind {
            ExprKind::Number(x) if at.decimal && x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.1}"),
            ExprKind::Number(x) => number(*x),
            ExprKind::Bool(b) => u8::from(*b).to_string(),
            ExprKind::Text(s) => format!("\"{s}\""),
            ExprKind::Level(i) => i.saturating_add(1).to_string(),
            ExprKind::Column(t, c) => {
                let table = self.program.tables.get(t.0);
                let column = table.and_then(|t| t.columns.get(c.0)).map_or("?", |c| c.name.as_str());
                let column = column.replace('.', "_");
                indexed(format!("{}_{column}", table.map_or("?", |t| t.name.as_str())), at.row)
            }
            ExprKind::Param(id) => {
                let name = self.model.parameters.iter().find(|p| p.id == *id).map_or_else(|| "?".into(), |p| p.name.clone());
                indexed(name, at.group)
            }
            ExprKind::Released(id) => self.program.released.get(id.0).map_or_else(|| "released".into(), String::clone),
            ExprKind::Scalar(id) => self.program.scalars.get(id.0).map_or_else(|| "?".into(), |s| s.name.clone()),
            ExprKind::RowCount(t) => format!("N_{}", self.program.tables.get(t.0).map_or("rows", |t| t.name.as_str())),
            // Not in the model of a release.
            ExprKind::Fit(_) => "posterior".into(),
            ExprKind::EachLevel => at.group.unwrap_or("level").into(),
            ExprKind::List(items) => self.list(items, at),
            ExprKind::If(c, a, b) => format!("({} ? {} : {})", of(c), of(a), of(b)),
            ExprKind::Call(Builtin::Cell, values) => {
                // Levels count from 1, bools from 0, whole numbers from their least.
                let place = |e: &Expr| match &e.ty {
                    Type::Category(levels) => (format!("({} - 1)", of(e)), levels.len() as f64),
                    Type::Int(r) => (format!("({} - {})", of(e), number(r.lo)), r.width() + 1.0),
                    _ => (of(e), 2.0),
                };
                let parts = values.iter().map(place).reduce(|(a, _), (b, n)| (format!("({a} * {} + {b})", number(n)), n));
                format!("{} + 1", parts.map_or(String::new(), |(text, _)| text))
            }
            ExprKind::Index(a, i) => format!("{}[{}]", of(a), self.expr(i, At { decimal: false, ..at })),
            ExprKind::Field(a, name) => format!("{}_{name}", of(a)),
            ExprKind::Call(Builtin::Div, args) => {
                let at = At { decimal: true, ..at };
                let real = if args.first().is_some_and(whole) { "1.0 * " } else { "" };
                format!("({real}{})", args.iter().map(|e| self.expr(e, at)).collect::<Vec<_>>().join(" / "))
            }
            ExprKind::Call(f @ Builtin::Rep, args) => {
                call(*f, &args.iter().map(|e| self.expr(e, At { decimal: false, ..at })).collect::<Vec<_>>())
            }
            ExprKind::Call(f, args) => call(*f, &args.iter().map(of).collect::<Vec<_>>()),
        }
    }

    /// Numbers as a column vector, rows as a matrix, vectors one after the other.
    fn list(&self, items: &[Expr], at: At) -> String {
        let texts = |items: &[Expr]| items.iter().map(|e| self.expr(e, at)).collect::<Vec<_>>().join(", ");
        let rows: Vec<&[Expr]> =
            items.iter().filter_map(|e| if let ExprKind::List(row) = &e.kind { Some(row.as_slice()) } else { None }).collect();
        if rows.len() == items.len() {
            return format!("[{}]", rows.iter().map(|row| format!("[{}]", texts(row))).collect::<Vec<_>>().join(", "));
        }
        if items.iter().all(|e| e.ty.is_scalar_number()) {
            return format!("[{}]'", texts(items));
        }
        let part = |e: &Expr| if e.ty.is_scalar_number() { format!("[{}]'", self.expr(e, at)) } else { self.expr(e, at) };
        items.iter().map(part).reduce(|a, b| format!("append_row({a}, {b})")).unwrap_or_default()
    }
}

/// Would Stan take this for an integer (a literal here has a decimal point)?
fn whole(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(Builtin::Add | Builtin::Sub | Builtin::Mul | Builtin::Neg, args) => args.iter().all(whole),
        ExprKind::Column(..) | ExprKind::Scalar(_) => matches!(e.ty, Type::Int(_) | Type::Bool),
        ExprKind::RowCount(_) => true,
        _ => false,
    }
}

fn call(f: Builtin, args: &[String]) -> String {
    let sign = match f {
        Builtin::Binary(Binary::Or) => Some("||"),
        Builtin::Binary(Binary::And) => Some("&&"),
        f => super::print::operator(f),
    };
    if let Some(sign) = sign {
        return format!("({})", args.join(&format!(" {sign} ")));
    }
    match (f, args) {
        (Builtin::Neg, [a]) => format!("-{a}"),
        (Builtin::Not, [a]) => format!("!{a}"),
        (Builtin::Clip, [x, lo, hi]) => format!("fmin(fmax({x}, {lo}), {hi})"),
        (Builtin::Min, [a, b]) => format!("fmin({a}, {b})"),
        (Builtin::Max, [a, b]) => format!("fmax({a}, {b})"),
        (Builtin::Dot, [a, b]) => format!("dot_product({a}, {b})"),
        (Builtin::Append, [a, b]) => format!("append_row({a}, {b})"),
        (Builtin::Rep, [x, n]) => format!("rep_vector({x}, {n})"),
        (Builtin::ProjectL2, [v, r]) => format!("({v} * fmin(1, {r} / norm2({v})))"),
        (f, all) => format!("{}({})", super::print::function(f), all.join(", ")),
    }
}

fn bounds(r: super::Range) -> String {
    match (r.lo.is_finite(), r.hi.is_finite()) {
        (true, true) => format!("<lower={}, upper={}>", number(r.lo), number(r.hi)),
        (true, false) => format!("<lower={}>", number(r.lo)),
        (false, true) => format!("<upper={}>", number(r.hi)),
        (false, false) => String::new(),
    }
}

fn declare_column(table: &Table, column: &Column) -> Option<String> {
    let (n, name) = (format!("N_{}", table.name), format!("{}_{}", table.name, column.name.replace('.', "_")));
    Some(match &column.ty {
        Type::Bool => format!("array[{n}] int<lower=0, upper=1> {name};"),
        Type::Int(r) => format!("array[{n}] int{} {name};", bounds(*r)),
        Type::Real(r) => format!("array[{n}] real{} {name};", bounds(*r)),
        Type::Category(l) => format!("array[{n}] int<lower=1, upper={}> {name};", l.len()),
        Type::Vector(v) => format!("array[{n}] vector[{}] {name};", v.dim),
        Type::Counts { dim, .. } => format!("array[{n}, {dim}] int<lower=0> {name};"),
        _ => return None,
    })
}

/// A public or released value, given as data.
fn declare_value(name: &str, ty: &Type) -> String {
    match ty {
        Type::Bool => format!("int<lower=0, upper=1> {name};"),
        Type::Int(r) => format!("int{} {name};", bounds(*r)),
        Type::Vector(v) => format!("vector{}[{}] {name};", bounds(v.range), v.dim),
        Type::Simplex { dim, .. } => format!("simplex[{dim}] {name};"),
        Type::Matrix { rows, columns, range } => format!("matrix{}[{rows}, {columns}] {name};", bounds(*range)),
        other => format!("real{} {name};", bounds(other.range().unwrap_or(super::Range::ALL))),
    }
}

/// `groups` copies inside `each`.
fn declare_parameter(p: &Parameter, groups: Option<usize>) -> String {
    let lead = groups.map_or(String::new(), |n| format!("array[{n}] "));
    match (&p.ty, groups) {
        (Type::Vector(v), _) if v.ordered => {
            let positive = if v.range.lo == 0.0 { "positive_" } else { "" };
            format!("{lead}{positive}ordered[{}] {};", v.dim, p.name)
        }
        (Type::Vector(v), _) => format!("{lead}vector{}[{}] {};", bounds(v.range), v.dim, p.name),
        (Type::Matrix { rows, columns, range }, _) => format!("{lead}matrix{}[{rows}, {columns}] {};", bounds(*range), p.name),
        (Type::Simplex { dim, .. }, _) => format!("{lead}simplex[{dim}] {};", p.name),
        (ty, Some(n)) => format!("vector{}[{n}] {};", bounds(ty.range().unwrap_or(super::Range::ALL)), p.name),
        (ty, None) => format!("real{} {};", bounds(ty.range().unwrap_or(super::Range::ALL)), p.name),
    }
}
