//! Weighted sums of the rates of several rows, in logarithms: a mean over nodes, or a mixture.

use crate::kernel::KernelError;

/// Rows that belong to fewer cells.
pub struct Means {
    /// The cell of each row, and the logarithm of its weight.
    rows: Vec<(usize, f64)>,
    /// The largest logarithm of a cell, and its sum of exponentials about that.
    cells: Vec<(f64, f64)>,
    losses: Vec<f64>,
    seeds: Vec<f64>,
}

impl Means {
    pub fn new(rows: Vec<(usize, f64)>, cells: usize) -> Result<Means, KernelError> {
        if rows.iter().any(|(cell, weight)| *cell >= cells || !weight.is_finite()) {
            return Err(KernelError::Length);
        }
        Ok(Means { rows, cells: vec![(0.0, 0.0); cells], losses: vec![], seeds: vec![] })
    }

    /// The losses of cells, `-ln sum exp(weight - loss)`; not a number where a row has none.
    pub fn forward(&mut self, losses: &[f64]) -> &[f64] {
        let Means { rows, cells, losses: out, .. } = self;
        cells.fill((f64::NEG_INFINITY, 0.0));
        for ((cell, weight), loss) in rows.iter().zip(losses) {
            if let Some((most, _)) = cells.get_mut(*cell) {
                *most = most.max(weight - loss);
            }
        }
        for ((cell, weight), loss) in rows.iter().zip(losses) {
            if let Some((most, sum)) = cells.get_mut(*cell) {
                *sum += (weight - loss - *most).exp();
            }
        }
        out.clear();
        out.extend(cells.iter().map(|(most, sum)| -most - sum.ln()));
        out
    }

    /// Derivatives by the losses of cells become those by the losses of rows.
    pub fn back(&mut self, losses: &[f64], seeds: &mut Vec<f64>) {
        std::mem::swap(&mut self.seeds, seeds);
        seeds.clear();
        for ((cell, weight), loss) in self.rows.iter().zip(losses) {
            let share = self.cells.get(*cell).map_or(0.0, |(most, sum)| (weight - loss - most).exp() / sum);
            let seed = self.seeds.get(*cell).map_or(0.0, |s| s * share);
            seeds.push(if seed.is_finite() { seed } else { 0.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_cells() {
        let weights = [0.25f64, 0.75, 1.0, 0.5, 0.5].map(f64::ln);
        let mut means = Means::new([0, 0, 1, 2, 2].into_iter().zip(weights).collect(), 3).unwrap();
        let losses = [1.0, 2.0, 700.0, 900.0, f64::MAX];
        let found = means.forward(&losses).to_vec();
        let first = 0.25 * (-1f64).exp() + 0.75 * (-2f64).exp();
        assert!((found[0] + first.ln()).abs() < 1e-14 && found[1] == 700.0 && (found[2] - 900.0 - 2f64.ln()).abs() < 1e-12);
        let mut seeds = vec![3.0, 5.0, 7.0];
        means.back(&losses, &mut seeds);
        assert!((seeds[0] - 3.0 * 0.25 * (-1f64).exp() / first).abs() < 1e-14 && (seeds[0] + seeds[1] - 3.0).abs() < 1e-14);
        assert_eq!(seeds[2..], [5.0, 7.0, 0.0]);
        for strange in [f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
            assert!(!means.forward(&[strange; 5]).iter().any(|l| l.is_finite()));
        }
        assert!(Means::new(vec![(3, 0.0)], 3).is_err() && Means::new(vec![(0, f64::NAN)], 3).is_err());
    }
}
