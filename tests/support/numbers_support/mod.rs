//! Certificates of program texts, and plain closed forms to judge them by.

// Every test file uses its own part of this; helpers of tests may fail loudly.
#![allow(dead_code, clippy::panic, clippy::unwrap_used, clippy::indexing_slicing)]

pub mod worst;

use dpm::analyze::{Analysis, Unbound};
use dpm::check::NoFiles;
use dpm::compiled::Given;
use dpm::pipeline;
use dpm::privacy::Claim;
use dpm::privacy::certificate::Certificate;
use dpm::source::render;

/// What the phases made of a program text.
pub struct Certified {
    pub analysis: Analysis,
    pub certificate: Certificate,
}

impl Certified {
    /// The claim of the first release.
    pub fn claim(&self) -> &Claim {
        &self.certificate.releases[0].claim
    }

    pub fn total(&self) -> &Claim {
        &self.certificate.total.claim
    }
}

/// Certifies a program, with further orders and deltas in the profile; any complaint but a warning fails the test.
pub fn certified_at(text: &str, orders: &[f64], deltas: &[f64]) -> Certified {
    let checked = pipeline::check("test.dpm", text, &NoFiles);
    let (analysis, said) = pipeline::analyze(&checked, &Unbound::default(), false);
    let complaint = || format!("{}\n{text}", render::text(&checked.sources, &said, false));
    assert!(!said.iter().any(|d| d.is_error()), "{}", complaint());
    let analysis = analysis.unwrap_or_else(|| panic!("{}", complaint()));
    let certificate = pipeline::certify(&checked, &analysis, orders, deltas).unwrap_or_else(|| panic!("{}", complaint()));
    Certified { analysis, certificate }
}

/// Certifies a program, given the public columns of its table `t`.
pub fn certified_on(text: &str, design: &str) -> Certificate {
    let checked = pipeline::check("t.dpm", text, &NoFiles);
    let given = Given { tables: [("t".to_owned(), design.to_owned())].into(), ..Given::default() };
    let bound = given.bind(&checked.program).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    let (analysis, said) = pipeline::analyze(&checked, &bound, false);
    assert!(!said.iter().any(|d| d.is_error()), "{}\n{text}", render::text(&checked.sources, &said, false));
    pipeline::certify(&checked, &analysis.unwrap(), &[], &[]).unwrap()
}

pub fn certified(text: &str) -> Certified {
    certified_at(text, &[], &[])
}

/// The claim of the first release of a program.
pub fn claim(text: &str) -> Claim {
    certified(text).claim().clone()
}

/// The code of the first error of a program.
pub fn error_of(text: &str) -> &'static str {
    let checked = pipeline::check("test.dpm", text, &NoFiles);
    let (_, said) = pipeline::analyze(&checked, &Unbound::default(), false);
    said.iter().find(|d| d.is_error()).map(|d| d.code).unwrap_or_else(|| panic!("no error in\n{text}"))
}

pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Rényi divergence of order l of members P, Q of an exponential family with log-normaliser `c`; infinite where
/// `l P + (1 - l) Q` lies outside the natural parameters.
pub fn exponential_family(l: f64, p: &[f64], q: &[f64], inside: impl Fn(&[f64]) -> bool, c: impl Fn(&[f64]) -> f64) -> f64 {
    if p == q {
        return 0.0;
    }
    let far: Vec<f64> = p.iter().zip(q).map(|(p, q)| l * p - (l - 1.0) * q).collect();
    if !inside(&far) {
        return f64::INFINITY;
    }
    (c(&far) - l * c(p)) / (l - 1.0) + c(q)
}

/// Between Dirichlet laws; two counts are a Beta law.
pub fn dirichlet(l: f64, p: &[f64], q: &[f64]) -> f64 {
    let normaliser = |a: &[f64]| a.iter().map(|x| ln_gamma(*x)).sum::<f64>() - ln_gamma(a.iter().sum());
    exponential_family(l, p, q, |a| a.iter().all(|x| *x > 0.0), normaliser)
}

/// Between Gamma(shape, rate) laws.
pub fn gamma(l: f64, p: [f64; 2], q: [f64; 2]) -> f64 {
    exponential_family(l, &p, &q, |a| a[0] > 0.0 && a[1] > 0.0, |a| ln_gamma(a[0]) - a[0] * a[1].ln())
}

/// All ways to put `items` items on `d` places.
pub fn histograms(items: u64, d: usize) -> Vec<Vec<u64>> {
    if d == 1 {
        return vec![vec![items]];
    }
    let with = |first: u64| histograms(items - first, d - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    (0..=items).flat_map(with).collect()
}
