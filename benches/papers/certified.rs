//! What dpm decides for a program with one release, without data.

use dpm::analyze::Chosen;
use dpm::check::NoFiles;
use dpm::pipeline;
use dpm::run::Bound;

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
