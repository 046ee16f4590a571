//! Normal noise on a sum over a random sample of the rows: Rényi divergences for samples of fixed size (rule book §12.3).
//!
//! Neighbours have the same number of rows, one of them replaced; the sample is drawn without replacement and holds a `share` of
//! the rows; on samples that differ in the row the noisy sum has `l mu^2 / 2` at order l. At whole orders the bound is Theorem 9 of
//! Wang, Balle and Kasiviswanathan (2019), which takes the divergences of the noisy sum as they are; between them it is linear in
//! `(l - 1) D_l`, which is convex. The sample may be all there is, so the noisy sum's own divergence is a bound at every order.

use crate::numeric::Interval;
use crate::numeric::round::{div_up, mul_up, sub_down};
use crate::privacy::work;

/// Beyond this order the noisy sum's own divergence is taken: its share of the sum below would decide anyway.
const MOST: f64 = 512.0;

/// At least the divergence of this order.
pub fn rdp(share: f64, mu: f64, order: f64) -> f64 {
    let own = mul_up(order, 0.5 * mul_up(mu, mu));
    if mu == 0.0 || own.is_nan() || order.is_nan() || share.is_nan() || share >= 1.0 || order > MOST {
        return own;
    }
    let below = order.floor();
    let part = Interval::point(order) - Interval::point(below);
    let (low, high) = (excess(share, mu, below), if part.hi > 0.0 { excess(share, mu, below + 1.0) } else { 0.0 });
    let sum = ((Interval::ONE - part) * Interval::point(low) + part * Interval::point(high)).hi;
    div_up(sum, sub_down(order, 1.0)).min(own)
}

/// `(k - 1) D_k` at a whole order k: the logarithm of `1 + sum over j of share^j C(k, j) B_j`, where `B_j` is
/// `2 exp((j - 1) j mu^2 / 2)` and for j = 2 also at most `4 (exp(mu^2) - 1)`.
fn excess(share: f64, mu: f64, order: f64) -> f64 {
    if order < 2.0 {
        return 0.0;
    }
    let point = Interval::point;
    let (square, share, two) = (point(mu).square(), point(share).ln(), point(2.0).ln());
    work::count(order as usize);
    let mut ways = point(order).ln();
    let mut logs = vec![];
    let mut j = 2.0;
    while j <= order {
        ways = ways + ((point(order) - point(j - 1.0)) / point(j)).ln();
        let noise = two + point(j * (j - 1.0) / 2.0) * square;
        let noise = if j == 2.0 { noise.hi.min((two + two + square.exp_m1().ln()).hi) } else { noise.hi };
        logs.push((ways + point(j) * share + point(noise)).hi);
        j += 1.0;
    }
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Large terms are taken relative to the largest.
    let scale = if most > 500.0 { most } else { 0.0 };
    let sum = logs.iter().fold(Interval::ZERO, |sum, l| sum + (point(*l) - point(scale)).exp());
    if scale == 0.0 {
        return sum.ln_1p().hi;
    }
    (point(scale) + (sum + (-point(scale)).exp()).ln()).hi
}

#[cfg(test)]
mod tests {
    use super::*;

    fn density(x: f64, mean: f64) -> f64 {
        (-0.5 * (x - mean) * (x - mean)).exp() / std::f64::consts::TAU.sqrt()
    }

    /// The divergence of two mixtures of normal laws of sd 1, by the midpoint rule.
    fn mixture(share: f64, first: f64, second: f64, order: f64) -> f64 {
        let (reach, step) = (14.0 + 2.0 * order * (first.abs() + second.abs()), 2e-3);
        let steps = (2.0 * reach / step) as i64;
        let at = |x: f64, mean: f64| (1.0 - share) * density(x, 0.0) + share * density(x, mean);
        let sum: f64 = (0..steps)
            .map(|i| {
                let x = -reach + step * (i as f64 + 0.5);
                let (p, q) = (at(x, first), at(x, second));
                if p > 0.0 && q > 0.0 { p * (p / q).powf(order - 1.0) } else { 0.0 }
            })
            .sum();
        (sum * step).ln() / (order - 1.0)
    }

    /// One row of a sum in `[-1, 1]` is replaced by its opposite, or by nothing, and the others say nothing: the law of the
    /// answer is a mixture with the share of samples that hold the row.
    #[test]
    fn at_least_the_divergence_of_mixtures() {
        let mut tight = f64::INFINITY;
        for share in [0.01, 0.1, 0.3, 0.7] {
            for mu in [0.1, 0.5, 1.0, 2.0] {
                for order in [1.3, 2.0, 2.5, 3.0, 6.0] {
                    let claimed = rdp(share, mu, order);
                    for (first, second) in [(mu / 2.0, -mu / 2.0), (mu, 0.0), (0.0, mu), (0.8 * mu, -0.2 * mu)] {
                        let found = mixture(share, first, second, order);
                        assert!(claimed >= found * (1.0 - 1e-9), "{share} {mu} {order} {first}: {claimed} below {found}");
                        tight = tight.min(claimed / found);
                    }
                }
            }
        }
        assert!(tight < 2.5, "far from every mixture: {tight}");
    }

    /// The formula once more in plain doubles, where none of its terms is large.
    #[test]
    fn whole_orders_by_the_formula() {
        let choose = |n: u64, k: u64| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
        for (share, mu) in [(0.01_f64, 0.5_f64), (0.05, 1.0), (0.2, 0.3)] {
            for order in [2u64, 3, 5, 9] {
                let noise = |j: u64| ((j * (j - 1)) as f64 * mu * mu / 2.0).exp();
                let two = choose(order, 2) * share.powi(2) * (4.0 * ((mu * mu).exp() - 1.0)).min(2.0 * noise(2));
                let more: f64 = (3..=order).map(|j| 2.0 * choose(order, j) * share.powi(j as i32) * noise(j)).sum();
                let expected = (1.0 + two + more).ln() / (order as f64 - 1.0);
                let found = rdp(share, mu, order as f64);
                let expected = expected.min(order as f64 * mu * mu / 2.0);
                assert!(found >= expected * (1.0 - 1e-12) && found <= expected * (1.0 + 1e-9), "{share} {mu} {order}: {found} {expected}");
            }
        }
    }

    #[test]
    fn never_falls_and_never_above_the_whole() {
        for (share, mu) in [(0.001, 0.1), (0.01, 1.0), (0.5, 3.0), (0.99, 20.0)] {
            let mut last = 0.0;
            for i in 1..2_000 {
                let order = 1.0 + 1.005_f64.powi(i) * 0.01;
                let found = rdp(share, mu, order);
                assert!(found >= last * (1.0 - 1e-9) && found <= order * mu * mu / 2.0 * (1.0 + 1e-12), "{share} {mu} {order}");
                last = found;
            }
        }
        assert_eq!(rdp(1.0, 1.0, 2.0), 1.0);
        assert_eq!(rdp(0.1, 0.0, 2.0), 0.0);
        assert!(rdp(0.1, f64::INFINITY, 2.0).is_infinite() && rdp(0.1, 1e200, 600.0).is_infinite());
        assert!(rdp(0.001, 1.0, 2.0) < 1e-5);
    }
}
