//! Programs certified and drawn from as `dpm run` would, many draws at a time, for tests of laws and for attacks.

use dpm::analyze::Analysis;
use dpm::check::NoFiles;
use dpm::data::eval::NoEnvironment;
use dpm::data::{Measured, Source, scan};
use dpm::mechanism::plan::MechanismPlan;
use dpm::mechanism::{BitSource, MechanismError, Released, Scope, execute, prepare};
use dpm::model::{Program, Step, TableId};
use dpm::pipeline;
use dpm::private::Private;
use dpm::run::Bound;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

pub mod attacks;
pub mod laws;
pub mod statistics;

/// Repeatable bits: what these draws say is committed, so it must be possible to say it again.
pub struct Seeded {
    rng: ChaCha20Rng,
    spare: u64,
    left: u32,
}

impl Seeded {
    pub fn new(seed: u64) -> Seeded {
        Seeded { rng: ChaCha20Rng::seed_from_u64(seed), spare: 0, left: 0 }
    }

    /// For the naive samplers of positive controls.
    pub fn rng(&mut self) -> &mut ChaCha20Rng {
        &mut self.rng
    }
}

impl BitSource for Seeded {
    fn word(&mut self) -> Result<u64, MechanismError> {
        Ok(self.rng.next_u64())
    }

    fn bit(&mut self) -> Result<bool, MechanismError> {
        if self.left == 0 {
            (self.spare, self.left) = (self.rng.next_u64(), 64);
        }
        self.left -= 1;
        Ok(self.spare >> self.left & 1 == 1)
    }
}

/// A certified program with one release.
pub struct Mechanism {
    program: Program,
    analysis: Analysis,
    plan: MechanismPlan,
}

impl Mechanism {
    pub fn new(text: &str) -> Mechanism {
        let checked = pipeline::check("case.dpm", text, &NoFiles);
        let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
        let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).map(|d| (d.code, d.message.clone())).collect();
        assert!(errors.is_empty(), "{text}\n{errors:?}");
        let analysis = analysis.unwrap();
        let release = checked.program.steps.iter().find_map(|s| if let Step::Release(r) = s { Some(r.id) } else { None });
        let chosen = analysis.release(release.unwrap()).unwrap().chosen.as_ref().unwrap();
        let plan = chosen.plan.clone().unwrap();
        Mechanism { program: checked.program, analysis, plan }
    }

    /// The certificate's epsilon at a delta.
    pub fn epsilon(&self, delta: f64) -> f64 {
        self.analysis.total.as_ref().unwrap().epsilon(delta)
    }

    fn scope(&self) -> Scope<'_> {
        Scope { table: &self.program.tables[0], group: None, env: &NoEnvironment }
    }

    /// The statistics of a file, measured once.
    pub fn measure(&self, file: &str) -> Private<Measured> {
        assert_eq!(self.plan.table(), TableId(0));
        let job = prepare(&self.plan, &self.scope()).unwrap();
        let source = Source::new(std::io::Cursor::new(file.as_bytes().to_vec()));
        // Also of a file without rows, which no run takes where their number is public.
        let mut table = self.program.tables[0].clone();
        table.rows.at_least = 0;
        scan(&table, source, &[job]).unwrap().remove(0)
    }

    /// One release, or the end of the bits.
    pub fn draw(&self, measured: &Private<Measured>, bits: &mut impl BitSource) -> Result<Released, MechanismError> {
        Ok(execute(&self.plan, &self.scope(), measured, bits)?.remove(0))
    }

    /// So many independent releases.
    pub fn draws(&self, measured: &Private<Measured>, count: u64, bits: &mut impl BitSource) -> Vec<Released> {
        let scope = self.scope();
        if let MechanismPlan::Posterior { .. } = self.plan {
            let mut plan = self.plan.clone();
            if let MechanismPlan::Posterior { times, .. } = &mut plan {
                *times = count;
            }
            return execute(&plan, &scope, measured, bits).unwrap();
        }
        (0..count).flat_map(|_| execute(&self.plan, &scope, measured, bits).unwrap()).collect()
    }
}

/// A header and one line a row.
pub fn csv(header: &str, rows: &[&str]) -> String {
    rows.iter().fold(format!("{header}\n"), |file, row| file + row + "\n")
}
