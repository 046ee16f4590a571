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
    let ledger = scene.ledger("eps(1)");
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
    // Approval is no way past a policy.
    set(&scene, &["--least", "certified"]);
    let refused = run("chain.dpm");
    assert!(code(&refused) == 4 && said(&refused).contains("is conditional, and must be certified at least"), "{}", said(&refused));
    assert_eq!(charges(&ledger), 1);
}

/// Everything in the folder of the ledger put back to a moment, with and without a witness elsewhere.
#[test]
fn a_rollback_of_ledger_and_head_is_seen_by_a_witness() {
    let scene = Scene::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let witness = elsewhere.path().join("w");
    let ledger = scene.ledger("eps(1)");
    let names = ["ledger", "ledger.head"];
    let moment = || names.map(|n| fs::read(scene.path(n)).unwrap());
    let back = |files: &[Vec<u8>; 2]| names.iter().zip(files).for_each(|(n, bytes)| fs::write(scene.path(n), bytes).unwrap());
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
