//! Every sampler against its law: KS or chi-square at error rate 1e-6, the law scaled by 0.9 refused.

use dashu_ratio::RBig;
use dpm::mechanism::MechanismError;
use dpm::mechanism::bits::BitSource;
use dpm::mechanism::draw::discrete_gaussian::discrete_gaussian;
use dpm::mechanism::draw::finite::{discrete_laplace, exponential_choice, floor_laplace, geometric};
use dpm::mechanism::draw::gamma::{GammaLaw, beta, dirichlet, gamma};
use dpm::mechanism::draw::gaussian::{Multivariate, multivariate, normal};
use dpm::mechanism::draw::laplace::laplace;
use dpm::mechanism::real::Param;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use statrs::distribution::{self as law, ContinuousCDF};

/// Draws per point.
const DRAWS: usize = 100_000;
/// Chance that a right sampler fails one test: `2 exp(-2 KS^2) = 1e-6`.
const KS: f64 = 2.6935;
const ERROR_RATE: f64 = 1e-6;

struct Seeded {
    rng: ChaCha20Rng,
    spare: u64,
    left: u32,
}

fn seeded(seed: u64) -> Seeded {
    Seeded { rng: ChaCha20Rng::seed_from_u64(seed), spare: 0, left: 0 }
}

impl BitSource for Seeded {
    fn word(&mut self) -> Result<u64, MechanismError> {
        Ok(self.rng.next_u64())
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        if self.left == 0 {
            (self.spare, self.left) = (self.rng.next_u64(), 64);
        }
        self.left -= 1;
        Ok(self.spare >> self.left & 1 == 1)
    }
}

fn ratio(n: i64, d: u64) -> RBig {
    RBig::from_parts(n.into(), d.into())
}

fn param(x: f64) -> Param {
    Param::new(RBig::try_from(x).unwrap())
}

fn shape(x: f64) -> GammaLaw {
    GammaLaw::new(RBig::try_from(x).unwrap()).unwrap()
}

/// `sqrt(n) sup |F_n - F|`.
fn ks(mut xs: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    xs.sort_by(f64::total_cmp);
    let n = xs.len() as f64;
    let gap = xs.iter().enumerate().map(|(i, x)| {
        let f = cdf(*x);
        (f - i as f64 / n).abs().max(((i + 1) as f64 / n - f).abs())
    });
    n.sqrt() * gap.fold(0.0, f64::max)
}

/// Accepts the law, and refuses the draws shrunk by 0.9.
fn continuous(name: &str, exponent: i32, draw: impl Fn(&mut Seeded) -> i128, cdf: impl Fn(f64) -> f64) {
    let mut bits = seeded(7);
    let step = f64::powi(2.0, exponent);
    let xs: Vec<f64> = (0..DRAWS).map(|_| draw(&mut bits) as f64 * step).collect();
    let right = ks(xs.clone(), &cdf);
    assert!(right < KS, "{name}: {right}");
    let wrong = ks(xs.iter().map(|x| x * 0.9).collect(), &cdf);
    assert!(wrong > KS, "{name}: a law scaled by 0.9 passes with {wrong}");
}

/// Chi-square over the values of probability above 1e-3, the rest together.
fn chi_square(xs: &[i128], mass: impl Fn(i128) -> f64) -> (f64, f64) {
    let n = xs.len() as f64;
    let (mut sum, mut bins, mut rest, mut rest_mass) = (0.0, 0, n, 1.0);
    for k in -2000..2000 {
        let p = mass(k);
        if p > 1e-3 {
            let seen = xs.iter().filter(|x| **x == k).count() as f64;
            sum += (seen - n * p) * (seen - n * p) / (n * p);
            bins += 1;
            rest -= seen;
            rest_mass -= p;
        }
    }
    if rest_mass > 1e-4 {
        sum += (rest - n * rest_mass) * (rest - n * rest_mass) / (n * rest_mass);
        bins += 1;
    }
    let limit = law::ChiSquared::new(f64::from(bins - 1)).unwrap();
    (sum, limit.inverse_cdf(1.0 - ERROR_RATE))
}

/// Accepts the law and refuses the same draws under the law with its scale times 0.9.
fn discrete(name: &str, draw: impl Fn(&mut Seeded) -> i128, mass: impl Fn(i128, f64) -> f64) {
    let mut bits = seeded(11);
    let xs: Vec<i128> = (0..DRAWS).map(|_| draw(&mut bits)).collect();
    let (right, limit) = chi_square(&xs, |k| mass(k, 1.0));
    assert!(right < limit, "{name}: {right} > {limit}");
    let (wrong, limit) = chi_square(&xs, |k| mass(k, 0.9));
    assert!(wrong > limit, "{name}: a law scaled by 0.9 passes");
}

