//! Entries of a ledger: their canonical text, and the chain of hashes that binds each to all before it.

use super::budget::Budget;
use super::claims;
use super::hex::hex;
use super::key::ChainKey;
use super::policy::Policy;
use crate::numeric::Amount;
use crate::privacy::Claim;
use crate::privacy::canonical::canonical;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The form of entries: the hashes of the first, of an earlier version, had no key.
pub const FORMATS: [&str; 2] = ["1", "2"];

/// One line of the ledger. Only public facts, every number as decimal text, no time of day: nothing refills a budget.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Entry {
    /// The first entry, and no other.
    Open {
        format: String,
        /// Random name of the ledger.
        ledger: String,
        /// Where it lives: [`super::place`].
        place: String,
    },
    Dataset(Registration),
    /// The owner declares a registered data set anew.
    Declare {
        dataset: String,
        declaration: Declaration,
    },
    /// The owner sets the rules of a registered data set.
    Policy {
        dataset: String,
        policy: Policy,
    },
    /// The owner approves one program.
    Approve {
        /// Digest of its certificate or plan.
        certificate: String,
    },
    /// From here on the head is also kept at this path, and a ledger behind it is not used.
    Witness {
        location: String,
        /// The path is that of a command of the owner's, which keeps it and gives it back.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        command: bool,
    },
    /// The public key of the ledger, which signs records of runs.
    Key {
        public: String,
    },
    /// Budget is spent from here on, whatever happens next.
    Reserve {
        run: String,
        /// Who asked, by the name that the run was given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        analyst: Option<String>,
        /// Digest of the certificate that runs.
        certificate: String,
        charges: Vec<Charge>,
    },
    /// The owner put another file in the place of a registered one: same people, same declaration, same budget.
    Extend {
        dataset: String,
        location: String,
        salt: String,
        commitment: String,
    },
    /// The run with this reservation ended with its releases.
    Commit {
        run: String,
    },
    /// The owner moved the file.
    Moved {
        place: String,
    },
}

/// A data set as its owner registered it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    pub id: String,
    /// What programs may read of it. Only a ledger of an earlier version has none, and is not charged before its owner declares it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declaration: Option<Declaration>,
    /// Of an earlier version: what programs had to declare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    pub budget: String,
    /// Where the file was; what it holds is bound by the commitment.
    pub location: String,
    /// 32 random bytes in hexadecimal.
    pub salt: String,
    /// SHA-256 of the salt and the SHA-256 of the salt and the file.
    pub commitment: String,
}

/// A table as the language declares it, whose narrowings programs may declare.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Its name in the text.
    pub table: String,
    /// A program of nothing but private tables.
    pub text: String,
}

/// What a run costs one data set.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    pub dataset: String,
    pub claim: Value,
    /// The cost of the claim alone in every component of the budget.
    pub amounts: BTreeMap<String, String>,
}

impl Charge {
    pub fn new(dataset: &str, budget: &Budget, claim: &Claim) -> Option<Charge> {
        let costs = budget.cost(claim)?;
        let amounts = budget.components().into_iter().zip(costs).map(|((name, _), cost)| (name, cost.to_string()));
        Some(Charge { dataset: dataset.into(), claim: claims::encode(claim), amounts: amounts.collect() })
    }

    /// The amounts in the order of the budget's components; `None` if they are not exactly those.
    pub fn amounts(&self, budget: &Budget) -> Option<Vec<Amount>> {
        let components = budget.components();
        let read = |name: &String| Amount::parse(self.amounts.get(name)?).filter(|a| !a.is_zero());
        let found: Vec<Amount> = components.iter().map(|(name, _)| read(name)).collect::<Option<_>>()?;
        (self.amounts.len() == found.len()).then_some(found)
    }
}

impl Entry {
    /// Sorted keys, no spaces: what is hashed.
    pub fn text(&self) -> String {
        canonical(&serde_json::to_value(self).unwrap_or_default())
    }

