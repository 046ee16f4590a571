//! Components of claims and how they compose (rule book §8.4, language §7.5): each is an upper bound on its own.

use crate::numeric::amount::{above, times_up};
use crate::numeric::round::{add_up, mul_up, sqrt_up};
use crate::privacy::layout::Layout;
use crate::privacy::{Claim, bounded_range, gdp, laplace, pure};

/// Upper bounds of one claim, infinite where unknown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Profile {
    pub pure: f64,
    pub bounded_range: f64,
    pub zcdp: f64,
    pub gdp: f64,
}

/// Bounded ranges do not add under adaptive composition: where the second interval lies may depend on the first outcome,
/// so the sum can range over `eta_1 + 2 eta_2`. What holds is twice the pure sum, which `fill` supplies.
fn adaptive_range(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { a.max(b) } else { f64::INFINITY }
}

impl Profile {
    /// A release that says nothing about the data.
    const FREE: Profile = Profile { pure: 0.0, bounded_range: 0.0, zcdp: 0.0, gdp: 0.0 };
    const UNKNOWN: Profile = Profile { pure: f64::INFINITY, bounded_range: f64::INFINITY, zcdp: f64::INFINITY, gdp: f64::INFINITY };

    /// The best of what is known and of what follows from it.
    fn fill(mut self) -> Profile {
        self.bounded_range = self.bounded_range.min(2.0 * self.pure);
        self.pure = self.pure.min(self.bounded_range);
        if self.pure.is_finite() {
            self.zcdp = self.zcdp.min(pure::zcdp(self.pure)).min(bounded_range::zcdp(self.bounded_range));
        }
        if self.gdp.is_finite() {
            self.zcdp = self.zcdp.min(gdp::zcdp(self.gdp));
        }
        self
    }

    /// Every component of two with this operation; GDP in squares.
    fn merge(self, other: Profile, with: impl Fn(f64, f64) -> f64) -> Profile {
        Profile {
            pure: with(self.pure, other.pure),
            bounded_range: with(self.bounded_range, other.bounded_range),
            zcdp: with(self.zcdp, other.zcdp),
            gdp: with(self.gdp, other.gdp),
        }
    }

    fn then(self, other: Profile) -> Profile {
        Profile {
            gdp: sqrt_up(add_up(mul_up(self.gdp, self.gdp), mul_up(other.gdp, other.gdp))),
            bounded_range: adaptive_range(self.bounded_range, other.bounded_range),
            ..self.merge(other, add_up)
        }
    }

    pub(super) fn times(self, times: u64) -> Profile {
        let count = count_up(times);
        Profile {
            pure: scaled(count, self.pure),
            bounded_range: if count > 1.0 { f64::INFINITY } else { self.bounded_range },
            zcdp: scaled(count, self.zcdp),
            gdp: scaled(sqrt_up(count), self.gdp),
        }
    }

    /// All components of a claim, filled in, from those of its parts.
    pub(super) fn of(claim: &Claim, parts: &mut dyn Iterator<Item = Profile>) -> Profile {
        let unknown = Profile::UNKNOWN;
        match claim {
            Claim::Renyi(pairs) => Profile { zcdp: known(largest(pairs.iter().map(|pair| pair.zcdp()))), ..unknown },
            Claim::Gdp { mu } => Profile { gdp: known(*mu), ..unknown },
            Claim::BoundedRange { eta } => Profile { bounded_range: known(*eta), ..unknown },
            Claim::Pure { epsilon } => Profile { pure: known(*epsilon), ..unknown },
            Claim::Zcdp { rho } => Profile { zcdp: known(*rho), ..unknown },
            Claim::Exact(_) => unknown,
            Claim::Laplace { epsilon } => {
                let epsilon = known(*epsilon);
                Profile { pure: epsilon, zcdp: laplace::zcdp(epsilon), ..unknown }
            }
            Claim::Product(_) | Claim::Repeated { .. } => parts.reduce(Profile::then).unwrap_or(Profile::FREE),
            Claim::Max(_) => parts.fold(Profile::FREE, |all, member| all.merge(member, f64::max)),
        }
        .fill()
    }

    /// What the components alone say about the divergence of this order.
    pub(super) fn rdp(&self, order: f64) -> f64 {
        let mut best = self.pure.min(scaled(order, self.zcdp));
        if self.pure.is_finite() {
            best = best.min(pure::rdp(self.pure, order)).min(bounded_range::rdp(self.bounded_range, order));
        }
        best
    }
}

/// A product rounded up, zero where one factor is zero and the other infinite.
pub(super) fn scaled(factor: f64, x: f64) -> f64 {
    if factor == 0.0 || x == 0.0 { 0.0 } else { mul_up(factor, x) }
}

/// A count as a double, not below it.
pub(super) fn count_up(times: u64) -> f64 {
    let near = times as f64;
    if times < (1 << 53) { near } else { near.next_up() }
}

impl Claim {
    /// All components, filled in.
    pub fn profile(&self) -> Profile {
        Layout::of(self).profile
    }

