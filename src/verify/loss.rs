//! Mixed releases composed as privacy losses on a grid: the verifier's own, finer than the compiler's (rule book section 8.8).
//!
//! Plain doubles, every weight enlarged by more than they can be wrong; the result is an upper bound.

use super::claim::Claim;
use super::orders::{MARGIN, Orders};
use super::pair::Pair;
use super::real::Real;
use std::collections::BTreeMap;

const POINTS: i32 = 1024;
const MOST: usize = 5120;
/// So many curves are many: one of them gets half of the points, of four times as many a quarter.
const MANY: usize = 17;
/// The same for steps on samples, whose losses are mostly far smaller than the largest: twice as fine as the compiler's. Points that lie
/// t from where all but a part [`OUTER`] of the loss at either end is may be `t / APART` apart.
const FINE: i32 = 8192;
const MOST_FINE: usize = 12288;
const OUTER: f64 = 5e-4;
const APART: usize = 128;
/// Part of delta that the ends of all grids may cost.
const TAIL: f64 = 1e-4;

struct Grid {
    /// Losses are `i 2^width`.
    width: i32,
    low: i64,
    mass: Vec<f64>,
    lost: f64,
    most: usize,
}

impl Grid {
    /// One of so many.
    fn of(tail: f64, among: usize, curve: &dyn Fn(f64) -> f64) -> Option<Grid> {
        let points = if among >= 4 * MANY {
            POINTS / 4
        } else if among >= MANY {
            POINTS / 2
        } else {
            POINTS
        };
        Grid::at((points, MOST), tail, curve)
    }

    fn at((points, most): (i32, usize), tail: f64, curve: &dyn Fn(f64) -> f64) -> Option<Grid> {
        let delta = |e: f64| (curve(e) * MARGIN).min(1.0);
        // Any range at which the curve is low enough will do, so it may be taken for falling.
        let (mut no, mut range) = (-41, 15);
        while range - no > 1 {
            let middle = i32::midpoint(no, range);
            if delta(2.0_f64.powi(middle)) <= tail { range = middle } else { no = middle }
        }
        if range > 14 {
            return None;
        }
        let width = range - points.ilog2() as i32;
        let w = 2.0_f64.powi(width);
        let mut d: Vec<f64> = Vec::new();
        for i in 0..=points {
            d.push(delta(f64::from(i) * w));
            if d.last().is_some_and(|last| *last <= tail) {
                break;
            }
        }
        let d = convex(&d, w);
        let lost = *d.last()?;
        let (down, up) = (-libm::expm1(-w), libm::expm1(w));
        let at = |i: usize| d.get(i).copied().unwrap_or(lost);
        let above: Vec<f64> = (1..d.len()).map(|i| ((at(i - 1) - at(i)) / down - (at(i) - at(i + 1)) / up).max(0.0) * MARGIN).collect();
        let fallen = above.iter().zip(1..).map(|(p, i)| p * (-f64::from(i) * w).exp() * MARGIN);
        let mut mass: Vec<f64> = fallen.collect();
        mass.reverse();
        mass.push((1.0 - at(0) - 2.0 * (at(0) - at(1)) / up).max(0.0) + 1e-15);
        let low = -i64::try_from(above.len()).ok()?;
        mass.extend(above);
        Some(Grid { width, low, mass, lost, most })
    }

    fn wider(&self) -> Grid {
        let w = 2.0_f64.powi(self.width);
        let share = 1.0 / (1.0 + w.exp());
        let low = self.low.div_euclid(2);
        let mut mass = vec![0.0; self.mass.len() / 2 + 2];
        for (i, p) in (self.low..).zip(&self.mass) {
            let place = usize::try_from(i.div_euclid(2) - low).unwrap_or(0);
            let parts = if i.rem_euclid(2) == 0 { [*p, 0.0] } else { [p * share * MARGIN, p * (1.0 - share) * MARGIN] };
            for (slot, part) in mass.iter_mut().skip(place).zip(parts) {
                *slot += part;
            }
        }
        Grid { width: self.width + 1, low, mass, lost: self.lost, most: self.most }
    }

