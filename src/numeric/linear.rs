//! Small dense symmetric matrices, row by row in a slice, with certified bounds from an interval Cholesky factor.

use crate::numeric::Interval;

/// A lower triangular factor: row i has i + 1 entries.
pub struct Cholesky {
    rows: Vec<Vec<Interval>>,
}

/// Encloses the Cholesky factor of the symmetric matrix with this lower triangle; `None` unless the matrix is proved
/// positive definite. O(dim^3).
pub fn cholesky(matrix: &[f64], dim: usize) -> Option<Cholesky> {
    shifted_cholesky(matrix, dim, Interval::point, Interval::ZERO)
}

/// The same for `entry(matrix) + shift I`.
fn shifted_cholesky(matrix: &[f64], dim: usize, entry: impl Fn(f64) -> Interval, shift: Interval) -> Option<Cholesky> {
    if dim == 0 || dim.checked_mul(dim) != Some(matrix.len()) {
        return None;
    }
    let mut rows: Vec<Vec<Interval>> = Vec::with_capacity(dim);
    for source in matrix.chunks_exact(dim) {
        let mut row: Vec<Interval> = Vec::with_capacity(rows.len() + 1);
        for (&x, above) in source.iter().zip(&rows) {
            let pivot = above.last().copied()?;
            row.push((entry(x) - dot(&row, above)) / pivot);
        }
        let diagonal = source.get(rows.len()).copied()?;
        let square = row.iter().fold(Interval::ZERO, |sum, x| sum + x.square());
        let pivot = entry(diagonal) + shift - square;
        // NaN fails this too.
        if pivot.lo > 0.0 && pivot.hi.is_finite() {
            row.push(pivot.sqrt());
        } else {
            return None;
        }
        rows.push(row);
    }
    Some(Cholesky { rows })
}

/// Sum of products over the shorter of the two.
fn dot(a: &[Interval], b: &[Interval]) -> Interval {
    a.iter().zip(b).fold(Interval::ZERO, |sum, (&x, &y)| sum + x * y)
}

impl Cholesky {
    /// Encloses `x' A^-1 x`: forward substitution, then the squared length. The whole line if `x` has another length.
    pub fn inverse_quadratic(&self, x: &[f64]) -> Interval {
        if x.len() != self.rows.len() {
            return Interval::ENTIRE;
        }
        let mut solution: Vec<Interval> = Vec::with_capacity(x.len());
        for (&right, row) in x.iter().zip(&self.rows) {
            let pivot = row.last().copied().unwrap_or(Interval::ZERO);
            solution.push((Interval::point(right) - dot(&solution, row)) / pivot);
        }
        solution.iter().fold(Interval::ZERO, |sum, y| sum + y.square())
    }
}

/// At least `x' L^-1 x` for a symmetric `L` given by its lower triangle; infinite unless `L` is proved positive definite.
pub fn inverse_quadratic_up(l: &[f64], x: &[f64], dim: usize) -> f64 {
    cholesky(l, dim).map_or(f64::INFINITY, |factor| factor.inverse_quadratic(x).hi)
}

/// At least the largest eigenvalue of a symmetric matrix (its lower triangle counts), and never negative.
///
/// Power iteration guesses; `t I - A` positive definite, proved by an interval Cholesky factor, verifies. The guess is
/// inflated until it verifies, at most to the Frobenius norm. Infinite if an entry or the length is wrong.
pub fn spectral_norm_up(matrix: &[f64], dim: usize) -> f64 {
    if dim == 0 || dim.checked_mul(dim) != Some(matrix.len()) {
        return f64::INFINITY;
    }
    let frobenius = frobenius_up(matrix, dim);
    let guess = power_iteration(matrix, dim);
    let mut slack = 1e-13 * guess.abs().max(frobenius * 1e-12);
    for _ in 0..14 {
        let t = guess + slack;
        if t.is_nan() || t >= frobenius {
            break;
        }
        let verified = t > 0.0 && shifted_cholesky(matrix, dim, |x| Interval::point(-x), Interval::point(t)).is_some();
        if verified {
            return t;
        }
        slack *= 10.0;
    }
    frobenius
}

