//! The linear predictor of a row: which weight is multiplied by what, or the node that is not linear.

use super::link;
use crate::mechanism::plan::{Feature, Link};
use crate::model::{Builtin, Expr, ExprKind, Label, Model, ParamId, Type};
use crate::rules::Context;
use crate::rules::conjugate::facts::literal;

/// One weight, vector or matrix of weights, and its features.
pub(super) struct Term {
    pub parameter: ParamId,
    pub feature: Feature,
}

/// A sum of terms.
#[derive(Default)]
pub(super) struct Predictor {
    pub terms: Vec<Term>,
    /// What is added that contains no parameter, times a public factor.
    pub offsets: Vec<(Expr, f64)>,
}

/// Why an expression is not a predictor.
pub(super) enum Problem<'a> {
    /// This node is not linear in the parameters; where it is one factor of a product, the other.
    Curved(&'a Expr, Option<&'a Expr>),
    /// Linear, but of a form that this version does not read.
    Unread,
}

/// Reads `dot(w, x) + b`, `W * x + b`, `u[region]`, sums, differences and public multiples of them.
pub(super) fn predictor(e: &Expr) -> Result<Predictor, Problem<'_>> {
    let mut found = Predictor::default();
    read(e, 1.0, &mut found)?;
    let mut seen: Vec<ParamId> = found.terms.iter().map(|t| t.parameter).collect();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
        return Err(Problem::Unread);
    }
    Ok(found)
}

/// Does the expression mention any parameter?
pub(super) fn latent(e: &Expr) -> bool {
    matches!(e.label, Label::Latent | Label::Mix(_))
}

fn read<'a>(e: &'a Expr, factor: f64, found: &mut Predictor) -> Result<(), Problem<'a>> {
    if !latent(e) {
        found.offsets.push((e.clone(), factor));
        return Ok(());
    }
    let term = |parameter, feature| Term { parameter, feature };
    match &e.kind {
        ExprKind::Param(id) if factor == 1.0 => found.terms.push(term(*id, Feature::One)),
        ExprKind::Param(id) => found.terms.push(term(*id, Feature::Value(literal(1.0, e.span), factor))),
        ExprKind::Index(base, index) => match (&base.kind, &index.ty, latent(index)) {
            (ExprKind::Param(id), Type::Category(_), false) => {
                found.terms.push(term(*id, Feature::Level((**index).clone(), factor)));
            }
            _ => return Err(Problem::Unread),
        },
        ExprKind::Call(f, args) => match (*f, args.as_slice()) {
            (Builtin::Neg, [a]) => read(a, -factor, found)?,
            (Builtin::Add, [a, b]) => {
                read(a, factor, found)?;
                read(b, factor, found)?;
            }
            (Builtin::Sub, [a, b]) => {
                read(a, factor, found)?;
                read(b, -factor, found)?;
            }
            (Builtin::Div, [a, b]) if !latent(b) => match b.constant() {
                Some(x) if x != 0.0 => read(a, factor / x, found)?,
                _ => return Err(Problem::Unread),
            },
            (Builtin::Mul | Builtin::Dot | Builtin::MatVec, [a, b]) => product(a, b, factor, found)?,
            _ => return Err(Problem::Curved(e, None)),
        },
        _ => return Err(Problem::Unread),
    }
    Ok(())
}

fn product<'a>(a: &'a Expr, b: &'a Expr, factor: f64, found: &mut Predictor) -> Result<(), Problem<'a>> {
    let (weights, other) = match (latent(a), latent(b)) {
        (true, true) => return Err(inner(a, b)),
        (true, false) => (a, b),
        _ => (b, a),
    };
    if let Some((parameter, times)) = multiple(weights) {
        found.terms.push(Term { parameter, feature: Feature::Value(other.clone(), factor * times) });
        return Ok(());
    }
    match other.constant() {
        Some(x) => read(weights, factor * x, found),
        None => Err(read(weights, 1.0, &mut Predictor::default()).err().unwrap_or(Problem::Unread)),
    }
}

/// A parameter times a public constant, as in `-w`, `2 * w` or `w / 2`.
fn multiple(e: &Expr) -> Option<(ParamId, f64)> {
    let times = |a: &Expr, x: f64| multiple(a).map(|(parameter, factor)| (parameter, factor * x));
    match &e.kind {
        ExprKind::Param(id) => Some((*id, 1.0)),
        ExprKind::Call(Builtin::Neg, args) => args.first().and_then(|a| times(a, -1.0)),
        ExprKind::Call(Builtin::Mul, args) => match args.as_slice() {
            [a, b] => a.constant().map_or_else(|| times(a, b.constant()?), |x| times(b, x)),
            _ => None,
        },
        ExprKind::Call(Builtin::Div, args) => match args.as_slice() {
            [a, b] => times(a, 1.0 / b.constant().filter(|x| *x != 0.0)?),
            _ => None,
        },
        _ => None,
    }
}

/// Of two factors that both hold parameters, the one that is more than a parameter, and the other.
fn inner<'a>(a: &'a Expr, b: &'a Expr) -> Problem<'a> {
    if matches!(b.kind, ExprKind::Param(_)) { Problem::Curved(a, Some(b)) } else { Problem::Curved(b, Some(a)) }
}

/// Are all columns that the features and offsets read public?
pub(super) fn public_features(p: &Predictor, model: &Model, context: &Context) -> bool {
    p.terms.iter().all(|t| public_term(t, model, context)) && p.offsets.iter().all(|(e, _)| reads_public(e, model, context))
}

fn public_term(term: &Term, model: &Model, context: &Context) -> bool {
    match &term.feature {
        Feature::One => true,
        Feature::Value(e, _) | Feature::Level(e, _) => reads_public(e, model, context),
    }
}

fn reads_public(e: &Expr, model: &Model, context: &Context) -> bool {
    let mut public = true;
    e.walk(&mut |node| {
        if let ExprKind::Column(table, column) = node.kind {
            let column = context.table(table).and_then(|t| t.columns.get(column.0));
            public &= table == model.records.table && column.is_some_and(|c| c.public);
        }
    });
    public
}

/// Every weight with its feature, where all features are public and the predictor of the one observation is linear; offsets may be
/// private.
pub(in crate::rules) fn public_terms(model: &Model, context: &Context) -> Option<Vec<(ParamId, Feature)>> {
    let [observation] = model.private.as_slice() else { return None };
    let outcome = link::outcome(observation).ok()?;
    let read = predictor(outcome.predictor).ok().filter(|_| !matches!(outcome.link, Link::Softmax { .. }))?;
    let public = read.terms.iter().all(|t| public_term(t, model, context));
    public.then(|| read.terms.into_iter().map(|t| (t.parameter, t.feature)).collect())
}
