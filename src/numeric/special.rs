//! Special functions in plain doubles, for estimates that bound nothing; certified numbers use intervals.

/// `ln(sqrt(2 pi))`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;

/// Logarithm of the Gamma function of a positive argument; accurate to a few units in the last place.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Derivative of `ln_gamma` for positive `x`, relative error about 1e-14; NaN elsewhere.
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let w = 1.0 / (x * x);
    let series = w
        * (1.0 / 12.0 - w * (1.0 / 120.0 - w * (1.0 / 252.0 - w * (1.0 / 240.0 - w * (1.0 / 132.0 - w * (691.0 / 32_760.0 - w / 12.0))))));
    sum + libm::log(x) - 0.5 / x - series
}

/// What Stirling's formula leaves of the logarithm of the Gamma function: `ln_gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2)`.
pub fn stirling(x: f64) -> f64 {
    if x < 16.0 {
        return ln_gamma(x) - ((x - 0.5) * x.ln() - x + LN_ROOT);
    }
    let w = 1.0 / (x * x);
    (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0 - w / 1188.0)))) / x
}

/// Logarithm of the negative binomial probability of k at this shape and mean, `Gamma(a + k) / (Gamma(a) k!) p^a q^k` with
/// `q / p = odds`; its error stays small where large Gamma functions cancel (C. Loader 2000).
pub fn ln_neg_binomial(shape: f64, odds: f64, k: f64) -> f64 {
    if k == 0.0 {
        return -shape * odds.ln_1p();
    }
    let (n, p) = (shape + k, 1.0 / (1.0 + odds));
    // How far the shape is from its part p of all, and k on the other side from the part q.
    let away = (shape * odds - k) * p;
    let ways = stirling(n) - stirling(shape) - stirling(k) - deviance(shape, n * p, away) - deviance(k, n * (odds * p), -away);
    ways + 0.5 * (shape / k / n).ln() - LN_ROOT
}

/// `x ln(x / m) - x + m`, where x - m is known well.
fn deviance(x: f64, m: f64, away: f64) -> f64 {
    let v = away / (x + m);
    if v.abs() > 0.1 {
        return x * (x / m).ln() - away;
    }
    // ln(x / m) is 2 atanh(v).
    let (mut term, mut sum) = (2.0 * x * v, away * v);
    for i in 1..9 {
        term *= v * v;
        sum += term / f64::from(2 * i + 1);
    }
    sum
}

/// Distribution function of the standard normal.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Quantile of the standard normal for `p` in (0, 1), relative error about 1e-13; infinite at 0 and 1, NaN outside.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    // Abramowitz and Stegun 26.2.23, then Newton steps on the concave logarithm of the distribution function.
    let t = (-2.0 * p.ln()).sqrt();
    let start = (2.515_517 + t * (0.802_853 + t * 0.010_328)) / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    let mut x = start - t;
    for _ in 0..4 {
        let cdf = normal_cdf(x);
        let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let step = (cdf / p).ln() * cdf / density;
        if !step.is_finite() {
            break;
        }
        x -= step;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 2e-13 * expected.abs(), "{found} against {expected}");
    }

    /// mpmath, 30 digits.
    #[test]
    fn known_values() {
        close(digamma(0.001), -1000.5755719318103);
        close(digamma(0.5), -1.9635100260214235);
        close(digamma(1.0), -0.5772156649015329);
        close(digamma(3.7), 1.1671535393615113);
        close(digamma(25.0), 3.198742512851974);
        close(digamma(1000000.0), 13.815510057964191);
        close(normal_quantile(1e-300), -37.0470962993612);
        close(normal_quantile(1e-20), -9.262340089798407);
        close(normal_quantile(1e-06), -4.753424308822899);
        close(normal_quantile(0.01), -2.326347874040841);
        close(normal_quantile(0.3), -0.5244005127080408);
        close(normal_quantile(0.499), -0.002506630899571766);
        close(normal_quantile(0.975), 1.9599639845400538);
    }

    /// mpmath, 60 digits.
    #[test]
    fn large_gamma_functions_do_not_cancel() {
        for (x, expected) in [
            (0.001, 2.5422704679670946),
            (1.0, 0.08106146679532726),
            (15.9, 0.005240399880756108),
            (16.0, 0.0052076559196096404),
            (1e6, 8.333333333333056e-08),
        ] {
            assert!((stirling(x) - expected).abs() < 1e-14, "{x}");
        }
        for (shape, odds, k, expected) in [
            (2.5, 0.75, 0.0, -1.3990394698385566),
            (2.5, 0.75, 3.0, -2.0595614230824255),
            (1e-100, 20.0, 7.0, -232.5459505976459),
            (1e18, 2e-17, 13.0, -3.6076442969215403),
            (1e18, 1.0, 1e18, -21.988777960431058),
            (1e18, 1.0, 1.000000001e18, -22.23877796105606),
            (1e100, 1e-98, 90.0, -3.6873228812811036),
            (0.5, 1e6, 3e5, -14.085889865392524),
            (3.0, 1e100, 1.0, -689.6769156095456),
        ] {
            close(ln_neg_binomial(shape, odds, k), expected);
        }
        assert_eq!((ln_neg_binomial(3.0, 0.0, 0.0), ln_neg_binomial(3.0, 0.0, 2.0)), (0.0, f64::NEG_INFINITY));
    }

    #[test]
    fn edges() {
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(-0.1).is_nan() && digamma(0.0).is_nan());
        assert!(normal_quantile(0.5).abs() < 1e-15);
    }
}
