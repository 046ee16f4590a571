//! Logarithms of prior densities, up to constants: every continuous family of the language.

use super::expression::{Lowering, Value};
use crate::kernel::density::{One, Operand};
use crate::mechanism::MechanismError;
use crate::model::{Binary, Expr, Label, Parameter, Unary};

const UNKNOWN: MechanismError = MechanismError::Expression;

impl Lowering<'_> {
    /// Adds the prior of a parameter whose value is known.
    pub fn prior(&mut self, p: &Parameter, value: &[Operand]) -> Result<(), MechanismError> {
        let args = &p.prior.args;
        // What a cut leaves of a prior is a constant only if the prior is.
        if p.truncated.is_some() && args.iter().any(|a| a.label != Label::Public) {
            return Err(UNKNOWN);
        }
        match (p.prior.family, args.as_slice()) {
            ("multi_normal", [mean, covariance]) => self.multi_normal(mean, covariance, value),
            ("dirichlet", [counts]) => {
                let counts = self.value(counts)?;
                if counts.len() != value.len() || counts.iter().any(|c| !matches!(c, Operand::Constant(_))) {
                    return Err(UNKNOWN);
                }
                for (count, x) in counts.into_iter().zip(value) {
                    let (less, log) = (self.to.shift(-1.0, count), self.to.log(*x));
                    let term = self.to.mul(less, log);
                    self.term(term);
                }
                Ok(())
            }
            (family, args) => {
                let args: Vec<Value> = args.iter().map(|a| self.value(a)).collect::<Result<_, _>>()?;
                for (i, x) in value.iter().enumerate() {
                    // Components share one scalar argument.
                    let at = |v: &Value| if v.len() == 1 { v.first().copied() } else { v.get(i).copied() };
                    let args: Value = args.iter().map(at).collect::<Option<_>>().ok_or(UNKNOWN)?;
                    let term = self.scalar_prior(family, &args, *x)?;
                    self.term(term);
                }
                Ok(())
            }
        }
    }

    fn term(&mut self, term: Operand) {
        self.to.program().log_prior.push(term);
    }

    fn scalar_prior(&mut self, family: &str, args: &[Operand], x: Operand) -> Result<Operand, MechanismError> {
        let to = &mut self.to;
        Ok(match (family, args) {
            ("uniform", [Operand::Constant(_), Operand::Constant(_)]) => Operand::Constant(0.0),
            ("normal", [mean, sd]) => {
                let z = to.sub(x, *mean);
                let z = to.binary(Binary::Div, z, *sd);
                let square = to.mul(z, z);
                let (kernel, log) = (to.scale(-0.5, square), to.log(*sd));
                to.sub(kernel, log)
            }
            ("half_normal", [sd]) => self.scalar_prior("normal", &[Operand::Constant(0.0), *sd], x)?,
            ("laplace", [mean, scale]) => {
                let z = to.sub(x, *mean);
                let z = to.unary(Unary::Abs, z);
                let z = to.binary(Binary::Div, z, *scale);
                let (kernel, log) = (to.neg(z), to.log(*scale));
                to.sub(kernel, log)
            }
            ("cauchy", [mean, scale]) => self.scalar_prior("student_t", &[Operand::Constant(1.0), *mean, *scale], x)?,
            ("student_t", [df, mean, scale]) => {
                let z = to.sub(x, *mean);
                let z = to.binary(Binary::Div, z, *scale);
                let log = to.log(*scale);
                let standard = self.log_t(*df, z);
                self.to.sub(standard, log)
            }
            ("exponential", [rate]) => {
                let (log, product) = (to.log(*rate), to.mul(*rate, x));
                to.sub(log, product)
            }
            ("gamma", [shape, rate]) => {
                let (log_x, product) = (to.log(x), to.mul(*rate, x));
                self.gamma_like(*shape, *rate, log_x, product)
            }
            ("inv_gamma", [shape, scale]) => {
                // 1 / x is gamma; the Jacobian is x^-2.
                let log_x = to.log(x);
                let (log, product) = (to.neg(log_x), to.binary(Binary::Div, *scale, x));
                let gamma = self.gamma_like(*shape, *scale, log, product);
                let jacobian = self.to.scale(-2.0, log_x);
                self.to.add(gamma, jacobian)
            }
            ("beta", [a, b]) => {
                let rest = to.sub(Operand::Constant(1.0), x);
                let (log_x, log_rest) = (to.log(x), to.log(rest));
                let (first, second) = (to.shift(-1.0, *a), to.shift(-1.0, *b));
                let (first, second) = (to.mul(first, log_x), to.mul(second, log_rest));
                let both = to.add(*a, *b);
                let parts = [to.unary(One::LnGamma, both), to.unary(One::LnGamma, *a), to.unary(One::LnGamma, *b)];
                let [all, left, right] = parts;
                let (left, right) = (to.neg(left), to.neg(right));
                to.sum(vec![first, second, all, left, right])
            }
            _ => return Err(UNKNOWN),
        })
    }

    /// `shape ln(rate) - ln Gamma(shape) + (shape - 1) ln x - rate x`
    pub fn gamma_like(&mut self, shape: Operand, rate: Operand, log_x: Operand, product: Operand) -> Operand {
        let to = &mut self.to;
        let (less, log_rate) = (to.shift(-1.0, shape), to.log(rate));
        let power = if less == Operand::Constant(0.0) { less } else { to.mul(less, log_x) };
        let (norm, gamma) = (to.mul(shape, log_rate), to.unary(One::LnGamma, shape));
        let (gamma, product) = (to.neg(gamma), to.neg(product));
        to.sum(vec![power, norm, gamma, product])
    }

    /// The logarithm of Student's density of scale 1.
    pub fn log_t(&mut self, df: Operand, z: Operand) -> Operand {
        let to = &mut self.to;
        let square = to.mul(z, z);
        let share = to.binary(Binary::Div, square, df);
        let log = to.unary(Unary::Log1p, share);
        let half = to.scale(0.5, df);
        let more = to.shift(0.5, half);
        let kernel = to.mul(more, log);
        let (top, bottom) = (to.unary(One::LnGamma, more), to.unary(One::LnGamma, half));
        let around = to.scale(std::f64::consts::PI, df);
        let log_around = to.log(around);
        let root = to.scale(0.5, log_around);
        let parts = [bottom, root, kernel].map(|x| to.neg(x));
        to.sum([vec![top], parts.to_vec()].concat())
    }

    /// `-|L^-1 (x - mean)|^2 / 2` for a public covariance `L L'`.
    fn multi_normal(&mut self, mean: &Expr, covariance: &Expr, value: &[Operand]) -> Result<(), MechanismError> {
        let (mean, matrix, d) = (self.value(mean)?, self.value_of_matrix(covariance)?, value.len());
        let lower = cholesky(&matrix, d).ok_or(MechanismError::Parameter)?;
        if mean.len() != d {
            return Err(UNKNOWN);
        }
        let mut solved: Value = vec![];
        for ((row, i), (x, mean)) in lower.chunks(d).zip(0usize..).zip(value.iter().zip(mean)) {
            let away = self.to.sub(*x, mean);
            let pairs: Value = row.iter().take(i).map(|l| Operand::Constant(*l)).collect();
            let known = self.dot(&pairs, &solved)?;
            let rest = self.to.sub(away, known);
            let pivot = row.get(i).copied().ok_or(UNKNOWN)?;
            solved.push(self.to.binary(Binary::Div, rest, Operand::Constant(pivot)));
        }
        let square = self.dot(&solved, &solved)?;
        let term = self.to.scale(-0.5, square);
        self.term(term);
        Ok(())
    }

    /// A public matrix, row by row: a list of lists counts as one.
    fn value_of_matrix(&mut self, e: &Expr) -> Result<Vec<f64>, MechanismError> {
        let parts = match &e.kind {
            crate::model::ExprKind::List(rows) => {
                let mut all = vec![];
                for row in rows {
                    all.extend(self.value(row)?);
                }
                all
            }
            _ => self.value(e)?,
        };
        parts.into_iter().map(|x| if let Operand::Constant(x) = x { Ok(x) } else { Err(UNKNOWN) }).collect()
    }
}

/// The lower triangle L with `L L' = matrix`, row by row.
fn cholesky(matrix: &[f64], d: usize) -> Option<Vec<f64>> {
    if d == 0 || matrix.len() != d * d {
        return None;
    }
    let mut lower = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let row = |r: usize| lower.get(r * d..r * d + j);
            let known: f64 = row(i)?.iter().zip(row(j)?).map(|(a, b)| a * b).sum();
            let rest = matrix.get(i * d + j)? - known;
            let entry = if i == j { rest.sqrt() } else { rest / lower.get(j * d + j)? };
            if !(entry.is_finite() && (i != j || entry > 0.0)) {
                return None;
            }
            *lower.get_mut(i * d + j)? = entry;
        }
    }
    Some(lower)
}
