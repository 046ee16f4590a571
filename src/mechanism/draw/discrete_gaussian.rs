//! The discrete Gaussian, `P(k) ~ exp(-k^2 / (2 sigma^2))` on the integers: by inversion while it is narrow, else by
//! rejection from the discrete Laplace (Canonne, Kamath, Steinke 2020, algorithm 3).

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::finite::{bernoulli_exp, decide_by_bits, discrete_laplace};
use super::normal::TRIES;
use super::uniform::Uniform;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::grid::check_noise;
use crate::mechanism::real::{Enclosure, Param, Real};

/// Up to this standard deviation inversion decides all but 2^-10 of the mass by 20 bits. From some 115 on no sampler
/// can: the law has more outcomes than that leaves room for.
const NARROW: u8 = 100;

/// One draw; `sigma > 0`.
pub fn discrete_gaussian<B: BitSource>(sigma: &RBig, bits: &mut B) -> Result<i128, MechanismError> {
    check_noise(sigma)?;
    if *sigma <= RBig::from(NARROW) { invert(sigma, bits) } else { reject(sigma, bits) }
}

/// The magnitude by its distribution function, then a sign.
struct Magnitude {
    uniform: Uniform,
    twice_variance: Param,
    sigma: f64,
}

impl Real for Magnitude {
    type Answer = i64;

    /// Weights `w_0 = 1`, `w_k = 2 exp(-k^2 / (2 s^2))`, summed to some K. What is left is at most
    /// `2 r^(K+1) / (1 - r)` with `r = exp(-(K + 1) / (2 s^2))`, because `k^2 >= (K + 1) k` there.
    fn decide<E: Enclosure>(&self, p: usize) -> Option<i64> {
        let precision = p.max(64);
        let number = |k: i64| E::integer(k, precision);
        let width = E::param(&self.twice_variance, precision);
        let decay = |k: i64, l: i64| number(-k).mul(&number(l)).div(&width).exp();
        let terms = 2.0 + self.sigma * libm::sqrt(1.5 * (p as f64 + 10.0));
        let last = terms as i64;
        let mut sums = vec![number(1)];
        for k in 1..=last {
            let next = sums.last()?.add(&number(2).mul(&decay(k, k)));
            sums.push(next);
        }
        let most = sums.last()?;
        let left = number(2).mul(&decay(last + 1, last + 1)).div(&number(1).sub(&decay(last + 1, 1)));
        let u = E::uniform(&self.uniform, precision);
        let (low, high) = (u.mul(most), u.mul(&most.add(&left)));
        for (k, sum) in (0..).zip(&sums) {
            if sum.sub(&high).sign() == Some(true) {
                return Some(k);
            }
            if low.sub(sum).sign() != Some(true) {
                return None;
            }
        }
        None
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.uniform.refine(p, bits)
    }
}

fn invert<B: BitSource>(sigma: &RBig, bits: &mut B) -> Result<i128, MechanismError> {
    let mut magnitude =
        Magnitude { uniform: Uniform::new(), twice_variance: Param::new(sigma * sigma * RBig::from(2u8)), sigma: sigma.to_f64().value() };
    let k = i128::from(decide_by_bits(&mut magnitude, bits)?);
    Ok(if k > 0 && bits.bit()? { -k } else { k })
}

fn reject<B: BitSource>(sigma: &RBig, bits: &mut B) -> Result<i128, MechanismError> {
    let t = RBig::from(sigma.floor() + IBig::ONE);
    let scale = Param::new(t.clone());
    let variance = sigma * sigma;
    for _ in 0..TRIES {
        let y = discrete_laplace(&scale, bits)?;
        let away = RBig::from(IBig::from(y.unsigned_abs())) - &variance / &t;
        let x = &away * &away / (RBig::from(UBig::from(2u8)) * &variance);
        if bernoulli_exp(x, Uniform::new(), bits)? {
            return Ok(y);
        }
    }
    Err(MechanismError::Undecided)
}
