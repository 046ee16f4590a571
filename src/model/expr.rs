//! The small expression language left after checking: resolved, typed, labelled, sugar-free.

pub mod addends;

use super::fit::Fit;
use super::types::Type;
use crate::numeric::{Binary, Unary};
use crate::source::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Index into `Program::tables`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TableId(pub usize);
/// Index into a table's `columns`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ColumnId(pub usize);
/// Number of a parameter, unique in a program; `Parameter::id`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ParamId(pub usize);
/// Number of a release, unique in a program; `ReleaseStep::id`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ReleaseId(pub usize);
/// Index into `Program::scalars`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ScalarId(pub usize);

/// Who may know a value (language reference, "Labels").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Label {
    Public,
    /// One value per row of a private table.
    Row(TableId),
    /// One value for the whole private table; its sensitivities are computed by `check::sensitivity`.
    Aggregate(TableId),
    /// Depends on parameters, not on data.
    Latent,
    /// One value per row that also depends on parameters.
    Mix(TableId),
}

/// A checked expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub label: Label,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    Number(f64),
    Bool(bool),
    Text(String),
    /// A level of a category: its 0-based index (its name is in the type).
    Level(usize),
    Column(TableId, ColumnId),
    Param(ParamId),
    Released(ReleaseId),
    Scalar(ScalarId),
    /// The public number of rows of a table.
    RowCount(TableId),
    /// The level that an enclosing `each` stands at.
    EachLevel,
    List(Vec<Expr>),
    /// `if c then a else b`
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// 1-based index into a vector, or a level index.
    Index(Box<Expr>, Box<Expr>),
    Field(Box<Expr>, String),
    Call(Builtin, Vec<Expr>),
    /// The posterior of released counts.
    Fit(Arc<Fit>),
}

/// Everything an expression can apply; the checker knows arity, types and ranges of each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Builtin {
    /// Operators and scalar functions, applied by component to vectors.
    Unary(Unary),
    Binary(Binary),
    /// `clip(x, lo, hi)`
    Clip,
    // vectors
    Dot,
    MatVec,
    Append,
    Rep,
    Norm,
    ProjectL1,
    ProjectL2,
    ProjectLinf,
    /// A vector with components in [-1, 1], every product of two of them, and their squares with a weight (`model::moments`).
    Products,
    // public post-processing: aggregates of released or public vectors
    VecSum,
    VecMean,
    VecMin,
    VecMax,
    VecSd,
    VecQuantile,
    // aggregates over the rows of one table
    RowSum,
    RowMean,
    RowCountAgg,
    RowHistogram,
    /// The cell of a row among those of several finite values together: a level, the last value fastest.
    Cell,
    /// The bin of a number, from 0, and the edges between bins: how many of them it is not below.
    Bin,
    /// The counts of a table by some of its axes: the table, then the places of the axes that are kept.
    Margin,
    RowQuantile,
    RowMin,
    RowMax,
    // released posteriors
    PosteriorMean,
    PosteriorSd,
    PosteriorQuantile,
    PosteriorDensity,
    PosteriorCdf,
    /// The probability that a draw of one is larger than a draw of another.
    PosteriorLarger,
    /// The marginal of several levels together: a posterior, and a list of levels or of indices from 1.
    PosteriorSum,
    PosteriorSample,
    /// A released noisy sum and count, the weight of the count or a public count, and the bounds of the numbers.
    Quotient,
    /// Of a whole posterior of weights at the features of a row, through what gives the mean of the outcome.
    Predict(Option<Unary>),
    /// The chances of the classes of a row: of a matrix of weights, or of a whole posterior of its entries, at its features.
    PredictClasses,
    /// A number of every draw, and the draws.
    EachDraw,
    /// `simulate(binomial(100, p), times = 1000)`: a distribution name as `Text`, its arguments, the times last.
    Simulate,
    // models of released counts: the released table or a margin of it, and the draws
    Predictive,
    /// The draws.
    Loo,
    /// The draws of two models.
    LooCompare,
    /// Also how many rows, and which of all sets that are made this is.
    MadeUp,
    /// A number of every draw and of the rows of a public table, and the weights of these rows.
    Poststratify,
}

