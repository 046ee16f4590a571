//! Signed records: no record with one byte changed is accepted.

use super::*;
use dpm::cli::sealed;

const PROGRAM: &str = "budget eps(0.4)\nprivate staff[n >= 100] { smoker: bool }\nrelease share = mean(smoker) using laplace\n\
                       release k = count(smoker)\noutput twice = 2 * share\n";

/// The record of a charged run and the public key of its ledger.
fn signed(scene: &Scene) -> (String, String) {
    scene.ledger("eps(1)");
    fs::write(scene.path("p.dpm"), PROGRAM).unwrap();
    let done = scene.dpm(&["run", "p.dpm", "--data", "staff=@staff", "--ledger", "ledger", "-o", "r.json"]);
    assert_eq!(code(&done), 0, "{}", said(&done));
    let key = String::from_utf8(scene.dpm(&["ledger", "key", "ledger"]).stdout).unwrap();
    fs::write(scene.path("ledger.pub"), &key).unwrap();
    (fs::read_to_string(scene.path("r.json")).unwrap(), key)
}

/// 300 changes spread over all bytes and all other values of each, every 50th by the command as well; `DPM_LONG=1`: 100,000.
#[test]
fn a_record_with_one_byte_changed_is_refused() {
    let scene = Scene::new();
    let (good, key) = signed(&scene);
    let verify = || code(&scene.dpm(&["verify", "r.json", "--key", "ledger.pub"]));
    assert!(sealed::failures(&good, Some(&key)).is_empty() && verify() == 0);
    let wanted = if std::env::var_os("DPM_LONG").is_some() { 100_000 } else { 300 };
    let all = good.len() * 255;
    assert!(all > 2 * wanted);
    let mut by_command = 0;
    for i in 0..wanted {
        let at = i * all / wanted;
        let mut bytes = good.clone().into_bytes();
        bytes[at / 255] ^= u8::try_from(at % 255 + 1).unwrap();
        if i % 50 == 0 {
            fs::write(scene.path("r.json"), &bytes).unwrap();
            assert_ne!(verify(), 0, "byte {}", at / 255);
            by_command += 1;
        }
        // What is no text is refused before anything else.
        if let Ok(changed) = String::from_utf8(bytes) {
            assert!(!sealed::failures(&changed, Some(&key)).is_empty(), "byte {}: {changed}", at / 255);
        }
    }
    println!("{wanted} changes of one byte in a record of {} bytes, {by_command} of them by the command as well: all refused", good.len());
}
