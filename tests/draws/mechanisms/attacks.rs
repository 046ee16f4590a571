//! Attacks on the arithmetic of draws: events that tell neighbours apart where a draw is made in doubles.

use dpm::mechanism::{BitSource, Number};
use rand_distr::{Distribution, StandardNormal};

use super::statistics::epsilon;
use super::{Mechanism, Seeded, csv};

/// A mechanism on its worst pair of neighbours.
pub struct Pair {
    pub name: &'static str,
    program: String,
    files: [String; 2],
    /// What is exceeded once in a thousand draws or so.
    tail: f64,
    /// The same release made in doubles, from the statistic (0 or 1): the positive control.
    naive: Option<fn(f64, &mut Seeded) -> f64>,
}

pub const EVENTS: [&str; 8] = [
    "|x| < 2^-10 and a multiple of 2^-53",
    "|x| < 2^-7 and a multiple of 2^-53",
    "|x| < 2^-20",
    "last four binary digits zero",
    "last digit odd",
    "multiple of 2^12 steps",
    "tail",
    "what a Laplace draw in doubles reaches from 0 and not from 1",
];

/// Deltas at which bounds are held against the certificate.
pub const DELTAS: [f64; 4] = [1e-14, 1e-6, 1e-3, 1e-2];

/// Which events a number falls in; `steps` is its index on the grid, if it is on one.
fn events(x: f64, steps: Option<i128>, tail: f64) -> [bool; 8] {
    // For a double that is on no grid: its own last digits in units of 2^-53.
    let index = steps.unwrap_or((x * f64::powi(2.0, 53)) as i128);
    let coarse = (x * f64::powi(2.0, 53)).fract() == 0.0;
    [
        x.abs() < f64::powi(2.0, -10) && coarse,
        x.abs() < f64::powi(2.0, -7) && coarse,
        x.abs() < f64::powi(2.0, -20),
        index & 15 == 0,
        index & 1 == 1,
        index & 4095 == 0,
        x > tail,
        reached(x, 0.0) && !reached(x, 1.0),
    ]
}

/// Is there a uniform double u with `v - ln u == x` or `v + ln u == x` in doubles (Mironov 2012)?
fn reached(x: f64, v: f64) -> bool {
    let unit = f64::powi(2.0, -53);
    let near = ((-(x - v).abs()).exp() / unit).round();
    (-4..=4).map(|d| (near + f64::from(d)) * unit).filter(|u| *u > 0.0 && *u <= 1.0).any(|u| v - u.ln() == x || v + u.ln() == x)
}

/// Hits of each event on the two neighbours.
pub type Hits = [[u64; 2]; 8];

impl Pair {
    pub fn mechanism(&self) -> Mechanism {
        Mechanism::new(&self.program)
    }

    /// Counts over one block of draws of each side.
    pub fn block(&self, mechanism: &Mechanism, block: u64, draws: u64, hits: &mut Hits) {
        for (side, file) in self.files.iter().enumerate() {
            let measured = mechanism.measure(file);
            let mut bits = Seeded::new((block << 1) + side as u64 + (1 << 40));
            for release in mechanism.draws(&measured, draws, &mut bits) {
                let number: Number = release.components[0];
                for (hit, event) in hits.iter_mut().zip(events(number.to_f64(), Some(number.index), self.tail)) {
                    hit[side] += u64::from(event);
                }
            }
        }
    }

    /// The same counts with the naive draw; `None` if this pair has no control.
    pub fn naive(&self, draws: u64) -> Option<Hits> {
        let draw = self.naive?;
        let mut hits = [[0; 2]; 8];
        for side in 0..2 {
            let mut bits = Seeded::new(77 + side as u64);
            for _ in 0..draws {
                let x = draw(side as f64, &mut bits);
                for (hit, event) in hits.iter_mut().zip(events(x, None, self.tail)) {
                    hit[side] += u64::from(event);
                }
            }
        }
        Some(hits)
    }
}

/// The largest excess of a proved epsilon over the certificate's, over the deltas; not positive if all is well.
pub fn excess(mechanism: &Mechanism, hits: [u64; 2], draws: u64) -> f64 {
    let over = |delta: &f64| epsilon(hits, draws, *delta) - mechanism.epsilon(*delta);
    DELTAS.iter().map(over).fold(f64::NEG_INFINITY, f64::max)
}

fn normal(bits: &mut Seeded) -> f64 {
    StandardNormal.sample(bits.rng())
}

pub fn pairs() -> Vec<Pair> {
    let two = |one: &[&str], other: &[&str]| [csv("y", one), csv("y", other)];
    vec![
        Pair {
            name: "normal posterior",
            program: "private t[1] { y: real in [0, 1] }\nparam m ~ normal(0, 1)\nobserve y ~ normal(m, 1)\nrelease x = draw(m) using direct\n"
                .into(),
            files: two(&["0"], &["1"]),
            tail: 2.5,
            naive: Some(|y, bits| 0.5 * y + 0.5_f64.sqrt() * normal(bits)),
        },
        Pair {
            name: "beta posterior",
            program: "private t[1] { y: bool }\nparam p ~ beta(2, 3)\nobserve y ~ bernoulli(p)\nrelease x = draw(p) using diffuse(r = 0.5)\n".into(),
            files: two(&["0"], &["1"]),
            tail: 0.93,
            naive: None,
        },
        Pair {
            name: "gamma posterior",
            program: "private t[1] { y: int in 0..1 }\nparam l ~ gamma(2, 1)\nobserve y ~ poisson(l)\nrelease x = draw(l) using diffuse(r = 0.5)\n".into(),
            files: two(&["0"], &["1"]),
            tail: 6.5,
            naive: None,
        },
        Pair {
            name: "laplace noise",
            program: "private t[1] { y: bool }\nrelease x = count(y) using laplace(scale = 1)\n".into(),
            files: two(&["0"], &["1"]),
            tail: 7.0,
            naive: Some(|y, bits| {
                let word = bits.word().unwrap_or(0);
                let u = ((word >> 11) + 1) as f64 * f64::powi(2.0, -53);
                if word & 1 == 1 { y + u.ln() } else { y - u.ln() }
            }),
        },
        Pair {
            name: "gaussian noise",
            program: "private t[1] { y: real in [0, 1] }\nrelease x = sum(y) using gaussian(sigma = 1)\n".into(),
            files: two(&["0"], &["1"]),
            tail: 3.7,
            naive: Some(|y, bits| y + normal(bits)),
        },
    ]
}
