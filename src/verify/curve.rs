//! What a claim says at every order and delta, recomputed from the formulas of the rule book (sections 0.1, 2.3, 6, 8).

use super::real::Real;
use super::special::{normal_cdf, rate_divergence, shape_divergence};
use std::cell::RefCell;
use std::collections::HashMap;

/// A pair of distributions, or a family of pairs; `P` has `a`, `Q` has `a + step`.
#[derive(Clone, Debug)]
pub enum Pair {
    Shapes { family: &'static str, moves: Vec<(Real, Real)>, total: Option<(Real, Real)> },
    Rate { shape: Real, rate: Real, step: Real },
    Spread { counts: Vec<Real>, base: Real, items: u64, weight: Real },
}

#[derive(Clone, Debug)]
pub enum Claim {
    Renyi(Vec<Pair>),
    Gdp(Real),
    Range(Real),
    Pure(Real),
    Laplace(Real),
    Product(Vec<Claim>),
    Max(Vec<Claim>),
    Repeated(u64, Box<Claim>),
}

/// Bounds of every kind; unknown where there is none.
#[derive(Clone, Debug)]
pub struct Profile {
    pub pure: Real,
    pub range: Real,
    pub zcdp: Real,
    pub gdp: Real,
}

/// Values computed before: certificates repeat claims, and checking many certificates repeats them again.
#[derive(Default)]
pub struct Memo(RefCell<HashMap<String, Real>>);

impl Memo {
    fn get(&self, key: String, make: impl FnOnce() -> Real) -> Real {
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let value = make();
        self.0.borrow_mut().insert(key, value.clone());
        value
    }
}

fn two() -> Real {
    Real::int(2)
}

fn pure_rdp(e: &Real, l: &Real) -> Real {
    let m = l - &Real::one();
    ((l * e).exp() / (Real::one() + e.exp()) + (-&(&m * e)).exp() / (Real::one() + e.exp())).ln() / &m
}

fn range_rdp(eta: &Real, l: &Real) -> Real {
    if !eta.positive() {
        return eta.clone();
    }
    let m = l - &Real::one();
    let lost = |x: &Real| -&(-x).exp_m1();
    let most = lost(&(l * eta));
    let e = &m * &most / (l * &((-eta).exp() * lost(&(&m * eta))));
    e.ln() + (most / (l * &lost(eta))).ln() / &m
}

fn laplace_rdp(e: &Real, l: &Real) -> Real {
    let m = l - &Real::one();
    let both = l + &m;
    (l * &(&m * e).exp() / &both + &m * &(-&(l * e)).exp() / &both).ln() / &m
}

fn pure_zcdp(e: &Real) -> Real {
    e * &(e.exp_m1() / (e.exp() + Real::one()))
}

fn range_zcdp(eta: &Real) -> Real {
    if !eta.positive() {
        return eta.clone();
    }
    let x = eta / &eta.exp_m1();
    &x - &Real::one() - x.ln()
}

fn at_least_zero(x: Real) -> Real {
    x.max(&Real::zero())
}

fn gdp_delta(mu: &Real, e: &Real) -> Real {
    let (half, ratio) = (mu / &two(), e / mu);
    normal_cdf(&(&half - &ratio)) - e.exp() * normal_cdf(&(-&half - &ratio))
}

/// The epsilon of mu-GDP at delta, between two doubles that differ in the 14th digit.
fn gdp_epsilon(mu: &Real, delta: &Real) -> Real {
    let above = |e: f64| delta.lt(&gdp_delta(mu, &Real::new(e)));
    if !mu.positive() || !above(0.0) {
        return if mu.known() { Real::zero() } else { Real::UNKNOWN };
    }
    // Secant steps on ln delta, which is nearly straight in e squared; a bracket of the 13th digit is then proved.
    let miss = |e: f64| (gdp_delta(mu, &Real::new(e)) / delta).ln().about();
    let m = mu.about();
    let (mut a, mut e) = (0.5 * m * m, 0.5 * m * m + m * (-2.0 * delta.about().ln()).sqrt());
    let (mut at_a, mut at_e) = (miss(a), miss(e));
    for _ in 0..30 {
        let next = (e - at_e * (e - a) / (at_e - at_a)).max(0.25 * e);
        (a, at_a) = (e, at_e);
        (e, at_e) = (next, miss(next));
        if (e - a).abs() <= 1e-13 * e || !at_e.is_finite() {
            break;
        }
    }
    let (mut lo, mut hi) = (e * (1.0 - 1e-13), e * (1.0 + 1e-13));
    for _ in 0..60 {
        match (above(lo), above(hi)) {
            (true, false) => break,
            (false, _) => lo -= (hi - lo) * 2.0,
            (_, true) => hi += (hi - lo) * 2.0,
        }
    }
    if !above(lo) || above(hi) {
        return Real::UNKNOWN;
    }
    Real::hull_of(&Real::new(lo), &Real::new(hi))
}

impl Pair {
    fn rdp(&self, order: &Real) -> Real {
        match self {
            Pair::Rate { shape, rate, step } => rate_divergence(shape, rate, step, order),
            Pair::Shapes { moves, total, .. } => {
                let sum = moves.iter().fold(Real::zero(), |s, (a, step)| s + shape_divergence(a, step, order));
                match total {
                    Some((a, step)) => sum - shape_divergence(a, step, order),
                    None => sum,
                }
            }
            Pair::Spread { counts, base, items, weight } => spread(counts, base, *items, weight, order),
        }
    }

