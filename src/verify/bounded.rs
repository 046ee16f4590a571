//! The claims of bounded losses once more: the range of the beta-divergence loss, ideal draws, penalty chains (sections 5, 12).

use super::claim::Claim;
use super::draw::Found;
use super::draw::times;
use super::pair::Pair;
use super::real::Real;
use super::rules::Given;
use super::scope::{Scope, View};
use super::special::{ln_gamma, normal_cdf, two_pi};
use super::text::{Expr, Form, Row};
use super::ty::{Kind, Ty, num};

pub const RULES: [&str; 5] = ["beta_div", "penalty", "dp_hmc", "dp_sgld", "ops"];

/// How large the density of a law can be.
enum Most {
    /// True or false: the least of the two probabilities, from the ends of the argument.
    Either(fn(f64, f64) -> Real),
    /// A probability.
    One,
    /// At scale 1, from the ends of the shape; then where the scale (never 0) stands, whether it is one over it, and the shape.
    Peak(fn(f64, f64) -> Real, usize, bool, Option<usize>),
    Unknown,
}

const LINE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const HALF: (f64, f64) = (0.0, f64::INFINITY);

/// Laws of the language with the ends of their values.
static LAWS: [(&str, (f64, f64), Most); 28] = [
    ("bernoulli", LINE, Most::Either(|lo, hi| num(lo).min(&(Real::one() - num(hi))))),
    ("bernoulli_logit", LINE, Most::Either(|lo, hi| Real::one() / (Real::one() + size(lo, hi).exp()))),
    ("bernoulli_probit", LINE, Most::Either(|lo, hi| Some(-&size(lo, hi)).filter(Real::known).map_or(Real::UNKNOWN, |x| normal_cdf(&x)))),
    ("bernoulli_cloglog", LINE, Most::One),
    ("binomial", LINE, Most::One),
    ("binomial_logit", LINE, Most::One),
    ("geometric", LINE, Most::One),
    ("neg_binomial", LINE, Most::One),
    ("neg_binomial_2", LINE, Most::One),
    ("poisson", LINE, Most::One),
    ("poisson_log", LINE, Most::One),
    ("categorical", LINE, Most::One),
    ("categorical_logit", LINE, Most::One),
    ("ordered_logistic", LINE, Most::One),
    ("multinomial", LINE, Most::One),
    ("normal", LINE, Most::Peak(|_, _| normal(), 1, false, None)),
    ("half_normal", HALF, Most::Peak(|_, _| Real::int(2) * normal(), 0, false, None)),
    ("laplace", LINE, Most::Peak(|_, _| Real::one() / Real::int(2), 1, false, None)),
    ("cauchy", LINE, Most::Peak(|_, _| Real::int(2) / two_pi(), 1, false, None)),
    ("logistic", LINE, Most::Peak(|_, _| Real::one() / Real::int(4), 1, false, None)),
    ("half_cauchy", HALF, Most::Peak(|_, _| Real::int(4) / two_pi(), 0, false, None)),
    ("student_t", LINE, Most::Peak(|lo, hi| if lo == hi { student(&num(lo)) } else { normal() }, 2, false, Some(0))),
    ("exponential", HALF, Most::Peak(|_, _| Real::one(), 0, true, None)),
    ("gamma", HALF, Most::Peak(|lo, _| gamma(&num(lo)), 1, true, Some(0))),
    ("inv_gamma", HALF, Most::Unknown),
    ("lognormal", HALF, Most::Unknown),
    ("weibull", HALF, Most::Unknown),
    ("beta", (0.0, 1.0), Most::Unknown),
];

fn size(lo: f64, hi: f64) -> Real {
    num(lo.abs().max(hi.abs()))
}

fn normal() -> Real {
    Real::one() / two_pi().sqrt()
}

fn student(df: &Real) -> Real {
    let half = |x: &Real| ln_gamma(&(x / &Real::int(2)));
    (half(&(df + &Real::one())) - half(df)).exp() / (df * &two_pi() / Real::int(2)).sqrt()
}

fn gamma(shape: &Real) -> Real {
    let mode = shape - &Real::one();
    let log = || &mode * mode.ln() - &mode - ln_gamma(shape) - two_pi().ln() / Real::int(2);
    if mode.is_zero() { Real::one() } else { log().exp() }
}

