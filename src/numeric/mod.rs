//! Arithmetic that errs on the safe side: intervals, directed rounding, divergences of Gamma families, small matrices.

pub mod amount;
pub mod decimal;
pub mod gamma_divergence;
pub mod hellinger;
pub mod interval;
pub mod linear;
pub mod round;
pub mod scores;
pub mod search;
pub mod special;

pub use amount::Amount;
pub use interval::Interval;
