//! How far chains of draws agree and what their draws are worth: R-hat, effective sample sizes, Monte Carlo error, a summary.
//!
//! After A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Buerkner, "Rank-normalization, folding, and
//! localization: an improved R-hat", Bayesian Analysis 16 (2021), with the conventions of ArviZ 0.23. All of it is in plain
//! doubles: estimates, not guarantees.
//!
//! A diagnostic is NaN when it means nothing: no chains, chains of unequal length or below 4 draws, a draw that is not
//! finite, or draws that are all equal.

use crate::numeric::special::normal_quantile;

/// The usual row of a table of results; the last four are NaN where they mean nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    pub mean: f64,
    /// With n - 1 below.
    pub sd: f64,
    pub q5: f64,
    pub median: f64,
    pub q95: f64,
    /// Monte Carlo standard error of the mean.
    pub mcse: f64,
    pub rhat: f64,
    pub ess_bulk: f64,
    pub ess_tail: f64,
}

/// Everything at once; all NaN without draws or with one that is not finite. Mean, sd and quantiles take chains of any length.
pub fn summary(chains: &[Vec<f64>]) -> Summary {
    let all = sorted(chains);
    let finite = !all.is_empty() && all.iter().all(|x| x.is_finite());
    let known = |x: f64| if finite { x } else { f64::NAN };
    Summary {
        mean: known(mean(&all)),
        sd: known(variance(&all).sqrt()),
        q5: known(quantile(&all, 0.05)),
        median: known(quantile(&all, 0.5)),
        q95: known(quantile(&all, 0.95)),
        mcse: mcse_mean(chains),
        rhat: rhat(chains),
        ess_bulk: ess_bulk(chains),
        ess_tail: ess_tail(chains),
    }
}

/// The larger of the rank-normalised split R-hats of the draws and of their distances from the median (sections 4.1 and 4.2), for 2
/// chains or more; infinite if chains never move and differ. Chains above 1.01 should not be used.
pub fn rhat(chains: &[Vec<f64>]) -> f64 {
    if chains.len() < 2 {
        return f64::NAN;
    }
    let Some(halves) = split(chains) else { return f64::NAN };
    let median = quantile(&sorted(&halves), 0.5);
    let folded = map(&halves, |x| (x - median).abs());
    // Draws of two values may be equally far from the median: then only the bulk counts, since `max` skips a NaN.
    plain_rhat(&normal_scores(&halves)).max(plain_rhat(&normal_scores(&folded)))
}

/// Effective sample size of the middle: of rank-normalised split chains (section 4.3).
pub fn ess_bulk(chains: &[Vec<f64>]) -> f64 {
    split(chains).map_or(f64::NAN, |halves| ess(&normal_scores(&halves)))
}

/// Effective sample size of the tails: the smaller one for the quantiles at 5 % and 95 % (section 4.3). A quantile that is
/// the largest of tied draws says nothing: for it all draws count, as in ArviZ.
pub fn ess_tail(chains: &[Vec<f64>]) -> f64 {
    let Some(halves) = split(chains) else { return f64::NAN };
    let all = sorted(chains);
    let draws: usize = halves.iter().map(Vec::len).sum();
    let below = |p: f64| {
        let bound = quantile(&all, p);
        let below = map(&halves, |x| if x <= bound { 1.0 } else { 0.0 });
        if constant(&below) { draws as f64 } else { ess(&below) }
    };
    below(0.05).min(below(0.95))
}

/// Effective sample size for the mean: of split chains as they are.
pub fn ess_mean(chains: &[Vec<f64>]) -> f64 {
    split(chains).map_or(f64::NAN, |halves| ess(&halves))
}

/// Monte Carlo standard error of the mean of all draws: their standard deviation over the root of `ess_mean` (section 4.4 has
/// it for quantiles).
pub fn mcse_mean(chains: &[Vec<f64>]) -> f64 {
    (variance(&chains.concat()) / ess_mean(chains)).sqrt()
}

/// Quantile of sorted values with linear interpolation (type 7 of R. Hyndman and Y. Fan 1996); NaN without values or for a NaN.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let place = sorted.len().saturating_sub(1) as f64 * p.clamp(0.0, 1.0);
    let (low, part) = (place.floor() as usize, place.fract());
    let Some(&a) = sorted.get(low).filter(|_| !p.is_nan()) else { return f64::NAN };
    match sorted.get(low + 1) {
        // Never outside of the two, so that `x <= quantile` is right for ties.
        Some(&b) if part > 0.0 && a < b => ((1.0 - part) * a + part * b).max(a).min(b),
        _ => a,
    }
}

