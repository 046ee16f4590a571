//! Models written as programs, turned into laws by hand, with rows in memory; and forward-mode derivatives of their losses
//! by plain formulas that share nothing with the library.

pub mod dual;

use dpm::check::NoFiles;
use dpm::data::eval::{NoEnvironment, compile};
use dpm::data::{Source, scan};
use dpm::kernel::density::{Columns, Density};
use dpm::mechanism::density::{Form, Lowered, lower};
use dpm::mechanism::plan::{ChainLaw, DensityLaw, Loss, MechanismPlan, PosteriorLaw, Statistic, StatisticKind};
use dpm::mechanism::{MechanismError, Released, Scope, execute, prepare};
use dpm::model::{Program, Query, Request, Step, Table, TableId};
use dpm::pipeline;

pub struct Case {
    pub program: Program,
    pub law: DensityLaw,
}

impl Case {
    /// A program whose release draws every parameter that it names.
    pub fn new(text: &str, loss: Loss, chain: ChainLaw) -> Case {
        Case::checked(text, loss, chain).unwrap_or_else(|errors| panic!("{text}\n{errors}"))
    }

    pub fn checked(text: &str, loss: Loss, chain: ChainLaw) -> Result<Case, String> {
        let checked = pipeline::check("case.dpm", text, &NoFiles);
        let errors: Vec<_> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| (d.code, d.message.clone())).collect();
        if !errors.is_empty() {
            return Err(format!("{errors:?}"));
        }
        let release = checked.program.steps.iter().find_map(|s| if let Step::Release(r) = s { Some(r) } else { None }).unwrap();
        let Query::Posterior(model) = &release.query else { panic!("no posterior") };
        let Request::Draw { parameters, .. } = &model.request else { panic!("no draw") };
        let place = |id| model.parameters.iter().position(|p| p.id == id).unwrap();
        let released = parameters.iter().map(|id| place(*id)).collect();
        let law = DensityLaw { parameters: model.parameters.clone(), released, rows: model.private.clone(), loss, chain };
        Ok(Case { law, program: checked.program })
    }

    pub fn table(&self) -> &Table {
        &self.program.tables[0]
    }

    pub fn lower(&self) -> Result<Lowered, MechanismError> {
        lower(&self.law, &self.law.columns(), &NoEnvironment, Form::Centred)
    }

    /// Rows as the numbers of the table's columns, side by side.
    pub fn columns(&self, lowered: &Lowered, rows: &[Vec<f64>]) -> Columns {
        let compiled: Vec<_> = self.law.columns().iter().map(|e| compile(e, TableId(0), self.table(), &NoEnvironment).unwrap()).collect();
        let mut columns = Columns::new(compiled.iter().map(|c| c.width()).sum());
        let (mut stack, mut row) = (vec![], vec![]);
        for values in rows {
            row.clear();
            for c in &compiled {
                c.row(values, &mut stack);
                row.extend_from_slice(&stack);
            }
            columns.push(&row);
        }
        columns.derive(&lowered.program.derived);
        columns
    }

    pub fn plan(&self, weight: f64, times: u64) -> MechanismPlan {
        let statistic = Statistic { table: TableId(0), kind: StatisticKind::Columns(self.law.columns()) };
        MechanismPlan::Posterior { law: PosteriorLaw::Density(Box::new(self.law.clone())), weight, statistic, times }
    }

    /// Draws as `dpm run` makes them, from a file.
    pub fn draws(
        &self,
        weight: f64,
        times: u64,
        file: &str,
        bits: &mut impl dpm::mechanism::BitSource,
    ) -> Result<Vec<Released>, MechanismError> {
        let plan = self.plan(weight, times);
        let scope = Scope { table: self.table(), group: None, env: &NoEnvironment };
        let job = prepare(&plan, &scope)?;
        let source = Source::new(std::io::Cursor::new(file.as_bytes().to_vec()));
        let measured = scan(self.table(), source, &[job]).unwrap().remove(0);
        execute(&plan, &scope, &measured, bits)
    }
}

/// The density of a case on rows.
pub fn with_density<T>(case: &Case, rows: &[Vec<f64>], weight: f64, work: impl FnOnce(&mut Density, &Lowered) -> T) -> T {
    let lowered = case.lower().unwrap();
    let columns = case.columns(&lowered, rows);
    let mut density = Density::new(&lowered.program, &columns, weight);
    work(&mut density, &lowered)
}

/// Repeatable numbers for generated cases.
pub struct Dice(pub u64);

impl Dice {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51afd7ed558ccd);
        ((x ^ (x >> 29)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    pub fn normal(&mut self) -> f64 {
        let u = self.unit().max(1e-300);
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}
