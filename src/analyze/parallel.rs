//! Costs of groups: what one neighbouring pair costs when the same model runs once per level of a key.

use crate::numeric::amount::times_up;
use crate::numeric::round::sqrt_up;
use crate::privacy::{Claim, Pair, Shift};
use crate::rules::offer::View;

/// The facts about an `each` that its cost depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Groups {
    pub levels: u64,
    /// The key is a public column: no row ever changes its group.
    pub public_key: bool,
    /// The most rows one unit may have: k >= 1.
    pub unit_rows: u64,
}

/// The cost of all groups together, from the cost `one(view)` of one group; `None` where `one` has no guarantee.
///
/// Every group runs the same model, so the maximum over groups is the cost of one (LANGUAGE §7.4, Each). A unit with
/// k > 1 rows may touch several groups, and then they compose (rule book §8.11).
pub fn parallel(groups: Groups, view: View, one: &dyn Fn(View) -> Option<Claim>) -> Option<Claim> {
    let Groups { levels, public_key, unit_rows } = groups;
    let touched = |most: u64| levels.min(most).max(1);
    match view {
        // A row that is added or removed touches the one group it is in.
        View::AddRemove => shared(one(View::AddRemove)?, touched(unit_rows)),
        // Each replaced row stays in its group.
        View::Replace if public_key || levels <= 1 => shared(one(View::Replace)?, touched(unit_rows)),
        // A replaced row stays in its group, or leaves one and enters another: a removal and an insertion.
        View::Replace if unit_rows == 1 => Some(Claim::Max(vec![one(View::Replace)?, one(View::Crossing)?])),
        View::Replace | View::Exchange | View::Crossing => {
            let both = || moved(&one(View::Replace)?, &one(View::AddRemove)?);
            both().or_else(|| Some(one(View::Exchange)?.repeat(touched(unit_rows.saturating_mul(2)))))
        }
    }
}

/// Groups that at most k rows in all are in, where the claim of one is for k rows.
fn shared(claim: Claim, times: u64) -> Option<Claim> {
    Some(match times {
        1 => claim,
        // Of draws the order-by-order claim adds up, their exact curves do not.
        _ if adds_up(&claim) => claim.converted(),
        _ => claim.repeat(times),
    })
}

/// Is the cost K of k rows such that `K(j) <= (j / k) K(k)`? Then no spread of the rows over groups costs more than all of them in one.
///
/// Noise and bounded ranges grow in proportion, mu of normal posteriors at least so; shapes that gain are convex. A maximum may be
/// one branch in one group and the other in the next.
fn adds_up(claim: &Claim) -> bool {
    let gains = |pair: &Pair| matches!(pair, Pair::Shapes { coordinates, total: None, .. } if matches!(coordinates.as_slice(), [(_, step)] if *step > 0.0));
    match claim {
        Claim::Gdp { .. } | Claim::BoundedRange { .. } | Claim::Pure { .. } | Claim::Zcdp { .. } | Claim::Laplace { .. } => true,
        Claim::Exact(shift) => matches!(shift, Shift::Beta { others, .. } if *others == 0.0),
        Claim::Renyi(pairs) => pairs.iter().all(gains),
        Claim::Product(parts) => parts.iter().all(adds_up),
        Claim::Repeated { claim, .. } => adds_up(claim),
        Claim::Max(_) => false,
    }
}

