//! The last state of a Langevin chain on gradients of random samples of the rows: private by itself, with little noise.
//!
//! ## Shape
//! That of `beta_div`, with a public number of rows and one row a unit. Each step draws `batch` rows without replacement, cuts
//! the gradient of each in L2 norm, adds them with noise, and moves along the sum and a normal number (Li et al. 2019).
//!
//! ## Claim
//! T adaptive releases, each normal noise of sd sigma on a sum over a sample without replacement that holds a share
//! `batch / n` of the rows; replacing a row moves the sum of a sample that holds it by at most `2 clip` in L2 norm. Rényi
//! divergences of one release are those of Theorem 9 of Wang, Balle and Kasiviswanathan (2019) at whole orders, for the
//! divergences `l (2 clip)^2 / (2 sigma^2)` of the noise, and linear in `(l - 1) D_l` between them (§12.3). n is the least that
//! the header promises. The noise is discrete Gaussian on integers, as in `dp_hmc`. T is 500, batch one row in a hundred,
//! clip 1, weight 1 and beta as for `penalty` unless given; sigma is solved.
//!
//! ## Refuses
//! What `beta_div` refuses, but for the chain; a secret number of rows (E0307), since the size of a sample is public and its
//! share bounds the cost; units of several rows, for which the theorem says nothing (E0300).
//!
//! ## Checked by
//! Numerical integration of one-dimensional mixtures at 320 settings; its formula written twice; draws of samples against
//! the uniform law (`src/mechanism/chain/sgld.rs`).

use super::LossRule;
use super::density::row_loss;
use super::model::{BoundedLoss, Refusal, Unfit};
use crate::model::{Model, Relation};
use crate::numeric::round::{div_up, mul_up};
use crate::privacy::{Claim, Pair};
use crate::rules::conjugate::secret_rows;
use crate::rules::count::{count_down, count_up};
use crate::rules::{Context, Meta};
use crate::source::Diagnostic;

pub(super) struct DpSgld;

static META: Meta = Meta {
    name: "dp_sgld",
    summary: "a Langevin chain on noisy gradients of samples of the rows, private at every step",
    section: "12.3",
    source: include_str!("dp_sgld.rs"),
};

impl LossRule for DpSgld {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self, model: &Model, context: Context) -> Result<BoundedLoss, Unfit> {
        let loss = BoundedLoss::read(&META, model, &context, row_loss)?;
        let refused = |diagnostic| Err(Unfit::Refused(Box::new(Refusal { diagnostic, mended: None })));
        let Some(place) = model.private.first().map(|o| o.span) else { return Ok(loss) };
        if loss.records.relation == Relation::AddRemove {
            let names: Vec<&str> = model.parameters.iter().map(|p| p.name.as_str()).collect();
            let why = "a sample of fixed size holds a share of the rows, which is secret with their number";
            return refused(secret_rows(META.name, &names.join("`, `"), place, loss.records, why, &context));
        }
        if loss.records.unit_rows != 1 {
            return refused(
                Diagnostic::new("E0300", "`dp_sgld` covers units of one row alone")
                    .label(place, format!("up to {} of these rows are of one unit", loss.records.unit_rows))
                    .cause("how much a random sample hides is proved for one row that is replaced")
                    .help("a chain that takes all rows at every step:    using dp_hmc"),
            );
        }
        Ok(loss)
    }
}

impl BoundedLoss {
    /// One chain of so many steps, each with noise of sd `sigma` on gradients of `batch` rows. Replaced rows alone.
    pub fn sampled_claim(&self, iterations: u64, batch: u64, clip: f64, sigma: f64) -> Claim {
        let rows = self.records.rows;
        let least = rows.exactly.unwrap_or(rows.at_least).max(1);
        let share = div_up(count_up(batch), count_down(least)).min(1.0);
        let mu = div_up(mul_up(2.0, clip), sigma);
        Claim::Renyi(vec![Pair::Sampled { share, mu }]).repeat(iterations)
    }
}
