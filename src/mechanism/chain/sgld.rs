//! Langevin steps along noisy gradients of random samples of the rows (rule book §12.3).
//!
//! Every step draws its rows without replacement by random bits alone, so each sample of the size is as likely as any other,
//! whatever the rows hold. Gradients are cut and added as in `hmc`; the rest of a step is public.

use super::MOST_STEPS;
use super::clip::{LONGEST, cut, on_gradients};
use crate::kernel::density::{Columns, Density, Program, RowGradients};
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::mechanism::langevin::Normals;

/// A chain as data; every field is public, and so is the number of rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Sgld {
    pub start: Vec<f64>,
    /// The unit of each coordinate: steps and gradients are taken in these.
    pub spreads: Vec<f64>,
    pub iterations: u64,
    /// Rows of a sample; all of them where there is none.
    pub batch: Option<u64>,
    /// The sd of what a step adds to a coordinate by chance.
    pub step: f64,
    /// Bound on the L2 norm of a row's gradient, enforced, and the noise on the sum of a sample's; neither is weighted.
    pub clip: f64,
    pub sigma: f64,
    /// Of a row.
    pub weight: f64,
}

/// The last state of a chain on `program` and its rows.
pub fn sgld<B: BitSource>(program: &Program, rows: &Columns, chain: &Sgld, bits: &mut B) -> Result<Vec<f64>, MechanismError> {
    let Sgld { start, spreads, iterations, batch, step, clip, sigma, weight } = chain;
    let proper = |x: &f64| x.is_finite() && *x > 0.0;
    if !([step, clip, sigma, weight].into_iter().all(proper) && spreads.iter().all(proper) && start.len() == spreads.len())
        || batch.is_some_and(|rows| rows > MOST_STEPS)
    {
        return Err(MechanismError::Parameter);
    }
    let noise = on_gradients(*sigma, *clip)?;
    let mut places: Vec<usize> = (0..rows.rows()).collect();
    let asked = batch.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX);
    let taken = places.len().min(asked);
    // The sample stands for all rows.
    let share = if taken == 0 { 0.0 } else { weight * places.len() as f64 / taken as f64 };
    // What the noise of the gradients leaves of the chance of a step.
    let known = 0.5 * step * share * sigma;
    let rest = step * (1.0 - known * known).max(0.0).sqrt();
    let none = Columns::new(rows.width());
    let mut density = Density::new(program, &none, *weight);
    let (mut state, mut prior) = (start.clone(), vec![0.0; start.len()]);
    for _ in 0..*iterations {
        sample(&mut places, taken, bits)?;
        let part = rows.gather(places.get(..taken).unwrap_or(&[]));
        density.prior_gradient(&state, &mut prior);
        let sums = RowGradients::new(program, &part).sum(&state, |row, sums| cut(row, spreads, *clip, sums));
        let unit = share * clip / LONGEST as f64;
        let mut noisy = Vec::with_capacity(sums.len());
        for sum in sums {
            noisy.push(noise.on(sum, bits)? as f64 * unit);
        }
        let mut normals = Normals::new(bits);
        let mut next = Vec::with_capacity(state.len());
        for (((x, prior), spread), loss) in state.iter().zip(&prior).zip(spreads).zip(noisy) {
            next.push(x + spread * (0.5 * step * step * (spread * prior - loss) + rest * normals.draw()?));
        }
        // A step that leaves the numbers is none.
        if next.iter().all(|x| x.is_finite()) {
            state = next;
        }
    }
    Ok(state)
}

/// Puts `taken` places drawn without replacement in front; the order that others are left in is as random as it was.
fn sample<B: BitSource>(places: &mut [usize], taken: usize, bits: &mut B) -> Result<(), MechanismError> {
    for i in 0..taken {
        let left = (places.len() - i) as u64;
        // Words beyond the last multiple would favour the first places.
        let most = u64::MAX - (u64::MAX % left + 1) % left;
        let word = loop {
            let word = bits.word()?;
            if word <= most {
                break word;
            }
        };
        places.swap(i, i + (word % left) as usize);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::OsBits;

    /// Every sample of 2 of 5 rows is as likely: a chi-squared statistic of 9 degrees of freedom exceeds 50 once in 10^7.
    #[test]
    fn every_sample_is_as_likely_as_any_other() {
        let mut bits = OsBits::new().unwrap();
        let (mut places, mut counts) = ((0..5).collect::<Vec<usize>>(), std::collections::BTreeMap::new());
        let draws = 20_000;
        for _ in 0..draws {
            sample(&mut places, 2, &mut bits).unwrap();
            let mut found = [places[0], places[1]];
            found.sort_unstable();
            *counts.entry(found).or_insert(0.0) += 1.0;
        }
        assert_eq!(counts.len(), 10);
        let expected = f64::from(draws) / 10.0;
        let statistic: f64 = counts.values().map(|c: &f64| (c - expected).powi(2) / expected).sum();
        assert!(statistic < 50.0, "{counts:?}");
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 3, 4]);
    }
}
