//! Plans: what is compiled is what runs, on a machine that has nothing but the plan and the private rows.

use dpm::compiled;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Program, data, public data.
const EXAMPLES: &[(&str, &str, Option<&str>)] = &[
    ("01_beta_bernoulli.dpm", "staff=01_staff.csv", None),
    ("02_dirichlet.dpm", "votes=02_votes.csv", None),
    ("03_gamma_poisson.dpm", "people=03_people.csv", None),
    ("04_normal_mean.dpm", "staff=04_staff.csv", None),
    ("05_statistical_query.dpm", "cohort=05_cohort.csv", None),
    ("06_logistic.dpm", "adult=06_adult.csv", None),
    ("10_groups.dpm", "survey=10_survey.csv", None),
    ("11_public_prior.dpm", "survey=11_survey.csv", Some("pilot=11_pilot.csv")),
    ("13_two_releases.dpm", "people=13_people.csv", None),
    ("14_posterior_predictive.dpm", "trial=14_trial.csv", None),
    ("15_by_user.dpm", "visits=15_visits.csv", None),
    ("17_poll.dpm", "poll=17_poll.csv", None),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).into()
}

fn dpm(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dpm")).args(args).current_dir(folder).output().unwrap()
}

#[track_caller]
fn expect(code: i32, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn named(folder: &Path, binding: &str) -> String {
    let (name, file) = binding.split_once('=').unwrap();
    format!("{name}={}", folder.join(file).display())
}

/// Compiles an example into a file of a folder that has nothing else.
fn compiled_example(file: &str, public: Option<&str>, into: &Path) -> Value {
    let examples = root().join("examples");
    let program = examples.join(file).display().to_string();
    let public = public.map(|p| named(&examples, p));
    let mut args = vec!["compile", &program, "-o", "p.plan"];
    args.extend(public.iter().flat_map(|p| ["--public", p]));
    expect(0, &dpm(into, &args));
    serde_json::from_str(&fs::read_to_string(into.join("p.plan")).unwrap()).unwrap()
}

#[test]
fn every_example_makes_the_round_trip() {
    let examples = root().join("examples");
    for (file, data, public) in EXAMPLES {
        let place = TempDir::new().unwrap();
        let plan = compiled_example(file, *public, place.path());
        let data = named(&examples, data);
        let run = expect(0, &dpm(place.path(), &["run", "p.plan", "--strict", "--json", "--data", &data]));
        let record: Value = serde_json::from_str(&run).unwrap();
        assert_eq!(record["certificate"], plan["certificate"], "{file}");
        let names: Vec<&Value> = plan["releases"].as_array().unwrap().iter().map(|r| &r["name"]).collect();
        assert_eq!(names.len(), record["releases"].as_object().unwrap().len(), "{file}");
        let said = expect(0, &dpm(place.path(), &["verify", "p.plan", "--program", &examples.join(file).display().to_string()]));
        assert!(said.contains("verified: "), "{file}: {said}");
    }
}

/// Every program of the tests that certifies has a plan, and the text written out in it is a program that makes the same
/// claims (a plan whose text does not is never made).
#[test]
fn every_program_that_certifies_has_a_plan() {
    use dpm::compiled::{Given, compile, missing, open, plan};
    use dpm::pipeline::{self, Folder};
    let mut folders = vec![root().join("tests/certified"), root().join("tests/programs")];
    folders.extend(fs::read_dir(root().join("tests/rules")).unwrap().map(|f| f.unwrap().path()));
    let mut tried = 0;
    let mut faults = vec![];
    for file in folders.iter().flat_map(|f| fs::read_dir(f).unwrap()).map(|f| f.unwrap().path()) {
        if file.extension().is_none_or(|e| e != "dpm") {
            continue;
        }
        let checked = pipeline::check("p.dpm", &fs::read_to_string(&file).unwrap(), &Folder::of(&file));
        let bound = Given::default().bind(&checked.program).unwrap();
        let Ok(compiled) = compile(checked, bound) else { continue };
        if missing(&compiled.checked.program, &compiled.bound).is_some() {
            continue;
        }
        tried += 1;
        let opened = plan(&compiled, &Given::default()).map(|p| open(&p, None).map(|_| ()));
        if opened != Some(Ok(())) {
            faults.push(format!("{}: {opened:?}", file.display()));
        }
    }
    assert!(tried >= 30, "{tried}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn two_compilations_give_the_same_bytes() {
    for (file, _, public) in EXAMPLES {
        let (here, there) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        compiled_example(file, *public, here.path());
        compiled_example(file, *public, there.path());
        assert_eq!(fs::read(here.path().join("p.plan")).unwrap(), fs::read(there.path().join("p.plan")).unwrap(), "{file}");
    }
}

/// A folder with the program and its public tables, and one that also has the rows.
#[test]
fn a_certificate_made_without_the_data_is_the_one_made_beside_them() {
    let examples = root().join("examples");
    for (file, data, public) in EXAMPLES {
        let (empty, full) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let copy = |to: &TempDir, name: &str| fs::copy(examples.join(name), to.path().join(name)).map(|_| ()).unwrap();
        for place in [&empty, &full] {
            copy(place, file);
            public.iter().for_each(|p| copy(place, p.split_once('=').unwrap().1));
        }
        copy(&full, data.split_once('=').unwrap().1);
        let mut args = vec!["certify", file, "-o", "c.json"];
        args.extend(public.iter().flat_map(|p| ["--public", p]));
        expect(0, &dpm(empty.path(), &args));
        expect(0, &dpm(full.path(), &args));
        let read = |place: &TempDir| fs::read(place.path().join("c.json")).unwrap();
        assert_eq!(read(&empty), read(&full), "{file}");
        let plan = compiled_example(file, *public, empty.path());
        let own: Value = serde_json::from_slice(&read(&full)).unwrap();
        // Byte for byte: the same text comes out of both.
        assert_eq!(serde_json::to_string(&plan["certificate"]).unwrap(), serde_json::to_string(&own).unwrap(), "{file}");
        let mut run = vec!["run", file, "--json", "--data", data];
        run.extend(public.iter().flat_map(|p| ["--public", p]));
        let record: Value = serde_json::from_str(&expect(0, &dpm(full.path(), &run))).unwrap();
        assert_eq!(record["certificate"], own, "{file}");
    }
}

/// Every place in a value, as a JSON pointer.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let path = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                out.push(path.clone());
                places(inner, &path, out);
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                out.push(format!("{at}/{i}"));
                places(inner, &format!("{at}/{i}"), out);
            }
        }
        _ => {}
    }
}

