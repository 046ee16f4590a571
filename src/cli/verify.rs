//! `dpm verify`: every number of a certificate once more, by separate code; a plan is also compiled again.

use super::compile::LARGEST;
use super::{Exit, inputs, print_json, sealed, strict};
use crate::analyze::PublicData;
use crate::check::records::{self, Unfit};
use crate::compiled;
use crate::model::Program;
use crate::pipeline::{self, Folder, Unreadable};
use crate::verify::{Against, Failure, Verifier};
use clap::Args;
use serde_json::{Value, json};
use std::path::Path;
use std::path::PathBuf;

#[derive(Args)]
pub struct Verify {
    /// A certificate, or a plan or the result of a run that holds one
    file: PathBuf,
    /// The program it should be a certificate of
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The signer's public key (PEM)
    #[arg(long, value_name = "PUB")]
    key: Option<PathBuf>,
    /// The public columns that a cost rests on, once for each table
    #[arg(long, value_name = "NAME=PATH")]
    public: Vec<String>,
    /// Exactly one JSON value on standard output
    #[arg(long)]
    json: bool,
}

/// The fields of the record of a run, which holds a certificate too.
const RECORD: [&str; 8] = ["releases", "outputs", "laws", "chains", "certificate", "ledger", "seeded", "signature"];

pub fn verify(args: &Verify) -> Exit {
    let read = |path: &Path| {
        let bytes = pipeline::bytes(path, LARGEST);
        bytes.and_then(|b| String::from_utf8(b).map_err(|_| Unreadable::NotText)).map_err(|why| {
            say_line!("error: {}", inputs::unreadable(path, why));
            Exit::Input
        })
    };
    let verified = || -> Result<(Vec<Failure>, Value), Exit> {
        let text = read(&args.file)?;
        let Some(value) = strict::read(&text) else {
            say_line!("error: {} is not JSON, or has a key twice", args.file.display());
            return Err(Exit::Input);
        };
        let program = args.program.as_deref().map(read).transpose()?;
        let key = args.key.as_deref().map(read).transpose()?;
        let plan = value.get("plan").is_some();
        let wrapped = value.get("certificate").is_some_and(Value::is_object);
        // A plan and the record of a run are signed as a whole, the certificate in them is not.
        let against = Against { program: program.as_deref(), key: key.as_deref().filter(|_| !wrapped) };
        let mut failures = Verifier::default().verify(&value, against);
        if wrapped && !plan {
            failures.extend(sealed::failures(&text, key.as_deref()));
        }
        let known = |key: &String| RECORD.contains(&key.as_str());
        if wrapped && !plan && !value.as_object().is_some_and(|map| map.keys().all(known)) {
            failures.push(Failure { path: "certificate".into(), text: "the file is neither a plan nor the record of a run".into() });
        }
        failures.extend(laws(&value));
        if plan {
            let refused = compiled::open(&value, key.as_deref()).err();
            failures.extend(refused.map(|why| Failure { path: format!("plan: {}", why.path), text: why.text }));
        } else if failures.is_empty() {
            failures = words(&value, args)?;
        }
        Ok((failures, value))
    };
    let (failures, value) = match verified() {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let unchecked = unchecked(&value, args.key.is_some());
    let wrapped = value.get("certificate").is_some_and(Value::is_object);
    let signed = value.pointer("/signature/key").and_then(Value::as_str).filter(|_| wrapped);
    let ok = failures.is_empty();
    if args.json {
        let list: Vec<Value> = failures.iter().map(|f| json!({"path": f.path, "text": f.text})).collect();
        print_json(&json!({"ok": ok, "failures": list, "not_checked": unchecked, "signed_by": signed}));
    } else if ok && unchecked.is_empty() {
        show_line!("verified: every number, premise and digest of the certificate");
    } else if ok {
        show_line!("verified: every number, premise and digest of the certificate inside");
        match signed {
            Some(_) if args.key.is_some() => show_line!("the record is signed by the key given: no value in it was altered"),
            Some(key) => {
                show_line!("the record was not altered since {key} signed it");
                show_line!(
                    "not checked: whether that is the key of the ledger    dpm ledger key PATH > ledger.pub    dpm verify FILE --key ledger.pub"
                );
            }
            None => show_line!("not checked: the released values and outputs in the file, which are not tied to the certificate"),
        }
        if unchecked.contains(&"ledger") {
            show_line!("not checked: the entry of the ledger    dpm ledger verify PATH --head INDEX:HASH");
        }
    } else {
        for f in &failures {
            show_line!("{}: {}", f.path, f.text);
        }
    }
    if ok { Exit::Done } else { Exit::Failed }
}

/// Tables of the record of a run that no later program could read; without integer noise none is meant to be.
fn laws(file: &Value) -> Vec<Failure> {
    let laws = file["laws"].as_object().into_iter().flatten();
    let why = |name: &String, law: &Value| match records::table(file, name).err()? {
        Unfit::Shape(why) => Some(why.to_owned()),
        Unfit::NoRecord | Unfit::Unknown(_) => Some("no release has this name".into()),
        Unfit::Noise(why) => Some(why).filter(|_| !law["kind"].is_string()),
    };
    laws.filter_map(|(name, law)| Some(Failure { path: format!("laws.{name}"), text: why(name, law)? })).collect()
}

/// What stands beside the certificate in the record of a run: values that no proof is about, and an entry that is the ledger's.
fn unchecked(file: &Value, key: bool) -> Vec<&'static str> {
    let record = file["certificate"].is_object() && file["plan"].is_null();
    // Signed by a key that the reader knows, values are what its run wrote down; whoever holds another key signs anything.
    let bound = |name: &str| name != "ledger" && key && file["signature"].is_object();
    let beside = |name: &&str| !matches!(*name, "certificate" | "seeded" | "signature") && !file[*name].is_null();
    RECORD.into_iter().filter(|name| record && beside(name) && !bound(name)).collect()
}

