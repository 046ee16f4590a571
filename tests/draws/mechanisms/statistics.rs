//! Kolmogorov-Smirnov, chi-square and Clopper-Pearson from counts, so that any number of draws fits in memory.

use statrs::distribution::{Beta, ChiSquared, ContinuousCDF};

/// How many cells a continuous law is counted in.
const CELLS: usize = 1 << 14;
/// How many classes chi-square looks at: few, as many cells of few draws each hide a wrong scale.
const CLASSES: f64 = 12.0;

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

    /// The p-value of a continuous law with this distribution function: twice the lesser of Kolmogorov-Smirnov's and
    /// chi-square's, as Bonferroni asks. The first sees a wrong place, the second a wrong scale.
    pub fn continuous(&self, cdf: impl Fn(f64) -> f64) -> f64 {
        let Tally::Cells { lo, hi, counts } = self else { panic!("a discrete tally") };
        let n = counts.iter().sum::<u64>() as f64;
        let (mut below, mut gap, mut last) = (0, 0.0_f64, 0.0);
        let mut cells = vec![];
        for (i, count) in counts.iter().enumerate() {
            below += count;
            let to = if i < CELLS { cdf(lo + (hi - lo) * (i as f64 / CELLS as f64)) } else { 1.0 };
            gap = gap.max((below as f64 / n - to).abs());
            cells.push((*count as f64, to - last));
            last = to;
        }
        // Over the edges of cells only and by `2 exp(-2 n D^2)`, both of which make the p-value larger.
        let ks = 2.0 * (-2.0 * n * gap * gap).exp();
        (2.0 * ks.min(chi_square(n, 1.0 / CLASSES, cells.into_iter()))).min(1.0)
    }

    /// The p-value of chi-square for a discrete law with these masses.
    pub fn discrete(&self, mass: impl Fn(f64) -> f64) -> f64 {
        let Tally::Values { values, counts, rest } = self else { panic!("a continuous tally") };
        let n = (counts.iter().sum::<u64>() + rest) as f64;
        let cells: Vec<(f64, f64)> = values.iter().zip(counts).map(|(value, count)| (*count as f64, mass(*value))).collect();
        let left = 1.0 - cells.iter().map(|c| c.1).sum::<f64>();
        // All other values join the first class, so that one that should not be there is seen.
        let least = if (values.len() as f64) < CLASSES { 20.0 / n } else { 1.0 / CLASSES };
        chi_square(n, least, std::iter::once((*rest as f64, left.max(0.0))).chain(cells))
    }
}

/// The p-value of cells of (count, probability) in order, put together until a class has probability `least`.
fn chi_square(n: f64, least: f64, cells: impl Iterator<Item = (f64, f64)>) -> f64 {
    let mut classes: Vec<(f64, f64)> = vec![];
    let (mut seen, mut mass) = (0.0, 0.0);
    for (count, p) in cells {
        (seen, mass) = (seen + count, mass + p);
        if mass >= least {
            classes.push((seen, mass));
            (seen, mass) = (0.0, 0.0);
        }
    }
    if let Some(last) = classes.last_mut() {
        *last = (last.0 + seen, last.1 + mass);
    }
    if classes.len() < 2 {
        // All in one class: nothing to compare.
        return 1.0;
    }
    let sum = classes.iter().map(|(seen, p)| (seen - n * p).powi(2) / (n * p)).sum();
    ChiSquared::new(classes.len() as f64 - 1.0).unwrap().sf(sum)
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
