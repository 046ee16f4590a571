//! (epsilon, delta) of mixed releases: every part as a curve of its own, the curves composed on a grid (rule book §8.8).

use crate::numeric::round::{add_up, mul_up, sqrt_up};
use crate::privacy::compose::{Profile, count_up, known};
use crate::privacy::kinds::{curves_suffice, has_draw, many_ranges, samples};
use crate::privacy::layout::Layout;
use crate::privacy::loss::{Curve, Heights, Losses, MANY};
use crate::privacy::order::delta_at;
use crate::privacy::{Claim, Pair, shift, subsampled, work};
use std::rc::Rc;

/// Orders at which the Rényi part of a claim is priced: `order - 1` from `LEAST_EXCESS`, growing by the factor `GROWTH`.
const LEAST_EXCESS: f64 = 1e-3;
const GROWTH: f64 = 1.2;
const ORDERS: usize = 128;
/// Part of delta that the ends of a grid may cost.
const TAIL: f64 = 1e-4;

/// What composes with what: GDP in squares, curves on the grid, everything that has a Rényi curve alone order by order.
#[derive(Default)]
struct Parts<'a> {
    mu_squared: f64,
    curves: Vec<(&'a Claim, u64)>,
    renyi: Vec<Claim>,
    roads: Roads,
}

/// What enters as curves; the rest goes order by order, which is better for many of a kind.
#[derive(Clone, Copy, Default)]
struct Roads {
    /// Bounded ranges.
    ranges: bool,
    /// Draws whose curve is known.
    draws: bool,
}

