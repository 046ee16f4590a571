//! A claim laid out to be priced at many orders: equal parts stand once with their number, and every profile is at hand.

use super::compose::{Profile, count_up, scaled};
use super::{Claim, laplace, work};
use crate::numeric::round::add_up;
use std::collections::HashMap;

pub struct Layout<'a> {
    claim: &'a Claim,
    pub profile: Profile,
    /// What it consists of, each with its number.
    parts: Vec<(Layout<'a>, u64)>,
}

impl<'a> Layout<'a> {
    pub fn of(claim: &'a Claim) -> Layout<'a> {
        let parts = match claim {
            Claim::Product(list) => counted(list),
            Claim::Max(list) => counted(list).into_iter().map(|(member, _)| (member, 1)).collect(),
            Claim::Repeated { times, claim } => vec![(&**claim, *times)],
            _ => vec![],
        };
        let parts: Vec<(Layout, u64)> = parts.into_iter().map(|(part, times)| (Layout::of(part), times)).collect();
        let profile = Profile::of(claim, &mut parts.iter().map(|(part, times)| part.profile.times(*times)));
        Layout { claim, profile, parts }
    }

    /// Upper bound on the Rényi divergence of an order above 1.
    pub fn rdp(&self, order: f64) -> f64 {
        let parts = || self.parts.iter().map(|(part, times)| scaled(count_up(*times), part.rdp(order)));
        let own = match self.claim {
            Claim::Renyi(pairs) => pairs.iter().map(|pair| pair.rdp(order)).fold(0.0, f64::max),
            Claim::Exact(shift) => shift.pair().rdp(order),
            Claim::Laplace { .. } => laplace::rdp(self.profile.pure, order),
            Claim::Product(_) | Claim::Repeated { .. } => parts().fold(0.0, add_up),
            Claim::Max(_) => parts().fold(0.0, f64::max),
            _ => f64::INFINITY,
        };
        work::count(1);
        own.min(self.profile.rdp(order))
    }
}

/// The distinct claims of a list in their order, and how often each stands there.
pub(super) fn counted(list: &[Claim]) -> Vec<(&Claim, u64)> {
    let mut found: Vec<(&Claim, u64)> = Vec::new();
    let mut places: HashMap<&Claim, usize> = HashMap::new();
    for claim in list {
        let place = *places.entry(claim).or_insert(found.len());
        match found.get_mut(place) {
            Some((_, times)) => *times += 1,
            None => found.push((claim, 1)),
        }
    }
    found
}
