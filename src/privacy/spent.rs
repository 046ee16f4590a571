//! What claims cost in units that add up, as exact decimals: a sum of doubles would be off by a last digit (rule book §8.10).

use super::Claim;
use super::layout::{Layout, counted};
use super::work::{self, Asked};
use crate::model::BudgetKind;
use crate::numeric::Amount;
use crate::numeric::amount::{above, stated_up};

/// A unit in which releases add up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unit {
    Pure,
    Zcdp,
    /// The square of mu.
    Gdp,
    /// The divergence at this order.
    Rdp(f64),
}

impl Claim {
    /// What is spent at most; `None` where nothing is known. The sum of what the parts state, or what doubles found for the
    /// whole, whichever is less.
    pub fn spent(&self, unit: Unit) -> Option<Amount> {
        self.sum(unit).into_iter().chain(self.computed(unit)).min()
    }

    fn sum(&self, unit: Unit) -> Option<Amount> {
        let repeated = |claim: &Claim, times: u64| Some(claim.sum(unit)?.times(&Amount::whole(times)));
        match self {
            Claim::Product(list) => {
                counted(list).into_iter().try_fold(Amount::zero(), |all, (part, times)| Some(all.plus(&repeated(part, times)?)))
            }
            Claim::Max(list) => list.iter().try_fold(Amount::zero(), |most, part| Some(most.max(part.sum(unit)?))),
            Claim::Repeated { times, claim } => repeated(claim, *times),
            _ => match self.stated(unit) {
                // No curve says less.
                Some(stated) if !matches!(unit, Unit::Rdp(_)) => Some(stated),
                stated => {
                    work::count(1);
                    stated.into_iter().chain(self.computed(unit)).min()
                }
            },
        }
    }

    /// What the constant of a claim says itself.
    fn stated(&self, unit: Unit) -> Option<Amount> {
        match (self, unit) {
            (Claim::Pure { epsilon: x } | Claim::Laplace { epsilon: x } | Claim::BoundedRange { eta: x }, Unit::Pure | Unit::Rdp(_)) => {
                Amount::of(*x)
            }
            (Claim::Zcdp { rho }, Unit::Zcdp) => Amount::of(*rho),
            (Claim::Gdp { mu }, Unit::Gdp) => Amount::of(*mu).map(|mu| mu.squared()),
            (Claim::Gdp { .. }, Unit::Zcdp) => self.stated(Unit::Gdp).map(|square| square.half()),
            (Claim::Zcdp { .. } | Claim::Gdp { .. }, Unit::Rdp(order)) => Some(self.stated(Unit::Zcdp)?.times(&Amount::of(order)?)),
            _ => None,
        }
    }

    /// What follows from curves and conversions, by doubles rounded up.
    fn computed(&self, unit: Unit) -> Option<Amount> {
        let bound = match unit {
            Unit::Pure => self.profile().pure,
            Unit::Zcdp => self.profile().zcdp,
            Unit::Gdp => self.profile().gdp,
            Unit::Rdp(order) => {
                let order = above(order);
                work::once(self, Asked::Rdp(order.to_bits()), || (Layout::of(self).rdp(order), None)).0
            }
        };
        let bound = Amount::of(stated_up(bound))?;
        Some(if unit == Unit::Gdp { bound.squared() } else { bound })
    }

    /// Pure differential privacy, infinite if there is none.
    pub fn pure(&self) -> f64 {
        up(self.spent(Unit::Pure))
    }

    /// rho of zCDP, infinite if there is none.
    pub fn zcdp(&self) -> f64 {
        up(self.spent(Unit::Zcdp))
    }

    /// mu of Gaussian differential privacy, infinite if there is none.
    pub fn gdp(&self) -> f64 {
        self.spent(Unit::Gdp).map_or(f64::INFINITY, |square| square.root_up())
    }

    /// Width of an interval that contains every log ratio, infinite if there is none.
    pub fn bounded_range(&self) -> f64 {
        let own = match self {
            Claim::BoundedRange { eta } => *eta,
            Claim::Max(list) => list.iter().map(Claim::bounded_range).fold(0.0, f64::max),
            _ => f64::INFINITY,
        };
        let twice = self.spent(Unit::Pure).map(|x| x.times(&Amount::whole(2)));
        own.min(up(twice)).min(stated_up(self.profile().bounded_range))
    }

    /// Upper bound on the Rényi divergence of this order. It never falls with the order, so an order of at most 1 is
    /// answered by the next double; infinite at and beyond the limit order.
    pub fn rdp(&self, order: f64) -> f64 {
        if order.is_nan() { f64::INFINITY } else { up(self.spent(Unit::Rdp(order.max(1.0 + f64::EPSILON)))) }
    }

