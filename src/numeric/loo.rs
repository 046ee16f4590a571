//! What a model would predict for every point from the others: leave-one-out validation by Pareto smoothed importance sampling.
//!
//! After A. Vehtari, A. Gelman and J. Gabry, "Practical Bayesian model evaluation using leave-one-out cross-validation and
//! WAIC", Statistics and Computing 27 (2017), and A. Vehtari, D. Simpson, A. Gelman, Y. Yao and J. Gabry, "Pareto smoothed
//! importance sampling", JMLR 25 (2024), with the conventions of ArviZ 0.23. In plain doubles: an estimate, not a bound.

/// A point left out; all NaN without log likelihoods, or where one is not finite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Logarithm of the density that the other points predict for this one.
    pub elpd: f64,
    /// The same from all points, this one as well.
    pub lpd: f64,
    /// Shape of the tail of the weights; above `good_k` the estimate is not to be trusted. Infinite when no tail could be
    /// fitted: below 5 weights above the others (so also when all weights are equal, where the estimate is right).
    pub k: f64,
}

/// All points of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Loo {
    /// Sum over points.
    pub elpd: f64,
    /// Standard error of the sum, with n below in the variance as in ArviZ; 0 for one point.
    pub se: f64,
    /// Effective number of parameters.
    pub p: f64,
    pub points: Vec<Point>,
}

/// How much better the first model predicts than the second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    pub elpd: f64,
    /// Of the difference of pairs, mostly less than the errors of both sums.
    pub se: f64,
}

/// Largest Pareto k that this many draws can afford (Vehtari and others 2024, section 3.2.4).
pub fn good_k(draws: usize) -> f64 {
    (1.0 - 1.0 / (draws as f64).log10()).min(0.7)
}

/// From log likelihoods, draws outside and points inside; `efficiency` is effective draws per draw, 1 for independent ones.
pub fn loo(draws: &[Vec<f64>], efficiency: f64) -> Loo {
    let width = draws.iter().map(Vec::len).max().unwrap_or(0);
    // A row that is too short or long makes the matrix one of nothing.
    let even = draws.iter().all(|row| row.len() == width);
    let column = |i: usize| if even { draws.iter().filter_map(|row| row.get(i).copied()).collect() } else { vec![] };
    Loo::new((0..width).map(|i| point(&column(i), efficiency)).collect())
}

impl Loo {
    /// Sums up points that were left out one by one.
    pub fn new(points: Vec<Point>) -> Self {
        let each: Vec<f64> = points.iter().map(|p| p.elpd).collect();
        let (elpd, se) = sum_with_error(&each);
        let lpd: f64 = points.iter().map(|p| p.lpd).sum();
        Self { elpd, se, p: lpd - elpd, points }
    }

    /// NaN for different numbers of points.
    pub fn compare(&self, other: &Self) -> Difference {
        if self.points.len() != other.points.len() {
            return Difference { elpd: f64::NAN, se: f64::NAN };
        }
        let each: Vec<f64> = self.points.iter().zip(&other.points).map(|(a, b)| a.elpd - b.elpd).collect();
        let (elpd, se) = sum_with_error(&each);
        Difference { elpd, se }
    }
}

/// One point, from its log likelihood in every draw.
pub fn point(log_likelihood: &[f64], efficiency: f64) -> Point {
    if log_likelihood.is_empty() || log_likelihood.iter().any(|l| !l.is_finite()) {
        return Point { elpd: f64::NAN, lpd: f64::NAN, k: f64::NAN };
    }
    let (weights, k) = smoothed(log_likelihood.iter().map(|l| -l).collect(), efficiency);
    let total = log_sum_exp(&weights);
    let weighted: Vec<f64> = weights.iter().zip(log_likelihood).map(|(w, l)| w - total + l).collect();
    Point { elpd: log_sum_exp(&weighted), lpd: log_sum_exp(log_likelihood) - (log_likelihood.len() as f64).ln(), k }
}

