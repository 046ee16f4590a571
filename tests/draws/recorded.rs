//! Draws of seeded bits are to the last digit those on record: `recorded.txt` was written before draws were made faster.

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
use sha2::{Digest, Sha256};
use std::fmt::Write;

struct Seeded(ChaCha20Rng);

impl BitSource for Seeded {
    fn word(&mut self) -> Result<u64, MechanismError> {
        Ok(self.0.next_u64())
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        Ok(self.0.next_u64() >> 63 == 1)
    }
}

type Draw<'a> = &'a dyn Fn(&mut Seeded) -> Result<Vec<i128>, MechanismError>;

/// One digest of many draws, and of the word that the stream gives next: it tells how many were taken.
fn record(lines: &mut String, name: &str, draws: usize, draw: Draw) {
    let mut bits = Seeded(ChaCha20Rng::seed_from_u64(26));
    let mut digest = Sha256::new();
    for _ in 0..draws {
        draw(&mut bits).unwrap().iter().for_each(|x| digest.update(x.to_le_bytes()));
    }
    digest.update(bits.word().unwrap().to_le_bytes());
    let shown: String = digest.finalize().iter().take(12).map(|b| format!("{b:02x}")).collect();
    writeln!(lines, "{name} draws {draws}: {shown}").unwrap();
}

fn rational(x: f64) -> RBig {
    RBig::try_from(x).unwrap()
}

fn param(x: f64) -> Param {
    Param::new(rational(x))
}

fn params(xs: &[f64]) -> Vec<Param> {
    xs.iter().map(|x| param(*x)).collect()
}

fn normals(lines: &mut String) {
    let third = RBig::from_parts(1.into(), 3u8.into());
    for (mean, variance, exponent, draws) in [
        (1.5, 6.25, -32, 20_000),
        (0.0, 1.0, -40, 5_000),
        (0.1, 2.0, -48, 2_000),
        (0.0, 1.0, -52, 500),
        (0.0, 1.0, -120, 100),
        (0.0, 1.0, 2, 2_000),
        (3.0, 1e-300, -30, 500),
        (-2.5, 0.0, 0, 200),
        (1e12, 1.0, -32, 200),
        (1e150, 1e290, 440, 500),
        (-1e-150, 1e-310, -900, 100),
        (1e300, 1.0, 900, 100),
    ] {
        let name = format!("normal {mean:?} {variance:?} / 3 grid {exponent}");
        let (mean, variance) = (param(mean), Param::new(rational(variance) * &third));
        record(lines, &name, draws, &|bits| Ok(vec![normal(&mean, &variance, exponent, bits)?]));
    }
    for (scale, exponent, draws) in [(1.0, -32, 10_000), (1e-5, -60, 500), (1e9, -20, 2_000), (0.3, -100, 100)] {
        record(lines, &format!("laplace {scale:?} grid {exponent}"), draws, &|bits| Ok(vec![laplace(&param(scale), exponent, bits)?]));
    }
    let known = [2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 0.7];
    for (size, exponent, draws) in [(1.0, -32, 2_000), (1e6, -45, 500), (1e-200, -30, 50)] {
        let law = Multivariate {
            dim: 3,
            prior: params(&known.map(|x| x * size)),
            prior_b: params(&[1.0, -0.5, 0.1]),
            noise: Some((params(&known), param(17.0), params(&[0.3, 4.0, -3.0]))),
            information: Some((params(&known.map(|x| x * x)), params(&[0.5, 0.25, 0.1]))),
            exponent,
        };
        record(lines, &format!("multivariate {size:?} grid {exponent}"), draws, &|bits| multivariate(&law, bits));
    }
}

fn gammas(lines: &mut String) {
    let law = |shape: &f64| GammaLaw::new(rational(*shape)).unwrap();
    for (shape, rate, exponent, draws) in [
        (12.5, 1.5, -32, 20_000),
        (1e-3, 1.0, -40, 500),
        (0.01, 1e-9, -40, 500),
        (0.3, 1.0, -40, 2_000),
        (0.999, 7.0, -48, 1_000),
        (1.0, 1.0, -32, 5_000),
        (1.5, 1e200, -500, 500),
        (87.0, 0.1, -45, 1_000),
        (1e5, 1.0, -32, 2_000),
        (1e12, 1e6, -20, 1_000),
        (1e40, 1e20, 30, 500),
        (3.0, 1.0, -110, 50),
    ] {
        let (law, rate_of) = (law(&shape), param(rate));
        record(lines, &format!("gamma {shape:?} {rate:?} grid {exponent}"), draws, &|bits| {
            Ok(vec![gamma(&law, &rate_of, exponent, bits)?])
        });
    }
    let many: &[f64] = &[0.4, 1.0, 2.0, 3.5, 12.0, 80.0, 0.9, 6.0, 1e3, 0.05];
    for (shapes, exponent, draws) in [
        (&[12.5, 87.0][..], -40, 10_000),
        (&[0.5, 0.5], -40, 2_000),
        (&[1e-3, 1e-3], -40, 300),
        (&[1e-6, 1e-6, 1e-6], -40, 50),
        (&[1.0, 1.0], -52, 500),
        (&[0.3, 4.0, 1e5], -40, 2_000),
        (&[1e8, 1.0], -30, 1_000),
        (&[1e15, 1e15], -60, 100),
        (many, -40, 500),
        (&[6.0, 18.0], -90, 50),
    ] {
        let laws: Vec<GammaLaw> = shapes.iter().map(law).collect();
        record(lines, &format!("dirichlet {shapes:?} grid {exponent}"), draws, &|bits| dirichlet(&laws, laws.len(), exponent, bits));
        // Two digests of one name: a beta number is the first of two shares.
        if let [a, b] = &laws[..] {
            let pair = [a.clone(), b.clone()];
            let shares = |first: Draw| {
                let mut text = String::new();
                record(&mut text, "beta", draws, first);
                text
            };
            assert_eq!(shares(&|bits| Ok(vec![beta(&pair, exponent, bits)?])), shares(&|bits| dirichlet(&pair, 1, exponent, bits)));
        }
    }
}

fn integers(lines: &mut String) {
    let scale = param(3.7);
    record(lines, "geometric 3.7", 500, &|bits| Ok(vec![geometric(&scale, bits)?]));
    record(lines, "discrete laplace 3.7", 500, &|bits| Ok(vec![discrete_laplace(&scale, bits)?]));
    record(lines, "floor laplace 3.7", 500, &|bits| Ok(vec![floor_laplace(&scale, bits)?]));
    for sigma in [2.5, 500.0] {
        record(lines, &format!("discrete gaussian {sigma:?}"), 200, &|bits| Ok(vec![discrete_gaussian(&rational(sigma), bits)?]));
    }
    let exponents: Vec<RBig> = [0.0, -1.0, -3.5, 2.0].map(rational).to_vec();
    record(lines, "choice of 4", 500, &|bits| Ok(vec![exponential_choice(&exponents, bits)? as i128]));
}

#[test]
fn draws_are_those_on_record() {
    let mut lines = String::new();
    normals(&mut lines);
    gammas(&mut lines);
    integers(&mut lines);
    for (found, recorded) in lines.lines().zip(include_str!("recorded.txt").lines()) {
        assert_eq!(found, recorded);
    }
    assert_eq!(lines, include_str!("recorded.txt"));
}
