//! The distributions of the language, one record each: arguments, support, density, what bounds it, sampler and words.

mod continuous;
mod discrete;
mod positive;
pub mod sample;

use crate::kernel::density::{Builder, Operand};
use crate::numeric::{Interval, Range};
pub use discrete::MOST_TRIALS;
use rand::Rng;
use sample::Args;
use std::fmt;

/// What values a distribution has.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Support {
    /// 0 or 1.
    Bool,
    /// Integers from 0 to the first argument (binomial).
    CountsToFirst,
    /// Integers from 0.
    Counts,
    /// One of as many categories as the (only) argument has components, or as cut points leave.
    Categories,
    /// Vectors of counts that sum to the first argument.
    CountVector,
    Real(Range),
    /// Real vectors of the dimension of the first argument.
    RealVector,
    /// Probability vectors of the dimension of the argument.
    Simplex,
    /// Between the two arguments (uniform).
    BetweenArgs,
    /// Those of its components (mixture).
    Mixed,
}

impl Support {
    /// Numbers that are counted from one end of a bin to the other, in end bins to infinity.
    pub fn is_binned(self) -> bool {
        matches!(self, Support::Counts | Support::Real(_) | Support::BetweenArgs)
    }
}

/// What an argument must be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArgKind {
    /// A scalar in this range (which a component of a row, a parameter or a constant must respect).
    Scalar(Range),
    /// A constant whole number, at least 1.
    Trials,
    Simplex,
    /// A vector of any reals.
    Vector,
    /// A vector with positive components.
    PositiveVector,
    /// A vector whose components rise: cut points, one fewer than the levels between them.
    Ordered,
    /// A public positive definite matrix, as a list of lists or the name of a public matrix.
    Matrix,
    /// Shares, or numbers of at least 0 that are divided by their sum.
    Weights,
    /// Distributions with arguments of their own, two or more.
    Components,
}

/// All that is known of a distribution; names and parametrisations are Stan's.
pub struct Distribution {
    pub name: &'static str,
    pub args: &'static [(&'static str, ArgKind)],
    pub support: Support,
    /// The density in a line, and a program that uses the distribution, for the manual.
    pub density: &'static str,
    pub example: &'static str,
    /// How Stan writes it, `$1` for the first argument; empty if as we do.
    pub stan: &'static str,
    /// A draw, of distributions of one number.
    pub draw: Option<fn(&Args, &mut dyn Rng) -> f64>,
    /// Mean and variance, where there is a formula.
    pub moments: fn(&[f64]) -> Option<(f64, f64)>,
    pub law: Law,
    /// The logarithm of the probability of values from one number up to another, which is not counted; the ends may be infinite.
    /// `None` where the distribution function, or its derivative by an argument, is not known.
    pub within: Within,
}

pub type Within = fn(&mut Builder, &[Operand], [Operand; 2]) -> Option<Operand>;

/// The logarithm of the density, as operations on arguments and outcome.
pub enum Law {
    /// One of a few outcomes: the logarithms of their probabilities, of `true` before `false`, from the arguments side by side; and,
    /// from a range of the first argument, what none of two probabilities is below.
    Levels { logs: fn(&mut Builder, &[Operand]) -> Vec<Operand>, least: fn(Interval) -> f64 },
    /// A count.
    Count(fn(&mut Builder, &[Operand], Operand, Power) -> Option<Mass>),
    /// A real number.
    Density(fn(&mut Builder, &[Operand], Operand) -> Operand, Option<Standard>),
    /// Several numbers: terms of the logarithm, up to a constant.
    Vector(fn(&mut Builder, &[Value], &[Operand]) -> Option<Value>),
    /// The weighted sum of the densities of its components.
    Mixture,
}

/// One number after another.
pub type Value = Vec<Operand>;
/// The power b of a beta-divergence, if one is wanted.
pub type Power = Option<f64>;
/// The logarithm of a probability, and the sum of all probabilities to the power b.
pub type Mass = (Operand, Option<Operand>);

/// Of a density `g((y - location) / scale) / scale`: where its arguments stand, and what is known of g.
#[derive(Clone, Copy)]
pub struct Standard {
    pub location: Option<usize>,
    pub scale: usize,
    /// Is the argument one over the scale?
    pub rate: bool,
    /// What else g depends on.
    pub shape: Option<usize>,
    /// The largest value of g for any shape in a range, never too small; or the least shape that has one.
    pub peak: fn(Interval) -> Result<f64, f64>,
    /// `ln` of the integral of `g^b`, of a shape.
    pub power: fn(&mut Builder, Operand, f64) -> Operand,
}

