//! The claims of draws: the worst pair of posteriors for every rule (rule book, sections 1 to 3).

use super::claim::Claim;
use super::curve::Shift;
use super::draw::{Draw, Found, Range};
use super::matrix::Covariance;
use super::pair::Pair;
use super::real::Real;
use super::scope::{Scope, View};
use super::text::{Expr, Row};
use super::ty::{Kind, num};

fn shapes(family: &'static str, moves: Vec<(Real, Real)>) -> Claim {
    Claim::Renyi(vec![Pair::Shapes { family, moves, total: None }])
}

/// The claim for replaced rows or for added ones; both where rows are exchanged.
fn viewed(view: View, replaced: Claim, added: Claim) -> Claim {
    match view {
        View::Replace => replaced,
        View::AddRemove => added,
        View::Exchange | View::Crossing => Claim::Max(vec![replaced.by_order(), added]),
    }
}

/// Section 1.7: in the one group P lacks the row, in the other Q does; the row adds to one count.
fn crossing(family: &'static str, count: Real, step: Real) -> Claim {
    Claim::Exact(Shift::Beta { family, counts: [count.clone(), count], step, others: Real::zero() })
}

/// Rows that are added, by their orders alone but where a unit adds to one count.
fn added(shape: Real, step: Real, one_count: bool) -> Claim {
    let added = Claim::Exact(Shift::Shape { shape, step });
    if one_count { added } else { added.by_order() }
}

/// Section 1: prior counts over m, and the weight of all trials of one row.
pub fn beta(a: Real, b: Real, w: &Real, single: bool, scope: &Scope) -> Claim {
    let (u, v) = (a.min(&b), a.max(&b));
    let step = w * &Real::int(scope.unit);
    let others = w * &Real::int(scope.least.saturating_sub(scope.unit));
    let added = added(u.clone(), step.clone(), single && scope.unit == 1);
    viewed(scope.view, Claim::Exact(Shift::Beta { family: "beta", counts: [u, v], step, others }), added)
}

/// A shape and a rate that move together (section 1.6 for gamma posteriors).
fn both_move(shape: Real, rate: Real, ratio: Real, dshape: Real, drate: Real) -> Claim {
    let widest = ratio * (&rate + &drate);
    let second = Claim::Renyi(vec![Pair::Rate { shape: widest, rate, step: drate }]);
    Claim::Product(vec![shapes("gamma", vec![(shape, dshape)]), second])
}

pub fn bernoulli(d: &Draw) -> Found<Claim> {
    let trials = |o: &Row| if o.law.args().len() == 1 { Ok(1.0) } else { d.constant(o) };
    let mut each = 0.0;
    for o in &d.private {
        let n = trials(o)?;
        d.outcome(o, 0.0, n)?;
        each += n;
    }
    let (mut a, mut b) = (num(d.argument(0)?.0), num(d.argument(1)?.0));
    for (o, (rows, sums)) in d.public.iter().zip(d.totals).filter_map(|(o, t)| Some((o, t.as_ref()?))) {
        let successes = num(sums.first().copied().unwrap_or(0.0)).max(&Real::zero());
        b = b + (num(trials(o)?) * Real::int(*rows) - &successes).max(&Real::zero());
        a = a + successes;
    }
    let (a, b) = (a / &d.m, b / &d.m);
    let single = each == 1.0 && d.private.iter().all(|o| d.scope.row(&o.outcome).is_some_and(|t| t.whole));
    if d.scope.view == View::Crossing {
        return if single { Ok(crossing("beta", a.min(&b), d.r.clone())) } else { Err("a row may add to both counts") };
    }
    Ok(beta(a, b, &(&d.r * &num(each)), single, d.scope))
}

pub fn geometric(d: &Draw) -> Found<Claim> {
    let successes = |o: &Row| if o.law.args().len() == 1 { Ok(Real::one()) } else { d.constant(o).map(num) };
    let (lo, hi) = d.outcome(d.one()?, 0.0, f64::INFINITY)?;
    let per_row = successes(d.one()?)?;
    let mut gained = Real::zero();
    for (o, t) in d.public.iter().zip(d.totals) {
        gained = gained + successes(o)? * Real::int(t.as_ref().map_or(0, |t| t.0));
    }
    let ((a, a_hi), b, sum) = (d.argument(0)?, d.argument(1)?.0, d.public_sum(0));
    let base = (num(b) + &sum) / &d.m;
    let unit = &d.r * &d.k;
    if d.scope.view == View::AddRemove {
        let first = ((num(a) + &gained) / &d.m, &unit * &per_row);
        return Ok(shapes("beta", vec![first, (base, unit * num(hi))]));
    }
    let step = unit * (num(hi) - num(lo));
    let count = base + &d.r * &d.least() * num(lo);
    // The first count is known where the number of rows is.
    let Some(n) = d.exactly.filter(|_| d.bound()) else { return Ok(Claim::Exact(Shift::Shape { shape: count, step })) };
    let kept = (num(a_hi) + &gained) / &d.m + &d.r * &Real::int(n) * &per_row;
    Ok(Claim::Exact(Shift::Count { kept, count, step }))
}

