//! Draws from a generalised linear model: what of the rows is kept, and the chain in units of the prior's sds.

use super::bits::BitSource;
use super::grid::Number;
use super::langevin::{Chain, Cut, Posterior, exponent, in_threads, round, schedule};
use super::plan::{Domain, Feature, GlmLaw, Link, Sampler, StatisticKind, WeightBlock};
use super::{MechanismError, Released, chain, density};
use crate::data::StatisticError;
use crate::data::encode::Shape;
use crate::data::eval::RowScope;
use crate::data::scan::{Job, Measured};
use crate::kernel::density::{Density, Fused};
use crate::kernel::{Block, Family};
use crate::model::Expr;
use crate::numeric::round::{add_down, add_up, mul_down, mul_up};

/// Is the block one column of numbers or indicators? Numbers come first in the kernel's order.
fn is_numeric(feature: &Feature) -> bool {
    matches!(feature, Feature::Value(..))
}

/// The law of an outcome, for the kernel; outcomes are clipped to the declared range, so its bound is the one of the claim.
fn family(link: Link, outcome: &Expr) -> Result<Family, MechanismError> {
    let range = outcome.ty.range().ok_or(MechanismError::Range);
    let small = |n: u64| u32::try_from(n).map_err(|_| MechanismError::Parameter);
    Ok(match link {
        Link::Logit { trials: 1 } => Family::Logistic,
        Link::Logit { trials } => Family::Binomial { trials: small(trials)? },
        Link::Softmax { classes } => Family::Softmax { classes: small(classes)? },
        Link::Probit => Family::Probit,
        Link::Cloglog => Family::Cloglog,
        Link::PoissonLog => Family::Poisson { most: small(range?.hi as u64)? },
        Link::Normal { sd } => Family::Gaussian { variance: sd * sd, bound: range?.magnitude() },
    })
}

/// What the job of a draw keeps of every row; there are `least` rows or more.
pub(super) fn encode(
    job: &mut Job,
    (law, weight, least): (&GlmLaw, f64, u64),
    features: &[Feature],
    outcome: &Expr,
    rows: &RowScope,
) -> Result<(), MechanismError> {
    // More rows ask for no fewer steps.
    if law.sampler == Sampler::Langevin && schedule(strong(law, weight, least), smooth(law, weight, least), law.steps).is_none() {
        return Err(MechanismError::Steps);
    }
    if features.len() != law.blocks.len() {
        return Err(MechanismError::Parameter);
    }
    if law.sampler == Sampler::Nuts && cfg!(not(feature = "nuts")) {
        return Err(MechanismError::NoNuts);
    }
    if law.sampler != Sampler::Langevin && law.steps.is_some_and(|s| s > chain::MOST_STEPS) {
        return Err(MechanismError::Steps);
    }
    let both = || features.iter().zip(&law.blocks);
    let dense = both().filter(|(f, _)| is_numeric(f)).map(|(_, b)| b.dim).sum();
    // An indicator is the sd of its weight, a number is multiplied by it.
    let factor = |f: &Feature| if let Feature::Level(_, factor) = f { *factor } else { 1.0 };
    let blocks = both().filter(|(f, _)| !is_numeric(f)).map(|(f, b)| Block { value: factor(f) * b.sd, ..Block::full(b.dim) }).collect();
    let shape = Shape { dense, offsets: law.offsets, blocks, norm: law.norm, family: family(law.link, outcome)? };
    let read: Vec<Option<(&Expr, f64)>> = both()
        .map(|(f, b)| match f {
            Feature::One => None,
            Feature::Value(e, factor) => Some((e, factor * b.sd)),
            Feature::Level(e, _) => Some((e, b.sd)),
        })
        .collect();
    job.encode(&read, outcome, &shape, rows).map_err(|e: StatisticError| e.into())
}

/// First coefficient of every block in the kernel's order: numbers first, then indicators.
fn places(features: &[Feature], blocks: &[WeightBlock]) -> Vec<usize> {
    let mut places = vec![0; blocks.len()];
    let mut next = 0;
    for numeric in [true, false] {
        for ((place, f), b) in places.iter_mut().zip(features).zip(blocks) {
            if is_numeric(f) == numeric {
                *place = next;
                next += b.dim;
            }
        }
    }
    places
}

/// The chain's coefficients are weights over their prior sd: for softmax those of one class after the other.
struct Coefficients<'a> {
    blocks: &'a [WeightBlock],
    places: Vec<usize>,
    /// Coefficients of one class.
    width: usize,
    classes: usize,
}

