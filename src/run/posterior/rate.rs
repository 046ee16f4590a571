//! The posterior of a rate given a noisy sum and a noisy number of rows: exact draws of both (rule book §15).

use super::Posterior;
use super::mixture::{DRAWN, ln_noise, pick, reach};
use crate::mechanism::plan::WholeNoise;
use crate::numeric::special::ln_gamma;
use crate::run::simulate::{Bits, uniform};

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
        let (numbers, sums) = (Window::new(rows, reach(of_rows, part)), Window::new(sum, reach(of_sum, part)));
        if let Some(found) = drawn((shape, rate), &numbers, &sums, (&|n| ln_noise(of_rows, rows - n), &|s| ln_noise(of_sum, sum - s)), rng)
        {
            return Some(found);
        }
        part *= 2.0;
    }
    None
}

/// Whole numbers from 0 on around one, in cells of equal size.
struct Window {
    first: f64,
    /// Of one cell.
    size: f64,
    cells: u64,
}

impl Window {
    fn new(centre: f64, wide: f64) -> Window {
        let (lo, hi) = ((centre - wide).max(0.0).floor(), (centre + wide).max(0.0).ceil());
        let size = ((hi - lo + 1.0) / CELLS).ceil();
        Window { first: lo, size, cells: ((hi - lo + 1.0) / size).ceil() as u64 }
    }

    /// The middles of the cells: the numbers themselves where a cell holds one.
    fn middles(&self) -> Vec<f64> {
        (0..self.cells).map(|i| self.first + i as f64 * self.size + 0.5 * (self.size - 1.0)).collect()
    }

    /// A number of the cell with this middle, each as likely.
    fn within(&self, middle: f64, rng: &mut Bits) -> f64 {
        if self.size > 1.0 { middle - 0.5 * (self.size - 1.0) + (self.size * uniform(rng)).floor() } else { middle }
    }
}

type Noise<'a> = &'a dyn Fn(f64) -> f64;

fn drawn((a, b): (f64, f64), rows: &Window, total: &Window, (of_rows, of_sum): (Noise, Noise), rng: &mut Bits) -> Option<Posterior> {
    let (numbers, sums) = (rows.middles(), total.middles());
    let own: Vec<f64> = sums.iter().map(|s| ln_gamma(a + s) - ln_gamma(s + 1.0) + of_sum(*s)).collect();
    // Without rows there is no sum.
    let ln = |n: f64, s: f64, own: f64| if s == 0.0 { own } else { own + s * (n / (b + n)).ln() };
    let of = |n: f64| own.iter().zip(&sums).map(move |(o, s)| ln(n, *s, *o));
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
        components.push(Posterior::Gamma(a + total.within(s, rng), b + rows.within(n, rng)));
    }
    (!rng.failed()).then(|| Posterior::Mixture { weights: vec![1.0 / DRAWN as f64; DRAWN], components })
}
