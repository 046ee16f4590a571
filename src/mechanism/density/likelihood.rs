//! Losses of observations: `-log f`, or the beta-divergence with its integral in closed form (rule book §5).
//!
//! A beta-divergence is clamped to the interval that the rule book derives for its likelihood: `[-1/a + 1/b, 1/b]` for
//! probabilities (between its values at q and 1 - q for two outcomes of at least probability q),
//! `s^-a [I/b - g^a/a, I/b]` for a density `g(z) / scale` with scale >= s, where `a = b - 1` and I is the integral of `g^b`,
//! and `M^a [-1/a, 1/b]` where the shape of g varies. Its ends are moved inwards by one part in 10^11, so that no rounding
//! makes it longer than is certified.

use super::expression::{Lowering, Value};
use crate::dist::{Law, Standard, Support};
use crate::kernel::density::{Builder, Loss, One, Op, Operand};
use crate::mechanism::MechanismError;
use crate::mechanism::plan::Loss as LossKind;
use crate::model::enclose::enclose;
use crate::model::{Binary, DistCall, Expr, Observation, Type};
use crate::numeric::Interval;

const UNKNOWN: MechanismError = MechanismError::Expression;
const INWARDS: f64 = 1e-11;

/// The logarithm of the density of what was seen; for a power b, if that has a bound, the sum or integral of the density to
/// this power and the ends of the beta-divergence.
type Seen = (Operand, Option<(Operand, f64, f64)>);

