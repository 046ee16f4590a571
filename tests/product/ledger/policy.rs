//! What an owner allows beside the budget, and witnesses of the head: rollbacks of ledger and head together are seen.

use super::*;

const CHAIN: &str = "budget eps(0.5)\nprivate staff[n >= 100] { smoker: bool }\nparam p ~ beta(2, 2)\nobserve smoker ~ bernoulli(p)\n\
                     release q = draw(p) using beta_div assuming convergence\n";

fn set(scene: &Scene, more: &[&str]) {
    let done = scene.dpm(&[&["ledger", "policy", "ledger", "--dataset", "staff"], more].concat());
    assert_eq!(code(&done), 0, "{}", said(&done));
}

#[test]
fn a_policy_is_held_before_the_charge() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let refused = |why: &str| {
        let before = charges(&ledger);
        let run = scene.run("tenth.dpm", "staff=@staff");
        assert_eq!((code(&run), run.stdout.len(), charges(&ledger)), (4, 0, before), "{}", said(&run));
        assert_eq!(said(&run), format!("error: the policy of `staff` does not allow this program: {why}\n"));
    };
    let runs = || assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 0);
    runs();
    set(&scene, &["--mechanisms", "gaussian,geometric"]);
    refused("a release is by `laplace`, and may be by gaussian, geometric");
    set(&scene, &["--mechanisms", "laplace", "--least", "exact"]);
    runs();
    set(&scene, &["--until", "2020-02-29"]);
    refused("its last day was 2020-02-29");
    set(&scene, &["--until", "9999-12-31"]);
    runs();
    let shown = String::from_utf8(scene.dpm(&["ledger", "show", "ledger"]).stdout).unwrap();
    assert!(shown.contains("policy: until 9999-12-31"), "{shown}");
    for wrong in [["--least", "sure"], ["--mechanisms", "magic"], ["--until", "2027-02-29"], ["--until", "tomorrow"]] {
        assert_eq!(code(&scene.dpm(&[&["ledger", "policy", "ledger", "--dataset", "staff"], &wrong[..]].concat())), 2, "{wrong:?}");
    }
    assert_eq!(code(&scene.dpm(&["ledger", "policy", "ledger", "--dataset", "nobody"])), 4);
    assert_eq!(code(&scene.dpm(&["ledger", "approve", "ledger", "xyz"])), 2);
}

/// A program that assumes convergence runs when its owner has approved its very certificate, and no other like it.
#[test]
fn conditional_programs_are_approved_one_by_one() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(2)");
    fs::write(scene.path("chain.dpm"), CHAIN).unwrap();
    fs::write(scene.path("other.dpm"), CHAIN.replace("beta(2, 2)", "beta(2, 3)")).unwrap();
    let run = |program: &str| scene.command(program, "staff=@staff").arg("--anyway").output().unwrap();
    let refused = run("chain.dpm");
    assert_eq!((code(&refused), charges(&ledger)), (4, 0), "{}", said(&refused));
    let help = said(&refused);
    assert!(help.contains("assumes that a chain converged") && help.contains("dpm ledger approve PATH "), "{help}");
    let digest = help.trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(code(&scene.dpm(&["ledger", "approve", "ledger", &digest])), 0);
    let allowed = run("chain.dpm");
    assert_eq!((code(&allowed), charges(&ledger)), (0, 1), "{}", said(&allowed));
    assert_eq!((code(&run("other.dpm")), charges(&ledger)), (4, 1));
    // A plan is approved by its own digest, which its compilation prints.
    let compiled = scene.dpm(&["compile", "other.dpm", "-o", "other.plan"]);
    let digest = String::from_utf8(compiled.stdout).unwrap().trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!((code(&run("other.plan")), charges(&ledger)), (4, 1));
    assert_eq!(code(&scene.dpm(&["ledger", "approve", "ledger", &digest])), 0);
    assert_eq!((code(&run("other.plan")), code(&run("other.dpm")), charges(&ledger)), (0, 4, 2));
    // Approval is no way past a policy.
    set(&scene, &["--least", "certified"]);
    let refused = run("chain.dpm");
    assert!(code(&refused) == 4 && said(&refused).contains("is conditional, and must be certified at least"), "{}", said(&refused));
    assert_eq!(charges(&ledger), 2);
}

