//! Every finite sampler run over all tapes of up to 20 bits: the decided tapes bracket its mass function, and at most
//! 2^-10 of them is undecided.

use crate::mechanisms::{Mechanism, csv};
use dashu_ratio::RBig;
use dpm::mechanism::MechanismError;
use dpm::mechanism::bits::BitSource;
use dpm::mechanism::draw::discrete_gaussian::discrete_gaussian;
use dpm::mechanism::draw::finite::{below, bernoulli, bernoulli_exp, discrete_laplace, exponential_choice, floor_laplace, geometric};
use dpm::mechanism::draw::uniform::Uniform;
use dpm::mechanism::real::Param;
use std::collections::BTreeMap;

const BITS: u32 = 20;
const MOST_UNDECIDED: f64 = 1.0 / 1024.0;

/// Replays the last `left` bits of a number, first the highest, then fails.
struct Tape {
    bits: u64,
    left: u32,
}

impl BitSource for Tape {
    fn word(&mut self) -> Result<u64, MechanismError> {
        Err(MechanismError::NoRandomness)
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        self.left = self.left.checked_sub(1).ok_or(MechanismError::NoRandomness)?;
        Ok(self.bits >> self.left & 1 == 1)
    }
}

type Draw<'a> = &'a dyn Fn(&mut Tape) -> Result<i128, MechanismError>;

/// Decided mass by outcome, and what is undecided. A tape that decides also decides for all that it begins.
fn enumerate(draw: Draw) -> (BTreeMap<i128, f64>, f64) {
    let mut masses = BTreeMap::new();
    let mut undecided = 0.0;
    let mut open = vec![(0u64, 0u32)];
    while let Some((bits, used)) = open.pop() {
        match draw(&mut Tape { bits, left: used }) {
            Ok(k) => *masses.entry(k).or_insert(0.0) += f64::powi(0.5, used as i32),
            Err(_) if used < BITS => open.extend([(2 * bits, used + 1), (2 * bits + 1, used + 1)]),
            Err(_) => undecided += f64::powi(0.5, used as i32),
        }
    }
    (masses, undecided)
}

fn brackets(name: &str, most_undecided: f64, draw: Draw, mass: &dyn Fn(i128) -> f64) {
    let (masses, undecided) = enumerate(draw);
    assert!(undecided <= most_undecided, "{name}: undecided {undecided}");
    let total: f64 = masses.values().sum();
    assert!((total + undecided - 1.0).abs() < 1e-12);
    for k in -300..300 {
        let low = masses.get(&k).copied().unwrap_or(0.0);
        let p = mass(k);
        assert!(low <= p + 1e-12 && p <= low + undecided + 1e-12, "{name}: {k} {low} {p}");
    }
}

fn bracketed(name: &str, draw: Draw, mass: &dyn Fn(i128) -> f64) {
    brackets(name, MOST_UNDECIDED, draw, mass);
}

fn ratio(n: i64, d: u64) -> RBig {
    RBig::from_parts(n.into(), d.into())
}

fn geometric_mass(k: i128, scale: f64) -> f64 {
    let q = (-1.0 / scale).exp();
    if k < 0 { 0.0 } else { (1.0 - q) * q.powf(k as f64) }
}

fn laplace_mass(k: i128, scale: f64) -> f64 {
    let q = (-1.0 / scale).exp();
    (1.0 - q) / (1.0 + q) * q.powf(k.unsigned_abs() as f64)
}

fn gaussian_mass(k: i128, sigma: f64) -> f64 {
    let w = |k: f64| (-k * k / (2.0 * sigma * sigma)).exp();
    w(k as f64) / (-2000..=2000).map(|k| w(f64::from(k))).sum::<f64>()
}