impl<'a> Parts<'a> {
    fn of(claim: &'a Claim, roads: Roads) -> Option<Parts<'a>> {
        let mut parts = Parts { roads, ..Parts::default() };
        parts.collect(claim, 1)?;
        Some(parts)
    }

    fn collect(&mut self, claim: &'a Claim, times: u64) -> Option<()> {
        match claim {
            _ if times == 0 => {}
            Claim::Product(list) => list.iter().try_for_each(|part| self.collect(part, times))?,
            Claim::Repeated { times: more, claim } => self.collect(claim, times.checked_mul(*more)?)?,
            Claim::Gdp { mu } => self.mu_squared = add_up(self.mu_squared, mul_up(count_up(times), mul_up(known(*mu), known(*mu)))),
            Claim::BoundedRange { .. } if !self.roads.ranges => self.renyi.push(claim.repeat(times)),
            _ if !self.roads.curve(claim) => self.renyi.push(claim.repeat(times)),
            _ => match self.curves.iter_mut().find(|(known, _)| *known == claim) {
                Some((_, count)) => *count = count.checked_add(times)?,
                None => self.curves.push((claim, times)),
            },
        }
        Some(())
    }

    /// Are there two parts or more, not all of them of the kinds that compose in closed form?
    fn mixed(&self) -> bool {
        let gdp = u64::from(self.mu_squared > 0.0);
        let renyi = u64::from(!self.renyi.is_empty());
        let curves = self.curves.iter().fold(0_u64, |sum, (_, times)| sum.saturating_add(*times));
        gdp + renyi > 1 || (curves > 0 && curves.saturating_add(gdp + renyi) > 1)
    }

    /// All parts on one grid; `None` if a part has no curve, or more than `worst` is lost for certain.
    fn losses(&self, tail: f64, worst: f64) -> Option<Losses> {
        let among = self.curves.len();
        let tail = tail / (2 * among + 4) as f64;
        let mut list = Vec::new();
        if self.mu_squared > 0.0 {
            let claim = Claim::Gdp { mu: sqrt_up(self.mu_squared) };
            list.push(Losses::of_curve(tail, among, |e: f64| claim.delta(e))?);
        }
        if !self.renyi.is_empty() {
            let mut curve = Converted::of(&Claim::Product(self.renyi.clone()));
            list.push(Losses::of_curve(tail, among, |e: f64| curve.delta(e))?);
        }
        for (claim, times) in &self.curves {
            // A tail at the end of one release counts once for each.
            let shape = Shape::of(claim, tail, self.roads)?;
            // The loss of one of many steps is far smaller than the largest that a step can have.
            let fine = matches!(shape, Shape::Samples(_));
            let one = if fine { Losses::fine(tail / *times as f64, shape)? } else { Losses::of_curve(tail / *times as f64, among, shape)? };
            list.push(one.times(*times, tail, worst)?);
        }
        // The finest grids first, while they are small.
        list.sort_by_key(Losses::step);
        list.into_iter().reduce(|all, next| all.then(&next, tail))
    }
}

impl Roads {
    /// Is there a curve beside the Rényi divergences, in the claim or in what it consists of?
    fn curve(self, claim: &Claim) -> bool {
        match claim {
            Claim::Renyi(pairs) => self.draws && samples(pairs),
            Claim::Zcdp { .. } => false,
            Claim::Exact(_) => self.draws,
            Claim::Gdp { .. } | Claim::BoundedRange { .. } | Claim::Pure { .. } | Claim::Laplace { .. } => true,
            Claim::Product(list) | Claim::Max(list) => list.iter().any(|part| self.curve(part)),
            Claim::Repeated { claim, .. } => self.curve(claim),
        }
    }
}

/// The hockey-stick curve of a claim by the road that suits it.
enum Shape<'a> {
    Exact(&'a Claim, Profile),
    Draw(&'a Claim, shift::Curve),
    Samples(&'a [Pair]),
    Converted(Converted),
    Grid(Curve),
    Max(Vec<Shape<'a>>),
}

impl<'a> Shape<'a> {
    fn of(claim: &'a Claim, tail: f64, roads: Roads) -> Option<Shape<'a>> {
        Some(match claim {
            Claim::Max(members) => Shape::Max(members.iter().map(|m| Shape::of(m, tail, roads)).collect::<Option<_>>()?),
            Claim::Product(_) | Claim::Repeated { .. } => {
                let parts = Parts::of(claim, Roads { ranges: true, ..roads })?;
                // Nothing at all, or one kind that composes in closed form.
                match parts.losses(tail, 1.0) {
                    Some(losses) => Shape::Grid(losses.curve()),
                    None if parts.mu_squared == 0.0 && parts.curves.is_empty() && parts.renyi.is_empty() => Shape::Max(Vec::new()),
                    None => return None,
                }
            }
            Claim::Exact(shift) if roads.draws => Shape::Draw(claim, shift.curve()),
            Claim::Renyi(pairs) if roads.curve(claim) => Shape::Samples(pairs),
            _ if roads.curve(claim) => Shape::Exact(claim, claim.profile()),
            _ => Shape::Converted(Converted::of(claim)),
        })
    }
}

impl Heights for Shape<'_> {
    fn delta(&mut self, epsilon: f64) -> f64 {
        match self {
            Shape::Exact(claim, profile) => claim.delta_of_curves(profile, epsilon),
            Shape::Draw(_, curve) => curve.delta(epsilon),
            Shape::Samples(pairs) => pairs.iter().map(|pair| sampled(pair, epsilon)).fold(0.0, f64::max),
            Shape::Converted(curve) => curve.delta(epsilon),
            Shape::Grid(curve) => curve.delta(epsilon),
            Shape::Max(members) => members.iter_mut().map(|m| m.delta(epsilon)).fold(0.0, f64::max),
        }
    }

    fn at_most(&mut self, epsilon: f64, bound: f64) -> bool {
        match self {
            Shape::Draw(_, curve) => curve.at_most(epsilon, bound),
            Shape::Max(members) => members.iter_mut().all(|m| m.at_most(epsilon, bound)),
            _ => self.delta(epsilon) <= bound,
        }
    }

    fn heights(&mut self, width: f64, count: u32, tail: f64) -> Rc<[f64]> {
        match self {
            // Heights of a draw do not depend on delta.
            Shape::Draw(claim, curve) => work::heights(claim, width, count, || curve.heights(width, count)),
            Shape::Max(members) => {
                let all = members.iter_mut().map(|m| m.heights(width, count, -1.0));
                all.reduce(|a, b| a.iter().zip(b.iter()).map(|(a, b)| a.max(*b)).collect()).unwrap_or_else(|| Rc::new([0.0]))
            }
            _ => {
                let mut delta = |e: f64| self.delta(e);
                Heights::heights(&mut delta, width, count, tail)
            }
        }
    }
}

/// Rényi divergences at fixed orders, to be converted at many epsilons.
struct Converted {
    /// `(order, divergence)`
    points: Vec<(f64, f64)>,
    /// Where the last search ended.
    at: usize,
}

impl Converted {
    fn of(claim: &Claim) -> Converted {
        let limit = claim.max_order();
        let excess = (0..ORDERS as i32).map(|i| LEAST_EXCESS * GROWTH.powi(i));
        let below = excess.take_while(|m| 1.0 + m < limit);
        let mut orders: Vec<f64> = below.map(|m| 1.0 + m).collect();
        // A limit below or just above the last of them is where the best order often lies.
        if limit.is_finite() {
            orders.extend([0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995].map(|part| 1.0 + part * (limit - 1.0)));
            orders.sort_by(f64::total_cmp);
        }
        let layout = Layout::of(claim);
        Converted { points: orders.into_iter().map(|order| (order, layout.rdp(order))).collect(), at: 0 }
    }

    /// Every order is sound; the search walks from the last best one, which moves little from epsilon to epsilon.
    fn delta(&mut self, epsilon: f64) -> f64 {
        let at = |place: usize| self.points.get(place).map_or(1.0, |&(order, divergence)| delta_at(divergence, order, epsilon));
        let (mut place, mut best) = (self.at, at(self.at));
        let mut step = |forward: bool| loop {
            let next = if forward { Some(place + 1) } else { place.checked_sub(1) };
            let Some(found) = next.filter(|n| *n < self.points.len()).map(|n| (n, at(n))) else { break };
            if found.1 > best {
                break;
            }
            (place, best) = found;
        };
        step(true);
        step(false);
        self.at = place;
        best
    }
}

/// Every way to see bounded ranges and draws, each with its composition on a grid; fewer where that road is closed or the
/// closed forms are as good.
fn composed(claim: &Claim, tail: f64, worst: f64) -> impl Iterator<Item = Curve> {
    let one = move |roads: Roads| Some(Parts::of(claim, roads).filter(Parts::mixed)?.losses(tail, worst)?.curve());
    let draws = has_draw(claim).then_some(Roads { ranges: true, draws: true });
    let converted = [true, false].into_iter().take(if many_ranges(claim) { 2 } else { 1 });
    draws.into_iter().chain(converted.map(|ranges| Roads { ranges, draws: false })).filter_map(one)
}

/// The curve of noise on samples; 1 for any other pair.
fn sampled(pair: &Pair, epsilon: f64) -> f64 {
    if let Pair::Sampled { share, mu } = pair { subsampled::delta(*share, *mu, epsilon) } else { 1.0 }
}

/// Are so many releases mixed, draws among them, that their curves alone are composed? Orders lose more there than a grid does.
pub fn many(claim: &Claim) -> bool {
    let all = Roads { ranges: true, draws: true };
    has_draw(claim) && !many_ranges(claim) && Parts::of(claim, all).is_some_and(|parts| parts.curves.len() >= MANY)
}

/// The epsilon at `delta` by composing on a grid; infinite where that road is closed.
pub fn epsilon(claim: &Claim, delta: f64) -> f64 {
    let mut found = composed(claim, delta * TAIL, delta).map(|curve| curve.epsilon(delta));
    let first = if many(claim) || curves_suffice(claim) { found.find(|e| e.is_finite()) } else { None };
    first.unwrap_or_else(|| found.fold(f64::INFINITY, f64::min))
}

/// The delta at `epsilon` by composing on a grid, to improve on the delta `known`; one where that road is closed.
pub fn delta(claim: &Claim, epsilon: f64, known: f64) -> f64 {
    composed(claim, known * TAIL, known).map(|curve| curve.delta(epsilon)).fold(1.0, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Family, Pair, gdp, laplace};

    fn product(claims: &[Claim]) -> Claim {
        Claim::Product(claims.to_vec())
    }

    /// Never below the truth, and above it by less than `room`, relative.
    fn check(found: f64, truth: f64, room: f64, what: &str) {
        assert!(found >= truth * (1.0 - 1e-12), "{what}: {found} below {truth}");
        assert!(found <= truth * (1.0 + room), "{what}: {found} far above {truth}");
    }

    /// `count` times randomised response: a binomial number of the likelier answers.
    fn responses(epsilon: f64, count: u32, e: f64) -> f64 {
        let likely = 1.0 / (1.0 + (-epsilon).exp());
        let mut choose = 1.0;
        let mut delta = 0.0;
        for j in 0..=count {
            let mass = choose * likely.powi(j as i32) * (1.0 - likely).powi((count - j) as i32);
            let loss = epsilon * (f64::from(j) - f64::from(count - j));
            delta += mass * (1.0 - (e - loss).exp()).max(0.0);
            choose *= f64::from(count - j) / f64::from(j + 1);
        }
        delta
    }

    #[test]
    fn pure_releases_compose_as_randomised_response() {
        for (epsilon, count) in [(0.1, 2), (0.1, 50), (0.37, 20), (2.0, 7), (0.01, 500)] {
            let claim = Claim::Pure { epsilon }.repeat(u64::from(count));
            for e in [0.05, 0.3, 1.0, 2.5] {
                let truth = responses(epsilon, count, e);
                if truth > 1e-9 {
                    let found = delta(&claim, e, truth);
                    check(found, truth, 5e-3, &format!("{count} x pure {epsilon} at {e}"));
                    let back = self::epsilon(&claim, truth);
                    check(back, e, 1e-3, &format!("{count} x pure {epsilon}, epsilon"));
                }
            }
        }
    }

    #[test]
    fn a_normal_and_a_response() {
        for (mu, epsilon) in [(0.5, 0.3), (1.0, 1.0), (0.2, 2.0), (3.0, 0.05)] {
            let claim = product(&[Claim::Gdp { mu }, Claim::Pure { epsilon }]);
            let likely = 1.0 / (1.0 + f64::exp(-epsilon));
            for e in [0.0, 0.4, 1.5, 4.0] {
                let truth = likely * gdp::delta(mu, e - epsilon) + (1.0 - likely) * gdp::delta(mu, e + epsilon);
                if truth > 1e-12 {
                    check(delta(&claim, e, truth), truth, 2e-3, &format!("gdp {mu}, pure {epsilon} at {e}"));
                }
            }
        }
    }

    #[test]
    fn the_grid_alone_is_close_to_the_normal_curve() {
        for (mu, count) in [(0.1, 1), (0.3, 9), (1.0, 16), (0.02, 2500)] {
            let claim = Claim::Gdp { mu };
            let one = Losses::of_curve(1e-14, 1, |e: f64| claim.delta(e)).unwrap();
            let all = one.times(count, 1e-12, 1.0).unwrap().curve();
            let mu = mu * (count as f64).sqrt();
            for allowed in [1e-2, 1e-5, 1e-8] {
                check(all.epsilon(allowed), gdp::epsilon(mu, allowed), 2e-3, &format!("{count} releases, mu {mu} in all"));
            }
        }
    }

    /// The loss of the Laplace pair: `epsilon` with chance 1/2, `-epsilon` with `exp(-epsilon)/2`, between them a density.
    #[test]
    fn two_laplace_releases() {
        for (a, b) in [(0.5, 0.5), (1.0, 0.3), (2.0, 2.0)] {
            let claim = product(&[Claim::Laplace { epsilon: a }, Claim::Laplace { epsilon: b }]);
            let second = |e: f64| if e >= 0.0 { laplace::delta(b, e) } else { 1.0 - e.exp() + e.exp() * laplace::delta(b, -e) };
            for e in [0.1, 0.5, 0.9 * (a + b)] {
                let steps = 200_000;
                let inner = (0..steps).map(|i| {
                    let loss = -a + 2.0 * a * (f64::from(i) + 0.5) / f64::from(steps);
                    0.25 * ((loss - a) / 2.0).exp() * second(e - loss) * 2.0 * a / f64::from(steps)
                });
                let truth = 0.5 * second(e - a) + 0.5 * (-a).exp() * second(e + a) + inner.sum::<f64>();
                let found = delta(&claim, e, truth);
                assert!(found >= truth * (1.0 - 1e-6) && found <= truth * 1.002, "laplace {a} {b} at {e}: {found}, {truth}");
            }
        }
    }

    /// The density of the loss of a curve is `delta'' - delta'`; that of a bounded range has no atoms.
    #[test]
    fn two_bounded_ranges() {
        use crate::privacy::bounded_range;
        let eta = 0.8;
        let both = |e: f64| if e >= 0.0 { bounded_range::delta(eta, e) } else { 1.0 - e.exp() + e.exp() * bounded_range::delta(eta, -e) };
        let claim = Claim::BoundedRange { eta }.repeat(2);
        for e in [0.1, 0.6, 1.3] {
            let (steps, h) = (20_000, 1e-4);
            let width = 2.0 * eta / f64::from(steps);
            let term = |i: i32| {
                let loss = -eta + width * (f64::from(i) + 0.5);
                let slope = (both(loss + h) - both(loss - h)) / (2.0 * h);
                let bend = (both(loss + h) - 2.0 * both(loss) + both(loss - h)) / (h * h);
                (bend - slope) * both(e - loss) * width
            };
            let truth: f64 = (0..steps).map(term).sum();
            let found = delta(&claim, e, truth);
            assert!(found >= truth * (1.0 - 1e-4) && found <= truth * 1.002, "at {e}: {found}, {truth}");
        }
    }

    #[test]
    fn never_worse_and_often_better_than_one_curve() {
        let beta = Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates: vec![(40.0, 1.0), (560.0, -1.0)], total: None }]);
        for (claims, gain) in [
            // Here the sup over all pairs is taken once an order, on the grid once a release: conversion stays the better road.
            (vec![Claim::BoundedRange { eta: 0.5 }; 20], 1.0),
            (vec![Claim::Laplace { epsilon: 0.1 }; 30], 0.96),
            (vec![Claim::Gdp { mu: 0.5 }, Claim::Pure { epsilon: 0.5 }], 0.95),
            (vec![beta.clone(), Claim::Gdp { mu: 1.0 }], 0.96),
            (vec![beta.clone(), Claim::BoundedRange { eta: 0.3 }, Claim::BoundedRange { eta: 0.4 }, Claim::Gdp { mu: 0.5 }], 0.975),
            (vec![beta, Claim::Pure { epsilon: 0.5 }, Claim::Max(vec![Claim::Gdp { mu: 0.2 }, Claim::Laplace { epsilon: 0.2 }])], 0.99),
        ] {
            let all = Claim::Product(claims);
            let layout = Layout::of(&all);
            let converted = (0..4000).map(|i| 1.0 + 1e-3 * 1.004_f64.powi(i)).filter(|o| *o < all.max_order());
            let converted = converted.map(|o| crate::privacy::order::epsilon_at(layout.rdp(o), o, 1e-6)).fold(f64::INFINITY, f64::min);
            let found = all.epsilon(1e-6);
            assert!(found <= gain * converted * (1.0 + 1e-6), "{found} against {converted} by order");
        }
    }

    /// Conversions say little about epsilons near 0; what they say of larger ones says more, by symmetry. The verifier had 5.22.
    #[test]
    fn a_draw_and_a_little_noise() {
        let draw = Claim::Exact(crate::privacy::Shift::Shape { shape: 0.4028, step: 0.2147 });
        let alone = draw.epsilon(1e-5);
        let found = product(&[draw, Claim::Zcdp { rho: 0.001135 }, Claim::Gdp { mu: 0.01274 }]).epsilon(1e-5);
        assert!(alone < found && found < 5.25, "{alone} {found}");
    }

    #[test]
    fn nonsense_and_too_much_are_unknown() {
        for bad in [
            Claim::Gdp { mu: f64::NAN },
            Claim::Gdp { mu: -1.0 },
            Claim::Pure { epsilon: f64::NAN },
            Claim::Laplace { epsilon: f64::INFINITY },
        ] {
            let all = product(&[bad, Claim::Pure { epsilon: 0.1 }]);
            assert!(epsilon(&all, 1e-6).is_infinite());
            assert_eq!(delta(&all, 1.0, 1.0), 1.0);
        }
        assert!(epsilon(&Claim::Pure { epsilon: 1.0 }.repeat(u64::MAX), 1e-6).is_infinite());
        assert!(epsilon(&Claim::Pure { epsilon: 1e-9 }.repeat(1 << 40), 1e-6).is_finite());
        let nested = Claim::Repeated { times: 1 << 40, claim: Box::new(Claim::Pure { epsilon: 0.1 }.repeat(1 << 40)) };
        assert!(epsilon(&nested, 1e-6).is_infinite());
    }

    /// Wrong by a factor of 0.9, the parts would be found out by the closed form.
    #[test]
    fn a_claim_too_small_by_a_tenth_is_seen() {
        let truth = responses(0.37, 20, 2.5);
        let wrong = Claim::Pure { epsilon: 0.333 }.repeat(20);
        assert!(delta(&wrong, 2.5, truth) < 0.9 * truth);
    }
}
