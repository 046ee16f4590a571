//! What the owner of a data set allows beside its budget: how sure a guarantee must be, by which mechanisms, until when.

use crate::numeric::calendar;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How sure a guarantee is, surest last. Each is the word that certificates use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Least {
    /// A release may rest on a chain that converged, in programs that the owner approved one by one.
    #[default]
    Conditional,
    Certified,
    Exact,
}

impl Least {
    pub fn parse(text: &str) -> Option<Least> {
        Some(match text {
            "exact" => Least::Exact,
            "certified" => Least::Certified,
            "conditional" => Least::Conditional,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Least::Conditional => "conditional",
            Least::Certified => "certified",
            Least::Exact => "exact",
        }
    }
}

/// The rules of one data set; the default allows every program but those that assume convergence and were not approved.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    pub least: Least,
    /// No program runs that the owner did not approve.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
    /// Mechanisms by name; empty where all are allowed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mechanisms: BTreeSet<String>,
    /// The last day, as `2027-12-31`; a clock that is set back is not found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Budgets of analysts by name, each within that of the data set; empty where nobody is named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shares: BTreeMap<String, String>,
}

/// A certified program that asks to run.
#[derive(Clone, Default, Debug)]
pub struct Intended {
    /// Digest of its certificate.
    pub certificate: String,
    /// Digest of the plan that runs, if it is one.
    pub plan: Option<String>,
    /// Mechanism and status of every release.
    pub releases: Vec<(String, String)>,
    /// Who asks, by a name that is believed.
    pub analyst: Option<String>,
}

impl From<&str> for Intended {
    fn from(certificate: &str) -> Intended {
        Intended { certificate: certificate.into(), ..Intended::default() }
    }
}

impl Policy {
    /// Why a program may not run on a data set on this day, in words; all of it is public.
    pub fn refuses(&self, run: &Intended, approved: bool, dataset: &str, today: f64) -> Option<String> {
        if let Some(last) = self.until.as_deref().filter(|last| calendar::parse(last.as_bytes()).is_none_or(|day| today > day)) {
            return Some(format!("its last day was {last}"));
        }
        for (mechanism, status) in &run.releases {
            // A status that is not known is the least sure one.
            let status = Least::parse(status).unwrap_or_default();
            if status < self.least {
                return Some(format!("a release by `{mechanism}` is {}, and must be {} at least", status.name(), self.least.name()));
            }
            if !self.mechanisms.is_empty() && !self.mechanisms.contains(mechanism) {
                let allowed: Vec<&str> = self.mechanisms.iter().map(String::as_str).collect();
                return Some(format!("a release is by `{mechanism}`, and may be by {}", allowed.join(", ")));
            }
            if status == Least::Conditional && !approved && !self.approved {
                return Some(format!(
                    "a release by `{mechanism}` assumes that a chain converged. The owner of `{dataset}` may approve this very program:    dpm ledger approve PATH {}",
                    run.certificate
                ));
            }
        }
        let unapproved = self.approved && !approved;
        unapproved.then(|| format!("its owner approves programs one by one:    dpm ledger approve PATH {}", run.certificate))
    }

    /// In words, for people; empty for the default.
    pub fn words(&self) -> String {
        let mut words = vec![];
        if self.least != Least::Conditional {
            words.push(format!("releases are {} at least", self.least.name()));
        }
        if self.approved {
            words.push("only approved programs run".into());
        }
        if !self.mechanisms.is_empty() {
            words.push(format!("by {}", self.mechanisms.iter().map(String::as_str).collect::<Vec<_>>().join(", ")));
        }
        if let Some(last) = &self.until {
            words.push(format!("until {last}"));
        }
        for (name, share) in &self.shares {
            words.push(format!("{name} may spend {share}"));
        }
        words.join("; ")
    }
}

/// Today, UTC, as a day of the calendar; a clock before 1970 is taken for the last day there is, so that nothing runs.
pub fn today() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(calendar::LAST, |s| (s.as_secs() / 86_400) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_refuses_what_it_names_and_nothing_else() {
        let run = |mechanism: &str, status: &str| Intended {
            certificate: "d".into(),
            releases: vec![(mechanism.into(), status.into())],
            ..Intended::default()
        };
        let day = calendar::parse(b"2027-06-01").unwrap();
        let refused = |policy: &Policy, run: &Intended, approved: bool| policy.refuses(run, approved, "staff", day).is_some();
        let any = Policy::default();
        assert!(!refused(&any, &run("laplace", "exact"), false) && !refused(&any, &run("gibbs", "certified"), false));
        assert!(refused(&any, &run("nuts", "conditional"), false) && !refused(&any, &run("nuts", "conditional"), true));
        assert!(refused(&any, &run("nuts", "a word of a later version"), false));
        let one_by_one = Policy { approved: true, ..Policy::default() };
        for program in [run("laplace", "exact"), run("nuts", "conditional")] {
            assert!(refused(&one_by_one, &program, false) && !refused(&one_by_one, &program, true));
        }
        let certified = Policy { least: Least::Certified, ..Policy::default() };
        assert!(refused(&certified, &run("nuts", "conditional"), true) && !refused(&certified, &run("gibbs", "certified"), false));
        let exact = Policy { least: Least::Exact, ..Policy::default() };
        assert!(refused(&exact, &run("gibbs", "certified"), false) && !refused(&exact, &run("laplace", "exact"), false));
        let named = Policy { mechanisms: ["laplace".to_owned()].into(), ..Policy::default() };
        assert!(refused(&named, &run("gaussian", "exact"), false) && !refused(&named, &run("laplace", "exact"), false));
        for (last, fits) in [("2027-05-31", false), ("2027-06-01", true), ("2027-06-31", false), ("soon", false)] {
            let policy = Policy { until: Some(last.into()), ..Policy::default() };
            assert_eq!(!refused(&policy, &run("laplace", "exact"), false), fits, "{last}");
        }
    }
}
