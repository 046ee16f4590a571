//! What a claim says at every order and delta, recomputed from the formulas of the rule book (sections 0.1, 6, 8).

use super::curve::Shift;
use super::pair::Pair;
use super::real::{Real, once};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub enum Claim {
    Renyi(Vec<Pair>),
    Exact(Shift),
    Gdp(Real),
    Range(Real),
    Pure(Real),
    Zcdp(Real),
    Laplace(Real),
    Product(Vec<Claim>),
    Max(Vec<Claim>),
    Repeated(u64, Box<Claim>),
}

/// Bounds of every kind; unknown where there is none.
#[derive(Clone)]
pub struct Bounds {
    pub pure: Real,
    pub range: Real,
    pub zcdp: Real,
    pub gdp: Real,
}

fn pure_rdp(e: &Real, l: &Real) -> Real {
    let m = l - &Real::one();
    (((l * e).exp() + (-&(&m * e)).exp()) / (Real::one() + e.exp())).ln() / &m
}

/// `1 - exp(-x)`.
pub fn lost(x: &Real) -> Real {
    Real::one() - (-x).exp()
}

fn range_rdp(eta: &Real, l: &Real) -> Real {
    let m = l - &Real::one();
    let most = lost(&(l * eta));
    let e = &m * &most / (l * &((-eta).exp() * lost(&(&m * eta))));
    e.ln() + (most / (l * &lost(eta))).ln() / &m
}

fn range_zcdp(eta: &Real) -> Real {
    let x = eta / &(eta.exp() - Real::one());
    &x - &Real::one() - x.ln()
}

fn laplace_rdp(e: &Real, l: &Real) -> Real {
    if e.is_zero() {
        return Real::zero();
    }
    let m = l - &Real::one();
    let both = l + &m;
    (l * &(&m * e).exp() / &both + &m * &(-&(l * e)).exp() / &both).ln() / &m
}

impl Claim {
    pub fn bounds(&self) -> Bounds {
        let all = |x: Real| Bounds { pure: x.clone(), range: x.clone(), zcdp: x.clone(), gdp: x };
        let none = || all(Real::UNKNOWN);
        let each = |parts: &[Claim], join: fn(Bounds, Bounds) -> Bounds| parts.iter().map(Claim::bounds).fold(all(Real::zero()), join);
        let mut p = match self {
            Claim::Renyi(pairs) => {
                let all = pairs.iter().map(Pair::zcdp).reduce(|a, b| a.max(&b));
                Bounds { zcdp: all.unwrap_or(Real::UNKNOWN), ..none() }
            }
            Claim::Exact(_) => none(),
            Claim::Gdp(mu) => Bounds { gdp: mu.clone(), ..none() },
            Claim::Range(eta) => Bounds { range: eta.clone(), ..none() },
            Claim::Pure(e) => Bounds { pure: e.clone(), ..none() },
            Claim::Zcdp(rho) => Bounds { zcdp: rho.clone(), ..none() },
            Claim::Laplace(e) => Bounds { pure: e.clone(), zcdp: e - &lost(e), ..none() },
            Claim::Product(parts) => each(parts, |a, b| Bounds {
                // Two bounded ranges do not add under adaptive composition.
                range: if a.range.positive() && b.range.positive() { Real::UNKNOWN } else { a.range.max(&b.range) },
                pure: a.pure + b.pure,
                zcdp: a.zcdp + b.zcdp,
                gdp: (a.gdp.square() + b.gdp.square()).sqrt(),
            }),
            Claim::Repeated(times, one) => {
                let (p, n) = (one.bounds(), Real::int(*times));
                Bounds { pure: &n * &p.pure, range: Real::UNKNOWN, zcdp: &n * &p.zcdp, gdp: n.sqrt() * p.gdp }
            }
            Claim::Max(parts) => each(parts, |a, b| Bounds {
                pure: a.pure.max(&b.pure),
                range: a.range.max(&b.range),
                zcdp: a.zcdp.max(&b.zcdp),
                gdp: a.gdp.max(&b.gdp),
            }),
        };
        p.range = p.range.min(&(Real::int(2) * &p.pure));
        p.pure = p.pure.min(&p.range);
        if p.pure.positive() {
            let own = || {
                let e = p.pure.exp();
                (&p.pure * &((&e - &Real::one()) / (&e + &Real::one()))).min(&range_zcdp(&p.range))
            };
            p.zcdp = p.zcdp.min(&once(format!("zcdp {:?} {:?}", p.pure, p.range), own));
        } else if p.pure.is_zero() {
            p.zcdp = Real::zero();
        }
        p.zcdp = p.zcdp.min(&(p.gdp.square() / Real::int(2)));
        p
    }

    /// Orders below this are finite; unknown if all are.
    pub fn limit(&self) -> Real {
        let least = |it: Vec<Real>| it.iter().fold(Real::UNKNOWN, |m, x| m.min(x));
        match self {
            Claim::Renyi(pairs) => least(pairs.iter().map(Pair::limit).collect()),
            Claim::Exact(shift) => shift.pair().limit(),
            Claim::Product(parts) | Claim::Max(parts) => least(parts.iter().map(Claim::limit).collect()),
            Claim::Repeated(_, one) => one.limit(),
            _ => Real::UNKNOWN,
        }
    }

    pub fn rdp(&self, order: f64) -> Real {
        once(format!("{self:?} rdp {order}"), || self.rdp_with(&self.bounds(), &Real::decimal(order)))
    }

