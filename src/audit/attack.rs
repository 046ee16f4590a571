//! What an attacker learns from scores: lower bounds on epsilon with their confidence, and the trade-off of errors.

use statrs::function::beta::beta_reg;

/// False and true positive rates over thresholds, from (0, 0) to (1, 1).
pub type Roc = Vec<(f64, f64)>;

/// Thresholds that are tried.
const THRESHOLDS: usize = 400;

/// Bounds on a probability after `successes` of `trials`, each of which holds with chance `1 - alpha` (Clopper and Pearson).
pub fn clopper_pearson(successes: u64, trials: u64, alpha: f64) -> (f64, f64) {
    let (k, n) = (successes as f64, trials as f64);
    // P(at least k of n) is the regularised beta function at (k, n - k + 1), increasing in the probability.
    let solve = |value: &dyn Fn(f64) -> f64, wanted: f64| {
        let (mut lo, mut hi) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(lo, hi);
            if value(middle) < wanted { lo = middle } else { hi = middle }
        }
        (lo, hi)
    };
    let low = if successes == 0 { 0.0 } else { solve(&|p| beta_reg(k, n - k + 1.0, p), alpha).0 };
    // By the complement: `1 - alpha` would round to 1.
    let high = if successes >= trials { 1.0 } else { 1.0 - solve(&|p| beta_reg(n - k, k + 1.0, p), alpha).0 };
    (low, high)
}

/// Scores from both data sets; larger speaks for the first.
pub struct Scores {
    pub first: Vec<f64>,
    pub second: Vec<f64>,
}

/// A rule "the first, if the score is above (or below)".
#[derive(Clone, Copy)]
struct Test {
    threshold: f64,
    above: bool,
    /// The hypothesis that is attacked: is it the first data set that the rule accepts?
    first: bool,
}

fn count(scores: &[f64], test: Test) -> u64 {
    scores.iter().filter(|s| if test.above { **s > test.threshold } else { **s <= test.threshold }).count() as u64
}

fn tried(scores: &Scores) -> Vec<Test> {
    let mut pooled: Vec<f64> = scores.first.iter().chain(&scores.second).copied().filter(|s| s.is_finite()).collect();
    pooled.sort_by(f64::total_cmp);
    let step = (pooled.len() / THRESHOLDS).max(1);
    // Even steps, and the far ends one by one: rare events are where pure guarantees break.
    let ends = pooled.iter().take(40).chain(pooled.iter().rev().take(40));
    let mut thresholds: Vec<f64> = pooled.iter().step_by(step).chain(ends).copied().collect();
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    let both = |threshold| [(true, true), (false, false)].map(|(above, first)| Test { threshold, above, first });
    thresholds.into_iter().flat_map(both).collect()
}

fn epsilon(scores: &Scores, test: Test, delta: f64, alpha: f64) -> f64 {
    let (p, q) = if test.first { (&scores.first, &scores.second) } else { (&scores.second, &scores.first) };
    let hits = clopper_pearson(count(p, test), p.len() as u64, alpha).0;
    let misses = clopper_pearson(count(q, test), q.len() as u64, alpha).1;
    if hits > delta { ((hits - delta) / misses).ln().max(0.0) } else { 0.0 }
}

/// Lower bounds on epsilon at several deltas, all of them true with chance `confidence`.
///
/// A rule is chosen on the first half of the scores for every delta and judged on the second half alone.
pub fn lower_bounds(scores: &Scores, deltas: &[f64], confidence: f64) -> Vec<f64> {
    let half = |v: &[f64], first: bool| {
        let (a, b) = v.split_at(v.len() / 2);
        if first { a.to_vec() } else { b.to_vec() }
    };
    let part = |first| Scores { first: half(&scores.first, first), second: half(&scores.second, first) };
    let (choose, judge) = (part(true), part(false));
    let tests = tried(&choose);
    // Two one-sided bounds for every delta.
    let alpha = (1.0 - confidence) / (2.0 * deltas.len() as f64);
    let best = |delta: f64| {
        let worth = tests.iter().map(|t| (quick(&choose, *t, delta), *t));
        worth.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, t)| t)
    };
    let found: Vec<f64> = deltas.iter().map(|delta| best(*delta).map_or(0.0, |t| epsilon(&judge, t, *delta, alpha))).collect();
    // What holds at a delta holds at every smaller one.
    let at_or_above = |d: f64| deltas.iter().zip(&found).filter(move |(other, _)| **other >= d).map(|(_, e)| *e);
    deltas.iter().map(|d| at_or_above(*d).fold(0.0, f64::max)).collect()
}

/// The largest epsilon that so many draws from each data set could show at a delta, if every draw told the two apart.
pub fn reach(trials: u64, delta: f64, deltas: usize, confidence: f64) -> f64 {
    let (half, alpha) = (trials - trials / 2, (1.0 - confidence) / (2.0 * deltas.max(1) as f64));
    let hits = clopper_pearson(half, half, alpha).0;
    let misses = clopper_pearson(0, half, alpha).1;
    if hits > delta { ((hits - delta) / misses).ln().max(0.0) } else { 0.0 }
}

/// A bound without exact tails, with five standard errors: good enough to choose by.
fn quick(scores: &Scores, test: Test, delta: f64) -> f64 {
    let (p, q) = if test.first { (&scores.first, &scores.second) } else { (&scores.second, &scores.first) };
    let rate = |v: &Vec<f64>| (count(v, test) as f64, v.len() as f64);
    let ((a, n), (b, m)) = (rate(p), rate(q));
    let low = (a - 5.0 * a.sqrt()) / n;
    let high = (b + 5.0 * b.sqrt() + 12.0) / m;
    if low > delta { ((low - delta) / high).ln() } else { f64::NEG_INFINITY }
}

/// The attacker's trade-off, in at most `points` steps.
pub fn roc(scores: &Scores, points: usize) -> Roc {
    let mut pooled: Vec<(f64, bool)> = scores.first.iter().map(|s| (*s, true)).chain(scores.second.iter().map(|s| (*s, false))).collect();
    pooled.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (n, m) = (scores.first.len() as f64, scores.second.len() as f64);
    let (mut hits, mut misses, mut curve) = (0.0, 0.0, vec![(0.0, 0.0)]);
    let step = (pooled.len() / points).max(1);
    let mut before = f64::NAN;
    for (i, (score, first)) in pooled.iter().enumerate() {
        // Equal scores belong together.
        if i % step == 0 && *score != before && i > 0 {
            curve.push((misses / m, hits / n));
        }
        before = *score;
        *(if *first { &mut hits } else { &mut misses }) += 1.0;
    }
    curve.push((1.0, 1.0));
    curve
}
