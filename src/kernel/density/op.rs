//! Programs over columns: what each operation reads, and one scalar function of many rows a step.

use super::within::Binned;
use crate::numeric::{Binary, Unary};

/// Where an operation finds a number for every row of a block.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    Constant(f64),
    /// One number for all rows: an unconstrained coordinate, or what was computed of them.
    Shared(u32),
    /// A column of the data.
    Column(u32),
    /// The result of an earlier operation on the same rows.
    Local(u32),
}

/// Functions of one number: those of the language, and those that densities need.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum One {
    Of(Unary),
    /// `ln inv_logit(x)`
    LogInvLogit,
    /// `ln Phi(x)`
    LogPhi,
    /// `ln(1 - exp(-exp(x)))`
    LogCloglog,
    LnGamma,
    /// `sum over k of f(k)^b` for the Poisson law of mean `exp(x)`.
    PoissonPower(f64),
    /// `sum over k of f(k)^b` for the binomial law of n trials at log-odds x; b, then n.
    BinomialPower(f64, f64),
}

impl From<Unary> for One {
    fn from(f: Unary) -> One {
        One::Of(f)
    }
}

/// Functions of two numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Two {
    Of(Binary),
    /// `sum over k of f(k)^b` for the negative binomial law of shape a, at log-odds b of a failure.
    NegBinomialPower(f64),
}

/// One operation; its result is known by its place among the operations.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    Unary(One, Operand),
    Binary(Two, Operand, Operand),
    /// The second where the first is not 0, else the third.
    Select(Operand, Operand, Operand),
    Sum(Vec<Operand>),
    /// Sum of products.
    Dot(Vec<(Operand, Operand)>),
    /// The entry of a table at a level, which starts at 0; levels beyond the ends are the ends.
    Gather(Operand, Vec<Operand>),
    /// The logarithm of the probability between two ends; the other operands are what else the law depends on.
    Within(Binned, [Operand; 4]),
}

impl Op {
    /// Calls `visit` with every operand.
    pub fn operands(&mut self, visit: &mut dyn FnMut(&mut Operand)) {
        match self {
            Op::Unary(_, a) => visit(a),
            Op::Binary(_, a, b) => [a, b].into_iter().for_each(visit),
            Op::Select(c, a, b) => [c, a, b].into_iter().for_each(visit),
            Op::Sum(items) => items.iter_mut().for_each(visit),
            Op::Dot(pairs) => pairs.iter_mut().for_each(|(a, b)| [a, b].into_iter().for_each(&mut *visit)),
            Op::Gather(index, table) => std::iter::once(index).chain(table).for_each(visit),
            Op::Within(_, items) => items.iter_mut().for_each(visit),
        }
    }
}
