//! The rules of the rule book once more: from a normal form, ranges and numbers of rows to the claim it can carry.

use super::curve::{Claim, Pair};
use super::real::Real;
use super::text::{Expr, Form, Observation};
use super::types::{Label, Norms, Rows, Scope, Ty, View};

/// One private table.
#[derive(Clone)]
pub struct Table {
    pub name: String,
    pub replace: bool,
    pub unit: u64,
    pub least: u64,
    pub exactly: Option<u64>,
}

/// Everything a claim depends on besides the normal form.
pub struct Case<'a> {
    pub rule: &'a str,
    pub scope: &'a Scope,
    pub table: &'a Table,
    /// Sums over public rows, one entry a public observation; `None` where unbound.
    pub totals: &'a [Option<(u64, Vec<f64>)>],
    pub number: &'a dyn Fn(&str) -> Option<f64>,
    /// Is the view that of the whole table, or one that groups of a private key need?
    pub view: View,
}

type Found<T> = Result<T, String>;

fn no<T>(why: &str) -> Found<T> {
    Err(why.to_owned())
}
fn num(x: f64) -> Real {
    Real::new(x)
}
fn shapes(family: &'static str, moves: Vec<(Real, Real)>) -> Claim {
    Claim::Renyi(vec![Pair::Shapes { family, moves, total: None }])
}
fn is_name(e: Option<&Expr>, name: &str) -> bool {
    matches!(e, Some(Expr::Name(n)) if n == name)
}