/// Section 2: up to `items` items a row.
pub fn dirichlet(d: &Draw) -> Found<Claim> {
    let ty = d.scope.row(&d.one()?.outcome).ok_or("the outcome is not a value of a row")?;
    let categorical = d.one()?.law.args().len() == 1;
    let (dim, items) = match (ty.levels(), ty.kind) {
        (Some(levels), _) if categorical => (levels, 1),
        (_, Kind::Counts | Kind::Fewer) if !categorical => (ty.dim, ty.hi as u64),
        _ => return Err("the outcome has no levels"),
    };
    let same = |o: &&Row| categorical || d.constant(o).is_ok_and(|n| n == items as f64);
    if !d.private.iter().chain(&d.public).all(same) {
        return Err("rows have another number of items");
    }
    let size = usize::try_from(dim).map_err(|_| "too many levels")?;
    let prior = match d.prior.args() {
        [Expr::Call(f, list)] if f == "[]" => list.iter().map(|e| d.positive(Some(e))).collect::<Found<Vec<Range>>>()?,
        [e] => match d.scope.public(e) {
            Some(t) if t.kind == Kind::Vector && t.dim == dim && t.lo > 0.0 => vec![(t.lo, t.hi); size.min(1 << 20)],
            _ => return Err("a prior count may vanish"),
        },
        _ => return Err("the prior has no counts"),
    };
    let mut counts: Vec<Real> = prior.iter().enumerate().map(|(i, a)| (num(a.0) + d.public_sum(i).max(&Real::zero())) / &d.m).collect();
    counts.sort_by(|a, b| a.above().total_cmp(&b.above()));
    let (Some(a), Some(b), true) = (counts.first().cloned(), counts.get(1).cloned(), counts.len() == size) else {
        return Err("the prior has another number of counts");
    };
    let moved = items.saturating_mul(d.scope.unit);
    let step = &d.r * &Real::int(moved);
    let others = |rows: Real| &d.r * &Real::int(items) * rows;
    if d.scope.view == View::Crossing {
        return if moved == 1 { Ok(crossing("dirichlet", a, step)) } else { Err("a unit may add to several counts") };
    }
    let two = |others: Real| Claim::Exact(Shift::Beta { family: "dirichlet", counts: [a.clone(), b.clone()], step: step.clone(), others });
    let replaced = if ty.kind == Kind::Fewer {
        // Section 2.4: the other rows may be empty, and so may the total be left out.
        if dim == 2 {
            shapes("dirichlet", vec![(a.clone(), step.clone()), (&b + &step, -&step)])
        } else {
            counts.truncate(usize::try_from(moved.saturating_add(1)).unwrap_or(usize::MAX));
            Claim::Renyi(vec![Pair::Spread { counts, base: Real::zero(), items: moved, weight: d.r.clone() }])
        }
    } else if dim == 2 {
        two(others(d.fewest() - &d.k))
    } else if moved == 1 {
        two(Real::zero())
    } else {
        // More categories than items and their receiver: the others keep the base, and more would not be searched in time.
        let enough = usize::try_from(moved.saturating_add(1)).unwrap_or(usize::MAX);
        let mut base = others(d.fewest() - &d.k);
        if counts.len() > enough || (counts.len() as u64).saturating_mul(moved) > 256 {
            counts.truncate(enough);
            base = Real::zero();
        }
        Claim::Renyi(vec![Pair::Spread { counts, base, items: moved, weight: d.r.clone() }])
    };
    Ok(viewed(d.scope.view, replaced, added(a.clone(), step.clone(), moved == 1)))
}

