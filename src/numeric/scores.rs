//! The exponential mechanism on Hellinger distances as a finite law: an integer score for every candidate (rule book §10).
//!
//! Scores are on a public grid: the distance times the strength, computed in doubles and rounded to multiples of
//! `eps 2^-18`. A score on the grid is within `eps 2^-17` of the ideal one (half a step, and 2^-40 of a score of at most
//! `eps 2^20`).

use super::hellinger::{FAR, Overlaps, distance, global_sensitivity, inverse_smooth};

/// Of eps, what the ideal mechanism may use.
const USED: f64 = 1.0 - 1.0 / 4096.0;
/// A step of the grid of scores is at most `eps 2^-STEPS`.
const STEPS: i32 = 18;

/// Candidates in order, `count` in a row with one score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Run {
    /// The score in steps of the grid, without its sign.
    pub score: u64,
    pub count: u64,
}

/// `1 / GS`, or `1 / S` at these counts.
pub fn inverse_sensitivity(alpha: &[f64], counts: &[u64], gamma: Option<f64>) -> f64 {
    match gamma {
        None => 1.0 / global_sensitivity(alpha, counts.iter().sum()),
        Some(gamma) => inverse_smooth(alpha, counts, gamma),
    }
}

fn strength_by(inverse: f64, epsilon: f64, gamma: Option<f64>) -> f64 {
    epsilon / (2.0 * (1.0 + gamma.unwrap_or(0.0))) * inverse
}

/// `eps / (2 GS)`, or `eps / (2 (1 + gamma) S)` at these counts.
pub fn strength(alpha: &[f64], counts: &[u64], epsilon: f64, gamma: Option<f64>) -> f64 {
    strength_by(inverse_sensitivity(alpha, counts, gamma), epsilon, gamma)
}

/// The distance of every candidate from the posterior of `counts`, in order, equal ones far away together.
pub fn distances(alpha: &[f64], counts: &[u64]) -> Vec<(f64, u64)> {
    let total = counts.iter().sum();
    match (alpha, counts) {
        ([a, b], [c, d]) => on_a_line([*a, *b], [*c, *d]),
        _ => {
            let tables: Vec<Overlaps> = alpha.iter().zip(counts).map(|(a, c)| Overlaps::new(*a, *c, 0, total)).collect();
            let mut out = vec![];
            every(total, alpha.len(), &mut |candidate| {
                let overlap: f64 = tables.iter().zip(candidate).map(|(t, c)| t.at(*c)).sum();
                out.push((distance(overlap), 1));
                false
            });
            out
        }
    }
}

/// Two places: tables grow until the overlap is gone; the distance rises on both sides, so the rest is as far.
fn on_a_line([a, b]: [f64; 2], [c, d]: [u64; 2]) -> Vec<(f64, u64)> {
    let side = |(a, c): (f64, u64), (b, d): (f64, u64)| {
        // c falls and d rises.
        let mut width = 64u64.min(c);
        loop {
            let down = Overlaps::new(a, c, c - width, c);
            let up = Overlaps::new(b, d, d, d + width);
            let overlap = |t: u64| down.at(c - t) + up.at(d + t);
            let far = overlap(width) <= -FAR;
            if far || width == c {
                return (1..=width).map(overlap).take_while(|o| *o > -FAR).map(distance).collect::<Vec<f64>>();
            }
            width = width.saturating_mul(2).min(c);
        }
    };
    let (left, right) = (side((a, c), (b, d)), side((b, d), (a, c)));
    let rest = |all: u64, near: usize| (1.0, all - near as u64);
    let left_rest = rest(c, left.len());
    let right_rest = rest(d, right.len());
    let near = left.into_iter().rev().chain([0.0]).chain(right).map(|h| (h, 1));
    std::iter::once(left_rest).chain(near).chain([right_rest]).filter(|(_, count)| *count > 0).collect()
}

/// Every way to put `total` items into `k` places, the first place slowest; stops where `look` says so.
pub fn every(total: u64, k: usize, look: &mut dyn FnMut(&[u64]) -> bool) {
    fn fill(i: usize, left: u64, counts: &mut [u64], look: &mut dyn FnMut(&[u64]) -> bool) -> bool {
        if i + 1 == counts.len() {
            if let Some(last) = counts.last_mut() {
                *last = left;
            }
            return look(counts);
        }
        for c in 0..=left {
            if let Some(place) = counts.get_mut(i) {
                *place = c;
            }
            if fill(i + 1, left - c, counts, look) {
                return true;
            }
        }
        false
    }
    if k > 0 {
        fill(0, total, &mut vec![0; k], look);
    }
}

/// The grid of scores for eps: its exponent.
pub fn exponent(epsilon: f64) -> i32 {
    libm::ilogb(epsilon).saturating_sub(STEPS)
}

/// The score of a candidate at distance `h`, where `inverse` is the inverse sensitivity at the counts; `None` beyond 9e15.
pub fn score(inverse: f64, h: f64, epsilon: f64, gamma: Option<f64>) -> Option<u64> {
    let steps = libm::ldexp(strength_by(inverse, epsilon * USED, gamma) * h, -exponent(epsilon));
    // An infinite or missing number is not a score; below 2^53 the conversion is exact.
    (steps < 9e15).then(|| libm::round(steps) as u64)
}

/// The law that is sampled: candidate i has probability proportional to `exp(-score 2^exponent)`.
pub fn scores(alpha: &[f64], counts: &[u64], epsilon: f64, gamma: Option<f64>) -> Option<Vec<Run>> {
    if counts.iter().all(|c| *c == 0) {
        return Some(vec![Run { score: 0, count: 1 }]);
    }
    let inverse = inverse_sensitivity(alpha, counts, gamma);
    distances(alpha, counts).into_iter().map(|(h, count)| Some(Run { score: score(inverse, h, epsilon, gamma)?, count })).collect()
}
