//! What may be claimed: claims, their curves, composition and conversions.

mod allocation;
pub mod bounded_range;
pub mod canonical;
pub mod certificate;
pub mod claim;
mod claim_json;
pub mod compose;
pub mod convert;
pub mod gdp;
mod kinds;
pub mod langevin;
pub mod laplace;
mod layout;
mod lead;
pub mod loss;
mod mixed;
pub mod order;
pub mod pure;
pub mod renyi;
mod shift;
mod spent;
mod subsampled;
mod sums;
pub mod work;

pub use claim::{Claim, Family, Pair, Shift};
pub use spent::Unit;