impl Case<'_> {
    /// The claim in this view.
    pub fn claim(&self, form: &Form) -> Found<Claim> {
        match form {
            Form::Query(e) => self.query(e),
            Form::Model { params, rows, request } => {
                let [p] = params.as_slice() else { return no("the rule needs one parameter") };
                let (drawn, times) = match request {
                    Expr::Call(f, args) if f == "draw" => (args.clone(), Some(1.0)),
                    Expr::Call(f, args) if f == "draws" => match args.split_last() {
                        Some((Expr::Number(n), list)) => (list.to_vec(), Some(*n)),
                        _ => return no("the number of draws is unreadable"),
                    },
                    _ => return no("only draws are covered"),
                };
                let times = times.filter(|t| *t >= 1.0 && t.fract() == 0.0).ok_or("the number of draws is no number")?;
                if !is_name(drawn.first(), &p.name) || drawn.len() != 1 || p.cut {
                    return no("the rule needs one draw of the one uncut parameter");
                }
                let (public, private): (Vec<_>, Vec<_>) = rows.iter().partition(|o| o.public);
                if private.is_empty() || public.len() != self.totals.len() {
                    return no("private rows or public totals are missing");
                }
                for o in &private {
                    let mine = format!("{}.", self.table.name);
                    let foreign = |e: &Expr| matches!(e, Expr::Name(n) if self.scope.names.get(n).is_some_and(|t| t.1 == Label::Row) && !n.starts_with(&mine));
                    if self.scope.any(&o.outcome, &foreign) || self.scope.of(&o.outcome).1 != Label::Row {
                        return no("the outcome is not a value of a private row of the table");
                    }
                }
                Ok(self.model(&p.name, &p.prior.family, &p.prior.args, &private, &public)?.repeat(times as u64))
            }
        }
    }

    fn weight(&self) -> Found<(Real, Real)> {
        let read = |name| {
            let x = (self.number)(name).unwrap_or(1.0);
            if x > 0.0 && x <= 1.0 { Ok(num(x)) } else { no("a weight lies in (0, 1]") }
        };
        Ok((read("r")?, read("m")?))
    }
    fn public(&self, e: Option<&Expr>) -> Found<(f64, f64)> {
        let (ty, label) = self.scope.of(e.ok_or("an argument is missing")?);
        match ty.number() {
            Some(r) if label == Label::Public => Ok(r),
            _ => no("an argument is no public number"),
        }
    }
    fn positive(&self, e: Option<&Expr>) -> Found<(f64, f64)> {
        self.public(e).and_then(|r| if r.0 > 0.0 { Ok(r) } else { no("an argument may vanish") })
    }
    fn outcome(&self, o: &Observation, lo: f64, hi: f64) -> Found<(f64, f64)> {
        match self.scope.of(&o.outcome).0.number() {
            Some(r) if r.0.is_finite() && r.1.is_finite() && lo <= r.0 && r.1 <= hi => Ok(r),
            _ => no("the outcome is not a number in the support of its likelihood"),
        }
    }
    fn least_rows(&self) -> u64 {
        self.table.exactly.unwrap_or(self.table.least).max(1)
    }
    fn fewest(&self) -> u64 {
        self.least_rows().max(self.table.unit)
    }
    fn unit(&self) -> Real {
        Real::int(self.table.unit)
    }
    fn bound(&self) -> bool {
        self.totals.iter().all(Option::is_some)
    }
    fn public_rows(&self) -> Real {
        Real::int(self.totals.iter().flatten().map(|t| t.0).sum())
    }
    fn public_sum(&self, index: usize) -> Real {
        let sums = self.totals.iter().flatten().filter_map(|t| t.1.get(index));
        sums.fold(Real::zero(), |s, x| s + num(*x))
    }
    /// `Max(replaced, added)` where a rule covers exchanges.
    fn viewed(&self, replaced: Claim, added: Claim) -> Found<Claim> {
        Ok(match self.view {
            View::Replace => replaced,
            View::AddRemove => added,
            View::Exchange => Claim::Max(vec![replaced, added]),
        })
    }

    fn model(&self, p: &str, prior: &str, args: &[Expr], private: &[&Observation], public: &[&Observation]) -> Found<Claim> {
        let all = || private.iter().chain(public);
        let likelihood = |o: &Observation, family: &str, at: usize| o.dist.family == family && is_name(o.dist.args.get(at), p);
        let one = || match private {
            [one] => Ok(*one),
            _ => no("the rule takes one observed column"),
        };
        let wants =
            |family: &str, arity: usize| if prior == family && args.len() == arity { Ok(()) } else { no("the prior is of another family") };
        let (r, m) = self.weight()?;
        let k = self.unit();
        if self.view == View::Exchange && !matches!(self.rule, "beta_bernoulli" | "dirichlet_categorical") {
            return no("rows that leave one group and enter another are not covered");
        }
        match self.rule {
            "beta_bernoulli" => {
                wants("beta", 2)?;
                let trials = |o: &Observation| match o.dist.family.as_str() {
                    "bernoulli" if likelihood(o, "bernoulli", 0) => Ok(1.0),
                    "binomial" if likelihood(o, "binomial", 1) => {
                        let n = self.public(o.dist.args.first())?;
                        if n.0 == n.1 && n.0 >= 1.0 && n.0.fract() == 0.0 { Ok(n.0) } else { no("the number of trials is no constant") }
                    }
                    _ => no("rows must be bernoulli or binomial"),
                };
                let mut each = 0.0;
                for o in private {
                    self.outcome(o, 0.0, trials(o)?)?;
                    each += trials(o)?;
                }
                let (mut a, mut b) = (num(self.positive(args.first())?.0), num(self.positive(args.get(1))?.0));
                for (o, t) in public.iter().zip(self.totals) {
                    let n = trials(o)?;
                    if let Some((rows, sums)) = t {
                        let s = num(sums.first().copied().unwrap_or(0.0)).max(&Real::zero());
                        b = b + (num(n) * Real::int(*rows) - &s).max(&Real::zero());
                        a = a + s;
                    }
                }
                self.beta(a / &m, b / &m, &r, each)
            }
            "beta_geometric" => {
                wants("beta", 2)?;
                let successes = |o: &Observation| match o.dist.family.as_str() {
                    "geometric" if likelihood(o, "geometric", 0) => Ok(1.0),
                    "neg_binomial" if likelihood(o, "neg_binomial", 1) => {
                        let n = self.positive(o.dist.args.first())?;
                        if n.0 == n.1 { Ok(n.0) } else { no("the number of successes is no constant") }
                    }
                    _ => no("rows must be geometric or negative binomial"),
                };
                let (lo, hi) = self.outcome(one()?, 0.0, f64::INFINITY)?;
                let per_row = num(successes(one()?)?);
                let mut gained = Real::zero();
                for (o, t) in public.iter().zip(self.totals) {
                    gained = gained + num(successes(o)?) * Real::int(t.as_ref().map_or(0, |t| t.0));
                }
                let ((a, a_hi), (b, b_hi)) = (self.positive(args.first())?, self.positive(args.get(1))?);
                let sum = self.public_sum(0);
                let base = (num(b) + &sum) / &m;
                if self.view == View::AddRemove {
                    let first = ((num(a) + &gained) / &m, &r * &k * per_row);
                    return Ok(shapes("beta", vec![first, (base, &r * &k * num(hi))]));
                }
                let step = &r * &k * (num(hi) - num(lo));
                let fixed = self.table.exactly.filter(|_| self.bound()).map(|n| {
                    let rows = &r * &Real::int(n);
                    let a = (num(a_hi) + &gained) / &m + &rows * &per_row;
                    (a + (num(b_hi) + &sum) / &m + rows * num(lo), step.clone())
                });
                let rows = &r * &Real::int(self.least_rows()) * num(lo);
                Ok(Claim::Renyi(vec![Pair::Shapes { family: "beta", moves: vec![(base + rows, step)], total: fixed }]))
            }
            "dirichlet_categorical" | "dirichlet_multinomial" => {
                wants("dirichlet", 1)?;
                let categorical = self.rule == "dirichlet_categorical";
                let (dim, items) = match self.scope.of(&one()?.outcome).0 {
                    Ty::Category(n) if categorical => (n, 1),
                    Ty::Num { lo, hi, whole: true } if categorical && (hi - lo).is_finite() => ((hi - lo) as u64 + 1, 1),
                    Ty::Counts { dim, total } if !categorical => (dim, total as u64),
                    _ => return no("the outcome has no levels"),
                };
                for o in all() {
                    let items_of = |o: &Observation| self.public(o.dist.args.first()).is_ok_and(|n| n == (items as f64, items as f64));
                    if !(if categorical { likelihood(o, "categorical", 0) } else { likelihood(o, "multinomial", 1) && items_of(o) }) {
                        return no("rows must be draws from the shares");
                    }
                }
                self.dirichlet(args, dim, items, &r, &m)
            }
            "gamma_poisson" => {
                wants("gamma", 2)?;
                if !all().all(|o| likelihood(o, "poisson", 0)) {
                    return no("rows must be poisson");
                }
                let (lo, hi) = self.outcome(one()?, 0.0, f64::INFINITY)?;
                let ((a, a_hi), (b, _)) = (self.positive(args.first())?, self.positive(args.get(1))?);
                let shape = (num(a) + self.public_sum(0)) / &m;
                if self.view == View::Replace {
                    let base = shape + &r * &Real::int(self.least_rows()) * num(lo);
                    return Ok(shapes("gamma", vec![(base, &r * &k * (num(hi) - num(lo)))]));
                }
                let rate = (num(b) + self.public_rows()) / &m;
                let unbound = public.iter().zip(self.totals).filter(|(_, t)| t.is_none());
                let mean = unbound.fold(hi, |m, (o, _)| m.max(self.scope.of(&o.outcome).0.range().map_or(f64::INFINITY, |r| r.1)));
                let ratio = ((num(a_hi) + self.public_sum(0)) / &m / &rate).max(&num(mean));
                Ok(both_move(shape, rate, ratio, &r * &k * num(hi), r * k))
            }
            "gamma_exponential" | "normal_precision" => {
                wants("gamma", 2)?;
                let exponential = self.rule == "gamma_exponential";
                let each = if exponential { Real::one() } else { Real::ratio(1, 2) };
                if !all().all(|o| {
                    if exponential { likelihood(o, "exponential", 0) } else { deviation(o, p) && self.public(o.dist.args.first()).is_ok() }
                }) {
                    return no("rows must be exponential, or normal with the precision that is drawn");
                }
                let o = one()?;
                let (lo, hi) = if exponential {
                    let (lo, hi) = self.outcome(o, 0.0, f64::INFINITY)?;
                    (num(lo), num(hi))
                } else {
                    let (y, mean) = (self.outcome(o, f64::NEG_INFINITY, f64::INFINITY)?, self.public(o.dist.args.first())?);
                    let (low, high) = (num(y.0) - num(mean.1), num(y.1) - num(mean.0));
                    let least = low.max(&-&high).max(&Real::zero());
                    let most = high.max(&-&low);
                    (least.square() / Real::int(2), most.square() / Real::int(2))
                };
                let ((a, a_hi), (b, _)) = (self.positive(args.first())?, self.positive(args.get(1))?);
                let public = &each * &self.public_rows();
                let high = (num(a_hi) + &public) / &m;
                let rate = (num(b) + if exponential { self.public_sum(0) } else { self.public_sum(0) / Real::int(2) }) / &m;
                if !self.bound() || (!lo.positive() && (self.view != View::Replace || self.table.exactly.is_none())) {
                    return no("the rule needs bound public rows, and the exact number of rows where one may add nothing");
                }
                if self.view == View::AddRemove {
                    let ratio = (&high / &rate).max(&(&each / &lo));
                    return Ok(both_move((num(a) + public) / &m, rate, ratio, &r * &k * each, r * k * hi));
                }
                let n = Real::int(self.least_rows());
                let rate = rate + &r * &n * &lo;
                let mut shape = high + &r * &each * n;
                if self.table.exactly.is_none() {
                    shape = shape.max(&(&each / &lo * &rate));
                }
                Ok(Claim::Renyi(vec![Pair::Rate { shape, rate, step: r * k * (hi - lo) }]))
            }
            "normal_known_variance" | "mv_normal_known_covariance" | "linear_public_design" if self.view != View::Replace => {
                no("the rule needs a public number of rows")
            }
            "normal_known_variance" => {
                wants("normal", 2)?;
                if !all().all(|o| likelihood(o, "normal", 0)) {
                    return no("rows must be normal around the parameter");
                }
                let (lo, hi) = self.outcome(one()?, f64::NEG_INFINITY, f64::INFINITY)?;
                let sd = |o: &Observation| self.positive(o.dist.args.get(1));
                let mut precision = Real::one() / num(self.positive(args.get(1))?.1).square();
                self.public(args.first())?;
                for (o, t) in public.iter().zip(self.totals) {
                    let rows = Real::int(t.as_ref().map_or(0, |t| t.0));
                    precision = precision + rows / num(sd(o)?.1).square();
                }
                let variance = num(sd(one()?)?.0).square();
                let below = variance.square() * precision / m + &r * &Real::int(self.fewest()) * variance;
                Ok(Claim::Gdp(r * k * (num(hi) - num(lo)) / below.sqrt()))
            }
            "mv_normal_known_covariance" => {
                let s = one()?.dist.args.get(1);
                if !all().all(|o| likelihood(o, "multi_normal", 0) && o.dist.args.get(1) == s) {
                    return no("rows must be multi_normal of one covariance");
                }
                let Ty::Vector(v) = self.scope.of(&one()?.outcome).0 else { return no("the outcome must be a vector") };
                let known = matrix(s).ok_or("the covariance is no constant matrix")?;
                let own = self.vector_prior(prior, args)?;
                let rows = &r * &Real::int(self.fewest()) + self.public_rows() / &m;
                let at = |s: f64, v: f64| num(s).square() / (num(v) * &m) + &rows * &num(s);
                let size = known.len();
                let lambda = match (&own, diagonal(&known)) {
                    (Prior::Matrix(v), Some(s)) if diagonal(v).is_some() => {
                        s.iter().zip(diagonal(v).unwrap_or_default()).fold(Real::UNKNOWN, |l, (s, v)| l.min(&at(*s, v)))
                    }
                    (Prior::Scalar(v), Some(s)) => s.iter().fold(Real::UNKNOWN, |l, s| l.min(&at(*s, *v))),
                    _ => at(eigenvalues(&known).0, own.largest()),
                };
                if size as u64 != v.dim || !v.diam[1].is_finite() {
                    return no("the outcome does not fit its covariance");
                }
                Ok(Claim::Gdp(r * k * num(v.diam[1]) / lambda.sqrt()))
            }
            "linear_public_design" => {
                let o = one()?;
                let x = match o.dist.args.first() {
                    Some(Expr::Call(f, args)) if f == "dot" && o.dist.family == "normal" && public.is_empty() => match args.as_slice() {
                        [w, x] | [x, w] if is_name(Some(w), p) => x,
                        _ => return no("rows must be normal around dot(w, x)"),
                    },
                    _ => return no("rows must be normal around dot(w, x)"),
                };
                let private = |e: &Expr| matches!(e, Expr::Name(n) if self.scope.names.contains_key(n) && n.contains('.') && !self.scope.public_columns.contains(n));
                let (Ty::Vector(v), false) = (self.scope.of(x).0, self.scope.any(x, &private)) else {
                    return no("the features are not public");
                };
                let (lo, hi) = self.outcome(o, f64::NEG_INFINITY, f64::INFINITY)?;
                let variance = num(self.positive(o.dist.args.get(1))?.0).square();
                let q = num(v.sup[1]).square() * num(self.vector_prior(prior, args)?.largest()) * m;
                let below = variance.square() / (&k * &q) + &r * &variance;
                Ok(Claim::Gdp(((r * (num(hi) - num(lo))).square() * k / below).sqrt()))
            }
            _ => no("no such rule"),
        }
    }

    /// Section 1: prior counts a and b with public rows, over m.
    fn beta(&self, a: Real, b: Real, r: &Real, trials: f64) -> Found<Claim> {
        let (u, v) = (a.min(&b), a.max(&b));
        let w = r * &num(trials);
        let step = &w * &self.unit();
        let base = v + w * Real::int(self.fewest());
        let added = shapes("beta", vec![(u.clone(), step.clone())]);
        self.viewed(shapes("beta", vec![(u, step.clone()), (base, -&step)]), added)
    }

    /// Section 2: up to `items` items a row.
    fn dirichlet(&self, args: &[Expr], dim: u64, items: u64, r: &Real, m: &Real) -> Found<Claim> {
        let list: Vec<(f64, f64)> = match args.first() {
            Some(Expr::List(items)) => items.iter().map(|e| self.positive(Some(e))).collect::<Found<_>>()?,
            Some(Expr::Call(f, of)) if f == "rep" => vec![self.positive(of.first())?; dim as usize],
            Some(e) => match self.scope.of(e) {
                (ty, Label::Public) => vec![ty.range().filter(|r| r.0 > 0.0).ok_or("a prior count may vanish")?; dim as usize],
                _ => return no("the prior's counts are not public"),
            },
            None => return no("the prior has no counts"),
        };
        if list.len() as u64 != dim || dim < 2 {
            return no("the prior has another number of counts");
        }
        let mut counts: Vec<Real> = list.iter().enumerate().map(|(i, a)| (num(a.0) + self.public_sum(i).max(&Real::zero())) / m).collect();
        counts.sort_by(|a, b| a.about().total_cmp(&b.about()));
        let moved = items.saturating_mul(self.table.unit);
        counts.truncate(usize::try_from(moved.saturating_add(2)).unwrap_or(usize::MAX));
        let step = r * &Real::int(moved);
        let others = |rows: u64| r * &Real::int(items) * Real::int(rows);
        let (Some(a), Some(b)) = (counts.first().cloned(), counts.get(1).cloned()) else { return no("too few counts") };
        let added = shapes("dirichlet", vec![(a.clone(), step.clone())]);
        let two = |b: Real| shapes("dirichlet", vec![(a.clone(), step.clone()), (b, -&step)]);
        let replaced = if dim == 2 {
            two(b + others(self.fewest()))
        } else if moved == 1 {
            two(b + &step)
        } else {
            let mut base = others(self.fewest() - self.table.unit);
            if counts.len() as u64 >= moved.saturating_add(2) {
                counts.pop();
                base = Real::zero();
            }
            if (counts.len() as u64).saturating_mul(moved) > 256 {
                base = Real::zero();
            }
            Claim::Renyi(vec![Pair::Spread { counts, base, items: moved, weight: r.clone() }])
        };
        self.viewed(replaced, added)
    }

    fn vector_prior(&self, family: &str, args: &[Expr]) -> Found<Prior> {
        match family {
            "normal" => {
                let sd = self.positive(args.get(1))?.1;
                Ok(Prior::Scalar(sd * sd))
            }
            "multi_normal" => matrix(args.get(1)).map(Prior::Matrix).ok_or_else(|| "the prior's covariance is no constant matrix".into()),
            _ => no("the prior is not normal"),
        }
    }

    fn query(&self, e: &Expr) -> Found<Claim> {
        let rows = Rows { view: self.view, unit: self.table.unit, least: self.least_rows() as f64 };
        let positive =
            |name: &str| (self.number)(name).filter(|x| *x > 0.0).map(num).ok_or_else(|| format!("`{name}` is no positive number"));
        let sensitivity = |at: usize| -> Found<Real> {
            let moved: Norms = self.scope.sensitivity(e, rows);
            moved.get(at).filter(|x| x.is_finite()).map(|x| num(*x)).ok_or_else(|| "the sensitivity is infinite".into())
        };
        match (self.rule, e) {
            ("laplace", _) => Ok(Claim::Laplace(sensitivity(0)? / positive("scale")?)),
            ("gaussian", _) => Ok(Claim::Gdp(sensitivity(1)? / positive("sigma")?)),
            ("geometric", _) if self.whole(e) => Ok(Claim::Pure(sensitivity(0)? / positive("scale")?)),
            ("geometric", _) => no("the answer is no integer"),
            ("exponential", Expr::Call(f, args)) if f == "quantile" && args.first().is_some_and(|a| self.scope.of(a).1 == Label::Row) => {
                let q = self.public(args.get(1))?;
                if q.0 == q.1 { Ok(Claim::Range(positive("eps")?)) } else { no("the level of the quantile is no constant") }
            }
            ("beta_query", Expr::Call(f, args)) if self.view == View::Replace => {
                let averaged = match (f.as_str(), args.as_slice()) {
                    ("mean", [x]) => x,
                    ("/", [Expr::Call(s, x), Expr::Name(n)]) if s == "sum" && self.scope.counts.contains(n) => {
                        x.first().ok_or("no value")?
                    }
                    _ => return no("the query is no mean"),
                };
                match self.scope.of(averaged) {
                    (Ty::Num { lo, hi, .. }, Label::Row) if lo >= 0.0 && hi <= 1.0 => {}
                    _ => return no("the averaged value does not lie in [0, 1]"),
                }
                let (r, m) = self.weight()?;
                self.beta(positive("a")? / &m, positive("b")? / &m, &r, 1.0)
            }
            _ => no("the mechanism does not answer this query"),
        }
    }

    /// Is the answer an integer whatever the data are?
    fn whole(&self, e: &Expr) -> bool {
        match e {
            Expr::Call(f, _) if f == "count" || f == "histogram" => true,
            Expr::Call(f, args) if f == "sum" => {
                args.iter().all(|a| matches!(self.scope.of(a).0, Ty::Num { whole: true, .. } | Ty::Counts { .. }))
            }
            Expr::Call(f, args) if matches!(f.as_str(), "+" | "-" | "neg" | "*") => args.iter().all(|a| self.whole(a)),
            e => {
                self.scope.of(e).0.constant().is_some_and(|x| x.fract() == 0.0)
                    || matches!(e, Expr::Name(n) if self.scope.counts.contains(n))
            }
        }
    }
}

