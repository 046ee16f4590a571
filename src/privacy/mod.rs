//! What may be claimed: claims, their curves, composition and conversions.

pub mod claim;

pub use claim::{Claim, Family, Pair};
