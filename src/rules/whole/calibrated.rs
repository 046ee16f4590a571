//! The scale of a Hellinger mechanism from its realised loss: the worst over all neighbouring counts, computed from its law.

use crate::numeric::hellinger::histograms;
use crate::numeric::interval::Interval;
use crate::numeric::round::{add_up, mul_up, sub_up};
use crate::numeric::scores::{distances, every, exponent, inverse_sensitivity, score};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Most pairs of candidates times pairs of levels: all weights are computed some ten times, in less than two seconds.
const MOST_PAIRS: u64 = 1 << 20;
/// Of the argument eps of the law, what is kept free: a second road that rounds no score is within half of it.
const KEPT: f64 = 1.0 / 16_384.0;
/// The loss may end below eps by this part of it.
const CLOSE: f64 = 1e-4;

/// Are there few enough posteriors of `items` items at `k` levels?
pub(super) fn few(items: u64, k: usize) -> bool {
    let n = histograms(items, k);
    let moves = (k as u64).saturating_mul((k as u64).saturating_sub(1)) / 2;
    items > 0 && n.saturating_mul(n).saturating_mul(moves) <= MOST_PAIRS
}

/// All candidates of a law, in order: what does not change with eps.
struct Candidates {
    gamma: Option<f64>,
    /// Inverse sensitivity at each, and its distances from all.
    each: Vec<(f64, Vec<f64>)>,
    /// Pairs that differ in one item.
    neighbours: Vec<(usize, usize)>,
}

impl Candidates {
    fn new(alpha: &[f64], items: u64, gamma: Option<f64>) -> Candidates {
        let mut all: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
        every(items, alpha.len(), &mut |c| {
            all.insert(c.to_vec(), all.len());
            false
        });
        // Counts in lexical order: the first place slowest.
        let far = |c: &[u64]| distances(alpha, c).into_iter().flat_map(|(h, n)| std::iter::repeat_n(h, n as usize)).collect();
        let each = all.keys().map(|c| (inverse_sensitivity(alpha, c, gamma), far(c))).collect();
        let mut neighbours = vec![];
        for (c, at) in &all {
            for to in 0..c.len() {
                // One item moved from the place `from` to an earlier one, which comes later in the order.
                for from in to + 1..c.len() {
                    let mut moved = c.clone();
                    if let [Some(a), Some(b)] = [to, from].map(|i| c.get(i).copied())
                        && b > 0
                    {
                        moved.iter_mut().enumerate().for_each(|(i, x)| match i {
                            i if i == to => *x = a + 1,
                            i if i == from => *x = b - 1,
                            _ => {}
                        });
                        neighbours.extend(all.get(&moved).map(|other| (*at, *other)));
                    }
                }
            }
        }
        Candidates { gamma, each, neighbours }
    }

    /// An upper bound on the log ratio of the laws of neighbours at any candidate, where the law has the argument
    /// `epsilon`; infinite where there is no law.
    fn worst_loss(&self, epsilon: f64) -> f64 {
        let step = libm::ldexp(1.0, exponent(epsilon));
        let law = |(inverse, far): &(f64, Vec<f64>)| -> Option<(Vec<u64>, Interval)> {
            let scores: Vec<u64> = far.iter().map(|h| score(*inverse, *h, epsilon, self.gamma)).collect::<Option<_>>()?;
            // Terms in [0, 1], one of them 1 (its own distance is 0). Each, and each sum, is off by at most 2^-52 of itself.
            let sum: f64 = scores.iter().map(|s| libm::exp(-(*s as f64) * step)).sum();
            let off = (scores.len() as f64 + 4.0) * f64::EPSILON;
            let ln = Interval::point(sum).ln();
            Some((scores, Interval::new(sub_up(ln.lo, 2.0 * off).next_down(), add_up(ln.hi, 2.0 * off))))
        };
        let Some(laws) = self.each.iter().map(law).collect::<Option<Vec<_>>>() else { return f64::INFINITY };
        let mut worst: f64 = 0.0;
        for (i, j) in &self.neighbours {
            let (Some((s, z)), Some((t, w))) = (laws.get(*i), laws.get(*j)) else { return f64::INFINITY };
            // Scores are below 9e15: differences are exact, in integers and in doubles.
            let (mut up, mut down) = (0i64, 0i64);
            for (s, t) in s.iter().zip(t) {
                let apart = *t as i64 - *s as i64;
                (up, down) = (up.max(apart), down.min(apart));
            }
            let there = add_up(mul_up(up as f64, step), sub_up(w.hi, z.lo));
            let back = add_up(mul_up(-down as f64, step), sub_up(z.hi, w.lo));
            worst = worst.max(there).max(back);
        }
        worst
    }

    /// The worst loss, and what is kept free.
    fn bound(&self, epsilon: f64) -> f64 {
        add_up(self.worst_loss(epsilon), mul_up(epsilon, KEPT))
    }

    /// The largest argument found whose loss is at most `epsilon`; at `epsilon` itself the theorem says so.
    fn calibrate(&self, epsilon: f64) -> f64 {
        let close = epsilon * (1.0 - CLOSE);
        let (mut low, mut high) = (epsilon, None::<f64>);
        let mut at = epsilon;
        for _ in 0..40 {
            let loss = self.bound(at);
            if loss <= epsilon {
                low = low.max(at);
                if loss >= close {
                    break;
                }
            } else {
                high = Some(high.map_or(at, |h| h.min(at)));
            }
            // The loss grows about in proportion.
            let guess = at * (epsilon * (1.0 - 0.5 * CLOSE) / loss);
            let top = high.unwrap_or((4.0 * low).min(2.0 * 1e4));
            at = if guess > low && guess < top { guess } else { 0.5 * (low + top) };
            if at <= low || at > 1e4 {
                break;
            }
        }
        low
    }
}

/// An argument for a law over all posteriors of `items` items at which its worst loss over all neighbours is at most
/// `epsilon`, and close to it. It depends on public facts alone; what was computed once is kept.
pub(super) fn argument(alpha: &[f64], items: u64, epsilon: f64, gamma: Option<f64>) -> f64 {
    type Key = (Vec<u64>, u64, u64, Option<u64>);
    static KNOWN: Mutex<Vec<(Key, f64)>> = Mutex::new(vec![]);
    let key: Key = (alpha.iter().map(|a| a.to_bits()).collect(), items, epsilon.to_bits(), gamma.map(f64::to_bits));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = known.iter().find(|(k, _)| *k == key) {
        return *found;
    }
    let found = Candidates::new(alpha, items, gamma).calibrate(epsilon);
    if known.len() >= 64 {
        known.remove(0);
    }
    known.push((key, found));
    found
}
