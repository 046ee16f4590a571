//! Whole posteriors once more (sections 9, 10 and 15): what one unit does to the counts, and the claims of their noise.

use super::claim::Claim;
use super::draw::{Draw, Found, times};
use super::hellinger::worst_loss;
use super::real::Real;
use super::rules::{Given, model};
use super::scope::{Scope, View};
use super::text::{Expr, Form};
use super::ty::{Kind, num};

pub const RULES: [&str; 10] =
    ["noise_aware", "plug_in", "ls_hist", "ls_dim", "ehds", "ehd", "score_statistics", "refined", "refined_posterior", "refined_draws"];
const LOGISTIC: [(&str, usize); 2] = [("bernoulli_logit", 0), ("binomial_logit", 1)];
const COUNTED: [&str; 3] = ["poisson_log", "poisson", "neg_binomial_2"];
const STEPWISE: [(&str, usize); 9] = [
    ("normal", 0),
    ("categorical_logit", 0),
    ("bernoulli_logit", 0),
    ("binomial_logit", 1),
    ("bernoulli_probit", 0),
    ("bernoulli_cloglog", 0),
    ("poisson_log", 0),
    ("poisson", 0),
    ("neg_binomial_2", 0),
];
/// Of a gamma prior: the second argument is a precision.
const RATES: [(&str, usize); 4] = [("poisson", 0), ("exponential", 0), ("gamma", 1), ("normal", 1)];
const LAWS: [(&str, usize); 8] = [
    ("bernoulli", 0),
    ("binomial", 1),
    ("geometric", 0),
    ("neg_binomial", 1),
    ("categorical", 0),
    ("multinomial", 1),
    ("multi_normal", 0),
    ("normal", 0),
];

/// The parameters of a mechanism, and what it draws from.
pub fn parameters(rule: &str, has: &dyn Fn(&str) -> bool) -> Option<(&'static str, Vec<&'static str>)> {
    let calibrated = if has("calibrated") { vec!["calibrated"] } else { vec![] };
    Some(match (rule, has("rho")) {
        ("noise_aware", true) if has("sigma_products") => ("discrete_gaussian", vec!["rho", "sigma", "sigma_products"]),
        ("noise_aware", true) if has("sigma_rows") => ("discrete_gaussian", vec!["rho", "sigma", "sigma_rows"]),
        ("noise_aware", false) if has("scale_rows") => ("two_sided_geometric", vec!["eps", "scale", "scale_rows"]),
        ("noise_aware" | "plug_in", true) => ("discrete_gaussian", vec!["rho", "sigma"]),
        ("noise_aware" | "plug_in", false) => ("two_sided_geometric", vec!["eps", "scale"]),
        ("ls_hist" | "ls_dim", _) => ("floor_laplace", vec!["eps", "scale"]),
        ("ehds", _) => ("finite_weights", [vec!["eps", "gamma"], calibrated].concat()),
        ("ehd", _) => ("finite_weights", [vec!["eps"], calibrated].concat()),
        ("refined", _) => ("langevin", vec!["sigma", "sigma_products", "mu"]),
        ("refined_posterior" | "refined_draws", _) => ("rounded_normal", vec!["sigma", "sigma_products", "mu"]),
        ("score_statistics", _) => ("rounded_normal", vec!["sigma", "sigma_products"]),
        _ => return None,
    })
}

