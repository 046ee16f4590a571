//! Copies, rollbacks, killed runs, tampering and torn files.

use super::*;

/// Files of the ledger at a moment, to be put back: itself, its log, its head. One that is not there is empty.
fn files(scene: &Scene) -> Vec<(PathBuf, Vec<u8>)> {
    ["ledger", "ledger-wal", "ledger.head"].iter().map(|n| (scene.path(n), fs::read(scene.path(n)).unwrap_or_default())).collect()
}

fn put(files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        fs::write(path, bytes).unwrap();
    }
}

/// Brings the log into the file, as a long one is.
fn folded(scene: &Scene) -> Vec<(PathBuf, Vec<u8>)> {
    let db = rusqlite::Connection::open(scene.path("ledger")).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(db);
    files(scene)
}

fn locked(ledger: &Ledger) -> bool {
    let reserve = ledger.reserve("c", &[ask(1e-9)]);
    matches!(ledger.read(), Err(LedgerError::Locked(_))) && matches!(reserve, Err(LedgerError::Locked(_)))
}

fn spend(ledger: &Ledger, times: u32) {
    for _ in 0..times {
        let reservation = ledger.reserve("c", &[ask(0.1)]).unwrap();
        ledger.commit(reservation).unwrap();
    }
}

#[test]
fn copies_rollbacks_and_deletions() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    spend(&ledger, 1);
    let old = files(&scene);
    spend(&ledger, 1);
    let new = files(&scene);
    // Nothing is lost with an old file under a new log; an old log, with it or alone, no log, an old head, no head, a head
    // of another ledger, another ledger, an empty one, none.
    put(&old[..1]);
    assert_eq!(left(&ledger), "0.8");
    put(&old[..2]);
    assert!(locked(&ledger));
    put(&new);
    put(&old[1..2]);
    assert!(locked(&ledger));
    fs::remove_file(scene.path("ledger-wal")).unwrap();
    assert!(locked(&ledger));
    put(&new);
    put(&old[2..]);
    assert_eq!(left(&ledger), "0.8");
    assert_eq!(fs::read(scene.path("ledger.head")).unwrap(), new[2].1, "the head follows the ledger");
    fs::remove_file(scene.path("ledger.head")).unwrap();
    assert!(locked(&ledger));
    Ledger::init(&scene.path("other"), &[scene.dataset("staff", "eps(1)")]).unwrap();
    fs::copy(scene.path("other.head"), scene.path("ledger.head")).unwrap();
    assert!(locked(&ledger));
    put(&new);
    fs::copy(scene.path("other-wal"), scene.path("ledger-wal")).unwrap();
    assert!(locked(&ledger));
    fs::copy(scene.path("other"), scene.path("ledger")).unwrap();
    assert!(locked(&ledger));
    put(&new);
    fs::write(scene.path("ledger"), b"").unwrap();
    assert!(locked(&ledger));
    assert_eq!(fs::read(scene.path("ledger-wal")).unwrap(), new[1].1, "the log of a damaged ledger stays");
    fs::remove_file(scene.path("ledger")).unwrap();
    assert!(matches!(ledger.read(), Err(LedgerError::Missing)));
    assert!(matches!(Ledger::init(&scene.path("ledger"), &[scene.dataset("staff", "eps(1)")]), Err(LedgerError::Exists)));
    put(&new);
    assert_eq!(left(&ledger), "0.8");
    // A copy elsewhere, with its head, first without its log, and a second name of the same file.
    for (end, bytes) in [("", &new[0].1), (".head", &new[2].1)] {
        fs::write(scene.path(&format!("copy{end}")), bytes).unwrap();
    }
    let copy = Ledger::at(&scene.path("copy")).unwrap();
    assert!(locked(&copy) && copy.moved().is_err());
    fs::write(scene.path("copy-wal"), &new[1].1).unwrap();
    assert!(locked(&copy));
    fs::hard_link(scene.path("ledger"), scene.path("hard")).unwrap();
    fs::write(scene.path("hard.head"), &new[2].1).unwrap();
    fs::hard_link(scene.path("ledger-wal"), scene.path("hard-wal")).unwrap();
    let hard = Ledger::at(&scene.path("hard")).unwrap();
    assert!(locked(&hard) && hard.moved().is_err());
    fs::remove_file(scene.path("hard")).unwrap();
    fs::remove_file(scene.path("hard-wal")).unwrap();
    assert_eq!(left(&ledger), "0.8");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(scene.path("ledger"), scene.path("soft")).unwrap();
        assert_eq!(left(&Ledger::at(&scene.path("soft")).unwrap()), "0.8");
    }
    // Its owner may say that it moved, with its key; that is recorded.
    assert!(copy.moved().is_err());
    fs::copy(scene.path("ledger.key"), scene.path("copy.key")).unwrap();
    copy.moved().unwrap();
    assert_eq!(left(&copy), "0.8");
    assert!(matches!(copy.read().unwrap().lines.last(), Some((Entry::Moved { .. }, _))));
}