#[test]
fn gamma_follows_its_law() {
    for (a, rate) in [(0.4, 1.0), (0.7, 2.0), (1.0, 1.0), (3.5, 0.5), (2.0e6, 1e5)] {
        let (law_of, rate_of) = (shape(a), param(rate));
        let reference = law::Gamma::new(a, rate).unwrap();
        let draw = |bits: &mut Seeded| gamma(&law_of, &rate_of, -45, bits).unwrap();
        continuous("gamma", -45, draw, |x| reference.cdf(x));
    }
}

#[test]
fn beta_follows_its_law() {
    for (a, b) in [(0.3, 0.4), (1.0, 1.0), (2.5, 7.0), (600.0, 80.0)] {
        let laws = [shape(a), shape(b)];
        let reference = law::Beta::new(a, b).unwrap();
        let draw = |bits: &mut Seeded| beta(&laws, -40, bits).unwrap();
        continuous("beta", -40, draw, |x| reference.cdf(x.clamp(0.0, 1.0)));
    }
}

#[test]
fn dirichlet_components_are_beta() {
    let alpha = [0.5, 2.0, 4.5];
    let laws: Vec<GammaLaw> = alpha.iter().map(|a| shape(*a)).collect();
    for (i, a) in alpha.iter().enumerate() {
        let reference = law::Beta::new(*a, 7.0 - a).unwrap();
        let draw = |bits: &mut Seeded| dirichlet(&laws, 3, -40, bits).unwrap()[i];
        continuous("dirichlet", -40, draw, |x| reference.cdf(x.clamp(0.0, 1.0)));
    }
}

#[test]
fn tiny_shapes_are_decided() {
    let laws = [shape(1e-300), shape(2e-300)];
    let mut bits = seeded(3);
    let ones = (0..300).filter(|_| {
        let x = beta(&laws, -40, &mut bits).unwrap();
        assert!(x == 0 || x == 1 << 40);
        x != 0
    });
    // One third of them, within six standard deviations.
    assert!((51..=149).contains(&ones.count()));
}

#[test]
fn normal_and_laplace_follow_their_laws() {
    let (mean, variance) = (param(0.0), param(6.25));
    let reference = law::Normal::new(0.0, 2.5).unwrap();
    let draw = |bits: &mut Seeded| normal(&mean, &variance, -40, bits).unwrap();
    continuous("normal", -40, draw, |x| reference.cdf(x));
    let scale = param(3.0);
    let reference = law::Laplace::new(0.0, 3.0).unwrap();
    let draw = |bits: &mut Seeded| laplace(&scale, -40, bits).unwrap();
    continuous("laplace", -40, draw, |x| reference.cdf(x));
}

#[test]
fn a_coarse_grid_has_the_mass_of_its_cells() {
    let (mean, variance) = (param(0.25), param(1.0));
    let reference = law::Normal::new(0.25, 1.0).unwrap();
    let draw = |bits: &mut Seeded| normal(&mean, &variance, 0, bits).unwrap();
    discrete("rounded normal", draw, |k, s| {
        let edge = |x: f64| reference.cdf(0.25 + (x - 0.25) / s);
        edge(k as f64 + 0.5) - edge(k as f64 - 0.5)
    });
}

#[test]
fn multivariate_normal_has_the_right_margins() {
    // Precision [[2, 1], [1, 3]] has inverse [[3, -1], [-1, 2]] / 5; half comes from the noise term.
    let exact = |xs: &[f64]| xs.iter().map(|x| param(*x)).collect::<Vec<_>>();
    let law_of = Multivariate {
        dim: 2,
        prior: exact(&[1.0, 1.0, 1.0, 2.0]),
        prior_b: exact(&[0.5, 0.25]),
        noise: Some((exact(&[2.0, 0.0, 0.0, 2.0]), param(2.0), exact(&[-1.0, -0.5]))),
        information: None,
        exponent: -40,
    };
    let first = law::Normal::new(0.0, 0.6_f64.sqrt()).unwrap();
    let draw = |bits: &mut Seeded| multivariate(&law_of, bits).unwrap()[0];
    continuous("first component", -40, draw, |x| first.cdf(x));
    let sum = law::Normal::new(0.0, 0.6_f64.sqrt()).unwrap();
    // Var(x + y) = (3 - 2 + 2) / 5.
    let draw = |bits: &mut Seeded| multivariate(&law_of, bits).unwrap().iter().sum();
    continuous("sum of components", -40, draw, |x| sum.cdf(x));
}

