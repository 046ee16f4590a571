//! Release -> values: one pass over each table for all releases that are ready, then draws, then outputs.

pub mod evaluate;
pub mod simulate;
pub mod value;

pub use evaluate::{Known, NoValue};
pub use value::Value;
