//! Arithmetic on public values: what `output`, `when` and `let` do after a release; it costs nothing.

use super::draws::names;
use super::fit;
use super::posterior::{Posterior, Share, chances};
use super::predict::predict;
use super::simulate::{self, simulate};
use super::strata::written_out;
use super::value::Value;
use crate::data::{eval, machine};
use crate::mechanism::MechanismError;
use crate::mechanism::bits::OsBits;
use crate::mechanism::plan::Noise;
use crate::model::fit::Fit;
use crate::model::{Binary, Builtin, Expr, ExprKind, ReleaseId, ScalarId, TableId, Type, VectorType, moments};
use crate::numeric::quotient::{Quotient, Shape};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Why a public expression has no value: never depends on private rows beyond what was released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoValue {
    /// A public scalar was not bound with `--public`.
    Unbound,
    /// Something that this version cannot compute.
    Unsupported,
    /// No randomness for `simulate`.
    NoRandomness,
    /// The program was built without the feature `nuts`.
    NoNuts,
}

/// Everything public that an expression can mention.
pub struct Known<'r> {
    pub released: BTreeMap<ReleaseId, Value>,
    pub scalars: BTreeMap<ScalarId, f64>,
    /// The noise of releases that are counts.
    pub laws: BTreeMap<ReleaseId, Noise>,
    /// Public numbers of rows.
    pub rows: BTreeMap<TableId, u64>,
    /// Aggregates over bound public tables and over public columns.
    pub public: &'r dyn Fn(&Expr, &dyn eval::Environment) -> Option<Value>,
    pub rng: RefCell<OsBits>,
}

impl eval::Environment for Known<'_> {
    fn value(&self, expr: &Expr) -> Option<Vec<f64>> {
        evaluate(expr, self).ok().map(|v| v.numbers())
    }
}

/// The value of a public expression.
pub fn evaluate(e: &Expr, known: &Known) -> Result<Value, NoValue> {
    match &e.kind {
        ExprKind::Number(x) => Ok(Value::Number(*x)),
        ExprKind::Bool(b) => Ok(Value::Bool(*b)),
        ExprKind::Text(s) => Ok(Value::Text(s.clone())),
        ExprKind::Level(i) => Ok(Value::Number(*i as f64)),
        ExprKind::Released(id) => known.released.get(id).cloned().ok_or(NoValue::Unsupported),
        ExprKind::Scalar(id) => known.scalars.get(id).map(|x| Value::Number(*x)).ok_or(NoValue::Unbound),
        ExprKind::RowCount(t) => known.rows.get(t).map(|n| Value::Number(*n as f64)).ok_or(NoValue::Unbound),
        ExprKind::List(items) => {
            let parts: Result<Vec<Value>, NoValue> = items.iter().map(|i| evaluate(i, known)).collect();
            Ok(Value::Vector(parts?.iter().flat_map(Value::numbers).collect()))
        }
        ExprKind::If(c, a, b) => {
            let c = evaluate(c, known)?.as_number().ok_or(NoValue::Unsupported)?;
            evaluate(if c != 0.0 { a } else { b }, known)
        }
        ExprKind::Index(v, i) => index(v, i, known),
        ExprKind::Field(r, name) => match evaluate(r, known)? {
            Value::Record(parts) => parts.into_iter().find(|(n, _)| n == name).map(|(_, v)| v).ok_or(NoValue::Unsupported),
            _ => Err(NoValue::Unsupported),
        },
        ExprKind::Call(f, args) => call(*f, e, args, known),
        ExprKind::Fit(of) => fitted(of, known),
        ExprKind::Column(..) | ExprKind::Param(_) | ExprKind::EachLevel => Err(NoValue::Unsupported),
    }
}

