//! The dearest pair of neighbours seen so far, and what a claim has to do with it.

use super::{dirichlet, gamma};
use dpm::privacy::Claim;

/// Odd enough that none is the limit order of a case below.
pub const ORDERS: [f64; 6] = [1.03, 1.29, 1.71, 2.43, 3.57, 6.1];

/// The dearest pair seen so far at every order.
#[derive(Default)]
pub struct Worst {
    at: [f64; ORDERS.len()],
    pub pairs: u64,
}

/// What a claim has to do with the dearest pair.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Is {
    /// Equal to it.
    Attained,
    /// At least it.
    Above,
    /// At least it, and at most this many times it.
    Near(f64),
}

impl Worst {
    pub fn see(&mut self, divergence: impl Fn(f64) -> f64) {
        self.pairs += 1;
        for (worst, l) in self.at.iter_mut().zip(ORDERS) {
            *worst = worst.max(divergence(l));
        }
    }

    /// Both roles of a pair of Beta or Dirichlet laws.
    pub fn dirichlet(&mut self, p: &[f64], q: &[f64]) {
        self.see(|l| dirichlet(l, p, q).max(dirichlet(l, q, p)));
    }

    pub fn gamma(&mut self, p: [f64; 2], q: [f64; 2]) {
        self.see(|l| gamma(l, p, q).max(gamma(l, q, p)));
    }

    pub fn judge(&self, claim: &Claim, is: Is, text: &str) {
        assert!(self.pairs > 0, "nothing to compare");
        for (worst, l) in self.at.into_iter().zip(ORDERS) {
            let (found, pairs) = (claim.rdp(l), self.pairs);
            let case = || format!("order {l}: claimed {found}, worst of {pairs} pairs {worst}, {is:?}\n{text}");
            assert!(found >= worst * (1.0 - 1e-9) - 1e-10, "too small: {}", case());
            let largest = match is {
                Is::Attained => worst * (1.0 + 1e-9) + 1e-10,
                Is::Above => f64::INFINITY,
                Is::Near(factor) => worst * factor,
            };
            assert!(found <= largest, "too large: {}", case());
        }
    }
}

/// The ways to weaken a posterior: text, weight, concentration.
pub const FORMS: [(&str, f64, f64); 3] = [("direct", 1.0, 1.0), ("diffuse(r = 0.4)", 0.4, 1.0), ("concentrated(m = 0.5)", 1.0, 0.5)];

/// A program that draws `m`; k rows a unit.
pub fn program(rows: &str, k: u64, column: &str, model: &str, form: &str) -> String {
    let unit = if k == 1 { String::new() } else { format!(" by id max {k}") };
    format!("private t[{rows}]{unit} {{ id: text, {column} }}\nparam {model}\nrelease out = draw(m) using {form}\n")
}

/// Numbers in [0, 1), the same at every run (SplitMix64).
pub fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