    /// Orders below this are finite; unknown if all are.
    fn limit(&self) -> Real {
        let one = |a: &Real, s: &Real| if s.positive() { Real::one() + a / s } else { Real::UNKNOWN };
        let least = |it: Vec<Real>| it.iter().fold(Real::UNKNOWN, |m, x| m.min(x));
        match self {
            Pair::Rate { rate, step, .. } => one(rate, step),
            Pair::Shapes { moves, .. } => least(moves.iter().map(|(a, s)| one(a, s)).collect()),
            Pair::Spread { counts, items, weight, .. } => least(counts.iter().map(|a| one(a, &(weight * &Real::int(*items)))).collect()),
        }
    }
}

/// Section 2.3 by plain recursion over categories: Q's category gains all items, the others lose what P holds there, and the
/// other rows' weight sits on one of them.
fn spread(counts: &[Real], base: &Real, items: u64, weight: &Real, order: &Real) -> Real {
    let size = usize::try_from(items).unwrap_or(usize::MAX);
    let mut worst = Real::zero();
    let places = if base.positive() { counts.len() } else { 1 };
    let lose = |a: &Real, x: usize| {
        let s = weight * &Real::int(x as u64);
        if x == 0 { Real::zero() } else { shape_divergence(&(a + &s), &-&s, order) }
    };
    let rows: Vec<[Vec<Real>; 2]> =
        counts.iter().map(|a| [a.clone(), a + base].map(|a| (0..=size).map(|x| lose(&a, x)).collect())).collect();
    for place in 0..places {
        let heavy = |j: usize| usize::from(base.positive() && j == place);
        for (i, a) in counts.iter().enumerate() {
            let own = if heavy(i) == 1 { a + base } else { a.clone() };
            let gain = shape_divergence(&own, &(weight * &Real::int(items)), order);
            let mut best: Vec<Option<Real>> = vec![None; size + 1];
            if let Some(first) = best.first_mut() {
                *first = Some(Real::zero());
            }
            for (j, row) in rows.iter().enumerate().filter(|(j, _)| *j != i) {
                let own = if heavy(j) == 1 { &row[1] } else { &row[0] };
                best = (0..=size)
                    .map(|t| {
                        let sums = best.iter().take(t + 1).zip(own.iter().take(t + 1).rev());
                        sums.filter_map(|(b, o)| Some(b.as_ref()? + o)).reduce(|a, b| a.max(&b))
                    })
                    .collect();
            }
            if let Some(Some(rest)) = best.last() {
                worst = worst.max(&(gain + rest));
            }
        }
    }
    worst
}

impl Claim {
    pub fn profile(&self) -> Profile {
        let none = || Profile { pure: Real::UNKNOWN, range: Real::UNKNOWN, zcdp: Real::UNKNOWN, gdp: Real::UNKNOWN };
        let free = || Profile { pure: Real::zero(), range: Real::zero(), zcdp: Real::zero(), gdp: Real::zero() };
        let mut p = match self {
            Claim::Renyi(_) => none(),
            Claim::Gdp(mu) => Profile { gdp: mu.clone(), ..none() },
            Claim::Range(eta) => Profile { range: eta.clone(), ..none() },
            Claim::Pure(e) => Profile { pure: e.clone(), ..none() },
            Claim::Laplace(e) => Profile { pure: e.clone(), zcdp: e + &(-e).exp_m1(), ..none() },
            Claim::Product(parts) => parts.iter().map(Claim::profile).fold(free(), |a, b| Profile {
                // Two bounded ranges do not add under adaptive composition.
                range: if a.range.positive() && b.range.positive() { Real::UNKNOWN } else { a.range.max(&b.range) },
                pure: a.pure + b.pure,
                zcdp: a.zcdp + b.zcdp,
                gdp: (a.gdp.square() + b.gdp.square()).sqrt(),
            }),
            Claim::Repeated(times, one) => {
                let (p, n) = (one.profile(), Real::int(*times));
                Profile { pure: &n * &p.pure, range: Real::UNKNOWN, zcdp: &n * &p.zcdp, gdp: n.sqrt() * p.gdp }
            }
            Claim::Max(parts) => parts.iter().map(Claim::profile).fold(free(), |a, b| Profile {
                pure: a.pure.max(&b.pure),
                range: a.range.max(&b.range),
                zcdp: a.zcdp.max(&b.zcdp),
                gdp: a.gdp.max(&b.gdp),
            }),
        };
        p.range = p.range.min(&(two() * &p.pure));
        p.pure = p.pure.min(&p.range);
        if p.pure.known() {
            p.zcdp = p.zcdp.min(&pure_zcdp(&p.pure)).min(&range_zcdp(&p.range));
        }
        p.zcdp = p.zcdp.min(&(p.gdp.square() / two()));
        p
    }

