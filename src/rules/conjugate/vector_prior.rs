//! Normal priors on vectors, and their covariances with proved bounds on eigenvalues.

use super::facts::{location_argument, positive_argument, within_reach};
use super::refusals;
use crate::model::{Builtin, Expr, ExprKind, Parameter, Range, Type};
use crate::numeric::Interval;
use crate::numeric::dense::Matrix;
use crate::numeric::linear::{cholesky, spectral_norm_up};
use crate::numeric::round::{div_up, mul_down, mul_up, sub_down};
use crate::rules::{Match, Verdict, not_mine};
use crate::source::Span;

/// Larger vectors do not fit a plan, whose matrices are dense.
const MOST_DIMENSIONS: u64 = 1000;
/// The most that a computed inverse may differ from the inverse, relative to it.
const MOST_EXCESS: f64 = 1e-6;
/// 2^-50: what adding two inverses and dividing by m may cost, each rounded once, entry by entry.
const ROUNDING: f64 = 8.881_784_197_001_252e-16;
/// Larger matrices of constants would take long to certify.
const MOST_ROWS: usize = 64;

/// A symmetric positive definite matrix, row by row.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::rules) struct Covariance {
    pub dim: usize,
    pub entries: Vec<f64>,
}

impl Covariance {
    /// `variance` rounded down: the precision drawn with is then not below the one of the claim.
    pub fn scaled_identity(dim: usize, variance: f64) -> Covariance {
        let at = |i: usize| {
            if i.is_multiple_of(dim + 1) { variance } else { 0.0 }
        };
        Covariance { dim, entries: (0..dim * dim).map(at).collect() }
    }

    /// `[[1, 0], [0, 2]]` of constants; symmetric, with a positive definiteness that `least` can prove.
    pub fn literal(e: &Expr, dim: usize) -> Option<Covariance> {
        let ExprKind::List(rows) = &e.kind else {
            return None;
        };
        let mut entries = Vec::new();
        for row in rows {
            let ExprKind::List(items) = &row.kind else {
                return None;
            };
            if items.len() != dim || rows.len() != dim || dim > MOST_ROWS {
                return None;
            }
            for item in items {
                entries.push(item.constant().filter(|x| x.is_finite())?);
            }
        }
        let matrix = Covariance { dim, entries };
        let symmetric = (0..dim).all(|i| (0..i).all(|j| matrix.at(i, j) == matrix.at(j, i)));
        (symmetric && dim > 0 && matrix.least() > 0.0).then_some(matrix)
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.entries.get(i * self.dim + j).copied().unwrap_or(0.0)
    }

    /// The diagonal, if every other entry is 0.
    pub fn diagonal(&self) -> Option<Vec<f64>> {
        let off = |i: usize| (0..self.dim).all(|j| i == j || self.at(i, j) == 0.0);
        (0..self.dim).all(off).then(|| (0..self.dim).map(|i| self.at(i, i)).collect())
    }

