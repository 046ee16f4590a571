//! The filter of one data set: what all its charges cost together, and whether one more fits.
//!
//! Later charges are chosen by people who have seen earlier releases, so a bound must hold for claims that are chosen
//! adaptively. Pure epsilon, zCDP, squared mu and the Rényi divergence of one fixed order may be added up and compared
//! with a limit fixed beforehand. An (epsilon, delta) budget may not be held against "the best conversion so far": which
//! conversion is best would depend on what was seen. See [`Spent::at_delta`].

use super::budget::Budget;
use crate::numeric::Amount;
use crate::numeric::amount::{above, below, stated_up};
use crate::numeric::round::{add_up, mul_up, sqrt_up};
use crate::privacy::order::epsilon_at;
use crate::privacy::{Claim, Unit};
use std::collections::BTreeMap;

/// Everything charged to one data set.
#[derive(Clone, Default, Debug)]
pub struct Spent {
    /// One sum a component, exact.
    sums: Vec<Amount>,
    /// The sum of pure epsilons; `None` once a claim has none.
    pure: Option<Amount>,
    first: Option<Claim>,
    /// Every claim with its number of charges, by its text.
    claims: BTreeMap<String, (Claim, u64)>,
}

/// Part of delta kept for each conversion, all powers of two; together 1. One order tuned to the first claim, the exact
/// GDP curve, and eight orders between them.
const TUNED: f64 = 0.5;
const EXACT_GDP: f64 = 0.25;
const SPREAD: f64 = 0.03125;
const ORDERS: [f64; 8] = [1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 50.0];

impl Spent {
    /// Books a claim with the amounts that were charged for it.
    pub fn add(&mut self, text: &str, claim: &Claim, amounts: &[Amount]) {
        if self.sums.is_empty() {
            self.sums = vec![Amount::zero(); amounts.len()];
        }
        self.pure = match (&self.first, &self.pure, Amount::cost(claim.pure())) {
            (None, _, cost) => cost,
            (Some(_), Some(sum), Some(cost)) => Some(sum.plus(&cost)),
            _ => None,
        };
        self.sums = self.sums.iter().zip(amounts).map(|(sum, cost)| sum.plus(cost)).collect();
        self.first.get_or_insert_with(|| claim.clone());
        self.claims.entry(text.to_owned()).or_insert_with(|| (claim.clone(), 0)).1 += 1;
    }

    pub fn charges(&self) -> u64 {
        self.claims.values().map(|(_, times)| times).sum()
    }

    /// Everything that was charged as one claim, for an odometer: it limits nothing.
    pub fn claim(&self) -> Claim {
        Claim::Product(self.claims.values().map(|(claim, times)| claim.repeat(*times)).collect())
    }

    /// What is spent of each component; `None` where nothing is known any more.
    pub fn total(&self, budget: &Budget) -> Option<Vec<Amount>> {
        match budget {
            _ if self.first.is_none() => Some(budget.components().iter().map(|_| Amount::zero()).collect()),
            Budget::Dp { epsilon, delta } => {
                let price = self.at_delta(epsilon.to_f64(), below(delta.down()));
                let price = if price == 0.0 { Some(Amount::zero()) } else { Amount::cost(price) };
                let best = [price, self.pure.clone()].into_iter().flatten().min();
                Some(vec![best?])
            }
            _ => Some(self.sums.clone()),
        }
    }

    /// Is every component of the total within its limit? Compared exactly.
    pub fn within(&self, budget: &Budget) -> bool {
        let total = self.total(budget);
        total.is_some_and(|t| t.iter().zip(budget.components()).all(|(spent, (_, limit))| *spent <= limit))
    }

    /// The epsilon of all charges at `delta`, besides the sum of pure epsilons.
    ///
    /// One charge alone was chosen before anything was seen: its best curve counts. Several charges are priced by a fixed
    /// list of conversions, each with its own part of delta. Split all outcomes by the conversion that still held when
    /// the last charge was accepted; on each part the process stopped by that one conversion (a Rényi or GDP filter, valid
    /// under adaptive choice) exceeds `epsilon` with at most its part of delta, and the parts add up to delta. On the part
    /// where the pure sum held, nothing is exceeded. Outcomes after which nothing more was asked belong to any conversion
    /// that the first charge meets, and where it meets none, no second charge is accepted.
    fn at_delta(&self, epsilon: f64, delta: f64) -> f64 {
        let Some(first) = &self.first else { return 0.0 };
        if self.charges() == 1 {
            return first.epsilon(delta);
        }
        let tuned = tuned_order(first, epsilon, delta * TUNED);
        let orders = tuned.into_iter().map(|order| (order, TUNED)).chain(ORDERS.into_iter().map(|order| (order, SPREAD)));
        let by_order = orders.map(|(order, part)| {
            let divergence = self.sum(|claim| above(claim.rdp(order)));
            epsilon_at(divergence, order, delta * part)
        });
        let mu_squared = self.sum(|claim| claim.spent(Unit::Gdp).map_or(f64::INFINITY, |square| above(square.up())));
        let gdp = if mu_squared.is_finite() {
            Claim::Gdp { mu: stated_up(sqrt_up(mu_squared)) }.epsilon(delta * EXACT_GDP)
        } else {
            f64::INFINITY
        };
        stated_up(by_order.fold(gdp, f64::min))
    }

