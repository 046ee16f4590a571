//! Types of values with their metric facts: ranges, norms, diameters.

use crate::numeric::Range;
use std::sync::Arc;

/// Level names of a category, in declared order; the last one receives unknown values.
pub type Levels = Arc<Vec<String>>;

/// L1, L2 and Linf of a set of vectors: an upper bound on each, tightened against each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Norms {
    pub l1: f64,
    pub l2: f64,
    pub linf: f64,
}

impl Norms {
    pub const ZERO: Norms = Norms { l1: 0.0, l2: 0.0, linf: 0.0 };
    pub const INFINITE: Norms = Norms { l1: f64::INFINITY, l2: f64::INFINITY, linf: f64::INFINITY };

    pub fn scalar(x: f64) -> Norms {
        Norms { l1: x, l2: x, linf: x }
    }
}

/// The type of a value, with everything sensitivities and rules may use.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    Bool,
    Int(Range),
    Real(Range),
    Category(Levels),
    /// Days of the calendar as whole numbers; in what is computed of one it is an int or a real.
    Date(Range),
    /// A vector of `dim` reals.
    Vector(VectorType),
    /// `rows x columns` reals, entries in `range`.
    Matrix {
        rows: u64,
        columns: u64,
        range: Range,
    },
    /// `dim` probabilities that sum to one; `levels` if indexed by a category.
    Simplex {
        dim: u64,
        levels: Option<Levels>,
    },
    /// `dim` counts that sum to `total`, or to at most that where `fewer` is set.
    Counts {
        dim: u64,
        total: u64,
        fewer: bool,
    },
    /// Only usable as a `by` id, or as a message in `output`.
    Text,
    /// A released posterior distribution over values of the inner type.
    Posterior(Box<Type>),
    /// `draw(w, b)`: named parts.
    Record(Vec<(String, Type)>),
}

/// A vector type with its facts; components lie in `range`.
#[derive(Clone, PartialEq, Debug)]
pub struct VectorType {
    pub dim: u64,
    pub range: Range,
    /// Largest norms of a value.
    pub sup: Norms,
    /// Largest norms of the difference of two values.
    pub diam: Norms,
    /// Set if indexed by the levels of a category, or by the cells of a table of counts, the last axis fastest.
    pub levels: Option<Levels>,
    /// Of a table of counts.
    pub axes: Option<Axes>,
    /// Does each component lie above the one before it?
    pub ordered: bool,
}

/// The axes of a table of counts.
pub type Axes = Arc<Vec<Axis>>;

/// A column that a histogram counts by.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    pub name: String,
    /// A category, a bool, a bounded int, or a bounded number in bins.
    pub ty: Type,
    pub levels: Levels,
    /// Do neighbours agree on it row by row?
    pub public: bool,
    /// Of a number in bins, where one ends and the next begins, between its bounds.
    pub edges: Vec<f64>,
    /// Of the axis of released sums, what each of them is.
    pub sums: Vec<super::sums::Summed>,
}

impl Type {
    pub fn real(lo: f64, hi: f64) -> Type {
        Type::Real(Range::new(lo, hi))
    }

    /// The range of a scalar (`bool` is 0 or 1), or of a vector's components.
    pub fn range(&self) -> Option<Range> {
        match self {
            Type::Bool => Some(Range::UNIT),
            Type::Int(r) | Type::Real(r) => Some(*r),
            Type::Vector(v) => Some(v.range),
            Type::Matrix { range, .. } => Some(*range),
            Type::Simplex { .. } => Some(Range::UNIT),
            Type::Counts { total, .. } => Some(Range::new(0.0, *total as f64)),
            _ => None,
        }
    }

    pub fn is_scalar_number(&self) -> bool {
        matches!(self, Type::Bool | Type::Int(_) | Type::Real(_))
    }

    pub fn levels(&self) -> Option<&Levels> {
        match self {
            Type::Category(l) => Some(l),
            Type::Vector(v) => v.levels.as_ref(),
            Type::Simplex { levels, .. } => levels.as_ref(),
            _ => None,
        }
    }
}