impl Lowering<'_> {
    /// Adds the loss of one observation.
    pub fn observation(&mut self, o: &Observation, kind: LossKind) -> Result<(), MechanismError> {
        let b = match kind {
            LossKind::NegativeLog => None,
            LossKind::Beta { beta } if beta > 1.0 && beta.is_finite() => Some(beta),
            LossKind::Beta { .. } => return Err(MechanismError::Parameter),
        };
        let seen = match o.likelihood.weights() {
            Some(weights) => (self.mixture(o, weights)?, None),
            None => self.seen(o, b)?,
        };
        let loss = match (b, seen) {
            (None, (log, _)) => Loss { value: self.to.neg(log), lo: f64::NEG_INFINITY, hi: f64::INFINITY },
            (Some(b), (log, Some(bounded))) => self.divergence(b, log, bounded)?,
            (Some(_), (_, None)) => return Err(UNKNOWN),
        };
        self.to.program().losses.push(loss);
        Ok(())
    }

    /// The sum of the densities of the components, each times its weight.
    fn mixture(&mut self, o: &Observation, weights: &Expr) -> Result<Operand, MechanismError> {
        let all = self.value(weights)?;
        let mut logs: Value = all.iter().map(|w| self.to.log(*w)).collect();
        for ((family, args), log) in o.likelihood.components().into_iter().zip(&mut logs) {
            let likelihood = DistCall { family, args: args.to_vec(), mixed: vec![], span: o.likelihood.span };
            let (seen, _) = self.seen(&Observation { likelihood, ..o.clone() }, None)?;
            *log = self.to.add(*log, seen);
        }
        // No component is the whole row.
        self.predictor = None;
        let log = self.to.log_sum_exp(&logs);
        if matches!(weights.ty, Type::Simplex { .. }) {
            return Ok(log);
        }
        let sum = self.to.sum(all);
        let log_sum = self.to.log(sum);
        Ok(self.to.sub(log, log_sum))
    }

    fn seen(&mut self, o: &Observation, b: Option<f64>) -> Result<Seen, MechanismError> {
        let y = self.value(&o.outcome)?;
        let args = self.arguments(&o.likelihood)?;
        Ok(match (&o.likelihood.family.law, y.as_slice()) {
            (Law::Levels { logs, least }, [y]) => {
                let logs = logs(&mut self.to, &args.concat());
                self.level(o, *y, logs, *least, b)
            }
            // Counted in a bin.
            (Law::Count(_) | Law::Density(..), [from, until]) => {
                let args = scalars(&args)?;
                ((o.likelihood.family.within)(&mut self.to, &args, [*from, *until]).ok_or(UNKNOWN)?, None)
            }
            (Law::Count(law), [y]) => {
                let (log, sum) = law(&mut self.to, &scalars(&args)?, *y, b).ok_or(UNKNOWN)?;
                (log, b.zip(sum).map(|(b, sum)| (sum, mass(b).0, mass(b).1)))
            }
            (Law::Density(log, standard), [y]) => {
                let mut args = scalars(&args)?;
                match standard {
                    Some(standard) => self.density(*log, standard, &o.likelihood.args, &mut args, *y, b)?,
                    None => (log(&mut self.to, &args, *y), None),
                }
            }
            (Law::Vector(log), y) => {
                let terms = log(&mut self.to, &args, y).ok_or(UNKNOWN)?;
                (self.to.sum(terms), None)
            }
            (Law::Levels { .. } | Law::Count(_) | Law::Density(..) | Law::Mixture, _) => return Err(UNKNOWN),
        })
    }

    /// `-f^a / a + 1/b int f^b`
    fn divergence(&mut self, b: f64, log: Operand, (integral, lo, hi): (Operand, f64, f64)) -> Result<Loss, MechanismError> {
        let a = b - 1.0;
        let (gain, spread) = (self.to.power(a, log), self.to.scale(1.0 / b, integral));
        let gain = self.to.scale(-1.0 / a, gain);
        let slack = INWARDS * (hi - lo);
        // A scale without a least value, or with a tiny one.
        if !(lo.is_finite() && hi.is_finite() && slack > 0.0) {
            return Err(UNKNOWN);
        }
        Ok(Loss { value: self.to.add(gain, spread), lo: lo + slack, hi: hi - slack })
    }

    /// One of a few outcomes, whose probabilities have these logarithms.
    fn level(&mut self, o: &Observation, y: Operand, logs: Value, least: fn(Interval) -> f64, b: Option<f64>) -> Seen {
        let least = o.likelihood.args.first().map_or(0.0, |e| least(enclose(e)));
        let narrow = least > 1e-9 && least < 0.5 - 1e-9;
        let seen = match (o.likelihood.family.support, logs.as_slice()) {
            (Support::Bool, [one, none]) => {
                if let (Some(Op::Unary(One::LogInvLogit, t)), false) = (self.to.behind(*one), narrow) {
                    self.predictor = Some((y, *t));
                }
                self.to.select(y, *one, *none)
            }
            _ => {
                let first = if let Type::Int(range) = o.outcome.ty { range.lo } else { 0.0 };
                let level = self.to.shift(-first, y);
                self.to.op(Op::Gather(level, logs.clone()))
            }
        };
        let bounded = b.map(|b| {
            let powers = logs.into_iter().map(|l| self.to.power(b, l)).collect();
            let a = b - 1.0;
            let at = |p: f64| -p.powf(a) / a + (p.powf(b) + (1.0 - p).powf(b)) / b;
            let (lo, hi) = if narrow { (at(1.0 - least), at(least)) } else { mass(b) };
            (self.to.sum(powers), lo, hi)
        });
        (seen, bounded)
    }

    /// A density of one number whose scale and shape are what the claim takes them for: moved there, if rounding left it.
    fn density(
        &mut self,
        log: fn(&mut Builder, &[Operand], Operand) -> Operand,
        standard: &Standard,
        written: &[Expr],
        args: &mut [Operand],
        y: Operand,
        b: Option<f64>,
    ) -> Result<Seen, MechanismError> {
        let to = &mut self.to;
        let range = |i: usize| written.get(i).map_or(Interval::ENTIRE, enclose);
        let (scale, least) = (args.get_mut(standard.scale).ok_or(UNKNOWN)?, range(standard.scale));
        let (end, inside) = if standard.rate { (least.hi, Binary::Min) } else { (least.lo, Binary::Max) };
        if end > 0.0 && end.is_finite() {
            *scale = to.binary(inside, *scale, Operand::Constant(end));
        }
        let (log_argument, least) = (to.log(*scale), if standard.rate { 1.0 / end } else { end.max(0.0) });
        let mut shape = (Operand::Constant(0.0), Interval::ZERO);
        if let Some(i) = standard.shape {
            let (value, range) = (args.get_mut(i).ok_or(UNKNOWN)?, range(i));
            if b.is_some() && range.lo > 0.0 && range.lo.is_finite() {
                *value = to.binary(Binary::Max, *value, Operand::Constant(range.lo));
            }
            shape = (*value, range);
        }
        let seen = log(to, args, y);
        let (Some(b), Ok(peak)) = (b, (standard.peak)(shape.1)) else { return Ok((seen, None)) };
        let a = b - 1.0;
        let power = (standard.power)(to, shape.0, b);
        let spread = to.scale(if standard.rate { a } else { -a }, log_argument);
        let log_integral = to.add(power, spread);
        let integral = to.exp(log_integral);
        // Both ends stand at the least scale.
        let most = |log: f64| (log - a * least.ln()).exp();
        let top = most(a * peak.ln());
        let (lo, hi) = match power {
            Operand::Constant(power) => (most(power) / b - top / a, most(power) / b),
            _ => (-top / a, top / b),
        };
        Ok((seen, Some((integral, lo, hi))))
    }
}

/// The ends for probabilities.
fn mass(b: f64) -> (f64, f64) {
    (1.0 / b - 1.0 / (b - 1.0), 1.0 / b)
}

fn scalars(args: &[Value]) -> Result<Value, MechanismError> {
    args.iter().map(|v| if let [one] = v.as_slice() { Ok(*one) } else { Err(UNKNOWN) }).collect()
}
