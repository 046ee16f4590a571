//! The rules for draws once more: what a model must look like, and the claim that its numbers carry.

use super::claim::Claim;
use super::design::Design;
use super::draw::{Draw, Found, times};
use super::laws;
use super::real::Real;
use super::scope::{Scope, View};
use super::text::{Expr, Form, Row};
use super::ty::{Kind, Ty, num};

/// One rule: its name, the families of its prior, the laws of rows with the place of the parameter, the views it covers,
/// the law that is drawn from, and the claim.
struct Rule(&'static str, &'static [&'static str], &'static [(&'static str, usize)], &'static [View], &'static str, Formula);
type Formula = fn(&Draw) -> Found<Claim>;

const ALL: &[View] = &[View::Replace, View::AddRemove, View::Exchange, View::Crossing];
/// Rules that know what a row costs that leaves one group and enters another.
pub const CROSSING: [&str; 2] = ["beta_bernoulli", "dirichlet_categorical"];
const TWO: &[View] = &[View::Replace, View::AddRemove];
const ONE: &[View] = &[View::Replace];
const NORMALS: &[&str] = &["normal", "multi_normal"];

const RULES: [Rule; 10] = [
    Rule("beta_bernoulli", &["beta"], &[("bernoulli", 0), ("binomial", 1)], ALL, "beta", laws::bernoulli),
    Rule("beta_geometric", &["beta"], &[("geometric", 0), ("neg_binomial", 1)], TWO, "beta", laws::geometric),
    Rule("dirichlet_categorical", &["dirichlet"], &[("categorical", 0)], ALL, "dirichlet", laws::dirichlet),
    Rule("dirichlet_multinomial", &["dirichlet"], &[("multinomial", 1)], TWO, "dirichlet", laws::dirichlet),
    Rule("gamma_poisson", &["gamma"], &[("poisson", 0)], TWO, "gamma", laws::poisson),
    Rule("gamma_exponential", &["gamma"], &[("exponential", 0), ("gamma", 1)], TWO, "gamma", laws::exponential),
    Rule("normal_precision", &["gamma"], &[("normal", 1)], TWO, "gamma", laws::precision),
    Rule("normal_known_variance", &["normal"], &[("normal", 0)], ONE, "normal", laws::normal),
    Rule("mv_normal_known_covariance", NORMALS, &[("multi_normal", 0)], ONE, "multi_normal", laws::vector),
    Rule("linear_public_design", NORMALS, &[("normal", 0)], ONE, "multi_normal", laws::linear),
];

/// What a release says besides its form: rule, exact number of rows, public totals, parameters.
pub struct Given<'a> {
    pub rule: &'a str,
    pub exactly: Option<u64>,
    pub totals: &'a [Option<(u64, Vec<f64>)>],
    /// All rows of its table, where their features are public and known.
    pub design: Option<&'a Design>,
    pub number: &'a dyn Fn(&str) -> Option<f64>,
}

impl Given<'_> {
    pub fn weight(&self, name: &str) -> Found<Real> {
        (self.number)(name).map_or(Ok(Real::one()), |x| if x > 0.0 && x <= 1.0 { Ok(num(x)) } else { Err("a weight lies in (0, 1]") })
    }
}

/// The law a rule draws from.
pub fn sampler(rule: &str) -> Option<&'static str> {
    RULES.iter().find(|r| r.0 == rule).map(|r| r.4)
}

/// The claim of a draw.
pub fn draw(form: &Form, scope: &Scope, given: &Given) -> Found<Claim> {
    let Rule(_, families, laws, views, _, formula) = RULES.iter().find(|r| r.0 == given.rule).ok_or("no such rule")?;
    let times = times(&form.request)?;
    if !views.contains(&scope.view) {
        return Err("the rule does not cover how neighbours differ here");
    }
    let draw = model(form, scope, given, families, laws, "draw")?;
    Ok(formula(&draw)?.repeat(times))
}

/// A model whose prior is of these families and whose rows follow these laws, of which the parameter is asked.
pub fn model<'a>(
    form: &'a Form,
    scope: &'a Scope,
    given: &Given<'a>,
    families: &[&str],
    laws: &[(&str, usize)],
    word: &str,
) -> Found<Draw<'a>> {
    let [(parameter, prior @ Expr::Call(family, _), None)] = form.params.as_slice() else {
        return Err("the rule needs one uncut parameter");
    };
    let asked = matches!(&form.request, Expr::Call(f, _) if f.starts_with(word));
    if !asked || !form.request.args().first().is_some_and(|e| e.is_name(parameter)) || !families.contains(&family.as_str()) {
        return Err("the rule draws its parameter, with a prior of its family");
    }
    let fits = |row: &Row| {
        let Expr::Call(law, args) = &row.law else { return false };
        let Some((_, place)) = laws.iter().find(|(name, _)| name == law) else { return false };
        let mentions = |e: &Expr| e.any(&|e| e.is_name(parameter));
        // These check themselves what stands around the parameter.
        let counts = given.rule.starts_with("refined_") && matches!(law.as_str(), "poisson_log" | "poisson" | "neg_binomial_2");
        let wrapped = matches!(given.rule, "normal_precision" | "linear_public_design") || (family == "gamma" && law == "normal") || counts;
        let stepwise = given.rule.starts_with("refined_") && matches!(law.as_str(), "normal" | "bernoulli_probit" | "bernoulli_cloglog");
        let around = stepwise || (given.rule == "noise_aware" && law == "normal") || law.ends_with("_logit");
        let regression = |e: &Expr| around && matches!(e, Expr::Call(f, _) if f == "dot" || (f == "*" && law == "categorical_logit"));
        let argument = |(i, e): (usize, &Expr)| if i == *place { wrapped || e.is_name(parameter) || regression(e) } else { !mentions(e) };
        args.iter().enumerate().all(argument) && args.len() > *place && !mentions(&row.outcome)
    };
    let (public, private): (Vec<&Row>, Vec<&Row>) = form.rows.iter().partition(|o| o.public);
    if private.is_empty() || public.len() != given.totals.len() || !form.rows.iter().all(fits) {
        return Err("rows do not follow the laws of the rule, or public totals are missing");
    }
    let (r, m, k) = (given.weight("r")?, given.weight("m")?, Real::int(scope.unit));
    Ok(Draw { scope, exactly: given.exactly, parameter, prior, private, public, totals: given.totals, design: given.design, r, m, k })
}