const ALL: Range = Range::ALL;
const UNIT: Range = Range::UNIT;
const POSITIVE: Range = Range { lo: 0.0, hi: f64::INFINITY };

const BASE: Distribution = Distribution {
    name: "",
    args: &[],
    support: Support::Real(ALL),
    density: "",
    example: "",
    stan: "",
    draw: None,
    moments: |_| None,
    law: Law::Vector(|_, _, _| None),
    within: |_, _, _| None,
};

/// Examples of a likelihood and its prior.
const COIN: &str = "budget rdp(order = 5, eps = 0.5)\nprivate trial[n] { cured: bool }\nparam p ~ beta(12, 12)\nobserve cured ~ bernoulli(p)\nrelease p_hat = draw(p)";
const VISITS: &str = "budget dp(eps = 1, delta = 1e-6)\nprivate people[n] { visits: int in 0..10 }\nparam rate ~ gamma(40, 10)\nobserve visits ~ poisson(rate)\nrelease rate_hat = draw(rate) using diffuse";
const VOTES: &str = "budget rdp(order = 4, eps = 1)\nprivate votes[n] { party: category {red, blue, green} }\nparam share ~ dirichlet([8, 8, 8])\nobserve party ~ categorical(share)\nrelease share_hat = draw(share)";

/// One of several distributions, chosen anew for every row.
pub static MIXTURE: Distribution = Distribution {
    name: "mixture",
    args: &[("weights", ArgKind::Weights), ("components", ArgKind::Components)],
    support: Support::Mixed,
    density: "sum weights_k density_k(y)",
    example: "budget dp(eps = 1, delta = 1e-6)\nprivate t[n] { hits: int in 0..10 }\nrelease cells = histogram(hits)\nparam w ~ beta(2, 2)\nparam p: ordered[2] ~ beta(1, 1)\nobserve cells.hits ~ mixture([1 - w, w], binomial(10, p[1]), binomial(10, p[2]))\noutput post = posterior(w, p)",
    law: Law::Mixture,
    ..BASE
};

/// Every distribution, in the order of the manual.
pub fn all() -> impl Iterator<Item = &'static Distribution> {
    discrete::DISCRETE.iter().chain(continuous::CONTINUOUS).chain(positive::POSITIVE_NUMBERS).chain([&MIXTURE])
}

/// The distribution of this name.
pub fn find(name: &str) -> Option<&'static Distribution> {
    all().find(|d| d.name == name)
}

impl Distribution {
    /// How many categories there are, from the components of each argument.
    pub fn categories(&self, dims: impl Iterator<Item = u64>) -> u64 {
        let cut = |(dim, (_, kind)): (u64, &(&str, ArgKind))| if *kind == ArgKind::Ordered { dim.saturating_add(1) } else { dim };
        dims.zip(self.args).map(cut).max().unwrap_or(0)
    }

    /// How a call of it is written in Stan.
    pub fn in_stan(&self, args: &[String]) -> String {
        match self.stan {
            "" => format!("{}({})", self.name, args.join(", ")),
            text => args.iter().zip(1..).fold(text.to_owned(), |text, (arg, i)| text.replace(&format!("${i}"), arg)),
        }
    }

    /// Can its values be counted in bins? Of its arguments, those that are constants are given.
    pub fn has_bins(&self, args: &[Option<f64>]) -> bool {
        let args: Vec<Operand> = (0..).zip(args).map(|(i, a)| a.map_or(Operand::Shared(i), Operand::Constant)).collect();
        (self.within)(&mut Builder::new(args.len(), 2), &args, [Operand::Column(0), Operand::Column(1)]).is_some()
    }

    /// About where it lies and how wide it is, in plain numbers: location and scale, or mean and standard deviation.
    pub fn about(&self, args: &[f64]) -> Option<(f64, f64)> {
        match &self.law {
            Law::Density(_, Some(s)) if !s.rate => args.get(s.location.unwrap_or(s.scale)).copied().zip(args.get(s.scale).copied()),
            Law::Density(_, Some(_)) => (self.moments)(args).map(|(mean, variance)| (mean, variance.sqrt())),
            Law::Density(_, None) | Law::Levels { .. } | Law::Count(_) | Law::Vector(_) | Law::Mixture => None,
        }
    }

