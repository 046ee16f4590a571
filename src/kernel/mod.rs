//! Log-likelihoods of generalised linear models and their gradients, in one pass over features that were encoded once.
//!
//! `Layout` says what a row looks like, `DesignBuilder` takes rows and keeps them as they will be read (32-bit features,
//! one byte for several categories), `Likelihood` computes the sum of losses and its gradient on all cores.
//!
//! What the privacy rules need holds for the numbers that the kernel works with, not for those that were read:
//! `‖x‖ <= c` after the rounding to 32 bits (proved by an upper bound of the norm, see `norm`), and `|residual| <= B` by a
//! clamp. Both, the products and the sums, are doubles: a sum over n rows and d columns carries a relative error of about
//! `(n + d) 2^-53` of the sum of magnitudes, which certificates name as an assumption.
//!
//! Sums are made in an order that depends on the number of rows alone, and products are fused with sums only where the
//! source says so: the result is the same bit for bit on any number of threads and with any vector instructions.

pub mod density;
mod design;
mod family;
mod layout;
mod likelihood;
mod narrow;
pub mod norm;
mod pass;
mod tables;
mod tile;

pub use design::{Design, DesignBuilder};
pub use family::Family;
pub use layout::{Block, Layout};
pub use likelihood::Likelihood;

use std::fmt;

/// A public shape that the kernel does not serve. None depends on a private value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelError {
    /// A layout with no column, or with more than can be addressed.
    Shape,
    /// The indicator columns alone exceed the declared norm, or the norm is not positive and finite.
    Norm,
    /// A parameter of the family is out of range.
    Family,
    /// A row or a point has another length than its layout.
    Length,
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KernelError::Shape => "the design matrix has no column or too many",
            KernelError::Norm => "the declared norm is too small for the indicator columns",
            KernelError::Family => "a parameter of the likelihood is out of range",
            KernelError::Length => "a row has another length than its layout",
        })
    }
}

impl std::error::Error for KernelError {}