    /// `None` for unknown or missing fields, and for text in any other form.
    pub fn read(text: &str) -> Option<Entry> {
        let entry: Entry = serde_json::from_str(text).ok()?;
        (entry.text() == text).then_some(entry)
    }
}

/// The hash of an entry, which binds its text, its place and everything before it; with a key nobody else makes it.
pub fn chain(key: Option<&ChainKey>, previous: &str, index: u64, text: &str) -> String {
    let [plain, keyed] = FORMATS;
    match key {
        None => hex(&Sha256::digest(format!("dpm ledger {plain}\n{index}\n{previous}\n{text}"))),
        Some(key) => hex(&key.authenticate(&format!("dpm ledger {keyed}\n{index}\n{previous}\n{text}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back() {
        let budget = Budget::parse("rdp(order = [2, 8], eps = [1, 2])").unwrap();
        let claim = Claim::Zcdp { rho: 0.1 };
        let charge = Charge::new("staff", &budget, &claim).unwrap();
        assert_eq!(charge.amounts(&budget).unwrap(), budget.cost(&claim).unwrap());
        let entries = [
            Entry::Open { format: "1".into(), ledger: "00".into(), place: "p".into() },
            Entry::Dataset(Registration {
                id: "staff".into(),
                declaration: Some(Declaration { table: "staff".into(), text: "private staff[n] { a: bool }\n".into() }),
                relation: None,
                unit: None,
                budget: budget.to_string(),
                location: "/a \"b\"\n".into(),
                salt: "00".into(),
                commitment: "11".into(),
            }),
            Entry::Reserve { run: "r".into(), analyst: None, certificate: "c".into(), charges: vec![charge.clone()] },
            Entry::Reserve { run: "r".into(), analyst: Some("ana".into()), certificate: "c".into(), charges: vec![charge] },
            Entry::Extend { dataset: "staff".into(), location: "/b".into(), salt: "22".into(), commitment: "33".into() },
            Entry::Declare {
                dataset: "staff".into(),
                declaration: Declaration { table: "t".into(), text: "private t[n] { a: bool }".into() },
            },
            Entry::Policy { dataset: "staff".into(), policy: Policy { until: Some("2027-12-31".into()), ..Policy::default() } },
            Entry::Approve { certificate: "c".into() },
            Entry::Witness { location: "/mnt/w".into(), command: false },
            Entry::Witness { location: "/usr/local/bin/keep".into(), command: true },
            Entry::Key { public: "aa".into() },
            Entry::Commit { run: "r".into() },
            Entry::Moved { place: "q".into() },
        ];
        for entry in entries {
            let text = entry.text();
            assert_eq!(Entry::read(&text), Some(entry));
            assert_eq!(Entry::read(&text.replacen('{', "{\"extra\":\"1\",", 1)), None);
            assert_eq!(Entry::read(&text.replacen('{', "{ ", 1)), None);
        }
        assert_eq!(Entry::read("{\"kind\":\"refund\",\"run\":\"r\"}"), None);
    }

    #[test]
    fn the_chain_binds_text_place_and_past() {
        let (key, other) = (ChainKey::of(&[1; 32]), ChainKey::of(&[2; 32]));
        let plain = [("a", 1, "x"), ("a", 1, "y"), ("a", 2, "x"), ("b", 1, "x")].map(|(p, i, t)| chain(None, p, i, t));
        let keyed = [("a", 1, "x"), ("a", 1, "y"), ("a", 2, "x"), ("b", 1, "x")].map(|(p, i, t)| chain(Some(&key), p, i, t));
        let all = [&plain[..], &keyed[..], &[chain(Some(&other), "a", 1, "x")]].concat();
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
        // Known answer: SHA-256 of the same text by another program.
        assert_eq!(chain(None, "", 0, ""), hex(&Sha256::digest(b"dpm ledger 1\n0\n\n")));
    }
}