/// A chain on released counts.
fn fitted(of: &Fit, known: &Known) -> Result<Value, NoValue> {
    let cells = of.tables.first().ok_or(NoValue::Unsupported)?;
    let noise = *known.laws.get(&cells.release).ok_or(NoValue::Unsupported)?;
    let (noisy, totals) = (evaluate(&cells.cells, known)?.numbers(), evaluate(&cells.totals, known)?.numbers());
    let draws = fit::posterior(of, (noise, &noisy, &totals), known).map_err(without_chains)?;
    Ok(Value::Posterior(Posterior::Draws(draws)))
}

fn without_chains(why: MechanismError) -> NoValue {
    if why == MechanismError::NoNuts { NoValue::NoNuts } else { NoValue::Unsupported }
}

fn index(v: &Expr, i: &Expr, known: &Known) -> Result<Value, NoValue> {
    let level = matches!(i.kind, ExprKind::Level(_));
    let at = evaluate(i, known)?.as_number().ok_or(NoValue::Unsupported)?;
    // Indices start at 1, levels at 0; a released index is clamped to its declared range by its type.
    let at = if level { at } else { at.round() - 1.0 };
    let at = if at.is_nan() || at < 0.0 { 0 } else { at as usize };
    match evaluate(v, known)? {
        Value::Posterior(p) => p.component(at).map(Value::Posterior).ok_or(NoValue::Unsupported),
        Value::Matrix(rows) => rows.into_iter().nth(at).map(Value::Vector).ok_or(NoValue::Unsupported),
        Value::GridVector(v) => v.get(at).map(|x| Value::Grid(*x)).ok_or(NoValue::Unsupported),
        v => v.numbers().get(at).map(|x| Value::Number(*x)).ok_or(NoValue::Unsupported),
    }
}

/// A constant index from 0: a level, or a number from 1.
fn place(e: &Expr) -> Option<usize> {
    match e.kind {
        ExprKind::Level(i) => Some(i),
        _ => e.constant().filter(|x| *x >= 1.0).map(|x| x as usize - 1),
    }
}

fn places(list: &Expr) -> Option<Vec<usize>> {
    let ExprKind::List(items) = &list.kind else { return None };
    items.iter().map(place).collect()
}

/// A number of a released posterior, or several shares together, named by constants.
fn share(e: &Expr) -> Option<(&Expr, Vec<usize>)> {
    let (post, set) = match &e.kind {
        ExprKind::Index(p, i) => (p.as_ref(), vec![place(i)?]),
        ExprKind::Call(Builtin::PosteriorSum, parts) => (parts.first()?, places(parts.get(1)?)?),
        _ => return None,
    };
    let joint = matches!(&post.ty, Type::Posterior(inner) if matches!(inner.as_ref(), Type::Simplex { .. } | Type::Vector(_)));
    joint.then_some((post, set))
}

/// How likely some numbers of one posterior are above others: they depend on each other. `None` for anything else, groups
/// among it.
fn ahead(args: &[Expr], known: &Known) -> Option<Value> {
    let [a, b] = args else { return None };
    let ((post, ours), (other, theirs)) = (share(a)?, share(b)?);
    let (ExprKind::Released(p), ExprKind::Released(q)) = (&post.kind, &other.kind) else { return None };
    match evaluate(post, known).ok()? {
        Value::Posterior(post) if p == q => post.ahead(&ours, &theirs).map(Value::Number),
        _ => None,
    }
}

