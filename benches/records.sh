#!/bin/sh
# Changes of one byte in the signed record of a charged run, spread over all its bytes and all other values of each: none may pass what `dpm verify --key` asks of
# the seal. The sources of the seal are compiled alone and optimised; every 1,000th change goes to the command as well.
# Usage: benches/records.sh [CHANGES [DPM]] > benches/results/records.txt
set -eu
changes=${1:-100000}
dpm=$(realpath "${2:-target/debug/dpm}")
tree=$(realpath .)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cp Cargo.lock "$folder"
{ printf '[package]\nname = "seal"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n[dependencies]\n'
  grep -E '^(dashu-|serde_json|sha2|ed25519-dalek|libm)[a-z-]* = .*("|\})$' Cargo.toml | grep -v opt-level; } > "$folder/Cargo.toml"
cat > "$folder/src/main.rs" <<END
#[path = "$tree/src/json.rs"] mod json;
#[path = "$tree/src/verify/mod.rs"] #[allow(dead_code)] mod verify;
mod ledger { pub struct Signature { pub key: String, pub value: String } }
#[path = "$tree/src/cli/sealed.rs"] #[allow(dead_code)] mod sealed;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let (good, key) = (std::fs::read_to_string("record.json").unwrap(), std::fs::read_to_string("ledger.pub").unwrap());
    let wanted: usize = a[2].parse().unwrap();
    assert!(sealed::failures(&good, Some(&key)).is_empty());
    let (all, mut text, mut accepted, mut by_command) = (good.len() * 255, 0, 0, 0);
    for i in 0..wanted {
        let at = (i as u128 * all as u128 / wanted as u128) as usize;
        let mut bytes = good.clone().into_bytes();
        bytes[at / 255] ^= (at % 255 + 1) as u8;
        if i % 1000 == 0 {
            std::fs::write("changed.json", &bytes).unwrap();
            let said = std::process::Command::new(&a[1]).args(["verify", "changed.json", "--key", "ledger.pub"]).output().unwrap();
            by_command += 1;
            accepted += usize::from(said.status.success());
        }
        // What is no text is refused before anything else.
        if let Ok(changed) = String::from_utf8(bytes) {
            text += 1;
            accepted += usize::from(sealed::failures(&changed, Some(&key)).is_empty());
        }
    }
    println!("{wanted} changes of one byte in a record of {} bytes, {text} of them still text, {by_command} by the command as well: {accepted} accepted", good.len());
    assert_eq!(accepted, 0);
}
END
cd "$folder"
CARGO_TARGET_DIR=${SEAL_TARGET:-$folder/target} cargo build --release --quiet
{ echo smoker; for i in $(seq 120); do echo true; done; } > staff.csv
printf "private staff[n >= 100] { smoker: bool }\n" > schema
printf 'budget eps(0.4)\nprivate staff[n >= 100] { smoker: bool }\nparam p ~ beta(6, 18)\nobserve smoker ~ bernoulli(p)\nrelease post = posterior(p)\nrelease k = count(smoker)\noutput twice = 2 * k\n' > p.dpm
"$dpm" ledger init ledger --dataset staff=staff.csv --schema schema --shared --budget "eps(10)" > /dev/null
"$dpm" run p.dpm --data staff=@staff --ledger ledger --anyway -o record.json > /dev/null 2>&1
"$dpm" ledger key ledger > ledger.pub
"${SEAL_TARGET:-$folder/target}"/release/seal "$dpm" "$changes"