/// Places of the counts (1 for a rate) and the items that one row holds at most.
fn counts(d: &Draw, family: &str) -> Found<(u64, u64)> {
    let row = d.one()?;
    let ty = d.scope.row(&row.outcome).ok_or("the outcome is not a value of a row")?;
    let Expr::Call(law, _) = &row.law else { return Err("rows have no law") };
    let most = |law: &str| if matches!(law, "binomial" | "multinomial") { d.constant(row) } else { Ok(1.0) };
    if !d
        .private
        .iter()
        .chain(&d.public)
        .all(|o| matches!(&o.law, Expr::Call(l, _) if l == law) && (o.law.args().len() < 2 || d.constant(o) == d.constant(row)))
    {
        return Err("rows follow several laws");
    }
    let whole = |most: f64| ty.kind == Kind::Number && ty.whole && ty.lo >= 0.0 && ty.hi <= most;
    match (family, law.as_str()) {
        ("beta", "bernoulli" | "binomial") if whole(most(law)?) => Ok((2, most(law)? as u64)),
        ("gamma", "poisson") | ("beta", "geometric" | "neg_binomial") if whole(1e15) => Ok((1, (ty.hi as u64).max(1))),
        ("dirichlet", "categorical") => ty.levels().map(|k| (k, 1)).ok_or("the outcome has no levels"),
        ("dirichlet", "multinomial") if ty.kind == Kind::Counts && ty.hi == most(law)? => Ok((ty.dim, ty.hi as u64)),
        _ => Err("rows do not follow the laws of the rule with whole numbers"),
    }
}

/// Holds the argument of a law to its loss over all neighbouring counts, computed here once more.
fn calibrated(d: &Draw, given: &Given, places: u64, items: u64) -> Found<()> {
    let exact = |e: &Expr| d.positive(Some(e)).ok().filter(|r| r.0 == r.1).map(|r| r.0);
    let alpha: Option<Vec<f64>> = match d.prior.args() {
        [Expr::Call(f, list)] if f == "[]" => list.iter().map(exact).collect(),
        [a, b] => [a, b].into_iter().map(exact).collect(),
        [e] => match d.scope.public(e) {
            Some(t) if t.kind == Kind::Vector && t.dim == places && t.lo == t.hi && places < 1 << 20 => Some(vec![t.lo; places as usize]),
            _ => None,
        },
        _ => None,
    };
    let alpha = alpha.filter(|a| a.len() as u64 == places).ok_or("the prior counts are not numbers")?;
    let rows = d.exactly.filter(|_| d.public.is_empty()).ok_or("the number of rows is not exact, or there are public rows")?;
    let positive = |name: &str| (given.number)(name).filter(|x| *x > 0.0 && x.is_finite()).ok_or("a parameter is not a positive number");
    let (eps, argument) = (positive("eps")?, positive("calibrated")?);
    let gamma = if given.rule == "ehds" { Some(positive("gamma")?) } else { None };
    let loss = worst_loss(&alpha, rows.saturating_mul(items), argument, gamma).ok_or("its law is too large to be computed again")?;
    // At eps itself the loss is bounded by the theorem.
    if Real::new(loss).le(&Real::decimal(eps)) || argument <= eps { Ok(()) } else { Err("the worst loss of its law is above eps") }
}

/// How far one unit moves the sum of the outcomes of normal means, of waiting times or of squared deviations (section 15).
fn sum_moved(d: &Draw, family: &str) -> Found<Real> {
    let unit = Real::int(d.scope.unit);
    let law = |name: &str| d.private.iter().chain(&d.public).all(|o| matches!(&o.law, Expr::Call(l, _) if l == name));
    if law("multi_normal") {
        super::laws::vector(d)?;
        return d.scope.row(&d.one()?.outcome).map(|t| &t.row_norms().1[1] * &unit).ok_or("the outcome is not a value of a row");
    }
    if family == "gamma" {
        // Of deviations and of waiting times the sums are others.
        if !law("normal") && d.private.iter().chain(&d.public).any(|o| matches!(&o.law, Expr::Call(l, _) if l == "normal")) {
            return Err("rows have several laws");
        }
        d.argument(0)?;
        d.argument(1)?;
        let [lo, hi] = if law("normal") { super::laws::deviations(d)? } else { super::laws::waiting(d)?.1 };
        return Ok((hi - lo) * unit);
    }
    let (lo, hi) = d.outcome(d.one()?, f64::NEG_INFINITY, f64::INFINITY)?;
    d.public_range(d.prior.args().first())?;
    d.argument(1)?;
    for row in d.private.iter().chain(&d.public) {
        let Expr::Call(law, _) = &row.law else { return Err("rows have no law") };
        if law != "normal" || !row.law.args().first().is_some_and(|e| e.is_name(d.parameter)) {
            return Err("rows of a normal mean must be normal");
        }
        d.positive(row.law.args().get(1))?;
    }
    Ok((num(hi) - num(lo)) * unit)
}

