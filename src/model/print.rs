//! The normal form as text: expressions, queries and models, for certificates and tests.

use super::{
    Binary, Builtin, DistCall, Expr, ExprKind, Label, Model, Observation, ParamId, Parameter, Program, Query, Range, Request, TableId,
    Type, VectorType,
};
use crate::source::SourceMap;

/// `draw(p)`, `draws(mu, 10)`, `posterior(p)`, `mean(age)`.
pub fn query_text(query: &Query, program: &Program) -> String {
    match query {
        Query::Posterior(model) => request_text(model),
        Query::Aggregate(query) => Names { program, parameters: &[], typed: false, surface: None }.expr(&query.value),
    }
}

/// A query or model in full, every value of a row with the type that it is moved into before it counts: what certificates
/// call the normal form.
pub fn normal_form(query: &Query, program: &Program) -> String {
    match query {
        Query::Posterior(model) => model_in_full(model, Names { program, parameters: &model.parameters, typed: true, surface: None }),
        Query::Aggregate(query) => Names { program, parameters: &[], typed: true, surface: None }.expr(&query.value),
    }
}

/// Every factor of the posterior on a line of its own, priors first, then public rows, then private rows, then the request.
pub fn model_text(model: &Model, program: &Program) -> String {
    model_in_full(model, Names { program, parameters: &model.parameters, typed: false, surface: None })
}

fn model_in_full(model: &Model, names: Names) -> String {
    let mut lines = Vec::new();
    for p in &model.parameters {
        let domain = p.truncated.map_or(String::new(), |_| format!(": {}", type_text(&p.ty)));
        let prior = names.call(&p.prior);
        lines.push(format!("param {}{domain} ~ {prior}", p.name));
    }
    for (kind, rows) in [("public", &model.public), ("private", &model.private)] {
        for o in rows.iter() {
            lines.push(format!("observe {} # each {kind} row", names.observation(o)));
        }
    }
    lines.push(request_text(model));
    lines.join("\n")
}

/// `smoker ~ bernoulli(p)`, columns with the name of their table.
pub fn observation_text(model: &Model, observation: &Observation, program: &Program) -> String {
    Names { program, parameters: &model.parameters, typed: false, surface: None }.observation(observation)
}

/// `bernoulli(p)`: only the right side of an observation.
pub fn likelihood_text(model: &Model, observation: &Observation, program: &Program) -> String {
    Names { program, parameters: &model.parameters, typed: false, surface: None }.call(&observation.likelihood)
}

/// An argument of a prior or likelihood: `0.5 + exp(s)`.
pub fn argument_text(model: &Model, argument: &Expr, program: &Program) -> String {
    Names { program, parameters: &model.parameters, typed: false, surface: None }.expr(argument)
}

/// A prior as the program writes it: `half_normal(2)`.
pub fn prior_text(model: &Model, parameter: &Parameter, program: &Program) -> String {
    Names { program, parameters: &model.parameters, typed: false, surface: None }.call(&parameter.prior)
}

fn request_text(model: &Model) -> String {
    let name = |id: &ParamId| model.parameters.iter().find(|p| p.id == *id).map_or("?", |p| p.name.as_str());
    match &model.request {
        Request::Draw { parameters, times } => {
            let list: Vec<&str> = parameters.iter().map(name).collect();
            if *times == 1 { format!("draw({})", list.join(", ")) } else { format!("draws({}, {times})", list.join(", ")) }
        }
        Request::Posterior { parameter } => format!("posterior({})", name(parameter)),
    }
}

/// A number as a person writes it: the shortest text that reads back as the same number.
pub fn number(x: f64) -> String {
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.into();
    }
    if x != 0.0 && !(1e-4..1e15).contains(&x.abs()) { format!("{x:e}") } else { format!("{x}") }
}

pub(super) struct Names<'a> {
    pub(super) program: &'a Program,
    pub(super) parameters: &'a [Parameter],
    /// Write the type of every value of a row that is summed, counted or observed.
    pub(super) typed: bool,
    /// Write what reads back as a program; certificates have one form for every way of writing.
    pub(super) surface: Option<&'a SourceMap>,
}

