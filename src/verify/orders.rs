//! Renyi divergences at many orders in plain doubles, enlarged by more than they can be wrong, and what they convert to
//! (rule book, section 8.2).

use super::claim::{Bounds, Claim};
use super::pair::Pair;
use super::real::Real;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// By this much sums and products of doubles are enlarged.
pub const MARGIN: f64 = 1.0 + 1e-10;

/// A claim at a list of orders, each priced when it is first needed.
pub struct Orders {
    /// Pairs whose divergences add up, with their number, and what else there is.
    pairs: BTreeMap<String, (Pair, f64)>,
    rest: BTreeMap<String, (Claim, Bounds, u64)>,
    whole: Bounds,
    excess: Vec<f64>,
    known: RefCell<Vec<Option<f64>>>,
    at: RefCell<usize>,
}

impl Orders {
    pub fn new(claim: &Claim) -> Orders {
        let limit = claim.limit();
        let most = if limit.known() { (limit.above() - 1.0) * (1.0 - 1e-9) } else { 1e6 };
        let mut excess: Vec<f64> = (0..600).map(|i| 1e-4 * 1.05_f64.powi(i)).take_while(|m| *m < most).collect();
        excess.extend([0.3, 0.1, 0.03, 0.01, 0.003, 0.001].map(|gap| most * (1.0 - gap)));
        excess.sort_by(f64::total_cmp);
        let at = excess.partition_point(|m| *m < most.min(1.0) / 2.0).min(excess.len() - 1);
        let known = RefCell::new(vec![None; excess.len()]);
        let whole = claim.bounds();
        let mut orders = Orders { pairs: BTreeMap::new(), rest: BTreeMap::new(), whole, known, excess, at: RefCell::new(at) };
        orders.add(claim, 1);
        orders
    }

    fn add(&mut self, claim: &Claim, times: u64) {
        let mut pair = |pair: Pair| self.pairs.entry(format!("{pair:?}")).or_insert((pair, 0.0)).1 += times as f64;
        match claim {
            Claim::Product(list) => list.iter().for_each(|c| self.add(c, times)),
            Claim::Repeated(more, one) => self.add(one, times.saturating_mul(*more)),
            Claim::Exact(shift) => pair(shift.pair()),
            Claim::Renyi(list) if list.len() == 1 => list.iter().cloned().for_each(pair),
            _ => {
                let new = || (claim.clone(), claim.bounds(), 0);
                let count = &mut self.rest.entry(format!("{claim:?}")).or_insert_with(new).2;
                *count = count.saturating_add(times);
            }
        }
    }

    /// About the divergence of this order.
    pub fn near(&self, order: f64) -> f64 {
        let rest = self.rest.values().map(|(claim, p, times)| *times as f64 * near(claim, p, order));
        bounded(&self.whole, order).min(self.of_pairs(order) + rest.sum::<f64>())
    }

    fn of_pairs(&self, order: f64) -> f64 {
        let one = |(pair, times): &(Pair, f64)| times * pair.rdp_above(order).unwrap_or_else(|| pair.rdp(&Real::new(order)).above());
        self.pairs.values().map(one).sum()
    }

    /// At least the divergence of this order.
    fn rdp(&self, order: f64) -> f64 {
        let exactly = Real::new(order);
        let rest = self.rest.values().map(|(claim, p, times)| (Real::int(*times) * claim.rdp_with(p, &exactly)).above());
        (self.of_pairs(order) + rest.sum::<f64>() + 1e-15) * MARGIN
    }

    fn value(&self, place: usize, e: f64) -> f64 {
        let Some(m) = self.excess.get(place) else { return 1.0 };
        let mut known = self.known.borrow_mut();
        let Some(slot) = known.get_mut(place) else { return 1.0 };
        let d = *slot.get_or_insert_with(|| self.rdp(1.0 + m));
        // exp(m (D - e))/m (1 - 1/order)^order
        let log = m * (d - e) - m.ln() - (1.0 + m) * libm::log1p(1.0 / m);
        if d.is_finite() { (log.exp() * (1.0 + 1e-9)).min(1.0) } else { 1.0 }
    }

    pub fn delta(&self, e: f64) -> f64 {
        let mut at = self.at.borrow_mut();
        let mut best = self.value(*at, e);
        for forward in [true, false] {
            loop {
                let next = if forward { Some(*at + 1) } else { at.checked_sub(1) };
                let Some(next) = next.filter(|n| *n < self.excess.len()) else { break };
                let found = self.value(next, e);
                if found > best {
                    break;
                }
                (*at, best) = (next, found);
            }
        }
        best
    }
}

/// About the divergence of one part.
fn near(claim: &Claim, p: &Bounds, order: f64) -> f64 {
    let m = order - 1.0;
    let own = match claim {
        Claim::Laplace(e) => {
            let e = e.above();
            // With exp(m e) taken out: it overflows at large orders.
            e + ((order + m * (-(order + m) * e).exp()) / (order + m)).ln() / m
        }
        Claim::Renyi(_) | Claim::Max(_) => claim.rdp_with(p, &Real::new(order)).above(),
        _ => f64::INFINITY,
    };
    bounded(p, order).min(own)
}

/// About what bounds say of the divergence.
fn bounded(p: &Bounds, order: f64) -> f64 {
    let (m, e, eta) = (order - 1.0, p.pure.above(), p.range.above());
    let lost = |x: f64| -libm::expm1(-x);
    let pure = e + (libm::log1p((-(order + m) * e).exp()) - libm::log1p((-e).exp())) / m;
    let most = lost(order * eta);
    let range = (m * most / (order * (-eta).exp() * lost(m * eta))).ln() + (most / (order * lost(eta))).ln() / m;
    // What is not a number is not a bound.
    e.min(order * p.zcdp.above()).min(pure).min(range)
}