    /// A lower bound on the smallest eigenvalue, 0 if none is proved: the largest shift found that leaves a proved
    /// Cholesky factor. Shifted diagonals are rounded down, so the shifted matrix is never too large.
    pub fn least(&self) -> f64 {
        if let Some(diagonal) = self.diagonal() {
            return diagonal.into_iter().fold(f64::INFINITY, f64::min).max(0.0);
        }
        let definite = |shift: f64| {
            let mut entries = self.entries.clone();
            let diagonal = entries.iter_mut().step_by(self.dim + 1);
            diagonal.for_each(|x| *x = sub_down(*x, shift));
            cholesky(&entries, self.dim).is_some()
        };
        let (mut low, mut high) = (0.0, self.largest());
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if definite(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// An upper bound on the largest eigenvalue.
    pub fn largest(&self) -> f64 {
        match self.diagonal() {
            Some(diagonal) => diagonal.into_iter().fold(0.0, f64::max),
            None => spectral_norm_up(&self.entries, self.dim),
        }
    }

    /// Refuses variances out of reach and matrices whose inverse in doubles is not close to the inverse.
    pub(super) fn checked(&self, span: Span) -> Match<Inverse> {
        for i in 0..self.dim {
            within_reach(self.at(i, i), span, "a variance")?;
        }
        let close = self.inverse().filter(|p| p.excess <= MOST_EXCESS);
        close.ok_or_else(|| Verdict::from(refusals::nearly_singular(span)))
    }

    /// A symmetric P with a proved `P >= (1 - excess) S^-1`; `None` if a pivot is not positive.
    ///
    /// `S^1/2 P S^1/2 - I` is symmetric and similar to `S P - I`, so its eigenvalues are at most the Frobenius norm of
    /// that, delta, and `P >= (1 - delta) S^-1`. A law adds two such matrices and divides by m, in doubles: an error
    /// matrix of norm at most `u |P|`, and `u |P| I <= u |P| |S| S^-1`. A diagonal S needs neither: its inverse is
    /// rounded up, as are the sum and the quotient.
    pub(super) fn inverse(&self) -> Option<Inverse> {
        let d = self.dim;
        if let Some(diagonal) = self.diagonal() {
            let mut entries = vec![0.0; d.checked_mul(d)?];
            entries.iter_mut().step_by(d + 1).zip(diagonal).for_each(|(x, s)| *x = div_up(1.0, s));
            return Some(Inverse { entries, excess: 0.0 });
        }
        let raw = Matrix::from_row_slice(d, d, &self.entries).cholesky()?.inverse();
        let at = |i: usize, j: usize| raw.get((i.max(j), i.min(j))).copied().unwrap_or(f64::NAN);
        let entries: Vec<f64> = (0..d * d).map(|k| at(k / d, k % d)).collect();
        let frobenius = |squares: &mut dyn Iterator<Item = Interval>| squares.fold(Interval::ZERO, |s, x| s + x.square()).sqrt();
        let residual = |k: usize| {
            let (i, j) = (k / d, k % d);
            let product = (0..d).fold(Interval::ZERO, |s, l| s + Interval::point(self.at(i, l)) * Interval::point(at(l, j)));
            if i == j { product - Interval::ONE } else { product }
        };
        let delta = frobenius(&mut (0..d * d).map(residual));
        let norm = |m: &[f64]| frobenius(&mut m.iter().map(|x| Interval::point(*x)));
        let rounding = norm(&self.entries) * norm(&entries) * Interval::point(ROUNDING);
        Some(Inverse { excess: (delta + rounding).hi, entries })
    }
}

/// An approximate inverse, exactly symmetric, row by row, and how far below the inverse it may lie.
#[derive(Clone, Debug)]
pub(super) struct Inverse {
    pub entries: Vec<f64>,
    pub excess: f64,
}

impl Inverse {
    /// At most `1 - excess`.
    pub fn share(&self) -> f64 {
        sub_down(1.0, self.excess)
    }
}

/// `x / m`, up; 0 stays 0.
pub(super) fn sharpened(x: f64, m: f64) -> f64 {
    if x == 0.0 { 0.0 } else { div_up(x, m) }
}

/// `matrix * v`, row-major.
pub(super) fn times(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    let rows = matrix.chunks(v.len().max(1));
    rows.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
}

/// A normal prior on a vector of `dim` components.
pub(super) struct VectorPrior {
    pub dim: usize,
    /// `None` where an argument is known by its range alone.
    pub mean: Option<Vec<f64>>,
    pub covariance: Option<Covariance>,
    /// The precision that a draw uses, where the covariance is known.
    pub precision: Option<Inverse>,
    /// Upper bound on the largest eigenvalue of the covariance, and of the inverse of `precision`.
    pub largest: f64,
    /// The prior as written with every sd times a factor.
    pub text: fn(&VectorPrior, f64) -> String,
}

/// `normal(m, s)` a component, or `multi_normal(m0, S0)`.
pub(super) fn vector_prior(parameter: &Parameter) -> Match<VectorPrior> {
    let Type::Vector(v) = &parameter.ty else {
        return not_mine("the parameter must be a vector");
    };
    prior_of(parameter, v.dim)
}

/// The prior of so many numbers.
fn prior_of(parameter: &Parameter, numbers: u64) -> Match<VectorPrior> {
    let dim = match usize::try_from(numbers) {
        Ok(d) if (1..=MOST_DIMENSIONS).contains(&numbers) => d,
        _ => return not_mine(format!("at most {MOST_DIMENSIONS} components")),
    };
    if parameter.truncated.is_some() {
        return not_mine("prior must not be cut to a domain");
    }
    match (parameter.prior.name(), parameter.prior.args.as_slice()) {
        ("normal", [m, s]) if m.ty.is_scalar_number() && s.ty.is_scalar_number() => {
            let (m, s) = (location_argument(m, "the prior's mean")?, positive_argument(s, "the prior's sd")?);
            let known = |r: Range| r.is_point().then_some(r.lo);
            let covariance = known(s).map(|s| Covariance::scaled_identity(dim, mul_down(s, s)));
            Ok(VectorPrior {
                dim,
                mean: known(m).map(|m| vec![m; dim]),
                precision: covariance.as_ref().and_then(Covariance::inverse),
                covariance,
                largest: mul_up(s.hi, s.hi),
                text: |p, factor| {
                    let mean = p.mean.as_ref().and_then(|m| m.first()).copied().unwrap_or(0.0);
                    let sd = p.largest.sqrt() * factor.sqrt();
                    format!("normal({}, {})", super::facts::tidy(mean), crate::rules::text::four_down(sd))
                },
            })
        }
        ("multi_normal", [m, s]) => {
            let Some(covariance) = Covariance::literal(s, dim) else {
                return not_mine("prior must be multi_normal(m0, S0) with a constant positive definite S0");
            };
            let mean: Option<Vec<f64>> = match &m.kind {
                ExprKind::List(items) if items.len() == dim => items.iter().map(Expr::constant).collect(),
                ExprKind::Call(Builtin::Rep, args) => args.first().and_then(Expr::constant).map(|x| vec![x; dim]),
                _ => m.constant().map(|x| vec![x; dim]),
            };
            mean.iter().flatten().try_for_each(|x| within_reach(*x, m.span, "the prior's mean"))?;
            let precision = covariance.checked(s.span)?;
            Ok(VectorPrior {
                dim,
                mean,
                // P >= share S^-1, so P^-1 <= S / share.
                largest: div_up(covariance.largest(), precision.share()),
                precision: Some(precision),
                covariance: Some(covariance),
                text: |_, factor| format!("the same multi_normal with its covariance times {}", crate::rules::text::four_down(factor)),
            })
        }
        _ => not_mine("prior must be normal(m, s) or multi_normal(m0, S0)"),
    }
}

/// A normal prior on a vector of weights, for predictions, which bound no privacy.
#[derive(Clone)]
pub(crate) struct NormalWeights {
    pub dim: usize,
    /// Row by row; `None` while an argument is not known.
    pub precision: Option<Vec<f64>>,
    pub mean: Option<Vec<f64>>,
    /// The largest variance in any direction.
    pub largest: f64,
}

/// The normal prior of a vector parameter, or of the entries of a matrix row by row.
pub(crate) fn normal_weights(parameter: &Parameter) -> Match<NormalWeights> {
    let prior = match parameter.ty {
        Type::Matrix { rows, columns, .. } => prior_of(parameter, rows.saturating_mul(columns))?,
        _ => vector_prior(parameter)?,
    };
    Ok(NormalWeights { dim: prior.dim, precision: prior.precision.map(|p| p.entries), mean: prior.mean, largest: prior.largest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_are_bracketed() {
        // Eigenvalues 1 and 3.
        let m = Covariance { dim: 2, entries: vec![2.0, 1.0, 1.0, 2.0] };
        assert!(m.least() <= 1.0 && m.least() > 1.0 - 1e-9);
        assert!(m.largest() >= 3.0 && m.largest() < 3.0 + 1e-9);
        let inverse = m.inverse().unwrap().entries;
        assert!((inverse[0] - 2.0 / 3.0).abs() < 1e-15 && (inverse[1] + 1.0 / 3.0).abs() < 1e-15);
        // The Hilbert matrix of order 4: 9.67e-5 and 1.5002.
        let entries = (0..16).map(|i| 1.0 / f64::from(i / 4 + i % 4 + 1)).collect();
        let h = Covariance { dim: 4, entries };
        assert!((h.least() - 9.670_230_402_2e-5).abs() < 1e-10, "{}", h.least());
        assert!((h.largest() - 1.500_214_280_06).abs() < 1e-10);
        let indefinite = Covariance { dim: 2, entries: vec![1.0, 2.0, 2.0, 1.0] };
        assert_eq!(indefinite.least(), 0.0);
    }

    /// A correct inverse of doubles is not below its share of the inverse, and its excess is small but not nothing.
    #[test]
    fn the_excess_of_an_inverse_is_proved() {
        let m = Covariance { dim: 2, entries: vec![2.0, 0.6, 0.6, 1.0] };
        let p = m.inverse().unwrap();
        assert!(p.excess > 0.0 && p.excess < 1e-13 && p.entries[1] == p.entries[2]);
        // Diagonal: rounded up, without excess.
        let third = Covariance::scaled_identity(2, 3.0).inverse().unwrap();
        assert!(third.excess == 0.0 && third.entries[0].mul_add(3.0, -1.0) >= 0.0 && third.entries[1] == 0.0);
    }

    #[test]
    fn an_ill_conditioned_covariance_is_refused() {
        let attack = vec![
            0.0011637356962434192,
            0.012905101284169421,
            -0.014014060773836188,
            0.012905101284169421,
            0.1431095173972896,
            -0.15540718576773685,
            -0.014014060773836188,
            -0.15540718576773685,
            0.16876161620531802,
        ];
        let m = Covariance { dim: 3, entries: attack };
        assert!(m.inverse().is_none_or(|p| p.excess > MOST_EXCESS || p.excess.is_nan()));
        let span = crate::rules::testing::span(0, 1);
        assert!(matches!(m.checked(span), Err(Verdict::Refused(r)) if r.diagnostic.code == "E0203"));
        let huge = Covariance { dim: 2, entries: vec![1e150, 0.0, 0.0, 1.0] };
        assert!(matches!(huge.checked(span), Err(Verdict::Refused(r)) if r.diagnostic.code == "E0203"));
    }
}