/// What a parameter can be: the type that cuts it, else the support of its prior.
fn parameter(prior: &Expr, cut: Option<&str>) -> Ty {
    let number = |e: &Expr| if let Expr::Number(x) = e { *x } else { f64::NAN };
    let ends = match prior {
        Expr::Call(f, args) if f == "uniform" => args.first().zip(args.get(1)).map(|(a, b)| (number(a), number(b))),
        Expr::Call(f, _) => LAWS.iter().find(|law| law.0 == f).map(|law| law.1),
        _ => None,
    };
    let support = ends.filter(|(a, b)| a <= b).map_or(Ty::real(), |(a, b)| Ty::number(a, b, false));
    cut.map_or(support, |text| Ty::parse(text).map_or(Ty::real(), |t| Ty { kind: Kind::Number, ..t }))
}

/// An expression in which columns and values of rows are names of what they can be.
fn plain_of(e: &Expr, scope: &mut Scope) -> Expr {
    match e {
        Expr::Row(_, ty) => {
            let name = format!("row {}", scope.values.len());
            scope.values.insert(name.clone(), Ty::parse(ty).unwrap_or(Ty::real()));
            Expr::Name(name)
        }
        Expr::Call(f, args) => Expr::Call(f.clone(), args.iter().map(|a| plain_of(a, scope)).collect()),
        other => other.clone(),
    }
}

struct Reader {
    scope: Scope,
    /// `b - 1` to 15 decimal places.
    a: Real,
    parameters: Vec<String>,
}

impl Reader {
    fn ends(&self, e: &Expr) -> (f64, f64) {
        let mut scope = self.scope.clone();
        let e = plain_of(e, &mut scope);
        scope.public(&e).map_or((f64::NEG_INFINITY, f64::INFINITY), |ty| (ty.lo, ty.hi))
    }

    fn power(&self, x: &Real) -> Real {
        (&self.a * &x.ln()).exp()
    }

    /// `M^a / a`, or the wider range of a shape that varies.
    fn peaked(&self, peak: Real, fixed: bool) -> Found<Real> {
        let one = || Real::one() / &self.a;
        let width = if fixed { one() } else { one() + Real::one() / (Real::one() + &self.a) };
        Some(self.power(&peak) * width).filter(Real::known).ok_or("the density has no bound")
    }

    /// The largest size of a predictor: sums and products of what is bounded, and inner products.
    fn size(&self, e: &Expr) -> Found<Real> {
        let plain = |e: &Expr| !e.any(&|e| matches!(e, Expr::Name(n) if self.parameters.contains(n)));
        let whole = |e: &Expr| {
            let mut scope = self.scope.clone();
            let e = plain_of(e, &mut scope);
            scope.public(&e)
        };
        if plain(e) || matches!(e, Expr::Name(_)) {
            return whole(e).map(|ty| num(ty.lo.abs().max(ty.hi.abs()))).filter(Real::known).ok_or("a predictor is unbounded");
        }
        let Expr::Call(f, args) = e else { return Err("a predictor is unbounded") };
        match (f.as_str(), args.as_slice()) {
            ("neg", [a]) => self.size(a),
            ("+" | "-", [a, b]) => Ok(self.size(a)? + self.size(b)?),
            ("*", [a, b]) => Ok(self.size(a)? * self.size(b)?),
            ("/", [a, Expr::Number(x)]) if *x != 0.0 => Ok(self.size(a)? / num(x.abs())),
            ("tanh" | "inv_logit" | "Phi" | "inv_cloglog" | "not", [_]) => Ok(Real::one()),
            ("index", [a @ Expr::Name(_), _]) => self.size(a),
            ("dot", [a, b]) => {
                let bounded = |e: &Expr| plain(e) || matches!(e, Expr::Name(_));
                let norm = |e: &Expr| self.scope.row(e).or_else(|| whole(e)).filter(|_| bounded(e)).map(|ty| ty.sup[1].clone());
                norm(a).zip(norm(b)).map(|(a, b)| a * b).filter(Real::known).ok_or("a predictor is unbounded")
            }
            _ => Err("a predictor is unbounded"),
        }
    }

