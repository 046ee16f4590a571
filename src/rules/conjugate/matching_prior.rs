//! The conjugate prior with the mean and spread of the one a user wrote, for the Help of E0302.

use super::deviation_of;
use super::facts::tidy;
use crate::model::{DistCall, Parameter};
use crate::rules::text::four_near;

/// A conjugate prior that matches another's mean and standard deviation.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchingPrior {
    /// `beta(3, 12)`
    pub text: String,
    /// The conjugate shape in general: `beta(a, b)`.
    pub shape: &'static str,
    pub mean: f64,
    pub sd: f64,
}

impl MatchingPrior {
    /// `beta(3, 12) has the same mean 0.2 and sd 0.1`
    pub fn sentence(&self) -> String {
        format!("{} has the same mean {} and sd {}", self.text, tidy(self.mean), tidy(self.sd))
    }
}

/// The conjugate prior of `likelihood` with the mean and sd of the parameter's prior, as written (before a domain cuts it);
/// `None` where the likelihood has none, an argument is not a constant, or no member has these moments.
pub fn matching_prior(parameter: &Parameter, likelihood: &DistCall) -> Option<MatchingPrior> {
    let (mean, sd) = moments(&parameter.prior)?;
    let (text, shape) = match likelihood.name() {
        "bernoulli" | "binomial" | "geometric" | "neg_binomial" => {
            let total = mean * (1.0 - mean) / (sd * sd) - 1.0;
            let (a, b) = (mean * total, (1.0 - mean) * total);
            if !(0.0 < mean && mean < 1.0 && total > 0.0) {
                return None;
            }
            (format!("beta({}, {})", four_near(a), four_near(b)), "beta(a, b)")
        }
        "normal" if likelihood.args.iter().any(|sd| deviation_of(sd, parameter.id)) => rate(mean, sd)?,
        "poisson" | "exponential" => rate(mean, sd)?,
        "normal" => (format!("normal({}, {})", four_near(mean), four_near(sd)), "normal(m0, s0)"),
        _ => return None,
    };
    Some(MatchingPrior { text, shape, mean, sd })
}

/// The gamma law of these moments.
fn rate(mean: f64, sd: f64) -> Option<(String, &'static str)> {
    let rate = mean / (sd * sd);
    (mean > 0.0).then(|| (format!("gamma({}, {})", four_near(mean * rate), four_near(rate)), "gamma(a, b)"))
}

/// Mean and standard deviation of a distribution with constant arguments.
pub(crate) fn moments(prior: &DistCall) -> Option<(f64, f64)> {
    let args: Option<Vec<f64>> = prior.args.iter().map(|a| a.constant()).collect();
    let (mean, variance) = (prior.family.moments)(&args?)?;
    (mean.is_finite() && variance.is_finite() && variance > 0.0).then(|| (mean, variance.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::Build;

    #[test]
    fn the_help_of_the_manual() {
        let b = Build::prior("normal", &[0.2, 0.1]).bernoulli();
        let found = matching_prior(&b.model.parameters[0], &b.model.private[0].likelihood).unwrap();
        assert_eq!(found.sentence(), "beta(3, 12) has the same mean 0.2 and sd 0.1");
    }

    #[test]
    fn only_where_a_member_has_the_moments() {
        let b = Build::prior("normal", &[0.2, 0.9]).bernoulli();
        assert_eq!(matching_prior(&b.model.parameters[0], &b.model.private[0].likelihood), None);
        let b = Build::prior("uniform", &[0.0, 10.0]).observe("poisson", &[]);
        let found = matching_prior(&b.model.parameters[0], &b.model.private[0].likelihood).unwrap();
        assert_eq!(found.text, "gamma(3, 0.6)");
        let b = Build::prior("cauchy", &[0.0, 1.0]).bernoulli();
        assert_eq!(matching_prior(&b.model.parameters[0], &b.model.private[0].likelihood), None);
    }
}
