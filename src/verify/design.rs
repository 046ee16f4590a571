//! Public designs once more: what the stated products of all features prove of the rows as they are stored (section 4.5).

use super::matrix::Covariance;
use super::real::Real;

pub struct Design {
    pub dim: u64,
    rows: u64,
    least: Real,
}

impl Design {
    /// Believes the products, which belong to a file whose digest is stated, and proves the eigenvalue that is stated.
    pub fn new(rows: u64, products: &[f64], least: f64) -> Result<Design, &'static str> {
        let matrix = Covariance::of(products).ok_or("the design is not a triangle of numbers")?;
        let least = Real::new(least).max(&Real::zero());
        if !(least.is_zero() || matrix.is_definite(&Real::one(), &-&least)) {
            return Err("the products of the design have a smaller eigenvalue");
        }
        Ok(Design { dim: matrix.dim() as u64, rows, least })
    }

    /// At most the least eigenvalue of the products of stored rows, none of which is longer than `norm`: sums of doubles may be
    /// off by a share of all products, and a row by a share of the longest.
    pub fn stored_least(&self, norm: &Real) -> Real {
        let all = Real::int(self.rows) * norm.square();
        let sums = Real::int(self.rows.saturating_add(1)) * Real::ratio(1, 1 << 51) * &all;
        let root = (&self.least - &sums).max(&Real::zero()).sqrt() - all.sqrt() * Real::ratio(1, 1 << 20);
        root.max(&Real::zero()).square()
    }
}
