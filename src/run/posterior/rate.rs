//! The posterior of a rate given a noisy sum and a noisy number of rows: exact draws of both (rule book §15).

use super::Posterior;
use super::cells::Cells;
use super::mixture::{DRAWN, ln_noise, pick, reach};
use crate::mechanism::plan::WholeNoise;
use crate::numeric::special::ln_neg_binomial;
use crate::run::bits::Bits;

/// Values of one number that are weighed at most: noise that reaches further is weighed by cells of several.
const CELLS: f64 = 4096.0;

/// Every number of rows is as likely before the data; the sum of n Poisson counts with a Gamma(a, b) rate has the negative
/// binomial law `Gamma(a + S) / S! (n / (b + n))^S (b / (b + n))^a`, and the posterior given both is Gamma(a + S, b + n).
///
/// `None` if no randomness is left, or no pair near what was released has a chance.
pub(super) fn given(shape: f64, rate: f64, [rows, sum]: [f64; 2], [of_rows, of_sum]: [WholeNoise; 2], rng: &mut Bits) -> Option<Posterior> {
    let mut part = 1.0;
    // A sum far below 0 or far from what the rows can have: the windows grow.
    for _ in 0..12 {
        let (numbers, sums) = (Cells::around(rows, reach(of_rows, part), CELLS), Cells::around(sum, reach(of_sum, part), CELLS));
        if let Some(found) = drawn((shape, rate), numbers, sums, (&|n| ln_noise(of_rows, rows - n), &|s| ln_noise(of_sum, sum - s)), rng) {
            return Some(found);
        }
        part *= 2.0;
    }
    None
}

type Noise<'a> = &'a dyn Fn(f64) -> f64;

fn drawn((a, b): (f64, f64), rows: Cells, total: Cells, (of_rows, of_sum): (Noise, Noise), rng: &mut Bits) -> Option<Posterior> {
    let (numbers, sums) = (rows.middles(), total.middles());
    // All from one number of rows: where the prior's numbers are large, the logarithms would cancel.
    let near = rows.middle(rows.count / 2).max(1.0);
    let own: Vec<f64> = sums.iter().map(|s| ln_neg_binomial(a, near / b, *s) + of_sum(*s)).collect();
    let spread = |n: f64| ((n - near) / (b + near)).ln_1p();
    let slope = |n: f64| (n / near).ln() - spread(n);
    // Without rows there is no sum.
    let of = |n: f64| {
        let slope = slope(n);
        own.iter().zip(&sums).map(move |(own, s)| if *s == 0.0 { *own } else { own + s * slope })
    };
    let before: Vec<f64> = numbers.iter().map(|n| of_rows(*n) - a * spread(*n)).collect();
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
        components.push(Posterior::Gamma(a + total.within(s, rng), b + rows.within(n, rng)));
    }
    Some(Posterior::Mixture { weights: vec![1.0 / DRAWN as f64; DRAWN], components })
}