#[test]
fn a_reservation_of_a_killed_run_counts_and_none_is_used_twice() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    drop(ledger.reserve("c", &[ask(0.3)]).unwrap());
    assert_eq!(left(&ledger), "0.7");
    let reservation = ledger.reserve("c", &[ask(0.3)]).unwrap();
    assert!(reservation.read("staff").is_ok());
    assert!(matches!(reservation.read("other"), Err(LedgerError::UnknownDataset(_))));
    // A reservation of one ledger is nothing in another.
    let other = Ledger::init(&scene.path("other"), &[scene.dataset("staff", "eps(1)")]).unwrap();
    assert!(matches!(other.commit(reservation), Err(LedgerError::UnknownRun)));
    assert_eq!((left(&ledger), left(&other)), ("0.4".into(), "1".into()));
}

/// Every byte of every cell of every row, changed through SQLite; rows removed, swapped, renumbered, inserted.
#[test]
fn tampering_with_rows_is_found() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    spend(&ledger, 2);
    let good = files(&scene);
    let rows: Vec<(i64, String, String)> = {
        let db = rusqlite::Connection::open(scene.path("ledger")).unwrap();
        let mut query = db.prepare("SELECT idx, body, hash FROM entries ORDER BY idx").unwrap();
        query.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).unwrap().map(Result::unwrap).collect()
    };
    let tamper = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        put(&good);
        let db = rusqlite::Connection::open(scene.path("ledger")).unwrap();
        db.pragma_update(None, "synchronous", "OFF").unwrap();
        db.execute(sql, values).unwrap();
        drop(db);
        assert!(matches!(ledger.read(), Err(LedgerError::Locked(_))), "{sql}");
    };
    let mut tried = 0;
    for (idx, body, hash) in &rows {
        for (column, text) in [("body", body), ("hash", hash)] {
            for at in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                tamper(&format!("UPDATE entries SET {column} = ?1 WHERE idx = ?2"), &[&changed, idx]);
                tried += 1;
            }
        }
        tamper("DELETE FROM entries WHERE idx = ?1", &[idx]);
        tamper("UPDATE entries SET idx = 100 WHERE idx = ?1", &[idx]);
    }
    assert!(tried > 1000, "{tried}");
    tamper("DELETE FROM entries WHERE idx > 3", &[]);
    tamper("UPDATE entries SET idx = CASE idx WHEN 2 THEN -4 ELSE -2 END WHERE idx IN (2, 4)", &[]);
    tamper("UPDATE entries SET idx = idx + 1000", &[]);
    let (_, body, hash) = rows.last().unwrap();
    tamper("INSERT INTO entries VALUES (?1, ?2, ?3)", &[&(rows.len() as i64), body, hash]);
    tamper("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE idx > 2; END", &[]);
    tamper("CREATE TABLE more (x)", &[]);
    put(&good);
    assert_eq!(left(&ledger), "0.8");
}

