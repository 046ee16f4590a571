//! The claims of regressions once more: slope of the loss times norm of the features over the prior (sections 4.1 to 4.3).

use super::claim::Claim;
use super::draw::{Found, times};
use super::real::Real;
use super::rules::Given;
use super::scope::{Scope, View};
use super::special::normal_cdf;
use super::text::{Expr, Form};
use super::ty::{Kind, Ty, num, root};

pub const RULES: [&str; 2] = ["lipschitz_glm", "glm_on_ball"];

/// One weight or vector of weights in the predictor.
struct Block<'a> {
    name: &'a str,
    /// Largest norm of its features; of a number every value, as stored; of a vector or matrix, how many there are.
    norm: Real,
    values: Real,
    dim: Option<u64>,
    /// Are they columns that neighbours keep?
    public: bool,
    /// One of the weights counts in a row, the one of its level.
    picks: bool,
}

struct Reader<'a> {
    form: &'a Form,
    scope: &'a Scope,
    blocks: Vec<Block<'a>>,
    /// What is added and contains no weight, as stored, and its size, and whether neighbours keep it.
    offsets: Vec<(Real, Real, bool)>,
}

/// Every value between two ends, each up to a 2^20th part nearer to 0.
fn stored(ty: &Ty, factor: &Real) -> Real {
    let all = num(ty.lo).hull(&num(ty.hi)) * factor;
    all.hull(&(&all * &num(1.0 - 1.0 / f64::from(1 << 20))))
}

fn size(x: &Real) -> Real {
    x.max(&-x)
}

const LINEAR: Found<()> = Err("the predictor is not linear");

