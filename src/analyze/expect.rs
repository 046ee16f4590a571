//! Expectations about certificates, judged before any data.

use super::MOST_POINTS;
use super::budget::{against, short};
use super::messages::too_much_work;
use super::report::{Analysis, ReleaseAnalysis};
use crate::model::print::number;
use crate::model::{BudgetKind, Builtin, Expect, Fact, ReleaseId, Step};
use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::{Claim, work};
use crate::source::{Diagnostic, Diagnostics};

/// Judges every `expect` of the program. One about a release without a mechanism is left out: its own complaint says why.
pub fn judge(steps: &[Step], analysis: &Analysis) -> Diagnostics {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Expect(expect) if work::done() > MOST_POINTS => return [found, vec![too_much_work(expect.span)]].concat(),
            Step::Expect(expect) => found.extend(failure(expect, analysis)),
            Step::When { then, otherwise, .. } => {
                found.extend(judge(then, analysis));
                found.extend(judge(otherwise, analysis));
            }
            Step::Each(each) => found.extend(judge(&each.body, analysis)),
            Step::Release(_) | Step::Output { .. } => {}
        }
    }
    found
}

fn failure(expect: &Expect, analysis: &Analysis) -> Option<Diagnostic> {
    let found = match &expect.fact {
        Fact::CostAtMost { release, limit } => {
            let claim = claim_of(analysis, *release)?;
            cost_found(claim, limit)?
        }
        Fact::Field { release, field, compare, value, tolerance } => {
            let claim = claim_of(analysis, *release)?;
            field_found(claim, field, *compare, *value, *tolerance)?
        }
        Fact::RuleIs { release, name } => {
            let rule = analysis.release(*release)?.chosen.as_ref()?.rule.name;
            (rule != name).then(|| format!("the rule is \"{rule}\""))?
        }
        Fact::StatusIs { release, name } => {
            let status = analysis.release(*release)?.chosen.as_ref()?.status.name();
            (status != name).then(|| format!("the status is \"{status}\""))?
        }
        Fact::Checked { holds, found } => (!holds).then(|| found.clone())?,
    };
    Some(Diagnostic::new("E0501", "an expectation does not hold").label(expect.span, found))
}

fn claim_of(analysis: &Analysis, release: Option<ReleaseId>) -> Option<&Claim> {
    match release {
        None => analysis.total.as_ref(),
        Some(id) => {
            let found: Option<&ReleaseAnalysis> = analysis.release(id);
            found?.chosen.as_ref().map(|c| &c.claim)
        }
    }
}

fn cost_found(claim: &Claim, limit: &BudgetKind) -> Option<String> {
    if claim.implies(limit) {
        return None;
    }
    let (costs, allowed) = against(claim, limit);
    Some(format!("{costs}, above {allowed} of {}", short(limit)))
}

fn field_found(claim: &Claim, field: &str, compare: Builtin, value: f64, tolerance: f64) -> Option<String> {
    let limit = field == "max_order";
    let actual = match field {
        "max_order" => claim.max_order(),
        "eps" | "pure" => claim.pure(),
        "bounded_range" => claim.bounded_range(),
        "zcdp" => claim.zcdp(),
        "gdp" => claim.gdp(),
        _ => return Some(format!("a certificate has no field `{field}`: pure, bounded_range, zcdp, gdp, max_order")),
    };
    if holds(actual, compare, value, tolerance, limit) {
        return None;
    }
    let text = if limit { sig_down(actual, 6) } else { sig_up(actual, 6) };
    let text = if actual.is_finite() { text } else { number(actual) };
    Some(format!("{field} is {text}"))
}

/// `==` holds to the digits written: half a unit of the last one; limits are rounded down.
fn holds(actual: f64, compare: Builtin, value: f64, tolerance: f64, limit: bool) -> bool {
    let same = actual == value || (actual - value).abs() <= tolerance || (limit && actual >= value && actual - value < 2.0 * tolerance);
    match compare {
        Builtin::Le => actual <= value,
        Builtin::Lt => actual < value,
        Builtin::Ge => actual >= value,
        Builtin::Gt => actual > value,
        Builtin::Eq => same,
        Builtin::Ne => !same,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_holds_to_the_digits_written() {
        assert!(holds(9.9781, Builtin::Eq, 9.978, 5e-4, true));
        assert!(holds(9.9789, Builtin::Eq, 9.978, 5e-4, true));
        assert!(!holds(9.9789, Builtin::Eq, 9.978, 5e-4, false));
        assert!(!holds(9.9791, Builtin::Eq, 9.978, 5e-4, true));
        assert!(holds(7.0, Builtin::Eq, 7.0, 0.5, true));
        assert!(!holds(f64::INFINITY, Builtin::Eq, 7.0, 0.5, true));
        assert!(holds(f64::INFINITY, Builtin::Ne, 7.0, 0.5, true));
    }
}
