//! Which (epsilon, delta) follow from a claim (rule book, section 8).

use super::claim::{Bounds, Claim, lost};
use super::curve::Shift;
use super::loss;
use super::orders::Orders;
use super::pair::Pair;
use super::real::{Real, once};
use super::special::normal_cdf;
use std::cell::Cell;

fn gdp_delta(mu: &Real, e: &Real) -> Real {
    let (half, ratio) = (mu / &Real::int(2), e / mu);
    normal_cdf(&(&half - &ratio)) - e.exp() * normal_cdf(&(-&half - &ratio))
}

/// One step on a sample of fixed size (section 12.3); unknown for other pairs.
fn sampled(pair: &Pair, e: &Real) -> Real {
    let Pair::Sampled { share, mu } = pair else { return Real::UNKNOWN };
    let inner = (Real::one() + (e.exp() - Real::one()) / share).ln();
    share * gdp_delta(mu, &inner)
}

impl Claim {
    /// Does `(epsilon, delta)` follow by the routes of section 8?
    pub fn proves(&self, epsilon: f64, delta: f64) -> bool {
        if let Claim::Max(parts) = self {
            return parts.iter().all(|c| c.proves(epsilon, delta));
        }
        let (p, e, d) = (self.bounds(), Real::decimal(epsilon), Real::decimal(delta));
        if p.pure.amount() <= epsilon || p.gdp.is_zero() || delta >= 1.0 {
            return true;
        }
        let pure = || (p.pure.exp() - e.exp()) / (Real::one() + p.pure.exp());
        let range = || lost(&((&p.range - &e) / Real::int(2))).square() / lost(&p.range);
        let laplace = |own: &Real| lost(&((own - &e) / Real::int(2)));
        let gdp = || once(format!("{:?} gdp {epsilon}", p.gdp), || gdp_delta(&p.gdp, &e));
        let curves = pure().le(&d) || range().le(&d) || (p.gdp.positive() && gdp().le(&d));
        match self {
            Claim::Gdp(_) | Claim::Range(_) | Claim::Pure(_) => curves,
            Claim::Laplace(own) => curves || laplace(own).le(&d),
            Claim::Exact(shift) if Real::new(shift.curve()(epsilon)).le(&d) => true,
            Claim::Renyi(pairs) if pairs.iter().all(|p| sampled(p, &e).le(&d)) => true,
            _ => {
                // By conversion, or on a grid of losses where releases are mixed.
                let best = || {
                    let composed = loss::epsilon(self, delta);
                    if composed.known() && (loss::many(self) || loss::suffices(self)) {
                        composed
                    } else {
                        self.converted(&p, &d).min(&composed)
                    }
                };
                curves || (delta > 0.0 && once(format!("{self:?} dp {delta}"), best).le(&e))
            }
        }
    }

    /// Does less than this epsilon not follow? Of a draw by its curve, beside which its divergences say less.
    pub fn needs(&self, epsilon: f64, delta: f64) -> bool {
        let by_curve = |shift: &Shift| Real::decimal(delta).le(&Real::new(shift.curve()(epsilon)));
        if let Claim::Exact(shift) = self { by_curve(shift) } else { !self.proves(epsilon, delta) }
    }

    /// Section 8.2 at the best order found by a grid and golden sections: any order is sound, so the search may be rough.
    fn converted(&self, p: &Bounds, delta: &Real) -> Real {
        let (orders, log, least) = (Orders::new(self), delta.ln().above(), Cell::new((f64::INFINITY, 2.0)));
        let value = |t: f64| {
            let order = 1.0 + t.exp();
            let m = order - 1.0;
            let found = orders.near(order) + (m / order).ln() - (log + order.ln()) / m;
            if found < least.get().0 {
                least.set((found, order));
            }
            found
        };
        let limit = self.limit().stated_limit().min(1e12);
        let top = ((limit - 1.0) * (1.0 - 1e-12)).ln();
        // Downwards until four values in a row are no better.
        let (mut best, mut at, mut t, mut risen) = (f64::INFINITY, top, top, 0);
        while t > (1e-7_f64).ln().min(top - 5.0) && risen < 4 {
            let v = value(t);
            risen += 1;
            if v < best {
                (best, at, risen) = (v, t, 0);
            }
            t -= 0.7;
        }
        let (mut lo, mut hi) = (at - 0.7, (at + 0.7).min(top));
        let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
        let [left, right] = [hi - ratio * (hi - lo), lo + ratio * (hi - lo)];
        let (mut a, mut b) = ((left, value(left)), (right, value(right)));
        for _ in 0..34 {
            if a.1 <= b.1 {
                hi = b.0;
                let t = hi - ratio * (hi - lo);
                (a, b) = ((t, value(t)), a);
            } else {
                lo = a.0;
                let t = lo + ratio * (hi - lo);
                (a, b) = (b, (t, value(t)));
            }
        }
        // Chords between whole orders leave a least value at each of them.
        for l in (2..=64).take_while(|_| self.has_chords()) {
            value(f64::from(l - 1).ln());
        }
        let order = Real::new(least.get().1);
        let m = &order - &Real::one();
        (self.rdp_with(p, &order) + (&m / &order).ln() - (delta.ln() + order.ln()) / m).max(&Real::zero())
    }

    fn has_chords(&self) -> bool {
        match self {
            Claim::Renyi(pairs) => pairs.iter().any(|p| matches!(p, Pair::Sampled { .. })),
            Claim::Product(parts) | Claim::Max(parts) => parts.iter().any(Claim::has_chords),
            Claim::Repeated(_, one) => one.has_chords(),
            _ => false,
        }
    }
}
