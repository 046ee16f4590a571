//! One of all reachable posteriors by the exponential mechanism on Hellinger distances, sampled exactly (rule book §10).
//!
//! What runs is the exponential mechanism for scores on a public grid: the distance times the strength, computed in
//! doubles and rounded to multiples of `eps 2^-18`. That finite law is sampled without error: the uniform is refined until
//! the enclosed cumulative sums leave one candidate. A score on the grid is within `eps 2^-17` of the ideal one (half a step, and
//! 2^-40 of a score of at most `eps 2^20`), so two neighbours' scores differ by at most `theta / 2 + eps 2^-16`, and with
//! `theta = eps (1 - 2^-12)` the log ratio of their laws lies in an interval of width `theta + eps 2^-15 < eps`: the
//! certificate's eps covers the law that is sampled, not only the ideal one.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::draw::finite::below;
use crate::mechanism::draw::uniform::Uniform;
use crate::mechanism::plan::{MOST_CANDIDATES, MOST_ITEMS};
use crate::mechanism::real::{Enclosure, Param, Wide};
use crate::numeric::Interval;
use crate::numeric::hellinger::histograms;
use crate::numeric::round::{add_down, add_up, mul_down, mul_up};
pub use crate::numeric::scores::{Run, distances, exponent, strength};
use crate::numeric::scores::{every, scores};

/// The counts of candidate number `index`.
fn candidate(alpha: &[f64], total: u64, index: u64) -> Option<Vec<u64>> {
    if alpha.len() == 2 {
        return (index <= total).then(|| vec![index, total - index]);
    }
    let (mut seen, mut found) = (0u64, None);
    every(total, alpha.len(), &mut |c| {
        if seen == index {
            found = Some(c.to_vec());
        }
        seen += 1;
        found.is_some()
    });
    found
}

/// The law that is sampled: candidate i has probability proportional to `exp(-score 2^exponent)`.
pub fn law(alpha: &[f64], counts: &[u64], epsilon: f64, gamma: Option<f64>) -> Result<Vec<Run>, MechanismError> {
    let total = counts.iter().try_fold(0u64, |s, c| s.checked_add(*c)).ok_or(MechanismError::Range)?;
    let few = if alpha.len() == 2 { total <= MOST_ITEMS } else { histograms(total, alpha.len()) <= MOST_CANDIDATES };
    if !few {
        return Err(MechanismError::Candidates);
    }
    if !(epsilon.is_finite() && epsilon > 0.0) {
        return Err(MechanismError::Parameter);
    }
    scores(alpha, counts, epsilon, gamma).ok_or(MechanismError::Parameter)
}

/// One candidate's counts.
pub fn choose<B: BitSource>(
    alpha: &[f64],
    counts: &[u64],
    (epsilon, gamma): (f64, Option<f64>),
    bits: &mut B,
) -> Result<Vec<u64>, MechanismError> {
    let runs = law(alpha, counts, epsilon, gamma)?;
    let index = sample(&runs, exponent(epsilon), bits)?;
    candidate(alpha, counts.iter().sum(), index).ok_or(MechanismError::Undecided)
}

/// The index of a candidate: the run by inversion with enclosed sums, then a uniform place in it.
pub fn sample<B: BitSource>(runs: &[Run], exponent: i32, bits: &mut B) -> Result<u64, MechanismError> {
    let least = runs.iter().map(|r| r.score).min().ok_or(MechanismError::Parameter)?;
    let mut uniform = Uniform::new();
    uniform.refine(64, bits)?;
    let chosen = match by_doubles(runs, least, exponent, &uniform) {
        Some(i) => i,
        None => by_integers(runs, least, exponent, &mut uniform, bits)?,
    };
    let before = runs.iter().take(chosen).fold(0u64, |s, r| s.saturating_add(r.count));
    let count = runs.get(chosen).ok_or(MechanismError::Undecided)?.count;
    let place = below(&UBig::from(count), bits)?;
    let place = u64::try_from(place).map_err(|_| MechanismError::Undecided)?;
    before.checked_add(place).ok_or(MechanismError::Range)
}

/// The run in which the uniform falls, if sums of doubles rounded both ways decide.
fn by_doubles(runs: &[Run], least: u64, exponent: i32, uniform: &Uniform) -> Option<usize> {
    let (mut low, mut high) = (0.0, 0.0);
    let mut sums = Vec::with_capacity(runs.len());
    for r in runs {
        // Below 2^53 both factors are exact.
        let weight = Interval::point(-libm::ldexp((r.score - least) as f64, exponent)).exp();
        let times = r.count as f64;
        // Sums never fall, so neither need their bounds.
        low = add_down(low, mul_down(times.next_down(), weight.lo.max(0.0))).max(low);
        high = add_up(high, mul_up(times.next_up(), weight.hi));
        sums.push((low, high));
    }
    let (u_low, u_high) = uniform.bounds();
    let (from, to) = (mul_down(u_low, low), mul_up(u_high, high));
    let index = sums.partition_point(|s| s.0 <= to).min(sums.len().checked_sub(1)?);
    let before = index.checked_sub(1).and_then(|i| sums.get(i)).map_or(0.0, |s| s.1);
    (index == 0 || before <= from).then_some(index)
}

/// The same at 128, 256, .. bits.
fn by_integers<B: BitSource>(
    runs: &[Run],
    least: u64,
    exponent: i32,
    uniform: &mut Uniform,
    bits: &mut B,
) -> Result<usize, MechanismError> {
    let step = if exponent >= 0 {
        RBig::from(UBig::ONE << exponent.unsigned_abs() as usize)
    } else {
        RBig::from_parts(IBig::ONE, UBig::ONE << exponent.unsigned_abs() as usize)
    };
    let mut p = 128;
    while p <= 1 << 12 {
        uniform.refine(p, bits)?;
        let weight = |r: &Run| {
            let x = Param::new(-(RBig::from(r.score - least) * &step));
            Wide::param(&x, p).exp().mul(&Wide::param(&Param::new(RBig::from(r.count)), p))
        };
        let mut sum = Wide::integer(0, p);
        let sums: Vec<Wide> = runs
            .iter()
            .map(|r| {
                sum = sum.add(&weight(r));
                sum.clone()
            })
            .collect();
        let target = Wide::uniform(uniform, p).mul(&sum);
        let last = sums.len().saturating_sub(1);
        // Nothing lies beyond the last sum.
        let beyond = |(i, s): (usize, &Wide)| if i == last { Some(true) } else { s.sub(&target).sign() };
        for (i, decided) in sums.iter().enumerate().map(|(i, s)| (i, beyond((i, s)))) {
            match decided {
                Some(true) => return Ok(i),
                Some(false) => {}
                None => break,
            }
        }
        p *= 2;
    }
    Err(MechanismError::Undecided)
}
