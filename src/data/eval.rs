//! Row expressions compiled once to a flat postfix program, then run on every row: total, deterministic, clamped.

use crate::model::{Binary, Builtin, Expr, ExprKind, Label, Range, Table, TableId, Type, moments};
use crate::numeric::unary::Whole;

use super::StatisticError;
use super::project;
use super::row::{offsets, settle, width};

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

/// One step of a program on a stack of doubles; `n` counts components.
enum Op {
    Push(f64),
    Load {
        at: usize,
        n: usize,
    },
    Unary(fn(f64) -> f64, usize),
    Binary(Binary, usize),
    /// One number to n equal ones.
    Repeat(usize),
    /// Condition, n numbers, n numbers: the first n if the condition holds.
    Select(usize),
    /// n numbers and a 1-based index.
    Index(usize),
    /// n numbers, of which `size` from `from` are kept.
    Keep {
        n: usize,
        from: usize,
        size: usize,
    },
    Dot(usize),
    MatVec {
        rows: usize,
        columns: usize,
    },
    Norm(usize),
    Products(usize),
    /// n numbers and a radius.
    Project(Builtin, usize),
    /// n numbers moved into a range.
    Clamp(Range, usize),
    Fold(Builtin, usize),
    /// How many of these rising numbers a number is not below.
    Bin(Vec<f64>),
}

/// A compiled row expression: `row` in, `width` numbers of its declared type out.
pub struct Compiled {
    ops: Vec<Op>,
    width: usize,
    ty: Type,
    range: Option<Range>,
}