    /// The outer mass on fewer points: split between two so that its mean of exp(-loss) stays.
    fn thinner(mut self) -> Grid {
        let w = 2.0_f64.powi(self.width);
        let limit = self.mass.iter().sum::<f64>() * OUTER;
        let outer = |sum: &mut f64, p: &f64| {
            *sum += p;
            (*sum <= limit).then_some(())
        };
        let below = self.mass.iter().scan(0.0, outer).count();
        let above = self.mass.len() - self.mass.iter().rev().scan(0.0, outer).count();
        let distance = |place: usize| below.saturating_sub(place).max(place.saturating_sub(above));
        let apart = |t: usize| 1_i64 << (t / APART).max(1).ilog2();
        let low = self.low.div_euclid(256) * 256;
        let mut mass = vec![0.0; self.mass.len() + 512];
        for ((place, i), p) in (0..).zip(self.low..).zip(&self.mass).filter(|(_, p)| **p > 0.0) {
            let gap = apart(distance(place));
            let part = i.rem_euclid(gap);
            let up = if part == 0 { 0.0 } else { libm::expm1(-(part as f64) * w) / libm::expm1(-(gap as f64) * w) };
            for (at, share) in [(i - part, 1.0 - up), (i - part + gap, up)] {
                if let Some(slot) = usize::try_from(at - low).ok().and_then(|place| mass.get_mut(place)).filter(|_| share > 0.0) {
                    *slot += p * share * if part == 0 { 1.0 } else { MARGIN };
                }
            }
        }
        (self.low, self.mass) = (low, mass);
        self
    }

    fn with(&self, other: &Grid, tail: f64) -> Option<Grid> {
        let copy = |g: &Grid| Grid { width: g.width, low: g.low, mass: g.mass.clone(), lost: g.lost, most: g.most };
        let (mut a, mut b) = (copy(self), copy(other));
        while a.width < b.width {
            a = a.wider();
        }
        while b.width < a.width {
            b = b.wider();
        }
        let most = a.most.min(b.most);
        if most > MOST {
            (a, b) = (a.thinner(), b.thinner());
        }
        let all = |g: &Grid| g.mass.iter().sum::<f64>() + g.lost;
        let mut lost = (a.lost * all(&b) + b.lost * all(&a)) * MARGIN;
        let mut mass = vec![0.0; a.mass.len() + b.mass.len() - 1];
        let full: Vec<(usize, f64)> = b.mass.iter().copied().enumerate().filter(|(_, y)| *y > 0.0).collect();
        for (i, x) in a.mass.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            if 3 * full.len() < b.mass.len() {
                full.iter().for_each(|(j, y)| mass.get_mut(i + j).into_iter().for_each(|slot| *slot += x * y));
                continue;
            }
            for (slot, y) in mass.iter_mut().skip(i).zip(&b.mass) {
                *slot += x * y;
            }
        }
        mass.iter_mut().for_each(|m| *m *= MARGIN);
        let (mut low, mut cut) = (a.low + b.low, 0.0);
        while mass.len() > 1 && mass.last().is_some_and(|m| cut + m <= tail) {
            cut += mass.pop().unwrap_or(0.0);
        }
        lost += cut * MARGIN;
        let (mut raised, mut gone) = (0.0, 0);
        while gone + 1 < mass.len() && mass.get(gone).is_some_and(|m| raised + m <= tail) {
            raised += mass.get(gone).copied().unwrap_or(0.0);
            gone += 1;
        }
        mass.drain(..gone);
        low += i64::try_from(gone).ok()?;
        if let Some(first) = mass.first_mut() {
            *first += raised * MARGIN;
        }
        let mut both = Grid { width: a.width, low, mass, lost, most };
        while both.mass.len() > most {
            both = both.wider();
        }
        (both.width <= 8 && both.lost < 1.0).then_some(both)
    }

    fn times(self, count: u64, tail: f64) -> Option<Grid> {
        let share = |copies: f64| tail * copies / count as f64 / 128.0;
        let (mut left, mut copies, mut square, mut all) = (count, 1.0, self, None::<Grid>);
        loop {
            if left % 2 == 1 {
                all = Some(match all {
                    None => square.with(&Grid { width: square.width, low: 0, mass: vec![1.0], lost: 0.0, most: square.most }, 0.0)?,
                    Some(all) => all.with(&square, share(copies))?,
                });
            }
            left /= 2;
            if left == 0 {
                return all;
            }
            copies *= 2.0;
            square = square.with(&square, share(copies))?;
        }
    }

    /// From the top down: the curve, and the weights above a point discounted by their distance.
    fn delta(&self, e: f64) -> f64 {
        let w = 2.0_f64.powi(self.width);
        let losses = (self.low..).map(|i| i as f64 * w).zip(&self.mass);
        let sum: f64 = losses.filter(|(loss, _)| *loss > e).map(|(loss, p)| -p * libm::expm1(e - loss)).sum();
        ((self.lost + sum) * (1.0 + 1e-9)).min(1.0)
    }

    fn epsilon(&self, delta: f64) -> f64 {
        let top = (self.low as f64 + self.mass.len() as f64) * 2.0_f64.powi(self.width);
        let (mut no, mut yes) = (0.0, top.max(0.0));
        if self.delta(0.0) <= delta || self.delta(yes) > delta {
            return if self.delta(0.0) <= delta { 0.0 } else { f64::INFINITY };
        }
        for _ in 0..60 {
            let middle = f64::midpoint(no, yes);
            if self.delta(middle) <= delta { yes = middle } else { no = middle }
        }
        yes
    }
}