/// How far one unit moves the sums of `x x'` (i <= j) and of `x y` of a regression, squared, and the number of features (section 15).
fn moments_moved(d: &Draw) -> Found<(Real, Real, u64)> {
    let o = d.one()?;
    d.positive(o.law.args().get(1))?;
    d.prior_variance()?;
    let (lo, hi) = d.outcome(o, f64::NEG_INFINITY, f64::INFINITY)?;
    let x = d.features()?;
    let features = d.scope.row(x).or_else(|| d.scope.public(x)).ok_or("the features are not a vector")?;
    let square = d.feature_norm()?.square();
    let unit = Real::int(d.scope.unit).square();
    let sums = Real::int(4) * &square * num(lo.abs().max(hi.abs())).square() * &unit;
    Ok((Real::int(2) * square.square() * &unit, sums, features.dim))
}

/// The mu of noisy scores beside noisy products of features, where neighbours replace rows (section 20).
pub fn scores_moved(form: &Form, scope: &Scope, given: &Given, word: &str) -> Found<Real> {
    let laws = if given.rule.starts_with("refined_") { &STEPWISE[..] } else { &LOGISTIC };
    let d = model(form, scope, given, &["normal", "multi_normal"], laws, word)?;
    let o = d.one()?;
    let linear = matches!(&o.law, Expr::Call(law, _) if law == "normal");
    let sd = |name: &str| (given.number)(name).filter(|x| *x > 0.0).map(num).ok_or("a parameter is not a positive number");
    // The largest score in size: that of y, of y - N / 2, of y - 5 / 8, or of log(y + 1/2) less what is added to the predictor.
    let mut norm = d.feature_norm();
    let most = if matches!(&o.law, Expr::Call(law, _) if law == "categorical_logit") {
        let levels = Real::int(
            d.scope.row(&o.outcome).filter(|t| t.kind == Kind::Levels && t.dim > 1).map(|t| t.dim).ok_or("the outcome has no levels")?,
        );
        (&levels * (&levels - &Real::one())).sqrt()
    } else if matches!(&o.law, Expr::Call(law, _) if COUNTED.contains(&law.as_str())) {
        let ((x, least, most), (lo, hi)) = (d.rate()?, d.outcome(o, 0.0, 1e15)?);
        norm = d.norm(x);
        let log = |x: f64| (num(x) + Real::ratio(1, 2)).ln();
        let (low, high) = (log(lo) - most, log(hi) - least);
        high.max(&-&high).max(&low.max(&-&low))
    } else if linear {
        d.positive(o.law.args().get(1))?;
        d.outcome(o, f64::NEG_INFINITY, f64::INFINITY).map(|(lo, hi)| num(lo.abs().max(hi.abs())))?
    } else {
        let trials = if matches!(&o.law, Expr::Call(law, _) if law == "binomial_logit") { d.constant(o)? } else { 1.0 };
        let part = if matches!(&o.law, Expr::Call(law, _) if law == "bernoulli_cloglog") { Real::ratio(5, 8) } else { Real::ratio(1, 2) };
        d.outcome(o, 0.0, trials).map(|_| num(trials) * part)?
    };
    d.prior_variance()?;
    if scope.view != View::Replace {
        return Err("the rule does not cover how neighbours differ here");
    }
    let (square, two) = (norm?.square(), Real::int(2));
    let a = (most / sd("sigma")?).square() * &square;
    let b = (square / sd("sigma_products")?).square();
    let both = &two * &a + &two * &b + a.square() / (&two * &b);
    let squared = if (&two * &b).le(&a) { Real::int(4) * a } else { both };
    Ok(squared.sqrt() * Real::int(scope.unit))
}