/// A mean of values in [0, 1] answered by a beta draw a component (section 1.4).
pub fn beta_query(averaged: &Expr, scope: &Scope, given: &Given) -> Found<Claim> {
    let unit = |t: &Ty| matches!(t.kind, Kind::Number | Kind::Vector) && t.lo >= 0.0 && t.hi <= 1.0;
    let Some(components) = scope.row(averaged).filter(|t| scope.view == View::Replace && unit(t)).map(|t| t.dim) else {
        return Err("the averaged value does not lie in [0, 1]");
    };
    let m = given.weight("m")?;
    let count = |name| (given.number)(name).filter(|x| *x > 0.0).map(|x| num(x) / &m).ok_or("prior counts are positive");
    Ok(laws::beta(count("a")?, count("b")?, &given.weight("r")?, false, scope).repeat(components))
}

/// The claim of noise on an aggregate, or of a choice by it (section 8.7).
pub fn query(e: &Expr, scope: &Scope, given: &Given) -> Found<Claim> {
    let positive = |name: &str, what: fn(f64) -> Real| {
        (given.number)(name).filter(|x| *x > 0.0).map(what).ok_or("a parameter is not a positive number")
    };
    let noisy = |norm: usize, scale: Real| {
        let components = Real::int(scope.dim(e).unwrap_or(1)) * Real::int(scope.unit);
        let moved = scope.moves(e).into_iter().nth(norm).filter(Real::known).ok_or("the sensitivity is infinite")?;
        Ok((moved + components * scope.slack(e, &scale)) / scale)
    };
    match (given.rule, e) {
        ("laplace", _) => noisy(0, positive("scale", num)?).map(Claim::Laplace),
        ("gaussian", _) => noisy(1, positive("sigma", num)?).map(Claim::Gdp),
        ("geometric", _) if scope.grid(e).is_some_and(|e| e >= 0) => noisy(0, positive("scale", num)?).map(Claim::Pure),
        ("exponential", Expr::Call(f, args)) if f == "quantile" && args.first().is_some_and(|a| scope.row(a).is_some()) => {
            let level = |q: &Expr| scope.public(q).and_then(|t| t.range()).is_some_and(|q| q.0 == q.1 && q.0 >= 0.0 && q.1 <= 1.0);
            let levels = match args.get(1) {
                Some(Expr::Call(list, all)) if list == "[]" => all.as_slice(),
                _ => args.get(1..).unwrap_or_default(),
            };
            if levels.is_empty() || !levels.iter().all(level) {
                return Err("a level of the quantile is not a constant");
            }
            Ok(Claim::Range(positive("eps", Real::decimal)?).repeat(levels.len() as u64))
        }
        ("beta_query", Expr::Call(f, args)) => match (f.as_str(), args.as_slice()) {
            ("mean", [x]) => beta_query(x, scope, given),
            ("/", [Expr::Call(s, x), Expr::Name(n)]) if s == "sum" && scope.counts.contains(n) => {
                beta_query(x.first().ok_or("no value")?, scope, given)
            }
            _ => Err("the query is not a mean"),
        },
        _ => Err("the mechanism does not answer this query"),
    }
}
