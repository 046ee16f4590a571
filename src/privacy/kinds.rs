//! What kinds of releases a claim has, which decides by what road it is priced.

use crate::privacy::loss::MANY;
use crate::privacy::{Claim, Pair};

/// Is every pair noise on samples, whose curve is known?
pub(super) fn samples(pairs: &[Pair]) -> bool {
    !pairs.is_empty() && pairs.iter().all(|p| matches!(p, Pair::Sampled { .. }))
}

/// Is there a draw whose curve is known?
pub(super) fn has_draw(claim: &Claim) -> bool {
    match claim {
        Claim::Exact(_) => true,
        Claim::Renyi(pairs) => samples(pairs),
        Claim::Product(list) | Claim::Max(list) => list.iter().any(has_draw),
        Claim::Repeated { claim, .. } => has_draw(claim),
        _ => false,
    }
}

/// Are there two bounded ranges or more outside of branches?
pub(super) fn many_ranges(claim: &Claim) -> bool {
    fn count(claim: &Claim) -> u64 {
        match claim {
            Claim::BoundedRange { .. } => 1,
            Claim::Product(list) => list.iter().map(count).fold(0, u64::saturating_add),
            Claim::Repeated { times, claim } => count(claim).saturating_mul(*times),
            _ => 0,
        }
    }
    count(claim) > 1
}

/// Is every draw known by its curve, beside which its Rényi divergences say less, and nothing better order by order?
pub fn curves_suffice(claim: &Claim) -> bool {
    fn exact(claim: &Claim) -> bool {
        match claim {
            Claim::Renyi(_) | Claim::Zcdp { .. } => false,
            Claim::Product(list) | Claim::Max(list) => list.iter().all(exact),
            Claim::Repeated { times, claim } => *times < MANY as u64 && exact(claim),
            _ => true,
        }
    }
    has_draw(claim) && exact(claim) && !many_ranges(claim)
}
