//! One of all reachable posteriors by the exponential mechanism on Hellinger distances, sampled exactly (rule book §10).
//!
//! What runs is the exponential mechanism for scores on a public grid: the distance times the strength, computed in
//! doubles and rounded to multiples of `eps 2^-18`. That finite law is sampled without error: the uniform is refined until
//! the enclosed cumulative sums leave one candidate. A score on the grid is within `eps 2^-17` of the ideal one (half a step, and
//! 2^-40 of a score of at most `eps 2^20`), so two neighbours' scores differ by at most `theta / 2 + eps 2^-16`, and with
//! `theta = eps (1 - 2^-12)` the log ratio of their laws lies in an interval of width `theta + eps 2^-15 < eps`: the
//! certificate's eps covers the law that is sampled, not only the ideal one.

use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;

use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::draw::finite::below;
use crate::mechanism::draw::uniform::Uniform;
use crate::mechanism::plan::{MOST_CANDIDATES, MOST_ITEMS};
use crate::mechanism::real::{Enclosure, Param, Wide};
use crate::numeric::Interval;
use crate::numeric::hellinger::{FAR, Overlaps, distance, global_sensitivity, histograms, inverse_smooth};
use crate::numeric::round::{add_down, add_up, mul_down, mul_up};

/// Of eps, what the ideal mechanism may use.
const USED: f64 = 1.0 - 1.0 / 4096.0;
/// A step of the grid of scores is at most `eps 2^-STEPS`.
const STEPS: i32 = 18;

/// Candidates in order, `count` in a row with one score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Run {
    /// The score in steps of the grid, without its sign.
    pub score: u64,
    pub count: u64,
}

/// `eps / (2 GS)`, or `eps / (2 (1 + gamma) S)` at these counts.
pub fn strength(alpha: &[f64], counts: &[u64], epsilon: f64, gamma: Option<f64>) -> f64 {
    match gamma {
        None => epsilon / (2.0 * global_sensitivity(alpha, counts.iter().sum())),
        Some(gamma) => epsilon / (2.0 * (1.0 + gamma)) * inverse_smooth(alpha, counts, gamma),
    }
}

/// The distance of every candidate from the posterior of `counts`, in order, equal ones far away together.
pub fn distances(alpha: &[f64], counts: &[u64]) -> Vec<(f64, u64)> {
    let total = counts.iter().sum();
    match (alpha, counts) {
        ([a, b], [c, d]) => on_a_line([*a, *b], [*c, *d]),
        _ => {
            let tables: Vec<Overlaps> = alpha.iter().zip(counts).map(|(a, c)| Overlaps::new(*a, *c, 0, total)).collect();
            let mut out = vec![];
            every(total, alpha.len(), &mut |candidate| {
                let overlap: f64 = tables.iter().zip(candidate).map(|(t, c)| t.at(*c)).sum();
                out.push((distance(overlap), 1));
                false
            });
            out
        }
    }
}

/// Two places: tables grow until the overlap is gone; the distance rises on both sides, so the rest is as far.
fn on_a_line([a, b]: [f64; 2], [c, d]: [u64; 2]) -> Vec<(f64, u64)> {
    let side = |(a, c): (f64, u64), (b, d): (f64, u64)| {
        // c falls and d rises.
        let mut width = 64u64.min(c);
        loop {
            let down = Overlaps::new(a, c, c - width, c);
            let up = Overlaps::new(b, d, d, d + width);
            let overlap = |t: u64| down.at(c - t) + up.at(d + t);
            let far = overlap(width) <= -FAR;
            if far || width == c {
                return (1..=width).map(overlap).take_while(|o| *o > -FAR).map(distance).collect::<Vec<f64>>();
            }
            width = width.saturating_mul(2).min(c);
        }
    };
    let (left, right) = (side((a, c), (b, d)), side((b, d), (a, c)));
    let rest = |all: u64, near: usize| (1.0, all - near as u64);
    let left_rest = rest(c, left.len());
    let right_rest = rest(d, right.len());
    let near = left.into_iter().rev().chain([0.0]).chain(right).map(|h| (h, 1));
    std::iter::once(left_rest).chain(near).chain([right_rest]).filter(|(_, count)| *count > 0).collect()
}

/// Every way to put `total` items into `k` places, the first place slowest; stops where `look` says so.
fn every(total: u64, k: usize, look: &mut dyn FnMut(&[u64]) -> bool) {
    fn fill(i: usize, left: u64, counts: &mut [u64], look: &mut dyn FnMut(&[u64]) -> bool) -> bool {
        if i + 1 == counts.len() {
            if let Some(last) = counts.last_mut() {
                *last = left;
            }
            return look(counts);
        }
        for c in 0..=left {
            if let Some(place) = counts.get_mut(i) {
                *place = c;
            }
            if fill(i + 1, left - c, counts, look) {
                return true;
            }
        }
        false
    }
    if k > 0 {
        fill(0, total, &mut vec![0; k], look);
    }
}

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

/// The grid of scores for eps: its exponent.
pub fn exponent(epsilon: f64) -> i32 {
    libm::ilogb(epsilon).saturating_sub(STEPS)
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
    if total == 0 {
        return Ok(vec![Run { score: 0, count: 1 }]);
    }
    let strength = strength(alpha, counts, epsilon * USED, gamma);
    let score = |h: f64| {
        let steps = libm::ldexp(strength * h, -exponent(epsilon));
        // An infinite or missing number is no score; below 2^53 the conversion is exact.
        if steps < 9e15 { Ok(libm::round(steps) as u64) } else { Err(MechanismError::Parameter) }
    };
    distances(alpha, counts).into_iter().map(|(h, count)| Ok(Run { score: score(h)?, count })).collect()
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
