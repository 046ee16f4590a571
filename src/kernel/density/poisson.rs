//! `sum over k of f(k)^b` for Poisson laws: the term of a beta-divergence that has no closed form.

use std::sync::LazyLock;

/// `ln sqrt(2 pi)`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;
/// Above this mean times b the sum runs over a coarser grid than the whole numbers, and 0 is out of reach.
const COARSE: f64 = 250.0;
/// Standard deviations of `f^b` on either side; what is left out is below `exp(-60)` of the sum.
const REACH: f64 = 11.5;
/// Nodes of the coarse grid are so many standard deviations apart. `f^b` is nearly a normal density there, whose sums over a
/// grid of step h sd differ from its integral by `2 exp(-2 pi^2 / h^2)`: below 1e-23.
const SPACING: f64 = 0.6;
/// Above this mean the law is its normal limit to the last bit.
const NORMAL: f64 = 1e17;

/// `ln k!` of the numbers that small means need.
static LN_FACTORIALS: LazyLock<Vec<f64>> = LazyLock::new(|| (0..1024).map(|k| libm::lgamma(f64::from(k) + 1.0)).collect());

/// The sum for mean `exp(t)` and `b > 1`, and its slope in t. Between 0 and 1 for every t that is a number.
pub fn power_sum(b: f64, t: f64) -> (f64, f64) {
    let mean = libm::exp(t);
    let (sum, slope) = if mean > NORMAL {
        // (2 pi mean)^((1 - b) / 2) / sqrt(b)
        let sum = libm::exp((1.0 - b) * (LN_ROOT + 0.5 * t)) / b.sqrt();
        (sum, 0.5 * (1.0 - b) * sum)
    } else if mean * b.min(1.0) > COARSE {
        coarse(b, mean)
    } else {
        fine(b, t, mean)
    };
    (if sum > 1.0 { 1.0 } else { sum }, slope)
}

/// All whole numbers that count.
fn fine(b: f64, t: f64, mean: f64) -> (f64, f64) {
    let (mut sum, mut slope) = (0.0, 0.0);
    let from = (mean - 2.0 * REACH * mean.sqrt()).max(0.0) as usize;
    for (k, ln_factorial) in LN_FACTORIALS.iter().enumerate().skip(from) {
        let k = k as f64;
        // 0 * -inf would be no number.
        let log = if k == 0.0 { -mean } else { k * t - mean - ln_factorial };
        let term = libm::exp(b * log);
        sum += term;
        slope += b * term * (k - mean);
        // Past the mean terms only fall, faster than by half.
        if k > 2.0 * mean + 4.0 && term < 1e-30 * sum {
            break;
        }
    }
    (sum, slope)
}

/// A grid of equal steps about the mean, on the density's smooth extension to real k by Stirling's series.
fn coarse(b: f64, mean: f64) -> (f64, f64) {
    let width = (mean / b).sqrt();
    let step = SPACING * width;
    let nodes = (REACH / SPACING) as i32 + 1;
    let (mut sum, mut slope) = (0.0, 0.0);
    for i in -nodes..=nodes {
        let away = f64::from(i) * step;
        let k = mean + away;
        if k > 1.0 {
            let stirling = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * k * k)) / (k * k)) / (k * k)) / k;
            let log = -mean * excess(away / mean) - LN_ROOT - 0.5 * libm::log(k) - stirling;
            let term = step * libm::exp(b * log);
            sum += term;
            slope += b * term * away;
        }
    }
    (sum, slope)
}

/// `(1 + d) ln(1 + d) - d`
fn excess(d: f64) -> f64 {
    if d.abs() > 0.1 {
        return (1.0 + d) * libm::log1p(d) - d;
    }
    // sum of (-d)^n / (n (n - 1)) from n = 2
    (2..=18).rev().fold(0.0, |sum, n| sum * -d + 1.0 / f64::from(n * (n - 1))) * d * d
}
