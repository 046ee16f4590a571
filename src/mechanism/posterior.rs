//! Draws from closed-form posteriors: exact parameters from exact totals, each draw rounded to a public grid.
//!
//! Grids: shares (Beta, Dirichlet) 2^-40; others 2^-32 of the smallest scale that public facts allow for the posterior,
//! and 20 places finer where the number of rows is secret.

use dashu_ratio::RBig;

use super::aggregate::exact;
use super::bits::BitSource;
use super::draw::gamma::{GammaLaw, beta, dirichlet, gamma};
use super::draw::gaussian::{Multivariate, multivariate, normal};
use super::grid::{Number, below};
use super::plan::{PosteriorLaw, Statistic, StatisticKind};
use super::real::{Enclosure, Fast, Param, rational};
use super::{MechanismError, Released};
use crate::data::scan::Measured;

/// The grid of probabilities.
pub const SHARE_EXPONENT: i32 = -40;
const PLACES: i32 = 32;
const SECRET_PLACES: i32 = 52;

const BAD: MechanismError = MechanismError::Parameter;

/// A posterior with its parameters, ready to be drawn from. It holds private values.
enum Law {
    /// One draw a component.
    Beta(Vec<[GammaLaw; 2]>),
    Dirichlet(Vec<GammaLaw>),
    Gamma(GammaLaw, Param, i32),
    Normal(Param, Param, i32),
    Multivariate(Box<Multivariate>),
}

/// `times` independent draws.
pub(crate) fn draw<B: BitSource>(
    (law, weight, statistic): (&PosteriorLaw, f64, &Statistic),
    measured: &Measured,
    public_rows: Option<u64>,
    times: u64,
    bits: &mut B,
) -> Result<Vec<Released>, MechanismError> {
    let law = Setting { r: rational(weight)?, n: RBig::from(measured.rows), measured, public_rows, weight, statistic }.law(law)?;
    (0..times).map(|_| law.draw(bits)).collect()
}

impl Law {
    fn draw<B: BitSource>(&self, bits: &mut B) -> Result<Released, MechanismError> {
        let on = |exponent: i32| move |index: i128| Number::new(index, exponent);
        let components = match self {
            Law::Beta(parts) => {
                parts.iter().map(|laws| Ok(on(SHARE_EXPONENT)(beta(laws, SHARE_EXPONENT, bits)?))).collect::<Result<_, MechanismError>>()?
            }
            Law::Dirichlet(laws) => dirichlet(laws, laws.len(), SHARE_EXPONENT, bits)?.into_iter().map(on(SHARE_EXPONENT)).collect(),
            Law::Gamma(law, rate, e) => vec![on(*e)(gamma(law, rate, *e, bits)?)],
            Law::Normal(mean, variance, e) => vec![on(*e)(normal(mean, variance, *e, bits)?)],
            Law::Multivariate(law) => multivariate(law, bits)?.into_iter().map(on(law.exponent)).collect(),
        };
        Ok(Released { components })
    }
}

struct Setting<'a> {
    r: RBig,
    n: RBig,
    measured: &'a Measured,
    public_rows: Option<u64>,
    weight: f64,
    statistic: &'a Statistic,
}

fn params(xs: &[f64]) -> Result<Vec<Param>, MechanismError> {
    xs.iter().map(|x| Ok(Param::new(rational(*x)?))).collect()
}

fn positive(x: RBig) -> Result<RBig, MechanismError> {
    if x > RBig::ZERO { Ok(x) } else { Err(BAD) }
}

