//! The Stan program of a program's posteriors, for readers who know Stan: same names, same parametrisations.

use super::print::number;
use super::{Builtin, Column, Expr, ExprKind, Model, Observation, Parameter, Program, Query, Table, Type};
use std::fmt::Write;

/// One Stan program for each posterior that is released. Row-wise sums become loops; the privacy is dpm's alone.
pub fn stan(program: &Program) -> String {
    let mut out = String::new();
    for release in super::expand::releases(&program.steps) {
        if let Query::Posterior(model) = &release.query {
            let _ = writeln!(out, "// posterior of release `{}`", release.name);
            out.push_str(&Stan { program, model }.text());
        }
    }
    if out.is_empty() {
        out.push_str("// this program releases no posterior: nothing to show in Stan\n");
    }
    out
}

struct Stan<'a> {
    program: &'a Program,
    model: &'a Model,
}

impl Stan<'_> {
    fn text(&self) -> String {
        let mut out = String::from("data {\n");
        let mut tables: Vec<usize> = self.rows().map(|o| o.table.0).collect();
        tables.sort_unstable();
        tables.dedup();
        for table in tables.iter().filter_map(|t| self.program.tables.get(*t)) {
            let _ = writeln!(out, "  int<lower=0> N_{};", table.name);
            for column in &table.columns {
                if let Some(declaration) = declare_column(table, column) {
                    let _ = writeln!(out, "  {declaration}");
                }
            }
        }
        out.push_str("}\nparameters {\n");
        for p in &self.model.parameters {
            let _ = writeln!(out, "  {}", declare_parameter(p));
        }
        out.push_str("}\nmodel {\n");
        for p in &self.model.parameters {
            let prior = self.distribution(p.prior.family, &p.prior.args, None);
            let whole = matches!(p.ty, Type::Matrix { .. });
            let target = if whole { format!("to_vector({})", p.name) } else { p.name.clone() };
            let _ = writeln!(out, "  {target} ~ {prior};");
        }
        for o in self.rows() {
            let table = self.program.tables.get(o.table.0).map_or("rows", |t| t.name.as_str());
            let right = self.distribution(o.likelihood.family, &o.likelihood.args, Some("i"));
            let _ = writeln!(out, "  for (i in 1:N_{table}) {} ~ {right};", self.expr(&o.outcome, Some("i")));
        }
        out.push_str("}\n");
        out
    }

    fn rows(&self) -> impl Iterator<Item = &Observation> {
        self.model.public.iter().chain(&self.model.private)
    }

    /// Stan's name of a distribution, with its arguments.
    fn distribution(&self, family: &str, args: &[Expr], row: Option<&str>) -> String {
        let texts: Vec<String> = args.iter().map(|e| self.expr(e, row)).collect();
        match (family, texts.as_slice()) {
            ("bernoulli_probit", [eta]) => format!("bernoulli(Phi({eta}))"),
            ("bernoulli_cloglog", [eta]) => format!("bernoulli(inv_cloglog({eta}))"),
            ("half_normal", [sd]) => format!("normal(0, {sd})"),
            ("geometric", [p]) => format!("neg_binomial(1, {p} / (1 - {p}))"),
            ("neg_binomial", [r, p]) => format!("neg_binomial({r}, {p} / (1 - {p}))"),
            ("laplace", all) => format!("double_exponential({})", all.join(", ")),
            ("multinomial", [_, shares]) => format!("multinomial({shares})"),
            (name, all) => format!("{name}({})", all.join(", ")),
        }
    }

    fn expr(&self, e: &Expr, row: Option<&str>) -> String {
        let of = |e: &Expr| self.expr(e, row);
        match &e.kind {
            ExprKind::Number(x) => number(*x),
            ExprKind::Bool(b) => u8::from(*b).to_string(),
            ExprKind::Text(s) => format!("\"{s}\""),
            ExprKind::Level(i) => i.saturating_add(1).to_string(),
            ExprKind::Column(t, c) => {
                let table = self.program.tables.get(t.0);
                let column = table.and_then(|t| t.columns.get(c.0)).map_or("?", |c| c.name.as_str());
                let name = format!("{}_{column}", table.map_or("?", |t| t.name.as_str()));
                row.map_or(name.clone(), |i| format!("{name}[{i}]"))
            }
            ExprKind::Param(id) => self.model.parameters.iter().find(|p| p.id == *id).map_or_else(|| "?".into(), |p| p.name.clone()),
            ExprKind::Released(id) => super::print::release_name(&self.program.steps, *id).unwrap_or("released").to_string(),
            ExprKind::Scalar(id) => self.program.scalars.get(id.0).map_or_else(|| "?".into(), |s| s.name.clone()),
            ExprKind::RowCount(t) => format!("N_{}", self.program.tables.get(t.0).map_or("rows", |t| t.name.as_str())),
            ExprKind::EachLevel => "level".into(),
            ExprKind::List(items) => format!("[{}]'", items.iter().map(of).collect::<Vec<_>>().join(", ")),
            ExprKind::If(c, a, b) => format!("({} ? {} : {})", of(c), of(a), of(b)),
            ExprKind::Index(a, i) => format!("{}[{}]", of(a), of(i)),
            ExprKind::Field(a, name) => format!("{}_{name}", of(a)),
            ExprKind::Call(f, args) => call(*f, &args.iter().map(of).collect::<Vec<_>>()),
        }
    }
}

