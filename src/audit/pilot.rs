//! Which neighbours are attacked where no law is known: those that a few draws tell apart best.

use super::neighbours::Neighbours;
use super::target::Target;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::plan::MechanismPlan;

/// The most draws that choose the neighbours where no law is known.
const PILOT: u64 = 200;
/// Pairs that a pilot tries: of a chain, of anything else.
const PILOTS: [usize; 2] = [10, 40];
/// Base rows that are tried where losses rank the neighbours.
const BASES: usize = 3;
/// Among the neighbours over some bases, those whose losses differ most over draws of one pair each: the score of the attack
/// says what every other pair would be worth at these draws. `None` where losses say nothing.
fn dearest_by_losses<B: BitSource>(
    target: &Target,
    all: &[Neighbours],
    pilot: u64,
    bits: &mut B,
) -> Result<Option<Neighbours>, MechanismError> {
    if all.first().is_none_or(|n| target.losses(n, &[]).is_none()) {
        return Ok(None);
    }
    let bases = if target.sizes.base == 0 { 1 } else { BASES.min(all.len()) };
    let mut best: Option<(f64, Neighbours)> = None;
    for i in 0..bases {
        let Some(pair) = all.get(i * all.len() / bases) else { continue };
        let draws = target.draws(pair, pilot, bits)?.concat();
        for n in all.iter().filter(|n| n.base == pair.base) {
            let Some(scores) = target.losses(n, &draws) else { continue };
            let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
            let spread = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>();
            if best.as_ref().is_none_or(|(most, _)| spread > *most) {
                best = Some((spread, *n));
            }
        }
    }
    Ok(best.map(|(_, n)| n))
}

/// Among some of the neighbours, those that few draws tell apart best.
pub fn dearest_by_pilot<B: BitSource>(target: &Target, all: &[Neighbours], bits: &mut B) -> Result<Neighbours, MechanismError> {
    // Chains are dear: a pilot takes no more draws for a pair than a fifth of the attack.
    let pilot = (target.trials / 5).clamp(10, PILOT);
    if let Some(dearest) = dearest_by_losses(target, all, pilot, bits)? {
        return Ok(dearest);
    }
    let mut best: Option<(f64, Neighbours)> = None;
    let [few, many] = PILOTS;
    let pilots = all.len().min(if matches!(target.plan, MechanismPlan::Posterior { .. }) { few } else { many });
    for i in 0..pilots {
        let Some(n) = all.get(i * all.len() / pilots) else { continue };
        let [a, b] = target.draws(n, pilot, bits)?;
        let direction = Direction::fit(&a, &b);
        if best.as_ref().is_none_or(|(d, _)| direction.distance > *d) {
            best = Some((direction.distance, *n));
        }
    }
    best.map(|(_, n)| n).ok_or(MechanismError::Parameter)
}

/// The linear score that separates two clouds best if their coordinates are independent.
pub struct Direction {
    weights: Vec<f64>,
    distance: f64,
}

impl Direction {
    pub fn fit(a: &[Vec<f64>], b: &[Vec<f64>]) -> Direction {
        let dim = a.first().map_or(0, Vec::len);
        let moments = |x: &[Vec<f64>], j: usize| {
            let values = || x.iter().filter_map(|v| v.get(j).copied());
            let n = x.len().max(1) as f64;
            let mean = values().sum::<f64>() / n;
            (mean, values().map(|v| (v - mean).powi(2)).sum::<f64>() / n)
        };
        let (mut weights, mut distance) = (vec![], 0.0);
        for j in 0..dim {
            let ((m, v), (k, w)) = (moments(a, j), moments(b, j));
            let weight = (m - k) / (0.5 * (v + w)).max(f64::MIN_POSITIVE);
            distance += weight * (m - k);
            weights.push(if weight.is_finite() { weight } else { 0.0 });
        }
        Direction { weights, distance }
    }

    pub fn score(&self, x: &[f64]) -> f64 {
        self.weights.iter().zip(x).map(|(w, x)| w * x).sum()
    }
}
