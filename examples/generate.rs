//! Writes the made-up rows that the example programs read; the same rows on every machine.
//!
//! `cargo run --example generate` writes them beside this file. The generator is ChaCha20 with a fixed seed and one
//! stream a file, so that a change to one file leaves the others alone. No row describes a person.
#![allow(dead_code)]

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng};
use std::path::Path;

/// The first digits of pi: a seed that hides nothing.
const SEED: u64 = 3_141_592_653_589_793;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for (name, text) in files() {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// The name of a file and what writes its rows.
type Maker = (&'static str, fn(&mut Rows));

/// Every file: its name and its text.
pub fn files() -> Vec<(&'static str, String)> {
    let makers: [Maker; 18] = [
        ("01_staff.csv", |r| r.column("smoker", 240, |r| yes(r.chance(0.24)))),
        ("02_votes.csv", |r| r.column("party", 320, |r| r.pick(&[("red", 0.34), ("blue", 0.31), ("green", 0.22), ("other", 0.13)]).into())),
        ("03_people.csv", |r| r.column("visits", 260, |r| r.poisson(3.8).to_string())),
        ("04_staff.csv", |r| r.column("income", 1200, |r| format!("{:.1}", r.normal(64.0, 31.0).max(0.0)))),
        ("05_cohort.csv", cohort),
        ("06_adult.csv", adult_features),
        ("07_loans.csv", loans),
        ("08_homes.csv", homes),
        ("09_flowers.csv", flowers),
        ("10_survey.csv", survey),
        ("11_pilot.csv", pilot),
        ("11_survey.csv", |r| r.column("smoker", 300, |r| yes(r.chance(0.21)))),
        ("12_ballots.csv", |r| r.column("choice", 150, |r| r.pick(&[("yes", 0.55), ("no", 0.38), ("blank", 0.07)]).into())),
        ("13_people.csv", people),
        ("14_trial.csv", |r| r.column("cured", 150, |r| yes(r.chance(0.58)))),
        ("15_visits.csv", visits),
        ("16_adult.csv", adult),
        ("19_survey.csv", earners),
    ];
    let make = |(stream, (name, maker)): (usize, Maker)| {
        let mut rows = Rows::new(stream as u64);
        maker(&mut rows);
        (name, rows.text)
    };
    makers.into_iter().enumerate().map(make).collect()
}

/// Older people with a higher body mass index; about one in eight is at risk.
fn cohort(r: &mut Rows) {
    r.line("age,bmi");
    for _ in 0..640 {
        let age = r.normal(52.0, 17.0).round().clamp(18.0, 96.0);
        let bmi = (r.normal(24.5, 4.0) + 0.05 * (age - 40.0)).clamp(15.0, 48.0);
        r.line(&format!("{age},{bmi:.1}"));
    }
}

/// Nine features scaled to the unit ball and a label that depends on two of them.
fn adult_features(r: &mut Rows) {
    r.line(&(header("x", 9) + ",rich"));
    for _ in 0..60 {
        let x = r.vector(9, 0.3);
        let rich = r.chance(logistic(3.0 * (at(&x, 0) - at(&x, 1)) - 0.8));
        r.line(&format!("{},{}", cells(&x, 3), yes(rich)));
    }
}

/// Twenty unscaled features of a loan.
fn loans(r: &mut Rows) {
    r.line(&(header("x", 20) + ",default"));
    for _ in 0..40 {
        let x = r.vector(20, 2.0);
        let default = r.chance(logistic(0.8 * at(&x, 0) - 0.5 * at(&x, 3) - 1.0));
        r.line(&format!("{},{}", cells(&x, 2), yes(default)));
    }
}

/// Prices on a scale where the residual standard deviation is about 1.
fn homes(r: &mut Rows) {
    r.line(&(header("x", 5) + ",price"));
    for _ in 0..50 {
        let x = r.vector(5, 1.0);
        let price = 2.5 * at(&x, 0) + 1.2 * at(&x, 1) - 0.7 * at(&x, 4) + r.normal(0.0, 1.0);
        r.line(&format!("{},{price:.2}", cells(&x, 2)));
    }
}

/// Four measurements in centimetres, three species.
fn flowers(r: &mut Rows) {
    r.line(&(header("x", 4) + ",species"));
    let species = [("setosa", [5.0, 3.4, 1.5, 0.2]), ("versicolor", [5.9, 2.8, 4.3, 1.3]), ("virginica", [6.6, 3.0, 5.6, 2.0])];
    for i in 0..60 {
        let Some((name, centre)) = species.get(i % 3) else { continue };
        let x: Vec<f64> = centre.iter().map(|c| (c + r.normal(0.0, 0.3)).max(0.1)).collect();
        r.line(&format!("{},{name}", cells(&x, 1)));
    }
}

/// A survey in four strata of different sizes and rates.
fn survey(r: &mut Rows) {
    r.line("region,smoker");
    for _ in 0..480 {
        let region = r.pick(&[("north", 0.3), ("south", 0.3), ("east", 0.25), ("west", 0.15)]);
        let rate = match region {
            "north" => 0.19,
            "south" => 0.27,
            "east" => 0.23,
            _ => 0.33,
        };
        let smoker = yes(r.chance(rate));
        r.line(&format!("{region},{smoker}"));
    }
}

/// 40 smokers among 200, in a random order: the pilot that turns beta(1, 1) into beta(41, 161).
fn pilot(r: &mut Rows) {
    let mut answers: Vec<bool> = (0..200).map(|i| i < 40).collect();
    for i in (1..answers.len()).rev() {
        let j = (r.uniform() * (i + 1) as f64) as usize;
        answers.swap(i, j);
    }
    r.line("smoker");
    for smoker in answers {
        r.line(&yes(smoker));
    }
}

/// Ages and yearly incomes in thousands.
fn people(r: &mut Rows) {
    r.line("age,income");
    for _ in 0..640 {
        let age = r.normal(46.0, 15.0).round().clamp(18.0, 90.0);
        let income = (r.normal(48.0, 24.0) + 0.3 * (age - 40.0)).clamp(0.0, 200.0);
        r.line(&format!("{age},{income:.1}"));
    }
}

/// One to six visits a patient: some have more than the four that count.
fn visits(r: &mut Rows) {
    r.line("patient,infected");
    for patient in 1..=110 {
        let rate = if r.chance(0.3) { 0.75 } else { 0.35 };
        let count = 1 + (r.uniform() * 6.0) as usize;
        for _ in 0..count {
            let infected = yes(r.chance(rate));
            r.line(&format!("p{patient:03},{infected}"));
        }
    }
}

/// Ages, weekly hours and a label.
fn adult(r: &mut Rows) {
    r.line("age,hours,rich");
    for _ in 0..1100 {
        let age = r.normal(41.0, 13.0).round().clamp(17.0, 90.0);
        let hours = r.normal(40.0, 11.0).round().clamp(1.0, 99.0);
        let rich = r.chance(logistic(0.04 * (age - 40.0) + 0.03 * (hours - 40.0) - 1.1));
        r.line(&format!("{age},{hours},{}", yes(rich)));
    }
}

/// People of two sexes in three regions: more earn much who are in their prime, and men more than women. Some ages are missing.
fn earners(r: &mut Rows) {
    r.line("age,hours,sex,region,rich");
    for _ in 0..1500 {
        let age = r.normal(41.0, 13.0).round().clamp(17.0, 90.0);
        let hours = r.normal(40.0, 11.0).round().clamp(1.0, 99.0);
        let sex = r.pick(&[("female", 0.5), ("male", 0.5)]);
        let region = r.pick(&[("north", 0.5), ("south", 0.3), ("west", 0.2)]);
        let men = if sex == "male" { 0.9 } else { 0.0 };
        let rich = r.chance(logistic(0.05 * (age - 45.0) + 0.05 * (hours - 45.0) + men - 0.6));
        let age = if r.chance(0.03) { String::new() } else { format!("{age}") };
        r.line(&format!("{age},{hours},{sex},{region},{}", yes(rich)));
    }
}

/// One file under way: its text and its own stream of randomness.
pub struct Rows {
    text: String,
    rng: ChaCha20Rng,
}

impl Rows {
    fn new(stream: u64) -> Rows {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        rng.set_stream(stream);
        Rows { text: String::new(), rng }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A file of one column.
    fn column(&mut self, name: &str, rows: usize, cell: impl Fn(&mut Rows) -> String) {
        self.line(name);
        for _ in 0..rows {
            let text = cell(self);
            self.line(&text);
        }
    }

    /// Uniform on [0, 1), 53 bits.
    fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Nearly normal: the sum of twelve uniforms, which needs no function that differs between machines.
    fn normal(&mut self, mean: f64, sd: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.uniform()).sum();
        mean + sd * (sum - 6.0)
    }

    /// Poisson by counting how many uniforms multiply to less than exp(-rate).
    fn poisson(&mut self, rate: f64) -> u32 {
        let floor = libm::exp(-rate);
        let mut product = self.uniform();
        let mut count = 0;
        while product > floor {
            product *= self.uniform();
            count += 1;
        }
        count
    }

    fn pick(&mut self, shares: &[(&'static str, f64)]) -> &'static str {
        let mut left = self.uniform();
        for (name, share) in shares {
            left -= share;
            if left < 0.0 {
                return name;
            }
        }
        shares.last().map_or("", |(name, _)| name)
    }

    fn vector(&mut self, dimension: usize, sd: f64) -> Vec<f64> {
        (0..dimension).map(|_| self.normal(0.0, sd)).collect()
    }
}

fn yes(answer: bool) -> String {
    (if answer { "yes" } else { "no" }).into()
}

fn at(x: &[f64], i: usize) -> f64 {
    x.get(i).copied().unwrap_or(0.0)
}

fn logistic(eta: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-eta))
}

/// `x_1,x_2,x_3`
fn header(name: &str, dimension: usize) -> String {
    (1..=dimension).map(|i| format!("{name}_{i}")).collect::<Vec<_>>().join(",")
}

fn cells(x: &[f64], decimals: usize) -> String {
    x.iter().map(|v| format!("{v:.decimals$}")).collect::<Vec<_>>().join(",")
}