fn call(f: Builtin, e: &Expr, args: &[Expr], known: &Known) -> Result<Value, NoValue> {
    match f {
        Builtin::RowSum
        | Builtin::RowMean
        | Builtin::RowCountAgg
        | Builtin::RowHistogram
        | Builtin::RowMin
        | Builtin::RowMax
        | Builtin::RowQuantile => {
            return (known.public)(e, known).ok_or(NoValue::Unbound);
        }
        Builtin::EachDraw => {
            let [e, all] = args else { return Err(NoValue::Unsupported) };
            let Value::Posterior(Posterior::Draws(draws)) = evaluate(all, known)? else { return Err(NoValue::Unsupported) };
            let e = written_out(e, &|rows| (known.public)(rows, known)).ok_or(NoValue::Unbound)?;
            let found = fit::each_draw(&e, &draws, &all.ty, known).ok_or(NoValue::Unsupported)?;
            return Ok(Value::Posterior(Posterior::Draws(found)));
        }
        Builtin::PosteriorSum => {
            let (Some(p), Some(set)) = (args.first(), args.get(1).and_then(places)) else { return Err(NoValue::Unsupported) };
            let Value::Posterior(p) = evaluate(p, known)? else { return Err(NoValue::Unsupported) };
            return p.together(&set).map(Value::Posterior).ok_or(NoValue::Unsupported);
        }
        Builtin::Quotient => return quotient(&e.ty, args, known),
        Builtin::PosteriorLarger => {
            if let Some(chance) = ahead(args, known) {
                return Ok(chance);
            }
        }
        Builtin::Simulate => {
            let (name, rest) = args.split_first().ok_or(NoValue::Unsupported)?;
            let ExprKind::Text(name) = &name.kind else { return Err(NoValue::Unsupported) };
            let values: Result<Vec<Value>, NoValue> = rest.iter().map(|a| evaluate(a, known)).collect();
            return simulate(name, &values?, &mut *known.rng.borrow_mut());
        }
        _ => {}
    }
    let values: Result<Vec<Value>, NoValue> = args.iter().map(|a| evaluate(a, known)).collect();
    let values = values?;
    let numbers = |i: usize| values.get(i).map(Value::numbers).unwrap_or_default();
    let scalar = |i: usize| values.get(i).and_then(Value::as_number).ok_or(NoValue::Unsupported);
    let out = match (f, values.as_slice()) {
        (Builtin::Predictive | Builtin::Loo | Builtin::LooCompare | Builtin::MadeUp, values) => {
            predict(f, args, values, known).map_err(without_chains)?
        }
        (Builtin::PosteriorLarger, [Value::Posterior(p), Value::Posterior(q)]) => Value::Number(p.larger(q)),
        (Builtin::Predict(mean), [Value::Posterior(p), x, added @ ..]) => {
            let added = added.first().and_then(Value::as_number).unwrap_or(0.0);
            p.predicted((&x.numbers(), added), mean).map(Value::Posterior).ok_or(NoValue::Unsupported)?
        }
        (Builtin::PredictClasses, [Value::Matrix(w), x]) => Value::Vector(chances(&w.concat(), &x.numbers())),
        (Builtin::PredictClasses, [Value::Posterior(p), x]) => {
            let Type::Posterior(of) = &e.ty else { return Err(NoValue::Unsupported) };
            Value::Posterior(p.classes(&x.numbers(), names("", of), &mut *known.rng.borrow_mut()).ok_or(NoValue::NoRandomness)?)
        }
        (Builtin::PosteriorSample, [Value::Posterior(p), _]) => {
            Value::Vector(simulate::sample(p, scalar(1)?, &mut *known.rng.borrow_mut())?)
        }
        (_, [Value::Posterior(p), rest @ ..]) => of_posterior(f, p, rest)?,
        (Builtin::Clip, [_, _, _]) => {
            let (lo, hi) = (scalar(1)?, scalar(2)?);
            shaped(&values, numbers(0).into_iter().map(|x| if x.is_nan() { lo } else { x.min(hi).max(lo) }).collect())
        }
        (Builtin::Dot, [_, _]) => Value::Number(numbers(0).iter().zip(numbers(1)).map(|(a, b)| a * b).sum()),
        (Builtin::MatVec, [Value::Matrix(rows), x]) => {
            let x = x.numbers();
            Value::Vector(rows.iter().map(|r| r.iter().zip(&x).map(|(a, b)| a * b).sum()).collect())
        }
        (Builtin::Margin, [_, kept @ ..]) => margin(args.first().map(|a| &a.ty), &numbers(0), kept).ok_or(NoValue::Unsupported)?,
        (Builtin::Append, _) => Value::Vector(values.iter().flat_map(Value::numbers).collect()),
        (Builtin::Products, [_]) => Value::Vector(moments::products(&numbers(0))),
        (Builtin::Rep, [_, _]) => Value::Vector(vec![scalar(0)?; scalar(1)?.max(0.0) as usize]),
        (Builtin::Norm, [_]) => Value::Number(numbers(0).iter().map(|x| x * x).sum::<f64>().sqrt()),
        (Builtin::VecSum | Builtin::VecMean | Builtin::VecMin | Builtin::VecMax | Builtin::VecSd, [v]) => {
            Value::Number(machine::fold(f, &v.numbers()))
        }
        (Builtin::VecQuantile, [_, q]) => {
            let mut v = numbers(0);
            v.sort_by(f64::total_cmp);
            match q {
                q if q.is_scalar() => Value::Number(quantile(&v, scalar(1)?)),
                q => Value::Vector(q.numbers().into_iter().map(|q| quantile(&v, q)).collect()),
            }
        }
        (Builtin::Unary(f), [a]) => truth(e, shaped(&values, a.numbers().into_iter().map(f.facts().value).collect())),
        (Builtin::Binary(f), [a, b]) => truth(e, elementwise(f, a, b)?),
        _ => return Err(NoValue::Unsupported),
    };
    Ok(out)
}

