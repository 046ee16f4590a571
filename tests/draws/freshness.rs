//! Randomness is new in every process; memory is not dumped; a file that is swapped is never mixed with another.

use crate::data_support;
use crate::data_support::{T, column, sum_of, table};
use dpm::data::eval::NoEnvironment;
use dpm::data::{Opened, count_rows, scan};
use dpm::mechanism::bits::{BitSource, OsBits};
use dpm::mechanism::{Scope, execute, prepare};
use dpm::model::Type;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const PROCESSES: usize = 1_000;

#[test]
#[ignore = "runs as a child of the other test"]
fn bits_of_a_child() {
    let mut bits = OsBits::new().unwrap();
    println!("bits {:016x}{:016x}", bits.word().unwrap(), bits.word().unwrap());
}

#[test]
#[ignore = "runs as a child of the other test"]
fn limits_of_a_child() {
    dpm::private::no_core_dumps();
    print!("{}", std::fs::read_to_string("/proc/self/limits").unwrap_or_default());
    #[cfg(target_os = "linux")]
    println!("dumpable {:?}", rustix::process::dumpable_behavior().unwrap());
}

fn child(name: &str) -> String {
    let arguments = ["--exact", name, "--ignored", "--nocapture"];
    let out = Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn every_process_has_its_own_bits() {
    let mut seen = BTreeSet::new();
    for _ in 0..PROCESSES {
        let text = child("freshness::bits_of_a_child");
        let at = text.find("bits ").unwrap() + 5;
        seen.insert(text[at..at + 32].to_owned());
    }
    assert_eq!(seen.len(), PROCESSES);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_not_dumped() {
    let text = child("freshness::limits_of_a_child");
    let core = text.lines().find(|l| l.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"]);
    assert!(text.contains("dumpable NotDumpable"), "{text}");
}

/// Two passes over one opened file see the same rows while another process swaps the path 10,000 times.
#[test]
fn a_swapped_path_never_mixes_two_files() {
    let t = table(&[("x", Type::Bool)]);
    let folder = tempfile::tempdir().unwrap();
    let [path, spare, next] = ["staff.csv", "spare.csv", "next.csv"].map(|f| folder.path().join(f));
    let (ones, zeros) = (format!("x\n{}", "1\n".repeat(10)), format!("x\n{}", "0\n".repeat(20)));
    std::fs::write(&path, &ones).unwrap();
    let running = AtomicBool::new(true);
    let plan = data_support::nearly_exact(sum_of(column(&t, 0)));
    assert_eq!(plan.table(), T);
    std::thread::scope(|s| {
        s.spawn(|| {
            for i in 0..10_000 {
                std::fs::write(&spare, if i % 2 == 0 { &zeros } else { &ones }).unwrap();
                std::fs::rename(&spare, &next).unwrap();
                std::fs::rename(&next, &path).unwrap();
            }
            running.store(false, Ordering::Relaxed);
        });
        let mut kinds = BTreeSet::new();
        while running.load(Ordering::Relaxed) {
            let opened = Opened::open(&path).unwrap();
            let rows = count_rows(&t, opened.source().unwrap()).unwrap();
            let scope = Scope { table: &t, group: None, env: &NoEnvironment };
            let job = prepare(&plan, &scope).unwrap();
            let measured = scan(&t, opened.source().unwrap(), &[job]).unwrap();
            let drawn = execute(&plan, &scope, &measured[0], &mut OsBits::new().unwrap()).unwrap();
            let sum = drawn[0].to_f64()[0].round() as i64;
            assert!(matches!((rows, sum), (Some(10), 10) | (Some(20), 0)), "{rows:?} rows, sum {sum}");
            kinds.insert(sum);
        }
        assert_eq!(kinds.len(), 2);
    });
}
