//! Normal noise on a sum over a random sample of the rows: curve and Rényi divergences for samples of fixed size (rule book §12.3).
//!
//! Neighbours have the same number of rows, one of them replaced; the sample is drawn without replacement and holds a `share` g of
//! the rows; on samples that differ in the row the noisy sum has the curve h of two normal laws `mu` apart. Then the whole has
//! `g h(ln(1 + (exp(e) - 1) / g))` in both orders (Balle, Barthe and Gaboardi 2018), and `l mu^2 / 2` at order l. At whole orders the bound is Theorem 9 of
//! Wang, Balle and Kasiviswanathan (2019), which takes the divergences of the noisy sum as they are; between them it is linear in
//! `(l - 1) D_l`, which is convex. The sample may be all there is, so the noisy sum's own divergence is a bound at every order.

use crate::numeric::Interval;
use crate::numeric::round::{div_down, div_up, mul_up, sub_down};
use crate::privacy::{gdp, work};

/// Beyond this order the noisy sum's own divergence is taken: its share of the sum below would decide anyway.
const MOST: f64 = 512.0;

/// At least the hockey-stick divergence at `e >= 0`.
pub fn delta(share: f64, mu: f64, e: f64) -> f64 {
    if share.is_nan() || share >= 1.0 {
        return gdp::delta(mu, e);
    }
    mul_up(share, gdp::delta(mu, inner(share, e))).min(1.0)
}

/// At most `ln(1 + (exp(e) - 1) / share)`, where the curve falls.
fn inner(share: f64, e: f64) -> f64 {
    let (g, point) = (Interval::point(share), Interval::point(e));
    let found = if e < 1.0 {
        (point.exp_m1() / g).ln_1p()
    } else {
        // The same, of numbers that do not overflow.
        point - g.ln() + (-((Interval::ONE - g) * (-point).exp())).ln_1p()
    };
    found.lo.max(e)
}

/// The least epsilon at this delta: where `h(e') = delta / share`, `ln(1 + share (exp(e') - 1))`.
pub fn epsilon(share: f64, mu: f64, delta: f64) -> f64 {
    if share.is_nan() || share >= 1.0 {
        return gdp::epsilon(mu, delta);
    }
    let own = Interval::point(gdp::epsilon(mu, div_down(delta, share)));
    // Where that overflows the whole costs no more than a sample.
    if own.hi < 600.0 { (Interval::point(share) * own.exp_m1()).ln_1p().hi.clamp(0.0, own.hi) } else { own.hi }
}

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

    /// Golden of the rule: in plain doubles, and the closed form of epsilon against the curve.
    #[test]
    fn the_curve_and_its_inverse() {
        for (share, mu) in [(1e-4, 3.0), (0.01, 1.0), (0.3, 0.2), (0.9, 4.0), (1.0, 1.5)] {
            for e in [0.0, 1e-6, 0.01, 0.5, 0.999, 1.0, 1.001, 3.0, 9.0] {
                let plain = share * gdp::delta(mu, (1.0 + f64::exp_m1(e) / share).ln());
                let found = delta(share, mu, e);
                // Far out both are differences of numbers that nearly cancel.
                let off = 1e-9 * plain + 1e-15;
                assert!((found - plain).abs() <= off, "{share} {mu} {e}: {found} {plain}");
                if found > 1e-12 && e > 0.0 {
                    let back = epsilon(share, mu, found);
                    assert!((back - e).abs() <= 1e-6 * e + 1e-9, "{share} {mu} {e}: {back}");
                    assert!(delta(share, mu, back) <= found + off);
                }
            }
            let costs: Vec<f64> = [0.001, 0.01, 0.1, 0.5, 1.0].map(|g| delta(g, mu, 0.3)).to_vec();
            assert!(costs.windows(2).all(|pair| pair[0] < pair[1]), "a larger share costs more: {costs:?}");
        }
        assert!(epsilon(0.1, 40.0, 1e-300).is_finite() && epsilon(0.1, f64::NAN, 1e-6).is_infinite() && delta(f64::NAN, 1.0, 0.0) > 0.3);
    }

    /// A table of integers, one of them replaced, every sample of fixed size: the law of the noisy sum is the mixture over all
    /// samples, and no such pair of tables costs more.
    #[test]
    fn at_least_the_curve_of_every_sample() {
        let phi = |x: f64| crate::numeric::special::normal_cdf(x);
        let mut tight: f64 = 0.0;
        for (rows, other, size) in [
            (vec![-1.0, -1.0, -1.0, -1.0], 1.0, 1),
            (vec![-1.0, 0.0, 0.0, 0.0, 0.0], 1.0, 2),
            (vec![1.0, -1.0, 1.0, 0.5, -0.5, -1.0], -1.0, 3),
            (vec![1.0, 1.0, 1.0, 1.0], -1.0, 3),
        ] {
            for sigma in [0.6, 1.5, 4.0] {
                let (share, mu) = (size as f64 / rows.len() as f64, 2.0 / sigma);
                let sums = |rows: &[f64]| -> Vec<f64> {
                    let sets = (0..1u32 << rows.len()).filter(|set| set.count_ones() as usize == size);
                    sets.map(|set| rows.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, x)| x).sum()).collect()
                };
                let mut changed = rows.clone();
                changed[0] = other;
                // Chances of the cells of a fine grid.
                let law = |sums: &[f64]| -> Vec<f64> {
                    let at = |i: i32| f64::from(i) * sigma / 500.0;
                    let cell = |i: i32, m: f64| phi((at(i + 1) - m) / sigma) - phi((at(i) - m) / sigma);
                    (-8000..8000).map(|i| sums.iter().map(|m| cell(i, *m)).sum::<f64>() / sums.len() as f64).collect()
                };
                let (p, q) = (law(&sums(&rows)), law(&sums(&changed)));
                for i in 0..=20 {
                    let e = f64::from(i) * 0.1 * mu * share.sqrt();
                    let stick = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| (p - e.exp() * q).max(0.0)).sum::<f64>();
                    let (found, claimed) = (stick(&p, &q).max(stick(&q, &p)), delta(share, mu, e));
                    assert!(found <= claimed + 1e-9, "{rows:?} {size} {sigma} {e}: {found} {claimed}");
                    tight = tight.max(found / claimed);
                }
            }
        }
        // Samples that lack the row say nothing here, so the bound is reached at e = 0.
        assert!(tight > 0.99, "{tight}");
    }

    /// A planted bug: the curve of samples that take every row by itself, for rows added or removed, is below what one replaced row of a
    /// sample of fixed size can cost.
    #[test]
    fn poisson_sampling_would_claim_too_little() {
        // A row of 1 becomes -1 and all others are 0: mixtures of N(0, s^2) with N(1, s^2) and with N(-1, s^2).
        let phi = |x: f64| crate::numeric::special::normal_cdf(x);
        let (share, sigma) = (0.1, 1.0);
        let fixed = share * (2.0 * phi(1.0 / sigma) - 1.0);
        // One row more or less: (1 - g) N(0, s^2) + g N(1, s^2) against N(0, s^2).
        let poisson = share * (2.0 * phi(0.5 / sigma) - 1.0);
        let claimed = delta(share, 2.0 / sigma, 0.0);
        assert!(poisson < 0.6 * fixed && claimed >= fixed && claimed < 1.0001 * fixed, "{poisson} {fixed} {claimed}");
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
