//! The last state of a Langevin chain on gradients of random samples of the rows: private by itself, with little noise.
//!
//! ## Shape
//! That of `beta_div`, with a public number of rows and one row a unit. Each step draws `batch` rows without replacement, cuts
//! the gradient of each in L2 norm, adds them with noise, and moves along the sum and a normal number (Li et al. 2019).
//!
//! ## Claim
//! T adaptive releases, each normal noise of sd sigma, rounded to integers, on a sum of integers over a fixed share
//! `g = batch / n` of the rows; replacing a row moves the sum of a sample that holds it by at most `2 clip` in L2 norm. With h the
//! curve of normal noise at `mu = 2 clip / sigma`, one release has `g h(ln(1 + (exp(e) - 1) / g))` in both orders (Balle, Barthe and
//! Gaboardi 2018; §12.3), and the releases compose as curves (§8.8); at fixed orders Theorem 9 of Wang, Balle and
//! Kasiviswanathan (2019) bounds them too. All rows are taken unless `batch` is given: then the whole is GDP with `sqrt(T) mu`.
//! Where no mechanism is written (`using ?`, `dpm compare`) a sample of a quarter of the rows is weighed beside all of them, by the noise of the mean gradient: that which is added, and what a
//! sample leaves to chance. n is the least that the header promises. T is 500, clip 1, weight 1 and beta as for `penalty` unless given; sigma is solved.
//!
//! ## Refuses
//! What `beta_div` refuses, but for the chain; a secret number of rows (E0307), since the size of a sample is public and its
//! share bounds the cost; units of several rows, for which the theorem says nothing (E0300).
//!
//! ## Checked by
//! Golden values; numerical integration of one-dimensional mixtures, and every sample of small tables; formulas written twice; draws of
//! samples against the uniform law (`src/mechanism/chain/sgld.rs`).

use super::density::row_loss;
use super::model::BoundedLoss;
use super::penalty::{larger, smaller};
use super::sampled;
use crate::model::Relation;
use crate::numeric::Amount;
use crate::numeric::amount::{quotient_up, stated_up};
use crate::numeric::round::div_up;
use crate::privacy::{Claim, Pair};
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::conjugate::secret_rows;
use crate::rules::count::{count_down, count_up};
use crate::rules::{Answers, Match, Question, Rule, Verdict, refuse};
use crate::source::Diagnostic;

pub static DP_SGLD: Mechanism = Mechanism::new(
    "dp_sgld",
    &[
        Arg::count("iterations"),
        Arg::count("batch"),
        Arg::positive("clip"),
        Arg::positive("sigma"),
        Arg::positive("step"),
        Arg::BETA,
        Arg::WEIGHT,
    ],
)
.by_name()
.called("a chain on samples");

pub static RULE: Rule = Rule {
    name: "dp_sgld",
    summary: "a Langevin chain on noisy gradients of samples of the rows, private at every step",
    section: "12.3",
    source: include_str!("dp_sgld.rs"),
    answers: Answers::Draws,
    mechanisms: &[&DP_SGLD],
    judge,
};

fn judge(question: &Question) -> Verdict {
    match (super::model::judge(&RULE, question, row_loss, sampled::offer), covered(question)) {
        // What any rule for bounded losses refuses comes first.
        (Verdict::Offers(_), Err(verdict)) => verdict,
        (verdict, _) => verdict,
    }
}

/// Samples of a fixed size of a public number of rows, one row a unit.
fn covered(question: &Question) -> Match<()> {
    let (model, context) = (question.model()?, &question.context);
    if let Some(place) = model.private.first().map(|o| o.span) {
        if model.records.relation == Relation::AddRemove {
            let names: Vec<&str> = model.parameters.iter().map(|p| p.name.as_str()).collect();
            let why = "a sample of fixed size holds a share of the rows, which is secret with their number";
            return refuse(secret_rows(RULE.name, &names.join("`, `"), place, model.records, why, context));
        }
        if model.records.unit_rows != 1 {
            return refuse(
                Diagnostic::new("E0300", "`dp_sgld` covers only units of one row")
                    .label(place, format!("up to {} of these rows are of one unit", model.records.unit_rows))
                    .cause("how much a random sample hides is proved for one row that is replaced")
                    .help(("a chain that takes all rows at every step:", "using dp_hmc")),
            );
        }
    }
    Ok(())
}

impl BoundedLoss {
    /// One chain of so many steps, each with noise of sd `sigma` on gradients of `batch` rows, or all. Replaced rows alone.
    pub fn sampled_claim(&self, iterations: u64, batch: Option<u64>, clip: f64, sigma: f64) -> Claim {
        let rows = self.records.rows;
        let least = rows.exactly.unwrap_or(rows.at_least).max(1);
        let share = batch.map_or(1.0, |batch| stated_up(div_up(count_up(batch), count_down(least))).min(1.0));
        let mu = quotient_up(larger(clip).map(|clip| clip.times(&Amount::whole(2))), smaller(sigma));
        let step = if share < 1.0 { Claim::Renyi(vec![Pair::Sampled { share, mu }]) } else { Claim::Gdp { mu } };
        step.each(iterations)
    }
}
