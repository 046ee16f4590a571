//! The largest value of a density for every value that its arguments can take (rule book §5.1).

use super::range::RowLoss;
use crate::dist::{ArgKind, Law, MOST_TRIALS, Support};
use crate::model::enclose::enclose;
use crate::model::{Expr, Observation, Type};
use crate::numeric::Interval;
use crate::numeric::round::{div_up, mul_up};

/// Why a density has no bound.
pub(super) enum Fault<'a> {
    /// No bound is proved for this law.
    Unknown(String),
    /// The scale (or one over it, the rate) may come too near 0; `peak` is the density's largest value times the scale.
    Scale { argument: &'a Expr, peak: f64, rate: bool },
    /// The predictor has no bound.
    Predictor { argument: &'a Expr },
    /// The logarithm of the density has no bound for some values of the argument.
    Log { argument: &'a Expr },
    /// The shape may be one whose density has no largest value; the smallest shape that has one.
    Shape { argument: &'a Expr, least: f64 },
}

/// What is known of the loss of one observed value.
pub(super) fn row_loss(o: &Observation) -> Result<RowLoss, Fault<'_>> {
    let family = o.likelihood.family;
    let discrete = matches!(o.outcome.ty, Type::Bool | Type::Int(_) | Type::Category(_) | Type::Counts { .. });
    let argument = |i: usize| o.likelihood.args.get(i).ok_or_else(|| Fault::Unknown("an argument is missing".into()));
    let unknown = |reason: &str| Err(Fault::Unknown(reason.to_owned()));
    match &family.law {
        Law::Count(_) if matches!(family.args, [(_, ArgKind::Trials), ..]) && constant(argument(0)?).is_none_or(|n| n > MOST_TRIALS) => {
            unknown("the sum over the outcomes is computed for a constant number of at most 10^9 trials")
        }
        Law::Levels { .. } | Law::Count(_) if !discrete => unknown("the outcome of a discrete law must be whole"),
        Law::Count(_) => Ok(RowLoss::Mass),
        Law::Levels { least, .. } => {
            // Both probabilities stay away from 0 where the argument says so.
            let least = least(enclose(argument(0)?));
            Ok(if least > 0.0 && least <= 0.5 { RowLoss::Bernoulli { least } } else { RowLoss::Mass })
        }
        Law::Vector(_) if family.support == Support::CountVector => {
            unknown("the sum over the outcomes of multinomial rows has too many terms")
        }
        Law::Density(_, Some(standard)) => {
            let (scale, shape) = (argument(standard.scale)?, standard.shape.map(argument).transpose()?);
            let unit = match ((standard.peak)(shape.map_or(Interval::ZERO, enclose)), shape) {
                (Ok(unit), _) => unit,
                (Err(least), Some(argument)) => return Err(Fault::Shape { argument, least }),
                (Err(_), None) => f64::INFINITY,
            };
            let peak = peak(scale, unit, standard.rate)?;
            let fixed = shape.is_none_or(|e| constant(e).is_some());
            Ok(if fixed { RowLoss::Scaled { peak } } else { RowLoss::Bounded { peak } })
        }
        Law::Mixture => unknown("the integral of a power of a mixture has no closed form"),
        Law::Density(_, None) | Law::Vector(_) => Err(Fault::Unknown(format!("no bound on the density of {} rows is proved", family.name))),
    }
}

/// One and the same for every row and every parameter.
fn constant(e: &Expr) -> Option<f64> {
    e.constant().filter(|x| x.is_finite())
}

/// The peak of a law of this scale, or one over it, whose density at scale 1 has the largest value `unit`.
fn peak(argument: &Expr, unit: f64, rate: bool) -> Result<f64, Fault<'_>> {
    let ends = enclose(argument);
    let peak = if rate { mul_up(unit, ends.hi) } else { div_up(unit, ends.lo) };
    if peak.is_finite() && (rate || ends.lo > 0.0) { Ok(peak) } else { Err(Fault::Scale { argument, peak: unit, rate }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Builtin, ExprKind, Label, Range};
    use crate::rules::testing as t;

    fn apply(f: Builtin, args: Vec<Expr>) -> Expr {
        t::expr(ExprKind::Call(f, args), Type::Real(Range::ALL), Label::Latent)
    }

    #[test]
    fn scales_keep_their_lower_ends() {
        let s = || t::param(0, Type::real(-1.0, 2.0));
        let e = enclose(&apply(Builtin::Exp, vec![s()]));
        assert!(e.lo <= (-1.0_f64).exp() && e.lo > 0.3678 && e.hi >= 2.0_f64.exp() && e.hi < 7.39);
        let sum = enclose(&apply(Builtin::Add, vec![t::number(0.5), apply(Builtin::Exp, vec![t::param(0, Type::Real(Range::ALL))])]));
        assert_eq!(sum, Interval::new(0.5, f64::INFINITY));
        assert_eq!(enclose(&apply(Builtin::Max, vec![s(), t::number(0.25)])), Interval::new(0.25, 2.0));
        assert_eq!(enclose(&apply(Builtin::Clip, vec![s(), t::number(0.0), t::number(1.0)])), Interval::new(0.0, 1.0));
        assert_eq!(enclose(&apply(Builtin::Div, vec![t::number(1.0), s()])), Interval::ENTIRE);
        let power = |x: Expr, k: f64| enclose(&apply(Builtin::Pow, vec![x, t::number(k)]));
        let free = || t::param(0, Type::Real(Range::ALL));
        assert_eq!(power(free(), 2.0), Interval::new(0.0, f64::INFINITY));
        assert_eq!(power(free(), 3.0), Interval::ENTIRE);
        let square = power(t::param(0, Type::real(-3.0, -2.0)), 2.0);
        assert!(square.lo <= 4.0 && square.lo > 3.999 && square.hi >= 9.0 && square.hi < 9.001);
        assert_eq!(power(free(), 0.5), Interval::ENTIRE);
        // A function without a formula here may be anything.
        let other = t::expr(ExprKind::Call(Builtin::Norm, vec![s()]), Type::real(0.5, 1.0), Label::Latent);
        assert_eq!(enclose(&other), Interval::ENTIRE);
    }
}