/// The largest convex curve in `exp(e)` below these points and their mirror images at -e: true curves are convex and
/// `h(-e) = 1 - exp(-e) + exp(-e) h(e)`, so it still lies above the true one.
fn convex(d: &[f64], w: f64) -> Vec<f64> {
    let mirrored = d.iter().enumerate().skip(1).rev().map(|(i, h)| {
        let t = (-(i as f64) * w).exp();
        (t, 1.0 - t + t * h)
    });
    let right: Vec<(f64, f64)> = d.iter().enumerate().map(|(i, h)| ((i as f64 * w).exp(), *h)).collect();
    let mut hull: Vec<(f64, f64)> = vec![];
    for p in mirrored.chain(right.iter().copied()) {
        while let [.., a, b] = hull.as_slice() {
            if (b.1 - a.1) * (p.0 - a.0) < (p.1 - a.1) * (b.0 - a.0) {
                break;
            }
            hull.pop();
        }
        hull.push(p);
    }
    let mut at = 0;
    let on = |(t, h): (f64, f64)| {
        while hull.get(at + 1).is_some_and(|b| b.0 < t) {
            at += 1;
        }
        match (hull.get(at), hull.get(at + 1)) {
            (Some(a), Some(b)) => (a.1 + (b.1 - a.1) * (t - a.0) / (b.0 - a.0)).min(h),
            _ => h,
        }
    };
    right.into_iter().map(on).collect()
}

/// What composes with what.
#[derive(Default)]
struct Parts {
    normal: f64,
    curves: BTreeMap<String, (Claim, u64)>,
    orders: Vec<Claim>,
    roads: Roads,
}

/// What enters as curves; the rest goes order by order.
#[derive(Clone, Copy, Default)]
struct Roads {
    ranges: bool,
    draws: bool,
}

impl Parts {
    fn of(claim: &Claim, roads: Roads) -> Option<Parts> {
        let mut parts = Parts { roads, ..Parts::default() };
        parts.add(claim, 1).then_some(parts)
    }

