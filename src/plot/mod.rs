//! Pictures of curves: SVG for reports and `dpm plot`, PNG by the feature `png`, text for terminals.

mod chart;
#[cfg(feature = "png")]
mod png;
mod text;

pub use chart::{Axis, Chart, Line};
#[cfg(feature = "png")]
pub use png::png;
