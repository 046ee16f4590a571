//! From claims to (epsilon, delta) and to budgets (rule book §8.1–8.3): every order of the conversion is sound, so the
//! search for the best one needs no proof.

use std::cell::Cell;

use crate::numeric::amount::{below, stated_up};
use crate::numeric::search;
use crate::privacy::compose::Profile;
use crate::privacy::layout::Layout;
use crate::privacy::lead::Lead;
use crate::privacy::order::{delta_at, epsilon_at};
use crate::privacy::work::{self, Asked};
use crate::privacy::{Claim, Pair, bounded_range, gdp, kinds, laplace, mixed, pure, subsampled};

/// Orders searched where there is no limit: `order - 1` between these.
const LEAST_EXCESS: f64 = 1e-7;
const MOST_EXCESS: f64 = 1e12;
/// Golden sections after the grid: `ln(order - 1)` to about 1e-6, the value to about 1e-12. The first are enough to see that the value
/// is `FAR` above what is known, as is the grid to see that it is twice that.
const REFINEMENTS: u32 = 30;
const FIRST: u32 = 8;
const FAR: f64 = 1.02;

/// The order in `(1, limit)` with the smallest value found, and that value, or any if all are above what is `known`. A grid in
/// `ln(order - 1)`, then golden sections: for one pair both objectives are unimodal, because `(order-1) D` is convex. What a divergence of
/// nothing would give at an order is its `least` value.
fn best_order(limit: f64, known: f64, least: impl Fn(f64) -> f64, mut value: impl FnMut(f64) -> f64) -> (f64, f64) {
    let most = ((limit - 1.0) * (1.0 - 1e-12)).min(MOST_EXCESS);
    if most.is_nan() || most <= 0.0 {
        return (1.0, f64::INFINITY);
    }
    let top = most.ln();
    let bottom = LEAST_EXCESS.ln().min(top - 5.0);
    let order = |t: f64| 1.0 + t.exp().min(most);
    let steps = (top - bottom).ceil().max(1.0);
    let width = (top - bottom) / steps;
    let (mut best, mut at, mut index) = (f64::INFINITY, top, 0.0);
    while index <= steps {
        let t = bottom + width * index;
        let found = if least(order(t)) < best.min(known) { value(order(t)) } else { f64::INFINITY };
        if found < best {
            (best, at) = (found, t);
        }
        index += 1.0;
    }
    let (lo, hi) = ((at - width).max(bottom), (at + width).min(top));
    let far = |best: f64, room: f64| known < f64::INFINITY && best > known * room;
    if best == f64::INFINITY || far(best, 1.5) || far(search::minimum(lo, hi, FIRST, |t| value(order(t))).1, FAR) {
        return (order(at), best);
    }
    let (t, refined) = search::minimum(lo, hi, REFINEMENTS, |t| value(order(t)));
    if refined < best { (order(t), refined) } else { (order(at), best) }
}

/// Where a search ended.
#[derive(Clone, Copy, Debug)]
pub enum Near {
    /// `ln(order - 1)`, and how far from there the next one looks.
    Order {
        at: f64,
        step: f64,
    },
    Curve(Lead),
}

/// Steps of a search that begins where another ended.
const STEPS: std::ops::RangeInclusive<f64> = 1e-3..=0.5;

/// Whole orders that are tried besides those of the search.
const CHORDS: std::ops::RangeInclusive<u32> = 2..=64;

impl Claim {
    /// The least epsilon known at this delta: `(epsilon, delta)` holds, both as decimals. Infinite if nothing is known.
    pub fn epsilon(&self, delta: f64) -> f64 {
        self.epsilon_and_order(delta).0
    }

    /// The order at which the Rényi conversion gives the epsilon of [`Claim::epsilon`]; `None` where another curve
    /// (exact GDP, bounded range, pure, Laplace, their composition on a grid) gives it, or nothing does.
    pub fn attaining_order(&self, delta: f64) -> Option<f64> {
        self.epsilon_and_order(delta).1
    }