    /// How far a predictor of one row moves over the parameters: what has none of them does not.
    fn moves(&self, e: &Expr) -> Found<Real> {
        let fixed = |e: &Expr| !e.any(&|e| matches!(e, Expr::Name(n) if self.parameters.contains(n)));
        match (e, e.args()) {
            (e, _) if fixed(e) => Ok(Real::zero()),
            (Expr::Call(f, _), [a]) if f == "neg" => self.moves(a),
            (Expr::Call(f, _), [a, b]) if f == "+" || f == "-" => Ok(self.moves(a)? + self.moves(b)?),
            (Expr::Call(f, _), [a, b] | [b, a]) if f == "*" && fixed(a) => Ok(self.size(a)? * self.moves(b)?),
            (Expr::Call(f, _), [a, Expr::Number(x)]) if f == "/" && *x != 0.0 => Ok(self.moves(a)? / num(x.abs())),
            (Expr::Name(_), _) => {
                let (lo, hi) = self.ends(e);
                Some(num(hi) - num(lo)).filter(Real::known).ok_or("a parameter is unbounded")
            }
            (Expr::Call(f, _), [a @ Expr::Name(_), _]) if f == "index" => self.moves(a),
            _ => Ok(Real::int(2) * self.size(e)?),
        }
    }

    /// Width of the log-probability of a logistic row (section 7).
    fn logistic(&self, row: &Row) -> Found<Real> {
        let Expr::Call(law, args) = &row.law else { return Err("the rows have no law") };
        let width = |t: &Expr| Ok(self.size(t)?.min(&self.moves(t)?));
        match (law.as_str(), args.as_slice()) {
            ("bernoulli_logit", [t]) => width(t),
            ("binomial_logit", [Expr::Number(n), t]) if *n >= 1.0 => Ok(num(*n) * width(t)?),
            _ => self.width(row),
        }
    }

