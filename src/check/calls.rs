//! Calls of built-in functions: arity, names of arguments, types.

use super::expressions::node;
use super::functions::signatures;
use super::messages::type_text;
use super::operators::{same_value, square};
use super::scope::Binding;
use super::vectors::as_vector;
use super::{Checked, Checker, Stop, vectors};
use crate::model::{Binary, Builtin, Expr, ExprKind, Label, Range, Type, Unary};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;

pub(super) fn is_builtin(name: &str) -> bool {
    signatures().any(|(n, _)| n == name)
        || matches!(
            name,
            "draw" | "draws" | "posterior" | "prior" | "moments" | "certificate" | "rule" | "status" | "sensitivity" | "label"
        )
}

/// Built in, and no function or model of a program has this name; words that came later may be theirs.
pub(super) fn is_reserved(name: &str) -> bool {
    is_builtin(name)
        && !matches!(
            name,
            "predictive"
                | "loo"
                | "loo_compare"
                | "poststratify"
                | "prior"
                | "is_na"
                | "year"
                | "month"
                | "weekday"
                | "design"
                | "natural"
                | "quotient"
                | "predict"
                | "products"
                | "moments"
        )
}

impl Checker<'_> {
    pub(super) fn call(&mut self, callee: &ast::Expr, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        let ast::ExprKind::Name(name) = &callee.kind else {
            return self
                .fail(Diagnostic::new("E0206", "only a named function can be called").label(callee.span, "not the name of a function"));
        };
        match self.scopes.find(name).map(|e| e.binding.clone()) {
            Some(Binding::Fn(def)) => return self.inline_fn(name, &def, args, span),
            Some(Binding::Model(_)) => {
                return self.fail(
                    Diagnostic::new("E0209", format!("the model `{name}` is used inside an expression"))
                        .label(span, "a model declares parameters")
                        .help(("give its result a name first:", format!("let p = {}", self.written(span)))),
                );
            }
            Some(Binding::Poisoned) => return Err(Stop),
            _ => {}
        }
        if is_builtin(name) {
            return self.builtin(name, args, span);
        }
        if crate::dist::find(name).is_some() {
            return self.fail(
                Diagnostic::new("E0209", format!("`{name}` is a distribution"))
                    .label(span, "a distribution goes after `~`, or inside `simulate`")
                    .help(format!("param p ~ {}", self.written(span)))
                    .help(format!("simulate({}, times = 100)", self.written(span))),
            );
        }
        if !self.complete {
            return Err(Stop);
        }
        if let Some(help) = self.known_elsewhere(name, args, span) {
            let d = Diagnostic::new("E0206", format!("there is no function `{name}`")).label(callee.span, "unknown function");
            return self.fail(d.helps(help));
        }
        let mut names: Vec<String> = signatures().map(|(n, _)| n.to_string()).collect();
        names.extend(self.scopes.visible().into_iter().map(String::from));
        names.extend(crate::dist::all().map(|d| d.name.to_string()));
        let near = crate::source::suggest::did_you_mean(name, names.iter().map(String::as_str));
        let d = Diagnostic::new("E0206", format!("there is no function `{name}`")).label(callee.span, "unknown function");
        self.fail(match near {
            Some(n) => d.near(callee.span, &n),
            None => d.help(format!("define it: fn {name}(x) = ..., or open a module: use std.regression")),
        })
    }

    /// What other languages call otherwise, and what is in a module of the standard library.
    fn known_elsewhere(&self, name: &str, args: &[ast::Arg], span: Span) -> Option<Vec<Help>> {
        let x = args.first().map_or_else(|| "x".into(), |a| self.written(a.value.span));
        let square = if x.chars().all(|c| c.is_alphanumeric() || c == '_') { format!("{x}^2") } else { format!("({x})^2") };
        match name {
            "median" => {
                let quantile = ("", format!("quantile({x}, 0.5)"), "in a release with public bounds, using exponential(0, 100)");
                return Some(vec![Help::from(quantile).over(span)]);
            }
            "var" | "variance" => {
                let (m1, m2, v) = (self.fresh_name("m1"), self.fresh_name("m2"), self.fresh_name("v"));
                let code =
                    [format!("release {m1} = mean({x})"), format!("release {m2} = mean({square})"), format!("output {v} = {m2} - {m1}^2")];
                let edits = vec![(self.statement, code.join("\n"))];
                return Some(Help::several("release the two moments; the variance is then free:", code, edits));
            }
            "bin" => {
                let code = self.written(span);
                return Some(vec![format!("bins are those of a histogram, as in `release cells = histogram({code})`").into()]);
            }
            "summary" | "summarise" => return Some(vec![Help::from(("an output of draws is its summary:", x.as_str())).over(span)]),
            "average" | "avg" => return Some(vec![Help::from(format!("mean({x})")).over(span)]),
            "std" | "stdev" => return Some(vec![Help::from(format!("sd({x})")).over(span)]),
            _ => {}
        }
        let starts = [format!("model {name}("), format!("fn {name}(")];
        let holds = |text: &str| text.lines().any(|l| starts.iter().any(|s| l.starts_with(s.as_str())));
        let module = super::STD.iter().find(|(_, text)| holds(text)).map(|(m, _)| *m)?;
        Some(vec![("it is in a module; write before its first use:", format!("use std.{module}")).into()])
    }

    pub(super) fn arity(&self, what: &str, signature: &str, span: Span) -> Diagnostic {
        Diagnostic::new("E0208", format!("wrong arguments for {what}"))
            .label(span, "wrong number or names of arguments")
            .help(Help::from(signature).over(span))
    }

    fn wrong_call<T>(&mut self, name: &str, span: Span) -> Checked<T> {
        let signature = signatures().find(|(n, _)| *n == name).map_or(name, |(_, s)| s);
        let d = self.arity(&format!("`{name}`"), signature, span);
        self.fail(d)
    }

    pub(super) fn builtin(&mut self, name: &str, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        if name == "simulate" {
            return self.simulate(args, span);
        }
        if matches!(name, "posterior" | "prior" | "draw" | "draws" | "moments") {
            let written = self.written(span);
            let d = Diagnostic::new("E0209", format!("`{name}(..)` is the whole value of a statement")).label(span, "inside another value");
            return self.fail(match name {
                "prior" => d.help(("give its draws a name first:", format!("output before = {written}"))),
                "moments" => d.help(("give them a name first:", format!("release m = {written}"))),
                "posterior" => d.help(("of released counts it is free; give it a name first:", format!("output post = {written}"))),
                _ => d.help(("release it first:", format!("release drawn = {written}"))),
            });
        }
        if let ("count" | "sum" | "mean", [ast::Arg { name: Some(column), value, .. }]) = (name, args) {
            let d = self.arity(&format!("`{name}`"), &format!("{name}({} == {})", column.value, self.written(value.span)), span);
            return self.fail(d);
        }
        if let ("count" | "sum" | "mean", [of, condition]) = (name, args)
            && of.name.is_none()
            && condition.name.as_ref().is_some_and(|n| n.value == "where")
        {
            return self.of_some(name, &of.value, &condition.value, span);
        }
        if name == "predict" {
            return self.predict(args, span);
        }
        if name == "design" {
            return self.design(args, span);
        }
        if args.iter().any(|a| a.name.is_some()) {
            return self.wrong_call(name, span);
        }
        if let Some(scaled) = self.of_scaled(name, args, span) {
            return scaled;
        }
        match (name, args) {
            ("natural", [weights]) => self.natural(&weights.value, span),
            ("predictive", [cells, post]) => self.predictive(&cells.value, &post.value, span),
            ("poststratify", [e, table, weight]) => self.poststratify(&e.value, &table.value, &weight.value, span),
            ("loo", [post]) => self.loo(&post.value, span),
            ("loo_compare", [a, b]) => self.loo_compare(&a.value, &b.value, span),
            ("levels", [a]) => {
                let e = self.expr(&a.value)?;
                match e.ty.levels() {
                    Some(l) => Ok(super::expressions::number(l.len() as f64, span)),
                    None => {
                        let what = type_text(&e.ty);
                        self.fail(Diagnostic::new("E0209", "`levels` needs a category").label(e.span, what))
                    }
                }
            }
            ("is_na" | "year" | "month" | "weekday", [a]) => self.view(name, &a.value, span),
            ("margin", args) => self.margin(args, span),
            ("histogram", [_, ..]) => {
                let checked = args.iter().map(|a| self.counted(&a.value)).collect::<Vec<_>>();
                let checked = checked.into_iter().collect::<Checked<Vec<_>>>()?;
                self.aggregate(name, checked, span)
            }
            ("sum", [post, set]) => self.together(&post.value, &set.value, span),
            ("quotient", [parts, by, lo, hi, groups @ ..]) => self.quotient([parts, by, lo, hi].map(|a| &a.value), groups, span),
            ("project", [ball, v]) => self.project(&ball.value, &v.value, span),
            ("count", []) => self.count_rows(span),
            _ => {
                let values: Vec<ast::Expr> = args.iter().map(|a| a.value.clone()).collect();
                let checked = self.exprs(&values)?;
                self.builtin_values(name, checked, span)
            }
        }
    }

    /// An argument of `histogram`: `bin(..)` means bins there, unless the program has a function of this name.
    fn counted(&mut self, e: &ast::Expr) -> Checked<Expr> {
        match &e.kind {
            ast::ExprKind::Call(f, args) if matches!(&f.kind, ast::ExprKind::Name(n) if n == "bin" && self.scopes.find(n).is_none()) => {
                self.bin(args, e.span)
            }
            _ => self.expr(e),
        }
    }

    fn builtin_values(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        if let (Some(f), 1) = (Unary::named(name), args.len()) {
            return self.apply(Builtin::Unary(f), args, span);
        }
        match (name, args.len()) {
            ("min", 2) => self.apply(Builtin::Min, args, span),
            ("max", 2) => self.apply(Builtin::Max, args, span),
            ("clip", 3) => self.clip(args, span),
            ("dot", 2) => self.dot(args, span),
            ("append", 2) => self.list(args, span),
            ("rep", 2) => self.rep(args, span),
            ("products", 1) => self.products(args, span),
            ("length" | "norm", 1) => self.measure_vector(name, args, span),
            ("sum" | "mean" | "min" | "max" | "sd" | "count", 1)
            | ("quantile" | "density" | "cdf" | "interval" | "larger" | "sample", 2) => self.aggregate(name, args, span),
            ("quantiles", 2) => self.aggregate("quantile", args, span),
            _ => self.wrong_call(name, span),
        }
    }

    fn clip(&mut self, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let label = self.join_all(&args, span)?;
        let [x, lo, hi] = args.as_slice() else { return Err(Stop) };
        let (Some(rx), Some(rl), Some(rh)) = (x.ty.range(), lo.ty.range(), hi.ty.range()) else {
            return self.wrong_call("clip", span);
        };
        if let Some(wide) = [lo, hi].into_iter().find(|e| !e.ty.is_scalar_number()) {
            let (what, [x, lo, hi]) = (type_text(&wide.ty), [x, lo, hi].map(|e| self.written(e.span)));
            return self.fail(
                Diagnostic::new("E0209", "the bounds of `clip` must be numbers")
                    .label(wide.span, what)
                    .help(Help::from(format!("max({lo}, min({x}, {hi}))")).over(span)),
            );
        }
        if rl.is_point() && rh.is_point() && rl.lo > rh.lo {
            return self.fail(
                Diagnostic::new("E0203", "the bounds of `clip` are the wrong way round")
                    .label(span, format!("{} is above {}", rl.lo, rh.lo))
                    .help(Help::from(format!("clip({}, {}, {})", self.written(x.span), rh.lo, rl.lo)).over(span)),
            );
        }
        // max(lo, min(x, hi)): monotone in all three.
        let out = Range::new(rl.lo.max(rx.lo.min(rh.lo)), rl.hi.max(rx.hi.min(rh.hi)));
        let ty = match &x.ty {
            Type::Vector(v) => {
                let mut t = vectors::boxed(v.dim, out, v.levels.clone());
                // Bounds that every row shares bring no two rows further apart; bounds of a row's own do.
                if lo.label == Label::Public && hi.label == Label::Public {
                    t.diam = vectors::least(t.diam, v.diam);
                }
                Type::Vector(t)
            }
            Type::Int(_) | Type::Bool
                if lo.ty.range().is_some_and(|r| r.lo.fract() == 0.0 && r.is_point()) && rh.is_point() && rh.lo.fract() == 0.0 =>
            {
                Type::Int(out)
            }
            t if t.is_scalar_number() => Type::Real(out),
            other => {
                let what = type_text(other);
                return self.fail(Diagnostic::new("E0209", "`clip` needs a number").label(x.span, what));
            }
        };
        Ok(node(ExprKind::Call(Builtin::Clip, args), ty, label, span))
    }

    pub(super) fn dot(&mut self, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let label = self.join_all(&args, span)?;
        let [a, b] = args.as_slice() else { return Err(Stop) };
        let (Some(x), Some(y)) = (as_vector(&a.ty), as_vector(&b.ty)) else {
            let (ta, tb) = (type_text(&a.ty), type_text(&b.ty));
            return self.fail(Diagnostic::new("E0209", "`dot` needs two vectors").label(a.span, ta).label(b.span, tb));
        };
        if x.dim != y.dim {
            return self.fail(
                Diagnostic::new("E0201", format!("{} weights for {} features", x.dim, y.dim))
                    .label(a.span, format!("{} components", x.dim))
                    .label(b.span, format!("{} components", y.dim))
                    .help(format!("vector[{}] on both sides", y.dim)),
            );
        }
        let bound =
            vectors::mul_up(x.sup.l2, y.sup.l2).min(vectors::mul_up(x.sup.l1, y.sup.linf)).min(vectors::mul_up(x.sup.linf, y.sup.l1));
        let alike = same_value(a, b);
        let each = if alike { square(x.range) } else { Binary::Mul.range(x.range, y.range).unwrap_or(Range::ALL) };
        let d = x.dim as f64;
        let by_parts = Range::new(d * each.lo, d * each.hi);
        let bound = vectors::mul_up(bound, 1.0 + 4.0 * f64::EPSILON * (d + 1.0));
        let out = Range::new((-bound).max(by_parts.lo.min(by_parts.hi)).min(bound), bound.min(by_parts.hi).max(-bound));
        Ok(node(ExprKind::Call(Builtin::Dot, args), Type::Real(out), label, span))
    }

    fn rep(&mut self, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let [x, times] = args.as_slice() else { return Err(Stop) };
        let times_n = times.constant().filter(|t| t.fract() == 0.0 && *t >= 1.0 && *t <= super::types::MAX_DIM as f64);
        let (Some(n), true) = (times_n, x.ty.is_scalar_number()) else { return self.wrong_call("rep", span) };
        let ty = Type::Vector(vectors::boxed(n as u64, x.ty.range().unwrap_or(Range::ALL), None));
        let label = x.label;
        Ok(node(ExprKind::Call(Builtin::Rep, args), ty, label, span))
    }

    fn measure_vector(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Checked<Expr> {
        let [v] = args.as_slice() else { return Err(Stop) };
        let Some(t) = as_vector(&v.ty) else { return self.wrong_call(name, span) };
        if name == "length" {
            return Ok(super::expressions::number(t.dim as f64, span));
        }
        let label = v.label;
        Ok(node(ExprKind::Call(Builtin::Norm, args), Type::real(0.0, t.sup.l2), label, span))
    }

    fn project(&mut self, ball: &ast::Expr, v: &ast::Expr, span: Span) -> Checked<Expr> {
        let (name, radius) = match &ball.kind {
            ast::ExprKind::Call(f, args) => match (&f.kind, args.as_slice()) {
                (ast::ExprKind::Name(n), [r]) => (n.as_str(), Some(r)),
                _ => ("", None),
            },
            _ => ("", None),
        };
        let (op, p) = match name {
            "l1" => (Builtin::ProjectL1, 1),
            "l2" => (Builtin::ProjectL2, 2),
            "linf" => (Builtin::ProjectLinf, 0),
            _ => return self.wrong_call("project", span),
        };
        let Some(radius) = radius else { return self.wrong_call("project", span) };
        let (r, v) = (self.expr(&radius.value)?, self.expr(v)?);
        let label = self.join_all(&[v.clone(), r.clone()], span)?;
        let Some(t) = as_vector(&v.ty) else {
            let what = type_text(&v.ty);
            return self.fail(Diagnostic::new("E0209", "`project` needs a vector").label(v.span, what));
        };
        let Some(range) = r.ty.range() else { return self.wrong_call("project", span) };
        if !(range.lo > 0.0 && range.hi.is_finite()) || r.label != Label::Public {
            return self.fail(
                Diagnostic::new("E0202", "a ball needs a positive, finite, public radius")
                    .label(r.span, type_text(&r.ty))
                    .help("project(l2(1), x)"),
            );
        }
        let mut out = vectors::ball(t.dim, p, range.hi);
        out.range = Range::new(t.range.lo.min(0.0).max(out.range.lo), t.range.hi.max(0.0).min(out.range.hi));
        out.sup = vectors::least(out.sup, t.sup);
        let boxed = vectors::boxed(t.dim, out.range, None);
        out.diam = vectors::tighten(vectors::least(out.diam, boxed.diam), t.dim);
        out.sup = vectors::tighten(vectors::least(out.sup, boxed.sup), t.dim);
        out.levels = t.levels.clone();
        Ok(node(ExprKind::Call(op, vec![v, r]), Type::Vector(out), label, span))
    }

    /// `simulate(binomial(100, p), times = 1000)`: fresh public randomness, free.
    fn simulate(&mut self, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        if let [cells, post, rows] = args
            && rows.name.as_ref().is_some_and(|n| n.value == "rows")
        {
            return self.made_up(&cells.value, &post.value, &rows.value, span);
        }
        let (dist, times) = match args {
            [d] => (&d.value, None),
            [d, t] if t.name.as_ref().is_none_or(|n| n.value == "times") => (&d.value, Some(&t.value)),
            _ => return self.wrong_call("simulate", span),
        };
        let ast::ExprKind::Call(f, dist_args) = &dist.kind else { return self.wrong_call("simulate", span) };
        let ast::ExprKind::Name(family) = &f.kind else { return self.wrong_call("simulate", span) };
        let times = times.map_or(Ok(1), |t| self.whole_constant(t, "the number of simulations"))?;
        if times > 100_000_000 {
            return self.fail(Diagnostic::new("E0201", "too many simulations").label(span, "at most 100000000").help("times = 10000"));
        }
        if *family == crate::dist::MIXTURE.name {
            let d = Diagnostic::new("E0209", "`simulate` draws from one distribution, not from a mixture").label(dist.span, "several");
            return self.fail(d.help("simulate each component, and which one it is: simulate(bernoulli(w), times = 1000)"));
        }
        let call = ast::Call { path: vec![crate::source::Spanned::new(family.clone(), f.span)], args: dist_args.clone(), span: dist.span };
        let (dist, mut values) = self.distribution_of(&call, true)?;
        self.join_all(&values, span)?;
        let mut drawn = values.iter_mut().filter(|e| matches!(e.label, Label::Row(_)));
        if let (Some(_), Some(second)) = (drawn.next(), drawn.next()) {
            let d =
                Diagnostic::new("E0209", "`simulate` takes one number of a posterior").label(second.span, "the second, of the same draws");
            return self.fail(d.help("write the second as a constant"));
        }
        values = values.into_iter().map(|e| if let Label::Row(t) = e.label { self.each_draw(e, t) } else { e }).collect();
        let label = self.join_all(&values, span)?;
        let first = values.first().map(|v| if let Type::Posterior(inner) = &v.ty { (**inner).clone() } else { v.ty.clone() });
        let ty = match dist.support {
            crate::dist::Support::Bool => Type::Bool,
            crate::dist::Support::CountsToFirst => {
                Type::Int(Range::new(0.0, first.as_ref().and_then(Type::range).map_or(f64::INFINITY, |r| r.hi)))
            }
            crate::dist::Support::Counts => Type::Int(Range::new(0.0, f64::INFINITY)),
            crate::dist::Support::Categories => {
                let plain = |e: &Expr| if let Type::Posterior(inner) = &e.ty { as_vector(inner) } else { as_vector(&e.ty) };
                let levels = dist.categories(values.iter().map(|e| plain(e).map_or(0, |v| v.dim)));
                Type::Int(Range::new(1.0, levels.max(1) as f64))
            }
            crate::dist::Support::Real(r) => Type::Real(r),
            crate::dist::Support::BetweenArgs => Type::Real(Range::ALL),
            _ => {
                return self.fail(
                    Diagnostic::new("E0209", format!("`simulate` draws single numbers, not from `{}`", dist.name))
                        .label(span, "a distribution of vectors"),
                );
            }
        };
        let range = ty.range().unwrap_or(Range::ALL);
        let mut call_args = vec![node(ExprKind::Text(dist.name.to_string()), Type::Text, Label::Public, f.span)];
        call_args.extend(values);
        call_args.push(super::expressions::number(times as f64, span));
        let ty = if times == 1 { ty } else { Type::Vector(vectors::boxed(times, range, None)) };
        Ok(node(ExprKind::Call(Builtin::Simulate, call_args), ty, label, span))
    }

    /// A public number known now.
    pub(super) fn public_constant(&mut self, e: &ast::Expr, what: &str) -> Checked<f64> {
        let value = self.expr(e)?;
        if value.label != Label::Public {
            let d = Diagnostic::new("E0102", format!("{what} may not depend on private data or parameters"))
                .label(value.span, "not a public constant");
            let d = self.label_column(d, &value, "private");
            return self.fail(d.help("write a public number"));
        }
        match value.constant() {
            Some(x) if !x.is_nan() => Ok(x),
            _ => {
                let ty = type_text(&value.ty);
                self.fail(
                    Diagnostic::new("E0209", format!("{what} must be a number known when the program is checked"))
                        .label(value.span, ty)
                        .help("write a literal"),
                )
            }
        }
    }
}
