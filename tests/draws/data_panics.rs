//! A panic prints one fixed line, whatever it would have said.

use dpm::private::{contained, quiet_panics};
use std::process::{Command, Output};

const CANARY: &str = "CANARY-90210";

#[test]
#[ignore = "runs as a child of the other test"]
fn child() {
    quiet_panics();
    panic!("{CANARY}");
}

/// What is contained ends nothing; then one panic that is not.
#[test]
#[ignore = "runs as a child of the other test"]
fn contained_child() {
    quiet_panics();
    let fails = || -> u8 { panic!("{CANARY}") };
    assert_eq!((contained(fails), contained(|| 7)), (None, Some(7)));
    assert!(contained(|| std::thread::spawn(fails).join().is_err()).unwrap(), "a thread is as quiet");
    assert_eq!(contained(|| (contained(fails), fails())), None);
    fails();
}

fn child_of(name: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("data_panics::{name}"), "--ignored", "--nocapture"])
        .env("RUST_BACKTRACE", "full")
        .output()
        .unwrap()
}

#[test]
fn a_panic_quotes_nothing() {
    for name in ["child", "contained_child"] {
        let out = child_of(name);
        assert!(!out.status.success());
        assert!(!String::from_utf8_lossy(&out.stdout).contains(CANARY));
        // Once: a contained panic says nothing at all, also if it happens beside another.
        assert_eq!(String::from_utf8_lossy(&out.stderr), "dpm: internal error (E9999); nothing was released\n", "{name}");
    }
}
