//! Aggregate expressions evaluated exactly from integer totals.

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::grid::Number;
use super::prepare::aggregate;
use super::real::rational;
use super::{MechanismError, Scope};
use crate::data::eval::{Environment, compile};
use crate::data::layout::width;
use crate::data::project::into_range;
use crate::data::scan::{Measured, Totals};
use crate::data::statistic;
use crate::model::{Builtin, Expr, ExprKind, Label, Range, TableId, Type};

/// Evaluates an aggregate expression; linear parts, `clip`, `min`, `max` and `abs` are exact, other functions go
/// through doubles.
pub(crate) struct Evaluator<'a> {
    pub table: TableId,
    pub measured: &'a Measured,
    pub scope: &'a Scope<'a>,
    /// Totals in the order of a walk; see `Job::aggregates`.
    pub next: std::slice::Iter<'a, Totals>,
}

const BAD: MechanismError = MechanismError::Expression;

impl Evaluator<'_> {
    pub fn value(&mut self, e: &Expr) -> Result<Vec<RBig>, MechanismError> {
        if e.label == Label::Public {
            return public(e, self.scope, self.measured.rows);
        }
        if let Some(statistic) = aggregate(e, self.table) {
            statistic?;
            let sums = self.totals()?;
            return match &e.kind {
                ExprKind::Call(Builtin::RowMean, _) => {
                    let n = RBig::from(self.measured.rows.max(1));
                    Ok(sums.into_iter().map(|s| s / &n).collect())
                }
                _ => Ok(sums),
            };
        }
        match &e.kind {
            ExprKind::Call(Builtin::RowCountAgg, args) if args.is_empty() => Ok(vec![RBig::from(self.measured.rows)]),
            ExprKind::RowCount(_) => Ok(vec![RBig::from(self.measured.rows)]),
            ExprKind::List(items) => {
                let mut out = vec![];
                for item in items {
                    out.extend(self.value(item)?);
                }
                Ok(out)
            }
            ExprKind::Index(vector, index) => {
                let values = self.value(vector)?;
                let at = self.value(index)?;
                let base = usize::from(!matches!(index.ty, Type::Category(_)));
                let place = at.first().map(RBig::floor).ok_or(BAD)?;
                let place = usize::try_from(&place).map_err(|_| BAD)?;
                let value = place.checked_sub(base).and_then(|i| values.get(i));
                Ok(vec![value.ok_or(BAD)?.clone()])
            }
            ExprKind::Call(f, args) => {
                let mut values = vec![];
                for arg in args {
                    values.push(self.value(arg)?);
                }
                apply(*f, values, width(&e.ty), e.ty.range())
            }
            _ => Err(BAD),
        }
    }

    fn totals(&mut self) -> Result<Vec<RBig>, MechanismError> {
        Ok(exact(self.next.next().ok_or(BAD)?))
    }
}

/// Totals as exact numbers.
pub(crate) fn exact(totals: &Totals) -> Vec<RBig> {
    let number = |i: &i128| Number::new(*i, totals.exponent).exact();
    totals.sums.iter().map(number).collect()
}

/// The public number of rows, where the surroundings do not say it.
struct WithRows<'a> {
    env: &'a dyn Environment,
    rows: u64,
}

impl Environment for WithRows<'_> {
    fn value(&self, e: &Expr) -> Option<Vec<f64>> {
        self.env.value(e).or(match e.kind {
            ExprKind::RowCount(_) => Some(vec![self.rows as f64]),
            _ => None,
        })
    }
}

/// A public expression as exact numbers.
pub(crate) fn public(e: &Expr, scope: &Scope, rows: u64) -> Result<Vec<RBig>, MechanismError> {
    let env = WithRows { env: scope.env, rows };
    let mut values = vec![];
    compile(e, TableId(usize::MAX), scope.table, &env)?.row(&[], &mut values);
    values.into_iter().map(rational).collect()
}

/// Does [`Evaluator`] compute this aggregate, exactly? Known before any data is read.
pub(crate) fn computable(e: &Expr, table: TableId) -> bool {
    if e.label == Label::Public {
        return true;
    }
    if let Some(statistic) = aggregate(e, table) {
        return statistic.is_ok();
    }
    match &e.kind {
        ExprKind::RowCount(_) => true,
        ExprKind::Call(Builtin::RowCountAgg, args) if args.is_empty() => true,
        ExprKind::List(items) => items.iter().all(|x| computable(x, table)),
        ExprKind::Index(vector, index) => computable(vector, table) && computable(index, table),
        ExprKind::Call(f, args) => {
            use Builtin as B;
            let exact = match *f {
                B::Unary(f) => f.facts().fraction.is_some(),
                f => matches!(f, B::Add | B::Sub | B::Mul | B::Div | B::Min | B::Max | B::Clip | B::Append),
            };
            exact && args.iter().all(|x| computable(x, table))
        }
        _ => false,
    }
}

