//! Losses of observations: `-log f`, or the beta-divergence with its integral in closed form (rule book §5).
//!
//! A beta-divergence is clamped to the interval that the rule book derives for its likelihood: `[-1/a + 1/b, 1/b]` for
//! probabilities (between its values at q and 1 - q for two outcomes of at least probability q),
//! `s^-a [I/b - g^a/a, I/b]` for a density `g(z) / scale` with scale >= s, where `a = b - 1` and I is the integral of `g^b`,
//! and `M^a [-1/a, 1/b]` for any density of at most M. Its ends are moved inwards by one part in 10^12, so that no rounding
//! makes it longer than is certified.

use super::expression::{Lowering, Value};
use crate::kernel::density::{Loss, One, Op, Operand, Two};
use crate::mechanism::MechanismError;
use crate::mechanism::plan::Loss as LossKind;
use crate::model::{Binary, Expr, Observation, Type, Unary};

const UNKNOWN: MechanismError = MechanismError::Expression;
/// More trials than this are no plan; up to the second number every outcome has operations of its own.
const MOST_TRIALS: f64 = 1e9;
const LISTED_TRIALS: f64 = 1024.0;
/// `ln sqrt(2 pi)`
const LN_ROOT: f64 = 0.918_938_533_204_672_8;
const INWARDS: f64 = 1e-12;

/// A likelihood as far as it depends on its loss.
enum Law {
    /// The logarithm of the probability of what was seen, and of every outcome there is.
    Finite(Operand, Value),
    /// The logarithm of a probability, and the sum of all probabilities to the power b.
    Mass(Operand, Option<Operand>),
    /// The same of two outcomes that both have at least this probability.
    Two(Operand, Value, f64),
    /// A density `g(z) / scale`.
    Scaled(Scaled),
    /// The logarithms of any density, of the integral of its power, and of its largest value.
    Bounded(Operand, Operand, f64),
    /// A log-density without a bound: no beta-divergence.
    Unbounded(Operand),
}

struct Scaled {
    /// `ln g(z)`
    standard: Operand,
    log_scale: Operand,
    /// The least scale.
    least: f64,
    /// `ln` of the largest g, and of the integral of `g^b` for each b.
    peak: f64,
    power: Box<dyn Fn(f64) -> f64>,
}

/// The largest absolute value that a type allows.
fn reach(e: &Expr) -> f64 {
    e.ty.range().map_or(f64::INFINITY, |r| r.magnitude())
}

