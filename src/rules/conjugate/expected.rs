//! Predicted errors: mean squares averaged over a prior predictive. They choose among mechanisms and bound nothing.

/// The mean of `f(v)` over `v ~ Beta(a, b)`, by the trapezoid rule on the log-odds scale.
pub(super) fn over_beta(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    const POINTS: u32 = 2000;
    let (a, b) = (a.max(1e-6), b.max(1e-6));
    let centre = (a / b).ln();
    let spread = 10.0 * (1.0 / a + 1.0 / b).sqrt();
    // The tails of the density on the log-odds scale fall like exp(-a |x|) and exp(-b x).
    let (lo, hi) = (centre - spread - 30.0 / a, centre + spread + 30.0 / b);
    let log_v = |x: f64| -(-x).exp().ln_1p();
    let peak = a * log_v(centre) + b * log_v(-centre);
    let (mut mass, mut total) = (0.0, 0.0);
    for i in 0..=POINTS {
        let x = lo + (hi - lo) * f64::from(i) / f64::from(POINTS);
        let weight = (a * log_v(x) + b * log_v(-x) - peak).exp();
        // Outside this the value is 0 or 1 to double precision.
        let v = (1.0 / (1.0 + (-x).exp())).clamp(1e-15, 1.0 - 1e-15);
        mass += weight;
        total += weight * f(v);
    }
    total / mass
}

/// Mean square error of a Beta draw: prior (a, b), `trials` in all, weight r, concentration m. Exact: the sum is
/// beta-binomial, the tempered and the untempered mean are linear in it.
pub(super) fn beta(a: f64, b: f64, trials: f64, r: f64, m: f64) -> f64 {
    let p = a / (a + b);
    let variance = trials * p * (1.0 - p) * (a + b + trials) / (a + b + 1.0);
    let total = (a + b) / m + r * trials;
    let spread = (r / total).powi(2) * variance;
    let within = (p - p * p - spread) / (total + 1.0);
    within + (r / total - 1.0 / (a + b + trials)).powi(2) * variance
}

/// Mean square error of a normal mean: prior precision, precision of all rows together, r, m.
pub(crate) fn normal(prior: f64, rows: f64, r: f64, m: f64) -> f64 {
    if prior + rows == 0.0 {
        return f64::INFINITY;
    }
    let total = prior / m + r * rows;
    let shift = r * rows / total - rows / (prior + rows);
    // Variance of the rows' own mean about the prior mean.
    let around = if prior > 0.0 && rows > 0.0 { 1.0 / prior + 1.0 / rows } else { 0.0 };
    1.0 / total + shift * shift * around
}

/// Mean square error of a Gamma draw whose shape is counted: prior (a, b), n rows.
pub(super) fn gamma_shape(a: f64, b: f64, n: f64, r: f64, m: f64) -> f64 {
    let mean = a / b;
    let variance = n * mean * (1.0 + n / b);
    let rate = b / m + r * n;
    let within = mean / rate;
    within + (r / rate - 1.0 / (b + n)).powi(2) * variance
}

/// Mean square error of a Gamma draw whose rate is summed: prior (a, b), `shape` the rows' joint shape. The sum is
/// `b v / (1 - v)` with `v ~ Beta(shape, a)`.
pub(super) fn gamma_rate(a: f64, b: f64, shape: f64, r: f64, m: f64) -> f64 {
    over_beta(shape, a, |v| {
        let sum = b * v / (1.0 - v);
        let (at, bt) = (a / m + r * shape, b / m + r * sum);
        at / (bt * bt) + (at / bt - (a + shape) / (b + sum)).powi(2)
    })
}

/// Mean square error of a Beta draw with negative binomial rows: `successes` in all. The sum of failures is replaced
/// by its mean plus and minus one standard deviation given p.
pub(super) fn beta_failures(a: f64, b: f64, successes: f64, r: f64, m: f64) -> f64 {
    over_beta(a, b, |p| {
        let mean = successes * (1.0 - p) / p;
        let sd = mean.sqrt() / p.sqrt();
        let at = |sum: f64| {
            let (x, y) = (a / m + r * successes, b / m + r * sum);
            let total = x + y;
            let untempered = (a + successes) / (a + b + successes + sum);
            x * y / (total * total * (total + 1.0)) + (x / total - untempered).powi(2)
        };
        0.5 * (at((mean - sd).max(0.0)) + at(mean + sd))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_beta_knows_moments() {
        for (a, b) in [(0.3, 0.7), (2.0, 3.0), (500.0, 40.0)] {
            let mean: f64 = over_beta(a, b, |v| v);
            assert!((mean - a / (a + b)).abs() < 1e-6, "{a} {b}: {mean}");
        }
    }

    #[test]
    fn an_untempered_draw_errs_by_its_posterior_spread() {
        // Sums over the beta-binomial by hand: prior (2, 3), 2 trials.
        let weight = [2.0 / 5.0, 2.0 / 5.0, 1.0 / 5.0];
        let by_hand: f64 = (0..3)
            .map(|s| {
                let (x, y) = (2.0 + f64::from(s), 5.0 - f64::from(s));
                weight[s as usize] * x * y / (49.0 * 8.0)
            })
            .sum();
        assert!((beta(2.0, 3.0, 2.0, 1.0, 1.0) - by_hand).abs() < 1e-12);
        assert!((normal(1.0, 3.0, 1.0, 1.0) - 0.25).abs() < 1e-15);
        // Exponential rows: E[A / B^2] with B = 3 + S, prior (4, 3), one row: 5 * E[(1 - v)^2] / 9, v ~ Beta(1, 4).
        let by_hand = 5.0 / 9.0 * (4.0 * 5.0) / (5.0 * 6.0);
        assert!((gamma_rate(4.0, 3.0, 1.0, 1.0, 1.0) - by_hand).abs() < 1e-5);
    }
}
