//! Expressions over parameters and rows as operations, component by component.

use std::collections::BTreeMap;

use crate::data::Environment;
use crate::data::layout::width;
use crate::kernel::density::{Builder, Op, Operand};
use crate::mechanism::MechanismError;
use crate::model::{Binary, Builtin, Expr, ExprKind, Label, ParamId, Type, Unary};

const UNKNOWN: MechanismError = MechanismError::Expression;
/// More components than this are not a plan.
const MOST: usize = 1 << 20;

/// The components of a value.
pub(super) type Value = Vec<Operand>;

/// What expressions may read.
pub(super) struct Lowering<'a> {
    pub to: Builder,
    pub env: &'a dyn Environment,
    /// Row expressions with their first column.
    pub columns: Vec<(&'a Expr, usize)>,
    pub parameters: BTreeMap<ParamId, Value>,
    /// Outcome and log-odds of the last observation of two outcomes.
    pub predictor: Option<(Operand, Operand)>,
}

impl Lowering<'_> {
    /// A value of one component.
    pub fn scalar(&mut self, e: &Expr) -> Result<Operand, MechanismError> {
        match self.value(e)?.as_slice() {
            [one] => Ok(*one),
            _ => Err(UNKNOWN),
        }
    }

    pub fn value(&mut self, e: &Expr) -> Result<Value, MechanismError> {
        let n = width(&e.ty);
        if n == 0 || n > MOST {
            return Err(UNKNOWN);
        }
        if let Label::Row(_) = e.label {
            let (_, first) = self.columns.iter().find(|(known, _)| known.same(e)).ok_or(UNKNOWN)?;
            return Ok((*first..first + n).map(|i| Operand::Column(i as u32)).collect());
        }
        if e.label == Label::Public
            && let Some(values) = self.env.value(e)
        {
            return Ok(values.into_iter().map(Operand::Constant).collect());
        }
        let value = self.parts(e, n)?;
        if value.len() == n { Ok(value) } else { Err(UNKNOWN) }
    }

    fn parts(&mut self, e: &Expr, n: usize) -> Result<Value, MechanismError> {
        Ok(match &e.kind {
            ExprKind::Number(x) => vec![Operand::Constant(*x)],
            ExprKind::Bool(b) => vec![Operand::Constant(f64::from(u8::from(*b)))],
            ExprKind::Level(i) => vec![Operand::Constant(*i as f64)],
            ExprKind::Param(id) => self.parameters.get(id).cloned().ok_or(UNKNOWN)?,
            ExprKind::List(items) => self.all(items)?,
            ExprKind::If(c, a, b) => {
                let c = self.scalar(c)?;
                let (a, b) = (self.wide(a, n)?, self.wide(b, n)?);
                a.into_iter().zip(b).map(|(a, b)| self.to.select(c, a, b)).collect()
            }
            ExprKind::Index(vector, index) => vec![self.index(vector, index)?],
            ExprKind::Call(f, args) => self.call(*f, args, n)?,
            _ => return Err(UNKNOWN),
        })
    }

    pub fn all(&mut self, items: &[Expr]) -> Result<Value, MechanismError> {
        let mut out = vec![];
        for item in items {
            out.extend(self.value(item)?);
        }
        Ok(out)
    }

    /// A value of one component or n, as n.
    fn wide(&mut self, e: &Expr, n: usize) -> Result<Value, MechanismError> {
        let value = self.value(e)?;
        match value.as_slice() {
            [one] => Ok(vec![*one; n]),
            all if all.len() == n => Ok(value),
            _ => Err(UNKNOWN),
        }
    }

    fn index(&mut self, vector: &Expr, index: &Expr) -> Result<Operand, MechanismError> {
        let (table, i) = (self.value(vector)?, self.scalar(index)?);
        // Levels start at 0, positions at 1.
        let i = if matches!(index.ty, Type::Category(_)) { i } else { self.to.shift(-1.0, i) };
        match i {
            Operand::Constant(i) => table.get(i.max(0.0).min(table.len() as f64 - 1.0) as usize).copied().ok_or(UNKNOWN),
            _ => Ok(self.to.op(Op::Gather(i, table))),
        }
    }

    fn call(&mut self, f: Builtin, args: &[Expr], n: usize) -> Result<Value, MechanismError> {
        use Builtin as B;
        Ok(match (f, args) {
            (B::Log, [x]) => self.wide(x, n)?.into_iter().map(|x| self.to.log(x)).collect(),
            (B::Unary(f), [x]) => self.wide(x, n)?.into_iter().map(|x| self.to.unary(f, x)).collect(),
            (B::Binary(f), [a, b]) => {
                let (a, b) = (self.wide(a, n)?, self.wide(b, n)?);
                a.into_iter().zip(b).map(|(a, b)| self.to.binary(f, a, b)).collect()
            }
            (B::Clip, [x, lo, hi]) => {
                let (x, lo, hi) = (self.wide(x, n)?, self.wide(lo, n)?, self.wide(hi, n)?);
                let clip = |((x, lo), hi)| {
                    let below = self.to.binary(Binary::Min, x, hi);
                    self.to.binary(Binary::Max, below, lo)
                };
                x.into_iter().zip(lo).zip(hi).map(clip).collect()
            }
            (B::Dot, [a, b]) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                vec![self.dot(&a, &b)?]
            }
            (B::MatVec, [m, x]) => {
                let (m, x) = (self.value(m)?, self.value(x)?);
                m.chunks(x.len().max(1)).map(|row| self.dot(row, &x)).collect::<Result<_, _>>()?
            }
            (B::Append, items) => self.all(items)?,
            (B::Rep, [x, ..]) => self.wide(x, n)?,
            (B::Norm, [x, ..]) => {
                let x = self.value(x)?;
                vec![self.norm(&x)?]
            }
            (B::ProjectL2 | B::ProjectLinf, [a, b]) => {
                // The vector and its radius, in either order.
                let (x, radius) = if width(&a.ty) == n && !a.ty.is_scalar_number() { (a, b) } else { (b, a) };
                let (x, radius) = (self.value(x)?, self.scalar(radius)?);
                self.project(f, x, radius)?
            }
            (B::VecSum | B::VecMean | B::VecMin | B::VecMax | B::VecSd, [x]) => {
                let x = self.value(x)?;
                vec![self.fold(f, x)?]
            }
            _ => return Err(UNKNOWN),
        })
    }

    pub fn dot(&mut self, a: &[Operand], b: &[Operand]) -> Result<Operand, MechanismError> {
        if a.len() != b.len() {
            return Err(UNKNOWN);
        }
        Ok(self.to.op(Op::Dot(a.iter().copied().zip(b.iter().copied()).collect())))
    }

    fn norm(&mut self, x: &[Operand]) -> Result<Operand, MechanismError> {
        let square = self.dot(x, x)?;
        Ok(self.to.unary(Unary::Sqrt, square))
    }

    fn project(&mut self, f: Builtin, x: Value, radius: Operand) -> Result<Value, MechanismError> {
        if f == Builtin::ProjectLinf {
            let least = self.to.neg(radius);
            let cut = |x| {
                let x = self.to.binary(Binary::Max, x, least);
                self.to.binary(Binary::Min, x, radius)
            };
            return Ok(x.into_iter().map(cut).collect());
        }
        let norm = self.norm(&x)?;
        let longer = self.to.binary(Binary::Max, norm, radius);
        let factor = self.to.binary(Binary::Div, radius, longer);
        Ok(x.into_iter().map(|x| self.to.mul(x, factor)).collect())
    }

    fn fold(&mut self, f: Builtin, x: Value) -> Result<Operand, MechanismError> {
        let n = x.len() as f64;
        match f {
            Builtin::VecMin | Builtin::VecMax => {
                let f = if f == Builtin::VecMin { Binary::Min } else { Binary::Max };
                x.into_iter().reduce(|a, b| self.to.binary(f, a, b)).ok_or(UNKNOWN)
            }
            Builtin::VecSd => {
                let sum = self.to.sum(x.clone());
                let mean = self.to.scale(1.0 / n, sum);
                let away: Value = x.into_iter().map(|x| self.to.sub(x, mean)).collect();
                let squares = self.dot(&away, &away)?;
                let variance = self.to.binary(Binary::Div, squares, Operand::Constant(n - 1.0));
                Ok(self.to.unary(Unary::Sqrt, variance))
            }
            _ => {
                let sum = self.to.sum(x);
                Ok(if f == Builtin::VecMean { self.to.binary(Binary::Div, sum, Operand::Constant(n)) } else { sum })
            }
        }
    }
}
