//! Rényi divergence of concrete pairs: Gamma shapes, Beta, Dirichlet, and Gamma rates (rule book §0.1, §1–3).

use crate::numeric::Interval;
use crate::numeric::gamma_divergence::{divergence, limit_order, rate_divergence};
use crate::numeric::round::mul_up;
use crate::privacy::{Pair, allocation, subsampled, work};

impl Pair {
    /// At least the divergence of `P` from `Q`; infinite at and beyond the limit order, by an exact test.
    pub fn rdp(&self, order: f64) -> f64 {
        match self {
            Pair::Rate { shape, rate, step } => rate_divergence(*shape, *rate, *step, order).hi,
            Pair::Shapes { coordinates, total, .. } => shapes(coordinates, *total, order),
            Pair::Allocation { counts, base, items, weight } => allocation::rdp(counts, *base, *items, *weight, order),
            Pair::Sampled { share, mu } => subsampled::rdp(*share, *mu, order),
        }
    }

    /// rho of zCDP, infinite if there is none.
    pub fn zcdp(&self) -> f64 {
        match self {
            Pair::Sampled { mu, .. } => 0.5 * mul_up(*mu, *mu),
            _ => f64::INFINITY,
        }
    }

    /// At most the order from which on the divergence is infinite.
    pub fn max_order(&self) -> f64 {
        match self {
            Pair::Rate { rate, step, .. } => limit_order(*rate, *step),
            Pair::Shapes { coordinates, .. } => coordinates.iter().map(|&(a, step)| limit_order(a, step)).fold(f64::INFINITY, f64::min),
            Pair::Allocation { counts, items, weight, .. } => allocation::max_order(counts, *items, *weight),
            Pair::Sampled { .. } => f64::INFINITY,
        }
    }
}

/// The divergences of the coordinates add; a total that moves subtracts its own, which is never negative. A total out of
/// range is left out, which only enlarges the result.
fn shapes(coordinates: &[(f64, f64)], total: Option<(f64, f64)>, order: f64) -> f64 {
    work::count(coordinates.len());
    let mut sum = Interval::ZERO;
    for &(a, step) in coordinates {
        let part = divergence(a, step, order);
        if part.hi.is_infinite() {
            return f64::INFINITY;
        }
        sum = sum + part;
    }
    if let Some((a, step)) = total {
        let part = divergence(a, step, order);
        if part.hi.is_finite() {
            sum = sum - part;
        }
    }
    sum.hi.max(0.0)
}

#[cfg(test)]
mod tests {
    use crate::privacy::{Claim, Family, Pair};

    fn shapes(family: Family, coordinates: &[(f64, f64)]) -> Claim {
        Claim::Renyi(vec![Pair::Shapes { family, coordinates: coordinates.to_vec(), total: None }])
    }

    fn beta(u: f64, v: f64, r: f64, n: f64) -> Claim {
        shapes(Family::Beta, &[(u, r), (v + r * n, -r)])
    }

    /// At least the expected value, and tight.
    fn check(claim: &Claim, order: f64, expected: f64) {
        let found = claim.rdp(order);
        let excess = found / expected - 1.0;
        assert!((-2e-16..1e-10).contains(&excess), "order {order}: {found} against {expected}");
    }

    #[test]
    fn beta_bernoulli() {
        let claim = beta(6.0, 12.0, 1.0, 100.0);
        assert_eq!(claim.max_order(), 7.0);
        check(&claim, 2.0, 0.19129022677671503);
        check(&claim, 6.5, 1.0541382229332772);
        assert!(claim.rdp(7.0).is_infinite() && claim.rdp(15.0).is_infinite());
        check(&beta(6.0, 12.0, 0.3, 100.0), 2.0, 0.01849564776124614);
        check(&beta(0.5, 3.0, 1.0, 5.0), 1.3, 2.5686239691089567);
        check(&beta(5.0, 6.0, 1.0, 1e6), 1.01, 0.10442817783457854);
        check(&beta(60.0, 70.0, 1.0, 1e9), 2.0, 0.016807119316381163);
        assert!(claim.pure().is_infinite() && claim.zcdp().is_infinite());
        assert!(claim.gdp().is_infinite() && claim.bounded_range().is_infinite());
    }

    #[test]
    fn dirichlet_and_gamma() {
        let claim = shapes(Family::Dirichlet, &[(2.0, 1.0), (4.0, -1.0)]);
        check(&claim, 2.9, 2.2675587276813474);
        check(&shapes(Family::Dirichlet, &[(0.3, 0.1), (0.3 + 0.1, -0.1)]), 3.0, 0.37923534864179076);
        check(&shapes(Family::Gamma, &[(2.0, 3.0)]), 1.4, 3.5582030263475395);
        let limit = shapes(Family::Gamma, &[(2.0, 3.0)]).max_order();
        assert!(limit <= 5.0 / 3.0 && limit > 1.666666666666);
    }

    #[test]
    fn a_moving_total_lowers_the_divergence() {
        // Beta(12, 3) against Beta(12, 5): a total that moves from 15 to 17. Golden: beta_negative_binomial-000.
        let claim =
            Claim::Renyi(vec![Pair::Shapes { family: Family::Beta, coordinates: vec![(3.0, 2.0)], total: Some((2.0 + 5.0 + 3.0, 2.0)) }]);
        check(&claim, 1.8, 1.0934042950632108);
    }

    #[test]
    fn what_is_no_distribution_is_unknown() {
        for coordinates in [[(1.0, -1.0)], [(-1.0, 2.0)], [(f64::NAN, 1.0)], [(1.0, f64::NAN)]] {
            let claim = shapes(Family::Gamma, &coordinates);
            assert_eq!(claim.max_order(), 1.0);
            assert!(claim.rdp(1.5).is_infinite());
            assert!(claim.epsilon(1e-6).is_infinite());
        }
    }
}