/// Logarithms of weights with their largest ones replaced by quantiles of a Pareto law, and its shape (2017, section 2.1;
/// 2024, section 3). Weights are relative to the largest.
fn smoothed(mut weights: Vec<f64>, efficiency: f64) -> (Vec<f64>, f64) {
    let n = weights.len() as f64;
    let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    weights.iter_mut().for_each(|w| *w -= largest);
    let mut order = weights.clone();
    order.sort_by(f64::total_cmp);
    // An efficiency that is not a positive number leaves the fifth.
    let tail = (n / 5.0).min(3.0 * (n / efficiency).sqrt()).ceil() as usize;
    let cutoff = order.get(order.len().saturating_sub(tail + 1)).copied().unwrap_or(0.0).max(f64::MIN_POSITIVE.ln());
    let base = cutoff.exp();
    let excess: Vec<f64> = order.iter().filter(|w| **w > cutoff).map(|w| w.exp() - base).collect();
    let size = excess.len() as f64;
    if excess.len() <= 4 {
        return (weights, f64::INFINITY);
    }
    let Some((k, sigma)) = pareto_fit(&excess) else { return (weights, f64::INFINITY) };
    let mut places: Vec<&mut f64> = weights.iter_mut().filter(|w| **w > cutoff).collect();
    places.sort_by(|a, b| a.total_cmp(b));
    for (i, place) in places.into_iter().enumerate() {
        // No weight is left above the largest one that was drawn.
        *place = (pareto_quantile((i as f64 + 0.5) / size, k, sigma) + base).ln().min(0.0);
    }
    (weights, k)
}

/// Shape and scale of a generalised Pareto law for sorted positive values (J. Zhang and M. Stephens 2009), the shape drawn
/// towards 1/2 as if by ten values (the prior of the 2024 paper); nothing if the values do not tell.
fn pareto_fit(x: &[f64]) -> Option<(f64, f64)> {
    let n = x.len() as f64;
    let (quarter, largest) = (*x.get(((n / 4.0 + 0.5) as usize).saturating_sub(1))?, *x.last()?);
    let grid = 30.0 + n.sqrt().floor();
    let shape = |b: f64| x.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;
    // Candidates for -k / sigma with their profile likelihoods.
    let candidates: Vec<(f64, f64)> = (1..=grid as usize)
        .map(|i| (1.0 - (grid / (i as f64 - 0.5)).sqrt()) / (3.0 * quarter) + 1.0 / largest)
        .map(|b| (b, shape(b)))
        .map(|(b, k)| (b, n * ((-b / k).ln() - k - 1.0)))
        .collect();
    let total = log_sum_exp(&candidates.iter().map(|c| c.1).collect::<Vec<_>>());
    let kept = candidates.iter().map(|(b, l)| (b, (l - total).exp())).filter(|(_, w)| *w >= 10.0 * f64::EPSILON);
    let (sum, weight) = kept.fold((0.0, 0.0), |(sum, weight), (b, w)| (sum + b * w, weight + w));
    let b = sum / weight;
    let k = shape(b);
    let (shape, sigma) = ((n * k + 5.0) / (n + 10.0), -k / b);
    (shape.is_finite() && sigma.is_finite() && sigma > 0.0).then_some((shape, sigma))
}

fn pareto_quantile(p: f64, k: f64, sigma: f64) -> f64 {
    let e = -(-p).ln_1p();
    sigma * if k.abs() < f64::EPSILON { e } else { (k * e).exp_m1() / k }
}

fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + x.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}

/// The sum of independent terms and its standard error (2017, equations 23 and 24).
fn sum_with_error(each: &[f64]) -> (f64, f64) {
    let n = each.len() as f64;
    // Nothing sums up to -0 in Rust.
    let sum = 0.0 + each.iter().sum::<f64>();
    let mean = sum / n;
    (sum, each.iter().map(|x| (x - mean).powi(2)).sum::<f64>().abs().sqrt())
}