/// An owner who reads every program first.
#[test]
fn only_approved_programs() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    set(&scene, &["--approved"]);
    let refused = scene.run("tenth.dpm", "staff=@staff");
    assert_eq!((code(&refused), charges(&ledger)), (4, 0));
    assert!(said(&refused).contains("its owner approves programs one by one"), "{}", said(&refused));
    let digest = said(&refused).trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(code(&scene.dpm(&["ledger", "approve", "ledger", &digest])), 0);
    assert_eq!((code(&scene.run("tenth.dpm", "staff=@staff")), code(&scene.run("whole.dpm", "staff=@staff"))), (0, 4));
    assert_eq!(charges(&ledger), 1);
}

/// The very same program on other public data is another one: it may ask for another row.
#[test]
fn approval_holds_for_the_public_data_that_the_owner_saw() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    set(&scene, &["--approved"]);
    fs::write(scene.path("a.csv"), "v\n3\n4\n").unwrap();
    fs::write(scene.path("b.csv"), "v\n3\n5\n").unwrap();
    fs::write(scene.path("again.csv"), "v\n03\n4.0\n").unwrap();
    let head = "private staff[n >= 100] { smoker: bool }\n";
    let table =
        format!("budget eps(0.1)\npublic w[m] {{ v: int in 0..9 }}\n{head}let k = max(w.v)\nrelease r = count(smoker and k == 5)\n");
    fs::write(scene.path("table.dpm"), table).unwrap();
    let run = |public: &str| {
        let public = format!("w={}", scene.path(public).display());
        scene.command("table.dpm", "staff=@staff").args(["--public", &public]).output().unwrap()
    };
    let refused = run("a.csv");
    assert_eq!((code(&refused), charges(&ledger)), (4, 0), "{}", said(&refused));
    let digest = said(&refused).trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(code(&scene.dpm(&["ledger", "approve", "ledger", &digest])), 0);
    // Cells that say the same are the same data.
    assert_eq!((code(&run("b.csv")), code(&run("a.csv")), code(&run("again.csv")), charges(&ledger)), (4, 0, 0, 2));
    // Nor may a record of released counts become another one.
    fs::write(scene.path("first.dpm"), format!("budget eps(1)\n{head}release cells = histogram(smoker) using geometric\n")).unwrap();
    assert_eq!(code(&scene.dpm(&["run", "first.dpm", "--data", "staff=staff.csv", "-o", "r.json"])), 0);
    let of_cells = format!("budget eps(0.1)\npublic cells from \"r.json\"\n{head}release r = count(smoker and cells[true] > 7)\n");
    fs::write(scene.path("cells.dpm"), of_cells).unwrap();
    let run = || scene.run("cells.dpm", "staff=@staff");
    let digest = said(&run()).trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(code(&scene.dpm(&["ledger", "approve", "ledger", &digest])), 0);
    assert_eq!((code(&run()), charges(&ledger)), (0, 3));
    let mut record: Value = serde_json::from_str(&fs::read_to_string(scene.path("r.json")).unwrap()).unwrap();
    record["releases"]["cells"]["true"] = 6.into();
    fs::write(scene.path("r.json"), record.to_string()).unwrap();
    assert_eq!((code(&run()), charges(&ledger)), (4, 3));
}

/// A witness that a program of the owner's keeps: the same rollback is seen, and nothing runs while it does not answer.
#[cfg(unix)]
#[test]
fn a_command_may_be_the_witness() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let elsewhere = tempfile::tempdir().unwrap();
    let kept = elsewhere.path().join("kept");
    let script = |body: &str| {
        fs::write(scene.path("keep"), format!("#!/bin/sh\n{body}\n")).unwrap();
        assert!(Command::new("chmod").arg("700").arg(scene.path("keep")).status().unwrap().success());
    };
    let good = format!("case $1 in put) cat > '{0}' ;; get) cat '{0}' ;; esac", kept.display());
    let name = || scene.dpm(&["ledger", "witness", "ledger", "--by", "keep"]);
    for bad in ["exit 1", "cat > /dev/null", "exit 0", "echo nothing"] {
        script(bad);
        assert_eq!(code(&name()), 2, "{bad}");
    }
    script(&good);
    let named = name();
    assert_eq!(code(&named), 0, "{}", said(&named));
    let names = ["ledger", "ledger-wal", "ledger.head"];
    let before = names.map(|n| fs::read(scene.path(n)).unwrap());
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 0);
    let after = names.map(|n| fs::read(scene.path(n)).unwrap());
    names.iter().zip(&before).for_each(|(n, bytes)| fs::write(scene.path(n), bytes).unwrap());
    let run = scene.run("tenth.dpm", "staff=@staff");
    assert!(code(&run) == 4 && said(&run).contains("older than its witness"), "{}", said(&run));
    names.iter().zip(&after).for_each(|(n, bytes)| fs::write(scene.path(n), bytes).unwrap());
    assert_eq!(left(&ledger), "0.9");
    script("exit 1");
    let run = scene.run("tenth.dpm", "staff=@staff");
    assert!(code(&run) == 4 && said(&run).contains("its witness does not answer"), "{}", said(&run));
    script(&good);
    assert_eq!((code(&scene.run("tenth.dpm", "staff=@staff")), left(&ledger).as_str()), (0, "0.8"));
}

