//! Random small programs against truths of 50 digits that `benches/random_truth.py` enumerated: never below, and no dearer than they were.

use crate::numbers_support::claim;
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn never_below_the_enumerated_truth() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random_truth.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut numbers = 0;
    for case in &cases {
        let text = case["program"].as_str().unwrap();
        let claim = claim(text);
        for row in case["truths"].as_array().unwrap() {
            let number = |key: &str| row[key].as_str().unwrap().parse::<f64>().unwrap();
            let at = row["at"].as_f64().unwrap_or(0.0);
            let found = match row["what"].as_str().unwrap() {
                "rdp" => claim.rdp(at),
                "dp" => claim.epsilon(at),
                "zcdp" => claim.zcdp(),
                "pure" => claim.pure(),
                "gdp" => claim.gdp(),
                other => panic!("{other}"),
            };
            let (stated, truth) = (number("stated"), number("true"));
            assert!(found >= truth * (1.0 - f64::EPSILON), "{found} below {truth}: {row}\n{text}");
            assert!(found <= stated * (1.0 + 1e-9), "{found} above what was stated: {row}\n{text}");
            numbers += 1;
        }
    }
    assert!(cases.len() >= 100 && numbers > 500, "{} programs, {numbers} numbers", cases.len());
}