/// Where the certificate differs from the one that its program gets here: words, which have no second derivation.
///
/// The products of a public design are not believed: they are computed once more from the file, which has to be given.
fn words(file: &Value, args: &Verify) -> Result<Vec<Failure>, Exit> {
    let certificate = file.get("certificate").filter(|c| c.is_object()).unwrap_or(file);
    let folder = args.program.as_deref().map_or_else(Folder::none, Folder::of);
    let designs = certificate.pointer("/public/designs").and_then(Value::as_array);
    let names: Vec<&str> = designs.into_iter().flatten().filter_map(|d| d["name"].as_str()).collect();
    let given = |name: &str| args.public.iter().any(|p| inputs::pair(p).is_some_and(|(n, _)| n == name));
    if let Some(name) = names.iter().find(|name| !given(name)) {
        let text = format!("the cost rests on the public columns of `{name}`, and they are not given:    --public {name}=PATH");
        return Ok(vec![Failure { path: "public.designs".into(), text }]);
    }
    if let Some(other) = args.public.iter().find(|p| !inputs::pair(p).is_some_and(|(n, _)| names.contains(&n))) {
        return Err(super::usage(&format!("the certificate rests on no public columns of that name: `{other}`")));
    }
    let refused = std::cell::Cell::new(None);
    let files = |program: &Program| match inputs::public(program, &args.public) {
        Ok(bound) => Some(Box::new(bound) as Box<dyn PublicData>),
        Err(exit) => {
            refused.set(Some(exit));
            None
        }
    };
    let again = pipeline::recertify(certificate, &folder, &files);
    if let Some(exit) = refused.take() {
        return Err(exit);
    }
    let Some(again) = again else {
        let text = "the program in the certificate does not certify here; with modules or records of its own it needs --program FILE";
        return Ok(vec![Failure { path: "program.source".into(), text: text.into() }]);
    };
    let digests = |c: &Value| c.pointer("/public/designs").cloned();
    if digests(&again) != digests(certificate) {
        let text = "the columns that are given are not those that the certificate rests on";
        return Ok(vec![Failure { path: "public.designs".into(), text: text.into() }]);
    }
    let text = "is not what the program in the certificate gets here: it was altered, or another version of dpm wrote it";
    Ok(pipeline::differences(&again, certificate, "").into_iter().map(|path| Failure { path, text: text.into() }).collect())
}
