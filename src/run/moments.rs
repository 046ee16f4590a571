//! Posteriors of released moments: the numbers of the normal laws of a model, and the sums that it reads.

use super::draws::released;
use crate::data::Environment;
use crate::mechanism::MechanismError;
use crate::mechanism::density::fit::{Run, Sampled};
use crate::mechanism::density::moments::{self as density, Column, Moments};
use crate::mechanism::plan::{ChainLaw, DensityLaw, Loss, Noise};
use crate::model::fit::{CellTable, Fit};
use crate::model::moments::{Scaled, pairs, square_weight};
use crate::model::{Builtin, DistCall, Expr, ExprKind, Label, Observation, ParamId, Parameter, Range, TableId, Type, Unary, VectorType};

const UNKNOWN: MechanismError = MechanismError::Parameter;
/// The parameter of a chain that no statement declares.
const HIDDEN: ParamId = ParamId(usize::MAX);

/// Draws of the posterior given released sums with this noise over so many rows.
pub(super) fn posterior(
    of: &Fit,
    cells: &CellTable,
    (noise, noisy, rows): (Noise, &[f64], f64),
    run: Run,
    env: &dyn Environment,
) -> Result<(Sampled, f64), MechanismError> {
    let (law, numbers, mut moments) = model(of, cells, noise)?;
    let (dim, places) = (cells.axes.len(), used(of, cells)?);
    // The sums whose columns the model has, in the order of its laws.
    let own = |i: usize| places.iter().position(|p| *p == i);
    let weight = square_weight(dim as u64);
    let all = (0..dim).map(|i| (vec![i], 1.0)).chain(pairs(dim).map(|(i, j)| (vec![i, j], if i == j { weight } else { 1.0 })));
    for ((of, weight), noisy) in all.zip(noisy) {
        if let Some(of) = of.iter().map(|i| own(*i)).collect::<Option<Vec<usize>>>() {
            moments.sums.push((of, weight));
            moments.noisy.push(*noisy);
        }
    }
    moments.rows = rows;
    density::fit((&law, &numbers, moments), run, env)
}

pub(super) fn rehearse(of: &Fit, cells: &CellTable, noise: Noise, env: &dyn Environment) -> Result<(), MechanismError> {
    let (law, numbers, _) = model(of, cells, noise)?;
    density::rehearse(&law, &numbers, env)
}

/// The columns of a model, each behind those that its law names.
fn used(of: &Fit, cells: &CellTable) -> Result<Vec<usize>, MechanismError> {
    let mut left: Vec<&Observation> = of.observations.iter().collect();
    let mut found = vec![];
    while !left.is_empty() {
        let ready = |o: &&Observation| o.likelihood.args.iter().flat_map(|e| cells.columns(e)).all(|c| found.contains(&c));
        let next = left.iter().position(ready).ok_or(UNKNOWN)?;
        found.extend(cells.columns(&left.remove(next).outcome));
    }
    Ok(found)
}

/// Priors, the numbers of the likelihood as expressions of parameters, and their places; still without sums.
fn model(of: &Fit, cells: &CellTable, noise: Noise) -> Result<(DensityLaw, Vec<Expr>, Moments), MechanismError> {
    let scaled = cells.moments.as_ref().ok_or(UNKNOWN)?;
    let (variance, laplace) = match noise {
        Noise::Gaussian { sigma } => (sigma * sigma, false),
        Noise::Rounded { sigma } => (sigma * sigma + 1.0 / 12.0, false),
        Noise::Laplace { scale } => (2.0 * scale * scale, true),
        Noise::Geometric { .. } => return Err(UNKNOWN),
    };
    let places = used(of, cells)?;
    let (mut columns, mut numbers) = (vec![], vec![]);
    for place in &places {
        let o = of.observations.iter().find(|o| cells.columns(&o.outcome).contains(place)).ok_or(UNKNOWN)?;
        let Scaled { middle, half, .. } = *scaled.get(*place).ok_or(UNKNOWN)?;
        let column = match (o.likelihood.family.name, o.likelihood.args.as_slice()) {
            ("normal", [mean, sd]) => {
                let named = cells.columns(mean);
                let at = |one: Option<usize>| place_columns(mean, cells, one);
                let first = at(None);
                numbers.push(first.clone());
                for c in &named {
                    numbers.push(call(Builtin::Sub, vec![at(Some(*c)), first.clone()]));
                }
                numbers.push(sd.clone());
                let of = named.iter().map(|c| places.iter().position(|p| p == c).ok_or(UNKNOWN)).collect::<Result<_, _>>()?;
                Column::Normal { of }
            }
            ("bernoulli", [p]) => {
                numbers.push(p.clone());
                Column::Bool
            }
            ("bernoulli_logit", [p]) => {
                numbers.push(call(Builtin::Unary(Unary::InvLogit), vec![p.clone()]));
                Column::Bool
            }
            _ => return Err(UNKNOWN),
        };
        columns.push((column, middle, half));
    }
    let own: Vec<usize> = of.own().iter().flat_map(|o| cells.columns(&o.outcome)).collect();
    let given = places.iter().enumerate().filter(|(_, c)| !own.contains(c)).map(|(i, _)| i).collect();
    let mut parameters = of.parameters.clone();
    if laplace {
        let d = places.len();
        let sums = d * (d + 3) / 2;
        // Laplace noise is normal noise with a variance of its own for each sum.
        let (parameter, own) = unknown("exponential", &[1.0], Range::new(0.0, f64::INFINITY), sums as u64)?;
        parameters.push(parameter);
        numbers.extend(own);
    }
    let released = released(of)?.iter().map(|(i, _)| *i).collect();
    let law = DensityLaw { parameters, released, rows: vec![], loss: Loss::NegativeLog, chain: ChainLaw::Nuts { steps: None } };
    Ok((law, numbers, Moments { columns, sums: vec![], noisy: vec![], rows: 0.0, noise: variance, laplace, given }))
}

