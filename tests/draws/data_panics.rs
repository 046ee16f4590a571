//! A panic prints one fixed line, whatever it would have said.

use std::process::Command;

const CANARY: &str = "CANARY-90210";

#[test]
#[ignore = "runs as a child of the other test"]
fn child() {
    dpm::private::quiet_panics();
    panic!("{CANARY}");
}

#[test]
fn a_panic_quotes_nothing() {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "data_panics::child", "--ignored", "--nocapture"])
        .env("RUST_BACKTRACE", "full")
        .output()
        .unwrap();
    let text = [out.stdout, out.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(!out.status.success());
    assert!(text.contains("internal error"), "{text}");
    assert!(!text.contains(CANARY), "{text}");
}
