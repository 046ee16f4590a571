//! What dpm decides for a program with one release, without data.

use super::mechanisms::Mechanism;
use dpm::analyze::Chosen;
use dpm::check::NoFiles;
use dpm::mechanism::OsBits;
use dpm::mechanism::plan::MechanismPlan;
use dpm::pipeline;
use dpm::run::{Bound, posterior_of};

pub fn chosen(text: &str) -> Chosen {
    let checked = pipeline::check("figure.dpm", text, &NoFiles);
    let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect();
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    analysis.unwrap().releases[0].chosen.clone().unwrap()
}

/// A parameter of the mechanism, if it has one of this name.
pub fn parameter(chosen: &Chosen, name: &str) -> Option<f64> {
    chosen.parameters.iter().find(|p| p.name == name).map(|p| p.value)
}

/// Means of whole posteriors of a file, which is read once: so many releases, each with noise of its own.
pub fn posterior_means(text: &str, file: &str, times: u64) -> Vec<Vec<f64>> {
    let mechanism = Mechanism::new(text);
    let Some(MechanismPlan::Whole { law, .. }) = chosen(text).plan else { panic!("{text}") };
    let (measured, bits) = (mechanism.measure(file), &mut OsBits::new().unwrap());
    let mut one = || {
        let released = mechanism.draw(&measured, bits).unwrap();
        posterior_of(&law, &released, true, bits).unwrap().mean()
    };
    (0..times).map(|_| one()).collect()
}
