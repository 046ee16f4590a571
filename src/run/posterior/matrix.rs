//! Small dense symmetric matrices in plain doubles, row by row, for post-processing; certified bounds are in `numeric::linear`.

/// A square matrix.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix {
    pub dim: usize,
    pub entries: Vec<f64>,
}

impl Matrix {
    pub fn new(dim: usize, at: impl Fn(usize, usize) -> f64) -> Matrix {
        Matrix { dim, entries: (0..dim * dim).map(|i| at(i / dim, i % dim)).collect() }
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries.get(i * self.dim + j).copied().unwrap_or(f64::NAN)
    }

    pub fn trace(&self) -> f64 {
        (0..self.dim).map(|i| self.at(i, i)).sum()
    }

    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        self.entries.chunks(self.dim.max(1)).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    pub fn product(&self, other: &Matrix) -> Matrix {
        Matrix::new(self.dim, |i, j| (0..self.dim).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    /// `self + factor * other`
    pub fn plus(&self, factor: f64, other: &Matrix) -> Matrix {
        Matrix { dim: self.dim, entries: self.entries.iter().zip(&other.entries).map(|(a, b)| a + factor * b).collect() }
    }

    /// `self + x I`
    pub fn shifted(&self, x: f64) -> Matrix {
        Matrix::new(self.dim, |i, j| self.at(i, j) + if i == j { x } else { 0.0 })
    }

    /// The lower triangular factor; `None` unless positive definite.
    pub fn cholesky(&self) -> Option<Factor> {
        let d = self.dim;
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(d);
        for i in 0..d {
            let mut row: Vec<f64> = Vec::with_capacity(i + 1);
            for (j, above) in rows.iter().enumerate() {
                let done: f64 = row.iter().zip(above).map(|(a, b)| a * b).sum();
                row.push((self.at(i, j) - done) / above.last()?);
            }
            let pivot = self.at(i, i) - row.iter().map(|x| x * x).sum::<f64>();
            // NaN fails this too.
            if !(pivot > 0.0 && pivot.is_finite()) {
                return None;
            }
            row.push(pivot.sqrt());
            rows.push(row);
        }
        Some(Factor { rows })
    }
}

/// A lower triangular factor L of `A = L L'`: row i has i + 1 entries.
pub(super) struct Factor {
    pub rows: Vec<Vec<f64>>,
}

impl Factor {
    /// `L^-1 x`
    pub fn forward(&self, x: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = Vec::with_capacity(x.len());
        for (b, row) in x.iter().zip(&self.rows) {
            let done: f64 = row.iter().zip(&out).map(|(a, y)| a * y).sum();
            out.push((b - done) / row.last().copied().unwrap_or(f64::NAN));
        }
        out
    }

    /// `A^-1 x`
    pub fn solve(&self, x: &[f64]) -> Vec<f64> {
        let mut y = self.forward(x);
        for (i, row) in self.rows.iter().enumerate().rev() {
            let Some(pivot) = row.last() else { continue };
            let value = y.get(i).map_or(f64::NAN, |v| v / pivot);
            for (j, a) in row.iter().enumerate() {
                match y.get_mut(j) {
                    Some(v) if j == i => *v = value,
                    Some(v) => *v -= a * value,
                    None => {}
                }
            }
        }
        y
    }

    /// `A^-1`
    pub fn inverse(&self) -> Matrix {
        let d = self.rows.len();
        let columns: Vec<Vec<f64>> = (0..d).map(|j| self.solve(&(0..d).map(|i| f64::from(u8::from(i == j))).collect::<Vec<_>>())).collect();
        let at = |i: usize, j: usize| columns.get(j).and_then(|c| c.get(i)).copied().unwrap_or(f64::NAN);
        Matrix::new(d, |i, j| 0.5 * (at(i, j) + at(j, i)))
    }

    pub fn ln_determinant(&self) -> f64 {
        2.0 * self.rows.iter().filter_map(|r| r.last()).map(|x| x.ln()).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn factors_solve_and_invert() {
        let a = Matrix { dim: 3, entries: vec![4.0, 1.0, -0.5, 1.0, 3.0, 0.25, -0.5, 0.25, 2.0] };
        let factor = a.cholesky().unwrap();
        for (x, b) in [1.0, -2.0, 3.0].iter().zip(a.times(&factor.solve(&[1.0, -2.0, 3.0]))) {
            assert!((x - b).abs() < 1e-12);
        }
        let unit = a.product(&factor.inverse());
        assert!((0..9).all(|i| (unit.entries[i] - f64::from(u8::from(i % 4 == 0))).abs() < 1e-12));
        // By expansion along the first row.
        let determinant: f64 = 4.0 * (6.0 - 0.0625) - 1.0 * (2.0 + 0.125) - 0.5 * (0.25 + 1.5);
        assert!((factor.ln_determinant() - determinant.ln()).abs() < 1e-12);
        assert!(a.shifted(-4.0).cholesky().is_none());
    }
}
