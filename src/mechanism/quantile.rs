//! Quantiles by the exponential mechanism over the intervals between order statistics, on the whole public grid (rule book §8.7).

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::MechanismError;
use super::Released;
use super::bits::BitSource;
use super::draw::finite::{below, decide_by_bits};
use super::draw::uniform::Uniform;
use super::grid::{Number, below as below_scale, round};
use super::plan::{Level, Spacing};
use super::real::{Enclosure, Param, Real, rational};
use crate::data::scan::Measured;
use crate::data::statistic::Quantizer;
use crate::model::Type;
use crate::numeric::Amount;

/// The value that a candidate stands for: the point itself, or the exponential of it on a grid that is fine enough for the least.
pub fn value(index: i64, (ty, spacing): (&Type, Spacing), exponent: i32) -> Result<Number, MechanismError> {
    if spacing == Spacing::Even {
        return Ok(Number::new(index.into(), exponent));
    }
    let range = ty.range().ok_or(MechanismError::Range)?;
    let x = libm::exp(libm::ldexp(index as f64, exponent)).max(range.lo).min(range.hi);
    // An index of a grid has 126 digits.
    Ok(round(&rational(x)?, below_scale(range.lo, 20).max(below_scale(range.hi, 120))))
}

/// One value for each level, each drawn by itself at `epsilon`; of several, sorted as their levels are.
pub(crate) fn release<B: BitSource>(
    levels: &[Level],
    (ty, spacing): (&Type, Spacing),
    epsilon: f64,
    measured: &Measured,
    bits: &mut B,
) -> Result<Released, MechanismError> {
    let totals = measured.totals.first().ok_or(MechanismError::Expression)?;
    let ends = Quantizer::new(&spacing.scale(ty))?.ends();
    let sorted = sorted(&totals.values, ends);
    let epsilon = Amount::of(epsilon).filter(|_| epsilon > 0.0).ok_or(MechanismError::Parameter)?.ratio();
    let mut drawn = vec![];
    for level in levels {
        let sensitivity = rational(level.sensitivity)?;
        if sensitivity <= RBig::ZERO {
            return Err(MechanismError::Parameter);
        }
        let strength = epsilon.clone() / (RBig::from(UBig::from(2u8)) * sensitivity);
        let (first, points) = decide_by_bits(&mut Choice::new(&sorted, ends, rational(level.q)?, strength)?, bits)?;
        let offset = below(&UBig::try_from(points).map_err(|_| MechanismError::Range)?, bits)?;
        let offset = i64::try_from(&offset).map_err(|_| MechanismError::Range)?;
        drawn.push(first.saturating_add(offset));
    }
    drawn.sort_unstable();
    let mut order: Vec<(f64, usize)> = levels.iter().map(|l| l.q).zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut placed: Vec<(usize, i64)> = order.into_iter().map(|(_, place)| place).zip(drawn).collect();
    placed.sort_unstable();
    let components = placed.into_iter().map(|(_, index)| value(index, (ty, spacing), totals.exponent)).collect::<Result<_, _>>()?;
    Ok(Released { components })
}

/// In ascending order, by digits of 11 bits: the same number of steps for any values of this many rows and this grid.
fn sorted(values: &[i64], (lo, hi): (i64, i64)) -> Vec<i64> {
    const DIGIT: u32 = 11;
    let (mut from, mut to) = (values.to_vec(), values.to_vec());
    let mut shift = 0;
    while shift < u64::BITS && hi.abs_diff(lo) >> shift > 0 {
        let digit = |x: i64| (x.abs_diff(lo) >> shift) as usize % (1 << DIGIT);
        let mut places = [0usize; 1 << DIGIT];
        from.iter().for_each(|x| places.iter_mut().skip(digit(*x)).take(1).for_each(|n| *n += 1));
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for x in &from {
            let Some(place) = places.get_mut(digit(*x)) else { continue };
            if let Some(cell) = to.get_mut(*place) {
                *cell = *x;
            }
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        shift += DIGIT;
    }
    from
}

/// A run of neighbouring points of the grid with one score: minus the distance of `rows` from q n, or 0.
#[derive(Clone, Copy)]
struct Run {
    first: i64,
    points: i64,
    rows: Option<usize>,
}

/// The run that is chosen, each with weight `points exp(strength score)`; the score of a point t is minus the distance of q n
/// from the numbers between `#{x < t}` and `#{x <= t}`.
struct Choice<'a> {
    uniform: Uniform,
    sorted: &'a [i64],
    ends: (i64, i64),
    /// `q n`, and the integer at or below it.
    rank: Param,
    whole: usize,
    strength: Param,
}

