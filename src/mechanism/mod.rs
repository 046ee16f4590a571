//! How a private value is drawn: plans as data, and the code that executes them.

mod aggregate;
pub mod bits;
pub mod chain;
pub mod density;
pub mod draw;
mod glm;
pub mod grid;
pub mod langevin;
pub mod noise;
pub mod plan;
mod posterior;
mod prepare;
pub mod quantile;
pub mod real;
mod refined;
pub mod whole;

use std::fmt;

pub use bits::{BitSource, OsBits};
pub use grid::Number;
pub(crate) use prepare::aggregate;
pub use prepare::sums;

use crate::data::scan::{Job, Measured, rows_are_public};
use crate::data::{Environment, StatisticError};
use crate::model::{ColumnId, Table, TableId};
use crate::private::Private;
use plan::{MechanismPlan, PosteriorLaw, StatisticKind};

/// Why a mechanism did not run. None of these depends on a private value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MechanismError {
    /// The operating system gave no randomness.
    NoRandomness,
    /// The chain would take more steps than a billion, as public facts say.
    Steps,
    /// A Hellinger mechanism would have too many candidates, as the public number of rows says.
    Candidates,
    /// The operating system gave no threads.
    NoThreads,
    /// The density where the chain begins is not a number, or 0.
    NoStart,
    /// The program was built without the feature `nuts`.
    NoNuts,
    /// The noise is wider, in steps of its grid, than integers of 128 bits hold.
    Wide,
    /// A public parameter is not positive, not finite, or a matrix is not positive definite.
    Parameter,
    /// A decision stayed open after every refinement; the chance of this is below 2^-60000.
    Undecided,
    /// An expression that this version cannot compute on rows.
    Expression,
    /// The declared range of a statistic is infinite, or its sums do not fit 127 bits.
    Range,
}

impl fmt::Display for MechanismError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MechanismError::NoRandomness => "the operating system gave no randomness",
            MechanismError::NoThreads => "the operating system gave no threads",
            MechanismError::NoStart => "the chain found no place to begin: the model gives what was released no chance there",
            MechanismError::NoNuts => "this build has no NUTS: build dpm with its feature `nuts`",
            MechanismError::Candidates => "there are too many candidates",
            MechanismError::Wide => "it would have more noise than integers hold",
            MechanismError::Parameter => "a public parameter of the mechanism is out of range",
            MechanismError::Steps => "the chain would take more than a billion steps",
            MechanismError::Undecided => "a draw stayed undecided",
            MechanismError::Expression => "an expression cannot be computed on rows",
            MechanismError::Range => "a statistic has no finite range, or integers cannot hold it in steps of its noise",
        })
    }
}

impl std::error::Error for MechanismError {}

impl From<StatisticError> for MechanismError {
    fn from(e: StatisticError) -> MechanismError {
        match e {
            StatisticError::Expression => MechanismError::Expression,
            StatisticError::Range => MechanismError::Range,
        }
    }
}

/// The public surroundings of one release.
pub struct Scope<'a> {
    /// The private table that the plan reads.
    pub table: &'a Table,
    /// Key column and level, inside `each`.
    pub group: Option<(ColumnId, usize)>,
    /// Released values, scalars, row counts.
    pub env: &'a dyn Environment,
}

impl Scope<'_> {
    /// Is the number of rows (of the group) public?
    pub fn rows_are_public(&self) -> bool {
        let key_is_public = |(key, _): (ColumnId, usize)| {
            let column = self.table.columns.get(key.0);
            column.is_some_and(|c| c.public)
        };
        rows_are_public(self.table) && self.group.is_none_or(key_is_public)
    }
}

/// What leaves a mechanism: one number, or the components of a vector, on a public grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Released {
    pub components: Vec<Number>,
}

impl Released {
    /// Nearest doubles.
    pub fn to_f64(&self) -> Vec<f64> {
        self.components.iter().map(|x| x.to_f64()).collect()
    }
}