    fn add(&mut self, claim: &Claim, times: u64) -> bool {
        match claim {
            Claim::Product(list) => return list.iter().all(|c| self.add(c, times)),
            Claim::Repeated(more, one) => return times.checked_mul(*more).is_some_and(|t| self.add(one, t)),
            Claim::Gdp(mu) => self.normal += mu.above() * mu.above() * times as f64 * MARGIN,
            _ if !self.roads.curved(claim) || (!self.roads.ranges && matches!(claim, Claim::Range(_))) => {
                self.orders.push(claim.clone().repeat(times))
            }
            _ => {
                let (_, count) = self.curves.entry(format!("{claim:?}")).or_insert_with(|| (claim.clone(), 0));
                *count = count.saturating_add(times);
            }
        }
        true
    }

    fn grid(&self, tail: f64) -> Option<Grid> {
        let among = self.curves.len();
        let tail = tail / (2 * among + 4) as f64;
        let mut list = Vec::new();
        if self.normal > 0.0 {
            let mu = self.normal.sqrt();
            list.push(Grid::of(tail, among, &|e| normal(mu, e))?);
        }
        if !self.orders.is_empty() {
            let curve = Orders::new(&Claim::Product(self.orders.clone()));
            list.push(Grid::of(tail, among, &|e| curve.delta(e))?);
        }
        for (claim, times) in self.curves.values() {
            let (curve, part) = (curve(claim, tail, self.roads)?, tail / *times as f64);
            let fine = matches!(claim, Claim::Renyi(_));
            let one = if fine { Grid::at((FINE, MOST_FINE), part, &curve)? } else { Grid::of(part, among, &curve)? };
            list.push(one.times(*times, tail)?);
        }
        list.sort_by_key(|g| g.width);
        let mut list = list.into_iter();
        let first = list.next()?;
        list.try_fold(first, |all, next| all.with(&next, tail))
    }
}

impl Roads {
    fn curved(self, claim: &Claim) -> bool {
        match claim {
            Claim::Renyi(pairs) => self.draws && pairs.iter().all(|p| matches!(p, Pair::Sampled { .. })),
            Claim::Zcdp(_) => false,
            Claim::Exact(_) => self.draws,
            Claim::Product(list) | Claim::Max(list) => list.iter().any(|c| self.curved(c)),
            Claim::Repeated(_, one) => self.curved(one),
            _ => true,
        }
    }
}

