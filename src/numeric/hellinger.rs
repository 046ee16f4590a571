//! Hellinger distances between Dirichlet posteriors with equally many items, and the sensitivities built on them (rule book §10).
//!
//! Everything is a sum of terms of one sign, so nothing cancels: below 1e8 items and prior counts up to 1e8 the relative
//! error of every logarithm is at most 2^-40 (1e4 steps of 2^-50 each along the part of a table where it is not yet 1).

use super::special::ln_gamma;

/// Where the overlap of two posteriors is below `exp(-FAR)` = 2^-60, their distance is 1 within 2^-61.
pub const FAR: f64 = 41.6;

/// `ln Gamma(a + 1/2) - (ln Gamma(a) + ln Gamma(a + 1)) / 2` for `a > 0`: negative, rising, concave; relative error 1e-14.
///
/// The logarithm of the overlap of two Gamma laws of shapes `a` and `a + 1`.
pub fn step_overlap(a: f64) -> f64 {
    let (mut a, mut sum) = (a, 0.0);
    while a < 16.0 {
        // ln of a (a + 1) / (a + 1/2)^2, halved; the quotient is 1 - 1 / (2a + 1)^2.
        sum += if a < 0.5 {
            0.5 * (libm::log(a) + libm::log1p(a)) - libm::log(a + 0.5)
        } else {
            0.5 * libm::log1p(-1.0 / ((2.0 * a + 1.0) * (2.0 * a + 1.0)))
        };
        a += 1.0;
    }
    let w = 1.0 / (a * a);
    let series =
        1.0 / 8.0 - w * (1.0 / 192.0 - w * (1.0 / 640.0 - w * (17.0 / 14_336.0 - w * (31.0 / 18_432.0 - w * (691.0 / 180_224.0)))));
    sum - series / a
}

/// The logarithm of a coordinate's part of the overlap of posteriors with `own` and with another number of items, from 0
/// up to `own + up` items: entry t is `ln Gamma(alpha + (own + t) / 2) - (ln Gamma(alpha + own) + ln Gamma(alpha + t)) / 2`.
///
/// The table starts at `first` <= `own` items.
pub struct Overlaps {
    pub first: u64,
    pub entries: Vec<f64>,
}

impl Overlaps {
    pub fn new(alpha: f64, own: u64, first: u64, last: u64) -> Overlaps {
        let count = |c: u64| c as f64;
        let mut down = vec![];
        let mut sum = 0.0;
        let mut c = own;
        while c > first {
            // From c to c - 1 items: the middle moves down by a half.
            let apart = 0.5 * count(own - c + 1);
            let middle = alpha + 0.5 * count(own) + 0.5 * count(c - 1);
            sum += -step_overlap(middle) - 0.5 * libm::log1p(apart / (alpha + count(c - 1)));
            down.push(sum);
            c -= 1;
        }
        down.reverse();
        let mut entries = down;
        entries.push(0.0);
        sum = 0.0;
        for c in own..last.max(own) {
            let middle = alpha + 0.5 * count(own) + 0.5 * count(c);
            sum += step_overlap(middle) - 0.5 * libm::log1p(0.5 * count(c - own) / middle);
            entries.push(sum);
        }
        Overlaps { first: first.min(own), entries }
    }