impl Names<'_> {
    /// The place, from 1, of a named entry of a posterior of a matrix: where a design is written out its features lose their names.
    fn entry(&self, of: &Expr, index: &Expr) -> Option<usize> {
        let ExprKind::Level(i) = index.kind else { return None };
        let mut found = false;
        of.walk(&mut |e| {
            let ExprKind::Released(id) = e.kind else { return };
            let release = super::releases(&self.program.steps).into_iter().find(|r| r.id == id);
            let Some(Query::Posterior(model)) = release.map(|r| &r.query) else { return };
            let Request::Posterior { parameter } = model.request else { return };
            found |= model.sides(parameter).is_some();
        });
        found.then_some(i + 1)
    }

    pub(super) fn call(&self, call: &DistCall) -> String {
        let parts = call.components().into_iter().map(|(d, args)| format!("{}({})", d.name, self.list(args)));
        match call.weights() {
            Some(w) => format!("{}({}, {})", call.name(), self.expr(w), parts.collect::<Vec<_>>().join(", ")),
            None => parts.collect(),
        }
    }

    fn list(&self, args: &[Expr]) -> String {
        let texts: Vec<String> = args.iter().map(|e| self.expr(e)).collect();
        texts.join(", ")
    }

    fn rows(&self, args: &[Expr]) -> String {
        let row = |e: &Expr| if matches!(e.label, Label::Row(_)) { self.row(e) } else { self.expr(e) };
        args.iter().map(row).collect::<Vec<_>>().join(", ")
    }

    /// The value of a row; lists carry the types of their parts.
    fn row(&self, e: &Expr) -> String {
        let joined = matches!(e.kind, ExprKind::List(_) | ExprKind::Call(Builtin::Append, _));
        let ty = if self.typed && !joined { format!(" : {}", type_text(&e.ty)) } else { String::new() };
        format!("{}{ty}", self.expr(e))
    }

    pub(super) fn observation(&self, o: &Observation) -> String {
        let right = self.call(&o.likelihood);
        format!("{} ~ {right}", self.row(&o.outcome))
    }

    fn table(&self, id: TableId) -> &str {
        self.program.table(id).map_or("?", |t| &t.name)
    }

    pub(super) fn expr(&self, e: &Expr) -> String {
        match &e.kind {
            // A day is a number by now, and was written in quotes.
            ExprKind::Number(x) => {
                let written = self.surface.map_or("", |sources| sources.slice(e.span));
                if written.starts_with('"') { written.to_owned() } else { number(*x) }
            }
            ExprKind::Bool(b) => b.to_string(),
            ExprKind::Text(s) => format!("{s:?}"),
            ExprKind::Level(i) => {
                let name = e.ty.levels().and_then(|l| l.get(*i));
                name.map_or_else(
                    || format!("level {}", i.saturating_add(1)),
                    |n| if self.hidden(n) { format!("\"{n}\"") } else { level_text(n) },
                )
            }
            ExprKind::Column(t, c) => {
                let column = self.program.table(*t).and_then(|t| t.columns.get(c.0));
                if let Some((of, view)) = column.and_then(|c| c.view).filter(|_| self.surface.is_some()) {
                    return format!("{}({})", view.word(), self.expr(&Expr { kind: ExprKind::Column(*t, of), ..e.clone() }));
                }
                format!("{}.{}", self.table(*t), column.map_or("?", |c| &c.name))
            }
            ExprKind::Param(id) => {
                // In the order of their declarations.
                let parameter = self.parameters.binary_search_by_key(id, |p| p.id).ok().and_then(|i| self.parameters.get(i));
                parameter.map_or_else(|| format!("parameter {}", id.0), |p| p.name.clone())
            }
            ExprKind::Released(id) => self.program.released.get(id.0).map_or_else(|| format!("release {}", id.0), String::clone),
            ExprKind::Scalar(id) => {
                let scalar = self.program.scalars.get(id.0);
                scalar.map_or_else(|| format!("scalar {}", id.0), |s| s.name.clone())
            }
            ExprKind::RowCount(t) => {
                let name = self.program.tables.get(t.0).and_then(|t| t.count_name.clone());
                name.unwrap_or_else(|| format!("rows({})", self.table(*t)))
            }
            ExprKind::EachLevel => "level".into(),
            ExprKind::Call(Builtin::Cell, args) if self.surface.is_some() => self.list(args),
            ExprKind::Call(Builtin::EachDraw, args) if self.surface.is_some() => args.first().map_or_else(String::new, |e| self.expr(e)),
            ExprKind::Fit(fit) => {
                let name =
                    |id: &ParamId| self.parameters.iter().chain(&fit.parameters).find(|p| p.id == *id).map_or("?", |p| p.name.as_str());
                let word = if fit.prior { "prior" } else { "posterior" };
                format!("{word}({}{})", fit.released.iter().map(name).collect::<Vec<_>>().join(", "), fit.sampling.written())
            }
            ExprKind::List(items) => format!("[{}]", self.rows(items)),
            ExprKind::If(c, a, b) => format!("if {} then {} else {}", self.expr(c), self.expr(a), self.expr(b)),
            ExprKind::Index(a, i) if self.surface.is_some() && cell(a, i).is_some() => {
                format!("{}[{}]", self.operand(a), cell(a, i).unwrap_or_default())
            }
            ExprKind::Index(a, i) if self.surface.is_some() && self.entry(a, i).is_some() => {
                format!("{}[{}]", self.operand(a), self.entry(a, i).unwrap_or_default())
            }
            ExprKind::Call(Builtin::Margin, args) if self.surface.is_some() => {
                let axes = args.first().and_then(axes).map_or(&[][..], |a| a.as_slice());
                let kept = args.iter().skip(1).filter_map(|e| Some(axes.get(e.constant()? as usize)?.name.clone()));
                let of = args.first().map(|e| self.expr(e));
                format!("margin({})", of.into_iter().chain(kept).collect::<Vec<_>>().join(", "))
            }
            ExprKind::Index(a, i) => format!("{}[{}]", self.operand(a), self.expr(i)),
            ExprKind::Field(a, name) => format!("{}.{name}", self.operand(a)),
            ExprKind::Call(f, args) => self.builtin(*f, args),
        }
    }

    /// Would a level without quotes be read as something else, here or by the verifier?
    fn hidden(&self, level: &str) -> bool {
        let columns = || self.program.tables.iter().chain(&self.program.derived).flat_map(|t| &t.columns).map(|c| &c.name);
        let known = || self.program.scalars.iter().map(|s| &s.name).chain(&self.program.released).chain(columns());
        self.parameters.iter().any(|p| p.name == level) || known().any(|n| n == level)
    }

    fn builtin(&self, f: Builtin, args: &[Expr]) -> String {
        match (operator(f), args) {
            (Some(symbol), [a, b]) => {
                format!("{} {symbol} {}", self.factor(a, b), self.factor(b, a))
            }
            (None, [a]) if f == Builtin::Neg => format!("-{}", self.operand(a)),
            (None, [a]) if f == Builtin::Not => format!("not {}", self.operand(a)),
            (None, [v, r]) if matches!(f, Builtin::ProjectL1 | Builtin::ProjectL2 | Builtin::ProjectLinf) => {
                let ball = match f {
                    Builtin::ProjectL1 => "l1",
                    Builtin::ProjectL2 => "l2",
                    _ => "linf",
                };
                format!("project({ball}({}), {})", self.expr(r), self.expr(v))
            }
            (None, [Expr { kind: ExprKind::Text(family), .. }, rest @ .., times]) if f == Builtin::Simulate => {
                format!("simulate({family}({}), times = {})", self.list(rest), self.expr(times))
            }
            (None, [cells, draws, rows, _]) if f == Builtin::MadeUp => {
                format!("simulate({}, rows = {})", self.list(&[cells.clone(), draws.clone()]), self.expr(rows))
            }
            (None, [e, weight]) if f == Builtin::Poststratify => {
                let table = weight.rows_of().map_or("?", |t| self.table(t));
                format!("poststratify({}, {table}, {})", self.expr(e), self.expr(weight))
            }
            _ if f.over_rows() || matches!(f, Builtin::Dot | Builtin::Append | Builtin::Products) => {
                format!("{}({})", function(f), self.rows(args))
            }
            _ => format!("{}({})", function(f), self.list(args)),
        }
    }

    /// An operand; what a weight is multiplied by has its type beside it.
    fn factor(&self, e: &Expr, other: &Expr) -> String {
        let latent = matches!(other.label, Label::Latent | Label::Mix(_));
        let computed = matches!(e.label, Label::Row(_)) && !matches!(e.kind, ExprKind::Column(..));
        if self.typed && latent && computed { format!("({})", self.row(e)) } else { self.operand(e) }
    }

    /// Parentheses around anything that is itself an operation: no table of precedences to get wrong.
    pub(super) fn operand(&self, e: &Expr) -> String {
        let text = self.expr(e);
        let compound = match &e.kind {
            ExprKind::If(..) => true,
            ExprKind::Call(f, _) => operator(*f).is_some() || matches!(*f, Builtin::Neg | Builtin::Not),
            ExprKind::Number(x) => *x < 0.0,
            _ => false,
        };
        if compound { format!("({text})") } else { text }
    }
}

