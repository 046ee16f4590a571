//! Row expressions compiled once to a flat postfix program, then run on every row: total, deterministic, clamped.

use crate::model::{Binary, Builtin, Expr, ExprKind, Label, Range, Table, TableId, Type};
use crate::numeric::unary::Whole;

use super::StatisticError;
use super::layout::{is_settled, offsets, width};
use super::machine::{Compiled, Op};

/// Public values that expressions mention: released values, scalars, row counts, the level of an `each`.
pub trait Environment {
    /// The numbers of a public expression, component by component; `None` to have it computed from its parts.
    fn value(&self, expr: &Expr) -> Option<Vec<f64>>;
}

/// Knows nothing: for programs whose row expressions mention columns and constants alone.
pub struct NoEnvironment;

impl Environment for NoEnvironment {
    fn value(&self, _: &Expr) -> Option<Vec<f64>> {
        None
    }
}

/// Compiles an expression over the rows of one table.
///
/// Fails on what has no meaning on a row (parameters, texts, aggregates), before any data is read.
pub fn compile(expr: &Expr, id: TableId, table: &Table, env: &dyn Environment) -> Result<Compiled, StatisticError> {
    let mut builder = Builder { ops: vec![], id, starts: offsets(table).0, table, env };
    builder.expr(expr)?;
    let corner = corner(expr);
    let settled = is_settled(&expr.ty, &corner);
    Ok(Compiled { ops: builder.ops, width: width(&expr.ty), ty: expr.ty.clone(), range: expr.ty.range(), corner, settled })
}

/// What every component of an expression is at most, in magnitude.
fn corner(expr: &Expr) -> Vec<f64> {
    match &expr.kind {
        ExprKind::List(items) => items.iter().flat_map(corner).collect(),
        _ => vec![expr.ty.range().map_or(f64::INFINITY, Range::magnitude); width(&expr.ty)],
    }
}

/// What row expressions may read.
pub struct RowScope<'a> {
    pub id: TableId,
    pub table: &'a Table,
    pub env: &'a dyn Environment,
}

impl RowScope<'_> {
    pub(super) fn compile(&self, e: &Expr) -> Result<Compiled, StatisticError> {
        compile(e, self.id, self.table, self.env)
    }
}

struct Builder<'a> {
    ops: Vec<Op>,
    id: TableId,
    starts: Vec<usize>,
    table: &'a Table,
    env: &'a dyn Environment,
}

const UNKNOWN: StatisticError = StatisticError::Expression;