/// A released sum of numbers in [-1, 1], and beside it their weighted count where that is not public; of groups one after the other.
fn quotient(ty: &Type, args: &[Expr], known: &Known) -> Result<Value, NoValue> {
    let [parts, by, lo, hi, groups @ ..] = args else { return Err(NoValue::Unsupported) };
    let number = |e: &Expr| evaluate(e, known)?.as_number().ok_or(NoValue::Unsupported);
    let (by, lo, hi) = (evaluate(by, known)?.numbers(), number(lo)?, number(hi)?);
    let ExprKind::Released(id) = parts.kind else { return Err(NoValue::Unsupported) };
    let (shape, scale) = match known.laws.get(&id) {
        Some(Noise::Laplace { scale }) => (Shape::Laplace, *scale),
        Some(Noise::Gaussian { sigma }) => (Shape::Normal, *sigma),
        _ => return Err(NoValue::Unsupported),
    };
    let numbers = evaluate(parts, known)?.numbers();
    let each = numbers.len().checked_div(groups.len().max(1)).filter(|n| *n > 0).ok_or(NoValue::Unsupported)?;
    let one = |(g, parts): (usize, &[f64])| {
        let of = match (parts, by.as_slice()) {
            ([sum, count], [by]) => Quotient { shape, sum: *sum, count: count / by, noise: [scale, scale / by] },
            ([sum], by) => Quotient { shape, sum: *sum, count: *by.get(g)?, noise: [scale, 0.0] },
            _ => return None,
        };
        Some(Posterior::Quotient(Share { of, lo, hi }))
    };
    let mut all = numbers.chunks(each).enumerate().map(one).collect::<Option<Vec<_>>>().ok_or(NoValue::Unsupported)?;
    let scalar = matches!(ty, Type::Posterior(of) if of.is_scalar_number());
    Ok(Value::Posterior(if scalar { all.pop().ok_or(NoValue::Unsupported)? } else { Posterior::Product(all) }))
}