    /// The sum over all charges, rounded up.
    fn sum(&self, of: impl Fn(&Claim) -> f64) -> f64 {
        self.claims.values().fold(0.0, |all, (claim, times)| {
            let count = if *times < (1 << 53) { *times as f64 } else { f64::INFINITY };
            add_up(all, mul_up(count, of(claim)))
        })
    }
}

/// The order at which the first claim could be charged most often. Any order would be sound; this one is fixed by the
/// first claim, before anything was seen.
fn tuned_order(first: &Claim, epsilon: f64, delta: f64) -> Option<f64> {
    let limit = first.max_order();
    let often = |order: f64| {
        let kept = (1.0 - 1.0 / order).ln() - (delta.ln() + order.ln()) / (order - 1.0);
        (epsilon - kept) / first.rdp(order)
    };
    let orders = (0..96_u32).map(|i| 1.0 + 0.02 * 1.15_f64.powf(f64::from(i))).filter(|o| *o < limit);
    let best = orders.map(|o| (o, often(o))).filter(|(_, n)| *n > 0.0 && n.is_finite());
    best.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(order, _)| order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(budget: &Budget, claims: &[Claim]) -> Spent {
        let mut all = Spent::default();
        for claim in claims {
            let text = super::super::claims::encode(claim).to_string();
            all.add(&text, claim, &budget.cost(claim).unwrap());
        }
        all
    }

    fn price(budget: &str, claims: &[Claim]) -> f64 {
        let budget = Budget::parse(budget).unwrap();
        spent(&budget, claims).total(&budget).unwrap()[0].to_f64()
    }

    #[test]
    fn parts_of_delta_are_a_whole() {
        assert_eq!(TUNED + EXACT_GDP + SPREAD * ORDERS.len() as f64, 1.0);
    }

    #[test]
    fn ten_tenths_fit_and_nothing_more() {
        for text in ["eps(1)", "dp(eps = 1, delta = 1e-6)"] {
            let budget = Budget::parse(text).unwrap();
            let ten = vec![Claim::Pure { epsilon: 0.1 }; 10];
            assert!(spent(&budget, &ten).within(&budget), "{text}");
        }
        let budget = Budget::parse("eps(1)").unwrap();
        for extra in [1e-30, 1e-300, 0.1] {
            let mut claims = vec![Claim::Pure { epsilon: 0.1 }; 10];
            claims.push(Claim::Pure { epsilon: extra });
            assert!(!spent(&budget, &claims).within(&budget));
        }
        let budget = Budget::parse("gdp(1)").unwrap();
        assert!(spent(&budget, &vec![Claim::Gdp { mu: 0.1 }; 100]).within(&budget));
        assert!(!spent(&budget, &vec![Claim::Gdp { mu: 0.1 }; 101]).within(&budget));
        let budget = Budget::parse("zcdp(0.7)").unwrap();
        assert!(spent(&budget, &vec![Claim::Zcdp { rho: 0.1 }; 7]).within(&budget));
        assert!(!spent(&budget, &vec![Claim::Zcdp { rho: 0.1 }; 8]).within(&budget));
        let budget = Budget::parse("rdp(order = [2, 8], eps = [10, 0.3])").unwrap();
        let three = Claim::Pure { epsilon: 0.1 };
        assert!(spent(&budget, &[three.clone(), three.clone()]).within(&budget));
    }

    /// Never below the price of the plain composition, and not far above it.
    #[test]
    fn adaptive_prices_lie_above_composition() {
        let cases = [
            vec![Claim::Zcdp { rho: 0.005 }; 5],
            vec![Claim::Gdp { mu: 0.1 }; 6],
            vec![Claim::Zcdp { rho: 0.004 }, Claim::Gdp { mu: 0.1 }, Claim::Laplace { epsilon: 0.1 }],
            vec![Claim::Laplace { epsilon: 0.05 }; 40],
        ];
        for claims in cases {
            let plain = Claim::Product(claims.clone()).epsilon(1e-6);
            let price = price("dp(eps = 1, delta = 1e-6)", &claims);
            assert!(price >= plain * (1.0 - 1e-9), "{price} below {plain}");
            assert!(price <= plain * 1.2, "{price} far above {plain}");
        }
        let alone = Claim::Zcdp { rho: 0.01 };
        assert!((price("dp(eps = 1, delta = 1e-6)", std::slice::from_ref(&alone)) / alone.epsilon(1e-6) - 1.0).abs() < 1e-11);
    }

    #[test]
    fn a_second_charge_never_lowers_the_price_below_the_first() {
        let claims = vec![Claim::Zcdp { rho: 0.02 }, Claim::Pure { epsilon: 1e-12 }];
        assert!(price("dp(eps = 3, delta = 1e-6)", &claims) >= price("dp(eps = 3, delta = 1e-6)", &claims[..1]));
    }
}