    pub fn limit(&self) -> Real {
        let least = |it: Vec<Real>| it.iter().fold(Real::UNKNOWN, |m, x| m.min(x));
        match self {
            Claim::Renyi(pairs) => least(pairs.iter().map(Pair::limit).collect()),
            Claim::Product(parts) | Claim::Max(parts) => least(parts.iter().map(Claim::limit).collect()),
            Claim::Repeated(_, one) => one.limit(),
            _ => Real::UNKNOWN,
        }
    }

    pub fn rdp(&self, order: f64, memo: &Memo) -> Real {
        memo.get(format!("{self:?} rdp {order}"), || self.rdp_with(&self.profile(), &Real::new(order)))
    }

    pub fn rdp_at(&self, order: &Real) -> Real {
        self.rdp_with(&self.profile(), order)
    }

    fn rdp_with(&self, p: &Profile, order: &Real) -> Real {
        let part = |c: &Claim| c.rdp_with(&c.profile(), order);
        let own = match self {
            Claim::Renyi(pairs) => pairs.iter().fold(Real::zero(), |w, pair| w.max(&pair.rdp(order))),
            Claim::Laplace(e) => laplace_rdp(e, order),
            Claim::Product(parts) => parts.iter().fold(Real::zero(), |s, c| s + part(c)),
            Claim::Max(parts) => parts.iter().fold(Real::zero(), |w, c| w.max(&part(c))),
            Claim::Repeated(times, one) => Real::int(*times) * part(one),
            _ => Real::UNKNOWN,
        };
        let best = own.min(&p.pure).min(&(order * &p.zcdp));
        at_least_zero(if p.pure.known() { best.min(&pure_rdp(&p.pure, order)).min(&range_rdp(&p.range, order)) } else { best })
    }