    /// About what it costs over what is allowed, 1 where [`Claim::epsilon`] is what is allowed or close to it: for searches over claims that
    /// change little by little.
    pub fn over_near(&self, epsilon: f64, delta: f64, near: &Cell<Option<Near>>) -> f64 {
        let Claim::Exact(shift) = self else { return self.epsilon_near(delta, near) / epsilon };
        if !(delta > 0.0 && delta < 1.0) {
            return self.epsilon(delta) / epsilon;
        }
        let last = near.get().and_then(|near| if let Near::Curve(lead) = near { Some(lead) } else { None });
        let asked = Asked::Over(epsilon.to_bits(), delta.to_bits(), last);
        let (found, lead) = work::once(self, asked, || {
            let (found, lead) = shift.over(epsilon, below(delta), last);
            (found, Some(lead.number()))
        });
        near.set(lead.map(|number| Near::Curve(Lead::of(number))));
        found
    }

    /// At least [`Claim::epsilon`] and close to it, in few points where it is found by conversion: a parabola through three
    /// orders beside the last best one.
    fn epsilon_near(&self, delta: f64, near: &Cell<Option<Near>>) -> f64 {
        let pairs = match self {
            Claim::Repeated { claim, .. } => &**claim,
            other => other,
        };
        let converted = matches!(pairs, Claim::Renyi(_)) && !self.has_chords();
        if let (true, Some(Near::Order { at, step })) = (converted, near.get()) {
            let layout = Layout::of(self);
            let top = ((self.max_order() - 1.0) * (1.0 - 1e-12)).min(MOST_EXCESS).ln();
            let value = |t: f64| epsilon_at(layout.rdp(1.0 + t.exp()), 1.0 + t.exp(), delta);
            let (h, t) = (step, at.min(top - step));
            let [below, here, above] = [t - h, t, t + h].map(|t| (t, value(t)));
            let shift = 0.5 * h * (below.1 - above.1) / (below.1 - 2.0 * here.1 + above.1);
            if shift.abs() <= 4.0 * h {
                let end = (t + shift).min(top);
                let (at, least) = [below, here, above, (end, value(end))].into_iter().fold(here, |a, b| if b.1 < a.1 { b } else { a });
                near.set(Some(Near::Order { at, step: (0.5 * shift.abs()).clamp(*STEPS.start(), *STEPS.end()) }));
                return least;
            }
        }
        let (epsilon, order) = self.epsilon_and_order(delta);
        near.set(order.map(|order| Near::Order { at: (order - 1.0).ln(), step: *STEPS.end() }));
        epsilon
    }

    fn epsilon_and_order(&self, delta: f64) -> (f64, Option<f64>) {
        if delta.is_nan() || delta <= 0.0 {
            return (self.pure(), None);
        }
        if delta >= 1.0 {
            return (0.0, None);
        }
        work::once(self, Asked::Epsilon(delta.to_bits()), || {
            let (epsilon, order) = self.priced(below(delta));
            (stated_up(epsilon).min(self.pure()), order)
        })
    }