/// The key and then the chain: who can write the ledger and its head, but not read the key, forges nothing, in neither form.
#[test]
fn the_chain_is_keyed() {
    use sha2::{Digest, Sha256};
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    spend(&ledger, 2);
    let good = files(&scene);
    let key = fs::read_to_string(scene.path("ledger.key")).unwrap();
    // A charge less, every hash made anew as the earlier form made them, the head as well.
    let forge = |format: &str| {
        put(&good);
        let db = rusqlite::Connection::open(scene.path("ledger")).unwrap();
        db.execute("DELETE FROM entries WHERE idx > 4", []).unwrap();
        let bodies: Vec<String> = {
            let mut query = db.prepare("SELECT body FROM entries ORDER BY idx").unwrap();
            query.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let mut previous = String::new();
        for (i, body) in bodies.iter().enumerate() {
            let body = body.replace("\"format\":\"2\"", &format!("\"format\":\"{format}\""));
            let digest = Sha256::digest(format!("dpm ledger {format}\n{i}\n{previous}\n{body}"));
            previous = digest.iter().map(|b| format!("{b:02x}")).collect();
            db.execute("UPDATE entries SET body = ?2, hash = ?3 WHERE idx = ?1", rusqlite::params![i as i64, body, previous]).unwrap();
        }
        let head = fs::read_to_string(scene.path("ledger.head")).unwrap();
        let ledger = head.lines().nth(1).unwrap();
        fs::write(scene.path("ledger.head"), format!("dpm ledger head 1\n{ledger}\n{}\n{previous}\n", bodies.len() - 1)).unwrap();
    };
    for format in ["1", "2"] {
        forge(format);
        assert!(locked(&ledger), "{format}");
    }
    put(&good);
    assert_eq!(left(&ledger), "0.8");
    // Another key, a damaged one, none.
    Ledger::init(&scene.path("other"), &[scene.dataset("staff", "eps(1)")]).unwrap();
    for bad in [Some(fs::read_to_string(scene.path("other.key")).unwrap()), Some(key[..40].into()), Some(key.to_uppercase()), None] {
        match bad {
            None => fs::remove_file(scene.path("ledger.key")).unwrap(),
            Some(bad) => fs::write(scene.path("ledger.key"), bad).unwrap(),
        }
        assert!(locked(&ledger));
    }
    // A ledger of the earlier form, whose key does not key its chain, is read and charged as before.
    forge("1");
    fs::write(scene.path("ledger.key"), key.trim().rsplit(' ').next().unwrap()).unwrap();
    assert_eq!(left(&ledger), "0.9");
    assert_eq!((code(&scene.run("tenth.dpm", "staff=@staff")), left(&ledger).as_str()), (0, "0.8"));
}

/// The raw files: a byte flipped, the file cut, a tail of zeros or of the older file (a torn write). What is read is the
/// state before or after, or nothing: the ledger is locked.
#[test]
fn torn_and_flipped_files() {
    for torn in 0..2 {
        let scene = Scene::new();
        let ledger = scene.ledger("eps(1)");
        spend(&ledger, 2);
        // The log, and the file that a log was brought into.
        let moment = if torn == 1 { files } else { folded };
        let before = moment(&scene);
        spend(&ledger, 1);
        let after = moment(&scene);
        let states = ["0.8", "0.7"];
        let (old, new) = (&before[torn].1, &after[torn].1);
        let mut refused = 0_usize;
        let mut judge = |bytes: &[u8], head: &[u8], what: &str| {
            put(&after);
            fs::write(&after[torn].0, bytes).unwrap();
            fs::write(scene.path("ledger.head"), head).unwrap();
            match ledger.read() {
                Ok(contents) => {
                    let left = contents.accounts.accounts["staff"].balance()[0].left.clone();
                    assert!(states.contains(&left.as_str()), "{what}: {left}");
                    // With the newer head nothing older is ever accepted.
                    assert!(head != after[2].1 || left == "0.7", "{what}: {left}");
                }
                Err(LedgerError::Locked(_) | LedgerError::Storage(_)) => refused += 1,
                Err(other) => panic!("{what}: {other}"),
            }
        };
        let step = new.len() / 200 + 1;
        for at in (0..new.len()).step_by(step) {
            let mut torn = new[..at].to_vec();
            judge(&torn, &after[2].1, &format!("cut at {at}"));
            torn.extend_from_slice(old.get(at..).unwrap_or(&[]));
            judge(&torn, &before[2].1, &format!("old tail from {at}"));
            judge(&torn, &after[2].1, &format!("old tail from {at}, new head"));
            let mut flipped = new.clone();
            flipped[at] ^= 0x40;
            judge(&flipped, &after[2].1, &format!("flipped at {at}"));
        }
        assert!(refused > 300, "{torn}: {refused}");
    }
}

/// The folder of a ledger holds no pipe, link or folder in the place of a file beside it.
#[cfg(unix)]
#[test]
fn what_stands_beside_a_ledger_is_a_file() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let good = files(&scene);
    for end in ["-wal", "-shm", "-journal", ".lock", ".head.new"] {
        let path = scene.path(&format!("ledger{end}"));
        let _ = fs::remove_file(&path);
        fs::write(scene.path("elsewhere"), b"").unwrap();
        std::os::unix::fs::symlink(scene.path("elsewhere"), &path).unwrap();
        assert!(locked(&ledger), "{end}");
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(locked(&ledger), "{end}");
        fs::remove_file(&path).unwrap();
        put(&good);
    }
    assert_eq!(left(&ledger), "1");
}