pub fn poisson(d: &Draw) -> Found<Claim> {
    let (lo, hi) = d.outcome(d.one()?, 0.0, f64::INFINITY)?;
    let ((a, a_hi), (b, _)) = (d.argument(0)?, d.argument(1)?);
    let shape = (num(a) + d.public_sum(0)) / &d.m;
    let unit = &d.r * &d.k;
    if d.scope.view == View::Replace {
        let base = shape + &d.r * &d.least() * num(lo);
        return Ok(Claim::Exact(Shift::Shape { shape: base, step: unit * (num(hi) - num(lo)) }));
    }
    let rate = (num(b) + d.public_rows()) / &d.m;
    let unbound = d.public.iter().zip(d.totals).filter(|(_, t)| t.is_none());
    let most = |o: &Row| d.scope.row(&o.outcome).and_then(|t| t.range()).map_or(Real::UNKNOWN, |r| num(r.1));
    let mean = unbound.fold(num(hi), |m, (o, _)| m.max(&most(o)));
    let ratio = ((num(a_hi) + d.public_sum(0)) / &d.m / &rate).max(&mean);
    Ok(both_move(shape, rate, ratio, &unit * &num(hi), unit))
}

/// Exponential rows are gamma rows of shape 1; all rows are of one shape. The shape, and the ends of an outcome.
pub fn waiting(d: &Draw) -> Found<(f64, [Real; 2])> {
    let (lo, hi) = d.outcome(d.one()?, 0.0, f64::INFINITY)?;
    let shape = |o: &Row| if o.law.args().len() == 1 { Ok(1.0) } else { d.constant(o) };
    let each = shape(d.one()?)?;
    if !d.public.iter().all(|o| shape(o) == Ok(each)) {
        return Err("rows are of several shapes");
    }
    Ok((each, [num(lo), num(hi)]))
}

pub fn exponential(d: &Draw) -> Found<Claim> {
    let (each, [lo, hi]) = waiting(d)?;
    summed_rate(d, num(each), Real::one(), lo, hi)
}

/// The ends of the square of `y - mean`; the standard deviation is `1 / sqrt(tau)`.
pub fn deviations(d: &Draw) -> Found<[Real; 2]> {
    let tau = || Expr::Name(d.parameter.to_owned());
    let call = |f: &str, args: Vec<Expr>| Expr::Call(f.to_owned(), args);
    let one = || Expr::Number(1.0);
    let deviations = [
        call("/", vec![one(), call("sqrt", vec![tau()])]),
        call("sqrt", vec![call("/", vec![one(), tau()])]),
        call("^", vec![tau(), Expr::Number(-0.5)]),
    ];
    let known = |o: &&Row| o.law.args().get(1).is_some_and(|sd| deviations.contains(sd)) && d.public_range(o.law.args().first()).is_ok();
    if !d.private.iter().chain(&d.public).all(known) {
        return Err("rows must be normal with the precision that is drawn and a public mean");
    }
    let o = d.one()?;
    let (y, mean) = (d.outcome(o, f64::NEG_INFINITY, f64::INFINITY)?, d.public_range(o.law.args().first())?);
    let (low, high) = (num(y.0) - num(mean.1), num(y.1) - num(mean.0));
    let least = low.max(&-&high).max(&Real::zero());
    Ok([least.square(), high.max(&-&low).square()])
}

/// Half of the square is summed.
pub fn precision(d: &Draw) -> Found<Claim> {
    let (half, [low, high]) = (Real::ratio(1, 2), deviations(d)?);
    summed_rate(d, half.clone(), half.clone(), &half * &low, &half * &high)
}

/// A gamma posterior whose rate is a sum of shares in [lo, hi], each `scale` times a statistic, its shape a count times `each`
/// (sections 3.2, 3.3, 3.11).
fn summed_rate(d: &Draw, each: Real, scale: Real, lo: Real, hi: Real) -> Found<Claim> {
    let ((a, a_hi), (b, _)) = (d.argument(0)?, d.argument(1)?);
    let public = &each * &d.public_rows();
    let high = (num(a_hi) + &public) / &d.m;
    let rate = (num(b) + scale * d.public_sum(0)) / &d.m;
    let unit = &d.r * &d.k;
    if !d.bound() || (!lo.positive() && (d.scope.view != View::Replace || d.exactly.is_none())) {
        return Err("the rule needs bound public rows, and the exact number of rows where one may add nothing");
    }
    if d.scope.view == View::AddRemove {
        let ratio = (&high / &rate).max(&(&each / &lo));
        return Ok(both_move((num(a) + public) / &d.m, rate, ratio, &unit * &each, unit * hi));
    }
    let rows = &d.r * &d.least();
    let rate = rate + &rows * &lo;
    let mut shape = high + &each * &rows;
    let step = unit * (&hi - &lo);
    if d.exactly.is_some() {
        return Ok(Claim::Exact(Shift::Rate { shape, rate, step }));
    }
    shape = shape.max(&(&each / &lo * &rate));
    Ok(Claim::Renyi(vec![Pair::Rate { shape, rate, step }]))
}