impl Builder<'_> {
    fn expr(&mut self, expr: &Expr) -> Result<(), StatisticError> {
        let known = match expr.label {
            Label::Public => self.env.value(expr),
            _ => None,
        };
        if let Some(values) = known {
            if values.len() != width(&expr.ty) {
                return Err(UNKNOWN);
            }
            self.ops.extend(values.into_iter().map(Op::Push));
            return Ok(());
        }
        match &expr.kind {
            ExprKind::Number(x) => self.push(*x),
            ExprKind::Bool(b) => self.push(f64::from(u8::from(*b))),
            ExprKind::Level(i) => self.push(*i as f64),
            ExprKind::Column(table, column) if *table == self.id => {
                let at = *self.starts.get(column.0).ok_or(UNKNOWN)?;
                let column = self.table.columns.get(column.0).ok_or(UNKNOWN)?;
                let n = width(&column.ty);
                if n == 0 {
                    return Err(UNKNOWN);
                }
                self.ops.push(Op::Load { at, n });
                Ok(())
            }
            ExprKind::List(items) => items.iter().try_for_each(|e| self.expr(e)),
            ExprKind::If(c, a, b) => {
                let n = width(&expr.ty);
                self.expr(c)?;
                self.wide(a, n)?;
                self.wide(b, n)?;
                self.ops.push(Op::Select(n));
                Ok(())
            }
            ExprKind::Index(vector, index) => {
                self.expr(vector)?;
                self.expr(index)?;
                if matches!(index.ty, Type::Category(_)) {
                    // Level indices start at 0, positions at 1.
                    self.push(1.0)?;
                    self.ops.push(Op::Binary(Binary::Add, 1));
                }
                self.ops.push(Op::Index(width(&vector.ty)));
                Ok(())
            }
            ExprKind::Field(record, name) => self.field(record, name),
            ExprKind::Call(builtin, args) => {
                self.call(*builtin, args, width(&expr.ty))?;
                if may_leave(*builtin)
                    && let Some(range) = expr.ty.range().filter(|r| *r != Range::ALL)
                {
                    self.ops.push(Op::Clamp(range, width(&expr.ty)));
                }
                Ok(())
            }
            _ => Err(UNKNOWN),
        }
    }

    fn push(&mut self, x: f64) -> Result<(), StatisticError> {
        self.ops.push(Op::Push(x));
        Ok(())
    }

    /// An expression of one number or n, as n numbers.
    fn wide(&mut self, expr: &Expr, n: usize) -> Result<(), StatisticError> {
        self.expr(expr)?;
        match width(&expr.ty) {
            w if w == n => Ok(()),
            1 => {
                self.ops.push(Op::Repeat(n));
                Ok(())
            }
            _ => Err(UNKNOWN),
        }
    }

    fn field(&mut self, record: &Expr, name: &str) -> Result<(), StatisticError> {
        let Type::Record(parts) = &record.ty else {
            return Err(UNKNOWN);
        };
        let values = self.env.value(record).ok_or(UNKNOWN)?;
        let mut from = 0;
        for (part, ty) in parts {
            if part == name {
                let n = values.len();
                self.ops.extend(values.into_iter().map(Op::Push));
                let size = width(ty);
                self.ops.push(Op::Keep { n, from, size });
                return Ok(());
            }
            from += width(ty);
        }
        Err(UNKNOWN)
    }

    fn call(&mut self, builtin: Builtin, args: &[Expr], n: usize) -> Result<(), StatisticError> {
        use Builtin as B;
        match (builtin, args) {
            (B::Unary(f), [x]) => {
                self.wide(x, n)?;
                self.ops.push(Op::Unary(f.facts().value, n));
            }
            (B::Binary(f), [a, b]) => {
                self.wide(a, n)?;
                self.wide(b, n)?;
                self.ops.push(Op::Binary(f, n));
            }
            (B::Clip, [x, lo, hi]) => {
                self.wide(x, n)?;
                // max(lo, min(x, hi)), the range that the checker computes.
                self.wide(hi, n)?;
                self.ops.push(Op::Binary(Binary::Min, n));
                self.wide(lo, n)?;
                self.ops.push(Op::Binary(Binary::Max, n));
            }
            (B::Dot, [a, b]) => {
                let d = width(&a.ty);
                self.wide(a, d)?;
                self.wide(b, d)?;
                self.ops.push(Op::Dot(d));
            }
            (B::MatVec, [m, x]) => {
                let columns = width(&x.ty).max(1);
                self.expr(m)?;
                self.expr(x)?;
                let rows = width(&m.ty) / columns;
                self.ops.push(Op::MatVec { rows, columns });
            }
            (B::Append, items) => items.iter().try_for_each(|e| self.expr(e))?,
            (B::Rep, [x, ..]) => self.wide(x, n)?,
            (B::Norm, [x, ..]) => {
                self.expr(x)?;
                self.ops.push(Op::Norm(width(&x.ty)));
            }
            (B::Products, [x]) => {
                self.expr(x)?;
                self.ops.push(Op::Products(width(&x.ty)));
            }
            (B::ProjectL1 | B::ProjectL2 | B::ProjectLinf, [a, b]) => {
                // The vector and its radius, in either order.
                let (x, radius) = if width(&a.ty) == n && !a.ty.is_scalar_number() { (a, b) } else { (b, a) };
                self.expr(x)?;
                self.expr(radius)?;
                self.ops.push(Op::Project(builtin, n));
            }
            (B::VecSum | B::VecMean | B::VecMin | B::VecMax | B::VecSd, [x]) => {
                self.expr(x)?;
                self.ops.push(Op::Fold(builtin, width(&x.ty)));
            }
            (B::Bin, [x, Expr { kind: ExprKind::List(edges), .. }]) => {
                self.expr(x)?;
                self.ops.push(Op::Bin(edges.iter().map(|e| e.constant().ok_or(UNKNOWN)).collect::<Result<_, _>>()?));
            }
            (B::Cell, values) => {
                self.push(0.0)?;
                for x in values {
                    let (first, size) = places(&x.ty).ok_or(UNKNOWN)?;
                    self.push(size as f64)?;
                    self.ops.push(Op::Binary(Binary::Mul, 1));
                    self.expr(x)?;
                    self.push(first as f64)?;
                    self.ops.push(Op::Binary(Binary::Sub, 1));
                    self.ops.push(Op::Binary(Binary::Add, 1));
                }
            }
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }
}

/// The first of finitely many values, and their number.
fn places(ty: &Type) -> Option<(i64, u64)> {
    match ty {
        Type::Category(levels) => Some((0, levels.len() as u64)),
        Type::Bool => Some((0, 2)),
        Type::Int(range) if range.is_finite() => Some((range.lo as i64, (range.hi - range.lo) as u64 + 1)),
        _ => None,
    }
}

/// Operations whose rounding is not known to be monotone: a value from the middle of a range may come out beyond its ends. So may
/// a product of a number with itself, or with what is left of a constant, whose range is narrower than that of its factors.
fn may_leave(f: Builtin) -> bool {
    use Builtin as B;
    match f {
        B::Unary(f) => f.facts().whole == Whole::No,
        f => matches!(f, B::Mul | B::Pow | B::Dot | B::MatVec | B::Norm | B::VecSum | B::VecMean | B::VecSd),
    }
}
