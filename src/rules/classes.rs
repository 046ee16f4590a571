//! Rows of several classes, `categorical_logit(W * x)`: their features, and the numbers that are summed for each class.

use super::conjugate::facts;
use crate::model::{Builtin, Expr, ExprKind, Label, Levels, Norms, Observation, ParamId, Range, Type, VectorType};
use crate::numeric::round::{mul_up, sqrt_up};

/// The features of a row whose predictors are a matrix of weights times these, and the number of its classes.
pub(super) fn features(o: &Observation, w: ParamId) -> Option<(&Expr, u64)> {
    let ("categorical_logit", [t]) = (o.likelihood.name(), o.likelihood.args.as_slice()) else { return None };
    let ExprKind::Call(Builtin::MatVec, args) = &t.kind else { return None };
    let ([m, x], Type::Category(levels)) = (args.as_slice(), &o.outcome.ty) else { return None };
    let Type::Matrix { rows, .. } = m.ty else { return None };
    (m.is_param(w) && !x.mentions(w) && rows == levels.len() as u64 && rows > 1).then_some((x, rows))
}

/// For each of K classes K - 1 where it is the row's and -1 elsewhere, and the length of that vector, upwards.
pub(super) fn indicators(y: &Expr, classes: u64) -> Option<(Expr, f64)> {
    let Type::Category(levels) = &y.ty else { return None };
    let (k, span) = (classes as f64, y.span);
    let row = |kind, ty| Expr { kind, ty, label: y.label, span };
    let one = |at: usize| {
        let level = Expr { kind: ExprKind::Level(at), ty: Type::Category(Levels::clone(levels)), label: Label::Public, span };
        let own = row(ExprKind::Call(Builtin::Eq, vec![y.clone(), level]), Type::Bool);
        let [yes, no] = [k - 1.0, -1.0].map(|x| Box::new(facts::literal(x, span)));
        row(ExprKind::If(Box::new(own), yes, no), Type::Real(Range::new(-1.0, k - 1.0)))
    };
    let most = sqrt_up(mul_up(k, k - 1.0));
    let norms = |x: f64| Norms { l1: k * x, l2: k.sqrt() * x, linf: x };
    // The largest box: nothing is moved onto a ball, so that numbers stay whole.
    let (sup, diam) = (norms(k - 1.0), norms(k));
    let ty = VectorType { dim: classes, range: Range::new(-1.0, k - 1.0), sup, diam, levels: None, axes: None, ordered: false };
    Some((row(ExprKind::List((0..levels.len()).map(one).collect()), Type::Vector(ty)), most))
}
