//! Release -> values: one pass over each table for all releases that are ready, then draws, then outputs.

mod bits;
mod bound;
mod draws;
pub mod evaluate;
mod fit;
mod foretell;
mod late;
mod made_up;
mod mentions;
mod moments;
mod posterior;
mod predict;
mod rebind;
mod rehearse;
mod shape;
pub mod simulate;
mod steps;
mod strata;
mod sums;
pub mod value;

pub use bound::Bound;
pub use draws::Draws;
pub use evaluate::{Known, NoValue};
pub use foretell::{Foretold, foretell, foretold};
pub use late::Law;
pub use made_up::csv;
pub use mentions::{asked_columns, mentioned, mentioned_tables};
pub use posterior::{Posterior, inference_data, marginals_from_json, picture, released as posterior_of};
pub use rebind::plan;
pub use rehearse::rehearse;
pub use shape::{by_cell, json, padding, table};
pub use steps::{Files, Results, RunError, execute, resume};
pub use value::Value;