impl Lowering<'_> {
    /// Adds the loss of one observation.
    pub fn observation(&mut self, o: &Observation, kind: LossKind) -> Result<(), MechanismError> {
        let law = self.law(o, kind)?;
        let loss = match kind {
            LossKind::NegativeLog => {
                let log = match law {
                    Law::Finite(log, _) | Law::Two(log, ..) | Law::Mass(log, _) | Law::Bounded(log, ..) | Law::Unbounded(log) => log,
                    Law::Scaled(s) => self.to.sub(s.standard, s.log_scale),
                };
                Loss { value: self.to.neg(log), lo: f64::NEG_INFINITY, hi: f64::INFINITY }
            }
            LossKind::Beta { beta } if beta > 1.0 && beta.is_finite() => self.divergence(law, beta)?,
            LossKind::Beta { .. } => return Err(MechanismError::Parameter),
        };
        self.to.program().losses.push(loss);
        Ok(())
    }

    /// `-f^a / a + 1/b int f^b`
    fn divergence(&mut self, law: Law, b: f64) -> Result<Loss, MechanismError> {
        let a = b - 1.0;
        let mass = (1.0 / b - 1.0 / a, 1.0 / b);
        let (log, integral, (lo, hi)) = match law {
            Law::Finite(log, all) => {
                let powers = all.into_iter().map(|l| self.power(b, l)).collect();
                (log, self.to.sum(powers), mass)
            }
            Law::Two(log, all, least) => {
                let powers = all.into_iter().map(|l| self.power(b, l)).collect();
                let at = |p: f64| -p.powf(a) / a + (p.powf(b) + (1.0 - p).powf(b)) / b;
                (log, self.to.sum(powers), (at(1.0 - least), at(least)))
            }
            Law::Bounded(log, integral, peak) => {
                let most = (a * peak).exp();
                (log, self.to.exp(integral), (-most / a, most / b))
            }
            Law::Mass(log, Some(integral)) => (log, integral, mass),
            Law::Scaled(s) => {
                let power = (s.power)(b);
                let log = self.to.sub(s.standard, s.log_scale);
                let scale = self.to.scale(-a, s.log_scale);
                let integral = self.to.shift(power, scale);
                // Both ends stand at the least scale.
                let least = -a * s.least.ln();
                let (most, top) = ((least + power).exp() / b, (least + a * s.peak).exp() / a);
                (log, self.to.exp(integral), (most - top, most))
            }
            Law::Mass(_, None) | Law::Unbounded(_) => return Err(UNKNOWN),
        };
        let (gain, spread) = (self.power(a, log), self.to.scale(1.0 / b, integral));
        let gain = self.to.scale(-1.0 / a, gain);
        let slack = INWARDS * (hi - lo);
        // A scale without a least value, or with a tiny one.
        if !(lo.is_finite() && hi.is_finite() && slack > 0.0) {
            return Err(UNKNOWN);
        }
        Ok(Loss { value: self.to.add(gain, spread), lo: lo + slack, hi: hi - slack })
    }

    /// `exp(l)^power`
    fn power(&mut self, power: f64, l: Operand) -> Operand {
        let l = self.to.scale(power, l);
        self.to.exp(l)
    }

    fn law(&mut self, o: &Observation, kind: LossKind) -> Result<Law, MechanismError> {
        let y = self.value(&o.outcome)?;
        let ([y], args) = (y.as_slice(), o.likelihood.args.as_slice()) else {
            return self.vector_law(o, &y);
        };
        let y = *y;
        Ok(match (o.likelihood.family, args) {
            ("bernoulli", [p]) => {
                let least = p.ty.range().map_or(0.0, |r| r.lo.min(1.0 - r.hi));
                let p = self.scalar(p)?;
                self.two(y, p, least)
            }
            ("bernoulli_logit", [t]) => {
                let least = (-reach(t)).exp() / (1.0 + (-reach(t)).exp());
                let t = self.scalar(t)?;
                let p = self.to.unary(Unary::InvLogit, t);
                self.two(y, p, least)
            }
            ("bernoulli_probit", [t]) => {
                let least = 0.5 * libm::erfc(reach(t) * std::f64::consts::FRAC_1_SQRT_2);
                let t = self.scalar(t)?;
                let p = self.to.unary(Unary::Phi, t);
                self.two(y, p, least)
            }
            ("bernoulli_cloglog", [t]) => {
                let t = self.scalar(t)?;
                let (one, u) = (self.to.unary(One::LogCloglog, t), self.to.exp(t));
                let none = self.to.neg(u);
                Law::Finite(self.to.select(y, one, none), vec![one, none])
            }
            ("binomial", [n, p]) => {
                let p = self.scalar(p)?;
                self.binomial(n, y, p, kind)?
            }
            ("binomial_logit", [n, t]) => {
                let t = self.scalar(t)?;
                let p = self.to.unary(Unary::InvLogit, t);
                self.binomial(n, y, p, kind)?
            }
            ("geometric", [p]) => {
                let p = self.scalar(p)?;
                self.geometric(y, p, kind)
            }
            ("neg_binomial", [r, p]) => {
                let (r, p) = (self.scalar(r)?, self.scalar(p)?);
                let q = self.to.sub(Operand::Constant(1.0), p);
                let (log_p, log_q) = (self.to.log(p), self.to.log(q));
                let all = self.to.add(y, r);
                let parts = [(1.0, all), (-1.0, r)];
                let mut terms = vec![self.to.mul(r, log_p), self.to.mul(y, log_q), self.factorial(-1.0, y)];
                for (sign, x) in parts {
                    let gamma = self.to.unary(One::LnGamma, x);
                    terms.push(self.to.scale(sign, gamma));
                }
                let log = self.to.sum(terms);
                let LossKind::Beta { beta } = kind else { return Ok(Law::Mass(log, None)) };
                let odds = self.to.sub(log_q, log_p);
                Law::Mass(log, Some(self.to.op(Op::Binary(Two::NegBinomialPower(beta), r, odds))))
            }
            ("poisson", [rate]) => {
                let rate = self.scalar(rate)?;
                self.poisson(y, rate, kind)
            }
            ("poisson_log", [t]) => {
                let t = self.scalar(t)?;
                let rate = self.to.exp(t);
                self.poisson(y, rate, kind)
            }
            ("categorical", [shares]) => {
                let shares = self.value(shares)?;
                let logs = shares.into_iter().map(|s| self.to.log(s)).collect();
                self.levels(&o.outcome, y, logs)
            }
            ("categorical_logit", [t]) => {
                let t = self.value(t)?;
                let all = self.log_sum_exp(&t)?;
                let logs = t.into_iter().map(|t| self.to.sub(t, all)).collect();
                self.levels(&o.outcome, y, logs)
            }
            (family, args) => self.density(family, y, args, kind)?,
        })
    }

    /// One of two outcomes, of at least this probability each.
    fn two(&mut self, y: Operand, p: Operand, least: f64) -> Law {
        let narrow = least > 1e-9 && least < 0.5 - 1e-9;
        if let (Some(Op::Unary(One::Of(Unary::InvLogit), t)), false) = (self.to.behind(p), narrow) {
            self.predictor = Some((y, *t));
        }
        let q = self.to.sub(Operand::Constant(1.0), p);
        let (one, none) = (self.to.log(p), self.to.log(q));
        let (seen, all) = (self.to.select(y, one, none), vec![one, none]);
        if narrow { Law::Two(seen, all, least) } else { Law::Finite(seen, all) }
    }

    fn levels(&mut self, outcome: &Expr, y: Operand, logs: Value) -> Law {
        let first = if let Type::Int(range) = outcome.ty { range.lo } else { 0.0 };
        let level = self.to.shift(-first, y);
        Law::Finite(self.to.op(Op::Gather(level, logs.clone())), logs)
    }

    /// `factor ln x!`
    fn factorial(&mut self, factor: f64, x: Operand) -> Operand {
        let more = self.to.shift(1.0, x);
        let log = self.to.unary(One::LnGamma, more);
        self.to.scale(factor, log)
    }

    fn binomial(&mut self, n: &Expr, y: Operand, p: Operand, kind: LossKind) -> Result<Law, MechanismError> {
        let Operand::Constant(n) = self.scalar(n)? else { return Err(UNKNOWN) };
        let q = self.to.sub(Operand::Constant(1.0), p);
        let (log_p, log_q) = (self.to.log(p), self.to.log(q));
        let others = self.to.sub(Operand::Constant(n), y);
        let ways = [(1.0, Operand::Constant(n)), (-1.0, y), (-1.0, others)].map(|(f, x)| self.factorial(f, x));
        let log = self.to.op(Op::Dot(vec![(y, log_p), (others, log_q)]));
        let log = self.to.sum([ways.to_vec(), vec![log]].concat());
        let LossKind::Beta { beta } = kind else { return Ok(Law::Mass(log, None)) };
        if !(1.0..=MOST_TRIALS).contains(&n) {
            return Err(UNKNOWN);
        }
        if n > LISTED_TRIALS {
            let odds = self.to.sub(log_p, log_q);
            return Ok(Law::Mass(log, Some(self.to.unary(One::BinomialPower(beta, n), odds))));
        }
        let mut all = vec![];
        for k in 0..=n as u32 {
            let k = f64::from(k);
            let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
            // 0 times the logarithm of 0 would be no number.
            let counts = [(k, log_p), (n - k, log_q)].into_iter().filter(|(k, _)| *k > 0.0);
            let log = self.to.op(Op::Dot(counts.map(|(k, l)| (Operand::Constant(k), l)).collect()));
            all.push(self.to.shift(ways, log));
        }
        Ok(Law::Finite(log, all))
    }

    /// The sum over k of `(p q^k)^b` is `p^b / (1 - q^b)`.
    fn geometric(&mut self, y: Operand, p: Operand, kind: LossKind) -> Law {
        let q = self.to.sub(Operand::Constant(1.0), p);
        let (log_p, log_q) = (self.to.log(p), self.to.log(q));
        let failures = self.to.mul(y, log_q);
        let log = self.to.add(log_p, failures);
        let LossKind::Beta { beta } = kind else { return Law::Mass(log, None) };
        let u = self.to.scale(-beta, log_q);
        let log_u = self.to.log(u);
        let rest = self.to.unary(One::LogCloglog, log_u);
        let top = self.to.scale(beta, log_p);
        let power = self.to.sub(top, rest);
        Law::Mass(log, Some(self.to.exp(power)))
    }

    fn poisson(&mut self, y: Operand, rate: Operand, kind: LossKind) -> Law {
        let t = self.to.log(rate);
        let seen = self.to.mul(y, t);
        let ways = self.factorial(-1.0, y);
        let none = self.to.neg(rate);
        let log = self.to.sum(vec![seen, none, ways]);
        let power = if let LossKind::Beta { beta } = kind { Some(self.to.unary(One::PoissonPower(beta), t)) } else { None };
        Law::Mass(log, power)
    }

    /// Densities of one number.
    fn density(&mut self, family: &str, y: Operand, args: &[Expr], kind: LossKind) -> Result<Law, MechanismError> {
        match (family, args) {
            ("normal", [mean, sd]) => {
                let standard = |l: &mut Self, z| Ok(l.normal_kernel(z));
                self.location((y, mean, sd), standard, -LN_ROOT, |b| (1.0 - b) * LN_ROOT - 0.5 * b.ln())
            }
            ("half_normal", [sd]) => {
                let (scale, least) = self.scale_argument(sd)?;
                let z = self.to.binary(Binary::Div, y, scale);
                let standard = self.normal_kernel(z);
                let (standard, log_scale) = (self.to.shift(std::f64::consts::LN_2, standard), self.to.log(scale));
                let peak = std::f64::consts::LN_2 - LN_ROOT;
                let power = Box::new(|b: f64| (b - 1.0) * std::f64::consts::LN_2 + (1.0 - b) * LN_ROOT - 0.5 * b.ln());
                Ok(Law::Scaled(Scaled { standard, log_scale, least, peak, power }))
            }
            ("laplace", [mean, scale]) => {
                let standard = |l: &mut Self, z| {
                    let away = l.to.unary(Unary::Abs, z);
                    let kernel = l.to.neg(away);
                    Ok(l.to.shift(-std::f64::consts::LN_2, kernel))
                };
                self.location((y, mean, scale), standard, -std::f64::consts::LN_2, |b| (1.0 - b) * std::f64::consts::LN_2 - b.ln())
            }
            ("cauchy", [mean, scale]) => self.student(1.0, (y, mean, scale)),
            ("student_t", [df, mean, scale]) => match self.scalar(df)? {
                Operand::Constant(df) if df > 0.0 => self.student(df, (y, mean, scale)),
                df => self.any_student(df, y, mean, scale, kind),
            },
            ("exponential", [rate]) => self.gamma(1.0, y, rate),
            ("gamma", [shape, rate]) => match self.scalar(shape)? {
                Operand::Constant(shape) if shape > 0.0 => self.gamma(shape, y, rate),
                value => self.any_gamma(value, y, shape, rate, kind),
            },
            _ => Err(UNKNOWN),
        }
    }

    fn normal_kernel(&mut self, z: Operand) -> Operand {
        let square = self.to.mul(z, z);
        let kernel = self.to.scale(-0.5, square);
        self.to.shift(-LN_ROOT, kernel)
    }

    /// A density about a mean: `ln g`, its peak and the logarithm of the integral of `g^b`.
    fn location(
        &mut self,
        (y, mean, scale): (Operand, &Expr, &Expr),
        standard: impl FnOnce(&mut Self, Operand) -> Result<Operand, MechanismError>,
        peak: f64,
        power: impl Fn(f64) -> f64 + 'static,
    ) -> Result<Law, MechanismError> {
        let (mean, (scale, least)) = (self.scalar(mean)?, self.scale_argument(scale)?);
        let away = self.to.sub(y, mean);
        let z = self.to.binary(Binary::Div, away, scale);
        let (standard, log_scale) = (standard(self, z)?, self.to.log(scale));
        Ok(Law::Scaled(Scaled { standard, log_scale, least, peak, power: Box::new(power) }))
    }

    fn student(&mut self, df: f64, parts: (Operand, &Expr, &Expr)) -> Result<Law, MechanismError> {
        let half = df / 2.0;
        let peak = libm::lgamma(half + 0.5) - libm::lgamma(half) - 0.5 * (std::f64::consts::PI * df).ln();
        // The integral of (1 + z^2 / df)^(-b (df + 1) / 2) is sqrt(df) B(1/2, m - 1/2) for m = b (df + 1) / 2.
        let power = move |b: f64| {
            let m = b * (half + 0.5);
            b * peak + 0.5 * df.ln() + libm::lgamma(0.5) + libm::lgamma(m - 0.5) - libm::lgamma(m)
        };
        self.location(parts, |l, z| Ok(l.log_t(Operand::Constant(df), z)), peak, power)
    }

    /// Shape and rate; the density is unbounded at 0 for shapes below 1.
    fn gamma(&mut self, shape: f64, y: Operand, rate: &Expr) -> Result<Law, MechanismError> {
        let most = rate.ty.range().map_or(f64::INFINITY, |r| r.hi);
        let rate = self.scalar(rate)?;
        let rate = if most.is_finite() { self.to.binary(Binary::Min, rate, Operand::Constant(most)) } else { rate };
        let (z, log_rate) = (self.to.mul(y, rate), self.to.log(rate));
        let log_z = self.to.log(z);
        let standard = self.gamma_like(Operand::Constant(shape), Operand::Constant(1.0), log_z, z);
        let log_scale = self.to.neg(log_rate);
        let (less, gamma) = (shape - 1.0, libm::lgamma(shape));
        if less < 0.0 {
            return Ok(Law::Unbounded(self.to.sub(standard, log_scale)));
        }
        let peak = if less == 0.0 { 0.0 } else { less * less.ln() - less } - gamma;
        let power = Box::new(move |b: f64| libm::lgamma(b * less + 1.0) - (b * less + 1.0) * b.ln() - b * gamma);
        Ok(Law::Scaled(Scaled { standard, log_scale, least: 1.0 / most, peak, power }))
    }

    /// Student's law of degrees of freedom that are no constant; its peak is below the normal one.
    fn any_student(&mut self, df: Operand, y: Operand, mean: &Expr, scale: &Expr, kind: LossKind) -> Result<Law, MechanismError> {
        let (mean, (scale, least)) = (self.scalar(mean)?, self.scale_argument(scale)?);
        let away = self.to.sub(y, mean);
        let z = self.to.binary(Binary::Div, away, scale);
        let (standard, log_scale) = (self.log_t(df, z), self.to.log(scale));
        let log = self.to.sub(standard, log_scale);
        let LossKind::Beta { beta: b } = kind else { return Ok(Law::Unbounded(log)) };
        // As for constant degrees of freedom: the density at 0 to the power b, times sqrt(df) B(1/2, m - 1/2).
        let top = self.log_t(df, Operand::Constant(0.0));
        let (powers, more) = (self.to.scale(b, top), self.to.shift(1.0, df));
        let (m, log_df) = (self.to.scale(b / 2.0, more), self.to.log(df));
        let before = self.to.shift(-0.5, m);
        let (above, below) = (self.to.unary(One::LnGamma, before), self.to.unary(One::LnGamma, m));
        let terms = vec![powers, self.to.scale(0.5, log_df), Operand::Constant(libm::lgamma(0.5)), above];
        let (terms, below) = ([terms, vec![self.to.neg(below)]].concat(), self.to.scale(1.0 - b, log_scale));
        let integral = self.to.sum([terms, vec![below]].concat());
        Ok(Law::Bounded(log, integral, -LN_ROOT - least.ln()))
    }

    /// A gamma law of a shape that is no constant; above 1 its peak falls in the shape.
    fn any_gamma(&mut self, value: Operand, y: Operand, shape: &Expr, rate: &Expr, kind: LossKind) -> Result<Law, MechanismError> {
        let (low, most) = (shape.ty.range().map_or(0.0, |r| r.lo), rate.ty.range().map_or(f64::INFINITY, |r| r.hi));
        let rate = self.scalar(rate)?;
        let (log_y, product) = (self.to.log(y), self.to.mul(y, rate));
        let LossKind::Beta { beta: b } = kind else {
            return Ok(Law::Unbounded(self.gamma_like(value, rate, log_y, product)));
        };
        if !(low >= 1.0 && most.is_finite()) {
            return Err(UNKNOWN);
        }
        let value = self.to.binary(Binary::Max, value, Operand::Constant(low));
        let rate = self.to.binary(Binary::Min, rate, Operand::Constant(most));
        let log = self.gamma_like(value, rate, log_y, product);
        // Gamma(b (shape - 1) + 1) / (Gamma(shape)^b b^(b (shape - 1) + 1)), times rate^(b - 1).
        let less = self.to.shift(-1.0, value);
        let m = self.to.scale(b, less);
        let m = self.to.shift(1.0, m);
        let (top, gamma, log_rate) = (self.to.unary(One::LnGamma, m), self.to.unary(One::LnGamma, value), self.to.log(rate));
        let terms = vec![top, self.to.scale(-b, gamma), self.to.scale(-b.ln(), m), self.to.scale(b - 1.0, log_rate)];
        let less = low - 1.0;
        let peak = if less == 0.0 { 0.0 } else { less * less.ln() - less } - libm::lgamma(low) + most.ln();
        Ok(Law::Bounded(log, self.to.sum(terms), peak))
    }

    /// A scale, not below the least that its type says.
    fn scale_argument(&mut self, scale: &Expr) -> Result<(Operand, f64), MechanismError> {
        let value = self.scalar(scale)?;
        if let Operand::Constant(s) = value {
            return Ok((value, s));
        }
        let least = scale.ty.range().map_or(0.0, |r| r.lo.max(0.0));
        let value = if least > 0.0 { self.to.binary(Binary::Max, value, Operand::Constant(least)) } else { value };
        Ok((value, least))
    }

    /// Outcomes of several numbers.
    fn vector_law(&mut self, o: &Observation, y: &[Operand]) -> Result<Law, MechanismError> {
        let ("multinomial", [_, shares]) = (o.likelihood.family, o.likelihood.args.as_slice()) else { return Err(UNKNOWN) };
        let shares = self.value(shares)?;
        let logs: Value = shares.into_iter().map(|s| self.to.log(s)).collect();
        Ok(Law::Unbounded(self.dot(y, &logs)?))
    }
}
