//! What `-o` and its like never overwrite: what a command reads, ledgers and the files beside them, what is not a file.

use super::*;

const PROGRAM: &str = "use lib.half\nbudget eps(1)\npublic old[m] { smoker: bool }\nprivate staff[n >= 100] { smoker: bool }\n\
                       param p ~ beta(half(4), 2)\nobserve old.smoker ~ bernoulli(p)\nobserve staff.smoker ~ bernoulli(p)\n\
                       release post = posterior(p)\n";
const KEY: &str =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n-----END PRIVATE KEY-----\n";

/// A program with a module, public and private rows, a key, a ledger, what was made of them, and a file to overwrite.
fn scene() -> Scene {
    let scene = Scene::new();
    fs::create_dir(scene.path("lib")).unwrap();
    fs::write(scene.path("lib/half.dpm"), "fn half(x) = x / 2\n").unwrap();
    fs::write(scene.path("p.dpm"), PROGRAM).unwrap();
    fs::write(scene.path("old.csv"), "smoker\n1\n0\n").unwrap();
    fs::write(scene.path("key.pem"), KEY).unwrap();
    scene.ledger("eps(10)");
    for made in ["compile p.dpm --public old=old.csv -o made.plan", "run p.dpm --public old=old.csv --data staff.csv -o made.json"] {
        let done = scene.dpm(&made.split(' ').collect::<Vec<_>>());
        assert_eq!(code(&done), 0, "{}", said(&done));
    }
    scene
}

/// Commands that write, each up to the place they write to, and a file beside the program that each of them reads.
const COMMANDS: [(&str, &str); 13] = [
    ("certify p.dpm --public old=old.csv -o", "old.csv"),
    ("certify p.dpm --public old=old.csv --sign key.pem -o", "key.pem"),
    ("compile p.dpm --public old=old.csv -o", "old.csv"),
    ("compile p.dpm --public old=old.csv --sign key.pem -o", "key.pem"),
    ("audit p.dpm --public old=old.csv --trials 20 -o", "old.csv"),
    ("plot p.dpm --public old=old.csv -o", "old.csv"),
    ("report p.dpm --public old=old.csv -o", "old.csv"),
    ("plot made.plan -o", "made.plan"),
    ("run made.plan --data staff.csv -o", "made.plan"),
    ("run p.dpm --public old=old.csv --data staff.csv -o", "staff.csv"),
    ("run p.dpm --public old=old.csv --data staff=staff.csv --arviz", "staff.csv"),
    ("run p.dpm --public old=old.csv --data staff=@staff --ledger ledger -o", "staff.csv"),
    ("run p.dpm --public old=old.csv --data staff=@staff --ledger ledger --arviz", "old.csv"),
];

