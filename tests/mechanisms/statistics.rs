//! Kolmogorov-Smirnov, chi-square and Clopper-Pearson from counts, so that any number of draws fits in memory.

use statrs::distribution::{Beta, ChiSquared, ContinuousCDF};

/// How many cells a continuous law is counted in.
const CELLS: usize = 1 << 14;

/// Counts of draws, to be held against a law.
pub enum Tally {
    /// Equal cells over a range, with all that lies below it in the first and above it in the last.
    Cells { lo: f64, hi: f64, counts: Vec<u64> },
    /// Draws equal to each value, and all others.
    Values { values: Vec<f64>, counts: Vec<u64>, rest: u64 },
}

impl Tally {
    pub fn cells(lo: f64, hi: f64) -> Tally {
        Tally::Cells { lo, hi, counts: vec![0; CELLS + 1] }
    }

    pub fn values(values: Vec<f64>) -> Tally {
        let counts = vec![0; values.len()];
        Tally::Values { values, counts, rest: 0 }
    }

    pub fn add(&mut self, x: f64) {
        match self {
            Tally::Cells { lo, hi, counts } => {
                let at = ((x - *lo) / (*hi - *lo) * CELLS as f64).floor().clamp(-1.0, CELLS as f64 - 1.0);
                counts[(at + 1.0) as usize] += 1;
            }
            Tally::Values { values, counts, rest } => match values.iter().position(|v| (v - x).abs() < 1e-6) {
                Some(i) => counts[i] += 1,
                None => *rest += 1,
            },
        }
    }

    /// The p-value of a continuous law with this distribution function: Kolmogorov-Smirnov over the edges of the cells.
    /// An upper bound, `2 exp(-2 n D^2)`, so rejecting with it is never too easy.
    pub fn ks(&self, cdf: impl Fn(f64) -> f64) -> f64 {
        let Tally::Cells { lo, hi, counts } = self else { panic!("a discrete tally") };
        let n = counts.iter().sum::<u64>() as f64;
        let mut below = 0;
        let mut gap: f64 = 0.0;
        for (i, count) in counts.iter().enumerate().take(CELLS) {
            below += count;
            let edge = lo + (hi - lo) * (i as f64 / CELLS as f64);
            gap = gap.max((below as f64 / n - cdf(edge)).abs());
        }
        (2.0 * (-2.0 * n * gap * gap).exp()).min(1.0)
    }

    /// The p-value of a discrete law with these masses; values of expected count below 20 are put together.
    pub fn chi_square(&self, mass: impl Fn(f64) -> f64) -> f64 {
        let Tally::Values { values, counts, rest } = self else { panic!("a continuous tally") };
        let n = (counts.iter().sum::<u64>() + rest) as f64;
        let (mut sum, mut bins) = (0.0, 0);
        let (mut seen_rest, mut mass_rest) = (*rest as f64, 1.0 - values.iter().map(|v| mass(*v)).sum::<f64>());
        for (value, count) in values.iter().zip(counts) {
            let p = mass(*value);
            if n * p < 20.0 {
                seen_rest += *count as f64;
                mass_rest += p;
            } else {
                sum += (*count as f64 - n * p).powi(2) / (n * p);
                bins += 1;
            }
        }
        if n * mass_rest >= 5.0 {
            sum += (seen_rest - n * mass_rest).powi(2) / (n * mass_rest);
            bins += 1;
        }
        ChiSquared::new(f64::from(bins - 1)).unwrap().sf(sum)
    }
}

/// Confidence of the four bounds of one attack together.
pub const CONFIDENCE: f64 = 1.0 - 1e-9;

/// Clopper-Pearson: bounds on a probability, each of the four of one attack wrong with chance at most a quarter of what confidence leaves.
pub fn bounds(hits: u64, trials: u64) -> (f64, f64) {
    let (k, n, alpha) = (hits as f64, trials as f64, (1.0 - CONFIDENCE) / 4.0);
    let quantile = |a: f64, b: f64, upper: bool| {
        // Bisection of the distribution function, which is monotone; both tails in their small form.
        let law = Beta::new(a, b).unwrap();
        let (mut lo, mut hi): (f64, f64) = (0.0, 1.0);
        for _ in 0..200 {
            let middle = 0.5 * (lo + hi);
            let outside = if upper { law.sf(middle) > alpha } else { law.cdf(middle) < alpha };
            if outside { lo = middle } else { hi = middle }
        }
        if upper { hi } else { lo }
    };
    let low = if hits == 0 { 0.0 } else { quantile(k, n - k + 1.0, false) };
    let high = if hits == trials { 1.0 } else { quantile(k + 1.0, n - k, true) };
    (low, high)
}

/// The largest epsilon that an event's counts on two neighbours prove at a delta, in either direction.
pub fn epsilon(hits: [u64; 2], trials: u64, delta: f64) -> f64 {
    let proved = |a: u64, b: u64| ((bounds(a, trials).0 - delta) / bounds(b, trials).1).ln();
    let best = proved(hits[0], hits[1]).max(proved(hits[1], hits[0]));
    if best.is_nan() { f64::NEG_INFINITY } else { best }
}
