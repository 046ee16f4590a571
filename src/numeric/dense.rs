//! Dense algebra in plain doubles: nalgebra's, and what it has not; bounds that are certified are in `linear`.

use nalgebra::DMatrix;

pub type Matrix = DMatrix<f64>;

/// The lower triangular factor of a symmetric matrix; `None` unless positive definite.
pub fn cholesky(matrix: Matrix) -> Option<Matrix> {
    // nalgebra takes an infinite pivot.
    matrix.cholesky().map(|c| c.unpack()).filter(|l| l.diagonal().iter().all(|x| x.is_finite()))
}

/// The lower triangular factor of the sum of `factor^2 M' M`, by rotations of the rows into a triangle: they square nothing, so
/// that no block is lost in a larger one and the sum is positive definite for doubles too. Ours, because nalgebra's QR and
/// rotations square: from 1e154 on they overflow, and rows below larger ones lose their digits.
pub fn factor_of_sum(blocks: &[(f64, &Matrix)]) -> Matrix {
    let dim = blocks.first().map_or(0, |(_, m)| m.ncols());
    let mut lower = Matrix::zeros(dim, dim);
    for (factor, m) in blocks {
        for row in m.row_iter() {
            let mut row: Vec<f64> = row.iter().map(|x| factor * x).collect();
            for (i, mut column) in lower.column_iter_mut().enumerate() {
                let (pivot, own) = (column.get(i).copied().unwrap_or(0.0), row.get(i).copied().unwrap_or(0.0));
                let length = pivot.hypot(own);
                if length == 0.0 {
                    continue;
                }
                let (cos, sin) = (pivot / length, own / length);
                for (a, b) in column.iter_mut().zip(&mut row).skip(i) {
                    (*a, *b) = (cos * *a + sin * *b, cos * *b - sin * *a);
                }
            }
        }
    }
    lower
}

/// The factor of `(L L')^-1`.
pub fn factor_of_inverse(lower: &Matrix) -> Matrix {
    factor_of_sum(&[(1.0, &lower.solve_lower_triangular_unchecked(&Matrix::identity(lower.nrows(), lower.nrows())))])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn factors_are_those_of_sum_and_inverse() {
        let a = Matrix::from_row_slice(3, 3, &[4.0, 1.0, -0.5, 1.0, 3.0, 0.25, -0.5, 0.25, 2.0]);
        let lower = cholesky(a.clone()).unwrap();
        let same = |x: &Matrix, y: &Matrix| assert!((x - y).amax() < 1e-12, "{x} {y}");
        same(&(&lower * lower.transpose()), &a);
        let inverse = factor_of_inverse(&lower);
        same(&(&a * &inverse * inverse.transpose()), &Matrix::identity(3, 3));
        let sum = factor_of_sum(&[(2.0, &lower), (1.0, &a)]);
        same(&(&sum * sum.transpose()), &(lower.transpose() * &lower * 4.0 + &a * &a));
        assert_eq!(cholesky(a - Matrix::identity(3, 3) * 4.0), None);
        for pivot in [0.0, -0.0, f64::INFINITY, f64::NAN] {
            assert_eq!(cholesky(Matrix::from_element(1, 1, pivot)), None);
        }
    }

    /// What is lost in a sum of squares is kept: `1e200 v v' + I`, whose other eigenvalue is 1.
    #[test]
    fn rotations_keep_what_squares_lose() {
        for size in [1e100, 1e200, 1e300] {
            let large = Matrix::from_row_slice(2, 2, &[3.0 * size, 4.0 * size, 0.0, 0.0]);
            let lower = factor_of_sum(&[(1.0, &large), (1.0, &Matrix::identity(2, 2))]);
            assert!((lower.diagonal().iter().map(|x| x.ln()).sum::<f64>() - (5.0 * size).ln()).abs() < 1e-12);
            let across = lower.solve_lower_triangular_unchecked(&Matrix::from_column_slice(2, 1, &[-0.8, 0.6]));
            assert!((across.norm() - 1.0).abs() < 1e-12, "{across}");
        }
    }
}
