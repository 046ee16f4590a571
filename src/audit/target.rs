//! One release and what its draws need: drawn by the code that `dpm run` uses, on made-up files.

use super::exact;
use super::loss;
use super::neighbours::{Neighbours, Sizes};
use super::rows::Cells;
use crate::data::{Source, scan};
use crate::mechanism::bits::BitSource;
use crate::mechanism::plan::{MechanismPlan, PosteriorLaw};
use crate::mechanism::{MechanismError, Released, Scope, execute, prepare};
use crate::model::{ColumnId, Table};
use crate::run::Known;

/// One release with what its draws need.
pub struct Target<'a> {
    pub plan: &'a MechanismPlan,
    pub table: &'a Table,
    pub group: Option<(ColumnId, usize)>,
    pub known: Known<'a>,
    pub rows: Vec<Cells>,
    pub sizes: Sizes,
    /// Draws that one release holds.
    pub copies: u64,
    pub trials: u64,
}

impl Target<'_> {
    /// So many releases for either data set.
    pub fn draws<B: BitSource>(&self, n: &Neighbours, trials: u64, bits: &mut B) -> Result<[Vec<Vec<f64>>; 2], MechanismError> {
        let copies = usize::try_from(self.copies).unwrap_or(1).max(1);
        let [first, second] = n.files(self.table, &self.rows, self.sizes);
        let mut of = |file: String| -> Result<Vec<Vec<f64>>, MechanismError> {
            let drawn = self.released(file, trials, bits)?;
            Ok(drawn.chunks(copies).map(|one| one.iter().flat_map(Released::to_f64).collect()).collect())
        };
        Ok([of(first)?, of(second)?])
    }

    /// Distance of neighbours on the grid of the first number that is released.
    pub fn step<B: BitSource>(&self, n: &Neighbours, bits: &mut B) -> Result<f64, MechanismError> {
        let [file, _] = n.files(self.table, &self.rows, self.sizes);
        let drawn = self.released(file, 1, bits)?;
        let exponent = drawn.first().and_then(|r| r.components.first()).map_or(0, |c| c.exponent);
        Ok(libm::ldexp(1.0, exponent))
    }

    fn released<B: BitSource>(&self, file: String, trials: u64, bits: &mut B) -> Result<Vec<Released>, MechanismError> {
        let scope = Scope { table: self.table, group: self.group, env: &self.known };
        let mut plan = self.plan.clone();
        let mut repeats = trials;
        // Draws of a regression in steps share what left: each trial is a release of its own.
        let shared = matches!(plan, MechanismPlan::Posterior { law: PosteriorLaw::Stepwise(_), .. });
        if let (MechanismPlan::Posterior { times, .. }, false) = (&mut plan, shared) {
            (*times, repeats) = (trials.saturating_mul(self.copies), 1);
        }
        let job = prepare(&plan, &scope)?;
        let source = Source::new(std::io::Cursor::new(file.into_bytes()));
        let measured = scan(self.table, source, &[job]).map_err(|_| MechanismError::Parameter)?;
        let measured = measured.first().ok_or(MechanismError::Parameter)?;
        let mut found = vec![];
        for _ in 0..repeats {
            found.extend(execute(&plan, &scope, measured, bits)?);
        }
        Ok(found)
    }

    /// The Bayes-optimal score of every draw, where the losses of rows say it.
    pub fn losses(&self, n: &Neighbours, releases: &[Vec<f64>]) -> Option<Vec<f64>> {
        let rows = exact::numbers(self.table, &self.rows)?;
        let copies = usize::try_from(self.copies).ok()?.max(1);
        let draws: Vec<Vec<f64>> = releases.iter().flat_map(|r| self.each_draw(r)).map(<[f64]>::to_vec).collect();
        let found = loss::scores(self.plan, (self.table, &self.known), &rows, (n, self.sizes.unit), &draws)?;
        found.iter().all(|s| s.is_finite()).then(|| found.chunks(copies).map(|s| s.iter().sum()).collect())
    }

    /// The draws of one release.
    pub fn each_draw<'r>(&self, release: &'r [f64]) -> std::slice::Chunks<'r, f64> {
        release.chunks((release.len() / usize::try_from(self.copies).unwrap_or(1).max(1)).max(1))
    }
}
