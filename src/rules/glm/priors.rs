//! Normal priors on weights: a mean and an sd per block, and the set the weights are cut to.

use super::predictor::Term;
use super::refusals;
use crate::mechanism::plan::{Domain, Feature};
use crate::model::{Parameter, Range, Type, grid};
use crate::numeric::Interval;
use crate::numeric::round::{add_up, mul_up, sqrt_up};
use crate::numeric::stored::PART;
use crate::rules::conjugate::facts::{location_argument, positive_argument};
use crate::rules::{Match, not_mine, refuse};

/// More weights than this are not for a chain in memory.
const MOST_WEIGHTS: u64 = 1 << 20;

/// One block of weights with its features: bounds on both.
pub(super) struct Block {
    pub feature: Feature,
    /// Weights of one class, and how many classes have their own.
    pub dim: usize,
    pub mean: Range,
    pub sd: Range,
    pub domain: Domain,
    /// Largest L2 norm of the features, infinite where unbounded.
    pub norm: f64,
    /// Largest absolute value of the block's part of the predictor, infinite where unbounded.
    pub reach: f64,
    /// What a single weight is multiplied by, as the chain stores it.
    pub single: Option<Interval>,
}

impl Block {
    /// The block's part of the predictor.
    pub fn part(&self) -> Interval {
        match (self.single, self.domain) {
            (Some(x), Domain::Box(w)) => x * Interval::new(w.lo, w.hi),
            _ => Interval::new(-self.reach, self.reach),
        }
    }
}

/// Numbers of a row times a factor, as the chain stores them: in 32 bits, and a row at its largest norm a little shorter.
pub(super) fn stored(range: Range, factor: f64) -> Interval {
    let all = Interval::new(range.lo, range.hi) * Interval::point(factor);
    all.hull(all * Interval::point(1.0 - PART))
}

/// The block of one parameter; `classes` is 0 for a single predictor.
pub(super) fn block(term: Term, parameter: &Parameter, classes: u64) -> Match<Block> {
    let dim = dimension(&term, parameter, classes)?;
    let ("normal", [mean, sd]) = (parameter.prior.name(), parameter.prior.args.as_slice()) else {
        return refuse(refusals::prior_not_strong(parameter));
    };
    if !mean.ty.is_scalar_number() || !sd.ty.is_scalar_number() {
        return not_mine("the prior of weights must be normal(m, s) with public numbers");
    }
    let (mean, sd) = (location_argument(mean, "the prior's mean")?, positive_argument(sd, "the prior's sd")?);
    let domain = domain(parameter)?;
    if classes > 0 && matches!(domain, Domain::Ball(_)) {
        return not_mine("weights of several classes may be cut to a box, not to a ball");
    }
    let norm = feature_norm(&term.feature);
    let reach = match (&domain, &term.feature) {
        (Domain::All, _) => f64::INFINITY,
        // A level or an intercept picks one weight.
        (Domain::Box(r), Feature::One | Feature::Level(..)) => mul_up(r.magnitude(), norm),
        (Domain::Box(r), Feature::Value(..)) => mul_up(mul_up(r.magnitude(), sqrt_up(dim as f64)), norm),
        (Domain::Ball(radius), _) => mul_up(*radius, norm),
    };
    let single = match &term.feature {
        Feature::One => Some(Interval::ONE),
        Feature::Value(e, factor) if e.ty.is_scalar_number() => e.ty.range().map(|r| stored(r, *factor)),
        _ => None,
    };
    Ok(Block { feature: term.feature, dim, mean, sd, domain, norm, reach, single })
}

fn dimension(term: &Term, parameter: &Parameter, classes: u64) -> Match<usize> {
    const SHAPES: &str = "weights and features must have the same shape";
    let (rows, columns) = match &parameter.ty {
        Type::Matrix { rows, columns, .. } => (*rows, *columns),
        // A bias of each class.
        Type::Vector(v) if classes > 0 => (v.dim, 1),
        Type::Vector(v) => (0, v.dim),
        _ => (0, 1),
    };
    let features = match &term.feature {
        Feature::One => 1,
        Feature::Level(e, _) => e.ty.levels().map_or(0, |l| l.len() as u64),
        Feature::Value(e, _) => match &e.ty {
            Type::Vector(v) => v.dim,
            ty if ty.is_scalar_number() => 1,
            _ => 0,
        },
    };
    if rows != classes || columns != features || columns == 0 {
        return not_mine(SHAPES);
    }
    match columns.checked_mul(classes.max(1)) {
        Some(all) if all <= MOST_WEIGHTS => Ok(columns as usize),
        _ => not_mine("too many weights"),
    }
}

/// Largest L2 norm of a block's features.
fn feature_norm(feature: &Feature) -> f64 {
    match feature {
        Feature::One => 1.0,
        Feature::Level(_, factor) => factor.abs(),
        Feature::Value(e, factor) => {
            let norm = match &e.ty {
                Type::Vector(v) => v.sup.l2,
                ty => ty.range().map_or(f64::INFINITY, Range::magnitude),
            };
            mul_up(norm, factor.abs())
        }
    }
}

/// The declared domain as a set that a chain can project onto.
fn domain(parameter: &Parameter) -> Match<Domain> {
    match &parameter.ty {
        Type::Vector(v) => {
            let Some(cut) = parameter.truncated else { return Ok(Domain::All) };
            if v.ordered {
                return not_mine("the domain of the weights must be an interval, a box or an L2 ball, not an order");
            }
            if grid::is_box(v) {
                return Ok(Domain::Box(v.range));
            }
            let ball = v.sup.l2 == v.range.magnitude() && v.sup.l1 >= v.sup.l2 * (v.dim as f64).sqrt() * (1.0 - 1e-12);
            match (ball, cut.lo == -cut.hi) {
                (true, true) => Ok(Domain::Ball(v.sup.l2)),
                _ => not_mine("the domain of the weights must be an interval, a box or an L2 ball"),
            }
        }
        _ => Ok(parameter.truncated.map_or(Domain::All, Domain::Box)),
    }
}

/// Upper bound on the norm of all features of a row, each times the sd of its weight.
pub(super) fn scaled_norm(blocks: &[Block]) -> f64 {
    let squares = blocks.iter().map(|b| mul_up(b.norm, b.sd.hi)).map(|x| mul_up(x, x));
    sqrt_up(squares.fold(0.0, add_up))
}
