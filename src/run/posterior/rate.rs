//! The posterior of a rate given a noisy sum and a noisy number of rows: exact draws of both (rule book §15).

use super::Posterior;
use super::mixture::{DRAWN, ln_noise, pick, reach};
use crate::mechanism::plan::WholeNoise;
use crate::run::simulate::Bits;

/// Pairs of a sum and a number of rows that are weighed at most; the windows narrow until they fit.
const WEIGHED: f64 = 1e8;

/// Every number of rows is as likely before the data; the sum of n Poisson counts with a Gamma(a, b) rate has the negative
/// binomial law `Gamma(a + S) / S! (n / (b + n))^S (b / (b + n))^a`, and the posterior given both is Gamma(a + S, b + n).
///
/// `None` if no randomness is left, or no pair near what was released has a chance.
pub(super) fn given(shape: f64, rate: f64, [rows, sum]: [f64; 2], [of_rows, of_sum]: [WholeNoise; 2], rng: &mut Bits) -> Option<Posterior> {
    let size = |noise, part| 2.0 * reach(noise, part) + 1.0;
    let mut part = 1.0;
    while size(of_rows, part) * size(of_sum, part) > WEIGHED && part > 0.1 {
        part *= 0.8;
    }
    // A sum far below 0 or far from what the rows can have: the windows grow.
    for _ in 0..12 {
        let numbers = window(rows, reach(of_rows, part));
        let sums = window(sum, reach(of_sum, part));
        if let Some(found) = drawn((shape, rate), &numbers, &sums, (&|n| ln_noise(of_rows, rows - n), &|s| ln_noise(of_sum, sum - s)), rng)
        {
            return Some(found);
        }
        part *= 2.0;
    }
    None
}

/// Whole numbers from 0 on, around one.
fn window(centre: f64, wide: f64) -> Vec<f64> {
    let (lo, hi) = ((centre - wide).max(0.0).floor(), (centre + wide).max(0.0).ceil());
    (0..=(hi - lo) as u64).map(|i| lo + i as f64).collect()
}

type Noise<'a> = &'a dyn Fn(f64) -> f64;

fn drawn((a, b): (f64, f64), numbers: &[f64], sums: &[f64], (of_rows, of_sum): (Noise, Noise), rng: &mut Bits) -> Option<Posterior> {
    use crate::numeric::special::ln_gamma;
    let own: Vec<f64> = sums.iter().map(|s| ln_gamma(a + s) - ln_gamma(s + 1.0) + of_sum(*s)).collect();
    // Without rows there is no sum.
    let ln = |n: f64, s: f64, own: f64| if s == 0.0 { own } else { own + s * (n / (b + n)).ln() };
    let of = |n: f64| own.iter().zip(sums).map(move |(o, s)| ln(n, *s, *o));
    let before: Vec<f64> = numbers.iter().map(|n| of_rows(*n) + a * (b / (b + n)).ln()).collect();
    let largest: Vec<f64> = numbers.iter().map(|n| of(*n).fold(f64::NEG_INFINITY, f64::max)).collect();
    let most = before.iter().zip(&largest).map(|(x, y)| x + y).fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return None;
    }
    let chances: Vec<f64> = numbers
        .iter()
        .zip(before.iter().zip(&largest))
        .map(|(n, (x, top))| if top.is_finite() { (x + top - most).exp() * of(*n).map(|l| (l - top).exp()).sum::<f64>() } else { 0.0 })
        .collect();
    let mut components = Vec::with_capacity(DRAWN);
    for _ in 0..DRAWN {
        let i = pick(&chances, rng)?;
        let (n, top) = (*numbers.get(i)?, *largest.get(i)?);
        let s = *sums.get(pick(&of(n).map(|l| (l - top).exp()).collect::<Vec<f64>>(), rng)?)?;
        components.push(Posterior::Gamma(a + s, b + n));
    }
    (!rng.failed()).then(|| Posterior::Mixture { weights: vec![1.0 / DRAWN as f64; DRAWN], components })
}