pub(super) fn operator(f: Builtin) -> Option<&'static str> {
    match f {
        Builtin::Binary(f) => f.sign(),
        Builtin::MatVec => Some("*"),
        _ => None,
    }
}

fn axes(e: &Expr) -> Option<&super::Axes> {
    if let Type::Vector(v) = &e.ty { v.axes.as_ref() } else { None }
}

/// The levels of one cell of a table of counts, `north, true`.
fn cell(table: &Expr, index: &Expr) -> Option<String> {
    let (axes, ExprKind::Level(cell)) = (axes(table)?, &index.kind) else { return None };
    let mut left = *cell;
    let mut levels: Vec<String> = axes
        .iter()
        .rev()
        .map(|a| {
            let size = a.levels.len().max(1);
            let level = a.levels.get(left % size).map_or("?", String::as_str);
            left /= size;
            if a.ty == Type::Bool { level.to_owned() } else { level_text(level) }
        })
        .collect();
    levels.reverse();
    Some(levels.join(", "))
}

/// A level as an index or a comparison writes it: quoted unless it is a plain name.
pub fn level_text(name: &str) -> String {
    if crate::model::print::plain_name(name) { name.to_string() } else { format!("\"{name}\"") }
}

/// Letters, digits and underscores, not starting with a digit.
fn plain_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_') && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// The name of a function as the language writes it.
pub(super) fn function(f: Builtin) -> &'static str {
    match f {
        Builtin::Unary(f) => f.facts().name(),
        Builtin::Binary(Binary::Min) | Builtin::VecMin | Builtin::RowMin => "min",
        Builtin::Binary(Binary::Max) | Builtin::VecMax | Builtin::RowMax => "max",
        Builtin::Binary(_) | Builtin::MatVec => "operation",
        Builtin::Clip => "clip",
        Builtin::Dot => "dot",
        Builtin::Append => "append",
        Builtin::Rep => "rep",
        Builtin::Norm => "norm",
        Builtin::ProjectL1 => "project_l1",
        Builtin::ProjectL2 => "project_l2",
        Builtin::ProjectLinf => "project_linf",
        Builtin::Products => "products",
        Builtin::VecSum | Builtin::RowSum | Builtin::PosteriorSum => "sum",
        Builtin::VecMean | Builtin::RowMean | Builtin::PosteriorMean => "mean",
        Builtin::VecSd | Builtin::PosteriorSd => "sd",
        Builtin::VecQuantile | Builtin::RowQuantile | Builtin::PosteriorQuantile => "quantile",
        Builtin::RowCountAgg => "count",
        Builtin::RowHistogram => "histogram",
        Builtin::Cell => "cell",
        Builtin::Bin => "bin",
        Builtin::Margin => "margin",
        Builtin::PosteriorDensity => "density",
        Builtin::PosteriorCdf => "cdf",
        Builtin::PosteriorLarger => "larger",
        Builtin::PosteriorSample => "sample",
        Builtin::Quotient => "quotient",
        Builtin::Predict(_) | Builtin::PredictClasses => "predict",
        Builtin::EachDraw => "draws",
        Builtin::Simulate | Builtin::MadeUp => "simulate",
        Builtin::Poststratify => "poststratify",
        Builtin::Predictive => "predictive",
        Builtin::Loo => "loo",
        Builtin::LooCompare => "loo_compare",
    }
}

