//! The posterior given noisy counts or a noisy sum: it accounts for the noise, so its intervals are honest.
//!
//! ## Shape
//! `posterior(p)` of a Beta prior with Bernoulli or binomial rows, or bounded geometric or negative binomial ones of a public number, a
//! Dirichlet prior with categorical or multinomial rows, or a Gamma prior with bounded Poisson rows, all integers; of a normal prior with normal rows of known sd and a bounded
//! outcome, or a Gamma prior with exponential rows, gamma rows of known shape, or normal rows of known mean whose precision it is, with a bounded
//! outcome; `noise_aware(eps =)` or `noise_aware(rho =)`, of a normal mean of a secret number of rows by `rho` only. A vector of means with a normal prior of `multi_normal` rows of known covariance; weights with a normal prior of rows `normal(dot(w, x), sd)` with bounded
//! private features and a bounded outcome: both by `noise_aware(rho =)` only.
//!
//! ## Claim
//! The counts leave once with integer noise: discrete Laplace of scale `D1 / eps`, pure eps, or discrete Gaussian with
//! `sigma^2 = D2^2 / (2 rho)`, rho-zCDP (§8.7). With d the items of one unit: where n is public and two levels share it, one
//! count leaves (D1 = D2 = d); with more levels all of them (D1 = 2 d, D2 = sqrt(2) d); where n is secret all of them, and a
//! unit only enters (D1 = D2 = d), but for a rate, whose sum and number of rows both leave, at half of eps or rho each. In groups of a private
//! key, whose sizes are secret, all counts leave, with noise for a unit that is exchanged; one that leaves a group and enters another costs as much. Of numbers of failures
//! their sum leaves, d the largest of them. Of a
//! regression the sums of `x x'` (i <= j) and of `x y` leave, at rho / 2 each: D2 = sqrt(2) c^2 and 2 c |y| times the rows of a
//! unit, c the largest norm of x. Of a normal mean the sum of the outcomes leaves, each moved into its range `[lo, hi]` and
//! onto a public grid, with noise of whole steps: D1 = D2 = (hi - lo) times the rows of a unit. So does that of waiting times, and that of squared deviations
//! from a known mean, of which lo and hi are the least and the largest; of vectors every component, D2 their diameter. Where n is secret the sum of
//! normal rows counts from the middle of their range, so a unit that enters moves it by half as much (D2 = k (hi - lo) / 2), and the number of rows leaves too (D2 = k),
//! at half of rho each; in groups of a private key at a quarter of rho each, as one that leaves a group and enters another pays twice. Everything after is computed
//! from what left: the posterior given the noisy counts, a mixture of conjugate posteriors over the counts that may stand
//! behind them (§15).
//!
//! ## Refuses
//! Outcomes without bounds, or where counts are needed not whole numbers; a secret number of rows, or groups of a private key, but for categories, Bernoulli,
//! binomial, multinomial and Poisson rows, and a normal mean: the posterior needs it.
//!
//! ## Checked by
//! The law of the noise on all neighbouring data sets; double sums; coverage of its intervals over simulated data sets.

use super::counts;
use super::noisy::{pair, secret_rate};
use super::{linear, means, normal, rates, secret_mean};
use crate::rules::arguments::{Arg, Mechanism};
use crate::rules::offer::Offer;
use crate::rules::{Answers, Match, Question, Rule, offers};

static MECHANISM: Mechanism = Mechanism::new("noise_aware", &[Arg::EPS, Arg::RHO]);

pub static RULE: Rule = Rule {
    name: "noise_aware",
    summary: "the posterior given noisy counts or a noisy sum, which accounts for the noise",
    section: "15",
    source: include_str!("noise_aware.rs"),
    answers: Answers::Posteriors,
    mechanisms: &[&MECHANISM],
    judge: |question| offers(find(question)),
};

fn find(question: &Question) -> Match<Vec<Box<dyn Offer>>> {
    question.arguments(&MECHANISM).not_both("eps", "rho", "`eps` and `rho` are two kinds of noise")?;
    if let Some(regression) = linear::find(&RULE, question)? {
        return Ok(linear::noisy(regression));
    }
    if let Some(sum) = means::find(&RULE, question)? {
        return Ok(sum.noisy(true, true));
    }
    if let Some(sum) = normal::find(&RULE, question)? {
        return Ok(secret_mean::find(&sum, question).unwrap_or_else(|| sum.pair(true)));
    }
    if let Some(sum) = rates::find(&RULE, question)? {
        return Ok(sum.pair(true));
    }
    let mut counts = counts::find(&RULE, question, true)?;
    if counts.failures.is_some() {
        counts.public_rows(question, ("each of {n} rows is so many successes", "the posterior that accounts for the noise needs {n}"))?;
    } else {
        counts.exchanged = question.secret_groups && counts.rows_are_public();
    }
    if counts.summed && !counts.rows_are_public() {
        return Ok(secret_rate(&counts, question));
    }
    Ok(pair(&counts, true, question))
}
