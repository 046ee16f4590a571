//! What a row is predicted to tell of a parameter of a model of bounded loss, and the error of a draw that follows. Bounds nothing.

use crate::dist::Law;
use crate::model::enclose::enclose;
use crate::model::{Builtin, Expr, ExprKind, Label, Observation, ParamId, Parameter, Range, Type};
use crate::numeric::Interval;
use crate::rules::conjugate::expected;
use crate::rules::offer::PredictedError;

/// Fisher information of a row about a component of a parameter.
#[derive(Clone, Copy, Default)]
struct Told {
    information: f64,
    /// It is that of features at their bounds.
    features: bool,
    /// It is not known, and taken for 1.
    guessed: bool,
}

/// How far an argument of a likelihood moves with a component of a parameter, root mean square over the components.
struct Slope {
    size: f64,
    features: bool,
}

/// Of a draw where `rows` rows count `weight` times.
pub(super) fn predicted(parameters: &[Parameter], rows_of: &[Observation], rows: f64, weight: f64) -> PredictedError {
    let told: Vec<(&Parameter, Told)> = parameters.iter().map(|p| (p, of_rows(p, rows_of))).collect();
    let error = |share: f64, weight: f64| {
        let square = |(p, t): &(&Parameter, Told)| {
            let (sd, share) = (spread(p), if t.features { share } else { 1.0 });
            components(&p.ty) * sd * sd * expected::normal(1.0, share * rows * t.information * sd * sd, weight, 1.0)
        };
        told.iter().map(square).sum::<f64>().sqrt()
    };
    let of = match () {
        () if told.iter().any(|(_, t)| t.guessed) => PredictedError::of_loss(error(1.0, weight)),
        () if told.iter().any(|(_, t)| t.features) => PredictedError::of_weights(|share| error(share, weight)),
        () => PredictedError::of_draw(error(1.0, weight)),
    };
    of.beside_prior(error(1.0, 0.0))
}

fn of_rows(p: &Parameter, rows_of: &[Observation]) -> Told {
    rows_of.iter().map(|o| of_row(p, o)).fold(Told::default(), |sum, t| Told {
        information: sum.information + t.information,
        features: sum.features || t.features,
        guessed: sum.guessed || t.guessed,
    })
}

fn of_row(p: &Parameter, o: &Observation) -> Told {
    let mut told = Told::default();
    for (place, argument) in o.likelihood.args.iter().enumerate().filter(|(_, a)| a.mentions(p.id)) {
        match (about(o, place), slope(argument, p.id)) {
            (Some(information), Some(slope)) => {
                told.information += information * slope.size * slope.size;
                told.features |= slope.features;
            }
            _ => told = Told { information: told.information + 1.0, guessed: true, ..told },
        }
    }
    told
}

/// Fisher information about an argument of the likelihood, at the middle of what it can be.
fn about(o: &Observation, place: usize) -> Option<f64> {
    let at = |i: usize| o.likelihood.args.get(i).map(|e| middle(enclose(e))).filter(|x| x.is_finite());
    // Of a predictor the middle of the link is the most.
    let whole = match (o.likelihood.name(), place) {
        ("bernoulli_logit", _) => 0.25,
        ("binomial_logit", 1) => 0.25 * at(0)?,
        ("bernoulli", _) => 1.0 / (at(0)? * (1.0 - at(0)?)),
        ("binomial", 1) => at(0)? / (at(1)? * (1.0 - at(1)?)),
        ("poisson", _) => 1.0 / at(0)?,
        ("categorical", _) => match &o.likelihood.args.first()?.ty {
            Type::Simplex { dim, .. } => *dim as f64,
            _ => return None,
        },
        _ => match &o.likelihood.family.law {
            Law::Density(_, Some(s)) if !s.rate && s.location == Some(place) => at(s.scale)?.powi(-2),
            Law::Density(_, Some(s)) if !s.rate && s.scale == place => 2.0 * at(s.scale)?.powi(-2),
            _ => return None,
        },
    };
    Some(whole).filter(|x| x.is_finite() && *x > 0.0)
}

fn middle(x: Interval) -> f64 {
    f64::midpoint(x.lo, x.hi)
}

/// `None` where an expression is not linear in the parameter.
fn slope(e: &Expr, id: ParamId) -> Option<Slope> {
    if !e.mentions(id) {
        return Some(Slope { size: 0.0, features: false });
    }
    let plain = |size: f64| Some(Slope { size, features: false });
    match &e.kind {
        ExprKind::Param(_) => plain(1.0),
        // Of the levels a row tells of its own.
        ExprKind::Index(base, index) if base.is_param(id) => index.ty.levels().and_then(|l| plain(1.0 / (l.len().max(1) as f64).sqrt())),
        ExprKind::Call(f, args) => match (*f, args.as_slice()) {
            (Builtin::Neg, [a]) => slope(a, id),
            (Builtin::Add | Builtin::Sub, [a, b]) => {
                let (a, b) = (slope(a, id)?, slope(b, id)?);
                Some(Slope { size: a.size + b.size, features: a.features || b.features })
            }
            (Builtin::Mul, [a, x] | [x, a]) if !x.mentions(id) && !latent(x) => by(slope(a, id)?, x),
            (Builtin::Dot, [w, x] | [x, w]) if w.is_param(id) && !x.mentions(id) => {
                let Type::Vector(v) = &x.ty else { return None };
                by(Slope { size: 1.0 / (v.dim.max(1) as f64).sqrt(), features: false }, x)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Times a number or the features of a row.
fn by(slope: Slope, x: &Expr) -> Option<Slope> {
    let size = match &x.ty {
        Type::Vector(v) => v.sup.l2,
        ty => ty.range().map_or(f64::INFINITY, Range::magnitude),
    };
    size.is_finite().then_some(Slope { size: slope.size * size, features: slope.features || matches!(x.label, Label::Row(_)) })
}

fn latent(e: &Expr) -> bool {
    matches!(e.label, Label::Latent | Label::Mix(_))
}

fn components(ty: &Type) -> f64 {
    match ty {
        Type::Vector(v) => v.dim as f64,
        Type::Matrix { rows, columns, .. } => *rows as f64 * *columns as f64,
        Type::Simplex { dim, .. } => *dim as f64,
        _ => 1.0,
    }
}

/// About the standard deviation of the prior of one component.
fn spread(p: &Parameter) -> f64 {
    let usual = |x: f64| if x.is_finite() && x > 0.0 { x } else { 1.0 };
    let args: Vec<f64> = p.prior.args.iter().map(|e| usual(middle(enclose(e)))).collect();
    let moments = (p.prior.family.moments)(&args).map(|(_, variance)| variance.sqrt());
    let own = moments.or_else(|| p.prior.family.about(&args).map(|(_, spread)| spread)).filter(|x| x.is_finite() && *x > 0.0);
    let sd = match &p.ty {
        // As wide as a uniform law, at most.
        Type::Real(r) if r.is_finite() => own.unwrap_or(f64::INFINITY).min(r.width() / 12_f64.sqrt()),
        Type::Simplex { .. } => 0.3,
        _ => own.unwrap_or(1.0),
    };
    usual(sd)
}
