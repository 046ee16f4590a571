//! `design(age, sex, age * sex)`: a row as features of a regression, written out, each in [-1, 1] by what its column declares.

use super::expressions::{node, number};
use super::messages::type_text;
use super::scope::Binding;
use super::{Checked, Checker, Stop, measure};
use crate::model::design::{Design, Factor};
use crate::model::print::level_text;
use crate::model::{Binary, Builtin, Expr, ExprKind, Label, Range, Type, VectorType, grid};
use crate::source::{Diagnostic, Help, Span};
use crate::syntax::ast;
use std::collections::BTreeSet;

/// More features than this are not written out.
const MOST: u64 = 1000;

/// One feature, or those of one vector.
struct Part {
    names: Vec<String>,
    value: Expr,
    /// By what the deviation of the value from its centre was divided.
    scale: f64,
}

impl Checker<'_> {
    pub(super) fn design(&mut self, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        let (mut intercept, mut terms, mut failed) = (true, vec![], false);
        for arg in args {
            match (&arg.name, &arg.value.kind) {
                (Some(name), ast::ExprKind::Bool(b)) if name.value == "intercept" => intercept = *b,
                (Some(name), _) => {
                    let d = Diagnostic::new("E0208", format!("`design` has no argument `{}`", name.value));
                    let help = Help::from(("without an intercept:", "intercept = false")).over(arg.span);
                    let d = d.label(arg.span, "not known").help(help);
                    return self.fail(d);
                }
                (None, _) => match self.term(&arg.value) {
                    Ok(term) => terms.push((term, arg.value.span)),
                    Err(Stop) => failed = true,
                },
            }
        }
        if failed {
            return Err(Stop);
        }
        if terms.is_empty() {
            return self.empty_design(span);
        }
        // What one use of a category says of its reference holds for all of them.
        let said: Vec<Factor> = terms.iter().flat_map(|t| &t.0).filter(|f| f.reference > 0).cloned().collect();
        for factor in terms.iter_mut().flat_map(|t| &mut t.0) {
            factor.reference = said.iter().find(|s| s.value.same(&factor.value)).map_or(0, |s| s.reference);
        }
        let mut features: Vec<(Part, Span)> = vec![];
        if intercept {
            features.push((Part { names: vec!["intercept".into()], value: number(1.0, span), scale: 1.0 }, span));
        }
        for (factors, at) in &terms {
            let count =
                factors.iter().fold(features.len() as u64, |n, f| n.saturating_mul(f.value.ty.levels().map_or(1, |l| l.len() as u64)));
            if count > MOST {
                return self.too_many_features(*at, count);
            }
            match self.product(factors, *at) {
                Ok(all) => features.extend(all.into_iter().map(|p| (p, *at))),
                Err(Stop) => failed = true,
            }
        }
        if failed {
            return Err(Stop);
        }
        self.assembled(features, terms.into_iter().map(|(t, _)| t).collect(), intercept, span)
    }

    fn empty_design<T>(&mut self, span: Span) -> Checked<T> {
        let can = |ty: &Type| match ty {
            Type::Bool => true,
            Type::Category(levels) => levels.len() > 1,
            Type::Int(r) | Type::Real(r) => r.is_finite() && !r.is_point(),
            _ => false,
        };
        let mut columns = self.program.tables.iter().flat_map(|t| &t.columns);
        let first = columns.find(|c| can(&c.ty)).map(|c| format!("design({})", c.name));
        let d = Diagnostic::new("E0208", "a design needs a column").label(span, "no column is named");
        self.fail(d.helps(first.map(|f| Help::from(f).over(span))))
    }

    fn product(&mut self, factors: &[Factor], at: Span) -> Checked<Vec<Part>> {
        let (first, others) = factors.split_first().ok_or(Stop)?;
        let mut all = self.parts(first, at)?;
        for factor in others {
            let parts = self.parts(factor, at)?;
            all = self.crossed_features(&all, &parts, at)?;
        }
        Ok(all)
    }

    /// The factors of `age * sex`; in parentheses a product is a number like any other.
    fn term(&mut self, e: &ast::Expr) -> Checked<Vec<Factor>> {
        if let ast::ExprKind::Binary(Binary::Mul, a, b) = &e.kind {
            let (a, b) = (self.term(a), self.term(b));
            return Ok([a?, b?].concat());
        }
        Ok(vec![self.factor(e)?])
    }

    fn factor(&mut self, e: &ast::Expr) -> Checked<Factor> {
        let (written, reference) = match &e.kind {
            ast::ExprKind::Call(f, args) => match (&f.kind, args.as_slice()) {
                (ast::ExprKind::Name(n), [of, level]) if n == "relevel" && self.scopes.find(n).is_none() => (&of.value, Some(&level.value)),
                _ => (e, None),
            },
            _ => (e, None),
        };
        let value = self.expr(written)?;
        if !matches!(value.label, Label::Row(_)) {
            let (what, help) = match value.label {
                Label::Public => ("the same for every row", "the intercept is the same for every row"),
                Label::Aggregate(_) => ("one value for all rows", "numbers are centred by the bounds that their columns declare"),
                _ => ("made of parameters", "weights multiply a design by `dot(w, design(..))`"),
            };
            let d = Diagnostic::new("E0209", "a design is made of columns").label(e.span, what);
            return self.fail(d.help(help));
        }
        let reference = match reference.map(|level| (&level.kind, level.span)) {
            None => 0,
            Some((ast::ExprKind::Name(name) | ast::ExprKind::Text(name), span)) if matches!(value.ty, Type::Category(_)) => {
                let levels = value.ty.levels().cloned().ok_or(Stop)?;
                match self.level(name, &levels, span)?.kind {
                    ExprKind::Level(i) => i,
                    _ => return Err(Stop),
                }
            }
            Some((_, span)) => {
                let d = Diagnostic::new("E0209", "`relevel` takes a category and one of its levels").label(span, "not a level");
                let first = value.ty.levels().and_then(|l| l.last()).map(|l| level_text(l));
                let help = match (&value.ty, first) {
                    (Type::Category(_), Some(level)) => Help::from(("one of its levels:", level)).over(span),
                    _ => Help::from(("this has no levels:", self.written(value.span))).over(e.span),
                };
                return self.fail(d.label(value.span, type_text(&value.ty)).help(help));
            }
        };
        let named = match &written.kind {
            ast::ExprKind::Name(n) if !self.scopes.in_body() && !matches!(value.kind, ExprKind::Column(..)) => {
                self.scopes.find(n).is_some_and(|e| matches!(e.binding, Binding::Value(_))).then(|| n.clone())
            }
            _ => None,
        };
        let name = named.clone().unwrap_or_else(|| self.program.short_text(&value));
        Ok(Factor { value, name, named: named.is_some(), reference })
    }

    /// The features of a factor: a number from -1 to 1, a bool as 0 or 1, a category as one bool for each level but one.
    fn parts(&mut self, factor: &Factor, at: Span) -> Checked<Vec<Part>> {
        let (value, name) = (factor.value.clone(), &factor.name);
        let one = |value: Expr, scale: f64| vec![Part { names: vec![name.clone()], value, scale }];
        match value.ty.clone() {
            Type::Bool => Ok(one(value, 1.0)),
            Type::Category(levels) if levels.len() > 1 => {
                let others = levels.iter().enumerate().filter(|(i, _)| *i != factor.reference);
                let part = |(i, l): (usize, &String)| {
                    let level = node(ExprKind::Level(i), Type::Category(levels.clone()), Label::Public, at);
                    let value = node(ExprKind::Call(Builtin::Eq, vec![value.clone(), level]), Type::Bool, value.label, at);
                    Part { names: vec![format!("{name}[{}]", level_text(l))], value, scale: 1.0 }
                };
                Ok(others.map(part).collect())
            }
            Type::Category(_) => self.no_feature(factor, at, "has one level"),
            Type::Int(range) | Type::Real(range) if range.is_finite() => match centre(range) {
                Some((middle, half)) => Ok(one(self.centred(value, middle, half, at)?, half)),
                None => self.no_feature(factor, at, "is one number"),
            },
            Type::Vector(v) if v.range.is_finite() => {
                let (middle, half) = if grid::is_box(&v) { centre(v.range).ok_or(Stop)? } else { (0.0, v.sup.l2) };
                if v.dim > MOST {
                    return self.too_many_features(at, v.dim);
                }
                let names = (0..v.dim).map(|i| match v.levels.as_ref().and_then(|l| l.get(i as usize)) {
                    Some(level) => format!("{name}[{}]", level_text(level)),
                    None => format!("{name}[{}]", i + 1),
                });
                Ok(vec![Part { names: names.collect(), value: self.centred(value, middle, half, at)?, scale: half }])
            }
            Type::Int(_) | Type::Real(_) | Type::Vector(_) => {
                let d = Diagnostic::new("E0202", format!("`{name}` has no bounds, so it cannot be scaled")).label(at, type_text(&value.ty));
                let d = self.label_column(d, &value, "declared here");
                let clip = Help::from(("clip it:", format!("clip({}, 0, 100)", self.written(at)))).over(at);
                let first = self.bounds_first(&value);
                self.fail(d.helps(first).help(clip))
            }
            Type::Date(_) => {
                let (d, x) = (Diagnostic::new("E0209", "a date is not a number").label(at, "a date"), self.written(at));
                let days = Help::from(("count days from a fixed date:", format!("({x} - \"2020-01-01\")"))).over(at);
                self.fail(d.help(days).help(Help::from(("or a part of it:", format!("year({x})"))).over(at)))
            }
            other => {
                let d = Diagnostic::new("E0209", "a design holds numbers, bools, categories and bounded vectors");
                let d = d.label(at, type_text(&other));
                let d = self.label_column(d, &value, "declared here");
                self.fail(if other == Type::Text {
                    d.help(("declare its levels:", format!("{name}: category {{a, b, other}}")))
                } else {
                    d
                })
            }
        }
    }

    fn no_feature<T>(&mut self, factor: &Factor, at: Span, why: &str) -> Checked<T> {
        let d = Diagnostic::new("E0201", format!("`{}` {why}, so there is nothing to learn from it", factor.name));
        let d = d.label(at, "the same for every row");
        let d = self.label_column(d, &factor.value, "declared here");
        self.fail(d.help("leave it out: the intercept is the same for every row"))
    }

    fn too_many_features<T>(&mut self, at: Span, count: u64) -> Checked<T> {
        let d = Diagnostic::new("E0201", format!("a design has at most {MOST} features")).label(at, format!("{count} with these"));
        self.fail(d.help("group the levels of a category, or leave an interaction out"))
    }

    /// `(x - middle) / half`
    pub(super) fn centred(&mut self, value: Expr, middle: f64, half: f64, at: Span) -> Checked<Expr> {
        let mut value = value;
        if middle != 0.0 {
            value = self.apply(Builtin::Sub, vec![value, number(middle, at)], at)?;
        }
        if half != 1.0 {
            value = self.apply(Builtin::Div, vec![value, number(half, at)], at)?;
        }
        value.span = at;
        Ok(value)
    }

    /// Every feature of the one times every feature of the other.
    fn crossed_features(&mut self, left: &[Part], right: &[Part], at: Span) -> Checked<Vec<Part>> {
        let mut all = vec![];
        for a in left {
            for b in right {
                if a.names.len() > 1 && b.names.len() > 1 {
                    let d = Diagnostic::new("E0209", "an interaction has at most one vector").label(at, "two vectors");
                    return self.fail(d.help("write the components that matter: x[1] * z[1]"));
                }
                let names = a.names.iter().flat_map(|a| b.names.iter().map(move |b| format!("{a} * {b}"))).collect();
                let value = self.apply(Builtin::Mul, vec![a.value.clone(), b.value.clone()], at)?;
                all.push(Part { names, value, scale: a.scale * b.scale });
            }
        }
        Ok(all)
    }

    fn assembled(&mut self, features: Vec<(Part, Span)>, terms: Vec<Vec<Factor>>, intercept: bool, span: Span) -> Checked<Expr> {
        let (mut names, mut scales, mut seen) = (vec![], vec![], BTreeSet::new());
        for (part, at) in &features {
            if let Some(again) = part.names.iter().find(|n| !seen.insert((*n).clone())) {
                let d = Diagnostic::new("E0207", format!("the design lists `{again}` twice")).label(*at, "again here");
                return self.fail(d.help("name every feature once"));
            }
            scales.extend(part.names.iter().map(|_| part.scale));
            names.extend(part.names.iter().cloned());
        }
        if names.len() as u64 > MOST {
            return self.too_many_features(span, names.len() as u64);
        }
        let mut x = self.list(features.into_iter().map(|(p, _)| p.value).collect(), span)?;
        self.spend_nodes(measure(&x).0, span)?;
        let names = self.listed(names);
        if let Type::Vector(VectorType { levels, .. }) = &mut x.ty {
            *levels = Some(names.clone());
        }
        match self.program.design(Some(&names)) {
            Some(known) if known.scales != scales => {
                let d = Diagnostic::new("E0207", "another design has features with the same names but different scales")
                    .label(span, "the second");
                return self.fail(d.help(("rename one of them:", "let age_2 = age + 0")));
            }
            Some(_) => {}
            None => self.program.designs.push(Design { names, intercept, terms, scales }),
        }
        Ok(x)
    }

    /// `natural(coef)`: a weight of a scaled feature as one of a unit of its column.
    pub(super) fn natural(&mut self, of: &ast::Expr, span: Span) -> Checked<Expr> {
        let value = self.expr(of)?;
        // Sums of features have their names and are not weights.
        let mut sums = !matches!(value.label, Label::Public | Label::Latent);
        value.walk(&mut |x| sums |= matches!(x.kind, ExprKind::Released(id) if self.release(id).is_some_and(|r| r.query.is_some())));
        let design = self.program.design(value.ty.levels()).filter(|_| !sums);
        let Some(scales) = design.map(|d| d.scales.clone()) else {
            let (what, written) = (type_text(&value.ty), self.written(value.span));
            let d = Diagnostic::new("E0209", "`natural` takes weights of a design").label(value.span, what);
            return self.fail(match value.ty {
                Type::Posterior(_) => d.help(Help::from(format!("natural(mean({written}))")).over(span)),
                _ => d
                    .help(("declare the weights from a design:", "let x = design(age, sex)"))
                    .help(("", "param w: vector[x] ~ normal(0, 1)")),
            });
        };
        let scales = self.list(scales.into_iter().map(|s| number(s, span)).collect(), span)?;
        self.apply(Builtin::Div, vec![value, scales], span)
    }

    /// `vector[x]` of a design: its features and their names.
    pub(super) fn features_of(&mut self, e: &ast::Expr) -> Checked<Option<VectorType>> {
        let ty = match &e.kind {
            ast::ExprKind::Name(n) => match self.scopes.find(n).map(|e| &e.binding) {
                Some(Binding::Value(value)) if matches!(value.label, Label::Row(_)) => value.ty.clone(),
                _ => return Ok(None),
            },
            ast::ExprKind::Call(f, _) if matches!(&f.kind, ast::ExprKind::Name(n) if n == "design") => self.expr(e)?.ty,
            _ => return Ok(None),
        };
        Ok(if let Type::Vector(v) = ty { Some(v) } else { None })
    }
}

/// The middle of a range, and half its width such that `(x - middle) / half` is in [-1, 1] as doubles compute it.
pub(super) fn centre(range: Range) -> Option<(f64, f64)> {
    let middle = range.lo / 2.0 + range.hi / 2.0;
    let mut half = range.hi / 2.0 - range.lo / 2.0;
    if half < f64::MIN_POSITIVE {
        return None;
    }
    while (range.hi - middle) / half > 1.0 || (range.lo - middle) / half < -1.0 {
        half = half.next_up();
    }
    Some((middle, half))
}
