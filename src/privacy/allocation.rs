//! The dearest way to spread one unit's items over categories: a dynamic programme at each order (rule book §2.3).
//!
//! The untouched categories and the total cancel, so a pair costs the sum of one divergence for each category: `Q`'s
//! category gains all items, every other category of `P` loses what `P` holds there. The sum is separable, hence the
//! best spread of `t` items over the first categories extends that over fewer.

use std::collections::{BTreeMap, BTreeSet};

use super::work;
use crate::numeric::gamma_divergence::{divergence_up, limit_order};
use crate::numeric::round::{add_down, add_up, mul_up};

/// `best[t]`: the dearest spread of exactly `t` items so far; minus infinity where there is none.
type Best = Vec<f64>;

/// What each number of items on a category of count `a` costs: `Gamma(a + s)` against `Gamma(a)`.
fn costs(a: f64, items: u64, weight: f64, order: f64) -> Best {
    (0..=items)
        .map(|x| {
            let step = mul_up(weight, x as f64);
            divergence_up(add_down(a, step), -step, order)
        })
        .collect()
}

/// One more category: the dearest sum of a spread so far and its own share.
fn extend(best: &Best, own: &Best) -> Best {
    (0..own.len())
        .map(|t| {
            let shares = own.iter().take(t + 1);
            let rest = best.iter().take(t + 1).rev();
            shares.zip(rest).map(|(a, b)| if *b == f64::NEG_INFINITY { *b } else { add_up(*a, *b) }).fold(f64::NEG_INFINITY, f64::max)
        })
        .collect()
}

/// The spreads over all but one category, for each category left out, of exactly `items` items.
fn leave_one_out(rows: &[&Best], items: u64) -> Vec<f64> {
    let mut nothing = vec![f64::NEG_INFINITY; rows.first().map_or(0, |r| r.len())];
    if let Some(first) = nothing.first_mut() {
        *first = 0.0;
    }
    let mut after = vec![nothing.clone()];
    for row in rows.iter().rev() {
        let next = extend(after.last().unwrap_or(&nothing), row);
        after.push(next);
    }
    after.reverse();
    let mut before = nothing;
    let mut out = Vec::with_capacity(rows.len());
    let last = usize::try_from(items).unwrap_or(usize::MAX);
    for (row, rest) in rows.iter().zip(after.iter().skip(1)) {
        out.push(extend(&before, rest).get(last).copied().unwrap_or(f64::INFINITY));
        before = extend(&before, row);
    }
    out
}

/// At least the divergence at `order`, which must exceed 1.
pub(super) fn rdp(counts: &[f64], base: f64, items: u64, weight: f64, order: f64) -> f64 {
    if order >= max_order(counts, items, weight) {
        return f64::INFINITY;
    }
    let gained = mul_up(weight, items as f64);
    // Equal counts cost the same: each is worked out once.
    let mut bare: BTreeMap<u64, Best> = BTreeMap::new();
    for a in counts {
        bare.entry(a.to_bits()).or_insert_with(|| costs(*a, items, weight, order));
    }
    let mut seen: BTreeSet<u64> = BTreeSet::new();
    let mut worst: f64 = 0.0;
    // Without other rows one pass; else the base on each category in turn.
    let places = if base > 0.0 { counts.len() } else { 1 };
    let entries = counts.len().saturating_mul(usize::try_from(items).unwrap_or(usize::MAX));
    work::count(entries.saturating_mul(1 + places));
    for place in 0..places {
        if counts.get(place).is_some_and(|a| !seen.insert(a.to_bits())) {
            continue;
        }
        let at = |j: usize, a: f64| {
            if base > 0.0 && j == place { add_down(a, base) } else { a }
        };
        let heavy = counts.get(place).map(|a| costs(at(place, *a), items, weight, order)).unwrap_or_default();
        let row = |(j, a): (usize, &f64)| if j == place { Some(&heavy) } else { bare.get(&a.to_bits()) };
        let Some(rows) = counts.iter().enumerate().map(row).collect::<Option<Vec<&Best>>>() else { return f64::INFINITY };
        for ((j, a), spread) in counts.iter().enumerate().zip(leave_one_out(&rows, items)) {
            let own = divergence_up(at(j, *a), gained, order);
            worst = worst.max(if spread == f64::NEG_INFINITY { spread } else { add_up(own, spread) });
        }
    }
    worst
}

/// At most the order from which on the divergence is infinite: `Q`'s category is the one of the smallest count.
pub(super) fn max_order(counts: &[f64], items: u64, weight: f64) -> f64 {
    let gained = mul_up(weight, items as f64);
    let limits = counts.iter().map(|a| limit_order(*a, gained));
    limits.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every category, place of the base and spread, one by one.
    fn brute(counts: &[f64], base: f64, items: u64, weight: f64, order: f64) -> f64 {
        fn spread(a: &[f64], skip: usize, left: u64, w: f64, order: f64) -> f64 {
            let Some((last, rest)) = a.split_last() else {
                return if left == 0 { 0.0 } else { f64::NEG_INFINITY };
            };
            let most = if rest.len() == skip { 0 } else { left };
            (0..=most)
                .map(|x| {
                    let s = w * x as f64;
                    divergence_up(last + s, -s, order) + spread(rest, skip, left - x, w, order)
                })
                .fold(f64::NEG_INFINITY, f64::max)
        }
        let mut worst: f64 = 0.0;
        for q in 0..counts.len() {
            for b in 0..counts.len() {
                let mut a = counts.to_vec();
                a[b] += base;
                let own = divergence_up(a[q], weight * items as f64, order);
                worst = worst.max(own + spread(&a, q, items, weight, order));
            }
        }
        worst
    }

    #[test]
    fn equals_the_enumeration() {
        for (counts, base, items, weight) in
            [(vec![0.1, 0.1, 0.1, 0.1], 2.0, 2, 1.0), (vec![1.0, 0.3, 2.0], 3.5, 3, 0.5), (vec![0.7, 0.4, 0.5, 1.5, 0.6], 0.0, 4, 0.3)]
        {
            for order in [1.04, 1.1, 1.15] {
                let (got, want) = (rdp(&counts, base, items, weight, order), brute(&counts, base, items, weight, order));
                assert!(got >= want * (1.0 - 1e-12) && got <= want * (1.0 + 1e-12), "{got} {want}");
            }
        }
    }

    #[test]
    fn infinite_from_the_limit_on() {
        let limit = max_order(&[0.5, 1.0, 2.0], 2, 1.0);
        assert_eq!(limit, 1.25);
        assert_eq!(rdp(&[0.5, 1.0, 2.0], 0.0, 2, 1.0, 1.25), f64::INFINITY);
        assert!(rdp(&[0.5, 1.0, 2.0], 0.0, 2, 1.0, 1.2499).is_finite());
    }
}
