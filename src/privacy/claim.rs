//! What may be claimed about a release, as data: pairs of distributions, constants, products, maxima.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// A pair of members of one exponential family whose Rényi divergence `D(P || Q)` bounds a release.
///
/// `P` has parameters `a`, `Q` has `a + step`.
#[derive(Clone, PartialEq, Debug)]
pub enum Pair {
    /// Log-normaliser `sum lnGamma(a_i) - lnGamma(total)`: Beta, Dirichlet (coordinates that do not move are left
    /// out, and the total where it does not move) and Gamma shapes (no total). Each entry is `(a, step)`.
    Shapes { family: Family, coordinates: Vec<(f64, f64)>, total: Option<(f64, f64)> },
    /// Gamma(shape, rate) against Gamma(shape, rate + step).
    Rate { shape: f64, rate: f64, step: f64 },
    /// The dearest of a finite family of Dirichlet pairs (rule book §2.3), found at each order by a dynamic programme:
    /// `Q` holds `items` items of weight `weight` on one category, `P` holds them on the others in any way, and `base`
    /// (the other rows' weight; 0 for none) sits on any one category. `counts` are the prior counts that matter.
    Allocation { counts: Vec<f64>, base: f64, items: u64, weight: f64 },
    /// Normal noise on a sum over a sample without replacement that holds at most this share of the rows (rule book §12.3).
    /// A replaced row moves the sum of a sample that holds it by at most `mu` sds.
    Sampled { share: f64, mu: f64 },
}

/// How far one unit moves a posterior, where the other rows may have brought it (rule book §17).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shift {
    /// `step` moves from the second of two counts to the first; the other rows add `others` to both together.
    Beta { family: Family, counts: (f64, f64), step: f64, others: f64 },
    /// Gamma(shape) and Gamma(shape + step), or larger shapes.
    Shape { shape: f64, step: f64 },
    /// Gamma(shape, rate) and Gamma(shape, rate + step), or larger rates; the shape is known.
    Rate { shape: f64, rate: f64, step: f64 },
    /// Beta(kept, count) and Beta(kept, count + step), or larger counts; the first is known.
    Count { kept: f64, count: f64, step: f64 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Beta,
    Dirichlet,
    Gamma,
}

/// The privacy of one release: for every order the divergence is at most this. Every number inside is already an
/// upper bound; every method below rounds to the safe side.
#[derive(Clone, PartialEq, Debug)]
pub enum Claim {
    /// The largest divergence among these concrete pairs, at every order.
    Renyi(Vec<Pair>),
    /// A draw whose posterior one unit shifts: no f-divergence of neighbours, in either order, is above that of the worst pairs.
    Exact(Shift),
    Gdp {
        mu: f64,
    },
    BoundedRange {
        eta: f64,
    },
    Pure {
        epsilon: f64,
    },
    Zcdp {
        rho: f64,
    },
    /// Continuous Laplace noise (or that draw rounded) with `sensitivity / scale = epsilon` (rule book §8.7).
    Laplace {
        epsilon: f64,
    },
    /// All of these are released, each chosen adaptively.
    Product(Vec<Claim>),
    /// `times` independent, adaptively chosen releases, each with this claim: a product of equal parts.
    Repeated {
        times: u64,
        claim: Box<Claim>,
    },
    /// One of these is released, or the neighbour touches one of these: the pointwise maximum.
    Max(Vec<Claim>),
}

/// Claims are found again by the bits of their numbers; what is not a number equals nothing, not even itself, and is priced anew.
impl Eq for Claim {}
impl Eq for Pair {}
impl Eq for Shift {}

impl Hash for Claim {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Claim::Renyi(pairs) => pairs.hash(state),
            Claim::Exact(shift) => shift.hash(state),
            Claim::Gdp { mu: x }
            | Claim::BoundedRange { eta: x }
            | Claim::Pure { epsilon: x }
            | Claim::Zcdp { rho: x }
            | Claim::Laplace { epsilon: x } => x.to_bits().hash(state),
            Claim::Product(parts) | Claim::Max(parts) => parts.hash(state),
            Claim::Repeated { times, claim } => (times, claim).hash(state),
        }
    }
}

impl Hash for Shift {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        let numbers = match *self {
            Shift::Beta { counts, step, others, .. } => [counts.0, counts.1, step, others],
            Shift::Shape { shape, step } => [shape, step, 0.0, 0.0],
            Shift::Rate { shape: first, rate: second, step } | Shift::Count { kept: first, count: second, step } => {
                [first, second, step, 0.0]
            }
        };
        numbers.map(f64::to_bits).hash(state);
    }
}

impl Hash for Pair {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        let mut put = |x: f64| x.to_bits().hash(state);
        match self {
            Pair::Shapes { coordinates, total, .. } => coordinates.iter().chain(total).flat_map(|(a, step)| [*a, *step]).for_each(put),
            Pair::Rate { shape, rate, step } => [*shape, *rate, *step].into_iter().for_each(put),
            Pair::Allocation { counts, base, items, weight } => {
                counts.iter().chain([base, weight]).for_each(|x| put(*x));
                items.hash(state);
            }
            Pair::Sampled { share, mu } => [*share, *mu].into_iter().for_each(put),
        }
    }
}
