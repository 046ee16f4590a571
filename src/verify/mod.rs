//! `dpm verify`: a certificate checked by code that shares nothing with the code that made it.
//!
//! From the facts of the certificate (tables, normal form, parameters) the whole certificate is written once more, and the
//! two are compared field by field.

mod bounded;
mod claim;
mod compare;
mod curve;
mod delta;
mod design;
mod draw;
mod facts;
mod glm;
mod hellinger;
mod laws;
mod loss;
mod matrix;
mod orders;
mod pair;
mod reader;
mod real;
mod rules;
mod scope;
mod seal;
mod special;
mod steps;
mod text;
mod ty;
mod value;
mod whole;

pub use seal::{digest, seals, sha256, signature, signed_text};

use claim::Claim;
use facts::{Checked, Facts, at, list, must, number};
use serde_json::{Map, Value, json};
use steps::Costs;

/// What is wrong, and where in the certificate.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    pub path: String,
    pub text: String,
}

/// What the certificate is held against besides itself.
#[derive(Clone, Copy, Default)]
pub struct Against<'a> {
    /// The text of the program.
    pub program: Option<&'a str>,
    /// The public key of the signer, PEM.
    pub key: Option<&'a str>,
}

/// Checks certificates; keeps what it computed for the next one.
#[derive(Default)]
pub struct Verifier(());

const ORDERS: [f64; 16] = [1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 32.0, 64.0, 128.0, 256.0];
/// How far above the truth a number may lie, relative.
const ABOVE: f64 = 1e-6;
/// By conversion, where the least epsilon is searched for.
const ABOVE_CONVERTED: f64 = 0.01;

impl Verifier {
    /// Every failure found in a certificate, or in the certificate of a plan; none if all of it can be trusted.
    pub fn verify(&self, file: &Value, against: Against) -> Vec<Failure> {
        let all = file.get("certificate").filter(|c| c.is_object()).unwrap_or(file);
        let mut failures = vec![];
        let mut fail = |path: String, text: String| failures.push(Failure { path, text });
        if let Err(why) = seal::signature(all, against.key) {
            fail("signature".into(), why.into());
        }
        if against.program.is_some_and(|p| all.pointer("/program/source").and_then(Value::as_str) != Some(p)) {
            fail("program.source".into(), "is not the program given".into());
        }
        if all.get("digest") != Some(&digest(all).into()) {
            fail("digest".into(), "is not the digest of the certificate".into());
            return failures;
        }
        match self.again(all) {
            Ok(again) => compare::compare(&again, all, "", "", &mut fail),
            Err((path, text)) => fail(path, text),
        }
        failures
    }

    /// The certificate that these facts carry.
    fn again(&self, all: &Value) -> Checked<Value> {
        let facts = Facts::read(all)?;
        let table = |i: usize| facts.table_of(i).map_or("", |t| t.name.as_str());
        let costs = Costs { one: &|i, place| facts.claim(i, place), table: &table, unit: &|name| facts.unit(name) };
        let total = costs.of(&facts.steps, None, &|_| true).map_err(|why| ("total.claim".to_owned(), why.to_owned()))?;
        let asked = Asked::of(at(all, "/total/profile"), &total);
        let mut releases = vec![];
        for (i, r) in list(&all["releases"]).iter().enumerate() {
            let claim = costs.of(&facts.steps, None, &|j| j == i).map_err(|why| (format!("releases[{i}].rule"), why.to_owned()))?;
            let mut release = facts.release(i, r)?;
            release.insert("claim".into(), claim.to_json());
            release.insert("profile".into(), self.profile(&claim, &asked, &r["profile"]));
            releases.push(release);
        }
        let source = at(all, "/program/source").as_str().unwrap_or_default();
        Ok(json!({
            "certificate": 1,
            "dpm": env!("CARGO_PKG_VERSION"),
            "rulebook": "1",
            "program": {
                "file": must(at(all, "/program/file"), Value::is_string),
                "sha256": seal::sha256(source.as_bytes()),
                "source": source,
                "normal_form": at(all, "/program/normal_form"),
            },
            "tables": list(&all["tables"]).iter().map(facts::table).collect::<Value>(),
            "public": facts::public(&all["public"]),
            "steps": steps::to_json(&facts.steps),
            "releases": releases,
            "total": {"status": facts.status(), "claim": total.to_json(), "profile": self.profile(&total, &asked, at(all, "/total/profile"))},
            "budget": self.budget(&total, &all["budget"]),
            "assumptions": list(&all["assumptions"]).iter().map(|a| must(a, Value::is_string)).collect::<Value>(),
            "digest": digest(all),
            "signature": all["signature"],
        }))
    }

