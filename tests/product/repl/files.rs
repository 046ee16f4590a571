//! Files of private rows, which the prompt and the command line refuse to read as text.

use super::{DURABLE, dpm, piped};
use std::fs;
use tempfile::TempDir;

/// Rows as nobody should see them, in a ledger; links to them, one named like a module.
fn registered() -> TempDir {
    let place = TempDir::new().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("rows.csv"), "smoker,pay\n1,kanarie-31337\n0,kanarie-31337\n1,kanarie-31337\n").unwrap();
    fs::write(at("other.csv"), "smoker,pay\n1,kanarie-31337\n").unwrap();
    fs::write(at("public.csv"), "smoker\n1\n").unwrap();
    fs::write(at("s.schema"), "private people[n] { smoker: bool }\nprivate others[m] { smoker: bool }\n").unwrap();
    let init = "ledger init l.ledger --dataset people=rows.csv --dataset others=other.csv --schema s.schema --shared --budget eps(1)";
    let done = dpm(place.path(), &init.split(' ').collect::<Vec<_>>());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    fs::hard_link(at("rows.csv"), at("hard.dpm")).unwrap();
    std::os::unix::fs::symlink("rows.csv", at("soft.dpm")).unwrap();
    place
}

const SPELLINGS: [&str; 6] = ["rows.csv", "./rows.csv", "here/rows.csv", "hard.dpm", "soft.dpm", "other.csv"];

/// A file that a ledger has registered, or that is bound in the session, is no program, no module and nothing public.
#[test]
fn no_file_of_private_rows_is_read_as_text() {
    let place = registered();
    std::os::unix::fs::symlink(place.path(), place.path().join("here")).unwrap();
    let public = "public u[m] { smoker: bool }\noutput k = mean(u.smoker)\n";
    let own = ["--data", "staff=rows.csv", "--data", "more=other.csv"];
    for binding in [&DURABLE[..], &own] {
        for name in SPELLINGS {
            for script in [format!(":load {name}\n"), format!("{public}:public u={name}\n"), "use hard\n".into(), "use soft\n".into()] {
                let (out, err) = piped(place.path(), binding, &script);
                assert!(!err.contains("kanarie") && !out.contains("kanarie"), "{script}{out}{err}");
                assert!(err.contains("private rows") || err.contains("there is no module"), "{script}{out}{err}");
                assert!(!out.contains("output    k"), "{script}{out}");
            }
        }
    }
    // What was public in this session does not become private either.
    let (_, err) = piped(place.path(), &[], &format!("{public}:public u=rows.csv\n:data staff=./rows.csv\n"));
    assert!(err.contains("is not private in this session"), "{err}");
    // Other files are programs as before.
    fs::write(place.path().join("fine.dpm"), "fn half(x) = x / 2\n").unwrap();
    let (out, err) = piped(place.path(), &DURABLE, &format!("use fine\n{public}:public u=public.csv\n:load fine.dpm\n"));
    assert!(out.contains("output    k") && err.is_empty(), "{out}{err}");
}

#[test]
fn no_file_of_private_rows_is_a_program_of_the_command_line() {
    let place = registered();
    fs::write(
        place.path().join("p.dpm"),
        "budget eps(1)\nprivate staff[n] { smoker: bool }\nuse hard\nrelease a = count() using geometric\n",
    )
    .unwrap();
    let old = "budget eps(1)\npublic old[m] { smoker: bool }\nprivate staff[n] { smoker: bool }\nparam p ~ beta(2, 2)\n\
               observe old.smoker ~ bernoulli(p)\nobserve staff.smoker ~ bernoulli(p)\nrelease a = posterior(p)\n";
    fs::write(place.path().join("old.dpm"), old).unwrap();
    let refused = |args: &[&str], code: i32| {
        let done = dpm(place.path(), args);
        let said = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        assert!(!said.contains("kanarie") && done.status.code() == Some(code), "{args:?} {:?} {said}", done.status);
    };
    for binding in [&DURABLE[..], &["--data", "staff=rows.csv"], &["--data", "rows.csv"]] {
        for name in ["rows.csv", "./rows.csv", "hard.dpm", "soft.dpm"] {
            refused(&[&["run", name], binding].concat(), 2);
            refused(&[&["run", "old.dpm", "--public", &format!("old={name}")], binding].concat(), 2);
        }
        // A module that is the data is not there.
        refused(&[&["run", "p.dpm"], binding].concat(), 1);
    }
    refused(&[&["run", "other.csv"], &DURABLE[..]].concat(), 2);
    refused(&["repl", "--data", "staff=rows.csv", "--public", "u=./rows.csv"], 2);
}