fn remove(plan: &mut Value, pointer: &str) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match plan.pointer_mut(parent).unwrap() {
        Value::Object(map) => drop(map.shift_remove(&key.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(key.parse().unwrap())),
        _ => unreachable!(),
    }
}

fn altered(value: &Value) -> Value {
    match value {
        Value::Null => json!(1),
        Value::Bool(b) => json!(!b),
        Value::Number(n) => json!(n.as_f64().unwrap() + 1.0),
        Value::String(s) => json!(format!("{s} ")),
        Value::Array(_) => json!({}),
        Value::Object(_) => json!([]),
    }
}

fn sealed(mut plan: Value) -> Value {
    let digest = compiled::digest(&plan);
    if let Some(slot) = plan.get_mut("digest") {
        *slot = digest.into();
    }
    plan
}

#[test]
fn every_field_removed_altered_or_added_is_refused_with_the_old_digest_and_with_a_fresh_one() {
    for (file, _, public) in [EXAMPLES[6], EXAMPLES[7]] {
        let place = TempDir::new().unwrap();
        let plan = compiled_example(file, public, place.path());
        assert!(compiled::open(&plan, None).is_ok());
        let mut all = vec![];
        places(&plan, "", &mut all);
        assert!(all.len() > 150, "{}", all.len());
        for pointer in &all {
            let mut shorter = plan.clone();
            remove(&mut shorter, pointer);
            let mut other = plan.clone();
            let slot = other.pointer_mut(pointer).unwrap();
            *slot = altered(slot);
            let mut longer = plan.clone();
            match longer.pointer_mut(pointer).unwrap() {
                Value::Object(map) => drop(map.insert("further".into(), json!(1))),
                Value::Array(items) => items.push(json!(1)),
                _ => longer = other.clone(),
            }
            for (what, changed) in [("removed", shorter), ("altered", other), ("added", longer)] {
                assert!(compiled::open(&changed, None).is_err(), "{file}: {pointer} {what}");
                let fresh = sealed(changed);
                // The digest itself is the only field that a fresh digest puts right.
                let healed = fresh == plan;
                assert_eq!(compiled::open(&fresh, None).is_ok(), healed, "{file}: {pointer} {what}, sealed again");
                assert!(!healed || pointer == "/digest", "{pointer}");
            }
        }
    }
}

