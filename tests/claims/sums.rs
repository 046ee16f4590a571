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

const COLUMNS: &str = "g: category {p, q, r}, h: category {u, v}, old: bool, died: bool, falls: int in 0..7, years: real in [0, 15.3]";

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
        (2, "sums(died, years, groups = old)"),
        (6, "sums(falls, years, groups = [g, old])"),
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

/// A number in [-1, 1] and a weight in the block of the row's group.
#[test]
fn no_row_moves_means_of_groups_further_than_is_claimed() {
    let worst = |groups: usize, weight: f64, replaced: bool| {
        let rows: Vec<Row> = (0..21 * groups).map(|i| (i / 21, [(i % 21) as f64 / 10.0 - 1.0, weight])).collect();
        worst(&rows, replaced)
    };
    for (groups, query) in [(3, "mean(years, groups = g)"), (2, "mean(years, groups = old)"), (12, "mean(falls, groups = [g, h, old])")] {
        for (head, replaced, weights) in [("n", true, [0.7, 1.0]), ("private n", false, [0.7, 0.75])] {
            let now = claim(head, query);
            for i in 0..2 {
                let truth = worst(groups, weights[i], replaced)[i];
                assert!((truth..=1.001 * truth).contains(&now[i]), "{query} [{head}]: {now:?} of {truth:?}");
            }
        }
    }
    // Sizes of public groups are public, and no row changes its group: no more than the sum of one column moves.
    let public = |query: &str| {
        let text = |using: &str| {
            format!("private t[n] {{ g: public category {{p, q}}, x: real in [-1, 1] }}\nrelease s = {query} using {using}\n")
        };
        [certified(&text("laplace(scale = 1)")).total().pure(), certified(&text("gaussian(sigma = 1)")).total().gdp()]
    };
    let [all, by_group] = [public("sum(x)"), public("mean(x, groups = g)")];
    assert!((0..2).all(|i| (all[i]..=1.001 * all[i]).contains(&by_group[i])), "{all:?} {by_group:?}");
}
