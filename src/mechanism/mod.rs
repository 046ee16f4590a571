//! How a private value is drawn: plans as data, and the code that executes them.

pub mod bits;
pub mod draw;
pub mod grid;
pub mod plan;
pub mod real;

pub use grid::Number;

/// Why a mechanism did not run. None of these depends on a private value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MechanismError {
    /// The operating system gave no randomness.
    NoRandomness,
    /// A public parameter is not positive, not finite, or a matrix is not positive definite.
    Parameter,
    /// A decision stayed open after every refinement; the chance of this is below 2^-60000.
    Undecided,
    /// An expression that this version cannot compute on rows.
    Expression,
    /// The declared range of a statistic is infinite, or its sums do not fit 127 bits.
    Range,
}