#[test]
fn a_plan_of_another_version_is_refused() {
    let place = TempDir::new().unwrap();
    let plan = compiled_example(EXAMPLES[0].0, None, place.path());
    for (field, value) in [("dpm", json!("0.0.9")), ("plan", json!(2)), ("rulebook", json!("0"))] {
        let mut other = plan.clone();
        other[field] = value;
        let refusal = compiled::open(&sealed(other), None).err().unwrap();
        assert_eq!(refusal.path, field);
        assert!(refusal.text.contains("compile it again"), "{}", refusal.text);
    }
}

const LEDGER_PROGRAM: &str = "budget eps(1)\nprivate t[n] { x: real in [0, 1] }\nrelease m = sum(x) using laplace\n";

/// A ledger with one data set, and a plan for it.
fn with_ledger() -> (TempDir, Value) {
    let place = TempDir::new().unwrap();
    fs::write(place.path().join("t.csv"), "x\n0.5\n0.25\n0.75\n").unwrap();
    fs::write(place.path().join("p.dpm"), LEDGER_PROGRAM).unwrap();
    fs::write(place.path().join("s.dpm"), "private rows[n] { x: real in [0, 1] }\n").unwrap();
    let init = ["ledger", "init", "l.ledger", "--dataset", "rows=t.csv", "--schema", "s.dpm", "--shared", "--budget", "eps(1.5)"];
    expect(0, &dpm(place.path(), &init));
    expect(0, &dpm(place.path(), &["compile", "p.dpm", "-o", "p.plan"]));
    let plan = serde_json::from_str(&fs::read_to_string(place.path().join("p.plan")).unwrap()).unwrap();
    (place, plan)
}

#[test]
fn a_plan_charges_the_ledger_once_and_is_refused_when_nothing_is_left() {
    let (place, plan) = with_ledger();
    let run = ["run", "p.plan", "--json", "--data", "t=@rows", "--ledger", "l.ledger"];
    let record: Value = serde_json::from_str(&expect(0, &dpm(place.path(), &run))).unwrap();
    assert_eq!(record["ledger"]["remaining"]["rows"]["eps"], "0.5");
    let history = expect(0, &dpm(place.path(), &["ledger", "history", "l.ledger"]));
    assert!(history.contains(plan["certificate"]["digest"].as_str().unwrap()) || history.contains("reserve"), "{history}");
    expect(4, &dpm(place.path(), &run));
}

#[test]
fn an_altered_plan_is_refused_before_the_ledger_is_charged_and_before_data_are_opened() {
    let (place, plan) = with_ledger();
    let before = fs::read(place.path().join("l.ledger.head")).unwrap();
    let mut other = plan.clone();
    let program = other["certificate"]["program"]["source"].as_str().unwrap().replace("sum", "mean");
    other["certificate"]["program"]["source"] = program.into();
    for (name, changed) in [("stale.plan", other.clone()), ("fresh.plan", sealed(other))] {
        fs::write(place.path().join(name), changed.to_string()).unwrap();
        let done = dpm(place.path(), &["run", name, "--json", "--data", "t=@rows", "--ledger", "l.ledger"]);
        let said: Value = serde_json::from_str(&expect(1, &done)).unwrap();
        assert_eq!(said["diagnostics"][0]["code"], "E0601");
        // A file that is not there would be exit 3: nothing looked for it.
        expect(1, &dpm(place.path(), &["run", name, "--data", "t=nowhere.csv"]));
        expect(5, &dpm(place.path(), &["verify", name]));
    }
    assert_eq!(fs::read(place.path().join("l.ledger.head")).unwrap(), before);
}

#[test]
fn exit_codes() {
    let place = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    let run = |args: &[&str]| dpm(place.path(), args);
    write("wrong.dpm", "budget eps(1)\nrelease x = draw(p)\n");
    expect(1, &run(&["compile", "wrong.dpm", "-o", "w.plan"]));
    write("hole.dpm", &LEDGER_PROGRAM.replace("using laplace", "using ?"));
    expect(1, &run(&["compile", "hole.dpm", "-o", "w.plan"]));
    write("claim.dpm", &format!("{LEDGER_PROGRAM}expect certificate(m) <= eps(0.5)\n"));
    expect(5, &run(&["compile", "claim.dpm", "-o", "w.plan"]));
    assert!(!place.path().join("w.plan").exists());
    expect(3, &run(&["compile", "nowhere.dpm", "-o", "w.plan"]));
    expect(2, &run(&["compile", "wrong.dpm"]));
    write(
        "public.dpm",
        "budget eps(1)\npublic k: real in [0, 9]\nprivate t[n] { x: real in [0, 1] }\nrelease m = sum(x) using laplace\noutput y = k * m\n",
    );
    expect(2, &run(&["compile", "public.dpm", "-o", "w.plan"]));
    expect(3, &run(&["compile", "public.dpm", "--public", "k=10", "-o", "w.plan"]));
    expect(0, &run(&["compile", "public.dpm", "--public", "k=3.5", "-o", "k.plan"]));
    expect(3, &run(&["compile", "public.dpm", "--public", "k=3.5", "-o", "no/such/folder.plan"]));
    write("t.csv", "x\n0.5\n");
    expect(0, &run(&["run", "k.plan", "--data", "t.csv"]));
    expect(2, &run(&["run", "k.plan", "--data", "t.csv", "--public", "k=3.5"]));
    expect(2, &run(&["run", "k.plan"]));
    expect(3, &run(&["run", "k.plan", "--data", "t=nowhere.csv"]));
    write("broken.plan", "{\"plan\": 1");
    expect(1, &run(&["run", "broken.plan", "--data", "t.csv"]));
    expect(3, &run(&["verify", "broken.plan"]));
    write("certificate.plan", &json!({"certificate": {}}).to_string());
    expect(1, &run(&["run", "certificate.plan", "--data", "t.csv"]));
    expect(3, &run(&["run", "nowhere.plan", "--data", "t.csv"]));
}