/// Everything in the folder of the ledger put back to a moment, with and without a witness elsewhere.
#[test]
fn a_rollback_of_ledger_and_head_is_seen_by_a_witness() {
    let scene = Scene::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let witness = elsewhere.path().join("w");
    let ledger = scene.ledger("eps(1)");
    let names = ["ledger", "ledger-wal", "ledger.head"];
    let moment = || names.map(|n| fs::read(scene.path(n)).unwrap());
    let back = |files: &[Vec<u8>; 3]| names.iter().zip(files).for_each(|(n, bytes)| fs::write(scene.path(n), bytes).unwrap());
    let spend = || scene.run("tenth.dpm", "staff=@staff");
    // Without one the rollback succeeds, as the manual says; the code on paper tells.
    let before = moment();
    assert_eq!(code(&spend()), 0);
    let shown = String::from_utf8(scene.dpm(&["ledger", "show", "ledger"]).stdout).unwrap();
    let paper = shown.split("--witness`: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let holds = |what: &str| code(&scene.dpm(&["ledger", "verify", "ledger", "--witness", what]));
    assert_eq!((holds(&paper), holds("3:0123456789abcdef"), holds(&paper[..8])), (0, 5, 5));
    back(&before);
    assert_eq!((left(&ledger), holds(&paper)), ("1".into(), 5));
    // With one, every moment after it was named is refused, at each step of a run.
    let named = scene.dpm(&["ledger", "witness", "ledger", "--at", witness.to_str().unwrap()]);
    assert_eq!(code(&named), 0, "{}", said(&named));
    let mut moments = vec![moment()];
    for _ in 0..6 {
        drop(ledger.reserve("c", &[ask(0.05)]).unwrap());
        moments.push(moment());
        assert_eq!(code(&spend()), 0);
        moments.push(moment());
    }
    let last = moments.pop().unwrap();
    assert_eq!(moments.len(), 12);
    for (i, old) in moments.iter().enumerate() {
        back(old);
        let run = spend();
        assert!(code(&run) == 4 && said(&run).contains("older than its witness"), "{i}: {}", said(&run));
        assert!(matches!(ledger.read(), Err(LedgerError::Locked(_))), "{i}");
    }
    back(&last);
    assert_eq!(left(&ledger), "0.1");
    // A witness that is gone, damaged, of another ledger, or not a file: nothing runs until it is back.
    let good = fs::read(&witness).unwrap();
    let other = Ledger::init(&scene.path("other"), &[scene.dataset("staff", "eps(1)")]).unwrap();
    assert!(other.witness(&witness).is_err() && other.witness(&scene.path("staff.csv")).is_err());
    for bad in [None, Some(b"".to_vec()), Some(good[..20].to_vec()), Some(fs::read(scene.path("other.head")).unwrap())] {
        match bad {
            None => fs::remove_file(&witness).unwrap(),
            Some(bytes) => fs::write(&witness, bytes).unwrap(),
        }
        assert!(matches!(ledger.read(), Err(LedgerError::Locked(_))));
    }
    fs::write(&witness, &good).unwrap();
    assert_eq!(code(&spend()), 0);
    // A witness that lags, as after a kill between the two writes, follows.
    fs::write(&witness, &good).unwrap();
    assert_eq!(left(&ledger), "0");
    assert_ne!(fs::read(&witness).unwrap(), good);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1, "no temporary file is left");
}

