//! Races of threads and processes, kills at random times, and a measurement.

use super::*;

/// Many runs at once: what is accepted is exactly what fits.
#[test]
fn races_never_exceed_the_budget() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let mut commands: Vec<Command> = (0..4).map(|_| scene.command("tenth.dpm", "staff=@staff")).collect();
            std::thread::spawn(move || commands.iter_mut().map(|c| code(&c.output().unwrap())).collect::<Vec<i32>>())
        })
        .collect();
    let codes: Vec<i32> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
    assert!(codes.iter().all(|c| *c == 0 || *c == 4), "{codes:?}");
    assert_eq!(codes.iter().filter(|c| **c == 0).count(), 10);
    assert_eq!((charges(&ledger), left(&ledger).as_str()), (10, "0"));
}

/// One of many processes: spends a tenth as often as the file `attempts` in its folder says.
#[test]
#[ignore = "a part of the tests below, which start it many times"]
fn one_process() {
    let Ok(attempts) = fs::read_to_string("attempts") else { return };
    let ledger = Ledger::at(Path::new("ledger")).unwrap();
    let (mut accepted, mut refused, mut busy) = (0, 0, 0);
    for _ in 0..attempts.trim().parse::<u32>().unwrap() {
        match ledger.reserve("c", &[ask(0.1)]) {
            Ok(reservation) => {
                accepted += 1;
                // A busy ledger may keep the end of a run out; its charge is there.
                let _ = ledger.commit(reservation);
            }
            Err(LedgerError::OverBudget(_)) => refused += 1,
            Err(LedgerError::Busy) => busy += 1,
            Err(other) => panic!("{other}"),
        }
    }
    println!("RESULT {accepted} {refused} {busy}");
}

fn many_processes(processes: usize, attempts: u64, budget: &str, fits: u64) -> String {
    let scene = Scene::new();
    let ledger = scene.ledger(budget);
    fs::write(scene.path("attempts"), attempts.to_string()).unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "ledger::processes::one_process", "--ignored", "--nocapture"]).current_dir(scene.folder.path());
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    };
    let children: Vec<_> = (0..processes).map(|_| start()).collect();
    let mut sums = [0_u64; 3];
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find_map(|l| l.split_once("RESULT ")).unwrap_or_else(|| panic!("{text}")).1.to_owned();
        for (sum, n) in sums.iter_mut().zip(line.split(' ')) {
            *sum += n.parse::<u64>().unwrap();
        }
    }
    let [accepted, refused, busy] = sums;
    assert_eq!(accepted + refused + busy, processes as u64 * attempts);
    // A process that was told no is told so because the budget is gone.
    assert_eq!((accepted, charges(&ledger), left(&ledger).as_str()), (fits, fits, "0"));
    format!("{processes} processes x {attempts}: accepted {accepted}, refused {refused}, busy {busy}")
}

#[test]
fn sixteen_processes() {
    many_processes(16, 20, "eps(10)", 100);
}

#[test]
#[ignore = "minutes: the long form of the test above"]
fn sixty_four_processes_by_a_thousand() {
    println!("{}", many_processes(64, 1000, "eps(5)", 50));
}

#[test]
#[ignore = "minutes: prints a line a round for benches/results/race.txt; DPM_ROUNDS for fewer"]
fn a_hundred_rounds_of_sixty_four_processes() {
    let rounds = std::env::var("DPM_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    for _ in 0..rounds {
        println!("round: {}", many_processes(64, 10, "eps(5)", 50));
    }
}

/// Whoever reads, for however long, is in nobody's way; a writer of a few seconds is waited for.
#[test]
fn readers_and_slow_writers_turn_no_run_away() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let reader = rusqlite::Connection::open(scene.path("ledger")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    let started = SystemTime::now();
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 0);
    assert!(started.elapsed().unwrap() < Duration::from_secs(60), "{started:?}");
    let writer = rusqlite::Connection::open(scene.path("ledger")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut waiting = scene.command("tenth.dpm", "staff=@staff").stdout(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(5));
    assert!(waiting.try_wait().unwrap().is_none(), "the charge did not wait");
    // Reading does not.
    assert_eq!((charges(&ledger), left(&ledger).as_str()), (1, "0.9"));
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!((waiting.wait().unwrap().code(), charges(&ledger)), (Some(0), 2));
    drop(reader);
}

