//! The worst loss of a Hellinger mechanism over all neighbouring counts, by its definition and by a road of its own (section 10).

use super::special::ln_gamma;
use super::ty::num;

/// Of the law's eps, what the ideal mechanism uses; the rest pays for scores on a grid.
const USED: f64 = 4095.0 / 4096.0;
/// What rounded scores add to a log ratio, as a part of eps: 2^-17 for each of four scores.
const ROUNDED: f64 = 1.0 / 32_768.0;
/// More pairs of candidates than this were never calibrated.
const MOST: usize = 1 << 20;

/// Every way to put `left` items into `places`.
fn ways(left: u64, places: usize) -> Vec<Vec<u64>> {
    if places == 1 {
        return vec![vec![left]];
    }
    let longer = |c: u64| ways(left - c, places - 1).into_iter().map(move |w| [vec![c], w].concat());
    (0..=left).flat_map(longer).collect()
}

/// How many items sit elsewhere.
fn apart(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(x, y)| x.abs_diff(*y)).fold(0, u64::saturating_add) / 2
}

/// A sum with its rounding error beside it.
#[derive(Clone, Copy)]
struct Sum(f64, f64);

impl Sum {
    fn add(self, x: f64) -> Sum {
        let next = self.0 + x;
        let lost = if self.0.abs() >= x.abs() { (self.0 - next) + x } else { (x - next) + self.0 };
        Sum(next, self.1 + lost)
    }
    fn value(self) -> f64 {
        self.0 + self.1
    }
}

/// `ln Gamma(a + i / 2) - ln Gamma(a)` for i up to twice `items`, less a multiple of i, which cancels in an overlap and keeps
/// the numbers small: two sums of logarithms, with one quotient of gamma functions between them.
fn half_steps(a: f64, items: u64) -> Vec<f64> {
    let middle = 0.5 * items as f64;
    let from_middle = |i: f64| {
        let quotient = (a + i) / (a + middle);
        if (0.5..2.0).contains(&quotient) { libm::log1p((i - middle) / (a + middle)) } else { libm::log(quotient) }
    };
    let half = ln_gamma(&(num(a) + num(0.5))) - ln_gamma(&num(a)) - num(0.5) * (num(a) + num(middle)).ln();
    let (mut even, mut odd) = (Sum(0.0, 0.0), Sum(half.above(), 0.0));
    let mut out = vec![];
    for i in 0..=items {
        out.extend([even.value(), odd.value()]);
        (even, odd) = (even.add(from_middle(i as f64)), odd.add(from_middle(i as f64 + 0.5)));
    }
    out
}

fn at(list: &[f64], i: u64) -> f64 {
    usize::try_from(i).ok().and_then(|i| list.get(i)).copied().unwrap_or(f64::NAN)
}

/// An upper bound on the loss of the law whose argument is `eps`, smoothed by `gamma` (global sensitivity without one).
///
/// In doubles: a logarithm of an overlap errs by less than 2^-30 of itself, a score, which is at most eps times the items, by less
/// than eps / 2^19; `ROUNDED` has room for it. `None` where too many candidates or extreme prior counts were never calibrated.
pub fn worst_loss(alpha: &[f64], items: u64, eps: f64, gamma: Option<f64>) -> Option<f64> {
    // The number of ways, before any is listed.
    let mut count = 1.0_f64;
    for i in 1..alpha.len() {
        count *= (items as f64 + i as f64) / i as f64;
    }
    if alpha.len() < 2 || items == 0 || count * count > 1.5 * MOST as f64 || !alpha.iter().all(|a| *a >= 1e-6 && *a <= 1e8) {
        return None;
    }
    let all = ways(items, alpha.len());
    let tables: Vec<Vec<f64>> = alpha.iter().map(|a| half_steps(*a, items)).collect();
    let distance = |a: &[u64], b: &[u64]| {
        let parts = tables.iter().zip(a.iter().zip(b)).map(|(t, (x, y))| at(t, x + y) - 0.5 * (at(t, 2 * x) + at(t, 2 * y)));
        libm::sqrt(-libm::expm1(parts.sum::<f64>().min(0.0)))
    };
    let distances: Vec<Vec<f64>> = all.iter().map(|a| all.iter().map(|b| distance(a, b)).collect()).collect();
    let near: Vec<Vec<usize>> =
        all.iter().map(|a| all.iter().enumerate().filter(|(_, b)| apart(a, b) == 1).map(|(j, _)| j).collect()).collect();
    let local: Vec<f64> =
        near.iter().zip(&distances).map(|(n, d)| n.iter().filter_map(|j| d.get(*j)).copied().fold(0.0, f64::max)).collect();
    let global = local.iter().copied().fold(0.0, f64::max);
    let inverse = |a: &Vec<u64>| match gamma {
        None => 1.0 / global,
        Some(g) => all.iter().zip(&local).map(|(b, l)| 1.0 / l + g * apart(a, b) as f64).fold(f64::INFINITY, f64::min),
    };
    let weight = |a: &Vec<u64>| eps * USED / (2.0 * (1.0 + gamma.unwrap_or(0.0))) * inverse(a);
    let scores: Vec<Vec<f64>> = all
        .iter()
        .zip(&distances)
        .map(|(a, d)| {
            let w = weight(a);
            d.iter().map(|h| w * h).collect()
        })
        .collect();
    let sums: Vec<f64> = scores.iter().map(|s| libm::log(s.iter().map(|x| libm::exp(-x)).sum())).collect();
    let mut worst = 0.0_f64;
    for (i, (s, z)) in scores.iter().zip(&sums).enumerate() {
        for (t, w) in near.get(i)?.iter().filter_map(|j| Some((scores.get(*j)?, sums.get(*j)?))) {
            let most = s.iter().zip(t).map(|(x, y)| y - x).fold(0.0, f64::max);
            worst = worst.max(most + w - z);
        }
    }
    let bound = worst + eps * ROUNDED;
    bound.is_finite().then_some(bound)
}