fn normal(mu: f64, e: f64) -> f64 {
    let cdf = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    let kept = cdf(mu / 2.0 - e / mu);
    let (x, z) = (e / mu + mu / 2.0, e / mu - mu / 2.0);
    // Far out exp(e) cdf(-x) is the density at z times Mills' ratio, here by its fourth convergent from below; x > 34.
    let mills = x * (x * x + 5.0) / ((x * x + 6.0) * x * x + 3.0);
    let density = || (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if e > 600.0 { (kept - density() * mills).max(0.0) } else { kept - e.exp() * cdf(-x) }
}

/// Section 12.3: the curve of normal noise on a sample of fixed size.
pub fn sampled(pair: &Pair, e: f64) -> f64 {
    let Pair::Sampled { share, mu } = pair else { return 1.0 };
    let (g, mu) = (share.above().min(1.0), mu.above());
    let inner = if e < 30.0 { libm::log1p(libm::expm1(e) / g) } else { e - g.ln() + libm::log1p((g - 1.0) * (-e).exp()) };
    // Rounding of the argument by a part in 10^15 moves the curve by less than the margin adds.
    g * normal(mu, inner * (1.0 - 1e-15)) * MARGIN
}

type Curve = Box<dyn Fn(f64) -> f64>;

fn curve(claim: &Claim, tail: f64, roads: Roads) -> Option<Curve> {
    let below = |top: f64, f: Curve| -> Curve { Box::new(move |e| if e >= top { 0.0 } else { f(e) }) };
    Some(match claim {
        Claim::Pure(x) => {
            let x = x.above();
            below(x, Box::new(move |e| -libm::expm1(e - x) / (1.0 + (-x).exp())))
        }
        Claim::Laplace(x) => {
            let x = x.above();
            below(x, Box::new(move |e| -libm::expm1((e - x) / 2.0)))
        }
        Claim::Range(x) => {
            let x = x.above();
            below(x, Box::new(move |e| libm::expm1((e - x) / 2.0).powi(2) / -libm::expm1(-x)))
        }
        Claim::Gdp(mu) => {
            let mu = mu.above();
            Box::new(move |e| normal(mu, e))
        }
        Claim::Exact(shift) if roads.draws => Box::new(shift.curve()),
        Claim::Renyi(pairs) if roads.curved(claim) => {
            let pairs = pairs.clone();
            Box::new(move |e| pairs.iter().map(|p| sampled(p, e)).fold(0.0, f64::max))
        }
        Claim::Renyi(_) | Claim::Exact(_) | Claim::Zcdp(_) => {
            let orders = Orders::new(claim);
            Box::new(move |e| orders.delta(e))
        }
        Claim::Max(list) => {
            let list: Vec<Curve> = list.iter().map(|c| curve(c, tail, roads)).collect::<Option<_>>()?;
            Box::new(move |e| list.iter().map(|c| c(e)).fold(0.0, f64::max))
        }
        Claim::Product(list) if list.is_empty() => Box::new(|_| 0.0),
        Claim::Product(_) | Claim::Repeated(..) => {
            let grid = Parts::of(claim, Roads { ranges: true, ..roads })?.grid(tail)?;
            Box::new(move |e| grid.delta(e))
        }
    })
}

/// The least epsilon found for this claim at delta by composition on a grid, rounded up; infinite where nothing is mixed. Bounded ranges may compose as curves or order by order.
pub fn epsilon(claim: &Claim, delta: f64) -> Real {
    let mixed = |p: &Parts| {
        let curves = p.curves.values().fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
        let kinds = u64::from(p.normal > 0.0) + u64::from(!p.orders.is_empty());
        kinds > 1 || (curves > 0 && curves.saturating_add(kinds) > 1)
    };
    let any = |ranges, draws| Roads { ranges, draws };
    let ways = if ranges(claim) > 1 { 3 } else { 2 };
    let mut tries = [any(true, true), any(true, false), any(false, false)].into_iter().take(ways).filter_map(|roads| {
        let parts = Parts::of(claim, roads)?;
        mixed(&parts).then(|| parts.grid(delta * TAIL).map_or(f64::INFINITY, |g| g.epsilon(delta)))
    });
    let first = if many(claim) || suffices(claim) { tries.find(|e| e.is_finite()) } else { None };
    let best = first.unwrap_or_else(|| tries.fold(f64::INFINITY, f64::min));
    if best.is_finite() { Real::new(best) } else { Real::UNKNOWN }
}

/// Are so many releases mixed, draws among them, that their curves alone are composed?
pub fn many(claim: &Claim) -> bool {
    let all = Roads { ranges: true, draws: true };
    drawn(claim) && ranges(claim) <= 1 && Parts::of(claim, all).is_some_and(|parts| parts.curves.len() >= MANY)
}

/// Is every draw known by its curve, and nothing else better order by order?
pub fn suffices(claim: &Claim) -> bool {
    fn exact(claim: &Claim) -> bool {
        match claim {
            Claim::Renyi(_) | Claim::Zcdp(_) => false,
            Claim::Product(list) | Claim::Max(list) => list.iter().all(exact),
            Claim::Repeated(times, one) => *times < MANY as u64 && exact(one),
            _ => true,
        }
    }
    drawn(claim) && exact(claim) && ranges(claim) <= 1
}

/// Is there a draw with a curve of its own?
fn drawn(claim: &Claim) -> bool {
    match claim {
        Claim::Exact(_) => true,
        Claim::Renyi(_) => Roads { ranges: true, draws: true }.curved(claim),
        Claim::Product(list) | Claim::Max(list) => list.iter().any(drawn),
        Claim::Repeated(_, one) => drawn(one),
        _ => false,
    }
}

fn ranges(claim: &Claim) -> u64 {
    match claim {
        Claim::Range(_) => 1,
        Claim::Product(list) => list.iter().map(ranges).fold(0, u64::saturating_add),
        Claim::Repeated(times, one) => ranges(one).saturating_mul(*times),
        _ => 0,
    }
}