/// A share is what a named analyst may spend; whoever names nobody, or another, spends nothing.
#[test]
fn shares_of_named_analysts() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let by = |name: &str| scene.command("tenth.dpm", "staff=@staff").args(["--analyst", name]).output().unwrap();
    assert_eq!(code(&by("ana")), 0, "names are kept before there are shares");
    set(&scene, &["--share", "ana=eps(0.3)", "--share", "ben=eps(5)"]);
    assert_eq!((code(&by("ana")), code(&by("ana"))), (0, 0));
    let third = by("ana");
    assert_eq!((code(&third), third.stdout.len(), charges(&ledger)), (4, 0, 3), "{}", said(&third));
    assert!(said(&third).contains("does not fit what is left of the share eps(0.3) of `ana`"), "{}", said(&third));
    for nobody in ["Ana", "carl", ""] {
        let refused = by(nobody);
        assert!(code(&refused) == 4 && said(&refused).contains("names none of them"), "{nobody}: {}", said(&refused));
    }
    assert_eq!((code(&scene.run("tenth.dpm", "staff=@staff")), charges(&ledger)), (4, 3));
    // A share is no way past the budget.
    while code(&by("ben")) == 0 {}
    assert_eq!((charges(&ledger), left(&ledger).as_str()), (10, "0"));
    let shown = String::from_utf8(scene.dpm(&["ledger", "show", "ledger"]).stdout).unwrap();
    assert!(shown.contains("of this ana: eps 0.3") && shown.contains("of this ben: eps 0.7"), "{shown}");
    for wrong in ["ana=zcdp(1)", "ana", "a b=eps(1)", "ana=eps(0)", "=eps(1)"] {
        let refused = scene.dpm(&["ledger", "policy", "ledger", "--dataset", "staff", "--share", wrong]);
        assert_eq!(code(&refused), 2, "{wrong}: {}", said(&refused));
    }
    assert_eq!(code(&scene.dpm(&["run", "tenth.dpm", "--data", "staff.csv", "--analyst", "ana"])), 2);
}

/// A later file under the same budget: what was spent stays spent, the old file is no longer read, a copy of it is refused.
#[test]
fn data_that_grow_keep_their_budget() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(0.3)");
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 0);
    let grown = fs::read_to_string(scene.path("staff.csv")).unwrap() + &"true\n".repeat(80);
    fs::write(scene.path("later.csv"), &grown).unwrap();
    fs::copy(scene.path("staff.csv"), scene.path("copy.csv")).unwrap();
    let extend = |what: &str| scene.dpm(&["ledger", "extend", "ledger", "--dataset", what, "--shared"]);
    for (what, refusal) in [("staff=copy.csv", 2), ("staff=nothing.csv", 2), ("other=later.csv", 4), ("staff", 2)] {
        assert_eq!((code(&extend(what)), left(&ledger).as_str()), (refusal, "0.2"), "{what}");
    }
    fs::write(scene.path("few.csv"), "smoker\ntrue\n").unwrap();
    assert_eq!(code(&extend("staff=few.csv")), 3);
    let done = extend("staff=later.csv");
    assert_eq!(code(&done), 0, "{}", said(&done));
    fs::remove_file(scene.path("staff.csv")).unwrap();
    assert_eq!((code(&scene.run("tenth.dpm", "staff=@staff")), left(&ledger).as_str()), (0, "0.1"));
    assert_eq!((code(&scene.run("tenth.dpm", "staff=@staff")), left(&ledger).as_str()), (0, "0"));
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 4);
}

/// The answer of a padded run comes at a multiple of the padding, and its record says what that assumes.
#[test]
fn padded_runs() {
    let scene = Scene::new();
    scene.ledger("eps(1)");
    let padded = |seconds: &str| scene.command("tenth.dpm", "staff=@staff").args(["--pad", seconds]).output().unwrap();
    let started = SystemTime::now();
    let done = padded("3");
    let record = json(&done);
    assert!(code(&done) == 0 && started.elapsed().unwrap() >= Duration::from_secs(3), "{}", said(&done));
    assert_eq!(record["padded"]["seconds"], 3);
    assert!(record["padded"]["assumes"].as_str().unwrap().contains("overruns"));
    for wrong in ["0", "-1", "soon", "99999999999"] {
        assert_eq!(code(&padded(wrong)), 2, "{wrong}");
    }
    // Work that no public number bounds is not padded.
    fs::write(scene.path("chain.dpm"), CHAIN.replace("beta_div", "beta_div(sampler = slice)")).unwrap();
    let refused = scene.command("chain.dpm", "staff=@staff").args(["--pad", "1", "--anyway"]).output().unwrap();
    assert!(code(&refused) == 2 && said(&refused).contains("slice"), "{}", said(&refused));
}