/// The last digits of a draw near zero say nothing: in doubles they tell mean 0 from mean 1/2 (Mironov's attack).
#[test]
fn last_digits_are_uniform_whatever_the_mean() {
    for mean in [0.0, 0.5] {
        let (mean, variance) = (param(mean), param(0.5));
        let mut bits = seeded(13);
        let mut seen = [0.0; 16];
        let near = (0..4 * DRAWS).map(|_| normal(&mean, &variance, -32, &mut bits).unwrap()).filter(|x| x.abs() < 1 << 26);
        near.for_each(|x| seen[(x & 15) as usize] += 1.0);
        let expected: f64 = seen.iter().sum::<f64>() / 16.0;
        let sum: f64 = seen.iter().map(|s| (s - expected).powi(2) / expected).sum();
        let limit = law::ChiSquared::new(15.0).unwrap().inverse_cdf(1.0 - ERROR_RATE);
        assert!(expected > 100.0 && sum < limit, "{sum} > {limit}");
    }
}

/// Bits fail closed: no release without randomness.
#[test]
fn no_randomness_is_an_error() {
    let mut none = Prefix { bits: 0, left: 0 };
    let one = param(1.0);
    let failed = MechanismError::NoRandomness;
    assert_eq!(normal(&one, &one, -32, &mut none), Err(failed));
    assert_eq!(laplace(&one, -32, &mut none), Err(failed));
    assert_eq!(discrete_laplace(&one, &mut none), Err(failed));
    assert_eq!(beta(&[shape(1.0), shape(1.0)], -40, &mut none), Err(failed));
}

#[test]
fn many_categories_and_far_means_are_decided() {
    let laws: Vec<GammaLaw> = (0..20_000).map(|_| shape(0.5)).collect();
    let shares = dirichlet(&laws, laws.len(), -40, &mut seeded(17)).unwrap();
    let total: i128 = shares.iter().sum();
    assert!((total - (1 << 40)).abs() <= laws.len() as i128);
    // Standard deviation 2^-40 of the mean: doubles cannot decide one draw.
    let (mean, variance) = (param(1e12), param(1.0));
    let mut bits = seeded(19);
    let xs: Vec<f64> = (0..2_000)
        .map(|_| normal(&mean, &variance, -32, &mut bits).unwrap())
        .map(|x| (x - (1_000_000_000_000 << 32)) as f64 / 4_294_967_296.0)
        .collect();
    let reference = law::Normal::new(0.0, 1.0).unwrap();
    assert!(ks(xs, |x| reference.cdf(x)) < KS);
}

fn laplace_mass(k: i128, scale: f64) -> f64 {
    let q = (-1.0 / scale).exp();
    (1.0 - q) / (1.0 + q) * q.powf(k.unsigned_abs() as f64)
}

fn geometric_mass(k: i128, scale: f64) -> f64 {
    let q = (-1.0 / scale).exp();
    if k < 0 { 0.0 } else { (1.0 - q) * q.powf(k as f64) }
}

fn gaussian_mass(k: i128, sigma: f64) -> f64 {
    let w = |k: f64| (-k * k / (2.0 * sigma * sigma)).exp();
    w(k as f64) / (-200..=200).map(|k| w(f64::from(k))).sum::<f64>()
}

#[test]
fn discrete_laws_follow_their_masses() {
    let (num, den) = (7, 2);
    let scale = Param::new(ratio(num, den));
    let s = 3.5;
    discrete("geometric", |b| geometric(&scale, b).unwrap(), |k, f| geometric_mass(k, s * f));
    discrete("laplace", |b| discrete_laplace(&scale, b).unwrap(), |k, f| laplace_mass(k, s * f));
    discrete("floor laplace", |b| floor_laplace(&scale, b).unwrap(), |k, f| geometric_mass(if k < 0 { -1 - k } else { k }, s * f) / 2.0);
    let sigma = ratio(num, den);
    discrete("gaussian", |b| discrete_gaussian(&sigma, b).unwrap(), |k, f| gaussian_mass(k, s * f));
}