#[test]
fn coins_and_uniform_integers() {
    let coin = |yes: f64| move |k: i128| usize::try_from(k).ok().and_then(|k| [1.0 - yes, yes].get(k).copied()).unwrap_or(0.0);
    for (n, d) in [(1, 3), (2, 7), (3, 8), (999, 1000)] {
        bracketed("coin", &|b| bernoulli(ratio(n, d), b).map(i128::from), &coin(n as f64 / d as f64));
    }
    for (n, d) in [(1, 2), (5, 3), (7, 1), (1, 100)] {
        let x = n as f64 / d as f64;
        bracketed("exp coin", &|b| bernoulli_exp(ratio(n, d), Uniform::new(), b).map(i128::from), &coin((-x).exp()));
    }
    for n in [1u8, 5, 7, 100] {
        let mass = |k: i128| if (0..i128::from(n)).contains(&k) { 1.0 / f64::from(n) } else { 0.0 };
        bracketed("below", &|b| below(&n.into(), b).map(|x| i128::try_from(x).unwrap()), &mass);
    }
}

#[test]
fn geometric_laws() {
    for (n, d) in [(1, 2), (1, 1), (2, 1), (13, 2)] {
        let scale = Param::new(ratio(n, d));
        let s = n as f64 / d as f64;
        bracketed("geometric", &|b| geometric(&scale, b), &|k| geometric_mass(k, s));
        bracketed("laplace", &|b| discrete_laplace(&scale, b), &|k| laplace_mass(k, s));
        bracketed("floor laplace", &|b| floor_laplace(&scale, b), &|k| geometric_mass(if k < 0 { -1 - k } else { k }, s) / 2.0);
    }
}

#[test]
fn discrete_gaussians() {
    for (n, d) in [(1, 2), (1, 1), (3, 1), (10, 1), (100, 1)] {
        let s = n as f64 / d as f64;
        bracketed("gaussian", &|b| discrete_gaussian(&ratio(n, d), b), &|k| gaussian_mass(k, s));
    }
}

/// Above a standard deviation of some 115 the law has more outcomes than 20 bits can keep apart up to 2^-10, whatever the
/// sampler: each of some 2 * 5 * 115 bounds between outcomes leaves a tape open. dpm draws by rejection from 100 on. What is
/// decided still lies below the mass function, and above it with the rest; chi-square in `samplers` does what is left.
#[test]
fn the_wide_discrete_gaussian() {
    brackets("wide gaussian", 0.3, &|b| discrete_gaussian(&ratio(101, 1), b), &|k| gaussian_mass(k, 101.0));
}

#[test]
fn choices() {
    let weights = [0.0, -0.5, -1.5];
    let total: f64 = weights.iter().map(|x: &f64| x.exp()).sum();
    let exponents = [ratio(0, 1), ratio(-1, 2), ratio(-3, 2)];
    let mass = |k: i128| usize::try_from(k).ok().and_then(|k| weights.get(k)).map_or(0.0, |x| x.exp() / total);
    bracketed("choice", &|b| exponential_choice(&exponents, b).map(|i| i as i128), &mass);
    // From the program: of values 1, 1 and 6 the quantile at rank 1.5 lies between the numbers below and up to 1; 0 is off by 1.5,
    // what lies between the values and 6 by 0.5.
    let mechanism = Mechanism::new("private t[3] { y: int in 0..8 }\nrelease x = quantile(y, 0.5) using exponential(0, 8, eps = 1)\n");
    let measured = mechanism.measure(&csv("y", &["1", "1", "6"]));
    let scores = [-1.5_f64, 0.0, -0.5, -0.5, -0.5, -0.5, -0.5, -1.5, -1.5];
    let weight = |k: i128| usize::try_from(k).ok().and_then(|k| scores.get(k)).map_or(0.0, |x| (x / 2.0).exp());
    let all: f64 = (0..9).map(weight).sum();
    let mass = |k: i128| weight(k) / all;
    bracketed("quantile", &|b| Ok(mechanism.draw(&measured, b)?.components[0].to_f64().round() as i128), &mass);
    // And a count with two-sided geometric noise.
    let mechanism = Mechanism::new("private t[3] { y: bool }\nrelease x = count(y) using geometric(scale = 2)\n");
    let measured = mechanism.measure(&csv("y", &["1", "0", "1"]));
    bracketed("count", &|b| Ok(mechanism.draw(&measured, b)?.components[0].index), &|k| laplace_mass(k - 2, 2.0));
}
