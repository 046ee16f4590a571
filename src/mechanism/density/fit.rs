//! Chains on the likelihood of a released table of counts: everything that they read is public.

use rayon::prelude::*;

use super::{Form, Lowered, lower};
use crate::data::Environment;
use crate::data::eval::compile;
use crate::kernel::density::{self, Cells, Columns, Density, NoisyCount, Operand};
use crate::mechanism::MechanismError;
use crate::mechanism::bits::Repeated;
use crate::mechanism::chain::walk;
use crate::mechanism::plan::{DensityLaw, Noise};
use crate::model::{Table, TableId};

/// Chains of a fit.
pub const CHAINS: usize = 4;
/// Steps of a chain that adapt, and as many that are kept.
pub const STEPS: usize = 1000;

/// A table of noisy counts, one row a cell.
pub struct Counts<'a> {
    pub id: TableId,
    pub table: &'a Table,
    /// The values of the columns in each cell, or in several rows whose rates a cell has the weighted mean of.
    pub rows: Vec<Vec<f64>>,
    /// The cell of each row, and the logarithm of its weight.
    pub cells: Vec<(usize, f64)>,
    pub noisy: Vec<i64>,
    pub noise: Noise,
    /// How many noises each count has in it.
    pub noises: u32,
    /// The place in `totals` of the group of each cell, and the public number of rows in each group.
    pub groups: Vec<usize>,
    pub totals: Vec<u64>,
}

/// The draws of all chains, one after the other.
pub struct Sampled {
    /// One list for each number that the law releases.
    pub numbers: Vec<Vec<f64>>,
    /// Steps after the warm-up that left the level of their energy.
    pub divergences: u64,
}

fn noise(noise: Noise) -> Result<density::Noise, MechanismError> {
    match noise {
        Noise::Geometric { scale } => Ok(density::Noise::Geometric { scale }),
        Noise::Rounded { sigma } => Ok(density::Noise::RoundedGaussian { sigma }),
        Noise::Laplace { .. } | Noise::Gaussian { .. } => Err(MechanismError::Parameter),
    }
}

/// Could the chains run, whatever the counts?
pub fn rehearse(law: &DensityLaw, (of, noises): (Noise, u32), env: &dyn Environment) -> Result<(), MechanismError> {
    lower(law, &law.columns(), env, Form::NonCentred)?;
    Ok(NoisyCount::new(noise(of)?, noises).map(drop)?)
}

/// Runs the chains; `seed` repeats them.
pub fn fit(law: &DensityLaw, counts: &Counts, env: &dyn Environment, seed: [u8; 32]) -> Result<Sampled, MechanismError> {
    let noise = noise(counts.noise)?;
    let columns = law.columns();
    let Lowered { mut program, parameters, .. } = lower(law, &columns, env, Form::NonCentred)?;
    // The logarithm of an expected count may be that of 0.
    program.losses.iter_mut().for_each(|loss| loss.hi = f64::MAX);
    let compiled = columns.iter().map(|e| compile(e, counts.id, counts.table, env)).collect::<Result<Vec<_>, _>>()?;
    let (mut data, mut row, mut stack) = (Columns::new(program.columns), vec![], vec![]);
    for cell in &counts.rows {
        row.clear();
        for e in &compiled {
            e.run(cell, &mut stack);
            // No column is infinite; the ends of open bins are.
            row.extend(stack.iter().map(|x| if x.abs() == f64::MAX { x * 2.0 } else { *x }));
        }
        data.push(&row);
    }
    data.derive(&program.derived);
    let kept: Vec<Operand> = law.released.iter().filter_map(|i| parameters.get(*i)).flatten().copied().collect();
    let groups: Vec<Option<usize>> = counts.groups.iter().copied().map(Some).collect();
    let chain = |chain: usize| {
        let cells = Cells::new(NoisyCount::new(noise, counts.noises)?, &counts.noisy, &groups, &counts.totals)?;
        let cells = cells.of_rows(counts.cells.clone())?;
        let mut density = Density::cells(&program, &data, cells, 1.0);
        let (states, divergences) = walk(&mut density, STEPS, &mut Repeated::new(seed, chain as u64))?;
        let draws: Vec<Vec<f64>> = states.iter().map(|u| density.shared(u, &kept)).collect();
        Ok::<_, MechanismError>((draws, divergences))
    };
    let chains = (0..CHAINS).into_par_iter().map(chain).collect::<Result<Vec<_>, _>>()?;
    let mut numbers = vec![Vec::with_capacity(CHAINS * STEPS); kept.len()];
    let divergences = chains.iter().map(|(_, d)| d).sum();
    for (draws, _) in chains {
        // A chain that could not go on stays where it was.
        let last = draws.last().cloned().unwrap_or_else(|| vec![f64::NAN; kept.len()]);
        for i in 0..STEPS {
            let draw = draws.get(i).unwrap_or(&last);
            numbers.iter_mut().zip(draw).for_each(|(all, x)| all.push(*x));
        }
    }
    Ok(Sampled { numbers, divergences })
}