/// Compiles an expression over the rows of one table.
///
/// Fails on what has no meaning on a row (parameters, texts, aggregates), before any data is read.
pub fn compile(expr: &Expr, id: TableId, table: &Table, env: &dyn Environment) -> Result<Compiled, StatisticError> {
    let mut builder = Builder { ops: vec![], id, starts: offsets(table).0, table, env };
    builder.expr(expr)?;
    Ok(Compiled { ops: builder.ops, width: width(&expr.ty), ty: expr.ty.clone(), range: expr.ty.range() })
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

impl Compiled {
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// Evaluates on one row; `stack` is scratch space and holds exactly the result afterwards.
    ///
    /// Total: whatever the row, `width` finite numbers of the declared type come out (where its range is finite).
    pub fn run(&self, row: &[f64], stack: &mut Vec<f64>) {
        stack.clear();
        for op in &self.ops {
            if step(op, row, stack).is_none() {
                stack.clear();
                break;
            }
        }
        stack.resize(self.width, f64::NAN);
        match &self.ty {
            Type::Category(levels) => {
                let last = levels.len().saturating_sub(1) as f64;
                let range = Range::new(0.0, last);
                stack.iter_mut().for_each(|x| *x = project::into_range(*x, range));
            }
            Type::Int(range) => stack.iter_mut().for_each(|x| *x = project::into_range(libm::rint(*x), *range)),
            ty => {
                if let Some(range) = self.range {
                    stack.iter_mut().for_each(|x| *x = project::into_range(*x, range));
                }
                settle(stack, ty);
            }
        }
    }
}

/// Runs one step; `None` where the stack is too short, which compiling rules out.
fn step(op: &Op, row: &[f64], stack: &mut Vec<f64>) -> Option<()> {
    match op {
        Op::Push(x) => stack.push(*x),
        Op::Load { at, n: 1 } => stack.push(*row.get(*at)?),
        Op::Load { at, n } => stack.extend_from_slice(row.get(*at..at + n)?),
        Op::Unary(f, n) => {
            let start = stack.len().checked_sub(*n)?;
            for x in stack.get_mut(start..)? {
                *x = f(*x);
            }
        }
        Op::Binary(f, n) => {
            let middle = stack.len().checked_sub(*n)?;
            let (left, b) = stack.split_at_mut(middle);
            let start = left.len().checked_sub(*n)?;
            for (x, y) in left.get_mut(start..)?.iter_mut().zip(b.iter()) {
                *x = f.value(*x, *y);
            }
            stack.truncate(middle);
        }
        Op::Repeat(n) => {
            let x = stack.pop()?;
            stack.resize(stack.len() + n, x);
        }
        Op::Select(n) => {
            let start = stack.len().checked_sub(2 * n + 1)?;
            let first = *stack.get(start)? != 0.0;
            let from = if first { start + 1 } else { start + 1 + n };
            stack.copy_within(from..from + n, start);
            stack.truncate(start + n);
        }
        Op::Index(n) => {
            let index = stack.pop()?;
            let start = stack.len().checked_sub(*n)?;
            let place = index.max(1.0).min(*n as f64) as usize;
            let x = *stack.get(start + place - 1)?;
            stack.truncate(start);
            stack.push(x);
        }
        Op::Keep { n, from, size } => {
            let start = stack.len().checked_sub(*n)?;
            let end = from + size;
            if end > *n {
                return None;
            }
            stack.copy_within(start + from..start + end, start);
            stack.truncate(start + size);
        }
        Op::Dot(n) => {
            let (a, b) = last_two(stack, *n, *n)?;
            let sum = a.iter().zip(b).map(|(x, y)| x * y).sum();
            replace(stack, 2 * n, &[sum])?;
        }
        Op::MatVec { rows, columns } => {
            let (m, x) = last_two(stack, rows * columns, *columns)?;
            let out: Vec<f64> = m.chunks((*columns).max(1)).map(|r| r.iter().zip(x).map(|(a, b)| a * b).sum()).collect();
            replace(stack, rows * columns + columns, &out)?;
        }
        Op::Norm(n) => {
            let (x, _) = last_two(stack, *n, 0)?;
            let norm = libm::sqrt(x.iter().map(|v| v * v).sum());
            replace(stack, *n, &[norm])?;
        }
        Op::Products(n) => {
            let (x, _) = last_two(stack, *n, 0)?;
            let all = moments::products(x);
            replace(stack, *n, &all)?;
        }
        Op::Project(kind, n) => {
            let radius = stack.pop()?;
            let start = stack.len().checked_sub(*n)?;
            let x = stack.get_mut(start..)?;
            x.iter_mut().for_each(|v| *v = project::into_range(*v, Range::ALL));
            match kind {
                Builtin::ProjectL1 => project::onto_l1(x, radius),
                Builtin::ProjectL2 => project::onto_l2(x, radius),
                _ => project::onto_linf(x, radius),
            }
        }
        Op::Clamp(range, n) => {
            let start = stack.len().checked_sub(*n)?;
            for x in stack.get_mut(start..)? {
                // What is not a number stays so until the end.
                *x = if *x < range.lo {
                    range.lo
                } else if *x > range.hi {
                    range.hi
                } else {
                    *x
                };
            }
        }
        Op::Bin(edges) => {
            let x = stack.pop()?;
            stack.push(edges.partition_point(|e| *e <= x) as f64);
        }
        Op::Fold(f, n) => {
            let (x, _) = last_two(stack, *n, 0)?;
            let value = fold(*f, x);
            replace(stack, *n, &[value])?;
        }
    }
    Some(())
}

/// The n numbers below the last m, and the last m.
fn last_two(stack: &[f64], n: usize, m: usize) -> Option<(&[f64], &[f64])> {
    let start = stack.len().checked_sub(n + m)?;
    Some(stack.get(start..)?.split_at(n))
}

/// Replaces the last n numbers.
fn replace(stack: &mut Vec<f64>, n: usize, by: &[f64]) -> Option<()> {
    let start = stack.len().checked_sub(n)?;
    stack.truncate(start);
    stack.extend_from_slice(by);
    Some(())
}

/// A vector to one number.
pub fn fold(f: Builtin, x: &[f64]) -> f64 {
    let n = x.len().max(1) as f64;
    let sum: f64 = x.iter().sum();
    match f {
        Builtin::VecSum => sum,
        Builtin::VecMean => sum / n,
        Builtin::VecMin => x.iter().copied().fold(f64::INFINITY, f64::min),
        Builtin::VecMax => x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Builtin::VecSd => {
            let mean = sum / n;
            let squares: f64 = x.iter().map(|v| (v - mean) * (v - mean)).sum();
            libm::sqrt(squares / (n - 1.0).max(1.0))
        }
        _ => f64::NAN,
    }
}