/// What formulas are matched on.
#[allow(non_upper_case_globals)]
impl Builtin {
    pub const Neg: Builtin = Builtin::Unary(Unary::Neg);
    pub const Not: Builtin = Builtin::Unary(Unary::Not);
    pub const Abs: Builtin = Builtin::Unary(Unary::Abs);
    pub const Exp: Builtin = Builtin::Unary(Unary::Exp);
    pub const Log: Builtin = Builtin::Unary(Unary::Log);
    pub const Sqrt: Builtin = Builtin::Unary(Unary::Sqrt);
    pub const Le: Builtin = Builtin::Binary(Binary::Le);
    pub const Ge: Builtin = Builtin::Binary(Binary::Ge);
    pub const Eq: Builtin = Builtin::Binary(Binary::Eq);
    pub const Ne: Builtin = Builtin::Binary(Binary::Ne);
    pub const Lt: Builtin = Builtin::Binary(Binary::Lt);
    pub const Gt: Builtin = Builtin::Binary(Binary::Gt);
    pub const Add: Builtin = Builtin::Binary(Binary::Add);
    pub const Sub: Builtin = Builtin::Binary(Binary::Sub);
    pub const Mul: Builtin = Builtin::Binary(Binary::Mul);
    pub const Div: Builtin = Builtin::Binary(Binary::Div);
    pub const Pow: Builtin = Builtin::Binary(Binary::Pow);
    pub const Min: Builtin = Builtin::Binary(Binary::Min);
    pub const Max: Builtin = Builtin::Binary(Binary::Max);

    /// One value for all rows of a table.
    pub fn over_rows(self) -> bool {
        use Builtin::{RowCountAgg, RowHistogram, RowMax, RowMean, RowMin, RowQuantile, RowSum};
        matches!(self, RowMean | RowSum | RowCountAgg | RowHistogram | RowQuantile | RowMin | RowMax)
    }
}

impl Expr {
    /// The tables of whose rows its public parts ask one value.
    pub fn asked(&self) -> BTreeSet<TableId> {
        let mut found = BTreeSet::new();
        self.walk(&mut |e| {
            if matches!(e.kind, ExprKind::Call(f, _) if f.over_rows()) && e.label == Label::Public {
                e.walk(&mut |x| found.extend(if let ExprKind::Column(t, _) = x.kind { Some(t) } else { None }));
            }
        });
        found
    }

    /// The value of a literal (or of an expression whose range is one point).
    pub fn constant(&self) -> Option<f64> {
        match &self.kind {
            ExprKind::Number(x) => Some(*x),
            ExprKind::Bool(b) => Some(f64::from(u8::from(*b))),
            _ if self.label == Label::Public => self.ty.range().filter(|r| r.is_point() && self.ty.is_scalar_number()).map(|r| r.lo),
            _ => None,
        }
    }

    /// The table of its rows.
    pub fn rows_of(&self) -> Option<TableId> {
        if let Label::Row(t) = self.label { Some(t) } else { None }
    }

    /// Is this exactly the parameter `id`?
    pub fn is_param(&self, id: ParamId) -> bool {
        self.kind == ExprKind::Param(id)
    }

    /// Visits this node and every node below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.parts().into_iter().for_each(|e| e.walk(visit));
    }

    /// The nodes right below this one, in order.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::List(items) | ExprKind::Call(_, items) => items.iter().collect(),
            ExprKind::If(c, a, b) => vec![c, a, b],
            ExprKind::Index(a, b) => vec![a, b],
            ExprKind::Field(a, _) => vec![a],
            ExprKind::Fit(fit) => fit.parts(),
            _ => vec![],
        }
    }

    /// Is it the same expression, wherever it is written?
    pub fn same(&self, other: &Expr) -> bool {
        let kinds = match (&self.kind, &other.kind) {
            (ExprKind::Call(f, _), ExprKind::Call(g, _)) => f == g,
            (ExprKind::Field(_, f), ExprKind::Field(_, g)) => f == g,
            (ExprKind::List(_), ExprKind::List(_)) | (ExprKind::If(..), ExprKind::If(..)) | (ExprKind::Index(..), ExprKind::Index(..)) => {
                true
            }
            (a, b) => a == b,
        };
        let (ours, theirs) = (self.parts(), other.parts());
        kinds && self.ty == other.ty && ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.same(b))
    }

    /// Does evaluating it twice give two values, or take twice as long for one?
    pub fn draws(&self) -> bool {
        use Builtin::{Loo, LooCompare, MadeUp, PosteriorSample, PredictClasses, Predictive, Simulate};
        let mut found = false;
        let drawn = |f: Builtin| matches!(f, Simulate | PosteriorSample | PredictClasses | Predictive | Loo | LooCompare | MadeUp);
        self.walk(&mut |e| found |= matches!(e.kind, ExprKind::Call(f, _) if drawn(f)));
        found
    }

    /// Does any node mention the parameter `id`?
    pub fn mentions(&self, id: ParamId) -> bool {
        let mut found = false;
        self.walk(&mut |e| found |= e.is_param(id));
        found
    }
}
