//! Released moments: what one row moves sums and products by, enumerated, against what is claimed.

use crate::numbers_support::certified;

/// A vector with its products and weighted squares, written here once more.
fn row(v: &[f64]) -> Vec<f64> {
    let weight = if v.len() == 1 { 1.6 } else { 0.707 };
    let mut all = v.to_vec();
    for i in 0..v.len() {
        for j in i..v.len() {
            all.push(v[i] * v[j] * if i == j { weight } else { 1.0 });
        }
    }
    all
}

fn grid(d: u32, steps: u32) -> Vec<Vec<f64>> {
    let at = |i: u32| -1.0 + 2.0 * f64::from(i) / f64::from(steps);
    (0..(steps + 1).pow(d)).map(|k| row(&(0..d).map(|j| at(k / (steps + 1).pow(j) % (steps + 1))).collect::<Vec<_>>())).collect()
}

/// The largest L1 and L2 distance of two of them, or length of one.
fn worst(rows: &[Vec<f64>], replaced: bool) -> [f64; 2] {
    let nothing = [vec![0.0; rows[0].len()]];
    let others = if replaced { rows } else { &nothing[..] };
    let mut found = [0.0_f64; 2];
    for a in rows {
        for b in others {
            let apart: Vec<f64> = a.iter().zip(b).map(|(x, y)| (x - y).abs()).collect();
            found = [found[0].max(apart.iter().sum()), found[1].max(apart.iter().map(|x| x * x).sum::<f64>().sqrt())];
        }
    }
    found
}

const COLUMNS: &str = "a: real in [0, 10], b: real in [-3, 1], c: int in 18..90, g: category {p, q, r}";

fn claim(head: &str, query: &str) -> [f64; 2] {
    let of = |using: &str| certified(&format!("private t[{head}] {{ {COLUMNS} }}\nrelease m = {query} using {using}\n"));
    [of("laplace(scale = 1)").total().pure(), of("gaussian(sigma = 1)").total().gdp()]
}

#[test]
fn no_row_moves_moments_further_than_is_claimed() {
    for (d, steps, query) in [(1, 400, "moments(a)"), (2, 24, "moments(a, b)"), (3, 8, "moments(a, b, c)")] {
        let rows = grid(d, steps);
        for (head, replaced) in [("n", true), ("private n", false)] {
            let (now, truth) = (claim(head, query), worst(&rows, replaced));
            for i in 0..2 {
                // The bounds need not be met between corners; with one number they are.
                let most = if d == 1 { 1.0001 } else { 1.13 } * truth[i];
                assert!((truth[i]..=most).contains(&now[i]), "{query} [{head}]: {now:?} of {truth:?}");
            }
        }
        // Numbers and products together cost less than one by one.
        let all: f64 = (0..rows[0].len()).map(|i| worst(&rows.iter().map(|r| vec![r[i]]).collect::<Vec<_>>(), true)[0]).sum();
        assert!(claim("n", query)[0] < 0.93 * all);
    }
}

/// Levels that exclude each other have norm 1 together.
#[test]
fn products_with_levels_of_one_column() {
    let hot = "[(a - 5) / 5, g == p, g == q, g == r]";
    let levels = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let rows: Vec<Vec<f64>> = (0..=40).flat_map(|i| levels.map(|l| row(&[f64::from(i) / 20.0 - 1.0, l[0], l[1], l[2]]))).collect();
    let (now, truth) = (claim("n", &format!("sum(products({hot}))")), worst(&rows, true));
    assert!(now[1] >= truth[1] && now[1] < 3.0001, "{now:?} {truth:?}");
    assert!(now[0] >= truth[0]);
}
