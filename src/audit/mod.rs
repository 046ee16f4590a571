//! `dpm audit`: attacks on a user's own program with made-up rows; evidence beside the certificate, never a proof.
//!
//! Rows are made here, at the corners of the declared types and between them. No file of the user is opened. Each release is drawn by the
//! code that `dpm run` would use, many times for two neighbouring data sets, and an attacker who knows both tries to tell
//! them apart. Where the output law is known in closed form, its divergences are integrated as well: a second road to the
//! number in the certificate, which shares no code with the rules.

mod attack;
mod divergence;
mod exact;
mod fit;
mod laws;
mod loss;
mod neighbours;
mod page;
mod pilot;
mod release;
mod rows;
mod target;

pub use attack::{Roc, clopper_pearson};
pub use page::page;
pub use release::{Exact, LowerBound, ReleaseAudit, Score};

use crate::analyze::Analysis;
use crate::mechanism::MechanismError;
use crate::mechanism::bits::BitSource;
use crate::model::{Program, releases};
use crate::run::Bound;

/// How hard to try.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Draws from each of the two data sets; by default as many as the mechanism gives in seconds.
    pub trials: Option<u64>,
    /// Chance that all lower bounds of one release hold.
    pub confidence: f64,
}

/// Why a release was not audited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAudited {
    pub name: String,
    pub reason: String,
}

pub type Outcome = Result<ReleaseAudit, NotAudited>;

/// Audits every release, or the one of that name.
///
/// # Errors
/// The mechanism's own error, such as missing randomness.
pub fn audit<B: BitSource>(
    program: &Program,
    analysis: &Analysis,
    public: &Bound,
    only: Option<&str>,
    options: Options,
    bits: &mut B,
) -> Result<Vec<Outcome>, MechanismError> {
    let chosen = releases(&program.steps).into_iter().filter(|r| only.is_none_or(|name| r.name == name));
    chosen.map(|r| release::audit(program, analysis, public, r, options, bits)).collect()
}
