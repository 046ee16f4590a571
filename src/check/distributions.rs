//! Distributions after `~`: their arguments, and whether an outcome fits their support.

use super::messages::{plain, range_text, type_text};
use super::vectors::as_vector;
use super::{Checked, Checker, Stop};
use crate::dist::{ArgKind, Distribution, Law, MIXTURE, Support};
use crate::model::{DistCall, Expr, ExprKind, Label, Range, Type};
use crate::source::{Diagnostic, Help, Span, Spanned};
use crate::syntax::ast;

impl Checker<'_> {
    /// The distribution of a call and its checked arguments, in declared order.
    pub(super) fn distribution(&mut self, call: &ast::Call) -> Checked<DistCall> {
        if matches!(call.path.as_slice(), [name] if name.value == MIXTURE.name) {
            return self.mixture(call);
        }
        let (family, args) = self.distribution_of(call, false)?;
        Ok(DistCall { family, args, mixed: vec![], span: call.span })
    }

    /// `mixture([w, 1 - w], normal(a, s), normal(b, s))`
    fn mixture(&mut self, call: &ast::Call) -> Checked<DistCall> {
        const WRITTEN: &str = "a mixture is written as in `mixture([w, 1 - w], normal(a, s), normal(b, s))`";
        let (Some((weights, parts)), true) = (call.args.split_first(), call.args.len() > 2 && call.args.iter().all(|a| a.name.is_none()))
        else {
            let d = Diagnostic::new("E0208", "`mixture` takes weights, then two distributions or more");
            let d = d.label(call.span, format!("{} given", call.args.len()));
            return self.fail(match call.args.as_slice() {
                [_, alone] => d.help(Help::from(("one alone is not a mixture:", self.written(alone.span))).over(call.span)),
                _ => d.help(WRITTEN),
            });
        };
        let weights = self.expr(&weights.value)?;
        let shares = as_vector(&weights.ty).filter(|v| matches!(weights.ty, Type::Simplex { .. }) || v.range.lo >= 0.0);
        let Some(shares) = shares else {
            let d = Diagnostic::new("E0209", "the weights of a mixture must be a list of numbers, none of them negative")
                .label(weights.span, type_text(&weights.ty));
            let written = self.written(weights.span);
            let share = weights.ty.is_scalar_number() && weights.ty.range().is_some_and(|r| r.within(Range::UNIT)) && parts.len() == 2;
            return self.fail(match share {
                true => d.help(Help::from(("one for each:", format!("[{written}, 1 - {written}]"))).over(weights.span)),
                false => d.help(("shares:", format!("param w ~ dirichlet(rep(1, {}))", parts.len()))),
            });
        };
        if shares.dim != parts.len() as u64 {
            let d = Diagnostic::new("E0201", format!("{} weights for {} distributions", shares.dim, parts.len()));
            return self.fail(d.label(weights.span, format!("{} weights", shares.dim)).label(call.span, "one for each distribution"));
        }
        let (mut args, mut mixed) = (vec![weights], vec![]);
        for part in parts {
            let called = match &part.value.kind {
                ast::ExprKind::Call(f, args) => match &f.kind {
                    ast::ExprKind::Name(n) if *n != MIXTURE.name => {
                        Some(ast::Call { path: vec![Spanned::new(n.clone(), f.span)], args: args.clone(), span: part.value.span })
                    }
                    _ => None,
                },
                _ => None,
            };
            let Some(called) = called else {
                let d = Diagnostic::new("E0209", "the components of a mixture are distributions").label(part.span, "not a distribution");
                return self.fail(d.help(WRITTEN));
            };
            let (family, own) = self.distribution_of(&called, false)?;
            let density = |d: &Distribution| matches!(d.law, Law::Density(..));
            let other = mixed.iter().find(|d: &&&'static Distribution| density(d) != density(family));
            if matches!(family.law, Law::Vector(_)) || other.is_some() {
                let why = other.map_or("a law of vectors".into(), |d| format!("`{}` and `{}` have no common values", d.name, family.name));
                let d = Diagnostic::new("E0209", "the components of a mixture are all densities, or all probabilities of whole values");
                return self.fail(d.label(part.span, why).help(WRITTEN));
            }
            mixed.push(family);
            args.extend(own);
        }
        Ok(DistCall { family: &MIXTURE, args, mixed, span: call.span })
    }

    /// Where `predictive`, an argument may be a released posterior: it stands for a draw from it.
    pub(super) fn distribution_of(&mut self, call: &ast::Call, predictive: bool) -> Checked<(&'static Distribution, Vec<Expr>)> {
        let name = call.path.last().map(|n| n.value.clone()).unwrap_or_default();
        let Some(dist) = crate::dist::find(&name).filter(|_| call.path.len() == 1) else {
            let in_stan = crate::dist::all().find(|d| d.stan.split('(').next() == Some(&name)).map(|d| d.name.to_owned());
            let near = in_stan.or_else(|| crate::source::suggest::did_you_mean(&name, crate::dist::all().map(|d| d.name)));
            let span = call.path.first().map_or(call.span, |n| n.span);
            let d = Diagnostic::new("E0206", format!("there is no distribution `{name}`")).label(span, "unknown distribution");
            return self.fail(match near {
                Some(n) => d.near(span, &n),
                None => {
                    d.help("bernoulli, binomial, poisson, categorical, normal, beta, gamma, dirichlet, ..: `dpm explain distributions`")
                }
            });
        };
        let values = self.dist_arguments(dist, call)?;
        for value in &values {
            if let Label::Aggregate(_) = value.label {
                return self.data_used_twice(value, call.span);
            }
        }
        for (value, (arg, kind)) in values.iter().zip(dist.args) {
            match &value.ty {
                Type::Posterior(inner) if predictive => {
                    self.dist_argument(dist, arg, *kind, &Expr { ty: (**inner).clone(), ..value.clone() })?;
                }
                _ => self.dist_argument(dist, arg, *kind, value)?,
            }
        }
        Ok((dist, values))
    }

    fn dist_arguments(&mut self, dist: &'static Distribution, call: &ast::Call) -> Checked<Vec<Expr>> {
        let mut slots: Vec<Option<&ast::Expr>> = dist.args.iter().map(|_| None).collect();
        let mut fits = call.args.len() == dist.args.len();
        for (i, arg) in call.args.iter().enumerate() {
            let at = match &arg.name {
                Some(n) => dist.args.iter().position(|(a, _)| *a == n.value),
                None => Some(i),
            };
            match at.and_then(|i| slots.get_mut(i)) {
                Some(slot) if slot.is_none() => *slot = Some(&arg.value),
                _ => fits = false,
            }
        }
        let given: Vec<ast::Expr> = slots.into_iter().flatten().cloned().collect();
        if !fits || given.len() != dist.args.len() {
            let names: Vec<&str> = dist.args.iter().map(|(n, _)| *n).collect();
            let d = Diagnostic::new("E0208", format!("`{}` takes {} arguments", dist.name, dist.args.len()))
                .label(call.span, self.what_is_wrong(dist, call));
            let known = |a: &ast::Arg| a.name.as_ref().is_some_and(|n| names.contains(&n.value.as_str()));
            // As many under other names: they are meant in this order.
            return self.fail(if call.args.len() == names.len() && !call.args.iter().any(known) {
                let values: Vec<String> = call.args.iter().map(|a| self.written(a.value.span)).collect();
                d.help(Help::from(format!("{}({})", dist.name, values.join(", "))).over(call.span))
            } else {
                d.help(format!("its arguments, in their order: `{}({})`", dist.name, names.join(", ")))
            });
        }
        self.exprs(&given)
    }

    /// The names that do not exist, or the number of arguments.
    fn what_is_wrong(&self, dist: &Distribution, call: &ast::Call) -> String {
        let unknown = call.args.iter().filter_map(|a| a.name.as_ref()).find(|n| dist.args.iter().all(|(a, _)| *a != n.value));
        match unknown {
            Some(n) => {
                let names: Vec<String> = dist.args.iter().map(|(n, _)| format!("`{n}`")).collect();
                format!("there is no argument `{}`; the arguments are {}", n.value, names.join(", "))
            }
            None => format!("{} given", call.args.len()),
        }
    }

    fn dist_argument(&mut self, dist: &Distribution, arg: &str, kind: ArgKind, value: &Expr) -> Checked<()> {
        let wrong = |what: &str, help: &str| {
            let d = Diagnostic::new("E0209", format!("`{arg}` of `{}` must be {what}", dist.name)).label(value.span, type_text(&value.ty));
            if help.is_empty() { d } else { d.help(help) }
        };
        let vector = as_vector(&value.ty);
        let d = match kind {
            // The components of a vector or matrix parameter share one scalar prior.
            ArgKind::Scalar(need) if value.ty.is_scalar_number() => {
                let scale = need.lo == 0.0 && need.hi == f64::INFINITY;
                let range = value.ty.range().unwrap_or(Range::ALL);
                if range.within(need) && !(scale && value.constant() == Some(0.0)) {
                    return Ok(());
                }
                self.outside_domain(dist, arg, need, value, range)
            }
            ArgKind::Scalar(_) => wrong("a number", ""),
            ArgKind::Trials if value.constant().is_some_and(|n| (1.0..=1e15).contains(&n) && n.fract() == 0.0) => return Ok(()),
            ArgKind::Trials => {
                wrong("a whole number known when the program is checked, at least 1", "binomial(10, p): the number of trials comes first")
            }
            ArgKind::Simplex if matches!(value.ty, Type::Simplex { .. }) => return Ok(()),
            ArgKind::Simplex => wrong("a vector of shares", "declare it with a dirichlet prior: param s ~ dirichlet([1, 1, 1])"),
            ArgKind::Vector if vector.is_some() => return Ok(()),
            ArgKind::Vector => wrong("a vector", ""),
            ArgKind::Ordered if vector.as_ref().is_some_and(|v| v.ordered) || rises(value) => return Ok(()),
            ArgKind::Ordered => wrong("increasing numbers", "").help(self.ordered_like(value, vector.map_or(1, |v| v.dim))),
            ArgKind::PositiveVector => match vector {
                Some(v) if v.range.lo > 0.0 => return Ok(()),
                Some(v) => Diagnostic::new("E0203", "prior counts must be above 0")
                    .label(value.span, format!("down to {}", plain(v.range.lo)))
                    .help("dirichlet([1, 1, 1])"),
                None => wrong("a vector of positive numbers", "dirichlet([1, 1, 1]) or dirichlet(rep(1, 3))"),
            },
            // Of a mixture, which has a checker of its own.
            ArgKind::Weights | ArgKind::Components => return Err(Stop),
            ArgKind::Matrix => {
                let square = match (&value.kind, &value.ty) {
                    (ExprKind::List(rows), _) => {
                        rows.iter().all(|r| as_vector(&r.ty).is_some_and(|v| v.dim == rows.len() as u64)) || rows.len() == 1
                    }
                    (_, Type::Matrix { rows, columns, .. }) => rows == columns,
                    _ => false,
                };
                if square && value.label == Label::Public {
                    return Ok(());
                }
                wrong("a public square matrix", "write its rows: [[1, 0], [0, 1]]")
            }
        };
        self.fail(d)
    }

    /// The declaration of cut points.
    fn ordered_like(&self, cuts: &Expr, dim: u64) -> Help {
        match cuts.kind {
            ExprKind::Param(p) if self.param(p).is_some() => {
                let (name, prior) = self.param(p).map_or((String::new(), cuts.span), |p| (p.name.clone(), p.prior.span));
                ("declare them so:", format!("param {name}: ordered[{dim}] ~ {}", self.written(prior))).into()
            }
            _ => ("declare them:", format!("param cuts: ordered[{dim}] ~ normal(0, 2)")).into(),
        }
    }

    fn outside_domain(&self, dist: &Distribution, arg: &str, need: Range, value: &Expr, range: Range) -> Diagnostic {
        let constant = value.constant();
        let must = if need.lo == 0.0 && need.hi == f64::INFINITY { "be above 0".into() } else { format!("lie in {}", range_text(need)) };
        let is = constant.map_or_else(|| format!("ranges over {}", range_text(range)), |x| format!("this is {}", plain(x)));
        let help: Help = if let Some(line) = self.beta_of_same_moments(value).filter(|_| need == Range::UNIT) {
            line
        } else if dist.name == "bernoulli" && value.label != Label::Public {
            let before = self.map.slice(Span { end: value.span.start, ..self.statement });
            let help = Help::from(("use the link:", format!("bernoulli_logit({})", self.written(value.span))));
            match before.rfind("bernoulli").filter(|_| self.statement.file == value.span.file) {
                Some(at) => {
                    let end = self.statement.start + (at + "bernoulli".len()) as u32;
                    help.edit(Span { start: end, end, ..self.statement }, "_logit")
                }
                None => help,
            }
        } else if constant.is_some() {
            within(need).into()
        } else {
            format!("declare or clip it into {}", range_text(need)).into()
        };
        let d = Diagnostic::new("E0203", format!("`{arg}` of `{}` is outside its domain", dist.name));
        self.label_prior(d.label(value.span, is).cause(format!("`{arg}` must {must}")).help(help), value)
    }

    /// Labels the prior of a parameter that stands alone as an argument.
    fn label_prior(&self, d: Diagnostic, value: &Expr) -> Diagnostic {
        match value.kind {
            ExprKind::Param(p) => match self.param(p) {
                Some(p) => d.label(p.prior.span, format!("the prior lets `{}` range over {}", p.name, type_text(&p.ty))),
                None => d,
            },
            _ => d,
        }
    }

    /// `param p ~ beta(..)` with the mean and sd of a normal prior, for a probability.
    fn beta_of_same_moments(&self, value: &Expr) -> Option<Help> {
        let ExprKind::Param(p) = value.kind else { return None };
        let p = self.param(p)?;
        let ("normal", [m, s]) = (p.prior.name(), p.prior.args.as_slice()) else { return None };
        let (m, s) = (m.constant()?, s.constant()?);
        let total = m * (1.0 - m) / (s * s) - 1.0;
        let tidy = |x: f64| plain((x * 1000.0).round() / 1000.0);
        let inside = 0.0 < m && m < 1.0 && total > 0.0 && total < 1e9;
        inside.then(|| {
            let prior = format!("param {} ~ beta({}, {})", p.name, tidy(m * total), tidy((1.0 - m) * total));
            ("a beta prior of the same mean and sd:", prior).into()
        })
    }

    /// Does the outcome of `observe` lie in the support of the likelihood?
    pub(super) fn outcome_fits(&mut self, outcome: &Expr, dist: &Distribution, args: &[Expr], call: Span) -> Checked<()> {
        let range = outcome.ty.range().unwrap_or(Range::ALL);
        let whole = matches!(outcome.ty, Type::Bool | Type::Int(_));
        let support = match dist.support {
            Support::Bool => Some((Range::UNIT, true)),
            Support::CountsToFirst => Some((Range::new(0.0, args.first().and_then(Expr::constant).unwrap_or(0.0)), true)),
            Support::Counts => Some((Range::new(0.0, f64::INFINITY), true)),
            Support::Real(r) => Some((r, false)),
            Support::BetweenArgs => {
                let lo = args.first().and_then(|a| a.ty.range()).map_or(f64::NEG_INFINITY, |r| r.hi);
                let hi = args.get(1).and_then(|a| a.ty.range()).map_or(f64::INFINITY, |r| r.lo);
                Some((Range::new(lo.min(hi), hi), false))
            }
            Support::Categories => return self.categories_fit(outcome, dist, args, call),
            Support::CountVector => return self.counts_fit(outcome, args, call),
            Support::RealVector => {
                let want = args.first().and_then(|m| as_vector(&m.ty)).map(|v| v.dim);
                return match as_vector(&outcome.ty).map(|v| v.dim) {
                    Some(d) if Some(d) == want => Ok(()),
                    Some(d) => self.fail(
                        Diagnostic::new("E0201", format!("{d} components observed, {} in the mean", want.unwrap_or(0)))
                            .label(outcome.span, format!("vector[{d}]"))
                            .label(call, format!("vector[{}]", want.unwrap_or(0))),
                    ),
                    None => self.does_not_fit(outcome, dist, "a vector", call),
                };
            }
            Support::Mixed => return Err(Stop),
            Support::Simplex => return self.does_not_fit(outcome, dist, "a parameter: `dirichlet` is a prior", call),
        };
        let Some((need, needs_whole)) = support else { return Err(Stop) };
        let scalar = outcome.ty.is_scalar_number();
        if scalar && needs_whole && !whole {
            return self.does_not_fit(outcome, dist, "a whole number: declare the column `int in ..` or `bool`", call);
        }
        // A column of reals or whole numbers without bounds is refused by the rules, with better words (E0202);
        // here only values that no clamping explains are refused.
        let unbounded = range.lo == f64::NEG_INFINITY || range.hi == f64::INFINITY;
        let bare_column = matches!(outcome.kind, ExprKind::Column(..));
        if !scalar || !(range.within(need) || (unbounded && bare_column && need.hi == f64::INFINITY)) {
            return self.does_not_fit(outcome, dist, &format!("within {}", range_text(need)), call);
        }
        Ok(())
    }

    fn does_not_fit<T>(&mut self, outcome: &Expr, dist: &Distribution, need: &str, call: Span) -> Checked<T> {
        let d = Diagnostic::new("E0203", format!("`{}` cannot follow `{}`", self.written(outcome.span), dist.name))
            .label(outcome.span, type_text(&outcome.ty))
            .label(call, format!("its values are {need}"));
        let d = self.label_column(d, outcome, "declared here");
        if let (Type::Vector(_), "normal") = (&outcome.ty, dist.name) {
            return self.fail(d.help("for a vector: `multi_normal(m, S)`, m its mean and S its covariance such as [[1, 0], [0, 1]]"));
        }
        self.fail(d.help("declare the column with the support of the likelihood, or choose another likelihood"))
    }

    fn categories_fit(&mut self, outcome: &Expr, dist: &Distribution, args: &[Expr], call: Span) -> Checked<()> {
        let levels = match &outcome.ty {
            Type::Category(l) => l.len() as u64,
            Type::Bool => 2,
            Type::Int(r) if r.is_finite() => (r.hi - r.lo + 1.0) as u64,
            _ => return self.does_not_fit(outcome, dist, "the levels of a category", call),
        };
        let given = categories(dist, args);
        if given == levels {
            return Ok(());
        }
        let Some(shares) = args.last() else { return Err(Stop) };
        self.level_mismatch(outcome, (dist, shares), given, levels, call)
    }

    /// E0201 exactly where the counts and the levels are written.
    fn level_mismatch(
        &mut self,
        outcome: &Expr,
        (dist, shares): (&Distribution, &Expr),
        given: u64,
        levels: u64,
        call: Span,
    ) -> Checked<()> {
        let outcome_text = self.written(outcome.span);
        let column = match outcome.kind {
            ExprKind::Column(t, c) => self.column(t, c).map(|c| (c.span, c.name.clone())),
            _ => None,
        };
        let prior = match shares.kind {
            ExprKind::Param(p) => self.param(p).map(|p| (p.prior.clone(), p.name.clone())),
            _ => None,
        };
        let name = column.as_ref().map_or(outcome_text.clone(), |(_, n)| n.clone());
        let d = match &prior {
            Some((prior, param)) if dist.args.len() == 1 && prior.args.len() == 1 => {
                let counts = prior.args.first().map_or(prior.span, |a| a.span);
                let fixed = match prior.args.first().map(|a| &a.kind) {
                    Some(ExprKind::List(items)) => {
                        let texts: Vec<String> = items.iter().map(|i| self.written(i.span)).collect();
                        let last = texts.last().cloned().unwrap_or_else(|| "1".into());
                        let mut texts: Vec<String> = texts.into_iter().take(levels.min(12) as usize).collect();
                        texts.resize(levels.min(12) as usize, last);
                        (levels <= 12).then(|| format!("dirichlet([{}])", texts.join(", ")))
                    }
                    _ => None,
                };
                let one = match prior.args.first().map(|a| &a.kind) {
                    Some(ExprKind::List(items)) => items.first().map_or("1".into(), |i| self.written(i.span)),
                    _ => "1".into(),
                };
                let rep = format!("rep({one}, levels({name}))");
                Diagnostic::new("E0201", format!("{given} prior counts for {levels} categories"))
                    .label(call, format!("needs one probability per level of `{name}`: {levels}"))
                    .label(counts, format!("this makes `{param}` a simplex[{given}]"))
                    .helps(match fixed {
                        Some(f) => {
                            vec![Help::from(("write", f)).over(prior.span), Help::from(("or", rep, "to follow the type")).over(counts)]
                        }
                        None => vec![Help::from(("write", format!("dirichlet({rep})"), "to follow the type")).over(prior.span)],
                    })
            }
            _ if dist.args.iter().any(|(_, kind)| *kind == ArgKind::Ordered) => {
                Diagnostic::new("E0201", format!("{} cut points for {levels} categories", given.saturating_sub(1)))
                    .label(call, format!("needs one cut point fewer than `{name}` has levels: {}", levels.saturating_sub(1)))
                    .label(shares.span, format!("{} components", given.saturating_sub(1)))
                    .help(self.ordered_like(shares, levels.saturating_sub(1)))
            }
            _ => Diagnostic::new("E0201", format!("{given} values for {levels} categories"))
                .label(call, format!("needs one value per level of `{name}`: {levels}"))
                .label(shares.span, format!("{given} components")),
        };
        let d = match column {
            Some((span, _)) => d.label(self.levels_span(span), format!("{levels} levels")),
            None => d,
        };
        self.fail(d)
    }

    /// The type part of a column's text: `category {a, b}` of `party: category {a, b}`.
    fn levels_span(&self, column: Span) -> Span {
        let text = self.map.slice(column);
        let colon = text.find(':').unwrap_or(0);
        match text.get(colon..).and_then(|t| t.find("category")).map(|at| colon.saturating_add(at)) {
            Some(at) => Span { start: column.start + at as u32, ..column },
            None => column,
        }
    }

    fn counts_fit(&mut self, outcome: &Expr, args: &[Expr], call: Span) -> Checked<()> {
        let Type::Counts { dim, total, fewer } = &outcome.ty else {
            let dist = crate::dist::find("multinomial").ok_or(Stop)?;
            return self.does_not_fit(outcome, dist, "counts[k] of N", call);
        };
        let n = args.first().and_then(Expr::constant).unwrap_or(0.0);
        let most = if *fewer { "at most " } else { "" };
        let given = args.get(1).and_then(|s| as_vector(&s.ty)).map_or(0, |v| v.dim);
        if n == *total as f64 && given == *dim {
            return Ok(());
        }
        self.fail(
            Diagnostic::new("E0201", format!("{dim} counts of {most}{total} against multinomial({n}, ..) over {given} shares"))
                .label(call, format!("{given} shares, {n} items"))
                .label(outcome.span, type_text(&outcome.ty))
                .help(format!("multinomial({total}, s) with {dim} shares")),
        )
    }
}

/// How many levels a law of levels has with these arguments.
pub(super) fn categories(dist: &Distribution, args: &[Expr]) -> u64 {
    dist.categories(args.iter().map(|e| as_vector(&e.ty).map_or(0, |v| v.dim)))
}

/// A list of constants, each above the one before it.
fn rises(e: &Expr) -> bool {
    let ExprKind::List(items) = &e.kind else { return false };
    let all: Option<Vec<f64>> = items.iter().map(Expr::constant).collect();
    all.is_some_and(|all| all.windows(2).all(|w| if let [a, b] = w { a < b } else { false }))
}

fn within(need: Range) -> String {
    match (need.lo, need.hi) {
        (0.0, f64::INFINITY) => "write a number above 0".into(),
        _ => format!("write a number in {}", range_text(need)),
    }
}