impl Coefficients<'_> {
    /// The coordinates of one block in one class.
    fn at(&self, block: usize, class: usize) -> std::ops::Range<usize> {
        let start = class * self.width + self.places.get(block).copied().unwrap_or(0);
        start..start + self.blocks.get(block).map_or(0, |b| b.dim)
    }

    fn each(&self) -> impl Iterator<Item = (&WeightBlock, std::ops::Range<usize>)> {
        let pairs = (0..self.blocks.len()).flat_map(move |b| (0..self.classes).map(move |class| (b, class)));
        pairs.filter_map(|(b, class)| Some((self.blocks.get(b)?, self.at(b, class))))
    }

    /// Every prior mean, in units of its sd.
    fn means(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.width * self.classes];
        for (block, at) in self.each() {
            means.get_mut(at).unwrap_or(&mut []).fill(block.mean / block.sd);
        }
        means
    }

    fn cuts(&self) -> Vec<Cut> {
        let cut = |(block, at): (&WeightBlock, std::ops::Range<usize>)| match block.domain {
            Domain::All => None,
            Domain::Box(r) => Some(Cut::Box { at, lo: r.lo / block.sd, hi: r.hi / block.sd }),
            Domain::Ball(radius) => Some(Cut::Ball { at, radius: radius / block.sd }),
        };
        self.each().filter_map(cut).collect()
    }

    /// What is released of the last state, block by block, on a grid fine against every posterior there can be.
    fn released(&self, theta: &[f64], smooth: f64) -> Vec<Number> {
        let mut drawn: Vec<(usize, &WeightBlock, std::ops::Range<usize>)> =
            self.each().filter_map(|(block, at)| Some((block.released?, block, at))).collect();
        // In the order of the request; stable, so that classes stay in order.
        drawn.sort_by_key(|(place, ..)| *place);
        drawn
            .into_iter()
            .flat_map(|(_, block, at)| {
                let e = exponent(smooth, block.sd);
                theta.get(at).unwrap_or(&[]).iter().map(move |t| round(t * block.sd, e))
            })
            .collect()
    }
}

/// Upper bound on the curvature of the posterior in units of the prior's sds, in which the prior has 1 and a row adds at most
/// weight * curvature * norm^2.
fn smooth(law: &GlmLaw, weight: f64, rows: u64) -> f64 {
    let row = mul_up(mul_up(weight, law.curvature), mul_up(law.norm, law.norm));
    add_up(1.0, mul_up(row, (rows as f64).next_up()))
}

/// Lower bound on the same, as the claim has it (rule book §4.4).
fn strong(law: &GlmLaw, weight: f64, rows: u64) -> f64 {
    add_down(1.0, mul_down(mul_down(weight, law.least_curvature), (rows as f64).next_down().max(0.0)))
}

/// The last state of a chain. Step sizes and lengths follow from the plan and the number of rows, which is public.
pub(super) fn draw<B: BitSource>(
    (law, weight, statistic): (&GlmLaw, f64, &StatisticKind),
    measured: &Measured,
    public_rows: Option<u64>,
    bits: &mut B,
) -> Result<Released, MechanismError> {
    let (StatisticKind::Rows { features, .. }, Some(design)) = (statistic, &measured.design) else {
        return Err(MechanismError::Parameter);
    };
    let classes = if let Link::Softmax { classes } = law.link { classes as usize } else { 1 };
    let width = law.blocks.iter().map(|b| b.dim).sum();
    let coefficients = Coefficients { blocks: &law.blocks, places: places(features, &law.blocks), width, classes };
    let rows = match (public_rows, law.sampler) {
        (Some(rows), _) => rows,
        (None, Sampler::Langevin) => return Err(MechanismError::Parameter),
        (None, _) => 0,
    };
    let smooth = smooth(law, weight, rows);
    let start = coefficients.means();
    let last = if law.sampler == Sampler::Langevin {
        let phases = schedule(strong(law, weight, rows), smooth, law.steps).ok_or(MechanismError::Steps)?;
        let prior = start.iter().map(|m| (1.0, *m)).collect();
        let mut posterior = Posterior::new(design, law.slope, weight, prior)?;
        Chain { phases, cuts: coefficients.cuts(), start }.run(&mut posterior, bits)?
    } else {
        let cut: Vec<Cut> = coefficients.cuts();
        let (program, theta, start) = density::weights(&start, &cut)?;
        in_threads(|| {
            let mut density = Density::fused(&program, Fused::new(design, theta.clone())?, weight);
            let last = match law.sampler {
                Sampler::Slice => chain::slice(&mut density, &start, law.steps.unwrap_or(chain::SLICE_STEPS), bits)?,
                _ => {
                    let centres: Vec<(f64, f64)> = start.iter().map(|s| (*s, 1.0)).collect();
                    chain::nuts(&mut density, &centres, law.steps, bits)?
                }
            };
            Ok::<_, MechanismError>(density.shared(&last, &theta))
        })??
    };
    Ok(Released { components: coefficients.released(&last, smooth) })
}