    /// The entry at `items`; minus infinity outside the table.
    pub fn at(&self, items: u64) -> f64 {
        let index = items.checked_sub(self.first).and_then(|i| usize::try_from(i).ok());
        index.and_then(|i| self.entries.get(i)).copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Hellinger distance from the logarithm of an overlap.
pub fn distance(ln_overlap: f64) -> f64 {
    if ln_overlap <= -FAR { 1.0 } else { libm::sqrt(-libm::expm1(ln_overlap.min(0.0))) }
}

/// Hellinger distance of two Dirichlet laws of any counts, by log-Gamma functions: for predictions, it may cancel.
pub fn dirichlet_distance(a: &[f64], b: &[f64]) -> f64 {
    let ln_beta = |of: &dyn Fn(f64, f64) -> f64| {
        let (mut sum, mut total) = (0.0, 0.0);
        for (x, y) in a.iter().zip(b) {
            let c = of(*x, *y);
            sum += ln_gamma(c);
            total += c;
        }
        sum - ln_gamma(total)
    };
    distance(ln_beta(&|x, y| 0.5 * (x + y)) - 0.5 * (ln_beta(&|x, _| x) + ln_beta(&|_, y| y)))
}

fn both(a: f64, b: f64) -> f64 {
    distance(step_overlap(a) + step_overlap(b))
}

fn pairs(k: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..k).flat_map(move |i| (0..k).filter(move |j| *j != i).map(move |j| (i, j)))
}

fn get(values: &[f64], i: usize) -> f64 {
    values.get(i).copied().unwrap_or(f64::INFINITY)
}

fn items(counts: &[u64], i: usize) -> u64 {
    counts.get(i).copied().unwrap_or(0)
}

/// The largest distance between the posterior of these counts and one with a single item moved: from j to i, where j
/// has an item. 0 without items.
pub fn local_sensitivity(alpha: &[f64], counts: &[u64]) -> f64 {
    let moved = pairs(alpha.len()).filter(|(_, j)| items(counts, *j) > 0);
    let size = |(i, j): (usize, usize)| both(get(alpha, i) + items(counts, i) as f64, get(alpha, j) + (items(counts, j) - 1) as f64);
    moved.map(size).fold(0.0, f64::max)
}

/// The largest local sensitivity over all counts of `total` items.
///
/// `step_overlap` rises, so the move is between two coordinates that hold nothing but the moved item, and all others sit
/// on a third. With two coordinates the rest has no other place; the sum is concave in where it sits, so least at an end.
pub fn global_sensitivity(alpha: &[f64], total: u64) -> f64 {
    let Some(rest) = total.checked_sub(1) else { return 0.0 };
    let rest = if alpha.len() == 2 { rest as f64 } else { 0.0 };
    pairs(alpha.len()).map(|(i, j)| both(get(alpha, i), get(alpha, j) + rest)).fold(0.0, f64::max)
}

/// `1 / S` of the gamma-smooth sensitivity: the least over all counts c' with as many items of
/// `1 / LS(c') + gamma d(c, c')`, d the number of items that sit elsewhere; no counts are enumerated.
///
/// Taking items off the two coordinates of the move raises its distance and giving some to them lowers it, so only c' with
/// fewer items there matter, except the one that the move itself needs. Beyond a distance of
/// `(1 / LS(c) - 1 / GS) / gamma` nothing can be less than at c itself.
pub fn inverse_smooth(alpha: &[f64], counts: &[u64], gamma: f64) -> f64 {
    let total = counts.iter().fold(0u64, |s, c| s.saturating_add(*c));
    let here = 1.0 / local_sensitivity(alpha, counts);
    let least = 1.0 / global_sensitivity(alpha, total);
    let reach = ((here - least) / gamma).max(0.0).min(total as f64) as u64;
    if let ([a, b], [c, d]) = (alpha, counts) {
        return on_a_line([*a, *b], [*c, *d], gamma, reach, here);
    }
    let mut best = here;
    for (i, j) in pairs(alpha.len()) {
        let (c, d) = (items(counts, i), items(counts, j));
        let off = |x: u64| step_overlap(get(alpha, i) + (c - x) as f64);
        let firsts: Vec<f64> = (0..=c.min(reach)).map(off).collect();
        if d == 0 {
            // One item has to come: from i, or from a third coordinate.
            let elsewhere = total > c;
            for (x, first) in firsts.iter().enumerate().filter(|(x, _)| *x > 0 || elsewhere) {
                best = best.min(1.0 / distance(first + step_overlap(get(alpha, j))) + gamma * x.max(1) as f64);
            }
            continue;
        }
        let off = |y: u64| step_overlap(get(alpha, j) + (d - 1 - y) as f64);
        let seconds: Vec<f64> = (0..=(d - 1).min(reach)).map(off).collect();
        for (x, first) in firsts.iter().enumerate() {
            for (y, second) in seconds.iter().enumerate().take((reach as usize).saturating_add(1).saturating_sub(x)) {
                best = best.min(1.0 / distance(first + second) + gamma * (x + y) as f64);
            }
        }
    }
    best
}

/// Two coordinates: every c' lies d items to one side of c.
fn on_a_line(alpha: [f64; 2], [c, d]: [u64; 2], gamma: f64, reach: u64, here: f64) -> f64 {
    let mut best = here;
    for by in 1..=reach {
        let sides = [c.checked_sub(by).map(|c| [c, d + by]), d.checked_sub(by).map(|d| [c + by, d])];
        for at in sides.into_iter().flatten() {
            best = best.min(1.0 / local_sensitivity(&alpha, &at) + gamma * by as f64);
        }
    }
    best
}

/// How many ways there are to put `total` items into `k` places, saturating.
pub fn histograms(total: u64, k: usize) -> u64 {
    let mut ways: u128 = 1;
    for i in 1..k as u128 {
        ways = ways.saturating_mul(u128::from(total) + i) / i;
        if ways > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    ways as u64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn the_series_meets_log_gamma() {
        for a in [1e-9, 0.05, 0.5, 1.0, 3.7, 15.9, 16.0, 40.0] {
            let direct = ln_gamma(a + 0.5) - 0.5 * (ln_gamma(a) + ln_gamma(a + 1.0));
            assert!((step_overlap(a) - direct).abs() < 3e-13 * (1.0 + ln_gamma(a).abs()), "{a}");
        }
        // phi(a) + phi(a + 1/2) = -ln(1 + 1 / (2a)) / 2 exactly.
        for a in [0.2, 7.0, 1e3, 1e7] {
            let sum = step_overlap(a) + step_overlap(a + 0.5);
            assert!((sum / (-0.5 * libm::log1p(0.5 / a)) - 1.0).abs() < 1e-13, "{a}");
        }
    }

    #[test]
    fn tables_meet_the_closed_form() {
        for (alpha, own) in [(0.3, 0), (1.0, 7), (2.5, 30)] {
            let table = Overlaps::new(alpha, own, 0, 60);
            for t in 0..=60u64 {
                let (a, b) = (alpha + own as f64, alpha + t as f64);
                let direct = ln_gamma(0.5 * (a + b)) - 0.5 * (ln_gamma(a) + ln_gamma(b));
                assert!((table.at(t) - direct).abs() < 1e-12 * (1.0 + ln_gamma(b).abs()), "{alpha} {own} {t}");
            }
        }
    }

    fn all(total: u64, k: usize) -> Vec<Vec<u64>> {
        if k == 1 {
            return vec![vec![total]];
        }
        let first = |c: u64| {
            all(total - c, k - 1).into_iter().map(move |mut rest| {
                rest.insert(0, c);
                rest
            })
        };
        (0..=total).flat_map(first).collect()
    }

    #[test]
    fn sensitivities_by_enumeration() {
        for alpha in [vec![1.0, 1.0], vec![0.05, 3.0], vec![1.0, 1.0, 1.0], vec![0.2, 1.0, 3.0], vec![2.0, 0.1, 0.7, 5.0]] {
            for total in [1u64, 2, 5, 9] {
                let everything = all(total, alpha.len());
                assert_eq!(everything.len() as u64, histograms(total, alpha.len()));
                let largest = everything.iter().map(|c| local_sensitivity(&alpha, c)).fold(0.0, f64::max);
                assert!((global_sensitivity(&alpha, total) / largest - 1.0).abs() < 1e-13);
                for gamma in [0.02, 0.5, 1.0, 3.0] {
                    for c in &everything {
                        let apart = |d: &[u64]| c.iter().zip(d).map(|(a, b)| a.abs_diff(*b)).sum::<u64>() as f64 / 2.0;
                        let brute = everything.iter().map(|d| 1.0 / local_sensitivity(&alpha, d) + gamma * apart(d));
                        let brute = brute.fold(f64::INFINITY, f64::min);
                        assert!((inverse_smooth(&alpha, c, gamma) / brute - 1.0).abs() < 1e-12, "{alpha:?} {c:?} {gamma}");
                    }
                }
            }
        }
    }
}