    /// How far the log-density of one row moves over all parameters, for the worst row (section 7).
    fn width(&self, row: &Row) -> Found<Real> {
        let Expr::Row(_, ty) = &row.outcome else { return Err("the outcome is not a value of a row") };
        let ty =
            Ty::parse(ty).filter(|t| t.kind == Kind::Number && t.lo.is_finite() && t.hi.is_finite()).ok_or("the outcome is unbounded")?;
        let Expr::Call(law, args) = &row.law else { return Err("the rows have no law") };
        let least = |x: [Real; 2]| x.into_iter().filter(Real::known).reduce(|a, b| a.min(&b)).ok_or("an argument is unbounded");
        // What an argument can be, by its range and by its size.
        let at = |i: usize| {
            let e = args.get(i).ok_or("the law lacks an argument")?;
            let ((lo, hi), size) = (self.ends(e), self.size(e).unwrap_or(Real::UNKNOWN));
            Ok::<_, &'static str>((-&least([-&num(lo), size.clone()])?, least([num(hi), size])?))
        };
        let plain = |e: &Expr| !e.any(&|e| matches!(e, Expr::Name(n) if self.parameters.contains(n)));
        let known = |i: usize| if let Some(Expr::Number(n)) = args.get(i) { Ok(num(*n)) } else { Err("an argument is not a constant") };
        let of = |x: &Real, c: &Real| if c.is_zero() { Real::zero() } else { c * &x.ln() };
        // A convex loss of a chance or of a rate, and where it is least.
        let moved = |(lo, hi): &(Real, Real), bottom: &Real, loss: &dyn Fn(&Real) -> Real| {
            let (low, high) = (loss(lo), loss(hi));
            let least = match () {
                () if bottom.le(lo) => low.clone(),
                () if hi.le(bottom) => high.clone(),
                () => loss(bottom),
            };
            low.max(&high) - least
        };
        let chance = |a: Real, b: Real, p: &(Real, Real)| moved(p, &(&a / &(&a + &b)), &|p| -&(of(p, &a) + of(&(Real::one() - p), &b)));
        let rate = |u: Real, v: Real, x: &(Real, Real)| moved(x, &if u.is_zero() { x.1.clone() } else { &v / &u }, &|x| &u * x - of(x, &v));
        let two = |f: &dyn Fn(&Real) -> [Real; 2], t: &(Real, Real)| {
            let ([a, b], [c, d]) = (f(&t.0), f(&t.1));
            (c - a).max(&(b - d))
        };
        let ends = |one: &dyn Fn(Real) -> Found<Real>| {
            let most = one(num(ty.lo))?.max(&one(num(ty.hi))?);
            if ty.lo >= 0.0 || law == "normal" { Ok(most) } else { Err("the outcome is outside its law") }
        };
        let whole =
            |y: Real, n: Real| if ty.whole && num(ty.hi).le(&n) { Ok((y.clone(), n - y)) } else { Err("the outcome is outside its law") };
        let scale = |i: usize| at(i).map(|x| x.0).and_then(|x| if x.positive() { Ok(x) } else { Err("a scale may vanish") });
        let found = match law.as_str() {
            "bernoulli" => ends(&|y| whole(y, Real::one()).and_then(|(a, b)| Ok(chance(a, b, &at(0)?)))),
            "binomial" => ends(&|y| whole(y, known(0)?).and_then(|(a, b)| Ok(chance(a, b, &at(1)?)))),
            "geometric" if ty.whole => ends(&|y| Ok(chance(Real::one(), y, &at(0)?))),
            "neg_binomial" if ty.whole => ends(&|y| Ok(chance(known(0)?, y, &at(1)?))),
            "poisson" if ty.whole => ends(&|y| Ok(rate(Real::one(), y, &at(0)?))),
            "poisson_log" if ty.whole => ends(&|y| at(0).map(|(lo, hi)| rate(Real::one(), y, &(lo.exp(), hi.exp())))),
            "exponential" => ends(&|y| Ok(rate(y, Real::one(), &at(0)?))),
            "gamma" if ty.lo > 0.0 || matches!(args.first(), Some(Expr::Number(shape)) if *shape == 1.0) => {
                ends(&|y| Ok(rate(y, known(0)?, &at(1)?)))
            }
            "bernoulli_probit" if ty.whole => Ok(two(&|t| [normal_cdf(t).ln(), normal_cdf(&-t).ln()], &at(0)?)),
            "bernoulli_cloglog" if ty.whole => Ok(two(&|t| [(Real::one() - (-&t.exp()).exp()).ln(), -&t.exp()], &at(0)?)),
            "normal" if args.get(1).is_some_and(plain) => {
                let sd = scale(1)?;
                ends(&|y| Ok(moved(&at(0)?, &y, &|mean| ((&y - mean) / &sd).square() / Real::int(2))))
            }
            "normal" => {
                let ((low, high), (least, most)) = (at(0)?, (scale(1)?, at(1)?.1));
                let far = (num(ty.hi) - low).max(&(high - num(ty.lo))).square() / Real::int(2);
                Ok((&far / &least.square()).max(&(&far / &most.square() + (&most / &least).ln())))
            }
            "laplace" | "logistic" | "cauchy" if args.get(1).is_some_and(plain) => at(0).and_then(|(lo, hi)| Ok((hi - lo) / scale(1)?)),
            _ => Err("the law is not of the rule"),
        }?;
        Some(found).filter(Real::known).ok_or("the loss of a row is unbounded")
    }

    fn range(&self, row: &Row) -> Found<Real> {
        let Expr::Call(law, args) = &row.law else { return Err("the rows have no law") };
        let outcome = match &row.outcome {
            Expr::Row(_, ty) => Ty::parse(ty).ok_or("the outcome has no type")?,
            _ => Ty::other(),
        };
        let whole = outcome.whole || outcome.kind == Kind::Levels;
        let argument = |i: usize| args.get(i).map(|e| self.ends(e)).ok_or("the law lacks an argument");
        match &LAWS.iter().find(|known| known.0 == law).ok_or("the law is not of the rule")?.2 {
            Most::Either(_) | Most::One if !whole => Err("the outcome is not whole"),
            Most::One => Ok(Real::one() / &self.a),
            Most::Either(least) => {
                let (lo, hi) = argument(0)?;
                let (q, mass) = (least(lo, hi), Real::one() / &self.a);
                let narrow = (self.power(&(Real::one() - &q)) - self.power(&q)) / &self.a;
                Ok(if q.positive() { mass.min(&narrow) } else { mass })
            }
            Most::Peak(peak, scale, rate, shape) => {
                let (scale, (lo, hi)) = (argument(*scale)?, shape.map_or(Ok((0.0, 0.0)), argument)?);
                let over = if *rate { num(scale.1) } else { Real::one() / num(scale.0.max(0.0)) };
                self.peaked(peak(lo, hi) * over, lo == hi)
            }
            Most::Unknown => Err("the law is not of the rule"),
        }
    }
}