    /// At least the same in doubles, for draws and Laplace noise; `None` where they do not suffice.
    pub fn rdp_above(&self, order: f64) -> Option<f64> {
        let above = match self {
            Claim::Renyi(pairs) => pairs.iter().try_fold(0.0, |w: f64, p| Some(w.max(p.rdp_above(order)?)))?,
            Claim::Exact(shift) => shift.pair().rdp_above(order)?,
            Claim::Gdp(mu) => order * mu.above() * mu.above() / 2.0,
            Claim::Laplace(e) => {
                let (e, m) = (e.above(), order - 1.0);
                let less = -libm::log1p(m * libm::expm1(-(order + m) * e) / (order + m)) / m;
                e - less + 16.0 * f64::EPSILON * (e + less)
            }
            Claim::Product(parts) => parts.iter().try_fold(0.0, |s, c| Some(s + c.rdp_above(order)?))? * (1.0 + 1e-15 * parts.len() as f64),
            Claim::Repeated(times, one) => *times as f64 * one.rdp_above(order)?,
            _ => return None,
        };
        Some(above * (1.0 + 2e-15))
    }

    pub fn rdp_with(&self, p: &Bounds, order: &Real) -> Real {
        let part = |c: &Claim| c.rdp_with(&c.bounds(), order);
        let pair = |p: &Pair| once(format!("{p:?} rdp {order:?}"), || p.rdp(order));
        let own = match self {
            Claim::Renyi(pairs) => pairs.iter().fold(Real::zero(), |w, p| w.max(&pair(p))),
            Claim::Exact(shift) => pair(&shift.pair()),
            Claim::Laplace(e) => once(format!("laplace {e:?} rdp {order:?}"), || laplace_rdp(e, order)),
            Claim::Product(parts) => parts.iter().fold(Real::zero(), |s, c| s + part(c)),
            Claim::Max(parts) => parts.iter().fold(Real::zero(), |w, c| w.max(&part(c))),
            Claim::Repeated(times, one) => Real::int(*times) * part(one),
            _ => Real::UNKNOWN,
        };
        let best = own.min(&p.pure).min(&(order * &p.zcdp));
        let both = || pure_rdp(&p.pure, order).min(&range_rdp(&p.range, order));
        if p.pure.positive() { best.min(&once(format!("{:?} {:?} rdp {order:?}", p.pure, p.range), both)) } else { best }
    }

    /// This claim `times` over, without a root.
    pub fn each(self, times: u64) -> Claim {
        if times == 1 { self } else { Claim::Repeated(times, Box::new(self)) }
    }

    /// This claim `times` over, in the form the compiler writes it.
    pub fn repeat(self, times: u64) -> Claim {
        match self {
            one if times == 1 => one,
            Claim::Gdp(mu) => Claim::Gdp(Real::int(times).sqrt() * mu),
            Claim::Zcdp(rho) => Claim::Zcdp(Real::int(times) * rho),
            one => Claim::Repeated(times, Box::new(one)),
        }
    }

    /// Without its curve.
    pub fn by_order(self) -> Claim {
        match self {
            Claim::Exact(shift) => Claim::Renyi(vec![shift.pair()]),
            Claim::Product(parts) => Claim::Product(parts.into_iter().map(Claim::by_order).collect()),
            Claim::Max(parts) => Claim::Max(parts.into_iter().map(Claim::by_order).collect()),
            Claim::Repeated(times, one) => Claim::Repeated(times, Box::new(one.by_order())),
            other => other,
        }
    }

    /// Do j of the k rows that it is for cost at most the part j / k of it?
    pub fn convex(&self) -> bool {
        match self {
            Claim::Gdp(_) | Claim::Range(_) | Claim::Pure(_) | Claim::Zcdp(_) | Claim::Laplace(_) => true,
            Claim::Exact(Shift::Beta { others, .. }) => others.is_zero(),
            Claim::Renyi(pairs) => pairs.iter().all(Pair::gains),
            Claim::Product(parts) => parts.iter().all(Claim::convex),
            Claim::Repeated(_, one) => one.convex(),
            _ => false,
        }
    }

    /// Does it cost nothing?
    pub fn is_free(&self) -> bool {
        match self {
            Claim::Product(parts) | Claim::Max(parts) => parts.iter().all(Claim::is_free),
            Claim::Repeated(_, one) => one.is_free(),
            _ => false,
        }
    }

    /// The claim as certificates write it, every constant at its least.
    pub fn to_json(&self) -> Value {
        let list = |parts: &[Claim]| parts.iter().map(Claim::to_json).collect::<Value>();
        match self {
            Claim::Renyi(pairs) => json!({"kind": "renyi", "pairs": pairs.iter().map(Pair::to_json).collect::<Value>()}),
            Claim::Exact(shift) => shift.to_json(),
            Claim::Gdp(x) => json!({"kind": "gdp", "mu": x.amount()}),
            Claim::Range(x) => json!({"kind": "bounded_range", "eta": x.amount()}),
            Claim::Pure(x) => json!({"kind": "pure", "epsilon": x.amount()}),
            Claim::Zcdp(x) => json!({"kind": "zcdp", "rho": x.amount()}),
            Claim::Laplace(x) => json!({"kind": "laplace", "epsilon": x.amount()}),
            Claim::Product(parts) => json!({"kind": "product", "claims": list(parts)}),
            Claim::Max(parts) => json!({"kind": "max", "claims": list(parts)}),
            Claim::Repeated(times, one) => json!({"kind": "repeated", "times": times, "claim": one.to_json()}),
        }
    }
}