    fn priced(&self, delta: f64) -> (f64, Option<f64>) {
        if let Claim::Max(members) = self {
            return members
                .iter()
                .map(|member| member.epsilon_and_order(delta))
                .fold((0.0, None), |worst, member| if member.0 > worst.0 { member } else { worst });
        }
        let layout = Layout::of(self);
        let profile = &layout.profile;
        let mut best = profile.pure.min(pure::epsilon(profile.pure, delta)).min(bounded_range::epsilon(profile.bounded_range, delta));
        if profile.gdp.is_finite() {
            best = best.min(gdp::epsilon(profile.gdp, delta));
        }
        if let Claim::Laplace { .. } = self {
            best = best.min(laplace::epsilon(profile.pure, delta));
        }
        if self.has_exact_curve() {
            return (best, None);
        }
        match self {
            // Conversion comes from the same pairs, and says less.
            Claim::Exact(shift) => {
                best = best.min(shift.curve().epsilon(delta, 0.0));
                if best.is_finite() {
                    return (best, None);
                }
            }
            Claim::Renyi(pairs) => best = best.min(samples(pairs, |share, mu| subsampled::epsilon(share, mu, delta))),
            _ => {}
        }
        let composed = mixed::epsilon(self, delta);
        if composed.is_finite() && (mixed::many(self) || kinds::curves_suffice(self)) {
            return (best.min(composed), None);
        }
        let value = |order: f64| epsilon_at(layout.rdp(order), order, delta);
        let least = |order: f64| epsilon_at(0.0, order, delta);
        let (mut order, mut found) = best_order(self.max_order(), best.min(composed), least, value);
        if self.has_chords() {
            // Chords between whole orders leave a least value at each of them.
            for whole in CHORDS {
                let at = value(f64::from(whole));
                if at < found {
                    (order, found) = (f64::from(whole), at);
                }
            }
        }
        if found < best.min(composed) { (found, Some(order)) } else { (best.min(composed), None) }
    }

    /// Is it known at whole orders, and linear between them?
    fn has_chords(&self) -> bool {
        match self {
            Claim::Renyi(pairs) => pairs.iter().any(|p| matches!(p, Pair::Sampled { .. })),
            Claim::Product(parts) | Claim::Max(parts) => parts.iter().any(Claim::has_chords),
            Claim::Repeated { claim, .. } => claim.has_chords(),
            _ => false,
        }
    }

    /// The least delta known at this epsilon; one if nothing is known.
    pub fn delta(&self, epsilon: f64) -> f64 {
        if epsilon.is_nan() || epsilon < 0.0 {
            return 1.0;
        }
        if let Claim::Max(members) = self {
            return members.iter().map(|member| member.delta(epsilon)).fold(0.0, f64::max);
        }
        let layout = Layout::of(self);
        let best = self.delta_of_curves(&layout.profile, epsilon);
        if best == 0.0 || self.has_exact_curve() || (best < 1.0 && matches!(self, Claim::Exact(_))) {
            return best;
        }
        let least = |order: f64| delta_at(0.0, order, epsilon);
        let (_, found) = best_order(self.max_order(), f64::INFINITY, least, |order| delta_at(layout.rdp(order), order, epsilon));
        let best = best.min(found);
        best.min(mixed::delta(self, epsilon, best))
    }

    /// The same by the curves that are known without looking at orders.
    pub(super) fn delta_of_curves(&self, profile: &Profile, epsilon: f64) -> f64 {
        let mut best = 1.0_f64;
        if profile.pure.is_finite() {
            best = pure::delta(profile.pure, epsilon).min(bounded_range::delta(profile.bounded_range, epsilon));
        }
        if profile.gdp.is_finite() {
            best = best.min(gdp::delta(profile.gdp, epsilon));
        }
        match self {
            Claim::Laplace { .. } => best = best.min(laplace::delta(profile.pure, epsilon)),
            Claim::Exact(shift) => best = best.min(shift.curve().delta(epsilon)),
            Claim::Renyi(pairs) => best = best.min(samples(pairs, |share, mu| subsampled::delta(share, mu, epsilon))),
            _ => {}
        }
        best
    }

    /// Is the trade-off curve used above already the best that the claim allows?
    fn has_exact_curve(&self) -> bool {
        matches!(self, Claim::Gdp { .. } | Claim::BoundedRange { .. } | Claim::Pure { .. } | Claim::Laplace { .. })
    }
}