/// The claim of a draw from a posterior of bounded loss.
pub fn draw(form: &Form, scope: &Scope, given: &Given) -> Found<Claim> {
    let positive = |name: &str| (given.number)(name).filter(|x| *x > 0.0 && x.is_finite());
    // Without a beta the loss is that of the likelihood itself.
    let plain = given.rule == "ops";
    let beta = if plain { 2.0 } else { positive("beta").ok_or("beta is not a number")? };
    let a = format!("{:.15}", beta - 1.0).parse().ok().filter(|a: &f64| *a > 0.0).ok_or("beta is not above 1")?;
    let mut inside = Scope { columns: [].into(), ..scope.clone() };
    for (name, (ty, _)) in &scope.columns {
        inside.values.insert(name.clone(), Ty::parse(ty).unwrap_or(Ty::real()));
    }
    for (name, prior, cut) in &form.params {
        let ty = parameter(prior, cut.as_deref());
        if prior.any(&|e| matches!(e, Expr::Number(x) if x.is_infinite())) || (cut.is_some() && ty.lo == ty.hi) {
            return Err("a prior is not proper");
        }
        inside.values.insert(name.clone(), ty);
    }
    let reader = Reader { scope: inside, a: num(a), parameters: form.params.iter().map(|p| p.0.clone()).collect() };
    if form.rows.is_empty() || form.rows.iter().any(|row| row.public) {
        return Err("the rule takes private rows alone");
    }
    let ranges = form.rows.iter().map(|row| if plain { reader.logistic(row) } else { reader.range(row) }).collect::<Found<Vec<Real>>>()?;
    let range = ranges.into_iter().fold(Real::zero(), |sum, r| sum + r);
    let weight = if given.rule == "beta_div" { positive("weight").or(Some(1.0)) } else { positive("weight") };
    let weight = weight.filter(|w| *w <= 1.0).ok_or("a weight lies in (0, 1]")?;
    let sides = Real::int(if scope.view == View::AddRemove { 1 } else { 2 });
    let width = &sides * &Real::int(scope.unit) * num(weight) * range;
    let times = times(&form.request)?;
    if plain || given.rule == "beta_div" {
        return Ok(Claim::Range(width).repeat(times));
    }
    let whole = |name: &str| positive(name).filter(|t| t.fract() == 0.0 && *t < 1e15).map(num).ok_or("a length is not a whole number");
    let noise = |name: &str| positive(name).map(num).ok_or("noise is not a positive number");
    if given.rule == "dp_sgld" {
        let clip = positive("clip").map(num).ok_or("clip is not a positive number")?;
        if scope.view != View::Replace || scope.unit != 1 {
            return Err("samples hide one replaced row alone");
        }
        let stated = (given.number)("batch").map(|_| whole("batch")).transpose()?;
        let share = stated.map_or(Real::one(), |rows| (rows / Real::int(scope.least)).min(&Real::one()));
        let mu = Real::int(2) * clip / noise("sigma")?;
        let step = if Real::one().le(&share) { Claim::Gdp(mu) } else { Claim::Renyi(vec![Pair::Sampled { share, mu }]) };
        let steps = positive("iterations").filter(|t| t.fract() == 0.0 && *t < 1e15).ok_or("the length is not a whole number")?;
        return Ok(step.each(steps as u64).repeat(times));
    }
    let long =
        |name: &str| positive(name).filter(|t| t.fract() == 0.0 && *t < 1e15).map(|t| t as u64).ok_or("a length is not a whole number");
    let (steps, losses) = (long("iterations")?, Claim::Gdp(width / noise("sigma")?));
    if given.rule == "penalty" {
        return Ok(losses.each(steps).repeat(times));
    }
    let clip = positive("clip").map(num).ok_or("clip is not a positive number")?;
    let forces = Claim::Gdp(sides * Real::int(scope.unit) * clip / noise("gradient_sigma")?);
    let sums = steps.saturating_mul(long("steps")?.saturating_add(1));
    Ok(Claim::Product(vec![losses.each(steps), forces.each(sums)]).repeat(times))
}
