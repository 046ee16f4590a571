//! Arithmetic that errs on the safe side: intervals, directed rounding, functions of rows, divergences of Gamma families, small matrices.

pub mod amount;
pub mod binary;
pub mod calendar;
pub mod decimal;
pub mod dense;
pub mod diagnostics;
pub mod fast;
pub mod gamma_divergence;
pub mod hellinger;
pub mod interval;
pub mod linear;
pub mod log_gamma;
pub mod logistic;
pub mod loo;
pub mod quotient;
pub mod range;
pub mod round;
pub mod scores;
pub mod search;
pub mod special;
pub mod stored;
pub mod tilted;
pub mod unary;

pub use amount::Amount;
pub use binary::Binary;
pub use interval::Interval;
pub use range::Range;
pub use unary::Unary;