/// A type as a declaration writes it; a vector that is neither box nor ball with its norms and those of a difference.
pub fn type_text(ty: &Type) -> String {
    let real = |r: Range| {
        if r == Range::ALL { String::new() } else { format!(" in [{}, {}]", number(r.lo), number(r.hi)) }
    };
    match ty {
        Type::Bool => "bool".into(),
        Type::Int(r) if *r == Range::ALL => "int".into(),
        Type::Int(r) if r.hi.is_finite() => format!("int in {}..{}", number(r.lo), number(r.hi)),
        Type::Int(r) => format!("int in {}..", number(r.lo)),
        // A released date need not be a whole day.
        Type::Date(r) => format!("real{}", real(*r)),
        Type::Real(r) => format!("real{}", real(*r)),
        Type::Category(levels) => {
            let names: Vec<String> = levels.iter().map(|l| format!("{l:?}")).collect();
            format!("category {{{}}}", names.join(", "))
        }
        Type::Vector(v) if v.ordered => format!("ordered[{}]{}", v.dim, real(v.range)),
        Type::Vector(v) => format!("vector[{}]{}", v.dim, vector_set(v, &real(v.range))),
        Type::Matrix { rows, columns, range } => format!("matrix[{rows}, {columns}]{}", real(*range)),
        Type::Simplex { dim, .. } => format!("simplex[{dim}]"),
        Type::Counts { dim, total, fewer: true } => format!("counts[{dim}] of at_most({total})"),
        Type::Counts { dim, total, .. } => format!("counts[{dim}] of {total}"),
        Type::Text => "text".into(),
        Type::Posterior(inner) => format!("posterior of {}", type_text(inner)),
        Type::Record(parts) => {
            let parts: Vec<String> = parts.iter().map(|(n, t)| format!("{n}: {}", type_text(t))).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}

fn vector_set(v: &VectorType, range: &str) -> String {
    let (d, m, sup, diam) = (v.dim as f64, v.range.magnitude(), v.sup, v.diam);
    let full = |n: super::Norms, side: f64| n.l1 >= d * side && n.l2 * n.l2 >= d * side * side * (1.0 - 4e-16);
    if !v.range.is_finite() || (full(sup, m) && full(diam, v.range.hi - v.range.lo)) {
        return range.into();
    }
    let twice = diam.l1 == 2.0 * sup.l1 && diam.l2 == 2.0 * sup.l2 && diam.linf == 2.0 * sup.linf;
    let round = twice && v.range.lo == -sup.linf && v.range.hi == sup.linf;
    if round && sup.l1 == sup.linf {
        return format!(" in l1({})", number(sup.l1));
    }
    if round && sup.l2 == sup.linf && sup.l1 * sup.l1 >= d * sup.l2 * sup.l2 * (1.0 - 4e-16) {
        return format!(" in l2({})", number(sup.l2));
    }
    let norms = |n: super::Norms| format!("[{}, {}, {}]", number(n.l1), number(n.l2), number(n.linf));
    format!("{range} norms {} apart {}", norms(sup), norms(diam))
}