/// The largest value of noise on samples; infinite if another pair is among them.
fn samples(pairs: &[Pair], value: impl Fn(f64, f64) -> f64) -> f64 {
    let of = |pair: &Pair| if let Pair::Sampled { share, mu } = pair { value(*share, *mu) } else { f64::INFINITY };
    if kinds::samples(pairs) { pairs.iter().map(of).fold(0.0, f64::max) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BudgetKind;
    use crate::privacy::{Family, Pair};

    fn beta(u: f64, v: f64, n: f64) -> Claim {
        Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates: vec![(u, 1.0), (v + n, -1.0)], total: None }])
    }

    fn check(found: f64, expected: f64) {
        let excess = found / expected - 1.0;
        assert!((-3e-16..1e-9).contains(&excess), "{found} against {expected}");
    }

    /// Golden: rdp_to_dp, improved.
    #[test]
    fn one_order() {
        check(epsilon_at(0.5, 2.0, 1e-5), 10.626631103850338);
        check(epsilon_at(0.01, 1.5, 1e-3), 11.915968053079835);
        check(epsilon_at(0.2, 60.0, 1e-5), 0.3089315410522311);
        check(delta_at(0.5, 2.0, 1.0), 0.15163266492815836);
        check(delta_at(0.7, 10.0, 2.0), 3.213195474938188e-7);
        check(delta_at(0.2, 60.0, 0.5), 1.2711047281618894e-10);
    }

    /// Golden: rdp_to_dp, best order.
    #[test]
    fn best_orders() {
        check(beta(6.0, 12.0, 100.0).epsilon(1e-5), 2.6150400672541867);
        check(beta(40.0, 60.0, 500.0).epsilon(1e-6), 0.8262363389364638);
        check(Claim::Zcdp { rho: 0.125 }.epsilon(1e-5), 2.1657155451754853);
        check(Claim::Zcdp { rho: 0.78125 }.epsilon(1e-6), 6.73420129229814);
        check(Claim::Zcdp { rho: 0.0028125 }.epsilon(1e-5), 0.27506263177785);
        let order = beta(6.0, 12.0, 100.0).attaining_order(1e-5).unwrap();
        assert!(order > 1.0 && order < 7.0);
        assert_eq!(Claim::Gdp { mu: 1.0 }.attaining_order(1e-5), None);
    }

    #[test]
    fn epsilon_and_delta_are_inverse() {
        let parts = vec![beta(6.0, 12.0, 100.0), Claim::Gdp { mu: 0.3 }];
        for claim in [beta(6.0, 12.0, 100.0), Claim::Zcdp { rho: 0.1 }, Claim::Product(parts)] {
            let e = claim.epsilon(1e-6);
            let d = claim.delta(e);
            assert!((d / 1e-6 - 1.0).abs() < 1e-6, "{d}");
        }
    }

    #[test]
    fn twenty_bounded_range_draws() {
        // Rule book §5.2: 20 draws of 0.5 at delta 1e-6.
        let total = Claim::BoundedRange { eta: 0.5 }.repeat(20).epsilon(1e-6);
        assert!((total - 5.63).abs() < 0.01, "{total}");
    }

    #[test]
    fn budgets_compare_exactly() {
        let claim = Claim::Pure { epsilon: 0.5 };
        assert!(claim.implies(&BudgetKind::Pure(0.5)));
        assert!(!claim.implies(&BudgetKind::Pure(0.5_f64.next_down())));
        assert!(claim.implies(&BudgetKind::Zcdp(0.1225)));
        assert!(!claim.implies(&BudgetKind::Gdp(100.0)));
        assert!(claim.implies(&BudgetKind::Dp { epsilon: 0.5, delta: 0.0 }));
        let orders = BudgetKind::Rdp(vec![(2.0, 0.25), (4.0, 1.0)]);
        assert!(claim.implies(&orders));
        let draw = beta(6.0, 12.0, 100.0);
        assert!(draw.implies(&BudgetKind::Rdp(vec![(2.0, 0.1913)])));
        assert!(!draw.implies(&BudgetKind::Rdp(vec![(7.0, 1e9)])));
        assert!(!draw.implies(&BudgetKind::Zcdp(1e9)));
    }
}
