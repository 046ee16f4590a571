//! Released sums by group: what one row moves them by, enumerated, against what is claimed.

use crate::numbers_support::certified;

/// A row's group, and its parts of the sums.
type Row = (usize, [f64; 2]);

fn rows(groups: usize) -> Vec<Row> {
    let part = |i: usize| [0.0, 0.5, 1.0][i % 3];
    (0..9 * groups).map(|i| (i / 9, [part(i / 3), part(i)])).collect()
}

/// The largest L1 and L2 distance of two of them, or length of one.
fn worst(rows: &[Row], replaced: bool) -> [f64; 2] {
    let size = |x: &[f64]| [x.iter().map(|x| x.abs()).sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>().sqrt()];
    let mut found = [0.0_f64; 2];
    for (g, a) in rows {
        for (h, b) in rows {
            let apart: Vec<f64> = match (replaced, g == h) {
                (false, _) => a.to_vec(),
                (_, true) => a.iter().zip(b).map(|(x, y)| x - y).collect(),
                (_, false) => a.iter().chain(b).copied().collect(),
            };
            let s = size(&apart);
            found = [found[0].max(s[0]), found[1].max(s[1])];
        }
    }
    found
}

const COLUMNS: &str = "g: category {p, q, r}, h: category {u, v}, died: bool, falls: int in 0..7, years: real in [0, 15.3]";

fn claim(head: &str, query: &str) -> [f64; 2] {
    let of = |using: &str| certified(&format!("private t[{head}] {{ {COLUMNS} }}\nrelease s = {query} using {using}\n"));
    [of("laplace(scale = 1)").total().pure(), of("gaussian(sigma = 1)").total().gdp()]
}

#[test]
fn no_row_moves_sums_further_than_is_claimed() {
    for (groups, query) in [
        (1, "sums(died, years)"),
        (3, "sums(died, years, groups = g)"),
        (6, "sums(falls, years, groups = [g, h])"),
        (2, "sums(died, falls, groups = h)"),
        (3, "sums(died, lived = 15.3 - years, groups = g)"),
    ] {
        for (head, replaced) in [("n", true), ("private n", false)] {
            let (now, truth) = (claim(head, query), worst(&rows(groups), replaced));
            for i in 0..2 {
                assert!((truth[i]..=1.001 * truth[i]).contains(&now[i]), "{query} [{head}]: {now:?} of {truth:?}");
            }
        }
    }
    // Up to three rows of one person.
    let text = "private t[m] by id max 3 { id: text, g: category {p, q}, died: bool, years: real in [0, 2] }\nrelease s = sums(died, years, groups = g) using laplace(scale = 1)\n";
    let of_units = certified(text).total().pure();
    assert!((12.0..12.02).contains(&of_units), "{of_units}");
}
