//! Tables of counts that were released: the law of their noise, what is public of their rows, and records of earlier runs.

use super::{Axes, Axis, Builtin, Expr, ExprKind, Label, ReleaseId, Type, VectorType};
use crate::source::Span;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Noise {
    /// Continuous Laplace of this scale, rounded to a grid.
    Laplace { scale: f64 },
    /// Two-sided geometric on the integers, `P(k) ~ exp(-|k| / scale)`.
    Geometric { scale: f64 },
    /// Normal of this standard deviation, rounded to a grid.
    Gaussian { sigma: f64 },
    /// The same rounded to an integer, on integers: `P(k) = Phi((k + 1/2) / sigma) - Phi((k - 1/2) / sigma)`.
    Rounded { sigma: f64 },
}

/// `public cells from "result.json"`
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// As if this program had released it.
    pub id: ReleaseId,
    pub name: String,
    /// From the folder of the program.
    pub file: String,
    /// What the file says of the table, as a record of its own.
    pub text: String,
    /// Nothing where the file does not fit.
    pub counts: Option<Counts>,
    pub span: Span,
}

/// A released table of counts, the last axis fastest.
#[derive(Clone, PartialEq, Debug)]
pub struct Counts {
    pub noise: Noise,
    pub axes: Axes,
    pub cells: Vec<f64>,
    /// The exact number of rows in each cell of the public axes, of all rows where there is none; nothing where it is not public.
    pub totals: Vec<f64>,
}

/// The axes that neighbours agree on.
pub fn public(axes: &Axes) -> Vec<Axis> {
    axes.iter().filter(|a| a.public).cloned().collect()
}

/// How many rows there are in each cell of the public axes of a histogram; `None` where it has no such axis.
pub fn margins(histogram: &Expr) -> Option<Expr> {
    let (Type::Vector(v), ExprKind::Call(Builtin::RowHistogram, args)) = (&histogram.ty, &histogram.kind) else { return None };
    let values = match args.as_slice() {
        [Expr { kind: ExprKind::Call(Builtin::Cell, values), .. }] => values,
        other => other,
    };
    let axes = v.axes.as_ref()?;
    let known = axes.iter().zip(values).filter(|(a, _)| a.public).map(|(_, e)| e.clone()).collect::<Vec<Expr>>();
    let axes = Arc::new(public(axes));
    let (first, dim) = (known.first()?.clone(), axes.iter().map(|a| a.levels.len()).product::<usize>());
    let levels = Arc::new(vec![String::new(); dim]);
    let value = match known.len() {
        1 => first,
        _ => Expr { kind: ExprKind::Call(Builtin::Cell, known), ty: Type::Category(levels.clone()), ..first },
    };
    let ty = Type::Vector(VectorType { dim: dim as u64, levels: Some(levels), axes: Some(axes), ..v.clone() });
    Some(Expr { kind: ExprKind::Call(Builtin::RowHistogram, vec![value]), ty, label: Label::Public, span: histogram.span })
}
