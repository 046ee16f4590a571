//! The draws themselves, one family a file, each exact: finite laws by lazily drawn bits, real laws rounded to a grid.

pub mod discrete_gaussian;
pub mod finite;
pub mod gamma;
pub mod gaussian;
pub mod laplace;
pub mod normal;
pub mod uniform;
