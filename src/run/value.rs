//! Values of a running program that anyone may see: released values and what is computed from them.

use super::posterior::Posterior;
use crate::mechanism::Number;

/// A public value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Number(f64),
    /// A released number on its public grid; arithmetic reads the nearest double.
    Grid(Number),
    Bool(bool),
    Text(String),
    Vector(Vec<f64>),
    /// Released numbers on their grids.
    GridVector(Vec<Number>),
    /// Rows of equal length.
    Matrix(Vec<Vec<f64>>),
    /// Named parts, in the order of the draw.
    Record(Vec<(String, Value)>),
    /// A posterior released whole.
    Posterior(Posterior),
}

impl Value {
    /// The components: one for a number, all of a vector, a matrix row by row.
    pub fn numbers(&self) -> Vec<f64> {
        match self {
            Value::Number(x) => vec![*x],
            Value::Grid(x) => vec![x.to_f64()],
            Value::Bool(b) => vec![f64::from(u8::from(*b))],
            Value::Text(_) | Value::Posterior(_) => vec![],
            Value::Vector(v) => v.clone(),
            Value::GridVector(v) => v.iter().map(|x| x.to_f64()).collect(),
            Value::Matrix(rows) => rows.iter().flatten().copied().collect(),
            Value::Record(parts) => parts.iter().flat_map(|(_, v)| v.numbers()).collect(),
        }
    }

    pub fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(x) => Some(*x),
            Value::Grid(x) => Some(x.to_f64()),
            Value::Bool(b) => Some(f64::from(u8::from(*b))),
            _ => None,
        }
    }

    pub fn is_scalar(&self) -> bool {
        self.as_number().is_some()
    }
}