    /// What the claim costs in each number of a budget: epsilon, epsilon at the budget's delta, rho, mu, epsilon at each of
    /// its orders. Infinite where it says nothing of that kind.
    pub fn costs(&self, budget: &BudgetKind) -> Vec<f64> {
        match budget {
            BudgetKind::Pure(_) => vec![self.pure()],
            BudgetKind::Zcdp(_) => vec![self.zcdp()],
            BudgetKind::Gdp(_) => vec![self.gdp()],
            BudgetKind::Dp { delta, .. } => vec![self.epsilon(*delta)],
            BudgetKind::Rdp(points) => points.iter().map(|(order, _)| self.rdp(*order)).collect(),
        }
    }

    /// Does the claim satisfy this budget? Doubles compare as the decimals do that they stand for, so nothing is rounded here.
    pub fn implies(&self, budget: &BudgetKind) -> bool {
        self.costs(budget).iter().zip(budget.numbers()).all(|(cost, limit)| *cost <= limit)
    }
}

fn up(spent: Option<Amount>) -> f64 {
    spent.map_or(f64::INFINITY, |x| x.up())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::{Family, Pair};

    const TENTH: [Claim; 4] =
        [Claim::Pure { epsilon: 0.1 }, Claim::Laplace { epsilon: 0.1 }, Claim::BoundedRange { eta: 0.1 }, Claim::Zcdp { rho: 0.1 }];

    #[test]
    fn tenths_add_up_to_whole_numbers() {
        for claim in TENTH {
            let kind = |x| if claim == TENTH[3] { BudgetKind::Zcdp(x) } else { BudgetKind::Pure(x) };
            for (n, sum) in [(2, 0.2), (3, 0.3), (7, 0.7), (10, 1.0), (1000, 100.0)] {
                for all in [Claim::Product(vec![claim.clone(); n]), claim.repeat(n as u64)] {
                    assert!(all.implies(&kind(sum)) && all.costs(&kind(sum)) == [sum], "{n} times {claim:?}");
                    assert!(!all.implies(&kind(sum.next_down())), "{n} times {claim:?}");
                    let more = Claim::Product(vec![all, Claim::Pure { epsilon: 1e-30 }]);
                    assert!(!more.implies(&kind(sum)), "{n} times {claim:?} and a little");
                }
            }
        }
        let both = Claim::Product(vec![Claim::Pure { epsilon: 0.1 }, Claim::Laplace { epsilon: 0.2 }]);
        assert_eq!((both.pure(), both.bounded_range(), both.epsilon(0.0)), (0.3, 0.6, 0.3));
    }

    #[test]
    fn squares_of_mu_add_up() {
        let triangle = Claim::Product(vec![Claim::Gdp { mu: 0.3 }, Claim::Gdp { mu: 0.4 }]);
        assert_eq!((triangle.gdp(), triangle.zcdp(), triangle.rdp(8.0)), (0.5, 0.125, 1.0));
        assert_eq!(Claim::Product(vec![Claim::Gdp { mu: 0.1 }; 100]).gdp(), 1.0);
        assert_eq!(Claim::Gdp { mu: 0.1 }.repeat(100).gdp(), 1.0);
        assert!(Claim::Gdp { mu: 0.1 }.repeat(101).gdp() > 1.0);
    }

    #[test]
    fn divergences_add_up_at_every_order() {
        let claim = Claim::Product(vec![Claim::Zcdp { rho: 0.01 }; 10]);
        assert_eq!((claim.rdp(8.0), claim.rdp(1.1)), (0.8, 0.11));
        let beta = Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates: vec![(6.0, 1.0), (12.0, -1.0)], total: None }]);
        let with = Claim::Product(vec![beta.clone(), Claim::Zcdp { rho: 0.01 }]);
        assert!(with.rdp(2.0) >= beta.rdp(2.0) + 0.02 && with.rdp(7.0).is_infinite());
        // Below order 1 nothing is known but that it does not fall.
        assert!(claim.rdp(0.5) >= 0.1 && claim.rdp(f64::NAN).is_infinite());
    }

    /// Sums of claims whose decimals lie above or below their doubles are never below the sum of either.
    #[test]
    fn a_sum_is_never_too_small() {
        let mut x = 0.1234567;
        for n in 1..200_u32 {
            x = (x * 997.0_f64 + f64::from(n) / 7.0).fract().max(1e-9);
            let claims: Vec<Claim> = (0..n % 9 + 1).map(|i| Claim::Pure { epsilon: x / f64::from(i + 1) }).collect();
            let exact = claims.iter().map(|c| Amount::of(c.costs(&BudgetKind::Pure(1.0))[0]).unwrap());
            let exact = exact.fold(Amount::zero(), |sum, x| sum.plus(&x));
            let found = Claim::Product(claims).pure();
            assert!(Amount::of(found).unwrap() >= exact && Amount::of(found.next_down()).unwrap() < exact);
        }
    }
}
