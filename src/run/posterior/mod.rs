//! Released posteriors as values: means, intervals, densities and draws, all computed from what left the mechanism.

mod cells;
mod export;
mod line;
mod linear;
mod mixture;
mod normal;
mod predicted;
mod quotient;
mod rate;
mod read;
mod show;
mod waiting;

pub use export::inference_data;
pub use mixture::released;
pub use predicted::chances;
pub use read::marginals_from_json;
pub use show::{json, picture, widths};

use line::Line;
pub use quotient::Share;

use super::bits::Bits;
use super::draws::Draws;
use crate::dist::sample;
use crate::numeric::Unary;
use crate::numeric::diagnostics::quantile;
use crate::numeric::quotient::Shape;
use crate::numeric::special::normal_cdf;

/// A distribution that anyone may know.
#[derive(Clone, PartialEq, Debug)]
pub enum Posterior {
    /// Counts of successes and failures.
    Beta(f64, f64),
    /// One count a level, two at least.
    Dirichlet(Vec<f64>),
    /// Shape and rate.
    Gamma(f64, f64),
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Mean, and the lower triangular factor of the covariance: row i has i + 1 entries.
    MultiNormal { mean: Vec<f64>, factor: Vec<Vec<f64>> },
    /// One of the components, with probabilities that sum to 1; components of one family and size.
    Mixture { weights: Vec<f64>, components: Vec<Posterior> },
    /// Independent posteriors, one a group.
    Product(Vec<Posterior>),
    /// A noisy sum over a noisy count.
    Quotient(Share),
    /// The mean of an outcome (`inv_logit`, `Phi`, `inv_cloglog` or `exp`) of a number.
    MeanOf(Unary, Box<Posterior>),
    /// What a chain drew.
    Draws(Draws),
}