/// Everything in the folder: names and bytes. The index of a log is made anew by whoever reads the log.
fn all(scene: &Scene) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = vec![];
    let mut folders = vec![scene.folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() && !path.to_string_lossy().ends_with("-shm") {
                found.push((path.clone(), fs::read(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Refused in words, with nothing charged, written or left behind.
#[track_caller]
fn refused(scene: &Scene, command: &str, place: &str) {
    let before = all(scene);
    let done = scene.dpm(&command.split(' ').chain([place]).collect::<Vec<_>>());
    assert_eq!(code(&done), 2, "{command} {place}: {}", said(&done));
    assert!(said(&done).contains("will not overwrite"), "{command} {place}: {}", said(&done));
    assert!(all(scene) == before, "{command} {place} changed something");
}

#[test]
fn nothing_that_is_read_is_overwritten() {
    let scene = scene();
    for (command, input) in COMMANDS {
        refused(&scene, command, input);
        refused(&scene, command, &format!("./lib/../{input}"));
        if command.contains("p.dpm") {
            refused(&scene, command, "p.dpm");
            refused(&scene, command, "lib/half.dpm");
        }
    }
    for command in ["report made.json --public old=old.csv -o", "plot made.json --public old=old.csv --shows posterior -o"] {
        refused(&scene, command, "made.json");
    }
}

#[test]
fn no_ledger_and_none_of_its_files_is_overwritten() {
    let scene = scene();
    for (command, _) in COMMANDS {
        for place in [
            "ledger",
            "ledger.head",
            "ledger.head.new",
            "ledger.key",
            "ledger.lock",
            "ledger.poisoned",
            "ledger-journal",
            "ledger-wal",
            "ledger-shm",
        ] {
            refused(&scene, command, place);
        }
    }
    // Ledgers are charged as before.
    assert_eq!(left(&Ledger::at(&scene.path("ledger")).unwrap()), "10");
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_same_file_and_only_files_are_written() {
    use std::os::unix::fs::symlink;
    let scene = scene();
    fs::write(scene.path("kept.txt"), "kept").unwrap();
    for (name, to) in [("data.link", "staff.csv"), ("module.link", "lib/half.dpm"), ("ledger.link", "ledger"), ("head.link", "ledger.head")]
    {
        symlink(scene.path(to), scene.path(name)).unwrap();
        fs::hard_link(scene.path(to), scene.path(&format!("{name}.hard"))).unwrap();
    }
    symlink(scene.path("nowhere"), scene.path("dangling")).unwrap();
    symlink(scene.path(""), scene.path("here")).unwrap();
    symlink(scene.path("kept.txt"), scene.path("kept.link")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.path("socket")).unwrap();
    assert!(Command::new("mkfifo").arg(scene.path("pipe")).status().unwrap().success());
    let run = "run p.dpm --public old=old.csv --data staff=@staff --ledger ledger -o";
    for place in
        ["data.link", "data.link.hard", "module.link", "module.link.hard", "ledger.link", "ledger.link.hard", "head.link", "head.link.hard"]
    {
        refused(&scene, run, place);
    }
    for place in ["here/staff.csv", "here/ledger.head", "dangling", "lib", "socket", "pipe"] {
        refused(&scene, run, place);
    }
    // An ordinary file is overwritten, also through a link, which stays one; its permissions stay as they were.
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(scene.path("kept.txt"), PermissionsExt::from_mode(0o600)).unwrap();
    let files = all(&scene).len();
    let done = scene.dpm(&run.split(' ').chain(["kept.link"]).collect::<Vec<_>>());
    assert_eq!(code(&done), 0, "{}", said(&done));
    assert!(fs::symlink_metadata(scene.path("kept.link")).unwrap().is_symlink());
    assert!(fs::read_to_string(scene.path("kept.txt")).unwrap().contains("\"releases\""));
    assert_eq!(fs::metadata(scene.path("kept.txt")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(all(&scene).len(), files, "nothing is left behind");
}

#[test]
fn two_results_want_two_files() {
    let scene = scene();
    refused(&scene, "run p.dpm --public old=old.csv --data staff.csv -o out.json --arviz", "./out.json");
}

/// The prompt writes a certificate and a history.
#[test]
fn the_prompt_overwrites_nothing_it_reads() {
    let scene = scene();
    let before = all(&scene);
    let repl = |script: &str, more: &[&str]| {
        let mut command = Command::new(DPM);
        command.args(["repl", "--ledger", "ledger", "--data", "staff=@staff", "--public", "old=old.csv"]).args(more);
        let mut child =
            command.current_dir(scene.folder.path()).stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        use std::io::Write;
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let places = ["staff.csv", "old.csv", "p.dpm", "lib/half.dpm", "ledger", "ledger.head", "ledger.poisoned"];
    let script: String = places.iter().map(|place| format!(":certificate {place}\n")).collect();
    let done = repl(&format!(":load p.dpm\n{script}"), &["--no-history"]);
    assert_eq!(said(&done).matches("will not overwrite").count(), places.len(), "{}", said(&done));
    for place in ["staff.csv", "old.csv", "ledger", "ledger.head", "lib"] {
        let done = repl("", &["--history", place]);
        assert_eq!(code(&done), 2, "{place}: {}", said(&done));
    }
    assert!(all(&scene) == before);
}

/// `fmt` and `lock` write the program: through a link, and over no other file.
#[cfg(unix)]
#[test]
fn programs_are_rewritten_in_their_place() {
    let scene = Scene::new();
    fs::write(scene.path("real.dpm"), fs::read_to_string(scene.path("tenth.dpm")).unwrap().replace(" = mean", "=mean")).unwrap();
    fs::write(scene.path("link.dpm.tmp"), "somebody's").unwrap();
    std::os::unix::fs::symlink(scene.path("real.dpm"), scene.path("link.dpm")).unwrap();
    for command in ["fmt", "lock"] {
        let done = scene.dpm(&[command, "link.dpm"]);
        assert_eq!(code(&done), 0, "{}", said(&done));
    }
    assert!(fs::symlink_metadata(scene.path("link.dpm")).unwrap().is_symlink());
    assert!(fs::read_to_string(scene.path("real.dpm")).unwrap().contains("share = mean(smoker) using laplace(scale = "));
    assert_eq!(fs::read_to_string(scene.path("link.dpm.tmp")).unwrap(), "somebody's");
}
