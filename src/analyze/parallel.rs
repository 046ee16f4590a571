//! Costs of groups: what one neighbouring pair costs when the same model runs once per level of a key.

use crate::privacy::Claim;
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
/// k > 1 rows may touch several groups, and then they compose: `K(k1) + K(k2) <= K(k1 + k2)` is not proved here.
pub fn parallel(groups: Groups, view: View, one: &dyn Fn(View) -> Option<Claim>) -> Option<Claim> {
    let Groups { levels, public_key, unit_rows } = groups;
    let touched = |most: u64| levels.min(most).max(1);
    match view {
        // A row that is added or removed touches the one group it is in.
        View::AddRemove => repeated(one(View::AddRemove)?, touched(unit_rows)),
        // Each replaced row stays in its group.
        View::Replace if public_key || levels <= 1 => repeated(one(View::Replace)?, touched(unit_rows)),
        // A replaced row stays in its group, or leaves one and enters another: a removal and an insertion. The sizes of groups are
        // secret: exact curves of draws are not claimed (rule book §17).
        View::Replace if unit_rows == 1 => {
            let moved = one(View::AddRemove)?;
            Some(Claim::Max(vec![one(View::Replace)?.converted(), Claim::Product(vec![moved.clone(), moved])]))
        }
        View::Replace | View::Exchange => repeated(one(View::Exchange)?, touched(unit_rows.saturating_mul(2))),
    }
}

fn repeated(claim: Claim, times: u64) -> Option<Claim> {
    Some(if times == 1 { claim } else { claim.repeat(times) })
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
        assert_up(cost(groups(4, true, 3), View::Replace), 12.0);
        assert_up(cost(groups(2, true, 3), View::Replace), 8.0);
        assert_up(cost(groups(4, false, 3), View::AddRemove), 3.0);
        // A private key under replacement: k rows leave k groups and enter k others.
        assert_up(cost(groups(10, false, 3), View::Replace), 30.0);
        assert_up(cost(groups(4, false, 3), View::Replace), 20.0);
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
