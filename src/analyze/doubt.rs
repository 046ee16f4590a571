//! W0513: predicted errors that rest on what public facts do not show, and may be off by more than two times.

use super::counted::counted;
use super::scene::Scene;
use super::solve::solve;
use super::useless::whole;
use crate::numeric::decimal::{sig, sig_up};
use crate::rules::offer::{Doubt, Offer, PredictedError};
use crate::rules::tempered::DIFFUSE;
use crate::source::{Diagnostic, Help};

/// W0513, where a prediction has a doubt.
pub fn found(scene: &Scene, offer: &dyn Offer, value: f64) -> Option<Diagnostic> {
    let predicted = offer.predicted_error(value);
    let (doubt, about) = (predicted.doubt?, sig(predicted.value, 3));
    let try_it = "try the program before it spends: on a public table like yours, or on rows that you make up";
    let (label, cause, help) = match doubt {
        Doubt::Features { least, most } => (
            format!("predicted error {about}; between {} and {} for most tables, larger for some", sig(least, 2), sig(most, 2)),
            "how much a row says about the weights depends on how the features vary and correlate, which their bounds do not show",
            vec![try_it.into(), "the narrower the public bounds of the columns, the further `design(..)` spreads them".into()],
        ),
        Doubt::Rows => (
            format!("predicted error {about}, if a row tells as much as a normal one of sd 1"),
            "how much a row says about the parameters of this model is not known, and the error depends on it",
            vec![try_it.into()],
        ),
        Doubt::Look => (
            format!("predicted error {about}, if features fill their bounds evenly and rows follow the model; 1 at most"),
            "later steps clip rows around a first noisy estimate, which is poor where features vary little or lie close to each other",
            vec![try_it.into()],
        ),
        Doubt::Start => (
            format!("predicted error {about}, that of a draw from the prior"),
            "how far the chain moves is not predicted; if the posterior lies far from the prior, the error can be several times larger",
            roads(scene).into_iter().chain([try_it.into()]).collect(),
        ),
        Doubt::Ties { most } => (
            format!("predicted to be {} rows off, if values are spread evenly", sig(predicted.value, 2)),
            "where many rows share a value, for example a rounded one, answers fall either on it or next to it",
            vec![format!("count on {} rows: 95 % of answers are no further off, whatever the values are", sig_up(most, 3)).into()],
        ),
        Doubt::Prior { least } => (
            format!("predicted error {about}; {} where the truth is the middle of the prior", sig(least, 2)),
            "the narrowed prior pulls the draw towards its middle: the farther the truth is from it, the larger the error",
            unpulled(scene, &predicted).into_iter().collect(),
        ),
    };
    let d = Diagnostic::new("W0513", format!("the predicted error of `{}` may be off by more than a factor of 2", scene.site.release.name));
    Some(d.label(scene.place(), label).cause(cause).helps(help))
}

/// The same model without a chain: released whole, or fitted to noisy counts.
fn roads(scene: &Scene) -> Vec<Help> {
    let posterior = scene.model.as_deref().and_then(|model| whole(scene, model));
    posterior.into_iter().chain(counted(scene).unwrap_or_default()).collect()
}

/// The draw that weakens the rows in place of the prior, where it is predicted to be no worse.
fn unpulled(scene: &Scene, predicted: &PredictedError) -> Option<Help> {
    let judged = scene.plain();
    let other = judged.offers.iter().find(|o| *o.mechanism() == DIFFUSE)?;
    let error = other.predicted_error(solve(scene.site, other.as_ref(), scene.allotment?)?);
    let gives = format!("predicted error {}", sig(error.value, 3));
    (error.value <= predicted.value && error.doubt.is_none()).then(|| ("weaken the rows, not the prior:", "using diffuse", gives).into())
}
