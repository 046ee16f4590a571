//! Chains on the likelihood of a released table of counts: everything that they read is public.

use rayon::prelude::*;

use super::{Form, Lowered, lower};
use crate::data::Environment;
use crate::data::eval::compile;
use crate::kernel::density::{self, Cells, Columns, Density, NoisyCount, Operand, Program};
use crate::mechanism::MechanismError;
use crate::mechanism::bits::Repeated;
use crate::mechanism::chain::walk;
use crate::mechanism::plan::{DensityLaw, Noise};
use crate::model::fit::Sampling;
use crate::model::{Table, TableId};

/// Steps of a chain that adapt.
const WARM_UP: u64 = 1000;
/// So many states are asked at a time.
const PART: usize = 1000;

/// What is drawn from: the prior alone or the posterior; for how long; a seed that repeats it.
#[derive(Clone, Copy)]
pub struct Run {
    pub prior: bool,
    pub sampling: Sampling,
    pub seed: [u8; 32],
}

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
    /// The place in `totals` of the group of each cell, and the public number of rows in each group; none where it is secret.
    pub groups: Vec<usize>,
    pub totals: Vec<u64>,
}

/// The draws of all chains, one after the other.
pub struct Sampled {
    /// One list for each number that the law releases.
    pub numbers: Vec<Vec<f64>>,
    /// Where the chains were.
    pub states: Vec<Vec<f64>>,
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

/// Runs the chains of a density, and keeps what the operands stand for.
pub(super) fn chains<'d>(
    density: impl Fn() -> Result<Density<'d>, MechanismError> + Sync,
    start: &[(f64, f64)],
    kept: &[Operand],
    Run { sampling, seed, .. }: Run,
) -> Result<Sampled, MechanismError> {
    let chain = |chain: usize| {
        let mut density = density()?;
        let (mut states, divergences) =
            walk(&mut density, start, (WARM_UP, sampling.draws as u64), &mut Repeated::new(seed, chain as u64))?;
        // A chain that could not go on stays where it was.
        let last = states.last().cloned().ok_or(MechanismError::NoStart)?;
        states.resize(sampling.draws, last);
        let draws: Vec<Vec<f64>> = states.iter().map(|u| density.shared(u, kept)).collect();
        Ok::<_, MechanismError>((draws, states, divergences))
    };
    let chains = (0..sampling.chains).into_par_iter().map(chain).collect::<Result<Vec<_>, _>>()?;
    let mut found = Sampled { numbers: vec![Vec::with_capacity(sampling.total()); kept.len()], states: vec![], divergences: 0 };
    for (draws, states, divergences) in chains {
        draws.iter().for_each(|draw| found.numbers.iter_mut().zip(draw).for_each(|(all, x)| all.push(*x)));
        found.states.extend(states);
        found.divergences += divergences;
    }
    Ok(found)
}

/// What is asked of a density at every state of the chains.
pub(super) fn each_state<'d, T: Send>(
    states: &[Vec<f64>],
    density: impl Fn() -> Result<Density<'d>, MechanismError> + Sync,
    of: impl Fn(usize, &mut Density<'d>, &[f64]) -> T + Sync,
) -> Result<Vec<T>, MechanismError> {
    let part = |(i, states): (usize, &[Vec<f64>])| {
        let mut density = density()?;
        let one = |(j, u): (usize, &Vec<f64>)| of(i * PART + j, &mut density, u);
        Ok(states.iter().enumerate().map(one).collect::<Vec<T>>())
    };
    let parts = states.par_chunks(PART).enumerate().map(part).collect::<Result<Vec<_>, MechanismError>>()?;
    Ok(parts.into_iter().flatten().collect())
}

/// A model of a table of noisy counts, ready for chains.
pub struct Model<'a> {
    program: Program,
    data: Columns,
    counts: Counts<'a>,
    groups: Vec<Option<usize>>,
    kept: Vec<Operand>,
    start: Vec<(f64, f64)>,
}

impl<'a> Model<'a> {
    pub fn new(law: &DensityLaw, counts: Counts<'a>, env: &dyn Environment) -> Result<Model<'a>, MechanismError> {
        let columns = law.columns();
        let Lowered { mut program, parameters, start, .. } = lower(law, &columns, env, Form::NonCentred)?;
        // The logarithm of an expected count may be that of 0.
        program.losses.iter_mut().for_each(|loss| loss.hi = f64::MAX);
        let compiled = columns.iter().map(|e| compile(e, counts.id, counts.table, env)).collect::<Result<Vec<_>, _>>()?;
        let (mut data, mut row, mut stack) = (Columns::new(program.columns), vec![], vec![]);
        for cell in &counts.rows {
            row.clear();
            for e in &compiled {
                e.row(cell, &mut stack);
                // No column is infinite; the ends of open bins are.
                row.extend(stack.iter().map(|x| if x.abs() == f64::MAX { x * 2.0 } else { *x }));
            }
            data.push(&row);
        }
        data.derive(&program.derived);
        let kept = law.released.iter().filter_map(|i| parameters.get(*i)).flatten().copied().collect();
        // Without totals counts are independent.
        let groups = counts.groups.iter().map(|g| Some(*g).filter(|_| !counts.totals.is_empty())).collect();
        Ok(Model { program, data, counts, groups, kept, start })
    }

    fn density(&self) -> Result<Density<'_>, MechanismError> {
        let law = NoisyCount::new(noise(self.counts.noise)?, self.counts.noises)?;
        let cells = Cells::new(law, &self.counts.noisy, &self.groups, &self.counts.totals)?;
        Ok(Density::cells(&self.program, &self.data, cells.of_rows(self.counts.cells.clone())?, 1.0))
    }

    /// Runs the chains.
    pub fn fit(&self, run: Run) -> Result<Sampled, MechanismError> {
        let no = Columns::new(self.program.columns);
        let density = || if run.prior { Ok(Density::new(&self.program, &no, 1.0)) } else { self.density() };
        chains(density, &self.start, &self.kept, run)
    }

    /// What follows from the laws of all cells (`Density::cell_laws`) at every state of the chains.
    pub fn each<T: Send>(&self, states: &[Vec<f64>], of: impl Fn(usize, &[(f64, f64)]) -> T + Sync) -> Result<Vec<T>, MechanismError> {
        each_state(states, || self.density(), |i, density, u| of(i, &density.cell_laws(u)))
    }
}
