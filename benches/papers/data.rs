//! Real data sets as rows of norm at most 1 with a yes-or-no outcome, scaled by public bounds (never by the data).

use flate2::read::GzDecoder;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// Features and outcome.
pub type Row = (Vec<f64>, bool);

pub struct Set {
    pub name: &'static str,
    pub train: Vec<Row>,
    pub test: Vec<Row>,
}

pub fn read(file: &str) -> Vec<Vec<String>> {
    let folder = std::env::var("DPM_DATA").expect("DPM_DATA names the folder of the data sets (benches/papers/README.md)");
    let path = PathBuf::from(folder).join(file);
    let mut text = String::new();
    let mut source = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if file.ends_with(".gz") {
        GzDecoder::new(source).read_to_string(&mut text).unwrap();
    } else {
        source.read_to_string(&mut text).unwrap();
    }
    text.lines().skip(1).map(|l| l.split(',').map(|c| c.trim().to_string()).collect()).collect()
}

/// To [-1/2, 1/2] by public bounds.
fn scaled(x: f64, lo: f64, hi: f64) -> f64 {
    (x.clamp(lo, hi) - lo) / (hi - lo) - 0.5
}

/// Every row to norm 1, as the paper does; a row of zeros stays.
fn normalised(mut x: Vec<f64>) -> Vec<f64> {
    let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 {
        x.iter_mut().for_each(|v| *v /= norm);
    }
    x
}

fn split(mut rows: Vec<Row>, train: usize) -> (Vec<Row>, Vec<Row>) {
    rows.shuffle(&mut ChaCha20Rng::seed_from_u64(2017));
    let test = rows.split_off(train);
    (rows, test)
}

/// Fewer than 10 rings or not; two indicators of sex and seven measurements, with a length of 1 (200 mm) and a weight of 3
/// (600 g) as bounds.
pub fn abalone() -> Set {
    let rows = read("abalone/abalone.csv");
    let row = |r: &Vec<String>| {
        let mut x: Vec<f64> = ["M", "F"].iter().map(|s| scaled(f64::from(u8::from(r[0] == **s)), 0.0, 1.0)).collect();
        x.extend((1..8).map(|j| scaled(r[j].parse().unwrap(), 0.0, if j < 4 { 1.0 } else { 3.0 })));
        (normalised(x), r[8].parse::<u32>().unwrap() < 10)
    };
    let (train, test) = split(rows.iter().map(row).collect(), 2784);
    Set { name: "abalone", train, test }
}

/// Income above 50K; six numbers and the indicators of eight categories, one level each left out: 100 columns. Bounds are
/// those of the survey's coding, and a choice where it has none.
pub fn adult() -> Set {
    let (train, test) = (read("adult/adult_train.csv.gz"), read("adult/adult_test.csv"));
    let numbers: [(usize, f64, f64); 6] =
        [(0, 16.0, 90.0), (2, 0.0, 1.5e6), (4, 1.0, 16.0), (10, 0.0, 99_999.0), (11, 0.0, 5_000.0), (12, 1.0, 99.0)];
    // Level lists are documented; here they are those of both files together.
    let levels: Vec<(usize, Vec<String>)> = [1, 3, 5, 6, 7, 8, 9, 13]
        .map(|j| (j, train.iter().chain(&test).map(|r| r[j].clone()).collect::<BTreeSet<_>>().into_iter().skip(1).collect()))
        .to_vec();
    let row = |r: &Vec<String>| {
        let mut x: Vec<f64> = numbers.iter().map(|(j, lo, hi)| scaled(r[*j].parse().unwrap(), *lo, *hi)).collect();
        for (j, names) in &levels {
            x.extend(names.iter().map(|name| scaled(f64::from(u8::from(r[*j] == *name)), 0.0, 1.0)));
        }
        (normalised(x), r[14].starts_with(">50K"))
    };
    Set { name: "adult", train: train.iter().map(row).collect(), test: test.iter().map(row).collect() }
}

/// Malignant or not, from nine scores of 1 to 10; a missing one is in the middle.
pub fn breast() -> Set {
    let row = |r: &Vec<String>| {
        let x = r[1..10].iter().map(|v| scaled(v.parse().unwrap_or(5.5), 1.0, 10.0)).collect();
        (normalised(x), r[10] == "4")
    };
    let (train, test) = split(read("breast_cancer_original/breast_cancer_original.csv").iter().map(row).collect(), 630);
    Set { name: "breast", train, test }
}

/// Good or bad radar returns, from 34 correlations in [-1, 1].
pub fn ionosphere() -> Set {
    let row = |r: &Vec<String>| {
        let x = r[..34].iter().map(|v| scaled(v.parse().unwrap(), -1.0, 1.0)).collect();
        (normalised(x), r[34] == "g")
    };
    let (train, test) = split(read("ionosphere/ionosphere.csv").iter().map(row).collect(), 316);
    Set { name: "ionosphere", train, test }
}

/// Digit 3 or 8 from 784 pixels of 0..255.
pub fn mnist() -> Set {
    let row = |r: &Vec<String>| {
        let pixels = r[1..].iter().map(|p| scaled(p.parse().unwrap(), 0.0, 255.0)).collect();
        (normalised(pixels), r[0] == "3")
    };
    let (train, test) = split(read("mnist38/mnist38.csv.gz").iter().map(row).collect(), 7988);
    Set { name: "mnist", train, test }
}

impl Set {
    pub fn dim(&self) -> usize {
        self.train[0].0.len()
    }

    /// The training rows as the file that a program reads: columns x_1.. and y.
    pub fn csv(&self) -> String {
        let mut text = (1..=self.dim()).map(|j| format!("x_{j},")).collect::<String>() + "y\n";
        for (x, y) in &self.train {
            x.iter().for_each(|v| write!(text, "{v:.9},").unwrap());
            writeln!(text, "{}", u8::from(*y)).unwrap();
        }
        text
    }

    /// Share of test rows on the wrong side of `w x = 0`, and the mean log-likelihood of the test rows.
    pub fn score(&self, w: &[f64]) -> (f64, f64) {
        let (mut wrong, mut log) = (0.0, 0.0);
        for (x, y) in &self.test {
            let t: f64 = x.iter().zip(w).map(|(a, b)| a * b).sum();
            wrong += f64::from(u8::from((t > 0.0) != *y));
            let s = if *y { t } else { -t };
            // -ln(1 + e^-s) without overflow.
            log += if s > -700.0 { -(-s).exp().ln_1p() } else { s };
        }
        let n = self.test.len() as f64;
        (wrong / n, log / n)
    }
}