fn sorted(chains: &[Vec<f64>]) -> Vec<f64> {
    let mut all = chains.concat();
    all.sort_by(f64::total_cmp);
    all
}

/// Every chain cut in two; of an odd number of draws the middle one is left out. Nothing where diagnostics are NaN.
fn split(chains: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let draws = chains.first()?.len();
    let usable = draws >= 4 && chains.iter().all(|c| c.len() == draws && c.iter().all(|x| x.is_finite()));
    let half = draws / 2;
    let first = chains.iter().map(|c| c.iter().copied().take(half).collect());
    let halves: Vec<_> = first.chain(chains.iter().map(|c| c.iter().copied().skip(draws - half).collect())).collect();
    (usable && !constant(&halves)).then_some(halves)
}

fn map(chains: &[Vec<f64>], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains.iter().map(|c| c.iter().map(|x| f(*x)).collect()).collect()
}

fn constant(chains: &[Vec<f64>]) -> bool {
    let mut all = chains.iter().flatten();
    all.next().is_none_or(|first| all.all(|x| x == first))
}

/// Normal quantiles of ranks among all draws, ties at their mean rank (section 4.1).
fn normal_scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut order: Vec<(f64, usize)> = chains.iter().flatten().copied().zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut scores = vec![0.0; order.len()];
    let mut before = 0;
    for ties in order.chunk_by(|a, b| a.0 == b.0) {
        let rank = before as f64 + 0.5 * (ties.len() + 1) as f64;
        let score = normal_quantile((rank - 0.375) / (order.len() as f64 + 0.25));
        for (_, i) in ties {
            if let Some(place) = scores.get_mut(*i) {
                *place = score;
            }
        }
        before += ties.len();
    }
    scores.chunks(chains.first().map_or(1, |c| c.len().max(1))).map(<[f64]>::to_vec).collect()
}

/// R-hat of chains as they are (section 3.1).
fn plain_rhat(chains: &[Vec<f64>]) -> f64 {
    if constant(chains) {
        return f64::NAN;
    }
    let draws = chains.first().map_or(0, Vec::len) as f64;
    let between = draws * variance(&chains.iter().map(|c| mean(c)).collect::<Vec<_>>());
    // A chain that never moves has no variance, whatever rounding says.
    let within = chains.iter().map(|c| if constant(std::slice::from_ref(c)) { 0.0 } else { variance(c) }).sum::<f64>();
    ((between / (within / chains.len() as f64) + draws - 1.0) / draws).sqrt()
}

/// Draws of several chains, over the sum of autocorrelations up to where Geyer's initial monotone sequence ends (section
/// 3.2). Lags are computed one by one while they are needed: few, unless chains hardly move.
fn ess(chains: &[Vec<f64>]) -> f64 {
    if constant(chains) {
        return f64::NAN;
    }
    let means: Vec<f64> = chains.iter().map(|c| mean(c)).collect();
    let centred: Vec<Vec<f64>> = chains.iter().zip(&means).map(|(c, m)| c.iter().map(|x| x - m).collect()).collect();
    let draws = chains.first().map_or(0, Vec::len);
    let (n, total) = (draws as f64, (draws * chains.len()) as f64);
    let product = |c: &[f64], lag| c.iter().zip(c.iter().skip(lag)).map(|(a, b)| a * b).sum::<f64>();
    let covariance = |lag| centred.iter().map(|c| product(c, lag)).sum::<f64>() / total;
    let (start, spread) = (covariance(0), variance(&means));
    let rho = |lag| 1.0 - (start * n / (n - 1.0) - covariance(lag)) / (start + spread);
    // Lags 2k and 2k + 1 together, as long as their sum is positive, and never more than the pair before.
    let (mut even, mut odd, mut lag) = (1.0, rho(1), 2);
    let (mut least, mut time) = (f64::INFINITY, -1.0);
    while lag + 2 < draws && even + odd > 0.0 {
        least = (even + odd).min(least);
        time += 2.0 * least;
        (even, odd, lag) = (rho(lag), rho(lag + 1), lag + 2);
    }
    // Of the pair that ends it, ArviZ and Stan still add the first, which helps where draws alternate.
    if even + odd >= 0.0 || even > 0.0 {
        time += even;
    }
    // The same bound as in Stan: no more than n log10(n).
    let worth = total / time.max(1.0 / total.log10());
    if odd.is_nan() || even.is_nan() { f64::NAN } else { worth }
}

fn mean(x: &[f64]) -> f64 {
    let (n, first) = (x.len() as f64, x.iter().sum::<f64>() / x.len() as f64);
    // Once more around the first result, which takes its rounding off.
    first + x.iter().map(|x| x - first).sum::<f64>() / n
}

/// With n - 1 below.
fn variance(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0)
}