impl Posterior {
    /// The name of its family.
    pub fn family(&self) -> &'static str {
        match self {
            Posterior::Beta(..) => "beta",
            Posterior::Dirichlet(_) => "dirichlet",
            Posterior::Gamma(..) => "gamma",
            Posterior::Normal(..) => "normal",
            Posterior::MultiNormal { .. } => "multi_normal",
            Posterior::Mixture { .. } => "mixture",
            Posterior::Product(_) => "product",
            Posterior::MeanOf(f, _) => f.facts().name(),
            Posterior::Quotient(q) => match q.of.shape {
                Shape::Normal => "quotient_normal",
                Shape::Laplace => "quotient_laplace",
            },
            Posterior::Draws(_) => "draws",
        }
    }

    /// How many numbers a draw has.
    pub fn dim(&self) -> usize {
        match self {
            Posterior::Beta(..) | Posterior::Gamma(..) | Posterior::Normal(..) | Posterior::Quotient(_) | Posterior::MeanOf(..) => 1,
            Posterior::Dirichlet(alpha) => alpha.len(),
            Posterior::MultiNormal { mean, .. } => mean.len(),
            Posterior::Mixture { components, .. } => components.first().map_or(0, Posterior::dim),
            Posterior::Product(parts) => parts.iter().map(Posterior::dim).sum(),
            Posterior::Draws(draws) => draws.names.len(),
        }
    }

    /// Is a draw one number?
    pub fn is_scalar(&self) -> bool {
        match self {
            Posterior::Beta(..) | Posterior::Gamma(..) | Posterior::Normal(..) | Posterior::Quotient(_) | Posterior::MeanOf(..) => true,
            Posterior::Dirichlet(_) | Posterior::MultiNormal { .. } | Posterior::Product(_) => false,
            Posterior::Mixture { components, .. } => components.first().is_some_and(Posterior::is_scalar),
            Posterior::Draws(draws) => draws.scalar,
        }
    }

    /// The marginal of one level, or the posterior of one group, counted from 0.
    pub fn component(&self, i: usize) -> Option<Posterior> {
        match self {
            Posterior::Beta(..) | Posterior::Gamma(..) | Posterior::Normal(..) | Posterior::Quotient(_) | Posterior::MeanOf(..) => None,
            Posterior::Dirichlet(alpha) => {
                let own = *alpha.get(i)?;
                let rest: f64 = alpha.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, a)| a).sum();
                Some(Posterior::Beta(own, rest))
            }
            Posterior::MultiNormal { mean, factor } => {
                let sd = factor.get(i)?.iter().map(|x| x * x).sum::<f64>().sqrt();
                Some(Posterior::Normal(*mean.get(i)?, sd))
            }
            Posterior::Mixture { weights, components } => {
                let components: Option<Vec<Posterior>> = components.iter().map(|c| c.component(i)).collect();
                Some(Posterior::Mixture { weights: weights.clone(), components: components? })
            }
            Posterior::Product(parts) => parts.get(i).cloned(),
            Posterior::Draws(draws) => draws.component(i).map(Posterior::Draws),
        }
    }

    /// The marginal of the sum of some shares; their places count from 0.
    pub fn together(&self, places: &[usize]) -> Option<Posterior> {
        self.against(places, &(0..self.dim()).filter(|i| !places.contains(i)).collect::<Vec<_>>())
    }

    /// Of shares, the part that some have of what they and others have together.
    fn against(&self, ours: &[usize], theirs: &[usize]) -> Option<Posterior> {
        match self {
            Posterior::Dirichlet(alpha) => {
                let sum = |places: &[usize]| places.iter().map(|i| alpha.get(*i)).sum::<Option<f64>>().filter(|_| !places.is_empty());
                Some(Posterior::Beta(sum(ours)?, sum(theirs)?))
            }
            Posterior::Mixture { weights, components } => {
                let components: Option<Vec<Posterior>> = components.iter().map(|c| c.against(ours, theirs)).collect();
                Some(Posterior::Mixture { weights: weights.clone(), components: components? })
            }
            _ => None,
        }
    }

    /// The probability that some shares of one draw sum to more than others of the same draw; of weights, one of each.
    pub fn ahead(&self, ours: &[usize], theirs: &[usize]) -> Option<f64> {
        if let Posterior::Draws(draws) = self {
            return Some(draws.ahead(ours, theirs));
        }
        if let Some(chance) = self.heavier(ours, theirs) {
            return Some(chance);
        }
        let only = |a: &[usize], b: &[usize]| a.iter().copied().filter(|i| !b.contains(i)).collect::<Vec<_>>();
        let (a, b) = (only(ours, theirs), only(theirs, ours));
        match (a.is_empty(), b.is_empty()) {
            (true, _) => Some(0.0),
            (false, true) => Some(1.0),
            // The part is above a half.
            _ => self.against(&a, &b)?.cdf(&[0.5]).first().map(|below| 1.0 - below),
        }
    }

    /// Of weights that are jointly normal: the probability that one is larger than another.
    fn heavier(&self, ours: &[usize], theirs: &[usize]) -> Option<f64> {
        match (self, ours, theirs) {
            (Posterior::MultiNormal { mean, factor }, [i], [j]) => {
                let entry = |row: &Vec<f64>, k: usize| row.get(k).copied().unwrap_or(0.0);
                let (a, b) = (factor.get(*i)?, factor.get(*j)?);
                let variance: f64 = (0..mean.len()).map(|k| (entry(a, k) - entry(b, k)).powi(2)).sum();
                let apart = mean.get(*i)? - mean.get(*j)?;
                Some(if i == j { 0.0 } else { normal_cdf(apart / variance.sqrt()) })
            }
            (Posterior::Mixture { weights, components }, ..) => {
                weights.iter().zip(components).map(|(w, c)| c.heavier(ours, theirs).map(|p| w * p)).sum()
            }
            _ => None,
        }
    }

    /// Its numbers one by one: itself, or every marginal.
    pub fn marginals(&self) -> Vec<Posterior> {
        if self.is_scalar() {
            return vec![self.clone()];
        }
        match self {
            Posterior::Product(parts) => parts.iter().flat_map(Posterior::marginals).collect(),
            _ => (0..self.dim()).filter_map(|i| self.component(i)).collect(),
        }
    }

    /// Mean of every number of a draw.
    pub fn mean(&self) -> Vec<f64> {
        self.marginals().iter().map(|p| p.moments().0).collect()
    }

    /// Standard deviation of every number of a draw.
    pub fn sd(&self) -> Vec<f64> {
        self.marginals().iter().map(|p| p.moments().1.sqrt()).collect()
    }

    /// Mean and variance of a scalar.
    fn moments(&self) -> (f64, f64) {
        match self {
            Posterior::Beta(a, b) => {
                let n = a + b;
                (a / n, a * b / (n * n * (n + 1.0)))
            }
            Posterior::Gamma(shape, rate) => (shape / rate, shape / (rate * rate)),
            Posterior::Normal(mean, sd) => (*mean, sd * sd),
            Posterior::Mixture { weights, components } => {
                let parts: Vec<(f64, (f64, f64))> = weights.iter().copied().zip(components.iter().map(Posterior::moments)).collect();
                // From one of them, so that narrow components far from 0 keep their spread.
                let from = parts.first().map(|(_, (m, _))| *m).filter(|m| m.is_finite()).unwrap_or(0.0);
                let away: f64 = parts.iter().map(|(w, (m, _))| w * (m - from)).sum();
                let mean = from + away;
                (mean, parts.iter().map(|(w, (m, v))| w * (v + (m - from - away).powi(2))).sum())
            }
            Posterior::Draws(draws) => draws.moments(),
            Posterior::Quotient(q) => q.moments(),
            Posterior::MeanOf(f, p) => predicted::moments(*f, p),
            Posterior::Dirichlet(_) | Posterior::MultiNormal { .. } | Posterior::Product(_) => (f64::NAN, f64::NAN),
        }
    }

    /// Density of a scalar at x; 0 outside its support and at infinity.
    pub fn density(&self, x: f64) -> f64 {
        match self {
            _ if x.is_nan() => x,
            _ if x.is_infinite() => 0.0,
            _ => match self {
                Posterior::Draws(draws) => draws.density(x),
                Posterior::Quotient(q) => q.density(x),
                Posterior::MeanOf(f, p) => predicted::density(*f, p, x),
                _ => line::density(self, x),
            },
        }
    }

    /// Distribution function of a scalar at every x.
    pub fn cdf(&self, xs: &[f64]) -> Vec<f64> {
        let ends = |x: f64, inside: &dyn Fn(f64) -> f64| match x {
            x if x.is_finite() => inside(x),
            x if x.is_nan() => x,
            x => f64::from(u8::from(x > 0.0)),
        };
        if let Posterior::Draws(draws) = self {
            let all = draws.sorted();
            let at = |x: f64| all.partition_point(|y| *y <= x) as f64 / all.len() as f64;
            return xs.iter().map(|x| ends(*x, &at)).collect();
        }
        if let Posterior::Quotient(q) = self {
            return q.cdf(xs);
        }
        if let Posterior::MeanOf(f, p) = self {
            return p.cdf(&xs.iter().map(|x| predicted::inverse(*f, *x)).collect::<Vec<f64>>());
        }
        // A table pays from some hundred values on.
        if let (Some(parts), true) = (self.normals(), xs.len() <= 64) {
            let at = |x: f64| match parts.iter().map(|(w, mean, sd)| w * normal_cdf((x - mean) / sd)).sum::<f64>() {
                sum if sum > 1.0 => 1.0,
                sum => sum,
            };
            return xs.iter().map(|x| ends(*x, &at)).collect();
        }
        let line = Line::new(self);
        xs.iter().map(|x| ends(*x, &|x| line.cdf(x))).collect()
    }

    /// Quantiles of a scalar; levels are moved into [0, 1], whose ends give the ends of the support.
    pub fn quantiles(&self, levels: &[f64]) -> Vec<f64> {
        if let Posterior::Draws(draws) = self {
            let all = draws.sorted();
            return levels.iter().map(|q| quantile(&all, q.clamp(0.0, 1.0))).collect();
        }
        if let Posterior::Quotient(q) = self {
            return q.quantiles(levels);
        }
        if let Posterior::MeanOf(f, p) = self {
            return p.quantiles(levels).into_iter().map(f.facts().value).collect();
        }
        let line = Line::new(self);
        let (least, most) = self.support();
        let at = |q: f64| match q {
            q if q.is_nan() => q,
            q if q <= 0.0 => least,
            q if q >= 1.0 => most,
            q => line.quantile(q),
        };
        levels.iter().map(|q| at(*q)).collect()
    }

    /// Weights, means and standard deviations of a mixture of normal laws.
    fn normals(&self) -> Option<Vec<(f64, f64, f64)>> {
        match self {
            Posterior::Normal(mean, sd) => Some(vec![(1.0, *mean, *sd)]),
            Posterior::Mixture { weights, components } => {
                let one = |(w, c): (&f64, &Posterior)| if let Posterior::Normal(mean, sd) = c { Some((*w, *mean, *sd)) } else { None };
                weights.iter().zip(components).map(one).collect()
            }
            _ => None,
        }
    }

    /// The least and the largest value of a scalar.
    fn support(&self) -> (f64, f64) {
        match self {
            Posterior::Beta(..) | Posterior::Dirichlet(_) => (0.0, 1.0),
            Posterior::MeanOf(Unary::InvLogit | Unary::Phi | Unary::InvCloglog, _) => (0.0, 1.0),
            Posterior::Gamma(..) | Posterior::MeanOf(..) => (0.0, f64::INFINITY),
            Posterior::Quotient(q) => (q.lo, q.hi),
            Posterior::Normal(..) | Posterior::MultiNormal { .. } | Posterior::Draws(_) => (f64::NEG_INFINITY, f64::INFINITY),
            Posterior::Mixture { components, .. } | Posterior::Product(components) => {
                components.first().map_or((f64::NAN, f64::NAN), Posterior::support)
            }
        }
    }

    /// The probability that a draw of this one is larger than an independent draw of another; both scalar.
    pub fn larger(&self, other: &Posterior) -> f64 {
        // E[F_other(X)] at the midpoints of 2,000 slices of equal probability of X.
        const SLICES: usize = 2000;
        let levels: Vec<f64> = (0..SLICES).map(|i| (i as f64 + 0.5) / SLICES as f64).collect();
        let below = other.cdf(&self.quantiles(&levels));
        below.iter().sum::<f64>() / SLICES as f64
    }

    /// One draw.
    pub(super) fn draw(&self, rng: &mut Bits) -> Vec<f64> {
        match self {
            Posterior::Beta(a, b) => sample::shares(&[*a, *b], rng).into_iter().take(1).collect(),
            Posterior::Dirichlet(alpha) => sample::shares(alpha, rng),
            Posterior::Gamma(a, b) => vec![sample::log_gamma(*a, rng).exp() / b],
            Posterior::Normal(mean, sd) => vec![mean + sd * sample::normal(rng)],
            Posterior::MeanOf(f, p) => p.draw(rng).into_iter().map(f.facts().value).collect(),
            Posterior::Quotient(q) => q.quantiles(&[sample::uniform(rng)]),
            Posterior::MultiNormal { mean, factor } => {
                let z: Vec<f64> = mean.iter().map(|_| sample::normal(rng)).collect();
                let at = |(m, row): (&f64, &Vec<f64>)| m + row.iter().zip(&z).map(|(a, z)| a * z).sum::<f64>();
                mean.iter().zip(factor).map(at).collect()
            }
            Posterior::Mixture { weights, components } => {
                let mut left = sample::uniform(rng);
                let mut at = components.len().saturating_sub(1);
                for (i, w) in weights.iter().enumerate() {
                    left -= w;
                    if left < 0.0 {
                        at = i;
                        break;
                    }
                }
                components.get(at).map_or_else(Vec::new, |c| c.draw(rng))
            }
            Posterior::Product(parts) => parts.iter().flat_map(|p| p.draw(rng)).collect(),
            Posterior::Draws(draws) => draws.draw((sample::uniform(rng) * draws.count() as f64) as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn quantiles_of_known_laws() {
        // Beta(1, b): F(x) = 1 - (1 - x)^b. Gamma(1, r): 1 - exp(-r x).
        for q in [1e-6, 0.05, 0.5, 0.95, 0.9999] {
            let x = Posterior::Beta(1.0, 7.0).quantiles(&[q])[0];
            assert!((x - (1.0 - (1.0 - q).powf(1.0 / 7.0))).abs() < 2e-6, "{q} {x}");
            let x = Posterior::Gamma(1.0, 3.0).quantiles(&[q])[0];
            assert!((1.0 - (-3.0 * x).exp() - q).abs() < 3e-7, "{q} {x}");
            // Beta(1/2, 1/2) is the arcsine law.
            let x = Posterior::Beta(0.5, 0.5).quantiles(&[q])[0];
            assert!((x - (0.5 * std::f64::consts::PI * q).sin().powi(2)).abs() < 1e-6, "{q} {x}");
        }
    }

    #[test]
    fn a_distribution_function_is_the_integral_of_its_density() {
        let mixture =
            Posterior::Mixture { weights: vec![0.3, 0.7], components: vec![Posterior::Beta(3.0, 40.0), Posterior::Beta(200.0, 90.0)] };
        for p in [Posterior::Beta(30.0, 2.5), Posterior::Gamma(12.0, 4.0), mixture] {
            let (from, to) = (p.quantiles(&[0.1])[0], p.quantiles(&[0.8])[0]);
            let step = (to - from) / 20_000.0;
            let area: f64 = (0..20_000).map(|i| p.density(from + (f64::from(i) + 0.5) * step) * step).sum();
            assert!((area - 0.7).abs() < 1e-6, "{p:?} {area}");
        }
    }

    #[test]
    fn one_of_two_is_larger() {
        let (a, b) = (Posterior::Beta(3.0, 4.0), Posterior::Beta(30.0, 10.0));
        assert!((a.larger(&a) - 0.5).abs() < 1e-4);
        assert!((a.larger(&b) + b.larger(&a) - 1.0).abs() < 1e-3);
        // P(X > Y) for exponentials of rates 1 and 3 is 3 / 4.
        assert!((Posterior::Gamma(1.0, 1.0).larger(&Posterior::Gamma(1.0, 3.0)) - 0.75).abs() < 1e-3);
    }

    #[test]
    fn a_marginal_of_shares_is_a_beta() {
        let p = Posterior::Dirichlet(vec![2.0, 3.0, 5.0]);
        assert_eq!(p.component(1), Some(Posterior::Beta(3.0, 7.0)));
        assert_eq!(p.mean(), [0.2, 0.3, 0.5]);
        assert_eq!(p.component(3), None);
    }
}