    /// The order at and beyond which nothing is claimed, rounded down; infinite if there is none.
    pub fn max_order(&self) -> f64 {
        match self {
            Claim::Renyi(pairs) => least(pairs.iter().map(|pair| pair.max_order())),
            Claim::Exact(shift) => shift.pair().max_order(),
            Claim::Product(parts) => least(parts.iter().map(Claim::max_order)),
            Claim::Max(members) => least(members.iter().map(Claim::max_order)),
            Claim::Repeated { claim, .. } => claim.max_order(),
            _ => f64::INFINITY,
        }
    }

    /// This release `times` over, its number as it stands: squares of mu add up without a root, so decimals stay exact.
    pub fn each(self, times: u64) -> Claim {
        match times {
            0 => Claim::Product(Vec::new()),
            1 => self,
            _ => Claim::Repeated { times, claim: Box::new(self) },
        }
    }

    /// This release `times` over.
    pub fn repeat(&self, times: u64) -> Claim {
        let count = count_up(times);
        match self {
            _ if times == 0 => Claim::Product(Vec::new()),
            _ if times == 1 => self.clone(),
            Claim::Gdp { mu } => Claim::Gdp { mu: times_up(*mu, sqrt_up(count)) },
            Claim::Zcdp { rho } => Claim::Zcdp { rho: times_up(*rho, count) },
            _ => Claim::Repeated { times, claim: Box::new(self.clone()) },
        }
    }
}

/// A parameter of a claim, not below the decimal it stands for; infinite if it is not a number of a claim.
pub(super) fn known(x: f64) -> f64 {
    if x >= 0.0 { above(x) } else { f64::INFINITY }
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Family, Pair};

    fn beta() -> Claim {
        Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates: vec![(6.0, 1.0), (112.0, -1.0)], total: None }])
    }

    fn near(found: f64, expected: f64) {
        let excess = found / expected - 1.0;
        assert!((-3e-16..1e-10).contains(&excess), "{found} against {expected}");
    }

    #[test]
    fn products_add() {
        // Golden: composition-000 at order 4.
        let all = Claim::Product(vec![beta(), Claim::Gdp { mu: 1.0 / 3.0 }]);
        near(all.rdp(4.0), 0.6670316821978863);
        assert_eq!(all.max_order(), 7.0);
        assert!(all.gdp().is_infinite());
        let both = Claim::Product(vec![Claim::Gdp { mu: 3.0 }, Claim::Gdp { mu: 4.0 }]);
        assert_eq!((both.gdp(), both.zcdp(), both.rdp(2.0)), (5.0, 12.5, 25.0));
        assert!(both.pure().is_infinite());
    }

    #[test]
    fn fill_in() {
        let pure = Claim::Pure { epsilon: 1.0 };
        assert_eq!((pure.pure(), pure.bounded_range()), (1.0, 2.0));
        near(pure.zcdp(), 0.46211715726000973);
        let laplace = Claim::Laplace { epsilon: 1.0 };
        near(laplace.zcdp(), 0.36787944117144233);
        let range = Claim::BoundedRange { eta: 2.0 };
        near(range.zcdp(), 0.47447464707052694);
        assert_eq!(range.pure(), 2.0);
        near(Claim::Gdp { mu: 0.5 }.zcdp(), 0.125);
    }

    #[test]
    fn repeating_is_a_product_of_equal_parts() {
        for claim in [beta(), Claim::Gdp { mu: 0.5 }, Claim::Laplace { epsilon: 0.2 }] {
            let product = Claim::Product(vec![claim.clone(); 3]);
            let repeated = claim.repeat(3);
            near(repeated.rdp(3.0), product.rdp(3.0));
            assert!((repeated.epsilon(1e-6) / product.epsilon(1e-6) - 1.0).abs() < 1e-9);
        }
        assert_eq!(beta().repeat(0).rdp(5.0), 0.0);
        assert_eq!(beta().repeat(0).epsilon(0.0), 0.0);
        assert_eq!(beta().repeat(1), beta());
        assert!(beta().repeat(u64::MAX).rdp(2.0).is_finite());
    }

    #[test]
    fn maxima_are_pointwise() {
        let either = Claim::Max(vec![beta(), Claim::Gdp { mu: 0.3 }]);
        assert_eq!(either.rdp(1.5), beta().rdp(1.5).max(Claim::Gdp { mu: 0.3 }.rdp(1.5)));
        assert_eq!(either.delta(1.0), beta().delta(1.0).max(Claim::Gdp { mu: 0.3 }.delta(1.0)));
        assert!(either.gdp().is_infinite());
    }

    #[test]
    fn nonsense_is_unknown() {
        for claim in [
            Claim::Pure { epsilon: f64::NAN },
            Claim::Laplace { epsilon: -1.0 },
            Claim::Gdp { mu: f64::NAN },
            Claim::BoundedRange { eta: -1.0 },
            Claim::Zcdp { rho: f64::NAN },
        ] {
            assert!(claim.rdp(2.0).is_infinite() && claim.epsilon(1e-6).is_infinite());
            assert_eq!(claim.delta(1.0), 1.0);
        }
        assert!(beta().rdp(f64::NAN).is_infinite());
        assert!(beta().rdp(0.5) > 0.0);
    }
}