/// What is asked of a released posterior: of a vector every number by itself.
fn of_posterior(f: Builtin, p: &Posterior, rest: &[Value]) -> Result<Value, NoValue> {
    let shaped = |v: Vec<f64>| match v.as_slice() {
        [one] if p.is_scalar() => Value::Number(*one),
        _ => Value::Vector(v),
    };
    let marginals = p.marginals();
    let each = |f: &dyn Fn(&Posterior, &[f64]) -> Vec<f64>| -> Result<Value, NoValue> {
        let at = rest.first().ok_or(NoValue::Unsupported)?;
        let values = marginals.iter().map(|m| f(m, &at.numbers()));
        Ok(match (at.is_scalar(), p.is_scalar()) {
            (true, _) => shaped(values.flatten().collect()),
            (false, true) => Value::Vector(values.flatten().collect()),
            (false, false) => Value::Matrix(values.collect()),
        })
    };
    match f {
        Builtin::PosteriorMean => Ok(shaped(p.mean())),
        Builtin::PosteriorSd => Ok(shaped(p.sd())),
        Builtin::PosteriorQuantile => each(&|m, q| m.quantiles(q)),
        Builtin::PosteriorDensity => each(&|m, x| x.iter().map(|x| m.density(*x)).collect()),
        Builtin::PosteriorCdf => each(&|m, x| m.cdf(x)),
        _ => Err(NoValue::Unsupported),
    }
}

/// The cells of a table, added up over every axis that is not kept; the last axis is the fastest in both.
fn margin(ty: Option<&Type>, cells: &[f64], kept: &[Value]) -> Option<Value> {
    let Some(Type::Vector(VectorType { axes: Some(axes), .. })) = ty else { return None };
    let kept: Vec<usize> = kept.iter().filter_map(|k| k.as_number().map(|k| k as usize)).collect();
    let sizes: Vec<usize> = axes.iter().map(|a| a.levels.len()).collect();
    let mut sums = vec![0.0; kept.iter().filter_map(|k| sizes.get(*k)).product()];
    for (i, count) in cells.iter().enumerate() {
        let place = |axis: usize| {
            let below: usize = sizes.iter().skip(axis + 1).product();
            Some(i / below.max(1) % sizes.get(axis)?)
        };
        let at = kept.iter().try_fold(0, |at, k| Some(at * sizes.get(*k)? + place(*k)?))?;
        *sums.get_mut(at)? += count;
    }
    Some(Value::Vector(sums))
}

/// A comparison of two numbers is true or false; of vectors, a vector of 0 and 1.
fn truth(e: &Expr, v: Value) -> Value {
    match (&e.ty, v.as_number()) {
        (Type::Bool, Some(x)) => Value::Bool(x != 0.0),
        _ => v,
    }
}

fn elementwise(f: Binary, a: &Value, b: &Value) -> Result<Value, NoValue> {
    let (x, y) = (a.numbers(), b.numbers());
    let out: Vec<f64> = match (a.is_scalar(), b.is_scalar()) {
        (false, true) => {
            let y = b.as_number().ok_or(NoValue::Unsupported)?;
            x.into_iter().map(|x| f.value(x, y)).collect()
        }
        (true, false) => {
            let x = a.as_number().ok_or(NoValue::Unsupported)?;
            y.into_iter().map(|y| f.value(x, y)).collect()
        }
        _ => x.into_iter().zip(y).map(|(x, y)| f.value(x, y)).collect(),
    };
    Ok(shaped(&[a.clone(), b.clone()], out))
}

/// Numbers in the shape of the first argument that is not a single number.
fn shaped(like: &[Value], numbers: Vec<f64>) -> Value {
    match like.iter().find(|v| !v.is_scalar()) {
        None => numbers.first().map_or(Value::Vector(vec![]), |x| Value::Number(*x)),
        Some(Value::Matrix(rows)) => {
            let width = rows.first().map_or(1, Vec::len).max(1);
            Value::Matrix(numbers.chunks(width).map(<[f64]>::to_vec).collect())
        }
        Some(_) => Value::Vector(numbers),
    }
}

/// The quantile of sorted values, by linear interpolation (R's type 7).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let at = q.clamp(0.0, 1.0) * last as f64;
    let (low, part) = (at.floor(), at.fract());
    let get = |i: usize| sorted.get(i.min(last)).copied().unwrap_or(f64::NAN);
    let (a, b) = (get(low as usize), get(low as usize + 1));
    if part == 0.0 { a } else { a + part * (b - a) }
}
