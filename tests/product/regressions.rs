//! Attacks that once succeeded: each is answered as it should be.

use std::fs;
use std::process::Command;

/// The released number `q` of a program with one private table.
fn released(program: &str, data: &str) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let (p, d) = (folder.path().join("p.dpm"), folder.path().join("d.csv"));
    fs::write(&p, program).unwrap();
    fs::write(&d, data).unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_dpm")).arg("run").arg(&p).arg("--json").arg("--data").arg(&d).output().unwrap();
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let record: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    record["releases"]["q"].to_string().parse().unwrap()
}

/// A well-formed cell with line breaks, longer than any buffer or beside a surplus field, is one cell of one row. The
/// noise has scale 1, so 3 rows of about 100 lie within 60 of 300 but for a chance of exp(-60).
#[test]
fn a_cell_makes_no_rows() {
    let program = "private s[3] { x: real in [100, 101] }\nrelease q = sum(x) using laplace(scale = 1)\n";
    let many = "101,z\n".repeat(12_000);
    for comment in ["a".to_string(), format!("\"\n{many}\""), "\"\n101,z\n101,z\n\",extra".to_string(), "\"x\"\"\n\"".to_string()] {
        let q = released(program, &format!("x,comment\n100,a\n100,{comment}\n100,c\n"));
        assert!((q - 300.0).abs() < 60.0, "{q}");
    }
}

/// A blank line below a header of one column is a row with an empty cell.
#[test]
fn an_empty_cell_of_one_column_is_a_row() {
    let program = "private s[2] { x: real in [100, 101] }\nrelease q = sum(x) using laplace(scale = 1)\n";
    for data in ["x\n100\n100\n", "x\n100\n\n", "x\n\n\n"] {
        let q = released(program, data);
        assert!((q - 200.0).abs() < 60.0, "{data:?}: {q}");
    }
}

/// The sum of a row vector and a large constant is rounded; the sensitivity must count that.
#[test]
fn rounding_of_a_shifted_vector_is_counted() {
    let text = "private s[n] { x: vector[2] in l1(1) }\n\
                release r = sum(x + [10000000000000002, 10000000000000002]) using laplace(scale = 1)\n";
    let checked = dpm::pipeline::check("p.dpm", text, &dpm::check::NoFiles);
    let (analysis, _) = dpm::pipeline::analyze(&checked, &dpm::run::Bound::default(), false);
    let epsilon = analysis.unwrap().total.unwrap().pure();
    // x = (1, 0) against (-1, 0): both components are even doubles near 1e16, so the sums differ by 4.
    assert!(epsilon >= 4.0, "{epsilon}");
}
