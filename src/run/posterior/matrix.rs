//! Small dense symmetric matrices in plain doubles, row by row, for post-processing; certified bounds are in `numeric::linear`.

/// A square matrix, or rows of `dim` numbers.
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

    pub fn transposed(&self) -> Matrix {
        Matrix::new(self.dim, |i, j| self.at(j, i))
    }

    /// With one column more.
    pub fn beside(&self, column: &[f64]) -> Matrix {
        let row = |(row, x): (&[f64], &f64)| [row, &[*x]].concat();
        Matrix { dim: self.dim + 1, entries: self.entries.chunks(self.dim.max(1)).zip(column).flat_map(row).collect() }
    }

    pub fn scaled(&self, factor: f64) -> Matrix {
        Matrix { dim: self.dim, entries: self.entries.iter().map(|e| factor * e).collect() }
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
    /// Of the sum of `factor^2 M' M`, by rotations of the rows into a triangle: they square nothing, so that no block is lost
    /// in a larger one and the sum is positive definite for doubles too.
    pub fn of_rows(blocks: &[(f64, &Matrix)]) -> Factor {
        let dim = blocks.first().map_or(0, |(_, m)| m.dim);
        let mut columns: Vec<Vec<f64>> = (0..dim).map(|i| vec![0.0; dim - i]).collect();
        for (factor, row) in blocks.iter().flat_map(|(f, m)| m.entries.chunks(dim.max(1)).map(move |row| (f, row))) {
            let mut row: Vec<f64> = row.iter().map(|x| factor * x).collect();
            for (i, column) in columns.iter_mut().enumerate() {
                let (pivot, own) = (column.first().copied().unwrap_or(0.0), row.get(i).copied().unwrap_or(0.0));
                let length = pivot.hypot(own);
                if length == 0.0 {
                    continue;
                }
                let (cos, sin) = (pivot / length, own / length);
                for (a, b) in column.iter_mut().zip(row.iter_mut().skip(i)) {
                    (*a, *b) = (cos * *a + sin * *b, cos * *b - sin * *a);
                }
            }
        }
        let at = |i: usize, j: usize| columns.get(j).and_then(|c| c.get(i - j)).copied().unwrap_or(f64::NAN);
        Factor { rows: (0..dim).map(|i| (0..=i).map(|j| at(i, j)).collect()).collect() }
    }

    /// `L'`
    pub fn transposed(&self) -> Matrix {
        Matrix::new(self.rows.len(), |i, j| self.rows.get(j).and_then(|row| row.get(i)).copied().unwrap_or(0.0))
    }

    /// `L^-1 M`
    pub fn forward_each(&self, m: &Matrix) -> Matrix {
        let columns: Vec<Vec<f64>> = m.transposed().entries.chunks(m.dim.max(1)).map(|column| self.forward(column)).collect();
        Matrix::new(m.dim, |i, j| columns.get(j).and_then(|c| c.get(i)).copied().unwrap_or(f64::NAN))
    }

    /// The factor of `A^-1`.
    pub fn of_inverse(&self) -> Factor {
        let unit = Matrix::new(self.rows.len(), |i, j| f64::from(u8::from(i == j)));
        Factor::of_rows(&[(1.0, &self.forward_each(&unit))])
    }

    /// `L^-1 x`
    pub fn forward(&self, x: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = Vec::with_capacity(x.len());
        for (b, row) in x.iter().zip(&self.rows) {
            let done: f64 = row.iter().zip(&out).map(|(a, y)| a * y).sum();
            out.push((b - done) / row.last().copied().unwrap_or(f64::NAN));
        }
        out
    }

    /// `L'^-1 x`
    pub fn backward(&self, x: &[f64]) -> Vec<f64> {
        let mut y = x.to_vec();
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
        for (x, b) in [1.0, -2.0, 3.0].iter().zip(a.times(&factor.backward(&factor.forward(&[1.0, -2.0, 3.0])))) {
            assert!((x - b).abs() < 1e-12);
        }
        // `L^-1 A L^-T` is 1, and so is `A A^-1`.
        let one = |m: &Matrix| (0..9).all(|i| (m.entries[i] - f64::from(u8::from(i % 4 == 0))).abs() < 1e-12);
        assert!(one(&factor.forward_each(&factor.forward_each(&a).transposed())));
        let inverse = factor.of_inverse().transposed();
        let column = |j: usize| inverse.times(&[0, 1, 2].map(|i| f64::from(u8::from(i == j))));
        assert!(one(&Matrix::new(3, |i, j| a.times(&inverse.transposed().times(&column(j)))[i])));
        // By expansion along the first row.
        let determinant: f64 = 4.0 * (6.0 - 0.0625) - 1.0 * (2.0 + 0.125) - 0.5 * (0.25 + 1.5);
        assert!((factor.ln_determinant() - determinant.ln()).abs() < 1e-12);
        assert!(a.shifted(-4.0).cholesky().is_none());
    }

    /// What is lost in a sum of squares is kept: `1e200 v v' + I`, whose other eigenvalue is 1.
    #[test]
    fn rotations_keep_what_squares_lose() {
        let large = Matrix { dim: 2, entries: vec![3e100, 4e100, 0.0, 0.0] };
        let unit = Matrix { dim: 2, entries: vec![1.0, 0.0, 0.0, 1.0] };
        let factor = Factor::of_rows(&[(1.0, &large), (1.0, &unit)]);
        assert!((factor.ln_determinant() - 2.0 * 5e100_f64.ln()).abs() < 1e-12);
        let across = factor.forward(&[-0.8, 0.6]);
        assert!((across.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12, "{across:?}");
    }
}