impl MechanismPlan {
    /// The table that the plan reads.
    pub fn table(&self) -> TableId {
        match self {
            MechanismPlan::Posterior { statistic, .. } | MechanismPlan::Whole { statistic, .. } => statistic.table,
            MechanismPlan::Noise { table, .. } | MechanismPlan::Quantile { table, .. } => *table,
        }
    }
}

/// What a plan asks of the rows of its table, to be measured by `data::scan`: refused if need be, before any data are read.
pub fn prepare(plan: &MechanismPlan, scope: &Scope) -> Result<Job, MechanismError> {
    let job = prepare::job(plan, scope)?;
    match plan {
        MechanismPlan::Noise { table, value, noise } => noise::check(value, *table, *noise, scope)?,
        MechanismPlan::Whole { law, .. } => whole::check(law.noise, job.grids())?,
        MechanismPlan::Posterior { law: PosteriorLaw::Refined(law), .. } => whole::check(law.noise(), job.grids())?,
        MechanismPlan::Posterior { law: PosteriorLaw::Stepwise(law), .. } => whole::check(law.noise, job.grids())?,
        MechanismPlan::Posterior { .. } | MechanismPlan::Quantile { .. } => {}
    }
    Ok(job)
}

/// Draws a release from the totals of its job: several values only for `times` above 1.
pub fn execute<B: BitSource>(
    plan: &MechanismPlan,
    scope: &Scope,
    measured: &Private<Measured>,
    bits: &mut B,
) -> Result<Vec<Released>, MechanismError> {
    let measured = measured.read();
    match plan {
        MechanismPlan::Posterior { law: PosteriorLaw::Glm(law), weight, statistic, times } => {
            let public_rows = scope.rows_are_public().then_some(measured.rows);
            (0..*times).map(|_| glm::draw((law, *weight, &statistic.kind), measured, public_rows, bits)).collect()
        }
        MechanismPlan::Posterior { law: PosteriorLaw::Refined(law), times, .. } => {
            let public_rows = scope.rows_are_public().then_some(measured.rows);
            (0..*times).map(|_| refined::draw(law, measured, public_rows, bits)).collect()
        }
        MechanismPlan::Posterior { law: PosteriorLaw::Stepwise(law), times, .. } => {
            let public_rows = scope.rows_are_public().then_some(measured.rows);
            whole::drawn::draws(law, measured, public_rows.ok_or(MechanismError::Parameter)?, *times, bits)
        }
        MechanismPlan::Posterior { law: PosteriorLaw::Density(law), weight, statistic, times } => {
            let StatisticKind::Columns(columns) = &statistic.kind else { return Err(MechanismError::Parameter) };
            let rows = if scope.rows_are_public() { measured.rows } else { scope.table.rows.at_least };
            (0..*times).map(|_| density::draw((law, *weight, columns), measured, rows, scope.env, bits)).collect()
        }
        MechanismPlan::Posterior { law, weight, statistic, times } => {
            let public_rows = scope.rows_are_public().then_some(measured.rows);
            posterior::draw((law, *weight, statistic), measured, public_rows, *times, bits)
        }
        MechanismPlan::Whole { law, .. } => {
            let public_rows = scope.rows_are_public().then_some(measured.rows);
            Ok(vec![whole::release(law, measured, public_rows, bits)?])
        }
        MechanismPlan::Noise { table, value, noise } => Ok(vec![noise::release((value, *table, *noise), measured, scope, bits)?]),
        MechanismPlan::Quantile { levels, ty, spacing, epsilon, .. } => {
            Ok(vec![quantile::release(levels, (ty, *spacing), *epsilon, measured, bits)?])
        }
    }
}

/// How much the rounding of one component may add to the sensitivity of a noise plan; 0 for other plans.
/// Infinite where `execute` would not compute the value, or has no grid for its noise.
pub fn grid_slack(plan: &MechanismPlan) -> f64 {
    match plan {
        MechanismPlan::Noise { table, value, noise } => noise::slack(value, *table, *noise),
        _ => 0.0,
    }
}
