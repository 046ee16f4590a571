//! Cells that are not what was declared: mapped without a word, whatever they contain.

use super::{CANARY, Place};
use crate::fuzz::Dice;

/// Every type of cell, every kind of statistic that reads it; noise so large that widths would show a difference.
const TABLE: &str = "budget rdp(order = 2, eps = 1e9)
private t[n] by id max 2 { id: text, b: bool, i: int in 0..9, x: real in [-2, 2], g: category {u, v, w}, z: vector[2] in l2(1) }
release s = sum(x) using gaussian(sigma = 10)
release c = histogram(g) using gaussian(sigma = 10)
release m = sum(z) using gaussian(sigma = 10)
release h = sum(i) using gaussian(sigma = 1000)
param q ~ normal(0, 5)
observe x ~ normal(q, 3)
release q_hat = draw(q)
";

const GOOD: &str = "id,b,i,x,g,z_1,z_2\n";

/// What may stand in a cell of a private table.
fn cells() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        "",
        " ",
        "0",
        "1",
        "-0",
        "kanarie-31337",
        "NaN",
        "nan",
        "inf",
        "-inf",
        "+Infinity",
        "1e400",
        "-1e400",
        "5e-324",
        "1e308",
        "0x10",
        "1,5",
        "\"1\"",
        "\"a\"\"b\"",
        "\"open",
        "a\"b",
        "\"x\"y",
        "\u{feff}1",
        "31337",
        "u",
        "nobody",
        "TRUE",
        "no",
        "\t2",
        "1_000",
        "9007199254740993",
        "0.1e",
        ".5",
        "5.",
        "--1",
        "\u{202e}",
        "é",
        "= 1+1",
        "99999999999999999999999999999999999999",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    all.push(vec![0]);
    all.push(b"1\x002".to_vec());
    all.push(vec![0xff, 0xfe, 0x31]);
    all.push(vec![0xc3]);
    all.push(vec![b'9'; 5_000]);
    all.push(vec![b'"'; 7]);
    all
}

/// A private file of `rows` rows with ordinary cells.
fn ordinary(rows: usize) -> Vec<Vec<u8>> {
    (0..rows).map(|i| format!("person{i},{},{},0.{},v,0.1,0.2", i % 2, i % 10, i % 7).into_bytes()).collect()
}

fn file(rows: &[Vec<u8>], end: &[u8]) -> Vec<u8> {
    let mut out = GOOD.as_bytes().to_vec();
    for row in rows {
        out.extend_from_slice(row);
        out.extend_from_slice(end);
    }
    out
}

/// Runs the table program on a file: standard error, and the shape of the answer (released numbers left out).
fn observe(place: &Place, bytes: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    place.write("t.csv", bytes);
    let out = place.dpm(&["run", "p.dpm", "--data", "t=t.csv", "--json"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let shown = [text.as_bytes(), &out.stderr].concat();
    assert!(!String::from_utf8_lossy(&shown).contains(CANARY), "a canary came out");
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    for name in ["s", "c", "m", "h", "q_hat"] {
        let released = &mut value["releases"][name];
        *released = match released {
            serde_json::Value::Array(items) => serde_json::json!(vec!["number"; items.len()]),
            serde_json::Value::Object(items) => items.keys().cloned().collect(),
            serde_json::Value::Number(_) => "number".into(),
            other => panic!("{name} is {other}"),
        };
    }
    let value = value.to_string();
    // A canary that is a number could stand in a released value by chance; those are left out by now.
    assert!(!value.contains("31337"), "a number came out");
    (out.status.code(), out.stderr, value)
}

#[test]
fn every_bad_private_cell_is_mapped_without_a_word() {
    let place = Place::new(TABLE);
    let wanted = observe(&place, &file(&ordinary(6), b"\n"));
    assert_eq!(wanted.0, Some(0), "{}", String::from_utf8_lossy(&wanted.1));
    let bad = cells();
    for (index, cell) in bad.iter().enumerate() {
        // The cell in every column at once, one row each.
        let mut rows = ordinary(6);
        for column in 0..7 {
            let source = rows[column % 6].clone();
            let mut parts: Vec<&[u8]> = source.split(|b| *b == b',').collect();
            if let Some(part) = parts.get_mut(column) {
                *part = cell;
            }
            rows[column % 6] = parts.join(&b","[..]);
        }
        assert!(observe(&place, &file(&rows, b"\n")) == wanted, "cell {index} is told apart: {:?}", String::from_utf8_lossy(cell));
    }
}

#[test]
fn ragged_rows_and_line_ends_are_mapped_without_a_word() {
    let place = Place::new(TABLE);
    let wanted = observe(&place, &file(&ordinary(6), b"\n"));
    let with = |row: &[u8]| {
        let mut rows = ordinary(6);
        rows[2] = row.to_vec();
        file(&rows, b"\n")
    };
    let mut bom = b"\xef\xbb\xbf".to_vec();
    bom.extend(file(&ordinary(6), b"\n"));
    let mut open = file(&ordinary(5), b"\n");
    open.extend(b"\"kanarie-31337,1,2,0.3,u,0,0");
    let files = [
        ("short", with(b"kanarie-31337")),
        ("only commas", with(b",,,,,,")),
        ("one comma", with(b",")),
        ("long", with(b"a,1,2,0.3,u,0,0,kanarie-31337,31337,31337")),
        ("blank", with(b"")),
        ("a space", with(b" ")),
        ("NULs", with(b"\0\0\0,\0,\0")),
        ("not UTF-8", with(b"\xff\xff,\xfe,\xc0,\x80,\xf5,\xed\xa0\x80,1")),
        ("a lone quote", with(b"\"")),
        ("an open quote", with(b"\"kanarie-31337,1,2,0.3,u,0,0")),
        ("an open quote at the end", open),
        ("a carriage return", with(b"a\r,1\r,2,0.3,u,0,0")),
        ("a very long row", with(&b"kanarie-31337,".repeat(50_000))),
        ("CRLF", file(&ordinary(6), b"\r\n")),
        ("a byte order mark", bom),
        ("no end of line", file(&ordinary(6), b"\n").trim_ascii_end().to_vec()),
        ("blank lines", file(&ordinary(6), b"\n\n\n")),
    ];
    for (name, bytes) in files {
        assert!(observe(&place, &bytes) == wanted, "a file with {name} is told apart");
    }
}

/// One row of random cells, good and bad.
fn random_row(dice: &mut Dice, cells: &[Vec<u8>]) -> Vec<u8> {
    let width = if dice.once_in(4) { dice.below(12) } else { 7 };
    let row: Vec<&[u8]> = (0..width).map(|_| cells[dice.below(cells.len())].as_slice()).collect();
    row.join(&b","[..])
}

#[test]
fn neighbouring_files_cannot_be_told_apart() {
    let place = Place::new(TABLE);
    let cells = cells();
    let wanted = observe(&place, &file(&ordinary(6), b"\n"));
    for pair in 0..200 {
        let mut dice = Dice::new(pair);
        // A blank line is not a row, and a file without rows breaks every public n: one row stays.
        let mut rows = ordinary(2 + dice.below(11));
        let at = dice.below(rows.len());
        rows[at] = random_row(&mut dice, &cells);
        let first = observe(&place, &file(&rows, b"\n"));
        rows[at] = random_row(&mut dice, &cells);
        let second = observe(&place, &file(&rows, b"\n"));
        assert!(first == second && first == wanted, "pair {pair} is told apart");
    }
}