/// Modules of the user and public tables travel inside the plan.
#[test]
fn a_plan_needs_no_other_file_than_the_private_rows() {
    let place = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    fs::create_dir(place.path().join("lib")).unwrap();
    write("lib/rate.dpm", "fn percent(x) = 100 * x\n");
    write(
        "p.dpm",
        "use lib.rate\nbudget eps(1)\npublic old[m] { kind: category {\"a, b\", \"c\"}, v from \"v one, v2\": vector[2] in l2(5), note: text }\n\
         private t[n] { x: real in [0, 1] }\nrelease share = sum(x) using laplace\noutput y = percent(share) + mean(old.v[1]) + m\n",
    );
    write("old.csv", "extra,v2,kind,note,v one\n9,1e0,\"a, b\",\"say \"\"hi\"\"\n twice\",-2\n9,0.5,c,,3\n");
    write("t.csv", "x\n0.5\n1\n");
    let done = dpm(place.path(), &["compile", "p.dpm", "--public", "old=old.csv", "-o", "p.plan"]);
    expect(0, &done);
    let plan = fs::read_to_string(place.path().join("p.plan")).unwrap();
    assert!(!plan.contains("extra"), "undeclared columns stay behind");
    let away = TempDir::new().unwrap();
    fs::write(away.path().join("p.plan"), plan).unwrap();
    let data = format!("t={}", place.path().join("t.csv").display());
    expect(0, &dpm(away.path(), &["run", "p.plan", "--data", &data]));
    expect(0, &dpm(away.path(), &["verify", "p.plan"]));
    // A module that was changed, with a fresh digest, is another program: its certificate is not this one.
    let plan: Value = serde_json::from_str(&fs::read_to_string(away.path().join("p.plan")).unwrap()).unwrap();
    let mut other = plan.clone();
    other["modules"][0]["source"] = "fn percent(x) = 200 * x\n".into();
    assert!(compiled::open(&other, None).is_err());
    assert_eq!(compiled::open(&sealed(other), None).err().unwrap().path, "program");
    // Public cells outside their declared domain are refused, whatever the digest says.
    let mut forged = plan;
    let csv = forged["public"]["tables"][0]["csv"].as_str().unwrap().replace("-2", "-20");
    forged["public"]["tables"][0]["csv"] = csv.into();
    assert_eq!(compiled::open(&sealed(forged), None).err().unwrap().path, "public.tables");
}

#[test]
fn a_signed_plan() {
    use ed25519_dalek::SigningKey;
    use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
    use ed25519_dalek::pkcs8::{EncodePrivateKey, EncodePublicKey};
    let place = TempDir::new().unwrap();
    for (name, seed) in [("one", 1), ("two", 2)] {
        let key = SigningKey::from_bytes(&[seed; 32]);
        fs::write(place.path().join(format!("{name}.key")), key.to_pkcs8_pem(LineEnding::LF).unwrap().as_bytes()).unwrap();
        fs::write(place.path().join(format!("{name}.pub")), key.verifying_key().to_public_key_pem(LineEnding::LF).unwrap()).unwrap();
    }
    fs::write(place.path().join("p.dpm"), LEDGER_PROGRAM).unwrap();
    expect(0, &dpm(place.path(), &["compile", "p.dpm", "-o", "p.plan", "--sign", "one.key"]));
    fs::write(place.path().join("t.csv"), "x\n0.5\n").unwrap();
    expect(0, &dpm(place.path(), &["verify", "p.plan", "--key", "one.pub"]));
    expect(5, &dpm(place.path(), &["verify", "p.plan", "--key", "two.pub"]));
    expect(0, &dpm(place.path(), &["run", "p.plan", "--data", "t.csv"]));
    let plan: Value = serde_json::from_str(&fs::read_to_string(place.path().join("p.plan")).unwrap()).unwrap();
    for field in ["algorithm", "key", "value"] {
        let mut other = plan.clone();
        let text = other["signature"][field].as_str().unwrap();
        other["signature"][field] = text.replacen(|c: char| c.is_ascii_hexdigit(), "g", 1).into();
        assert_eq!(compiled::open(&other, None).err().unwrap().path, "signature", "{field}");
    }
}