    /// Ends between which nearly all of it lies, for pictures: of a box, and of a location and scale where the density falls to
    /// a thousandth, at most ten scales away.
    pub fn ends(&self, args: &[f64]) -> Option<(f64, f64)> {
        let (lo, hi) = match (self.support, &self.law) {
            (Support::BetweenArgs, _) => args.first().copied().zip(args.get(1).copied())?,
            (Support::Real(range), Law::Density(_, Some(s))) if !s.rate => {
                let scale = *args.get(s.scale)?;
                let centre = s.location.map_or(Some(0.0), |i| args.get(i).copied())?;
                let top = self.at(args, centre);
                let steps = (1..100).find(|k| self.at(args, centre + 0.1 * f64::from(*k) * scale) < top / 1000.0).unwrap_or(100);
                let away = 0.1 * f64::from(steps) * scale;
                ((centre - away).max(range.lo), (centre + away).min(range.hi))
            }
            _ => return None,
        };
        (lo.is_finite() && hi.is_finite() && lo < hi).then_some((lo, hi))
    }

    /// The density of one number: 0 outside the support, and nan outside a box.
    pub fn at(&self, args: &[f64], x: f64) -> f64 {
        let constants: Vec<Operand> = args.iter().map(|a| Operand::Constant(*a)).collect();
        match (&self.law, self.support) {
            (Law::Density(..), Support::Real(range)) if !range.contains(x) => 0.0,
            (Law::Density(..), Support::BetweenArgs) if self.ends(args).is_none_or(|(lo, hi)| x < lo || x > hi) => f64::NAN,
            (Law::Density(log, _), _) => match log(&mut Builder::default(), &constants, Operand::Constant(x)) {
                Operand::Constant(log) => log.exp(),
                _ => f64::NAN,
            },
            _ => f64::NAN,
        }
    }
}

impl PartialEq for Distribution {
    fn eq(&self, other: &Distribution) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Probabilities of bins against sums of the mass or Simpson's rule on the density, and all of them together against 1.
    #[test]
    fn bins_have_what_the_density_has() {
        let number = |o: Option<Operand>| if let Some(Operand::Constant(log)) = o { log.exp() } else { f64::NAN };
        let mut known = 0;
        for d in all().filter(|d| d.has_bins(&[Some(1.0); 3]) || d.has_bins(&[Some(1.0); 2]) || d.has_bins(&[Some(1.0)])) {
            let number_of = |((_, kind), x)| if kind == ArgKind::Scalar(UNIT) { 0.3 } else { x };
            let numbers: Vec<f64> = d.args.iter().copied().zip([0.4, 1.7, 2.3]).map(number_of).collect();
            let args: Vec<Operand> = numbers.iter().map(|x| Operand::Constant(*x)).collect();
            let part = |from: f64, to: f64| number((d.within)(&mut Builder::default(), &args, [from, to].map(Operand::Constant)));
            let exact = |from: f64, to: f64| match &d.law {
                Law::Count(law) => {
                    let one =
                        |k: u32| number(law(&mut Builder::default(), &args, Operand::Constant(f64::from(k)), None).map(|(log, _)| log));
                    (from as u32..to as u32).map(one).sum::<f64>()
                }
                _ => {
                    let h = (to - from) / 2000.0;
                    let f = |i: i32| d.at(&numbers, from + h * f64::from(i));
                    h / 3.0 * (f(0) + f(2000) + (1..2000).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * f(i)).sum::<f64>())
                }
            };
            let edges = [f64::NEG_INFINITY, 0.0, 1.0, 3.0, f64::INFINITY];
            let all: f64 = edges.windows(2).map(|w| part(w[0], w[1])).filter(|p| !p.is_nan()).sum();
            assert!((all - 1.0).abs() < 1e-12, "{d:?} {all}");
            // A density that ends jumps there.
            let (from, to) = if d.name == "uniform" { (1.0, 1.5) } else { (1.0, 3.0) };
            assert!((part(from, to) / exact(from, to) - 1.0).abs() < 1e-9, "{d:?}: {} {}", part(from, to), exact(from, to));
            known += 1;
        }
        assert!(known >= 10, "{known}");
        let uniform = find("uniform").unwrap();
        let most = (uniform.within)(&mut Builder::default(), &[0.0, 4.0].map(Operand::Constant), [1.0, 9.0].map(Operand::Constant));
        assert!((number(most) - 0.75).abs() < 1e-15);
        assert!(!find("student_t").unwrap().has_bins(&[None, Some(0.0), Some(1.0)]) && !find("gamma").unwrap().has_bins(&[Some(1.0); 2]));
    }
}