    /// Bounds of every kind.
    fn profile(&self, claim: &Claim, asked: &Asked, stated: &Value) -> Value {
        let (bounds, limit) = (claim.bounds(), claim.limit().stated_limit());
        let orders = ORDERS.iter().filter(|o| **o < limit).chain(asked.orders.iter().filter(|o| !ORDERS.contains(o) || **o >= limit));
        let rdp = |(i, o): (usize, &f64)| {
            // Where doubles are enough to prove what is stated, nothing else is computed.
            let said = number(at(stated, &format!("/rdp/{i}/epsilon"))).filter(|_| *o < limit);
            let near = said.zip(claim.rdp_above(o.next_up())).filter(|(said, above)| above <= said && *said <= above * (1.0 + 0.5 * ABOVE));
            let epsilon = near.map_or_else(|| if *o < limit { claim.rdp(*o).amount() } else { f64::INFINITY }, |(_, above)| above);
            json!({"order": o, "epsilon": if epsilon.is_finite() { json!(epsilon) } else { json!("inf") }})
        };
        let mut deltas = vec![1e-5, 1e-6];
        deltas.extend(&asked.deltas);
        let dp = |(i, delta): (usize, f64)| json!({"delta": delta, "epsilon": self.epsilon(claim, delta, at(stated, &format!("/dp/{i}/epsilon")))});
        json!({
            "pure": bounds.pure.amount(),
            "bounded_range": bounds.range.amount(),
            "zcdp": bounds.zcdp.amount(),
            "gdp": bounds.gdp.amount(),
            "max_order": limit,
            "rdp": orders.enumerate().map(rdp).collect::<Value>(),
            "dp": deltas.into_iter().enumerate().map(dp).collect::<Value>(),
        })
    }

    /// The epsilon that is stated, if it is proved at this delta and a little less is not.
    fn epsilon(&self, claim: &Claim, delta: f64, stated: &Value) -> Value {
        let e = number(stated).unwrap_or(f64::NAN);
        let above =
            if matches!(claim, Claim::Gdp(_) | Claim::Range(_) | Claim::Pure(_) | Claim::Laplace(_)) { ABOVE } else { ABOVE_CONVERTED };
        let least = e == 0.0 || claim.needs(e.min(f64::MAX) * (1.0 - above), delta);
        let proved = e == f64::INFINITY || claim.proves(e, delta);
        if proved && least { stated.clone() } else { json!({"wanted": "what the claim proves"}) }
    }

    /// The budget with its own fields, and whether the total meets it.
    fn budget(&self, total: &Claim, b: &Value) -> Value {
        let (amount, key) = match b["kind"].as_str() {
            Some("eps") => ("epsilon", None),
            Some("dp") => ("epsilon", Some("delta")),
            Some("zcdp") => ("rho", None),
            Some("gdp") => ("mu", None),
            Some("rdp") => ("epsilon", Some("order")),
            _ => return Value::Null,
        };
        let numbers = |v: &Value| if v.is_array() { list(v).iter().filter_map(number).collect() } else { Vec::from_iter(number(v)) };
        let (limits, keys) = (numbers(&b[amount]), key.map_or(vec![], |k| numbers(&b[k])));
        let (bounds, rows) = (total.bounds(), keys.iter().copied().chain(std::iter::repeat(0.0)));
        let met = limits.iter().zip(rows).all(|(limit, key)| match b["kind"].as_str() {
            Some("zcdp") => bounds.zcdp.amount() <= *limit,
            Some("gdp") => bounds.gdp.amount() <= *limit,
            Some("rdp") => key > 1.0 && total.rdp(key).amount() <= *limit,
            _ => total.proves(*limit, key),
        });
        let sane = |v: &Value| v.is_number() || (v.is_array() && limits.len() == keys.len() && limits.len() > 1);
        let mut again = Map::from_iter([("kind".to_owned(), b["kind"].clone()), (amount.to_owned(), must(&b[amount], sane))]);
        again.extend(key.map(|k| (k.to_owned(), must(&b[k], sane))));
        again.insert("met".into(), (met && !limits.is_empty()).into());
        again.into()
    }
}

/// Orders and deltas that were asked for: those of the total beyond the usual ones.
struct Asked {
    orders: Vec<f64>,
    deltas: Vec<f64>,
}

impl Asked {
    fn of(profile: &Value, total: &Claim) -> Asked {
        let limit = total.limit().stated_limit();
        let usual = ORDERS.iter().filter(|o| **o < limit).count();
        let numbers = |rows: &str, key: &str, from: usize| list(&profile[rows]).iter().skip(from).filter_map(|e| number(&e[key])).collect();
        let (mut orders, mut deltas): (Vec<f64>, Vec<f64>) = (numbers("rdp", "order", usual), numbers("dp", "delta", 2));
        // What is asked for twice is stated once.
        let (mut seen, mut known) = (vec![], vec![1e-5, 1e-6]);
        let first = |x: f64, seen: &mut Vec<f64>| {
            let new = !seen.contains(&x);
            seen.push(x);
            new
        };
        orders.retain(|o| *o > 1.0 && (!ORDERS.contains(o) || *o >= limit) && first(*o, &mut seen));
        deltas.retain(|d| *d > 0.0 && *d < 1.0 && first(*d, &mut known));
        Asked { orders, deltas }
    }
}