/// What another reader may read otherwise is refused: a key twice, a certificate inside an unknown wrapping.
#[test]
fn a_plan_reads_in_one_way() {
    let folder = TempDir::new().unwrap();
    let plan = compiled_example("01_beta_bernoulli.dpm", None, folder.path());
    let text = plan.to_string();
    fs::write(folder.path().join("twice.plan"), format!("{{\"program\": \"harmless\",{}", &text[1..])).unwrap();
    expect(3, &dpm(folder.path(), &["verify", "twice.plan"]));
    expect(1, &dpm(folder.path(), &["run", "twice.plan", "--data", "staff=none.csv"]));
    let mut bare = plan.clone();
    bare.as_object_mut().unwrap().shift_remove("plan");
    fs::write(folder.path().join("bare.plan"), bare.to_string()).unwrap();
    let said = expect(5, &dpm(folder.path(), &["verify", "bare.plan"]));
    assert!(said.contains("neither a plan nor the record of a run"), "{said}");
}

/// Of the record of a run without a ledger only the certificate inside can be checked; one with a ledger is signed.
#[test]
fn verify_says_what_it_checked_of_a_record() {
    let (place, _) = with_ledger();
    let path = place.path();
    expect(0, &dpm(path, &["certify", "p.dpm", "-o", "cert.json"]));
    for file in ["cert.json", "p.plan"] {
        let said = expect(0, &dpm(path, &["verify", file]));
        assert!(said.contains("every number, premise and digest") && !said.contains("not checked"), "{said}");
        let json: Value = serde_json::from_str(&expect(0, &dpm(path, &["verify", file, "--json"]))).unwrap();
        assert_eq!((&json["ok"], &json["not_checked"]), (&true.into(), &serde_json::json!([])));
    }
    expect(0, &dpm(path, &["run", "p.dpm", "--data", "t=@rows", "--ledger", "l.ledger", "-o", "paid.json"]));
    expect(0, &dpm(path, &["run", "p.dpm", "--data", "t.csv", "-o", "free.json"]));
    let key = expect(0, &dpm(path, &["ledger", "key", "l.ledger"]));
    fs::write(path.join("ledger.pub"), &key).unwrap();
    for (file, unchecked) in [("paid.json", vec!["releases", "outputs", "ledger"]), ("free.json", vec!["releases", "outputs"])] {
        let said = expect(if file == "paid.json" { 0 } else { 5 }, &dpm(path, &["verify", file, "--key", "ledger.pub"]));
        assert!(said.contains(if file == "paid.json" { "no value in it was altered" } else { "it is not signed" }), "{said}");
        let mut record: Value = serde_json::from_str(&fs::read_to_string(path.join(file)).unwrap()).unwrap();
        record["releases"]["m"] = 31337.into();
        fs::write(path.join("altered.json"), serde_json::to_string_pretty(&record).unwrap() + "\n").unwrap();
        if file == "paid.json" {
            let said = expect(5, &dpm(path, &["verify", "altered.json"]));
            assert!(said.contains("the signature does not fit"), "{said}");
        }
        // Without its signature it is a record that nothing binds.
        record.as_object_mut().unwrap().shift_remove("signature");
        fs::write(path.join("altered.json"), record.to_string()).unwrap();
        expect(5, &dpm(path, &["verify", "altered.json", "--key", "ledger.pub"]));
        let said = expect(0, &dpm(path, &["verify", "altered.json"]));
        let (holds, rest) = said.split_once("not checked:").unwrap_or_else(|| panic!("{said}"));
        assert!(holds.contains("certificate inside") && rest.contains("released values"), "{said}");
        assert_eq!(rest.contains("dpm ledger verify"), file == "paid.json", "{said}");
        let json: Value = serde_json::from_str(&expect(0, &dpm(path, &["verify", "altered.json", "--json"]))).unwrap();
        assert_eq!(json["not_checked"], serde_json::json!(unchecked));
    }
}
