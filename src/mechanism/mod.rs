//! How a private value is drawn: plans as data, and the code that executes them.

pub mod plan;