fn call(f: Builtin, args: &[String]) -> String {
    let infix = |symbol: &str| format!("({})", args.join(&format!(" {symbol} ")));
    match (f, args) {
        (Builtin::Add, _) => infix("+"),
        (Builtin::Sub, _) => infix("-"),
        (Builtin::Mul | Builtin::MatVec, _) => infix("*"),
        (Builtin::Div, _) => infix("/"),
        (Builtin::Pow, _) => infix("^"),
        (Builtin::Or, _) => infix("||"),
        (Builtin::And, _) => infix("&&"),
        (Builtin::Le, _) => infix("<="),
        (Builtin::Ge, _) => infix(">="),
        (Builtin::Eq, _) => infix("=="),
        (Builtin::Ne, _) => infix("!="),
        (Builtin::Lt, _) => infix("<"),
        (Builtin::Gt, _) => infix(">"),
        (Builtin::Neg, [a]) => format!("-{a}"),
        (Builtin::Not, [a]) => format!("!{a}"),
        (Builtin::Clip, [x, lo, hi]) => format!("fmin(fmax({x}, {lo}), {hi})"),
        (Builtin::Min, [a, b]) => format!("fmin({a}, {b})"),
        (Builtin::Max, [a, b]) => format!("fmax({a}, {b})"),
        (Builtin::Dot, [a, b]) => format!("dot_product({a}, {b})"),
        (Builtin::Append, [a, b]) => format!("append_row({a}, {b})"),
        (Builtin::Rep, [x, n]) => format!("rep_vector({x}, {n})"),
        (Builtin::ProjectL2, [v, r]) => format!("({v} * fmin(1, {r} / norm2({v})))"),
        (Builtin::Relu, [x]) => format!("fmax({x}, 0)"),
        (f, all) => format!("{}({})", super::print::function(f), all.join(", ")),
    }
}

fn declare_column(table: &Table, column: &Column) -> Option<String> {
    let (n, name) = (format!("N_{}", table.name), format!("{}_{}", table.name, column.name));
    let bounds = |r: super::Range| match (r.lo.is_finite(), r.hi.is_finite()) {
        (true, true) => format!("<lower={}, upper={}>", number(r.lo), number(r.hi)),
        (true, false) => format!("<lower={}>", number(r.lo)),
        (false, true) => format!("<upper={}>", number(r.hi)),
        (false, false) => String::new(),
    };
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

fn declare_parameter(p: &Parameter) -> String {
    let bounds = |r: super::Range| match (r.lo.is_finite(), r.hi.is_finite()) {
        (true, true) => format!("<lower={}, upper={}>", number(r.lo), number(r.hi)),
        (true, false) => format!("<lower={}>", number(r.lo)),
        (false, true) => format!("<upper={}>", number(r.hi)),
        (false, false) => String::new(),
    };
    match &p.ty {
        Type::Vector(v) => format!("vector{}[{}] {};", bounds(v.range), v.dim, p.name),
        Type::Matrix { rows, columns, range } => format!("matrix{}[{rows}, {columns}] {};", bounds(*range), p.name),
        Type::Simplex { dim, .. } => format!("simplex[{dim}] {};", p.name),
        ty => format!("real{} {};", bounds(ty.range().unwrap_or(super::Range::ALL)), p.name),
    }
}