    /// The least epsilon at delta that the routes of section 8 prove; by conversion, the best order found.
    pub fn epsilon(&self, delta: f64, memo: &Memo) -> Real {
        memo.get(format!("{self:?} dp {delta}"), || {
            if let Claim::Max(parts) = self {
                return parts.iter().fold(Real::zero(), |w, c| w.max(&c.epsilon(delta, memo)));
            }
            let (p, d) = (self.profile(), Real::new(delta));
            let mut best = p.pure.clone();
            if p.pure.known() {
                let lost = Real::one() - &d * &(Real::one() + (-&p.pure).exp());
                best = best.min(&if lost.positive() { at_least_zero(&p.pure + &lost.ln()) } else { Real::zero() });
                let kept = Real::one() - (&d * &(Real::one() - (-&p.range).exp())).sqrt();
                best = best.min(&if kept.positive() { at_least_zero(&p.range + &(two() * kept.ln())) } else { Real::zero() });
            }
            if p.gdp.known() {
                best = best.min(&gdp_epsilon(&p.gdp, &d));
            }
            match self {
                Claim::Laplace(e) => best.min(&at_least_zero(e + &(two() * (Real::one() - &d).ln()))),
                Claim::Gdp(_) | Claim::Range(_) | Claim::Pure(_) => best,
                _ => best.min(&self.converted(&p, &d)).min(&super::loss::epsilon(self, delta)),
            }
        })
    }

    /// Section 8.2 at the best order found: any order is sound.
    fn converted(&self, p: &Profile, delta: &Real) -> Real {
        let value = |t: f64| {
            let order = Real::new(1.0 + t.exp());
            let m = &order - &Real::one();
            let kept = (&m / &order).ln();
            at_least_zero(self.rdp_with(p, &order) + kept - (delta.ln() + order.ln()) / &m)
        };
        let limit = self.limit();
        let top = if limit.known() { ((limit.about() - 1.0) * (1.0 - 1e-12)).ln() } else { 1e12_f64.ln() };
        let bottom = (1e-7_f64).ln().min(top - 5.0);
        let (mut best, mut at, mut t, mut risen) = (Real::UNKNOWN, top, top, 0);
        while t >= bottom && risen < 4 {
            let v = value(t);
            risen += 1;
            if v.about() < best.about() {
                (best, at, risen) = (v, t, 0);
            }
            t -= 0.7;
        }
        // Golden sections, then parabolas through three points, ever closer.
        let (mut lo, mut hi) = (at - 0.7, (at + 0.7).min(top));
        let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
        let inner = |lo: f64, hi: f64| [hi - ratio * (hi - lo), lo + ratio * (hi - lo)].map(|t| (t, value(t)));
        let [mut a, mut b] = inner(lo, hi);
        for _ in 0..12 {
            if a.1.about() <= b.1.about() {
                hi = b.0;
                let t = hi - ratio * (hi - lo);
                (a, b) = ((t, value(t)), a);
            } else {
                lo = a.0;
                let t = lo + ratio * (hi - lo);
                (a, b) = (b, (t, value(t)));
            }
        }
        at = 0.5 * (lo + hi);
        for width in [2e-3, 2e-4, 2e-5] {
            let middle = at.min(top - width);
            let [a, b, c] = [middle - width, middle, middle + width].map(&value);
            let (l, r) = ((&a - &b).about(), (&c - &b).about());
            let shift = if l + r > 0.0 { 0.5 * width * (l - r) / (l + r) } else { 0.0 };
            at = (middle + shift.clamp(-width, width)).min(top);
            best = best.min(&value(at)).min(&a).min(&b).min(&c);
        }
        best
    }

    /// This claim `times` over, in the form the compiler writes it.
    pub fn repeat(self, times: u64) -> Claim {
        match self {
            one if times == 1 => one,
            Claim::Gdp(mu) => Claim::Gdp(Real::int(times).sqrt() * mu),
            one => Claim::Repeated(times, Box::new(one)),
        }
    }
}