/// At most k rows leave groups and at most k enter groups, from the claims of k rows that are replaced in one group and that are
/// added or removed: losses that obey a triangle inequality cost at most those of 2k rows added; of normal noise the squares add, and are
/// convex in how rows are spread, so all leave one group, and all enter it or one other.
fn moved(replaced: &Claim, added: &Claim) -> Option<Claim> {
    Some(match (replaced, added) {
        (Claim::Gdp { mu: a }, Claim::Gdp { mu: b }) => Claim::Gdp { mu: a.max(times_up(*b, sqrt_up(2.0))) },
        (Claim::Laplace { .. }, Claim::Laplace { epsilon }) => Claim::Laplace { epsilon: times_up(*epsilon, 2.0) },
        (Claim::Pure { .. }, Claim::Pure { epsilon }) => Claim::Pure { epsilon: times_up(*epsilon, 2.0) },
        (Claim::BoundedRange { .. }, Claim::BoundedRange { eta }) => Claim::BoundedRange { eta: times_up(*eta, 2.0) },
        (Claim::Product(a), Claim::Product(b)) if a.len() == b.len() => {
            Claim::Product(a.iter().zip(b).map(|(a, b)| moved(a, b)).collect::<Option<_>>()?)
        }
        (Claim::Repeated { times, claim: a }, Claim::Repeated { times: t, claim: b }) if times == t => {
            Claim::Repeated { times: *times, claim: Box::new(moved(a, b)?) }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_up;
    use super::*;

    const REPLACE: Claim = Claim::Zcdp { rho: 4.0 };
    const MOVED: Claim = Claim::Zcdp { rho: 1.0 };
    const EXCHANGE: Claim = Claim::Zcdp { rho: 5.0 };

    fn one(view: View) -> Option<Claim> {
        Some(match view {
            View::Replace => REPLACE,
            View::AddRemove => MOVED,
            View::Exchange => EXCHANGE,
            View::Crossing => Claim::Product(vec![MOVED, MOVED]),
        })
    }

    fn groups(levels: u64, public_key: bool, unit_rows: u64) -> Groups {
        Groups { levels, public_key, unit_rows }
    }

    #[test]
    fn a_public_key_costs_one_group() {
        assert_eq!(parallel(groups(4, true, 1), View::Replace, &one), Some(REPLACE));
        assert_eq!(parallel(groups(4, true, 1), View::AddRemove, &one), Some(MOVED));
    }

    #[test]
    fn several_rows_of_a_unit_touch_several_groups() {
        let cost = |g, v| parallel(g, v, &one).unwrap().zcdp();
        // Noise costs no more in several groups than in one.
        assert_up(cost(groups(4, true, 3), View::Replace), 4.0);
        assert_up(cost(groups(4, false, 3), View::AddRemove), 1.0);
        // A private key under replacement: k rows leave k groups and enter k others.
        assert_up(cost(groups(10, false, 3), View::Replace), 30.0);
        assert_up(cost(groups(4, false, 3), View::Replace), 20.0);
    }

    #[test]
    fn only_proportional_costs_are_those_of_one_group() {
        let rate = Claim::Renyi(vec![Pair::Rate { shape: 2.0, rate: 3.0, step: 1.0 }]);
        let branches = Claim::Max(vec![REPLACE, Claim::Pure { epsilon: 1.0 }]);
        let base = |others| Claim::Exact(Shift::Beta { family: crate::privacy::Family::Beta, counts: (6.0, 18.0), step: 1.0, others });
        for (claim, times) in [(rate, 3), (branches, 3), (base(4.0), 3), (Claim::Laplace { epsilon: 1.0 }, 1), (base(0.0), 1)] {
            let found = parallel(groups(4, true, 3), View::Replace, &|_| Some(claim.clone())).unwrap();
            let expected = if times == 1 { claim.clone().converted() } else { claim.repeat(times) };
            assert_eq!(found, expected, "{claim:?}");
        }
    }

    /// Rows of one unit leave groups and enter groups: 2 k in all, or a corner of the squares.
    #[test]
    fn rows_that_change_groups_cost_two_additions() {
        let all = |claim: fn(f64) -> Claim, replaced: f64| {
            let one = |view| Some(claim(if view == View::Replace { replaced } else { 3.0 }));
            parallel(groups(9, false, 3), View::Replace, &one).unwrap()
        };
        assert_eq!(all(|epsilon| Claim::Laplace { epsilon }, 3.0), Claim::Laplace { epsilon: 6.0 });
        assert_eq!(all(|eta| Claim::BoundedRange { eta }, 6.0), Claim::BoundedRange { eta: 6.0 });
        assert_up(all(|mu| Claim::Gdp { mu }, 3.0).gdp(), 3.0 * 2.0_f64.sqrt());
        assert_up(all(|mu| Claim::Gdp { mu }, 6.0).gdp(), 6.0);
    }

    #[test]
    fn a_private_key_is_a_substitution_or_a_move() {
        let claim = parallel(groups(3, false, 1), View::Replace, &one).unwrap();
        let moved = Claim::Product(vec![MOVED, MOVED]);
        assert_eq!(claim, Claim::Max(vec![REPLACE, moved]));
        assert_eq!(parallel(groups(1, false, 1), View::Replace, &one), Some(REPLACE));
    }

    #[test]
    fn no_bound_for_a_view_is_no_bound_at_all() {
        let only_replace = |v| (v == View::Replace).then_some(REPLACE);
        assert_eq!(parallel(groups(3, false, 1), View::Replace, &only_replace), None);
        assert_eq!(parallel(groups(3, true, 1), View::Replace, &only_replace), Some(REPLACE));
    }
}