impl Setting<'_> {
    fn sums(&self) -> Result<Vec<RBig>, MechanismError> {
        Ok(exact(self.measured.totals.first().ok_or(BAD)?))
    }

    /// The sum of a statistic that is a single number, not negative.
    fn sum(&self) -> Result<RBig, MechanismError> {
        let sum = self.sums()?.into_iter().next().ok_or(BAD)?;
        Ok(sum.max(RBig::ZERO))
    }

    /// `a + r x`
    fn shifted(&self, a: f64, x: &RBig) -> Result<RBig, MechanismError> {
        Ok(rational(a)? + &self.r * x)
    }

    /// Public upper bound on the weight of the rows, or 0 where their number is secret.
    fn public_weight(&self) -> f64 {
        self.public_rows.map_or(0.0, |n| n as f64 * self.weight)
    }

    fn places(&self) -> i32 {
        if self.public_rows.is_some() { PLACES } else { SECRET_PLACES }
    }

    fn law(&self, law: &PosteriorLaw) -> Result<Law, MechanismError> {
        match law {
            PosteriorLaw::Beta { a, b, trials } => {
                let all = &self.n * RBig::from(*trials);
                let parts = self.sums()?.into_iter().map(|sum| {
                    let successes = sum.max(RBig::ZERO).min(all.clone());
                    let failures = &all - &successes;
                    self.beta(*a, &successes, *b, &failures)
                });
                Ok(Law::Beta(parts.collect::<Result<_, _>>()?))
            }
            PosteriorLaw::BetaFailures { a, b, successes } => {
                let wins = &self.n * rational(*successes)?;
                Ok(Law::Beta(vec![self.beta(*a, &wins, *b, &self.sum()?)?]))
            }
            PosteriorLaw::Dirichlet { alpha } => {
                let sums = self.sums()?;
                if sums.len() != alpha.len() {
                    return Err(BAD);
                }
                let shapes = alpha.iter().zip(sums);
                let laws = shapes.map(|(a, s)| GammaLaw::new(self.shifted(*a, &s.max(RBig::ZERO))?));
                Ok(Law::Dirichlet(laws.collect::<Result<_, _>>()?))
            }
            PosteriorLaw::GammaShape { shape, rate } => {
                let law = GammaLaw::new(self.shifted(*shape, &self.sum()?)?)?;
                let total = positive(self.shifted(*rate, &self.n)?)?;
                let scale = libm::sqrt(shape.min(1.0)) / (rate + self.public_weight());
                Ok(Law::Gamma(law, Param::new(total), below(scale, self.places())))
            }
            PosteriorLaw::GammaRate { shape, rate, per_row, scale } => {
                let events = &self.n * rational(*per_row)?;
                let law = GammaLaw::new(self.shifted(*shape, &events)?)?;
                let exposure = self.sum()? * rational(*scale)?;
                let total = positive(self.shifted(*rate, &exposure)?)?;
                let largest = rate + self.public_weight() * scale * self.largest_row();
                let public = libm::sqrt(shape + self.public_weight() * per_row) / largest;
                Ok(Law::Gamma(law, Param::new(total), below(public, self.places())))
            }
            PosteriorLaw::Normal { precision, precision_mean, variance } => {
                let per_row = &self.r / positive(rational(*variance)?)?;
                let total = positive(rational(*precision)? + &per_row * &self.n)?;
                let sum = self.sums()?.into_iter().next().ok_or(BAD)?;
                let mean = (rational(*precision_mean)? + per_row * sum) / &total;
                let public = precision + self.public_weight() / variance;
                let exponent = below(1.0 / libm::sqrt(public), self.places());
                let variance = Param::new(RBig::ONE / total);
                Ok(Law::Normal(Param::new(mean), variance, exponent))
            }
            PosteriorLaw::MvNormal { dim, precision, precision_mean, covariance } => {
                let weighted = |s: RBig| Param::new(s * &self.r);
                let rows = Param::new(&self.r * &self.n);
                let sums = self.sums()?.into_iter().map(weighted).collect();
                let noise = Some((params(covariance)?, rows, sums));
                self.multivariate((*dim, precision, precision_mean), noise, None)
            }
            // Drawn from by their own chains.
            PosteriorLaw::Glm(_) | PosteriorLaw::Density(_) | PosteriorLaw::Refined(_) | PosteriorLaw::Stepwise(_) => Err(BAD),
            PosteriorLaw::Linear { dim, precision, precision_mean, variance } => {
                let per_row = &self.r / positive(rational(*variance)?)?;
                let totals = self.measured.totals.first().ok_or(BAD)?;
                let products = totals.products.iter().map(|i| {
                    let x = Number::new(*i, totals.products_exponent).exact();
                    Param::new(x * &per_row)
                });
                let sums = self.sums()?.into_iter().map(|s| Param::new(s * &per_row));
                let information = Some((products.collect(), sums.collect()));
                self.multivariate((*dim, precision, precision_mean), None, information)
            }
        }
    }

    fn beta(&self, a: f64, wins: &RBig, b: f64, losses: &RBig) -> Result<[GammaLaw; 2], MechanismError> {
        Ok([GammaLaw::new(self.shifted(a, wins)?)?, GammaLaw::new(self.shifted(b, losses)?)?])
    }

    /// Largest declared value of the statistic of one row.
    fn largest_row(&self) -> f64 {
        match &self.statistic.kind {
            StatisticKind::Sum(value) => value.ty.range().map_or(1.0, |r| r.magnitude()),
            StatisticKind::Levels { .. } | StatisticKind::Moments { .. } => 1.0,
            StatisticKind::Rows { .. } | StatisticKind::Columns(_) => 1.0,
        }
    }

    fn multivariate(
        &self,
        (dim, precision, precision_mean): (usize, &[f64], &[f64]),
        noise: Option<(Vec<Param>, Param, Vec<Param>)>,
        information: Option<(Vec<Param>, Vec<Param>)>,
    ) -> Result<Law, MechanismError> {
        if precision.len() != dim.saturating_mul(dim) || precision_mean.len() != dim {
            return Err(BAD);
        }
        let mut law = Multivariate { dim, prior: params(precision)?, prior_b: params(precision_mean)?, noise, information, exponent: 0 };
        law.check()?;
        // A component's standard deviation is at least that given all others, 1 / sqrt(precision_ii); the precision
        // matrix is public where n is.
        let prior = precision.iter().step_by(dim + 1).copied();
        let largest = match law.natural::<Fast>(53) {
            Some((matrix, _)) if self.public_rows.is_some() => matrix.iter().step_by(dim + 1).map(|x| x.bounds().1).fold(0.0, f64::max),
            _ => prior.fold(0.0, f64::max),
        };
        law.exponent = below(1.0 / libm::sqrt(largest), self.places());
        Ok(Law::Multivariate(Box::new(law)))
    }
}
