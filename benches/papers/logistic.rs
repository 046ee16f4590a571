//! Data of the logistic studies: simulated as in the paper, or a real set split anew, with what an estimate is judged by.

use super::data::{Row, Set};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use std::fmt::Write;

/// Standard deviation of the prior of every weight, as in the paper.
pub const SPREAD: f64 = 3.0;

/// One repetition: its rows, and what is to be found.
pub struct Study {
    pub train: Vec<Row>,
    test: Vec<Row>,
    /// The weights that made simulated data; of real data the fit to all rows without privacy.
    truth: Vec<f64>,
    /// Public bound of the norm of a row: methods that need one move longer rows onto it.
    pub bound: f64,
}

/// How near an estimate comes.
#[derive(Clone, Copy)]
pub struct Score {
    /// log10 of the root mean square error of the weights.
    pub log_rmse: f64,
    /// Area under the curve of hits against false alarms on test rows.
    pub auc: f64,
    /// Share of weights with the right sign.
    pub signs: f64,
}

pub fn normals(count: usize, rng: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(rng)).collect()
}

fn dot(x: &[f64], w: &[f64]) -> f64 {
    x.iter().zip(w).map(|(a, b)| a * b).sum()
}

pub fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}

impl Study {
    /// Features normal(0, 1), weights normal(0, 3). A row is longer than the public bound about once in 300.
    pub fn simulated(d: usize, n: usize, seed: u64) -> Study {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let truth: Vec<f64> = normals(d, &mut rng).iter().map(|z| SPREAD * z).collect();
        let mut row = || {
            let x = normals(d, &mut rng);
            let y = rng.random::<f64>() < sigmoid(dot(&x, &truth));
            (x, y)
        };
        let train = (0..n).map(|_| row()).collect();
        let test = (0..2000).map(|_| row()).collect();
        Study { train, test, truth, bound: (d as f64).sqrt() + 2.0 }
    }

    /// So many rows of a real set to learn from, others (a tenth of the set) to test.
    pub fn real(set: &Set, truth: &[f64], n: usize, seed: u64) -> Study {
        let mut rows: Vec<Row> = set.train.iter().chain(&set.test).cloned().collect();
        rows.shuffle(&mut ChaCha20Rng::seed_from_u64(seed));
        let test = rows.split_off(rows.len() - rows.len() / 10);
        rows.truncate(n);
        Study { train: rows, test, truth: truth.to_vec(), bound: 1.0 }
    }

    pub fn dim(&self) -> usize {
        self.truth.len()
    }

    /// The training rows as the file that a program reads.
    pub fn csv(&self) -> String {
        let mut text = (1..=self.dim()).map(|j| format!("x_{j},")).collect::<String>() + "y\n";
        for (x, y) in &self.train {
            x.iter().for_each(|v| write!(text, "{v:.9},").unwrap());
            writeln!(text, "{}", u8::from(*y)).unwrap();
        }
        text
    }

    /// The training rows within the public bound.
    pub fn bounded(&self) -> Vec<Row> {
        let within = |x: &Vec<f64>| {
            let norm = dot(x, x).sqrt();
            let factor = if norm > self.bound { self.bound / norm } else { 1.0 };
            x.iter().map(|v| factor * v).collect()
        };
        self.train.iter().map(|(x, y)| (within(x), *y)).collect()
    }

    pub fn score(&self, w: &[f64]) -> Score {
        let d = self.dim() as f64;
        let squares: f64 = w.iter().zip(&self.truth).map(|(a, b)| (a - b).powi(2)).sum();
        let right = w.iter().zip(&self.truth).filter(|(a, b)| (**a > 0.0) == (**b > 0.0)).count();
        Score { log_rmse: 0.5 * (squares / d).log10(), auc: self.auc(w), signs: right as f64 / d }
    }

    /// Chance that a row with outcome 1 is ranked above one with outcome 0, ties counted half.
    fn auc(&self, w: &[f64]) -> f64 {
        let mut ranked: Vec<(f64, bool)> = self.test.iter().map(|(x, y)| (dot(x, w), *y)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut below, mut pairs) = (0.0, 0.0);
        for ties in ranked.chunk_by(|a, b| a.0 == b.0) {
            let ones = ties.iter().filter(|r| r.1).count() as f64;
            let zeros = ties.len() as f64 - ones;
            pairs += ones * (below + 0.5 * zeros);
            below += zeros;
        }
        pairs / (below * (ranked.len() as f64 - below))
    }
}

/// The weights that make `sum log(1 + e^(-s w x)) + precision |w|^2 / 2` least, by Newton steps that are halved until they help.
pub fn mode(rows: &[Row], precision: f64) -> Vec<f64> {
    let d = rows[0].0.len();
    let objective = |w: &[f64]| {
        let loss = |(x, y): &Row| {
            let t = if *y { -dot(x, w) } else { dot(x, w) };
            t.max(0.0) + (-t.abs()).exp().ln_1p()
        };
        rows.iter().map(loss).sum::<f64>() + 0.5 * precision * dot(w, w)
    };
    let (mut w, mut value) = (vec![0.0; d], objective(&vec![0.0; d]));
    for _ in 0..60 {
        let mut gradient: Vec<f64> = w.iter().map(|v| precision * v).collect();
        let mut hessian = vec![vec![0.0; d]; d];
        (0..d).for_each(|j| hessian[j][j] = precision);
        for (x, y) in rows {
            let p = sigmoid(dot(x, &w));
            let (slope, curve) = (p - f64::from(u8::from(*y)), p * (1.0 - p));
            for j in 0..d {
                gradient[j] += slope * x[j];
                let scaled = curve * x[j];
                (0..=j).for_each(|k| hessian[j][k] += scaled * x[k]);
            }
        }
        let step = solve(hessian, &gradient);
        let mut length = 1.0;
        let (next, at) = loop {
            let next: Vec<f64> = w.iter().zip(&step).map(|(a, s)| a - length * s).collect();
            let at = objective(&next);
            if at <= value || length < 1e-6 {
                break (next, at);
            }
            length *= 0.5;
        };
        let done = value - at < 1e-10 * (1.0 + value.abs());
        (w, value) = (next, at);
        if done {
            break;
        }
    }
    w
}

/// `H^-1 g` by the Cholesky factor; the lower half of H is given.
fn solve(mut h: Vec<Vec<f64>>, g: &[f64]) -> Vec<f64> {
    let d = g.len();
    for j in 0..d {
        for k in 0..=j {
            let sum: f64 = (0..k).map(|i| h[j][i] * h[k][i]).sum();
            h[j][k] = if j == k { (h[j][j] - sum).sqrt() } else { (h[j][k] - sum) / h[k][k] };
        }
    }
    let mut x = g.to_vec();
    for j in 0..d {
        let sum: f64 = (0..j).map(|i| h[j][i] * x[i]).sum();
        x[j] = (x[j] - sum) / h[j][j];
    }
    for j in (0..d).rev() {
        let sum: f64 = (j + 1..d).map(|i| h[i][j] * x[i]).sum();
        x[j] = (x[j] - sum) / h[j][j];
    }
    x
}