pub fn normal(d: &Draw) -> Found<Claim> {
    let (lo, hi) = d.outcome(d.one()?, f64::NEG_INFINITY, f64::INFINITY)?;
    let sd = |o: &Row| d.positive(o.law.args().get(1)).map(|sd| num(sd.1));
    d.public_range(d.prior.args().first())?;
    let mut precision = Real::one() / num(d.argument(1)?.1).square();
    for (o, t) in d.public.iter().zip(d.totals) {
        precision = precision + Real::int(t.as_ref().map_or(0, |t| t.0)) / sd(o)?.square();
    }
    let variance = sd(d.one()?)?.square();
    let below = variance.square() * precision / &d.m + &d.r * &d.fewest() * variance;
    Ok(Claim::Gdp(&d.r * &d.k * (num(hi) - num(lo)) / below.sqrt()))
}

pub fn vector(d: &Draw) -> Found<Claim> {
    let ty = d.scope.row(&d.one()?.outcome).filter(|t| t.kind == Kind::Vector).ok_or("the outcome must be a vector")?;
    let law = d.one()?.law.args().get(1).ok_or("the covariance is missing")?;
    let known = Covariance::read(law).ok_or("the covariance is not a constant matrix")?;
    if !d.public.iter().all(|o| o.law.args().get(1) == Some(law)) || known.dim() as u64 != ty.dim {
        return Err("rows must be multi_normal of one covariance");
    }
    let rows = &d.r * &d.fewest() + d.public_rows() / &d.m;
    let at = |s: &Real, v: &Real| s.square() / (v * &d.m) + &rows * s;
    // The least eigenvalue of `S P S + rows S`: exact where both are diagonal.
    let own = d.prior_covariance();
    let lambda = match (known.diagonal(), own.as_ref().map(Covariance::diagonal)) {
        (Some(s), Some(Some(v))) => s.iter().zip(&v).fold(Real::UNKNOWN, |l, (s, v)| l.min(&at(s, v))),
        (Some(s), None) => {
            let v = d.prior_variance()?;
            s.iter().fold(Real::UNKNOWN, |l, s| l.min(&at(s, &v)))
        }
        _ => at(&known.least(), &d.prior_variance()?),
    };
    Ok(Claim::Gdp(&d.r * &d.k * &ty.row_norms().1[1] / lambda.sqrt()))
}

pub fn linear(d: &Draw) -> Found<Claim> {
    let o = d.one()?;
    let x = d.features()?;
    let secret = |e: &Expr| matches!(e, Expr::Name(n) if d.scope.columns.get(n).is_some_and(|c| !c.1));
    let features = d.scope.row(x).filter(|t| t.kind == Kind::Vector && !x.any(&secret)).ok_or("the features are not public")?;
    let (lo, hi) = d.outcome(o, f64::NEG_INFINITY, f64::INFINITY)?;
    let variance = num(d.positive(o.law.args().get(1))?.0).square();
    let q = features.row_norms().0[1].square() * d.prior_variance()? * &d.m;
    // Rows of the unit itself are in X'X; of a known design, one row a unit, its least eigenvalue counts.
    let counted = match d.design {
        Some(design) => {
            let unit = match d.prior {
                Expr::Call(f, _) if f == "normal" => {
                    d.argument(1).and_then(|s| if s.0 == s.1 { Ok(num(s.0)) } else { Err("no one sd") })?
                }
                _ => Real::one(),
            };
            let longest = &features.row_norms().0[1] * &unit;
            if design.dim != features.dim {
                return Err("the design is not that of the weights");
            }
            (design.stored_least(&longest) / longest.square()).max(&Real::one())
        }
        None => Real::one(),
    };
    let below = variance.square() / (&d.k * &q) + &d.r * &variance * counted;
    Ok(Claim::Gdp(&d.r * &(num(hi) - num(lo)) * d.k.sqrt() / below.sqrt()))
}
