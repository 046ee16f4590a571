//! Pages on the distributions: their records.

use super::{Kind, Page, fenced};
use crate::dist::{ArgKind, Distribution, Support};
use crate::model::Range;

pub fn pages() -> Vec<Page> {
    crate::dist::all().map(page).collect()
}

fn page(d: &Distribution) -> Page {
    let arguments: Vec<&str> = d.args.iter().map(|(name, _)| *name).collect();
    let mut body = format!("Values: {}.\n\nDensity: `{}`.\n\n", support(d.support), d.density);
    for (name, kind) in d.args {
        body.push_str(&format!("- `{name}`: {}\n", argument(*kind)));
    }
    body.push_str(&format!("\n{}", fenced(d.example)));
    Page { kind: Kind::Distribution, name: d.name.into(), summary: format!("{}({}).", d.name, arguments.join(", ")), body }
}

fn support(s: Support) -> String {
    match s {
        Support::Bool => "true and false".into(),
        Support::CountsToFirst => "whole numbers from 0 to the first argument".into(),
        Support::Counts => "whole numbers from 0".into(),
        Support::Categories => "one of as many levels as the argument has components, or as cut points leave".into(),
        Support::CountVector => "vectors of counts that sum to the first argument, or to at most that where the type says so".into(),
        Support::Real(r) => range(r).into(),
        Support::RealVector => "real vectors of the dimension of the first argument".into(),
        Support::Simplex => "vectors of shares that sum to 1, of the dimension of the argument".into(),
        Support::Mixed => "those of its components".into(),
        Support::BetweenArgs => "real numbers between the arguments".into(),
    }
}

fn argument(kind: ArgKind) -> String {
    match kind {
        ArgKind::Scalar(r) => range(r).into(),
        ArgKind::Trials => "a constant whole number, at least 1".into(),
        ArgKind::Simplex => "shares that sum to 1".into(),
        ArgKind::Vector => "a vector of real numbers".into(),
        ArgKind::Ordered => "increasing numbers, such as a parameter of type `ordered[d]`".into(),
        ArgKind::PositiveVector => "a vector of positive numbers".into(),
        ArgKind::Weights => "shares, or a list of numbers of at least 0, which are divided by their sum; one for each component".into(),
        ArgKind::Components => "two distributions or more, one after the other: all of densities, or all of probabilities".into(),
        ArgKind::Matrix => "a public positive definite matrix, as a list of rows".into(),
    }
}

fn range(r: Range) -> &'static str {
    match (r.lo, r.hi) {
        (0.0, 1.0) => "a real number from 0 to 1",
        (0.0, _) => "a positive real number",
        _ => "a real number",
    }
}