impl<'a> Reader<'a> {
    fn parameter(&self, e: &'a Expr) -> Option<&'a str> {
        self.form.params.iter().find(|p| e.is_name(&p.0)).map(|p| p.0.as_str())
    }

    /// A weight times a constant, and that.
    fn multiple(&self, e: &'a Expr) -> Option<(&'a str, Real)> {
        if let Some(name) = self.parameter(e) {
            return Some((name, Real::one()));
        }
        let constant = |e: &Expr| self.value(e).filter(|t| t.lo == t.hi && t.lo != 0.0 && !self.latent(e)).map(|t| num(t.lo));
        let Expr::Call(f, args) = e else { return None };
        match (f.as_str(), args.as_slice()) {
            ("neg", [a]) => self.multiple(a).map(|(w, times)| (w, -&times)),
            ("*", [a, b]) => {
                let (weight, other) = if self.latent(a) { (a, b) } else { (b, a) };
                self.multiple(weight).zip(constant(other)).map(|((w, times), x)| (w, &times * &x))
            }
            ("/", [a, b]) => self.multiple(a).zip(constant(b)).map(|((w, times), x)| (w, &times / &x)),
            _ => None,
        }
    }

    fn latent(&self, e: &Expr) -> bool {
        e.any(&|e| self.form.params.iter().any(|p| e.is_name(&p.0)))
    }

    fn value(&self, e: &Expr) -> Option<Ty> {
        let column = |e: &Expr| if let Expr::Name(n) = e { self.scope.columns.get(n).and_then(|c| Ty::parse(&c.0)) } else { None };
        self.scope.row(e).or_else(|| column(e)).or_else(|| self.scope.public(e))
    }

    fn kept(&self, e: &Expr) -> bool {
        !e.any(&|e| matches!(e, Expr::Name(n) if self.scope.columns.get(n).is_some_and(|c| !c.1)))
    }

    fn read(&mut self, e: &'a Expr, factor: &Real) -> Found<()> {
        if let Some(name) = self.parameter(e) {
            let values =
                if factor.le(&Real::one()) && Real::one().le(factor) { Real::one() } else { stored(&Ty::number(1.0, 1.0, false), factor) };
            self.blocks.push(Block { name, norm: size(factor), values, dim: None, public: true, picks: true });
            return Ok(());
        }
        if !self.latent(e) {
            let ty = self.value(e).ok_or("an offset has no type")?;
            self.offsets.push((stored(&ty, factor), num(ty.lo.abs().max(ty.hi.abs())) * size(factor), self.kept(e)));
            return Ok(());
        }
        let Expr::Call(f, args) = e else { return LINEAR };
        match (f.as_str(), args.as_slice()) {
            ("neg", [a]) => self.read(a, &-factor),
            ("+", [a, b]) => self.read(a, factor).and_then(|()| self.read(b, factor)),
            ("-", [a, b]) => self.read(a, factor).and_then(|()| self.read(b, &-factor)),
            ("/", [a, Expr::Number(x)]) if *x != 0.0 => self.read(a, &(factor / &num(*x))),
            ("index", [a, level]) => {
                let levels = self.value(level).filter(|t| t.kind == Kind::Levels).ok_or("the index is not a category")?;
                let name = self.parameter(a).ok_or("only weights are indexed")?;
                let public = self.kept(level);
                self.blocks.push(Block { name, norm: size(factor), values: Real::UNKNOWN, dim: Some(levels.dim), public, picks: true });
                Ok(())
            }
            ("*" | "dot", [a, b]) => {
                let (weights, other) = if self.latent(a) { (a, b) } else { (b, a) };
                if self.latent(other) {
                    return LINEAR;
                }
                let ty = self.value(other).ok_or("a feature has no type")?;
                match self.multiple(weights) {
                    Some((name, times)) => {
                        let factor = factor * &times;
                        let norm = &ty.sup[1] * &size(&factor);
                        let dim = (ty.kind == Kind::Vector).then_some(ty.dim);
                        let values = stored(&ty, &factor);
                        self.blocks.push(Block { name, norm, values, dim, public: self.kept(other), picks: false });
                        Ok(())
                    }
                    None if ty.lo == ty.hi => self.read(weights, &(factor * &num(ty.lo))),
                    None => LINEAR,
                }
            }
            _ => LINEAR,
        }
    }
}

/// The largest part of the predictor that a block can make, given the set its weights are cut to.
fn reach(block: &Block, domain: &str) -> Found<Real> {
    let ty = Ty::parse(domain).filter(|t| t.lo.is_finite() && t.hi.is_finite()).ok_or("a weight is unbounded")?;
    let largest = num(ty.lo.abs().max(ty.hi.abs()));
    // A ball is smaller than its box; a level or an intercept picks one weight.
    let ball = ty.kind == Kind::Vector && ty.sup[1].above() < (&largest * &root(ty.dim)).above() * (1.0 - 1e-12);
    let one = block.picks || block.dim.is_none();
    Ok(match (ball, one) {
        (true, _) => &ty.sup[1] * &block.norm,
        (_, true) => largest * &block.norm,
        (false, false) => largest * root(block.dim.unwrap_or(1)) * &block.norm,
    })
}

/// Where a block's part of the predictor lies.
fn part(block: &Block, domain: &str) -> Found<Real> {
    match Ty::parse(domain).filter(|_| block.dim.is_none() && block.values.known()) {
        Some(w) => Ok(num(w.lo).hull(&num(w.hi)) * &block.values),
        None => reach(block, domain).map(|r| r.hull(&-&r)),
    }
}

/// `phi(t) / Phi(-t)`
fn hazard(t: &Real) -> Real {
    let tau = num(std::f64::consts::TAU).hull(&num(std::f64::consts::TAU.next_up()));
    (-&(t.square() / Real::int(2))).exp() / tau.sqrt() / normal_cdf(&-t)
}

/// The least second derivative of a row's loss in its predictor, whatever the outcome (section 4.4).
fn flattest(law: &str, t: &Real, trials: &Real, variance: &Real) -> Real {
    let ([low, high], one) = (t.ends(), Real::one());
    let far = high.max(&-&low);
    // Of an outcome 1: q (u + q - 1), least at an end; far out it is nothing.
    let chance = |t: &Real| {
        let u = t.exp();
        let q = &u / &(u.exp() - Real::one());
        if u.le(&Real::int(1000)) { &q * &(&u + &q - Real::one()) } else { Real::zero() }
    };
    let least = match law {
        _ if !far.le(&Real::int(50)) => Real::zero(),
        "bernoulli_logit" | "binomial_logit" => {
            let tail = (-&far).exp();
            trials * &tail / (&one + &tail).square()
        }
        "bernoulli_probit" => {
            let h = hazard(&-&far);
            &h * &(&h + &far)
        }
        "bernoulli_cloglog" => low.exp().min(&chance(&low)).min(&chance(&high)),
        "poisson_log" => low.exp(),
        "normal" => one / variance,
        _ => Real::zero(),
    };
    if least.known() { least } else { Real::zero() }
}

/// The claim of a draw from a regression; one that is `ideal` needs no public n.
pub fn draw(form: &Form, scope: &Scope, given: &Given, ideal: bool) -> Found<Claim> {
    let added = scope.view == View::AddRemove && ideal;
    let [row] = form.rows.as_slice() else { return Err("the rule takes one observed column") };
    if scope.view != View::Replace && !added {
        return Err("the chain needs a public n");
    }
    let times = times(&form.request)?;
    let Expr::Call(law, args) = &row.law else { return Err("the rows have no law") };
    let place = usize::from(law == "binomial_logit");
    let predictor = args.get(place).ok_or("the law has no predictor")?;
    let mut reader = Reader { form, scope, blocks: vec![], offsets: vec![] };
    reader.read(predictor, &Real::one())?;
    let others = args.iter().enumerate().any(|(i, e)| i != place && reader.latent(e)) || reader.latent(&row.outcome);
    let (blocks, offsets) = (std::mem::take(&mut reader.blocks), std::mem::take(&mut reader.offsets));
    let once = |name: &str| blocks.iter().filter(|b| b.name == name).count() == 1;
    if row.public || others || !form.params.iter().all(|p| once(&p.0)) {
        return Err("every weight stands once, in the predictor alone");
    }
    let (mut squares, mut most): (Real, Found<Real>) = (Real::zero(), Ok(Real::zero()));
    let (mut known_sds, mut least_sd) = (true, Real::zero());
    let mut predictor = offsets.iter().fold(Real::zero(), |sum, o| sum + &o.0);
    for block in &blocks {
        let Some((_, Expr::Call(family, prior), domain)) = form.params.iter().find(|p| p.0 == block.name) else {
            return Err("a weight has no prior");
        };
        let sd = prior.get(1).and_then(|e| scope.public(e)).and_then(|t| t.range()).filter(|r| r.0 > 0.0);
        let (true, Some(sd)) = (family == "normal", sd) else { return Err("the prior of a weight is not normal") };
        (known_sds, least_sd) = (known_sds && sd.0 == sd.1, num(sd.0));
        squares = squares + (num(sd.1) * &block.norm).square();
        let domain = domain.as_deref().unwrap_or_default();
        most = most.and_then(|m: Real| Ok(m + reach(block, domain)?));
        predictor = part(block, domain).map_or(Real::UNKNOWN, |t| predictor + t);
    }
    if offsets.iter().any(|o| !o.1.known()) || (!offsets.is_empty() && law == "categorical_logit") {
        return Err("an offset is unbounded");
    }
    most = most.map(|m| offsets.iter().fold(m, |sum, o| sum + &o.1));
    let (lo, hi) = reader.value(&row.outcome).map_or((f64::NEG_INFINITY, f64::INFINITY), |t| (t.lo, t.hi));
    let constant = |i: usize| args.get(i).and_then(|e| scope.public(e)).filter(|t| t.lo == t.hi && t.lo > 0.0).map(|t| num(t.lo));
    let trials = if law == "binomial_logit" { constant(0).ok_or("a number of trials is not a constant")? } else { Real::one() };
    let variance = || Ok::<Real, &str>(constant(1).ok_or("an sd is not a constant")?.square());
    let (two, width) = (Real::int(2), num(hi) - num(lo));
    // How far a row moves the slope: both slopes apart, or the outcome alone.
    let (slope, label) = if given.rule == "glm_on_ball" {
        let t = most?;
        if !t.le(&Real::int(50)) {
            return Err("the predictor is unbounded");
        }
        let [_, high] = predictor.ends();
        let [_, far] = size(&predictor).ends();
        match law.as_str() {
            "bernoulli_logit" | "binomial_logit" => (&trials / &(Real::one() + (-&t).exp()), trials.clone()),
            "categorical_logit" => (root(2), root(2)),
            "bernoulli_probit" => (hazard(&t), hazard(&far) + hazard(&-&far)),
            "bernoulli_cloglog" => {
                let u = high.exp();
                let apart = if u.le(&Real::int(1000)) { &u / &(Real::one() - (-&u).exp()) } else { u.clone() };
                (t.exp().max(&Real::one()), apart)
            }
            "poisson_log" if lo >= 0.0 => (t.exp().max(&num(hi)), width),
            "normal" => {
                // Outcomes are stored in 32 bits: each moves by less than 2^-23 of its magnitude, or 2^-149 of the smallest.
                let size = num(lo.abs().max(hi.abs()));
                let stored = &size * &num(f64::from(f32::EPSILON)) + num(libm::ldexp(1.0, -149));
                ((&size + &t) / variance()?, (width + stored) / variance()?)
            }
            _ => return Err("the law is not of the rule"),
        }
    } else {
        match law.as_str() {
            "bernoulli_logit" | "binomial_logit" => (trials.clone(), trials.clone()),
            "categorical_logit" => (root(2), root(2)),
            _ => return Err("the slope of the loss is unbounded"),
        }
    };
    let mut moved = if added { slope } else { &two * &slope };
    // One weight and one feature: section 4.2.
    if added || !offsets.is_empty() {
    } else if let ([Block { dim: None | Some(1), .. }], true) = (blocks.as_slice(), law.ends_with("_logit") && law != "categorical_logit") {
        moved = moved.min(&(&trials * &num(1.0517)));
    }
    if !added && blocks.iter().all(|b| b.public) && offsets.iter().all(|o| o.2) {
        moved = moved.min(&label);
    }
    let (r, m) = (given.weight("r")? * given.weight("weight")?, given.weight("m")?);
    // Features times sds are kept in 32 bits: rows count where those that their curvature rests on are neither cut off nor lost.
    let (norm, root) = (squares.sqrt(), m.sqrt());
    let kept = |size: &Real| norm.le(&num(1e30)) && num(1e-30).le(&(size * &root));
    // A single weight, n public: every row adds its least curvature to that of the prior.
    let rows = match blocks.as_slice() {
        [block] if !added && block.dim.is_none() && given.rule == "glm_on_ball" => {
            let [low, high] = block.values.ends();
            let least = low.max(&-&high).max(&Real::zero());
            let sd = squares.clone() / block.norm.square();
            let variance = constant(1).map_or(Real::UNKNOWN, |sd| sd.square());
            let rows = if kept(&(&least * &least_sd)) { scope.least.max(1) } else { 0 };
            Real::int(rows) * least.square() * sd * flattest(law, &predictor, &trials, &variance)
        }
        _ => Real::zero(),
    };
    let rows = match given.design {
        Some(design) if !added && given.rule == "glm_on_ball" && kept(&norm) => {
            // In units of prior sds that are numbers, of as many features as there are weights.
            let dim = blocks.iter().map(|b| b.dim.unwrap_or(1)).fold(0, u64::saturating_add);
            if !blocks.iter().all(|b| b.public) || !known_sds || dim != design.dim {
                return Err("the design is not that of the weights");
            }
            let variance = constant(1).map_or(Real::UNKNOWN, |sd| sd.square());
            rows.max(&(design.stored_least(&squares.sqrt()) * flattest(law, &predictor, &trials, &variance)))
        }
        _ => rows,
    };
    let spread = &m / &(Real::one() + &r * &rows * &m);
    let mu = Real::int(scope.unit) * r * moved * squares.sqrt() * spread.sqrt();
    if mu.known() { Ok(Claim::Gdp(mu).repeat(times)) } else { Err("the cost is unbounded") }
}