/// The claim of a posterior released whole; `mu` is what a chain or steps may spend beside the scores.
pub fn claim(form: &Form, scope: &Scope, given: &Given) -> Found<Claim> {
    if given.rule.starts_with("refined") {
        let drawn = (given.number)("mu").filter(|x| *x > 0.0).map(num).ok_or("a parameter is not a positive number")?;
        let word = if given.rule == "refined_posterior" { "posterior" } else { "draw" };
        if given.rule == "refined" && times(&form.request)? != 1 {
            return Err("the rule makes one draw");
        }
        let both = scores_moved(form, scope, given, word)?.square() + (drawn * Real::int(scope.unit)).square();
        return Ok(Claim::Gdp(both.sqrt()));
    }
    if given.rule == "score_statistics" {
        return scores_moved(form, scope, given, "posterior").map(Claim::Gdp);
    }
    let families = if matches!(given.rule, "noise_aware" | "plug_in") {
        &["beta", "dirichlet", "gamma", "normal", "multi_normal"][..]
    } else {
        &["beta", "dirichlet"][..]
    };
    let rate = matches!(form.params.as_slice(), [(_, Expr::Call(f, _), _)] if f == "gamma");
    let d = model(form, scope, given, families, if rate { &RATES[..] } else { &LAWS[..] }, "posterior")?;
    let Expr::Call(family, _) = d.prior else { return Err("no prior") };
    if (given.number)("sigma_products").is_some() {
        let positive = |name: &str| (given.number)(name).filter(|x| *x > 0.0).map(num).ok_or("a parameter is not a positive number");
        let (rho, sums, products) = (positive("rho")?, positive("sigma")?, positive("sigma_products")?);
        if given.rule != "noise_aware" || scope.view != View::Replace {
            return Err("the rule does not cover how neighbours differ here");
        }
        let (a, b, dim) = moments_moved(&d)?;
        // Equal parts of the cost, up to what rounding and printing add.
        let part = if dim == 1 { Real::ratio(1, 2) } else { Real::ratio(25, 32) };
        for (sigma, moved) in [(&products, &a), (&sums, &b)] {
            let exact = moved * &part / &rho;
            if !(&exact * &num(1.0 - 1e-9)).le(&sigma.square()) || !sigma.square().le(&(&exact * &num(1.0 + 1e-9))) {
                return Err("the size of the noise does not follow from the loss");
            }
        }
        // With one feature both are at their worst together nowhere: the sums alone decide. With more, the largest value of
        // `a + b / 2 + p b / 2 - p^2 a` over p, the inner product of the two rows.
        let (a, b) = (a / products.square(), b / sums.square());
        let most = if dim == 1 { b.max(&a) } else { &a + &b / &Real::int(2) + b.square() / (Real::int(16) * &a) };
        return Ok(Claim::Zcdp(most / Real::int(2)));
    }
    let poisson = matches!(&d.one()?.law, Expr::Call(l, _) if l == "poisson");
    let summed = matches!(family.as_str(), "normal" | "multi_normal") || (rate && !poisson);
    let vectors = matches!(&d.one()?.law, Expr::Call(l, _) if l == "multi_normal");
    if vectors && ((given.number)("rho").is_none() || given.rule != "noise_aware") {
        return Err("the rule adds normal noise to a sum of vectors");
    }
    let sum = if summed { Some(sum_moved(&d, family)?) } else { None };
    let (places, items) = if sum.is_some() { (1, 1) } else { counts(&d, family)? };
    if places == 1 && !matches!(given.rule, "noise_aware" | "plug_in") {
        return Err("the rule takes counts");
    }
    let public = scope.view == View::Replace && !scope.exchanged;
    // Counts, or a sum of Poisson or normal rows beside their number: their posterior may have a secret size.
    let sizeless = given.rule == "noise_aware" && if sum.is_none() { places > 1 || family == "gamma" } else { family == "normal" };
    if !public && (!sizeless || scope.view == View::Crossing) {
        return Err("the rule does not cover how neighbours differ here");
    }
    let (secret_rate, secret_mean) = (!public && family == "gamma", !public && family == "normal");
    let moved = sum.unwrap_or(Real::int(items) * Real::int(scope.unit));
    let number = |name: &str| (given.number)(name).filter(|x| *x > 0.0).ok_or("a parameter is not a positive number");
    let positive = |name: &str| number(name).map(num);
    // A loss is a decimal.
    let decimal = |name: &str| number(name).map(Real::decimal);
    // A number that follows from another, up to what rounding and printing add.
    let follows = |stated: &Real, exact: &Real| {
        let (low, high) = (exact * &num(1.0 - 1e-9), exact * &num(1.0 + 1e-9));
        if low.le(stated) && stated.le(&high) { Ok(()) } else { Err("the size of the noise does not follow from the loss") }
    };
    // eps itself where the scale was rounded up, so that no quotient is rounded once more.
    let loss = |eps: &Real, scale: &Real, size: &Real| if size.le(&(scale * eps)) { eps.clone() } else { size / scale };
    if secret_rate {
        // Half of the cost for the sum, half for the number of rows.
        let unit = Real::int(scope.unit);
        if (given.number)("rho").is_some() {
            let (rho, sigma, rows) = (positive("rho")?, positive("sigma")?, positive("sigma_rows")?);
            follows(&sigma.square(), &(moved.square() / &rho))?;
            follows(&rows.square(), &(unit.square() / &rho))?;
            return Ok(Claim::Zcdp((moved.square() / sigma.square() + unit.square() / rows.square()) / Real::int(2)));
        }
        let (half, scale, rows) = (decimal("eps")? / Real::int(2), positive("scale")?, positive("scale_rows")?);
        follows(&scale, &(&moved / &half))?;
        follows(&rows, &(&unit / &half))?;
        return Ok(Claim::Pure(loss(&half, &scale, &moved) + loss(&half, &rows, &unit)));
    }
    if secret_mean {
        // A quarter of what replaced rows lie apart, squared; half of the cost for each number, of one that enters or leaves.
        let (half, unit) = (moved.square() / Real::int(4), Real::int(scope.unit).square());
        let (rho, sum, rows) = (positive("rho")?, positive("sigma")?.square(), positive("sigma_rows")?.square());
        let entering = if scope.exchanged { &rho / &Real::int(2) } else { rho };
        follows(&sum, &(&half / &entering))?;
        follows(&rows, &(&unit / &entering))?;
        let entered = (&half / &sum + unit / rows) / Real::int(2);
        return Ok(Claim::Zcdp(if scope.view == View::AddRemove {
            entered
        } else {
            (half * Real::int(2) / sum).max(&(entered * Real::int(2)))
        }));
    }
    let one = Real::one();
    let twice = if places > 2 || scope.exchanged { Real::int(2) } else { one.clone() };
    // What the noise is made for, and what of it a unit moves that only enters or leaves.
    let (made_for, part) = match scope.view {
        View::AddRemove if scope.exchanged => (twice.clone(), Real::ratio(1, 2)),
        View::AddRemove => (one.clone(), one),
        _ => (twice.clone(), one),
    };
    match given.rule {
        "ls_hist" | "ls_dim" => {
            let (eps, scale) = (decimal("eps")?, positive("scale")?);
            let factor = if given.rule == "ls_hist" { twice.clone() } else { Real::int(places) };
            let size = &factor * &moved;
            follows(&scale, &(&size / &eps))?;
            Ok(Claim::Pure(loss(&eps, &scale, &size) * twice / factor))
        }
        "ehd" | "ehds" => {
            if given.rule == "ehds" {
                positive("gamma")?;
            }
            if (given.number)("calibrated").is_some() {
                calibrated(&d, given, places, items)?;
                return Ok(Claim::Pure(decimal("eps")? * moved));
            }
            Ok(Claim::Range(decimal("eps")? * moved))
        }
        // Added or removed, or with a public sum of two, one unit only enters or moves one count.
        _ if (given.number)("rho").is_some() => {
            let (rho, sigma) = (positive("rho")?, positive("sigma")?);
            let square = moved.square() * made_for;
            follows(&sigma.square(), &(&square / &(Real::int(2) * &rho)))?;
            Ok(Claim::Zcdp(square * part / (Real::int(2) * sigma.square())))
        }
        _ => {
            let (eps, scale) = (decimal("eps")?, positive("scale")?);
            let l1 = moved * made_for;
            follows(&scale, &(&l1 / &eps))?;
            Ok(Claim::Pure(loss(&eps, &scale, &l1) * part))
        }
    }
}