fn apply(f: Builtin, mut args: Vec<Vec<RBig>>, n: usize, range: Option<Range>) -> Result<Vec<RBig>, MechanismError> {
    if f == Builtin::Append {
        return Ok(args.concat());
    }
    for arg in &mut args {
        if let ([x], true) = (arg.as_slice(), n > 1) {
            *arg = vec![x.clone(); n];
        }
        if arg.len() != n {
            return Err(BAD);
        }
    }
    let mut columns: Vec<_> = args.into_iter().map(Vec::into_iter).collect();
    (0..n)
        .map(|_| {
            let xs: Vec<RBig> = columns.iter_mut().filter_map(Iterator::next).collect();
            scalar(f, &xs, range.unwrap_or(Range::ALL))
        })
        .collect()
}

fn scalar(f: Builtin, xs: &[RBig], range: Range) -> Result<RBig, MechanismError> {
    Ok(match (f, xs) {
        (Builtin::Add, [a, b]) => a + b,
        (Builtin::Sub, [a, b]) => a - b,
        (Builtin::Mul, [a, b]) => a * b,
        (Builtin::Div, [a, b]) if *b != RBig::ZERO => a / b,
        (Builtin::Min, [a, b]) => a.min(b).clone(),
        (Builtin::Max, [a, b]) => a.max(b).clone(),
        // max(lo, min(x, hi)), as the checker and the rows have it.
        (Builtin::Clip, [x, lo, hi]) => x.min(hi).max(lo).clone(),
        (Builtin::Unary(f), [a]) => match f.facts().fraction {
            Some(f) => f(a.clone()),
            None => through_doubles((f.facts().value)(a.to_f64().value()), range)?,
        },
        (Builtin::Binary(f), [a, b]) => through_doubles(f.value(a.to_f64().value(), b.to_f64().value()), range)?,
        _ => return Err(BAD),
    })
}

fn through_doubles(y: f64, range: Range) -> Result<RBig, MechanismError> {
    rational(into_range(y, range))
}

/// An exponent e such that the expression's value is always a multiple of `2^e`; `None` if there is none in sight.
pub(crate) fn grid_of(e: &Expr, table: TableId) -> Option<i32> {
    if let Some(statistic) = aggregate(e, table) {
        statistic.ok()?;
        return match &e.kind {
            ExprKind::Call(Builtin::RowSum | Builtin::RowCountAgg, args) => statistic::exponent(&args.first()?.ty).ok(),
            ExprKind::Call(Builtin::RowHistogram, _) => Some(0),
            _ => None,
        };
    }
    match &e.kind {
        ExprKind::Number(x) => literal_exponent(*x),
        ExprKind::Bool(_) | ExprKind::RowCount(_) => Some(0),
        ExprKind::Call(Builtin::RowCountAgg, args) if args.is_empty() => Some(0),
        // Of what is public, in doubles: whole numbers come out whole.
        ExprKind::Call(f, _) if f.over_rows() => matches!((f, &e.ty), (Builtin::RowHistogram, _) | (_, Type::Int(_))).then_some(0),
        ExprKind::List(items) => smallest(items, table),
        ExprKind::Index(vector, _) => grid_of(vector, table),
        ExprKind::Call(Builtin::Mul, args) => args.iter().try_fold(0i32, |s, a| s.checked_add(grid_of(a, table)?)),
        ExprKind::Call(Builtin::Unary(f), args) if f.facts().fraction.is_some() => smallest(args, table),
        ExprKind::Call(Builtin::Add | Builtin::Sub | Builtin::Min | Builtin::Max | Builtin::Clip | Builtin::Append, args) => {
            smallest(args, table)
        }
        _ => None,
    }
}

fn smallest(items: &[Expr], table: TableId) -> Option<i32> {
    items.iter().try_fold(0i32, |m, e| Some(m.min(grid_of(e, table)?)))
}

/// Exponent of the last binary digit of a double, at most 0.
fn literal_exponent(x: f64) -> Option<i32> {
    let x = rational(x).ok()?;
    let d = IBig::from(x.denominator().clone());
    let places = d.trailing_zeros().unwrap_or(0);
    i32::try_from(places).ok().map(|p| -p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clip_prefers_its_lower_bound() {
        let [x, lo, hi] = [5, 3, 1].map(RBig::from);
        assert_eq!(scalar(Builtin::Clip, &[x, lo.clone(), hi], Range::ALL).unwrap(), lo);
    }
}