/// A long log is brought into the file, but not under a reader, who is waited for by nobody.
#[test]
fn long_logs_are_shortened_and_nothing_is_lost() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1)");
    let log = || fs::metadata(scene.path("ledger-wal")).unwrap().len();
    let reader = rusqlite::Connection::open(scene.path("ledger")).unwrap();
    let other = rusqlite::Connection::open(scene.path("ledger")).unwrap();
    other.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(())).unwrap();
    other.execute_batch("PRAGMA synchronous = OFF").unwrap();
    while log() < 4 << 20 {
        // A row that stays as it is would not be written.
        other.execute_batch("UPDATE entries SET body = body || ' '; UPDATE entries SET body = rtrim(body)").unwrap();
    }
    reader.execute_batch("BEGIN; SELECT count(*) FROM entries").unwrap();
    drop(ledger.reserve("c", &[ask(0.1)]).unwrap());
    assert!(log() >= 4 << 20);
    reader.execute_batch("ROLLBACK").unwrap();
    drop(ledger.reserve("c", &[ask(0.1)]).unwrap());
    assert_eq!((log(), charges(&ledger), left(&ledger).as_str()), (0, 2, "0.8"));
    drop(ledger.reserve("c", &[ask(0.1)]).unwrap());
    assert_eq!((charges(&ledger), left(&ledger).as_str()), (3, "0.7"));
}

/// Makes the next read of the file move its access time; true afterwards if somebody read it.
fn watch(path: &Path) {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    fs::File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_accessed(past)).unwrap();
}

fn was_read(path: &Path) -> bool {
    fs::metadata(path).unwrap().accessed().unwrap() > SystemTime::UNIX_EPOCH + Duration::from_secs(2)
}

/// 200 runs killed after a random time. A run whose data were read, or whose release was seen, is charged.
#[test]
fn kills_leave_no_free_run() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1000)");
    let data = scene.path("staff.csv");
    watch(&data);
    fs::read(&data).unwrap();
    let visible = was_read(&data);
    let started = SystemTime::now();
    assert_eq!(code(&scene.run("tenth.dpm", "staff=@staff")), 0);
    let whole = started.elapsed().unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut before, mut read_runs, mut unfinished) = (1, 0, 0);
    for i in 0..200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let delay = whole.mul_f64((seed >> 11) as f64 / (1_u64 << 53) as f64 * 1.2);
        watch(&data);
        let mut child = scene.command("tenth.dpm", "staff=@staff").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(delay);
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let read = visible && was_read(&data);
        let now = charges(&ledger);
        assert!(now == before || now == before + 1, "run {i}: {before} -> {now} charges");
        if read || !output.stdout.is_empty() {
            assert_eq!(now, before + 1, "run {i} read the data and is not charged");
            read_runs += 1;
        }
        unfinished += u64::from(now > before && output.stdout.is_empty());
        before = now;
    }
    assert!(!visible || read_runs > 0, "no run got as far as the data");
    let contents = ledger.read().unwrap();
    assert_eq!((contents.accounts.ended_runs.len() + contents.accounts.open_runs.len()) as u64, before);
    assert!(unfinished < 200);
}

#[test]
#[ignore = "a measurement, not a check"]
fn latency() {
    let scene = Scene::new();
    let ledger = scene.ledger("eps(1000)");
    for _ in 0..20 {
        let mut times: Vec<Duration> = (0..50)
            .map(|_| {
                let start = std::time::Instant::now();
                drop(ledger.reserve("c", &[ask(0.1)]).unwrap());
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("{:>5} entries: median {:?}, slowest {:?} a reservation", ledger.read().unwrap().lines.len(), times[25], times[49]);
    }
}