enum Prior {
    Scalar(f64),
    Matrix(Vec<Vec<f64>>),
}
impl Prior {
    fn largest(&self) -> f64 {
        match self {
            Prior::Scalar(v) => *v,
            Prior::Matrix(m) => eigenvalues(m).1,
        }
    }
}

/// A shape and a rate that move together (section 1.6 for Gamma posteriors).
fn both_move(shape: Real, rate: Real, ratio: Real, dshape: Real, drate: Real) -> Claim {
    let widest = ratio * (&rate + &drate);
    let second = Claim::Renyi(vec![Pair::Rate { shape: widest, rate, step: drate }]);
    Claim::Product(vec![shapes("gamma", vec![(shape, dshape)]), second])
}

/// `1 / sqrt(tau)`, `sqrt(1 / tau)` or `tau ^ -0.5` as the standard deviation.
fn deviation(o: &Observation, tau: &str) -> bool {
    let call = |e: &Expr, name: &str| match e {
        Expr::Call(f, args) if f == name => args.clone(),
        _ => vec![],
    };
    let inner = |e: &Expr, f: &str, g: &str| match (call(e, f).as_slice(), g) {
        ([one, t], "sqrt") => *one == Expr::Number(1.0) && matches!(call(t, g).as_slice(), [t] if is_name(Some(t), tau)),
        ([x], "/") => matches!(call(x, g).as_slice(), [one, t] if *one == Expr::Number(1.0) && is_name(Some(t), tau)),
        ([t, h], "") => is_name(Some(t), tau) && *h == Expr::Number(-0.5),
        _ => false,
    };
    let sd = o.dist.args.get(1);
    o.dist.family == "normal" && sd.is_some_and(|sd| inner(sd, "/", "sqrt") || inner(sd, "sqrt", "/") || inner(sd, "^", ""))
}