impl<'a> Choice<'a> {
    fn new(sorted: &'a [i64], ends: (i64, i64), q: RBig, strength: RBig) -> Result<Choice<'a>, MechanismError> {
        // Counts of points are 64-bit integers.
        if ends.1.checked_sub(ends.0).and_then(|d| d.checked_add(1)).is_none() {
            return Err(MechanismError::Range);
        }
        let rank = q * RBig::from(sorted.len());
        let whole = usize::try_from(&rank.floor()).map_err(|_| MechanismError::Parameter)?.min(sorted.len());
        Ok(Choice { uniform: Uniform::new(), sorted, ends, rank: Param::new(rank), whole, strength: Param::new(strength) })
    }

    /// The value of a rank, 1 for the least; beyond the values the ends of the grid.
    fn value(&self, rank: usize) -> i64 {
        match rank.checked_sub(1) {
            None => self.ends.0,
            Some(i) => self.sorted.get(i).copied().unwrap_or(self.ends.1),
        }
    }

    /// The points that have `rows` values at or below them, and among the values themselves those that belong to them: with few
    /// rows below, the lower end of the interval, with many the upper one.
    fn run(&self, rows: usize) -> Run {
        let (lower, upper) = (self.value(rows), self.value(rows.saturating_add(1)));
        let points = upper - lower;
        match rows {
            _ if rows > self.whole => Run { first: lower.saturating_add(1), points, rows: Some(rows) },
            _ if rows == self.sorted.len() => Run { first: lower, points: points + 1, rows: Some(rows) },
            _ => Run { first: lower, points, rows: Some(rows) },
        }
    }

    /// The runs that are at most `reach` rows off, in the order of their points, and whether these are all.
    fn runs(&self, reach: usize) -> (impl Iterator<Item = Run>, bool) {
        let (from, to) = (self.whole.saturating_sub(reach), self.whole.saturating_add(reach).min(self.sorted.len()));
        // The value at q n has at most q n rows below it, and at least as many at or below it.
        let at = (self.whole < self.sorted.len()).then(|| Run { first: self.value(self.whole + 1), points: 1, rows: None });
        let runs = (from..=self.whole).map(|i| self.run(i)).chain(at).chain((self.whole + 1..=to).map(|i| self.run(i)));
        (runs, from == 0 && to == self.sorted.len())
    }
}

impl Real for Choice<'_> {
    type Answer = (i64, i64);

    fn decide<E: Enclosure>(&self, p: usize) -> Option<(i64, i64)> {
        let precision = p.max(64);
        let (rank, strength) = (E::param(&self.rank, precision), E::param(&self.strength, precision));
        // Farther runs together weigh less than 2^-precision: at most 2^63 points, where one of score 0 weighs 1.
        let halvings = (precision + 64) as f64;
        let reach = (halvings * std::f64::consts::LN_2 / self.strength.fast().lo).ceil() as usize;
        let reach = reach.saturating_add(2);
        let (runs, all) = self.runs(reach);
        let mut sum = E::integer(0, precision);
        let sums: Vec<(Run, E)> = runs
            .map(|run| {
                let points = E::integer(run.points, precision);
                let weight = run.rows.map(|rows| {
                    let gap = E::integer(i64::try_from(rows).unwrap_or(i64::MAX), precision).sub(&rank);
                    strength.mul(&if rows > self.whole { gap.neg() } else { gap }).exp()
                });
                sum = sum.add(&weight.map_or_else(|| points.clone(), |w| w.mul(&points)));
                (run, sum.clone())
            })
            .collect();
        if !all {
            // An unknown share of their bound.
            let points = E::integer(self.ends.1 - self.ends.0 + 1, precision);
            let off = E::integer(i64::try_from(reach - 1).unwrap_or(i64::MAX), precision);
            let most = points.mul(&strength.mul(&off).neg().exp());
            sum = sum.add(&most.mul(&E::uniform(&Uniform::new(), precision)));
        }
        let target = E::uniform(&self.uniform, precision).mul(&sum);
        for (run, sum) in sums {
            if sum.sub(&target).sign()? {
                return Some((run.first, run.points));
            }
        }
        None
    }

    fn refine<B: BitSource>(&mut self, p: usize, bits: &mut B) -> Result<(), MechanismError> {
        self.uniform.refine(p, bits)
    }
}