#[test]
fn a_wide_discrete_gaussian_is_nearly_normal() {
    let sigma = ratio(100_001, 10);
    let mut bits = seeded(23);
    let reference = law::Normal::new(0.0, 10_000.1).unwrap();
    let draws = (0..DRAWS / 4).map(|_| discrete_gaussian(&sigma, &mut bits).unwrap() as f64);
    let xs: Vec<f64> = draws.collect();
    assert!(ks(xs.clone(), |x| reference.cdf(x)) < KS);
    assert!(ks(xs.iter().map(|x| 0.9 * x).collect(), |x| reference.cdf(x)) > KS);
}

/// Just above the widest law that is inverted; its second moment is known to 0.45 %, and the edges add nothing that shows.
#[test]
fn a_rejected_discrete_gaussian_has_its_variance() {
    let mut bits = seeded(29);
    let (sigma, n) = (101.0, DRAWS as f64);
    let square = |y: i128| (y as f64 / sigma).powi(2);
    let total: f64 = (0..DRAWS).map(|_| square(discrete_gaussian(&ratio(101, 1), &mut bits).unwrap())).sum();
    // Five standard deviations: a right sampler fails one time in 1.7 million.
    let slack = 5.0 * (2.0 / n).sqrt();
    assert!((total / n - 1.0).abs() < slack, "{}", total / n);
    assert!((total / n / 0.98_f64.powi(2) - 1.0).abs() > slack, "a law scaled by 0.98 passes");
}

#[test]
fn exponential_choice_follows_its_weights() {
    let scores = [0i64, -1, -3, 2, 1, -20];
    let exponents: Vec<RBig> = scores.iter().map(|s| ratio(*s, 2)).collect();
    discrete(
        "exponential mechanism",
        |b| exponential_choice(&exponents, b).unwrap() as i128,
        |k, f| {
            let w = |s: &i64| (*s as f64 / 2.0 / f).exp();
            let total: f64 = scores.iter().map(w).sum();
            usize::try_from(k).ok().and_then(|k| scores.get(k)).map_or(0.0, |s| w(s) / total)
        },
    );
}

/// Replays a prefix of bits, then fails.
struct Prefix {
    bits: u64,
    left: u32,
}

impl BitSource for Prefix {
    fn word(&mut self) -> Result<u64, MechanismError> {
        Err(MechanismError::NoRandomness)
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        self.left = self.left.checked_sub(1).ok_or(MechanismError::NoRandomness)?;
        Ok(self.bits >> self.left & 1 == 1)
    }
}

#[test]
fn endless_continue_bits_neither_wrap_nor_hang() {
    // A tape of ones or zeros forces the rarest outcomes: the draw fails when the tape ends, or gives a finite index.
    for bits in [0u64, u64::MAX] {
        let scale = Param::new(ratio(1 << 40, 1));
        let draw = geometric(&scale, &mut Prefix { bits, left: 60 });
        assert!(draw.map_or(true, |k| (0..1i128 << 60).contains(&k)));
    }
}

/// Figures for the record, not a test: `cargo test --release --test draws samplers::speed -- --ignored --nocapture`.
#[test]
#[ignore = "prints draws a second"]
fn speed() {
    let time = |name: &str, draw: &dyn Fn(&mut Seeded)| {
        let mut bits = seeded(1);
        let start = std::time::Instant::now();
        (0..DRAWS).for_each(|_| draw(&mut bits));
        println!("{name}: {:.0} draws a second", DRAWS as f64 / start.elapsed().as_secs_f64());
    };
    let (mean, variance) = (param(1.5), param(6.25));
    time("normal", &|b| normal(&mean, &variance, -32, b).map(drop).unwrap());
    time("laplace", &|b| laplace(&variance, -32, b).map(drop).unwrap());
    let laws = [shape(12.5), shape(87.0)];
    time("gamma", &|b| gamma(&laws[0], &mean, -32, b).map(drop).unwrap());
    time("beta", &|b| beta(&laws, -40, b).map(drop).unwrap());
    let small = [shape(0.5), shape(0.5)];
    time("beta(0.5, 0.5)", &|b| beta(&small, -40, b).map(drop).unwrap());
    let three = [shape(12.5), shape(87.0), shape(3.0)];
    time("dirichlet(3)", &|b| dirichlet(&three, 3, -40, b).map(drop).unwrap());
    let scale = param(12.5);
    time("discrete laplace", &|b| discrete_laplace(&scale, b).map(drop).unwrap());
    let sigma = ratio(25, 2);
    time("discrete gaussian", &|b| discrete_gaussian(&sigma, b).map(drop).unwrap());
}