/// Numbers of the chain that no statement declares, with this law, and each of them.
pub(super) fn unknown(law: &str, args: &[f64], range: Range, dim: u64) -> Result<(Parameter, Vec<Expr>), MechanismError> {
    let span = crate::source::Span::default();
    let norms = crate::model::Norms::INFINITE;
    let ty = Type::Vector(VectorType { dim, range, sup: norms, diam: norms, levels: None, axes: None, ordered: false });
    let family = crate::dist::find(law).ok_or(UNKNOWN)?;
    let prior = DistCall { family, args: args.iter().map(|x| number(*x)).collect(), mixed: vec![], span };
    let all = Expr { kind: ExprKind::Param(HIDDEN), ty: ty.clone(), label: Label::Latent, span };
    let one = |i: u64| {
        let kind = ExprKind::Index(Box::new(all.clone()), Box::new(number(i as f64 + 1.0)));
        Expr { kind, ty: Type::Real(range), label: Label::Latent, span }
    };
    Ok((Parameter { id: HIDDEN, name: "unknown".into(), ty, truncated: None, prior, span }, (0..dim).map(one).collect()))
}

pub(super) fn number(x: f64) -> Expr {
    Expr { kind: ExprKind::Number(x), ty: Type::Real(Range::point(x)), label: Label::Public, span: crate::source::Span::default() }
}

pub(super) fn call(f: Builtin, args: Vec<Expr>) -> Expr {
    Expr { kind: ExprKind::Call(f, args), ty: Type::Real(Range::ALL), label: Label::Latent, span: crate::source::Span::default() }
}

/// An expression with 0 in place of each column, but 1 in place of one of them.
fn place_columns(e: &Expr, cells: &CellTable, one: Option<usize>) -> Expr {
    placed(e, cells.table, &|c| number(f64::from(u8::from(one == Some(c)))))
}

/// An expression with values in place of the columns of a table.
pub(super) fn placed(e: &Expr, table: TableId, value: &dyn Fn(usize) -> Expr) -> Expr {
    let at = |e: &Expr| placed(e, table, value);
    let all = |items: &[Expr]| items.iter().map(at).collect();
    let kind = match &e.kind {
        ExprKind::Column(t, c) if *t == table => return value(c.0),
        ExprKind::List(items) => ExprKind::List(all(items)),
        ExprKind::Call(f, items) => ExprKind::Call(*f, all(items)),
        ExprKind::If(c, a, b) => ExprKind::If(Box::new(at(c)), Box::new(at(a)), Box::new(at(b))),
        ExprKind::Index(a, i) => ExprKind::Index(Box::new(at(a)), Box::new(at(i))),
        ExprKind::Field(a, name) => ExprKind::Field(Box::new(at(a)), name.clone()),
        kind => kind.clone(),
    };
    let label = match e.label {
        Label::Row(t) | Label::Mix(t) if t == table => Label::Latent,
        label => label,
    };
    // Its range was that of the columns.
    let ty = if e.ty.is_scalar_number() && label == Label::Latent { Type::Real(Range::ALL) } else { e.ty.clone() };
    Expr { kind, ty, label, span: e.span }
}