fn matrix(e: Option<&Expr>) -> Option<Vec<Vec<f64>>> {
    let Some(Expr::List(rows)) = e else { return None };
    let number = |e: &Expr| if let Expr::Number(x) = e { Some(*x) } else { None };
    let row = |e: &Expr| if let Expr::List(items) = e { items.iter().map(number).collect::<Option<Vec<f64>>>() } else { None };
    let m = rows.iter().map(row).collect::<Option<Vec<_>>>()?;
    let at = |i: usize, j: usize| m.get(i).and_then(|r| r.get(j));
    let square = m.iter().all(|r| r.len() == m.len());
    (square && (0..m.len()).all(|i| (0..i).all(|j| at(i, j) == at(j, i)))).then_some(m)
}
fn diagonal(m: &[Vec<f64>]) -> Option<Vec<f64>> {
    let flat = m.iter().enumerate().all(|(i, r)| r.iter().enumerate().all(|(j, x)| i == j || *x == 0.0));
    flat.then(|| m.iter().enumerate().filter_map(|(i, r)| r.get(i).copied()).collect())
}

/// The least and the largest eigenvalue of a symmetric matrix, by power iteration in doubles, each moved inwards by 1e-11.
fn eigenvalues(m: &[Vec<f64>]) -> (f64, f64) {
    let size = m.iter().map(|r| r.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    let top = |sign: f64, shift: f64| {
        let mut v: Vec<f64> = (1..=m.len()).map(|i| 1.0 + 0.618 * (i as f64).sin()).collect();
        let mut value = 0.0;
        for _ in 0..20_000 {
            let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter_mut().for_each(|x| *x /= norm);
            let w: Vec<f64> = m.iter().zip(&v).map(|(r, x)| shift * x + sign * r.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>()).collect();
            value = w.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>();
            v = w;
        }
        sign * (value - shift)
    };
    let inwards = 1e-11 * size;
    (top(-1.0, size) + inwards, top(1.0, size) - inwards)
}
