//! Pictures of curves as SVG text, for reports and `dpm plot`.

mod chart;

pub use chart::{Axis, Chart, Line};
