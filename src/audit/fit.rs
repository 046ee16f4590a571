//! Do draws follow the law that they should? The test of Kolmogorov and Smirnov, for draws that were rounded to a grid.

use super::divergence::distribution;
use super::laws::Law;

/// A law is refused below this chance.
const ALPHA: f64 = 1e-9;

/// Do the draws follow the law that the certificate names?
#[derive(Clone, PartialEq, Debug)]
pub struct LawCheck {
    pub distance: f64,
    pub p_value: f64,
}

impl LawCheck {
    pub fn follows(&self) -> bool {
        self.p_value >= ALPHA
    }

    /// Draws of one number, rounded to a grid of this `step`, against their distribution function; of several numbers the first.
    pub fn of(law: &Law, draws: &[Vec<f64>], step: f64) -> Option<LawCheck> {
        let one = match law {
            Law::Normals { means, variance } => Law::Normal { mean: *means.first()?, variance: *variance },
            Law::Dirichlet(alpha) => {
                let first = *alpha.first()?;
                Law::Beta(first, alpha.iter().sum::<f64>() - first)
            }
            law => law.clone(),
        };
        let distribution = distribution(&one)?;
        let mut x: Vec<f64> = draws.iter().filter_map(|d| d.first().copied()).collect();
        x.sort_by(f64::total_cmp);
        let n = x.len() as f64;
        let (mut below, mut distance) = (0.0, 0.0_f64);
        for equal in x.chunk_by(|a, b| a == b) {
            let Some(at) = equal.first() else { continue };
            let [low, middle, high] = [at - step, *at, at + step].map(&distribution);
            let upto = below + equal.len() as f64;
            // A draw lies within a step of what it was: before it there are between F(x - step) and F(x), up to it F(x) and F(x + step).
            let off = |share: f64, least: f64, most: f64| (least - share).max(share - most);
            distance = distance.max(off(below / n, low, middle)).max(off(upto / n, middle, high));
            below = upto;
        }
        // The integrated distribution function is right to about 1e-4.
        let lambda = (distance - 1e-4).max(0.0) * n.sqrt();
        let term = |k: i32| (if k % 2 == 1 { 2.0 } else { -2.0 }) * (-2.0 * f64::from(k * k) * lambda * lambda).exp();
        let sum: f64 = (1..=100).map(term).sum();
        Some(LawCheck { distance, p_value: if lambda < 0.2 { 1.0 } else { sum.clamp(0.0, 1.0) } })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Quantiles of a law, rounded to a grid.
    fn rounded(of: impl Fn(f64) -> f64, step: f64) -> Vec<Vec<f64>> {
        (0..20_000).map(|i| of((f64::from(i) + 0.5) / 20_000.0)).map(|x| vec![(x / step).round() * step]).collect()
    }

    /// Mass that is rounded onto the ends of the domain belongs there; mass that is not, and a law that is slightly another, are seen.
    #[test]
    fn draws_on_a_grid() {
        // Beta(0.05, 1): F(x) = x^0.05.
        let law = Law::Beta(0.05, 1.0);
        let step = libm::ldexp(1.0, -40);
        let of = |draws: &[Vec<f64>]| LawCheck::of(&law, draws, step).unwrap();
        assert!(of(&rounded(|u| u.powf(20.0), step)).follows());
        assert!(!of(&rounded(|u| u.powf(18.0), step)).follows());
        assert!(!of(&vec![vec![0.0]; 20_000]).follows());
        assert!(!of(&vec![vec![1.0]; 20_000]).follows());
        let half = rounded(|u| if u < 0.5 { 0.0 } else { u.powf(20.0) }, step);
        assert!(!of(&half).follows(), "{:?}", of(&half));
        let normal = Law::Normal { mean: 0.0, variance: 1.0 };
        assert!(!LawCheck::of(&normal, &rounded(|u| u - 0.5, 1e-9), 1e-9).unwrap().follows());
    }
}
