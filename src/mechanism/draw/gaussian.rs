//! Normal and multivariate normal draws rounded to a grid.

use super::normal::Normal;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::real::{Enclosure, Fast, Param, Real, Wide, decide};

struct Univariate<'a> {
    mean: &'a Param,
    variance: &'a Param,
    z: Normal,
    exponent: i32,
}

impl Real for Univariate<'_> {
    type Answer = i128;

    fn decide<E: Enclosure>(&self, p: usize) -> Option<i128> {
        let x = E::param(self.mean, p).add(&E::root(self.variance, p).mul(&self.z.enclose(p)));
        x.nearest(self.exponent)
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.z.refine(p, bits)
    }
}

/// Normal(mean, variance) rounded to multiples of `2^exponent`; `variance >= 0`.
pub fn normal<B: BitSource>(mean: &Param, variance: &Param, exponent: i32, bits: &mut B) -> Result<i128, MechanismError> {
    let mut draw = Univariate { mean, variance, z: Normal::draw(bits)?, exponent };
    decide(&mut draw, bits)
}

/// A normal law given by its precision matrix and precision times mean, both built from these exact parts:
/// `precision = prior + weight_rows * N` and `b = prior_b + weight * (N s)`, where N is the inverse of `noise` if there
/// is one, else `information` itself and `s` is taken as it is.
pub struct Multivariate {
    pub dim: usize,
    /// Row-major.
    pub prior: Vec<Param>,
    pub prior_b: Vec<Param>,
    /// Covariance of one row's noise, row-major, with `weight * rows` and `weight * sum`.
    pub noise: Option<(Vec<Param>, Param, Vec<Param>)>,
    /// Added to the precision and to `b` as they are.
    pub information: Option<(Vec<Param>, Vec<Param>)>,
    pub exponent: i32,
}

/// Lower-triangular Cholesky factor, row-major; `None` where a pivot is not certainly positive.
fn cholesky<E: Enclosure>(a: &[E], d: usize, p: usize) -> Option<Vec<E>> {
    let mut l = vec![E::integer(0, p); d * d];
    for i in 0..d {
        for j in 0..=i {
            let mut sum = a.get(i * d + j)?.clone();
            for k in 0..j {
                sum = sum.sub(&l.get(i * d + k)?.mul(l.get(j * d + k)?));
            }
            let value = if i == j {
                sum.sign()?.then_some(())?;
                sum.sqrt()
            } else {
                sum.div(l.get(j * d + j)?)
            };
            *l.get_mut(i * d + j)? = value;
        }
    }
    Some(l)
}

/// Solves `L x = b`.
fn forward<E: Enclosure>(l: &[E], b: &[E], d: usize) -> Option<Vec<E>> {
    let mut x: Vec<E> = Vec::with_capacity(d);
    for i in 0..d {
        let mut sum = b.get(i)?.clone();
        for (k, xk) in x.iter().enumerate() {
            sum = sum.sub(&l.get(i * d + k)?.mul(xk));
        }
        x.push(sum.div(l.get(i * d + i)?));
    }
    Some(x)
}

/// Solves `L' x = b`.
fn backward<E: Enclosure>(l: &[E], b: &[E], d: usize) -> Option<Vec<E>> {
    let mut x: Vec<E> = b.to_vec();
    for i in (0..d).rev() {
        let mut sum = b.get(i)?.clone();
        for k in i + 1..d {
            sum = sum.sub(&l.get(k * d + i)?.mul(x.get(k)?));
        }
        *x.get_mut(i)? = sum.div(l.get(i * d + i)?);
    }
    Some(x)
}

fn lift<E: Enclosure>(xs: &[Param], p: usize) -> Vec<E> {
    xs.iter().map(|x| E::param(x, p)).collect()
}

fn add_all<E: Enclosure>(a: &mut [E], b: &[E]) {
    for (x, y) in a.iter_mut().zip(b) {
        *x = x.add(y);
    }
}

impl Multivariate {
    /// Refuses a prior precision or noise covariance that is not certainly positive definite: both are public, and
    /// with them every later factor exists.
    pub fn check(&self) -> Result<(), MechanismError> {
        let definite = |a: &[Param]| {
            a.len() == self.dim * self.dim
                && (cholesky(&lift::<Fast>(a, 53), self.dim, 53).is_some() || cholesky(&lift::<Wide>(a, 1024), self.dim, 1024).is_some())
        };
        let noise = self.noise.as_ref().is_none_or(|(a, ..)| definite(a));
        if definite(&self.prior) && noise { Ok(()) } else { Err(MechanismError::Parameter) }
    }

    /// The precision matrix and precision times mean.
    pub fn natural<E: Enclosure>(&self, p: usize) -> Option<(Vec<E>, Vec<E>)> {
        let d = self.dim;
        let mut precision: Vec<E> = lift(&self.prior, p);
        let mut b: Vec<E> = lift(&self.prior_b, p);
        if let Some((matrix, vector)) = &self.information {
            add_all(&mut precision, &lift(matrix, p));
            add_all(&mut b, &lift(vector, p));
        }
        if let Some((covariance, rows, sum)) = &self.noise {
            let l = cholesky(&lift::<E>(covariance, p), d, p)?;
            let rows = E::param(rows, p);
            for j in 0..d {
                let unit: Vec<E> = (0..d).map(|i| E::integer(i64::from(i == j), p)).collect();
                let column = backward(&l, &forward(&l, &unit, d)?, d)?;
                for (i, c) in column.iter().enumerate() {
                    let cell = precision.get_mut(i * d + j)?;
                    *cell = cell.add(&rows.mul(c));
                }
            }
            add_all(&mut b, &backward(&l, &forward(&l, &lift(sum, p), d)?, d)?);
        }
        Some((precision, b))
    }
}

struct Joint<'a> {
    law: &'a Multivariate,
    z: Vec<Normal>,
}

impl Real for Joint<'_> {
    type Answer = Vec<i128>;

    /// With `L L' = precision`, `x = L'^-1 (L^-1 b + z)` has mean `precision^-1 b` and covariance `precision^-1`.
    fn decide<E: Enclosure>(&self, p: usize) -> Option<Vec<i128>> {
        let d = self.law.dim;
        let (precision, b) = self.law.natural::<E>(p)?;
        let l = cholesky(&precision, d, p)?;
        let mut y = forward(&l, &b, d)?;
        let z: Vec<E> = self.z.iter().map(|z| z.enclose(p)).collect();
        add_all(&mut y, &z);
        backward(&l, &y, d)?.iter().map(|x| x.nearest(self.law.exponent)).collect()
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.z.iter_mut().try_for_each(|z| z.refine(p, bits))
    }
}

/// A multivariate normal vector, each component rounded to multiples of the law's grid.
pub fn multivariate<B: BitSource>(law: &Multivariate, bits: &mut B) -> Result<Vec<i128>, MechanismError> {
    let mut joint = Joint { law, z: (0..law.dim).map(|_| Normal::draw(bits)).collect::<Result<_, _>>()? };
    decide(&mut joint, bits)
}