/// At least the Frobenius norm of the symmetric matrix with this lower triangle.
fn frobenius_up(matrix: &[f64], dim: usize) -> f64 {
    let mut sum = Interval::ZERO;
    for (index, row) in matrix.chunks_exact(dim).enumerate() {
        for (column, &x) in row.iter().enumerate().take(index.saturating_add(1)) {
            let square = Interval::point(x).square();
            sum = sum + square;
            if column < index {
                sum = sum + square;
            }
        }
    }
    sum.sqrt().hi
}

/// A Rayleigh quotient after power iteration: an estimate of the largest eigenvalue, not a bound.
fn power_iteration(matrix: &[f64], dim: usize) -> f64 {
    // A start with no special symmetry.
    let mut vector: Vec<f64> = (1..=dim).map(|i| 1.0 + 0.618 * (i as f64).sin()).collect();
    let mut estimate = 0.0;
    for _ in 0..1000 {
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 || !length.is_finite() {
            return 0.0;
        }
        vector.iter_mut().for_each(|x| *x /= length);
        let image: Vec<f64> = matrix.chunks_exact(dim).map(|row| row.iter().zip(&vector).map(|(a, x)| a * x).sum()).collect();
        let next: f64 = image.iter().zip(&vector).map(|(a, x)| a * x).sum();
        vector = image;
        if (next - estimate).abs() <= 1e-15 * next.abs() {
            return next;
        }
        estimate = next;
    }
    estimate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        let excess = found / expected - 1.0;
        assert!((-2e-16..1e-9).contains(&excess), "{found} against {expected}");
    }

    #[test]
    fn quadratic_form_of_the_inverse() {
        // Golden: linear_regression_public_design; L = I + X'X for X = [[1,0],[.5,.5],[0,-1]].
        let l = [2.25, 0.25, 0.25, 2.25];
        near(inverse_quadratic_up(&l, &[1.0, 0.0], 2), 0.45);
        near(inverse_quadratic_up(&l, &[0.0, -1.0], 2), 0.45);
        assert!(inverse_quadratic_up(&[1.0, 2.0, 2.0, 1.0], &[1.0, 0.0], 2).is_infinite());
        assert!(inverse_quadratic_up(&l, &[1.0], 2).is_infinite());
        assert!(inverse_quadratic_up(&l, &[1.0, 0.0], 3).is_infinite());
        assert!(inverse_quadratic_up(&[f64::NAN], &[1.0], 1).is_infinite());
    }

    #[test]
    fn largest_eigenvalue() {
        near(spectral_norm_up(&[2.0, 1.0, 1.0, 2.0], 2), 3.0);
        near(spectral_norm_up(&[7.5], 1), 7.5);
        near(spectral_norm_up(&[1.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 5.0], 3), 5.0);
        // The second difference matrix: 2 + 2 cos(pi/(d + 1)).
        let d = 30;
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let matrix: Vec<f64> = (0..d * d).map(|k| entry(k / d, k % d)).collect();
        let expected = 2.0 + 2.0 * (std::f64::consts::PI / (d as f64 + 1.0)).cos();
        let found = spectral_norm_up(&matrix, d);
        assert!(found >= expected - 1e-14 && found <= expected * 1.01, "{found}");
    }

    #[test]
    fn hard_matrices_fall_back_on_a_bound() {
        // Eigenvalues 1 and -1: power iteration finds neither.
        let swap = spectral_norm_up(&[0.0, 1.0, 1.0, 0.0], 2);
        assert!((1.0..1.5).contains(&swap), "{swap}");
        assert!(spectral_norm_up(&[0.0, 0.0, 0.0, 0.0], 2) < 1e-100);
        assert!(spectral_norm_up(&[-3.0], 1) >= 0.0);
        assert!(spectral_norm_up(&[f64::NAN], 1).is_infinite());
        assert!(spectral_norm_up(&[1.0, 2.0], 2).is_infinite());
    }
}
