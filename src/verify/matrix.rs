//! Constant covariance matrices, and their extreme eigenvalues by proved definiteness of `S - t I`.

use super::real::Real;
use super::text::Expr;

/// Rows of the largest matrix that is given by its upper triangle.
const MOST: usize = 64;

/// Square and symmetric.
pub struct Covariance(Vec<Vec<Real>>);

impl Covariance {
    pub fn read(e: &Expr) -> Option<Covariance> {
        let number = |e: &Expr| if let Expr::Number(x) = e { Some(Real::new(*x)) } else { None };
        let rows: Option<Vec<Vec<Real>>> = e.args().iter().map(|row| row.args().iter().map(number).collect()).collect();
        let columns: Vec<Vec<&Expr>> = (0..e.args().len()).map(|j| e.args().iter().filter_map(|row| row.args().get(j)).collect()).collect();
        let symmetric = columns.iter().zip(e.args()).all(|(column, row)| column.iter().copied().eq(row.args()));
        rows.filter(|_| symmetric && !columns.is_empty()).map(Covariance)
    }

    /// Of the upper triangle, row by row.
    pub fn of(upper: &[f64]) -> Option<Covariance> {
        let dim = (1..=MOST).find(|d| d * (d + 1) / 2 == upper.len())?;
        let at = |i: usize, j: usize| upper.get(i * dim + j - i * (i + 1) / 2).map(|x| Real::new(*x));
        let row = |i: usize| (0..dim).map(|j| at(i.min(j), i.max(j))).collect();
        (0..dim).map(row).collect::<Option<Vec<Vec<Real>>>>().map(Covariance)
    }

    pub fn dim(&self) -> usize {
        self.0.len()
    }

    /// The variances, if there is nothing beside the diagonal.
    pub fn diagonal(&self) -> Option<Vec<Real>> {
        let beside = |(i, row): (usize, &Vec<Real>)| row.iter().enumerate().all(|(j, x)| i == j || x.is_zero());
        self.0.iter().enumerate().all(beside).then(|| self.variances().collect())
    }
    fn variances(&self) -> impl Iterator<Item = Real> {
        self.0.iter().enumerate().filter_map(|(i, row)| row.get(i).cloned())
    }

    /// At most the least eigenvalue, and as near as the arithmetic can prove: `S - t I` is positive definite below it.
    pub fn least(&self) -> Real {
        let most = self.variances().fold(Real::UNKNOWN, |m, x| m.min(&x));
        edge(Real::zero(), most, |t| self.is_definite(&Real::one(), &-t))
    }

    /// At least the largest eigenvalue.
    pub fn largest(&self) -> Real {
        let sum = |row: &Vec<Real>| row.iter().fold(Real::one(), |s, x| s + x.max(&-x));
        let most = self.0.iter().map(sum).fold(Real::zero(), |m, x| m.max(&x));
        let least = self.variances().fold(Real::zero(), |m, x| m.max(&x));
        edge(most, least, |t| self.is_definite(&-&Real::one(), t))
    }

    /// Is `sign S + shift I` surely positive definite? Every pivot of its elimination is.
    pub fn is_definite(&self, sign: &Real, shift: &Real) -> bool {
        let entry = |i: usize, (j, x): (usize, &Real)| if i == j { sign * x + shift } else { sign * x };
        let row = |(i, row): (usize, &Vec<Real>)| row.iter().enumerate().map(|x| entry(i, x)).collect();
        let mut left: Vec<Vec<Real>> = self.0.iter().enumerate().map(row).collect();
        while let Some((pivot, others)) = left.split_first().and_then(|(head, rows)| Some((head.split_first()?, rows))) {
            if !pivot.0.positive() {
                return false;
            }
            let without = |row: &Vec<Real>| {
                let (first, rest) = row.split_first()?;
                let factor = first / pivot.0;
                Some(rest.iter().zip(pivot.1).map(|(x, p)| x - &factor * p).collect())
            };
            left = others.iter().filter_map(without).collect();
        }
        true
    }
}

/// The last number found for which the test holds, between one that passes and one that may not.
fn edge(mut passes: Real, mut fails: Real, test: impl Fn(&Real) -> bool) -> Real {
    for _ in 0..100 {
        let [middle, _] = ((&passes + &fails) / Real::int(2)).ends();
        let end = if test(&middle) { &mut passes } else { &mut fails };
        *end = middle;
    }
    passes
}
